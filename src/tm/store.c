/* store.c - opens a memory file and runs transactions and prepared statements
 * on it. It contains the schema and no knowledge about pairs, imports or the
 * index; the other store_*.c files have that.
 *
 * A new file is created under a temporary name and renamed when it is
 * complete. So no process sees half a schema, and two processes that create
 * the file at the same time use the same one.
 *
 * A transaction moves a store between these states; store_internal.h states
 * the invariants, and store_sound() tests them:
 *
 *     depth  chunk  view  lost
 *       0     -      -     -    no transaction
 *       0     set    -     -    an import's chunk is open (store_import.c)
 *      >0     -      -     -    a write transaction
 *      >0     -      set   -    a read transaction
 *      >0     -      -     set  a write transaction that SQLite rolled back,
 *                               for example because the disk is full; all
 *                               calls fail until it is ended */
#include "tm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sqlfile.h"
#include "tm/store_internal.h"

enum {
    PAGE_BYTES = 8192,
    LOG_PAGES = 8000,           /* checkpoint after 64 MB of log */
    CHUNK_ROWS = 65536,
    CHUNK_BYTES = 32 << 20,
    WIPE_ROWS = 20000,
    MAX_LOG = 1000000
};

static const struct sqlfile_kind memory_file = {
    .not_ours = "not a translation memory of skmt",
    .mend = "restore it from a copy, or save what is readable with "
            "'skmt tm recover OLD NEW'",
    .application_id = 0x736b6d74,       /* "skmt" */
    .version = STORE_VERSION, .busy_ms = 60000, .sums_from = 2
};

/* A column of `pair` is NULL when it is empty or equals the value of the
 * memory or batch, so most rows have about ten bytes. The index pair_text
 * includes the batch: with it, asking whether a text is visible and counting
 * pairs never read the rows of `pair`. */
static const char schema[] =
    "CREATE TABLE head(uuid INTEGER NOT NULL, pairs INTEGER NOT NULL,"
    " generations INTEGER NOT NULL);"
    "CREATE TABLE memory(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " name TEXT NOT NULL, source_lang TEXT, target_lang TEXT,"
    " priority INTEGER NOT NULL, keep_duplicates INTEGER NOT NULL,"
    " created INTEGER NOT NULL, dropped INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX memory_name ON memory(name) WHERE dropped = 0;"
    "CREATE TABLE batch(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " memory INTEGER NOT NULL, import INTEGER NOT NULL,"
    " state INTEGER NOT NULL, origin TEXT, format TEXT,"
    " created INTEGER NOT NULL, texts INTEGER NOT NULL,"
    " first_pair INTEGER NOT NULL, finished INTEGER, extra TEXT);"
    "CREATE INDEX batch_memory ON batch(memory);"
    "CREATE INDEX batch_not_done ON batch(id) WHERE state <> 1;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, memory INTEGER NOT NULL,"
    " hash INTEGER NOT NULL, tagged INTEGER NOT NULL, hidden INTEGER,"
    " source TEXT NOT NULL, target TEXT NOT NULL);"
    "CREATE TABLE by_hash(hash INTEGER NOT NULL, text INTEGER NOT NULL,"
    " PRIMARY KEY(hash, text)) WITHOUT ROWID;"
    "CREATE TABLE hidden(text INTEGER PRIMARY KEY);"
    "CREATE TABLE pair(id INTEGER PRIMARY KEY, text INTEGER NOT NULL,"
    " batch INTEGER NOT NULL, position INTEGER, document TEXT, unit TEXT,"
    " author TEXT, created INTEGER, changed INTEGER, source_lang TEXT,"
    " target_lang TEXT, extra TEXT, origin TEXT);"
    "CREATE INDEX pair_text ON pair(text, batch);"
    "CREATE TABLE change(seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " memory INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " first INTEGER NOT NULL, last INTEGER NOT NULL, source TEXT,"
    " tagged INTEGER);"
    "CREATE INDEX change_memory ON change(memory);"
    "CREATE TABLE manifest(memory INTEGER NOT NULL,"
    " analyzer INTEGER NOT NULL, generation INTEGER NOT NULL,"
    " seq INTEGER NOT NULL, clean INTEGER NOT NULL,"
    " PRIMARY KEY(memory, analyzer)) WITHOUT ROWID;"
    "CREATE TABLE segment(memory INTEGER NOT NULL,"
    " analyzer INTEGER NOT NULL, place INTEGER NOT NULL,"
    " number INTEGER NOT NULL, docs INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL,"
    " PRIMARY KEY(memory, analyzer, place)) WITHOUT ROWID;";

