/* test_jobs.c - jobs with different options in one batch.
 *
 * Each job is decoded alone once, without drafts, in a batch that is just large
 * enough for it. In a batch with other jobs it must give the same results, bit
 * for bit. Jobs may be removed at any time. */
#include "batch_fix.h"
#include "fake_mixer.h"
#include "knn/key_builder.h"
#include "knn/sk.h"

enum { N_JOBS = 36, N_KINDS = 6, MOST_BEAM = 8, PREFIX = 3, DRAFTS = 6 };

/* ---- jobs ---------------------------------------------------------------- */

/* What steers a job: nothing, one of the modes of the fake mixer, or SK-MT. */
enum kind { NO_MIXER, WITH_ALONE, WITH_FORCE, WITH_LIGHT, WITH_LATE, WITH_SK };

struct room {
    struct tiny_net m;
    struct texts t;
    struct pair_keys *keys[2];  /* for SK-MT */
};

/* Job i has its own mixture of options. The numbers have no common divisors,
 * so that all combinations of two options occur. */
static struct search_options options_of(int i)
{
    static const int beams[] = { 1, 4, 8 };
    static const double prunes[] = { 0, 0, 1.5, 4 }, alphas[] = { 0.6, 0, 1 };
    int beam = beams[i % 3];

    return (struct search_options){ .beam = beam,
        .nbest = i % 5 == 1 ? beam : i % 5 == 2 && beam > 1 ? 2 : 1,
        .lenpen_type = i % 7 < 3 ? LENPEN_FAIRSEQ : LENPEN_GNMT,
        .lenpen = alphas[i / 3 % 3], .max_len_a = i % 2 ? 0.3 : 1.2,
        .max_len_b = 4 + i % 11, .early_stop = i % 4 != 3,
        .prune = prunes[i / 2 % 4], .attention = i % 3 == i / 3 % 3,
        .explain = i / 6 % 2 };
}

static enum kind kind_of(int i) { return (enum kind)((i + i / N_KINDS) %
                                                     N_KINDS); }

static bool room_open(struct room *r)
{
    static const int32_t tgt[2][5] = { { 40, 41, 42, 43, 44 },
                                       { 60, 61, 40, 41, 62 } };
    struct key_builder_options ko = { .rows = 64, .type = KEY_INT8,
                                      .with_eos = true };
    struct tiny to = tiny_that_ends();
    struct key_pair p[2];
    struct key_builder *kb = NULL;
    struct err e;
    bool ok = tiny_net_open(&r->m, &to, DT_I8, NULL) &&
              CHECK_OK(key_builder_new(&kb, r->m.backend, NULL, &ko, &e), &e);

    if (!ok) return false;
    make_texts(&r->t, &r->m, N_JOBS);
    for (int i = 0; i < 2; i++)
        p[i] = (struct key_pair){ r->t.ids[i + 3], r->t.n_ids[i + 3], tgt[i],
                                  5, NULL };
    ok = CHECK_OK(key_builder_run(kb, p, 2, &e), &e);
    for (int i = 0; i < 2; i++) r->keys[i] = p[i].keys;
    key_builder_free(kb);
    return ok;
}

static void room_close(struct room *r)
{
    for (int i = 0; i < 2; i++) pair_keys_drop(r->keys[i]);
    tiny_net_close(&r->m);
}

static void steer_by_sk(const struct room *r, struct job *j)
{
    struct system_options so = { .k = 4, .weigh = { .tau = 100 },
                                 .repeat_votes = 1 };
    struct system_sentence s = {
        .rows = j->o.beam + j->o.draft, .nbest = j->o.nbest,
        .max_len = j->max_len, .explain = j->o.explain };
    struct system_pair pairs[] = {
        { .keys = r->keys[0], .similarity = 0.9f },
        { .keys = r->keys[1], .similarity = 0.8f } };
    struct err e;

    REQUIRE_OK(sk_system.sentence_new(&j->mixer, &so, &s, &e), &e);
    CHECK_OK(sk_system.prepare(j->mixer, NULL, pairs, 2, &e), &e);
}

/* Job i. `known` is NULL or the same job with its results, found without
 * drafts: then most jobs have drafts, and a fake mixer guesses these results,
 * most of them right. */
static struct job *job_of(const struct room *r, int i, const struct job *known)
{
    static const int32_t prefix[PREFIX] = { 30, 31, 32 };
    struct search_options o = options_of(i);
    struct job *j = NULL;
    enum kind kind = kind_of(i);
    struct fake_mixer *f;
    struct err e;

