/* batch.c - decodes several sentences together: takes sentences into lanes,
 * runs decoder passes, takes beam search steps and writes results. The rows of
 * a pass are chosen in batch_rows.c and computed in batch_tokens.c. The choice
 * among candidates is in beam.c; the book-keeping of states is in states.c. The
 * arithmetic is behind nn/backend.h: search sees tokens, slots by their
 * numbers, and for each row its best tokens and the tokens that a mixer lists.
 *
 * Invariants between steps, for each busy lane:
 *   - Live hypothesis i is at state hyp_state[i]. Its path, the slots of its
 *     tokens, is path[i * max_len .. i * max_len + beam.t]; the last of these
 *     is the slot of hyp_state[i].
 *   - path entries after beam.t are scratch: drafts that continue the
 *     hypothesis store their slots there.
 *   - n_busy is the number of lanes with a job, and n_taken is the sum of their
 *     beams. An idle lane has no states.
 * There are two path buffers, path and path_next. A step writes the paths of
 * the new hypotheses to path_next, because several of them may continue the
 * same path, and then exchanges the two. A path is at most a few hundred
 * integers, so copying it is cheap. */
#include "search/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "search/batch_internal.h"

/* ---- creation and destruction ---------------------------------------- */

static enum status lane_init(struct lane *l, const struct batch *b,
                             struct err *e)
{
    size_t beam = (size_t)b->limits.max_beam;
    size_t n = beam * (size_t)b->limits.max_len;
    enum status st = beam_init(&l->beam, b->limits.max_beam,
                               b->limits.max_len, b->backend->cfg->eos_id, e);

    l->beam.given = b->backend->cfg->target_prefix_id >= 0;
    /* Room for the live states before and after a step, and for the drafts of
     * a few passes. */
    if (!st)
        st = states_init(&l->states,
                         2 * b->limits.max_beam + 3 * b->limits.drafts,
                         2 * b->limits.max_beam + MIXTURE_TOKENS, b->x, e);
    if (st) return st;
    l->path = malloc(n * sizeof *l->path);
    l->path_next = malloc(n * sizeof *l->path_next);
    l->hyp_state = calloc(beam, sizeof *l->hyp_state);
    l->hyp_state_next = calloc(beam, sizeof *l->hyp_state_next);
    return l->path && l->path_next && l->hyp_state && l->hyp_state_next
        ? ST_OK : err_nomem(e, "paths");
}

static enum status batch_alloc(struct batch *b, size_t slots, struct err *e)
{
    size_t n = (size_t)b->max_rows, lanes = (size_t)b->limits.lanes;

    b->most_best = 2 * b->limits.max_beam + BARRED_TOKENS;
    b->rows = calloc(n, sizeof *b->rows);
    b->row_state = calloc(n, sizeof *b->row_state);
    b->row_pos = calloc(n, sizeof *b->row_pos);
    b->row_path = calloc(n, sizeof *b->row_path);
    b->mix = calloc(n, sizeof *b->mix);
    b->projected = calloc(n, sizeof *b->projected);
    b->best = calloc(n * (size_t)b->most_best, sizeof *b->best);
    b->listed = calloc(n * PROJECT_LISTED, sizeof *b->listed);
    b->listed_logit = calloc(n * PROJECT_LISTED, sizeof *b->listed_logit);
    b->slot_token = calloc(slots, sizeof *b->slot_token);
    b->sources = calloc(lanes, sizeof *b->sources);
    b->source_lane = calloc(lanes, sizeof *b->source_lane);
    b->lanes = calloc(lanes, sizeof *b->lanes);
    if (b->rows && b->row_state && b->row_pos && b->row_path && b->mix &&
        b->projected && b->best && b->listed && b->listed_logit &&
        b->slot_token && b->sources && b->source_lane && b->lanes)
        return ST_OK;
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status batch_init(struct batch *b, struct pool *pool,
                              struct err *e)
{
    const struct batch_limits *l = &b->limits;
    size_t slots = (size_t)b->max_rows * (size_t)l->max_len;
    struct executor_limits need = { l->lanes, l->max_source, b->max_rows,
                                    l->max_len, (int)slots };
    enum status st;

