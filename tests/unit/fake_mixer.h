/* fake_mixer.h - a mixer for tests: it checks what the batch tells it and
 * changes distributions in a known way.
 *
 * With a naive model (naive.h) it also compares the decoder states of the final
 * translations with those of the plain transformer, and in mode LATE the
 * logits of the listed tokens. If it knows the translation that a search
 * without it finds, it guesses the next tokens, right or wrong. All functions
 * are static. */
#ifndef FAKE_MIXER_H
#define FAKE_MIXER_H

#include "naive.h"
#include "search/job.h"

enum { FAKE_ROWS = 24, FAKE_LEN = 64, FAKE_HYPS = 8, N_LIGHT = 5 };

/* ALONE changes nothing. FORCE gives probability 1 to the tokens 10, 11, 12 and
 * EOS in turn; in a sentence of odd length EOS follows 10. LIGHT adds 0.1 to
 * token 20, 0.15 to the preferred token, and 0.2 each to EOS, padding and BOS.
 * Search must never choose the last two. LATE adds the same numbers, each
 * multiplied by 1 minus the model's probability of the token. */
enum mode { ALONE, FORCE, LIGHT, LATE };

/* A row of a pass: its slot and the tokens that led to it, and enough of the
 * decoder state to recognize it. */
struct seen { int32_t own; int n; int32_t tokens[FAKE_LEN]; float state[4]; };

struct fake_mixer {
    struct mixer mixer;         /* must be the first member */
    enum mode mode;
    const struct job *job;      /* that it belongs to */
    const struct naive *nv;     /* or NULL */
    int lists, mixes, explains, ends;   /* calls so far */
    int list_fails, explain_fails;      /* the call that fails, from 1 */
    int told[FAKE_HYPS];        /* explained tokens of each translation */
    int most_rows;              /* of this sentence in a pass */
    const struct job *known;    /* what it guesses; NULL: nothing */
    int lies;                   /* 0: all guesses are right; 1: none; else
                                   tokens 1, 1 + lies .. are wrong */
    int32_t ahead[FAKE_LEN + 1][FAKE_LEN];  /* guesses, by the position of the
                                               token before them, from -1 */
    struct seen seen[FAKE_ROWS * FAKE_LEN];
    int n_seen;
    int32_t token[FAKE_ROWS][N_LIGHT];
    float add[FAKE_ROWS][N_LIGHT];
};

static inline struct fake_mixer *fake_of(const struct mixer *m)
{
    return (struct fake_mixer *)(void *)(uintptr_t)m;
}

/* ---- what the batch says ------------------------------------------------- */

/* The last row of this sentence that had this slot. */
static inline const struct seen *fake_row_of(const struct fake_mixer *f,
                                             int32_t slot)
{
    for (int i = f->n_seen - 1; i >= 0; i--)
        if (f->seen[i].own == slot) return &f->seen[i];
    return NULL;
}

/* Record row i. The slot before its own must have been that of an earlier row,
 * with the same tokens except for the last one. */
static inline enum status fake_remember(struct fake_mixer *f,
                                        const struct mixer_rows *in, int i,
                                        struct err *e)
{
    struct seen s = { .n = in->n_tokens[i],
                      .own = in->path[i][in->n_tokens[i]] };
    const struct seen *before;
    const float *state;
    size_t ld;
    enum status st = in->x->ops->read(in->x, STATE_FINAL, in->row + i, 1,
                                     &state, &ld, e);

    if (st || !CHECK(s.n < FAKE_LEN && s.n < f->job->max_len &&
                     f->n_seen < (int)COUNT(f->seen)))
        return st;
    CHECK_INT(mixer_last_tokens(in, i, s.tokens, FAKE_LEN), s.n);
    CHECK_INT(in->slot_token[in->path[i][0]],
              config_first_token(in->x->backend->cfg));
    if (s.n) {
        before = fake_row_of(f, in->path[i][s.n - 1]);
        if (CHECK(before && before->n == s.n - 1))
            CHECK_MEM(before->tokens, s.tokens,
                      (size_t)before->n * sizeof *s.tokens);
    }
    memcpy(s.state, state, sizeof s.state);
    f->seen[f->n_seen++] = s;
    return ST_OK;
}

static inline bool fake_is_state(const float *got, const double *want)
{
    bool same = true;

    for (int i = 0; i < 4; i++)
        same &= fabs((double)got[i] - want[i]) < 1e-3;
    return same;
}

/* Each token of the best translation was chosen at a row that this mixer has
 * seen, with the decoder state of the plain transformer. */
