/* batch.c - runs decoder passes over the hypotheses of several sentences and
 * takes beam search steps. Where guesses of the next tokens are likely to save
 * a pass, their states are computed in advance: this is speculative decoding,
 * and such a state is called a draft. The choice among candidates is in beam.c;
 * the book-keeping of states is in states.c.
 *
 * Invariants between steps, for each busy lane:
 *   - Live hypothesis i is at state hyp_state[i]. Its path, the cache slots of
 *     its tokens, is path[i * max_len .. i * max_len + beam.t]; the last of
 *     these is the slot of hyp_state[i].
 *   - path entries after beam.t are scratch: drafts that continue the
 *     hypothesis store their slots there.
 *   - n_busy is the number of lanes with a job. An idle lane has no states.
 * There are two path buffers, path and path_next. A step writes the paths of
 * the new hypotheses to path_next, because several of them may continue the
 * same path, and then exchanges the two. A path is at most a few hundred
 * integers, so copying it is cheap. */
#include "search/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "nn/decoder.h"
#include "search/beam.h"
#include "search/states.h"
#include "search/topk.h"

struct lane {
    struct job *job;            /* borrowed; NULL: the lane is idle */
    struct crosskv crosskv;     /* of its source */
    struct beam beam;
    struct states states;
    int *hyp_state;             /* [beam] states of the live hypotheses */
    int *hyp_state_next;        /* [beam] the same after the current step */
    int32_t *path, *path_next;  /* [beam, max_len] cache slots */
};

struct batch {
    const struct net *net;
    struct search_options o;
    struct mixer *mixer;
    struct pool *pool;          /* ws.pool is this, or NULL when turned off */
    struct workspace ws;
    struct kvcache cache;
    struct lane *lanes;         /* [o.lanes] */
    int n_busy;                 /* lanes with a job */
    int max_len;                /* most tokens of any translation */
    struct source *sources;     /* [lanes] being encoded */
    int max_rows;               /* batch_max_rows */
    struct decoder_row *rows;   /* [max_rows] the rows of the current pass. The
                                   next six arrays have an entry for each: */
    int *row_lane;              /* index of the lane */
    struct state **row_state_ptr;       /* the state in that lane */
    int32_t *row_slot;          /* cache slot of the state; it is also the id
                                   by which the mixer knows the state */
    int32_t *row_parent_slot;   /* the same for the state before it; or -1 */
    int *row_pos;               /* number of tokens before it */
    const int32_t **row_path;   /* cache slots of the hypothesis */
    int32_t *slot_token;        /* [slots of the cache] the token of the state
                                   in that slot */
    float *hidden;              /* [max_rows, ws.ld] */
    float *logits;              /* [max_rows, ws.ld_vocab] */
    float *block_max;           /* [max_rows, blocks] largest logit of each
                                   block of the vocabulary */
    int blocks;
    struct row_stats *stats;    /* [max_rows] */
    struct mix *mix;            /* [max_rows] */
    float *cross_scratch;       /* for the attention weights of results */
    int n_rows, n_drafts;       /* of the current pass */
    struct batch_counts counts;
};

/* The most tokens that a mixer may list for a row. */
enum { MOST_LISTED = 64 };
/* A sentence with more live hypotheses than this gets no drafts. */
enum { DRAFT_LIVE = 4 };

/* ---- creation and destruction ---------------------------------------- */

int batch_max_rows(const struct search_options *o)
{
    return o->lanes * o->beam + o->draft;
}

static enum status lane_init(struct lane *l, struct batch *b, struct err *e)
{
    size_t n = (size_t)b->o.beam * (size_t)b->max_len;
    enum status st;

