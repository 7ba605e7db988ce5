/* safetensors.c - parses and checks the header of a .safetensors file, and
 * converts its elements to floats. After the checks, every tensor lies inside
 * the mapped file. */
#include "convert/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/invariant.h"
#include "tensor/tensor.h"

#define HEADER_MAX 100000000    /* the limit of the safetensors library */
#define DIM_MAX 0x40000000

static const struct { const char *name; size_t bytes; } types[SF_COUNT] = {
    [SF_F32] = { "F32", 4 }, [SF_F16] = { "F16", 2 }, [SF_BF16] = { "BF16", 2 },
};

struct safetensors {
    struct mapping map;
    char *name;
    json_t *json;               /* owns the names of the tensors */
    const uint8_t *data;        /* the part after the header */
    uint64_t data_size;
    struct sf_tensor *at;       /* [n], sorted by position in the data */
    int n;
};

/* ---- the header ---- */

static enum status read_json(struct safetensors *s, struct err *e)
{
    uint64_t len = 0;
    json_error_t why;

    if (s->map.size < 8)
        return err_set(e, ST_FORMAT, "%s: not a safetensors file: it has only "
                       "%zu bytes", s->name, s->map.size);
    for (int i = 0; i < 8; i++) len |= (uint64_t)s->map.data[i] << 8 * i;
    if (len > HEADER_MAX || len > s->map.size - 8)
        return err_set(e, ST_FORMAT, "%s: truncated or not a safetensors "
                       "file: its header would have %" PRIu64 " bytes, the "
                       "file has %zu", s->name, len, s->map.size);
    s->data = s->map.data + 8 + len;
    s->data_size = s->map.size - 8 - len;
    s->json = json_loadb((const char *)s->map.data + 8, len,
                         JSON_REJECT_DUPLICATES, &why);
    if (!s->json && !why.text[0])       /* jansson is out of memory */
        return err_nomem(e, s->name);
    if (!json_is_object(s->json))
        return err_set(e, ST_FORMAT, "%s: not a safetensors file: its header "
                       "is not a JSON object (%s)", s->name,
                       s->json ? "another value" : why.text);
    return ST_OK;
}

static enum status bad_tensor(const struct safetensors *s, const char *tensor,
                              const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" %s", s->name, tensor,
                   what);
}

static bool read_type(struct sf_tensor *t, const json_t *type)
{
    const char *name = json_string_value(type);

    for (int i = 0; i < SF_COUNT; i++)
        if (name && !strcmp(types[i].name, name)) {
            t->type = (enum sf_type)i;
            return true;
        }
    return false;
}

static bool read_shape(struct sf_tensor *t, const json_t *shape)
{
    size_t n = json_array_size(shape);

    if (n < 1 || n > 2) return false;
    t->n_dims = (int)n;
    t->shape[1] = 1;
    for (size_t i = 0; i < n; i++) {
        json_t *dim = json_array_get(shape, i);

        t->shape[i] = json_integer_value(dim);
        if (!json_is_integer(dim) || t->shape[i] < 1 || t->shape[i] > DIM_MAX)
            return false;
    }
    return true;
}

static bool read_offsets(struct sf_tensor *t, const json_t *offsets,
                         uint64_t data_size)
{
    json_t *begin = json_array_get(offsets, 0);
    json_t *end = json_array_get(offsets, 1);

    if (json_array_size(offsets) != 2 || !json_is_integer(begin) ||
        !json_is_integer(end) || json_integer_value(begin) < 0)
        return false;
    t->begin = (uint64_t)json_integer_value(begin);
    t->end = (uint64_t)json_integer_value(end);
    return t->begin <= t->end && t->end <= data_size;
}

