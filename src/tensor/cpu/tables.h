/* tables.h - what the kernel tables share. Private to this folder.
 *
 * The require_* functions state what the arguments of a kernel must satisfy.
 * Each table calls them once per call, never in its loops. */
#ifndef TENSOR_CPU_TABLES_H
#define TENSOR_CPU_TABLES_H

#include "base/invariant.h"
#include "tensor/kernels.h"

/* Panels [p0, p1) exist, and rows of y have room for whole panels. */
static inline void require_gemm(const struct gemm *g, int p0, int p1)
{
    (void)g, (void)p0, (void)p1;
    assert(g->l->n > 0 && g->l->k > 0 && g->rows >= 0);
    assert(p0 >= 0 && p0 <= p1 && p1 <= linear_panels(g->l));
    assert(g->rows <= 1 || g->ldy >= (size_t)pad_to(g->l->n, PANEL));
}

static inline void require_gemm_i8(const struct gemm *g, int p0, int p1)
{
    require_gemm(g, p0, p1);
    assert(g->l->type == DT_I8 && g->l->w && g->l->scale && g->l->comp);
    assert(g->xq && g->xs);
}

/* Each list ends within its row. */
static inline void require_gemm_sparse(const struct gemm *g, int p0, int p1)
{
    require_gemm(g, p0, p1);
    assert(g->l->type == DT_I8 && g->l->by_input && g->l->scale);
    assert(g->l->k <= UINT16_MAX + 1);
    for (int r = 0; r < g->rows; r++)
        assert(g->nz[r].n >= 0 && g->nz[r].n <= pad_to(g->l->k, 4) / 4);
}

static inline void require_gemm_float(const struct gemm *g, int p0, int p1,
                                      enum dtype type)
{
    (void)type;
    require_gemm(g, p0, p1);
    assert(g->l->type == type && g->l->w && g->x);
    assert(g->rows <= 1 || g->ldx >= (size_t)g->l->k);
}

static inline void require_attention(const struct attention *a)
{
    (void)a;
    assert(a->n_q >= 0 && a->n_k > 0 && a->heads > 0 && a->head_dim > 0);
    assert(!a->causal || (a->n_k >= a->n_q && !a->weights));
    assert(!a->next.k || a->next.from <= a->next.to);
}

/* Rows of keys start at 64-byte boundaries, as the vector loads of their
 * padding require. */
static inline void require_distances(const struct distances *a,
                                     size_t key_element)
{
    (void)a, (void)key_element;
    assert(a->n_q >= 0 && a->n >= 0 && a->d > 0);
    assert(a->n == 0 || (uintptr_t)a->keys % 64 == 0);
    assert(a->ldk * key_element % 64 == 0 && a->ldk >= (size_t)a->d);
    assert(a->n_q <= 1 || a->ldo >= (size_t)a->n);
}

/* The factor is exact, so that all tables compute the same sums. */
static inline void require_near(const struct near *a)
{
    (void)a;
    assert(a->rows >= 0 && (a->rows <= 1 || a->ldy >= PANEL));
    assert(a->factor == 1 || a->factor == -2);
}

/* A row whose largest magnitude is at most this is quantized to zeros:
 * 127 / max would overflow for the smallest floats. */
#define QUANTIZE_TINY 1e-30f

/* nz->at lists n inputs. Fill in their values, and pad the last group. The
 * padding repeats a valid index with the value 0. */
static inline void nonzero_complete(struct nonzero *nz, const uint8_t *xq,
                                    int n)
{
    for (int i = 0; i < n; i++)
        nz->value[i] = (uint8_t)(xq[nz->at[i]] - 128);
    nz->n = (n + 3) / 4;
    for (int i = n; i < 4 * nz->n; i++) {
        nz->at[i] = nz->at[0];
        nz->value[i] = 0;
    }
}

extern const struct kernels kernels_ref;
#ifdef __x86_64__
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avx512;
extern const struct kernels kernels_amx;

/* In amx.c. All other operations of kernels_amx are those of
 * kernels_avx512. */
void gemm_i8_amx(const struct gemm *g, int p0, int p1);
/* In avx512.c. Write the outputs of one panel to g->y, for rows
 * [row, row + rows), given their sums; sum is aligned to 64 bytes. */
void finish_i8_avx512(const struct gemm *g, int row, int rows, int panel,
                      int32_t (*sum)[PANEL]);
#endif

/* For loops over registers. Their bounds are constants after inlining. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

/* Prevent gcc from loading a vector again for each use of it. */
#define KEEP(v) __asm__("" : "+v"(v))

#endif
