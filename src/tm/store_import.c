/* store_import.c - many pairs as one step; see store.h.
 *
 * Rows go in by transactions of some ten thousand ("chunks"), which are not
 * waited for; the last one flushes the log, and with it all before. Between
 * chunks others write. A chunk is open from one put to the next; whatever else
 * is done through the same store commits it first.
 *
 * Whether an importer is alive is asked of the system: it holds a lock on byte
 * `batch` of FILE-lock (an OFD lock: it belongs to the open file, goes when the
 * process dies, and two stores of one process exclude each other). The lock
 * file is only made, asked and removed inside write transactions, so nobody
 * locks a file that has just been removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map64.h"
#include "base/mem.h"
#include "tm/store_internal.h"

#define MAX_TEXTS 0xffffffff    /* of one batch */
#define CHUNK_SECONDS 1.0       /* a slow source must not keep others out */
/* 8 MiB: of 668,701 texts one in 2,500 is looked for in vain, of ten million
 * one in 15. */
#define FILTER_BITS (1u << 26)

enum import_state { OPEN, PREPARED, DONE, FAILED };

struct new_hash { int64_t hash, text; };

struct store_import {
    struct store *s;
    struct store_import *next;  /* of the same store */
    enum import_state state;
    int lock;                   /* fd */
    struct memory_info memory;
    int64_t batch, created;
    int64_t begun;              /* the newest change when it began */
    int64_t texts;              /* made so far: the count in their ids */
    int64_t position;           /* of the pair put last */
    char *origin;               /* of the pairs from here on; NULL: the
                                   batch's */

    int rows;                   /* in the open chunk */
    size_t bytes;
    double since;
    int64_t pair_id;            /* the last given out, while a chunk is open */
    struct new_hash *hashes;    /* of the chunk's new texts */
    size_t n_hashes, cap_hashes;
    struct map64 by_hash;  /* the first of a hash among them */
    uint64_t *seen;             /* [FILTER_BITS / 64] hashes of ours; NULL:
                                   there were texts before */

    char *format;
    int64_t *gone;
    size_t n_gone, cap_gone;
};

/* ---- locks --------------------------------------------------------------- */

static char *lock_path(struct store *s)
{
    const char *file = sqlite3_db_filename(s->db, "main");
    size_t size = strlen(file) + sizeof "-lock";
    char *path = malloc(size);

    if (path) snprintf(path, size, "%s-lock", file);
    return path;
}

static int lock_open(struct store *s, int flags)
{
    char *path = lock_path(s);
    int fd = path ? open(path, flags | O_CLOEXEC, 0666) : -1;

    free(path);
    return fd;
}

int batch_lock(struct store *s, int64_t batch)
{
    struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
                       .l_start = (off_t)batch, .l_len = 1 };
    int fd = lock_open(s, O_RDWR | O_CREAT);

    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &l)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static enum status unlink_unneeded(struct store *s, const char *path)
{
    int64_t batch;
    enum status st = op_begin(s, NULL);

    if (st) return st;
    st = query_int(s, Q_BATCH_NOT_DONE, &batch, NULL, "i", (int64_t)0);
    if (!st && !batch) unlink(path);
    return op_end(s, st, NULL);
}

void lock_file_drop(struct store *s)
{
    char *path = s->depth ? NULL : lock_path(s);

    /* Nearly always it is not there: no need for a transaction. */
    if (path && !access(path, F_OK)) unlink_unneeded(s, path);
    free(path);
}

/* ---- beginning ----------------------------------------------------------- */

/* In a memory that was empty a new text can equal only one of ours: those that
 * others add meanwhile are joined at the end. A filter (Bloom 1970, two bits a
 * text) then knows of most texts that they need not be looked for. */
static enum status begin_filter(struct store_import *im, struct err *e)
{
    int64_t any;
    enum status st = query_int(im->s, Q_BATCH_TEXTS, &any, e, "i",
                               im->memory.id);

    if (!st && !any) im->seen = calloc(FILTER_BITS / 64, sizeof *im->seen);
    return st;
}

static bool filter_has(const struct store_import *im, int64_t hash)
{
    uint32_t a = (uint64_t)hash % FILTER_BITS;
    uint32_t b = ((uint64_t)hash >> 32) % FILTER_BITS;

    return !im->seen || (im->seen[a / 64] >> a % 64 & 1
                         && im->seen[b / 64] >> b % 64 & 1);
}