    st = crosskv_init(&l->crosskv, b->net, b->o.max_source, e);
    if (!st)
        st = beam_init(&l->beam, &b->o, b->net->w->cfg.eos_id, b->max_len, e);
    /* Room for the live states before and after a step, and for the drafts of
     * a few passes. */
    if (!st)
        st = states_init(&l->states, 2 * b->o.beam + 3 * b->o.draft,
                         beam_width(&l->beam) + MOST_LISTED, &b->cache, e);
    if (st) return st;
    l->path = malloc(n * sizeof *l->path);
    l->path_next = malloc(n * sizeof *l->path_next);
    l->hyp_state = calloc((size_t)b->o.beam, sizeof *l->hyp_state);
    l->hyp_state_next = calloc((size_t)b->o.beam, sizeof *l->hyp_state_next);
    return l->path && l->path_next && l->hyp_state && l->hyp_state_next
        ? ST_OK : err_nomem(e, "paths");
}

static enum status alloc_rows(struct batch *b, struct err *e)
{
    size_t n = (size_t)b->max_rows;

    b->blocks = linear_panels(&b->net->w->project);
    b->rows = calloc(n, sizeof *b->rows);
    b->row_lane = calloc(n, sizeof *b->row_lane);
    b->row_state_ptr = calloc(n, sizeof *b->row_state_ptr);
    b->row_slot = calloc(n, sizeof *b->row_slot);
    b->row_parent_slot = calloc(n, sizeof *b->row_parent_slot);
    b->row_pos = calloc(n, sizeof *b->row_pos);
    b->row_path = calloc(n, sizeof *b->row_path);
    b->slot_token = calloc(n * (size_t)b->max_len, sizeof *b->slot_token);
    b->hidden = mem_zalloc(n * b->ws.ld, sizeof *b->hidden);
    b->logits = mem_alloc(n * b->ws.ld_vocab, sizeof *b->logits);
    b->block_max = mem_alloc(n * (size_t)b->blocks, sizeof *b->block_max);
    b->stats = calloc(n, sizeof *b->stats);
    b->mix = calloc(n, sizeof *b->mix);
    b->sources = calloc((size_t)b->o.lanes, sizeof *b->sources);
    b->cross_scratch = mem_alloc((size_t)b->net->heads *
                                 (size_t)b->o.max_source, sizeof(float));
    if (b->rows && b->row_lane && b->row_state_ptr && b->row_slot &&
        b->row_parent_slot && b->row_pos && b->row_path && b->slot_token &&
        b->hidden && b->logits && b->block_max && b->stats && b->mix &&
        b->sources && b->cross_scratch)
        return ST_OK;
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status batch_init(struct batch *b, struct pool *pool,
                              struct err *e)
{
    int longest = b->o.max_source > b->max_len ? b->o.max_source : b->max_len;
    size_t slots = (size_t)b->max_rows * (size_t)b->max_len;
    int rows = b->max_rows > b->o.max_source ? b->max_rows : b->o.max_source;
    enum status st;

    if (slots > INT32_MAX)
        return err_set(e, ST_LIMIT, "batch %d, beam %d and translations of %d "
                       "pieces need too much memory together; lower one of "
                       "them", b->o.lanes, b->o.beam, b->max_len);
    st = workspace_init(&b->ws, b->net, pool, rows, longest, e);
    if (!st)
        st = kvcache_init(&b->cache, (int)slots, b->net->w->cfg.decoder_layers,
                          b->net->d, e);
    if (!st) st = alloc_rows(b, e);
    if (st) return st;
    b->lanes = calloc((size_t)b->o.lanes, sizeof *b->lanes);
    if (!b->lanes) return err_nomem(e, "lanes");
    for (int i = 0; i < b->o.lanes && !st; i++)
        st = lane_init(&b->lanes[i], b, e);
    return st;
}

enum status batch_new(struct batch **out, const struct net *net,
                      const struct search_options *o, struct pool *pool,
                      struct mixer *mixer, struct err *e)
{
    struct batch *b = calloc(1, sizeof *b);
    enum status st;

