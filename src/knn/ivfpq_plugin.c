/* ivfpq_plugin.c - finds and loads the plug-in for Faiss. It does not use it
 * (ivfpq.c, ivfpq_build.c). */
#include "knn/ivfpq_plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of the plug-in that is tried. */
struct plugin_path { char text[PATH_MAX]; };

static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct faiss_plugin *loaded_plugin;        /* NULL: not yet */

/* Whether folder/below/ has the plug-in. */
static bool has_plugin(struct plugin_path *p, const char *folder,
                       const char *below)
{
    int n = snprintf(p->text, sizeof p->text, "%s%s/" FAISS_PLUGIN_FILE,
                     folder, below);

    return n > 0 && (size_t)n < sizeof p->text && !access(p->text, F_OK);
}

/* The same for the folder of a program or a library. */
static bool has_plugin_near(struct plugin_path *p, const char *file)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');
    size_t n = slash ? (size_t)(slash - file) : 0;

    if (!slash || n >= sizeof folder) return false;
    memcpy(folder, file, n);
    folder[n] = 0;
    return has_plugin(p, folder, "") || has_plugin(p, folder, "/../lib/skmt");
}

static bool find_plugin(struct plugin_path *p)
{
    const char *folder = getenv("SKMT_PLUGINS");
    char program[PATH_MAX];
    Dl_info here;
    ssize_t n;

    if (folder) return has_plugin(p, folder, "");
    if (dladdr(&plugin_lock, &here) && here.dli_fname &&
        has_plugin_near(p, here.dli_fname))
        return true;
    n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    return has_plugin_near(p, program) || has_plugin(p, SKMT_LIBDIR, "/skmt");
}

static enum status load_plugin(struct err *e)
{
    struct plugin_path path;
    const struct faiss_plugin *p;
    faiss_plugin_fn *fn;
    void *library;

    if (!find_plugin(&path))
        return err_set(e, ST_ARGUMENT, "an IVF-PQ index needs the plug-in "
                       FAISS_PLUGIN_FILE ", which is missing; install Debian's "
                       "libfaiss-dev and build skmt again, or set SKMT_PLUGINS "
                       "to the folder of the plug-in");
    library = dlopen(path.text, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(e, ST_IO, "the plug-in cannot be loaded (%s); install "
                       "Debian's libfaiss-dev", dlerror());
    /* ISO C has no conversion from an object pointer to a function. */
    *(void **)&fn = dlsym(library, FAISS_PLUGIN_SYMBOL);
    p = fn ? fn() : NULL;
    if (!p || p->version != FAISS_PLUGIN_VERSION) {
        dlclose(library);
        return err_set(e, ST_VERSION, "%s belongs to another version of skmt; "
                       "build or install it again", path.text);
    }
    loaded_plugin = p;
    return ST_OK;
}

enum status ivfpq_plugin_get(const struct faiss_plugin **out, struct err *e)
{
    enum status st = ST_OK;

    pthread_mutex_lock(&plugin_lock);
    if (!loaded_plugin) st = load_plugin(e);
    *out = loaded_plugin;
    pthread_mutex_unlock(&plugin_lock);
    return st;
}

enum status ivfpq_plugin_result(int result, const struct faiss_message *why,
                                struct err *e)
{
    switch (result) {
    case FAISS_OK: return ST_OK;
    case FAISS_NOMEM: return err_nomem(e, "IVF-PQ index");
    case FAISS_CANCELED: return err_set(e, ST_CANCELED, "canceled");
    default: return err_set(e, ST_FORMAT, "Faiss failed: %s", why->text);
    }
}
