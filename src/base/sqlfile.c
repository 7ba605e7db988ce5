/* sqlfile.c - opens SQLite files of skmt safely and turns SQLite's result codes
 * into messages. It knows nothing about the tables in them. */
#include "base/sqlfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/sqlpage.h"
#include "base/strbuf.h"

/* ---- errors -------------------------------------------------------------- */

enum status sqlfile_damaged(const struct sqlfile_kind *k, const char *path,
                            const char *why, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the file is damaged (%s); %s", path, why,
                   k->mend);
}

/* Why a call failed, in a few words. */
static const char *sqlfile_reason(sqlite3 *db, int rc)
{
    int kind = rc & 0xff;
    int error = db && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR ||
                       kind == SQLITE_READONLY)
                ? sqlite3_system_errno(db) : 0;

    if (error) return strerror(error);
    if (kind == SQLITE_READONLY) return "it is read-only";
    /* Only the message says which table is missing or which constraint is
     * violated. */
    if (db && (kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT))
        return sqlite3_errmsg(db);
    return sqlite3_errstr(rc);
}

enum status sqlfile_error(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, int rc, struct err *e)
{
    const char *why = sqlfile_reason(db, rc);

    assert(rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE);
    if (rc == SQLPAGE_DAMAGED)
        return sqlfile_damaged(k, path, "a page is missing or does not match "
                               "its checksum", e);
    /* SQLite reports SQLITE_FULL for ENOSPC only. A quota or a file size limit
     * is a write error. */
    if (rc == SQLITE_IOERR_WRITE)
        return err_set(e, ST_IO, "%s: the file could not be written (full "
                       "disk, quota or file size limit); nothing was changed",
                       path);
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return err_set(e, ST_IO, "%s: no space left on the disk; nothing was "
                       "changed", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, ST_IO, "%s: another program kept the file locked "
                       "for %d seconds; try again later", path,
                       k->busy_ms / 1000);
    case SQLITE_CANTOPEN:
        return err_set(e, ST_IO, "%s: cannot be opened: %s", path, why);
    case SQLITE_READONLY:
        return err_set(e, ST_IO, "%s: cannot be written: %s", path, why);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
        return sqlfile_damaged(k, path, why, e);
    case SQLITE_NOMEM:
        return err_nomem(e, path);
    case SQLITE_TOOBIG:
        return err_set(e, ST_LIMIT, "%s: a text is too long to be stored",
                       path);
    default:
        return err_set(e, ST_IO, "%s: cannot be read or written: %s", path,
                       why);
    }
}

/* ---- names --------------------------------------------------------------- */

char *sqlfile_name(const char *path)
{
    struct strbuf sb;
    char *name = NULL;

    strbuf_init(&sb, 0);
    if (strbuf_adds(&sb, *path == '/' ? "" : "./") && strbuf_adds(&sb, path))
        name = strbuf_take(&sb);
    strbuf_release(&sb);
    return name;
}

const char *sqlfile_vfs(const struct sqlfile_kind *k)
{
    return k->sums_from ? sqlpage_vfs() : NULL;
}

int sqlfile_make(const struct sqlfile_kind *k, const char *path, sqlite3 **db)
{
    char *name = sqlfile_name(path);
    int reserved = SQLPAGE_RESERVED, rc = SQLITE_NOMEM;

    *db = NULL;
    if (name)
        rc = sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE |
                             SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                             sqlfile_vfs(k));
    free(name);
    if (!rc && k->sums_from)
        rc = sqlite3_file_control(*db, "main", SQLITE_FCNTL_RESERVE_BYTES,
                                  &reserved);
    return rc;
}

/* ---- format and version -------------------------------------------------- */

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static enum status sqlfile_check_version(const struct sqlfile_kind *k,
                                         const char *path, uint32_t version,
                                         struct err *e)
{
    if (version > k->version)
        return err_set(e, ST_VERSION, "%s: made by a newer version of skmt "
                       "(the file has schema %u, this program supports up to "
                       "%u)", path, version, k->version);
    return version ? ST_OK : sqlfile_damaged(k, path, "no version", e);
}

