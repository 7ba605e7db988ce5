/* key_file_sql.h - the SQLite database of a key file: opening it and running
 * statements.
 *
 * Only key_file.c uses this. A struct key_file_sql is one connection, used by
 * one thread at a time. Functions that return int return a SQLite result code
 * (SQLITE_OK is 0); key_file_sql_failed turns it into a status and a message.
 */
#ifndef KNN_KEY_FILE_SQL_H
#define KNN_KEY_FILE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/sql.h"
#include "knn/key_file.h"

#define KEY_FILE_SQL_QUERIES(Q)                                             \
    Q(BEGIN, "BEGIN IMMEDIATE")                                             \
    Q(COMMIT, "COMMIT")                                                     \
    Q(ROLLBACK, "ROLLBACK")                                                 \
    Q(PAGES, "PRAGMA page_count")                                           \
    Q(TABLES, "SELECT count(*) FROM sqlite_schema")                         \
    Q(VERSION, "PRAGMA user_version")                                       \
    Q(FREE_PAGES, "PRAGMA freelist_count")                                  \
    Q(SHRINK, "PRAGMA incremental_vacuum(1024)")                            \
    Q(CHECKPOINT, "PRAGMA wal_checkpoint(PASSIVE)")                         \
    Q(HEAD, "SELECT maker, type, d FROM head")                              \
    Q(TOTALS, "SELECT blocks, keys, (SELECT max(used) FROM block)"          \
      " FROM head")                                                         \
    Q(COUNT, "SELECT count(*), sum(iif(n BETWEEN 0 AND 536870912, n, 0)),"  \
      " max(used) FROM block")                                              \
    Q(SET_TOTALS, "UPDATE head SET blocks = ?, keys = ?")                   \
    Q(GET, "SELECT b.n, k.sum, k.bytes FROM block b LEFT JOIN keys k"       \
      " ON k.place = b.place WHERE b.id = ?")                               \
    Q(LIST, "SELECT id FROM block WHERE id > ?1 AND length(id) = 16"        \
      " ORDER BY id LIMIT ?2")                                              \
    Q(USE, "UPDATE block SET used = ?2 WHERE id = ?1")                      \
    Q(ADD_KEYS, "INSERT INTO keys(sum, bytes) VALUES(?,?)")                 \
    Q(ADD, "INSERT INTO block(id, place, n, used) VALUES(?,?,?,?)")         \
    Q(REMOVE, "DELETE FROM block WHERE id = ? RETURNING place, n")          \
    Q(REMOVE_KEYS, "DELETE FROM keys WHERE place = ?")                      \
    Q(OLDEST, "SELECT min(used) FROM block")                                \
    Q(REMOVE_OLDEST, "DELETE FROM block WHERE id = (SELECT id FROM block"   \
      " ORDER BY used LIMIT 1) RETURNING place, n")

enum key_file_sql_query {
#define Q(name, sql) KEY_FILE_SQL_##name,
    KEY_FILE_SQL_QUERIES(Q)
#undef Q
    KEY_FILE_SQL_N_QUERIES
};

struct key_file_sql {
    char *path;                 /* as given by the caller */
    struct key_file_kind kind;
    bool read_only;             /* set by key_file_sql_open */
    bool remade;                /* set by key_file_sql_open: the file had an
                                   older version */
    sqlite3 *sql;
    sqlite3_stmt *stmt[KEY_FILE_SQL_N_QUERIES];  /* NULL until first used */
};

/* Open or create the file. After an error it is closed; closing it again is
 * harmless. */
enum status key_file_sql_open(struct key_file_sql *db, const char *path,
                              const struct key_file_kind *kind, struct err *e);
void key_file_sql_close(struct key_file_sql *db);

/* Turn the result code rc of the last call into a status and a message. */
enum status key_file_sql_failed(struct key_file_sql *db, int rc, struct err *e);

/* Run a statement up to its first row. Returns SQLITE_ROW, and the columns can
 * be read from db->stmt[q] until key_file_sql_rest; SQLITE_DONE when there is
 * no row; or an error. */
int key_file_sql_first(struct key_file_sql *db, enum key_file_sql_query q,
                       struct sql_values values);
/* Run a statement to its end after key_file_sql_first returned rc. Returns
 * SQLITE_OK or an error. */
int key_file_sql_rest(struct key_file_sql *db, enum key_file_sql_query q,
                      int rc);
/* An id as the value of a parameter. */
struct sql_value key_file_sql_key(struct key_id id);
/* Read an id from a column of the current row, which must have 16 bytes. */
struct key_id key_file_sql_id(sqlite3_stmt *row, int column);
/* Run a statement without parameters and read the number that it returns; 0
 * when it returns no row. */
int key_file_sql_number(struct key_file_sql *db, enum key_file_sql_query q,
                        int64_t *n);
/* Run a whole statement and ignore its rows. */
int key_file_sql_run(struct key_file_sql *db, enum key_file_sql_query q,
                     struct sql_values values);
/* Roll back the transaction, if one is open. */
void key_file_sql_undo(struct key_file_sql *db);

/* Set how long to wait for the lock of another process. It is 10 s at first. */
void key_file_sql_wait(struct key_file_sql *db, int ms);
/* Set whether deleted data is overwritten. Not inside a transaction. */
void key_file_sql_wipe(struct key_file_sql *db, bool on);

#endif
