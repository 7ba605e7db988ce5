/* recover.c - saves what is readable of a damaged memory file to a new file.
 *
 * The old file is opened twice: with verification of the page checksums
 * ("strict") and without ("lenient"). First the file is asked for every number
 * that a pair can have. What the strict connection returns is right if the file
 * has page checksums. Where it fails, the lenient connection is asked, and what
 * that returns is doubtful. In a file without page checksums (version 1), every
 * row is unverified: its values are used where their types and ranges are
 * valid, and its pair counts as doubtful.
 * Then the bytes of the file are searched for texts that no saved pair has
 * (recover_scan.c).
 *
 * Rows are copied to the new file with their numbers. Where the row of a memory
 * or batch cannot be read but saved pairs need it, a row with default values is
 * written.
 *
 * The whole recovery is a sequence of write transactions on the new file; the
 * first error is kept in `st`, and nothing is written after it. */
#include "tm/recover.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map64.h"
#include "base/sqlfile.h"
#include "base/sqlpage.h"
#include "tm/store_internal.h"

enum { CHUNK_PAIRS = 50000, REPORT_EVERY = 1024 };

/* Queries of the old file. */
enum question { ASK_HEAD, ASK_PAIR_MAX, ASK_MEMORY_MAX, ASK_MEMORY, ASK_BATCH,
                ASK_PAIR, ASK_TEXT, ASK_BY_HASH, QUESTIONS };
static const char *const question_sql[QUESTIONS] = {
    [ASK_HEAD] = "SELECT pairs FROM head",
    [ASK_PAIR_MAX] = "SELECT max(id) FROM pair",
    [ASK_MEMORY_MAX] = "SELECT max(id) FROM memory",
    [ASK_MEMORY] = "SELECT id, name, source_lang, target_lang, priority,"
        " keep_duplicates, created, dropped FROM memory WHERE id = ?",
    [ASK_BATCH] = "SELECT id, memory, import, state, origin, format, created,"
        " texts, first_pair, finished, extra FROM batch WHERE id = ?",
    [ASK_PAIR] = "SELECT id, text, batch, position, document, unit, author,"
        " created, changed, source_lang, target_lang, extra, origin"
        " FROM pair WHERE id = ?",
    [ASK_TEXT] = "SELECT id, source, target, tagged, memory, hash, hidden"
        " FROM text WHERE id = ?",
    [ASK_BY_HASH] = "SELECT text FROM by_hash WHERE text = ? AND hash = ?"
};

/* Statements that write to the new file. */
enum insertion { PUT_MEMORY, PUT_BATCH, PUT_TEXT, PUT_PAIR, INSERTIONS };
static const char *const insertion_sql[INSERTIONS] = {
    [PUT_MEMORY] = "INSERT INTO memory(id, name, source_lang, target_lang,"
        " priority, keep_duplicates, created, dropped)"
        " VALUES(?,?,?,?,?,?,?,0)",
    [PUT_BATCH] = "INSERT INTO batch(id, memory, import, state, origin,"
        " format, created, texts, first_pair, finished, extra)"
        " VALUES(?,?,?,1,?,?,?,?,?,?,?)",
    [PUT_TEXT] = "INSERT OR IGNORE INTO text(id, source, target, tagged,"
        " memory, hash) VALUES(?,?,?,?,?,?)",
    [PUT_PAIR] = "INSERT OR IGNORE INTO pair(id, text, batch, position,"
        " document, unit, author, created, changed, source_lang,"
        " target_lang, extra, origin) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
};

enum ask_answer {
    SOUND,                      /* a row from verified pages */
    UNVERIFIED,                 /* a row of a file without checksums */
    DOUBTFUL,                   /* a row from a page that may be damaged */
    NONE,                       /* certainly no such row */
    UNREADABLE
};

static bool is_row(enum ask_answer a)
{
    return a == SOUND || a == UNVERIFIED || a == DOUBTFUL;
}