static void filter_add(struct store_import *im, int64_t hash)
{
    uint32_t a = (uint64_t)hash % FILTER_BITS;
    uint32_t b = ((uint64_t)hash >> 32) % FILTER_BITS;

    if (!im->seen) return;
    im->seen[a / 64] |= (uint64_t)1 << a % 64;
    im->seen[b / 64] |= (uint64_t)1 << b % 64;
}

static enum status new_batch(struct store_import *im, const char *origin,
                             struct err *e)
{
    struct store *s = im->s;
    struct stamp started = { 0, now_exact() };
    enum status st = memory_get(s, im->memory.id, &im->memory, e);

    im->created = (int64_t)started.clock;
    if (!st) st = query_int(s, Q_CHANGE_TOP, &im->begun, e, "");
    if (!st) st = begin_filter(im, e);
    if (!st)
        st = query_int(s, Q_BATCH_ADD, &im->batch, e, "iiizs", im->memory.id,
                       (int64_t)1, (int64_t)BATCH_OPEN, origin, started);
    if (st) return st;
    im->lock = batch_lock(s, im->batch);
    if (im->lock < 0)
        st = err_set(e, ST_IO, "%s-lock: %s", s->path, strerror(errno));
    return st;
}

enum status store_import_begin(struct store_import **out, struct store *s,
                               int64_t memory, const char *origin,
                               struct err *e)
{
    struct store_import *im;
    enum status st;

    *out = NULL;
    if (s->depth)
        return err_set(e, ST_ARGUMENT, "an import cannot begin inside a "
                       "transaction");
    st = store_sweep(s, SWEEP_SECONDS, e);
    if (st) return st;
    im = calloc(1, sizeof *im);
    if (!im) return err_nomem(e, "import");
    im->s = s;
    im->lock = -1;
    im->memory.id = memory;
    st = op_begin(s, e);
    if (!st) st = op_end(s, new_batch(im, origin ? origin : "", e), e);
    if (st) {
        if (im->lock >= 0) close(im->lock);
        free(im);
        return st;
    }
    im->next = s->imports;
    s->imports = im;
    *out = im;
    return ST_OK;
}

enum status store_import_format(struct store_import *im, const char *format,
                                struct err *e)
{
    char *copy = strdup(format);

    if (!copy) return err_nomem(e, "import");
    free(im->format);
    im->format = copy;
    return ST_OK;
}

enum status store_import_origin(struct store_import *im, const char *origin,
                                struct err *e)
{
    char *copy = strdup(origin);

    if (!copy) return err_nomem(e, "import");
    free(im->origin);
    im->origin = copy;
    im->position = 0;
    return ST_OK;
}

int64_t store_import_batch(const struct store_import *im)
{
    return im->batch;
}

/* ---- chunks -------------------------------------------------------------- */

static enum status still_ours(struct store_import *im, struct err *e)
{
    bool found;
    int state = -1;
    enum status st = query_first(im->s, Q_BATCH_STATE, &found, e, "i",
                                 im->batch);

    if (st) return st;
    if (found) {
        state = sqlite3_column_int(im->s->stmt[Q_BATCH_STATE], 0);
        query_end(im->s, Q_BATCH_STATE);
    }
    if (state == BATCH_DROPPED)
        return err_set(e, ST_ARGUMENT, "%s: the memory \"%s\" was dropped "
                       "during the import", im->s->path, im->memory.name);
    if (state != BATCH_OPEN)
        return err_set(e, ST_IO, "%s: the import was removed by another "
                       "process (was %s-lock deleted?)", im->s->path,
                       im->s->path);
    return ST_OK;
}

static void forget_hashes(struct store_import *im)
{
    im->n_hashes = 0;
    map64_clear(&im->by_hash);
}

static enum status keep_hash(struct store_import *im, int64_t hash,
                             int64_t text, struct err *e)
{
    bool fresh;
    uint32_t *at = map64_put(&im->by_hash, (uint64_t)hash, &fresh);

    if (!at || !mem_grow(&im->hashes, &im->cap_hashes, im->n_hashes + 1,
                         sizeof *im->hashes))
        return err_nomem(e, "import");
    if (fresh) *at = (uint32_t)im->n_hashes;
    filter_add(im, hash);
    im->hashes[im->n_hashes++] = (struct new_hash){ hash, text };
    return ST_OK;
}

