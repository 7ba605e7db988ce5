/* batch.c - see batch.h.
 *
 * Of a lane's hypotheses, number i stands at state at[i] and has its path (the
 * cache slots of its tokens) in path + i * max_len. When the beam is reordered
 * the paths are copied to the other of two buffers: a few hundred integers at
 * most. Beyond its own position a path's entries are scratch: drafts that
 * continue the hypothesis have their slots there. */
#include "search/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/decoder.h"
#include "search/beam.h"
#include "search/states.h"
#include "search/topk.h"

struct lane {
    struct job *job;            /* NULL: free */
    struct crosskv crosskv;
    struct beam beam;
    struct states states;
    int *at, *at_next;          /* [beam] */
    int32_t *path, *path_next;  /* [beam, max_len] */
};

struct batch {
    const struct net *net;
    struct search_options o;
    struct mixer *mixer;
    struct pool *pool;          /* ws.pool, or that is NULL for now */
    struct workspace ws;
    struct kvcache cache;
    struct lane *lanes;         /* [o.lanes] */
    int n_busy;
    int max_len;                /* of any sentence */
    struct source *sources;     /* [lanes] being encoded */
    int max_rows;               /* lanes * beam */
    struct decoder_row *rows;   /* [max_rows], and beside it: */
    int *row_lane;
    struct state **row_at;      /* which state of its lane */
    int32_t *row_state, *row_parent;    /* by slot: what the mixer sees */
    int *row_pos;
    const int32_t **row_path;
    int32_t *slot_token;        /* [slots of the cache] the token of a state,
                                   from its first row on */
    float *hidden;              /* [max_rows, ws.ld] */
    float *logits;              /* [max_rows, ws.ld_vocab] */
    float *block_max;           /* [max_rows, blocks] */
    int blocks;
    struct row_stats *stats;
    struct mix *mix;
    float *cross_scratch;       /* for attention, when it is asked for */
    int n_rows, n_drafts;       /* of the current pass */
    struct batch_counts counts;
};

/* The most tokens a mixer may list. */
enum { MOST_LISTED = 64 };
/* Drafts are made for at most so many hypotheses. */
enum { DRAFT_LIVE = 4 };

/* ---- birth and death ------------------------------------------------- */

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
    /* Live ones now and after a step, and drafts of a few passes. */
    if (!st)
        st = states_init(&l->states, 2 * b->o.beam + 3 * b->o.draft,
                         beam_width(&l->beam) + MOST_LISTED, &b->cache, e);
    if (st) return st;
    l->path = malloc(n * sizeof *l->path);
    l->path_next = malloc(n * sizeof *l->path_next);
    l->at = calloc((size_t)b->o.beam, sizeof *l->at);
    l->at_next = calloc((size_t)b->o.beam, sizeof *l->at_next);
    return l->path && l->path_next && l->at && l->at_next
        ? ST_OK : err_nomem(e, "paths");
}

static enum status alloc_rows(struct batch *b, struct err *e)
{
    size_t n = (size_t)b->max_rows;

    b->blocks = linear_panels(&b->net->w->project);
    b->rows = calloc(n, sizeof *b->rows);
    b->row_lane = calloc(n, sizeof *b->row_lane);
    b->row_at = calloc(n, sizeof *b->row_at);
    b->row_state = calloc(n, sizeof *b->row_state);
    b->row_parent = calloc(n, sizeof *b->row_parent);
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
    if (b->rows && b->row_lane && b->row_at && b->row_state && b->row_parent &&
        b->row_pos && b->row_path && b->slot_token && b->hidden && b->logits &&
        b->block_max && b->stats && b->mix && b->sources && b->cross_scratch)
        return ST_OK;
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status init(struct batch *b, struct pool *pool, struct err *e)
{
    int longest = b->o.max_source > b->max_len ? b->o.max_source : b->max_len;
    size_t slots = (size_t)b->max_rows * (size_t)b->max_len;
    int rows = b->max_rows > b->o.max_source ? b->max_rows : b->o.max_source;
    enum status st;

    if (slots > INT32_MAX)
        return err_set(e, ST_LIMIT, "batch %d, beam %d and translations of %d "
                       "pieces are too much together", b->o.lanes, b->o.beam,
                       b->max_len);
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
    st = init(b, pool, e);
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
        free(b->lanes[i].at);
        free(b->lanes[i].at_next);
    }
    free(b->lanes);
    free(b->rows);
    free(b->row_lane);
    free(b->row_at);
    free(b->row_state);
    free(b->row_parent);
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

int batch_free_lanes(const struct batch *b) { return b->o.lanes - b->n_busy; }
int batch_busy_lanes(const struct batch *b) { return b->n_busy; }

struct batch_counts batch_counts(const struct batch *b) { return b->counts; }

/* ---- entering -------------------------------------------------------- */

static struct lane *free_lane(struct batch *b)
{
    for (int i = 0; i < b->o.lanes; i++)
        if (!b->lanes[i].job) return &b->lanes[i];
    return NULL;
}

/* The state after the start token; what it may begin with is the mixer's
 * guess. */
static void begin_states(struct batch *b, struct lane *l)
{
    struct state *s;

    l->at[0] = states_new(&l->states, -1, b->net->w->cfg.start_id);
    s = &l->states.at[l->at[0]];
    l->path[0] = s->slot;
    if (!b->o.draft || !b->mixer || !b->mixer->first) return;
    b->mixer->first(b->mixer, (int)(l - b->lanes), &s->guesses[0]);
    s->n_guesses = s->guesses[0].n > 0;
}

static enum status enter(struct batch *b, struct job *j, const float *x,
                         struct err *e)
{
    struct lane *l = free_lane(b);
    int at = (int)(l - b->lanes);

