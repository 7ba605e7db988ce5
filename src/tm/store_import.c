/* store_import.c - stores many pairs so that they become visible in one step.
 *
 * Rows are written in transactions of some ten thousand rows ("chunks"), which
 * do not wait for the disk. The last transaction flushes the log, and with it
 * all chunks before. Other writers get their turn between chunks. A chunk
 * stays open from one put to the next; any other use of the same store commits
 * it first (chunk_settle).
 *
 * The operating system knows whether an importer is alive: it holds a lock on
 * byte `batch` of FILE-lock. This is an OFD lock: it belongs to the open file,
 * ends when the process dies, and also excludes other stores of the same
 * process. The lock file is created, tested and removed only inside write
 * transactions, so nobody locks a file that has just been removed.
 *
 * The states of an import; import_enter() asserts that no other transition
 * happens:
 *
 *     OPEN ---prepare---> PREPARED ---commit---> DONE
 *       |                    |                    |
 *       | a chunk failed,    | a rollback         | a rollback of the
 *       | or close           |                    | caller's transaction
 *       +------> FAILED <----+--------------------+
 *
 * Invariants:
 *   - only an OPEN import has a chunk (s->chunk == im);
 *   - the ids of its texts are batch << 32 | 1 .. texts;
 *   - `hashes` has the new texts of the open chunk, and nothing while no chunk
 *     of this import is open;
 *   - the lock is held from the creation of the batch to
 *     store_import_close. */
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
#define CHUNK_SECONDS 1.0       /* a slow source must not keep others waiting */
/* 8 MiB. With 668,701 texts one new text in 2,500 is looked up in vain, with
 * ten million texts one in 15. */
#define FILTER_BITS (1u << 26)

enum import_state { OPEN, PREPARED, DONE, FAILED };

struct new_hash { int64_t hash, text; };

struct store_import {
    struct store *s;
    struct store_import *next;  /* of the same store */
    enum import_state state;
    int lock;                   /* file descriptor that holds the lock */
    struct memory_info memory;
    int64_t batch, created;
    int64_t change_at_begin;    /* number of the newest change then */
    int64_t texts;              /* created so far: the count in their ids */
    int64_t position;           /* of the last pair */
    char *origin;               /* of the pairs that follow; NULL: that of the
                                   batch */

    int rows_in_chunk;          /* these four are of the open chunk */
    size_t bytes_in_chunk;
    double chunk_began;         /* clock_seconds() */
    int64_t pair_id;            /* the last one used, while a chunk is open */
    struct new_hash *hashes;    /* of the new texts in the chunk */
    size_t n_hashes, cap_hashes;
    struct map64 by_hash;       /* hash to its first place in `hashes` */
    uint64_t *filter;           /* [FILTER_BITS / 64] hashes of our texts;
                                   NULL: the memory had texts before */

    char *format;
    int64_t *joined;            /* our texts that were equal to others' */
    size_t n_joined, cap_joined;
};

static void import_enter(struct store_import *im, enum import_state state)
{
    assert(state == PREPARED ? im->state == OPEN
         : state == DONE ? im->state == PREPARED
         : state == FAILED && im->state != FAILED);
    assert(im->s->chunk != im);
    im->state = state;
}

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
    int fd;

    assert(store_in_write(s));
    fd = lock_open(s, O_RDWR | O_CREAT);
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
    st = query_int(s, Q_BATCH_NOT_DONE, SQL(0), &batch, NULL);
    if (!st && !batch) unlink(path);
    return op_end(s, st, NULL);
}

void lock_file_drop(struct store *s)
{
    char *path = s->depth ? NULL : lock_path(s);

    /* Usually the file does not exist, and no transaction is needed. */
    if (path && !access(path, F_OK)) unlink_unneeded(s, path);
    free(path);
}

/* ---- beginning ----------------------------------------------------------- */

/* In a memory that was empty, a new text can be equal only to one of this
 * import: texts that others add meanwhile are joined at the end. A Bloom
 * filter (Bloom 1970, two bits per text) then shows for most texts that they
 * are new, without a query. */
static enum status create_filter(struct store_import *im, struct err *e)
{
    int64_t any;
    enum status st = query_int(im->s, Q_BATCH_TEXTS, SQL(im->memory.id), &any,
                               e);

    if (!st && !any) im->filter = calloc(FILTER_BITS / 64, sizeof *im->filter);
    return st;
}

static bool filter_has(const struct store_import *im, int64_t hash)
{
    uint32_t a = (uint64_t)hash % FILTER_BITS;
    uint32_t b = ((uint64_t)hash >> 32) % FILTER_BITS;

    return !im->filter || (im->filter[a / 64] >> a % 64 & 1
                         && im->filter[b / 64] >> b % 64 & 1);
}

