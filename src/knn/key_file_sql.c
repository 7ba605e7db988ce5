/* key_file_sql.c - creates, opens, upgrades and checks the SQLite database of a
 * key file, and runs its statements. What the statements are used for is in
 * key_file.c.
 *
 * A new file is filled in one transaction, not created under another name and
 * renamed: SQLite deletes an old log (-wal) beside an empty file, but would
 * apply it to a file with content. */
#include "knn/key_file_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/sqlfile.h"

enum {
    PAGE_BYTES = 8192,
    LOG_PAGES = 2000,           /* copy the log back when it has 16 MB */
    VERSION = 3
};

static const struct sqlfile_kind keys_file = {
    .not_ours = "not a key file made by skmt",
    .mend = "delete it; skmt will create it again",
    .application_id = 0x736b6579,       /* "skey" */
    .version = VERSION, .busy_ms = 10000
};

static const char schema[] =
    "CREATE TABLE head(maker INTEGER NOT NULL, type INTEGER NOT NULL,"
    " d INTEGER NOT NULL, blocks INTEGER NOT NULL, keys INTEGER NOT NULL);"
    "CREATE TABLE block(id BLOB PRIMARY KEY, place INTEGER NOT NULL,"
    " n INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX block_used ON block(used, n);"
    "CREATE TABLE keys(place INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL);";

static const char *const sql_of[] = {
#define Q(name, sql) sql,
    KEY_FILE_SQL_QUERIES(Q)
#undef Q
};

/* ---- errors -------------------------------------------------------------- */

static enum status key_file_sql_damaged(struct key_file_sql *db,
                                        const char *why, struct err *e)
{
    return sqlfile_damaged(&keys_file, db->path, why, e);
}

enum status key_file_sql_failed(struct key_file_sql *db, int rc, struct err *e)
{
    return sqlfile_error(&keys_file, db->sql, db->path, rc, e);
}

/* ---- statements ---------------------------------------------------------- */

/* Ids are stored big-endian, so that SQLite sorts them by value. */
struct sql_value key_file_sql_key(struct key_id id)
{
    uint64_t big[2] = { __builtin_bswap64(id.hi), __builtin_bswap64(id.lo) };

    return sql_id((const unsigned char *)big);
}

struct key_id key_file_sql_id(sqlite3_stmt *row, int column)
{
    uint64_t big[2];

    memcpy(big, sqlite3_column_blob(row, column), sizeof big);
    return (struct key_id){ __builtin_bswap64(big[0]),
                            __builtin_bswap64(big[1]) };
}

int key_file_sql_first(struct key_file_sql *db, enum key_file_sql_query q,
                       struct sql_values values)
{
    sqlite3_stmt **st = &db->stmt[q];
    int rc = SQLITE_OK;

    assert((int)q >= 0 && q < KEY_FILE_SQL_N_QUERIES && db->sql);
    assert(!*st || !sqlite3_stmt_busy(*st));
    if (!*st)
        rc = sqlite3_prepare_v3(db->sql, sql_of[q], -1,
                                SQLITE_PREPARE_PERSISTENT, st, NULL);
    if (!rc) rc = sql_bind(*st, values);
    if (!rc) rc = sqlite3_step(*st);
    if (rc != SQLITE_ROW) sqlite3_reset(*st);
    return rc;
}

