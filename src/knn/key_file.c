/* key_file.c - see key_file.h; docs/formats/keys.md has the tables.
 *
 * Which pairs there are (table `block`) is kept apart from their keys (table
 * `keys`), so that to note a pair's use rewrites some forty bytes and not its
 * keys. Reading never writes: uses are noted in memory and written when pairs
 * are about to go, and at the end. A damaged pair is not found; its keys are
 * made again, and the put that follows replaces them. */
#include "knn/key_file.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "knn/key_file_sql.h"

enum {
    CLOSE_MS = 200, /* notes of use are not worth more waiting */
    PAIR_BYTES = 64, /* what a pair costs besides its keys */
    MAX_BLOB = 1 << 29, /* SQLite takes 10^9 */
    MAX_TOUCHED = 65536, /* notes of use; the oldest are lost */
    TRIM_ROWS = 4096 /* removed by one put, besides twice its own;
                                   looked at by one step of key_file_keep_only */
};

struct key_file {
    uint64_t limit;
    bool read_only;

    pthread_mutex_t lock;       /* of what follows */
    struct key_file_sql db;
    bool counted;               /* the head's totals are right */
    char *pack;                 /* a block as it is stored */
    size_t cap_pack;

    pthread_mutex_t touch_lock; /* of what follows; never waits for the disk */
    struct key_id *touched;     /* pairs used since they were last written */
    size_t n_touched, cap_touched, oldest_touched;
    uint32_t touch_turn;        /* counts the times they were written */
};

enum status key_file_open(struct key_file **out, const char *path,
                          const struct key_file_kind *kind, uint64_t limit,
                          struct err *e)
{
    struct key_file *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (!f) return err_nomem(e, "file of keys");
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->touch_lock, NULL);
    f->limit = limit;
    f->touch_turn = 1;
    st = key_file_sql_open(&f->db, path, kind, e);
    f->read_only = f->db.read_only;
    if (st) key_file_close(f);
    else *out = f;
    return st;
}

/* ---- pairs used ---------------------------------------------------------- */

static void note_use(struct key_file *f, struct key_id id)
{
    if (f->n_touched == MAX_TOUCHED)
        f->touched[f->oldest_touched++ % MAX_TOUCHED] = id;
    else if (mem_grow(&f->touched, &f->cap_touched, f->n_touched + 1,
                      sizeof *f->touched))
        f->touched[f->n_touched++] = id;
}

void key_file_touch(struct key_file *f, struct key_id id, uint32_t *told)
{
    if (f->read_only) return;
    pthread_mutex_lock(&f->touch_lock);
    if (*told != f->touch_turn) note_use(f, id);
    *told = f->touch_turn;
    pthread_mutex_unlock(&f->touch_lock);
}

/* ---- changing it --------------------------------------------------------- */

#define MAX_TOTAL (INT64_C(1) << 40)

struct totals { int64_t blocks, keys, clock; };

static size_t key_bytes(const struct key_file *f)
{
    size_t number = f->db.kind.type == KEY_INT8 ? 1 : sizeof(float);

    return sizeof(int32_t) + sizeof(float) + (size_t)f->db.kind.d * number;
}

static uint64_t key_file_bytes_of(const struct key_file *f, uint64_t blocks,
                                  uint64_t keys)
{
    return blocks * PAIR_BYTES + keys * key_bytes(f);
}

/* Some pairs may have gone that were never counted. */
static uint64_t at_least_0(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

static uint64_t key_file_total_bytes(const struct key_file *f,
                                     const struct totals *t)
{
    return key_file_bytes_of(f, at_least_0(t->blocks), at_least_0(t->keys));
}

/* The totals of a damaged file may be anything: enough to make room for, and
 * to count from without an overflow. */
static int64_t total_at(sqlite3_stmt *st, int column)
{
    int64_t n = sqlite3_column_int64(st, column);

    return n < 0 ? 0 : n < MAX_TOTAL ? n : MAX_TOTAL;
}

static int read_totals(struct key_file *f, enum key_file_sql_query q,
                       struct totals *t)
{
    sqlite3_stmt *st;
    int rc = key_file_sql_first(&f->db, q, "");

    memset(t, 0, sizeof *t);
    if (rc == SQLITE_DONE) return SQLITE_CORRUPT;
    if (rc != SQLITE_ROW) return rc;
    st = f->db.stmt[q];
    t->blocks = total_at(st, 0);
    t->keys = total_at(st, 1);
    t->clock = sqlite3_column_int64(st, 2);
    return key_file_sql_rest(&f->db, q, rc);
}

/* A pair and its keys; q: KEY_FILE_SQL_REMOVE after its first step, or _OLDEST. */
static int remove_rest(struct key_file *f, struct totals *t,
                       enum key_file_sql_query q, int rc)
{
    int64_t place, n;

    if (rc != SQLITE_ROW) return key_file_sql_rest(&f->db, q, rc);
    place = sqlite3_column_int64(f->db.stmt[q], 0);
    n = sqlite3_column_int64(f->db.stmt[q], 1);
    if (n < 0 || n > MAX_BLOB) n = 0;   /* as KEY_FILE_SQL_COUNT has it */
    rc = key_file_sql_rest(&f->db, q, rc);
    if (!rc)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_REMOVE_KEYS, "i", place);
    t->blocks--;
    t->keys -= n;
    return rc;
}