    if (b->mixer && b->mixer->begin) {
        enum status st = b->mixer->begin(b->mixer, at, j->user, e);
        if (st) return st;
    }
    crosskv_fill(&l->crosskv, &b->ws, x, j->n_src);
    beam_begin(&l->beam, search_max_len(&b->o, b->net, j->n_src));
    if (j->user) l->beam.prune = b->o.prune_steered;
    l->job = j;
    begin_states(b, l);
    j->n_hyps = j->steps = 0;
    b->n_busy++;
    return ST_OK;
}

/* As many jobs from the front as fit the workspace, encoded in one pass. */
static int encode_some(struct batch *b, struct job **jobs, int n)
{
    int rows = 0, k = 0;

    while (k < n && rows + jobs[k]->n_src <= b->ws.rows) {
        b->sources[k] = (struct source){ jobs[k]->src, jobs[k]->n_src };
        rows += jobs[k++]->n_src;
    }
    encoder_run(&b->ws, b->sources, k, NULL, NULL);
    return k;
}

enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e)
{
    while (n > 0) {
        int k = encode_some(b, jobs, n), row = 0;

        for (int i = 0; i < k; row += jobs[i++]->n_src) {
            enum status st = enter(b, jobs[i],
                                   b->ws.x + (size_t)row * b->ws.ld, e);
            if (st) return st;
        }
        jobs += k;
        n -= k;
    }
    return ST_OK;
}

/* ---- a pass ---------------------------------------------------------- */

static void batch_add_row(struct batch *b, struct lane *l, struct state *s,
                          int pos, const int32_t *path)
{
    int r = b->n_rows++;

    b->rows[r] = (struct decoder_row){ &l->crosskv, s->token, pos, path };
    b->row_lane[r] = (int)(l - b->lanes);
    b->row_at[r] = s;
    b->row_state[r] = s->slot;
    b->row_parent[r] = pos ? path[pos - 1] : -1;
    b->row_pos[r] = pos;
    b->row_path[r] = path;
    b->slot_token[s->slot] = s->token;
}

/* A guess of the token after state s, and how likely it is. Nobody guesses
 * the end: there is nothing after it to compute. */
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

/* Guesses that continue a hypothesis: the last state so far, and how likely it
 * is that search comes there. The one after it, when it is there already. */
struct draft { int tip; float likely; int32_t token; int next; };

/* A pass costs as much as so many rows of it, whatever the rows (bench: 0.4 ms
 * and 0.2 ms a row); lanes share it. */
#define PASS_ROWS 2.0f

/* One token further for every hypothesis: false where it is not worth its
 * rows. A step needs the states of all, so it saves a pass when all guesses
 * are right, and costs the rows of those that are not. */
static bool weigh_level(const struct batch *b, const struct lane *l,
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
    return all * PASS_ROWS > wasted * (float)b->n_busy;
}