int64_t now_seconds(void)
{
    return (int64_t)time(NULL);
}

double now_exact(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_REALTIME, &t)) return (double)now_seconds();
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- errors -------------------------------------------------------------- */

enum status store_error(sqlite3 *db, const char *path, int rc, struct err *e)
{
    return sqlfile_error(&memory_file, db, path, rc, e);
}

enum status store_damaged(const char *path, const char *why, struct err *e)
{
    return sqlfile_damaged(&memory_file, path, why, e);
}

static enum status store_failed(struct store *s, int rc, struct err *e)
{
    return store_error(s->db, s->path, rc, e);
}

/* ---- statements ---------------------------------------------------------- */

bool store_sound(const struct store *s)
{
    if (s->depth < 0 || (s->chunk && s->depth)) return false;
    if (!s->depth && (s->view || s->lost)) return false;
    return !(s->view && s->lost) && (s->writable || !s->chunk);
}

static const char *const sql_of[] = {
#define Q(name, sql) sql,
    STORE_QUERIES(Q)
#undef Q
};

const char *store_sql(enum query q)
{
    assert(q < Q_COUNT);
    return sql_of[q];
}

static int query_bind(struct store *s, enum query q, struct sql_values values)
{
    int rc = SQLITE_OK;

    assert(q < Q_COUNT);
    if (!s->stmt[q])
        rc = sqlite3_prepare_v3(s->db, sql_of[q], -1,
                                SQLITE_PREPARE_PERSISTENT, &s->stmt[q], NULL);
    return rc ? rc : sql_bind(s->stmt[q], values);
}

/* Evaluates rc, the result of sqlite3_step. The statement is reset unless it
 * has a row. */
static enum status query_stepped(struct store *s, enum query q, int rc,
                                 bool *found, struct err *e)
{
    enum status st;

    *found = rc == SQLITE_ROW;
    if (*found) return ST_OK;
    st = rc == SQLITE_DONE ? ST_OK : store_failed(s, rc, e);
    sqlite3_reset(s->stmt[q]);
    return st;
}

enum status query_first(struct store *s, enum query q,
                        struct sql_values values, bool *found, struct err *e)
{
    int rc = query_bind(s, q, values);

    *found = false;
    if (rc) return store_failed(s, rc, e);
    return query_stepped(s, q, sqlite3_step(s->stmt[q]), found, e);
}

enum status query_run(struct store *s, enum query q, struct sql_values values,
                      struct err *e)
{
    bool found;
    enum status st = query_first(s, q, values, &found, e);

    while (found) st = query_next(s, q, &found, e);
    return st;
}

enum status query_next(struct store *s, enum query q, bool *found,
                       struct err *e)
{
    assert(q < Q_COUNT && s->stmt[q]);
    return query_stepped(s, q, sqlite3_step(s->stmt[q]), found, e);
}

void query_end(struct store *s, enum query q)
{
    assert(q < Q_COUNT && s->stmt[q]);
    sqlite3_reset(s->stmt[q]);
}

enum status query_int(struct store *s, enum query q, struct sql_values values,
                      int64_t *value, struct err *e)
{
    bool found;
    enum status st = query_first(s, q, values, &found, e);

    *value = 0;
    if (found) {
        *value = sqlite3_column_int64(s->stmt[q], 0);
        /* An UPDATE or INSERT ... RETURNING is complete only at its end. */
        st = query_next(s, q, &found, e);
        query_end(s, q);
    }
    return st;
}

struct str column_str(sqlite3_stmt *st, int column)
{
    const char *p = (const char *)sqlite3_column_text(st, column);

    return (struct str){ p, (size_t)sqlite3_column_bytes(st, column) };
}

/* ---- transactions -------------------------------------------------------- */

enum status set_sync(struct store *s, int level, struct err *e)
{
    enum status st = ST_OK;