static int remove_pair(struct key_file *f, struct totals *t, struct key_id id)
{
    return remove_rest(
        f, t, KEY_FILE_SQL_REMOVE,
        key_file_sql_first(&f->db, KEY_FILE_SQL_REMOVE, "k", id));
}

/* The first time all is counted, in case the head was damaged. */
static int key_file_begin(struct key_file *f, struct totals *t)
{
    int rc = key_file_sql_run(&f->db, KEY_FILE_SQL_BEGIN, "");

    if (!rc)
        rc = read_totals(
            f, f->counted ? KEY_FILE_SQL_TOTALS : KEY_FILE_SQL_COUNT, t);
    return rc;
}

/* Keep what was done if rc is good, undo it otherwise. */
static enum status end(struct key_file *f, struct totals *t, int rc,
                       struct err *e)
{
    enum status st;

    if (!rc)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_SET_TOTALS, "ii", t->blocks,
                              t->keys);
    if (!rc) rc = key_file_sql_run(&f->db, KEY_FILE_SQL_COMMIT, "");
    if (!rc) {
        f->counted = true;
        return ST_OK;
    }
    st = key_file_sql_failed(&f->db, rc, e);  /* before SQLite forgets why */
    key_file_sql_undo(&f->db);
    return st;
}

static int64_t tick(struct totals *t)
{
    t->clock = (int64_t)((uint64_t)t->clock + 1);       /* whatever it was */
    return t->clock;
}

/* Write down who was used; should that fail, it is forgotten. */
static int write_uses(struct key_file *f, struct totals *t)
{
    struct key_id *ids;
    size_t n, oldest;
    int rc = SQLITE_OK;

    pthread_mutex_lock(&f->touch_lock);
    ids = f->touched;
    n = f->n_touched;
    oldest = f->oldest_touched;
    f->touched = NULL;
    f->n_touched = f->cap_touched = f->oldest_touched = 0;
    f->touch_turn += f->touch_turn == UINT32_MAX ? 2 : 1;       /* never 0 */
    pthread_mutex_unlock(&f->touch_lock);
    for (size_t i = 0; !rc && i < n; i++)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_USE, "ki",
                              ids[(oldest + i) % n], tick(t));
    free(ids);
    return rc;
}

/* ---- blocks as they are stored ------------------------------------------- */

/* The id is under the sum, too: a row in the wrong place is no match. */
static uint64_t sum_of(struct key_id id, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, id.hi ^ id.lo);
}

/* Tokens, scales, keys without their padding: to f->pack. */
static bool pack_block(struct key_file *f, const struct pair_keys *b,
                       size_t size)
{
    size_t n = (size_t)b->n, words = n * sizeof *b->token;
    size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
    size_t row = (size_t)b->d * number;
    char *to;

    if (!mem_grow(&f->pack, &f->cap_pack, size, 1)) return false;
    to = f->pack;
    memcpy(to, b->token, words);
    memcpy(to + words, b->scale, words);
    to += 2 * words;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * row, (char *)b->keys + i * b->ld * number, row);
    return true;
}

static void unpack_block(struct pair_keys *b, const char *from)
{
    size_t n = (size_t)b->n, words = n * sizeof *b->token;
    size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
    size_t row = (size_t)b->d * number;

    memcpy(b->token, from, words);
    memcpy(b->scale, from + words, words);
    from += 2 * words;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)b->keys + i * b->ld * number, from + i * row, row);
}

