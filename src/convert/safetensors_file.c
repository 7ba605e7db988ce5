/* safetensors_file.c - parses and checks the header of a .safetensors file, and
 * reads rows of its tensors.
 *
 * The header is kept only while the file is opened. After that, tensor i lies
 * in the stream from data + spans[i].begin on, with all of its bytes. */
#include "convert/safetensors_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/stream_elements.h"

#define HEADER_MOST 16777216    /* 16 MiB; about 100 bytes per tensor are
                                   usual */

/* All types of the format. Those that cannot be read have a size too, so that
 * their tensors are checked. */
static const struct st_type {
    const char *name;
    enum element type;
    unsigned bits;
} st_types[] = {
    { "F32", ELEMENT_F32, 32 },      { "F16", ELEMENT_F16, 16 },
    { "BF16", ELEMENT_BF16, 16 },    { "F64", ELEMENT_F64, 64 },
    { "I8", ELEMENT_I8, 8 },         { "U8", ELEMENT_U8, 8 },
    { "I16", ELEMENT_I16, 16 },      { "I32", ELEMENT_I32, 32 },
    { "I64", ELEMENT_I64, 64 },      { "U16", ELEMENT_OTHER, 16 },
    { "U32", ELEMENT_OTHER, 32 },    { "U64", ELEMENT_OTHER, 64 },
    { "BOOL", ELEMENT_OTHER, 8 },    { "F8_E4M3", ELEMENT_OTHER, 8 },
    { "F8_E5M2", ELEMENT_OTHER, 8 }, { "F8_E8M0", ELEMENT_OTHER, 8 },
};

struct st_span { uint64_t begin, end; };        /* offsets in the data */

struct safetensors_file {
    struct tensor_file base;
    struct file_stream *in;
    uint64_t data, data_size;   /* where the data are in the stream */
    struct st_span *spans;      /* [base.n] */
};

static enum status bad_st_tensor(const struct safetensors_file *s,
                                 const char *tensor, const char *what,
                                 struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" %s", s->base.name,
                   tensor, what);
}

/* ---- one tensor ---- */

static const struct st_type *find_st_type(const json_t *v)
{
    const char *name = json_string_value(v);

    for (size_t i = 0; name && i < sizeof st_types / sizeof *st_types; i++)
        if (!strcmp(st_types[i].name, name)) return &st_types[i];
    return NULL;
}

/* Read the shape, and the product of its dimensions. */
static bool read_st_shape(struct file_tensor *t, const json_t *shape,
                          uint64_t *count)
{
    size_t n = json_array_size(shape);

    if (!json_is_array(shape) || n > 1000) return false;
    t->n_dims = (int)n;
    *count = 1;
    for (size_t i = 0; i < FILE_TENSOR_DIMS; i++) t->shape[i] = 1;
    for (size_t i = 0; i < n; i++) {
        json_t *v = json_array_get(shape, i);
        json_int_t dim = json_integer_value(v);

        if (!json_is_integer(v) || dim < 0 ||
            __builtin_mul_overflow(*count, (uint64_t)dim, count))
            return false;
        if (i < FILE_TENSOR_DIMS) t->shape[i] = dim;
    }
    return true;
}

static bool read_span(const struct safetensors_file *s, struct st_span *span,
                      const json_t *offsets)
{
    json_t *begin = json_array_get(offsets, 0);
    json_t *end = json_array_get(offsets, 1);

    if (json_array_size(offsets) != 2 || !json_is_integer(begin) ||
        !json_is_integer(end) || json_integer_value(begin) < 0 ||
        json_integer_value(end) < json_integer_value(begin))
        return false;
    span->begin = (uint64_t)json_integer_value(begin);
    span->end = (uint64_t)json_integer_value(end);
    return span->end <= s->data_size;
}

static enum status read_st_tensor(const struct safetensors_file *s,
                                  struct file_tensor *t, struct st_span *span,
                                  const json_t *entry, struct err *e)
{
    const struct st_type *type = find_st_type(json_object_get(entry, "dtype"));
    uint64_t count, bits;

    if (!type)
        return bad_st_tensor(s, t->name, "has an unknown dtype", e);
    t->type = type->type;
    if (!read_st_shape(t, json_object_get(entry, "shape"), &count))
        return bad_st_tensor(s, t->name, "has a shape that is not valid", e);
    if (!read_span(s, span, json_object_get(entry, "data_offsets")))
        return bad_st_tensor(s, t->name, "lies outside the file (truncated?)",
                             e);
    if (__builtin_mul_overflow(count, (uint64_t)type->bits, &bits) ||
        bits / 8 != span->end - span->begin)
        return bad_st_tensor(s, t->name, "has a size that does not match its "
                             "shape", e);
    return ST_OK;
}

/* ---- the header ---- */

/* A tensor as it is in the header, to be sorted. */
struct st_item {
    struct st_span span;
    struct file_tensor tensor;
};

