/* golden.h - opens models, and reads the files of outputs that they must
 * reproduce.
 *
 * A file of outputs belongs to the weights it was made with. The full golden
 * sets beside the checkout belong to ../shared/model; the samples in
 * tests/golden belong to ../shared/model-2, whose int8 form is the shipped
 * models/de-en.skmt. tests/golden/README.md says how they were made. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <jansson.h>
#include <skmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/convert.h"
#include "nn/cpu_backend.h"
#include "test.h"

#define SHIPPED_MODEL "models/de-en.skmt"

struct fixture {
    struct weights *w;
    struct net *net;
    struct backend *backend;    /* runs the net on the CPU */
    bool exact;                 /* f32, like the reference */
};

/* A model, and a file with the outputs of PyTorch for the same weights. */
struct comparison {
    const char *model;
    char file[4096];
    bool exact;                 /* the model is f32 */
    const char *what;
};

enum { MOST_COMPARISONS = 3 };

static inline bool newer(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_mtime >= y.st_mtime;
}

/* Convert weights of the shared folder to an f32 model in the build folder.
 * Returns its path, or NULL. The model is converted again if the weights or
 * this program are newer, because the program contains the converter. `file`
 * has room for 4096 bytes. */
static inline const char *converted_model(const char *name, char *file)
{
    const char *build = getenv("BUILD"), *src;
    char dir[4096];
    struct err e;

    snprintf(dir, sizeof dir, "%s/model.safetensors", name);
    src = test_shared(dir);
    if (!src) return NULL;
    snprintf(dir, sizeof dir, "%s", src);
    *strrchr(dir, '/') = '\0';
    snprintf(file, 4096, "%s/golden-%s-f32.skmt", build ? build : "build",
             name);
    if (newer(file, src) && newer(file, "/proc/self/exe")) return file;
    return CHECK_OK(convert_model(dir, DT_F32, file, NULL, NULL, &e), &e)
        ? file : NULL;
}

/* The f32 model that the full golden sets belong to, or NULL. */
static inline const char *reference_model(void)
{
    static char file[4096];

    return converted_model("model", file);
}

/* The weights of the shipped model as an f32 model, or NULL. */
static inline const char *shipped_weights_model(void)
{
    static char file[4096];

    return converted_model("model-2", file);
}

static inline bool fixture_open(struct fixture *f, const char *path,
                                bool exact)
{
    struct err e;

    memset(f, 0, sizeof *f);
    f->exact = exact;
    return CHECK_OK(weights_open(&f->w, path, &e), &e) &&
           CHECK_OK(net_open(&f->net, f->w, NULL, &e), &e) &&
           CHECK_OK(cpu_backend_new(&f->backend, f->net, &e), &e);
}

static inline void fixture_close(struct fixture *f)
{
    backend_close(f->backend);
    net_close(f->net);
    weights_close(f->w);
}

/* How many lines of a file to read: all of them, or `enough` with the plain C
 * kernels, which are slow. */
static inline int line_limit(int enough)
{
    return strcmp(skmt_isa(), "ref") ? 1000000 : enough;
}

/* List the comparisons that are possible with golden files of this name: the
 * full file, the sample with f32 weights, and the sample with the shipped
 * model. Returns their number. */
static inline int list_comparisons(struct comparison *out, const char *name)
{
    char path[256];
    const char *full;
    int n = 0;

    snprintf(path, sizeof path, "golden/%s", name);
    full = test_shared(path);
    if (full && reference_model()) {
        snprintf(out[n].file, sizeof out[n].file, "%s", full);
        out[n].model = reference_model();
        out[n].what = "full set, f32";
        out[n++].exact = true;
    }
    if (shipped_weights_model()) {
        snprintf(out[n].file, sizeof out[n].file, "%s", test_data(name));
        out[n].model = shipped_weights_model();
        out[n].what = "sample, f32";
        out[n++].exact = true;
    }
    if (!access(SHIPPED_MODEL, R_OK)) {
        snprintf(out[n].file, sizeof out[n].file, "%s", test_data(name));
        out[n].model = SHIPPED_MODEL;
        out[n].what = "sample, int8 against f32";
        out[n++].exact = false;
    }
    return n;
}

/* Read the JSON object of the next line. Returns NULL at the end. */
static inline json_t *golden_line(FILE *f)
{
    char *line = NULL;
    size_t cap = 0;
    json_t *j = getline(&line, &cap, f) > 0 ? json_loads(line, 0, NULL) : NULL;

    free(line);
    return j;
}

static inline int ids_of(const json_t *a, int32_t *out)
{
    int n = (int)json_array_size(a);

    for (int i = 0; i < n; i++)
        out[i] = (int32_t)json_integer_value(json_array_get(a, (size_t)i));
    return n;
}

#endif
