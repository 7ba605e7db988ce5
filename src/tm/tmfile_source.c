/* tmfile_source.c - the memory file as a source of pairs (source.h): finds
 * candidates by BM25 in the indexes, reads pairs from the store, and reads the
 * change log. It does not rank candidates.
 *
 * The id of a pair is the id of its text. A mark has the version of the store
 * (which changes with every commit), the number of the last change, and a hash
 * of all that makes earlier numbers meaningless: the memories in use, the
 * identity of the file, and the number of rollbacks, because the numbers of
 * changes that were rolled back are used again. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tm/tmfile_internal.h"

static struct tmfile *tmfile_of(struct pair_source *s)
{
    return (struct tmfile *)s;  /* source is its first member */
}

struct pair_source *tmfile_source(struct tmfile *t) { return &t->source; }

/* ---- finding ------------------------------------------------------------- */

static enum status prepare_search(struct tmfile *t,
                                  const struct source_query *q, struct err *e)
{
    if (t->analyzer.id != q->analyzer.id ||
        t->analyzer.subword != q->analyzer.subword) {
        tmfile_close_indexes(t);
        subword_replace(&t->analyzer.subword, q->analyzer.subword);
        t->analyzer.id = q->analyzer.id;
    }
    subword_replace(&t->sw, q->sw);
    t->tokenizer = q->tokenizer;
    return tmfile_open_indexes(t, e);
}

static enum status add_hit(struct tmfile *t, size_t memory,
                           const struct hit *h, bool with_chars,
                           struct candidates *out, struct err *e)
{
    uint32_t chars = 0;
    const uint32_t *at;
    size_t n;
    enum status st = index_symbols(t->indexes[memory], h, &at, &n,
                                   with_chars ? &chars : NULL, e);

    if (st) return st;
    if (!candidates_add(out, h->text, h->score, NULL) ||
        !candidates_set_symbols(out, at, n, chars))
        return err_nomem(e, "the candidates of a search");
    return ST_OK;
}

/* Search a memory for its best `top` texts. */
static enum status search_memory(struct tmfile *t, size_t memory, size_t top,
                                 size_t *n, struct err *e)
{
    if (!mem_grow(&t->hits, &t->hits_cap, top, sizeof *t->hits))
        return err_nomem(e, "the candidates of a search");
    return index_search(t->indexes[memory], &t->terms, top, t->hits, n, e);
}

static enum status find_in_memory(struct tmfile *t, size_t memory,
                                  const struct source_query *q,
                                  struct candidates *out, struct err *e)
{
    struct index *ix = t->indexes[memory];
    size_t n = 0;
    enum status st = index_refresh(ix, e);

    if (!st) st = index_use_symbols(ix, q->sw, q->tokenizer, e);
    if (!st) st = search_memory(t, memory, q->top, &n, e);
    if (!st && !candidates_begin_list(out, &t->infos[memory], 0))
        st = err_nomem(e, "the candidates of a search");
    for (size_t i = 0; !st && i < n; i++)
        st = add_hit(t, memory, &t->hits[i], q->chars, out, e);
    return st;
}

static enum status tmfile_find_candidates(struct pair_source *s,
                                          const struct source_query *q,
                                          struct candidates *out,
                                          struct err *e)
{
    struct tmfile *t = tmfile_of(s);
    enum status st = prepare_search(t, q, e);

    assert(tmfile_sound(t));
    if (!st) st = analyze(&t->analyzer, q->text, &t->terms, e);
    for (size_t i = 0; !st && i < t->n; i++)
        st = find_in_memory(t, i, q, out, e);
    if (!st) tmfile_request_merges(t);
    return st;
}

/* The index is not refreshed, so that the first q->top hits are those of the
 * search before. */
static enum status tmfile_find_ties(struct pair_source *s,
                                    const struct source_query *q,
                                    int64_t memory, struct candidates *out,
                                    struct err *e)
{
    struct tmfile *t = tmfile_of(s);
    size_t k = 0, n = 0;
    enum status st;

    while (k < t->n && t->infos[k].id != memory) k++;
    if (k == t->n || !q->top) return ST_OK;
    st = analyze(&t->analyzer, q->text, &t->terms, e);
    if (!st) st = search_memory(t, k, SOURCE_TIES_MAX, &n, e);
    if (!st && !candidates_begin_list(out, &t->infos[k], q->top))
        st = err_nomem(e, "the candidates of a search");
    for (size_t i = q->top; !st && i < n; i++) {
        if (t->hits[i].score < t->hits[q->top - 1].score) break;
        st = add_hit(t, k, &t->hits[i], q->chars, out, e);
    }
    return st;
}

/* ---- fetching ------------------------------------------------------------ */

static const struct memory_info *memory_in_use(const struct tmfile *t,
                                               int64_t memory)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->infos[i].id == memory) return &t->infos[i];
    return NULL;
}

/* The texts are read last: they are valid until the next call of the store. */
static enum status fetch_pair(struct tmfile *t, const struct source_want *w,
                              struct source_pair *p, struct err *e)
{
    struct unit *u = &p->pair.unit;
    enum status st = ST_OK;

    *p = (struct source_pair){ .found = true };
    if (w->parts & FETCH_CONFIRMED) {
        st = store_text_confirmed(t->store, w->id, &p->confirmed, e);
        p->found = p->confirmed.occurrences > 0;
    }
    if (st || !p->found) return st;
    if (w->parts & FETCH_RECORD) {
        st = store_text_pair(t->store, w->id, &p->pair, &p->occurrences, e);
        p->memory = memory_in_use(t, p->pair.memory);
        p->found = p->occurrences && p->memory;
    } else if (w->parts & FETCH_TEXTS) {
        st = store_text(t->store, w->id, &u->source, &u->target, &u->tagged,
                        &p->found, e);
    }
    return st;
}

