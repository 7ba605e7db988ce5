/* toy_source.c - a source of pairs that is an array in main memory.
 *
 * Every pair that is added is a text of its own, even if another pair has the
 * same texts. A removed pair stays in the array, so candidates and marks from
 * before its removal remain valid. The time of the source is the number of
 * changes so far, plus one: no mark is all zeros but the first.
 *
 * Invariant: the pair with the id i is pairs[i - 1]. */
#include "toy_source.h"

#include <stdlib.h>

#include "base/mem.h"
#include "pair/tags.h"

struct toy_pair {
    struct candidate_texts texts;   /* in malloc memory */
    struct terms words;         /* of the source without tags */
    int64_t id;
    int memory;
    uint64_t added, removed;    /* when; removed is 0 for a pair that exists */
};

struct toy_source {
    struct pair_source base;    /* must be first */
    uint64_t identity, now;
    struct memory_info memories[2];
    struct toy_pair **pairs;    /* [n]; a pair never moves */
    size_t n, cap;
};

struct toy_hit { const struct toy_pair *pair; size_t score; };

static struct toy_source *toy_self(struct pair_source *s)
{
    return (struct toy_source *)s;
}

/* The pair with this id, or NULL if it does not exist or was removed. */
static struct toy_pair *toy_pair_of(struct toy_source *t, int64_t id)
{
    struct toy_pair *p;

    if (id < 1 || (uint64_t)id > t->n) return NULL;
    p = t->pairs[id - 1];
    return p->removed ? NULL : p;
}

/* ---- find ---------------------------------------------------------------- */

static bool toy_has_word(const uint64_t *at, size_t n, uint64_t word)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] == word) return true;
    return false;
}

/* The number of different words that both have. */
static size_t toy_common_words(const struct terms *a, const struct terms *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += !toy_has_word(a->at, i, a->at[i]) &&
             toy_has_word(b->at, b->n, a->at[i]);
    return n;
}

/* The best first; of equal ones the newer. */
static int toy_hit_order(const void *a, const void *b)
{
    const struct toy_hit *x = a, *y = b;

    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->pair->id > y->pair->id ? -1 : 1;
}

/* The pairs of a memory that have words of the query, in order. hits has room
 * for all pairs. */
static size_t toy_hits(const struct toy_source *t, int memory,
                       const struct terms *query, struct toy_hit *hits)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct toy_pair *p = t->pairs[i];

        if (p->removed || p->memory != memory) continue;
        hits[n] = (struct toy_hit){ p, toy_common_words(query, &p->words) };
        if (hits[n].score) n++;
    }
    qsort(hits, n, sizeof *hits, toy_hit_order);
    return n;
}

static bool toy_find_in(const struct toy_source *t, int memory, size_t top,
                        const struct terms *query, struct toy_hit *hits,
                        struct candidates *out)
{
    size_t n = toy_hits(t, memory, query, hits);

    if (!candidates_begin_list(out, &t->memories[memory], 0)) return false;
    for (size_t i = 0; i < n && i < top; i++)
        if (!candidates_add(out, hits[i].pair->id, (double)hits[i].score,
                            &hits[i].pair->texts))
            return false;
    return true;
}

static enum status toy_find(struct pair_source *s,
                            const struct source_query *q,
                            struct candidates *out, struct err *e)
{
    const struct analyzer standard = { 0 };
    struct toy_source *t = toy_self(s);
    struct toy_hit *hits;
    struct terms query = { 0 };
    enum status st;

    candidates_reset(out);
    st = analyze(&standard, q->text, &query, e);
    hits = calloc(t->n + 1, sizeof *hits);
    if (!st && (!hits ||
                !toy_find_in(t, 0, q->top, &query, hits, out) ||
                !toy_find_in(t, 1, q->top, &query, hits, out)))
        st = err_nomem(e, "candidates");
    free(hits);
    terms_release(&query);
    return st;
}

/* ---- fetch --------------------------------------------------------------- */

static void toy_fill_record(struct toy_source *t, const struct toy_pair *p,
                            struct source_pair *out)
{
    out->memory = &t->memories[p->memory];
    out->occurrences = 1;
    out->pair.id = out->pair.text = p->id;
    out->pair.memory = out->memory->id;
    out->pair.unit.created = out->pair.unit.changed = (int64_t)p->added;
}

static struct source_pair toy_get(struct toy_source *t,
                                  const struct source_want *w)
{
    const struct toy_pair *p = toy_pair_of(t, w->id);
    struct source_pair out = { .found = p != NULL };

    if (!p) return out;
    if (w->parts & (FETCH_TEXTS | FETCH_RECORD)) {
        out.pair.unit.source = p->texts.source;
        out.pair.unit.target = p->texts.target;
        out.pair.unit.tagged = p->texts.tagged;
    }
    if (w->parts & FETCH_RECORD) toy_fill_record(t, p, &out);
    if (w->parts & FETCH_CONFIRMED)
        out.confirmed = (struct confirmation){ .time = (double)p->added,
                                               .pair = p->id,
                                               .occurrences = 1 };
    return out;
}

