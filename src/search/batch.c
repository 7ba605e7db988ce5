/* batch.c - runs decoder passes over the hypotheses of several sentences and
 * takes beam search steps. The arithmetic is behind nn/backend.h: this file
 * sees tokens, states by their numbers, and for each row its best tokens and
 * the tokens that a mixer lists. The choice among candidates is in beam.c.
 *
 * Invariants between steps, for each busy lane:
 *   - The path of live hypothesis i, the states of its tokens, is
 *     path[i * max_len .. i * max_len + beam.t]. The lane holds the last of
 *     these states once; it holds no other state.
 *   - n_busy is the number of lanes with a job, and n_taken is the sum of their
 *     beams. An idle lane holds no states.
 * There are two path buffers, path and path_next. A step writes the paths of
 * the new hypotheses to path_next, because several of them may continue the
 * same path, and then exchanges the two. A path is at most a few hundred
 * integers, so copying it is cheap. */
#include "search/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "search/beam.h"

struct lane {
    struct job *job;            /* borrowed; NULL: the lane is idle */
    struct beam beam;
    int32_t *path, *path_next;  /* [max_beam, max_len] states */
    int row;                    /* its first row in the current pass */
    int n_rows;                 /* its live hypotheses in the current pass */
};

struct batch {
    const struct backend *backend;
    struct executor *x;
    struct batch_limits limits;
    struct lane *lanes;         /* [limits.lanes] */
    int n_busy;                 /* lanes with a job */
    int n_taken;                /* rows reserved by their beams */
    struct source *sources;     /* [lanes] being encoded */
    int *source_lane;           /* [lanes] the lane of each */
    int n_rows;                 /* of the current pass */
    struct pass_row *rows;      /* [limits.rows]. The next five arrays have an
                                   entry for each: */
    const int32_t **row_path;
    struct mixture *mix;
    struct projection *projected;
    struct token_logit *best;   /* [rows, most_best] */
    int32_t *listed;            /* [rows, PROJECT_LISTED] */
    float *listed_logit;        /* [rows, PROJECT_LISTED] */
    int most_best;              /* best tokens that a row needs at most */
    int32_t *state_token;       /* [states] the token that led to a state */
    struct batch_counts counts;
};

/* The tokens that search never uses: padding, BOS, and EOS at the first
 * position. So many more of the best tokens are asked for. */
enum { BARRED = 3 };

/* ---- creation and destruction ---------------------------------------- */

static enum status lane_init(struct lane *l, const struct batch *b,
                             struct err *e)
{
    size_t n = (size_t)b->limits.max_beam * (size_t)b->limits.max_len;
    enum status st = beam_init(&l->beam, b->limits.max_beam,
                               b->limits.max_len, b->backend->cfg->eos_id, e);

    if (st) return st;
    l->path = malloc(n * sizeof *l->path);
    l->path_next = malloc(n * sizeof *l->path_next);
    return l->path && l->path_next ? ST_OK : err_nomem(e, "paths");
}

static enum status batch_alloc(struct batch *b, size_t states, struct err *e)
{
    size_t n = (size_t)b->limits.rows, lanes = (size_t)b->limits.lanes;

    b->most_best = 2 * b->limits.max_beam + BARRED;
    b->rows = calloc(n, sizeof *b->rows);
    b->row_path = calloc(n, sizeof *b->row_path);
    b->mix = calloc(n, sizeof *b->mix);
    b->projected = calloc(n, sizeof *b->projected);
    b->best = calloc(n * (size_t)b->most_best, sizeof *b->best);
    b->listed = calloc(n * PROJECT_LISTED, sizeof *b->listed);
    b->listed_logit = calloc(n * PROJECT_LISTED, sizeof *b->listed_logit);
    b->state_token = calloc(states, sizeof *b->state_token);
    b->sources = calloc(lanes, sizeof *b->sources);
    b->source_lane = calloc(lanes, sizeof *b->source_lane);
    b->lanes = calloc(lanes, sizeof *b->lanes);
    if (b->rows && b->row_path && b->mix && b->projected && b->best &&
        b->listed && b->listed_logit && b->state_token && b->sources &&
        b->source_lane && b->lanes)
        return ST_OK;
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status batch_init(struct batch *b, struct pool *pool,
                              struct err *e)
{
    const struct batch_limits *l = &b->limits;
    size_t states = (size_t)l->rows * (size_t)l->max_len;
    struct executor_limits need = { l->lanes, l->max_source, l->rows,
                                    l->max_len, (int)states };
    enum status st;