/* A checksum is only compared when the header says that pages have one. One
 * changed byte of the header must not turn that off. */
static enum status check_reserved(const struct sqlfile_kind *k,
                                  const char *path, const unsigned char *head,
                                  struct err *e)
{
    bool sums = k->sums_from && big_endian(head + 60) >= k->sums_from;

    if (!k->sums_from || head[20] == (sums ? SQLPAGE_RESERVED : 0))
        return ST_OK;
    return sqlfile_damaged(k, path, "its header contradicts itself", e);
}

/* The header is read through SQLite's own file handle. If we opened and closed
 * the file ourselves, POSIX would drop the locks that other connections of this
 * process hold. */
enum status sqlfile_check(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, bool may_be_new, struct err *e)
{
    unsigned char head[100];
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    enum status st;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
                                  &file);

    assert(k->version > 0 && k->application_id != 0);
    if (!rc) rc = file->pMethods->xFileSize(file, &size);
    if (!rc && !size && may_be_new) return ST_OK;
    if (!rc) rc = file->pMethods->xRead(file, head, sizeof head, 0);
    if (rc == SQLITE_IOERR_SHORT_READ ||
        (!rc && (memcmp(head, "SQLite format 3", 16) ||
                 big_endian(head + 68) != k->application_id)))
        return err_set(e, ST_FORMAT, "%s: %s", path, k->not_ours);
    if (rc) return sqlfile_error(k, db, path, rc, e);
    st = sqlfile_check_version(k, path, big_endian(head + 60), e);
    return st ? st : check_reserved(k, path, head, e);
}

bool sqlfile_has_sums(sqlite3 *db)
{
    unsigned char reserved = 0;
    sqlite3_file *file = NULL;

    return !sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
                                 &file) && file && file->pMethods &&
           !file->pMethods->xRead(file, &reserved, 1, 20) &&
           reserved == SQLPAGE_RESERVED;
}

/* ---- is all of it there? ------------------------------------------------- */

struct file_extent {
    uint32_t pages;             /* by the header; 0: it does not say */
    int64_t page_bytes, bytes, log_bytes;
};

static uint32_t header_pages(const unsigned char *head)
{
    bool valid = big_endian(head + 24) == big_endian(head + 92);

    return valid ? big_endian(head + 28) : 0;
}

/* The order matters. Whoever copies the log into the file writes the header
 * first, and shortens the log only after the last page. So the log is looked
 * at after the header, and the file's size after the log. */
static int read_extent(sqlite3_file *file, const char *path,
                       struct file_extent *x)
{
    unsigned char head[100];
    sqlite3_int64 size = 0;
    int rc = file->pMethods->xRead(file, head, sizeof head, 0);

    if (rc) return rc;
    x->pages = header_pages(head);
    x->page_bytes = head[16] << 8 | head[17];
    if (x->page_bytes == 1) x->page_bytes = 65536;
    x->log_bytes = sqlfile_bytes(path, "-wal");
    rc = file->pMethods->xFileSize(file, &size);
    x->bytes = size;
    if (!rc) rc = file->pMethods->xRead(file, head, sizeof head, 0);
    /* Somebody has changed it meanwhile. */
    if (!rc && header_pages(head) != x->pages) x->pages = 0;
    return rc;
}

/* Each page in the log has a frame header of 24 bytes, the log one of 32. */
static bool pages_missing(const struct file_extent *x)
{
    int64_t missing, logged;

    if (!x->pages || x->page_bytes < 512 || x->log_bytes < 0) return false;
    missing = x->pages - x->bytes / x->page_bytes;
    logged = x->log_bytes > 32 ? (x->log_bytes - 32) / (x->page_bytes + 24)
                               : 0;
    return missing > logged;
}

