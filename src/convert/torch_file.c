/* torch_file.c - finds the pickles and the data of a file of torch.save(), and
 * reads rows of its tensors.
 *
 * A zip archive has the folders and files NAME/data.pkl, NAME/data/KEY (a
 * storage each) and sometimes NAME/byteorder. The older form is a row of
 * pickles - magic number, version, facts about the system, the object, the list
 * of the keys of the storages - and then, for each key, the number of elements
 * as i64 and the elements.
 *
 * After opening, every storage of a tensor that is not ELEMENT_OTHER lies in
 * the file with all of its elements. The names of tensors and storages are
 * those in the pickle. Streams of storages in an archive are opened when they
 * are needed, and the last few are kept. */
#include "convert/torch_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/stream_elements.h"
#include "convert/torch_value.h"
#include "convert/zip_archive.h"

#define PICKLES_FIRST ((size_t)1 << 18) /* how much is read at first */
#define PICKLES_MOST ((size_t)1 << 27)  /* 128 MiB; a few MiB are usual */
#define OPEN_MOST 8                     /* streams of an archive */
#define BLOCK 4096                      /* elements, for strides */

/* The number at the start of the older form, as LONG1 of 10 bytes. */
static const uint8_t torch_magic[] = {
    0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19
};

/* A storage of the older form. */
struct torch_place {
    struct torch_storage of;
    uint64_t at;                /* of its elements in the stream; 0: it is not
                                   in the file */
};

struct torch_open {
    const char *key;            /* NULL: none */
    struct file_stream *in;
    uint64_t used;              /* when, counted in uses */
};

struct torch_file {
    struct tensor_file base;
    struct pickle *pickle;
    struct torch_view *views;   /* [base.n] */

    /* The older form. */
    struct file_stream *in;
    struct torch_place *places; /* [n_places], sorted by key */
    size_t n_places, cap_places;

    /* The archive. */
    struct file_set *set;
    char *folder;               /* "NAME/" */
    struct torch_open open[OPEN_MOST];
    uint64_t uses;
};

static enum status torch_bad(const struct torch_file *f, const char *what,
                             struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: %s", f->base.name, what);
}

/* ---- the archive ---- */

/* The name of an entry of the archive; NULL if memory ran out. */
static char *entry_name(const struct torch_file *f, const char *subfolder,
                        const char *name)
{
    size_t n = strlen(f->folder) + strlen(subfolder) + strlen(name) + 1;
    char *whole = malloc(n);

    if (whole) snprintf(whole, n, "%s%s%s", f->folder, subfolder, name);
    return whole;
}

/* The folder is the one that has data.pkl in it. */
static enum status find_folder(struct torch_file *f, struct err *e)
{
    static const char pkl[] = "/data.pkl";

    for (int i = 0; i < file_set_count(f->set); i++) {
        const char *name = file_set_name(f->set, i);
        const char *slash = strchr(name, '/');

        if (!slash || strcmp(slash, pkl)) continue;
        f->folder = strndup(name, (size_t)(slash - name) + 1);
        return f->folder ? ST_OK : err_nomem(e, f->base.name);
    }
    return torch_bad(f, "not a file of torch.save(): the archive has no "
                     "data.pkl", e);
}

static enum status check_byte_order(struct torch_file *f, struct err *e)
{
    char *name = entry_name(f, "", "byteorder"), *text = NULL;
    enum status st = ST_OK;
    size_t size;

    if (!name) return err_nomem(e, f->base.name);
    if (file_set_has(f->set, name, NULL)) {
        st = file_set_read(f->set, name, 100, &text, &size, e);
        if (!st && strcmp(text, "little"))
            st = torch_bad(f, "its numbers are not in little-endian order", e);
    }
    free(text);
    free(name);
    return st;
}

static enum status read_archive_pickle(struct torch_file *f, struct err *e)
{
    char *name = entry_name(f, "", "data.pkl"), *bytes = NULL;
    size_t size, at = 0;
    enum status st;

    if (!name) return err_nomem(e, f->base.name);
    st = file_set_read(f->set, name, PICKLES_MOST, &bytes, &size, e);
    if (!st) st = pickle_read(&f->pickle, bytes, size, &at, f->base.name, e);
    free(bytes);
    free(name);
    return st;
}

static enum status open_torch_archive(struct torch_file *f,
                                      struct file_stream *in, struct err *e)
{
    enum status st = file_set_open_stream(&f->set, in, e);

