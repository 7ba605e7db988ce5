/* test_backend_faults.c - every call of a backend fails in turn.
 *
 * An error of the backend must become the error of the batch, the key builder,
 * the session or the stream that uses it. All jobs must come back, no slot may
 * stay held, and nothing may leak (which the sanitizers check). */
#include "batch_fix.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "fake_mixer.h"
#include "fault_backend.h"
#include "knn/key_builder.h"
#include "knn/sk.h"

/* ---- a batch ------------------------------------------------------------- */

enum { N_JOBS = 6, LANES = 3, DRAFTS = 5 };

struct room {
    struct tiny_net m;
    struct fault_backend fb;
    struct texts t;
    struct pair_keys *keys;
    struct job *want[N_JOBS];
};

/* Jobs 0 and 3 have no mixer, 1 and 4 are steered by SK-MT, and 2 and 5 have a
 * fake mixer, which reads and projects. The first three may have drafts. */
static struct job *job_of(const struct room *r, int i)
{
    struct search_options o = options(i % 2 ? 2 : 4);
    struct system_options so = { .k = 4, .weigh = { .tau = 100 } };
    struct system_pair pair = { .keys = r->keys, .similarity = 0.9f };
    struct system_sentence s;
    struct job *j;
    struct err e;

    o.max_len_b = 6;
    o.max_len_a = 0.2;
    o.explain = true;
    o.attention = i % 2;
    o.draft = i < 3 ? DRAFTS : 0;
    j = new_job(r->m.backend, &o, &r->t, i);
    s = (struct system_sentence){
        .rows = o.beam + o.draft, .nbest = o.nbest, .max_len = j->max_len,
        .explain = true };
    if (i % 3 == 2) fake_mixer_new(j, LATE, NULL);
    if (i % 3 == 1) {
        CHECK_OK(sk_system.sentence_new(&j->mixer, &so, &s, &e), &e);
        CHECK_OK(sk_system.prepare(j->mixer, NULL, &pair, 1, &e), &e);
    }
    return j;
}

static void job_done(struct job *j)
{
    if (j->mixer) j->mixer->ops->free(j->mixer);
    job_free(j);
}

static struct pair_keys *make_keys(const struct tiny_net *m,
                                   const struct texts *t)
{
    static const int32_t tgt[] = { 40, 41, 42, 43 };
    struct key_builder_options o = { .rows = 64, .type = KEY_INT8,
                                     .with_eos = true };
    struct key_pair p = { t->ids[1], t->n_ids[1], tgt, 4, NULL };
    struct key_builder *kb;
    struct err e;

    if (!CHECK_OK(key_builder_new(&kb, m->backend, NULL, &o, &e), &e))
        return NULL;
    CHECK_OK(key_builder_run(kb, &p, 1, &e), &e);
    key_builder_free(kb);
    return p.keys;
}

/* Decode all jobs. Sets *n_done to how many came back finished. */
static enum status decode_jobs(struct batch *b, struct job **jobs, int *n_done,
                               struct err *e)
{
    struct job *done;
    enum status st = ST_OK;
    int at = 0;

    *n_done = 0;
    while (!st && *n_done < N_JOBS) {
        int k = batch_count_idle_lanes(b);

        if (k > N_JOBS - at) k = N_JOBS - at;
        st = batch_add(b, jobs + at, k, e);
        if (st) break;
        at += k;
        st = batch_step(b, &done, e);
        for (; done; done = done->next) ++*n_done;
    }
    CHECK_INT(batch_busy_lanes(b), at - *n_done);
    return st;
}

/* A batch whose device failed fails again, and does not use its executor; the
 * executor checks this. */
static void check_failed_batch(struct batch *b, struct job **jobs)
{
    struct job *done;
    struct err e;

    CHECK_INT(batch_add(b, jobs, 1, &e), ST_DEVICE);
    CHECK_INT(e.status, ST_DEVICE);
    CHECK_INT(batch_step(b, &done, &e), ST_DEVICE);
    CHECK(!done);
    batch_set_pool(b, false);
    CHECK_INT(batch_busy_lanes(b), 0);
}

