/* contradict.c - lists the sources that have several different translations.
 *
 * For every visible text we keep a hash of its source, 24 bytes per text.
 * Sorted by hash, texts with the same source are neighbors and form a run.
 * Only the texts of runs of two or more are read again, compared byte by byte
 * and put in order. The store is not changed. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tm/contradict.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"

struct hashed_text {
    uint64_t hash;              /* of its source */
    int64_t text;
    size_t memory;              /* index in contradict.memories */
};

struct text_run {               /* texts with the same hash; n >= 2 */
    size_t begin, n;            /* in contradict.texts */
    int64_t oldest;             /* the lowest text id */
};

struct loaded_text {            /* a text of the present run */
    struct contradiction entry; /* entry.memory is NULL when the text was
                                   handled with an earlier one */
    size_t source_at, source_n, target_at, target_n;    /* in the buffer */
};

struct contradict {
    struct store *store;
    const struct memory_info *memories; /* [n_memories] */
    size_t n_memories;
    contradict_fn *fn;
    void *user;
    int64_t *n_sources;
    struct hashed_text *texts;
    size_t n_texts, cap_texts;
    struct text_run *runs;
    size_t n_runs, cap_runs;
    struct loaded_text *loaded;
    size_t n_loaded, cap_loaded;
    struct contradiction *list; /* for the callback */
    size_t cap_list;
    size_t memory;              /* index of the one that is being scanned */
    struct strbuf plain, buffer;
    struct err *e;
};

static void contradict_release(struct contradict *c)
{
    free(c->texts);
    free(c->runs);
    free(c->loaded);
    free(c->list);
    strbuf_release(&c->plain);
    strbuf_release(&c->buffer);
}

/* ---- texts by the hash of their source ----------------------------------- */

static int contradict_take_text(void *user, const struct change *ch)
{
    struct contradict *c = user;
    struct str source;

    if (precedence_source(ch->source, ch->tagged, &c->plain, &source, c->e))
        return 1;
    if (!mem_grow(&c->texts, &c->cap_texts, c->n_texts + 1,
                  sizeof *c->texts)) {
        err_nomem(c->e, "a list of texts");
        return 1;
    }
    c->texts[c->n_texts++] = (struct hashed_text){
        XXH64(source.p ? source.p : "", source.n, 0), ch->text, c->memory };
    return 0;
}

static int text_by_hash(const void *a, const void *b)
{
    const struct hashed_text *x = a, *y = b;

    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text;
}

static int run_by_age(const void *a, const void *b)
{
    const struct text_run *x = a, *y = b;

    return x->oldest < y->oldest ? -1 : x->oldest > y->oldest;
}

static enum status find_runs(struct contradict *c)
{
    size_t end;

    if (c->n_texts)
        qsort(c->texts, c->n_texts, sizeof *c->texts, text_by_hash);
    for (size_t i = 0; i < c->n_texts; i = end) {
        for (end = i + 1; end < c->n_texts &&
                          c->texts[end].hash == c->texts[i].hash;) end++;
        if (end == i + 1) continue;
        if (!mem_grow(&c->runs, &c->cap_runs, c->n_runs + 1,
                      sizeof *c->runs))
            return err_nomem(c->e, "a list of texts");
        assert(end <= c->n_texts);
        c->runs[c->n_runs++] = (struct text_run){ i, end - i,
                                                  c->texts[i].text };
    }
    if (c->n_runs) qsort(c->runs, c->n_runs, sizeof *c->runs, run_by_age);
    return ST_OK;
}

/* ---- one run ------------------------------------------------------------- */

/* Read a text into the buffer. A text that is no longer visible is skipped. */
static enum status load_text(struct contradict *c, const struct hashed_text *h)
{
    const struct memory_info *m = &c->memories[h->memory];
    struct loaded_text *to;
    struct str source, target;
    bool tagged, found;
    enum status st;