    if (!st) st = find_folder(f, e);
    if (!st) st = check_byte_order(f, e);
    return st ? st : read_archive_pickle(f, e);
}

/* The stream of a storage, which belongs to f. */
static enum status open_entry(struct file_stream **out, struct torch_file *f,
                              const char *key, struct err *e)
{
    struct torch_open *oldest = &f->open[0];
    enum status st;
    char *name;

    for (int i = 0; i < OPEN_MOST; i++) {
        struct torch_open *o = &f->open[i];

        if (o->key && !strcmp(o->key, key)) {
            o->used = ++f->uses;
            *out = o->in;
            return ST_OK;
        }
        if (o->used < oldest->used) oldest = o;
    }
    file_stream_close(oldest->in);
    *oldest = (struct torch_open){ 0 };
    name = entry_name(f, "data/", key);
    if (!name) return err_nomem(e, f->base.name);
    st = file_stream_open(&oldest->in, f->set, name, e);
    free(name);
    if (st) return st;
    oldest->key = key;
    oldest->used = ++f->uses;
    *out = oldest->in;
    return ST_OK;
}

/* Whether the archive has a storage, with all of its elements. */
static enum status find_entry(bool *found, const struct torch_file *f,
                              const struct torch_storage *s, struct err *e)
{
    char *name = entry_name(f, "data/", s->key);
    uint64_t bytes, need;

    if (!name) return err_nomem(e, f->base.name);
    *found = file_set_has(f->set, name, &bytes) &&
             !__builtin_mul_overflow(s->n, (uint64_t)s->bytes, &need) &&
             bytes >= need;
    free(name);
    return ST_OK;
}

/* ---- the older form: pickles ---- */

/* The start of the stream. */
struct torch_start {
    uint8_t *bytes;
    size_t size, at;            /* `at` is behind the last pickle */
};

static enum status read_start(struct torch_file *f, struct torch_start *b,
                              size_t size, struct err *e)
{
    uint8_t *bytes = realloc(b->bytes, size + 1);
    enum status st;

    if (!bytes) return err_nomem(e, f->base.name);
    b->bytes = bytes;
    st = file_stream_read(f->in, b->size, bytes + b->size, size - b->size, e);
    if (!st) b->size = size;
    return st;
}

/* Read the next pickle. Where a pickle ends is known only after reading it, so
 * if it seems truncated, more of the stream is read. */
static enum status next_pickle(struct pickle **out, struct torch_file *f,
                               struct torch_start *b, struct err *e)
{
    uint64_t whole = file_stream_size(f->in);

    for (;;) {
        size_t at = b->at, size;
        enum status st = pickle_read(out, b->bytes, b->size, &at, f->base.name,
                                     e);

        if (!st) b->at = at;
        if (st != ST_FORMAT || at < b->size || b->size == whole) return st;
        if (b->size >= PICKLES_MOST)
            return err_set(e, ST_LIMIT, "%s: its pickles have more than %zu "
                           "MB", f->base.name, PICKLES_MOST >> 20);
        size = b->size < whole / 4 ? b->size * 4 : (size_t)whole;
        if (size > PICKLES_MOST) size = PICKLES_MOST;
        st = read_start(f, b, size, e);
        if (st) return st;
    }
}

static enum status check_magic(struct torch_file *f, struct torch_start *b,
                               struct err *e)
{
    struct pickle *p = NULL;
    enum status st = next_pickle(&p, f, b, e);

    pickle_free(p);
    if (st == ST_NOMEM || st == ST_IO) return st;
    if (!st && memmem(b->bytes, b->at, torch_magic, sizeof torch_magic))
        return ST_OK;
    return torch_bad(f, "not a file of torch.save()", e);
}

static enum status check_version(struct torch_file *f, struct torch_start *b,
                                 struct err *e)
{
    struct pickle *p;
    int64_t version = 0;
    enum status st = next_pickle(&p, f, b, e);

    if (st) return st;
    if (!pickle_int(pickle_root(p), &version) || version != 1001)
        st = err_set(e, ST_VERSION, "%s: version %" PRId64 " of PyTorch's "
                     "files is not known", f->base.name, version);
    pickle_free(p);
    return st;
}

static enum status check_system(struct torch_file *f, struct torch_start *b,
                                struct err *e)
{
    struct pickle *p;
    bool little = true;
    enum status st = next_pickle(&p, f, b, e);