    if (states > INT32_MAX)
        return err_set(e, ST_LIMIT, "batch %d, beam %d and translations of %d "
                       "pieces need too much memory together; lower one of "
                       "them", l->lanes, l->max_beam, l->max_len);
    st = b->backend->ops->executor_new(b->backend, &need, pool, &b->x, e);
    if (!st) st = batch_alloc(b, states, e);
    for (int i = 0; !st && i < l->lanes; i++)
        st = lane_init(&b->lanes[i], b, e);
    return st;
}

enum status batch_new(struct batch **out, const struct backend *backend,
                      const struct batch_limits *limits, struct pool *pool,
                      struct err *e)
{
    struct batch *b = calloc(1, sizeof *b);
    enum status st;

    *out = NULL;
    if (!b) return err_nomem(e, "a batch");
    assert(limits->lanes > 0 && limits->max_beam > 0);
    assert(limits->rows >= limits->max_beam && limits->max_len > 0);
    assert(2 * limits->max_beam + BARRED <= PROJECT_BEST);
    b->backend = backend;
    b->limits = *limits;
    st = batch_init(b, pool, e);
    if (st) batch_free(b);
    else *out = b;
    return st;
}

void batch_free(struct batch *b)
{
    if (!b) return;
    for (int i = 0; b->lanes && i < b->limits.lanes; i++) {
        beam_release(&b->lanes[i].beam);
        free(b->lanes[i].path);
        free(b->lanes[i].path_next);
    }
    free(b->lanes);
    free(b->rows);
    free(b->row_path);
    free(b->mix);
    free(b->projected);
    free(b->best);
    free(b->listed);
    free(b->listed_logit);
    free(b->state_token);
    free(b->sources);
    free(b->source_lane);
    executor_free(b->x);
    free(b);
}

void batch_set_pool(struct batch *b, bool use)
{
    b->x->ops->use_pool(b->x, use);
}

int batch_count_idle_lanes(const struct batch *b)
{
    return b->limits.lanes - b->n_busy;
}

int batch_busy_lanes(const struct batch *b) { return b->n_busy; }

struct batch_counts batch_counts(const struct batch *b) { return b->counts; }

bool batch_can_hold(const struct batch *b, const struct job *j)
{
    return j->o.beam <= b->limits.max_beam &&
           j->n_src <= b->limits.max_source && j->max_len <= b->limits.max_len;
}

int batch_fitting(const struct batch *b, const struct job *list)
{
    int idle = batch_count_idle_lanes(b), rows = b->limits.rows - b->n_taken;
    int n = 0;

    for (; list && n < idle && list->o.beam <= rows; list = list->next, n++)
        rows -= list->o.beam;
    return n;
}

/* ---- invariants ------------------------------------------------------ */

/* Whether the paths of a busy lane are consistent. */
static inline bool lane_sound(const struct batch *b, const struct lane *l)
{
    size_t ld = (size_t)b->limits.max_len;

    if (l->beam.n_live < 1 || l->beam.n_live > l->job->o.beam) return false;
    for (int i = 0; i < l->beam.n_live; i++)
        for (int t = 0; t <= l->beam.t; t++) {
            int32_t state = l->path[(size_t)i * ld + (size_t)t];

            if (state < 0 || state >= b->x->limits.states) return false;
        }
    return true;
}

/* Whether the invariants above hold; for PARANOID_CHECK. */
static inline bool batch_sound(const struct batch *b)
{
    int busy = 0, taken = 0;

    for (int i = 0; i < b->limits.lanes; i++) {
        const struct lane *l = &b->lanes[i];

        if (!l->job) continue;
        busy++;
        taken += l->job->o.beam;
        if (!lane_sound(b, l)) return false;
    }
    return busy == b->n_busy && taken == b->n_taken &&
           taken <= b->limits.rows;
}

/* ---- adding and removing sentences ----------------------------------- */

static int lane_index(const struct batch *b, const struct lane *l)
{
    assert(l >= b->lanes && l < b->lanes + b->limits.lanes);
    return (int)(l - b->lanes);
}

/* The first idle lane from lane `at` on. */
static int next_idle_lane(const struct batch *b, int at)
{
    while (b->lanes[at].job) at++;
    assert(at < b->limits.lanes);
    return at;
}

/* Put a job into an idle lane, at the state after the start token. */
static void batch_enter(struct batch *b, struct lane *l, struct job *j)
{
    int32_t state = b->x->ops->state_new(b->x, -1);

    assert(!l->job && state >= 0);
    l->job = j;
    l->path[0] = state;
    b->state_token[state] = b->backend->cfg->start_id;
    beam_begin(&l->beam, &j->o, j->max_len);
    j->n_hyps = j->n_passes = 0;
    b->n_busy++;
    b->n_taken += j->o.beam;
    assert(b->n_taken <= b->limits.rows);
}

enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e)
{
    enum status st;

    assert(n >= 0 && n <= batch_count_idle_lanes(b));
    for (int i = 0, at = -1; i < n; i++) {
        assert(batch_can_hold(b, jobs[i]));
        at = next_idle_lane(b, at + 1);
        b->sources[i] = (struct source){ jobs[i]->src, jobs[i]->n_src };
        b->source_lane[i] = at;
    }
    if (!n) return ST_OK;
    st = b->x->ops->encode(b->x, b->sources, b->source_lane, n, e);
    if (st) return st;
    for (int i = 0; i < n; i++)
        batch_enter(b, &b->lanes[b->source_lane[i]], jobs[i]);
    PARANOID_CHECK(batch_sound(b));
    return ST_OK;
}

