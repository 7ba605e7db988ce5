/* contradict.c - lists the sources that have several different translations.
 *
 * Every visible text gives a hash of its source, 24 bytes each; sorted by hash,
 * texts with the same source lie side by side. Only the texts of such runs are
 * read again, compared byte by byte and put in order. Nothing is changed. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tm/contradict.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct hashed_text {
    uint64_t hash;              /* of its source */
    int64_t text;
    size_t memory;              /* of the memories in use */
};

struct text_run {               /* texts with one hash */
    size_t begin, n;
    int64_t oldest;             /* the lowest text id */
};

struct loaded_text {            /* a text of the run at hand */
    struct contradiction is;
    size_t source_at, source_n, target_at, target_n;    /* in the buffer */
};

struct contradict {
    struct tmfile *t;
    contradict_fn *fn;
    void *user;
    int64_t *n_sources;
    struct hashed_text *texts;
    size_t n_texts, cap_texts;
    struct text_run *runs;
    size_t n_runs, cap_runs;
    struct loaded_text *loaded;
    size_t n_loaded, cap_loaded;
    struct contradiction *list;
    size_t cap_list;
    size_t memory;              /* being scanned */
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
        c->runs[c->n_runs++] = (struct text_run){ i, end - i,
                                                  c->texts[i].text };
    }
    if (c->n_runs) qsort(c->runs, c->n_runs, sizeof *c->runs, run_by_age);
    return ST_OK;
}

/* ---- one run ------------------------------------------------------------- */

static enum status load_text(struct contradict *c, const struct hashed_text *h)
{
    const struct memory_info *m = &c->t->infos[h->memory];
    struct loaded_text *to;
    struct str source, target;
    bool tagged, found;
    enum status st;

    if (!mem_grow(&c->loaded, &c->cap_loaded, c->n_loaded + 1,
                  sizeof *c->loaded))
        return err_nomem(c->e, "a list of texts");
    to = &c->loaded[c->n_loaded];
    to->is.memory = m;
    st = precedence_read(c->t->store, h->text, m->priority,
                         &to->is.precedence, c->e);
    if (!st) st = store_text(c->t->store, h->text, &source, &target, &tagged,
                             &found, c->e);
    if (st || !found || !to->is.precedence.last.occurrences) return st;
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

/* Those with the source of the first, which leave the list of loaded ones. */
static enum status tell_source(struct contradict *c, size_t first)
{
    struct str source = loaded_source(c, first);
    struct str target = loaded_target(c, first);
    size_t n = 0;
    bool differ = false;

    if (!mem_grow(&c->list, &c->cap_list, c->n_loaded, sizeof *c->list))
        return err_nomem(c->e, "a list of texts");
    for (size_t i = first; i < c->n_loaded; i++) {
        if (!c->loaded[i].is.memory ||
            !str_eq(loaded_source(c, i), source)) continue;
        differ |= !str_eq(loaded_target(c, i), target);
        c->list[n++] = c->loaded[i].is;
        c->loaded[i].is.memory = NULL;
    }
    assert(n > 0);
    if (!differ) return ST_OK;
    qsort(c->list, n, sizeof *c->list, contradiction_order);
    ++*c->n_sources;
    return c->fn(c->user, source, c->list, n) ? ST_CANCELED : ST_OK;
}

static enum status tell_run(struct contradict *c, const struct text_run *r)
{
    enum status st = ST_OK;

    c->n_loaded = 0;
    strbuf_reset(&c->buffer);
    for (size_t i = 0; !st && i < r->n; i++)
        st = load_text(c, &c->texts[r->begin + i]);
    for (size_t i = 0; !st && i < c->n_loaded; i++)
        if (c->loaded[i].is.memory) st = tell_source(c, i);
    return st;
}

/* ---- all of them --------------------------------------------------------- */

/* store_scan gives ST_CANCELED when take_text stops it: that is only done when
 * there is no memory left. */
static enum status contradict_scan(struct contradict *c)
{
    enum status st = ST_OK;

    for (c->memory = 0; !st && c->memory < c->t->n; c->memory++)
        st = store_scan(c->t->store, c->t->infos[c->memory].id,
                        contradict_take_text, c, c->e);
    if (st == ST_CANCELED) st = err_nomem(c->e, "a list of texts");
    return st ? st : find_runs(c);
}

enum status contradict_list(struct tmfile *t, contradict_fn *fn, void *user,
                            int64_t *n_sources, struct err *e)
{
    struct contradict c = { .t = t, .fn = fn, .user = user,
                            .n_sources = n_sources, .e = e };
    enum status st = tmfile_refresh(t, e), ended;

    *n_sources = 0;
    strbuf_init(&c.plain, 0);
    strbuf_init(&c.buffer, 0);
    if (!st) st = store_begin_read(t->store, e);
    if (st) return st;
    st = contradict_scan(&c);
    for (size_t i = 0; !st && i < c.n_runs; i++) st = tell_run(&c, &c.runs[i]);
    ended = store_commit(t->store, st ? NULL : e);
    contradict_release(&c);
    return st ? st : ended;
}
