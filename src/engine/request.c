/* request.c - makes and frees requests, stores what they ask for, and returns
 * their answers. It neither prepares nor decodes them; see service.c and
 * workers.c. */
#include "engine/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "engine/workers.h"

enum status request_new(struct request **out, const char *text, size_t len,
                        struct err *e)
{
    struct request *q;

    *out = NULL;
    if (!text) return err_set(e, ST_ARGUMENT, "the text is NULL");
    q = calloc(1, sizeof *q);
    if (!q) return err_nomem(e, "a text");
    q->len = len;
    q->deadline = INFINITY;
    atomic_init(&q->holders, 1);
    atomic_init(&q->canceled, false);
    atomic_init(&q->ready, false);
    atomic_init(&q->workers, NULL);
    clock_cond_init(&q->answered);
    q->text = malloc(len + 1);
    if (!q->text) {
        request_drop(q);
        return err_nomem(e, "a text");
    }
    memcpy(q->text, text, len);
    *out = q;
    return ST_OK;
}

void request_drop_inputs(struct request *q)
{
    free(q->text);
    free(q->prefix);
    free(q->given);
    q->text = q->prefix = NULL;
    q->given = NULL;
}

void request_hold(struct request *q) { atomic_fetch_add(&q->holders, 1); }

void request_drop(struct request *q)
{
    struct workers *ws;
    int before = atomic_fetch_sub(&q->holders, 1);

    assert(before > 0);
    if (before > 1) return;
    assert(!q->n_pending && !q->n_queued);
    assert(q->state == REQUEST_NEW || q->state == REQUEST_ANSWERED);
    ws = atomic_load(&q->workers);
    request_drop_inputs(q);
    result_free(q->result);
    if (q->free_user) q->free_user(q->user);
    pthread_cond_destroy(&q->answered);
    free(q);
    workers_drop(ws);
}

void request_free(struct request *q)
{
    if (!q) return;
    request_cancel(q);
    /* In a callback this could wait for itself, or for another callback that
     * waits for this one. */
    if (request_submitted(q) && !workers_in_callback()) request_wait(q);
    request_drop(q);
}

enum status request_set_prefix(struct request *q, const char *prefix,
                               struct err *e)
{
    char *copy = prefix ? strdup(prefix) : NULL;

    if (prefix && !copy) return err_nomem(e, "prefix");
    free(q->prefix);
    q->prefix = copy;
    return ST_OK;
}

static struct str request_copy_text(char **at, struct str s)
{
    struct str copy = { *at, s.n };

    if (s.n) memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

enum status request_set_given(struct request *q,
                              const struct similar_pair *pairs, int n,
                              struct err *e)
{
    size_t bytes = (size_t)n * sizeof *pairs;
    struct similar_pair *all;
    char *at;

    assert(n >= 0);
    for (int i = 0; i < n; i++) bytes += pairs[i].source.n + pairs[i].target.n;
    all = malloc(bytes ? bytes : 1);
    if (!all) return err_nomem(e, "pairs");
    at = (char *)(all + n);
    for (int i = 0; i < n; i++) {
        all[i].source = request_copy_text(&at, pairs[i].source);
        all[i].target = request_copy_text(&at, pairs[i].target);
        all[i].similarity = pairs[i].similarity;
    }
    free(q->given);
    q->given = all;
    q->n_given = n;
    return ST_OK;
}

void request_set_options(struct request *q, const struct options *o)
{
    q->o = *o;
    q->has_options = true;
}

void request_set_callback(struct request *q, request_fn *fn, void *user,
                          void (*free_user)(void *user))
{
    if (q->free_user) q->free_user(q->user);
    q->fn = fn;
    q->user = user;
    q->free_user = free_user;
}

/* Either this function sees the workers, or workers_begin, which comes later,
 * sees that the request is canceled. */
void request_cancel(struct request *q)
{
    struct workers *ws;

    atomic_store(&q->canceled, true);
    ws = atomic_load(&q->workers);
    if (ws) workers_cancel(ws, q);
}

void request_wait(struct request *q)
{
    struct workers *ws = atomic_load(&q->workers);

    assert(ws);
    workers_wait(ws, q);
}

struct result *request_result(struct request *q)
{
    return atomic_load(&q->ready) && !q->err.status ? q->result : NULL;
}

struct result *request_take_result(struct request *q)
{
    struct result *r = request_result(q);

    if (!r) return NULL;
    r->request = NULL;
    q->result = NULL;
    return r;
}

struct err request_error(const struct request *q)
{
    return atomic_load(&q->ready) ? q->err : (struct err){ 0 };
}
