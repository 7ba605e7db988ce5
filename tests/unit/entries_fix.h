/* entries_fix.h - makes a large datastore (knn/entries.h) in memory from float
 * keys. All functions are static. */
#ifndef ENTRIES_FIX_H
#define ENTRIES_FIX_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knn/entries.h"
#include "tensor/tensor.h"

/* What is made. Members that are 0 or NULL have the default in parentheses. */
struct made_entries {
    enum entry_type type;
    enum state_kind kind;       /* (STATE_FINAL) */
    int n, d;                   /* entries, dimensions of a key */
    const float *keys;          /* [n, d] */
    int block;                  /* entries of a block, raised to whole pairs
                                   (all in one block) */
    int pair;                   /* entries of a pair (all are one pair) */
    const int32_t *token;       /* [n] (entry i has token 100 + i) */
    const bool *deleted;        /* [n] (none is) */
    const float *log_weight;    /* [n] (no weights) */
    const struct entry_map *map;        /* copied (no map) */
    float norm_error;           /* relative; added to the norm of even entries,
                                   subtracted from that of odd ones (0) */
};

/* The entries and their memory. */
struct entries_in_memory {
    struct entries s;           /* must be the first member */
    struct entry_map map;
    int pair;
    char text[2][32];           /* of the last pair that was asked for */
};

/* Quantize a key as pair_keys_put does. Returns its scale. */
static inline float made_int8(const float *key, int d, int8_t *out)
{
    float most = 0;

    for (int i = 0; i < d; i++) most = fmaxf(most, fabsf(key[i]));
    memset(out, 0, (size_t)d);
    if (!(most > 1e-30f)) return 1;
    for (int i = 0; i < d; i++) out[i] = (int8_t)lrintf(key[i] * (127 / most));
    return most / 127;
}

static inline void made_key_int8(const struct made_entries *m,
                                 struct entry_block *b, int i,
                                 const float *key)
{
    size_t kp = (size_t)pad_to(m->d, 4);
    int8_t *to = (int8_t *)b->keys + (size_t)(i / 64) * kp * 64 + i % 64 * 4;
    int8_t *q = malloc((size_t)m->d);
    int sum = 0;

    ((float *)b->scale)[i] = made_int8(key, m->d, q);
    for (int c = 0; c < m->d; c++) {
        to[c / 4 * 256 + c % 4] = q[c];
        sum += q[c];
    }
    ((int32_t *)b->comp)[i] = 128 * sum;
    free(q);
}

static inline void made_key_f16(const struct made_entries *m,
                                struct entry_block *b, int i, const float *key)
{
    uint16_t *to = (uint16_t *)b->keys + (size_t)i * (size_t)pad_to(m->d, 32);

    for (int c = 0; c < m->d; c++) to[c] = f32_to_f16(key[c]);
}

/* Entry `at` of all becomes entry i of a block. */
static inline void made_entry(const struct made_entries *m,
                              const struct entries *s, struct entry_block *b,
                              int i, int at, int pair)
{
    const float *key = m->keys + (size_t)at * (size_t)m->d;
    float *read = malloc((size_t)m->d * sizeof *read);
    double norm = 0;

    if (m->type == ENTRY_INT8) made_key_int8(m, b, i, key);
    else made_key_f16(m, b, i, key);
    entries_key(s, b, i, read);
    for (int c = 0; c < m->d; c++) norm += (double)read[c] * (double)read[c];
    norm *= 1 + (double)(at % 2 ? -m->norm_error : m->norm_error);
    ((float *)b->norm)[i] = m->deleted && m->deleted[at] ? INFINITY
                                                         : (float)norm;
    ((int32_t *)b->token)[i] = m->token ? m->token[at] : 100 + at;
    ((int32_t *)b->pair)[i] = i / pair;
    ((uint16_t *)b->pos)[i] = (uint16_t)(i % pair);
    if (m->log_weight) ((float *)b->log_weight)[i] = m->log_weight[at];
    free(read);
}

