/* made_entries.h - makes a struct entries in memory, from pairs that a test
 * describes. All functions are static. */
#ifndef MADE_ENTRIES_H
#define MADE_ENTRIES_H

#include "base/mem.h"
#include "knn/entries.h"
#include "tensor/tensor.h"
#include "test.h"

/* A pair. Everything is copied. */
struct made_pair {
    int n;                      /* entries */
    const int32_t *token;       /* [n] */
    const float *key;           /* [n, d] */
    const int *pos;             /* [n] ascending; NULL: 0, 1, 2 .. */
    const int *weight;          /* [n] entries merged into each; NULL: 1 */
    bool deleted;
    int n_src;
    const int32_t *src_token;   /* [n_src] */
    const float *src_key;       /* [n_src, d_model] of any norm */
    int n_links;
    const int (*link)[2];       /* [n_links] source token, entry of the pair;
                                   sorted */
};

struct made_options {
    enum entry_type type;
    int d_model;
    const struct entry_map *map;        /* borrowed; NULL: d is d_model */
    int pairs_per_block;
};

static inline struct entry_pair made_text(const struct entries *s, int32_t pair)
{
    (void)s;
    return (struct entry_pair){ .id = pair };
}

static inline void made_free_block(struct entry_block *b)
{
    const void *owned[] = { b->keys, b->scale, b->comp, b->norm, b->token,
        b->pair, b->pos, b->log_weight, b->span, b->src_keys, b->src_scale,
        b->src_token, b->link_begin, b->link };

    for (size_t i = 0; i < COUNT(owned); i++) mem_free((void *)owned[i]);
}

static inline void made_free(struct entries *s)
{
    for (int i = 0; i < s->n_blocks; i++) made_free_block(&s->blocks[i]);
    free(s->blocks);
    free(s);
}

static inline float made_norm(const float *x, int d)
{
    double sum = 0;

    for (int j = 0; j < d; j++) sum += (double)x[j] * (double)x[j];
    return (float)sqrt(sum);
}

/* Quantize x [d] to out; returns the scale. */
static inline float made_quantize(const float *x, int d, float factor,
                                  int8_t *out, size_t step4)
{
    float most = 0;

    for (int j = 0; j < d; j++) most = fmaxf(most, fabsf(x[j] * factor));
    if (most == 0) most = 127;
    for (int j = 0; j < d; j++)
        out[(size_t)(j / 4) * step4 + (size_t)(j % 4)] =
            (int8_t)lrintf(x[j] * factor * (127 / most));
    return most / 127;
}

/* Store a key as entry i of a block. */
static inline void made_put_key(const struct entries *s, struct entry_block *b,
                                int i, const float *key)
{
    size_t groups = (size_t)pad_to(s->d, 4) / 4;
    uint16_t *half = (uint16_t *)b->keys + (size_t)i *
                     (size_t)pad_to(s->d, 32);
    int8_t *panel = (int8_t *)b->keys + (size_t)(i / ENTRY_PANEL) * groups *
                    ENTRY_PANEL * 4 + i % ENTRY_PANEL * 4;
    float *back = calloc((size_t)s->d, sizeof *back);

    if (s->type == ENTRY_F16)
        for (int j = 0; j < s->d; j++) half[j] = f32_to_f16(key[j]);
    else
        ((float *)b->scale)[i] = made_quantize(key, s->d, 1, panel,
                                               ENTRY_PANEL * 4);
    entries_key(s, b, i, back);
    ((float *)b->norm)[i] = made_norm(back, s->d) * made_norm(back, s->d);
    free(back);
}

static inline void made_put_entries(const struct entries *s,
                                    struct entry_block *b, int pair,
                                    const struct made_pair *p, int first)
{
    ((struct entry_span *)b->span)[pair] =
        (struct entry_span){ (uint32_t)first,
                             p->deleted ? 0 : (uint32_t)p->n };
    for (int i = 0; i < p->n; i++) {
        int at = first + i;

        made_put_key(s, b, at, p->key + (size_t)i * (size_t)s->d);
        if (p->deleted) ((float *)b->norm)[at] = INFINITY;
        ((int32_t *)b->token)[at] = p->token[i];
        ((int32_t *)b->pair)[at] = pair;
        ((uint16_t *)b->pos)[at] = (uint16_t)(p->pos ? p->pos[i] : i);
        ((float *)b->log_weight)[at] =
            p->weight ? logf((float)p->weight[i]) : 0;
    }
}

