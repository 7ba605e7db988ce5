/* toy_backend.h - a backend without a network and without files: its decoder
 * states are hashes, and its logits are a fixed table times a state. Tokens
 * 2 i and 2 i + 1 have equal logits, except for EOS, so there are many ties.
 *
 * A decoder state is the sum of three vectors of pseudo-random numbers: one for
 * the last token, and, with less weight, one for the source and one for the
 * path. States after the same token are near each other, so that distances
 * mean something.
 *
 * It behaves as if its data were on another device. Sources, slots and rows
 * are private to the executor, and `read` and `attention` return a copy, which
 * every later call overwrites. Asserts check what nn/backend.h demands of
 * callers: the limits, the order of rows, the tree of slots, and that the keys
 * of a serial number do not change. All functions are static.
 *
 * Invariants of an executor:
 *   - slot_free[0 .. n_free) are the slots that are not in use.
 *   - A slot in use is held or has children. Its parent is -1 or in use.
 *   - rows[0 .. n_rows) are the states of the last pass, and seen[0 .. n_rows)
 *     say what its rows attend to. */
#ifndef TOY_BACKEND_H
#define TOY_BACKEND_H

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/backend.h"

enum { TOY_D = 8, TOY_VOCAB = 24, TOY_MAX_POS = 64 };
enum { TOY_LD = 12 };           /* stride of what `read` returns */
enum { TOY_EOS_BIAS = 6 };      /* so that most translations end */
enum { TOY_SERIALS = 32 };      /* serial numbers that are remembered */

struct toy_backend {
    struct backend base;
    struct config cfg;
    float table[TOY_VOCAB][TOY_D];
    int fail_after;             /* calls until the device of each executor
                                   fails; -1: never */
};

struct toy_lane { uint64_t hash; int n; };      /* n: tokens; 0: none yet */

struct toy_slot {
    int32_t parent;
    bool held, known;           /* known: a row has computed it */
    int children;
    int lane;                   /* if known */
    uint64_t path;              /* if known: hash of its tokens */
};

struct toy_serial { uint64_t serial, content; };

/* What the attention of a row depends on: its source and its path. */
struct toy_seen { struct toy_lane lane; uint64_t path; };

struct toy_executor {
    struct executor base;
    struct toy_lane *lanes;     /* [limits.lanes] */
    struct toy_slot *slots;     /* [limits.slots] */
    int32_t *slot_free;         /* [limits.slots] */
    int n_free;
    float (*rows)[TOY_D];       /* [limits.rows] */
    struct toy_seen *seen;      /* [limits.rows] */
    int n_rows;
    unsigned has;               /* what the last pass kept: enum pass_want */
    float (*sources)[TOY_D];    /* [limits.rows] by token of all sources */
    int n_sources;
    float (*copy)[TOY_LD];      /* [limits.rows] what `read` returns */
    float (*weights)[TOY_MAX_POS];      /* [limits.rows] what `attention`
                                   returns */
    struct toy_serial serials[TOY_SERIALS];
    int n_serials;              /* seen so far; the oldest are forgotten */
    int calls;
    bool failed;                /* only slots may be dropped now */
};

/* ---- arithmetic ---------------------------------------------------------- */

