/* tmfile.c - opens a memory file, finds its memories, keeps track of those in
 * use and of their indexes, and maintains them. tmfile_internal.h states the
 * invariants. Changes of pairs are in tmfile_changes.c, searching in
 * tmfile_source.c, and imports in tmfile_import.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "tm/tmfile_internal.h"

bool tmfile_sound(const struct tmfile *t)
{
    return t->depth >= 0 && (!t->depth || store_inside(t->store));
}

/* ---- open and close ------------------------------------------------------ */

enum status tmfile_open(struct tmfile **out, const char *path,
                        enum store_mode mode, struct err *e)
{
    struct tmfile *t = calloc(1, sizeof *t);
    enum status st;

    *out = NULL;
    if (!t) return err_nomem(e, "a translation memory");
    t->source.ops = &tmfile_source_ops;
    t->choice.all = t->stale = true;
    st = store_open(&t->store, path, mode, e);
    if (st) tmfile_close(t);
    else *out = t;
    return st;
}

void tmfile_close(struct tmfile *t)
{
    if (!t) return;
    if (t->depth) tmfile_rollback(t);
    if (t->store) tmfile_check_tails(t, 1);
    tmfile_close_indexes(t);
    free(t->infos);
    free(t->indexes);
    free(t->choice.ids);
    free(t->touched);
    terms_release(&t->terms);
    free(t->hits);
    subword_close(t->analyzer.subword);
    subword_close(t->sw);
    merger_free(t->merger);
    store_close(t->store);
    free(t);
}

void tmfile_relaxed(struct tmfile *t, bool relaxed)
{
    store_relaxed(t->store, relaxed);
}

void tmfile_set_progress(struct tmfile *t, tm_progress_fn *fn, void *user)
{
    t->progress = fn;
    t->user = user;
}

bool tmfile_has_progress(const struct tmfile *t) { return t->progress; }