    if (known && i % 5) o.draft = 2 * (i % 5);
    if (!CHECK_OK(job_new(&j, &o, r->m.backend->max_pos, r->t.ids[i],
                          r->t.n_ids[i], prefix, i % 8 == 5 ? PREFIX : 0, &e),
                  &e))
        return NULL;
    if (kind == WITH_SK) steer_by_sk(r, j);
    if (kind == WITH_SK || kind == NO_MIXER) return j;
    f = fake_mixer_new(j, (enum mode)(kind - WITH_ALONE), NULL);
    f->known = known;
    f->lies = i % 7;
    return j;
}

static void job_done(struct job *j, int i)
{
    if (j->mixer && kind_of(i) == WITH_SK) {
        j->mixer->ops->free(j->mixer);
        j->mixer = NULL;
    }
    free_mixers(&j, 1);
    job_free(j);
}

/* ---- comparison ---------------------------------------------------------- */

static bool same_explanation(const struct explanation *a,
                             const struct explanation *b)
{
    bool same = a->n == b->n && a->weight == b->weight;

    for (int i = 0; same && i < a->n; i++)
        same = !memcmp(&a->votes[i], &b->votes[i], sizeof *a->votes);
    return same;
}

/* Whether two mixers explain their translations in the same way. */
static bool same_reasons(const struct job *a, const struct job *b)
{
    bool same = true;

    for (int h = 0; a->mixer && same && h < a->n_hyps; h++)
        for (int t = 0; same && t < a->hyps[h].n; t++) {
            struct explanation x = a->mixer->ops->explanation(a->mixer, h, t);
            struct explanation y = b->mixer->ops->explanation(b->mixer, h, t);

            same = same_explanation(&x, &y);
        }
    return same;
}

static void check_same(struct job **want, struct job **got, int i)
{
    if (!same_job(want[i], got[i]) || !same_reasons(want[i], got[i]))
        test_fail(__FILE__, __LINE__, "job %d (beam %d, mixer %d) differs", i,
                  want[i]->o.beam, kind_of(i));
}

static struct batch *batch_for(const struct room *r, int lanes, int rows,
                               struct pool *pool)
{
    struct batch_limits l = { .lanes = lanes, .rows = rows, .drafts = DRAFTS,
        .max_beam = rows < MOST_BEAM ? rows : MOST_BEAM,
        .max_source = MAX_SRC, .max_len = r->m.backend->max_pos };
    struct batch *b = NULL;
    struct err e;

    CHECK_OK(batch_new(&b, r->m.backend, &l, pool, &e), &e);
    return b;
}

/* Decode every job alone. */
static void decode_alone(const struct room *r, struct job **jobs)
{
    static const struct way w = { 1, false, 0 };

    for (int i = 0; i < N_JOBS; i++) {
        struct batch *b;

        REQUIRE((jobs[i] = job_of(r, i, NULL)));
        REQUIRE((b = batch_for(r, 1, jobs[i]->o.beam, NULL)));
        run_jobs(b, &jobs[i], 1, &w);
        CHECK_INT(batch_counts(b).drafted, 0);
        batch_free(b);
    }
}

/* The options above must do what they are for. */
static void check_variety(struct job **jobs)
{
    int ended = 0, pruned = 0, nbest = 0, with_votes = 0, attention = 0;

    for (int i = 0; i < N_JOBS; i++) {
        const struct job *j = jobs[i];

        ended += j->hyps[0].ended;
        pruned += j->o.prune > 0 && j->o.beam > 1;
        nbest += j->n_hyps > 2;
        attention += j->hyps[0].attention != NULL;
        if (kind_of(i) == WITH_SK && j->o.explain)
            with_votes += j->mixer->ops->explanation(j->mixer, 0, 1).n > 0;
    }
    CHECK(ended > N_JOBS / 4 && ended < N_JOBS);
    CHECK(pruned > 5 && nbest > 1 && with_votes > 1 && attention > 5);
}