static inline uint64_t toy_hash(uint64_t h, uint64_t v)
{
    h = (h ^ v) + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* Number i of a hash, from -1 to 1. */
static inline float toy_number(uint64_t h, int i)
{
    return (float)((double)(toy_hash(h, (uint64_t)i) >> 11) / 0x1p52 - 1);
}

static inline uint64_t toy_hash_source(const struct source *s)
{
    uint64_t h = 1;

    for (int i = 0; i < s->n; i++) {
        assert(s->ids[i] >= 0 && s->ids[i] < TOY_VOCAB);
        h = toy_hash(h, (uint64_t)s->ids[i]);
    }
    return h;
}

/* The hash of a path after one more token. */
static inline uint64_t toy_hash_path(uint64_t path, int32_t token)
{
    assert(token >= 0 && token < TOY_VOCAB);
    return toy_hash(path, (uint64_t)token);
}

static inline void toy_state(uint64_t source, uint64_t path, int32_t token,
                             float *out)
{
    uint64_t last = toy_hash(2, (uint64_t)token);

    for (int i = 0; i < TOY_D; i++)
        out[i] = toy_number(last, i) + 0.25f * toy_number(source, i) +
                 0.25f * toy_number(path, i);
}

static inline float toy_logit(const struct toy_backend *b, const float *state,
                              int32_t token)
{
    float sum = 0;

    for (int i = 0; i < TOY_D; i++) sum += b->table[token][i] * state[i];
    return 3 * sum + (token == b->cfg.eos_id ? TOY_EOS_BIAS : 0);
}

/* Positive numbers for the n tokens of the source; they sum to 1. */
static inline void toy_attention(const struct toy_lane *l, uint64_t path,
                                 float *out)
{
    uint64_t h = toy_hash(l->hash, path);
    float sum = 0;

    for (int i = 0; i < l->n; i++) sum += out[i] = 1.5f + toy_number(h, i);
    for (int i = 0; i < l->n; i++) out[i] /= sum;
}

/* ---- calls --------------------------------------------------------------- */

static inline struct toy_executor *toy_of(struct executor *x)
{
    return (struct toy_executor *)x;
}

/* Begin a call: destroy what `read` and `attention` returned before. */
static inline struct toy_executor *toy_call(struct executor *x)
{
    struct toy_executor *t = toy_of(x);

    for (int i = 0; i < x->limits.rows; i++) {
        for (int k = 0; k < TOY_LD; k++) t->copy[i][k] = NAN;
        for (int k = 0; k < TOY_MAX_POS; k++) t->weights[i][k] = NAN;
    }
    return t;
}

/* Begin the part of a call that uses the device. */
static inline enum status toy_use_device(struct toy_executor *t, struct err *e)
{
    const struct toy_backend *b = (const struct toy_backend *)t->base.backend;

    assert(!t->failed);
    t->failed = t->calls++ == b->fail_after;
    if (!t->failed) return ST_OK;
    return err_set(e, ST_DEVICE, "toy backend: the device failed");
}

static inline void toy_use_pool(struct executor *x, bool use)
{
    const struct toy_executor *t = toy_call(x);

    (void)use;
    assert(!t->failed);
}

static inline enum status toy_encode(struct executor *x,
                                     const struct source *src, const int *lane,
                                     int n, struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);

    for (int i = 0; !st && i < n; i++) {
        assert(lane[i] >= 0 && lane[i] < x->limits.lanes);
        assert(src[i].n > 0 && src[i].n <= x->limits.max_source);
        t->lanes[lane[i]] = (struct toy_lane){ toy_hash_source(&src[i]),
                                               src[i].n };
    }
    return st;
}

/* ---- slots --------------------------------------------------------------- */

static inline bool toy_in_use(const struct toy_executor *t, int32_t slot)
{
    return slot >= 0 && slot < t->base.limits.slots &&
           (t->slots[slot].held || t->slots[slot].children > 0);
}

static inline int32_t toy_slot_new(struct executor *x, int32_t parent)
{
    struct toy_executor *t = toy_call(x);
    int32_t slot;

    assert(!t->failed && (parent == -1 || toy_in_use(t, parent)));
    if (!t->n_free) return -1;
    slot = t->slot_free[--t->n_free];
    t->slots[slot] = (struct toy_slot){ .parent = parent, .held = true };
    if (parent >= 0) t->slots[parent].children++;
    return slot;
}

static inline void toy_slot_drop(struct executor *x, int32_t slot)
{
    struct toy_executor *t = toy_call(x);

    if (slot == -1) return;
    assert(toy_in_use(t, slot) && t->slots[slot].held);
    t->slots[slot].held = false;
    while (slot >= 0 && !toy_in_use(t, slot)) {
        int32_t parent = t->slots[slot].parent;

        t->slots[slot] = (struct toy_slot){ .parent = -1 };
        t->slot_free[t->n_free++] = slot;
        if (parent >= 0) t->slots[parent].children--;
        slot = parent;
    }
}

/* ---- passes -------------------------------------------------------------- */

/* Whether the row is one that the interface allows: its slots are a path in
 * the tree, and those before its own are known. */
static inline bool toy_row_sound(const struct toy_executor *t,
                                 const struct pass_row *r)
{
    if (r->lane < 0 || r->lane >= t->base.limits.lanes ||
        !t->lanes[r->lane].n || r->pos < 0 ||
        r->pos >= t->base.limits.max_len)
        return false;
    for (int i = 0; i <= r->pos; i++) {
        const struct toy_slot *s = &t->slots[r->path[i]];

        if (!toy_in_use(t, r->path[i]) ||
            s->parent != (i ? r->path[i - 1] : -1) ||
            (i < r->pos && (!s->known || s->lane != r->lane)))
            return false;
    }
    return true;
}

