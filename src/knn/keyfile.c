/* keyfile.c - see keyfile.h; docs/formats/keys.md has the tables.
 *
 * Which pairs there are (table `block`) is kept apart from their keys (table
 * `keys`), so that to note a pair's use rewrites some forty bytes and not its
 * keys. Reading never writes: uses are noted in memory and written when pairs
 * are about to go, and at the end. So are pairs that must not be found again
 * (`doomed`: forgotten, or damaged): no longer found from the moment they are
 * noted, removed by the next transaction. */
#include "knn/keyfile.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/map64.h"
#include "base/mem.h"
#include "knn/keydb.h"

enum {
    CLOSE_MS = 200,             /* notes of use are not worth more waiting */
    PAIR_BYTES = 64,            /* what a pair costs besides its keys */
    MAX_BLOB = 1 << 29,         /* SQLite takes 10^9 */
    MAX_TOUCHED = 65536,        /* notes of use; the oldest are lost */
    TRIM_ROWS = 4096            /* removed by one put, besides twice its own */
};

struct keyfile {
    uint64_t limit;
    bool read_only;

    pthread_mutex_t lock;       /* of what follows */
    struct keydb db;
    bool counted;               /* the head's totals are right */
    char *pack;                 /* a block as it is stored */
    size_t cap_pack;
    struct key_id *doomed;      /* to be removed by the next transaction */
    size_t n_doomed, cap_doomed;
    struct map64 doomed_set;    /* by id_mix: the last such one's place */

    pthread_mutex_t touch_lock; /* of what follows; never waits for the disk */
    struct key_id *touched;     /* pairs used since they were last written */
    size_t n_touched, cap_touched, oldest_touched;
    uint32_t touch_turn;        /* counts the times they were written */
};

/* One number for an id: taking one pair for another here costs no more than
 * that it is not found. */
static uint64_t id_mix(struct key_id id) { return id.hi ^ id.lo; }

enum status keyfile_open(struct keyfile **out, const char *path,
                         uint64_t maker, enum key_type type, int d,
                         uint64_t limit, struct err *e)
{
    struct keydb_kind kind = { maker, type, d };
    struct keyfile *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (!f) return err_nomem(e, "file of keys");
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->touch_lock, NULL);
    f->limit = limit;
    f->touch_turn = 1;
    st = keydb_open(&f->db, path, &kind, e);
    f->read_only = f->db.read_only;
    if (st) keyfile_close(f);
    else *out = f;
    return st;
}

/* ---- pairs used, and pairs doomed ---------------------------------------- */

static void note_use(struct keyfile *f, struct key_id id)
{
    if (f->n_touched == MAX_TOUCHED)
        f->touched[f->oldest_touched++ % MAX_TOUCHED] = id;
    else if (mem_grow(&f->touched, &f->cap_touched, f->n_touched + 1,
                      sizeof *f->touched))
        f->touched[f->n_touched++] = id;
}

void keyfile_touch(struct keyfile *f, struct key_id id, uint32_t *told)
{
    if (f->read_only) return;
    pthread_mutex_lock(&f->touch_lock);
    if (*told != f->touch_turn) note_use(f, id);
    *told = f->touch_turn;
    pthread_mutex_unlock(&f->touch_lock);
}

static bool is_doomed(const struct keyfile *f, struct key_id id)
{
    return map64_find(&f->doomed_set, id_mix(id)) != NULL;
}

static bool doom(struct keyfile *f, struct key_id id)
{
    bool fresh;
    uint32_t *last;

    if (!mem_grow(&f->doomed, &f->cap_doomed, f->n_doomed + 1,
                  sizeof *f->doomed))
        return false;
    last = map64_put(&f->doomed_set, id_mix(id), &fresh);
    if (!last) return false;
    if (!fresh && f->doomed[*last].hi == id.hi && f->doomed[*last].lo == id.lo)
        return true;                    /* asked again, after a failure */
    /* Of two ids that look the same here both must go. */
    *last = (uint32_t)f->n_doomed;
    f->doomed[f->n_doomed++] = id;
    return true;
}