    if (st) return st;
    pickle_bool(pickle_get(pickle_root(p), "little_endian"), &little);
    if (!little)
        st = torch_bad(f, "its numbers are not in little-endian order", e);
    pickle_free(p);
    return st;
}

/* ---- the older form: storages ---- */

static int compare_places(const void *x, const void *y)
{
    const struct torch_place *a = x, *b = y;

    return strcmp(a->of.key, b->of.key);
}

static struct torch_place *find_place(const struct torch_file *f,
                                      const char *key)
{
    struct torch_place want = { .of.key = key };

    return key && f->n_places
               ? bsearch(&want, f->places, f->n_places, sizeof want,
                         compare_places)
               : NULL;
}

static bool same_storage(const struct torch_storage *a,
                         const struct torch_storage *b)
{
    return a->n == b->n && !strcmp(a->type, b->type);
}

/* Keep each of the sorted places once. */
static enum status merge_places(struct torch_file *f, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_places; i++) {
        struct torch_place *p = &f->places[i];

        if (!n || compare_places(p, &f->places[n - 1]))
            f->places[n++] = *p;
        else if (!same_storage(&p->of, &f->places[n - 1].of))
            return err_set(e, ST_FORMAT, "%s: the storage \"%.100s\" has two "
                           "types or sizes", f->base.name, p->of.key);
    }
    f->n_places = n;
    return ST_OK;
}

/* Make the sorted list of all storages that the pickle mentions. */
static enum status list_places(struct torch_file *f, struct err *e)
{
    const struct pickle_value *v;

    for (size_t i = 0; (v = pickle_external(f->pickle, i)); i++) {
        struct torch_storage s;

        if (!torch_storage_read(&s, v))
            return torch_bad(f, "it has external data that are no storage", e);
        if (!mem_grow(&f->places, &f->cap_places, f->n_places + 1,
                      sizeof *f->places))
            return err_nomem(e, f->base.name);
        f->places[f->n_places++] = (struct torch_place){ .of = s };
    }
    if (f->n_places)
        qsort(f->places, f->n_places, sizeof *f->places, compare_places);
    return merge_places(f, e);
}

static enum status bad_storage(const struct torch_file *f, const char *key,
                               const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the storage \"%.100s\" %s",
                   f->base.name, key ? key : "?", what);
}

/* Find the storage that begins at *at, and move *at behind it. */
static enum status locate_storage(struct torch_file *f, uint64_t *at,
                                  const char *key, struct err *e)
{
    struct torch_place *p = find_place(f, key);
    uint64_t size = file_stream_size(f->in), bytes, n = 0;
    uint8_t raw[8];
    enum status st;

    if (!p || p->at)
        return bad_storage(f, key, p ? "is listed twice" : "is listed, but no "
                           "value refers to it", e);
    if (!p->of.bytes)
        return err_set(e, ST_FORMAT, "%s: the storage \"%.100s\" has the "
                       "unknown type %.100s", f->base.name, key, p->of.type);
    st = file_stream_read(f->in, *at, raw, sizeof raw, e);
    if (st) return st;
    for (int i = 0; i < 8; i++) n |= (uint64_t)raw[i] << 8 * i;
    if (n != p->of.n)
        return bad_storage(f, key, "has another size than the values say", e);
    *at += sizeof raw;
    if (__builtin_mul_overflow(n, (uint64_t)p->of.bytes, &bytes) ||
        bytes > size - *at)
        return bad_storage(f, key, "is truncated", e);
    p->at = *at;
    *at += bytes;
    return ST_OK;
}

static enum status locate_storages(struct torch_file *f,
                                   const struct pickle_value *keys,
                                   uint64_t at, struct err *e)
{
    enum status st = ST_OK;

    if (pickle_type(keys) != PICKLE_LIST)
        return torch_bad(f, "it has no list of storages", e);
    for (size_t i = 0; i < pickle_count(keys) && !st; i++)
        st = locate_storage(f, &at, pickle_string(pickle_at(keys, i)), e);
    return st;
}

static enum status read_older_pickles(struct torch_file *f,
                                      struct torch_start *b, struct err *e)
{
    struct pickle *keys;
    enum status st = check_magic(f, b, e);