    *out = NULL;
    if (!b) return err_nomem(e, "a batch");
    b->net = net;
    b->o = *o;
    b->mixer = mixer;
    b->pool = pool;
    b->max_rows = batch_max_rows(o);
    b->max_len = search_max_len(o, net, o->max_source);
    st = batch_init(b, pool, e);
    if (st) batch_free(b);
    else *out = b;
    return st;
}

void batch_free(struct batch *b)
{
    if (!b) return;
    for (int i = 0; b->lanes && i < b->o.lanes; i++) {
        crosskv_release(&b->lanes[i].crosskv);
        beam_release(&b->lanes[i].beam);
        states_release(&b->lanes[i].states);
        free(b->lanes[i].path);
        free(b->lanes[i].path_next);
        free(b->lanes[i].hyp_state);
        free(b->lanes[i].hyp_state_next);
    }
    free(b->lanes);
    free(b->rows);
    free(b->row_lane);
    free(b->row_state_ptr);
    free(b->row_slot);
    free(b->row_parent_slot);
    free(b->row_pos);
    free(b->row_path);
    free(b->slot_token);
    mem_free(b->hidden);
    mem_free(b->logits);
    mem_free(b->block_max);
    mem_free(b->cross_scratch);
    free(b->stats);
    free(b->mix);
    free(b->sources);
    kvcache_release(&b->cache);
    workspace_release(&b->ws);
    free(b);
}

void batch_set_pool(struct batch *b, bool use)
{
    b->ws.pool = use ? b->pool : NULL;
}

int batch_count_idle_lanes(const struct batch *b)
{
    return b->o.lanes - b->n_busy;
}

int batch_busy_lanes(const struct batch *b) { return b->n_busy; }

struct batch_counts batch_counts(const struct batch *b) { return b->counts; }

/* ---- invariants ------------------------------------------------------ */

/* Whether the hypotheses, states and paths of a busy lane agree. */
static inline bool lane_sound(const struct batch *b, const struct lane *l)
{
    size_t ld = (size_t)b->max_len, t = (size_t)l->beam.t;

    for (int i = 0; i < l->beam.n_live; i++) {
        const struct state *s = &l->states.at[l->hyp_state[i]];

        if (!s->in_use || l->path[(size_t)i * ld + t] != s->slot) return false;
    }
    return states_sound(&l->states);
}

/* Whether the invariants above hold; for PARANOID_CHECK. */
static inline bool batch_sound(const struct batch *b)
{
    int busy = 0;

    for (int i = 0; i < b->o.lanes; i++) {
        busy += b->lanes[i].job != NULL;
        if (b->lanes[i].job && !lane_sound(b, &b->lanes[i])) return false;
    }
    return busy == b->n_busy;
}

/* ---- adding sentences ------------------------------------------------ */

static int lane_index(const struct batch *b, const struct lane *l)
{
    assert(l >= b->lanes && l < b->lanes + b->o.lanes);
    return (int)(l - b->lanes);
}

static struct lane *find_idle_lane(struct batch *b)
{
    for (int i = 0; i < b->o.lanes; i++)
        if (!b->lanes[i].job) return &b->lanes[i];
    return NULL;
}

/* Make the state after the start token. The mixer may guess the first tokens of
 * the translation. */
static void begin_states(struct batch *b, struct lane *l)
{
    struct state *s;

    l->hyp_state[0] = states_new(&l->states, -1, b->net->w->cfg.start_id);
    assert(l->hyp_state[0] >= 0);
    s = &l->states.at[l->hyp_state[0]];
    l->path[0] = s->slot;
    if (!b->o.draft || !b->mixer || !b->mixer->first) return;
    b->mixer->first(b->mixer, lane_index(b, l), &s->guesses[0]);
    s->n_guesses = s->guesses[0].n > 0;
}

/* Put a job into an idle lane. x is the encoder's output for its source. */
static enum status batch_enter(struct batch *b, struct job *j, const float *x,
                               struct err *e)
{
    struct lane *l = find_idle_lane(b);