    if (slots > INT32_MAX)
        return err_set(e, ST_LIMIT, "batch %d, beam %d and translations of %d "
                       "pieces need too much memory together; lower one of "
                       "them", l->lanes, l->max_beam, l->max_len);
    st = backend_executor_new(b->backend, &need, pool, &b->x, e);
    if (!st) st = batch_alloc(b, slots, e);
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
    assert(2 * limits->max_beam + BARRED_TOKENS <= PROJECT_BEST);
    b->backend = backend;
    b->limits = *limits;
    b->max_rows = limits->rows + limits->drafts;
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
        states_release(&b->lanes[i].states);
        free(b->lanes[i].hyp_state);
        free(b->lanes[i].hyp_state_next);
        free(b->lanes[i].path);
        free(b->lanes[i].path_next);
    }
    free(b->lanes);
    free(b->rows);
    free(b->row_state);
    free(b->row_pos);
    free(b->row_path);
    free(b->mix);
    free(b->projected);
    free(b->best);
    free(b->listed);
    free(b->listed_logit);
    free(b->slot_token);
    free(b->sources);
    free(b->source_lane);
    executor_free(b->x);
    free(b);
}

void batch_set_pool(struct batch *b, bool use)
{
    if (!b->failed) b->x->ops->use_pool(b->x, use);
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

/* Whether the hypotheses, states and paths of a busy lane agree. */
static inline bool lane_sound(const struct batch *b, const struct lane *l)
{
    size_t ld = (size_t)b->limits.max_len, t = (size_t)l->beam.t;

    if (l->beam.n_live < 1 || l->beam.n_live > l->job->o.beam) return false;
    for (int i = 0; i < l->beam.n_live; i++) {
        const struct state *s = &l->states.at[l->hyp_state[i]];

        if (!s->in_use || l->path[(size_t)i * ld + t] != s->slot) return false;
    }
    return states_sound(&l->states);
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

/* The first idle lane from lane `at` on. */
static int next_idle_lane(const struct batch *b, int at)
{
    while (b->lanes[at].job) at++;
    assert(at < b->limits.lanes);
    return at;
}

/* Make the state after the first token. The mixer may guess the first tokens of
 * the translation. */
static void begin_states(struct batch *b, struct lane *l)
{
    struct mixer *m = l->job->mixer;
    struct state *s;

    l->hyp_state[0] = states_new(&l->states, -1,
                                 config_first_token(b->backend->cfg));
    assert(l->hyp_state[0] >= 0);
    s = &l->states.at[l->hyp_state[0]];
    l->path[0] = s->slot;
    if (!l->job->o.draft || !m || !m->ops->first) return;
    m->ops->first(m, &s->guesses[0]);
    s->n_guesses = s->guesses[0].n > 0;
}

static enum status device_failed(struct err *e)
{
    return err_set(e, ST_DEVICE, "%s", status_text(ST_DEVICE));
}

/* Put a job into an idle lane. */
static void batch_enter(struct batch *b, struct lane *l, struct job *j)
{
    assert(!l->job);
    l->job = j;
    beam_begin(&l->beam, &j->o, j->max_len);
    if (j->mixer) l->beam.most_reward = (double)j->mixer->most_reward;
    begin_states(b, l);
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
    if (b->failed) return device_failed(e);
    st = b->x->ops->encode(b->x, b->sources, b->source_lane, n, e);
    b->failed = st == ST_DEVICE;
    if (st) return st;
    for (int i = 0; i < n; i++)
        batch_enter(b, &b->lanes[b->source_lane[i]], jobs[i]);
    PARANOID_CHECK(batch_sound(b));
    return ST_OK;
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
    states_clear(&l->states);
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

/* ---- steps ----------------------------------------------------------- */

/* Move every live hypothesis to its next state, which is a draft or a new
 * state, and copy its path. States that no hypothesis can reach are given
 * up. */
static void follow_hypotheses(struct batch *b, struct lane *l)
{
    struct beam *bm = &l->beam;
    size_t ld = (size_t)b->limits.max_len, n = (size_t)bm->t;
    int32_t *path = l->path;
    int *at = l->hyp_state;

    for (int i = 0; i < bm->n_live; i++) {
        int from = at[bm->live[i].from], to;

        assert(l->states.at[from].known);
        to = states_child(&l->states, from, beam_token(bm, i));
        if (to < 0) to = states_new(&l->states, from, beam_token(bm, i));
        else if (l->states.at[to].drafted) b->counts.drafts_used++;
        assert(to >= 0 && bm->t < b->limits.max_len);
        l->states.at[to].drafted = false;
        l->hyp_state_next[i] = to;
        memcpy(l->path_next + (size_t)i * ld,
               path + (size_t)bm->live[i].from * ld, n * sizeof *path);
        l->path_next[(size_t)i * ld + n] = l->states.at[to].slot;
    }
    states_keep(&l->states, l->hyp_state_next, bm->n_live);
    l->path = l->path_next;
    l->path_next = path;
    l->hyp_state = l->hyp_state_next;
    l->hyp_state_next = at;
}

/* Make the rows of tokens [at, ..) of a final translation, as many as fit a
 * pass. *last is the slot of the last one. Returns their number. */
static int add_final_rows(struct batch *b, struct lane *l,
                          const struct hypothesis *h, int at, int32_t *last)
{
    int32_t *path = l->path_next;
    int n = 0;

    for (; n < b->max_rows && at + n < h->n; n++) {
        int pos = at + n;

        *last = path[pos] = b->x->ops->slot_new(b->x, *last);
        assert(*last >= 0);
        /* Each slot stays for its successor; the last one is held. */
        if (pos) b->x->ops->slot_drop(b->x, path[pos - 1]);
        b->rows[n] = (struct pass_row){ lane_index(b, l),
            pos ? h->tokens[pos - 1] : config_first_token(b->backend->cfg),
            pos, path };
    }
    return n;
}

/* Copy the attention of the n rows of a pass, which are those of tokens [at,
 * ..) of a final translation. */
static enum status copy_attention(struct batch *b, const struct job *j,
                                  const struct hypothesis *h, int at, int n,
                                  struct err *e)
{
    size_t width = (size_t)j->n_src, ld;
    const float *from;
    enum status st = b->x->ops->attention(b->x, 0, n, &from, &ld, e);

    for (int i = 0; !st && i < n; i++)
        memcpy(h->attention + (size_t)(at + i) * width, from + (size_t)i * ld,
               width * sizeof *from);
    return st;
}

/* Run a final translation through the decoder again, to get its
 * cross-attention and to let the mixer explain it. */
static enum status decode_again(struct batch *b, struct lane *l, int hyp,
                                struct err *e)
{
    const struct job *j = l->job;
    const struct hypothesis *h = &j->hyps[hyp];
    int32_t last = -1;
    enum status st = ST_OK;

    for (int at = 0, n; !st && at < h->n; at += n) {
        n = add_final_rows(b, l, h, at, &last);
        st = b->x->ops->run(b->x, b->rows, n,
                            mixer_want(j->mixer) |
                            (h->attention ? WANT_ATTENTION : 0), e);
        if (!st && h->attention) st = copy_attention(b, j, h, at, n, e);
        if (!st && j->o.explain && j->mixer)
            st = j->mixer->ops->explain(j->mixer, &(struct mixer_reading){
                b->x, 0, n, hyp, at, h->tokens }, e);
    }
    b->x->ops->slot_drop(b->x, last);
    return st;
}

/* Write the results of a finished sentence and release its lane. */
static enum status batch_leave(struct batch *b, struct lane *l, struct err *e)
{
    struct job *j = l->job;
    enum status st = ST_OK;

    states_clear(&l->states);
    beam_results(&l->beam, j);
    for (int i = 0; !st && i < j->n_hyps; i++)
        if (j->o.attention || (j->o.explain && j->mixer))
            st = decode_again(b, l, i, e);
    release_lane(b, l);
    return st;
}

static bool all_known(const struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++)
        if (!l->states.at[l->hyp_state[i]].known) return false;
    return true;
}

static void offer_continuations(struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++) {
        const struct state *s = &l->states.at[l->hyp_state[i]];

        for (int j = 0; j < s->n; j++)
            beam_offer_rewarded(&l->beam, i, s->next[j].token,
                                s->next[j].logprob, s->next[j].reward);
    }
}

/* Take steps while the states of all live hypotheses are known. Returns true
 * when the sentence is finished. */
static bool batch_advance(struct batch *b, struct lane *l)
{
    while (all_known(l)) {
        offer_continuations(l);
        b->counts.steps++;
        if (beam_advance(&l->beam)) return true;
        follow_hypotheses(b, l);
    }
    return false;
}

enum status batch_step(struct batch *b, struct job **done, struct err *e)
{
    struct job **tail = done;
    enum status st;

    *done = NULL;
    if (b->failed) return device_failed(e);
    batch_add_rows(b);
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
    b->failed = st == ST_DEVICE;
    PARANOID_CHECK(st || batch_sound(b));
    return st;
}
