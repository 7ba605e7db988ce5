/* store_maintain.c - maintenance of a memory file: deletes the rows of dead
 * imports and dropped memories (sweeping), checks the file, compacts it and
 * copies it.
 *
 * Sweeping runs in small transactions with a time limit, s->wipe_until. The
 * limit is set for the duration of one call and is 0 otherwise. A batch is
 * wiped only by the holder of its lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sqlfile.h"
#include "base/sqlpage.h"
#include "tm/store_internal.h"

enum {
    MAX_SHOWN = 100,            /* problems of one kind */
    PROBLEM_BYTES = 200,        /* of one problem in an error message */
    WORTH_IT = 20               /* rewrite the file when more than one page
                                   in 20 is free */
};

/* ---- sweeping ------------------------------------------------------------ */

/* Deleting millions of rows takes minutes. A caller that only adds a pair does
 * not wait for all of them; the next writer goes on. */
static bool wipe_time_is_up(const struct store *s)
{
    return s->wipe_until > 0 && clock_seconds() >= s->wipe_until;
}

static void set_wipe_limit(struct store *s, double seconds)
{
    assert(!(s->wipe_until > 0) || !(seconds > 0));     /* not nested */
    s->wipe_until = seconds > 0 ? clock_seconds() + seconds : 0;
}

/* Deletes the pairs of a dead import whose texts belong to other batches.
 * `from` is the first id that a pair of the batch can have. */
static enum status wipe_pairs(struct store *s, int64_t batch, int64_t from,
                              struct err *e)
{
    int64_t top, to;
    enum status st = query_int(s, Q_PAIRS, SQL_NONE, &top, e);

    assert(s->wipe_rows > 0);
    for (; !st && from <= top && !wipe_time_is_up(s); from = to + 1) {
        to = from + s->wipe_rows - 1;
        st = op_begin(s, e);
        if (st) return st;
        st = query_run(s, Q_WIPE_PAIRS, SQL(from, to, batch), e);
        if (!st) st = query_run(s, Q_WIPE_HIDDEN_HASHES, SQL_NONE, e);
        if (!st) st = query_run(s, Q_WIPE_HIDDEN, SQL_NONE, e);
        if (!st) st = query_run(s, Q_HIDDEN_CLEAN, SQL_NONE, e);
        st = op_end(s, st, e);
    }
    return st;
}

/* Deletes the texts of the batch with all their pairs. For a dead import these
 * are its own pairs, for a dropped memory those of the memory. */
static enum status wipe_texts(struct store *s, int64_t batch, struct err *e)
{
    int n;
    enum status st;

    assert(s->wipe_rows > 0);
    do {
        st = op_begin(s, e);
        if (st) return st;
        st = query_run(s, Q_WIPE_PAIRS_OF, SQL(batch, s->wipe_rows), e);
        if (!st)
            st = query_run(s, Q_WIPE_HASHES, SQL(batch, s->wipe_rows), e);
        if (!st)
            st = query_run(s, Q_WIPE_TEXTS, SQL(batch, s->wipe_rows), e);
        n = sqlite3_changes(s->db);
        if (!st) st = query_run(s, Q_HIDDEN_CLEAN, SQL_NONE, e);
        st = op_end(s, st, e);
    } while (!st && n && !wipe_time_is_up(s));
    return st;
}

static enum status delete_batch(struct store *s, int64_t batch, struct err *e)
{
    int64_t first_pair;
    int state;
    bool found;
    enum status st = query_first(s, Q_BATCH_STATE, SQL(batch), &found, e);

    if (st || !found) return st;
    state = sqlite3_column_int(s->stmt[Q_BATCH_STATE], 0);
    first_pair = sqlite3_column_int64(s->stmt[Q_BATCH_STATE], 1);
    query_end(s, Q_BATCH_STATE);
    if (state == BATCH_DONE) return ST_OK;      /* never visible rows */
    st = wipe_texts(s, batch, e);
    if (!st && state == BATCH_OPEN) st = wipe_pairs(s, batch, first_pair, e);
    if (st || wipe_time_is_up(s)) return st;
    st = op_begin(s, e);
    if (st) return st;
    return op_end(s, query_run(s, Q_BATCH_DELETE, SQL(batch), e), e);
}

enum status batch_wipe(struct store *s, int64_t batch, double seconds,
                       struct err *e)
{
    enum status st;

    set_wipe_limit(s, seconds);
    st = delete_batch(s, batch, e);
    set_wipe_limit(s, 0);
    return st;
}

