/* skmt_store.c - the public functions of the model store. The work is done in
 * model/model_store.c and model/model_store_change.c. */
#include "api/handles.h"
#include "model/model_store_change.h"
#include "skmt_tools.h"

/* A skmt_store is a struct model_store. */
static struct model_store *store_of(const skmt_store *s)
{
    return (struct model_store *)(uintptr_t)s;
}

skmt_status skmt_store_open(skmt_store **out, const char *folder,
                            skmt_error *err)
{
    struct model_store *s;
    enum status st;

    err_clear(err_of(err));
    st = model_store_open(&s, folder, err_of(err));
    *out = (skmt_store *)(void *)s;
    return (skmt_status)st;
}

void skmt_store_close(skmt_store *s) { model_store_close(store_of(s)); }

skmt_status skmt_store_add_folder(skmt_store *s, const char *folder,
                                  skmt_error *err)
{
    err_clear(err_of(err));
    if (!folder)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the name of the "
                                    "folder is missing");
    return (skmt_status)model_store_add_folder(store_of(s), folder,
                                               err_of(err));
}

const char *skmt_store_folder(const skmt_store *s)
{
    return model_store_folder(store_of(s));
}

skmt_status skmt_store_check(const skmt_store *s, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)model_store_check(store_of(s), err_of(err));
}

const char *skmt_store_model(const skmt_store *s, int i, const char **path,
                             int *removable)
{
    if (path) *path = model_store_path(store_of(s), i);
    if (removable) *removable = model_store_owns(store_of(s), i);
    return model_store_name(store_of(s), i);
}

const char *skmt_store_default(const skmt_store *s, int i, const char **from,
                               const char **to)
{
    const struct model_defaults *d = model_store_defaults(store_of(s));
    const struct model_default *m = i >= 0 && (size_t)i < d->n ? &d->list[i]
                                                               : NULL;

    if (from) *from = m && m->from ? m->from : "";
    if (to) *to = m && m->to ? m->to : "";
    return m ? m->name : NULL;
}

skmt_status skmt_store_find(const skmt_store *s, const char *name,
                            const char *from, const char *to, char **path,
                            skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)model_store_find(store_of(s), name, from, to, path,
                                         err_of(err));
}

/* ---- changes ------------------------------------------------------------- */

static enum status begin_new_model(struct new_model **out, const skmt_store *s,
                                   const char *name, bool given, int replace,
                                   skmt_error *err)
{
    err_clear(err_of(err));
    *out = NULL;
    if (!name || !given)
        return err_set(err_of(err), ST_ARGUMENT, "the name of a model is "
                       "missing");
    return new_model_begin(out, store_of(s), name, replace != 0, err_of(err));
}

skmt_status skmt_store_add(const skmt_store *s, const char *name,
                           const char *file, int replace,
                           skmt_conversion_fn *progress, void *user,
                           skmt_error *err)
{
    struct new_model *m;
    enum status st = begin_new_model(&m, s, name, file, replace, err);

    if (!st) st = new_model_copy(m, file, progress, user, err_of(err));
    if (!st) st = new_model_commit(m, err_of(err));
    new_model_free(m);
    return (skmt_status)st;
}

skmt_status skmt_store_convert(const skmt_store *s, const char *name,
                               skmt_conversion *c, int replace,
                               skmt_conversion_fn *progress, void *user,
                               skmt_error *err)
{
    struct new_model *m;
    enum status st = begin_new_model(&m, s, name, true, replace, err);

    if (!st)
        st = (enum status)skmt_conversion_write(c, new_model_path(m), progress,
                                                user, err);
    if (!st) st = new_model_commit(m, err_of(err));
    new_model_free(m);
    return (skmt_status)st;
}

skmt_status skmt_store_remove(const skmt_store *s, const char *name,
                              skmt_error *err)
{
    err_clear(err_of(err));
    if (!name)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the name of a "
                                    "model is missing");
    return (skmt_status)model_store_remove(store_of(s), name, err_of(err));
}

skmt_status skmt_store_set_default(const skmt_store *s, const char *name,
                                   const char *from, const char *to,
                                   skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)model_store_set_default(store_of(s), name, from, to,
                                                err_of(err));
}
