/* datastore_write.c - writes datastore files: collects pairs in a block, writes
 * blocks after the end of the file, and commits them.
 *
 * A commit flushes the blocks to the disk, then writes the header to slot 0 and
 * flushes it, then writes it to slot 1. The flush of the next commit comes
 * before its header, so slot 1 is on the disk before slot 0 changes again. At
 * each moment one of the slots is valid and describes bytes that are on the
 * disk.
 *
 * Invariants:
 *   - `head` is the header of the last commit. The first head.size bytes of the
 *     file do not change, apart from the slots.
 *   - `next` counts what was written to the file since, but not the block in
 *     memory.
 *   - The panels in block.keys are zero where no key was put. */
#include "knn/datastore_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/datastore_format.h"
#include "tensor/kernels.h"
#include "tensor/tensor.h"
#include "text/utf8.h"

/* A growing array. */
struct grown { void *at; size_t cap; };

/* The block that is being filled: its parts (enum datastore_part) as in the
 * file, but without padding at the end, except for the keys. */
struct datastore_fill {
    struct grown part[PART_COUNT];
    uint32_t n, n_pairs, n_src, n_links;
    uint64_t text_bytes;
};

struct datastore_writer {
    int fd;
    char *path;                 /* for messages */
    char *temp;                 /* the file is written here, and renamed to
                                   path when it is finished; NULL: written in
                                   place */
    struct datastore_header head, next;
    bool failed;
    int block_entries;
    struct datastore_fill block;
    uint8_t *tables;            /* of the block that is written */
    size_t cap_tables;
    uint8_t *quantized;         /* scratch [d_model padded to 4] */
    int8_t *row;                /* scratch [d_model padded to 4] */
    uint16_t *half;             /* scratch [d_model] */
    float *unit;                /* scratch [d_model] */
};

/* ---- the file ------------------------------------------------------------ */

static enum status writer_error(struct datastore_writer *w, struct err *e)
{
    w->failed = true;
    return err_set(e, ST_IO, "%s: %s; the datastore has what was stored "
                   "before", w->path, strerror(errno));
}