static enum status sweep_batch(struct store *s, int64_t batch, struct err *e)
{
    int fd;
    enum status st = op_begin(s, e);

    if (st) return st;
    fd = batch_lock(s, batch);
    st = op_end(s, ST_OK, e);
    if (fd < 0) return st;      /* alive */
    if (!st) st = delete_batch(s, batch, e);
    close(fd);
    return st;
}

/* Deletes dropped memories that have no batches left: first their change log,
 * then their row. */
static enum status sweep_memories(struct store *s, struct err *e)
{
    int64_t memory = 0;
    enum status st = query_int(s, Q_MEMORY_DROPPED, SQL_NONE, &memory, e);

    while (!st && memory && !wipe_time_is_up(s)) {
        st = op_begin(s, e);
        if (st) return st;
        st = query_run(s, Q_WIPE_CHANGES, SQL(memory, s->wipe_rows), e);
        if (!st && !sqlite3_changes(s->db))
            st = query_run(s, Q_MEMORY_DELETE, SQL(memory), e);
        st = op_end(s, st, e);
        if (!st) st = query_int(s, Q_MEMORY_DROPPED, SQL_NONE, &memory, e);
    }
    return st;
}

enum status store_sweep(struct store *s, double seconds, struct err *e)
{
    int64_t batch = 0;
    enum status st;

    set_wipe_limit(s, seconds);
    do {
        st = query_int(s, Q_BATCH_NOT_DONE, SQL(batch), &batch, e);
        if (!st && batch) st = sweep_batch(s, batch, e);
    } while (!st && batch && !wipe_time_is_up(s));
    if (!st) st = sweep_memories(s, e);
    set_wipe_limit(s, 0);
    lock_file_drop(s);
    return st;
}

/* ---- checking ------------------------------------------------------------ */

struct store_check_context {
    struct store *s;
    struct problems found;
};

/* Each query returns the numbers of the rows that break the rule. */
static const struct { const char *sentence, *sql; } rules[] = {
    { "pair %lld has no text",
      "SELECT id FROM pair p WHERE NOT EXISTS"
      " (SELECT 1 FROM text WHERE id = p.text)" },
    { "text %lld has no pair",
      "SELECT id FROM text t WHERE NOT EXISTS"
      " (SELECT 1 FROM pair WHERE text = t.id)" },
    { "pair %lld belongs to no batch",
      "SELECT id FROM pair p WHERE NOT EXISTS"
      " (SELECT 1 FROM batch WHERE id = p.batch)" },
    { "text %lld belongs to no batch of its memory",
      "SELECT id FROM text t WHERE NOT EXISTS"
      " (SELECT 1 FROM batch WHERE id = t.id >> 32 AND memory = t.memory)" },
    { "batch %lld belongs to no memory",
      "SELECT id FROM batch b WHERE NOT EXISTS"
      " (SELECT 1 FROM memory WHERE id = b.memory)" },
    { "text %lld is visible without a visible pair",
      "SELECT t.id FROM text t JOIN batch b ON b.id = t.id >> 32"
      " WHERE b.state = 1 AND t.hidden IS NULL AND NOT EXISTS"
      " (SELECT 1 FROM pair p JOIN batch c ON c.id = p.batch"
      " WHERE p.text = t.id AND c.state = 1)" },
    { "text %lld is hidden although it has a visible pair",
      "SELECT t.id FROM text t WHERE t.hidden = 1 AND EXISTS"
      " (SELECT 1 FROM pair p JOIN batch c ON c.id = p.batch"
      " WHERE p.text = t.id AND c.state = 1)" },
    { "text %lld is hidden but not in the table of hidden texts",
      "SELECT id FROM text t WHERE hidden = 1 AND NOT EXISTS"
      " (SELECT 1 FROM hidden WHERE text = t.id)" },
    { "text %lld is in the table of hidden texts but is not hidden",
      "SELECT text FROM hidden h WHERE NOT EXISTS"
      " (SELECT 1 FROM text WHERE id = h.text AND hidden = 1)" },
    { "text %lld is stored twice",
      "SELECT t.id FROM text t JOIN batch b ON b.id = t.id >> 32"
      " JOIN memory m ON m.id = t.memory"
      " JOIN by_hash h ON h.hash = t.hash JOIN text o ON o.id = h.text"
      " JOIN batch c ON c.id = o.id >> 32"
      " WHERE b.state = 1 AND c.state = 1 AND t.hidden IS NULL"
      " AND o.hidden IS NULL AND o.id < t.id AND o.memory = t.memory"
      " AND o.tagged = t.tagged AND o.source = t.source"
      " AND o.target = t.target AND NOT m.keep_duplicates" },
    { "text %lld cannot be found by its hash",
      "SELECT id FROM text t WHERE NOT EXISTS"
      " (SELECT 1 FROM by_hash WHERE hash = t.hash AND text = t.id)" },
    { "a hash refers to text %lld, which does not exist",
      "SELECT text FROM by_hash h WHERE NOT EXISTS"
      " (SELECT 1 FROM text WHERE id = h.text AND hash = h.hash)" },
    /* An import that is not done is not a problem; see store.h. */
    { "batch %lld of single additions is not marked as done",
      "SELECT id FROM batch WHERE state = 0 AND NOT import" },
    { "pair %lld has a number that was never assigned",
      "SELECT id FROM pair WHERE id > (SELECT pairs FROM head)" },
    { "text %lld has a number that was never assigned",
      "SELECT t.id FROM text t JOIN batch b ON b.id = t.id >> 32"
      " WHERE b.state = 1 AND (t.id & 0xffffffff) > b.texts" },
};