    assert(l && !l->job);
    if (b->mixer && b->mixer->begin) {
        enum status st = b->mixer->begin(b->mixer, lane_index(b, l),
                                         j->mixer_data, e);
        if (st) return st;
    }
    crosskv_fill(&l->crosskv, &b->ws, x, j->n_src);
    beam_begin(&l->beam, search_max_len(&b->o, b->net, j->n_src));
    if (j->mixer_data) l->beam.prune = b->o.prune_steered;
    l->job = j;
    begin_states(b, l);
    j->n_hyps = j->n_passes = 0;
    b->n_busy++;
    return ST_OK;
}

/* Encode the first jobs, as many as fit the workspace, in one pass. Returns
 * their number. */
static int encode_some(struct batch *b, struct job **jobs, int n)
{
    int rows = 0, k = 0;

    while (k < n && rows + jobs[k]->n_src <= b->ws.rows) {
        b->sources[k] = (struct source){ jobs[k]->src, jobs[k]->n_src };
        rows += jobs[k++]->n_src;
    }
    assert(k > 0);
    encoder_run(&b->ws, b->sources, k, NULL, NULL);
    return k;
}

enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e)
{
    assert(n >= 0 && n <= batch_count_idle_lanes(b));
    while (n > 0) {
        int k = encode_some(b, jobs, n), row = 0;

        for (int i = 0; i < k; row += jobs[i++]->n_src) {
            enum status st = batch_enter(b, jobs[i],
                                         b->ws.x + (size_t)row * b->ws.ld, e);
            if (st) return st;
        }
        jobs += k;
        n -= k;
    }
    PARANOID_CHECK(batch_sound(b));
    return ST_OK;
}

/* ---- a pass ---------------------------------------------------------- */

/* Add a row to the current pass. It computes state s at position pos. */
static void batch_add_row(struct batch *b, struct lane *l, struct state *s,
                          int pos, const int32_t *path)
{
    int r = b->n_rows++;

    assert(r < b->max_rows && pos >= 0 && pos < b->max_len);
    assert(!s->known && path[pos] == s->slot);
    b->rows[r] = (struct decoder_row){ &l->crosskv, s->token, pos, path };
    b->row_lane[r] = lane_index(b, l);
    b->row_state_ptr[r] = s;
    b->row_slot[r] = s->slot;
    b->row_parent_slot[r] = pos ? path[pos - 1] : -1;
    b->row_pos[r] = pos;
    b->row_path[r] = path;
    b->slot_token[s->slot] = s->token;
}

/* Guess the token after state s. Returns -1 when there is no guess, and for
 * EOS, which has no next state. *p is the probability of the guess. */
static int32_t guess_next(const struct batch *b, const struct state *s,
                          float *p)
{
    const struct guess *g = &s->guesses[0];
    int32_t token = -1;

    *p = 0;
    if (!s->known && s->n_guesses && g->n > 0) {
        *p = g->likely;
        token = g->ahead[0];
    } else if (s->known && s->n) {
        *p = expf(s->next[0].logprob);
        token = s->next[0].token;
    }
    return token == b->net->w->cfg.eos_id ? -1 : token;
}

/* The drafts that continue one hypothesis. */
struct draft {
    int tip;                    /* the last state so far */
    float likely;               /* probability that search reaches it */
    int32_t token;              /* the guess for the next token */
    int next;                   /* the state after that; -1: not made yet */
};

/* The fixed cost of a pass, expressed as a number of rows. A pass takes about
 * 0.4 ms plus 0.2 ms per row (measured with bench/), so its fixed part costs as
 * much as two rows. All busy lanes share the fixed part. */
#define PASS_COST_IN_ROWS 2.0f

/* Whether drafting one more token for every hypothesis is expected to save more
 * time than it costs. A step needs the states of all hypotheses. So drafts save
 * a pass only if all guesses are right, and the rows of wrong guesses are
 * wasted. *rows is the number of new rows. */
static bool draft_is_worthwhile(const struct batch *b, const struct lane *l,
                                struct draft *d, int n, int pos, int *rows)
{
    float all = 1, wasted = 0, p;

    *rows = 0;
    if (pos >= l->beam.max_len) return false;
    for (int i = 0; i < n; i++) {
        d[i].token = guess_next(b, &l->states.at[d[i].tip], &p);
        if (d[i].token < 0) return false;
        d[i].likely *= p;
        d[i].next = states_child(&l->states, d[i].tip, d[i].token);
        all *= d[i].likely;
        if (d[i].next >= 0) continue;
        wasted += 1 - d[i].likely;
        ++*rows;
    }
    return all * PASS_COST_IN_ROWS > wasted * (float)b->n_busy;
}

