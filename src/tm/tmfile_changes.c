/* tmfile_changes.c - changes of pairs: transactions, adding, replacing and
 * deleting, reading single pairs, and telling the merger what was changed.
 *
 * Invariant: every function that changes pairs calls tmfile_changed, so no
 * caller has to. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/mem.h"
#include "tm/tmfile_internal.h"

enum { TAIL_MAX = 2048 };       /* texts in the tail that make a segment */
#define MERGE_EVERY_SECONDS 0.5 /* between two merge requests of searches */

/* ---- transactions -------------------------------------------------------- */

enum status tmfile_begin(struct tmfile *t, struct err *e)
{
    enum status st = store_begin(t->store, e);

    if (!st && !t->depth++) t->searched = false;
    assert(tmfile_sound(t));
    return st;
}

enum status tmfile_commit(struct tmfile *t, struct err *e)
{
    enum status st;

    if (!t->depth)
        return err_set(e, ST_ARGUMENT, "there is nothing to commit: no "
                       "transaction was begun");
    assert(tmfile_sound(t));
    st = store_commit(t->store, e);
    if (st) {
        tmfile_rollback(t);
        return st;
    }
    if (!--t->depth) tmfile_check_tails(t, CHECK_EVERY);
    return ST_OK;
}

/* Indexes that were searched inside the transaction contain texts that were
 * rolled back, so they are closed. */
void tmfile_rollback(struct tmfile *t)
{
    if (!t->depth) return;
    store_rollback(t->store);
    t->depth = 0;
    t->stale = true;
    t->rollbacks++;
    if (t->searched) tmfile_close_indexes(t);
}

bool tmfile_inside(const struct tmfile *t) { return t->depth > 0; }

enum status tmfile_alone(const struct tmfile *t, const char *what,
                         struct err *e)
{
    if (!t->depth) return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s cannot be part of a transaction: "
                   "commit first", what);
}

/* ---- merging in the background ------------------------------------------- */

static void request_merge(struct tmfile *t, int64_t memory,
                          const struct analyzer *a)
{
    struct merge_job job = { .memory = memory, .analyzer = *a, .sw = t->sw,
                             .tokenizer = t->tokenizer };

    if (t->depth || !store_writable(t->store)) return;
    if (!t->merger && merger_new(&t->merger, store_path(t->store), NULL))
        return;
    merger_poke(t->merger, &job);
}

/* When merging fails, or another process is merging, asking again at every
 * search would not help; so this asks at most every MERGE_EVERY_SECONDS. */
void tmfile_request_merges(struct tmfile *t)
{
    double now = clock_seconds();

    if (now < t->merge_requested + MERGE_EVERY_SECONDS) return;
    t->merge_requested = now;
    for (size_t i = 0; i < t->n; i++)
        if (index_wants_merge(t->indexes[i]))
            request_merge(t, t->infos[i].id, &t->analyzer);
}

static void check_tail(struct tmfile *t, int64_t memory,
                       const struct analyzer *a)
{
    struct manifest m = { 0 };
    int64_t n = 0;

    if (!manifest_read(t->store, memory, a->id, &m, NULL) &&
        !store_count_adds(t->store, memory, m.seq, &n, NULL) && n > TAIL_MAX)
        request_merge(t, memory, a);
    manifest_release(&m);
}

void tmfile_check_tails(struct tmfile *t, int64_t least)
{
    const struct analyzer standard = { 0 };

    for (size_t i = 0; i < t->n_touched; i++) {
        struct touched *it = &t->touched[i];

        if (it->changes < least) continue;
        it->changes = 0;
        check_tail(t, it->memory, &standard);
        if (t->analyzer.id) check_tail(t, it->memory, &t->analyzer);
    }
}

void tmfile_stop_merger(struct tmfile *t)
{
    merger_free(t->merger);
    t->merger = NULL;
}

/* ---- announcing changes -------------------------------------------------- */

