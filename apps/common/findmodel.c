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

static char found_path[PATH_MAX];

/* ---- folders ----------------------------------------------------------- */

/* Get the folder of the program; "" if the system does not provide it. */
static void program_dir(char *dir, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);

    if (n < 0) n = 0;
    while (n > 0 && dir[n - 1] != '/') n--;
    dir[n > 0 ? n - 1 : 0] = 0;
}

/* Add a folder by its own name. `always`: also if there is none, so that
 * messages name it. */
static skmt_status add_real_folder(skmt_store *s, const char *dir,
                                   const char *subdir, bool always,
                                   skmt_error *err)
{
    char path[PATH_MAX], real[PATH_MAX];

    if (snprintf(path, sizeof path, "%s%s", dir, subdir) >= (int)sizeof path)
        return SKMT_OK;
    if (realpath(path, real)) return skmt_store_add_folder(s, real, err);
    return always ? skmt_store_add_folder(s, path, err) : SKMT_OK;
}

static skmt_status add_model_folders(skmt_store *s, skmt_error *err)
{
    char dir[PATH_MAX];
    skmt_status st = SKMT_OK;

    program_dir(dir, sizeof dir);
    if (*dir) st = add_real_folder(s, dir, "/../models", false, err);
    if (!st && *dir)
        st = add_real_folder(s, dir, "/../share/skmt/models", false, err);
    if (!st)
        st = add_real_folder(s, SKMT_PREFIX, "/share/skmt/models", true, err);
    return st;
}

skmt_store *model_folders_open(void)
{
    skmt_store *s;
    skmt_error err;

    if (!skmt_store_open(&s, NULL, &err) && !add_model_folders(s, &err))
        return s;
    complain(EXIT_TROUBLE, "%s", err.message);
    skmt_store_close(s);
    return NULL;
}

/* ---- finding ----------------------------------------------------------- */

/* The languages that the options ask for; "": none. */
struct asked_pair { char from[64], to[64]; };

static void read_asked_pair(struct asked_pair *p, skmt_options *o)
{
    const char *value = o ? skmt_options_get(o, "from") : NULL;

    snprintf(p->from, sizeof p->from, "%s", value ? value : "");
    value = o ? skmt_options_get(o, "to") : NULL;
    snprintf(p->to, sizeof p->to, "%s", value ? value : "");
}

static skmt_status find_in_folders(const char *name,
                                   const struct asked_pair *p,
                                   char **path, skmt_error *err)
{
    skmt_store *s = model_folders_open();
    skmt_status st = SKMT_ERR_NOMEM;

    *path = NULL;
    if (s) st = skmt_store_find(s, name, p->from, p->to, path, err);
    else snprintf(err->message, sizeof err->message, "out of memory");
    skmt_store_close(s);
    return st;
}

bool has_default_model(skmt_options *o)
{
    const char *usual = getenv("SKMT_MODEL");
    struct asked_pair p;
    skmt_error err;
    char *path;
    bool found;

    read_asked_pair(&p, o);
    if ((usual && *usual) || *p.from || *p.to) return true;
    found = !find_in_folders(NULL, &p, &path, &err);
    skmt_free(path);
    return found;
}

static int findmodel_failed(skmt_status st, const skmt_error *err)
{
    return complain(st == SKMT_ERR_ARGUMENT ? EXIT_USAGE : EXIT_MODEL, "%s",
                    err->message);
}

int model_find(skmt_model **out, const char *name, skmt_options *o,
               const char **path)
{
    struct asked_pair p;
    skmt_error err;
    skmt_status st;
    char *found;

    *out = NULL;
    read_asked_pair(&p, o);
    st = find_in_folders(name, &p, &found, &err);
    if (st) return findmodel_failed(st, &err);
    snprintf(found_path, sizeof found_path, "%s", found);
    skmt_free(found);
    if (path) *path = found_path;
    st = skmt_model_open_with(out, found_path, o, &err);
    if (st == SKMT_ERR_ARGUMENT)
        return complain(EXIT_USAGE, "--%s", err.message);
    if (st) return findmodel_failed(st, &err);
    return record_model(found_path, *out);
}