/* Draft the token at position pos for every hypothesis. */
static void add_draft_position(struct batch *b, struct lane *l,
                               struct draft *d, int n, int pos)
{
    for (int i = 0; i < n; i++) {
        int32_t *path = l->path + (size_t)i * (size_t)b->max_len;
        bool drafted = d[i].next < 0;

        if (drafted)
            d[i].next = states_new(&l->states, d[i].tip, d[i].token);
        assert(d[i].next >= 0);
        d[i].tip = d[i].next;
        path[pos] = l->states.at[d[i].tip].slot;
        if (!drafted) continue;
        l->states.at[d[i].tip].drafted = true;
        batch_add_row(b, l, &l->states.at[d[i].tip], pos, path);
        b->n_drafts++;
        b->counts.drafted++;
    }
}

static void add_drafts(struct batch *b, struct lane *l)
{
    struct draft d[DRAFT_LIVE];
    int n = l->beam.n_live, pos = l->beam.t + 1, rows;
    /* The next step needs room for up to `beam` new states. */
    int room = states_room(&l->states) - b->o.beam;

    if (n > DRAFT_LIVE || l->beam.t < l->job->n_prefix) return;
    for (int i = 0; i < n; i++)
        d[i] = (struct draft){ l->hyp_state[i], 1, -1, -1 };
    for (; draft_is_worthwhile(b, l, d, n, pos, &rows) && rows <= room &&
           b->n_drafts + rows <= b->o.draft; pos++, room -= rows)
        add_draft_position(b, l, d, n, pos);
}

/* Add rows for the hypotheses whose state is not known yet, and for drafts. */
static void add_lane_rows(struct batch *b, struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++) {
        struct state *s = &l->states.at[l->hyp_state[i]];

        if (!s->known)
            batch_add_row(b, l, s, l->beam.t,
                          l->path + (size_t)i * (size_t)b->max_len);
    }
    if (b->o.draft) add_drafts(b, l);
    l->job->n_passes++;
}

static void stats_part(void *arg, int part, int n_parts)
{
    struct batch *b = arg;
    int lo = (int)((long)b->n_rows * part / n_parts);
    int hi = (int)((long)b->n_rows * (part + 1) / n_parts);

    for (int i = lo; i < hi; i++)
        b->net->k->row_stats(b->logits + (size_t)i * b->ws.ld_vocab,
                             b->net->vocab,
                             b->block_max + (size_t)i * (size_t)b->blocks,
                             &b->stats[i]);
}

static void batch_run_pass(struct batch *b)
{
    struct decoder_pass p = { .rows = b->rows, .n = b->n_rows,
                              .hidden = b->hidden };

    decoder_run(&b->ws, &b->cache, &p);
    decoder_logits(&b->ws, b->hidden, b->n_rows, b->logits);
    pool_run(b->ws.pool, stats_part, b);
    b->counts.passes++;
    b->counts.rows += (uint64_t)b->n_rows;
}

static void run_mixer(struct batch *b)
{
    struct mixer_step s = {
        .rows = b->n_rows, .d = b->net->d, .vocab = b->net->vocab,
        .hidden = b->hidden, .ld_hidden = b->ws.ld,
        .logits = b->logits, .ld_logits = b->ws.ld_vocab,
        .stats = b->stats, .lane = b->row_lane, .state = b->row_slot,
        .parent = b->row_parent_slot, .n_tokens = b->row_pos,
        .path = b->row_path, .state_token = b->slot_token,
    };

    for (int i = 0; i < b->n_rows; i++)
        b->mix[i] = (struct mix){ .keep = 1 };
    if (b->mixer) b->mixer->step(b->mixer, &s, b->mix);
}

/* ---- continuations --------------------------------------------------- */

