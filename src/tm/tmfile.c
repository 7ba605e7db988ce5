/* tmfile.c - keeps a store, its indexes, the retriever and the merger together
 * and up to date. tmfile.h states the invariants. Retrieval itself is in
 * retrieve.c, and imports are in import.c. */
#include "tm/tmfile.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/mem.h"
#include "tm/merger.h"

enum {
    CHECK_EVERY = 256,          /* changes between two checks of a tail */
    TAIL_LIMIT = 2048           /* texts in the tail that make a segment */
};
#define MERGE_EVERY_SECONDS 0.5 /* between two merge requests of searches */

bool tmfile_sound(const struct tmfile *t)
{
    if (t->depth < 0 || (t->depth && !store_inside(t->store))) return false;
    for (size_t i = 0; t->retriever && i < t->n; i++)
        if (!t->indexes[i]) return false;
    return true;
}

/* ---- open and close ------------------------------------------------------ */

enum status tmfile_open(struct tmfile **out, const char *path,
                        enum store_mode mode, struct err *e)
{
    struct tmfile *t = calloc(1, sizeof *t);
    enum status st;

    *out = NULL;
    if (!t) return err_nomem(e, "a translation memory");
    t->all = t->stale = true;
    st = store_open(&t->store, path, mode, e);
    if (st) tmfile_close(t);
    else *out = t;
    return st;
}

/* The next search opens the indexes again. */
static void close_indexes(struct tmfile *t)
{
    retriever_free(t->retriever);
    t->retriever = NULL;
    for (size_t i = 0; i < t->n; i++) {
        index_close(t->indexes[i]);
        t->indexes[i] = NULL;
    }
}

static void check_tails(struct tmfile *t, int64_t least);

void tmfile_close(struct tmfile *t)
{
    if (!t) return;
    if (t->depth) tmfile_rollback(t);
    if (t->store) check_tails(t, 1);
    close_indexes(t);
    free(t->infos);
    free(t->indexes);
    free(t->chosen);
    free(t->touched);
    merger_free(t->merger);
    store_close(t->store);
    free(t);
}

/* ---- memories by name ---------------------------------------------------- */

static void list_names(const struct memory_info *list, size_t n, char *out,
                       size_t size)
{
    size_t at = 0;

    out[0] = 0;
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "",
                               list[i].name);
}

/* The memory when no name was given: the only one, or "main". */
static enum status find_unnamed(struct tmfile *t, struct memory_info *out,
                                struct err *e)
{
    struct memory_info *list = NULL;
    const struct memory_info *it = NULL;
    char names[300];
    size_t n = 0;
    enum status st = store_memory_list(t->store, &list, &n, e);

    if (st) return st;
    for (size_t i = 0; i < n; i++)
        if (n == 1 || !strcmp(list[i].name, "main")) it = &list[i];
    list_names(list, n, names, sizeof names);
    if (it) *out = *it;
    else if (!n) st = err_set(e, ST_ARGUMENT, "%s: there is no memory in this "
                              "file yet", store_path(t->store));
    else st = err_set(e, ST_ARGUMENT, "%s: the file has several memories; "
                      "name one of them: %s", store_path(t->store), names);
    free(list);
    return st;
}

enum status tmfile_find(struct tmfile *t, const char *name,
                        struct memory_info *out, struct err *e)
{
    return name ? store_memory_find(t->store, name, out, e)
                : find_unnamed(t, out, e);
}

enum status tmfile_find_or_make(struct tmfile *t, const char *name,
                                struct memory_info *out, bool *made,
                                struct err *e)
{
    struct memory_info *list = NULL, settings = { 0 };
    size_t n = 0;
    struct err listing;
    enum status st = tmfile_find(t, name, out, e);

    *made = false;
    if (st != ST_ARGUMENT) return st;
    if (store_memory_list(t->store, &list, &n, &listing)) {
        if (e) *e = listing;
        return listing.status;
    }
    free(list);
    if (n) return st;
    err_clear(e);
    if (snprintf(settings.name, sizeof settings.name, "%s",
                 name ? name : "main") >= (int)sizeof settings.name)
        return err_set(e, ST_ARGUMENT, "the name of a memory may have at most "
                       "%zu bytes", sizeof settings.name - 1);
    st = tmfile_create(t, &settings, e);
    if (!st) {
        *made = true;
        return tmfile_find(t, name, out, e);
    }
    if (tmfile_find(t, name, out, NULL)) return st;
    err_clear(e);               /* somebody else has created it meanwhile */
    return ST_OK;
}

enum status tmfile_create(struct tmfile *t, const struct memory_info *settings,
                          struct err *e)
{
    int64_t id;

    t->stale = true;
    return store_memory_create(t->store, settings, &id, e);
}