/* Drop the states of the first n paths at position pos. */
static void drop_states(struct batch *b, const int32_t *path, int n, int pos)
{
    for (int i = 0; i < n; i++)
        b->x->ops->state_drop(b->x, path[(size_t)i *
                                         (size_t)b->limits.max_len +
                                         (size_t)pos]);
}

/* Detach a finished or abandoned job from its lane, whose states are dropped
 * already. Returns the job. */
static struct job *release_lane(struct batch *b, struct lane *l)
{
    struct job *j = l->job;

    assert(j && b->n_busy > 0);
    if (j->mixer) j->mixer->ops->end(j->mixer);
    l->job = NULL;
    b->n_busy--;
    b->n_taken -= j->o.beam;
    return j;
}

static void empty_lane(struct batch *b, struct lane *l)
{
    drop_states(b, l->path, l->beam.n_live, l->beam.t);
    release_lane(b, l);
}

bool batch_remove(struct batch *b, struct job *j)
{
    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job == j) {
            empty_lane(b, &b->lanes[i]);
            return true;
        }
    return false;
}

struct job *batch_abandon(struct batch *b)
{
    struct job *jobs = NULL;

    for (int i = 0; i < b->limits.lanes; i++) {
        struct job *j = b->lanes[i].job;

        if (!j) continue;
        empty_lane(b, &b->lanes[i]);
        j->next = jobs;
        jobs = j;
    }
    assert(b->n_busy == 0 && b->n_taken == 0);
    return jobs;
}

/* ---- a pass ---------------------------------------------------------- */

/* Add a row for each live hypothesis of a lane. */
static void add_lane_rows(struct batch *b, struct lane *l)
{
    l->row = b->n_rows;
    l->n_rows = l->beam.n_live;
    for (int i = 0; i < l->n_rows; i++) {
        int r = b->n_rows++;
        const int32_t *path = l->path + (size_t)i * (size_t)b->limits.max_len;

        assert(r < b->limits.rows && l->beam.t < b->limits.max_len);
        b->rows[r] = (struct pass_row){ lane_index(b, l),
            b->state_token[path[l->beam.t]], l->beam.t, path };
        b->row_path[r] = path;
        b->mix[r] = (struct mixture){ .keep = 1 };
    }
    l->job->n_passes++;
}

static struct mixer_rows mixer_rows_of(const struct batch *b,
                                       const struct lane *l)
{
    return (struct mixer_rows){ b->x, l->row, l->n_rows, l->beam.t,
                                b->row_path + l->row, b->state_token };
}

/* The only token that a row may continue with, or -1: a forced token of the
 * prefix, or EOS where fairseq ends a translation at its length limit. */
static int32_t only_token(const struct lane *l)
{
    int pos = l->beam.t;

    if (pos < l->job->n_prefix) return l->job->prefix[pos];
    if (l->job->o.lenpen_type == LENPEN_FAIRSEQ && pos + 1 == l->beam.max_len)
        return l->beam.eos;
    return -1;
}

/* Say what is needed of a row: the tokens of its mixture, then its only token,
 * or else its best tokens. */