/* Decode all jobs; an armed call may fail. Returns whether one did. */
static bool try_batch(struct room *r)
{
    struct batch_limits l = { .lanes = LANES, .rows = 4 * LANES,
                              .drafts = DRAFTS, .max_beam = 4,
                              .max_source = MAX_SRC, .max_len = 20 };
    struct job *jobs[N_JOBS];
    struct batch *b = NULL;
    struct err e = { 0 };
    enum status st;
    int n = 0, in;

    for (int i = 0; i < N_JOBS; i++) jobs[i] = job_of(r, i);
    st = batch_new(&b, &r->fb.b, &l, NULL, &e);
    CHECK(!b == !!st);
    if (!st) st = decode_jobs(b, jobs, &n, &e);
    CHECK(st == e.status && (st == ST_OK || st == ST_DEVICE));
    CHECK(!st == !r->fb.broken);
    if (st) CHECK(strstr(e.msg, "the device fails"));
    if (b) {
        in = batch_busy_lanes(b);
        CHECK_INT(r->fb.held > 0, in > 0);
        for (struct job *j = batch_abandon(b); j; j = j->next) in--;
        CHECK_INT(in, 0);
        CHECK_INT(batch_count_idle_lanes(b), LANES);
        if (st) check_failed_batch(b, jobs);
    }
    CHECK_INT(r->fb.held, 0);
    batch_free(b);
    CHECK_INT(r->fb.executors, 0);
    for (int i = 0; i < N_JOBS; i++) {
        if (!st) CHECK(same_job(r->want[i], jobs[i]));
        job_done(jobs[i]);
    }
    return st;
}

static bool room_open(struct room *r)
{
    struct tiny to = tiny_that_ends();
    struct batch_limits l = { .lanes = 1, .rows = 4, .max_beam = 4,
                              .max_source = MAX_SRC, .max_len = 20 };
    static const struct way w = { 1, false, 0 };
    struct batch *b;
    struct err e;

    if (!tiny_net_open(&r->m, &to, DT_I8, NULL)) return false;
    fault_backend_init(&r->fb, r->m.backend);
    make_texts(&r->t, &r->m, N_JOBS);
    r->keys = make_keys(&r->m, &r->t);
    if (!r->keys ||
        !CHECK_OK(batch_new(&b, r->m.backend, &l, NULL, &e), &e))
        return false;
    for (int i = 0; i < N_JOBS; i++) r->want[i] = job_of(r, i);
    run_jobs(b, r->want, N_JOBS, &w);
    batch_free(b);
    return true;
}

static void room_close(struct room *r)
{
    for (int i = 0; i < N_JOBS; i++) job_done(r->want[i]);
    pair_keys_drop(r->keys);
    tiny_net_close(&r->m);
}

TEST(no_failed_call_ends_a_batch_badly)
{
    /* The fewest calls that decoding must make. How many there are depends on
     * the rounding of the kernels, which differs between processors. */
    static const int fewest[FAULT_OPS] = {
        [FAULT_EXECUTOR] = 1, [FAULT_ENCODE] = 2, [FAULT_RUN] = 20,
        [FAULT_PROJECT] = 20, [FAULT_DISTANCES] = 8, [FAULT_READ] = 10 };
    struct room r;

    REQUIRE(room_open(&r));
    for (enum fault_op op = 0; op < FAULT_OPS; op++) {
        int n = 0;

        for (bool failed = true; failed; n++) {
            fault_backend_arm(&r.fb, op, n + 1);
            failed = try_batch(&r);
        }
        CHECK(n > fewest[op]);
        printf("     %s: %d calls, each failed in turn\n", fault_names[op],
               n - 1);
    }
    room_close(&r);
}

/* ---- a key builder ------------------------------------------------------- */

/* Compute the keys of all texts in several passes. Returns whether a call
 * failed. */
static bool try_keys(struct room *r)
{
    static const int32_t tgt[] = { 40, 41, 42, 43, 44, 45, 46 };
    struct key_builder_options o = { .rows = MAX_SRC, .type = KEY_F32 };
    struct key_pair p[N_JOBS];
    struct key_builder *kb;
    struct err e = { 0 };
    enum status st;

    for (int i = 0; i < N_JOBS; i++)
        p[i] = (struct key_pair){ r->t.ids[i], r->t.n_ids[i], tgt, 1 + i,
                                  NULL };
    if (!CHECK_OK(key_builder_new(&kb, &r->fb.b, NULL, &o, &e), &e))
        return false;
    st = key_builder_run(kb, p, N_JOBS, &e);
    CHECK(st == e.status && (st == ST_OK || st == ST_DEVICE));
    for (int i = 0; i < N_JOBS; i++) {
        CHECK(!p[i].keys == !!st);
        pair_keys_drop(p[i].keys);
    }
    if (st) {                           /* it fails again */
        CHECK_INT(key_builder_run(kb, p, N_JOBS, &e), ST_DEVICE);
        CHECK(!p[0].keys);
    }
    key_builder_free(kb);
    CHECK_INT(r->fb.executors, 0);
    return st;
}

TEST(no_failed_call_ends_key_building_badly)
{
    static const enum fault_op ops[] = { FAULT_EXECUTOR, FAULT_FORCE,
                                         FAULT_READ };
    struct room r;

    REQUIRE(room_open(&r));
    for (size_t i = 0; i < COUNT(ops); i++) {
        int n = 0;

        for (bool failed = true; failed; n++) {
            fault_backend_arm(&r.fb, ops[i], n + 1);
            failed = try_keys(&r);
        }
        CHECK(n > (ops[i] == FAULT_EXECUTOR ? 1 : 3));
    }
    room_close(&r);
}

