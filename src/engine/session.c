/* session.c - translates a few texts in the calling thread: finds their pairs,
 * feeds their jobs to one batch, and finishes their results. For many texts on
 * several threads see stream.c. */
#include "engine/session.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/pool.h"
#include "engine/steered_batch.h"

struct session {
    const struct engine *engine;
    struct options o;
    struct search_options so;
    struct pool *pool;
    struct steered_batch *steered_batch;
    struct batch *batch;        /* inside steered_batch */
    struct shared_keys *own_keys;   /* used when the caller gave no keys */
    struct pairfinder *pairfinder;  /* NULL: no memory in use */
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e)
{
    struct session *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "session");
    s->engine = en;
    s->o = *o;
    st = engine_search_options(en, o, &s->so, e);
    if (!st) st = pool_new(&s->pool, o->threads, e);
    if (!st)
        st = steered_batch_new(&s->steered_batch, en, o, &s->so, s->pool, e);
    if (!st) s->batch = steered_batch_batch(s->steered_batch);
    if (st) session_free(s);
    else *out = s;
    return st;
}

enum status session_set_memory(struct session *s, struct pair_source *source,
                               struct shared_keys *keys, struct err *e)
{
    struct pairfinder *pf;
    enum status st = ST_OK;

    assert(!batch_busy_lanes(s->batch));
    if (keys) st = shared_keys_fit(keys, s->engine, &s->o, e);
    else if (!s->own_keys)
        st = shared_keys_new(&s->own_keys, s->engine, &s->o, NULL, e);
    if (st) return st;
    if (!keys) keys = s->own_keys;
    st = pairfinder_new(&pf, s->engine, &s->o, source, keys->cache, e);
    if (st) return st;
    pairfinder_free(s->pairfinder);
    s->pairfinder = pf;
    steered_batch_set_keys(s->steered_batch, keys);
    return ST_OK;
}

struct batch_counts session_counts(const struct session *s)
{
    return batch_counts(s->batch);
}

void session_free(struct session *s)
{
    if (!s) return;
    pairfinder_free(s->pairfinder);
    steered_batch_free(s->steered_batch);
    shared_keys_free(s->own_keys);
    pool_free(s->pool);
    free(s);
}

/* Iterates over the jobs of all requests, in order. */
struct session_cursor {
    struct request *q;
    size_t n, at;
    int sentence;
};

static struct job *next_job(struct session_cursor *c)
{
    for (; c->at < c->n; c->at++, c->sentence = 0) {
        struct result *r = c->q[c->at].result;

        while (r && c->sentence < r->n_sentences) {
            struct job *j = r->sentences[c->sentence++].job;
            if (j) return j;
        }
    }
    return NULL;
}

static enum status session_fill(struct session *s, struct session_cursor *c,
                                struct err *e)
{
    struct job *j;
    enum status st = ST_OK;

    /* Jobs that are added together are encoded together. */
    while (!st && batch_count_idle_lanes(s->batch)) {
        struct job *some[16];
        int n = 0, room = batch_count_idle_lanes(s->batch);

        while (n < room && n < 16 && (j = next_job(c))) some[n++] = j;
        if (!n) break;
        st = steered_batch_add(s->steered_batch, some, n, e);
    }
    return st;
}

static enum status session_decode(struct session *s, struct request *q,
                                  size_t n, struct err *e)
{
    struct session_cursor c = { q, n, 0, 0 };
    enum status st = session_fill(s, &c, e);

    while (!st && batch_busy_lanes(s->batch)) {
        batch_step(s->batch);
        st = session_fill(s, &c, e);
    }
    if (st) batch_abandon(s->batch);
    assert(!batch_busy_lanes(s->batch));
    return st;
}

static void session_prepare(struct session *s, struct request *q)
{
    struct err *e = &q->err;

    if (q->given && !s->pairfinder && session_set_memory(s, NULL, NULL, e))
        return;
    if (result_prepare(&q->result, s->engine, &s->o, &s->so, q->text, q->len,
                       q->prefix, e))
        return;
    if (s->pairfinder &&
        pairfinder_run(s->pairfinder, q->result, q->given, q->n_given, e)) {
        result_free(q->result);
        q->result = NULL;
    }
}

enum status session_run(struct session *s, struct request *q, size_t n,
                        struct err *e)
{
    enum status st, first = ST_OK;

    for (size_t i = 0; i < n; i++) session_prepare(s, &q[i]);
    st = session_decode(s, q, n, e);
    for (size_t i = 0; i < n; i++) {
        if (q[i].result && !st) {
            err_clear(&q[i].err);
            if (result_finish(q[i].result, s->o.nbest, &q[i].err)) {
                result_free(q[i].result);
                q[i].result = NULL;
            }
        } else if (q[i].result) {
            result_free(q[i].result);
            q[i].result = NULL;
            if (e) q[i].err = *e;
        }
        if (!q[i].result && !first && !st) {
            first = q[i].err.status;
            if (e) *e = q[i].err;
        }
    }
    return st ? st : first;
}