static void filter_add(struct store_import *im, int64_t hash)
{
    uint32_t a = (uint64_t)hash % FILTER_BITS;
    uint32_t b = ((uint64_t)hash >> 32) % FILTER_BITS;

    if (!im->filter) return;
    im->filter[a / 64] |= (uint64_t)1 << a % 64;
    im->filter[b / 64] |= (uint64_t)1 << b % 64;
}

static enum status import_new_batch(struct store_import *im,
                                    const char *origin, struct err *e)
{
    struct store *s = im->s;
    double started = now_exact();
    enum status st = memory_get(s, im->memory.id, &im->memory, e);

    assert(store_in_write(s));

    im->created = (int64_t)started;
    if (!st) st = query_int(s, Q_CHANGE_TOP, SQL_NONE, &im->change_at_begin, e);
    if (!st) st = create_filter(im, e);
    if (!st)
        st = query_int(s, Q_BATCH_ADD,
                       SQL(im->memory.id, 1, BATCH_OPEN, origin, started),
                       &im->batch, e);
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
    if (!st) st = op_end(s, import_new_batch(im, origin ? origin : "", e), e);
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

static enum status check_batch_open(struct store_import *im, struct err *e)
{
    bool found;
    int state = -1;
    enum status st = query_first(im->s, Q_BATCH_STATE, SQL(im->batch), &found,
                                 e);

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

static void clear_hashes(struct store_import *im)
{
    im->n_hashes = 0;
    map64_clear(&im->by_hash);
}

static enum status note_hash(struct store_import *im, int64_t hash,
                             int64_t text, struct err *e)
{
    bool fresh;
    uint32_t *at = map64_put(&im->by_hash, (uint64_t)hash, &fresh);

    assert(im->s->chunk == im && text >> 32 == im->batch);

    if (!at || !mem_grow(&im->hashes, &im->cap_hashes, im->n_hashes + 1,
                         sizeof *im->hashes))
        return err_nomem(e, "import");
    if (fresh) *at = (uint32_t)im->n_hashes;
    filter_add(im, hash);
    im->hashes[im->n_hashes++] = (struct new_hash){ hash, text };
    return ST_OK;
}

/* Looks for the unit among the new texts of the open chunk. The map has the
 * first text with a hash; other texts with the same hash follow it in
 * `hashes` and are compared one by one. */
static enum status find_in_chunk(struct store_import *im,
                                 const struct unit *u, int64_t hash,
                                 int64_t *text, struct err *e)
{
    const uint32_t *at = map64_find(&im->by_hash, (uint64_t)hash);
    bool equal = false;
    enum status st = ST_OK;

    assert(!at || (*at < im->n_hashes && im->hashes[*at].hash == hash));
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

/* Inserts in order of hash, so that each page of the tree is visited once and
 * not once for each row. An import of 668,701 pairs spends 1.9 s in SQLite
 * this way, and 3.3 s with an index on text(hash). */
static enum status write_hashes(struct store_import *im, struct err *e)
{
    enum status st = ST_OK;

    if (im->n_hashes)
        qsort(im->hashes, im->n_hashes, sizeof *im->hashes,
              store_import_by_hash);
    for (size_t i = 0; !st && i < im->n_hashes; i++)
        st = hash_insert(im->s, im->hashes[i].hash, im->hashes[i].text, e);
    clear_hashes(im);
    return st;
}

/* Rolls the open chunk back, and with it the import fails. */
static void chunk_abort(struct store_import *im)
{
    struct store *s = im->s;

    assert(s->chunk == im && im->state == OPEN);
    if (!sqlite3_get_autocommit(s->db))
        query_run(s, Q_ROLLBACK, SQL_NONE, NULL);
    s->rollbacks++;
    s->chunk = NULL;
    import_enter(im, FAILED);
    clear_hashes(im);
}

enum status chunk_settle(struct store *s, struct err *e)
{
    struct store_import *im = s->chunk;
    enum status st;

    if (!im) return ST_OK;
    assert(store_sound(s) && im->s == s && im->state == OPEN);
    st = write_hashes(im, e);
    if (!st) st = query_run(s, Q_PAIRS_SET, SQL(im->pair_id), e);
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
    assert(im->state == OPEN && !im->n_hashes);
    st = chunk_settle(s, e);
    if (!st) st = set_sync(s, 1, e);
    if (!st) st = write_begin(s, e);
    if (st) return st;
    s->chunk = im;
    st = check_batch_open(im, e);
    if (!st) st = query_int(s, Q_PAIRS, SQL_NONE, &im->pair_id, e);
    if (st) chunk_abort(im);
    im->rows_in_chunk = 0;
    im->bytes_in_chunk = 0;
    im->chunk_began = clock_seconds();
    return st;
}

static bool chunk_full(const struct store_import *im)
{
    return im->rows_in_chunk >= im->s->chunk_rows ||
           im->bytes_in_chunk >= im->s->chunk_bytes ||
           (im->rows_in_chunk % 256 == 0 &&
            clock_seconds() - im->chunk_began > CHUNK_SECONDS);
}

/* ---- rows ---------------------------------------------------------------- */

static enum status import_check_open(const struct store_import *im,
                                     struct err *e)
{
    if (im->state == FAILED)
        return err_set(e, ST_IO, "%s: the import has failed already",
                       im->s->path);
    if (im->state != OPEN)
        return err_set(e, ST_ARGUMENT, "the import has ended already");
    return ST_OK;
}

static enum status import_new_text(struct store_import *im,
                                   const struct unit *u, int64_t hash,
                                   int64_t *text, struct err *e)
{
    assert(im->texts >= 0 && im->texts <= MAX_TEXTS);
    if (im->texts == MAX_TEXTS)
        return err_set(e, ST_LIMIT, "an import may have at most %u texts",
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

    assert(s->chunk == im && !*text);
    if (!im->memory.keep_duplicates && filter_has(im, hash)) {
        st = find_in_chunk(im, u, hash, text, e);
        if (!st && !*text)
            st = text_find(s, im->memory.id, u, hash, im->batch, text, e);
    }
    *is_new = !*text;
    if (!st && *is_new) st = import_new_text(im, u, hash, text, e);
    if (!st && *is_new) st = note_hash(im, hash, *text, e);
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
    enum status st = import_check_open(im, e);

    *text = 0;
    *is_new = false;
    if (!st && im->s->depth)
        st = err_set(e, ST_ARGUMENT, "pairs cannot be imported inside a "
                     "transaction");
    if (!st) st = unit_accept(u, e);
    if (!st) st = chunk_open(im, e);
    if (st) return st;
    st = store_import_put_row(im, u, text, is_new, e);
    if (st) {
        chunk_abort(im);
        return st;
    }
    im->rows_in_chunk++;
    im->bytes_in_chunk += u->source.n + u->target.n;
    return chunk_full(im) ? chunk_settle(im->s, e) : ST_OK;
}

/* ---- ending -------------------------------------------------------------- */

/* Moves the pairs of this import from one text to another. The first text is
 * deleted if no pair is left. */
static enum status move_pairs(struct store_import *im, int64_t from,
                              int64_t to, struct err *e)
{
    enum status st = query_run(im->s, Q_PAIRS_MOVE,
                               SQL(from, im->batch, to), e);

    if (!st) st = text_delete(im->s, from, e);
    return st;
}

static enum status note_joined(struct store_import *im, int64_t mine,
                               int64_t theirs, struct err *e)
{
    if (!mem_grow(&im->joined, &im->cap_joined, im->n_joined + 2,
                  sizeof *im->joined))
        return err_nomem(e, "import");
    im->joined[im->n_joined++] = mine;
    im->joined[im->n_joined++] = theirs;
    return ST_OK;
}

/* Joins our texts with equal texts that others have added since we looked:
 * theirs stay. Only batches that were created or finished after this import
 * began can have such texts. */
static enum status join_equal(struct store_import *im, struct err *e)
{
    struct store *s = im->s;
    sqlite3_stmt *row;
    bool found;
    size_t n;
    enum status st = query_first(s, Q_JOIN_EQUAL,
                                 SQL(im->memory.id, im->batch,
                                     im->change_at_begin), &found, e);

    im->n_joined = 0;
    while (!st && found) {
        row = s->stmt[Q_JOIN_EQUAL];
        st = note_joined(im, sqlite3_column_int64(row, 0),
                       sqlite3_column_int64(row, 1), e);
        if (st) query_end(s, Q_JOIN_EQUAL);
        else st = query_next(s, Q_JOIN_EQUAL, &found, e);
    }
    for (size_t i = 0; !st && i < im->n_joined; i += 2)
        st = move_pairs(im, im->joined[i], im->joined[i + 1], e);
    assert(im->n_joined % 2 == 0);
    n = im->n_joined / 2;       /* of each pair of ids only ours stays */
    for (size_t i = 0; i < n; i++) im->joined[i] = im->joined[2 * i];
    im->n_joined = n;
    return st;
}

/* Finds or creates a visible text equal to the hidden one in `row`. */
static enum status replace_hidden(struct store_import *im, sqlite3_stmt *row,
                                  int64_t *text, struct err *e)
{
    int64_t hash = sqlite3_column_int64(row, 1), seq;
    struct unit u = { .tagged = sqlite3_column_int(row, 2) != 0,
                      .source = column_str(row, 3),
                      .target = column_str(row, 4) };
    enum status st = text_find(im->s, im->memory.id, &u, hash, im->batch, text,
                               e);

    if (st || *text) return st;
    st = import_new_text(im, &u, hash, text, e);
    if (!st) st = hash_insert(im->s, hash, *text, e);
    if (!st)
        st = query_int(im->s, Q_CHANGE_ADD, SQL(im->memory.id, *text, *text),
                       &seq, e);
    return st;
}

/* Some texts that this import refers to may have lost their last visible pair
 * meanwhile. They count as removed, so our pairs get other texts. The changes
 * that add those have higher numbers than the import's own change, because no
 * index that was built during the import contains them. */
static enum status replace_all_hidden(struct store_import *im, struct err *e)
{
    struct store *s = im->s;
    int64_t hidden, text;
    bool found = true;
    enum status st = ST_OK;

    while (!st) {
        st = query_first(s, Q_JOIN_HIDDEN, SQL(im->memory.id, im->batch),
                         &found, e);
        if (st || !found) break;
        hidden = sqlite3_column_int64(s->stmt[Q_JOIN_HIDDEN], 0);
        st = replace_hidden(im, s->stmt[Q_JOIN_HIDDEN], &text, e);
        query_end(s, Q_JOIN_HIDDEN);
        if (!st) st = move_pairs(im, hidden, text, e);
    }
    return st ? st : query_run(s, Q_HIDDEN_CLEAN, SQL_NONE, e);
}

static enum status store_import_do_prepare(struct store_import *im,
                                           int64_t *seq, struct err *e)
{
    struct store *s = im->s;
    int64_t first = im->batch << 32 | 1, last = im->batch << 32 | im->texts;
    bool join = !im->memory.keep_duplicates;
    enum status st = check_batch_open(im, e);

    assert(store_in_write(s) && !s->chunk && !im->n_hashes);
    if (!st && join) st = join_equal(im, e);
    if (!st)
        st = query_int(s, Q_CHANGE_ADD,
                       SQL(im->memory.id, first, last), seq, e);
    if (!st && join) st = replace_all_hidden(im, e);
    if (!st)
        st = query_run(s, Q_BATCH_FINISH, SQL(im->batch, im->texts, *seq), e);
    return st;
}

enum status store_import_prepare(struct store_import *im, int64_t *seq,
                                 const int64_t **gone, size_t *n_gone,
                                 struct err *e)
{
    enum status st = import_check_open(im, e);

    *seq = 0;
    if (!st) st = store_begin(im->s, e);
    if (st) return st;
    import_enter(im, PREPARED);
    st = store_import_do_prepare(im, seq, e);
    if (st) store_rollback(im->s);
    *gone = im->joined;
    *n_gone = im->n_joined;
    return st;
}

/* A DONE import fails here when its commit was nested in a transaction of the
 * caller. After a real commit a later rollback also ends here; that is
 * harmless, because batch_wipe does not touch a batch that is done. */
void imports_rolled_back(struct store *s)
{
    for (struct store_import *im = s->imports; im; im = im->next)
        if (im->state == PREPARED || im->state == DONE)
            import_enter(im, FAILED);
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
    if (!st && im->state != PREPARED) st = import_check_open(im, e);
    if (!st) {
        st = query_run(s, Q_BATCH_EXTRA,
                       SQL(im->batch, sql_text_or_null(str_of(im->format)),
                           sql_text_or_null(extra)), e);
        if (st) store_rollback(s);
    }
    if (!st) st = store_commit(s, e);
    if (st) return st;
    import_enter(im, DONE);
    if (!s->depth) store_checkpoint(s);
    return ST_OK;
}

void store_import_close(struct store_import *im)
{
    struct store *s;
    struct store_import **at;

    if (!im) return;
    s = im->s;
    assert(im->lock >= 0);
    if (s->chunk == im) chunk_abort(im);
    if (im->state == PREPARED) store_rollback(s);
    /* Rows that remain after this time are deleted by the next writers. */
    if (im->state != DONE)
        batch_wipe(s, im->batch, SWEEP_SECONDS, NULL);
    close(im->lock);
    for (at = &s->imports; *at != im; at = &(*at)->next)
        assert(*at);            /* the import is in the list */
    *at = im->next;
    lock_file_drop(s);
    free(im->format);
    free(im->origin);
    free(im->joined);
    free(im->hashes);
    free(im->filter);
    map64_release(&im->by_hash);
    free(im);
}

enum status store_import_extra(struct store *s, int64_t memory,
                               const char *format, struct str *extra,
                               struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_BATCH_HEAD, SQL(memory, format), &found,
                                 e);

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
