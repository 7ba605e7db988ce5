/* npz_file.c - reads the headers of the .npy files in a zip archive, and rows
 * of their arrays.
 *
 * Array i is entry i of the archive, and its numbers begin at offset data[i] of
 * the entry. One entry is open at a time: the one that was read last, because
 * an open entry needs memory, and arrays are usually read one after another. */
#include "convert/npz_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/load_le.h"
#include "convert/file_set.h"
#include "convert/stream_elements.h"

#define NPY_MAGIC "\x93NUMPY"
#define NPY_START 12            /* magic, version, and a length of 4 bytes */
#define NPY_HEADER_MOST 65536   /* bytes; numpy writes 118 for most arrays */

struct npz_file {
    struct tensor_file base;
    struct file_set *files;     /* [base.n] entries */
    uint64_t *data;             /* [base.n] */
    struct file_stream *open;   /* entry `open_index`, or NULL */
    int open_index;
};

static enum status bad_npy(const struct npz_file *z, const char *array,
                           const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: array \"%.100s\" %s", z->base.name,
                   array, what);
}

/* ---- the header: a dict in the syntax of Python ---- */

struct npy_text { const char *p, *end; };

struct npy_header {
    char type[16];              /* "<f4" */
    bool fortran;
    int n_dims;
    int64_t shape[FILE_TENSOR_DIMS];
    uint64_t count;             /* product of all dimensions */
};

static void npy_skip_blanks(struct npy_text *t)
{
    while (t->p < t->end && strchr(" \t\r\n", *t->p) && *t->p) t->p++;
}

/* Skip a character, after blanks. Returns false if another one comes. */
static bool npy_char(struct npy_text *t, char c)
{
    npy_skip_blanks(t);
    if (t->p == t->end || *t->p != c) return false;
    t->p++;
    return true;
}

/* Read a string in quotes, without escapes. */
static bool npy_string(struct npy_text *t, char *out, size_t size)
{
    char quote = npy_char(t, '\'') ? '\'' : npy_char(t, '"') ? '"' : 0;
    size_t n = 0;

    while (quote && t->p < t->end && *t->p != quote) {
        if (n + 1 == size || *t->p == '\\' || !*t->p) return false;
        out[n++] = *t->p++;
    }
    out[n] = 0;
    return quote && npy_char(t, quote);
}

static bool npy_bool(struct npy_text *t, bool *out)
{
    const char *word;

    npy_skip_blanks(t);
    *out = t->p < t->end && *t->p == 'T';
    word = *out ? "True" : "False";
    if ((size_t)(t->end - t->p) < strlen(word) ||
        strncmp(t->p, word, strlen(word)))
        return false;
    t->p += strlen(word);
    return true;
}