static inline void toy_run_row(struct toy_executor *t,
                               const struct pass_row *r, float *out)
{
    struct toy_slot *s = &t->slots[r->path[r->pos]];

    assert(toy_row_sound(t, r));
    s->path = toy_hash_path(r->pos ? t->slots[s->parent].path : 0, r->token);
    s->lane = r->lane;
    s->known = true;
    toy_state(t->lanes[r->lane].hash, s->path, r->token, out);
}

/* Whether the rows of each lane are adjacent. */
static inline bool toy_lanes_adjacent(const struct pass_row *rows, int n)
{
    for (int i = 2; i < n; i++)
        for (int k = 0; k < i - 1; k++)
            if (rows[k].lane == rows[i].lane &&
                rows[i - 1].lane != rows[i].lane)
                return false;
    return true;
}

static inline enum status toy_run(struct executor *x,
                                  const struct pass_row *rows, int n,
                                  unsigned want, struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);

    assert(n > 0 && n <= x->limits.rows && toy_lanes_adjacent(rows, n));
    t->n_rows = st ? 0 : n;
    t->has = want;
    for (int i = 0; i < t->n_rows; i++) {
        toy_run_row(t, &rows[i], t->rows[i]);
        t->seen[i] = (struct toy_seen){ t->lanes[rows[i].lane],
            t->slots[rows[i].path[rows[i].pos]].path };
    }
    return st;
}

/* Append the rows of a text to those of the pass. */
static inline void toy_force_text(struct toy_executor *t,
                                  struct toy_lane source,
                                  const struct forced_text *text)
{
    uint64_t path = 0;

    assert(text->rows >= 0 && text->rows <= t->base.limits.max_len);
    assert(text->rows <= t->base.limits.rows - t->n_rows);
    for (int i = 0; i < text->rows; i++) {
        int32_t token = i ? text->tokens[i - 1]
                          : t->base.backend->cfg->start_id;

        path = toy_hash_path(path, token);
        toy_state(source.hash, path, token, t->rows[t->n_rows]);
        t->seen[t->n_rows++] = (struct toy_seen){ source, path };
    }
}

static inline enum status toy_force(struct executor *x,
                                    const struct source *src, int n_src,
                                    const struct forced_text *text, int n,
                                    unsigned want, struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);
    int n_tokens = 0;

    assert(!x->limits.lanes && !x->limits.slots);
    for (int i = 0; i < n_src; i++) {
        assert(src[i].n > 0 && src[i].n <= x->limits.max_source);
        assert(n_tokens + src[i].n <= x->limits.rows);
        for (int k = 0; k < src[i].n; k++)
            toy_state(toy_hash_source(&src[i]), (uint64_t)k, src[i].ids[k],
                      t->sources[n_tokens++]);
    }
    t->n_sources = n_tokens;
    t->n_rows = 0;
    t->has = want;
    for (int i = 0; !st && i < n; i++) {
        const struct source *s = &src[text[i].source];

        assert(text[i].source >= 0 && text[i].source < n_src);
        toy_force_text(t, (struct toy_lane){ toy_hash_source(s), s->n },
                       &text[i]);
    }
    return st;
}

/* ---- reading the last pass ----------------------------------------------- */

static inline int toy_compare(const void *left, const void *right)
{
    const struct token_logit *l = left, *r = right;

    if (l->logit != r->logit) return l->logit < r->logit ? 1 : -1;
    return (l->token > r->token) - (l->token < r->token);
}

static inline void toy_project_row(const struct toy_backend *b,
                                   const float *state, struct projection *p)
{
    struct token_logit all[TOY_VOCAB];

    assert(p->n_best >= 0 && p->n_best <= PROJECT_BEST);
    assert(p->n_listed >= 0 && p->n_listed <= PROJECT_LISTED);
    for (int32_t v = 0; v < TOY_VOCAB; v++)
        all[v] = (struct token_logit){ toy_logit(b, state, v), v };
    for (int i = 0; i < p->n_listed; i++) {
        assert(p->listed[i] >= 0 && p->listed[i] < TOY_VOCAB);
        p->listed_logit[i] = all[p->listed[i]].logit;
    }
    qsort(all, TOY_VOCAB, sizeof *all, toy_compare);
    p->max = all[0].logit;
    p->sum = p->zsum = 0;
    for (int i = 0; i < TOY_VOCAB; i++) {
        float z = all[i].logit - p->max;

        p->sum += expf(z);
        p->zsum += z * expf(z);
    }
    p->n_found = p->n_best < TOY_VOCAB ? p->n_best : TOY_VOCAB;
    for (int i = 0; i < p->n_found; i++) p->best[i] = all[i];
}