/* Whether the values of the row may be used where they are valid. */
static bool is_usable(enum ask_answer a)
{
    return a == SOUND || a == UNVERIFIED;
}

struct connection {
    sqlite3 *db;
    sqlite3_stmt *stmt[QUESTIONS];
    bool failed[QUESTIONS];     /* the statement cannot be prepared */
};

struct recovering {
    const char *old_path;
    struct connection strict, lenient;
    bool has_sums;              /* the old file has page checksums */
    int64_t old_bytes;          /* of the old file and its log */
    struct store *to;
    sqlite3_stmt *put[INSERTIONS];
    struct map64 memories, texts;       /* ids that are in the new file */
    struct map64 batches;       /* id to enum batch_fate */
    int64_t top_pair;           /* the highest number of a pair */
    struct recovery count;
    tm_progress_fn *progress;
    void *user;
    enum status st;             /* the first error; it ends the recovery */
    struct err *e;
};

/* ---- reading the old file ------------------------------------------------ */

static int ask_one(struct connection *c, enum question q, int64_t a,
                   int64_t b)
{
    int rc = SQLITE_OK;

    assert(q < QUESTIONS);
    if (!c->db || c->failed[q]) return SQLITE_CORRUPT;
    if (!c->stmt[q])
        rc = sqlite3_prepare_v2(c->db, question_sql[q], -1, &c->stmt[q],
                                NULL);
    c->failed[q] = rc != SQLITE_OK;
    if (rc) return rc;
    assert(sqlite3_bind_parameter_count(c->stmt[q]) <= 2);
    sqlite3_reset(c->stmt[q]);
    if (sqlite3_bind_parameter_count(c->stmt[q]) > 0)
        sqlite3_bind_int64(c->stmt[q], 1, a);
    if (sqlite3_bind_parameter_count(c->stmt[q]) > 1)
        sqlite3_bind_int64(c->stmt[q], 2, b);
    return sqlite3_step(c->stmt[q]);
}

/* Asks the strict connection and, where that fails, the lenient one. *row is
 * valid until the same question is asked again. */
static enum ask_answer ask(struct recovering *r, enum question q, int64_t a,
                       int64_t b, sqlite3_stmt **row)
{
    int rc = ask_one(&r->strict, q, a, b);

    *row = r->strict.stmt[q];
    if (rc == SQLITE_ROW) return r->has_sums ? SOUND : UNVERIFIED;
    if (rc == SQLITE_DONE) return NONE;
    rc = ask_one(&r->lenient, q, a, b);
    *row = r->lenient.stmt[q];
    return rc == SQLITE_ROW ? DOUBTFUL : UNREADABLE;
}

/* ---- writing the new file ------------------------------------------------ */

static void fail_writing(struct recovering *r, int rc)
{
    if (!r->st) r->st = store_error(r->to->db, r->to->path, rc, r->e);
}

/* Returns the statement with all parameters NULL, or NULL after an error. */
static sqlite3_stmt *recover_put_begin(struct recovering *r, enum insertion i)
{
    int rc = SQLITE_OK;

    assert(i < INSERTIONS && store_in_write(r->to));
    if (!r->put[i])
        rc = sqlite3_prepare_v2(r->to->db, insertion_sql[i], -1, &r->put[i],
                                NULL);
    if (rc) fail_writing(r, rc);
    if (rc) return NULL;
    sqlite3_reset(r->put[i]);
    sqlite3_clear_bindings(r->put[i]);
    return r->put[i];
}

static void recover_put_end(struct recovering *r, sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);

    sqlite3_reset(st);
    if (rc != SQLITE_DONE) fail_writing(r, rc);
}

/* Notes that an id is in the new file. Returns false when it was noted before
 * or cannot be noted (r->st). */
static bool mark_saved(struct recovering *r, struct map64 *m, int64_t id,
                       uint32_t value)
{
    bool fresh = false;
    uint32_t *at = map64_put(m, (uint64_t)id, &fresh);

    if (!at && !r->st) r->st = err_nomem(r->e, "recovering a memory file");
    if (at && fresh) *at = value;
    return fresh;
}