int tmfile_report(const struct tmfile *t, const char *what, uint64_t done,
                  uint64_t total, uint64_t units)
{
    return t->progress ? t->progress(t->user, what, done, total, units) : 0;
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

enum status tmfile_list(struct tmfile *t, struct memory_info **list, size_t *n,
                        struct err *e)
{
    return store_memory_list(t->store, list, n, e);
}

enum status tmfile_version(struct tmfile *t, uint32_t *version,
                           struct err *e)
{
    return store_version(t->store, version, e);
}

enum status tmfile_counts(struct tmfile *t, int64_t memory,
                          struct memory_counts *out, struct err *e)
{
    return store_memory_counts(t->store, memory, out, e);
}

enum status tmfile_last_change(struct tmfile *t, int64_t memory, int64_t *seq,
                               struct err *e)
{
    return store_last_change(t->store, memory, seq, e);
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

void tmfile_drop_empty(struct tmfile *t, int64_t memory)
{
    struct memory_counts c;

    if (store_begin(t->store, NULL)) return;
    if (store_memory_counts(t->store, memory, &c, NULL) || c.pairs ||
        store_memory_drop(t->store, memory, NULL) ||
        store_commit(t->store, NULL))
        store_rollback(t->store);
    t->stale = true;
}

/* ---- the memories in use ------------------------------------------------- */

static bool is_chosen(const struct tmfile *t, const struct memory_info *m)
{
    const struct memory_choice *c = &t->choice;
    const struct model_languages model = { c->source, c->target };

    if (c->all) return memory_fits(m, &model);
    for (size_t i = 0; i < c->n; i++)
        if (c->ids[i] == m->id) return true;
    return false;
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
    tmfile_close_indexes(t);
    free(t->infos);
    free(t->indexes);
    t->infos = list;
    t->indexes = indexes;
    t->n = n;
    return ST_OK;
}

enum status tmfile_follow(struct tmfile *t, struct err *e)
{
    struct memory_info *list = NULL;
    size_t n = 0, used = 0;
    uint32_t version;
    enum status st = store_version(t->store, &version, e);

    if (st || (!t->stale && version == t->version)) return st;
    st = store_memory_list(t->store, &list, &n, e);
    if (st) return st;
    for (size_t i = 0; i < n; i++)
        if (is_chosen(t, &list[i])) list[used++] = list[i];
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

static enum status choose_names(struct tmfile *t, const char *const *names,
                                size_t n, struct memory_choice *out,
                                struct err *e)
{
    struct memory_info m;
    enum status st = ST_OK;

    *out = (struct memory_choice){ .n = n, .all = n == 0 };
    out->ids = calloc(n ? n : 1, sizeof *out->ids);
    if (!out->ids) return err_nomem(e, "memories");
    for (size_t i = 0; !st && i < n; i++) {
        st = tmfile_find(t, names[i], &m, e);
        if (!st) out->ids[i] = m.id;
    }
    if (st) free(out->ids);
    return st;
}

enum status tmfile_use(struct tmfile *t, const char *const *names, size_t n,
                       struct err *e)
{
    struct memory_choice c;
    enum status st = choose_names(t, names, n, &c, e);

    if (st) return st;
    free(t->choice.ids);
    t->choice = c;
    t->stale = true;
    return ST_OK;
}

/* Fails if the memories in use do not fit a model, or if there are none but the
 * file has others. */
static enum status check_fit(struct tmfile *t,
                             const struct model_languages *model,
                             struct err *e)
{
    struct memory_info *list;
    size_t n;
    enum status st = tmfile_follow(t, e);

    if (st) return st;
    if (t->n) return memories_must_fit(t->infos, t->n, model, e);
    st = tmfile_list(t, &list, &n, e);
    if (st) return st;
    st = n > 1 ? memories_none_fits(store_path(t->store), model, e)
               : memories_must_fit(list, n, model, e);
    free(list);
    return st;
}

enum status tmfile_use_fitting(struct tmfile *t, const char *const *names,
                               size_t n, const struct model_languages *model,
                               struct err *e)
{
    struct memory_choice before = t->choice, *c = &t->choice;
    enum status st = choose_names(t, names, n, c, e);

    if (!st) {
        snprintf(c->source, sizeof c->source, "%s",
                 c->all && model->source ? model->source : "");
        snprintf(c->target, sizeof c->target, "%s",
                 c->all && model->target ? model->target : "");
        t->stale = true;
        st = check_fit(t, model, e);
        free(st ? c->ids : before.ids);
    }
    if (st) t->choice = before;
    t->stale = true;
    return st;
}

/* ---- indexes ------------------------------------------------------------- */

void tmfile_close_indexes(struct tmfile *t)
{
    for (size_t i = 0; i < t->n; i++) {
        index_close(t->indexes[i]);
        t->indexes[i] = NULL;
    }
}

static int tmfile_index_progress(void *user, const char *what, uint64_t done,
                                 uint64_t total)
{
    return tmfile_report(user, what, done, total, 0);
}

enum status tmfile_open_indexes(struct tmfile *t, struct err *e)
{
    const struct index_options o = { .progress = tmfile_index_progress,
                                     .user = t };
    enum status st = tmfile_follow(t, e);

    t->searched = true;
    for (size_t i = 0; !st && i < t->n; i++)
        if (!t->indexes[i])
            st = index_open(&t->indexes[i], t->store, t->infos[i].id,
                            &t->analyzer, &o, e);
    assert(st || t->n == 0 || t->indexes[t->n - 1]);
    return st;
}

/* ---- maintenance --------------------------------------------------------- */

enum status tmfile_check(struct tmfile *t, problem_fn *fn, void *user,
                         int *n_problems, struct err *e)
{
    bool damaged;
    enum status st;

    *n_problems = 0;
    tmfile_stop_merger(t);
    st = store_check(t->store, fn, user, n_problems, e);
    damaged = *n_problems > 0;
    if (!st) st = index_check_files(t->store, fn, user, n_problems, e);
    /* The contents of the index cannot be compared with a damaged store. */
    if (damaged && (!st || st == ST_FORMAT)) {
        err_clear(e);
        return ST_OK;
    }
    if (!st) st = tmfile_open_indexes(t, e);
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
    tmfile_stop_merger(t);
    st = store_require_sound(t->store, "building the index", e);
    if (!st) st = tmfile_open_indexes(t, e);
    for (size_t i = 0; !st && i < t->n; i++)
        st = index_rebuild(t->indexes[i], e);
    return st ? st : index_sweep(t->store, e);
}

enum status tmfile_compact(struct tmfile *t, struct err *e)
{
    enum status st = tmfile_alone(t, "compacting", e);

    if (st) return st;
    tmfile_stop_merger(t);
    st = store_require_sound(t->store, "compacting", e);
    if (!st) st = tmfile_open_indexes(t, e);
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
    enum status st = tmfile_open_indexes(t, e);

    *out = (struct index_stats){ 0 };
    for (size_t i = 0; !st && i < t->n; i++) {
        st = index_refresh(t->indexes[i], e);
        if (st) break;
        index_stats(t->indexes[i], &one);
        add_stats(out, &one);
    }
    return st;
}

int64_t tmfile_disk_bytes(struct tmfile *t)
{
    return store_disk_bytes(t->store);
}

enum status tmfile_contradictions(struct tmfile *t, contradict_fn *fn,
                                  void *user, int64_t *n_sources,
                                  struct err *e)
{
    enum status st = tmfile_follow(t, e);

    *n_sources = 0;
    if (st) return st;
    return contradict_list(t->store, t->infos, t->n, fn, user, n_sources, e);
}