enum status tmfile_update(struct tmfile *t, const struct memory_info *m,
                          struct err *e)
{
    t->stale = true;
    return store_memory_update(t->store, m, e);
}

enum status tmfile_drop(struct tmfile *t, const char *name, struct err *e)
{
    struct memory_info m;
    enum status st = tmfile_find(t, name, &m, e);

    t->stale = true;
    return st ? st : store_memory_drop(t->store, m.id, e);
}

/* ---- changes ------------------------------------------------------------- */

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
    if (!--t->depth) check_tails(t, CHECK_EVERY);
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
    if (t->searched) close_indexes(t);
}

enum status tmfile_alone(const struct tmfile *t, const char *what,
                         struct err *e)
{
    if (!t->depth) return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s cannot be part of a transaction: "
                   "commit first", what);
}

void tmfile_changed(struct tmfile *t, int64_t memory)
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
    it->changes++;
    if (!t->depth && it->changes >= CHECK_EVERY) check_tails(t, CHECK_EVERY);
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

/* Called after a search. When merging fails, or another process is merging,
 * asking again at every search would not help; so it asks at most every
 * MERGE_EVERY_SECONDS. */
static void request_merges(struct tmfile *t)
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
        !store_count_adds(t->store, memory, m.seq, &n, NULL) && n > TAIL_LIMIT)
        request_merge(t, memory, a);
    manifest_release(&m);
}

/* Checks the tails of the memories that have had at least `least` changes. */
static void check_tails(struct tmfile *t, int64_t least)
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

static void stop_merger(struct tmfile *t)
{
    merger_free(t->merger);
    t->merger = NULL;
}

/* ---- the memories in use ------------------------------------------------- */

static bool is_chosen(const struct tmfile *t, int64_t memory)
{
    for (size_t i = 0; i < t->n_chosen; i++)
        if (t->chosen[i] == memory) return true;
    return t->all;
}

static bool same_memories(const struct tmfile *t,
                          const struct memory_info *list, size_t n)
{
    for (size_t i = 0; i < n && i < t->n; i++)
        if (list[i].id != t->infos[i].id) return false;
    return n == t->n;
}

/* Takes ownership of the list. Indexes of memories that stay in use stay
 * open. */
static enum status replace_memories(struct tmfile *t,
                                    struct memory_info *list, size_t n,
                                    struct err *e)
{
    struct index **indexes = calloc(n ? n : 1, sizeof *indexes);

    if (!indexes) {
        free(list);
        return err_nomem(e, "memories");
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < t->n; k++)
            if (list[i].id == t->infos[k].id) {
                indexes[i] = t->indexes[k];
                t->indexes[k] = NULL;
            }
    close_indexes(t);
    assert(!t->retriever);      /* it borrows the arrays */
    free(t->infos);
    free(t->indexes);
    t->infos = list;
    t->indexes = indexes;
    t->n = n;
    return ST_OK;
}

/* Reads the list of memories again if the store has changed. */
static enum status follow_store(struct tmfile *t, struct err *e)
{
    struct memory_info *list = NULL;
    size_t n = 0, used = 0;
    uint32_t version;
    enum status st = store_version(t->store, &version, e);

    if (st || (!t->stale && version == t->version)) return st;
    st = store_memory_list(t->store, &list, &n, e);
    if (st) return st;
    for (size_t i = 0; i < n; i++)
        if (is_chosen(t, list[i].id)) list[used++] = list[i];
    if (same_memories(t, list, used)) {
        assert(used == t->n);
        if (used) memcpy(t->infos, list, used * sizeof *list);
        free(list);
    } else {
        st = replace_memories(t, list, used, e);
    }
    t->stale = st != ST_OK;
    t->version = version;
    return st;
}

enum status tmfile_use(struct tmfile *t, const char *const *names, size_t n,
                       struct err *e)
{
    int64_t *ids = calloc(n ? n : 1, sizeof *ids);
    struct memory_info m;
    enum status st = ids ? ST_OK : err_nomem(e, "memories");

    for (size_t i = 0; !st && i < n; i++) {
        st = tmfile_find(t, names[i], &m, e);
        if (!st) ids[i] = m.id;
    }
    if (st) {
        free(ids);
        return st;
    }
    free(t->chosen);
    t->chosen = ids;
    t->n_chosen = n;
    t->all = n == 0;
    t->stale = true;
    return ST_OK;
}

enum status tmfile_refresh(struct tmfile *t, struct err *e)
{
    return follow_store(t, e);
}

const struct memory_info *tmfile_info(const struct tmfile *t, int64_t memory)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->infos[i].id == memory) return &t->infos[i];
    return NULL;
}

/* ---- searching ----------------------------------------------------------- */

