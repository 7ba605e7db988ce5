/* made_ct2.h - makes files of CTranslate2 for tests: model.bin from single
 * variables, and whole models. */
#ifndef MADE_CT2_H
#define MADE_CT2_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "base/strbuf.h"

struct made_ct2 {
    struct strbuf b;
    int version;
    size_t count_at;            /* where the number of variables is */
    uint32_t n;                 /* variables so far */
    const char *without;        /* variables whose names end in this are left
                                   out */
};

static inline void ct2_put(struct made_ct2 *m, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        strbuf_addc(&m->b, (char)(number >> 8 * i));
}

static inline void ct2_put_name(struct made_ct2 *m, const char *name)
{
    ct2_put(m, strlen(name) + 1, 2);
    strbuf_add(&m->b, name, strlen(name) + 1);
}

static inline void ct2_set_count(struct made_ct2 *m, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        m->b.data[m->count_at + (size_t)i] = (char)(n >> 8 * i);
}

/* Variables follow, and then, since version 3, the number of aliases. */
static inline void ct2_begin(struct made_ct2 *m, int version, const char *spec,
                             int revision)
{
    *m = (struct made_ct2){ .version = version };
    strbuf_init(&m->b, 0);
    ct2_put(m, (uint64_t)version, 4);
    ct2_put_name(m, spec);
    ct2_put(m, (uint64_t)revision, 4);
    m->count_at = m->b.len;
    ct2_put(m, 0, 4);
}

enum { CT2_F32, CT2_I8, CT2_I16, CT2_I32, CT2_F16, CT2_BF16 };
static const int ct2_sizes[] = { 4, 1, 2, 4, 2, 2 };

/* Name, shape and type of a variable; its data follow. A dimension 0 ends the
 * shape. */
static inline void ct2_head(struct made_ct2 *m, const char *name, int a, int b,
                            int type)
{
    int rank = a ? b ? 2 : 1 : 0;
    uint64_t n = (uint64_t)(a ? a : 1) * (uint64_t)(b ? b : 1);

    ct2_set_count(m, ++m->n);
    ct2_put_name(m, name);
    ct2_put(m, (uint64_t)rank, 1);
    if (rank > 0) ct2_put(m, (uint64_t)a, 4);
    if (rank > 1) ct2_put(m, (uint64_t)b, 4);
    ct2_put(m, (uint64_t)(m->version >= 4 ? type : ct2_sizes[type]), 1);
    ct2_put(m, m->version >= 4 ? n * (uint64_t)ct2_sizes[type] : n, 4);
}

static inline void ct2_put_f32(struct made_ct2 *m, float value)
{
    uint32_t u;

    memcpy(&u, &value, 4);
    ct2_put(m, u, 4);
}

static inline void ct2_floats(struct made_ct2 *m, const char *name, int a,
                              int b, const float *values)
{
    ct2_head(m, name, a, b, CT2_F32);
    for (int i = 0; i < (a ? a : 1) * (b ? b : 1); i++)
        ct2_put_f32(m, values[i]);
}

/* A scalar of 8 or 16 bits. */
static inline void ct2_number(struct made_ct2 *m, const char *name, int type,
                              int value)
{
    ct2_head(m, name, 0, 0, type);
    ct2_put(m, (uint64_t)value, ct2_sizes[type]);
}

static inline void ct2_text(struct made_ct2 *m, const char *name,
                            const char *text)
{
    ct2_head(m, name, (int)strlen(text), 0, CT2_I8);
    strbuf_adds(&m->b, text);
}

static inline void ct2_alias(struct made_ct2 *m, const char *alias,
                             const char *of)
{
    ct2_put_name(m, alias);
    ct2_put_name(m, of);
}

/* ---- a whole model ---- */

enum { CT2_D = 8, CT2_FFN = 12, CT2_V = 10 };

/* A variable of random floats, unless it is left out. */
static inline void ct2_random(struct made_ct2 *m, const char *stem,
                              const char *name, int a, int b)
{
    char whole[200];
    size_t n, k = m->without ? strlen(m->without) : 0;
    uint64_t seed = m->n + 1;

    n = (size_t)snprintf(whole, sizeof whole, "%s%s", stem, name);
    if (k && n >= k && !strcmp(whole + n - k, m->without)) return;
    ct2_head(m, whole, a, b, CT2_F32);
    for (int i = 0; i < a * (b ? b : 1); i++)
        ct2_put_f32(m, (float)(splitmix_unit(&seed) - 0.5));
}

static inline void ct2_linear(struct made_ct2 *m, const char *stem, int n,
                              int k)
{
    ct2_random(m, stem, "/weight", n, k);
    ct2_random(m, stem, "/bias", n, 0);
}

static inline void ct2_norm(struct made_ct2 *m, const char *stem)
{
    ct2_random(m, stem, "/gamma", CT2_D, 0);
    ct2_random(m, stem, "/beta", CT2_D, 0);
}

/* The variables of a layer, whose names begin with `stem`. */
static inline void ct2_layer(struct made_ct2 *m, const char *stem, bool decoder)
{
    static const struct { const char *name; int n, k; bool decoder; }
    linears[] = {
        { "self_attention/linear_0", 3 * CT2_D, CT2_D, false },
        { "self_attention/linear_1", CT2_D, CT2_D, false },
        { "attention/linear_0", CT2_D, CT2_D, true },
        { "attention/linear_1", 2 * CT2_D, CT2_D, true },
        { "attention/linear_2", CT2_D, CT2_D, true },
        { "ffn/linear_0", CT2_FFN, CT2_D, false },
        { "ffn/linear_1", CT2_D, CT2_FFN, false },
    };
    static const struct { const char *name; bool decoder; } norms[] = {
        { "self_attention/layer_norm", false },
        { "attention/layer_norm", true }, { "ffn/layer_norm", false },
    };
    char name[120];

    for (size_t i = 0; i < sizeof linears / sizeof *linears; i++) {
        if (linears[i].decoder && !decoder) continue;
        snprintf(name, sizeof name, "%s%s", stem, linears[i].name);
        ct2_linear(m, name, linears[i].n, linears[i].k);
    }
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        if (norms[i].decoder && !decoder) continue;
        snprintf(name, sizeof name, "%s%s", stem, norms[i].name);
        ct2_norm(m, name);
    }
}

/* A model of one layer each, with one table, norms before the blocks, two heads
 * and no table of positions. More variables may follow. */
static inline void ct2_begin_model(struct made_ct2 *m, int version,
                                   const char *without)
{
    ct2_begin(m, version, "TransformerSpec", 7);
    m->without = without;
    ct2_random(m, "encoder/embeddings_0/weight", "", CT2_V, CT2_D);
    ct2_layer(m, "encoder/layer_0/", false);
    ct2_layer(m, "decoder/layer_0/", true);
    ct2_norm(m, "encoder/layer_norm");
    ct2_norm(m, "decoder/layer_norm");
    ct2_number(m, "encoder/num_heads", CT2_I16, 2);
    ct2_number(m, "decoder/num_heads", CT2_I16, 2);
}

static inline void ct2_end_model(struct made_ct2 *m)
{
    ct2_put(m, 2, 4);
    ct2_alias(m, "decoder/embeddings/weight", "encoder/embeddings_0/weight");
    ct2_alias(m, "decoder/projection/weight", "encoder/embeddings_0/weight");
}

#endif