static inline enum status toy_project(struct executor *x, int row, int n,
                                      struct projection *p, struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);

    assert(row >= 0 && n >= 0 && row + n <= t->n_rows);
    for (int i = 0; !st && i < n; i++)
        toy_project_row((const struct toy_backend *)x->backend,
                        t->rows[row + i], &p[i]);
    return st;
}

/* Number c of key i. */
static inline float toy_key(const struct key_rows *k, int i, int c)
{
    size_t at = (size_t)i * k->ld + (size_t)c;

    return k->type == KEY_F32 ? ((const float *)k->keys)[at]
                              : k->scale[i] * ((const int8_t *)k->keys)[at];
}

static inline bool toy_keys_sound(const struct key_rows *k)
{
    size_t size = k->type == KEY_F32 ? sizeof(float) : 1;

    if (k->d != TOY_D || k->ld < TOY_D || k->ld * size % 64 ||
        (uintptr_t)k->keys % 64)
        return false;
    for (int i = 0; i < k->n; i++) {
        const char *key = (const char *)k->keys + (size_t)i * k->ld * size;

        for (size_t c = TOY_D * size; c < k->ld * size; c++)
            if (key[c]) return false;
    }
    return true;
}

/* Whether the keys of this serial number are those that it had before. */
static inline bool toy_serial_sound(struct toy_executor *t,
                                    const struct key_rows *k)
{
    uint64_t h = toy_hash((uint64_t)k->type, (uint64_t)k->n);

    for (int i = 0; i < k->n; i++)
        for (int c = 0; c < TOY_D; c++) {
            float v = toy_key(k, i, c);
            uint32_t bits;

            memcpy(&bits, &v, sizeof bits);
            h = toy_hash(h, bits);
        }
    for (int i = 0; i < t->n_serials && i < TOY_SERIALS; i++)
        if (t->serials[i].serial == k->serial)
            return t->serials[i].content == h;
    t->serials[t->n_serials++ % TOY_SERIALS] =
        (struct toy_serial){ k->serial, h };
    return true;
}

static inline float toy_distance(const float *state, const struct key_rows *k,
                                 int i)
{
    float sum = 0;

    for (int c = 0; c < TOY_D; c++) {
        float diff = state[c] - toy_key(k, i, c);

        sum += diff * diff;
    }
    return sum;
}

static inline enum status toy_distances(struct executor *x, int row, int n,
                                        const struct key_rows *keys, int from,
                                        int n_keys, float *out, size_t ldo,
                                        struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);
    bool sound = toy_keys_sound(keys) && toy_serial_sound(t, keys);

    assert(row >= 0 && n > 0 && row + n <= t->n_rows);
    assert(from >= 0 && n_keys > 0 && from + n_keys <= keys->n);
    assert(sound);
    for (int i = 0; !st && sound && i < n; i++)
        for (int k = 0; k < n_keys; k++)
            out[(size_t)i * ldo + (size_t)k] =
                toy_distance(t->rows[row + i], keys, from + k);
    return st;
}

/* The input of the feed-forward block is the state backwards. */
static inline void toy_ffn(const float *state, float *out)
{
    for (int i = 0; i < TOY_D; i++) out[i] = state[TOY_D - 1 - i];
}

static inline enum status toy_read(struct executor *x, enum state_kind kind,
                                   int row, int n, const float **states,
                                   size_t *ld, struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);

    assert(row >= 0 && n >= 0 &&
           row + n <= (kind == STATE_SOURCE ? t->n_sources : t->n_rows));
    assert(kind != STATE_FFN || t->has & WANT_FFN);
    assert(kind != STATE_SOURCE || t->has & WANT_SOURCE);
    if (st) return st;
    for (int i = 0; i < n; i++)
        if (kind == STATE_FFN) toy_ffn(t->rows[row + i], t->copy[i]);
        else memcpy(t->copy[i], kind == STATE_FINAL ? t->rows[row + i]
                    : t->sources[row + i], sizeof t->rows[0]);
    *states = t->copy[0];
    *ld = TOY_LD;
    return ST_OK;
}