static bool write_at(int fd, const void *bytes, size_t n, uint64_t at)
{
    const char *p = bytes;

    while (n) {
        ssize_t k = pwrite(fd, p, n, (off_t)at);

        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return false;
        p += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
    return true;
}

static bool write_slot(int fd, const struct datastore_header *h, int slot)
{
    uint8_t page[DATASTORE_PAGE] = { 0 };

    memcpy(page, h, sizeof *h);
    return write_at(fd, page, sizeof page, (uint64_t)slot * DATASTORE_PAGE);
}

static void header_seal(struct datastore_header *h)
{
    uint8_t page[DATASTORE_PAGE] = { 0 };

    memcpy(page, h, sizeof *h);
    h->sum = datastore_slot_sum(page);
}

/* Bytes after the last commit are of no use. If they cannot be cut off now, the
 * next writer does it. */
static void cut_tail(const struct datastore_writer *w)
{
    while (ftruncate(w->fd, (off_t)w->head.size) && errno == EINTR) continue;
}

static enum status check_usable(const struct datastore_writer *w,
                                struct err *e)
{
    if (!w->failed) return ST_OK;
    return err_set(e, ST_IO, "%s: an earlier change has failed", w->path);
}

/* ---- opening ------------------------------------------------------------- */

static enum status lock_file(struct datastore_writer *w, struct err *e)
{
    while (flock(w->fd, LOCK_EX | LOCK_NB)) {
        if (errno == EINTR) continue;
        if (errno == EWOULDBLOCK)
            return err_set(e, ST_IO, "%s: another program is changing the "
                           "datastore", w->path);
        return err_set(e, ST_IO, "%s: cannot lock the datastore: %s", w->path,
                       strerror(errno));
    }
    return ST_OK;
}

static enum status writer_new(struct datastore_writer **out, const char *path,
                              struct err *e)
{
    struct datastore_writer *w = calloc(1, sizeof *w);

    *out = w;
    if (w) w->fd = -1;
    if (w) w->path = strdup(path);
    if (w && w->path) {
        w->block_entries = DATASTORE_BLOCK;
        return ST_OK;
    }
    free(w);
    *out = NULL;
    return err_nomem(e, path);
}

static void fill_release(struct datastore_fill *f)
{
    for (int i = 0; i < PART_COUNT; i++) free(f->part[i].at);
}

void datastore_writer_close(struct datastore_writer *w)
{
    if (!w) return;
    if (w->fd >= 0 && w->head.size) cut_tail(w);
    if (w->fd >= 0) close(w->fd);
    if (w->temp) unlink(w->temp);
    fill_release(&w->block);
    free(w->temp);
    free(w->path);
    free(w->tables);
    free(w->quantized);
    free(w->row);
    free(w->half);
    free(w->unit);
    free(w);
}

static enum status writer_scratch(struct datastore_writer *w, struct err *e)
{
    size_t d = w->head.d_model;

    w->quantized = malloc(d + 4);
    w->row = malloc(d + 4);
    w->half = malloc(d * sizeof *w->half);
    w->unit = malloc(d * sizeof *w->unit);
    return w->quantized && w->row && w->half && w->unit
        ? ST_OK : err_nomem(e, w->path);
}

/* Pass w to the caller, or close it. */
static enum status writer_take(struct datastore_writer **out,
                               struct datastore_writer *w, enum status st,
                               struct err *e)
{
    if (!st) st = writer_scratch(w, e);
    if (st) datastore_writer_close(w);
    *out = st ? NULL : w;
    return st;
}

/* Read the first bytes of the file, at most DATASTORE_SLOTS. */
static enum status read_slots(struct datastore_writer *w, uint8_t *bytes,
                              uint64_t *file_size, struct err *e)
{
    struct stat sb;
    size_t n = 0, want;

    if (fstat(w->fd, &sb)) return writer_error(w, e);
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", w->path);
    *file_size = (uint64_t)sb.st_size;
    want = *file_size < DATASTORE_SLOTS ? (size_t)*file_size : DATASTORE_SLOTS;
    while (n < want) {
        ssize_t k = pread(w->fd, bytes + n, want - n, (off_t)n);

        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return writer_error(w, e);
        if (!k) break;
        n += (size_t)k;
    }
    memset(bytes + n, 0, DATASTORE_SLOTS - n);
    return ST_OK;
}

/* Make both slots equal again after an interruption or damage, and cut off
 * what follows the last commit. */
static enum status repair(struct datastore_writer *w, const bool valid[2],
                          const uint8_t *slots, struct err *e)
{
    for (int i = 0; i < 2; i++) {
        const uint8_t *slot = slots + i * DATASTORE_PAGE;

        if (valid[i] && !memcmp(slot, &w->head, sizeof w->head)) continue;
        if (!write_slot(w->fd, &w->head, i) || fdatasync(w->fd))
            return writer_error(w, e);
    }
    cut_tail(w);
    return ST_OK;
}

static enum status open_existing(struct datastore_writer *w, struct err *e)
{
    uint8_t slots[DATASTORE_SLOTS];
    uint64_t file_size;
    bool valid[2];
    enum status st;

    w->fd = open(w->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (w->fd < 0)
        return err_set(e, ST_IO, "%s: %s", w->path, strerror(errno));
    st = read_slots(w, slots, &file_size, e);   /* rejects other files first */
    if (!st) st = lock_file(w, e);
    if (!st) st = read_slots(w, slots, &file_size, e);
    if (!st)
        st = datastore_header_read(slots, file_size, w->path, &w->head, valid,
                                   e);
    if (!st && w->head.size > file_size) {
        w->head.size = 0;       /* do not make the file longer */
        st = err_set(e, ST_FORMAT, "%s is truncated; copy it again or build "
                     "it again", w->path);
    }
    if (!st) st = repair(w, valid, slots, e);
    w->next = w->head;
    return st;
}

enum status datastore_writer_open(struct datastore_writer **out,
                                  const char *path, struct err *e)
{
    struct datastore_writer *w;
    enum status st = writer_new(&w, path, e);

    *out = NULL;
    if (!st) st = writer_take(out, w, open_existing(w, e), e);
    return st;
}

/* ---- creating ------------------------------------------------------------ */

static uint64_t random_number(void)
{
    uint64_t id = 0;

    while (!id)
        if (getrandom(&id, sizeof id, 0) != sizeof id)
            id = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
    return id;
}

static void header_begin(struct datastore_header *h,
                         const struct datastore_kind *k,
                         const struct datastore_build *b)
{
    *h = (struct datastore_header){
        .endian = DATASTORE_ENDIAN, .version = DATASTORE_VERSION,
        .sequence = 1, .size = DATASTORE_SLOTS, .store = random_number(),
        .model = k->model.id, .d_model = (uint32_t)k->model.d,
        .d = (uint32_t)(k->map ? k->map->to : k->model.d),
        .vocab = (uint32_t)k->model.vocab, .type = (uint32_t)k->type,
        .kind = (uint32_t)k->kind,
        .flags = DATASTORE_BUILDING | (k->with_eos ? DATASTORE_EOS : 0) |
                 (k->has_sources ? DATASTORE_SOURCES : 0) |
                 (k->has_weights ? DATASTORE_WEIGHTS : 0) |
                 (k->map ? DATASTORE_MAP : 0),
        .memory = b ? b->memory : 0, .request = b ? b->request : 0 };
    memcpy(h->magic, DATASTORE_MAGIC, sizeof h->magic);
    header_seal(h);
}

/* A new file survives a power failure only when its folder has been flushed,
 * too. Some file systems cannot do that, so errors are ignored. */
static void flush_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

static enum status write_map(struct datastore_writer *w,
                             const struct entry_map *map, struct err *e);

static enum status write_first(struct datastore_writer *w,
                               const struct datastore_kind *k,
                               const struct datastore_build *b, struct err *e)
{
    assert(k->model.d > 0 && k->model.d <= DATASTORE_DIM_MAX);
    assert(k->kind == STATE_FINAL || k->kind == STATE_FFN);
    assert(!k->map || (k->map->from == k->model.d && k->map->to > 0 &&
                       k->map->to <= k->map->from));
    header_begin(&w->head, k, b);
    w->next = w->head;
    if (!write_slot(w->fd, &w->head, 0) || !write_slot(w->fd, &w->head, 1) ||
        fdatasync(w->fd))
        return writer_error(w, e);
    if (!w->temp) flush_folder(w->path);
    return k->map ? write_map(w, k->map, e) : ST_OK;
}

static enum status create_in_place(struct datastore_writer *w, struct err *e)
{
    uint8_t slots[DATASTORE_SLOTS];
    uint64_t file_size;
    enum status st;

    w->fd = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (w->fd < 0)
        return err_set(e, ST_IO, "%s: %s", w->path, strerror(errno));
    st = lock_file(w, e);
    if (!st) st = read_slots(w, slots, &file_size, e);
    if (!st && !datastore_is_blank(slots, file_size))
        st = err_set(e, ST_ARGUMENT, "%s exists already", w->path);
    return st;
}

enum status datastore_writer_create(struct datastore_writer **out,
                                    const char *path,
                                    const struct datastore_kind *k,
                                    const struct datastore_build *b,
                                    struct err *e)
{
    struct datastore_writer *w;
    enum status st = writer_new(&w, path, e);

    *out = NULL;
    if (st) return st;
    st = create_in_place(w, e);
    if (!st) st = write_first(w, k, b, e);
    return writer_take(out, w, st, e);
}

/* Create a temporary file in the folder of the target. */
static enum status create_beside(struct datastore_writer *w, struct err *e)
{
    static atomic_uint serial;
    size_t size = strlen(w->path) + 40;
    struct stat sb;

    if (!stat(w->path, &sb) && !S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", w->path);
    w->temp = malloc(size);
    if (!w->temp) return err_nomem(e, w->path);
    for (int tries = 0; w->fd < 0 && tries < 100; tries++) {
        snprintf(w->temp, size, "%s.%ld-%u.tmp", w->path, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        w->fd = open(w->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST) break;
    }
    if (w->fd >= 0) return lock_file(w, e);
    free(w->temp);
    w->temp = NULL;             /* no file was created, so remove none */
    return err_set(e, ST_IO, "%s: %s", w->path, strerror(errno));
}

enum status datastore_writer_replace(struct datastore_writer **out,
                                     const char *path,
                                     const struct datastore_kind *k,
                                     const struct datastore_build *b,
                                     struct err *e)
{
    struct datastore_writer *w;
    enum status st = writer_new(&w, path, e);

    *out = NULL;
    if (st) return st;
    st = create_beside(w, e);
    if (!st) st = write_first(w, k, b, e);
    return writer_take(out, w, st, e);
}

/* ---- writing a block ----------------------------------------------------- */

/* Fill in the sums of a block and write it after the others. `tables` has its
 * first bytes, up to the keys, with room for the block head at the beginning;
 * `keys` and `src_keys` are those parts, or NULL. */
static enum status write_block(struct datastore_writer *w,
                               struct datastore_block *b,
                               const struct datastore_layout *l,
                               uint8_t *tables, const void *keys,
                               const void *src_keys, struct err *e)
{
    static const char zeros[DATASTORE_PAGE];
    uint64_t end[2] = { l->at[PART_SRC_KEYS], l->total };
    const void *data[2] = { keys, src_keys };
    XXH3_state_t state;
    bool fine;

    memcpy(b->magic, DATASTORE_BLOCK_MAGIC, sizeof b->magic);
    b->store = w->next.store;
    b->at = w->next.size;
    b->bytes = l->total;
    b->table_sum = datastore_sum(tables + sizeof *b,
                                 l->at[PART_KEYS] - sizeof *b);
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    fine = true;
    for (int i = 0; fine && i < 2; i++) {
        enum datastore_part p = i ? PART_SRC_KEYS : PART_KEYS;
        size_t n = l->bytes[p], pad = end[i] - l->at[p] - n;

        assert(pad < sizeof zeros);
        if (n) XXH3_64bits_update(&state, data[i], n);
        XXH3_64bits_update(&state, zeros, pad);
        fine = write_at(w->fd, data[i], n, b->at + l->at[p]) &&
               write_at(w->fd, zeros, pad, b->at + l->at[p] + n);
    }
    b->key_sum = XXH3_64bits_digest(&state);
    b->sum = datastore_block_sum(b);
    memcpy(tables, b, sizeof *b);
    fine = fine && write_at(w->fd, tables, l->at[PART_KEYS], b->at);
    if (!fine) {
        enum status st = writer_error(w, e);

        cut_tail(w);
        return st;
    }
    w->next.size += l->total;
    w->next.blocks++;
    return ST_OK;
}

/* The memory for the tables of a block, all zeros. */
static uint8_t *tables_room(struct datastore_writer *w,
                            const struct datastore_layout *l, struct err *e)
{
    size_t n = l->at[PART_KEYS];

    if (!mem_grow(&w->tables, &w->cap_tables, n, 1)) {
        err_nomem(e, w->path);
        return NULL;
    }
    memset(w->tables, 0, n);
    return w->tables;
}

static enum status write_map(struct datastore_writer *w,
                             const struct entry_map *map, struct err *e)
{
    struct datastore_block b = { .kind = DATASTORE_MAPPING };
    struct datastore_layout l;
    uint8_t *tables;

    if (!datastore_layout_of(&w->next, &b, &l)) assert(!"a map always fits");
    tables = tables_room(w, &l, e);
    if (!tables) return ST_NOMEM;
    memcpy(tables + l.at[PART_MEAN], map->mean, l.bytes[PART_MEAN]);
    memcpy(tables + l.at[PART_MATRIX], map->matrix, l.bytes[PART_MATRIX]);
    return write_block(w, &b, &l, tables, NULL, NULL, e);
}

/* Set the padding that is not zero. */
static void pad_tables(const struct datastore_block *b,
                       const struct datastore_layout *l, uint8_t *tables)
{
    float *norm = (float *)(void *)(tables + l->at[PART_NORM]);
    float *scale = (float *)(void *)(tables + l->at[PART_SCALE]);

    for (int i = (int)b->n; i < pad_to((int)b->n, ENTRY_PANEL); i++) {
        norm[i] = INFINITY;
        if (l->bytes[PART_SCALE]) scale[i] = 1;
    }
}

static size_t element_size(enum datastore_part part)
{
    switch (part) {
    case PART_SPAN: return sizeof(struct entry_span);
    case PART_PAIRS: return sizeof(struct datastore_pair);
    case PART_POS: return sizeof(uint16_t);
    case PART_TEXT: case PART_KEYS: case PART_SRC_KEYS: return 1;
    default: return 4;
    }
}

/* The number of elements that the block in memory has of a part. */
static size_t part_count(const struct datastore_fill *f,
                         enum datastore_part part)
{
    switch (part) {
    case PART_MEAN: case PART_MATRIX: case PART_LIST: return 0;
    case PART_SPAN: case PART_PAIRS: return f->n_pairs;
    case PART_SRC_TOKEN: case PART_SRC_SCALE: return f->n_src;
    case PART_LINK_BEGIN: return (size_t)f->n_src + 1;
    case PART_LINK: return f->n_links;
    case PART_TEXT: return f->text_bytes;
    default: return f->n;
    }
}

/* Write the block in memory, if it has pairs. */
static enum status flush_fill(struct datastore_writer *w, struct err *e)
{
    struct datastore_fill *f = &w->block;
    struct datastore_block b = {
        .kind = DATASTORE_ENTRIES, .first_pair = w->next.pairs, .n = f->n,
        .n_pairs = f->n_pairs, .n_src = f->n_src, .n_links = f->n_links,
        .text_bytes = f->text_bytes };
    struct datastore_layout l;
    uint8_t *tables;
    enum status st;

    if (!f->n_pairs) return ST_OK;
    if (!datastore_layout_of(&w->next, &b, &l))
        assert(!"datastore_writer_add keeps blocks small");
    tables = tables_room(w, &l, e);
    if (!tables) return ST_NOMEM;
    for (enum datastore_part p = PART_SPAN; p < PART_KEYS; p++)
        if (l.bytes[p])
            memcpy(tables + l.at[p], f->part[p].at,
                   part_count(f, p) * element_size(p));
    pad_tables(&b, &l, tables);
    st = write_block(w, &b, &l, tables, f->part[PART_KEYS].at,
                     f->part[PART_SRC_KEYS].at, e);
    if (st) return st;
    w->next.pairs += f->n_pairs;
    w->next.entries += f->n;
    f->n = f->n_pairs = f->n_src = f->n_links = 0;
    f->text_bytes = 0;
    return ST_OK;
}

/* ---- adding -------------------------------------------------------------- */

static void *part_at(struct datastore_fill *f, enum datastore_part part,
                     size_t i)
{
    return (char *)f->part[part].at + i * element_size(part);
}

static bool part_room(struct datastore_fill *f, enum datastore_part part,
                      size_t n)
{
    return mem_grow(&f->part[part].at, &f->part[part].cap, n,
                    element_size(part));
}

/* Make room for a pair in all parts, so that adding it cannot fail halfway. */
static bool fill_room(const struct datastore_writer *w,
                      struct datastore_fill *f,
                      const struct datastore_item *it)
{
    size_t n = f->n + (size_t)it->n, np = (n + ENTRY_PANEL - 1) / ENTRY_PANEL *
                                          ENTRY_PANEL;
    size_t n_src = f->n_src + (size_t)it->n_src;

    for (enum datastore_part p = PART_TOKEN; p <= PART_POS; p++)
        if (!part_room(f, p, n)) return false;
    return part_room(f, PART_SPAN, f->n_pairs + (size_t)1) &&
           part_room(f, PART_PAIRS, f->n_pairs + (size_t)1) &&
           part_room(f, PART_SRC_TOKEN, n_src) &&
           part_room(f, PART_SRC_SCALE, n_src) &&
           part_room(f, PART_LINK_BEGIN, n_src + 1) &&
           part_room(f, PART_LINK, f->n_links + (size_t)it->n_links) &&
           part_room(f, PART_TEXT, f->text_bytes + it->source.n +
                                   it->target.n + 2) &&
           part_room(f, PART_KEYS, datastore_key_bytes(&w->next, np)) &&
           part_room(f, PART_SRC_KEYS, n_src * datastore_src_ld(&w->next));
}

static bool all_finite(const float *x, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++) sum += x[i] * 0;        /* 0, or NaN */
    return sum == 0;
}

/* Store an int8 key. A scale that is not a finite number, or the byte -128,
 * means that the key could not be computed. */
static void put_int8(struct datastore_writer *w, int at, const int8_t *key,
                     float scale)
{
    struct datastore_fill *f = &w->block;
    int d = (int)w->next.d, padded = pad_to(d, 4);
    float norm = datastore_norm_int8(key, d, scale);
    bool sound = scale >= 0 && norm < INFINITY;
    int32_t sum = 0;

    for (int k = 0; k < d; k++) {
        sound &= key[k] != INT8_MIN;
        sum += key[k];
    }
    memset(w->row, 0, (size_t)padded);
    if (sound) memcpy(w->row, key, (size_t)d);
    datastore_key_pack(f->part[PART_KEYS].at, at, padded, w->row);
    *(float *)part_at(f, PART_SCALE, (size_t)at) = sound ? scale : 1;
    *(int32_t *)part_at(f, PART_COMP, (size_t)at) = sound ? 128 * sum : 0;
    *(float *)part_at(f, PART_NORM, (size_t)at) = sound ? norm : INFINITY;
}

static void put_f16(struct datastore_writer *w, int at, const uint16_t *key)
{
    struct datastore_fill *f = &w->block;
    int d = (int)w->next.d, ld = pad_to(d, 32);
    uint16_t *to = (uint16_t *)f->part[PART_KEYS].at + (size_t)at * (size_t)ld;
    float norm = datastore_norm_f16(key, d);

    memset(to, 0, (size_t)ld * sizeof *to);
    if (norm < INFINITY) memcpy(to, key, (size_t)d * sizeof *to);
    *(float *)part_at(f, PART_NORM, (size_t)at) = norm;
}

/* Quantize a row of floats. Returns its scale, or NaN if it is not finite. */
static float quantize_row(struct datastore_writer *w, const float *x, int d)
{
    float scale;

    if (!all_finite(x, d)) return NAN;
    kernels_pick(NULL)->quantize(x, (size_t)d, 1, d, w->quantized, &scale);
    for (int i = 0; i < d; i++) w->quantized[i] ^= 0x80;    /* subtract 128 */
    return scale;
}

static void put_f32(struct datastore_writer *w, int at, const float *key)
{
    int d = (int)w->next.d;

    if (w->next.type == ENTRY_INT8) {
        float scale = quantize_row(w, key, d);

        put_int8(w, at, (const int8_t *)w->quantized, scale);
        return;
    }
    for (int k = 0; k < d; k++) w->half[k] = f32_to_f16(key[k]);
    put_f16(w, at, w->half);
}

/* Make a key one that is never found: zeros with an infinite norm. */
static void hide_key(struct datastore_writer *w, int at)
{
    struct datastore_fill *f = &w->block;

    if (w->next.type == ENTRY_INT8) {
        memset(w->quantized, 0, w->next.d);
        put_int8(w, at, (const int8_t *)w->quantized, NAN);
    } else {
        memset(w->half, 0, w->next.d * sizeof *w->half);
        put_f16(w, at, w->half);
        *(float *)part_at(f, PART_NORM, (size_t)at) = INFINITY;
    }
}

/* A panel is used again for the next block, so its rest must be zeros. */
static void clear_panels(struct datastore_writer *w, int n)
{
    struct datastore_fill *f = &w->block;
    int from = pad_to((int)f->n, ENTRY_PANEL),
        to = pad_to((int)f->n + n, ENTRY_PANEL);
    size_t at = datastore_key_bytes(&w->next, (uint64_t)from);

    memset((uint8_t *)f->part[PART_KEYS].at + at, 0,
           datastore_key_bytes(&w->next, (uint64_t)to) - at);
}

static void put_entries(struct datastore_writer *w,
                        const struct datastore_item *it)
{
    struct datastore_fill *f = &w->block;

    if (it->n) clear_panels(w, it->n);
    for (int i = 0; i < it->n; i++) {
        size_t at = f->n + (size_t)i, row = (size_t)i * it->ld;

        *(int32_t *)part_at(f, PART_TOKEN, at) = it->token[i];
        *(int32_t *)part_at(f, PART_PAIR, at) = (int32_t)f->n_pairs;
        *(uint16_t *)part_at(f, PART_POS, at) =
            it->pos ? it->pos[i] : (uint16_t)i;
        *(float *)part_at(f, PART_LOG_WEIGHT, at) =
            it->log_weight ? it->log_weight[i] : 0;
        if (it->f32) put_f32(w, (int)at, it->f32 + row);
        else if (it->int8) put_int8(w, (int)at, it->int8 + row, it->scale[i]);
        else put_f16(w, (int)at, it->f16 + row);
        if (it->norm && it->norm[i] == INFINITY) hide_key(w, (int)at);
    }
}

/* Divide a state of the encoder by its norm and quantize it. */
static float quantize_source(struct datastore_writer *w, const float *state)
{
    int d = (int)w->next.d_model;
    double sum = 0;
    float scale;

    for (int k = 0; k < d; k++) sum += (double)state[k] * (double)state[k];
    sum = sqrt(sum);
    for (int k = 0; k < d; k++)
        w->unit[k] = sum > 0 ? (float)((double)state[k] / sum) : 0;
    scale = quantize_row(w, w->unit, d);
    if (isfinite(scale)) return scale;
    memset(w->quantized, 0, (size_t)d);
    return 1;
}

static void put_sources(struct datastore_writer *w,
                        const struct datastore_item *it)
{
    struct datastore_fill *f = &w->block;
    size_t ld = datastore_src_ld(&w->next), d = w->next.d_model;
    uint32_t *begin = f->part[PART_LINK_BEGIN].at, *link;
    int k = 0;

    for (int i = 0; i < it->n_src; i++) {
        size_t at = f->n_src + (size_t)i, row = (size_t)i * it->src_ld;
        int8_t *to = (int8_t *)f->part[PART_SRC_KEYS].at + at * ld;
        float *scale = part_at(f, PART_SRC_SCALE, at);

        *(int32_t *)part_at(f, PART_SRC_TOKEN, at) = it->src_token[i];
        memset(to, 0, ld);
        if (it->src_f32) *scale = quantize_source(w, it->src_f32 + row);
        else *scale = it->src_scale[i];
        memcpy(to, it->src_f32 ? (const int8_t *)w->quantized
                               : it->src_int8 + row, d);
        begin[at] = f->n_links;
        for (; k < it->n_links && it->link[k].source == (uint32_t)i; k++) {
            link = part_at(f, PART_LINK, f->n_links++);
            *link = f->n + it->link[k].entry;
        }
    }
    assert(k == it->n_links);
    begin[f->n_src + (size_t)it->n_src] = f->n_links;
}

static void put_pair(struct datastore_writer *w,
                     const struct datastore_item *it)
{
    struct datastore_fill *f = &w->block;
    struct datastore_pair *p = part_at(f, PART_PAIRS, f->n_pairs);
    struct key_id id = key_id_of_pair(it->source, it->target);
    char *text = part_at(f, PART_TEXT, f->text_bytes);

    *p = (struct datastore_pair){
        id.hi, id.lo, it->id, (uint32_t)f->text_bytes,
        (uint32_t)it->source.n, (uint32_t)it->target.n, (uint32_t)it->n_src };
    if (it->source.n) memcpy(text, it->source.p, it->source.n);
    text[it->source.n] = 0;
    text += it->source.n + 1;
    if (it->target.n) memcpy(text, it->target.p, it->target.n);
    text[it->target.n] = 0;
    *(struct entry_span *)part_at(f, PART_SPAN, f->n_pairs) =
        (struct entry_span){ f->n, (uint32_t)it->n };
    put_entries(w, it);
    if (w->next.flags & DATASTORE_SOURCES) put_sources(w, it);
    f->n += (uint32_t)it->n;
    f->n_src += (uint32_t)it->n_src;
    f->text_bytes += it->source.n + it->target.n + 2;
    f->n_pairs++;
}

/* The text of a block. With this, a block never reaches 4 GiB of text. */
#define TEXT_FULL (64u << 20)
/* The longest text of a pair. */
#define TEXT_MAX (1u << 30)

bool datastore_writer_full(const struct datastore_writer *w)
{
    return w->block.n >= (uint32_t)w->block_entries ||
           w->block.n_pairs >= (uint32_t)w->block_entries ||
           w->block.text_bytes >= TEXT_FULL;
}

void datastore_writer_set_block(struct datastore_writer *w, int entries)
{
    assert(entries > 0 && entries <= 1 << 24);
    w->block_entries = entries;
}

static enum status check_item(const struct datastore_writer *w,
                              const struct datastore_item *it, struct err *e)
{
    bool sources = w->next.flags & DATASTORE_SOURCES;

    assert(it->n >= 0 && it->n <= UINT16_MAX + 1);
    assert(it->n_src >= 0 && (sources || !it->n_src));
    assert(!it->n || !!it->f32 + !!it->int8 + !!it->f16 == 1);
    assert(!it->int8 || w->next.type == ENTRY_INT8);
    assert(!it->f16 || w->next.type == ENTRY_F16);
    assert(!it->log_weight || w->next.flags & DATASTORE_WEIGHTS);
    if (w->next.pairs + w->block.n_pairs >= INT32_MAX)
        return err_set(e, ST_LIMIT, "%s: a datastore can have at most %d "
                       "pairs", w->path, INT32_MAX);
    if (it->source.n > TEXT_MAX || it->target.n > TEXT_MAX)
        return err_set(e, ST_LIMIT, "%s: a text is longer than %u bytes",
                       w->path, TEXT_MAX);
    if (utf8_check(it->source.p, it->source.n) != it->source.n ||
        utf8_check(it->target.p, it->target.n) != it->target.n)
        return err_set(e, ST_TEXT, "%s: a text is not valid UTF-8", w->path);
    for (int i = 0; i < it->n; i++)
        assert(it->token[i] >= 0 && (uint32_t)it->token[i] < w->next.vocab);
    return ST_OK;
}

enum status datastore_writer_add(struct datastore_writer *w,
                                 const struct datastore_item *it,
                                 struct err *e)
{
    enum status st = check_usable(w, e);

    if (!st) st = check_item(w, it, e);
    if (!st && datastore_writer_full(w)) st = flush_fill(w, e);
    if (!st && !fill_room(w, &w->block, it)) st = err_nomem(e, w->path);
    if (!st) put_pair(w, it);
    return st;
}

/* ---- deleting ------------------------------------------------------------ */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

enum status datastore_writer_delete(struct datastore_writer *w,
                                    const int32_t *pairs, size_t n,
                                    struct err *e)
{
    struct datastore_block b = { .kind = DATASTORE_DELETED, .n = (uint32_t)n };
    struct datastore_layout l;
    uint8_t *tables;
    enum status st = check_usable(w, e);

    if (!st) st = flush_fill(w, e);
    if (st || !n) return st;
    assert(n <= w->head.pairs - w->next.deleted);
    if (!datastore_layout_of(&w->next, &b, &l)) assert(!"the list fits");
    tables = tables_room(w, &l, e);
    if (!tables) return ST_NOMEM;
    for (size_t i = 0; i < n; i++)
        assert(pairs[i] >= 0 && (uint32_t)pairs[i] < w->head.pairs);
    memcpy(tables + l.at[PART_LIST], pairs, n * sizeof *pairs);
    qsort(tables + l.at[PART_LIST], n, sizeof(uint32_t), compare_numbers);
    st = write_block(w, &b, &l, tables, NULL, NULL, e);
    if (!st) w->next.deleted += (uint32_t)n;
    return st;
}

/* ---- committing ---------------------------------------------------------- */

/* If slot 0 was not written, the file is as before; if it was, all is
 * committed. After an error we do not know which, so no byte that the new
 * header may count is cut off. */
static enum status write_header(struct datastore_writer *w, struct err *e)
{
    w->next.sequence++;
    header_seal(&w->next);
    if (!write_slot(w->fd, &w->next, 0) || fdatasync(w->fd)) {
        enum status st = writer_error(w, e);

        w->head.size = w->next.size;
        return st;
    }
    w->head = w->next;
    /* The commit is done. If this fails, the flush of the next one tells. */
    (void)!write_slot(w->fd, &w->head, 1);
    return ST_OK;
}

static enum status commit_next(struct datastore_writer *w, struct err *e)
{
    enum status st = flush_fill(w, e);

    if (st || !memcmp(&w->head, &w->next, sizeof w->head)) return st;
    if (fdatasync(w->fd)) {
        st = writer_error(w, e);
        cut_tail(w);
        return st;
    }
    return write_header(w, e);
}

enum status datastore_writer_commit(struct datastore_writer *w, int64_t last,
                                    struct err *e)
{
    enum status st = check_usable(w, e);

    if (st) return st;
    if (w->next.flags & DATASTORE_BUILDING) w->next.last = last;
    return commit_next(w, e);
}

static enum status rename_finished(struct datastore_writer *w, struct err *e)
{
    if (fdatasync(w->fd) || rename(w->temp, w->path))
        return writer_error(w, e);
    flush_folder(w->path);
    free(w->temp);
    w->temp = NULL;
    return ST_OK;
}

enum status datastore_writer_finish(struct datastore_writer *w,
                                    struct err *e)
{
    enum status st = check_usable(w, e);

    if (st) return st;
    w->next.flags &= ~(uint32_t)DATASTORE_BUILDING;
    w->next.request = 0;
    w->next.last = 0;
    st = commit_next(w, e);
    if (!st && w->temp) st = rename_finished(w, e);
    return st;
}

/* ---- what there is ------------------------------------------------------- */

uint64_t datastore_writer_bytes(const struct datastore_writer *w)
{
    const struct datastore_fill *f = &w->block;
    struct datastore_block b = {
        .kind = DATASTORE_ENTRIES, .n = f->n, .n_pairs = f->n_pairs,
        .n_src = f->n_src, .n_links = f->n_links,
        .text_bytes = f->text_bytes };
    struct datastore_layout l;

    if (!f->n_pairs || !datastore_layout_of(&w->next, &b, &l))
        return w->next.size;
    return w->next.size + l.total;
}

struct datastore_info datastore_writer_info(const struct datastore_writer *w)
{
    return datastore_info_of(&w->head);
}