static void ask_for_row(struct batch *b, const struct lane *l, int r)
{
    struct projection *p = &b->projected[r];
    int32_t *listed = b->listed + (size_t)r * PROJECT_LISTED;
    int32_t only = only_token(l);
    int n = b->mix[r].n;

    assert(n >= 0 && n <= MIXTURE_TOKENS);
    if (n) memcpy(listed, b->mix[r].token, (size_t)n * sizeof *listed);
    if (only >= 0) listed[n++] = only;
    *p = (struct projection){
        .n_best = only >= 0 ? 0 : beam_width(&l->beam) + BARRED,
        .best = b->best + (size_t)r * (size_t)b->most_best,
        .n_listed = n, .listed = listed,
        .listed_logit = b->listed_logit + (size_t)r * PROJECT_LISTED };
}

/* Let the mixer of a lane name its tokens, and ask for the rows. */
static enum status list_lane(struct batch *b, struct lane *l, struct err *e)
{
    struct mixer *m = l->job->mixer;
    struct mixer_rows in = mixer_rows_of(b, l);
    enum status st = ST_OK;

    if (m) st = m->ops->list(m, &in, b->mix + l->row, e);
    for (int i = 0; !st && i < l->n_rows; i++) ask_for_row(b, l, l->row + i);
    return st;
}

static void mix_lane(struct batch *b, struct lane *l)
{
    struct mixer *m = l->job->mixer;
    struct mixer_rows in = mixer_rows_of(b, l);

    if (m && m->ops->mix)
        m->ops->mix(m, &in, b->projected + l->row, b->mix + l->row);
}

static enum status batch_run_pass(struct batch *b, struct err *e)
{
    enum status st = b->x->ops->run(b->x, b->rows, b->n_rows, NULL, 0, e);

    for (int i = 0; !st && i < b->limits.lanes; i++)
        if (b->lanes[i].job) st = list_lane(b, &b->lanes[i], e);
    if (!st) st = b->x->ops->project(b->x, b->projected, b->n_rows, e);
    if (st) return st;
    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job) mix_lane(b, &b->lanes[i]);
    b->counts.passes++;
    b->counts.rows += (uint64_t)b->n_rows;
    return ST_OK;
}

/* ---- continuations --------------------------------------------------- */

/* The log-probability that search uses. 1e-9 is added to the probability, so
 * that the logarithm is finite even for a probability of 0 (docs/method.md,
 * 0.5). The sum is limited to 1, so that the result is never above 0. */
static float search_log(double p)
{
    return (float)log(fmin(p + 1e-9, 1));
}

/* The part that the mixer adds to a token; -1 for a token it does not list. */
static double mixer_part(const struct mixture *m, int32_t token)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return (double)m->add[i];
    return -1;
}

/* Whether a token may not occur at this position: padding and BOS never, EOS
 * not as the first token. (EOS may have the same id as padding or BOS.) */
static bool token_barred(const struct batch *b, int pos, int32_t id)
{
    const struct config *c = b->backend->cfg;

    if (id == c->eos_id) return pos == 0;
    return id == c->pad_id || id == c->bos_id;
}

/* Offer a token with this logit as the continuation of hypothesis i. */
static void offer_token(struct batch *b, struct lane *l, int i, int32_t token,
                        float logit)
{
    const struct projection *p = &b->projected[l->row + i];
    const struct mixture *m = &b->mix[l->row + i];
    double add = mixer_part(m, token);
    double model = exp((double)logit - (double)p->max) / (double)p->sum;
    double mixed = (double)m->keep * model;

    assert(token >= 0 && token < b->backend->vocab);
    beam_offer(&l->beam, i, token, search_log(add > 0 ? mixed + add : mixed));
}

/* Offer the tokens that the mixer lists and the model's best tokens. Mixing
 * raises only the listed tokens relative to the others, so no other token can
 * be among the best. */
static void offer_best_tokens(struct batch *b, struct lane *l, int i)
{
    const struct projection *p = &b->projected[l->row + i];
    const struct mixture *m = &b->mix[l->row + i];
    int width = beam_width(&l->beam), allowed = 0, pos = l->beam.t;

    for (int j = 0; j < m->n; j++)
        if (!token_barred(b, pos, m->token[j]))
            offer_token(b, l, i, m->token[j], p->listed_logit[j]);
    for (int j = 0; j < p->n_found && allowed < width; j++) {
        if (token_barred(b, pos, p->best[j].token)) continue;
        allowed++;
        if (m->n && mixer_part(m, p->best[j].token) >= 0) continue;
        offer_token(b, l, i, p->best[j].token, p->best[j].logit);
    }
}