/* ---- values of a row ----------------------------------------------------- */

static bool column_is_text(sqlite3_stmt *row, int i)
{
    struct str v = column_str(row, i);
    struct unit u = { .source = v, .target = v };

    return sqlite3_column_type(row, i) == SQLITE_NULL ||
           (sqlite3_column_type(row, i) == SQLITE_TEXT &&
            !unit_check(&u, NULL));
}

static bool column_is_number(sqlite3_stmt *row, int i)
{
    return sqlite3_column_type(row, i) == SQLITE_NULL ||
           sqlite3_column_type(row, i) == SQLITE_INTEGER;
}

/* Times may have a fraction of a second; see clock_value in store_pairs.c. */
static bool column_is_time(sqlite3_stmt *row, int i)
{
    return column_is_number(row, i) ||
           sqlite3_column_type(row, i) == SQLITE_FLOAT;
}

/* Binds a column that may be NULL if it is a valid text. */
static void put_text(sqlite3_stmt *st, int parameter, sqlite3_stmt *row,
                     int column)
{
    if (row && column_is_text(row, column))
        sqlite3_bind_value(st, parameter, sqlite3_column_value(row, column));
}

/* Binds a column if it is a number from least to most, and `otherwise` if it
 * is not. */
static void put_number(sqlite3_stmt *st, int parameter, sqlite3_stmt *row,
                       int column, int64_t least, int64_t most,
                       int64_t otherwise)
{
    int64_t v = otherwise;

    if (row && sqlite3_column_type(row, column) == SQLITE_INTEGER)
        v = sqlite3_column_int64(row, column);
    if (v < least || v > most) v = otherwise;
    sqlite3_bind_int64(st, parameter, v);
}

/* Binds a time, which must not be NULL; the present if it is not valid. */
static void put_time(sqlite3_stmt *st, int parameter, sqlite3_stmt *row,
                     int column)
{
    if (row && column_is_time(row, column) &&
        sqlite3_column_type(row, column) != SQLITE_NULL)
        sqlite3_bind_value(st, parameter, sqlite3_column_value(row, column));
    else
        sqlite3_bind_int64(st, parameter, now_seconds());
}

/* ---- memories ------------------------------------------------------------ */

static bool is_valid_name(struct str name)
{
    struct unit u = { .source = name, .target = name };

    return name.n > 0 && name.n < 128 && !unit_check(&u, NULL);
}

static bool name_is_free(struct recovering *r, const char *name)
{
    int64_t id = 0;

    return !query_int(r->to, Q_MEMORY_NAMED, SQL(name), &id, NULL) && !id;
}

/* Writes a memory with the values of `row` that are valid; row may be NULL. */
static void insert_memory(struct recovering *r, int64_t id, const char *name,
                          sqlite3_stmt *row)
{
    sqlite3_stmt *st = recover_put_begin(r, PUT_MEMORY);

    if (!st) return;
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
    put_text(st, 3, row, 2);
    put_text(st, 4, row, 3);
    put_number(st, 5, row, 4, INT_MIN, INT_MAX, 0);
    put_number(st, 6, row, 5, 0, 1, 0);
    put_time(st, 7, row, 6);
    recover_put_end(r, st);
}

/* Copies a memory. Of a doubtful row only the name is used. */
static void recover_memory(struct recovering *r, int64_t id)
{
    sqlite3_stmt *row;
    char name[128];
    enum ask_answer a;

    if (!mark_saved(r, &r->memories, id, 1)) return;
    a = ask(r, ASK_MEMORY, id, 0, &row);
    snprintf(name, sizeof name, "recovered-%lld", (long long)id);
    if (is_row(a) && is_valid_name(column_str(row, 1)) &&
        name_is_free(r, (const char *)sqlite3_column_text(row, 1)))
        snprintf(name, sizeof name, "%s",
                 (const char *)sqlite3_column_text(row, 1));
    if (!r->st) insert_memory(r, id, name, is_usable(a) ? row : NULL);
}

