/* findmodel.c - finds the model file that a command was asked to use and opens
 * it. findmodel.h says where models are looked for. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/findmodel.h"
#include "common/program.h"
#include "common/record.h"

#ifndef SKMT_PREFIX
#define SKMT_PREFIX "/usr/local"
#endif
#define DEFAULT_MODEL "de-en"

static char found_path[PATH_MAX];

/* Get the folder of the program; "" if the system does not provide it. */
static void program_dir(char *dir, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);

    if (n < 0) n = 0;
    while (n > 0 && dir[n - 1] != '/') n--;
    dir[n > 0 ? n - 1 : 0] = 0;
}

/* Whether the file exists; if so, found_path is set. If not, the path is
 * appended to `tried`, a list for the error message. */
static bool try_path(const char *dir, const char *subdir, const char *name,
                     const char *ending, char *tried, size_t size)
{
    char path[PATH_MAX];
    size_t used = strlen(tried);

    if (snprintf(path, sizeof path, "%s%s/%s%s", dir, subdir, name, ending)
        >= (int)sizeof path) return false;
    if (!access(path, F_OK)) {
        if (!realpath(path, found_path))
            snprintf(found_path, sizeof found_path, "%s", path);
        return true;
    }
    snprintf(tried + used, size - used, "\n  %s", path);
    return false;
}

/* Look for a bare name in the model folders. */
static bool findmodel_search(const char *name, char *tried, size_t size)
{
    static const char *const subdirs[] = { "/../models",
                                           "/../share/skmt/models" };
    const char *dot = strrchr(name, '.');
    const char *ending = dot && !strcmp(dot, ".skmt") ? "" : ".skmt";
    char dir[PATH_MAX];

    program_dir(dir, sizeof dir);
    for (size_t i = 0; i < 2 && dir[0]; i++)
        if (try_path(dir, subdirs[i], name, ending, tried, size)) return true;
    return try_path(SKMT_PREFIX, "/share/skmt/models", name, ending, tried,
                    size);
}

bool has_default_model(void)
{
    const char *default_name = getenv("SKMT_MODEL");
    char tried[4 * PATH_MAX] = "";

    return (default_name && default_name[0]) ||
           findmodel_search(DEFAULT_MODEL, tried, sizeof tried);
}

int model_find(skmt_model **out, const char *name, const skmt_options *o,
               const char **path)
{
    const char *default_name = getenv("SKMT_MODEL");
    char tried[4 * PATH_MAX] = "";
    skmt_error err = { 0 };
    skmt_status st;

    *out = NULL;
    if (!name && default_name && default_name[0]) name = default_name;
    if (name && (strchr(name, '/') || !access(name, F_OK))) {
        snprintf(found_path, sizeof found_path, "%s", name);
    } else if (!findmodel_search(name ? name : DEFAULT_MODEL, tried,
                                 sizeof tried)) {
        return complain(EXIT_MODEL, "model '%s' not found; these files do not "
                        "exist:%s%s%s\n"
                        "Use --model FILE or set SKMT_MODEL.",
                        name ? name : DEFAULT_MODEL, name ? "\n  " : "",
                        name ? name : "", tried);
    }
    if (path) *path = found_path;
    st = skmt_model_open_with(out, found_path, o, &err);
    if (st == SKMT_ERR_ARGUMENT)
        return complain(EXIT_USAGE, "--%s", err.message);
    if (st) return complain(EXIT_MODEL, "%s", err.message);
    return record_model(found_path, *out);
}