static inline void made_put_sources(const struct entries *s,
                                    struct entry_block *b,
                                    const struct made_pair *p, int first,
                                    int first_entry, uint32_t *n_links)
{
    size_t ld = (size_t)pad_to(s->d_model, 64);

    for (int i = 0, k = 0; i < p->n_src; i++) {
        const float *x = p->src_key + (size_t)i * (size_t)s->d_model;
        int8_t *to = (int8_t *)b->src_keys + (size_t)(first + i) * ld;

        ((float *)b->src_scale)[first + i] =
            made_quantize(x, s->d_model, 1 / made_norm(x, s->d_model), to, 4);
        ((int32_t *)b->src_token)[first + i] = p->src_token[i];
        for (; k < p->n_links && p->link[k][0] == i; k++)
            ((uint32_t *)b->link)[(*n_links)++] =
                (uint32_t)(first_entry + p->link[k][1]);
        ((uint32_t *)b->link_begin)[first + i + 1] = *n_links;
    }
}

static inline void made_alloc_block(const struct entries *s,
                                    struct entry_block *b,
                                    const struct made_pair *p, int n_pairs)
{
    size_t links = 0, n;

    for (int i = 0; i < n_pairs; i++) {
        b->n += p[i].n;
        b->n_src += p[i].n_src;
        links += (size_t)p[i].n_links;
    }
    n = (size_t)pad_to(b->n, ENTRY_PANEL);
    b->keys = mem_zalloc(n + 1, (size_t)pad_to(s->d, 32) * 2);
    b->scale = mem_zalloc(n + 1, sizeof *b->scale);
    b->comp = NULL;
    b->norm = mem_zalloc(n + 1, sizeof *b->norm);
    for (size_t i = 0; i < n; i++) ((float *)b->norm)[i] = INFINITY;
    b->token = mem_zalloc(n + 1, sizeof *b->token);
    b->pair = mem_zalloc(n + 1, sizeof *b->pair);
    b->pos = mem_zalloc(n + 1, sizeof *b->pos);
    b->log_weight = mem_zalloc(n + 1, sizeof *b->log_weight);
    b->span = mem_zalloc((size_t)n_pairs, sizeof *b->span);
    n = (size_t)b->n_src;
    b->src_keys = mem_zalloc(n + 1, (size_t)pad_to(s->d_model, 64));
    b->src_scale = mem_zalloc(n + 1, sizeof *b->src_scale);
    b->src_token = mem_zalloc(n + 1, sizeof *b->src_token);
    b->link_begin = mem_zalloc(n + 1, sizeof *b->link_begin);
    b->link = mem_zalloc(links + 1, sizeof *b->link);
}

static inline void made_fill_block(const struct entries *s,
                                   struct entry_block *b,
                                   const struct made_pair *p, int n_pairs)
{
    uint32_t links = 0;
    int entry = 0, src = 0;

    made_alloc_block(s, b, p, n_pairs);
    b->n_pairs = n_pairs;
    for (int i = 0; i < n_pairs; i++) {
        made_put_entries(s, b, i, &p[i], entry);
        made_put_sources(s, b, &p[i], src, entry, &links);
        entry += p[i].n;
        src += p[i].n_src;
    }
}

/* Make a datastore of n pairs. Drop it with entries_drop. */
static inline struct entries *made_entries(const struct made_options *o,
                                           const struct made_pair *p, int n)
{
    static const struct entries_ops ops = { made_text, made_free };
    struct entries *s = calloc(1, sizeof *s);
    int per = o->pairs_per_block;

    s->ops = &ops;
    atomic_init(&s->holders, 1);
    s->type = o->type;
    s->d_model = o->d_model;
    s->map = o->map;
    s->d = o->map ? o->map->to : o->d_model;
    s->n_blocks = (n + per - 1) / per;
    s->blocks = calloc((size_t)s->n_blocks + 1, sizeof *s->blocks);
    s->n_pairs = n;
    for (int i = 0; i < s->n_blocks; i++) {
        int first = i * per, here = n - first < per ? n - first : per;

        s->blocks[i].first_pair = first;
        made_fill_block(s, &s->blocks[i], p + first, here);
        s->has_sources |= s->blocks[i].n_src > 0;
    }
    for (int i = 0; i < n; i++) s->n += p[i].deleted ? 0 : p[i].n;
    return s;
}

/* ---- numbers that Python can make, too ----------------------------------- */

/* Numbers from -1 to 1 in steps of 1/32, so that they are exact as half floats:
 * number j of row i with this seed. tools/check_*.py have the same formula. */
static inline float made_number(unsigned seed, int i, int j)
{
    uint32_t x = (uint32_t)seed * 2654435761u + (uint32_t)i * 40503u +
                 (uint32_t)j * 2246822519u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return ((float)(x % 65) - 32) / 32;
}

static inline void made_numbers(unsigned seed, int rows, int d, float *out)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < d; j++) *out++ = made_number(seed, i, j);
}

#endif
