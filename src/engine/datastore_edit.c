/* datastore_edit.c - finds the pairs of a datastore file that are to be
 * deleted, and deletes them in one commit. */
#include "engine/datastore_edit.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "engine/pairlist.h"
#include "knn/datastore_write.h"
#include "knn/key_set.h"

/* Whether a pair is to be deleted. */
typedef bool datastore_choose_fn(void *user, const struct entries *s,
                                 int32_t pair);

/* List the pairs that are chosen. The caller frees *list. */
static enum status choose_pairs(const struct entries *s,
                                datastore_choose_fn *chosen, void *user,
                                int32_t **list, size_t *n, struct err *e)
{
    *n = 0;
    *list = malloc(((size_t)s->n_pairs + 1) * sizeof **list);
    if (!*list) return err_nomem(e, "datastore");
    for (int32_t p = 0; p < s->n_pairs; p++)
        if (!s->ops->pair(s, p).deleted && chosen(user, s, p))
            (*list)[(*n)++] = p;
    return ST_OK;
}

/* The writer is opened first. It keeps others from changing the file. */
static enum status delete_chosen(const char *path,
                                 datastore_choose_fn *chosen, void *user,
                                 int64_t *n, struct err *e)
{
    struct datastore_writer *w;
    struct entries *s = NULL;
    int32_t *list = NULL;
    size_t found = 0;
    enum status st = datastore_writer_open(&w, path, e);

    *n = 0;
    if (!st) st = datastore_file_open(&s, path, NULL, false, e);
    if (!st) st = choose_pairs(s, chosen, user, &list, &found, e);
    if (!st && found) st = datastore_writer_delete(w, list, found, e);
    if (!st) st = datastore_writer_commit(w, 0, e);
    if (!st) *n = (int64_t)found;
    free(list);
    entries_drop(s);
    datastore_writer_close(w);
    return st;
}

/* ---- by id or text ------------------------------------------------------- */

static bool filter_has_id(const struct datastore_filter *f, int64_t id)
{
    for (size_t i = 0; i < f->n_ids; i++)
        if (f->ids[i] == id) return true;
    return !f->n_ids;
}

static bool filter_chooses(void *user, const struct entries *s, int32_t pair)
{
    const struct datastore_filter *f = user;
    struct entry_pair p = s->ops->pair(s, pair);

    return filter_has_id(f, p.id) &&
           (!f->source || str_eq(p.source, str_of(f->source))) &&
           (!f->target || str_eq(p.target, str_of(f->target)));
}

enum status datastore_delete_where(const char *path,
                                   const struct datastore_filter *f,
                                   int64_t *n, struct err *e)
{
    struct datastore_filter copy = *f;

    *n = 0;
    if (!f->n_ids && !f->source && !f->target)
        return err_set(e, ST_ARGUMENT, "say which pairs to delete");
    return delete_chosen(path, filter_chooses, &copy, n, e);
}

/* ---- by what a memory has ------------------------------------------------ */

enum { EDIT_FETCH = 1024 };     /* pairs that are fetched at once */

struct present_pairs { struct key_set ids; struct plain_text plain; };

static enum status add_present(void *user, size_t i,
                               const struct source_pair *from, struct err *e)
{
    struct present_pairs *p = user;
    enum status st = from->found ? plain_text_set(&p->plain, from, e) : ST_OK;

    (void)i;
    if (st || !from->found) return st;
    return key_set_add(&p->ids, key_id_of_pair(p->plain.source,
                                               p->plain.target))
        ? ST_OK : err_nomem(e, "datastore");
}

static enum status list_present(struct pair_source *source,
                                struct present_pairs *p, struct err *e)
{
    struct pairlist l = { 0 };
    enum status st = pairlist_read(&l, source, FETCH_TEXTS, e);

    for (size_t i = 0; !st && i < l.n; i += EDIT_FETCH) {
        size_t n = l.n - i < EDIT_FETCH ? l.n - i : EDIT_FETCH;

        st = source_fetch(source, l.at + i, n, add_present, p, e);
    }
    pairlist_release(&l);
    return st;
}

static bool is_missing(void *user, const struct entries *s, int32_t pair)
{
    const struct present_pairs *p = user;

    return !key_set_has(&p->ids, datastore_file_pair_id(s, pair));
}

enum status datastore_delete_missing(const char *path,
                                     struct pair_source *source, int64_t *n,
                                     struct err *e)
{
    struct present_pairs p = { .ids = { 0 } };
    enum status st;

    *n = 0;
    plain_text_init(&p.plain);
    st = list_present(source, &p, e);
    if (!st) st = delete_chosen(path, is_missing, &p, n, e);
    plain_text_release(&p.plain);
    key_set_release(&p.ids);
    return st;
}