/* ---- sessions and streams ------------------------------------------------ */

/* An engine whose backend fails. */
struct faulty {
    struct tiny_net m;
    struct engine *en;
    struct backend *cpu;        /* of the engine */
    struct fault_backend fb;
};

static bool faulty_open(struct faulty *f)
{
    struct tiny to = tiny_that_ends();
    struct err e;

    if (!tiny_net_write(&f->m, &to, DT_I8) ||
        !CHECK_OK(engine_open(&f->en, tiny_net_file(&f->m, "m.skmt"), &e), &e))
        return false;
    f->cpu = f->en->backend;
    fault_backend_init(&f->fb, f->cpu);
    f->en->backend = &f->fb.b;
    return true;
}

static void faulty_close(struct faulty *f)
{
    f->en->backend = f->cpu;
    engine_close(f->en);
    tiny_net_close(&f->m);
}

static struct options faulty_options(void)
{
    struct options o;

    options_defaults(&o);
    o.beam = o.nbest = o.batch = 2;
    o.max_len_b = 5;
    o.max_len_a = 0.2;
    o.explain = o.attention = true;
    return o;
}

static const struct similar_pair given[] = {
    { { "the and in", 10 }, { "of the in and", 13 }, 0.5 },
    { { "and of", 6 }, { "the an", 6 }, 0.2 } };

/* Translate three texts, two of them with pairs. Returns whether a call
 * failed. */
static bool try_session(struct faulty *f)
{
    struct options o = faulty_options();
    struct session *s = NULL;
    struct err e = { 0 };
    enum status st = session_new(&s, f->en, &o, &e);

    for (int turn = 0; s && turn < 2; turn++) {
        struct session_text q[3] = {
            { .text = "the and of", .len = 10, .given = given, .n_given = 2 },
            { .text = "in the and", .len = 10 },
            { .text = "in of and", .len = 9, .given = given, .n_given = 1 } };
        enum status before = st;

        st = session_run(s, q, COUNT(q), &e);
        CHECK(!before || st);           /* a broken device stays so */
        for (size_t i = 0; i < COUNT(q); i++) {
            CHECK(!q[i].result == !!q[i].err.status);
            if (q[i].err.status) CHECK_INT(q[i].err.status, ST_DEVICE);
            result_free(q[i].result);
        }
    }
    CHECK(st == e.status && (st == ST_OK || st == ST_DEVICE));
    CHECK(!st == !f->fb.broken);
    session_free(s);
    CHECK_INT(f->fb.executors, 0);
    CHECK_INT(f->fb.held, 0);
    return st;
}

struct told { int texts, failed; };

static int tell(void *user, uint64_t number, struct result *r,
                const struct err *e)
{
    struct told *t = user;

    CHECK_INT(number, t->texts);
    CHECK((r != NULL) == (e->status == ST_OK));
    t->texts++;
    t->failed += !r;
    return 0;
}

/* Push five texts, with pairs. Returns whether a call failed. */
static bool try_stream(struct faulty *f)
{
    struct options o = faulty_options();
    struct stream *s = NULL;
    struct told t = { 0, 0 };
    struct err e = { 0 };
    enum status st = stream_new(&s, f->en, &o, tell, &t, &e);

    for (int i = 0; i < 5 && !st; i++)
        st = stream_push_with(s, "the and of", 10, NULL, given, i % 3, &e);
    if (!st) st = stream_flush(s, &e);
    CHECK(st == ST_OK || st == ST_DEVICE);
    CHECK(st || t.texts == 5);
    CHECK_INT(t.failed, 0);
    stream_free(s);
    CHECK(!st == !f->fb.broken);
    CHECK_INT(f->fb.executors, 0);
    CHECK_INT(f->fb.held, 0);
    return st;
}

static void sweep_calls(bool (*try_one)(struct faulty *f))
{
    struct faulty f;

    REQUIRE(faulty_open(&f));
    for (enum fault_op op = 0; op < FAULT_OPS; op++) {
        int n = 0;

        for (bool failed = true; failed; n++) {
            fault_backend_arm(&f.fb, op, n + 1);
            failed = try_one(&f);
        }
        CHECK(n > 1);
        printf("     %s: %d calls, each failed in turn\n", fault_names[op],
               n - 1);
    }
    faulty_close(&f);
}

TEST(no_failed_call_ends_a_session_badly) { sweep_calls(try_session); }
TEST(no_failed_call_ends_a_stream_badly) { sweep_calls(try_stream); }
