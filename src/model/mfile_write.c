/* mfile_write.c - writes a model file in the layout of mfile_format.h.
 *
 * The header is first written as zeros. The commit overwrites it, when the
 * directory and the checksums are known. Every part starts at a multiple of
 * MFILE_ALIGN. One tensor at a time is being written: `now`, of which `left`
 * bytes are to come. */
#include "model/mfile_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "model/mfile_format.h"

struct mfile_writer {
    struct replacement out;
    bool file_open;             /* whether out was started */
    char *config;               /* [head.config_size] */
    struct mfile_header head;
    struct mfile_entry *dir;    /* [head.count] */
    size_t dir_cap;
    bool started;               /* whether a tensor is being written */
    struct mfile_entry now;
    uint64_t left;
    XXH3_state_t *hash;         /* of its bytes so far */
};

/* Write zeros up to the next multiple of `align`. */
static enum status mfile_writer_pad(struct mfile_writer *w, uint64_t align,
                                    struct err *e)
{
    static const char zeros[MFILE_PAGE];
    uint64_t n = (align - w->out.size % align) % align;

    assert(n < MFILE_GAP && n <= sizeof zeros);
    return n ? replacement_write(&w->out, zeros, n, e) : ST_OK;
}

static enum status mfile_writer_begin(struct mfile_writer *w, const char *path,
                                      struct err *e)
{
    struct mfile_header *h = &w->head;
    enum status st = replacement_begin(&w->out, path, e);

    if (st) return st;
    w->file_open = true;
    st = replacement_write(&w->out, h, sizeof *h, e);
    h->config_offset = w->out.size;
    if (!st) st = replacement_write(&w->out, w->config, h->config_size, e);
    return st;
}

enum status mfile_writer_new(struct mfile_writer **out, const char *path,
                             const char *config, size_t config_len,
                             struct err *e)
{
    struct mfile_writer *w = calloc(1, sizeof *w);
    enum status st;

    *out = NULL;
    if (!w) return err_nomem(e, path);
    if (!config_len || config_len > MFILE_CONFIG_MAX) {
        free(w);
        return err_set(e, ST_ARGUMENT, "%s: the configuration of a model "
                       "must have 1 to %d bytes, not %zu", path,
                       MFILE_CONFIG_MAX, config_len);
    }
    w->head.config_size = (uint32_t)config_len;
    w->config = malloc(config_len);
    if (w->config) memcpy(w->config, config, config_len);
    w->hash = XXH3_createState();
    st = w->config && w->hash ? mfile_writer_begin(w, path, e)
                              : err_nomem(e, path);
    if (st) mfile_writer_free(w);
    else *out = w;
    return st;
}

/* Check a new tensor, so that mistakes of the caller are found now and not when
 * the file is opened. */
static enum status mfile_writer_check(const struct mfile_writer *w,
                                      const struct mfile_entry *t,
                                      struct err *e)
{
    if (!mfile_name_ok(t->name))
        return err_set(e, ST_ARGUMENT, "%s: \"%.63s\" is not a valid name of "
                       "a tensor", w->out.path, t->name);
    if (w->head.count >= MFILE_COUNT_MAX)
        return err_set(e, ST_LIMIT, "%s: more than %d tensors", w->out.path,
                       MFILE_COUNT_MAX);
    if (!t->bytes)
        return err_set(e, ST_ARGUMENT, "%s: tensor \"%s\" has a shape that a "
                       "model file cannot store", w->out.path, t->name);
    for (uint32_t i = 0; i < w->head.count; i++)
        if (!strcmp(w->dir[i].name, t->name))
            return err_set(e, ST_ARGUMENT, "%s: two tensors have the name "
                           "\"%s\"", w->out.path, t->name);
    return ST_OK;
}

enum status mfile_writer_start(struct mfile_writer *w, const char *name,
                               enum dtype type, int64_t rows, int64_t cols,
                               struct err *e)
{
    struct mfile_entry t = {
        .type = (uint32_t)type,
        .layout = mfile_layout_of(name),
        .rows = (uint64_t)rows,
        .cols = (uint64_t)cols,
    };
    enum status st;