static bool recover_stopped(struct recovering *r, int64_t done, int64_t total)
{
    if (!r->st && r->progress && done % REPORT_EVERY == 0 &&
        r->progress(r->user, "recovering", (uint64_t)done, (uint64_t)total,
                    (uint64_t)r->count.pairs))
        r->st = err_set(r->e, ST_CANCELED, "the recovery was stopped");
    return r->st != ST_OK;
}

/* Memories are recovered also when they have no pairs. */
static void recover_memories(struct recovering *r)
{
    sqlite3_stmt *row;
    int64_t top = 0;
    enum ask_answer a = ask(r, ASK_MEMORY_MAX, 0, 0, &row);

    if (is_usable(a)) top = sqlite3_column_int64(row, 0);
    /* An unverified number can be anything. */
    if (a != SOUND && top > r->old_bytes) top = r->old_bytes;
    for (int64_t id = 1; id <= top && !recover_stopped(r, id, top); id++)
        if (is_usable(ask(r, ASK_MEMORY, id, 0, &row)) &&
            !sqlite3_column_int(row, 7))
            recover_memory(r, id);
}

/* ---- batches ------------------------------------------------------------- */

enum batch_fate { BATCH_SAVED = 1, BATCH_INVISIBLE };

/* Writes a batch with the values of `row` that are valid; row may be NULL. */
static void insert_batch(struct recovering *r, int64_t id, int64_t memory,
                         sqlite3_stmt *row)
{
    sqlite3_stmt *st = recover_put_begin(r, PUT_BATCH);

    if (!st) return;
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_int64(st, 2, memory);
    put_number(st, 3, row, 2, 0, 1, 1);
    put_text(st, 4, row, 4);
    put_text(st, 5, row, 5);
    put_time(st, 6, row, 6);
    put_number(st, 7, row, 7, 0, UINT32_MAX, 0);
    put_number(st, 8, row, 8, 1, INT64_MAX, 1);
    if (row && column_is_time(row, 9))
        sqlite3_bind_value(st, 9, sqlite3_column_value(row, 9));
    put_text(st, 10, row, 10);
    recover_put_end(r, st);
}

static bool is_invisible(sqlite3_stmt *batch_row)
{
    int64_t state = sqlite3_column_int64(batch_row, 3);

    return sqlite3_column_type(batch_row, 3) == SQLITE_INTEGER &&
           (state == BATCH_OPEN || state == BATCH_DROPPED);
}

static bool is_batch_of(struct recovering *r, int64_t id, int64_t memory)
{
    sqlite3_stmt *row;

    return is_row(ask(r, ASK_BATCH, id, 0, &row)) &&
           sqlite3_column_int64(row, 1) == memory;
}

/* Returns whether the pairs of the batch are visible. If they are, the batch
 * is written; no data is copied from a doubtful row. */
static bool recover_batch(struct recovering *r, int64_t id, int64_t memory,
                          bool *doubtful)
{
    uint32_t *known = map64_find(&r->batches, (uint64_t)id);
    sqlite3_stmt *row;
    enum ask_answer a;
    bool usable;

    if (known) return *known == BATCH_SAVED;
    a = ask(r, ASK_BATCH, id, 0, &row);
    usable = is_usable(a) && sqlite3_column_int64(row, 1) == memory;
    if (usable && is_invisible(row)) {
        mark_saved(r, &r->batches, id, BATCH_INVISIBLE);
        return false;
    }
    if (a != SOUND || !usable) *doubtful = true;
    recover_memory(r, memory);
    mark_saved(r, &r->batches, id, BATCH_SAVED);
    if (!r->st) insert_batch(r, id, memory, usable ? row : NULL);
    return true;
}

/* ---- pairs --------------------------------------------------------------- */

