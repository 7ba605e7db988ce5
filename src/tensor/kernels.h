/* kernels.h - the operations a backend fills in, one table per ISA.
 *
 * kernels_for(ISA_REF) is plain C and defines what each operation means; the
 * others must agree: int8 products bit for bit (integers are exact, and the
 * float epilogue is the same sequence of single-rounding steps), the rest
 * within rounding. Every row is summed in an order that depends neither on
 * the number of rows nor on how panels are divided among threads, so for one
 * ISA the same input gives the same bytes whatever the batch.
 *
 * AMX is AVX-512 but for int8 products, and gives the same bytes.
 *
 * All pointers are 64-byte aligned where a row starts at a multiple of 16
 * floats; leading dimensions (ld*) count elements. */
#ifndef TENSOR_KERNELS_H
#define TENSOR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "tensor/tensor.h"

/* GELU is x Phi(x), by the error function; SILU is x / (1 + exp(-x)). */
enum act { ACT_NONE, ACT_RELU, ACT_GELU, ACT_SILU };

/* The inputs of a row that are not zero, four at a time. */
struct nonzero {
    int n;                      /* groups; the last is filled up with zeros */
    uint16_t *at;               /* [4 * n] which inputs, ascending */
    uint8_t *value;             /* [4 * n] 1 .. 127, 0 where filled up */
};

/* y[rows, n] = act(x W^T + bias), then added to y when `add` is set. */
struct gemm {
    const struct linear *l;
    int rows;
    const float *x;             /* [rows, k], ldx; f32 and bf16 weights */
    size_t ldx;
    const uint8_t *xq;          /* [rows, k padded to 4], int8 weights: */
    const float *xs;            /* [rows], x = xs * (xq - 128)          */
    const struct nonzero *nz;   /* [rows], weights by input: those of xq */
    float *y;                   /* [rows, n padded], ldy (>= n padded) */
    size_t ldy;
    enum act act;
    int add;
};

/* Keys lie scattered and are read once a pass, so most come from far away.
 * These will be read after the call they are named in; meanwhile they are
 * brought near, a share with each head. It changes no result. */
struct attention_next {
    const float *k, *v; size_t ld;      /* NULL: nothing to fetch */
    const int32_t *slot;                /* as in struct attention: keys */
    int from, to;                       /* [from, to) of these */
};

/* Attention of n_q queries over the same n_k keys, all heads:
 *     out[i] = softmax(scale * q[i] . k[j]) v[j]        per head
 * Key j is the row slot[j] of k and v (row j when slot is NULL). The result
 * for a query does not depend on the other queries (of numbers). With `weights`, the
 * soft-max weights are stored too, as [n_q][heads][n_k]. With `causal` (and
 * n_k >= n_q, no weights) a query has one key more than the one before it, the
 * last one all of them. */
struct attention {
    int n_q, n_k, heads, head_dim;
    int causal;
    const float *q; size_t ldq;         /* [n_q, heads * head_dim] */
    const float *k, *v; size_t ldk, ldv;
    const int32_t *slot;                /* [n_k] or NULL */
    float scale;
    float *out; size_t ldo;             /* [n_q, heads * head_dim] */
    float *weights;                     /* or NULL */
    float *scratch;                     /* [ATTENTION_SCRATCH(n_k)] */
    struct attention_next next;
};
/* Keys that query i has. */
static inline int attention_keys(const struct attention *a, int i)
{
    return a->causal ? a->n_k - (a->n_q - 1 - i) : a->n_k;
}
/* Floats of scratch for up to n_k keys: one head of a few queries. */
#define ATTENTION_QUERIES 4
#define ATTENTION_SCRATCH(n_k) \
    ((size_t)ATTENTION_QUERIES * (((size_t)(n_k) + 15) / 16 * 16 + 16))

/* What search needs to know of a row of logits before it looks closer. */
struct row_stats {
    float max;                          /* of the row */
    float sum;                          /* of exp(x - max) */
};

/* out[q][i] = |query q - key i|^2, each the sum of squared differences in an
 * order that depends on neither n_q nor n: |q|^2 + |k|^2 - 2 q k would lose
 * the small distances, which are those that matter, to rounding. Keys are f32,
 * or int8 with a scale each. Rows of keys are padded with zeros to 64 bytes
 * and aligned so, those of queries to 16 floats (any value). */
struct distances {
    const float *q; size_t ldq; int n_q;        /* [n_q, d] */
    const void *keys; size_t ldk; int n;        /* [n, d] */
    const float *scale;                         /* [n], int8 only */
    int d;
    float *out; size_t ldo;                     /* [n_q, n] */
};

struct kernels {
    enum isa isa;

    /* Panels [p0, p1) of the product, for each element type of weights. */
    void (*gemm_i8)(const struct gemm *g, int p0, int p1);
    void (*gemm_f32)(const struct gemm *g, int p0, int p1);
    void (*gemm_bf16)(const struct gemm *g, int p0, int p1);

    /* The same for weights by input, with inputs that are not negative; bit
     * for bit what gemm_i8 gives. */
    void (*gemm_sparse)(const struct gemm *g, int p0, int p1);
    /* The lists it reads; nz[r] comes with room for pad_to(k, 4) inputs. */
    void (*list_nonzero)(const uint8_t *xq, int rows, int k,
                         struct nonzero *nz);

    /* Rows of x [rows, k] to 8 bits each: s = max|x| / 127, and
     * q = 128 + round(x / s), ties to even, with x / s computed as
     * x * (127 / max|x|); padding up to a multiple of 4 is 128. q has rows of
     * pad_to(k, 4) bytes. A row with nothing above 1e-30 is one of zeros:
     * s is 1. Of what is no finite number any byte may come. */
    void (*quantize)(const float *x, size_t ldx, int rows, int k, uint8_t *q,
                     float *s);

    /* y = (x - mean) / sqrt(var + eps) * gain + bias, per row of d. */
    void (*layer_norm)(const float *x, size_t ldx, int rows, int d,
                       const float *gain, const float *bias, float eps,
                       float *y, size_t ldy);

    void (*attention)(const struct attention *a);

    /* Statistics of x [n], and the maximum of each run of PANEL values in
     * block_max [ceil(n / PANEL)]. */
    void (*row_stats)(const float *x, int n, float *block_max,
                      struct row_stats *out);

    void (*distances_f32)(const struct distances *a);
    void (*distances_i8)(const struct distances *a);
};

/* NULL when this build or CPU has no such table. */
const struct kernels *kernels_for(enum isa isa);

/* The best one this CPU runs, or what SKMT_ISA asks for ("ref", "avx2",
 * "avx512", "amx"). Chosen once. *unusable, when not NULL, is set to the value
 * of SKMT_ISA if that could not be honored (the best one is used then). */
const struct kernels *kernels_pick(const char **unusable);

#endif
