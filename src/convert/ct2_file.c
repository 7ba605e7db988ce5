/* ct2_file.c - reads the list of variables of a CTranslate2 model.bin, and rows
 * of them.
 *
 *     u32 version                          2 to 6
 *     string spec; u32 revision
 *     u32 n; n variables                   name, rank, dimensions, type, data
 *     u32 n; n aliases                     two names; since version 3
 *
 * All numbers are little-endian. A string is a u16 length with its NUL, the
 * bytes and the NUL. Until version 3 the type is the size of an element, and
 * the size of the data is a count; since version 4 they are a number of a list
 * and bytes.
 *
 * After opening, tensor i lies in the stream from items[i].data on, with all of
 * the bytes that its shape needs. items[i].base is i or, for an alias, the
 * variable. items[i].scale is the tensor with the scales of a compressed
 * matrix, which has one element or one for each row. */
#include "convert/ct2_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/stream_elements.h"
#include "text/utf8.h"

#define NAMES_MOST 100000       /* variables and aliases */
#define NAME_MOST 1000          /* bytes of a name with its NUL */
#define TEXT_MOST 1000          /* bytes of a text */
#define INT16_SCALE 1000.0f     /* of an int16 matrix without a scale */
#define NO_SCALE (-1)           /* not compressed */
#define FIXED_SCALE (-2)        /* INT16_SCALE */
#define WINDOW 4096             /* scales that are kept */

struct ct2_item {
    uint64_t data;              /* where the data begin in the stream */
    int base, scale;            /* indexes of tensors; scale may be NO_SCALE
                                   or FIXED_SCALE */
};

struct ct2_name {               /* to be sorted */
    const char *name;
    int index;
};

/* Scales first .. first + n of a tensor, so that not each row needs a read of
 * its own. */
struct scale_window {
    int tensor;                 /* NO_SCALE: empty */
    int64_t first, n;
    float value[WINDOW];
};

struct ct2_file {
    struct tensor_file base;
    struct file_stream *in;
    uint64_t at;                /* while it is opened: the next byte */
    int version, revision;
    char *spec;
    struct ct2_item *items;     /* [base.n] */
    size_t cap_items, cap_tensors;
    struct scale_window window;
};

static enum status bad_ct2_tensor(const struct ct2_file *f, const char *name,
                                  const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" %s", f->base.name,
                   name, what);
}

/* ---- fields ---- */

static enum status take_bytes(struct ct2_file *f, void *out, size_t n,
                              struct err *e)
{
    enum status st = file_stream_read(f->in, f->at, out, n, e);

    if (!st) f->at += n;
    return st;
}

/* Read an unsigned number of n bytes. */
static enum status take_number(struct ct2_file *f, uint32_t *out, size_t n,
                               struct err *e)
{
    uint8_t b[4];
    enum status st = take_bytes(f, b, n, e);

    *out = 0;
    for (size_t i = 0; i < n && !st; i++) *out |= (uint32_t)b[i] << 8 * i;
    return st;
}

static bool is_plain_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~') return false;
    return true;
}

/* Read a string of visible ASCII characters; the caller frees it. `what` says
 * what it is. */
static enum status take_string(struct ct2_file *f, char **out,
                               const char *what, struct err *e)
{
    uint64_t at = f->at;
    char text[NAME_MOST];
    uint32_t n;
    enum status st = take_number(f, &n, 2, e);

    *out = NULL;
    if (st) return st;
    if (!n || n > sizeof text)
        return err_set(e, ST_FORMAT, "%s: damaged: %s at byte %" PRIu64
                       " has %" PRIu32 " bytes", f->base.name, what, at, n);
    st = take_bytes(f, text, n, e);
    if (st) return st;
    if (text[n - 1] || !is_plain_name(text, n - 1))
        return err_set(e, ST_FORMAT, "%s: damaged: %s at byte %" PRIu64
                       " is not a name", f->base.name, what, at);
    *out = strdup(text);
    return *out ? ST_OK : err_nomem(e, f->base.name);
}

