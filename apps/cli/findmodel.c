/* findmodel.c - see findmodel.h. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "findmodel.h"
#include "record.h"

#ifndef SKMT_PREFIX
#define SKMT_PREFIX "/usr/local"
#endif
#define DEFAULT_MODEL "de-en"

static char found[PATH_MAX];

/* The folder the program lies in; "" when the system does not say. */
static void program_dir(char *dir, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);

    if (n < 0) n = 0;
    while (n > 0 && dir[n - 1] != '/') n--;
    dir[n > 0 ? n - 1 : 0] = 0;
}

static bool try_path(const char *dir, const char *below, const char *name,
                     const char *ending, char *looked, size_t size)
{
    char path[PATH_MAX];
    size_t used = strlen(looked);

    if (snprintf(path, sizeof path, "%s%s/%s%s", dir, below, name, ending)
        >= (int)sizeof path) return false;
    if (!access(path, F_OK)) {
        if (!realpath(path, found)) snprintf(found, sizeof found, "%s", path);
        return true;
    }
    snprintf(looked + used, size - used, "\n  %s", path);
    return false;
}

/* Look for a bare name in the folders; true: `found` is set. */
static bool findmodel_search(const char *name, char *looked, size_t size)
{
    static const char *const below[] = { "/../models",
                                         "/../share/skmt/models" };
    static const char *const ending[] = { ".skmt", "" };
    const char *dot = strrchr(name, '.');
    int e = dot && !strcmp(dot, ".skmt");
    char dir[PATH_MAX];

    program_dir(dir, sizeof dir);
    for (size_t i = 0; i < 2 && dir[0]; i++)
        if (try_path(dir, below[i], name, ending[e], looked, size))
            return true;
    return try_path(SKMT_PREFIX, "/share/skmt/models", name, ending[e],
                    looked, size);
}

bool model_is_there(void)
{
    const char *from = getenv("SKMT_MODEL");
    char looked[4 * PATH_MAX] = "";

    return (from && from[0]) ||
           findmodel_search(DEFAULT_MODEL, looked, sizeof looked);
}

int model_find(skmt_model **out, const char *name, const char **path)
{
    const char *from = getenv("SKMT_MODEL");
    char looked[4 * PATH_MAX] = "";
    skmt_error err = { 0, "" };

    *out = NULL;
    if (!name && from && from[0]) name = from;
    if (name && (strchr(name, '/') || !access(name, F_OK))) {
        snprintf(found, sizeof found, "%s", name);
    } else if (!findmodel_search(name ? name : DEFAULT_MODEL, looked,
                                 sizeof looked)) {
        return complain(EXIT_MODEL, "no model '%s'; looked for%s%s\n"
                        "Name a file with --model FILE or set SKMT_MODEL.",
                        name ? name : DEFAULT_MODEL,
                        name ? " it here and in" : "", looked);
    }
    if (path) *path = found;
    if (skmt_model_open(out, found, &err))
        return complain(EXIT_MODEL, "%s", err.message);
    return record_model(found, *out);
}