/* ---- changing it --------------------------------------------------------- */

#define MAX_TOTAL (INT64_C(1) << 40)

struct totals { int64_t blocks, keys, clock; };

static size_t key_bytes(const struct keyfile *f)
{
    size_t number = f->db.kind.type == KEY_INT8 ? 1 : sizeof(float);

    return sizeof(int32_t) + sizeof(float) + (size_t)f->db.kind.d * number;
}

static uint64_t bytes_of(const struct keyfile *f, uint64_t blocks,
                         uint64_t keys)
{
    return blocks * PAIR_BYTES + keys * key_bytes(f);
}

/* Some pairs may have gone that were never counted. */
static uint64_t at_least_0(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

static uint64_t total_bytes(const struct keyfile *f, const struct totals *t)
{
    return bytes_of(f, at_least_0(t->blocks), at_least_0(t->keys));
}

/* The totals of a damaged file may be anything: enough to make room for, and
 * to count from without an overflow. */
static int64_t total_at(sqlite3_stmt *st, int column)
{
    int64_t n = sqlite3_column_int64(st, column);

    return n < 0 ? 0 : n < MAX_TOTAL ? n : MAX_TOTAL;
}

static int read_totals(struct keyfile *f, enum keydb_query q,
                       struct totals *t)
{
    sqlite3_stmt *st;
    int rc = keydb_first(&f->db, q, "");

    memset(t, 0, sizeof *t);
    if (rc == SQLITE_DONE) return SQLITE_CORRUPT;
    if (rc != SQLITE_ROW) return rc;
    st = f->db.stmt[q];
    t->blocks = total_at(st, 0);
    t->keys = total_at(st, 1);
    t->clock = sqlite3_column_int64(st, 2);
    return keydb_rest(&f->db, q, rc);
}

/* A pair and its keys; q: KEYDB_REMOVE after its first step, or _OLDEST. */
static int remove_rest(struct keyfile *f, struct totals *t,
                       enum keydb_query q, int rc)
{
    int64_t place, n;

    if (rc != SQLITE_ROW) return keydb_rest(&f->db, q, rc);
    place = sqlite3_column_int64(f->db.stmt[q], 0);
    n = sqlite3_column_int64(f->db.stmt[q], 1);
    if (n < 0 || n > MAX_BLOB) n = 0;   /* as KEYDB_COUNT has it */
    rc = keydb_rest(&f->db, q, rc);
    if (!rc) rc = keydb_run(&f->db, KEYDB_REMOVE_KEYS, "i", place);
    t->blocks--;
    t->keys -= n;
    return rc;
}

static int remove_pair(struct keyfile *f, struct totals *t, struct key_id id)
{
    return remove_rest(f, t, KEYDB_REMOVE,
                       keydb_first(&f->db, KEYDB_REMOVE, "k", id));
}

/* The first time all is counted, in case the head was damaged. */
static int begin(struct keyfile *f, struct totals *t)
{
    int rc = keydb_run(&f->db, KEYDB_BEGIN, "");

    if (!rc)
        rc = read_totals(f, f->counted ? KEYDB_TOTALS : KEYDB_COUNT, t);
    for (size_t i = 0; !rc && i < f->n_doomed; i++)
        rc = remove_pair(f, t, f->doomed[i]);
    return rc;
}

/* Keep what was done if rc is good, undo it otherwise. */
static enum status end(struct keyfile *f, struct totals *t, int rc,
                       struct err *e)
{
    enum status st;

    if (!rc)
        rc = keydb_run(&f->db, KEYDB_SET_TOTALS, "ii", t->blocks, t->keys);
    if (!rc) rc = keydb_run(&f->db, KEYDB_COMMIT, "");
    if (!rc) {
        f->counted = true;
        if (f->n_doomed) map64_clear(&f->doomed_set);
        f->n_doomed = 0;
        return ST_OK;
    }
    st = keydb_failed(&f->db, rc, e);   /* before SQLite forgets why */
    keydb_undo(&f->db);
    return st;
}

static int64_t tick(struct totals *t)
{
    t->clock = (int64_t)((uint64_t)t->clock + 1);       /* whatever it was */
    return t->clock;
}

/* Write down who was used; should that fail, it is forgotten. */
static int write_uses(struct keyfile *f, struct totals *t)
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
        rc = keydb_run(&f->db, KEYDB_USE, "ki", ids[(oldest + i) % n],
                       tick(t));
    free(ids);
    return rc;
}