/* Entries [from, from + n) become a block. Padding has token -1. */
static inline void made_block(const struct made_entries *m,
                              const struct entries *s, struct entry_block *b,
                              int from, int n, int pair)
{
    size_t np = (size_t)pad_to(n, 64), i;
    size_t key = m->type == ENTRY_INT8 ? (size_t)pad_to(m->d, 4)
                                       : (size_t)pad_to(m->d, 32) * 2;
    struct entry_span *span;

    *b = (struct entry_block){ .n = n, .first_pair = from / pair,
        .n_pairs = (n + pair - 1) / pair, .keys = mem_zalloc(np, key),
        .norm = mem_alloc(np, 4), .token = mem_alloc(np, 4),
        .pair = mem_zalloc(np, 4), .pos = mem_zalloc(np, 2) };
    if (m->type == ENTRY_INT8) {
        b->scale = mem_alloc(np, 4);
        b->comp = mem_zalloc(np, 4);
    }
    if (m->log_weight) b->log_weight = mem_zalloc(np, 4);
    for (i = 0; i < np; i++) {
        ((float *)b->norm)[i] = INFINITY;
        ((int32_t *)b->token)[i] = -1;
        if (b->scale) ((float *)b->scale)[i] = 1;
    }
    span = calloc((size_t)b->n_pairs, sizeof *span);
    for (int p = 0; p < b->n_pairs; p++)
        span[p] = (struct entry_span){ (uint32_t)(p * pair),
            (uint32_t)(n - p * pair < pair ? n - p * pair : pair) };
    b->span = span;
    for (int j = 0; j < n; j++) made_entry(m, s, b, j, from + j, pair);
}

static inline struct entry_pair made_pair(const struct entries *s, int32_t pair)
{
    struct entries_in_memory *im = (struct entries_in_memory *)(void *)s;

    snprintf(im->text[0], sizeof im->text[0], "source %d", (int)pair);
    snprintf(im->text[1], sizeof im->text[1], "target %d", (int)pair);
    return (struct entry_pair){ str_of(im->text[0]), str_of(im->text[1]),
                                pair + 1, false };
}

static inline void made_free(struct entries *s)
{
    struct entries_in_memory *im = (struct entries_in_memory *)(void *)s;

    for (int i = 0; i < s->n_blocks; i++) {
        struct entry_block *b = &s->blocks[i];

        mem_free((void *)b->keys);
        mem_free((void *)b->scale);
        mem_free((void *)b->comp);
        mem_free((void *)b->norm);
        mem_free((void *)b->token);
        mem_free((void *)b->pair);
        mem_free((void *)b->pos);
        mem_free((void *)b->log_weight);
        free((void *)b->span);
    }
    free(s->blocks);
    free((void *)im->map.mean);
    free((void *)im->map.matrix);
    free(im);
}

static inline const float *made_copy(const float *x, size_t n)
{
    float *to = malloc(n * sizeof *to);

    memcpy(to, x, n * sizeof *to);
    return to;
}

/* Make a datastore. It has one holder; entries_drop frees it. */
static inline struct entries *make_entries(const struct made_entries *m)
{
    static const struct entries_ops ops = { made_pair, made_free };
    struct entries_in_memory *im = calloc(1, sizeof *im);
    struct entries *s = &im->s;
    int pair = m->pair ? m->pair : m->n ? m->n : 1;
    int block = m->block ? (m->block + pair - 1) / pair * pair : m->n;

    s->ops = &ops;
    atomic_init(&s->holders, 1);
    s->type = m->type;
    s->kind = m->kind;
    s->d = s->d_model = m->d;
    if (m->map) {
        size_t from = (size_t)m->map->from;

        s->d_model = m->map->from;
        im->map = *m->map;
        im->map.mean = made_copy(m->map->mean, from);
        im->map.matrix = made_copy(m->map->matrix, from * (size_t)m->d);
        s->map = &im->map;
    }
    s->n_blocks = m->n ? (m->n + block - 1) / block : 0;
    s->blocks = calloc((size_t)s->n_blocks + 1, sizeof *s->blocks);
    for (int i = 0; i < s->n_blocks; i++)
        made_block(m, s, &s->blocks[i], i * block,
                   m->n - i * block < block ? m->n - i * block : block, pair);
    for (int i = 0; i < m->n; i++) s->n += !(m->deleted && m->deleted[i]);
    s->n_pairs = (m->n + pair - 1) / pair;
    return s;
}

#endif
