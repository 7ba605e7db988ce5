/* answer_run.c - queues the lines of a call and waits for them.
 *
 * Everything that this file takes it gives back in answer_run, whatever
 * happens: flights, the ticket of the queue, and the memory. A memory is
 * borrowed only while lines are submitted, and not while the thread waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "answer_internal.h"
#include "line_cut.h"
#include "metrics.h"
#include "route.h"
#include "server.h"

/* How often the thread looks whether the deadline of the daemon has passed. */
#define LOOK_SECONDS 0.25

/* Calls that a line may join in vain: each of them was canceled just then. */
enum { MOST_TRIES = 20 };

/* ---- stopping ---------------------------------------------------------- */

static void answer_stop(void *user)
{
    struct answering *x = user;

    flight_stop(work_flights(x->work), &x->party);
    work_wake(x->work);
}

/* Whether the answer is not wanted any more. */
static bool answer_stopped(struct answering *x)
{
    return atomic_load(&x->party.stopped) || call_canceled(x->call)
           || flight_clock() >= x->until;
}

/* Answers a call that was stopped, if anybody still listens. */
static void answer_say_stopped(struct answering *x)
{
    skmt_error err = { .status = SKMT_ERR_DEADLINE,
                       .message = "the deadline has passed" };

    if (call_canceled(x->call)) return;
    if (x->party.replaced)
        call_fail(x->call, FAIL_CONFLICT,
                  "a newer request took the place of this one");
    else
        call_fail_error(x->call, &err);
}

/* ---- memory ------------------------------------------------------------ */

static void answer_return(struct answering *x)
{
    if (x->tm) account_return(x->account, x->tm);
    x->tm = NULL;
    x->tm_model = NULL;
}

/* Borrows the memories for the languages of a model; NULL: for all. */
static skmt_status answer_borrow(struct answering *x,
                                 const struct served_model *m, skmt_error *err)
{
    if (!x->has_memory || (x->tm && x->tm_model == m)) return SKMT_OK;
    answer_return(x);
    x->tm_model = m;
    return account_borrow_for(x->account, x->wish->memories,
                              x->wish->n_memories, m ? m->source : NULL,
                              m ? m->target : NULL, &x->tm, err);
}

/* ---- keys of flights --------------------------------------------------- */

/* Begins the key of all lines: who asks, with which options, and the state of
 * the memory, so that a correction takes effect at once. */
static skmt_status answer_begin_key(struct answering *x, skmt_error *err)
{
    uint64_t identity = 0;
    int64_t change = 0;
    skmt_status st = answer_borrow(x, NULL, err);

    if (!st && x->tm) st = skmt_tm_get_change(x->tm, &identity, &change, err);
    answer_return(x);
    if (st) return st;
    textbuf_reset(&x->key);
    textbuf_addf(&x->key, "%p %llx %lld ", (void *)x->account,
                 (unsigned long long)identity, (long long)change);
    for (int i = 0; i < x->wish->n_memories; i++) {
        textbuf_adds(&x->key, x->wish->memories[i]);
        textbuf_add(&x->key, "", 1);
    }
    textbuf_adds(&x->key, x->signature);
    return x->key.failed ? answer_no_memory(err) : SKMT_OK;
}

/* Appends what is special about a line. The caller cuts it off again. */
static bool answer_add_key(struct answering *x, const struct answer_part *p,
                           const struct answer_line *l)
{
    size_t n;
    const char *s = line_text(p, l, &n);

    textbuf_addf(&x->key, "%c%p%c", 0, (const void *)p->model,
                 l->form == LINE_BARE ? 'b' : 'a');
    textbuf_adds(&x->key, p->prefix ? p->prefix : "");
    textbuf_add(&x->key, p->prefix ? "+" : "-", 2);
    textbuf_add(&x->key, s, n);
    return !x->key.failed;
}

/* ---- submitting -------------------------------------------------------- */

static skmt_status answer_make_request(struct answering *x,
                                       const struct answer_part *p,
                                       const struct answer_line *l,
                                       skmt_request **out, skmt_error *err)
{
    const struct answer_options *o = p->options;
    size_t n;
    const char *s = line_text(p, l, &n);
    char *text = strndup(s, n);
    skmt_status st = text ? skmt_request_new(out, text, err)
                          : answer_no_memory(err);

    free(text);
    if (st) return st;
    skmt_request_set_options(*out, l->form == LINE_BARE ? o->attention
                                                        : o->plain);
    if (p->prefix) st = skmt_request_set_prefix(*out, p->prefix, err);
    skmt_request_use(*out, x->tm, o->keys);
    skmt_request_set_priority(*out, x->ticket.class == WORK_BACKGROUND
                                        ? -1 : x->wish->priority);
    if (!st) return SKMT_OK;
    skmt_request_free(*out);
    *out = NULL;
    return st;
}