static inline void fake_check_rows(const struct fake_mixer *f)
{
    const struct hypothesis *h = &f->job->hyps[0];
    struct naive_pass p = naive_run(f->nv, f->job->src, f->job->n_src,
                                    h->tokens, h->n - 1);

    for (int t = 0; t < h->n; t++) {
        int i = 0;

        while (i < f->n_seen && (f->seen[i].n != t ||
                                 memcmp(f->seen[i].tokens, h->tokens,
                                        (size_t)t * sizeof *h->tokens)))
            i++;
        if (CHECK(i < f->n_seen))
            CHECK(fake_is_state(f->seen[i].state,
                                p.hidden + t * f->nv->o->d));
    }
    naive_pass_release(&p);
}

/* ---- what it answers ----------------------------------------------------- */

/* The token to which LIGHT adds 0.15: the best token of the row, or 21 if the
 * best is special or is 20. */
static inline int32_t preferred(int32_t best)
{
    return best == 0 || best == 2 || best == 3 || best == 20 ? 21 : best;
}

/* Find the best token of each row of the sentence. A mixer may project the
 * rows of the pass itself. */
static inline enum status fake_best(const struct mixer_rows *in, int32_t *out,
                                    struct err *e)
{
    struct projection p[FAKE_ROWS];
    struct token_logit best[FAKE_ROWS];
    enum status st;

    for (int i = 0; i < in->n; i++)
        p[i] = (struct projection){ .n_best = 1, .best = &best[i] };
    st = in->x->ops->project(in->x, in->row, in->n, p, e);
    for (int i = 0; !st && i < in->n; i++) out[i] = best[i].token;
    return st;
}

/* Sentences of odd length are brief. */
static inline bool is_brief(const struct job *j) { return j->n_src % 2; }

static const float light_add[N_LIGHT] = { 0.1f, 0.2f, 0.15f, 0.2f, 0.2f };

static inline void fake_answer(struct fake_mixer *f, int i, int depth,
                               int32_t best, struct mixture *out)
{
    static const int32_t forced[] = { 10, 11, 12, 3 };
    static const int32_t light[N_LIGHT] = { 20, 0, 21, 3, 2 };
    bool brief = is_brief(f->job);

    out->token = f->token[i];
    out->add = f->mode == LATE ? NULL : f->add[i];
    if (f->mode == FORCE) {
        out->keep = 0;
        out->n = 1;
        f->token[i][0] = forced[depth < 3 && !(brief && depth) ? depth : 3];
        f->add[i][0] = 1;
        return;
    }
    if (f->mode == LIGHT) out->keep = 0.15f;
    out->n = N_LIGHT;
    memcpy(f->token[i], light, sizeof light);
    memcpy(f->add[i], light_add, sizeof light_add);
    f->token[i][2] = preferred(best);
}

/* Guess what follows token `at` of the translation; -1: the start. */
static inline struct guess fake_guess(struct fake_mixer *f, int at)
{
    const struct hypothesis *h = &f->known->hyps[0];
    struct guess g = { .likely = 0.9f, .ahead = f->ahead[at + 1] };

    if (at >= 0 && at < h->n) g.token = h->tokens[at];
    for (; at + 1 + g.n < h->n; g.n++) {
        bool lie = f->lies && (at + g.n) % f->lies == 0;

        f->ahead[at + 1][g.n] = lie ? 7 : h->tokens[at + 1 + g.n];
    }
    return g;
}

static inline void fake_first(struct mixer *m, struct guess *out)
{
    CHECK(!out->n && !out->ahead && !out->token);
    if (fake_of(m)->known) *out = fake_guess(fake_of(m), -1);
}

static inline enum status fake_list(struct mixer *m,
                                    const struct mixer_rows *in,
                                    struct mixture *out, struct err *e)
{
    struct fake_mixer *f = fake_of(m);
    int32_t best[FAKE_ROWS] = { 0 };
    enum status st = ST_OK;

    if (++f->lists == f->list_fails)
        return err_set(e, ST_LIMIT, "the mixer refuses");
    if (!CHECK(in->n > 0 && in->n <= FAKE_ROWS && !f->ends)) return ST_OK;
    CHECK(in->n <= f->job->o.beam + f->job->o.draft);
    if (in->n > f->most_rows) f->most_rows = in->n;
    for (int i = 0; !st && i < in->n; i++) {
        CHECK(out[i].keep == 1 && out[i].n == 0 && out[i].n_guesses == 0);
        st = fake_remember(f, in, i, e);
        if (!f->known) continue;
        out[i].n_guesses = 1;
        out[i].guesses[0] = fake_guess(f, in->n_tokens[i]);
    }
    if (st || f->mode == ALONE) return st;
    st = fake_best(in, best, e);
    for (int i = 0; !st && i < in->n; i++)
        fake_answer(f, i, in->n_tokens[i], best[i], &out[i]);
    return st;
}