int key_file_sql_rest(struct key_file_sql *db, enum key_file_sql_query q,
                      int rc)
{
    while (rc == SQLITE_ROW) rc = sqlite3_step(db->stmt[q]);
    sqlite3_reset(db->stmt[q]);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int key_file_sql_run(struct key_file_sql *db, enum key_file_sql_query q,
                     struct sql_values values)
{
    return key_file_sql_rest(db, q, key_file_sql_first(db, q, values));
}

int key_file_sql_number(struct key_file_sql *db, enum key_file_sql_query q,
                        int64_t *n)
{
    int rc = key_file_sql_first(db, q, SQL_NONE);

    *n = 0;
    if (rc == SQLITE_ROW) *n = sqlite3_column_int64(db->stmt[q], 0);
    return key_file_sql_rest(db, q, rc);
}

void key_file_sql_undo(struct key_file_sql *db)
{
    if (!sqlite3_get_autocommit(db->sql))
        key_file_sql_run(db, KEY_FILE_SQL_ROLLBACK, SQL_NONE);
}

/* ---- creating a file ----------------------------------------------------- */

/* Create the tables, inside a transaction. Does nothing when another process
 * has created them meanwhile. */
static int create_tables(struct key_file_sql *db)
{
    int64_t version, tables = 0;
    int rc = key_file_sql_number(db, KEY_FILE_SQL_VERSION, &version);

    if (!rc) rc = key_file_sql_number(db, KEY_FILE_SQL_TABLES, &tables);
    if (rc || (tables && version >= VERSION)) return rc;
    return sqlfile_exec(db->sql, "DROP TABLE IF EXISTS head;"
                        "PRAGMA application_id = %d;"
                        "PRAGMA user_version = %d; %s"
                        "INSERT INTO head VALUES(%lld, %d, %d, 0, 0);",
                        (int)keys_file.application_id, (int)keys_file.version,
                        schema, (long long)db->kind.maker,
                        (int)db->kind.type, db->kind.d);
}

typedef int in_transaction_fn(struct key_file_sql *db);

static int key_file_sql_transact(struct key_file_sql *db, const char *begin,
                                 in_transaction_fn *fn)
{
    int rc = sqlfile_exec(db->sql, "%s", begin);

    if (!rc) rc = fn(db);
    if (!rc) rc = key_file_sql_run(db, KEY_FILE_SQL_COMMIT, SQL_NONE);
    if (rc) key_file_sql_undo(db);
    return rc;
}

/* Create the database in one transaction: a file with only a part of its
 * content would be refused as another program's. So WAL mode is turned on
 * later. auto_vacuum lets us return unused pages to the file system a few at a
 * time. It must be set before anything is written, and it writes itself, so it
 * comes first in the transaction. */
static int create_database(struct key_file_sql *db)
{
    int rc = sqlfile_exec(db->sql, "PRAGMA page_size = %d", PAGE_BYTES);

    if (rc) return rc;
    return key_file_sql_transact(db, "BEGIN; PRAGMA auto_vacuum = INCREMENTAL",
                                 create_tables);
}

/* ---- files of older versions --------------------------------------------- */

/* Version 1 identified pairs by their place in a memory file, from which their
 * present id cannot be computed. Version 2 had no source positions. So the keys
 * are deleted, and computed again when they are needed. The version number is
 * changed last, and every step may be repeated: after an interruption the next
 * program finishes the work. */

static int drop_old_keys(struct key_file_sql *db)
{
    int64_t version;
    int rc = key_file_sql_number(db, KEY_FILE_SQL_VERSION, &version);

    if (rc || version >= VERSION) return rc;            /* already done */
    return sqlfile_exec(db->sql, "DROP TABLE IF EXISTS block;"
                        "DROP TABLE IF EXISTS keys;");
}

/* Empty the file and give it the present version. VACUUM is cheap here, because
 * only table head is left. */
static int remake(struct key_file_sql *db)
{
    int rc = key_file_sql_transact(db, "BEGIN IMMEDIATE", drop_old_keys);

    if (!rc)
        rc = sqlfile_exec(db->sql, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
    if (!rc) rc = key_file_sql_transact(db, "BEGIN IMMEDIATE", create_tables);
    if (!rc) db->remade = true;
    return rc;
}

static enum status remake_old(struct key_file_sql *db, struct err *e)
{
    int64_t version = 0;
    int rc = key_file_sql_number(db, KEY_FILE_SQL_VERSION, &version);

    if (!rc && version >= VERSION) return ST_OK;
    if (!rc && db->read_only)
        return err_set(e, ST_VERSION, "%s: this key file was made by an older "
                       "version and cannot be replaced because it is "
                       "read-only; name another file or delete this one",
                       db->path);
    if (!rc) rc = remake(db);
    return rc ? key_file_sql_failed(db, rc, e) : ST_OK;
}

/* ---- opening ------------------------------------------------------------- */

/* Evicted keys are not overwritten (secure_delete), which would double the
 * work. */
static int key_file_sql_configure(struct key_file_sql *db)
{
    int rc = sqlfile_configure(&keys_file, db->sql);

    if (rc) return rc;
    return sqlfile_exec(db->sql, "PRAGMA cell_size_check = ON;"
                        "PRAGMA secure_delete = OFF;"
                        "PRAGMA synchronous = NORMAL;"
                        "PRAGMA cache_size = -16384;");
}

static const char *type_name(int64_t type)
{
    return type == KEY_INT8 ? "8-bit" : type == KEY_F32 ? "32-bit" : "unknown";
}

static enum status key_file_sql_check_head(struct key_file_sql *db,
                                           struct err *e)
{
    sqlite3_stmt *st;
    int64_t maker, type, d;
    int rc = key_file_sql_first(db, KEY_FILE_SQL_HEAD, SQL_NONE);

    if (rc == SQLITE_DONE) return key_file_sql_damaged(db, "no head", e);
    if (rc != SQLITE_ROW) return key_file_sql_failed(db, rc, e);
    st = db->stmt[KEY_FILE_SQL_HEAD];
    maker = sqlite3_column_int64(st, 0);
    type = sqlite3_column_int64(st, 1);
    d = sqlite3_column_int64(st, 2);
    sqlite3_reset(st);
    if (type != (int64_t)db->kind.type || d != db->kind.d)
        return err_set(e, ST_ARGUMENT, "%s: has %s keys of %lld numbers, not "
                       "%s keys of %d numbers; name another file or delete "
                       "this one", db->path, type_name(type), (long long)d,
                       type_name(db->kind.type), db->kind.d);
    if ((uint64_t)maker != db->kind.maker)
        return err_set(e, ST_ARGUMENT, "%s: has the keys of another model or "
                       "of other options; name another file or delete this "
                       "one", db->path);
    return ST_OK;
}

/* Create the database if the file is empty, and check it. A file whose creation
 * was interrupted counts as empty: SQLite rolls it back to zero pages. */
static enum status key_file_sql_prepare(struct key_file_sql *db,
                                        struct err *e)
{
    int64_t pages = 0;
    enum status st;
    int rc = key_file_sql_configure(db);

    if (!rc) rc = key_file_sql_number(db, KEY_FILE_SQL_PAGES, &pages);
    if (!rc && !pages && db->read_only)
        return err_set(e, ST_IO, "%s: the key file is empty and read-only",
                       db->path);
    if (!rc && !pages) rc = create_database(db);
    if (rc) return key_file_sql_failed(db, rc, e);
    /* Another program may have created the file meanwhile. */
    st = sqlfile_check(&keys_file, db->sql, db->path, true, e);
    if (st) return st;
    if (!db->read_only)
        rc = sqlfile_use_log(&keys_file, db->sql, LOG_PAGES, PAGE_BYTES);
    st = rc ? key_file_sql_failed(db, rc, e) : key_file_sql_check_head(db, e);
    return st ? st : remake_old(db, e);
}

static enum status key_file_sql_connect_as(struct key_file_sql *db,
                                           const char *name, int flags,
                                           struct err *e)
{
    enum status st;
    int rc = sqlite3_open_v2(name, &db->sql, flags | SQLITE_OPEN_NOMUTEX,
                             NULL);

    if (rc) return key_file_sql_failed(db, rc, e);
    st = sqlfile_check(&keys_file, db->sql, db->path, true, e);
    db->read_only = sqlite3_db_readonly(db->sql, "main") == 1;
    return st ? st : key_file_sql_prepare(db, e);
}

static void key_file_sql_disconnect(struct key_file_sql *db)
{
    for (int q = 0; q < KEY_FILE_SQL_N_QUERIES; q++) {
        sqlite3_finalize(db->stmt[q]);
        db->stmt[q] = NULL;
    }
    sqlite3_close(db->sql);
    db->sql = NULL;
}

/* Open the file with the URI parameter immutable=1. If a process with write
 * permission changes it meanwhile, the checksums and cell_size_check detect
 * what we misread. */
static enum status connect_immutable(struct key_file_sql *db, struct err *e)
{
    char *name;
    enum status st = sqlfile_immutable(db->path, &name, e);

    if (st) return st;
    key_file_sql_disconnect(db);
    st = key_file_sql_connect_as(db, name,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
    free(name);
    return st;
}

static enum status connect_file(struct key_file_sql *db, struct err *e)
{
    char *name = sqlfile_name(db->path);
    enum status st;

    if (!name) return err_nomem(e, "file name");
    st = key_file_sql_connect_as(
        db, name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
    free(name);
    if (st == ST_IO && db->sql && sqlfile_lacks_shm(db->sql) &&
        sqlfile_bytes(db->path, "") > 0)
        st = connect_immutable(db, e);
    return st;
}

/* Check that the file can be created. SQLite would only report that it does not
 * exist. */
static enum status check_folder(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *folder = strdup(slash ? path : ".");
    enum status st = ST_OK;

    if (!folder) return err_nomem(e, "file name");
    if (slash) folder[slash == path ? 1 : slash - path] = '\0';
    if (access(folder, W_OK | X_OK))
        st = err_set(e, ST_IO, "%s: cannot create the key file: %s", path,
                     strerror(errno));
    free(folder);
    return st;
}

static enum status check_path(const char *path, struct err *e)
{
    struct stat sb;

    if (!*path)
        return err_set(e, ST_ARGUMENT, "the name of the key file is empty");
    if (stat(path, &sb))
        return errno == ENOENT ? check_folder(path, e)
                               : err_set(e, ST_IO, "%s: %s", path,
                                         strerror(errno));
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", path);
    if (sb.st_size == 1)        /* SQLite treats such a file as empty */
        return err_set(e, ST_FORMAT, "%s: %s", path, keys_file.not_ours);
    return ST_OK;
}

void key_file_sql_close(struct key_file_sql *db)
{
    key_file_sql_disconnect(db);
    free(db->path);
    db->path = NULL;
}

enum status key_file_sql_open(struct key_file_sql *db, const char *path,
                              const struct key_file_kind *kind, struct err *e)
{
    enum status st = check_path(path, e);

    *db = (struct key_file_sql){ .kind = *kind };
    if (st) return st;
    db->path = strdup(path);
    st = db->path ? connect_file(db, e) : err_nomem(e, "file name");
    if (st) key_file_sql_close(db);
    return st;
}

void key_file_sql_wait(struct key_file_sql *db, int ms)
{
    sqlite3_busy_timeout(db->sql, ms);
}

void key_file_sql_wipe(struct key_file_sql *db, bool on)
{
    sqlfile_exec(db->sql, "PRAGMA secure_delete = %d", on);
}