    if (!st) st = check_version(f, b, e);
    if (!st) st = check_system(f, b, e);
    if (!st) st = next_pickle(&f->pickle, f, b, e);
    if (!st) st = list_places(f, e);
    if (st) return st;
    st = next_pickle(&keys, f, b, e);
    if (st) return st;
    st = locate_storages(f, pickle_root(keys), b->at, e);
    pickle_free(keys);
    return st;
}

static enum status open_older(struct torch_file *f, struct err *e)
{
    uint64_t whole = file_stream_size(f->in);
    struct torch_start b = { 0 };
    enum status st = read_start(f, &b, whole < PICKLES_FIRST ? (size_t)whole
                                                             : PICKLES_FIRST,
                                e);

    if (!st) st = read_older_pickles(f, &b, e);
    free(b.bytes);
    return st;
}

/* ---- tensors ---- */

static enum status check_storage(const struct torch_file *f, const char *name,
                                 const struct torch_storage *s, struct err *e)
{
    const struct torch_place *p = find_place(f, s->key);
    bool found = p && p->at;
    enum status st = ST_OK;

    if (f->set) st = find_entry(&found, f, s, e);
    if (st || found) return st;
    return err_set(e, ST_FORMAT, "%s: the data of tensor \"%.100s\" are "
                   "missing or truncated", f->base.name, name);
}

static enum status add_tensor(struct torch_file *f, const char *name,
                              const struct pickle_value *v, struct err *e)
{
    struct file_tensor *t = &f->base.at[f->base.n];
    struct torch_view *view = &f->views[f->base.n];
    const char *wrong = torch_value_read(t, view, v);

    if (wrong)
        return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" %s", f->base.name,
                       name, wrong);
    t->name = name;
    t->index = f->base.n++;
    return t->type == ELEMENT_OTHER ? ST_OK
                                    : check_storage(f, name, &view->of, e);
}

static enum status list_torch_tensors(struct torch_file *f,
                                      const struct pickle_value *dict,
                                      struct err *e)
{
    size_t n = pickle_count(dict);
    enum status st = ST_OK;

    if (n > INT32_MAX) return torch_bad(f, "has too many tensors", e);
    f->base.at = calloc(n + 1, sizeof *f->base.at);
    f->views = calloc(n + 1, sizeof *f->views);
    if (!f->base.at || !f->views) return err_nomem(e, f->base.name);
    for (size_t i = 0; i < n && !st; i++) {
        const char *name = pickle_string(pickle_key(dict, i));
        const struct pickle_value *v = pickle_at(dict, i);

        if (name && torch_value_is_tensor(v)) st = add_tensor(f, name, v, e);
    }
    return st;
}

/* Say what there is in place of the dict. */
static enum status no_torch_dict(const struct torch_file *f, const char *dict,
                                 const struct pickle_value *v, struct err *e)
{
    const char *class = pickle_global(v);

    if (dict)
        return err_set(e, ST_FORMAT, "%s: the file has no dict \"%s\"",
                       f->base.name, dict);
    return err_set(e, ST_FORMAT, "%s: the file does not contain a dict of "
                   "tensors, but %s%s%.100s", f->base.name,
                   pickle_type_name(pickle_type(v)), class ? " " : "",
                   class ? class : "");
}

static enum status find_torch_tensors(struct torch_file *f, const char *dict,
                                      struct err *e)
{
    const struct pickle_value *v = torch_file_root(&f->base);
    enum status st;

    if (dict) v = pickle_get(v, dict);
    if (pickle_type(v) != PICKLE_DICT) return no_torch_dict(f, dict, v, e);
    st = list_torch_tensors(f, v, e);
    if (st || f->base.n) return st;
    return torch_bad(f, "it contains no tensors", e);
}

/* ---- reading ---- */

/* Elements in a stream: n of them, `stride` apart. */
struct torch_run {
    struct file_stream *in;
    enum element type;
    uint64_t at, stride;
    size_t n;
};

/* Write the elements of a run to out, `step` apart. */
static enum status read_run(struct torch_run r, float *out, size_t step,
                            struct err *e)
{
    uint64_t bytes = element_bytes(r.type);
    float block[BLOCK];

    if (r.stride == 1 && step == 1)
        return stream_elements_read(r.in, r.at, r.type, r.n, out, e);
    while (r.n) {
        size_t most = r.stride >= BLOCK ? 1
                    : r.stride ? (BLOCK - 1) / (size_t)r.stride + 1 : r.n;
        size_t k = r.n < most ? r.n : most;
        size_t gap = k > 1 ? (size_t)r.stride : 0;
        enum status st = stream_elements_read(r.in, r.at, r.type,
                                              (k - 1) * gap + 1, block, e);

        if (st) return st;
        for (size_t i = 0; i < k; i++) out[i * step] = block[i * gap];
        out += k * step;
        r.n -= k;
        if (r.n) r.at += k * r.stride * bytes;
    }
    return ST_OK;
}