/* Among the texts of the open chunk. The map knows the first of a hash; others
 * that share it by chance are looked for one by one. */
static enum status find_new_hash(struct store_import *im,
                                 const struct unit *u, int64_t hash,
                                 int64_t *text, struct err *e)
{
    const uint32_t *at = map64_find(&im->by_hash, (uint64_t)hash);
    bool equal = false;
    enum status st = ST_OK;

    for (size_t i = at ? *at : im->n_hashes; i < im->n_hashes; i++) {
        if (im->hashes[i].hash != hash) continue;
        st = text_equals(im->s, im->hashes[i].text, u, &equal, e);
        if (equal) *text = im->hashes[i].text;
        if (st || equal) break;
    }
    return st;
}

static int store_import_by_hash(const void *a, const void *b)
{
    const struct new_hash *x = a, *y = b;

    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text;
}

/* In order of hash, so that a page of the tree is gone to once and not once
 * for each of its rows: an import of 668,701 pairs spends 1.9 s in SQLite
 * that way and 3.3 s with an index on text(hash). */
static enum status write_hashes(struct store_import *im, struct err *e)
{
    enum status st = ST_OK;

    if (im->n_hashes)
        qsort(im->hashes, im->n_hashes, sizeof *im->hashes,
              store_import_by_hash);
    for (size_t i = 0; !st && i < im->n_hashes; i++)
        st = hash_insert(im->s, im->hashes[i].hash, im->hashes[i].text, e);
    forget_hashes(im);
    return st;
}

static void chunk_abort(struct store_import *im)
{
    struct store *s = im->s;

    if (!sqlite3_get_autocommit(s->db)) query_run(s, Q_ROLLBACK, NULL, "");
    s->rollbacks++;
    s->chunk = NULL;
    im->state = FAILED;
    forget_hashes(im);
}

enum status chunk_settle(struct store *s, struct err *e)
{
    struct store_import *im = s->chunk;
    enum status st;

    if (!im) return ST_OK;
    st = write_hashes(im, e);
    if (!st) st = query_run(s, Q_PAIRS_SET, e, "i", im->pair_id);
    if (!st) st = write_commit(s, e);
    if (st) chunk_abort(im);
    s->chunk = NULL;
    return st;
}

static enum status chunk_open(struct store_import *im, struct err *e)
{
    struct store *s = im->s;
    enum status st = ST_OK;

    if (s->chunk == im) return ST_OK;
    st = chunk_settle(s, e);
    if (!st) st = set_sync(s, 1, e);
    if (!st) st = write_begin(s, e);
    if (st) return st;
    s->chunk = im;
    st = still_ours(im, e);
    if (!st) st = query_int(s, Q_PAIRS, &im->pair_id, e, "");
    if (st) chunk_abort(im);
    im->rows = 0;
    im->bytes = 0;
    im->since = clock_seconds();
    return st;
}

static bool chunk_full(const struct store_import *im)
{
    return im->rows >= im->s->chunk_rows || im->bytes >= im->s->chunk_bytes ||
           (im->rows % 256 == 0 &&
            clock_seconds() - im->since > CHUNK_SECONDS);
}

/* ---- rows ---------------------------------------------------------------- */

static enum status usable(const struct store_import *im, struct err *e)
{
    if (im->state == FAILED)
        return err_set(e, ST_IO, "%s: the import has failed already",
                       im->s->path);
    if (im->state != OPEN)
        return err_set(e, ST_ARGUMENT, "the import has ended already");
    return ST_OK;
}

static enum status new_text(struct store_import *im, const struct unit *u,
                            int64_t hash, int64_t *text, struct err *e)
{
    if (im->texts == MAX_TEXTS)
        return err_set(e, ST_LIMIT, "an import has at most %u texts",
                       (unsigned)MAX_TEXTS);
    *text = im->batch << 32 | ++im->texts;
    return text_insert(im->s, *text, im->memory.id, u, hash, e);
}

enum status store_import_pause(struct store_import *im, struct err *e)
{
    return im->s->chunk == im ? chunk_settle(im->s, e) : ST_OK;
}

