/* sqlfile.h - the files of skmt that are SQLite databases.
 *
 * A file is recognized by its application id before SQLite touches it. The
 * connection is configured so that code in the file (triggers, views) never
 * runs. SQLite's errors become messages for the user.
 *
 * Functions that return int return SQLite's result codes (SQLITE_OK is 0). */
#ifndef BASE_SQLFILE_H
#define BASE_SQLFILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sqlfile_kind {
    const char *not_ours;       /* message for a file of another kind: "not a
                                   translation memory" */
    const char *mend;           /* advice for a damaged file: "restore it" */
    uint32_t application_id;    /* not 0 */
    uint32_t version;           /* the newest schema we support, from 1 */
    int busy_ms;                /* how long to wait for a lock */
    uint32_t sums_from;         /* files of this version and later have page
                                   checksums (sqlpage.h); 0: none has */
};

/* Turn the result code of a failed call into a status and a message. db may be
 * NULL. */
enum status sqlfile_error(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, int rc, struct err *e);
enum status sqlfile_damaged(const struct sqlfile_kind *k, const char *path,
                            const char *why, struct err *e);

/* The path in a form that SQLite takes for a file name even if it starts with
 * "file:" or is ":memory:". The caller frees it. NULL means out of memory. */
char *sqlfile_name(const char *path);
/* Open a file for writing by one thread; create it if it does not exist. The
 * caller must close *db even after an error. */
int sqlfile_make(const struct sqlfile_kind *k, const char *path,
                 sqlite3 **db);
/* The VFS that files of this kind are opened with; NULL: SQLite's own. */
const char *sqlfile_vfs(const struct sqlfile_kind *k);

/* Check the application id and the version in the first 100 bytes, before
 * SQLite does anything with the file: a database of another program is not even
 * locked. With may_be_new, an empty file is accepted. (SQLite reports the size
 * of a file of one byte as 0.) */
enum status sqlfile_check(const struct sqlfile_kind *k, sqlite3 *db,
                          const char *path, bool may_be_new, struct err *e);

/* Whether the pages of the file have checksums. Call sqlfile_check first. */
bool sqlfile_has_sums(sqlite3 *db);

/* Check that the file is as long as its header says. It is an error (ST_FORMAT)
 * only when pages are certainly missing: neither in the file nor in the log. */
enum status sqlfile_check_size(const struct sqlfile_kind *k, sqlite3 *db,
                               const char *path, struct err *e);

/* Configure a connection: waiting time for locks, and settings that treat the
 * schema in the file as untrusted. */
int sqlfile_configure(const struct sqlfile_kind *k, sqlite3 *db);
/* Switch the file to a write-ahead log (WAL), which is copied back when it has
 * `pages` pages of page_bytes each. */
int sqlfile_use_log(const struct sqlfile_kind *k, sqlite3 *db, int pages,
                    int page_bytes);
/* Run the statements that sqlite3_mprintf() makes of the arguments. The format
 * has only conversions of printf, so that the compiler can check them. */
__attribute__((format(printf, 2, 3)))
int sqlfile_exec(sqlite3 *db, const char *format, ...);

/* In a folder that cannot be written, SQLite 3.40 cannot read a database that
 * was in WAL mode, because it cannot create the -shm file there.
 * sqlfile_lacks_shm() says whether this is why the last call failed (no
 * permission, or no space). sqlfile_immutable() then gives a URI under which
 * the file can be read without locks; the caller frees it. This is an error if
 * there is a -wal file, because the database file alone is then incomplete. */
bool sqlfile_lacks_shm(sqlite3 *db);
enum status sqlfile_immutable(const char *path, char **name, struct err *e);

/* Size of the file path + ending (such as "-wal"); 0 if it does not exist, -1
 * when out of memory. */
int64_t sqlfile_bytes(const char *path, const char *ending);

#endif
