/* key_file.c - stores, finds, evicts and removes the keys of pairs in a key
 * file. Opening the file and running SQL statements is in key_file_sql.c;
 * docs/formats/keys.md describes the tables.
 *
 * The list of pairs (table `block`) is separate from their keys (table `keys`),
 * so that recording a use rewrites about forty bytes and not the keys. Reading
 * never writes: uses are noted in memory and written before pairs are evicted,
 * and when the file is closed. A damaged pair counts as missing; its keys are
 * computed again, and the next put replaces them.
 *
 * Invariants:
 *   - A function that changes the file holds `lock` and works between
 *     key_file_begin and key_file_end.
 *   - touch_lock is taken last, and never held during disk access.
 *   - touched is a ring of n_touched ids; only when n_touched is MAX_TOUCHED
 *     does oldest_touched differ from 0. */
#include "knn/key_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/key_file_sql.h"

enum {
    CLOSE_MS = 200,             /* how long close waits to write the uses */
    PAIR_BYTES = 64,            /* cost of a pair in addition to its keys */
    MAX_BLOB = 1 << 29,         /* SQLite allows 10^9 bytes */
    MAX_TOUCHED = 65536,        /* noted uses; the oldest are overwritten */
    TRIM_ROWS = 4096            /* pairs that one put may evict, plus twice the
                                   number it adds; pairs that one step of
                                   key_file_keep_only looks at */
};

struct key_file {
    uint64_t limit;
    bool read_only;

    pthread_mutex_t lock;       /* protects the next four members */
    struct key_file_sql db;
    bool counted;               /* the totals in table head were verified */
    char *packed;               /* scratch: the keys of a pair as stored */
    size_t cap_packed;

    pthread_mutex_t touch_lock; /* protects the members below */
    struct key_id *touched;     /* uses that are not written yet */
    size_t n_touched, cap_touched, oldest_touched;
    uint32_t touch_turn;        /* changes each time the uses are written */
};

