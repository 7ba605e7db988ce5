/* kernels.h - the numerical operations, as one table of functions per ISA.
 *
 * kernels_for(ISA_REF) is plain C and defines what each operation computes. The
 * other tables must agree with it. Their int8 products are equal bit for bit:
 * integer sums are exact, and the float steps that follow are the same
 * sequence, each rounded once. The other operations, and the activations GELU
 * and SiLU, agree within rounding.
 *
 * The order in which a row is summed depends neither on the number of rows nor
 * on how panels are divided among threads. So with one ISA the results of a row
 * are equal bit for bit in every batch and with any number of threads.
 *
 * The AMX table differs from AVX-512 only in the code of its int8 products. The
 * results are equal bit for bit.
 *
 * Leading dimensions (ld*) count elements. Matrices start at 64-byte
 * boundaries, but a row need not: kernels use unaligned loads unless a
 * comment below requires alignment. */
#ifndef TENSOR_KERNELS_H
#define TENSOR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "tensor/tensor.h"

/* GELU is x Phi(x), computed with the error function (no tanh approximation).
 * SILU is x / (1 + exp(-x)). */
enum act { ACT_NONE, ACT_RELU, ACT_GELU, ACT_SILU };

/* The inputs of a row that are not zero, in groups of four. The last group is
 * padded with entries whose value is 0. */
struct nonzero {
    int n;                      /* number of groups */
    uint16_t *at;               /* [4 * n] indices of inputs, ascending */
    uint8_t *value;             /* [4 * n] 1 .. 127, or 0 in the padding */
};

/* y[rows, n] = act(x W^T + bias). With `add`, this is added to y instead. */
struct gemm {
    const struct linear *l;
    int rows;
    /* Inputs for f32 and bf16 weights: [rows, k]. */
    const float *x;
    size_t ldx;
    /* Inputs for int8 weights: x = xs * (xq - 128). */
    const uint8_t *xq;          /* [rows, k padded to 4] */
    const float *xs;            /* [rows] */
    const struct nonzero *nz;   /* [rows], gemm_sparse only: from xq */
    float *y;                   /* [rows, n padded], ldy (>= n padded) */
    size_t ldy;
    enum act act;
    int add;
};

/* Keys and values to prefetch for the next call. Keys are scattered in memory
 * and read once per pass, so most reads are cache misses. An attention call
 * prefetches a share of these rows with each of its heads. This changes no
 * result. */
struct attention_next {
    const float *k, *v; size_t ld;      /* k is NULL: prefetch nothing */
    const int32_t *slot;                /* as in struct attention */
    int from, to;                       /* prefetch keys [from, to) */
};

/* Attention of n_q queries over the same n_k keys, all heads:
 *     out[i] = softmax(scale * q[i] . k[j]) v[j]        per head
 * Key j is row slot[j] of k and v (row j when slot is NULL). If all inputs are
 * finite, the result for a query does not depend on the other queries. With
 * `weights`, the softmax weights are stored too, as [n_q][heads][n_k]. With
 * `causal`, the last query sees all n_k keys, and each query sees one key fewer
 * than the query after it; this requires n_k >= n_q and no `weights`. */
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
/* The number of keys that query i sees. */
static inline int attention_keys(const struct attention *a, int i)
{
    return a->causal ? a->n_k - (a->n_q - 1 - i) : a->n_k;
}
/* Floats of scratch memory for n_k keys: the scores of ATTENTION_QUERIES
 * queries with one head. */
#define ATTENTION_QUERIES 4
#define ATTENTION_SCRATCH(n_k) \
    ((size_t)ATTENTION_QUERIES * (((size_t)(n_k) + 15) / 16 * 16 + 16))

/* The statistics of a row of logits, from which search computes log
 * probabilities. */
struct row_stats {
    float max;                          /* largest value of the row */
    float sum;                          /* of exp(x - max) over the row */
    float zsum;                         /* of (x - max) exp(x - max); the
                                           entropy is log(sum) - zsum / sum */
};