/* The columns of row: id, source, target, tagged, memory, hash, hidden. */
static void recover_text(struct recovering *r, sqlite3_stmt *row)
{
    sqlite3_stmt *st;

    assert(sqlite3_column_count(row) == 7);
    if (!mark_saved(r, &r->texts, sqlite3_column_int64(row, 0), 1)) return;
    st = recover_put_begin(r, PUT_TEXT);
    if (!st) return;
    for (int i = 0; i < 6; i++) {
        struct str v = column_str(row, i);

        if (i == 1 || i == 2)
            sqlite3_bind_text64(st, i + 1, v.p, v.n, SQLITE_STATIC,
                                SQLITE_UTF8);
        else
            sqlite3_bind_int64(st, i + 1, sqlite3_column_int64(row, i));
    }
    recover_put_end(r, st);
}

/* Whether column i of ASK_PAIR, which is not an id, has a valid type. */
static bool pair_column_valid(sqlite3_stmt *row, int i)
{
    assert(i >= 3 && i < 13);
    if (i == 3) return column_is_number(row, i);
    return i == 7 || i == 8 ? column_is_time(row, i) : column_is_text(row, i);
}

/* Writes a pair. Columns of `row` that do not have a valid type are left out;
 * row may be NULL. */
static void recover_put_pair(struct recovering *r, int64_t id, int64_t text,
                             int64_t batch, sqlite3_stmt *row)
{
    sqlite3_stmt *st = recover_put_begin(r, PUT_PAIR);

    if (!st) return;
    assert(!row || sqlite3_column_count(row) == 13);
    for (int i = 3; row && i < 13; i++)
        if (pair_column_valid(row, i))
            sqlite3_bind_value(st, i + 1, sqlite3_column_value(row, i));
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_int64(st, 2, text);
    sqlite3_bind_int64(st, 3, batch);
    recover_put_end(r, st);
    if (id > r->top_pair) r->top_pair = id;
    r->count.pairs++;
}

/* Reads the text of a pair. Returns false when it cannot be read, does not
 * match its hash or is hidden. */
static bool ask_text(struct recovering *r, int64_t text, sqlite3_stmt **row)
{
    enum ask_answer a = ask(r, ASK_TEXT, text, 0, row);

    return is_row(a) && text_row_sound(*row, 1) &&
           sqlite3_column_type(*row, 6) == SQLITE_NULL;
}

static void recover_pair(struct recovering *r, int64_t id)
{
    sqlite3_stmt *row, *text_row;
    int64_t text, batch, memory;
    enum ask_answer a = ask(r, ASK_PAIR, id, 0, &row);
    bool doubtful = a != SOUND, visible;

    if (a == NONE) return;
    text = a == UNREADABLE ? 0 : sqlite3_column_int64(row, 1);
    if (a == UNREADABLE || !ask_text(r, text, &text_row)) {
        r->count.lost++;
        return;
    }
    memory = sqlite3_column_int64(text_row, 4);
    batch = sqlite3_column_int64(row, 2);
    visible = recover_batch(r, text >> 32, memory, &doubtful);
    if (a == DOUBTFUL ||
        (a == UNVERIFIED && !is_batch_of(r, batch, memory)))
        batch = text >> 32;
    if (batch != text >> 32)
        visible &= recover_batch(r, batch, memory, &doubtful);
    if (!visible || r->st) return;
    recover_text(r, text_row);
    if (!r->st) recover_put_pair(r, id, text, batch, row);
    r->count.doubtful += doubtful;
}

/* The highest number that a pair can have; 0: not known. A number that is not
 * from verified pages can be anything, but there cannot be more pairs than
 * bytes. */
static int64_t highest_pair(struct recovering *r)
{
    static const enum question where[] = { ASK_HEAD, ASK_PAIR_MAX };
    int64_t n, top = 0;
    sqlite3_stmt *row;

    for (int i = 0; i < 2; i++) {
        enum ask_answer a = ask(r, where[i], 0, 0, &row);

        n = is_row(a) ? sqlite3_column_int64(row, 0) : 0;
        if (a == SOUND || (n > 0 && n <= r->old_bytes)) return n;
        if (a == UNVERIFIED && n > 0) top = r->old_bytes;
    }
    return top;
}