enum status key_file_open(struct key_file **out, const char *path,
                          const struct key_file_kind *kind, uint64_t limit,
                          struct err *e)
{
    struct key_file *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (!f) return err_nomem(e, "key file");
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

/* ---- uses of pairs ------------------------------------------------------- */

static void note_use(struct key_file *f, struct key_id id)
{
    assert(f->n_touched <= MAX_TOUCHED);
    if (f->n_touched == MAX_TOUCHED)
        f->touched[f->oldest_touched++ % MAX_TOUCHED] = id;
    else if (mem_grow(&f->touched, &f->cap_touched, f->n_touched + 1,
                      sizeof *f->touched))
        f->touched[f->n_touched++] = id;
}

void key_file_touch(struct key_file *f, struct key_id id, uint32_t *noted_use)
{
    if (f->read_only) return;
    pthread_mutex_lock(&f->touch_lock);
    assert(f->touch_turn != 0);
    if (*noted_use != f->touch_turn) note_use(f, id);
    *noted_use = f->touch_turn;
    pthread_mutex_unlock(&f->touch_lock);
}

/* ---- transactions -------------------------------------------------------- */

/* Larger totals are treated as this value. */
#define MAX_TOTAL (INT64_C(1) << 40)

struct totals { int64_t blocks, keys, clock; };

static size_t key_bytes(const struct key_file *f)
{
    size_t number = f->db.kind.type == KEY_INT8 ? 1 : sizeof(float);

    return sizeof(int32_t) + sizeof(float) + sizeof(uint16_t) +
           (size_t)f->db.kind.d * number;
}

static uint64_t key_file_bytes_of(const struct key_file *f, uint64_t blocks,
                                  uint64_t keys)
{
    return blocks * PAIR_BYTES + keys * key_bytes(f);
}

/* Totals may become negative when pairs are removed that a damaged file did not
 * count. */
static uint64_t at_least_0(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

static uint64_t key_file_total_bytes(const struct key_file *f,
                                     const struct totals *t)
{
    return key_file_bytes_of(f, at_least_0(t->blocks), at_least_0(t->keys));
}

/* Read a total, and clamp it: a damaged file may have any value, and counting
 * on from it must not overflow. */
static int64_t total_at(sqlite3_stmt *st, int column)
{
    int64_t n = sqlite3_column_int64(st, column);

    return n < 0 ? 0 : n < MAX_TOTAL ? n : MAX_TOTAL;
}

static int read_totals(struct key_file *f, enum key_file_sql_query q,
                       struct totals *t)
{
    sqlite3_stmt *st;
    int rc = key_file_sql_first(&f->db, q, SQL_NONE);

    memset(t, 0, sizeof *t);
    if (rc == SQLITE_DONE) return SQLITE_CORRUPT;
    if (rc != SQLITE_ROW) return rc;
    st = f->db.stmt[q];
    t->blocks = total_at(st, 0);
    t->keys = total_at(st, 1);
    t->clock = sqlite3_column_int64(st, 2);
    return key_file_sql_rest(&f->db, q, rc);
}

/* Finish statement q, which deletes a pair and returns its place, and delete
 * its keys too. q is KEY_FILE_SQL_REMOVE or KEY_FILE_SQL_REMOVE_OLDEST, and rc
 * the result of its first step. */
static int finish_removal(struct key_file *f, struct totals *t,
                          enum key_file_sql_query q, int rc)
{
    int64_t place, n;

    if (rc != SQLITE_ROW) return key_file_sql_rest(&f->db, q, rc);
    place = sqlite3_column_int64(f->db.stmt[q], 0);
    n = sqlite3_column_int64(f->db.stmt[q], 1);
    if (n < 0 || n > MAX_BLOB) n = 0;   /* as in KEY_FILE_SQL_COUNT */
    rc = key_file_sql_rest(&f->db, q, rc);
    if (!rc)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_REMOVE_KEYS, SQL(place));
    t->blocks--;
    t->keys -= n;
    return rc;
}

static int remove_pair(struct key_file *f, struct totals *t, struct key_id id)
{
    return finish_removal(
        f, t, KEY_FILE_SQL_REMOVE,
        key_file_sql_first(&f->db, KEY_FILE_SQL_REMOVE,
                           SQL(key_file_sql_key(id))));
}

/* Begin a transaction and read the totals. The first time they are counted from
 * the tables, because the totals in table head may be damaged. */
static int key_file_begin(struct key_file *f, struct totals *t)
{
    int rc = key_file_sql_run(&f->db, KEY_FILE_SQL_BEGIN, SQL_NONE);

    if (!rc)
        rc = read_totals(
            f, f->counted ? KEY_FILE_SQL_TOTALS : KEY_FILE_SQL_COUNT, t);
    return rc;
}

/* End a transaction: commit if rc is SQLITE_OK, roll back otherwise. */
static enum status key_file_end(struct key_file *f, struct totals *t, int rc,
                                struct err *e)
{
    enum status st;

    if (!rc)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_SET_TOTALS,
                              SQL(t->blocks, t->keys));
    if (!rc) rc = key_file_sql_run(&f->db, KEY_FILE_SQL_COMMIT, SQL_NONE);
    if (!rc) {
        f->counted = true;
        return ST_OK;
    }
    st = key_file_sql_failed(&f->db, rc, e);    /* the rollback resets it */
    key_file_sql_undo(&f->db);
    return st;
}

static int64_t tick(struct totals *t)
{
    t->clock = (int64_t)((uint64_t)t->clock + 1);       /* may wrap around */
    return t->clock;
}

/* Write the noted uses to the file. They are lost if that fails. */
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
    assert(oldest == 0 || n == MAX_TOUCHED);
    for (size_t i = 0; !rc && i < n; i++)
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_USE,
                              SQL(key_file_sql_key(ids[(oldest + i) % n]),
                                  tick(t)));
    free(ids);
    return rc;
}

/* ---- stored form of keys ------------------------------------------------- */

/* The checksum covers the id too, so that a row with another pair's id does not
 * match. */
static uint64_t sum_of(struct key_id id, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, id.hi ^ id.lo);
}

/* Write tokens, scales, source positions and keys without their padding to
 * f->packed. */
static bool pack_keys(struct key_file *f, const struct pair_keys *b,
                      size_t size)
{
    size_t n = (size_t)b->n, words = n * sizeof *b->token;
    size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
    size_t row = (size_t)b->d * number;
    char *to;

    assert(size >= 2 * words + n * sizeof *b->from + n * row);
    if (!mem_grow(&f->packed, &f->cap_packed, size, 1)) return false;
    to = f->packed;
    memcpy(to, b->token, words);
    memcpy(to + words, b->scale, words);
    to += 2 * words;
    memcpy(to, b->from, n * sizeof *b->from);
    to += n * sizeof *b->from;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * row, (char *)b->keys + i * b->ld * number, row);
    return true;
}