/* Waits for room. Returns false if the call was stopped. */
static bool answer_enter(struct answering *x, int64_t bytes)
{
    if (work_try_enter(x->work, &x->ticket, bytes)) return true;
    answer_return(x);
    while (!answer_stopped(x)) {
        double until = flight_clock() + LOOK_SECONDS;

        if (work_enter(x->work, &x->ticket, bytes, &x->party.stopped,
                       until < x->until ? until : x->until))
            return true;
    }
    return false;
}

/* Submits a new flight, or answers it with an error. */
static void answer_launch(struct answering *x, const struct answer_part *p,
                          struct answer_line *l, int64_t bytes)
{
    skmt_error err = { .status = SKMT_ERR_CANCELED, .message = "canceled" };
    skmt_request *q = NULL;

    if (!answer_enter(x, bytes)) {
        flight_fail(l->flight, &err);
        return;
    }
    if (answer_borrow(x, p->model, &err)
        || answer_make_request(x, p, l, &q, &err)) {
        work_leave(x->work, x->ticket.class, bytes, false);
        flight_fail(l->flight, &err);
        return;
    }
    flight_submit(&x->party, l->flight, p->model->service, q);
}

/* Puts a line into flight. */
static skmt_status answer_submit(struct answering *x,
                                 const struct answer_part *p,
                                 struct answer_line *l, skmt_error *err)
{
    size_t head = x->key.len, n;
    struct flight_plan plan = { .class = x->ticket.class };
    bool is_new;
    skmt_status st;

    line_text(p, l, &n);
    plan.bytes = (int64_t)n;
    if (!answer_add_key(x, p, l)) return answer_no_memory(err);
    if (!x->wish->explain) plan.key = x->key.data;
    plan.n_key = x->key.len;
    st = flight_join(work_flights(x->work), &x->party, &plan, &l->flight,
                     &is_new, err);
    x->key.len = head;
    if (st) return st;
    if (is_new && !l->admitted) work_add(x->work, &x->ticket, 1, plan.bytes);
    if (!is_new && l->admitted) work_skip(x->work, &x->ticket, plan.bytes);
    l->admitted = false;
    if (is_new) answer_launch(x, p, l, plan.bytes);
    return SKMT_OK;
}

/* Counts what is not in flight yet, and asks the queue for admission. */
static bool answer_admit(struct answering *x)
{
    int64_t lines = 0, bytes = 0;
    int budget = x->wish->wait_ms ? x->wish->wait_ms
                                  : call_api(x->call)->wait_ms;
    const struct work_limits *limits = work_get_limits(x->work);
    size_t head = x->key.len, n;
    struct failure f;

    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->parts[i].n; k++) {
            struct answer_line *l = &x->parts[i].lines[k];

            if (l->form == LINE_DONE) continue;
            l->admitted = x->wish->explain
                          || !answer_add_key(x, &x->parts[i], l)
                          || !flight_exists(work_flights(x->work),
                                            x->key.data, x->key.len);
            x->key.len = head;
            if (!l->admitted) continue;
            line_text(&x->parts[i], l, &n);
            lines++;
            bytes += (int64_t)n;
        }
    if (work_admit(x->work, x->wish->priority < 0
                            || bytes > limits->large_bytes ? WORK_BACKGROUND
                                                           : WORK_INTERACTIVE,
                   lines, bytes, budget, &x->ticket, &f))
        return true;
    call_fail_with(x->call, &f);
    return false;
}

/* ---- waiting ----------------------------------------------------------- */

static bool answer_wait(struct answering *x, struct flight *f)
{
    while (!answer_stopped(x)) {
        double until = flight_clock() + LOOK_SECONDS;

        if (flight_wait(&x->party, f, until < x->until ? until : x->until))
            return true;
    }
    return flight_wait(&x->party, f, 0);
}

/* Takes the answer of a line. Another call that began the flight may have been
 * canceled before others had joined it; the line then stays in its form, for
 * the next round. */