/* ---- one variable ---- */

static enum element element_of_version_4(uint32_t type)
{
    static const enum element types[] = {
        ELEMENT_F32, ELEMENT_I8, ELEMENT_I16, ELEMENT_I32, ELEMENT_F16,
        ELEMENT_BF16,
    };

    return type < sizeof types / sizeof *types ? types[type] : ELEMENT_OTHER;
}

static enum element element_of_size(uint32_t size)
{
    return size == 4   ? ELEMENT_F32
           : size == 2 ? ELEMENT_I16
           : size == 1 ? ELEMENT_I8
                       : ELEMENT_OTHER;
}

/* Read the shape, and the product of its dimensions. */
static enum status take_shape(struct ct2_file *f, struct file_tensor *t,
                              uint64_t *count, struct err *e)
{
    uint32_t rank, dim;
    enum status st = take_number(f, &rank, 1, e);

    *count = 1;
    t->n_dims = (int)rank;
    for (uint32_t i = 0; i < FILE_TENSOR_DIMS; i++) t->shape[i] = 1;
    for (uint32_t i = 0; i < rank && !st; i++) {
        st = take_number(f, &dim, 4, e);
        if (!st && __builtin_mul_overflow(*count, (uint64_t)dim, count))
            st = bad_ct2_tensor(f, t->name, "has a shape that is not valid",
                                e);
        if (!st && i < FILE_TENSOR_DIMS) t->shape[i] = dim;
    }
    return st;
}

/* Read the type and the size, which must be that of `count` elements. */
static enum status take_type(struct ct2_file *f, struct file_tensor *t,
                             uint64_t count, uint64_t *bytes, struct err *e)
{
    uint32_t type, size;
    enum status st = take_number(f, &type, 1, e);

    *bytes = 0;
    if (!st) st = take_number(f, &size, 4, e);
    if (st) return st;
    t->type = f->version >= 4 ? element_of_version_4(type)
                              : element_of_size(type);
    if (t->type == ELEMENT_OTHER)
        return bad_ct2_tensor(f, t->name, "has an unknown type", e);
    if (__builtin_mul_overflow(count, element_bytes(t->type), bytes) ||
        (f->version >= 4 ? *bytes : count) != size)
        return bad_ct2_tensor(f, t->name, "has a size that does not match its "
                              "shape", e);
    return ST_OK;
}

static enum status read_variable(struct ct2_file *f, struct file_tensor *t,
                                 struct ct2_item *item, struct err *e)
{
    uint64_t count, bytes, size = file_stream_size(f->in);
    enum status st = take_shape(f, t, &count, e);

    if (!st) st = take_type(f, t, count, &bytes, e);
    if (st) return st;
    if (bytes > size - f->at)
        return bad_ct2_tensor(f, t->name, "is longer than the rest of the "
                              "file (truncated?)", e);
    item->data = f->at;
    f->at += bytes;
    return ST_OK;
}

/* ---- the lists ---- */

/* Read a name and add a tensor without a shape. */
static enum status add_name(struct ct2_file *f, const char *what,
                            struct err *e)
{
    size_t n = (size_t)f->base.n;
    char *name;
    enum status st = take_string(f, &name, what, e);

    if (st) return st;
    if (!*name)
        st = err_set(e, ST_FORMAT, "%s: damaged: %s has no name",
                     f->base.name, what);
    else if (!mem_grow(&f->base.at, &f->cap_tensors, n + 1,
                       sizeof *f->base.at) ||
             !mem_grow(&f->items, &f->cap_items, n + 1, sizeof *f->items))
        st = err_nomem(e, f->base.name);
    if (st) {
        free(name);
        return st;
    }
    f->base.at[n] = (struct file_tensor){ .name = name, .index = (int)n };
    f->items[n] = (struct ct2_item){ 0, (int)n, NO_SCALE };
    f->base.n++;
    return ST_OK;
}