    assert(level == 1 || level == 2);
    assert(!s->depth && !s->chunk);
    if (s->sync != level)
        st = query_run(s, level == 1 ? Q_SYNC_NORMAL : Q_SYNC_FULL, SQL_NONE,
                       e);
    if (!st) s->sync = level;
    return st;
}

static enum status begin_nested(struct store *s, bool write, struct err *e)
{
    assert(s->depth > 0 && store_sound(s));
    if (s->lost)
        return err_set(e, ST_IO, "%s: an earlier error ended this "
                       "transaction", s->path);
    if (write && s->view)
        return err_set(e, ST_ARGUMENT, "%s: cannot be changed inside a read "
                       "transaction", s->path);
    s->depth++;
    return ST_OK;
}

enum status write_begin(struct store *s, struct err *e)
{
    assert(s->writable && !s->depth && !s->chunk);
    s->changes_before = sqlite3_total_changes64(s->db);
    return query_run(s, Q_BEGIN, SQL_NONE, e);
}

enum status write_commit(struct store *s, struct err *e)
{
    enum status st = ST_OK;

    assert(store_in_write(s) && s->depth <= 1);
    if (s->has_sums && sqlite3_total_changes64(s->db) != s->changes_before)
        st = query_run(s, Q_TOUCH, SQL_NONE, e);
    return st ? st : query_run(s, Q_COMMIT, SQL_NONE, e);
}

enum status store_begin(struct store *s, struct err *e)
{
    enum status st;

    if (!s->writable)
        return err_set(e, ST_ARGUMENT, "%s: the file is open for reading "
                       "only", s->path);
    if (s->depth) return begin_nested(s, true, e);
    st = chunk_settle(s, e);
    if (!st) st = set_sync(s, s->relaxed ? 1 : 2, e);
    if (!st) st = write_begin(s, e);
    if (!st) s->depth = 1;
    assert(store_sound(s));
    return st;
}

enum status store_begin_read(struct store *s, struct err *e)
{
    int64_t uuid;
    enum status st;

    if (s->depth) return begin_nested(s, false, e);
    st = chunk_settle(s, e);
    if (!st) st = query_run(s, Q_BEGIN_READ, SQL_NONE, e);
    if (st) return st;
    s->depth = 1;
    s->view = true;
    /* SQLite takes its snapshot of the file at the first read. */
    st = query_int(s, Q_UUID, SQL_NONE, &uuid, e);
    if (st) store_rollback(s);
    return st;
}

static void end_transaction(struct store *s)
{
    assert(s->depth > 0 && store_sound(s));
    s->depth = 0;
    s->view = s->lost = false;
}

void store_rollback(struct store *s)
{
    if (!s->depth) return;
    if (!sqlite3_get_autocommit(s->db))
        query_run(s, Q_ROLLBACK, SQL_NONE, NULL);
    s->rollbacks++;
    if (!s->view) imports_rolled_back(s);
    end_transaction(s);
}

enum status store_commit(struct store *s, struct err *e)
{
    enum status st;

    if (!s->depth)
        return err_set(e, ST_ARGUMENT, "%s: there is no transaction to "
                       "commit", s->path);
    if (s->depth > 1) {
        s->depth--;
        return ST_OK;
    }
    st = s->lost ? err_set(e, ST_IO, "%s: an earlier error ended this "
                           "transaction; nothing was changed", s->path)
       : s->view ? query_run(s, Q_COMMIT, SQL_NONE, e) : write_commit(s, e);
    if (st) store_rollback(s);
    else end_transaction(s);
    return st;
}

enum status op_begin(struct store *s, struct err *e)
{
    bool outer = s->depth == 0;
    enum status st = store_begin(s, e);

    if (st || outer) return st;
    st = query_run(s, Q_SAVE, SQL_NONE, e);
    if (st) s->depth--;
    return st;
}

enum status op_end(struct store *s, enum status st, struct err *e)
{
    assert(s->depth > 0 && !s->view && store_sound(s));
    if (s->depth == 1 && !st) return store_commit(s, e);
    if (s->depth == 1) {
        store_rollback(s);
        return st;
    }
    s->depth--;
    /* When the disk is full, SQLite may roll back the whole transaction. */
    if (sqlite3_get_autocommit(s->db)) {
        s->lost = true;
        s->rollbacks++;
        return st ? st : err_set(e, ST_IO, "%s: SQLite rolled the transaction "
                                 "back", s->path);
    }
    if (st) {
        query_run(s, Q_UNDO, SQL_NONE, NULL);
        query_run(s, Q_RELEASE, SQL_NONE, NULL);
        s->rollbacks++;
        return st;
    }
    return query_run(s, Q_RELEASE, SQL_NONE, e);
}