static void touch(struct tmfile *t, int64_t memory, int64_t n)
{
    struct touched *it = NULL;

    for (size_t i = 0; i < t->n_touched && !it; i++)
        if (t->touched[i].memory == memory) it = &t->touched[i];
    if (!it) {
        if (!mem_grow(&t->touched, &t->touched_cap, t->n_touched + 1,
                      sizeof *t->touched))
            return;             /* another process will merge the tail */
        it = &t->touched[t->n_touched++];
        *it = (struct touched){ .memory = memory };
    }
    assert(it->changes >= 0 && t->n_touched <= t->touched_cap);
    it->changes += n;
    if (!t->depth && it->changes >= CHECK_EVERY)
        tmfile_check_tails(t, CHECK_EVERY);
}

void tmfile_changed(struct tmfile *t, int64_t memory, int64_t n)
{
    struct memory_info *list = NULL;
    size_t n_list = 0;

    assert(n >= 0);
    if (!n) return;
    if (memory) touch(t, memory, n);
    else if (!store_memory_list(t->store, &list, &n_list, NULL))
        for (size_t i = 0; i < n_list; i++) touch(t, list[i].id, n);
    free(list);
}

/* ---- pairs --------------------------------------------------------------- */

enum status tmfile_add(struct tmfile *t, const char *memory,
                       const struct unit *u, int64_t *id, struct err *e)
{
    bool own = !t->depth, made;
    struct memory_info m;
    enum status st = own ? tmfile_begin(t, e) : ST_OK;

    *id = 0;
    if (st) return st;
    st = tmfile_find_or_make(t, memory, &m, &made, e);
    if (!st) st = store_add(t->store, m.id, u, id, e);
    if (own && !st) st = tmfile_commit(t, e);
    else if (own) tmfile_rollback(t);
    if (!st) tmfile_changed(t, m.id, 1);
    return st;
}

/* 0: it is not known, and the change of the pair will report why. */
static int64_t memory_of_pair(struct tmfile *t, int64_t id)
{
    int64_t memory;

    return store_pair_memory(t->store, id, &memory, NULL) ? 0 : memory;
}

enum status tmfile_replace(struct tmfile *t, int64_t id, const struct unit *u,
                           struct err *e)
{
    int64_t memory = memory_of_pair(t, id);
    enum status st = store_replace(t->store, id, u, e);

    if (!st) tmfile_changed(t, memory, 1);
    return st;
}

enum status tmfile_delete(struct tmfile *t, int64_t id, struct err *e)
{
    int64_t memory = memory_of_pair(t, id);
    enum status st = store_delete(t->store, id, e);

    if (!st) tmfile_changed(t, memory, 1);
    return st;
}

enum status tmfile_delete_where(struct tmfile *t, const struct pair_filter *f,
                                int64_t *n, struct err *e)
{
    enum status st = store_delete_where(t->store, f, n, e);

    if (!st) tmfile_changed(t, f->memory, *n);
    return st;
}

enum status tmfile_get(struct tmfile *t, int64_t id, struct pair *out,
                       struct err *e)
{
    return store_get(t->store, id, out, e);
}

enum status tmfile_find_unit(struct tmfile *t, int64_t memory,
                             struct str unit, int64_t after, int64_t *id,
                             struct err *e)
{
    enum status st = ST_OK;

    *id = 0;
    if (store_writable(t->store) && !store_inside(t->store))
        st = store_index_units(t->store, e);
    return st ? st : store_find_unit(t->store, memory, unit, after, id, e);
}

enum status tmfile_cursor_open(struct pair_cursor **out, struct tmfile *t,
                               const struct pair_filter *f, struct err *e)
{
    return pair_cursor_open(out, t->store, f, e);
}

enum status tmfile_extra(struct tmfile *t, int64_t memory, const char *format,
                         struct str *extra, struct err *e)
{
    return store_import_extra(t->store, memory, format, extra, e);
}
