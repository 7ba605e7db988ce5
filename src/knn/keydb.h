/* keydb.h - the database in a file of keys: made, opened, spoken to.
 *
 * For keyfile.c alone. A struct keydb is one connection, used by one thread at
 * a time. What talks to SQLite returns its codes (SQLITE_OK is zero);
 * keydb_failed makes a status and a sentence of them. */
#ifndef KNN_KEYDB_H
#define KNN_KEYDB_H

#include <sqlite3.h>
#include <stdbool.h>

#include "knn/keyfile.h"

#define KEYDB_QUERIES(Q)                                                    \
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

enum keydb_query {
#define Q(name, sql) KEYDB_##name,
    KEYDB_QUERIES(Q)
#undef Q
    KEYDB_N_QUERIES
};

struct keydb {
    char *path;                 /* as the caller gave it */
    struct keyfile_kind kind;
    bool read_only;             /* found out by keydb_open */
    bool remade;                /* by keydb_open: it was of an old version */
    sqlite3 *sql;
    sqlite3_stmt *stmt[KEYDB_N_QUERIES];
};

/* After an error there is nothing to close, though it does no harm. */
enum status keydb_open(struct keydb *db, const char *path,
                       const struct keyfile_kind *kind, struct err *e);
void keydb_close(struct keydb *db);

enum status keydb_failed(struct keydb *db, int rc, struct err *e);

/* The first row of a statement: SQLITE_ROW, and its columns are in db->stmt[q]
 * until keydb_rest; SQLITE_DONE when there is none; or an error. types has a
 * letter for each value: i int64_t, k struct key_id, b const void * and size_t
 * (read while the statement runs). */
int keydb_first(struct keydb *db, enum keydb_query q, const char *types, ...);
/* The statement to its end, rc being what was said last; SQLITE_OK or an
 * error. */
int keydb_rest(struct keydb *db, enum keydb_query q, int rc);
/* An id in a column of the row it is at; the column must have its size. */
struct key_id keydb_id(sqlite3_stmt *row, int column);
/* The only number a statement without values gives; 0 where it gives none. */
int keydb_number(struct keydb *db, enum keydb_query q, int64_t *n);
/* Both, when no row is of interest. */
int keydb_run(struct keydb *db, enum keydb_query q, const char *types, ...);
void keydb_undo(struct keydb *db);      /* the transaction, if there is one */

void keydb_wait(struct keydb *db, int ms);      /* for others; 10 s at first */
/* Overwrite what is deleted? Not between begin and commit. */
void keydb_wipe(struct keydb *db, bool on);

#endif