static void add_level(struct batch *b, struct lane *l, struct draft *d, int n,
                      int pos)
{
    for (int i = 0; i < n; i++) {
        int32_t *path = l->path + (size_t)i * (size_t)b->max_len;
        bool drafted = d[i].next < 0;

        if (drafted)
            d[i].next = states_new(&l->states, d[i].tip, d[i].token);
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
    /* The next step makes at most so many states of its own. */
    int room = states_room(&l->states) - b->o.beam;

    if (n > DRAFT_LIVE || l->beam.t < l->job->n_prefix) return;
    for (int i = 0; i < n; i++) d[i] = (struct draft){ l->at[i], 1, -1, -1 };
    for (; weigh_level(b, l, d, n, pos, &rows) && rows <= room &&
           b->n_drafts + rows <= b->o.draft; pos++, room -= rows)
        add_level(b, l, d, n, pos);
}

/* Rows for the hypotheses whose state is not known, and for guesses. */
static void lane_rows(struct batch *b, struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++) {
        struct state *s = &l->states.at[l->at[i]];

        if (!s->known)
            batch_add_row(b, l, s, l->beam.t,
                          l->path + (size_t)i * (size_t)b->max_len);
    }
    if (b->o.draft) add_drafts(b, l);
    l->job->steps++;
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
        .stats = b->stats, .lane = b->row_lane, .state = b->row_state,
        .parent = b->row_parent, .n_tokens = b->row_pos, .path = b->row_path,
        .state_token = b->slot_token,
    };

    for (int i = 0; i < b->n_rows; i++)
        b->mix[i] = (struct mix){ .keep = 1 };
    if (b->mixer) b->mixer->step(b->mixer, &s, b->mix);
}

/* ---- candidates ------------------------------------------------------ */

/* The model's probability of a token, and the log search works with: a floor
 * of 1e-9 keeps it finite (method 0.5). */
static double row_prob(const struct batch *b, int row, int32_t token)
{
    double x = b->logits[(size_t)row * b->ws.ld_vocab + (size_t)token];

    return exp(x - (double)b->stats[row].max) / (double)b->stats[row].sum;
}

static float search_log(double p)
{
    return (float)log(fmin(p + 1e-9, 1));       /* never above zero */
}

static double batch_listed(const struct mix *m, int32_t token)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return (double)m->add[i];
    return -1;
}

/* Tokens that no translation has: padding, the beginning of a sentence, and
 * as its first token the end. (The end may be any of these, too.) */
static bool barred(const struct batch *b, int pos, int32_t id)
{
    const struct config *c = &b->net->w->cfg;

    if (id == c->eos_id) return pos == 0;
    return id == c->pad_id || id == c->bos_id;
}

static void batch_list(struct batch *b, int row, int32_t token)
{
    struct state *s = b->row_at[row];
    double add = batch_listed(&b->mix[row], token);
    double p = (double)b->mix[row].keep * row_prob(b, row, token);

    s->next[s->n++] = (struct continuation){ token,
                                     search_log(add > 0 ? p + add : p) };
}

/* The model's best tokens and those the mixer lists: mixing only raises the
 * listed ones against the others, so no other token can be among the best. */
static void list_best(struct batch *b, const struct lane *l, int row)
{
    struct topk_entry top[TOPK_MAX];
    int width = beam_width(&l->beam), given = 0, n, pos = b->rows[row].pos;
    const struct mix *m = &b->mix[row];

    n = topk(b->logits + (size_t)row * b->ws.ld_vocab, b->net->vocab,
             b->block_max + (size_t)row * (size_t)b->blocks, width + 3, top);
    for (int j = 0; j < m->n; j++)
        if (!barred(b, pos, m->token[j])) batch_list(b, row, m->token[j]);
    for (int j = 0; j < n && given < width; j++) {
        if (barred(b, pos, top[j].id)) continue;
        given++;
        if (m->n && batch_listed(m, top[j].id) >= 0) continue;
        batch_list(b, row, top[j].id);
    }
}

/* What may come after the row's state: from here on it is known. */
static void batch_list_continuations(struct batch *b, int row)
{
    const struct lane *l = &b->lanes[b->row_lane[row]];
    const struct mix *m = &b->mix[row];
    struct state *s = b->row_at[row];
    int pos = b->rows[row].pos;

    s->n = 0;
    if (pos < l->job->n_prefix)
        batch_list(b, row, l->job->prefix[pos]);
    else if (b->o.lenpen_type == LENPEN_FAIRSEQ && pos + 1 == l->beam.max_len)
        batch_list(b, row, l->beam.eos);  /* fairseq ends at the limit */
    else
        list_best(b, l, row);
    s->known = true;
    s->n_guesses = m->n_guesses;
    memcpy(s->guesses, m->guesses, sizeof s->guesses);
}