/* Rows of a view: element (i, j) at start + i * down + j * across. */
struct torch_rows {
    struct file_stream *in;
    enum element type;
    uint64_t start;             /* in bytes */
    uint64_t down, across;      /* in elements */
    size_t n, cols;
};

/* Read row by row or column by column, whichever goes forward in smaller
 * steps. A single column is read at once. */
static enum status read_rows(const struct torch_rows *r, float *out,
                             struct err *e)
{
    bool by_row = r->n == 1 || (r->across <= r->down && r->cols > 1);
    size_t lines = by_row ? r->n : r->cols;
    uint64_t next = (by_row ? r->down : r->across) * element_bytes(r->type);
    struct torch_run run = { r->in, r->type, r->start,
                             by_row ? r->across : r->down,
                             by_row ? r->cols : r->n };

    for (size_t i = 0; i < lines; i++, run.at += next) {
        enum status st = read_run(run, by_row ? out + i * r->cols : out + i,
                                  by_row ? 1 : r->cols, e);

        if (st) return st;
    }
    return ST_OK;
}

/* Rows that lie one after another are one row. */
static void join_rows(struct torch_rows *r)
{
    if (r->cols == 1) r->across = 1;
    if (r->across != 1 || (r->n > 1 && r->down != r->cols)) return;
    r->cols *= r->n;
    r->n = 1;
}

static enum status torch_file_read(struct tensor_file *base,
                                   const struct file_tensor *t, int64_t row,
                                   int64_t n, float *out, struct err *e)
{
    struct torch_file *f = (struct torch_file *)base;
    const struct torch_view *v = &f->views[t->index];
    bool matrix = t->n_dims == 2;
    struct torch_rows r = {
        f->in, t->type, 0, matrix ? v->stride[0] : 0,
        matrix ? v->stride[1] : v->stride[0], (size_t)n,
        (size_t)file_tensor_cols(t)
    };
    enum status st = f->set ? open_entry(&r.in, f, v->of.key, e) : ST_OK;

    if (st) return st;
    r.start = (v->first + (uint64_t)row * r.down) * v->of.bytes;
    if (!f->set) r.start += find_place(f, v->of.key)->at;
    join_rows(&r);
    return read_rows(&r, out, e);
}

/* ---- the file ---- */

static void torch_file_close(struct tensor_file *base)
{
    struct torch_file *f = (struct torch_file *)base;

    for (int i = 0; i < OPEN_MOST; i++) file_stream_close(f->open[i].in);
    file_set_close(f->set);
    file_stream_close(f->in);
    pickle_free(f->pickle);
    free(f->folder);
    free(f->places);
    free(f->views);
    free(f->base.at);
    free(f->base.name);
    free(f);
}

static const struct tensor_file_ops torch_file_ops = {
    .read = torch_file_read,
    .close = torch_file_close,
};

/* The stream belongs to f afterwards. */
static enum status open_form(struct torch_file *f, struct file_stream *in,
                             struct err *e)
{
    bool is_zip;
    enum status st = zip_archive_recognize(&is_zip, in, e);

    if (!st && is_zip) return open_torch_archive(f, in, e);
    f->in = in;
    return st ? st : open_older(f, e);
}

enum status torch_file_open(struct tensor_file **out, struct file_stream *in,
                            const char *dict, struct err *e)
{
    struct torch_file *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (f) f->base.name = strdup(file_stream_name(in));
    if (!f || !f->base.name) {
        st = err_nomem(e, file_stream_name(in));
        file_stream_close(in);
        free(f);
        return st;
    }
    f->base.ops = &torch_file_ops;
    st = open_form(f, in, e);
    if (!st) st = find_torch_tensors(f, dict, e);
    if (st) torch_file_close(&f->base);
    else *out = &f->base;
    return st;
}

const struct pickle_value *torch_file_root(const struct tensor_file *base)
{
    const struct torch_file *f = (const struct torch_file *)base;

    assert(base->ops == &torch_file_ops);
    return pickle_root(f->pickle);
}