/* The model's probability of a token. */
static double row_prob(const struct batch *b, int row, int32_t token)
{
    double x = b->logits[(size_t)row * b->ws.ld_vocab + (size_t)token];

    return exp(x - (double)b->stats[row].max) / (double)b->stats[row].sum;
}

/* The log-probability that search uses. 1e-9 is added to the probability, so
 * that the logarithm is finite even for a probability of 0 (docs/method.md,
 * 0.5). The sum is limited to 1, so that the result is never above 0. */
static float search_log(double p)
{
    return (float)log(fmin(p + 1e-9, 1));
}

/* The part that the mixer adds to a token; -1 for a token it does not list. */
static double mixer_part(const struct mix *m, int32_t token)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return (double)m->add[i];
    return -1;
}

/* Whether a token may not occur at this position: padding and BOS never, EOS
 * not as the first token. (EOS may have the same id as padding or BOS.) */
static bool token_barred(const struct batch *b, int pos, int32_t id)
{
    const struct config *c = &b->net->w->cfg;

    if (id == c->eos_id) return pos == 0;
    return id == c->pad_id || id == c->bos_id;
}

/* Add a continuation to the state of a row. */
static void add_continuation(struct batch *b, int row, int32_t token)
{
    struct state *s = b->row_state_ptr[row];
    double add = mixer_part(&b->mix[row], token);
    double p = (double)b->mix[row].keep * row_prob(b, row, token);

    assert(token >= 0 && token < b->net->vocab);
    assert(s->n < b->lanes[b->row_lane[row]].states.width);
    s->next[s->n++] = (struct continuation){ token,
                                     search_log(add > 0 ? p + add : p) };
}

/* Add the tokens that the mixer lists and the model's best tokens. Mixing
 * raises only the listed tokens relative to the others, so no other token can
 * be among the best. */
static void add_best_tokens(struct batch *b, const struct lane *l, int row)
{
    struct topk_entry top[TOPK_MAX];
    int width = beam_width(&l->beam), allowed = 0, n, pos = b->rows[row].pos;
    const struct mix *m = &b->mix[row];

    assert(m->n >= 0 && m->n <= MOST_LISTED);
    n = topk(b->logits + (size_t)row * b->ws.ld_vocab, b->net->vocab,
             b->block_max + (size_t)row * (size_t)b->blocks, width + 3, top);
    for (int j = 0; j < m->n; j++)
        if (!token_barred(b, pos, m->token[j]))
            add_continuation(b, row, m->token[j]);
    for (int j = 0; j < n && allowed < width; j++) {
        if (token_barred(b, pos, top[j].id)) continue;
        allowed++;
        if (m->n && mixer_part(m, top[j].id) >= 0) continue;
        add_continuation(b, row, top[j].id);
    }
}

/* Store the continuations of a row in its state, which is known then. */
static void set_continuations(struct batch *b, int row)
{
    const struct lane *l = &b->lanes[b->row_lane[row]];
    const struct mix *m = &b->mix[row];
    struct state *s = b->row_state_ptr[row];
    int pos = b->rows[row].pos;

    s->n = 0;
    if (pos < l->job->n_prefix)
        add_continuation(b, row, l->job->prefix[pos]);
    else if (b->o.lenpen_type == LENPEN_FAIRSEQ && pos + 1 == l->beam.max_len)
        add_continuation(b, row, l->beam.eos);  /* fairseq ends at the limit */
    else
        add_best_tokens(b, l, row);
    s->known = true;
    s->n_guesses = m->n_guesses;
    memcpy(s->guesses, m->guesses, sizeof s->guesses);
}

static void offer_continuations(struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++) {
        const struct state *s = &l->states.at[l->hyp_state[i]];

        for (int j = 0; j < s->n; j++)
            beam_offer(&l->beam, i, s->next[j].token, s->next[j].logprob);
    }
}

/* ---- steps ----------------------------------------------------------- */

/* Move every live hypothesis to its next state, which is a draft or a new
 * state, and copy its path. States that no hypothesis can reach are given
 * up. */
