/* marian_bin.c - reads the header of a .bin file of Marian, and rows of its
 * tensors.
 *
 *     u64 1                                version; 2: encrypted
 *     u64 n; n x u64[4]                    length of the name with its NUL,
 *                                          type, number of dimensions, bytes
 *     n names; n shapes                    i32 for each dimension
 *     u64 pad; pad bytes; n times the data
 *
 * All numbers are little-endian. The data of a tensor may be longer than its
 * shape needs. After opening, those of tensor i begin at items[i].data of the
 * stream. */
#include "convert/marian_bin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/load_le.h"
#include "convert/stream_elements.h"

#define ITEMS_MOST 100000
#define HEADERS_MOST (1 << 24)  /* bytes of all names and shapes */

/* A type that is not in the list cannot be read. */
static const struct bin_type {
    uint64_t number;
    enum element type;
    bool scaled;                /* a factor follows the values */
} bin_types[] = {
    { 0x0404, ELEMENT_F32, false }, { 0x0402, ELEMENT_F16, false },
    { 0x0408, ELEMENT_F64, false }, { 0x0101, ELEMENT_I8, false },
    { 0x0102, ELEMENT_I16, false }, { 0x0104, ELEMENT_I32, false },
    { 0x0108, ELEMENT_I64, false }, { 0x0201, ELEMENT_U8, false },
    { 0x4101, ELEMENT_I8, true },   { 0x4102, ELEMENT_I16, true },
};

struct bin_item {
    uint64_t data, bytes;       /* in the stream */
    bool scaled, transposed;
    float factor;               /* values are multiplied by it */
};

struct marian_bin {
    struct tensor_file base;
    struct file_stream *in;
    uint64_t at;                /* while it is opened: the next byte */
    struct bin_item *items;     /* [base.n] */
};

static enum status bad_bin(const struct marian_bin *b, const char *what,
                           struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: not a .bin file of Marian, or damaged: "
                   "%s", b->base.name, what);
}

static enum status bad_bin_tensor(const struct marian_bin *b,
                                  const char *tensor, const char *what,
                                  struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" %s", b->base.name,
                   tensor, what);
}

static enum status bin_take(struct marian_bin *b, void *out, size_t n,
                            struct err *e)
{
    enum status st = file_stream_read(b->in, b->at, out, n, e);

    b->at += n;
    return st;
}

static enum status bin_u64(struct marian_bin *b, uint64_t *v, struct err *e)
{
    uint8_t bytes[8] = { 0 };
    enum status st = bin_take(b, bytes, sizeof bytes, e);

    *v = load_u64(bytes);
    return st;
}

/* ---- the header ---- */

static const struct bin_type *find_bin_type(uint64_t number)
{
    for (size_t i = 0; i < sizeof bin_types / sizeof *bin_types; i++)
        if (bin_types[i].number == number) return &bin_types[i];
    return NULL;
}

/* The lengths of a name and of a shape. */
struct bin_lengths { uint64_t name, dims; };

/* Read the four numbers of each tensor. */
static enum status read_numbers(struct marian_bin *b, struct bin_lengths *len,
                                struct err *e)
{
    uint64_t all = 0;

    for (int i = 0; i < b->base.n; i++) {
        struct file_tensor *t = &b->base.at[i];
        const struct bin_type *type;
        uint8_t h[32];
        enum status st = bin_take(b, h, sizeof h, e);

        if (st) return st;
        len[i].name = load_u64(h);
        len[i].dims = load_u64(h + 16);
        b->items[i].bytes = load_u64(h + 24);
        if (!len[i].name || len[i].name > HEADERS_MOST ||
            len[i].dims > HEADERS_MOST ||
            (all += len[i].name + 4 * len[i].dims) > HEADERS_MOST)
            return bad_bin(b, "a name or a shape is too long", e);
        type = find_bin_type(load_u64(h + 8));
        t->type = type ? type->type : ELEMENT_OTHER;
        t->index = i;
        t->n_dims = (int)len[i].dims;
        b->items[i].scaled = type && type->scaled;
    }
    return ST_OK;
}

static enum status read_names(struct marian_bin *b,
                              const struct bin_lengths *len, struct err *e)
{
    for (int i = 0; i < b->base.n; i++) {
        char *name = calloc(1, (size_t)len[i].name);
        enum status st;

        b->base.at[i].name = name;
        if (!name) return err_nomem(e, b->base.name);
        st = bin_take(b, name, (size_t)len[i].name, e);
        if (st) return st;
        if (memchr(name, 0, (size_t)len[i].name) != name + len[i].name - 1)
            return bad_bin(b, "a name does not end with NUL", e);
        /* Tables of embeddings are the only matrices of this kind that lie row
         * by row. */
        b->items[i].transposed = b->items[i].scaled && !strstr(name, "Wemb");
    }
    return ST_OK;
}

static enum status read_bin_shape(struct marian_bin *b, int i,
                                  struct err *e)
{
    struct file_tensor *t = &b->base.at[i];
    struct bin_item *x = &b->items[i];
    uint64_t count = 1;

    for (int k = 0; k < FILE_TENSOR_DIMS; k++) t->shape[k] = 1;
    for (int k = 0; k < t->n_dims; k++) {
        uint8_t bytes[4];
        enum status st = bin_take(b, bytes, sizeof bytes, e);
        int32_t n = (int32_t)load_u32(bytes);

        if (st) return st;
        if (n < 0 || __builtin_mul_overflow(count, (uint64_t)n, &count))
            return bad_bin_tensor(b, t->name, "has a shape that is not valid",
                                  e);
        if (k < FILE_TENSOR_DIMS) t->shape[k] = n;
    }
    if (__builtin_mul_overflow(count, (uint64_t)element_bytes(t->type),
                               &count) || count > UINT64_MAX - 4 ||
        x->bytes < count + (x->scaled ? 4 : 0))
        return bad_bin_tensor(b, t->name, "has fewer bytes than its shape "
                              "needs", e);
    return ST_OK;
}

