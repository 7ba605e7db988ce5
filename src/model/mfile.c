/* mfile.c - opens a .skmt file and checks all of it.
 *
 * The checks go from the outside in. Is this a model of this version, and
 * complete? Is the checksum of header, config and directory right? Is each
 * entry of the directory valid? Do the parts not overlap, with nothing but a
 * few zeros between them? And last, are the checksums of the tensors right? No
 * offset is used before it has been compared with the size of the file.
 *
 * After these checks, each tensor lies inside the file at a multiple of
 * MFILE_ALIGN, and by_name is sorted without duplicates. */
#include "model/mfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "model/mfile_format.h"

struct mfile {
    struct mapping map;
    bool mapped;                /* close map; otherwise the caller owns it */
    char *name;                 /* for messages */
    const struct mfile_header *head;
    const struct mfile_entry *dir;      /* [head->count] */
    struct mtensor *at;         /* [head->count], in the order of dir */
    uint32_t *by_name;          /* [head->count] indices of at, sorted by
                                   the names of the tensors */
};

/* A number with commas: 52341120 becomes "52,341,120". */
struct comma_text { char s[28]; };

static struct comma_text with_commas(uint64_t v)
{
    struct comma_text t = { "" };
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%" PRIu64, v);
    char *to = t.s;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *to++ = ',';
        *to++ = plain[i];
    }
    *to = 0;
    return t;
}

uint64_t mfile_sum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

uint64_t mfile_head_sum(const struct mfile_header *h, const char *config,
                        const struct mfile_entry *dir)
{
    struct mfile_header zeroed = *h;
    XXH3_state_t state;

    zeroed.sum = 0;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &zeroed, sizeof zeroed);
    XXH3_64bits_update(&state, config, h->config_size);
    XXH3_64bits_update(&state, dir, h->count * sizeof *dir);
    return XXH3_64bits_digest(&state);
}

bool mfile_name_ok(const char name[MFILE_NAME_MAX + 1])
{
    size_t n = strnlen(name, MFILE_NAME_MAX + 1);

    if (n == 0 || n > MFILE_NAME_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
              c == '_' || c == '-'))
            return false;
    }
    for (size_t i = n; i <= MFILE_NAME_MAX; i++)
        if (name[i]) return false;
    return true;
}

enum mfile_layout mfile_layout_of(const char *name)
{
    size_t n = strlen(name);

    return n > 2 && !strcmp(name + n - 2, ".w") ? LAYOUT_PANELS : LAYOUT_PLAIN;
}

uint64_t mfile_bytes(uint32_t type, uint32_t layout, uint64_t rows,
                     uint64_t cols)
{
    if (type >= DT_COUNT || layout > LAYOUT_PANELS) return 0;
    if (!rows || !cols || rows > MFILE_DIM_MAX || cols > MFILE_DIM_MAX)
        return 0;
    if (layout == LAYOUT_PLAIN) return rows * cols * dtype_bytes(type);
    if (type != DT_F32 && type != DT_BF16 && type != DT_I8) return 0;
    return linear_bytes(type, (int)rows, (int)cols);
}

/* ---- kind, version and size ---- */

/* Files that a user is likely to pass by mistake. */
static const struct { const char *magic; size_t at, n; const char *what; }
kinds[] = {
    { "\x1f\x8b",         0, 2, "it is compressed with gzip; unpack it first" },
    { "(\xb5/\xfd",       0, 4, "it is compressed with zstd; unpack it first" },
    { "\xfd" "7zXZ",      0, 5, "it is compressed with xz; unpack it first" },
    { "PK\3\4",           0, 4, "it is a zip archive (or a PyTorch "
                                "checkpoint); unpack or convert it first" },
    { "{\"",              8, 2, "it is a safetensors file; convert the folder "
                                "that contains it first" },
    { "version https://git-lfs", 0, 23, "it is a Git LFS pointer; fetch the "
                                        "file with git lfs" },
    { "\x7f" "ELF",       0, 4, "it is a program" },
    { "SQLite format 3",  0, 15, "it is an SQLite database" },
    { "\x89HDF",          0, 4, "it is an HDF5 file" },
    { "GGUF",             0, 4, "it is a GGUF model" },
    { "<!DOCTYPE",        0, 9, "it is a web page; the download went wrong" },
};

static bool looks_like_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && i < 512; i++)
        if (p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t')
            return false;
    return true;
}