static enum status take_count(struct ct2_file *f, uint32_t *n,
                              const char *what, struct err *e)
{
    enum status st = take_number(f, n, 4, e);

    if (st || *n <= NAMES_MOST) return st;
    return err_set(e, ST_FORMAT, "%s: damaged: it would have %" PRIu32 " %s",
                   f->base.name, *n, what);
}

static enum status read_variables(struct ct2_file *f, struct err *e)
{
    uint32_t n;
    enum status st = take_count(f, &n, "variables", e);

    for (uint32_t i = 0; i < n && !st; i++) {
        st = add_name(f, "a variable", e);
        if (!st) st = read_variable(f, &f->base.at[i], &f->items[i], e);
    }
    return st;
}

static int compare_ct2_names(const void *x, const void *y)
{
    return strcmp(((const struct ct2_name *)x)->name,
                  ((const struct ct2_name *)y)->name);
}

/* All names, sorted, in malloc memory. NULL: out of memory. */
static struct ct2_name *sort_names(const struct ct2_file *f)
{
    size_t n = (size_t)f->base.n;
    struct ct2_name *names = malloc((n + 1) * sizeof *names);

    for (size_t i = 0; i < n && names; i++)
        names[i] = (struct ct2_name){ f->base.at[i].name, (int)i };
    if (names) qsort(names, n, sizeof *names, compare_ct2_names);
    return names;
}

/* The index of a name, or -1. */
static int find_name(const struct ct2_name *names, int n, const char *name)
{
    struct ct2_name key = { name, 0 };
    const struct ct2_name *found = bsearch(&key, names, (size_t)n,
                                           sizeof key, compare_ct2_names);

    return found ? found->index : -1;
}

static enum status read_alias(struct ct2_file *f, const struct ct2_name *names,
                              int n, struct err *e)
{
    int i = f->base.n, base;
    char *of = NULL;
    enum status st = add_name(f, "an alias", e);

    if (!st) st = take_string(f, &of, "the variable of an alias", e);
    if (st) return st;
    base = find_name(names, n, of);
    if (base < 0) {
        st = err_set(e, ST_FORMAT, "%s: \"%.100s\" is an alias of \"%.100s\", "
                     "which does not exist", f->base.name, f->base.at[i].name,
                     of);
    } else {
        const char *name = f->base.at[i].name;

        f->base.at[i] = f->base.at[base];
        f->base.at[i].name = name;
        f->base.at[i].index = i;
        f->base.at[i].alias = true;
        f->items[i] = f->items[base];
    }
    free(of);
    return st;
}

static enum status read_aliases(struct ct2_file *f, struct err *e)
{
    struct ct2_name *names = sort_names(f);
    int n_variables = f->base.n;
    uint32_t n = 0;
    enum status st = names ? take_count(f, &n, "aliases", e)
                           : err_nomem(e, f->base.name);

    for (uint32_t i = 0; i < n && !st; i++)
        st = read_alias(f, names, n_variables, e);
    free(names);
    return st;
}

/* ---- scales ---- */

static bool is_float(enum element type)
{
    return type == ELEMENT_F32 || type == ELEMENT_F16 || type == ELEMENT_BF16;
}

static bool is_compressed(const struct file_tensor *t)
{
    size_t n = strlen(t->name), m = strlen("weight");

    return (t->type == ELEMENT_I8 || t->type == ELEMENT_I16) &&
           t->n_dims == 2 && n >= m && !strcmp(t->name + n - m, "weight");
}

static enum status check_scale(const struct ct2_file *f,
                               const struct file_tensor *t,
                               const struct file_tensor *scale, struct err *e)
{
    int64_t n = file_tensor_cols(scale);

    if (is_float(scale->type) && scale->n_dims <= 1 &&
        (n == 1 || n == file_tensor_rows(t)))
        return ST_OK;
    return bad_ct2_tensor(f, scale->name, "should be one float for each row "
                          "of the matrix, or one for all", e);
}