/* Called with each row of a check's query. */
typedef void check_row_fn(struct store_check_context *c, sqlite3_stmt *row,
                          const char *sentence);

static enum status check_rows(struct store_check_context *c, const char *sql,
                              check_row_fn *fn, const char *sentence,
                              struct err *e)
{
    sqlite3_stmt *row = NULL;
    struct store *s = c->s;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &row, NULL);
    int before = c->found.n;

    while (!rc && c->found.n - before < MAX_SHOWN) {
        rc = sqlite3_step(row);
        if (rc != SQLITE_ROW) break;
        rc = SQLITE_OK;
        fn(c, row, sentence);
    }
    if (rc == SQLITE_DONE) rc = SQLITE_OK;
    /* Damage is a finding of the check, not an error of it. */
    if ((rc & 0xff) == SQLITE_CORRUPT) {
        problems_add(&c->found, "%s: %s", s->path,
                     rc == SQLPAGE_DAMAGED ? "a page is missing or does not "
                     "match its checksum" : sqlite3_errmsg(s->db));
        rc = SQLITE_OK;
    }
    sqlite3_finalize(row);
    return rc ? store_error(s->db, s->path, rc, e) : ST_OK;
}

static void integrity_row(struct store_check_context *c, sqlite3_stmt *row,
                          const char *sentence)
{
    const char *line = (const char *)sqlite3_column_text(row, 0);

    /* SQLite reports several lines at once, below a heading with the name of
     * the database. */
    while (line && *line) {
        int n = (int)strcspn(line, "\n");

        if (strncmp(line, "***", 3) && strcmp(line, "ok"))
            problems_add(&c->found, "%s: %.*s", sentence, n, line);
        line += n + (line[n] == '\n');
    }
}

static void rule_row(struct store_check_context *c, sqlite3_stmt *row,
                     const char *sentence)
{
    char text[200];

    snprintf(text, sizeof text, sentence,
             (long long)sqlite3_column_int64(row, 0));
    problems_add(&c->found, "%s: %s", c->s->path, text);
}

static void hash_row(struct store_check_context *c, sqlite3_stmt *row,
                     const char *sentence)
{
    struct unit u = { .tagged = sqlite3_column_int(row, 3) != 0,
                      .source = column_str(row, 4),
                      .target = column_str(row, 5) };
    bool sound = !unit_check(&u, NULL);

    if (!sound || sqlite3_column_int64(row, 2) !=
                      text_hash(sqlite3_column_int64(row, 1), &u))
        rule_row(c, row, sentence);
}

static enum status check_everything(struct store_check_context *c,
                                    struct err *e)
{
    enum status st = check_rows(c, "PRAGMA integrity_check", integrity_row,
                                c->s->path, e);

    for (size_t i = 0; !st && i < sizeof rules / sizeof *rules; i++)
        st = check_rows(c, rules[i].sql, rule_row, rules[i].sentence, e);
    if (!st)
        st = check_rows(c, "SELECT id, memory, hash, tagged, source, target"
                        " FROM text", hash_row,
                        "text %lld does not match its hash", e);
    return st;
}

