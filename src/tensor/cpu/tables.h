/* tables.h - the tables pick.c chooses from. Private to this folder. */
#ifndef TENSOR_CPU_TABLES_H
#define TENSOR_CPU_TABLES_H

#include "tensor/kernels.h"

/* A row whose largest magnitude is no more than this quantizes as zeros:
 * 127 / max would overflow for the smallest floats. */
#define QUANTIZE_TINY 1e-30f

/* The values of the n inputs listed in nz->at, and zeros to full groups. */
static inline void close_list(struct nonzero *nz, const uint8_t *xq, int n)
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

/* amx.c: the only operation of kernels_amx that is not kernels_avx512's. */
void gemm_i8_amx(const struct gemm *g, int p0, int p1);
/* avx512.c: sums of one panel for rows [row, row + rows) into g->y. */
void finish_i8_avx512(const struct gemm *g, int row, int rows, int panel,
                      int32_t (*sum)[PANEL]);
#endif

/* Loops over registers: every bound is a constant once inlined. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

/* Keeps gcc from loading a vector again for every use of it. */
#define KEEP(v) __asm__("" : "+v"(v))

#endif