TEST(jobs_with_different_options_share_a_batch)
{
    /* lanes, rows */
    static const int sizes[][2] = { { 6, 24 }, { 36, 160 }, { 3, 8 },
                                    { 20, 30 }, { 1, 8 }, { 2, 12 } };
    static const struct way ways[] = { { 1, false, 0 }, { 1, true, 0 },
                                       { 2, false, 2 }, { 1, true, 1 },
                                       { 1, false, 1 }, { 1, false, 0 } };
    struct job *want[N_JOBS], *got[N_JOBS];
    struct room r;

    REQUIRE(room_open(&r));
    decode_alone(&r, want);
    check_variety(want);
    for (size_t c = 0; c < COUNT(sizes); c++) {
        struct batch_counts counts;
        struct pool *pool;
        struct batch *b;
        struct err e;

        REQUIRE_OK(pool_new(&pool, ways[c].threads, &e), &e);
        REQUIRE((b = batch_for(&r, sizes[c][0], sizes[c][1], pool)));
        for (int i = 0; i < N_JOBS; i++)
            REQUIRE((got[i] = job_of(&r, i, c % 2 ? want[i] : NULL)));
        run_jobs(b, got, N_JOBS, &ways[c]);
        counts = batch_counts(b);
        CHECK(counts.rows - counts.drafted <=
              counts.passes * (uint64_t)sizes[c][1]);
        CHECK(counts.drafted <= counts.passes * DRAFTS);
        CHECK((counts.drafts_used > 0) == (c % 2));
        for (int i = 0; i < N_JOBS; i++) {
            check_same(want, got, i);
            job_done(got[i], i);
        }
        batch_free(b);
        pool_free(pool);
    }
    for (int i = 0; i < N_JOBS; i++) job_done(want[i], i);
    room_close(&r);
}

/* ---- removing jobs ------------------------------------------------------- */

/* Step until n jobs are done, or all jobs of the batch are. */
static void step_until(struct batch *b, int n)
{
    struct job *done;
    struct err e;

    while (n > 0 && batch_busy_lanes(b)) {
        REQUIRE_OK(batch_step(b, &done, &e), &e);
        for (; done; done = done->next) n--;
    }
}

/* Remove the job in the middle of three after some steps. The other two do not
 * notice. The job that was removed may enter again. */
TEST(a_job_can_be_removed)
{
    struct job *want[N_JOBS], *got[N_JOBS], *done;
    struct room r;
    struct err e;

    REQUIRE(room_open(&r));
    decode_alone(&r, want);
    for (int first = 0; first + 2 < N_JOBS; first++) {
        struct batch *b = batch_for(&r, 3, 24, NULL);

        REQUIRE(b);
        for (int i = first; i < first + 3; i++)
            REQUIRE((got[i] = job_of(&r, i, first % 2 ? want[i] : NULL)));
        CHECK(!batch_remove(b, got[first + 1]));
        CHECK_OK(batch_add(b, got + first, 3, &e), &e);
        for (int s = 0; s < first % 5; s++) {
            CHECK_OK(batch_step(b, &done, &e), &e);
            if (done) break;
        }
        if (batch_busy_lanes(b) == 3) {
            CHECK(batch_remove(b, got[first + 1]));
            CHECK_INT(got[first + 1]->n_hyps, 0);
            CHECK_INT(batch_busy_lanes(b), 2);
            CHECK(!batch_remove(b, got[first + 1]));
            job_done(got[first + 1], first + 1);
            REQUIRE((got[first + 1] = job_of(&r, first + 1, NULL)));
            step_until(b, 1);
            CHECK_OK(batch_add(b, &got[first + 1], 1, &e), &e);
        }
        step_until(b, 3);
        CHECK_INT(batch_busy_lanes(b), 0);
        for (int i = first; i < first + 3; i++) {
            check_same(want, got, i);
            job_done(got[i], i);
        }
        batch_free(b);
    }
    for (int i = 0; i < N_JOBS; i++) job_done(want[i], i);
    room_close(&r);
}

/* Remove random jobs many times. If slots were lost, the batch would run out
 * of them. */