/* Find the scale of a matrix, which is not an alias. */
static enum status link_scale(struct ct2_file *f, const struct ct2_name *names,
                              const struct file_tensor *t, struct err *e)
{
    char name[NAME_MOST + sizeof "_scale"];
    int scale;

    strcat(strcpy(name, t->name), "_scale");
    scale = find_name(names, f->base.n, name);
    if (scale < 0 && t->type == ELEMENT_I8)
        return bad_ct2_tensor(f, t->name, "is int8, but there is no scale "
                              "for it", e);
    f->items[t->index].scale = scale < 0 ? FIXED_SCALE : f->items[scale].base;
    return scale < 0 ? ST_OK : check_scale(f, t, &f->base.at[scale], e);
}

/* Give the aliases the scales of their variables, and mark all scales. */
static void mark_scales(struct ct2_file *f)
{
    for (int i = 0; i < f->base.n; i++) {
        struct ct2_item *item = &f->items[i];

        item->scale = f->items[item->base].scale;
        if (item->scale >= 0) f->base.at[item->scale].used = true;
    }
    for (int i = 0; i < f->base.n; i++)
        f->base.at[i].used = f->base.at[f->items[i].base].used;
}

static enum status link_scales(struct ct2_file *f, struct err *e)
{
    struct ct2_name *names = sort_names(f);
    enum status st = names ? ST_OK : err_nomem(e, f->base.name);

    for (int i = 1; i < f->base.n && !st; i++)
        if (!compare_ct2_names(&names[i - 1], &names[i]))
            st = bad_ct2_tensor(f, names[i].name, "occurs twice", e);
    for (int i = 0; i < f->base.n && !st; i++)
        if (f->items[i].base == i && is_compressed(&f->base.at[i]))
            st = link_scale(f, names, &f->base.at[i], e);
    free(names);
    if (!st) mark_scales(f);
    return st;
}

/* ---- the file ---- */

static enum status read_version(struct ct2_file *f, struct err *e)
{
    uint32_t version, revision;
    enum status st = take_number(f, &version, 4, e);

    if (st) return st;
    if (version == 1)
        return err_set(e, ST_VERSION, "%s: version 1 of the CTranslate2 format "
                       "cannot be read; convert the original model again with "
                       "a newer CTranslate2", f->base.name);
    if (version < 2 || version > 6)
        return err_set(e, ST_VERSION, "%s: not a CTranslate2 model, or one of "
                       "a newer version: its version is %" PRIu32 ", and 2 to "
                       "6 can be read", f->base.name, version);
    f->version = (int)version;
    st = take_string(f, &f->spec, "the kind of the model", e);
    if (!st) st = take_number(f, &revision, 4, e);
    if (st) return st;
    if (revision > 1000)
        return err_set(e, ST_FORMAT, "%s: damaged: its revision would be "
                       "%" PRIu32, f->base.name, revision);
    f->revision = (int)revision;
    return ST_OK;
}

static enum status check_end(const struct ct2_file *f, struct err *e)
{
    uint64_t size = file_stream_size(f->in);

    assert(f->at <= size);
    if (f->at == size) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: damaged: %" PRIu64 " bytes follow its "
                   "last entry", f->base.name, size - f->at);
}

static enum status read_ct2_file(struct ct2_file *f, struct err *e)
{
    enum status st = read_version(f, e);

    if (!st) st = read_variables(f, e);
    if (!st && f->version >= 3) st = read_aliases(f, e);
    if (!st) st = check_end(f, e);
    if (!st) st = link_scales(f, e);
    return st;
}

/* The scale of a row of a matrix, from the window or read into it. */
static enum status scale_of_row(struct ct2_file *f, int scale, int64_t row,
                                float *out, struct err *e)
{
    const struct file_tensor *t = &f->base.at[scale];
    struct scale_window *w = &f->window;
    int64_t cols = file_tensor_cols(t);
    enum status st;

    if (cols == 1) row = 0;
    if (w->tensor != scale || row < w->first || row >= w->first + w->n) {
        w->tensor = NO_SCALE;
        w->first = row;
        w->n = cols - row < WINDOW ? cols - row : WINDOW;
        st = stream_elements_read(
            f->in, f->items[scale].data +
            (uint64_t)row * element_bytes(t->type), t->type, (size_t)w->n,
            w->value, e);
        if (st) return st;
        w->tensor = scale;
    }
    *out = w->value[row - w->first];
    return ST_OK;
}