static void unpack_keys(struct pair_keys *b, const char *from)
{
    size_t n = (size_t)b->n, words = n * sizeof *b->token;
    size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
    size_t row = (size_t)b->d * number;

    if (!n) return;                     /* SQLite has NULL for an empty blob */
    memcpy(b->token, from, words);
    memcpy(b->scale, from + words, words);
    from += 2 * words;
    memcpy(b->from, from, n * sizeof *b->from);
    from += n * sizeof *b->from;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)b->keys + i * b->ld * number, from + i * row, row);
}

/* The checksum does not protect against a file written by another program, so
 * token ids are checked. */
static bool tokens_are_valid(const struct pair_keys *b, int vocab)
{
    for (int i = 0; i < b->n; i++)
        if (b->token[i] < 0 || b->token[i] >= vocab) return false;
    return true;
}

/* Read keys from the current row of KEY_FILE_SQL_GET. A damaged row leaves *out
 * NULL. */
static enum status read_keys(struct key_file *f, struct key_id id,
                             struct pair_keys **out, struct err *e)
{
    sqlite3_stmt *row = f->db.stmt[KEY_FILE_SQL_GET];
    int64_t n = sqlite3_column_int64(row, 0);
    uint64_t sum = (uint64_t)sqlite3_column_int64(row, 1);
    const void *bytes = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2);
    enum status st;

    if (sqlite3_errcode(f->db.sql) == SQLITE_NOMEM)
        return err_nomem(e, "key cache");
    if (n < 0 || n > MAX_BLOB || size != (size_t)n * key_bytes(f) ||
        sum != sum_of(id, bytes, size))
        return ST_OK;
    st = pair_keys_new(out, f->db.kind.type, (int)n, f->db.kind.d, e);
    if (st) return st;
    unpack_keys(*out, bytes);
    if (tokens_are_valid(*out, f->db.kind.vocab)) return ST_OK;
    pair_keys_drop(*out);
    *out = NULL;
    return ST_OK;
}

/* ---- reading and storing ------------------------------------------------- */

enum status key_file_get(struct key_file *f, struct key_id id,
                         struct pair_keys **out, struct err *e)
{
    enum status st = ST_OK;
    uint32_t noted_use = 0;
    int rc;

    *out = NULL;
    pthread_mutex_lock(&f->lock);
    rc = key_file_sql_first(&f->db, KEY_FILE_SQL_GET,
                            SQL(key_file_sql_key(id)));
    if (rc == SQLITE_ROW) {
        st = read_keys(f, id, out, e);
        sqlite3_reset(f->db.stmt[KEY_FILE_SQL_GET]);
    } else if (rc != SQLITE_DONE) {
        st = key_file_sql_failed(&f->db, rc, e);
    }
    pthread_mutex_unlock(&f->lock);
    if (*out) key_file_touch(f, id, &noted_use);
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
    if (!pack_keys(f, b, size + 1)) return SQLITE_NOMEM;
    rc = key_file_sql_run(&f->db, KEY_FILE_SQL_ADD_KEYS,
                          SQL(sum_of(id, f->packed, size),
                              sql_blob(f->packed, size)));
    if (rc) return rc;
    place = sqlite3_last_insert_rowid(f->db.sql);
    t->blocks++;
    t->keys += b->n;
    return key_file_sql_run(&f->db, KEY_FILE_SQL_ADD,
                            SQL(key_file_sql_key(id), place, b->n, tick(t)));
}

/* Remove the least recently used pair. A pair used after `since` is removed
 * only while the file is above its limit. *none is set when no pair was
 * removed. */