static enum status toy_fetch(struct pair_source *s,
                             const struct source_want *w, size_t n,
                             source_fetch_fn *fn, void *user, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct source_pair p = toy_get(toy_self(s), &w[i]);
        enum status st = fn(user, i, &p, e);

        if (st) return st;
    }
    return ST_OK;
}

/* ---- changes ------------------------------------------------------------- */

/* Whether the pair existed at one of the two times only, `since` and now. */
static bool toy_pair_changed(const struct toy_pair *p, uint64_t since)
{
    return p->added > since ? !p->removed : p->removed > since;
}

static enum status toy_changes(struct pair_source *s, struct source_mark *mark,
                               source_change_fn *fn, void *user,
                               enum source_news *news, struct err *e)
{
    struct toy_source *t = toy_self(s);

    for (size_t i = 0; fn && i < t->n; i++) {
        const struct toy_pair *p = t->pairs[i];
        struct source_change c = { p->removed != 0, p->id };

        if (toy_pair_changed(p, mark->change) && fn(user, &c))
            return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    }
    *news = !mark->change ? SOURCE_RESET :
            mark->change == t->now ? SOURCE_SAME : SOURCE_CHANGED;
    *mark = (struct source_mark){ .change = t->now };
    return ST_OK;
}

static enum status toy_memories(struct pair_source *s,
                                const struct memory_info **list, size_t *n,
                                struct err *e)
{
    struct toy_source *t = toy_self(s);

    (void)e;
    *list = t->memories;
    *n = sizeof t->memories / sizeof *t->memories;
    return ST_OK;
}

static uint64_t toy_identity(struct pair_source *s)
{
    return toy_self(s)->identity;
}

/* ---- pairs --------------------------------------------------------------- */

static void toy_pair_free(struct toy_pair *p)
{
    if (!p) return;
    free((char *)p->texts.source.p);
    free((char *)p->texts.target.p);
    terms_release(&p->words);
    free(p);
}

static bool toy_set_words(struct toy_pair *p)
{
    const struct analyzer standard = { 0 };
    struct str plain = p->texts.source;
    struct strbuf sb;
    bool ok = true;

    strbuf_init(&sb, 0);
    if (p->texts.tagged) {
        ok = tags_strip(plain, &sb);
        plain = strbuf_view(&sb);
    }
    ok = ok && !analyze(&standard, plain, &p->words, NULL);
    strbuf_release(&sb);
    return ok;
}

static struct toy_pair *toy_pair_new(const char *source, const char *target,
                                     bool tagged)
{
    struct toy_pair *p = calloc(1, sizeof *p);

    if (!p) return NULL;
    p->texts.source = str_of(strdup(source));
    p->texts.target = str_of(strdup(target));
    p->texts.tagged = tagged;
    if (p->texts.source.p && p->texts.target.p && toy_set_words(p)) return p;
    toy_pair_free(p);
    return NULL;
}

int64_t toy_source_add(struct toy_source *t, int memory, const char *source,
                       const char *target, bool tagged)
{
    struct toy_pair *p;

    if (!mem_grow(&t->pairs, &t->cap, t->n + 1, sizeof *t->pairs)) return 0;
    p = toy_pair_new(source, target, tagged);
    if (!p) return 0;
    t->pairs[t->n++] = p;
    p->id = (int64_t)t->n;
    p->memory = memory;
    p->added = ++t->now;
    return p->id;
}

void toy_source_remove(struct toy_source *t, int64_t id)
{
    struct toy_pair *p = toy_pair_of(t, id);

    if (p) p->removed = ++t->now;
}

/* ---- the source ---------------------------------------------------------- */

static const struct source_ops toy_source_ops = {
    .find = toy_find,
    .fetch = toy_fetch,
    .changes = toy_changes,
    .memories = toy_memories,
    .identity = toy_identity,
};

struct toy_source *toy_source_new(uint64_t identity)
{
    struct toy_source *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    t->base.ops = &toy_source_ops;
    t->identity = identity;
    t->now = 1;
    t->memories[0] = (struct memory_info){ .id = 1, .name = "main" };
    t->memories[1] = (struct memory_info){ .id = 2, .name = "second",
                                           .priority = 1 };
    return t;
}

void toy_source_free(struct toy_source *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) toy_pair_free(t->pairs[i]);
    free(t->pairs);
    free(t);
}

struct pair_source *toy_source_of(struct toy_source *t)
{
    return &t->base;
}