/* Commits what was written so far and begins the next transaction. */
static void recover_next_chunk(struct recovering *r)
{
    enum status st;

    if (r->st) return;
    st = store_commit(r->to, r->e);
    if (!st) st = store_begin(r->to, r->e);
    r->st = st;
}

/* Returns whether the highest number of a pair is known. */
static bool recover_pairs(struct recovering *r)
{
    sqlite3_stmt *row;
    int64_t top = highest_pair(r);

    for (int64_t id = 1; id <= top && !recover_stopped(r, id, top); id++) {
        recover_pair(r, id);
        if (id % CHUNK_PAIRS == 0) recover_next_chunk(r);
    }
    if (top > r->top_pair) r->top_pair = top;
    return top > 0 || (is_usable(ask(r, ASK_HEAD, 0, 0, &row)) &&
                       is_usable(ask(r, ASK_PAIR_MAX, 0, 0, &row)));
}

/* ---- texts whose pairs are lost ------------------------------------------ */

/* The bytes of a deleted row may still be in the file. Its hash is then no
 * longer in by_hash. */
static bool was_deleted(struct recovering *r, const struct scanned_text *t)
{
    sqlite3_stmt *row;

    return ask(r, ASK_BY_HASH, t->id, t->hash, &row) == NONE;
}

static enum status insert_scanned_text(struct recovering *r,
                                       const struct scanned_text *t)
{
    enum status st = text_insert(r->to, t->id, t->memory, &t->unit, t->hash,
                                 r->e);

    if (!st) st = hash_insert(r->to, t->hash, t->id, r->e);
    return st;
}

static int recover_scanned(void *user, const struct scanned_text *t)
{
    struct recovering *r = user;
    bool doubtful = true;
    int64_t same = 0;

    if (t->memory < 1 || map64_find(&r->texts, (uint64_t)t->id) ||
        was_deleted(r, t) ||
        !recover_batch(r, t->id >> 32, t->memory, &doubtful))
        return r->st != ST_OK;
    if (!r->st)
        r->st = text_find(r->to, t->memory, &t->unit, t->hash, 0, &same,
                          r->e);
    if (r->st || same) return r->st != ST_OK;
    mark_saved(r, &r->texts, t->id, 1);
    if (!r->st) r->st = insert_scanned_text(r, t);
    if (!r->st) recover_put_pair(r, r->top_pair + 1, t->id, t->id >> 32, NULL);
    r->count.doubtful++;
    if (r->count.lost > 0) r->count.lost--;
    return recover_stopped(r, r->count.pairs, 0);
}

static void recover_texts(struct recovering *r)
{
    sqlite3_file *file = NULL;
    enum status st;

    if (r->st || !r->lenient.db ||
        sqlite3_file_control(r->lenient.db, "main", SQLITE_FCNTL_FILE_POINTER,
                             &file) || !file || !file->pMethods)
        return;
    st = recover_scan(file, recover_scanned, r, r->st ? NULL : r->e);
    if (!r->st && st != ST_CANCELED) r->st = st;
}

/* ---- the new file -------------------------------------------------------- */

static void recover_run_sql(struct recovering *r, const char *sql)
{
    int rc = r->st ? SQLITE_OK : sqlite3_exec(r->to->db, sql, NULL, NULL,
                                              NULL);

    if (rc) fail_writing(r, rc);
}

static void set_counters(struct recovering *r)
{
    if (!r->st)
        r->st = query_run(r->to, Q_PAIRS_SET, SQL(r->top_pair), r->e);
    recover_run_sql(r, "UPDATE batch SET texts = max(texts, ifnull((SELECT"
                    " max(id & 0xffffffff) FROM text t WHERE t.id BETWEEN"
                    " (batch.id << 32) AND (batch.id << 32 | 0xffffffff)),"
                    " 0))");
}