/* A file may have been written by anybody, with sums that are right. */
static bool tokens_are_valid(const struct pair_keys *b, int vocab)
{
    for (int i = 0; i < b->n; i++)
        if (b->token[i] < 0 || b->token[i] >= vocab) return false;
    return true;
}

/* From the row KEY_FILE_SQL_GET is at. One that is not what was stored is absent. */
static enum status read_block(struct key_file *f, struct key_id id,
                              struct pair_keys **out, struct err *e)
{
    sqlite3_stmt *row = f->db.stmt[KEY_FILE_SQL_GET];
    int64_t n = sqlite3_column_int64(row, 0);
    uint64_t sum = (uint64_t)sqlite3_column_int64(row, 1);
    const void *bytes = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2);
    enum status st;

    if (sqlite3_errcode(f->db.sql) == SQLITE_NOMEM)
        return err_nomem(e, "memory keys");
    if (n < 0 || n > MAX_BLOB || size != (size_t)n * key_bytes(f) ||
        sum != sum_of(id, bytes, size))
        return ST_OK;
    st = pair_keys_new(out, f->db.kind.type, (int)n, f->db.kind.d, e);
    if (st) return st;
    unpack_block(*out, bytes);
    if (tokens_are_valid(*out, f->db.kind.vocab)) return ST_OK;
    pair_keys_drop(*out);
    *out = NULL;
    return ST_OK;
}

/* ---- what callers do ----------------------------------------------------- */

enum status key_file_get(struct key_file *f, struct key_id id,
                         struct pair_keys **out, struct err *e)
{
    enum status st = ST_OK;
    uint32_t told = 0;
    int rc;

    *out = NULL;
    pthread_mutex_lock(&f->lock);
    rc = key_file_sql_first(&f->db, KEY_FILE_SQL_GET, "k", id);
    if (rc == SQLITE_ROW) {
        st = read_block(f, id, out, e);
        sqlite3_reset(f->db.stmt[KEY_FILE_SQL_GET]);
    } else if (rc != SQLITE_DONE) {
        st = key_file_sql_failed(&f->db, rc, e);
    }
    pthread_mutex_unlock(&f->lock);
    if (*out) key_file_touch(f, id, &told);
    return st;
}

static bool key_file_fits(const struct key_file *f, const struct pair_keys *b)
{
    uint64_t bytes = key_file_bytes_of(f, 1, (uint64_t)b->n);

    assert(b->type == f->db.kind.type && b->d == f->db.kind.d);
    return bytes <= f->limit && bytes <= MAX_BLOB;
}

static int key_file_add_pair(struct key_file *f, struct totals *t,
                             struct key_id id, const struct pair_keys *b)
{
    size_t size = (size_t)b->n * key_bytes(f);
    int64_t place;
    int rc = remove_pair(f, t, id);

    if (rc) return rc;
    if (!pack_block(f, b, size + 1)) return SQLITE_NOMEM;
    rc = key_file_sql_run(&f->db, KEY_FILE_SQL_ADD_KEYS, "ib",
                          (int64_t)sum_of(id, f->pack, size),
                          (const void *)f->pack, size);
    if (rc) return rc;
    place = sqlite3_last_insert_rowid(f->db.sql);
    t->blocks++;
    t->keys += b->n;
    return key_file_sql_run(&f->db, KEY_FILE_SQL_ADD, "kiii", id, place,
                            (int64_t)b->n, tick(t));
}

/* *none: there is nothing (more) to remove; a pair used after `since` only
 * goes when there is no room at all. */
static int remove_oldest(struct key_file *f, struct totals *t, int64_t since,
                         bool *none)
{
    bool any = false;
    int64_t used = 0;
    int rc = key_file_sql_first(&f->db, KEY_FILE_SQL_OLDEST, "");

    if (rc == SQLITE_ROW) {
        any = sqlite3_column_type(f->db.stmt[KEY_FILE_SQL_OLDEST], 0) !=
              SQLITE_NULL;
        used = sqlite3_column_int64(f->db.stmt[KEY_FILE_SQL_OLDEST], 0);
    }
    rc = key_file_sql_rest(&f->db, KEY_FILE_SQL_OLDEST, rc);
    if (!rc && !any) t->blocks = t->keys = 0;   /* the head was wrong */
    *none = !any || (used > since && key_file_total_bytes(f, t) <= f->limit);
    if (rc || *none) return rc;
    return remove_rest(
        f, t, KEY_FILE_SQL_REMOVE_OLDEST,
        key_file_sql_first(&f->db, KEY_FILE_SQL_REMOVE_OLDEST, ""));
}