enum status sqlfile_check_size(const struct sqlfile_kind *k, sqlite3 *db,
                               const char *path, struct err *e)
{
    struct file_extent x = { 0 };
    sqlite3_file *file = NULL;
    char why[120];
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
                                  &file);

    if (!rc) rc = read_extent(file, path, &x);
    if (rc) return sqlfile_error(k, db, path, rc, e);
    if (!pages_missing(&x)) return ST_OK;
    snprintf(why, sizeof why, "it has %lld bytes and should have %lld",
             (long long)x.bytes, (long long)(x.pages * x.page_bytes));
    return sqlfile_damaged(k, path, why, e);
}

/* ---- connection settings ------------------------------------------------- */

int sqlfile_exec(sqlite3 *db, const char *format, ...)
{
    va_list ap;
    char *sql;
    int rc;

    va_start(ap, format);
    sql = sqlite3_vmprintf(format, ap);
    va_end(ap);
    rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

int sqlfile_configure(const struct sqlfile_kind *k, sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, k->busy_ms);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return sqlfile_exec(db, "PRAGMA trusted_schema = OFF;"
                        "PRAGMA temp_store = 2;");
}

/* Changing the journal mode requires that no other connection uses the file.
 * SQLite's busy handler does not wait for that, so we retry: another process
 * may be opening the file at the same time. */
int sqlfile_use_log(const struct sqlfile_kind *k, sqlite3 *db, int pages,
                    int page_bytes)
{
    double until = clock_seconds() + 1e-3 * k->busy_ms;
    int rc;

    while (((rc = sqlfile_exec(db, "PRAGMA journal_mode = WAL")) & 0xff) ==
           SQLITE_BUSY && clock_seconds() < until)
        sqlite3_sleep(3);
    if (rc) return rc;
    return sqlfile_exec(db, "PRAGMA wal_autocheckpoint = %d;"
                        "PRAGMA journal_size_limit = %d;", pages,
                        pages * page_bytes);
}

/* ---- files in folders that cannot be written ----------------------------- */

bool sqlfile_lacks_shm(sqlite3 *db)
{
    int kind = sqlite3_errcode(db) & 0xff;
    int error = sqlite3_system_errno(db);

    return kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY ||
           kind == SQLITE_FULL || (kind == SQLITE_IOERR &&
                                   (error == ENOSPC || error == EDQUOT));
}

int64_t sqlfile_bytes(const char *path, const char *ending)
{
    struct strbuf name;
    struct stat sb;
    int64_t n = -1;

    strbuf_init(&name, 0);
    if (strbuf_adds(&name, path) && strbuf_adds(&name, ending))
        n = stat(name.data, &sb) ? 0 : (int64_t)sb.st_size;
    strbuf_release(&name);
    return n;
}

/* Append the path as a URI, with characters that have a meaning in URIs
 * escaped. */
static bool add_uri(struct strbuf *to, const char *path)
{
    bool ok = strbuf_adds(to, *path == '/' ? "file://" : "file:");

    for (; ok && *path; path++)
        ok = strchr("%?#", *path) ? strbuf_addf(to, "%%%02X", *path)
                                  : strbuf_addc(to, *path);
    return ok && strbuf_adds(to, "?immutable=1");
}

enum status sqlfile_immutable(const char *path, char **name, struct err *e)
{
    int64_t log = sqlfile_bytes(path, "-wal");
    struct strbuf uri;

    *name = NULL;
    if (log > 0)
        return err_set(e, ST_IO, "%s: its newest changes are in %s-wal, and "
                       "reading those requires write access to the folder; "
                       "copy both files to a folder that you can write to",
                       path, path);
    strbuf_init(&uri, 0);
    if (log == 0 && add_uri(&uri, path)) *name = strbuf_take(&uri);
    strbuf_release(&uri);
    return *name ? ST_OK : err_nomem(e, "file name");
}