TEST(removing_leaves_nothing_behind)
{
    struct job *want[N_JOBS], *got[N_JOBS], *in[3] = { NULL }, *done;
    int number[3] = { 0 };
    struct batch *b;
    struct room r;
    uint64_t s = 6;
    struct err e;

    REQUIRE(room_open(&r));
    decode_alone(&r, want);
    REQUIRE((b = batch_for(&r, 3, 24, NULL)));
    for (int turn = 0; turn < 400; turn++) {
        int at = (int)(tiny_next(&s) % 3);

        if (!in[at]) {
            number[at] = (int)(tiny_next(&s) % N_JOBS);
            REQUIRE((in[at] = job_of(&r, number[at], turn % 3 ? NULL
                                     : want[number[at]])));
            CHECK_OK(batch_add(b, &in[at], 1, &e), &e);
        } else if (tiny_next(&s) % 4 == 0) {
            CHECK(batch_remove(b, in[at]));
            job_done(in[at], number[at]);
            in[at] = NULL;
        }
        CHECK_OK(batch_step(b, &done, &e), &e);
        for (struct job *next; done; done = next) {
            int i = 0;

            next = done->next;
            while (i < 2 && in[i] != done) i++;
            REQUIRE(in[i] == done);
            CHECK(same_job(done, want[number[i]]));
            job_done(done, number[i]);
            in[i] = NULL;
        }
    }
    for (int i = 0; i < 3; i++)
        if (in[i]) {
            CHECK(batch_remove(b, in[i]));
            job_done(in[i], number[i]);
        }
    CHECK_INT(batch_busy_lanes(b), 0);
    for (int i = 0; i < N_JOBS; i++)
        REQUIRE((got[i] = job_of(&r, i, want[i])));
    run_jobs(b, got, N_JOBS, &(struct way){ 1, false, 0 });
    for (int i = 0; i < N_JOBS; i++) {
        check_same(want, got, i);
        job_done(got[i], i);
        job_done(want[i], i);
    }
    batch_free(b);
    room_close(&r);
}

/* After a mixer has failed and the jobs were abandoned, the batch works like a
 * new one. */
TEST(a_batch_can_be_used_after_abandoning)
{
    enum { FIRST = 3 };
    static const struct way w = { 1, false, 0 };
    struct job *want[N_JOBS], *got[N_JOBS], *done;
    struct batch *b;
    struct room r;
    struct err e;

    REQUIRE(room_open(&r));
    decode_alone(&r, want);
    REQUIRE((b = batch_for(&r, 6, 40, NULL)));
    for (int turn = 0; turn < 20; turn++) {
        struct job *some[3];
        enum status st = ST_OK;

        for (int i = 0; i < 3; i++)
            REQUIRE((some[i] = job_of(&r, FIRST + i, i == 1 ? NULL
                                      : want[FIRST + i])));
        REQUIRE(kind_of(FIRST + 1) == WITH_LATE);
        fake_of(some[1]->mixer)->list_fails =
            1 + turn % want[FIRST + 1]->n_passes;
        CHECK_OK(batch_add(b, some, 3, &e), &e);
        while (!st && batch_busy_lanes(b)) st = batch_step(b, &done, &e);
        CHECK_INT(st, ST_LIMIT);
        batch_abandon(b);
        CHECK_INT(batch_count_idle_lanes(b), 6);
        for (int i = 0; i < 3; i++) job_done(some[i], FIRST + i);
    }
    for (int i = 0; i < N_JOBS; i++)
        REQUIRE((got[i] = job_of(&r, i, want[i])));
    run_jobs(b, got, N_JOBS, &w);
    for (int i = 0; i < N_JOBS; i++) {
        check_same(want, got, i);
        job_done(got[i], i);
        job_done(want[i], i);
    }
    batch_free(b);
    room_close(&r);
}

/* ---- room in a batch ----------------------------------------------------- */

/* Link jobs with these beams. Returns their number. */
static int link_jobs(const struct room *r, const int *beams, struct job **jobs)
{
    int n = 0;

    for (; beams[n]; n++) {
        struct search_options o = options(beams[n]);

        jobs[n] = new_job(r->m.backend, &o, &r->t, n);
        jobs[n]->next = NULL;
        if (n) jobs[n - 1]->next = jobs[n];
    }
    return n;
}

/* A job needs a lane and as many rows as its beam. Jobs behind one that does
 * not fit must wait, too. */