static int remove_oldest(struct key_file *f, struct totals *t, int64_t since,
                         bool *none)
{
    bool any = false;
    int64_t used = 0;
    int rc = key_file_sql_first(&f->db, KEY_FILE_SQL_OLDEST, SQL_NONE);

    if (rc == SQLITE_ROW) {
        any = sqlite3_column_type(f->db.stmt[KEY_FILE_SQL_OLDEST], 0) !=
              SQLITE_NULL;
        used = sqlite3_column_int64(f->db.stmt[KEY_FILE_SQL_OLDEST], 0);
    }
    rc = key_file_sql_rest(&f->db, KEY_FILE_SQL_OLDEST, rc);
    if (!rc && !any) t->blocks = t->keys = 0;   /* the totals were wrong */
    *none = !any || (used > since && key_file_total_bytes(f, t) <= f->limit);
    if (rc || *none) return rc;
    return finish_removal(
        f, t, KEY_FILE_SQL_REMOVE_OLDEST,
        key_file_sql_first(&f->db, KEY_FILE_SQL_REMOVE_OLDEST, SQL_NONE));
}

/* Evict pairs when the file is above its limit. A tenth of the limit is freed,
 * so that not every put has to evict, but at most `most` pairs, so that other
 * processes do not wait for long. */
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
                            struct pair_keys *const *keys, int n)
{
    uint64_t more = 0;
    int64_t since;
    int rc = SQLITE_OK;

    for (int i = 0; i < n; i++)
        if (key_file_fits(f, keys[i]))
            more += key_file_bytes_of(f, 1, (uint64_t)keys[i]->n);
    if (key_file_total_bytes(f, t) + more > f->limit) rc = write_uses(f, t);
    since = t->clock;
    for (int i = 0; !rc && i < n; i++)
        if (key_file_fits(f, keys[i]))
            rc = key_file_add_pair(f, t, ids[i], keys[i]);
    if (!rc) rc = key_file_make_room(f, t, since, TRIM_ROWS + 2 * n);
    return rc;
}

enum status key_file_put(struct key_file *f, const struct key_id *ids,
                         struct pair_keys *const *keys, int n, struct err *e)
{
    struct totals t = { 0 };
    enum status st;
    int rc;

    if (f->read_only || n <= 0) return ST_OK;
    pthread_mutex_lock(&f->lock);
    rc = key_file_begin(f, &t);
    if (!rc) rc = key_file_put_all(f, &t, ids, keys, n);
    st = key_file_end(f, &t, rc, e);
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* ---- removing pairs ------------------------------------------------------ */

/* List the next ids after *last (NULL: from the first), at most TRIM_ROWS. A
 * damaged B-tree may return ids out of order, which is an error: the listing
 * might never end. */
static int key_file_list_ids(struct key_file *f, const struct key_id *last,
                             struct key_id *ids, size_t *n)
{
    int64_t most = TRIM_ROWS;
    int rc =
        last ? key_file_sql_first(&f->db, KEY_FILE_SQL_LIST,
                                  SQL(key_file_sql_key(*last), most))
             : key_file_sql_first(&f->db, KEY_FILE_SQL_LIST,
                                  SQL(sql_blob("", 0), most));
    sqlite3_stmt *st = f->db.stmt[KEY_FILE_SQL_LIST];   /* prepared above */