static void offer_continuations(struct batch *b, struct lane *l)
{
    int32_t only = only_token(l);

    for (int i = 0; i < l->n_rows; i++) {
        if (only >= 0)
            offer_token(b, l, i, only,
                        b->projected[l->row + i].listed_logit[
                            b->mix[l->row + i].n]);
        else
            offer_best_tokens(b, l, i);
    }
}

/* ---- steps ----------------------------------------------------------- */

/* Give every live hypothesis a state for its new token, and copy its path. */
static void follow_hypotheses(struct batch *b, struct lane *l)
{
    struct beam *bm = &l->beam;
    size_t ld = (size_t)b->limits.max_len, n = (size_t)bm->t;
    int32_t *path = l->path;

    assert(bm->t < b->limits.max_len);
    for (int i = 0; i < bm->n_live; i++) {
        const int32_t *from = path + (size_t)bm->live[i].from * ld;
        int32_t *to = l->path_next + (size_t)i * ld;

        memcpy(to, from, n * sizeof *to);
        to[n] = b->x->ops->state_new(b->x, from[n - 1]);
        assert(to[n] >= 0);
        b->state_token[to[n]] = beam_token(bm, i);
    }
    drop_states(b, path, l->n_rows, bm->t - 1);
    l->path = l->path_next;
    l->path_next = path;
}

/* Make the rows of tokens [at, ..) of a final translation, as many as fit a
 * pass. *last is the state of the last one. Returns their number. */
static int add_final_rows(struct batch *b, struct lane *l,
                          const struct hypothesis *h, int at, int32_t *last)
{
    int32_t *path = l->path_next;
    int n = 0;

    for (; n < b->limits.rows && at + n < h->n; n++) {
        int pos = at + n;

        *last = path[pos] = b->x->ops->state_new(b->x, *last);
        assert(*last >= 0);
        /* Each state is held by its successor, and the last one by us. */
        if (pos) b->x->ops->state_drop(b->x, path[pos - 1]);
        b->rows[n] = (struct pass_row){ lane_index(b, l),
            pos ? h->tokens[pos - 1] : b->backend->cfg->start_id, pos, path };
    }
    return n;
}

/* Run a final translation through the decoder again, to get its
 * cross-attention and to let the mixer explain it. */
static enum status decode_again(struct batch *b, struct lane *l, int hyp,
                                struct err *e)
{
    const struct job *j = l->job;
    const struct hypothesis *h = &j->hyps[hyp];
    size_t ld = (size_t)j->n_src;
    int32_t last = -1;
    enum status st = ST_OK;

    for (int at = 0, n; !st && at < h->n; at += n) {
        n = add_final_rows(b, l, h, at, &last);
        st = b->x->ops->run(b->x, b->rows, n, h->attention
                            ? h->attention + (size_t)at * ld : NULL, ld, e);
        if (!st && j->o.explain && j->mixer)
            st = j->mixer->ops->explain(j->mixer, &(struct mixer_reading){
                b->x, 0, n, hyp, at, h->tokens }, e);
    }
    b->x->ops->state_drop(b->x, last);
    return st;
}

/* Write the results of a finished sentence and release its lane. */
static enum status batch_leave(struct batch *b, struct lane *l, struct err *e)
{
    struct job *j = l->job;
    enum status st = ST_OK;

    drop_states(b, l->path, l->n_rows, l->beam.t - 1);
    beam_results(&l->beam, j);
    for (int i = 0; !st && i < j->n_hyps; i++)
        if (j->o.attention || (j->o.explain && j->mixer))
            st = decode_again(b, l, i, e);
    release_lane(b, l);
    return st;
}

/* Take one step of a sentence. Returns true when it is finished. */
static bool batch_advance(struct batch *b, struct lane *l)
{
    offer_continuations(b, l);
    b->counts.steps++;
    if (beam_advance(&l->beam)) return true;
    follow_hypotheses(b, l);
    return false;
}

enum status batch_step(struct batch *b, struct job **done, struct err *e)
{
    struct job **tail = done;
    enum status st;

    *done = NULL;
    b->n_rows = 0;
    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job) add_lane_rows(b, &b->lanes[i]);
    if (b->n_rows == 0) return ST_OK;
    st = batch_run_pass(b, e);
    for (int i = 0; !st && i < b->limits.lanes; i++) {
        struct lane *l = &b->lanes[i];
        struct job *j = l->job;

        if (!j || !batch_advance(b, l)) continue;
        st = batch_leave(b, l, e);
        *tail = j;
        j->next = NULL;
        tail = &j->next;
    }
    PARANOID_CHECK(st || batch_sound(b));
    return st;
}