    assert(!w->started);
    if (strlen(name) <= MFILE_NAME_MAX) strcpy(t.name, name);
    t.bytes = mfile_bytes(t.type, t.layout, t.rows, t.cols);
    st = mfile_writer_check(w, &t, e);
    if (st) return st;
    if (!mem_grow(&w->dir, &w->dir_cap, (size_t)w->head.count + 1,
                  sizeof *w->dir))
        return err_nomem(e, w->out.path);
    /* A large tensor does not share pages with others, so that reading it
     * loads no page of its neighbors. */
    st = mfile_writer_pad(w, t.bytes >= MFILE_BIG ? MFILE_PAGE : MFILE_ALIGN,
                          e);
    if (st) return st;
    assert(w->out.size % MFILE_ALIGN == 0);
    t.offset = w->out.size;
    XXH3_64bits_reset(w->hash);
    w->now = t;
    w->left = t.bytes;
    w->started = true;
    return ST_OK;
}

enum status mfile_writer_append(struct mfile_writer *w, const void *data,
                                uint64_t n, struct err *e)
{
    assert(w->started);
    if (n > w->left)
        return err_set(e, ST_ARGUMENT, "%s: tensor \"%s\" has more bytes than "
                       "its shape", w->out.path, w->now.name);
    XXH3_64bits_update(w->hash, data, n);
    w->left -= n;
    return replacement_write(&w->out, data, n, e);
}

enum status mfile_writer_end(struct mfile_writer *w, struct err *e)
{
    assert(w->started && w->head.count < w->dir_cap);
    if (w->left)
        return err_set(e, ST_ARGUMENT, "%s: tensor \"%s\" has fewer bytes "
                       "than its shape", w->out.path, w->now.name);
    w->now.sum = XXH3_64bits_digest(w->hash);
    w->dir[w->head.count++] = w->now;
    w->started = false;
    return ST_OK;
}

enum status mfile_writer_add(struct mfile_writer *w, const char *name,
                             enum dtype type, int64_t rows, int64_t cols,
                             const void *data, uint64_t bytes, struct err *e)
{
    uint64_t want = mfile_bytes((uint32_t)type, mfile_layout_of(name),
                                (uint64_t)rows, (uint64_t)cols);
    enum status st;

    if (want && want != bytes)
        return err_set(e, ST_ARGUMENT, "%s: tensor \"%.63s\" has %" PRIu64
                       " bytes, which does not match its shape", w->out.path,
                       name, bytes);
    st = mfile_writer_start(w, name, type, rows, cols, e);
    if (!st) st = mfile_writer_append(w, data, bytes, e);
    return st ? st : mfile_writer_end(w, e);
}

enum status mfile_writer_commit(struct mfile_writer *w, struct err *e)
{
    struct mfile_header *h = &w->head;
    enum status st;

    assert(!w->started);
    if (!h->count)
        return err_set(e, ST_ARGUMENT, "%s: a model must have at least one "
                       "tensor", w->out.path);
    st = mfile_writer_pad(w, MFILE_ALIGN, e);
    h->directory_offset = w->out.size;
    if (!st)
        st = replacement_write(&w->out, w->dir, h->count * sizeof *w->dir, e);
    memcpy(h->magic, MFILE_MAGIC, sizeof h->magic);
    h->endian = MFILE_ENDIAN;
    h->version = MFILE_VERSION;
    h->file_size = w->out.size;
    h->sum = mfile_head_sum(h, w->config, w->dir);
    if (!st) st = replacement_patch(&w->out, 0, h, sizeof *h, e);
    if (!st) st = replacement_commit(&w->out, e);
    return st;
}

void mfile_writer_free(struct mfile_writer *w)
{
    if (!w) return;
    if (w->file_open) replacement_abort(&w->out);
    XXH3_freeState(w->hash);
    free(w->dir);
    free(w->config);
    free(w);
}
