/* session.c - see session.h. */
#include "engine/session.h"

#include <stdlib.h>

#include "base/pool.h"
#include "search/batch.h"

struct session {
    const struct engine *engine;
    struct options o;
    struct search_options so;
    struct pool *pool;
    struct batch *batch;
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
    if (!st) st = batch_new(&s->batch, en->net, &s->so, s->pool, NULL, e);
    if (st) session_free(s);
    else *out = s;
    return st;
}

void session_free(struct session *s)
{
    if (!s) return;
    batch_free(s->batch);
    pool_free(s->pool);
    free(s);
}

/* All jobs of the requests, in order, as lanes come free. */
struct cursor { struct request *q; size_t n, at; int seg; };

static struct job *next_job(struct cursor *c)
{
    for (; c->at < c->n; c->at++, c->seg = 0) {
        struct result *r = c->q[c->at].result;

        while (r && c->seg < r->n_segs) {
            struct job *j = r->segs[c->seg++].job;
            if (j) return j;
        }
    }
    return NULL;
}

static enum status fill(struct session *s, struct cursor *c, struct err *e)
{
    struct job *j;
    enum status st = ST_OK;

    /* One at a time encodes one at a time; a waiting crowd goes together. */
    while (!st && batch_free_lanes(s->batch)) {
        struct job *some[16];
        int n = 0, room = batch_free_lanes(s->batch);

        while (n < room && n < 16 && (j = next_job(c))) some[n++] = j;
        if (!n) break;
        st = batch_add(s->batch, some, n, e);
    }
    return st;
}

static enum status decode(struct session *s, struct request *q, size_t n,
                          struct err *e)
{
    struct cursor c = { q, n, 0, 0 };
    enum status st = fill(s, &c, e);

    while (!st && batch_busy_lanes(s->batch)) {
        batch_step(s->batch);
        st = fill(s, &c, e);
    }
    if (st) batch_abandon(s->batch);
    return st;
}

enum status session_run(struct session *s, struct request *q, size_t n,
                        struct err *e)
{
    enum status st, first = ST_OK;

    for (size_t i = 0; i < n; i++)
        result_prepare(&q[i].result, s->engine, &s->o, &s->so, q[i].text,
                       q[i].len, q[i].prefix, &q[i].err);
    st = decode(s, q, n, e);
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