static inline enum status toy_read_attention(struct executor *x, int row, int n,
                                             const float **weights, size_t *ld,
                                             struct err *e)
{
    struct toy_executor *t = toy_call(x);
    enum status st = toy_use_device(t, e);

    assert(t->has & WANT_ATTENTION);
    assert(row >= 0 && n >= 0 && row + n <= t->n_rows);
    if (st) return st;
    for (int i = 0; i < n; i++)
        toy_attention(&t->seen[row + i].lane, t->seen[row + i].path,
                      t->weights[i]);
    *weights = t->weights[0];
    *ld = TOY_MAX_POS;
    return ST_OK;
}

/* ---- making -------------------------------------------------------------- */

static inline void toy_executor_free(struct executor *x)
{
    struct toy_executor *t = toy_of(x);

    free(t->lanes);
    free(t->slots);
    free(t->slot_free);
    free(t->rows);
    free(t->seen);
    free(t->copy);
    free(t->weights);
    free(t->sources);
    free(t);
}

static const struct executor_ops toy_executor_ops = {
    .free = toy_executor_free,
    .use_pool = toy_use_pool,
    .encode = toy_encode,
    .slot_new = toy_slot_new,
    .slot_drop = toy_slot_drop,
    .run = toy_run,
    .force = toy_force,
    .project = toy_project,
    .distances = toy_distances,
    .read = toy_read,
    .attention = toy_read_attention,
};

/* One more than n, so that the size is never 0. */
static inline void *toy_room(int n, size_t size)
{
    return calloc((size_t)n + 1, size);
}

static inline enum status toy_executor_new(const struct backend *b,
                                           const struct executor_limits *l,
                                           struct pool *pool,
                                           struct executor **out,
                                           struct err *e)
{
    struct toy_executor *t = calloc(1, sizeof *t);

    (void)pool;
    *out = NULL;
    if (!t) return err_nomem(e, "toy executor");
    assert(l->rows > 0 && l->lanes >= 0 && !l->lanes == !l->slots);
    assert(l->max_source <= b->max_pos && l->max_len <= b->max_pos);
    t->base = (struct executor){ &toy_executor_ops, b, *l };
    t->lanes = toy_room(l->lanes, sizeof *t->lanes);
    t->slots = toy_room(l->slots, sizeof *t->slots);
    t->slot_free = toy_room(l->slots, sizeof *t->slot_free);
    t->rows = toy_room(l->rows, sizeof *t->rows);
    t->seen = toy_room(l->rows, sizeof *t->seen);
    t->copy = toy_room(l->rows, sizeof *t->copy);
    t->weights = toy_room(l->rows, sizeof *t->weights);
    t->sources = toy_room(l->rows, sizeof *t->sources);
    if (!t->lanes || !t->slots || !t->slot_free || !t->rows || !t->seen ||
        !t->copy || !t->weights || !t->sources) {
        toy_executor_free(&t->base);
        return err_nomem(e, "toy executor");
    }
    for (int i = 0; i < l->slots; i++) {
        t->slots[i].parent = -1;
        t->slot_free[t->n_free++] = i;
    }
    *out = &t->base;
    return ST_OK;
}

static inline void toy_close(struct backend *b)
{
    free(b);
}

static const struct backend_ops toy_backend_ops = {
    .name = "toy", .close = toy_close, .executor_new = toy_executor_new,
};

/* The device of each executor fails after so many calls; -1: never. */
static inline enum status toy_backend_new(struct backend **out, int fail_after,
                                          struct err *e)
{
    struct toy_backend *b = calloc(1, sizeof *b);

    *out = NULL;
    if (!b) return err_nomem(e, "toy backend");
    b->cfg = (struct config){ .vocab_size = TOY_VOCAB, .d_model = TOY_D,
                              .max_positions = TOY_MAX_POS, .pad_id = 0,
                              .unk_id = 1, .bos_id = 2, .eos_id = 3,
                              .start_id = 2, .suffix_id = 3,
                              .prefix_id = -1, .target_prefix_id = -1 };
    for (int v = 0; v < TOY_VOCAB; v++)
        for (int i = 0; i < TOY_D; i++)
            b->table[v][i] = toy_number(toy_hash(3, (uint64_t)v / 2), i);
    b->fail_after = fail_after;
    b->base = (struct backend){ &toy_backend_ops, &b->cfg, TOY_D, TOY_VOCAB,
                                TOY_MAX_POS };
    *out = &b->base;
    return ST_OK;
}

#endif