static void offer_all(struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++) {
        const struct state *s = &l->states.at[l->at[i]];

        for (int j = 0; j < s->n; j++)
            beam_offer(&l->beam, i, s->next[j].token, s->next[j].logprob);
    }
}

/* ---- moving on ------------------------------------------------------- */

/* Paths follow the hypotheses, each to a state that was drafted or to a new
 * one; what nobody needs any more is given back. */
static void reorder(struct batch *b, struct lane *l)
{
    struct beam *bm = &l->beam;
    size_t ld = (size_t)b->max_len, n = (size_t)bm->t;
    int32_t *path = l->path;
    int *at = l->at;

    for (int i = 0; i < bm->n_live; i++) {
        int from = at[bm->live[i].from], to;

        to = states_child(&l->states, from, beam_token(bm, i));
        if (to < 0) to = states_new(&l->states, from, beam_token(bm, i));
        else if (l->states.at[to].drafted) b->counts.used++;
        l->states.at[to].drafted = false;
        l->at_next[i] = to;
        memcpy(l->path_next + (size_t)i * ld,
               path + (size_t)bm->live[i].from * ld, n * sizeof *path);
        l->path_next[(size_t)i * ld + n] = l->states.at[to].slot;
    }
    states_keep(&l->states, l->at_next, bm->n_live);
    l->path = l->path_next;
    l->path_next = path;
    l->at = l->at_next;
    l->at_next = at;
}

/* A finished translation, read again token by token in passes of as many rows
 * as there is room for: for its cross-attention, and to tell the mixer. */
static void read_again(struct batch *b, struct lane *l, int hyp)
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
            /* Held by what follows it and, the last one, by us. */
            if (at) kvcache_drop(&b->cache, path[at - 1]);
            b->rows[p.n] = (struct decoder_row){ &l->crosskv,
                at ? h->tokens[at - 1] : b->net->w->cfg.start_id, at, path };
        }
        decoder_run(&b->ws, &b->cache, &p);
        if (b->o.explain && b->mixer && b->mixer->explain)
            b->mixer->explain(b->mixer, (int)(l - b->lanes),
                              &(struct mixer_reading){ hyp, at - p.n, p.n,
                               b->hidden, b->ws.ld, h->tokens });
    }
    kvcache_drop(&b->cache, slot);
}

static struct job *leave(struct batch *b, struct lane *l)
{
    struct job *j = l->job;

    states_clear(&l->states);
    beam_results(&l->beam, j);
    for (int i = 0; (b->o.attention || b->o.explain) && i < j->n_hyps; i++)
        read_again(b, l, i);
    if (b->mixer && b->mixer->end) b->mixer->end(b->mixer, (int)(l - b->lanes));
    l->job = NULL;
    b->n_busy--;
    return j;
}

static bool all_known(const struct lane *l)
{
    for (int i = 0; i < l->beam.n_live; i++)
        if (!l->states.at[l->at[i]].known) return false;
    return true;
}

/* As many steps as states are known for; true when the sentence is decided. */
static bool batch_advance(struct batch *b, struct lane *l)
{
    while (all_known(l)) {
        offer_all(l);
        b->counts.steps++;
        if (beam_advance(&l->beam)) return true;
        reorder(b, l);
    }
    return false;
}

struct job *batch_step(struct batch *b)
{
    struct job *done = NULL, **tail = &done;

    b->n_rows = b->n_drafts = 0;
    for (int i = 0; i < b->o.lanes; i++)
        if (b->lanes[i].job) lane_rows(b, &b->lanes[i]);
    if (b->n_rows == 0) return NULL;
    batch_run_pass(b);
    run_mixer(b);
    for (int i = 0; i < b->n_rows; i++) batch_list_continuations(b, i);
    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];

        if (!l->job || !batch_advance(b, l)) continue;
        *tail = leave(b, l);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
    }
    return done;
}

struct job *batch_abandon(struct batch *b)
{
    struct job *batch_list = NULL;

    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];

        if (!l->job) continue;
        states_clear(&l->states);
        if (b->mixer && b->mixer->end) b->mixer->end(b->mixer, i);
        l->job->next = batch_list;
        batch_list = l->job;
        l->job = NULL;
        b->n_busy--;
    }
    return batch_list;
}