static enum status not_a_model(const struct mfile *f, struct err *e)
{
    const uint8_t *p = f->map.data;
    size_t n = f->map.size;
    const char *what = looks_like_text(p, n) ? "it is a text file" :
                                               "it has another format";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (n >= kinds[i].at + kinds[i].n &&
            !memcmp(p + kinds[i].at, kinds[i].magic, kinds[i].n)) {
            what = kinds[i].what;
            break;
        }
    return err_set(e, ST_FORMAT, "%s: not an skmt model: %s", f->name, what);
}

static enum status check_kind(const struct mfile *f, struct err *e)
{
    size_t n = f->map.size;

    if (n == 0)
        return err_set(e, ST_FORMAT, "%s: the file is empty", f->name);
    if (memcmp(f->map.data, MFILE_MAGIC, n < 8 ? n : 8))
        return not_a_model(f, e);
    if (n < sizeof *f->head)
        return err_set(e, ST_FORMAT, "%s: truncated: the header of a model "
                       "has %zu bytes, the file has %zu; copy it again",
                       f->name, sizeof *f->head, n);
    if ((uintptr_t)f->map.data % MFILE_ALIGN)
        return err_set(e, ST_ARGUMENT, "%s: a model in memory must be aligned "
                       "to %d bytes", f->name, MFILE_ALIGN);
    return ST_OK;
}

static enum status mfile_check_version(const struct mfile *f, struct err *e)
{
    const struct mfile_header *h = f->head;

    if (h->endian == __builtin_bswap32(MFILE_ENDIAN))
        return err_set(e, ST_FORMAT, "%s: made on a machine with another "
                       "byte order; convert the model again on this one",
                       f->name);
    if (h->endian != MFILE_ENDIAN)
        return err_set(e, ST_FORMAT, "%s: damaged: its byte-order mark is "
                       "%08" PRIx32 "; copy it again", f->name, h->endian);
    if (h->version > MFILE_VERSION)
        return err_set(e, ST_VERSION, "%s: made by a newer skmt (version "
                       "%" PRIu32 "); this one reads version %d", f->name,
                       h->version, MFILE_VERSION);
    if (h->version < MFILE_VERSION)
        return err_set(e, ST_VERSION, "%s: made by an older skmt (version "
                       "%" PRIu32 "); convert the model again", f->name,
                       h->version);
    return ST_OK;
}

static enum status check_size(const struct mfile *f, struct err *e)
{
    uint64_t says = f->head->file_size, has = f->map.size;

    if (says > has)
        return err_set(e, ST_FORMAT, "%s: truncated: the header says %s "
                       "bytes, the file has %s; copy it again", f->name,
                       with_commas(says).s, with_commas(has).s);
    if (says < has)
        return err_set(e, ST_FORMAT, "%s: damaged: the header says %s bytes, "
                       "the file has %s; copy it again", f->name,
                       with_commas(says).s, with_commas(has).s);
    return ST_OK;
}

/* ---- header, config and directory ---- */

static bool inside_file(const struct mfile *f, uint64_t offset, uint64_t bytes)
{
    return offset % MFILE_ALIGN == 0 && offset >= sizeof *f->head &&
           offset <= f->map.size && bytes <= f->map.size - offset;
}

static enum status damaged_head(const struct mfile *f, const char *what,
                                struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: damaged: %s; copy it again", f->name,
                   what);
}

static enum status mfile_check_head(struct mfile *f, struct err *e)
{
    const struct mfile_header *h = f->head;

    if (h->reserved)
        return damaged_head(f, "the header has unknown fields", e);
    if (!h->config_size || h->config_size > MFILE_CONFIG_MAX ||
        !inside_file(f, h->config_offset, h->config_size))
        return damaged_head(f, "its configuration lies outside the file", e);
    if (!h->count || h->count > MFILE_COUNT_MAX ||
        !inside_file(f, h->directory_offset, h->count * sizeof *f->dir))
        return damaged_head(f, "its directory lies outside the file", e);
    f->dir = (const void *)(f->map.data + h->directory_offset);
    if (mfile_head_sum(h, (const char *)f->map.data + h->config_offset,
                       f->dir) != h->sum)
        return damaged_head(f, "the header's checksum is wrong", e);
    return ST_OK;
}

/* ---- directory entries ---- */

static enum status bad_entry(const struct mfile *f, uint32_t i,
                             const char *what, struct err *e)
{
    if (!mfile_name_ok(f->dir[i].name))
        return err_set(e, ST_FORMAT, "%s: damaged: tensor %" PRIu32 " %s",
                       f->name, i, what);
    return err_set(e, ST_FORMAT, "%s: damaged: tensor \"%s\" %s", f->name,
                   f->dir[i].name, what);
}

