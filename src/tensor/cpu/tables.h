/* tables.h - the tables pick.c chooses from. Private to this folder. */
#ifndef TENSOR_CPU_TABLES_H
#define TENSOR_CPU_TABLES_H

#include "tensor/kernels.h"

/* A row whose largest magnitude is no more than this quantises as zeros:
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