/* A tenth more than is needed goes, so that there is not something to remove
 * each time; but not so much at once that others would wait for long. */
static int key_file_make_room(struct key_file *f, struct totals *t,
                              int64_t since, int most)
{
    bool none = key_file_total_bytes(f, t) <= f->limit;
    int rc = SQLITE_OK;

    for (int i = 0; !rc && !none && i < most &&
                    key_file_total_bytes(f, t) > f->limit - f->limit / 10; i++)
        rc = remove_oldest(f, t, since, &none);
    return rc;
}

static int key_file_put_all(struct key_file *f, struct totals *t,
                            const struct key_id *ids,
                            struct pair_keys *const *blocks, int n)
{
    uint64_t more = 0;
    int64_t since;
    int rc = SQLITE_OK;

    for (int i = 0; i < n; i++)
        if (key_file_fits(f, blocks[i]))
            more += key_file_bytes_of(f, 1, (uint64_t)blocks[i]->n);
    if (key_file_total_bytes(f, t) + more > f->limit) rc = write_uses(f, t);
    since = t->clock;
    for (int i = 0; !rc && i < n; i++)
        if (key_file_fits(f, blocks[i]))
            rc = key_file_add_pair(f, t, ids[i], blocks[i]);
    if (!rc) rc = key_file_make_room(f, t, since, TRIM_ROWS + 2 * n);
    return rc;
}

enum status key_file_put(struct key_file *f, const struct key_id *ids,
                         struct pair_keys *const *blocks, int n, struct err *e)
{
    struct totals t;
    enum status st;
    int rc;

    if (f->read_only || n <= 0) return ST_OK;
    pthread_mutex_lock(&f->lock);
    rc = key_file_begin(f, &t);
    if (!rc) rc = key_file_put_all(f, &t, ids, blocks, n);
    st = end(f, &t, rc, e);
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* ---- removing what is not wanted ----------------------------------------- */

/* The next ids after *last, at most TRIM_ROWS. In a damaged tree they may be
 * in any order, and there would be no end. */
static int key_file_list_ids(struct key_file *f, const struct key_id *last,
                             struct key_id *ids, size_t *n)
{
    int64_t most = TRIM_ROWS;
    int rc =
        last ? key_file_sql_first(&f->db, KEY_FILE_SQL_LIST, "ki", *last, most)
             : key_file_sql_first(&f->db, KEY_FILE_SQL_LIST, "bi",
                                  (const void *)"", (size_t)0, most);
    sqlite3_stmt *st = f->db.stmt[KEY_FILE_SQL_LIST];  /* prepared by the first */

    *n = 0;
    for (; rc == SQLITE_ROW && *n < TRIM_ROWS; rc = sqlite3_step(st)) {
        ids[*n] = key_file_sql_id(st, 0);
        if (last && key_id_compare(last, &ids[*n]) >= 0) rc = SQLITE_CORRUPT;
        if (rc == SQLITE_CORRUPT) break;
        last = &ids[(*n)++];
    }
    return key_file_sql_rest(&f->db, KEY_FILE_SQL_LIST, rc);
}

struct keeping {                /* key_file_keep_only at work */
    const struct key_id *ids;
    size_t n;
    struct key_id *listed;      /* [TRIM_ROWS] */
    size_t n_listed;
    uint64_t removed;
};

static bool is_kept(const struct keeping *k, const struct key_id *id)
{
    return k->n && bsearch(id, k->ids, k->n, sizeof *k->ids, key_id_compare);
}

/* One transaction, so that others need not wait for long. */
static enum status keep_step(struct key_file *f, struct keeping *k,
                             const struct key_id *last, struct err *e)
{
    uint64_t removed = 0;
    struct totals t;
    enum status st;
    int rc = key_file_begin(f, &t);

    if (!rc) rc = key_file_list_ids(f, last, k->listed, &k->n_listed);
    for (size_t i = 0; !rc && i < k->n_listed; i++) {
        if (is_kept(k, &k->listed[i])) continue;
        rc = remove_pair(f, &t, k->listed[i]);
        removed++;
    }
    st = end(f, &t, rc, e);
    if (!st) k->removed += removed;
    return st;
}

static enum status keep_steps(struct key_file *f, struct keeping *k,
                              struct err *e)
{
    struct key_id last;
    enum status st = keep_step(f, k, NULL, e);

