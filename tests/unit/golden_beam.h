/* golden_beam.h - compares the outputs of beam search with those of PyTorch. */
#ifndef GOLDEN_BEAM_H
#define GOLDEN_BEAM_H

#include "golden.h"
#include "search/batch.h"

struct golden_search {
    struct fixture f;
    struct search_options o;
    struct batch *b;
    FILE *in;
    int left;                   /* lines to be read */
    int n, same;                /* jobs that are done; that are equal */
};

static inline struct batch_limits golden_limits(const struct golden_search *g)
{
    enum { LANES = 8, MAX_SOURCE = 251 };
    int most = g->f.backend->max_pos;

    return (struct batch_limits){ .lanes = LANES, .rows = LANES * g->o.beam,
        .max_beam = g->o.beam, .max_source = MAX_SOURCE,
        .max_len = search_max_len(&g->o, most, MAX_SOURCE) };
}

/* Compare a job with its line, and free both. */
static inline void golden_check(struct golden_search *g, struct job *j)
{
    json_t *want = (json_t *)(void *)j->sentence;
    int32_t ids[2048];
    int n = ids_of(json_object_get(want, "out_ids"), ids);
    const struct hypothesis *h = &j->hyps[0];

    g->n++;
    if (CHECK(j->n_hyps == 1) && h->n == n + 1 && h->ended &&
        !memcmp(h->tokens, ids, (size_t)n * sizeof *ids)) {
        g->same++;
        if (g->f.exact) {
            double s = json_real_value(json_object_get(want, "score"));
            double lp = json_real_value(json_object_get(want, "logprob"));

            CHECK_NEAR(h->score, s, 2e-3);
            CHECK_NEAR(h->logprob, lp, 5e-3);
        }
    }
    json_decref(want);
    job_free(j);
}

/* Add a job for the next line. Returns false at the end. */
static inline bool golden_add(struct golden_search *g)
{
    json_t *line = g->left-- > 0 ? golden_line(g->in) : NULL;
    int32_t src[2048];
    struct job *j;
    struct err e;
    int n;

    if (!line) return false;
    n = ids_of(json_object_get(line, "src_ids"), src);
    src[n++] = g->f.w->cfg.eos_id;
    if (!CHECK_OK(job_new(&j, &g->o, g->f.backend->max_pos, src, n, NULL, 0,
                          &e), &e))
        return false;
    j->sentence = (struct sentence *)(void *)line;
    return CHECK_OK(batch_add(g->b, &j, 1, &e), &e);
}

static inline void golden_run(struct golden_search *g)
{
    struct job *done;
    bool more = true;
    struct err e;

    while (more || batch_busy_lanes(g->b)) {
        while (more && batch_count_idle_lanes(g->b)) more = golden_add(g);
        REQUIRE_OK(batch_step(g->b, &done, &e), &e);
        for (struct job *next; done; done = next) {
            next = done->next;
            golden_check(g, done);
        }
    }
}

/* At least `percent` of the lines of a file must be equal, and with an exact
 * model the scores of these. */
static inline void golden_beam(const struct comparison *c, int percent)
{
    int limit = line_limit(2);
    struct golden_search g = {
        .o = { .beam = 4, .nbest = 1, .lenpen = 0.6, .max_len_a = 1.2,
               .max_len_b = 64, .early_stop = true },
        .in = fopen(c->file, "r"), .left = limit,
    };
    struct batch_limits limits;
    struct err e;

    REQUIRE(g.in != NULL);
    REQUIRE(fixture_open(&g.f, c->model, c->exact));
    limits = golden_limits(&g);
    REQUIRE_OK(batch_new(&g.b, g.f.backend, &limits, NULL, &e), &e);
    golden_run(&g);
    printf("     beam (%s): %d of %d identical\n", c->what, g.same, g.n);
    CHECK(g.n >= (limit < 20 ? limit : 20));
    CHECK(g.same * 100 >= g.n * percent);
    batch_free(g.b);
    fclose(g.in);
    fixture_close(&g.f);
}

#endif