static int tmfile_index_progress(void *user, const char *what, uint64_t done,
                                 uint64_t total)
{
    struct tmfile *t = user;

    return t->progress ? t->progress(t->user, what, done, total, 0) : 0;
}

static enum status open_indexes(struct tmfile *t, struct err *e)
{
    const struct index_options o = { .progress = tmfile_index_progress,
                                     .user = t };
    enum status st = follow_store(t, e);

    t->searched = true;
    for (size_t i = 0; !st && i < t->n; i++)
        if (!t->indexes[i])
            st = index_open(&t->indexes[i], t->store, t->infos[i].id,
                            &t->analyzer, &o, e);
    assert(st || t->n == 0 || t->indexes[t->n - 1]);
    return st;
}

static enum status prepare_search(struct tmfile *t, const struct tm_query *q,
                              struct err *e)
{
    enum status st;

    if (t->analyzer.id != q->analyzer.id ||
        t->analyzer.subword != q->analyzer.subword) {
        close_indexes(t);
        t->analyzer = q->analyzer;
    }
    if (t->sw != q->sw || t->tokenizer != q->tokenizer) {
        retriever_free(t->retriever);
        t->retriever = NULL;
        t->sw = q->sw;
        t->tokenizer = q->tokenizer;
    }
    st = open_indexes(t, e);
    if (st || t->retriever) return st;
    return retriever_new(&t->retriever, t->store, t->indexes, t->infos, t->n,
                         &t->analyzer, t->sw, t->tokenizer, e);
}

enum status tmfile_search(struct tmfile *t, struct str text,
                          const struct tm_query *q, struct matches *out,
                          struct err *e)
{
    enum status st = prepare_search(t, q, e);

    out->n = out->n_more = 0;
    assert(st || (t->retriever && tmfile_sound(t)));
    if (!st) st = retrieve(t->retriever, text, &q->o, out, e);
    if (!st) request_merges(t);
    return st;
}

/* ---- maintenance --------------------------------------------------------- */

enum status tmfile_check(struct tmfile *t, problem_fn *fn, void *user,
                         int *n_problems, struct err *e)
{
    bool damaged;
    enum status st;

    *n_problems = 0;
    stop_merger(t);
    st = store_check(t->store, fn, user, n_problems, e);
    damaged = *n_problems > 0;
    if (!st) st = index_check_files(t->store, fn, user, n_problems, e);
    /* The contents of the index cannot be compared with a damaged store. */
    if (damaged && (!st || st == ST_FORMAT)) {
        err_clear(e);
        return ST_OK;
    }
    if (!st) st = open_indexes(t, e);
    for (size_t i = 0; !st && i < t->n; i++) {
        st = index_refresh(t->indexes[i], e);
        if (!st) st = index_check(t->indexes[i], fn, user, n_problems, e);
    }
    return st;
}

enum status tmfile_rebuild(struct tmfile *t, struct err *e)
{
    enum status st = tmfile_alone(t, "building the index", e);

    if (st) return st;
    stop_merger(t);
    st = store_require_sound(t->store, "building the index", e);
    if (!st) st = open_indexes(t, e);
    for (size_t i = 0; !st && i < t->n; i++)
        st = index_rebuild(t->indexes[i], e);
    return st ? st : index_sweep(t->store, e);
}

enum status tmfile_compact(struct tmfile *t, struct err *e)
{
    enum status st = tmfile_alone(t, "compacting", e);

    if (st) return st;
    stop_merger(t);
    st = store_require_sound(t->store, "compacting", e);
    if (!st) st = open_indexes(t, e);
    for (size_t i = 0; !st && i < t->n; i++) {
        st = index_refresh(t->indexes[i], e);
        if (!st) st = index_merge(t->indexes[i], true, e);
    }
    if (!st) st = index_sweep(t->store, e);
    return st ? st : store_compact(t->store, e);
}

static void add_stats(struct index_stats *sum, const struct index_stats *s)
{
    sum->docs += s->docs;
    sum->terms += s->terms;
    sum->total_terms += s->total_terms;
    sum->segments += s->segments;
    sum->tail_docs += s->tail_docs;
    sum->dead_docs += s->dead_docs;
    sum->bytes += s->bytes;
    sum->symbol_bytes += s->symbol_bytes;
}

enum status tmfile_stats(struct tmfile *t, struct index_stats *out,
                         struct err *e)
{
    struct index_stats one;
    enum status st = open_indexes(t, e);

    *out = (struct index_stats){ 0 };
    for (size_t i = 0; !st && i < t->n; i++) {
        st = index_refresh(t->indexes[i], e);
        if (st) break;
        index_stats(t->indexes[i], &one);
        add_stats(out, &one);
    }
    return st;
}
