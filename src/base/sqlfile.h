/* sqlfile.h - files of ours that are SQLite databases: told from others' before
 * anything is done to them, set up so that nothing in them is believed, and
 * their errors as sentences.
 *
 * What talks to SQLite returns its codes (SQLITE_OK is zero). */
#ifndef BASE_SQLFILE_H
#define BASE_SQLFILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sqlfile_kind {
    const char *not_ours;       /* what others' files are: "not a .." */
    const char *mend;           /* what to do about a damaged one */
    uint32_t application_id, version;
    int busy_ms;                /* how long to wait for others */
    uint32_t sums_from;         /* files of this version and later have page
                                   checksums (sqlpage.h); 0: none has */
};

/* The code of a call that failed. db may be NULL. */
enum status sqlfile_error(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, int rc, struct err *e);
enum status sqlfile_damaged(const struct sqlfile_kind *k, const char *path,
                            const char *why, struct err *e);

/* The path so that SQLite cannot take it for anything else: it knows file: and
 * :memory:. malloc memory; NULL: there is none. */
char *sqlfile_name(const char *path);
/* A file to be filled, by one thread; made when it does not exist. *db is to be
 * closed after an error, too. */
int sqlfile_make(const struct sqlfile_kind *k, const char *path,
                 sqlite3 **db);
/* The VFS that files of this kind are opened with; NULL: SQLite's own. */
const char *sqlfile_vfs(const struct sqlfile_kind *k);

/* Kind and version stand in the first 100 bytes, which are looked at before
 * SQLite does anything: somebody else's database is not even locked. Where it
 * may be new, a file without any bytes is fine (to SQLite one of a single byte
 * has none). */
enum status sqlfile_check(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, bool may_be_new, struct err *e);

/* Do the pages of the file have checksums? Ask after sqlfile_check. */
bool sqlfile_has_sums(sqlite3 *db);

/* Is the file as long as its header says? An error (ST_FORMAT) only when pages
 * are certainly missing: neither in the file nor in the log. */
enum status sqlfile_check_size(const struct sqlfile_kind *k, sqlite3 *db,
                               const char *path, struct err *e);

/* A connection that trusts nothing it finds in the file. */
int sqlfile_configure(const struct sqlfile_kind *k, sqlite3 *db);
/* The log (WAL), of so many pages before it is copied back. */
int sqlfile_use_log(const struct sqlfile_kind *k, sqlite3 *db, int pages,
                    int page_bytes);
/* Statements as printf makes them, with SQLite's %Q and %lld. */
int sqlfile_exec(sqlite3 *db, const char *format, ...);

/* Was it that the -shm file could not be made? (No permission, no space.) In a
 * folder that cannot be written SQLite 3.40 cannot read a database that has
 * been in WAL mode, for want of that file. Where there is no log the file alone
 * is everything, and sqlfile_immutable() gives it a name (a URI; malloc memory)
 * under which it is read without locks. With a log there is more than the file
 * says, and that is an error. */
bool sqlfile_lacks_shm(sqlite3 *db);
enum status sqlfile_immutable(const char *path, char **name, struct err *e);

/* Bytes of the file whose name ends so ("-wal"); 0 when there is none, -1 when
 * there is no memory. */
int64_t sqlfile_bytes(const char *path, const char *ending);

#endif
