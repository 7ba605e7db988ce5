/* daemon_run.c - the handlers: threads that run the functions of the routes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/access.h"
#include "server/daemon_internal.h"
#include "server/server_log.h"

enum {
    LANE_OPEN_THREADS = 4,
    HANDLER_STACK = 1 << 20,
    WAITING_PER_HANDLER = 4     /* more calls than this are refused */
};

/* ---- one call ----------------------------------------------------------- */

void daemon_wake(struct call *c)
{
    if (!c->suspended || !c->conn) return;
    c->suspended = false;
    MHD_resume_connection(c->conn->mhd);
}

/* What the call costs. A JSON body that is a list is not among the
 * arguments. */
static double handler_cost(const struct call *c)
{
    double cost = access_cost(c->args);

    return json_is_array(c->json) ? cost + access_cost(c->json) - 1 : cost;
}

/* Takes the cost of the call from the bucket of its account. */
static bool handler_charge(struct daemon *d, struct call *c)
{
    struct rate_answer rate;
    struct failure f = { .kind = FAIL_RATE };

    access_charge(d->server->accounts, c->account,
                  (const struct sockaddr *)&c->peer, handler_cost(c), &rate);
    if (rate.policy[0]) call_set_header(c, "RateLimit-Policy", rate.policy);
    if (rate.state[0]) call_set_header(c, "RateLimit", rate.state);
    if (rate.allowed) return true;
    f.retry_after = rate.retry_after;
    snprintf(f.message, sizeof f.message,
             "Slowdown: too many requests; try again in %d s", f.retry_after);
    call_fail_with(c, &f);
    return false;
}

/* Whether the call may still begin. */
static bool handler_may_begin(struct daemon *d, struct call *c)
{
    bool open = c->routing.route->flags & ROUTE_OPEN;

    if (d->stopping || (!open && server_state(d->server) != SERVER_READY)) {
        call_fail(c, FAIL_NOT_READY, "The server is stopping");
        return false;
    }
    return !call_canceled(c);
}

/* A key that may only read is refused here, for all routes of all APIs. */
static bool handler_may_write(struct call *c)
{
    if (!(c->routing.route->flags & ROUTE_WRITES) || !c->account
        || account_may_write(c->account)) return true;
    call_fail(c, FAIL_FORBIDDEN, "This API key may not change anything");
    return false;
}

static void handler_work(struct daemon *d, struct call *c)
{
    bool open = c->routing.route->flags & ROUTE_OPEN;

    if (!handler_may_begin(d, c) || !call_read_body(c)) return;
    if (!c->account && !daemon_enter(d, c, true)) return;
    if (!open && !handler_charge(d, c)) return;
    if (!handler_may_write(c)) return;
    c->routing.route->run(c);
}

/* Gives an answer if the function of the route gave none. */
static void handler_answer(struct call *c)
{
    struct failure f = { .kind = FAIL_BUSY, .status = 503, .retry_after = 1 };

    if (c->answer != ANSWER_NONE) return;
    if (call_canceled(c)) {
        snprintf(f.message, sizeof f.message, "The request took too long");
        call_fail_with(c, &f);
    } else {
        server_log(LOG_ERROR, c->id, "the function of route %s gave no answer",
                   c->routing.route->path);
        call_fail(c, FAIL_INTERNAL, "Internal error, request %s", c->id);
    }
    /* Not even the function that writes errors had memory. */
    if (c->answer == ANSWER_NONE) call_reply_empty(c, 500);
}

static void handler_run(struct daemon *d, struct call *c)
{
    handler_work(d, c);
    call_on_cancel(c, NULL, NULL);
    handler_answer(c);
    call_clean(c);
    if (c->answer == ANSWER_STREAM) call_stream_end(c);
    pthread_mutex_lock(&c->lock);
    c->stage = CALL_ENDED;
    daemon_wake(c);
    pthread_mutex_unlock(&c->lock);
    call_release(c);
}

/* ---- threads ------------------------------------------------------------ */

struct handler_start { struct daemon *daemon; struct call_lane *lane; };

static void *handler_loop(void *user)
{
    struct handler_start h = *(struct handler_start *)user;
    struct daemon *d = h.daemon;
    struct call_lane *l = h.lane;

    free(user);
    pthread_mutex_lock(&d->lock);
    for (;;) {
        struct call *c;

        l->idle++;
        while (!l->first && !d->stopping)
            pthread_cond_wait(&l->work, &d->lock);
        l->idle--;
        c = l->first;
        if (!c) break;
        l->first = c->next;
        if (!l->first) l->last = NULL;
        l->waiting--;
        c->stage = CALL_RUNS;
        pthread_mutex_unlock(&d->lock);
        handler_run(d, c);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Starts one more thread. False if that is not possible. */
static bool lane_grow(struct daemon *d, struct call_lane *l)
{
    struct handler_start *h = malloc(sizeof *h);
    pthread_attr_t a;
    bool ok;

    if (!h) return false;
    *h = (struct handler_start){ d, l };
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, HANDLER_STACK);
    ok = !pthread_create(&l->ids[l->threads], &a, handler_loop, h);
    pthread_attr_destroy(&a);
    if (ok) l->threads++;
    else free(h);
    return ok;
}

static struct call_lane *lane_of(struct daemon *d, const struct call *c)
{
    return &d->lanes[c->routing.route->flags & ROUTE_OPEN ? LANE_OPEN
                                                          : LANE_OTHERS];
}

bool lanes_full(struct daemon *d, const struct call *c)
{
    struct call_lane *l = lane_of(d, c);

    return l->waiting >= WAITING_PER_HANDLER * l->max;
}

bool lanes_push(struct daemon *d, struct call *c)
{
    struct call_lane *l = lane_of(d, c);

    pthread_mutex_lock(&d->lock);
    if (l->idle <= l->waiting && l->threads < l->max && !d->stopping)
        lane_grow(d, l);
    if (d->stopping || !l->threads) {
        pthread_mutex_unlock(&d->lock);
        return false;
    }
    call_keep(c);
    c->stage = CALL_QUEUED;
    c->next = NULL;
    if (l->last) l->last->next = c;
    else l->first = c;
    l->last = c;
    l->waiting++;
    pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&d->lock);
    return true;
}

bool lanes_start(struct daemon *d)
{
    bool ok = true;

    for (int i = 0; i < N_LANES; i++) {
        struct call_lane *l = &d->lanes[i];

        l->max = i == LANE_OPEN ? LANE_OPEN_THREADS : d->settings->handlers;
        l->ids = calloc((size_t)l->max, sizeof *l->ids);
        pthread_cond_init(&l->work, NULL);
        ok = ok && l->ids && lane_grow(d, l);
    }
    return ok;
}

void lanes_stop(struct daemon *d)
{
    pthread_mutex_lock(&d->lock);
    d->stopping = true;
    for (int i = 0; i < N_LANES; i++)
        pthread_cond_broadcast(&d->lanes[i].work);
    pthread_mutex_unlock(&d->lock);
    /* No thread is added any more: d->stopping is set. */
    for (int i = 0; i < N_LANES; i++) {
        struct call_lane *l = &d->lanes[i];

        for (int t = 0; t < l->threads; t++) pthread_join(l->ids[t], NULL);
        if (l->max) pthread_cond_destroy(&l->work);
        free(l->ids);
    }
}