/* out[q][i] = |query q - key i|^2, the sum of squared differences, in an order
 * that depends on neither n_q nor n. (|q|^2 + |k|^2 - 2 q k would be faster,
 * but rounding would destroy the small distances, which matter most.) Keys are
 * f32, IEEE half floats, or int8 with one scale per key. Rows of keys are
 * aligned to 64 bytes and padded with zeros to a multiple of 64 bytes. Rows of
 * queries are padded to 16 floats; the padding may have any value. */
struct distances {
    const float *q; size_t ldq; int n_q;        /* [n_q, d] */
    const void *keys; size_t ldk; int n;        /* [n, d] */
    const float *scale;                         /* [n], int8 only */
    int d;
    float *out; size_t ldo;                     /* [n_q, n] */
};

/* Which of the keys of a panel may be near to each row: bit i of mask[r] is set
 * unless base[i] + factor * y[r][i] >= limit[r]. If one of the numbers is NaN,
 * the bit is set. All tables set the same bits. */
struct near {
    const float *base;                          /* [PANEL] */
    float factor;                               /* 1 or -2 */
    const float *y; size_t ldy; int rows;       /* [rows, PANEL] */
    const float *limit;                         /* [rows] */
    uint64_t *mask;                             /* [rows] out */
};

struct kernels {
    enum isa isa;

    /* Compute panels [p0, p1) of the product; one function per element type
     * of the weights. */
    void (*gemm_i8)(const struct gemm *g, int p0, int p1);
    void (*gemm_f32)(const struct gemm *g, int p0, int p1);
    void (*gemm_bf16)(const struct gemm *g, int p0, int p1);

    /* The same for int8 weights stored by input. The inputs must not be
     * negative. The result is bit for bit that of gemm_i8. */
    void (*gemm_sparse)(const struct gemm *g, int p0, int p1);
    /* Fill in the lists that gemm_sparse reads. The arrays of nz[r] must have
     * room for pad_to(k, 4) inputs. */
    void (*list_nonzero)(const uint8_t *xq, int rows, int k,
                         struct nonzero *nz);

    /* Quantize each row of x [rows, k] to 8 bits: s = max|x| / 127, and
     * q = 128 + round(x / s), ties to even, where x / s is computed as
     * x * (127 / max|x|). A row of q has pad_to(k, 4) bytes; the padding is
     * 128. A row without a magnitude above 1e-30 becomes a row of zeros with
     * s = 1. NaN and infinity give an unspecified byte. */
    void (*quantize)(const float *x, size_t ldx, int rows, int k, uint8_t *q,
                     float *s);
    /* The same for rows of IEEE half floats, padded with zeros to a multiple of
     * 32. */
    void (*quantize_f16)(const uint16_t *x, size_t ldx, int rows, int k,
                         uint8_t *q, float *s);

    /* y = (x - mean) / sqrt(var + eps) * gain + bias, per row of d. */
    void (*layer_norm)(const float *x, size_t ldx, int rows, int d,
                       const float *gain, const float *bias, float eps,
                       float *y, size_t ldy);

    void (*attention)(const struct attention *a);

    /* Statistics of x [n], n > 0. The maximum of each run of PANEL values goes
     * to block_max [ceil(n / PANEL)]. */
    void (*row_stats)(const float *x, int n, float *block_max,
                      struct row_stats *out);

    void (*distances_f32)(const struct distances *a);
    void (*distances_f16)(const struct distances *a);
    void (*distances_i8)(const struct distances *a);
    void (*mask_near)(const struct near *a);
};

/* The table for an ISA, or NULL if this build or CPU does not support it. */
const struct kernels *kernels_for(enum isa isa);

/* The best table that this CPU supports, or the one that the environment
 * variable SKMT_ISA names ("ref", "avx2", "avx512" or "amx"). The choice is
 * made once per process. If SKMT_ISA names an ISA that cannot be used, the best
 * one is chosen and *unusable is set to the value of SKMT_ISA; otherwise it is
 * set to NULL. unusable itself may be NULL. */
const struct kernels *kernels_pick(const char **unusable);

#endif