static enum status read_factor(struct marian_bin *b, int i, struct err *e)
{
    struct file_tensor *t = &b->base.at[i];
    struct bin_item *x = &b->items[i];
    uint64_t values = (uint64_t)file_tensor_rows(t) *
                      (uint64_t)file_tensor_cols(t) * element_bytes(t->type);
    float m;
    enum status st;

    if (!x->scaled || t->n_dims > 2) return ST_OK;
    st = stream_elements_read(b->in, x->data + values, ELEMENT_F32, 1, &m, e);
    if (st) return st;
    x->factor = 1 / m;
    if (isfinite(m) && isfinite(x->factor)) return ST_OK;
    return bad_bin_tensor(b, t->name, "has a factor that is not valid", e);
}

/* Find the data of each tensor. */
static enum status find_data(struct marian_bin *b, struct err *e)
{
    uint64_t pad, size = file_stream_size(b->in);
    enum status st = bin_u64(b, &pad, e);

    if (!st && pad > size - b->at)
        st = bad_bin(b, "its data begin after the end", e);
    b->at += st ? 0 : pad;
    for (int i = 0; i < b->base.n && !st; i++) {
        struct bin_item *x = &b->items[i];

        if (x->bytes > size - b->at)
            return bad_bin_tensor(b, b->base.at[i].name, "lies outside the "
                                  "file (truncated?)", e);
        x->data = b->at;
        b->at += x->bytes;
        st = read_factor(b, i, e);
    }
    return st;
}

static enum status read_bin_table(struct marian_bin *b, uint64_t n,
                                  struct err *e)
{
    struct bin_lengths *len = calloc((size_t)n, sizeof *len);
    enum status st;

    b->base.at = calloc((size_t)n, sizeof *b->base.at);
    b->items = calloc((size_t)n, sizeof *b->items);
    if (!len || !b->base.at || !b->items) {
        st = err_nomem(e, b->base.name);
    } else {
        b->base.n = (int)n;
        st = read_numbers(b, len, e);
        if (!st) st = read_names(b, len, e);
    }
    for (int i = 0; i < b->base.n && !st; i++) st = read_bin_shape(b, i, e);
    if (!st) st = find_data(b, e);
    free(len);
    return st;
}

static enum status read_bin_header(struct marian_bin *b, struct err *e)
{
    uint64_t version, n;
    enum status st = bin_u64(b, &version, e);

    if (!st) st = bin_u64(b, &n, e);
    if (st) return st;
    if (version == 2)
        return err_set(e, ST_VERSION, "%s: the file is encrypted",
                       b->base.name);
    if (version != 1)
        return bad_bin(b, "its version is not 1", e);
    if (!n || n > ITEMS_MOST)
        return bad_bin(b, "its number of tensors is not plausible", e);
    return read_bin_table(b, n, e);
}

/* ---- reading ---- */

/* Rows of a transposed matrix are columns of what is stored. */
static enum status read_columns(struct marian_bin *b,
                                const struct file_tensor *t, int64_t row,
                                int64_t n, float *out, struct err *e)
{
    uint64_t at = b->items[t->index].data;
    size_t k = (size_t)t->shape[0], cols = (size_t)t->shape[1];
    float *column = malloc((k + !k) * sizeof *column);
    enum status st = column ? ST_OK : err_nomem(e, b->base.name);

    for (size_t c = 0; c < cols && !st; c++) {
        st = stream_elements_read(b->in, at, t->type, k, column, e);
        for (int64_t r = 0; r < n && !st; r++)
            out[(size_t)r * cols + c] = column[row + r];
        at += k * element_bytes(t->type);
    }
    free(column);
    return st;
}

static enum status marian_bin_read(struct tensor_file *f,
                                   const struct file_tensor *t, int64_t row,
                                   int64_t n, float *out, struct err *e)
{
    struct marian_bin *b = (struct marian_bin *)f;
    const struct bin_item *x = &b->items[t->index];
    size_t count = (size_t)(n * file_tensor_cols(t));
    uint64_t skip = (uint64_t)(row * file_tensor_cols(t)) *
                    element_bytes(t->type);
    enum status st;

    if (x->transposed && t->n_dims == 2)
        st = read_columns(b, t, row, n, out, e);
    else
        st = stream_elements_read(b->in, x->data + skip, t->type, count, out,
                                  e);
    for (size_t i = 0; i < count && x->scaled && !st; i++) out[i] *= x->factor;
    return st;
}

static void marian_bin_close(struct tensor_file *f)
{
    struct marian_bin *b = (struct marian_bin *)f;

    for (int i = 0; i < f->n; i++) free((char *)(uintptr_t)f->at[i].name);
    free(f->at);
    free(f->name);
    free(b->items);
    file_stream_close(b->in);
    free(b);
}

static const struct tensor_file_ops marian_bin_ops = {
    .read = marian_bin_read,
    .close = marian_bin_close,
};

enum status marian_bin_open(struct tensor_file **out, struct file_stream *in,
                            struct err *e)
{
    struct marian_bin *b = calloc(1, sizeof *b);
    enum status st;

    *out = NULL;
    if (!b || !(b->base.name = strdup(file_stream_name(in)))) {
        st = err_nomem(e, file_stream_name(in));
        file_stream_close(in);
        free(b);
        return st;
    }
    b->base.ops = &marian_bin_ops;
    b->in = in;
    st = read_bin_header(b, e);
    if (st) marian_bin_close(&b->base);
    else *out = &b->base;
    return st;
}