static enum status store_import_put_row(struct store_import *im,
                                        const struct unit *u, int64_t *text,
                                        bool *is_new, struct err *e)
{
    struct store *s = im->s;
    int64_t hash = text_hash(im->memory.id, u);
    struct pair_row r = { .batch = im->batch, .batch_created = im->created };
    enum status st = ST_OK;

    if (!im->memory.keep_duplicates && filter_has(im, hash)) {
        st = find_new_hash(im, u, hash, text, e);
        if (!st && !*text)
            st = text_find(s, im->memory.id, u, hash, im->batch, text, e);
    }
    *is_new = !*text;
    if (!st && *is_new) st = new_text(im, u, hash, text, e);
    if (!st && *is_new) st = keep_hash(im, hash, *text, e);
    if (st) return st;
    r.id = ++im->pair_id;
    r.text = *text;
    r.position = ++im->position;
    r.origin = im->origin;
    return pair_insert(s, &r, &im->memory, u, e);
}

enum status store_import_put(struct store_import *im, const struct unit *u,
                             int64_t *text, bool *is_new, struct err *e)
{
    enum status st = usable(im, e);

    *text = 0;
    *is_new = false;
    if (!st && im->s->depth)
        st = err_set(e, ST_ARGUMENT, "an import cannot go on inside a "
                     "transaction");
    if (!st) st = unit_accept(u, e);
    if (!st) st = chunk_open(im, e);
    if (st) return st;
    st = store_import_put_row(im, u, text, is_new, e);
    if (st) {
        chunk_abort(im);
        return st;
    }
    im->rows++;
    im->bytes += u->source.n + u->target.n;
    return chunk_full(im) ? chunk_settle(im->s, e) : ST_OK;
}

/* ---- ending -------------------------------------------------------------- */

/* Let the import's pairs of one text have another; the first goes when no
 * pair is left. */
static enum status move_pairs(struct store_import *im, int64_t from,
                              int64_t to, struct err *e)
{
    enum status st = query_run(im->s, Q_PAIRS_MOVE, e, "iii", from, im->batch,
                               to);

    if (!st) st = text_delete(im->s, from, e);
    return st;
}

static enum status note_gone(struct store_import *im, int64_t mine,
                             int64_t theirs, struct err *e)
{
    if (!mem_grow(&im->gone, &im->cap_gone, im->n_gone + 2,
                  sizeof *im->gone))
        return err_nomem(e, "import");
    im->gone[im->n_gone++] = mine;
    im->gone[im->n_gone++] = theirs;
    return ST_OK;
}

/* Texts of ours that others have added since we looked: theirs stay. Only
 * batches made or finished after our beginning can have them. */
static enum status join_equal(struct store_import *im, struct err *e)
{
    struct store *s = im->s;
    sqlite3_stmt *row;
    bool found;
    size_t n;
    enum status st = query_first(s, Q_JOIN_EQUAL, &found, e, "iii",
                                 im->memory.id, im->batch, im->begun);

    im->n_gone = 0;
    while (!st && found) {
        row = s->stmt[Q_JOIN_EQUAL];
        st = note_gone(im, sqlite3_column_int64(row, 0),
                       sqlite3_column_int64(row, 1), e);
        if (st) query_end(s, Q_JOIN_EQUAL);
        else st = query_next(s, Q_JOIN_EQUAL, &found, e);
    }
    for (size_t i = 0; !st && i < im->n_gone; i += 2)
        st = move_pairs(im, im->gone[i], im->gone[i + 1], e);
    n = im->n_gone / 2;         /* keep ours alone */
    for (size_t i = 0; i < n; i++) im->gone[i] = im->gone[2 * i];
    im->n_gone = n;
    return st;
}

/* A text of ours equal to one that was hidden, made or found. */
static enum status revive(struct store_import *im, sqlite3_stmt *row,
                          int64_t *text, struct err *e)
{
    int64_t hash = sqlite3_column_int64(row, 1), seq;
    struct unit u = { .tagged = sqlite3_column_int(row, 2) != 0,
                      .source = column_str(row, 3),
                      .target = column_str(row, 4) };
    enum status st = text_find(im->s, im->memory.id, &u, hash, im->batch, text,
                               e);

    if (st || *text) return st;
    st = new_text(im, &u, hash, text, e);
    if (!st) st = hash_insert(im->s, hash, *text, e);
    if (!st)
        st = query_int(im->s, Q_CHANGE_ADD, &seq, e, "iii", im->memory.id,
                       *text, *text);
    return st;
}