enum status store_check(struct store *s, problem_fn *fn, void *user,
                        int *n_problems, struct err *e)
{
    struct store_check_context c = { .s = s,
                                     .found = { .fn = fn, .user = user } };
    enum status st = store_begin_read(s, e), end;

    *n_problems = 0;
    if (st) return st;
    st = check_everything(&c, e);
    end = store_commit(s, st ? NULL : e);
    *n_problems = c.found.n;
    return st ? st : end;
}

/* Copies the first problem for the error message. */
static void note_first_problem(void *user, const char *sentence)
{
    char *first = user;

    if (!*first) snprintf(first, PROBLEM_BYTES, "%s", sentence);
}

enum status store_require_sound(struct store *s, const char *what,
                                struct err *e)
{
    char first[PROBLEM_BYTES] = "";
    int n;
    enum status st = store_check(s, note_first_problem, first, &n, e);

    if (st || !n) return st;
    return err_set(e, ST_FORMAT, "%s: %s is refused because the file is "
                   "damaged; save what is readable with 'skmt tm recover OLD "
                   "NEW'. The first of %d problem%s: %s", s->path, what, n,
                   n == 1 ? "" : "s", first);
}

/* ---- compacting ---------------------------------------------------------- */

static int64_t pragma_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int64_t n = 0;

    if (!sqlite3_prepare_v2(db, sql, -1, &row, NULL) &&
        sqlite3_step(row) == SQLITE_ROW)
        n = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return n;
}

/* Rewrites the file without its free pages. VACUUM is one transaction: other
 * writers wait, readers do not. Its temporary copy of the database is a file,
 * because in memory it would need as much memory as the file is large. */
static enum status rewrite_file(struct store *s, struct err *e)
{
    int64_t pages = pragma_int(s->db, "PRAGMA page_count");
    int64_t unused = pragma_int(s->db, "PRAGMA freelist_count");
    enum status st = ST_OK;
    int rc;

    if (unused * WORTH_IT <= pages) return ST_OK;
    rc = sqlite3_exec(s->db, "PRAGMA temp_store = 1; VACUUM", NULL, NULL,
                      NULL);
    if (rc) st = store_error(s->db, s->path, rc, e);
    sqlite3_exec(s->db, "PRAGMA temp_store = 2", NULL, NULL, NULL);
    return st;
}

enum status store_compact(struct store *s, struct err *e)
{
    enum status st;

    if (s->depth)
        return err_set(e, ST_ARGUMENT, "%s: cannot be compacted inside a "
                       "transaction", s->path);
    st = chunk_settle(s, e);
    assert(!s->chunk && store_sound(s));
    if (!st) st = store_sweep(s, 0, e);
    if (!st) st = rewrite_file(s, e);
    if (!st) store_checkpoint(s);
    return st;
}

/* ---- copying ------------------------------------------------------------- */

/* Makes the copy a store of its own. It does not share the index files of the
 * original. */
static int make_independent(sqlite3 *db)
{
    return sqlfile_exec(db, "UPDATE head SET uuid = %lld;"
                        "DELETE FROM manifest; DELETE FROM segment;",
                        (long long)new_uuid());
}

static enum status fill_copy(void *user, const char *temp, struct err *e)
{
    struct store *s = user;
    sqlite3 *db;
    sqlite3_backup *copy;
    enum status st = ST_OK;
    int rc = store_make_file(temp, &db);

    if (rc) st = store_error(db, temp, rc, e);
    if (!st) {
        /* All pages in one step: the copy then is of one version of the file,
         * and writers do not wait. */
        copy = sqlite3_backup_init(db, "main", s->db, "main");
        if (copy) sqlite3_backup_step(copy, -1);
        rc = copy ? sqlite3_backup_finish(copy) : sqlite3_errcode(db);
        if (!rc) rc = make_independent(db);
        if (rc) st = store_error(db, temp, rc, e);
    }
    sqlite3_close(db);
    return st;
}

enum status store_backup(struct store *s, const char *path, struct err *e)
{
    bool existed = !access(path, F_OK);
    enum status st;

    if (s->depth && !s->view)
        return err_set(e, ST_ARGUMENT, "%s: cannot be copied inside a "
                       "transaction", s->path);
    st = chunk_settle(s, e);
    if (!st && !existed) st = file_create_new(path, fill_copy, s, &existed, e);
    if (!st && existed)
        st = err_set(e, ST_ARGUMENT, "%s: exists already; a copy does not "
                     "replace it", path);
    return st;
}