static enum status ct2_file_read(struct tensor_file *base,
                                 const struct file_tensor *t, int64_t row,
                                 int64_t n, float *out, struct err *e)
{
    struct ct2_file *f = (struct ct2_file *)base;
    const struct ct2_item *item = &f->items[t->index];
    int64_t cols = file_tensor_cols(t);
    uint64_t skip = (uint64_t)row * (uint64_t)cols * element_bytes(t->type);
    enum status st = stream_elements_read(f->in, item->data + skip, t->type,
                                          (size_t)(n * cols), out, e);
    float scale = INT16_SCALE;

    if (item->scale == NO_SCALE) return st;
    for (int64_t i = 0; i < n && !st; i++) {
        if (item->scale >= 0)
            st = scale_of_row(f, item->scale, row + i, &scale, e);
        for (int64_t k = 0; k < cols && !st; k++) out[i * cols + k] /= scale;
    }
    return st;
}

static void ct2_file_close(struct tensor_file *base)
{
    struct ct2_file *f = (struct ct2_file *)base;

    for (int i = 0; i < base->n; i++)
        free((char *)(uintptr_t)base->at[i].name);
    free(base->at);
    free(base->name);
    free(f->items);
    free(f->spec);
    file_stream_close(f->in);
    free(f);
}

static const struct tensor_file_ops ct2_file_ops = {
    .read = ct2_file_read,
    .close = ct2_file_close,
};

enum status ct2_file_open(struct tensor_file **out, struct file_stream *in,
                          struct err *e)
{
    struct ct2_file *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (!f) {
        st = err_nomem(e, file_stream_name(in));
        file_stream_close(in);
        return st;
    }
    f->base.ops = &ct2_file_ops;
    f->in = in;
    f->window.tensor = NO_SCALE;
    f->base.name = strdup(file_stream_name(in));
    st = f->base.name ? read_ct2_file(f, e)
                      : err_nomem(e, file_stream_name(in));
    if (st) ct2_file_close(&f->base);
    else *out = &f->base;
    return st;
}

/* ---- what the format has besides tensors ---- */

static const struct ct2_file *ct2_file_of(const struct tensor_file *f)
{
    assert(f->ops == &ct2_file_ops);
    return (const struct ct2_file *)f;
}

int ct2_file_version(const struct tensor_file *f)
{
    return ct2_file_of(f)->version;
}

const char *ct2_file_spec(const struct tensor_file *f)
{
    return ct2_file_of(f)->spec;
}

int ct2_file_revision(const struct tensor_file *f)
{
    return ct2_file_of(f)->revision;
}

struct file_tensor *ct2_file_alias(const struct tensor_file *f,
                                   const struct file_tensor *t)
{
    int base = ct2_file_of(f)->items[t->index].base;

    return base == t->index ? NULL : &f->at[base];
}

enum status ct2_file_text(struct tensor_file *f, const struct file_tensor *t,
                          struct strbuf *out, struct err *e)
{
    const struct ct2_file *c = ct2_file_of(f);
    int64_t n = file_tensor_cols(t);
    char text[TEXT_MOST];
    enum status st;

    if (t->type != ELEMENT_I8 || t->n_dims != 1 || n > TEXT_MOST)
        return bad_ct2_tensor(c, t->name, "should be a text", e);
    st = file_stream_read(c->in, c->items[t->index].data, text, (size_t)n, e);
    if (st) return st;
    if (memchr(text, 0, (size_t)n) ||
        utf8_check(text, (size_t)n) != (size_t)n)
        return bad_ct2_tensor(c, t->name, "is not a text in UTF-8", e);
    return strbuf_add(out, text, (size_t)n) ? ST_OK : err_nomem(e, f->name);
}