TEST(jobs_fit_if_lanes_and_rows_are_free)
{
    static const struct { int in, beams[6], fit; } list[] = {
        { 0, { 0 }, 0 },
        { 0, { 8, 1, 1, 1 }, 3 },               /* lanes */
        { 0, { 4, 4, 4 }, 2 },                  /* rows */
        { 0, { 4, 4, 2, 1 }, 3 },
        { 0, { 4, 8, 1 }, 1 },
        { 4, { 8 }, 0 },                        /* 6 rows are free */
        { 4, { 4, 4 }, 1 },
        { 4, { 4, 2, 1 }, 2 },
        { 8, { 2, 1 }, 1 },
        { 8, { 1, 1, 1 }, 2 },
        { 8, { 3 }, 0 },
    };
    struct room r;
    struct err e;

    REQUIRE(room_open(&r));
    for (size_t i = 0; i < COUNT(list); i++) {
        struct batch *b = batch_for(&r, 3, 10, NULL);
        int first[2] = { list[i].in, 0 }, n;
        struct job *in[1], *jobs[6] = { NULL };

        REQUIRE(b);
        if (link_jobs(&r, first, in)) {
            CHECK_INT(batch_fitting(b, in[0]), 1);
            CHECK_OK(batch_add(b, in, 1, &e), &e);
        }
        n = link_jobs(&r, list[i].beams, jobs);
        CHECK_INT(batch_fitting(b, jobs[0]), list[i].fit);
        CHECK_OK(batch_add(b, jobs, list[i].fit, &e), &e);
        CHECK_INT(batch_count_idle_lanes(b), 3 - list[i].fit - !!list[i].in);
        batch_abandon(b);
        CHECK_INT(batch_count_idle_lanes(b), 3);
        for (int k = 0; k < n; k++) jobs[k]->next = jobs[k + 1];
        if (n) CHECK(batch_fitting(b, jobs[0]) >= list[i].fit);
        free_jobs(jobs, n);
        free_jobs(in, !!list[i].in);
        batch_free(b);
    }
    room_close(&r);
}

/* A job keeps the rows of its beam until it leaves, even if few hypotheses are
 * alive. */
TEST(rows_stay_reserved)
{
    static const int beams[] = { 8, 8, 0 };
    struct job *jobs[2], *done = NULL;
    struct batch *b;
    struct room r;
    struct err e;

    REQUIRE(room_open(&r));
    REQUIRE((b = batch_for(&r, 2, 15, NULL)));
    link_jobs(&r, beams, jobs);
    jobs[0]->o.prune = 0.01;
    CHECK_INT(batch_fitting(b, jobs[0]), 1);
    CHECK_OK(batch_add(b, jobs, 1, &e), &e);
    while (!done) {
        CHECK_INT(batch_fitting(b, jobs[1]), 0);
        REQUIRE_OK(batch_step(b, &done, &e), &e);
    }
    CHECK(batch_counts(b).rows < 2 * batch_counts(b).passes);
    CHECK_INT(batch_fitting(b, jobs[1]), 1);
    CHECK_OK(batch_add(b, jobs + 1, 1, &e), &e);
    CHECK(batch_remove(b, jobs[1]));
    CHECK_INT(batch_fitting(b, jobs[1]), 1);
    free_jobs(jobs, 2);
    batch_free(b);
    room_close(&r);
}

TEST(limits_say_which_jobs_can_enter)
{
    struct batch_limits l = { .lanes = 2, .rows = 8, .max_beam = 4,
                              .max_source = 10, .max_len = 24 };
    static const struct { int beam, n_src, max_len; bool fits; } list[] = {
        { 4, 10, 24, true }, { 1, 1, 1, true }, { 5, 10, 24, false },
        { 4, 11, 24, false }, { 4, 10, 25, false },
    };
    struct batch *b;
    struct room r;
    struct err e;

    REQUIRE(room_open(&r));
    REQUIRE_OK(batch_new(&b, r.m.backend, &l, NULL, &e), &e);
    for (size_t i = 0; i < COUNT(list); i++) {
        struct search_options o = options(list[i].beam);
        int32_t src[16];
        uint64_t s = i;
        struct job *j, *done;

        o.max_len_a = 0;
        o.max_len_b = list[i].max_len;
        o.nbest = 1;
        tiny_source(&r.m, &s, list[i].n_src, src);
        REQUIRE_OK(job_new(&j, &o, r.m.backend->max_pos, src, list[i].n_src,
                           NULL, 0, &e), &e);
        CHECK(batch_can_hold(b, j) == list[i].fits);
        if (list[i].fits) {
            CHECK_OK(batch_add(b, &j, 1, &e), &e);
            while (batch_busy_lanes(b))
                REQUIRE_OK(batch_step(b, &done, &e), &e);
            CHECK(j->n_hyps == 1 && j->hyps[0].n <= list[i].max_len);
        }
        job_free(j);
    }
    CHECK_OK(batch_add(b, NULL, 0, &e), &e);
    CHECK(!batch_abandon(b));
    batch_free(b);
    room_close(&r);
}