/* ---- blocks as they are stored ------------------------------------------- */

/* The id is under the sum, too: a row in the wrong place is no match. */
static uint64_t sum_of(struct key_id id, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, id_mix(id));
}

/* Of a block of n keys, with the caller's sum at its end. */
static size_t blob_bytes(const struct keyfile *f, size_t n)
{
    return n * key_bytes(f) + sizeof(uint64_t);
}

/* Tokens, scales, keys without their padding, the sum: to f->pack. */
static bool pack_block(struct keyfile *f, const struct keyblock *b,
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
    memcpy(to + n * row, &b->check, sizeof b->check);
    return true;
}

static void unpack_block(struct keyblock *b, const char *from)
{
    size_t n = (size_t)b->n, words = n * sizeof *b->token;
    size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
    size_t row = (size_t)b->d * number;

    memcpy(b->token, from, words);
    memcpy(b->scale, from + words, words);
    from += 2 * words;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)b->keys + i * b->ld * number, from + i * row, row);
    memcpy(&b->check, from + n * row, sizeof b->check);
}

/* From the row KEYDB_GET is at. One that is not what was stored is doomed. */
static enum status read_block(struct keyfile *f, struct key_id id,
                              struct keyblock **out, struct err *e)
{
    sqlite3_stmt *row = f->db.stmt[KEYDB_GET];
    int64_t n = sqlite3_column_int64(row, 0);
    uint64_t sum = (uint64_t)sqlite3_column_int64(row, 1);
    const void *bytes = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2);
    enum status st;

    if (sqlite3_errcode(f->db.sql) == SQLITE_NOMEM)
        return err_nomem(e, "memory keys");
    if (n < 0 || n > MAX_BLOB || size != blob_bytes(f, (size_t)n) ||
        sum != sum_of(id, bytes, size)) {
        doom(f, id);
        return ST_OK;
    }
    st = keyblock_new(out, f->db.kind.type, (int)n, f->db.kind.d, e);
    if (!st) unpack_block(*out, bytes);
    return st;
}

/* ---- what callers do ----------------------------------------------------- */

enum status keyfile_get(struct keyfile *f, struct key_id id,
                        struct keyblock **out, struct err *e)
{
    enum status st = ST_OK;
    uint32_t told = 0;
    int rc = SQLITE_DONE;

    *out = NULL;
    pthread_mutex_lock(&f->lock);
    if (!is_doomed(f, id)) rc = keydb_first(&f->db, KEYDB_GET, "k", id);
    if (rc == SQLITE_ROW) {
        st = read_block(f, id, out, e);
        sqlite3_reset(f->db.stmt[KEYDB_GET]);
    } else if (rc != SQLITE_DONE) {
        st = keydb_failed(&f->db, rc, e);
    }
    pthread_mutex_unlock(&f->lock);
    if (*out) keyfile_touch(f, id, &told);
    return st;
}

enum status keyfile_has(struct keyfile *f, struct key_id id, bool *has,
                        struct err *e)
{
    enum status st = ST_OK;
    int rc = SQLITE_DONE;