static enum status read_tensor(const struct safetensors *s,
                               struct sf_tensor *t, const char *name,
                               const json_t *entry, struct err *e)
{
    t->name = name;
    if (!read_type(t, json_object_get(entry, "dtype")))
        return bad_tensor(s, name, "has a dtype other than F32, F16 or BF16",
                          e);
    if (!read_shape(t, json_object_get(entry, "shape")))
        return bad_tensor(s, name, "has a shape other than [n] or [n, k]", e);
    if (!read_offsets(t, json_object_get(entry, "data_offsets"), s->data_size))
        return bad_tensor(s, name, "lies outside the file (truncated?)", e);
    if (t->end - t->begin !=
        (uint64_t)t->shape[0] * (uint64_t)t->shape[1] * types[t->type].bytes)
        return bad_tensor(s, name, "has a size that does not match its shape",
                          e);
    assert(t->end <= (uint64_t)(s->map.data + s->map.size - s->data));
    t->data = s->data + t->begin;
    return ST_OK;
}

static enum status read_tensors(struct safetensors *s, struct err *e)
{
    const char *name;
    json_t *entry;
    enum status st;

    s->at = calloc(json_object_size(s->json) + 1, sizeof *s->at);
    if (!s->at) return err_nomem(e, s->name);
    json_object_foreach(s->json, name, entry) {
        if (!strcmp(name, "__metadata__")) continue;
        st = read_tensor(s, &s->at[s->n++], name, entry, e);
        if (st) return st;
    }
    return ST_OK;
}

static int compare_begin(const void *a, const void *b)
{
    const struct sf_tensor *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Sort the tensors by position, and check that they fill the data exactly. */
static enum status check_filled(struct safetensors *s, struct err *e)
{
    uint64_t at = 0;

    qsort(s->at, (size_t)s->n, sizeof *s->at, compare_begin);
    for (int i = 0; i < s->n; i++) {
        if (s->at[i].begin != at)
            return bad_tensor(s, s->at[i].name, "does not begin where the "
                              "previous tensor ends", e);
        at = s->at[i].end;
    }
    if (at != s->data_size)
        return err_set(e, ST_FORMAT, "%s: damaged: its tensors have %" PRIu64
                       " bytes, but the data has %" PRIu64, s->name, at,
                       s->data_size);
    return ST_OK;
}

enum status safetensors_open(struct safetensors **out, const char *path,
                             struct err *e)
{
    struct safetensors *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, path);
    s->name = strdup(path);
    st = s->name ? mapping_open(&s->map, path, e) : err_nomem(e, path);
    if (!st) st = read_json(s, e);
    if (!st) st = read_tensors(s, e);
    if (!st) st = check_filled(s, e);
    if (st) safetensors_close(s);
    else *out = s;
    return st;
}

void safetensors_close(struct safetensors *s)
{
    if (!s) return;
    json_decref(s->json);
    mapping_close(&s->map);
    free(s->at);
    free(s->name);
    free(s);
}

const char *safetensors_name(const struct safetensors *s) { return s->name; }
int safetensors_count(const struct safetensors *s) { return s->n; }

struct sf_tensor *safetensors_at(struct safetensors *s, int i)
{
    return i >= 0 && i < s->n ? &s->at[i] : NULL;
}

struct sf_tensor *safetensors_find(struct safetensors *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->at[i].name, name)) return &s->at[i];
    return NULL;
}

/* ---- elements ---- */

static float read_element(enum sf_type type, const uint8_t *p)
{
    uint32_t u = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    float f;

    if (type == SF_F16) return f16_to_f32((uint16_t)u);
    if (type == SF_BF16) return bf16_to_f32((uint16_t)u);
    u |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    memcpy(&f, &u, sizeof f);
    return f;
}

bool sf_tensor_read(const struct sf_tensor *t, float *out)
{
    size_t n = (size_t)t->shape[0] * (size_t)t->shape[1];
    size_t step = types[t->type].bytes;
    bool finite = true;

    assert(t->end - t->begin == n * step);
    for (size_t i = 0; i < n; i++) {
        out[i] = read_element(t->type, t->data + i * step);
        finite &= isfinite(out[i]) != 0;
    }
    return finite;
}
