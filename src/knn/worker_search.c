/* worker_search.c - a short list of searches, each with a count of its holders.
 * It does not search (entry_search.c). */
#include "knn/worker_search.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"

struct held_search {
    atomic_int holders;
    struct entries *entries;    /* that es holds */
    struct entry_search *es;
};

struct worker_search {
    struct held_search **at;    /* [n] held */
    size_t n, cap;
};

struct entry_search *held_search_of(const struct held_search *h)
{
    return h->es;
}

void held_search_drop(struct held_search *h)
{
    if (!h || atomic_fetch_sub(&h->holders, 1) > 1) return;
    entry_search_free(h->es);
    free(h);
}

static enum status held_search_new(struct held_search **out, struct entries *s,
                                   struct err *e)
{
    struct held_search *h = calloc(1, sizeof *h);
    enum status st;

    *out = NULL;
    if (!h) return err_nomem(e, "neighbor search");
    atomic_init(&h->holders, 1);
    h->entries = s;
    st = entry_search_new(&h->es, s, s->index, NULL, e);
    if (st) held_search_drop(h);
    else *out = h;
    return st;
}

enum status worker_search_new(struct worker_search **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? ST_OK : err_nomem(e, "neighbor search");
}

void worker_search_free(struct worker_search *ws)
{
    if (!ws) return;
    for (size_t i = 0; i < ws->n; i++) held_search_drop(ws->at[i]);
    free(ws->at);
    free(ws);
}

/* Drop the searches that no mixer holds. */
static void worker_search_purge(struct worker_search *ws)
{
    size_t kept = 0;

    for (size_t i = 0; i < ws->n; i++) {
        if (atomic_load(&ws->at[i]->holders) > 1) ws->at[kept++] = ws->at[i];
        else held_search_drop(ws->at[i]);
    }
    ws->n = kept;
}

enum status worker_search_get(struct worker_search *ws, struct entries *s,
                              struct held_search **out, struct err *e)
{
    enum status st;
    size_t i = 0;

    *out = NULL;
    while (i < ws->n && ws->at[i]->entries != s) i++;
    if (i == ws->n) {
        worker_search_purge(ws);
        i = ws->n;
        if (!mem_grow(&ws->at, &ws->cap, i + 1, sizeof *ws->at))
            return err_nomem(e, "neighbor search");
        st = held_search_new(&ws->at[i], s, e);
        if (st) return st;
        ws->n++;
    }
    atomic_fetch_add(&ws->at[i]->holders, 1);
    *out = ws->at[i];
    return ST_OK;
}

enum status worker_search_make(void **out, const struct backend *b,
                               struct err *e)
{
    struct worker_search *ws;
    enum status st = worker_search_new(&ws, e);

    (void)b;
    *out = ws;
    return st;
}

void worker_search_unmake(void *worker) { worker_search_free(worker); }
