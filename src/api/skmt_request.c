/* skmt_request.c - the part of include/skmt.h for requests and services. A
 * skmt_request is a struct request, and a skmt_service is a struct service. */
#include <stdlib.h>

#include "api/tm_handle.h"
#include "base/clock.h"
#include "engine/service.h"

static struct request *request_of(skmt_request *q)
{
    return (struct request *)(void *)q;
}

static struct service *service_of(skmt_service *s)
{
    return (struct service *)(void *)s;
}

/* ---- making a request ---------------------------------------------------- */

skmt_status skmt_request_new(skmt_request **out, const char *text,
                             skmt_error *err)
{
    struct request *q;
    enum status st;

    err_clear(err_of(err));
    st = request_new(&q, text, length_of(text), err_of(err));
    *out = (skmt_request *)(void *)q;
    return (skmt_status)st;
}

void skmt_request_free(skmt_request *q) { request_free(request_of(q)); }

void skmt_request_set_options(skmt_request *q, const skmt_options *o)
{
    struct options all = options_or_defaults(o);

    if (!request_submitted(request_of(q)))
        request_set_options(request_of(q), &all);
}

skmt_status skmt_request_set_prefix(skmt_request *q, const char *prefix,
                                    skmt_error *err)
{
    err_clear(err_of(err));
    if (request_submitted(request_of(q))) return SKMT_OK;
    return (skmt_status)request_set_prefix(request_of(q), prefix, err_of(err));
}

skmt_status skmt_request_set_pairs(skmt_request *q, const skmt_similar *pairs,
                                   int n, skmt_error *err)
{
    struct similar_pair *given;
    enum status st;

    err_clear(err_of(err));
    if (request_submitted(request_of(q))) return SKMT_OK;
    st = similar_pairs_of(pairs, n, &given, err_of(err));
    if (!st) st = request_set_given(request_of(q), given, n, err_of(err));
    free(given);
    return (skmt_status)st;
}

void skmt_request_use(skmt_request *q, skmt_tm *tm, skmt_keys *keys)
{
    struct request_memory m = memory_of(tm, keys);

    if (!request_submitted(request_of(q)))
        request_memory_set(&request_of(q)->memory, &m);
}

void skmt_request_set_priority(skmt_request *q, int priority)
{
    if (!request_submitted(request_of(q)))
        request_of(q)->priority = priority;
}

void skmt_request_set_deadline(skmt_request *q, int64_t ms)
{
    if (!request_submitted(request_of(q)))
        request_of(q)->deadline = clock_seconds() + 1e-3 * (double)ms;
}

/* The callback of the user, whose parameters have the public types. */
struct public_callback {
    skmt_request_fn *fn;
    void *user;
};

static void call_public(void *user, struct request *q)
{
    const struct public_callback *c = user;

    c->fn(c->user, (skmt_request *)(void *)q);
}

skmt_status skmt_request_on_answer(skmt_request *q, skmt_request_fn *fn,
                                      void *user, skmt_error *err)
{
    struct public_callback *c;

    err_clear(err_of(err));
    if (request_submitted(request_of(q))) return SKMT_OK;
    if (!fn) {
        request_set_callback(request_of(q), NULL, NULL, NULL);
        return SKMT_OK;
    }
    c = calloc(1, sizeof *c);
    if (!c) return (skmt_status)err_nomem(err_of(err), "a request");
    *c = (struct public_callback){ fn, user };
    request_set_callback(request_of(q), call_public, c, free);
    return SKMT_OK;
}

/* ---- the answer ---------------------------------------------------------- */

void skmt_request_cancel(skmt_request *q) { request_cancel(request_of(q)); }

skmt_status skmt_request_wait(skmt_request *q, skmt_error *err)
{
    err_clear(err_of(err));
    if (!request_submitted(request_of(q)))
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the request was "
                                    "not submitted");
    request_wait(request_of(q));
    return skmt_request_error(q, err);
}

skmt_result *skmt_request_result(skmt_request *q)
{
    return (skmt_result *)(void *)request_result(request_of(q));
}

skmt_status skmt_request_error(const skmt_request *q, skmt_error *err)
{
    struct err e = request_error((const struct request *)(const void *)q);

    if (err) *err_of(err) = e;
    return (skmt_status)e.status;
}

/* ---- services ------------------------------------------------------------ */

skmt_status skmt_service_new(skmt_service **out, const skmt_model *model,
                             const skmt_options *options, skmt_error *err)
{
    const struct engine *en = engine_of(model);
    struct options o = options_or_defaults(options);
    struct batch_limits limits = service_limits(en, &o);
    struct service *s;
    enum status st;

    err_clear(err_of(err));
    st = service_new(&s, en, &o, &limits, WORKERS_WITH_THREADS, err_of(err));
    *out = (skmt_service *)(void *)s;
    return (skmt_status)st;
}

skmt_status skmt_service_submit(skmt_service *s, skmt_request *q, int flags,
                                skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)service_submit(
        service_of(s), request_of(q),
        flags & SKMT_NO_WAIT ? SUBMIT_NO_WAIT : SUBMIT_WAIT, err_of(err));
}

const char *skmt_service_stat(skmt_service *s, int i, int64_t *value)
{
    static const char *const names[] = {
        "answered", "failed", "canceled", "late", "live", "queued", "decoding",
    };
    struct workers_stats st = workers_stats(service_workers(service_of(s)));
    const uint64_t values[] = { st.answered, st.failed, st.canceled, st.late,
                                st.live, st.queued, st.decoding };

    if (i < BATCH_STATS) return batch_stat(&st.work, i, value);
    i -= BATCH_STATS;
    *value = 0;
    if (i >= (int)(sizeof names / sizeof *names)) return NULL;
    *value = (int64_t)values[i];
    return names[i];
}

void skmt_service_free(skmt_service *s) { service_free(service_of(s)); }