static bool npy_size(struct npy_text *t, int64_t *out)
{
    int n = 0;

    npy_skip_blanks(t);
    for (*out = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9'; n++, t->p++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, *t->p - '0', out))
            return false;
    npy_char(t, 'L');           /* numpy under Python 2 writes "3L" */
    return n > 0;
}

/* Read "()", "(3,)" or "(3, 4)". */
static bool npy_shape(struct npy_text *t, struct npy_header *h)
{
    bool more = true;

    if (!npy_char(t, '(')) return false;
    for (h->n_dims = 0, h->count = 1; !npy_char(t, ')'); h->n_dims++) {
        int64_t n;

        if (!more || !npy_size(t, &n) ||
            __builtin_mul_overflow(h->count, (uint64_t)n, &h->count))
            return false;
        if (h->n_dims < FILE_TENSOR_DIMS) h->shape[h->n_dims] = n;
        more = npy_char(t, ',');
    }
    return true;
}

enum { NPY_DESCR = 1, NPY_ORDER = 2, NPY_SHAPE = 4, NPY_ALL = 7 };

/* Read a key and its value. Returns which one it was, 0 if it is not valid. */
static int npy_pair(struct npy_text *t, struct npy_header *h)
{
    char key[16];

    if (!npy_string(t, key, sizeof key) || !npy_char(t, ':')) return 0;
    if (!strcmp(key, "descr"))
        return npy_string(t, h->type, sizeof h->type) ? NPY_DESCR : 0;
    if (!strcmp(key, "fortran_order"))
        return npy_bool(t, &h->fortran) ? NPY_ORDER : 0;
    if (!strcmp(key, "shape")) return npy_shape(t, h) ? NPY_SHAPE : 0;
    return 0;
}

/* Each key must be there once. */
static bool npy_dict(struct npy_text *t, struct npy_header *h)
{
    int found = 0;
    bool more = true;

    for (size_t i = 0; i < FILE_TENSOR_DIMS; i++) h->shape[i] = 1;
    if (!npy_char(t, '{')) return false;
    while (!npy_char(t, '}')) {
        int which = more ? npy_pair(t, h) : 0;

        if (!which || (found & which)) return false;
        found |= which;
        more = npy_char(t, ',');
    }
    npy_skip_blanks(t);
    return found == NPY_ALL && t->p == t->end;
}

static enum element npy_element(const char *type)
{
    static const struct { const char *name; enum element type; } known[] = {
        { "<f4", ELEMENT_F32 }, { "<f2", ELEMENT_F16 }, { "<f8", ELEMENT_F64 },
        { "|i1", ELEMENT_I8 },  { "<i1", ELEMENT_I8 },  { "|u1", ELEMENT_U8 },
        { "<u1", ELEMENT_U8 },  { "<i2", ELEMENT_I16 }, { "<i4", ELEMENT_I32 },
        { "<i8", ELEMENT_I64 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, type)) return known[i].type;
    return ELEMENT_OTHER;
}

/* Check the parsed header of tensor t against the bytes that follow it. */
static enum status check_npy(const struct npz_file *z, struct file_tensor *t,
                             const struct npy_header *h, uint64_t bytes,
                             struct err *e)
{
    uint64_t size;

    t->type = npy_element(h->type);
    t->n_dims = h->n_dims;
    memcpy(t->shape, h->shape, sizeof t->shape);
    if (h->fortran && h->n_dims > 1)
        return bad_npy(z, t->name, "is stored in Fortran order, which is not "
                       "supported", e);
    if (h->type[0] == '>')
        return bad_npy(z, t->name, "is stored in big-endian order, which is "
                       "not supported", e);
    if (t->type == ELEMENT_OTHER) return ST_OK;
    if (__builtin_mul_overflow(h->count, (uint64_t)element_bytes(t->type),
                               &size) || size != bytes)
        return bad_npy(z, t->name, "has a size that does not match its shape",
                       e);
    return ST_OK;
}

/* Find the header in an entry: *at is its first byte, *n its length. */
static enum status find_npy_header(const struct npz_file *z, const char *array,
                                   struct file_stream *in, uint64_t *at,
                                   uint64_t *n, struct err *e)
{
    uint8_t b[NPY_START];
    enum status st;

    if (file_stream_size(in) < sizeof b)
        return bad_npy(z, array, "is too short for an .npy file", e);
    st = file_stream_read(in, 0, b, sizeof b, e);
    if (st) return st;
    if (memcmp(b, NPY_MAGIC, 6))
        return bad_npy(z, array, "is not an .npy file", e);
    if (b[6] < 1 || b[6] > 3)
        return err_set(e, ST_VERSION, "%s: array \"%.100s\" has version %d of "
                       "the .npy format; 1 to 3 are known", z->base.name,
                       array, b[6]);
    *at = b[6] == 1 ? 10 : 12;
    *n = b[6] == 1 ? load_u16(b + 8) : load_u32(b + 8);
    if (*n > NPY_HEADER_MOST || *n > file_stream_size(in) - *at)
        return bad_npy(z, array, "has a header that is too long", e);
    return ST_OK;
}

/* Read the header of array i from its entry. */
static enum status read_npy_header(struct npz_file *z, int i,
                                   struct file_stream *in, struct err *e)
{
    struct file_tensor *t = &z->base.at[i];
    struct npy_header h = { 0 };
    uint64_t at = 0, n = 0;
    enum status st = find_npy_header(z, t->name, in, &at, &n, e);
    char *text;

    if (st) return st;
    text = malloc((size_t)n + 1);
    if (!text) return err_nomem(e, z->base.name);
    st = file_stream_read(in, at, text, (size_t)n, e);
    if (!st && !npy_dict(&(struct npy_text){ text, text + n }, &h))
        st = bad_npy(z, t->name, "has a header that is not valid", e);
    free(text);
    z->data[i] = at + n;
    return st ? st : check_npy(z, t, &h, file_stream_size(in) - at - n, e);
}

/* ---- the file ---- */

/* Open entry i, unless it is open. */
static enum status open_entry(struct npz_file *z, int i, struct err *e)
{
    if (z->open && z->open_index == i) return ST_OK;
    file_stream_close(z->open);
    z->open_index = i;
    return file_stream_open(&z->open, z->files, file_set_name(z->files, i), e);
}

/* Make the table of arrays. The names belong to the file from the moment they
 * are in it. */
static enum status read_arrays(struct npz_file *z, struct err *e)
{
    int n = file_set_count(z->files);

    if (!n)
        return err_set(e, ST_FORMAT, "%s: contains no arrays", z->base.name);
    z->base.at = calloc((size_t)n, sizeof *z->base.at);
    z->data = calloc((size_t)n, sizeof *z->data);
    if (!z->base.at || !z->data) return err_nomem(e, z->base.name);
    for (int i = 0; i < n; i++) {
        const char *entry = file_set_name(z->files, i);
        size_t len = strlen(entry);
        enum status st;

        if (len < 5 || strcmp(entry + len - 4, ".npy"))
            return err_set(e, ST_FORMAT, "%s: not an .npz file: it has an "
                           "entry \"%.100s\"", z->base.name, entry);
        z->base.at[i].index = i;
        z->base.at[i].name = strndup(entry, len - 4);
        if (!z->base.at[i].name) return err_nomem(e, z->base.name);
        z->base.n++;
        st = open_entry(z, i, e);
        if (!st) st = read_npy_header(z, i, z->open, e);
        if (st) return st;
    }
    return ST_OK;
}

static enum status npz_read(struct tensor_file *f, const struct file_tensor *t,
                            int64_t row, int64_t n, float *out, struct err *e)
{
    struct npz_file *z = (struct npz_file *)f;
    uint64_t cols = (uint64_t)file_tensor_cols(t);
    uint64_t at = z->data[t->index] +
                  (uint64_t)row * cols * element_bytes(t->type);
    enum status st = open_entry(z, t->index, e);

    assert(st || at <= file_stream_size(z->open));
    if (st) return st;
    return stream_elements_read(z->open, at, t->type,
                                (size_t)((uint64_t)n * cols), out, e);
}

static void npz_close(struct tensor_file *f)
{
    struct npz_file *z = (struct npz_file *)f;

    for (int i = 0; i < f->n; i++) free((char *)(uintptr_t)f->at[i].name);
    free(f->at);
    free(f->name);
    free(z->data);
    file_stream_close(z->open);
    file_set_close(z->files);
    free(z);
}

static const struct tensor_file_ops npz_file_ops = {
    .read = npz_read,
    .close = npz_close,
};

enum status npz_file_open(struct tensor_file **out, struct file_stream *in,
                          struct err *e)
{
    struct npz_file *z = calloc(1, sizeof *z);
    enum status st;

    *out = NULL;
    if (!z || !(z->base.name = strdup(file_stream_name(in)))) {
        st = err_nomem(e, file_stream_name(in));
        file_stream_close(in);
        free(z);
        return st;
    }
    z->base.ops = &npz_file_ops;
    st = file_set_open_stream(&z->files, in, e);
    if (!st) st = read_arrays(z, e);
    if (st) npz_close(&z->base);
    else *out = &z->base;
    return st;
}