    pthread_mutex_lock(&f->lock);
    if (!is_doomed(f, id)) rc = keydb_first(&f->db, KEYDB_HAS, "k", id);
    *has = rc == SQLITE_ROW;
    if (*has) sqlite3_reset(f->db.stmt[KEYDB_HAS]);
    else if (rc != SQLITE_DONE) st = keydb_failed(&f->db, rc, e);
    pthread_mutex_unlock(&f->lock);
    return st;
}

static bool fits(const struct keyfile *f, const struct keyblock *b)
{
    uint64_t bytes = bytes_of(f, 1, (uint64_t)b->n);

    assert(b->type == f->db.kind.type && b->d == f->db.kind.d);
    return bytes <= f->limit && bytes <= MAX_BLOB;
}

static int add_pair(struct keyfile *f, struct totals *t, struct key_id id,
                    const struct keyblock *b)
{
    size_t size = blob_bytes(f, (size_t)b->n);
    int64_t place;
    int rc = keydb_run(&f->db, KEYDB_USE, "ki", id, tick(t));

    if (rc || sqlite3_changes(f->db.sql)) return rc;        /* it is there */
    if (!pack_block(f, b, size + 1)) return SQLITE_NOMEM;
    rc = keydb_run(&f->db, KEYDB_ADD_KEYS, "ib",
                   (int64_t)sum_of(id, f->pack, size),
                   (const void *)f->pack, size);
    if (rc) return rc;
    place = sqlite3_last_insert_rowid(f->db.sql);
    t->blocks++;
    t->keys += b->n;
    return keydb_run(&f->db, KEYDB_ADD, "kiii", id, place, (int64_t)b->n,
                     t->clock);
}

/* *none: there is nothing (more) to remove; a pair used after `since` only
 * goes when there is no room at all. */
static int remove_oldest(struct keyfile *f, struct totals *t, int64_t since,
                         bool *none)
{
    bool any = false;
    int64_t used = 0;
    int rc = keydb_first(&f->db, KEYDB_OLDEST, "");

    if (rc == SQLITE_ROW) {
        any = sqlite3_column_type(f->db.stmt[KEYDB_OLDEST], 0) != SQLITE_NULL;
        used = sqlite3_column_int64(f->db.stmt[KEYDB_OLDEST], 0);
    }
    rc = keydb_rest(&f->db, KEYDB_OLDEST, rc);
    if (!rc && !any) t->blocks = t->keys = 0;   /* the head was wrong */
    *none = !any || (used > since && total_bytes(f, t) <= f->limit);
    if (rc || *none) return rc;
    return remove_rest(f, t, KEYDB_REMOVE_OLDEST,
                       keydb_first(&f->db, KEYDB_REMOVE_OLDEST, ""));
}

/* A tenth more than is needed goes, so that there is not something to remove
 * each time; but not so much at once that others would wait for long. */
static int make_room(struct keyfile *f, struct totals *t, int64_t since,
                     int most)
{
    bool none = total_bytes(f, t) <= f->limit;
    int rc = SQLITE_OK;

    for (int i = 0; !rc && !none && i < most &&
                    total_bytes(f, t) > f->limit - f->limit / 10; i++)
        rc = remove_oldest(f, t, since, &none);
    return rc;
}

static int put_all(struct keyfile *f, struct totals *t,
                   const struct key_id *ids, struct keyblock *const *blocks,
                   int n)
{
    uint64_t more = 0;
    int64_t since;
    int rc = SQLITE_OK;

    for (int i = 0; i < n; i++)
        if (fits(f, blocks[i])) more += bytes_of(f, 1, (uint64_t)blocks[i]->n);
    if (total_bytes(f, t) + more > f->limit) rc = write_uses(f, t);
    since = t->clock;
    for (int i = 0; !rc && i < n; i++)
        if (fits(f, blocks[i])) rc = add_pair(f, t, ids[i], blocks[i]);
    if (!rc) rc = make_room(f, t, since, TRIM_ROWS + 2 * n);
    return rc;
}