    *n = 0;
    for (; rc == SQLITE_ROW && *n < TRIM_ROWS; rc = sqlite3_step(st)) {
        ids[*n] = key_file_sql_id(st, 0);
        if (last && key_id_compare(last, &ids[*n]) >= 0) rc = SQLITE_CORRUPT;
        if (rc == SQLITE_CORRUPT) break;
        last = &ids[(*n)++];
    }
    return key_file_sql_rest(&f->db, KEY_FILE_SQL_LIST, rc);
}

struct keep_only_task {
    const struct key_id *ids;   /* [n] the pairs to keep, sorted */
    size_t n;
    struct key_id *listed;      /* [TRIM_ROWS] the pairs of this step */
    size_t n_listed;
    uint64_t removed;
};

static bool is_kept(const struct keep_only_task *k, const struct key_id *id)
{
    return k->n && bsearch(id, k->ids, k->n, sizeof *k->ids, key_id_compare);
}

/* Check the next TRIM_ROWS pairs in one transaction. The steps are short, so
 * that other processes do not wait for long. */
static enum status keep_step(struct key_file *f, struct keep_only_task *k,
                             const struct key_id *last, struct err *e)
{
    uint64_t removed = 0;
    struct totals t = { 0 };
    enum status st;
    int rc = key_file_begin(f, &t);

    if (!rc) rc = key_file_list_ids(f, last, k->listed, &k->n_listed);
    for (size_t i = 0; !rc && i < k->n_listed; i++) {
        if (is_kept(k, &k->listed[i])) continue;
        rc = remove_pair(f, &t, k->listed[i]);
        removed++;
    }
    st = key_file_end(f, &t, rc, e);
    if (!st) k->removed += removed;
    return st;
}

static enum status keep_steps(struct key_file *f, struct keep_only_task *k,
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

static inline bool ids_sorted(const struct key_id *ids, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (key_id_compare(&ids[i - 1], &ids[i]) > 0) return false;
    return true;
}

enum status key_file_keep_only(struct key_file *f, const struct key_id *ids,
                               size_t n, uint64_t *removed, struct err *e)
{
    struct keep_only_task k = { .ids = ids, .n = n };
    enum status st;

    assert(ids_sorted(ids, n));
    *removed = 0;
    if (f->read_only)
        return err_set(e, ST_IO, "%s: the key file is read-only, so no keys "
                       "can be removed", f->db.path);
    k.listed = malloc(TRIM_ROWS * sizeof *k.listed);
    if (!k.listed) return err_nomem(e, "key cache");
    pthread_mutex_lock(&f->lock);
    key_file_sql_wipe(&f->db, true);
    st = keep_steps(f, &k, e);
    key_file_sql_wipe(&f->db, false);
    pthread_mutex_unlock(&f->lock);
    *removed = k.removed;
    free(k.listed);
    return st;
}

/* Evict some pairs. *more is set while the file is still above its limit. */
static enum status trim_step(struct key_file *f, bool *more, struct err *e)
{
    struct totals t = { 0 };
    enum status st;
    int64_t before = 0;
    int rc = key_file_begin(f, &t);

    if (!rc) {
        before = t.blocks;
        if (key_file_total_bytes(f, &t) > f->limit) rc = write_uses(f, &t);
    }
    if (!rc) rc = key_file_make_room(f, &t, t.clock, TRIM_ROWS);
    st = key_file_end(f, &t, rc, e);
    *more = t.blocks < before && key_file_total_bytes(f, &t) > f->limit;
    return st;
}

/* Return free pages to the file system, 1024 at a time. Each step must reduce
 * their number; otherwise the list of free pages is damaged and the loop would
 * never end. */
static int release_free_pages(struct key_file *f)
{
    int64_t pages, before = INT64_MAX;
    int rc = key_file_sql_number(&f->db, KEY_FILE_SQL_FREE_PAGES, &pages);

    while (!rc && pages > 0 && pages < before) {
        before = pages;
        rc = key_file_sql_run(&f->db, KEY_FILE_SQL_SHRINK, SQL_NONE);
        if (!rc)
            rc = key_file_sql_number(&f->db, KEY_FILE_SQL_FREE_PAGES, &pages);
    }
    if (!rc) rc = key_file_sql_run(&f->db, KEY_FILE_SQL_CHECKPOINT, SQL_NONE);
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
        rc = release_free_pages(f);
        if (rc) st = key_file_sql_failed(&f->db, rc, e);
    }
    pthread_mutex_unlock(&f->lock);
    return st;
}

enum status key_file_stats(struct key_file *f, struct key_file_stats *out,
                           struct err *e)
{
    struct totals t = { 0 };
    int rc;
    enum status st;

    pthread_mutex_lock(&f->lock);
    rc = read_totals(f, KEY_FILE_SQL_TOTALS, &t);
    st = rc ? key_file_sql_failed(&f->db, rc, e) : ST_OK;
    pthread_mutex_unlock(&f->lock);
    *out = (struct key_file_stats){
        at_least_0(t.blocks), key_file_total_bytes(f, &t), f->limit,
        f->read_only, f->db.remade };
    return st;
}

/* Write the remaining uses. A failure is ignored. */
static void write_last_uses(struct key_file *f)
{
    struct totals t = { 0 };
    int rc;

    if (f->read_only || !f->n_touched) return;
    key_file_sql_wait(&f->db, CLOSE_MS);
    rc = key_file_begin(f, &t);
    if (!rc) rc = write_uses(f, &t);
    key_file_end(f, &t, rc, NULL);
}

void key_file_close(struct key_file *f)
{
    if (!f) return;
    if (f->db.sql) write_last_uses(f);
    key_file_sql_close(&f->db);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->touch_lock);
    free(f->touched);
    free(f->packed);
    free(f);
}