/* The probabilities of row i by the plain transformer's last layer. The caller
 * frees them. */
static inline double *fake_logprobs(const struct fake_mixer *f,
                                    const struct mixer_rows *in, int i)
{
    int d = f->nv->o->d;
    double *state = naive_rows(1, d), *lp;
    const float *row = NULL;
    size_t ld;
    struct err e;

    CHECK_OK(in->x->ops->read(in->x, STATE_FINAL, in->row + i, 1, &row, &ld,
                              &e), &e);
    for (int k = 0; row && k < d; k++) state[k] = (double)row[k];
    lp = naive_logprobs(f->nv, state, 1);
    free(state);
    return lp;
}

static inline void fake_mix(struct mixer *m, const struct mixer_rows *in,
                            const struct projection *p, struct mixture *out)
{
    struct fake_mixer *f = fake_of(m);

    f->mixes++;
    CHECK_INT(f->mixes, f->lists);
    for (int i = 0; i < in->n; i++) {
        double *lp = f->nv ? fake_logprobs(f, in, i) : NULL;

        REQUIRE(out[i].n == N_LIGHT && p[i].n_listed >= N_LIGHT);
        CHECK_MEM(p[i].listed, out[i].token, sizeof f->token[i]);
        for (int k = 0; k < N_LIGHT; k++) {
            double model = exp((double)p[i].listed_logit[k] -
                               (double)p[i].max) / (double)p[i].sum;

            if (lp) CHECK_NEAR(model, exp(lp[p[i].listed[k]]), 1e-5);
            f->add[i][k] = light_add[k] * (float)(1 - model);
        }
        out[i].keep = 0.15f;
        out[i].add = f->add[i];
        free(lp);
    }
}

/* ---- explanations and the end -------------------------------------------- */

/* The parts of a translation come in order, with the states before its
 * tokens. */
static inline enum status fake_explain(struct mixer *m,
                                       const struct mixer_reading *in,
                                       struct err *e)
{
    struct fake_mixer *f = fake_of(m);
    const struct hypothesis *h = &f->job->hyps[in->hyp];
    struct naive_pass p = { 0 };
    const float *state = NULL;
    size_t ld;

    if (++f->explains == f->explain_fails)
        return err_set(e, ST_LIMIT, "the mixer does not explain");
    CHECK(!f->ends && in->hyp < f->job->n_hyps && in->n > 0);
    CHECK(in->tokens == h->tokens && in->from + in->n <= h->n);
    CHECK_INT(in->from, f->told[in->hyp]);
    f->told[in->hyp] += in->n;
    if (!f->nv) return ST_OK;
    p = naive_run(f->nv, f->job->src, f->job->n_src, h->tokens, h->n - 1);
    CHECK_OK(in->x->ops->read(in->x, STATE_FINAL, in->row, in->n, &state, &ld,
                              e), e);
    for (int t = 0; t < in->n; t++)
        CHECK(fake_is_state(state + (size_t)t * ld,
                            p.hidden + (in->from + t) * f->nv->o->d));
    naive_pass_release(&p);
    return ST_OK;
}

static inline struct explanation fake_explanation(const struct mixer *m,
                                                  int hyp, int token)
{
    const struct fake_mixer *f = fake_of(m);

    return (struct explanation){
        .weight = token < f->told[hyp] ? 0.5f : 0 };
}

static inline void fake_end(struct mixer *m)
{
    struct fake_mixer *f = fake_of(m);

    if (f->nv && f->job->n_hyps) fake_check_rows(f);
    f->ends++;
}

static inline void fake_free(struct mixer *m) { free(m); }

/* Make the mixer of a job. nv may be NULL. */
static inline struct fake_mixer *fake_mixer_new(struct job *j, enum mode mode,
                                                const struct naive *nv)
{
    static const struct mixer_ops early = { .first = fake_first,
        .list = fake_list, .explain = fake_explain,
        .explanation = fake_explanation, .end = fake_end, .free = fake_free };
    static struct mixer_ops late;
    struct fake_mixer *f = calloc(1, sizeof *f);

    late = early;
    late.mix = fake_mix;
    f->mixer.ops = mode == LATE ? &late : &early;
    f->mode = mode;
    f->job = j;
    f->nv = nv;
    j->mixer = &f->mixer;
    return f;
}

/* Free the mixers of n jobs, if they have any. Each must have been told of the
 * end once. */
static inline void free_mixers(struct job **jobs, int n)
{
    for (int i = 0; i < n; i++) {
        if (!jobs[i]->mixer) continue;
        CHECK_INT(fake_of(jobs[i]->mixer)->ends, 1);
        jobs[i]->mixer->ops->free(jobs[i]->mixer);
        jobs[i]->mixer = NULL;
    }
}

#endif