void store_relaxed(struct store *s, bool relaxed)
{
    s->relaxed = relaxed;
}

static int truncate_log(struct store *s)
{
    int rc;

    sqlite3_busy_timeout(s->db, 0);
    rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                   NULL, NULL);
    sqlite3_busy_timeout(s->db, memory_file.busy_ms);
    return rc;
}

void store_checkpoint(struct store *s)
{
    truncate_log(s);
}

enum status store_checkpoint_all(struct store *s, struct err *e)
{
    int rc;

    assert(!s->depth && !s->chunk);
    rc = truncate_log(s);
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
        return err_set(e, ST_IO, "%s: another program reads the file, so it "
                       "could not be completed; try again", s->path);
    return rc ? store_failed(s, rc, e) : ST_OK;
}

/* ---- creating a file ----------------------------------------------------- */

uint64_t new_uuid(void)
{
    uint64_t id = 0;

    while (!id)
        if (getrandom(&id, sizeof id, 0) != sizeof id)
            id = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
    return id;
}

static void sync_folder(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    int fd;

    if (slash) slash[slash == folder] = '\0';
    fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

/* Renames temp to path. Fails with EEXIST when path exists. */
static int rename_new(const char *temp, const char *path)
{
    if (!renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    return link(temp, path);    /* the file system lacks RENAME_NOREPLACE */
}

/* Deletes a temporary file and its log. */
static void delete_temp(const char *temp)
{
    static const char *const endings[] = { "", "-wal", "-shm" };
    struct strbuf name;

    for (int i = 0; i < 3; i++) {
        strbuf_init(&name, 0);
        if (strbuf_adds(&name, temp) && strbuf_adds(&name, endings[i]))
            unlink(name.data);
        strbuf_release(&name);
    }
}

enum status file_create_new(const char *path, fill_fn *fill, void *user,
                            bool *existed, struct err *e)
{
    static atomic_uint serial;
    size_t size = strlen(path) + 40;
    char *temp = malloc(size);
    int64_t log_bytes = 0;
    enum status st;

    *existed = false;
    if (!temp) return err_nomem(e, "file name");
    snprintf(temp, size, "%s.%ld-%u.tmp", path, (long)getpid(),
             atomic_fetch_add(&serial, 1));
    st = fill(user, temp, e);
    if (!st) log_bytes = sqlfile_bytes(temp, "-wal");
    if (log_bytes < 0) st = err_nomem(e, "file name");
    if (log_bytes > 0)
        st = err_set(e, ST_IO, "%s: could not be completed: its log could not "
                     "be copied into it", path);
    if (!st && rename_new(temp, path)) {
        *existed = errno == EEXIST;
        if (!*existed)
            st = err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    }
    delete_temp(temp);
    if (!st) sync_folder(path);
    free(temp);
    return st;
}

int store_make_file(const char *path, sqlite3 **db)
{
    return sqlfile_make(&memory_file, path, db);
}

/* auto_vacuum stays off: it makes imports a twelfth slower (instructions
 * counted by callgrind). store_compact rewrites the file instead. */
static enum status store_fill_store(void *user, const char *temp, struct err *e)
{
    sqlite3 *db;
    int rc = store_make_file(temp, &db);
    enum status st;

    if (!rc)
        rc = sqlfile_exec(db, "PRAGMA page_size = %d;"
                          "PRAGMA encoding = 'UTF-8';"
                          "BEGIN; PRAGMA application_id = %d;"
                          "PRAGMA user_version = %d; %s"
                          "INSERT INTO head VALUES(%lld, 0, 0); COMMIT;"
                          "PRAGMA journal_mode = WAL;",
                          PAGE_BYTES, (int)memory_file.application_id,
                          (int)memory_file.version, schema,
                          (long long)new_uuid());
    st = rc ? store_error(db, user, rc, e) : ST_OK;
    sqlite3_close(db);
    return st;
}

/* Refuses to create a file beside a log of a file that no longer exists:
 * SQLite would apply the log to the new file. The log may hold changes that
 * somebody needs, so it is not deleted either. */
static enum status check_no_log(const char *path, struct err *e)
{
    int64_t bytes = sqlfile_bytes(path, "-wal");
    struct stat sb;

    if (bytes < 0) return err_nomem(e, "file name");
    /* Another process may have created the file in the meantime. */
    if (bytes && stat(path, &sb) && errno == ENOENT)
        return err_set(e, ST_IO, "%s-wal: this log belongs to a file that "
                       "no longer exists; restore that file, or delete the "
                       "log", path);
    return ST_OK;
}

/* ---- opening ------------------------------------------------------------- */

/* Checks that path is a regular file, and creates it if the mode says so. */
static enum status store_find_file(const char *path, enum store_mode mode,
                                   struct err *e)
{
    struct stat sb;
    bool existed;

    if (stat(path, &sb)) {
        if (errno == ENOENT && mode == STORE_CREATE) {
            enum status st = check_no_log(path, e);

            return st ? st : file_create_new(path, store_fill_store,
                                             (char *)(uintptr_t)path,
                                             &existed, e);
        }
        return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", path);
    if (!sb.st_size)
        return err_set(e, ST_FORMAT, "%s: the file is empty, not a "
                       "translation memory", path);
    return ST_OK;
}

static int store_configure(sqlite3 *db)
{
    int rc = sqlfile_configure(&memory_file, db);

    return rc ? rc : sqlfile_exec(db, "PRAGMA cache_size = -40960");
}

/* Takes ownership of name; NULL means that it could not be allocated. */
static enum status store_connect_as(struct store *s, char *name, int flags,
                                    struct err *e)
{
    enum status st = ST_OK;
    int rc;

    free(s->name);
    s->name = name;
    if (!name) return err_nomem(e, "file name");
    rc = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX,
                         sqlfile_vfs(&memory_file));
    if (rc) return store_failed(s, rc, e);
    st = sqlfile_check(&memory_file, s->db, s->path, false, e);
    if (!st) st = sqlfile_check_size(&memory_file, s->db, s->path, e);
    s->has_sums = !st && sqlfile_has_sums(s->db);
    if (!st && s->writable && sqlite3_db_readonly(s->db, "main") == 1)
        st = err_set(e, ST_IO, "%s: cannot be written: %s", s->path,
                     access(s->path, W_OK) && errno == EROFS
                     ? "the disk is read-only" : "no permission");
    if (st) return st;
    rc = store_configure(s->db);
    if (!rc && s->writable)
        rc = sqlfile_use_log(&memory_file, s->db, LOG_PAGES, PAGE_BYTES);
    return rc ? store_failed(s, rc, e) : ST_OK;
}

static void store_disconnect(struct store *s)
{
    for (int q = 0; q < Q_COUNT; q++) {
        sqlite3_finalize(s->stmt[q]);
        s->stmt[q] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

static enum status read_uuid(struct store *s, struct err *e)
{
    int64_t uuid;
    enum status st = query_int(s, Q_UUID, SQL_NONE, &uuid, e);

    s->uuid = (uint64_t)uuid;
    if (!st && !uuid)
        st = sqlfile_damaged(&memory_file, s->path,
                             "its table 'head' has no uuid", e);
    return st;
}

static struct file_look look_at_file(const struct store *s)
{
    struct file_look now = { .log = sqlfile_bytes(s->path, "-wal") };
    struct stat sb;

    if (stat(s->path, &sb)) return now;
    now.inode = sb.st_ino;
    now.size = (int64_t)sb.st_size;
    now.seconds = sb.st_mtim.tv_sec;
    now.nanoseconds = sb.st_mtim.tv_nsec;
    return now;
}

/* A file whose folder is read-only is opened as immutable, that is, without
 * locks. A writer may still change it later; reopen_if_changed notices
 * that. */
static enum status connect_read(struct store *s, struct err *e)
{
    char *name;
    enum status st =
        store_connect_as(s, sqlfile_name(s->path), SQLITE_OPEN_READONLY, e);

    if (!st) st = read_uuid(s, e);
    if (!st || !s->db || !sqlfile_lacks_shm(s->db)) return st;
    s->last_look = look_at_file(s);
    st = sqlfile_immutable(s->path, &name, e);
    if (st) return st;
    store_disconnect(s);
    st = store_connect_as(s, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
    s->immutable = true;
    return st ? st : read_uuid(s, e);
}

/* Opens a file again that is read without locks and has changed. */
static enum status reopen_if_changed(struct store *s, struct err *e)
{
    struct file_look now;
    enum status st;

    if (!(s->immutable || s->reopen) || s->depth) return ST_OK;
    assert(!s->writable && !s->imports);
    now = look_at_file(s);
    if (!s->reopen && !memcmp(&now, &s->last_look, sizeof now)) return ST_OK;
    store_disconnect(s);
    s->immutable = false;
    s->rollbacks++;             /* store_version must change */
    st = connect_read(s, e);
    s->reopen = st != ST_OK;    /* then the next call tries again */
    return st;
}

static enum status connect_write(struct store *s, struct err *e)
{
    enum status st = store_connect_as(s, sqlfile_name(s->path),
                                      SQLITE_OPEN_READWRITE, e);

    if (!st) st = read_uuid(s, e);
    /* Rows of dead imports that cannot be deleted now, for example because the
     * disk is full, do not prevent opening: the next writer tries again. */
    if (!st) store_sweep(s, SWEEP_OPEN_SECONDS, NULL);
    return st;
}

/* data_version counts the commits of other connections. Our own changes are
 * counted as changed rows and rollbacks. None of the three ever decreases, so
 * their sum changes whenever one of them does. */
enum status store_version(struct store *s, uint32_t *version, struct err *e)
{
    int64_t others;
    enum status st = reopen_if_changed(s, e);

    *version = 0;
    if (!st) st = query_int(s, Q_VERSION, SQL_NONE, &others, e);
    if (st) return st;
    *version = (uint32_t)others + (uint32_t)sqlite3_total_changes64(s->db) +
               s->rollbacks;
    return ST_OK;
}

enum status store_open(struct store **out, const char *path,
                       enum store_mode mode, struct err *e)
{
    enum status st;
    struct store *s;

    *out = NULL;
    st = store_find_file(path, mode, e);
    if (st) return st;
    s = calloc(1, sizeof *s);
    if (!s) return err_nomem(e, "store");
    strbuf_init(&s->text_buf, 0);
    strbuf_init(&s->pair_buf, 0);
    strbuf_init(&s->extra_buf, 0);
    s->writable = mode != STORE_READ;
    s->chunk_rows = CHUNK_ROWS;
    s->chunk_bytes = CHUNK_BYTES;
    s->wipe_rows = WIPE_ROWS;
    s->max_log = MAX_LOG;
    s->path = strdup(path);
    st = !s->path ? err_nomem(e, "file name")
       : s->writable ? connect_write(s, e) : connect_read(s, e);
    if (st) store_close(s);
    else *out = s;
    return st;
}

void store_close(struct store *s)
{
    if (!s) return;
    assert(!s->imports && !s->chunk);
    if (s->db) {
        store_rollback(s);
        store_disconnect(s);
    }
    strbuf_release(&s->text_buf);
    strbuf_release(&s->pair_buf);
    strbuf_release(&s->extra_buf);
    free(s->path);
    free(s->name);
    free(s);
}

enum status store_connect_again(const struct store *s, sqlite3 **db,
                                struct err *e)
{
    int flags = s->immutable ? SQLITE_OPEN_URI : 0;
    int rc = sqlite3_open_v2(s->name, db, SQLITE_OPEN_READONLY |
                             SQLITE_OPEN_NOMUTEX | flags,
                             sqlfile_vfs(&memory_file));

    if (!rc) rc = store_configure(*db);
    return rc ? store_error(*db, s->path, rc, e) : ST_OK;
}

const char *store_path(const struct store *s)
{
    return s->path;
}

bool store_writable(const struct store *s)
{
    return s->writable;
}

uint64_t store_uuid(const struct store *s)
{
    return s->uuid;
}

int64_t store_disk_bytes(struct store *s)
{
    int64_t file = sqlfile_bytes(s->path, "");
    int64_t log = sqlfile_bytes(s->path, "-wal");

    return (file > 0 ? file : 0) + (log > 0 ? log : 0);
}