enum status keyfile_put(struct keyfile *f, const struct key_id *ids,
                        struct keyblock *const *blocks, int n, struct err *e)
{
    struct totals t;
    enum status st;
    int rc;

    if (f->read_only || n <= 0) return ST_OK;
    pthread_mutex_lock(&f->lock);
    rc = begin(f, &t);
    if (!rc) rc = put_all(f, &t, ids, blocks, n);
    st = end(f, &t, rc, e);
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* What somebody wanted removed is overwritten in the file. */
static enum status wipe_doomed(struct keyfile *f, struct err *e)
{
    struct totals t;
    enum status st;

    keydb_wipe(&f->db, true);
    st = end(f, &t, begin(f, &t), e);
    keydb_wipe(&f->db, false);
    return st;
}

enum status keyfile_forget(struct keyfile *f, const struct key_id *ids, int n,
                           struct err *e)
{
    enum status st = ST_OK;

    if (n <= 0) return ST_OK;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; !st && i < n; i++)
        if (!doom(f, ids[i])) st = err_nomem(e, "memory keys");
    if (!st && !f->read_only) st = wipe_doomed(f, e);
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* Ids are sixteen bytes, the first eight are hi. */
static int list_ids(struct keyfile *f, uint64_t hi, struct key_id **ids,
                    size_t *n)
{
    sqlite3_stmt *st;
    size_t cap = 0;
    int rc = keydb_first(&f->db, KEYDB_LIST, "kk", (struct key_id){ hi, 0 },
                         (struct key_id){ hi, UINT64_MAX });

    st = f->db.stmt[KEYDB_LIST];        /* prepared when first asked */
    for (; rc == SQLITE_ROW; rc = sqlite3_step(st)) {
        if (sqlite3_column_bytes(st, 0) != sizeof **ids) continue;
        if (!mem_grow(ids, &cap, *n + 1, sizeof **ids)) {
            sqlite3_reset(st);
            return SQLITE_NOMEM;
        }
        (*ids)[(*n)++] = keydb_id(st, 0);
    }
    return keydb_rest(&f->db, KEYDB_LIST, rc);
}

enum status keyfile_list(struct keyfile *f, uint64_t hi, struct key_id **ids,
                         size_t *n, struct err *e)
{
    enum status st = ST_OK;
    int rc;

    *ids = NULL;
    *n = 0;
    pthread_mutex_lock(&f->lock);
    rc = list_ids(f, hi, ids, n);
    if (rc) st = keydb_failed(&f->db, rc, e);
    pthread_mutex_unlock(&f->lock);
    if (!st) return ST_OK;
    free(*ids);
    *ids = NULL;
    *n = 0;
    return st;
}

enum status keyfile_stats(struct keyfile *f, struct keyfile_stats *out,
                          struct err *e)
{
    struct totals t;
    int rc;
    enum status st;

    pthread_mutex_lock(&f->lock);
    rc = read_totals(f, KEYDB_TOTALS, &t);
    st = rc ? keydb_failed(&f->db, rc, e) : ST_OK;
    pthread_mutex_unlock(&f->lock);
    *out = (struct keyfile_stats){ at_least_0(t.blocks), total_bytes(f, &t),
                                   f->limit, f->read_only };
    return st;
}

/* The notes that are left; no harm when they cannot be written. */
static void write_notes(struct keyfile *f)
{
    struct totals t;
    int rc;

    if (f->read_only || !(f->n_touched || f->n_doomed)) return;
    keydb_wait(&f->db, CLOSE_MS);
    rc = begin(f, &t);
    if (!rc) rc = write_uses(f, &t);
    end(f, &t, rc, NULL);
}

void keyfile_close(struct keyfile *f)
{
    if (!f) return;
    if (f->db.sql) write_notes(f);
    keydb_close(&f->db);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->touch_lock);
    map64_release(&f->doomed_set);
    free(f->touched);
    free(f->doomed);
    free(f->pack);
    free(f);
}