    while (!st && k->n_listed == TRIM_ROWS) {
        last = k->listed[TRIM_ROWS - 1];
        st = keep_step(f, k, &last, e);
    }
    return st;
}

enum status key_file_keep_only(struct key_file *f, const struct key_id *ids,
                               size_t n, uint64_t *removed, struct err *e)
{
    struct keeping k = { .ids = ids, .n = n };
    enum status st;

    *removed = 0;
    if (f->read_only)
        return err_set(e, ST_IO, "%s: cannot be written, so no keys can be "
                       "removed from it", f->db.path);
    k.listed = malloc(TRIM_ROWS * sizeof *k.listed);
    if (!k.listed) return err_nomem(e, "memory keys");
    pthread_mutex_lock(&f->lock);
    key_file_sql_wipe(&f->db, true);
    st = keep_steps(f, &k, e);
    key_file_sql_wipe(&f->db, false);
    pthread_mutex_unlock(&f->lock);
    *removed = k.removed;
    free(k.listed);
    return st;
}

/* *more: there may be something beyond the limit still. */
static enum status trim_step(struct key_file *f, bool *more, struct err *e)
{
    struct totals t;
    enum status st;
    int64_t before = 0;
    int rc = key_file_begin(f, &t);

    if (!rc) {
        before = t.blocks;
        if (key_file_total_bytes(f, &t) > f->limit) rc = write_uses(f, &t);
    }
    if (!rc) rc = key_file_make_room(f, &t, t.clock, TRIM_ROWS);
    st = end(f, &t, rc, e);
    *more = t.blocks < before && key_file_total_bytes(f, &t) > f->limit;
    return st;
}

/* A thousand pages at a time. Where the list of free pages is damaged there
 * may be no end: each step must make it shorter. */
static int give_space_back(struct key_file *f)
{
    int64_t pages, before = INT64_MAX;
    int rc = key_file_sql_number(&f->db, KEY_FILE_SQL_FREE_PAGES, &pages);

    while (!rc && pages > 0 && pages < before) {
        before = pages;
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_SHRINK, "");
        if (!rc)
            rc = key_file_sql_number(&f->db, KEY_FILE_SQL_FREE_PAGES, &pages);
    }
    if (!rc) rc = key_file_sql_run(&f->db, KEY_FILE_SQL_CHECKPOINT, "");
    return rc;
}

enum status key_file_compact(struct key_file *f, struct err *e)
{
    enum status st = ST_OK;
    bool more = true;
    int rc;

    if (f->read_only) return ST_OK;
    pthread_mutex_lock(&f->lock);
    while (!st && more) st = trim_step(f, &more, e);
    if (!st) {
        rc = give_space_back(f);
        if (rc) st = key_file_sql_failed(&f->db, rc, e);
    }
    pthread_mutex_unlock(&f->lock);
    return st;
}

enum status key_file_stats(struct key_file *f, struct key_file_stats *out,
                           struct err *e)
{
    struct totals t;
    int rc;
    enum status st;

    pthread_mutex_lock(&f->lock);
    rc = read_totals(f, KEY_FILE_SQL_TOTALS, &t);
    st = rc ? key_file_sql_failed(&f->db, rc, e) : ST_OK;
    pthread_mutex_unlock(&f->lock);
    *out = (struct key_file_stats){ at_least_0(t.blocks), key_file_total_bytes(f, &t),
                                   f->limit, f->read_only,
                                   f->db.remade };
    return st;
}

/* The notes that are left; no harm when they cannot be written. */
static void write_notes(struct key_file *f)
{
    struct totals t;
    int rc;

    if (f->read_only || !f->n_touched) return;
    key_file_sql_wait(&f->db, CLOSE_MS);
    rc = key_file_begin(f, &t);
    if (!rc) rc = write_uses(f, &t);
    end(f, &t, rc, NULL);
}

void key_file_close(struct key_file *f)
{
    if (!f) return;
    if (f->db.sql) write_notes(f);
    key_file_sql_close(&f->db);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->touch_lock);
    free(f->touched);
    free(f->pack);
    free(f);
}