static skmt_status answer_take(struct answer_line *l, skmt_error *err)
{
    skmt_status st = flight_error(l->flight, err);
    bool taken;

    if (st == SKMT_ERR_CANCELED && l->tries++ < MOST_TRIES) return SKMT_OK;
    if (st) return st;
    flight_lock(l->flight);
    taken = line_take(l, skmt_request_result(flight_request(l->flight)));
    flight_unlock(l->flight);
    return taken ? SKMT_OK : answer_no_memory(err);
}

static void answer_leave(struct answering *x, struct answer_line *l)
{
    if (l->flight) flight_leave(&x->party, l->flight);
    l->flight = NULL;
}

/* ---- rounds ------------------------------------------------------------ */

typedef bool answer_line_fn(struct answering *x, struct answer_part *p,
                            struct answer_line *l, skmt_error *err);

/* Calls fn for all lines that are not done. After an error, fails the call. */
static bool answer_each(struct answering *x, answer_line_fn *fn, int *n)
{
    skmt_error err = { 0 };

    *n = 0;
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->parts[i].n; k++) {
            struct answer_line *l = &x->parts[i].lines[k];

            if (l->form == LINE_DONE) continue;
            ++*n;
            if (fn(x, &x->parts[i], l, &err)) continue;
            if (answer_stopped(x)) answer_say_stopped(x);
            else answer_fail(x, &x->parts[i], &err);
            return false;
        }
    return true;
}

static bool answer_submit_line(struct answering *x, struct answer_part *p,
                               struct answer_line *l, skmt_error *err)
{
    return !answer_stopped(x) && !answer_submit(x, p, l, err);
}

/* Waits for a line. Results are kept for explanations only. */
static bool answer_finish_line(struct answering *x, struct answer_part *p,
                               struct answer_line *l, skmt_error *err)
{
    (void)p;
    if (!answer_wait(x, l->flight) || answer_take(l, err)) return false;
    if (l->form != LINE_DONE || !x->wish->explain) answer_leave(x, l);
    return true;
}

static bool answer_rounds(struct answering *x)
{
    bool done = true;
    int n = 1;

    while (done && n > 0) {
        done = answer_each(x, answer_submit_line, &n);
        answer_return(x);
        if (done) done = answer_each(x, answer_finish_line, &n);
    }
    return done;
}

/* ---- counts ------------------------------------------------------------ */

static void answer_count_line(struct answering *x, const struct answer_line *l)
{
    struct metrics *m = x->server->metrics;

    if (!l->n) return;
    metrics_tokens(m, l->source_tokens, l->target_tokens);
    if (x->has_memory)
        metrics_looked_up(m, l->exact ? LOOKUP_EXACT
                             : l->similarity > 0 ? LOOKUP_FUZZY
                                                 : LOOKUP_NONE);
}

static void answer_count(struct answering *x)
{
    double entered = x->ticket.entered, now = flight_clock();
    double queued = entered > 0 ? entered - x->ticket.admitted : 0;
    int source = 0, target = 0;

    for (int i = 0; i < x->n; i++) {
        const struct answer_part *p = &x->parts[i];

        account_add_characters(x->account,
                               (int64_t)line_characters(p->text));
        for (int k = 0; k < p->n; k++) {
            answer_count_line(x, &p->lines[k]);
            source += p->lines[k].source_tokens;
            target += p->lines[k].target_tokens;
        }
    }
    metrics_queue_wait(x->server->metrics, queued);
    metrics_translated(x->server->metrics, entered > 0 ? now - entered : 0);
    call_count(x->call, x->n, source, target, 1e3 * queued);
}

bool answer_run(struct answering *x)
{
    struct flights *all = work_flights(x->work);
    skmt_error err = { 0 };
    bool done = false;

    flight_party_init(&x->party);
    if (x->wish->replaces) {
        flight_party_claim(all, &x->party, x->account, x->wish->replaces);
        work_wake(x->work);
    }
    call_on_cancel(x->call, answer_stop, x);
    if (answer_begin_key(x, &err)) {
        call_fail_error(x->call, &err);
    } else if (answer_admit(x)) {
        done = answer_rounds(x);
        work_end(x->work, &x->ticket);
    }
    call_on_cancel(x->call, NULL, NULL);
    answer_return(x);
    if (done) answer_count(x);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->parts[i].n; k++)
            if (!done || !x->wish->explain)
                answer_leave(x, &x->parts[i].lines[k]);
    flight_party_release(all, &x->party);
    return done;
}
