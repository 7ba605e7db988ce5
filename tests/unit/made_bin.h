/* made_bin.h - the bytes of .bin files of Marian, for tests. */
#ifndef MADE_BIN_H
#define MADE_BIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum { BIN_F32 = 0x0404, BIN_F16 = 0x0402, BIN_I8 = 0x0101, BIN_I32 = 0x0104,
       BIN_INTGEMM8 = 0x4101, BIN_INTGEMM16 = 0x4102, BIN_PACKED = 0x2201 };

struct made_bin {
    const char *name;
    uint64_t type;
    int n_dims, dims[3];
    const void *bytes;
    size_t n;
};

static inline void made_bin_number(struct strbuf *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        if (!strbuf_addc(to, (char)(v >> 8 * i))) abort();
}

/* Append the file to *out. Data are padded to 256 bytes, as Marian does it. */
static inline void made_bin_write(struct strbuf *out, uint64_t version,
                                  const struct made_bin *at, size_t n)
{
    size_t pad;

    made_bin_number(out, version, 8);
    made_bin_number(out, n, 8);
    for (size_t i = 0; i < n; i++) {
        made_bin_number(out, strlen(at[i].name) + 1, 8);
        made_bin_number(out, at[i].type, 8);
        made_bin_number(out, (uint64_t)at[i].n_dims, 8);
        made_bin_number(out, (at[i].n + 255) / 256 * 256, 8);
    }
    for (size_t i = 0; i < n; i++)
        if (!strbuf_add(out, at[i].name, strlen(at[i].name) + 1)) abort();
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < at[i].n_dims; k++)
            made_bin_number(out, (uint32_t)at[i].dims[k], 4);
    pad = 256 - (out->len + 8) % 256;
    made_bin_number(out, pad, 8);
    for (size_t i = 0; i < pad; i++) made_bin_number(out, 0, 1);
    for (size_t i = 0; i < n; i++) {
        if (!strbuf_add(out, at[i].bytes, at[i].n)) abort();
        while (out->len % 256) made_bin_number(out, 0, 1);
    }
}

#endif