static enum status check_entry(const struct mfile *f, uint32_t i,
                               struct err *e)
{
    const struct mfile_entry *t = &f->dir[i];

    if (!mfile_name_ok(t->name))
        return bad_entry(f, i, "has an invalid name", e);
    if (t->reserved[0] || t->reserved[1])
        return bad_entry(f, i, "has unknown fields", e);
    if (t->type >= DT_COUNT)
        return bad_entry(f, i, "has an unknown type", e);
    if (t->layout != mfile_layout_of(t->name))
        return bad_entry(f, i, "has a layout that does not match its name", e);
    if (!mfile_bytes(t->type, t->layout, t->rows, t->cols))
        return bad_entry(f, i, "has an invalid shape", e);
    if (mfile_bytes(t->type, t->layout, t->rows, t->cols) != t->bytes)
        return bad_entry(f, i, "has a size that does not match its shape", e);
    if (!inside_file(f, t->offset, t->bytes))
        return bad_entry(f, i, "lies outside the file", e);
    return ST_OK;
}

static struct mtensor tensor_of(const struct mfile *f,
                                const struct mfile_entry *t)
{
    assert(inside_file(f, t->offset, t->bytes));
    assert((uintptr_t)(f->map.data + t->offset) % MFILE_ALIGN == 0);
    return (struct mtensor){
        .name = t->name,
        .type = (enum dtype)t->type,
        .layout = (enum mfile_layout)t->layout,
        .shape = { (int64_t)t->rows, (int64_t)t->cols },
        .data = f->map.data + t->offset,
        .bytes = t->bytes,
        .sum = t->sum,
    };
}

static enum status read_entries(struct mfile *f, struct err *e)
{
    enum status st = ST_OK;

    f->at = calloc(f->head->count, sizeof *f->at);
    if (!f->at) return err_nomem(e, f->name);
    for (uint32_t i = 0; i < f->head->count && !st; i++) {
        st = check_entry(f, i, e);
        if (!st) f->at[i] = tensor_of(f, &f->dir[i]);
    }
    return st;
}

/* Compare two tensors, given by their indices, by name. For qsort_r(). */
static int compare_names(const void *a, const void *b, void *file)
{
    const struct mfile *f = file;

    return strcmp(f->at[*(const uint32_t *)a].name,
                  f->at[*(const uint32_t *)b].name);
}

static enum status sort_names(struct mfile *f, struct err *e)
{
    uint32_t n = f->head->count;

    f->by_name = calloc(n, sizeof *f->by_name);
    if (!f->by_name) return err_nomem(e, f->name);
    for (uint32_t i = 0; i < n; i++) f->by_name[i] = i;
    qsort_r(f->by_name, n, sizeof *f->by_name, compare_names, f);
    for (uint32_t i = 1; i < n; i++)
        if (!compare_names(&f->by_name[i - 1], &f->by_name[i], f))
            return bad_entry(f, f->by_name[i], "occurs twice", e);
    return ST_OK;
}

/* ---- no overlaps and no gaps ---- */

struct extent { uint64_t begin, end; };