/* Texts we refer to that lost their last visible pair meanwhile: removed for
 * everybody, so ours are others. Their changes come after the import's own
 * number: no index that was built beside the import has them. */
static enum status leave_hidden(struct store_import *im, struct err *e)
{
    struct store *s = im->s;
    int64_t hidden, text;
    bool found = true;
    enum status st = ST_OK;

    while (!st) {
        st = query_first(s, Q_JOIN_HIDDEN, &found, e, "ii", im->memory.id,
                         im->batch);
        if (st || !found) break;
        hidden = sqlite3_column_int64(s->stmt[Q_JOIN_HIDDEN], 0);
        st = revive(im, s->stmt[Q_JOIN_HIDDEN], &text, e);
        query_end(s, Q_JOIN_HIDDEN);
        if (!st) st = move_pairs(im, hidden, text, e);
    }
    return st ? st : query_run(s, Q_HIDDEN_CLEAN, e, "");
}

static enum status store_import_do_prepare(struct store_import *im,
                                           int64_t *seq, struct err *e)
{
    struct store *s = im->s;
    int64_t first = im->batch << 32 | 1, last = im->batch << 32 | im->texts;
    bool join = !im->memory.keep_duplicates;
    enum status st = still_ours(im, e);

    if (!st && join) st = join_equal(im, e);
    if (!st)
        st = query_int(s, Q_CHANGE_ADD, seq, e, "iii", im->memory.id, first,
                       last);
    if (!st && join) st = leave_hidden(im, e);
    if (!st)
        st = query_run(s, Q_BATCH_FINISH, e, "iii", im->batch, im->texts,
                       *seq);
    return st;
}

enum status store_import_prepare(struct store_import *im, int64_t *seq,
                                 const int64_t **gone, size_t *n_gone,
                                 struct err *e)
{
    enum status st = usable(im, e);

    *seq = 0;
    if (!st) st = store_begin(im->s, e);
    if (st) return st;
    im->state = PREPARED;
    st = store_import_do_prepare(im, seq, e);
    if (st) store_rollback(im->s);
    *gone = im->gone;
    *n_gone = im->n_gone;
    return st;
}

void imports_rolled_back(struct store *s)
{
    for (struct store_import *im = s->imports; im; im = im->next)
        if (im->state == PREPARED || im->state == DONE) im->state = FAILED;
}

enum status store_import_commit(struct store_import *im, struct str extra,
                                struct err *e)
{
    struct store *s = im->s;
    const int64_t *gone;
    size_t n_gone;
    int64_t seq;
    enum status st = ST_OK;

    if (im->state == OPEN)
        st = store_import_prepare(im, &seq, &gone, &n_gone, e);
    if (!st && im->state != PREPARED) st = usable(im, e);
    if (!st) {
        st = query_run(s, Q_BATCH_EXTRA, e, "itt", im->batch,
                       str_of(im->format), extra);
        if (st) store_rollback(s);
    }
    if (!st) st = store_commit(s, e);
    if (st) return st;
    im->state = DONE;
    if (!s->depth) store_checkpoint(s);
    return ST_OK;
}

void store_import_close(struct store_import *im)
{
    struct store *s;
    struct store_import **at;

    if (!im) return;
    s = im->s;
    if (s->chunk == im) chunk_abort(im);
    if (im->state == PREPARED) store_rollback(s);
    /* What is not removed now the next writers remove. */
    if (im->state != DONE)
        batch_wipe(s, im->batch, SWEEP_SECONDS, NULL);
    close(im->lock);
    for (at = &s->imports; *at != im;) at = &(*at)->next;
    *at = im->next;
    lock_file_drop(s);
    free(im->format);
    free(im->origin);
    free(im->gone);
    free(im->hashes);
    free(im->seen);
    map64_release(&im->by_hash);
    free(im);
}

enum status store_import_extra(struct store *s, int64_t memory,
                               const char *format, struct str *extra,
                               struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_BATCH_HEAD, &found, e, "iz", memory,
                                 format);

    *extra = (struct str){ NULL, 0 };
    if (st || !found) return st;
    *extra = column_str(s->stmt[Q_BATCH_HEAD], 0);
    strbuf_reset(&s->extra_buf);
    if (!strbuf_add(&s->extra_buf, extra->p, extra->n))
        st = err_nomem(e, "import");
    extra->p = s->extra_buf.data;
    query_end(s, Q_BATCH_HEAD);
    return st;
}