static int compare_spans(const void *x, const void *y)
{
    const struct st_span *a = &((const struct st_item *)x)->span;
    const struct st_span *b = &((const struct st_item *)y)->span;

    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static enum status read_items(struct safetensors_file *s,
                              struct st_item *items, json_t *json,
                              struct err *e)
{
    const char *name;
    json_t *entry;
    enum status st = ST_OK;

    json_object_foreach(json, name, entry) {
        struct st_item *x = &items[s->base.n];

        if (!strcmp(name, "__metadata__")) continue;
        x->tensor.name = strdup(name);
        if (!x->tensor.name) return err_nomem(e, s->base.name);
        s->base.n++;
        st = read_st_tensor(s, &x->tensor, &x->span, entry, e);
        if (st) return st;
    }
    return ST_OK;
}

/* The items are sorted by their position. */
static enum status check_spans(const struct safetensors_file *s,
                               const struct st_item *items, struct err *e)
{
    uint64_t at = 0;

    for (int i = 0; i < s->base.n; i++) {
        if (items[i].span.begin != at)
            return bad_st_tensor(s, items[i].tensor.name, "does not begin "
                                 "where the previous tensor ends", e);
        at = items[i].span.end;
    }
    if (at == s->data_size) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: damaged: its tensors have %" PRIu64
                   " bytes, but the data have %" PRIu64, s->base.name, at,
                   s->data_size);
}

/* Make the table of tensors. The names belong to the file from the moment they
 * are in it. */
static enum status read_table(struct safetensors_file *s, json_t *json,
                              struct err *e)
{
    size_t n = json_object_size(json) + 1;
    struct st_item *items = calloc(n, sizeof *items);
    enum status st;

    s->base.at = calloc(n, sizeof *s->base.at);
    s->spans = calloc(n, sizeof *s->spans);
    if (!items || !s->base.at || !s->spans)
        st = err_nomem(e, s->base.name);
    else
        st = read_items(s, items, json, e);
    if (s->base.n) qsort(items, (size_t)s->base.n, sizeof *items,
                         compare_spans);
    if (!st) st = check_spans(s, items, e);
    for (int i = 0; i < s->base.n; i++) {
        s->base.at[i] = items[i].tensor;
        s->base.at[i].index = i;
        s->spans[i] = items[i].span;
    }
    free(items);
    return st;
}

static enum status parse_header(struct safetensors_file *s, const char *text,
                                size_t size, struct err *e)
{
    json_error_t why = { 0 };
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    enum status st;

    if (!json && (!why.text[0] ||
                  json_error_code(&why) == json_error_out_of_memory))
        return err_nomem(e, s->base.name);
    if (!json_is_object(json))
        st = err_set(e, ST_FORMAT, "%s: not a safetensors file: its header is "
                     "not a JSON object (%s)", s->base.name,
                     json ? "another value" : why.text);
    else
        st = read_table(s, json, e);
    json_decref(json);
    return st;
}

static enum status read_header(struct safetensors_file *s, struct err *e)
{
    uint64_t size = file_stream_size(s->in), len = 0;
    uint8_t b[8];
    enum status st;
    char *text;

    if (size < sizeof b)
        return err_set(e, ST_FORMAT, "%s: not a safetensors file: it has only "
                       "%" PRIu64 " bytes", s->base.name, size);
    st = file_stream_read(s->in, 0, b, sizeof b, e);
    if (st) return st;
    for (int i = 0; i < 8; i++) len |= (uint64_t)b[i] << 8 * i;
    if (len > HEADER_MOST || len > size - sizeof b)
        return err_set(e, ST_FORMAT, "%s: truncated or not a safetensors "
                       "file: its header would have %" PRIu64 " bytes, the "
                       "file has %" PRIu64, s->base.name, len, size);
    s->data = sizeof b + len;
    s->data_size = size - s->data;
    text = malloc((size_t)len + 1);
    if (!text) return err_nomem(e, s->base.name);
    st = file_stream_read(s->in, sizeof b, text, (size_t)len, e);
    if (!st) st = parse_header(s, text, (size_t)len, e);
    free(text);
    return st;
}

/* ---- the file ---- */

static enum status safetensors_file_read(struct tensor_file *f,
                                         const struct file_tensor *t,
                                         int64_t row, int64_t n, float *out,
                                         struct err *e)
{
    struct safetensors_file *s = (struct safetensors_file *)f;
    uint64_t cols = (uint64_t)file_tensor_cols(t);
    uint64_t at = (uint64_t)row * cols * element_bytes(t->type);

    assert(s->spans[t->index].end <= s->data_size);
    return stream_elements_read(s->in, s->data + s->spans[t->index].begin + at,
                                t->type, (size_t)((uint64_t)n * cols), out, e);
}

static void safetensors_file_close(struct tensor_file *f)
{
    struct safetensors_file *s = (struct safetensors_file *)f;

    for (int i = 0; i < f->n; i++) free((char *)(uintptr_t)f->at[i].name);
    free(f->at);
    free(f->name);
    free(s->spans);
    file_stream_close(s->in);
    free(s);
}

static const struct tensor_file_ops safetensors_file_ops = {
    .read = safetensors_file_read,
    .close = safetensors_file_close,
};

enum status safetensors_file_open(struct tensor_file **out,
                                  struct file_stream *in, struct err *e)
{
    struct safetensors_file *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) {
        st = err_nomem(e, file_stream_name(in));
        file_stream_close(in);
        return st;
    }
    s->base.ops = &safetensors_file_ops;
    s->in = in;
    s->base.name = strdup(file_stream_name(in));
    st = s->base.name ? read_header(s, e)
                      : err_nomem(e, file_stream_name(in));
    if (st) safetensors_file_close(&s->base);
    else *out = &s->base;
    return st;
}