static void follow_hypotheses(struct batch *b, struct lane *l)
{
    struct beam *bm = &l->beam;
    size_t ld = (size_t)b->max_len, n = (size_t)bm->t;
    int32_t *path = l->path;
    int *at = l->hyp_state;

    for (int i = 0; i < bm->n_live; i++) {
        int from = at[bm->live[i].from], to;

        assert(l->states.at[from].known);
        to = states_child(&l->states, from, beam_token(bm, i));
        if (to < 0) to = states_new(&l->states, from, beam_token(bm, i));
        else if (l->states.at[to].drafted) b->counts.drafts_used++;
        assert(to >= 0 && bm->t < b->max_len);
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

/* Run a finished translation through the decoder again, in passes of up to
 * max_rows rows, to get its cross-attention and to let the mixer explain it. */
static void decode_again(struct batch *b, struct lane *l, int hyp)
{
    struct hypothesis *h = &l->job->hyps[hyp];
    int32_t *path = l->path_next, slot = -1;
    int n_src = l->job->n_src;

    for (int at = 0; at < h->n;) {
        struct decoder_pass p = { .rows = b->rows, .hidden = b->hidden,
            .cross_ld = (size_t)n_src, .cross_scratch = b->cross_scratch };

        if (h->attention)
            p.cross = h->attention + (size_t)at * (size_t)n_src;
        for (; p.n < b->max_rows && at < h->n; p.n++, at++) {
            slot = path[at] = kvcache_take(&b->cache, slot);
            assert(slot >= 0);
            /* Each slot is held by its successor, and the last one by us. */
            if (at) kvcache_drop(&b->cache, path[at - 1]);
            b->rows[p.n] = (struct decoder_row){ &l->crosskv,
                at ? h->tokens[at - 1] : b->net->w->cfg.start_id, at, path };
        }
        decoder_run(&b->ws, &b->cache, &p);
        if (b->o.explain && b->mixer && b->mixer->explain)
            b->mixer->explain(b->mixer, lane_index(b, l),
                              &(struct mixer_reading){ hyp, at - p.n, p.n,
                               b->hidden, b->ws.ld, h->tokens });
    }
    kvcache_drop(&b->cache, slot);
}

/* Detach a finished or abandoned job from its lane, mark the lane idle, return
 * the job. */
static struct job *release_lane(struct batch *b, struct lane *l)
{
    struct job *j = l->job;

    assert(j && b->n_busy > 0);
    if (b->mixer && b->mixer->end) b->mixer->end(b->mixer, lane_index(b, l));
    l->job = NULL;
    b->n_busy--;
    return j;
}

/* Write the results of a finished sentence and release its lane. */
static struct job *batch_leave(struct batch *b, struct lane *l)
{
    struct job *j = l->job;

    states_clear(&l->states);
    beam_results(&l->beam, j);
    for (int i = 0; (b->o.attention || b->o.explain) && i < j->n_hyps; i++)
        decode_again(b, l, i);
    return release_lane(b, l);
}

static bool all_known(const struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++)
        if (!l->states.at[l->hyp_state[i]].known) return false;
    return true;
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

struct job *batch_step(struct batch *b)
{
    struct job *done = NULL, **tail = &done;

    b->n_rows = b->n_drafts = 0;
    for (int i = 0; i < b->o.lanes; i++)
        if (b->lanes[i].job) add_lane_rows(b, &b->lanes[i]);
    if (b->n_rows == 0) return NULL;
    batch_run_pass(b);
    run_mixer(b);
    for (int i = 0; i < b->n_rows; i++) set_continuations(b, i);
    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];

        if (!l->job || !batch_advance(b, l)) continue;
        *tail = batch_leave(b, l);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
    }
    PARANOID_CHECK(batch_sound(b));
    return done;
}

struct job *batch_abandon(struct batch *b)
{
    struct job *jobs = NULL;

    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];
        struct job *j = l->job;

        if (!j) continue;
        states_clear(&l->states);
        release_lane(b, l);
        j->next = jobs;
        jobs = j;
    }
    assert(b->n_busy == 0);
    return jobs;
}
