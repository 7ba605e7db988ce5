/* asking.c - decides for each row whether the datastore is searched, and keeps
 * what was found for later steps. */
#include "knn/asking.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

struct asking {
    struct entries *entries;    /* borrowed */
    struct held_search *search; /* held */
    int k, rows;
    struct query_cache *cache;  /* NULL: none */
    struct chunks *chunks;      /* NULL: none */
    bool *searched;             /* [rows] of the last pass */
};

/* ---- creation and destruction ------------------------------------------- */

void asking_free(struct asking *a)
{
    if (!a) return;
    held_search_drop(a->search);
    query_cache_free(a->cache);
    chunks_free(a->chunks);
    free(a->searched);
    free(a);
}

static enum status asking_init(struct asking *a, struct worker_search *ws,
                               const struct asking_options *o, struct err *e)
{
    struct query_cache_options co = { .threshold = o->cache };
    struct query_cache_limits cl = { a->entries->d_model, o->k, o->rows,
                                     o->max_len };
    struct chunk_limits l = { o->rows, o->k, o->max_len, o->n_source };
    enum status st = worker_search_get(ws, a->entries, &a->search, e);

    a->searched = calloc((size_t)o->rows, sizeof *a->searched);
    if (!st && !a->searched) st = err_nomem(e, "neighbor search");
    if (!st && o->cache > 0) st = query_cache_new(&a->cache, &co, &cl, e);
    if (!st && o->chunk) st = chunks_new(&a->chunks, a->entries, o->chunk, &l,
                                         e);
    return st;
}

enum status asking_new(struct asking **out, struct entries *s,
                       struct worker_search *ws,
                       const struct asking_options *o, struct err *e)
{
    struct asking *a = calloc(1, sizeof *a);
    enum status st;

    *out = NULL;
    if (!a) return err_nomem(e, "neighbor search");
    a->entries = s;
    a->k = o->k;
    a->rows = o->rows;
    st = asking_init(a, ws, o, e);
    if (st) asking_free(a);
    else *out = a;
    return st;
}

struct pass_search *asking_search(const struct asking *a)
{
    return entry_search_pass(held_search_of(a->search));
}

bool asking_searches(const struct asking *a, int step)
{
    return !a->chunks || chunks_searches(a->chunks, step);
}

/* ---- rows ---------------------------------------------------------------- */

static enum status asking_read(const struct asking *a, struct executor *x,
                               int row, const float **q, struct err *e)
{
    size_t ld;

    return x->ops->read(x, a->entries->kind, row, 1, q, &ld, e);
}

static int copy_answer(const struct query_answer *from, struct neighbor *nb)
{
    if (from->n) memcpy(nb, from->nb, (size_t)from->n * sizeof *nb);
    return from->n;
}

/* Answer a row without a search, if that is possible. again: with what it got
 * in the search. */
static enum status asking_answer(struct asking *a, struct executor *x, int row,
                                 int step, bool again, struct neighbor *nb,
                                 int *found, bool *answered, struct err *e)
{
    struct query_answer known;
    const float *q;
    enum status st;

    *answered = false;
    if (!a->cache && asking_searches(a, step)) return ST_OK;
    st = asking_read(a, x, row, &q, e);
    if (st) return st;
    if (!asking_searches(a, step)) {
        *found = chunks_nearest(a->chunks, step, q, a->k, nb);
        *answered = true;
    } else if (again ? query_cache_recall(a->cache, step, q, &known)
                     : query_cache_find(a->cache, step, q, &known)) {
        *found = copy_answer(&known, nb);
        *answered = true;
    }
    return ST_OK;
}

enum status asking_rows(struct asking *a, const struct mixer_rows *in,
                        struct neighbor *nb, int *found, struct err *e)
{
    struct entry_search *es = held_search_of(a->search);
    enum status st = ST_OK;

    assert(in->n <= a->rows);
    for (int i = 0; !st && i < in->n; i++, nb += a->k) {
        bool answered;

        st = asking_answer(a, in->x, in->row + i, in->n_tokens[i], false, nb,
                           &found[i], &answered, e);
        a->searched[i] = !answered;
        if (!st && !answered)
            st = entry_search_ask(es, in->x, in->row + i, a->k, nb, &found[i],
                                  e);
    }
    return st;
}

enum status asking_done(struct asking *a, const struct mixer_rows *in,
                        const struct neighbor *nb, const int *found,
                        struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; !st && i < in->n; i++, nb += a->k) {
        int step = in->n_tokens[i];
        const float *q;

        if (a->chunks && asking_searches(a, step))
            chunks_add(a->chunks, step, nb, found[i]);
        if (!a->cache || !a->searched[i]) continue;
        st = asking_read(a, in->x, in->row + i, &q, e);
        if (!st) query_cache_add(a->cache, step, q, nb, found[i]);
    }
    return st;
}

enum status asking_again(struct asking *a, const struct mixer_reading *in,
                         int n, struct neighbor *nb, int *found,
                         struct err *e)
{
    struct entry_search *es = held_search_of(a->search);
    struct pass_search *s = asking_search(a);
    enum status st = ST_OK;

    for (int i = 0; !st && i < n; i++, nb += a->k) {
        bool answered;

        st = asking_answer(a, in->x, in->row + i, in->from + i, true, nb,
                           &found[i], &answered, e);
        if (!st && !answered)
            st = entry_search_ask(es, in->x, in->row + i, a->k, nb, &found[i],
                                  e);
    }
    return st ? st : s->run(s, in->x, e);
}