    if (!mem_grow(&c->loaded, &c->cap_loaded, c->n_loaded + 1,
                  sizeof *c->loaded))
        return err_nomem(c->e, "a list of texts");
    to = &c->loaded[c->n_loaded];
    to->entry.memory = m;
    to->entry.precedence.priority = m->priority;
    st = store_text_confirmed(c->store, h->text, &to->entry.precedence.last,
                              c->e);
    if (!st) st = store_text(c->store, h->text, &source, &target, &tagged,
                             &found, c->e);
    if (st || !found || !to->entry.precedence.last.occurrences) return st;
    st = precedence_source(source, tagged, &c->plain, &source, c->e);
    if (st) return st;
    to->source_at = c->buffer.len;
    to->source_n = source.n;
    to->target_at = c->buffer.len + source.n;
    to->target_n = target.n;
    if (!strbuf_add(&c->buffer, source.p, source.n) ||
        !strbuf_add(&c->buffer, target.p, target.n))
        return err_nomem(c->e, "a list of texts");
    c->n_loaded++;
    return ST_OK;
}

static struct str loaded_source(const struct contradict *c, size_t i)
{
    return (struct str){ c->buffer.data + c->loaded[i].source_at,
                         c->loaded[i].source_n };
}

static struct str loaded_target(const struct contradict *c, size_t i)
{
    return (struct str){ c->buffer.data + c->loaded[i].target_at,
                         c->loaded[i].target_n };
}

static int contradiction_order(const void *a, const void *b)
{
    const struct contradiction *x = a, *y = b;

    return precedence_compare(&x->precedence, &y->precedence);
}

/* Report the texts that have the same source as `first`, if their translations
 * differ, and mark them as handled. */
static enum status report_source(struct contradict *c, size_t first)
{
    struct str source = loaded_source(c, first);
    struct str target = loaded_target(c, first);
    size_t n = 0;
    bool differ = false;

    assert(first < c->n_loaded && c->loaded[first].entry.memory);
    if (!mem_grow(&c->list, &c->cap_list, c->n_loaded, sizeof *c->list))
        return err_nomem(c->e, "a list of texts");
    for (size_t i = first; i < c->n_loaded; i++) {
        if (!c->loaded[i].entry.memory ||
            !str_eq(loaded_source(c, i), source)) continue;
        differ |= !str_eq(loaded_target(c, i), target);
        c->list[n++] = c->loaded[i].entry;
        c->loaded[i].entry.memory = NULL;
    }
    assert(n > 0);
    if (!differ) return ST_OK;
    qsort(c->list, n, sizeof *c->list, contradiction_order);
    ++*c->n_sources;
    return c->fn(c->user, source, c->list, n) ? ST_CANCELED : ST_OK;
}

static enum status report_run(struct contradict *c, const struct text_run *r)
{
    enum status st = ST_OK;

    c->n_loaded = 0;
    strbuf_reset(&c->buffer);
    for (size_t i = 0; !st && i < r->n; i++)
        st = load_text(c, &c->texts[r->begin + i]);
    for (size_t i = 0; !st && i < c->n_loaded; i++)
        if (c->loaded[i].entry.memory) st = report_source(c, i);
    return st;
}

/* ---- the whole file ------------------------------------------------------ */

/* store_scan returns ST_CANCELED when contradict_take_text stops it, which it
 * does only when it runs out of memory. */
static enum status contradict_scan(struct contradict *c)
{
    enum status st = ST_OK;

    for (c->memory = 0; !st && c->memory < c->n_memories; c->memory++)
        st = store_scan(c->store, c->memories[c->memory].id,
                        contradict_take_text, c, c->e);
    if (st == ST_CANCELED) st = err_nomem(c->e, "a list of texts");
    return st ? st : find_runs(c);
}

enum status contradict_list(struct store *s, const struct memory_info *memories,
                            size_t n, contradict_fn *fn, void *user,
                            int64_t *n_sources, struct err *e)
{
    struct contradict c = { .store = s, .memories = memories, .n_memories = n,
                            .fn = fn, .user = user, .n_sources = n_sources,
                            .e = e };
    enum status st = store_begin_read(s, e), ended;

    *n_sources = 0;
    if (st) return st;
    strbuf_init(&c.plain, 0);
    strbuf_init(&c.buffer, 0);
    st = contradict_scan(&c);
    for (size_t i = 0; !st && i < c.n_runs; i++)
        st = report_run(&c, &c.runs[i]);
    ended = store_commit(s, st ? NULL : e);
    contradict_release(&c);
    return st ? st : ended;
}
