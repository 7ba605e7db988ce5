/* service.c - checks the options of a request, cuts its text into jobs, finds
 * its pairs, and submits it to the workers.
 *
 * Invariant: a job that is submitted is within the limits of the batches,
 * because the options of its request are. */
#include "engine/service.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "engine/memory_check.h"

struct service {
    const struct engine *engine;
    struct options o;
    struct workers *workers;
    pthread_mutex_t lock;       /* guards keys */
    struct shared_keys *keys[2][2];     /* by key type and knn-eos; NULL: not
                                           needed yet */
};

struct batch_limits service_limits(const struct engine *en,
                                   const struct options *o)
{
    struct batch_limits l = engine_batch_limits(en, o);

    l.max_beam = MAX_BEAM;
    if (l.rows < l.max_beam) l.rows = l.max_beam;
    return l;
}

enum status service_new(struct service **out, const struct engine *en,
                        const struct options *o,
                        const struct batch_limits *limits,
                        enum workers_mode mode, struct err *e)
{
    struct search_options so;
    struct service *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "service");
    s->engine = en;
    s->o = *o;
    pthread_mutex_init(&s->lock, NULL);
    st = engine_search_options(en, o, &so, e);
    if (!st) st = engine_check_trust(en, o, e);
    if (!st) st = engine_check_metak(en, o, e);
    if (!st)
        st = workers_new(&s->workers, en, limits, o->threads, mode, e);
    if (st) service_free(s);
    else *out = s;
    return st;
}

void service_free(struct service *s)
{
    if (!s) return;
    workers_free(s->workers);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) shared_keys_free(s->keys[i][k]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct workers *service_workers(struct service *s) { return s->workers; }

/* ---- preparing a request ------------------------------------------------- */

/* Fail with ST_ARGUMENT if the batches cannot hold what the options ask for. */
static enum status check_limits(const struct service *s,
                                const struct options *o,
                                const struct search_options *so,
                                struct err *e)
{
    const struct batch_limits *l = workers_limits(s->workers);
    int longest = engine_max_source(s->engine, o);
    int max_len = search_max_len(so, s->engine->backend->max_pos, longest + 2);

    if (so->beam > l->max_beam)
        return err_set(e, ST_ARGUMENT, "beam: %d is too large; this service "
                       "allows at most %d", so->beam, l->max_beam);
    if (longest + 2 > l->max_source)
        return err_set(e, ST_ARGUMENT, "max-source: %d is too large; this "
                       "service allows at most %d pieces", longest,
                       l->max_source - 2);
    if (max_len > l->max_len)
        return err_set(e, ST_ARGUMENT, "max-len-a and max-len-b: %d pieces "
                       "for the longest sentence are too many; this service "
                       "allows at most %d", max_len, l->max_len);
    return ST_OK;
}

/* The service's own keys for these options. */
static enum status own_keys(struct service *s, const struct options *o,
                            struct shared_keys **out, struct err *e)
{
    struct shared_keys **at = &s->keys[o->key_type][options_knn_eos(o)];
    struct options mine = *o;
    enum status st = ST_OK;

    mine.key_cache = s->o.key_cache;
    pthread_mutex_lock(&s->lock);
    if (!*at) st = shared_keys_new(at, s->engine, &mine, NULL, e);
    *out = *at;
    pthread_mutex_unlock(&s->lock);
    return st;
}

enum status service_check_memory(struct service *s,
                                 const struct request_memory *m,
                                 const struct options *o, struct err *e)
{
    struct shared_keys *keys = m->keys;
    enum status st = keys ? shared_keys_fit(keys, s->engine, o, e)
                          : own_keys(s, o, &keys, e);

    if (st || !m->source) return st;
    if (m->lock) pthread_mutex_lock(m->lock);
    st = engine_check_memories(s->engine, o->any_language, m->source, e);
    if (m->lock) pthread_mutex_unlock(m->lock);
    return st;
}

/* A pairfinder is made for each request. Making it takes 0.2 us, and searching
 * with one that was used before takes as long as with a new one: 1.8 ms in a
 * memory of 200 pairs, 5 ms in one of 50,000. */
static enum status find_pairs(struct service *s, struct request *q,
                              struct result *r, struct err *e)
{
    struct steering_sources from = { q->memory.source, q->memory.keys,
                                     q->memory.entries, NULL,
                                     q->memory.alignment };
    pthread_mutex_t *lock = from.source ? q->memory.lock : NULL;
    struct pairfinder *pf = NULL;
    enum status st = from.keys
                   ? shared_keys_fit(from.keys, s->engine, &q->o, e)
                   : own_keys(s, &q->o, &from.keys, e);

    if (!st && q->memory.online)
        from.online = online_store_view(q->memory.online);
    if (!st) st = pairfinder_new(&pf, s->engine, &q->o, &from, e);
    if (!st && lock) pthread_mutex_lock(lock);
    if (!st) st = pairfinder_run(pf, r, q->given, q->n_given, e);
    if (pf && lock) pthread_mutex_unlock(lock);
    pairfinder_free(pf);
    online_view_drop(from.online);
    return st;
}

/* Whether the system of these options steers without pairs of the sentence. */
static bool needs_no_pairs(const struct options *o)
{
    return system_named(options_system(o))->needs &
           (NEEDS_ENTRIES | NEEDS_ONLINE);
}

static enum status service_prepare(struct service *s, struct request *q,
                                   struct result **out, struct err *e)
{
    struct search_options so;
    enum status st;

    *out = NULL;
    if (!q->has_options) q->o = s->o;
    st = engine_search_options(s->engine, &q->o, &so, e);
    if (!st) st = check_limits(s, &q->o, &so, e);
    if (!st)
        st = result_prepare(out, s->engine, &q->o, &so, q->text, q->len,
                            q->prefix, e);
    if (!st && (q->memory.source || q->given || needs_no_pairs(&q->o)))
        st = find_pairs(s, q, *out, e);
    if (!st) return ST_OK;
    result_free(*out);
    *out = NULL;
    return st;
}

enum status service_submit(struct service *s, struct request *q,
                           enum submit_mode mode, struct err *e)
{
    bool wait = mode == SUBMIT_WAIT;
    struct err why = { 0 };
    struct result *r;
    enum status st;

    /* The callback may free the request while it is still used here. */
    request_hold(q);
    st = workers_begin(s->workers, q, wait, e);
    if (!st) {
        /* A step that succeeds may have written a message all the same. */
        if (!service_prepare(s, q, &r, &why)) err_clear(&why);
        request_drop_inputs(q);
        workers_enter(s->workers, q, r, &why, wait);
    }
    request_drop(q);
    return st;
}