static enum status fetch_pairs(struct tmfile *t, const struct source_want *w,
                               size_t n, source_fetch_fn *fn, void *user,
                               struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < n; i++) {
        struct source_pair p;

        st = fetch_pair(t, &w[i], &p, e);
        if (!st) st = fn(user, i, &p, e);
    }
    return st;
}

/* A read transaction costs a tenth of a search, and saves more than that when
 * several pairs are read. */
static enum status tmfile_fetch(struct pair_source *s,
                                const struct source_want *w, size_t n,
                                source_fetch_fn *fn, void *user,
                                struct err *e)
{
    struct tmfile *t = tmfile_of(s);
    bool once = n == 1 && w->parts == FETCH_TEXTS;
    enum status st = once ? ST_OK : store_begin_read(t->store, e), end;

    if (st) return st;
    st = fetch_pairs(t, w, n, fn, user, e);
    if (once) return st;
    end = store_commit(t->store, st ? NULL : e);
    return st ? st : end;
}

/* ---- changes ------------------------------------------------------------- */

struct change_list { source_change_fn *fn; void *user; };

static int list_change(void *user, const struct change *c)
{
    const struct change_list *l = user;
    const struct source_change out = { c->kind == CHANGE_REMOVE, c->text };

    return l->fn(l->user, &out);
}

static uint64_t memories_hash(const struct tmfile *t)
{
    uint64_t h = XXH64(&t->rollbacks, sizeof t->rollbacks,
                       store_uuid(t->store));

    for (size_t i = 0; i < t->n; i++) {
        const struct memory_info *m = &t->infos[i];

        h = XXH64(&m->id, sizeof m->id, h);
        h = XXH64(&m->priority, sizeof m->priority, h);
        h = XXH64(m->name, strlen(m->name), h);
    }
    return h;
}

static enum status present_mark(struct tmfile *t, uint32_t version,
                                struct source_mark *out, struct err *e)
{
    int64_t change = 0;
    enum status st = ST_OK;

    *out = (struct source_mark){ version, 0, memories_hash(t) };
    for (size_t i = 0; !st && i < t->n; i++) {
        st = store_last_change(t->store, t->infos[i].id, &change, e);
        if ((uint64_t)change > out->change) out->change = (uint64_t)change;
    }
    return st;
}

/* Whether the log still has all changes after the mark. */
static enum status log_reaches(struct tmfile *t, const struct source_mark *mark,
                               bool *reaches, struct err *e)
{
    int64_t start = 0;
    enum status st = ST_OK;

    *reaches = true;
    for (size_t i = 0; !st && *reaches && i < t->n; i++) {
        st = store_log_start(t->store, t->infos[i].id, &start, e);
        *reaches = (uint64_t)start <= mark->change;
    }
    return st;
}

static enum status list_changes(struct tmfile *t,
                                const struct source_mark *since,
                                enum source_news news, struct change_list *l,
                                struct err *e)
{
    int64_t after = (int64_t)since->change;
    enum status st = ST_OK;

    if (news == SOURCE_SAME || !l->fn) return ST_OK;
    for (size_t i = 0; !st && i < t->n; i++)
        st = news == SOURCE_RESET
             ? store_scan(t->store, t->infos[i].id, list_change, l, e)
             : store_changes(t->store, t->infos[i].id, after, after,
                             list_change, l, e);
    return st;
}

static enum status read_changes(struct tmfile *t, uint32_t version,
                                struct source_mark *mark,
                                struct change_list *l, enum source_news *news,
                                struct err *e)
{
    struct source_mark now;
    bool reaches = true;
    enum status st = present_mark(t, version, &now, e);

    *news = now.memories == mark->memories ? SOURCE_CHANGED : SOURCE_RESET;
    if (!st && *news == SOURCE_CHANGED) st = log_reaches(t, mark, &reaches, e);
    if (!reaches) *news = SOURCE_RESET;
    if (*news == SOURCE_CHANGED && now.version == mark->version)
        *news = SOURCE_SAME;
    if (!st) st = list_changes(t, mark, *news, l, e);
    if (!st) *mark = now;
    return st;
}

/* The version is read before the rest. If somebody writes in between, the next
 * call finds a newer version and no changes. */
static enum status tmfile_read_changes(struct pair_source *s,
                                       struct source_mark *mark,
                                       source_change_fn *fn, void *user,
                                       enum source_news *news, struct err *e)
{
    struct change_list l = { fn, user };
    struct tmfile *t = tmfile_of(s);
    enum status st = tmfile_follow(t, e), end;

    *news = SOURCE_RESET;
    if (!st) st = store_begin_read(t->store, e);
    if (st) return st;
    st = read_changes(t, t->version, mark, &l, news, e);
    end = store_commit(t->store, st ? NULL : e);
    return st ? st : end;
}

static enum status tmfile_memories(struct pair_source *s,
                                   const struct memory_info **list, size_t *n,
                                   struct err *e)
{
    struct tmfile *t = tmfile_of(s);
    enum status st = tmfile_follow(t, e);

    *list = t->infos;
    *n = t->n;
    return st;
}

static uint64_t tmfile_identity(struct pair_source *s)
{
    return store_uuid(tmfile_of(s)->store);
}

const struct source_ops tmfile_source_ops = {
    .find = tmfile_find_candidates, .find_ties = tmfile_find_ties,
    .fetch = tmfile_fetch, .changes = tmfile_read_changes,
    .memories = tmfile_memories, .identity = tmfile_identity
};