static int compare_parts(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

/* p has the parts of the file in order. They must follow one another up to the
 * last byte, with fewer than MFILE_GAP zeros between them. So every byte of the
 * file is checked. */
static enum status check_parts(const struct mfile *f, const struct extent *p,
                               size_t n, struct err *e)
{
    assert(n > 0 && p[0].begin == 0);
    for (size_t i = 1; i < n; i++)
        if (p[i].begin < p[i - 1].end)
            return damaged_head(f, "its parts overlap", e);
    for (size_t i = 1; i < n; i++) {
        uint64_t from = p[i - 1].end, gap = p[i].begin - from;

        if (gap >= MFILE_GAP || !all_zero(f->map.data + from, gap))
            return damaged_head(f, "there is data between its parts", e);
    }
    if (p[n - 1].end != f->map.size)
        return damaged_head(f, "there is data after its last part", e);
    return ST_OK;
}

static enum status mfile_check_apart(const struct mfile *f, struct err *e)
{
    const struct mfile_header *h = f->head;
    size_t n = 0;
    struct extent *p = calloc((size_t)h->count + 3, sizeof *p);
    enum status st;

    if (!p) return err_nomem(e, f->name);
    p[n++] = (struct extent){ 0, sizeof *h };
    p[n++] = (struct extent){ h->config_offset,
                              h->config_offset + h->config_size };
    p[n++] = (struct extent){ h->directory_offset,
                              h->directory_offset +
                              h->count * sizeof *f->dir };
    for (uint32_t i = 0; i < h->count; i++)
        p[n++] = (struct extent){ f->dir[i].offset,
                                  f->dir[i].offset + f->dir[i].bytes };
    assert(n == (size_t)h->count + 3);
    qsort(p, n, sizeof *p, compare_parts);
    st = check_parts(f, p, n, e);
    free(p);
    return st;
}

/* ---- checksums of the tensors ---- */

static enum status check_sum(const struct mfile *f, uint32_t i, struct err *e)
{
    if (mfile_sum(f->at[i].data, f->at[i].bytes) == f->at[i].sum) return ST_OK;
    return bad_entry(f, i, "has changed since it was written (its checksum is "
                     "wrong); copy the file again", e);
}

static enum status check_sums(const struct mfile *f, struct err *e)
{
    enum status st = ST_OK;

    for (uint32_t i = 0; i < f->head->count && !st; i++)
        st = check_sum(f, i, e);
    return st;
}

enum status mfile_check_tensor(const struct mfile *f, const struct mtensor *t,
                               struct err *e)
{
    assert(t >= f->at && t < f->at + f->head->count);
    return check_sum(f, (uint32_t)(t - f->at), e);
}

/* Everything but the checksums of the tensors. */
static enum status mfile_check_layout(struct mfile *f, struct err *e)
{
    enum status st = check_kind(f, e);

    f->head = (const void *)f->map.data;
    if (!st) st = mfile_check_version(f, e);
    if (!st) st = check_size(f, e);
    if (!st) st = mfile_check_head(f, e);
    if (!st) st = read_entries(f, e);
    if (!st) st = sort_names(f, e);
    if (!st) st = mfile_check_apart(f, e);
    return st;
}

/* ---- opening ---- */

static enum status mfile_new(struct mfile **out, const char *name,
                             struct err *e)
{
    struct mfile *f = calloc(1, sizeof *f);

    *out = NULL;
    if (f) f->name = strdup(name);
    if (!f || !f->name) {
        free(f);
        return err_nomem(e, name);
    }
    *out = f;
    return ST_OK;
}

/* Check f and pass it to the caller. On failure, or if st is an error already,
 * close it. */
static enum status mfile_open_checked(struct mfile **out, struct mfile *f,
                                      bool sums, enum status st,
                                      struct err *e)
{
    if (!st) st = mfile_check_layout(f, e);
    if (!st && sums) st = check_sums(f, e);
    if (st) mfile_close(f);
    *out = st ? NULL : f;
    return st;
}

static enum status mfile_open_path(struct mfile **out, const char *path,
                                   bool sums, struct err *e)
{
    struct mfile *f;
    enum status st = mfile_new(&f, path, e);

    *out = NULL;
    if (st) return st;
    st = mapping_open(&f->map, path, e);
    f->mapped = !st;
    return mfile_open_checked(out, f, sums, st, e);
}

enum status mfile_open(struct mfile **out, const char *path, struct err *e)
{
    return mfile_open_path(out, path, true, e);
}

enum status mfile_open_unchecked(struct mfile **out, const char *path,
                                 struct err *e)
{
    return mfile_open_path(out, path, false, e);
}

enum status mfile_open_memory(struct mfile **out, const void *data,
                              size_t size, const char *name, struct err *e)
{
    struct mfile *f;
    enum status st = mfile_new(&f, name, e);

    *out = NULL;
    if (st) return st;
    f->map = (struct mapping){ data, size };
    return mfile_open_checked(out, f, true, st, e);
}

void mfile_close(struct mfile *f)
{
    if (!f) return;
    if (f->mapped) mapping_close(&f->map);
    free(f->by_name);
    free(f->at);
    free(f->name);
    free(f);
}

/* ---- reading ---- */

const char *mfile_name(const struct mfile *f) { return f->name; }
uint64_t mfile_size(const struct mfile *f) { return f->map.size; }
uint64_t mfile_id(const struct mfile *f) { return f->head->sum; }
int mfile_count(const struct mfile *f) { return (int)f->head->count; }

const struct mtensor *mfile_at(const struct mfile *f, int i)
{
    return i >= 0 && i < mfile_count(f) ? &f->at[i] : NULL;
}

const struct mtensor *mfile_find(const struct mfile *f, const char *name)
{
    uint32_t low = 0, high = f->head->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct mtensor *t = &f->at[f->by_name[mid]];
        int order = strcmp(name, t->name);

        if (!order) return t;
        if (order < 0) high = mid;
        else low = mid + 1;
    }
    return NULL;
}

const char *mfile_config(const struct mfile *f, size_t *len)
{
    *len = f->head->config_size;
    return (const char *)f->map.data + f->head->config_offset;
}