static void recover_all(struct recovering *r)
{
    bool top_known;

    r->st = store_begin(r->to, r->e);
    if (r->st) return;
    recover_memories(r);
    top_known = recover_pairs(r);
    recover_next_chunk(r);
    recover_run_sql(r, "INSERT INTO by_hash SELECT hash, id FROM text"
                    " ORDER BY hash, id");
    recover_next_chunk(r);
    recover_texts(r);
    set_counters(r);
    if (r->st) store_rollback(r->to);
    else r->st = store_commit(r->to, r->e);
    assert(r->st || r->count.doubtful <= r->count.pairs);
    if (!top_known) r->count.lost = -1;
    if (!r->st && !r->count.pairs && r->count.lost)
        r->st = err_set(r->e, ST_FORMAT, "%s: no pair of this file could be "
                        "read", r->old_path);
}

static enum status fill_recovered(void *user, const char *temp, struct err *e)
{
    struct recovering *r = user;
    enum status st = store_open(&r->to, temp, STORE_CREATE, e);

    if (st) return st;
    store_relaxed(r->to, true);
    recover_all(r);
    for (int i = 0; i < INSERTIONS; i++) sqlite3_finalize(r->put[i]);
    /* Only the file itself is renamed, not its log. */
    if (!r->st) r->st = store_checkpoint_all(r->to, e);
    store_close(r->to);
    return r->st;
}

/* ---- the old file -------------------------------------------------------- */

/* A file without a log is opened as immutable, so that SQLite creates no files
 * beside it. */
static enum status connect_old(const char *path, const char *vfs,
                               struct connection *c, struct err *e)
{
    bool alone = sqlfile_bytes(path, "-wal") == 0;
    char *name = NULL;
    enum status st = ST_OK;

    if (alone) st = sqlfile_immutable(path, &name, e);
    else name = sqlfile_name(path);
    if (st) return st;
    if (!name) return err_nomem(e, "file name");
    sqlite3_open_v2(name, &c->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                    (alone ? SQLITE_OPEN_URI : 0), vfs);
    free(name);
    if (!c->db) return err_nomem(e, "recovering a memory file");
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* All questions are asked in one read transaction. */
    sqlite3_exec(c->db, "PRAGMA trusted_schema = OFF; BEGIN", NULL, NULL,
                 NULL);
    return ST_OK;
}

static void disconnect_old(struct connection *c)
{
    for (int i = 0; i < QUESTIONS; i++) sqlite3_finalize(c->stmt[i]);
    sqlite3_close(c->db);
}

static enum status check_paths(const char *old_path, const char *new_path,
                               struct err *e)
{
    struct stat sb;

    if (stat(old_path, &sb))
        return err_set(e, ST_IO, "%s: %s", old_path, strerror(errno));
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", old_path);
    if (!access(new_path, F_OK))
        return err_set(e, ST_ARGUMENT, "%s: exists already; recovered pairs "
                       "are written to a new file", new_path);
    return ST_OK;
}

enum status tm_recover(const char *old_path, const char *new_path,
                       tm_progress_fn *progress, void *user,
                       struct recovery *out, struct err *e)
{
    struct recovering r = { .old_path = old_path, .progress = progress,
                            .user = user, .e = e };
    bool existed = false;
    enum status st = check_paths(old_path, new_path, e);

    if (!st) st = connect_old(old_path, sqlpage_vfs(), &r.strict, e);
    if (!st) st = connect_old(old_path, NULL, &r.lenient, e);
    r.has_sums = !st && sqlfile_has_sums(r.strict.db);
    r.old_bytes = sqlfile_bytes(old_path, "") + sqlfile_bytes(old_path, "-wal");
    if (!st) st = file_create_new(new_path, fill_recovered, &r, &existed, e);
    if (!st && existed)
        st = err_set(e, ST_ARGUMENT, "%s: exists already", new_path);
    disconnect_old(&r.strict);
    disconnect_old(&r.lenient);
    map64_release(&r.memories);
    map64_release(&r.batches);
    map64_release(&r.texts);
    *out = r.count;
    return st;
}
