/* key_file_sql.h - the database in a file of keys: made, opened, spoken to.
 *
 * For key_file.c alone. A struct key_file_sql is one connection, used by one thread at
 * a time. What talks to SQLite returns its codes (SQLITE_OK is zero);
 * key_file_sql_failed makes a status and a sentence of them. */
#ifndef KNN_KEY_FILE_SQL_H
#define KNN_KEY_FILE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "knn/key_file.h"

#define KEY_FILE_SQL_QUERIES(Q)                                                    \
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
    char *path;                 /* as the caller gave it */
    struct key_file_kind kind;
    bool read_only;             /* found out by key_file_sql_open */
    bool remade;                /* by key_file_sql_open: it was of an old version */
    sqlite3 *sql;
    sqlite3_stmt *stmt[KEY_FILE_SQL_N_QUERIES];
};

/* After an error there is nothing to close, though it does no harm. */
enum status key_file_sql_open(struct key_file_sql *db, const char *path,
                              const struct key_file_kind *kind, struct err *e);
void key_file_sql_close(struct key_file_sql *db);

enum status key_file_sql_failed(struct key_file_sql *db, int rc, struct err *e);

/* The first row of a statement: SQLITE_ROW, and its columns are in db->stmt[q]
 * until key_file_sql_rest; SQLITE_DONE when there is none; or an error. types has a
 * letter for each value: i int64_t, k struct key_id, b const void * and size_t
 * (read while the statement runs). */
int key_file_sql_first(struct key_file_sql *db, enum key_file_sql_query q,
                       const char *types, ...);
/* The statement to its end, rc being what was said last; SQLITE_OK or an
 * error. */
int key_file_sql_rest(struct key_file_sql *db, enum key_file_sql_query q,
                      int rc);
/* An id in a column of the row it is at; the column must have its size. */
struct key_id key_file_sql_id(sqlite3_stmt *row, int column);
/* The only number a statement without values gives; 0 where it gives none. */
int key_file_sql_number(struct key_file_sql *db, enum key_file_sql_query q,
                        int64_t *n);
/* Both, when no row is of interest. */
int key_file_sql_run(struct key_file_sql *db, enum key_file_sql_query q,
                     const char *types, ...);
void key_file_sql_undo(struct key_file_sql *db);  /* the transaction, if there is one */

void key_file_sql_wait(struct key_file_sql *db, int ms);  /* for others; 10 s at first */
/* Overwrite what is deleted? Not between begin and commit. */
void key_file_sql_wipe(struct key_file_sql *db, bool on);

#endif
