/* store_internal.h - declarations shared by the store_*.c files and recover.c.
 *
 * Also for: recover.
 *
 * Visibility is decided in one place, batch.state. A pair is visible when its
 * batch is BATCH_DONE. A text is visible when the batch that created it (its
 * id >> 32) is done and the text is not hidden. A text is hidden when it has
 * lost its last visible pair while an unfinished import still refers to it.
 * For everybody else it is removed, and it never becomes visible again: the
 * import gets a new text when it ends. So an id that was removed once stays
 * removed. The table `hidden` lists these texts, because an index on the
 * column would slow down every insert.
 *
 * Invariants of the file, checked by store_check:
 *   - every pair has a text, and every text has a pair;
 *   - a visible text has a visible pair, and a hidden text has none;
 *   - two visible texts of a memory differ, unless it keeps duplicates;
 *   - pair ids and text ids are never used again.
 *
 * Invariants of a connection (struct store), checked by asserts:
 *   - `depth` counts the calls of store_begin and store_begin_read that still
 *     wait for their commit; it is 0 outside a transaction;
 *   - an import's chunk is open only while depth is 0: store_begin commits it
 *     first. So at most one transaction is open, and either `chunk` or `depth`
 *     says whose it is;
 *   - `view` (a read transaction) and `lost` (SQLite rolled the transaction
 *     back by itself) are set only inside a transaction, never both;
 *   - rows are inserted, changed and deleted only while store_in_write(). */
#ifndef TM_STORE_INTERNAL_H
#define TM_STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/invariant.h"
#include "base/sql.h"
#include "base/strbuf.h"
#include "tm/store.h"

enum {
    BATCH_OPEN = 0,             /* being imported, or its importer died */
    BATCH_DONE = 1,
    BATCH_DROPPED = 2           /* its memory was dropped; the rows are
                                   deleted later */
};

/* The version of the format of a memory file, in its user_version. */
#define STORE_VERSION 2
#define STORE_TO_STRING_(x) #x
#define STORE_TO_STRING(x) STORE_TO_STRING_(x)

/* ---- statements that stay prepared -------------------------------------- */

#define TEXT_OF_BATCH "t.id BETWEEN (b.id << 32) AND (b.id << 32 | 0xffffffff)"
#define PAIR_COLUMN_COUNT 17    /* of PAIR_COLUMNS */
#define PAIR_COLUMNS \
    "p.id, t.memory, p.text, t.source, t.target, t.tagged," \
    " ifnull(p.source_lang, m.source_lang)," \
    " ifnull(p.target_lang, m.target_lang), p.unit, p.document, p.author," \
    " ifnull(p.created, b.created)," \
    " coalesce(p.changed, p.created, b.created), p.extra," \
    " ifnull(p.origin, b.origin), p.position, t.hash"
#define PAIR_JOINS \
    " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1" \
    " CROSS JOIN text t ON t.id = p.text" \
    " CROSS JOIN memory m ON m.id = t.memory"

#define STORE_QUERIES(Q)                                                    \
    /* transactions */                                                      \
    Q(BEGIN, "BEGIN IMMEDIATE")                                             \
    Q(BEGIN_READ, "BEGIN")                                                  \
    Q(COMMIT, "COMMIT")                                                     \
    /* makes the commit write the first page; see sqlpage.h */              \
    Q(TOUCH, "PRAGMA user_version = " STORE_TO_STRING(STORE_VERSION))       \
    Q(ROLLBACK, "ROLLBACK")                                                 \
    Q(SAVE, "SAVEPOINT op")                                                 \
    Q(RELEASE, "RELEASE op")                                                \
    Q(UNDO, "ROLLBACK TO op")                                               \
    Q(SYNC_NORMAL, "PRAGMA synchronous = 1")                                \
    Q(SYNC_FULL, "PRAGMA synchronous = 2")                                  \
    Q(VERSION, "PRAGMA data_version")                                       \
    /* the head */                                                          \
    Q(UUID, "SELECT uuid FROM head")                                        \
    Q(PAIRS, "SELECT pairs FROM head")                                      \
    Q(PAIRS_SET, "UPDATE head SET pairs = ?")                               \
    Q(PAIR_ID, "UPDATE head SET pairs = pairs + 1 RETURNING pairs")         \
    Q(GENERATION,                                                           \
      "UPDATE head SET generations = generations + 1 RETURNING generations")\
    /* memories */                                                          \
    Q(MEMORY_ADD,                                                           \
      "INSERT INTO memory(name, source_lang, target_lang, priority,"        \
      " keep_duplicates, created, dropped) VALUES(?,?,?,?,?,?,0)"           \
      " RETURNING id")                                                      \
    Q(MEMORY, "SELECT id, name, source_lang, target_lang, priority,"        \
      " keep_duplicates, created FROM memory WHERE id = ? AND dropped = 0") \
    Q(MEMORIES, "SELECT id, name, source_lang, target_lang, priority,"      \
      " keep_duplicates, created FROM memory WHERE dropped = 0 ORDER BY id")\
    Q(MEMORY_NAMED, "SELECT id FROM memory WHERE name = ? AND dropped = 0") \
    Q(MEMORY_SET, "UPDATE memory SET name = ?2, source_lang = ?3,"          \
      " target_lang = ?4, priority = ?5 WHERE id = ?1")                     \
    Q(MEMORY_DROP, "UPDATE memory SET dropped = 1 WHERE id = ?")            \
    Q(MEMORY_DROP_BATCHES, "UPDATE batch SET state = 2 WHERE memory = ?")   \
    Q(MEMORY_DROPPED, "SELECT id FROM memory m WHERE dropped = 1 AND NOT"   \
      " EXISTS (SELECT 1 FROM batch WHERE memory = m.id) LIMIT 1")          \
    Q(MEMORY_DELETE, "DELETE FROM memory WHERE id = ?")                     \
    Q(COUNT_TEXTS, "SELECT count(*), sum(length(CAST(t.source AS BLOB))),"  \
      " sum(length(CAST(t.target AS BLOB))) FROM batch b CROSS JOIN text t" \
      " ON " TEXT_OF_BATCH " WHERE b.memory = ? AND b.state = 1"            \
      " AND t.hidden IS NULL")                                              \
    Q(COUNT_PAIRS, "SELECT count(*) FROM batch b CROSS JOIN pair p"         \
      " ON p.text BETWEEN (b.id << 32) AND (b.id << 32 | 0xffffffff)"       \
      " CROSS JOIN batch c ON c.id = p.batch"                               \
      " WHERE b.memory = ? AND b.state = 1 AND c.state = 1")                \
    /* texts and pairs */                                                   \
    Q(TEXT_FIND, "SELECT t.id, t.source, t.target FROM by_hash h"           \
      " CROSS JOIN text t ON t.id = h.text WHERE h.hash = ?"                \
      " AND t.memory = ? AND t.tagged = ? AND t.hidden IS NULL")            \
    Q(TEXT_ROW, "SELECT id, source, target FROM text WHERE id = ?"          \
      " AND tagged = ?")                                                    \
    Q(HASH_ADD, "INSERT INTO by_hash(hash, text) VALUES(?,?)")              \
    Q(HASH_DELETE, "DELETE FROM by_hash WHERE text = ?1 AND hash ="         \
      " (SELECT hash FROM text WHERE id = ?1)"                              \
      " AND NOT EXISTS (SELECT 1 FROM pair WHERE text = ?1)")               \
    Q(TEXT_ADD, "INSERT INTO text(id, memory, hash, tagged, source, target)"\
      " VALUES(?,?,?,?,?,?)")                                               \
    Q(TEXT_GET, "SELECT t.source, t.target, t.tagged, t.memory, t.hash"     \
      " FROM text t"                                                        \
      " CROSS JOIN batch b ON b.id = t.id >> 32 AND b.state = 1"            \
      " WHERE t.id = ? AND t.hidden IS NULL")                               \
    Q(TEXT_SEEN, "SELECT EXISTS (SELECT 1 FROM pair p CROSS JOIN batch b"   \
      " ON b.id = p.batch WHERE p.text = ? AND b.state = 1)")               \
    Q(TEXT_DELETE, "DELETE FROM text WHERE id = ?1 AND NOT EXISTS"          \
      " (SELECT 1 FROM pair WHERE text = ?1)")                              \
    Q(TEXT_HIDE, "UPDATE text SET hidden = 1 WHERE id = ?")                 \
    Q(HIDDEN_ADD, "INSERT INTO hidden(text) VALUES(?)")                     \
    Q(HIDDEN_CLEAN, "DELETE FROM hidden WHERE NOT EXISTS"                   \
      " (SELECT 1 FROM text WHERE id = hidden.text)")                       \
    Q(PAIR_ADD, "INSERT INTO pair(id, text, batch, position, document,"     \
      " unit, author, created, changed, source_lang, target_lang, extra,"   \
      " origin) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)")                         \
    /* for pairs without metadata, which most are */                        \
    Q(PAIR_ADD_PLAIN, "INSERT INTO pair(id, text, batch, position)"         \
      " VALUES(?,?,?,?)")                                                   \
    Q(PAIR_GET, "SELECT " PAIR_COLUMNS " FROM pair p" PAIR_JOINS            \
      " WHERE p.id = ?")                                                    \
    Q(PAIR_FIRST, "SELECT min(p.id), count(*) FROM pair p"                  \
      " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1"               \
      " WHERE p.text = ?")                                                  \
    Q(PAIR_CONFIRMED, "SELECT"                                              \
      " coalesce(p.changed, p.created, b.created) AS time, p.id, p.batch,"  \
      " count(*) OVER () FROM pair p"                                       \
      " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1"               \
      " WHERE p.text = ? ORDER BY time DESC, p.batch DESC, p.id LIMIT 1")   \
    Q(PAIR_TEXT, "SELECT p.text, b.memory FROM pair p"                      \
      " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1"               \
      " WHERE p.id = ?")                                                    \
    Q(PAIR_UNIT, "SELECT p.id FROM pair p"                                  \
      " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1"               \
      " WHERE p.unit = ?2 AND b.memory = ?1 AND p.id > ?3"                  \
      " ORDER BY p.id LIMIT 1")                                             \
    Q(UNIT_INDEX, "SELECT count(*) FROM sqlite_schema"                      \
      " WHERE type = 'index' AND name = 'pair_unit'")                       \
    Q(PAIR_DELETE, "DELETE FROM pair WHERE id = ?")                         \
    Q(PAIR_SET, "UPDATE pair SET text = ?2, changed = ?3,"                  \
      " source_lang = CASE WHEN ?4 THEN ?5 ELSE source_lang END,"           \
      " target_lang = CASE WHEN ?6 THEN ?7 ELSE target_lang END,"           \
      " unit = ifnull(?8, unit), document = ifnull(?9, document),"          \
      " author = ifnull(?10, author), extra = ifnull(?11, extra)"           \
      " WHERE id = ?1")                                                     \
    Q(PAIRS_MOVE, "UPDATE pair SET text = ?3 WHERE text = ?1 AND batch = ?2")\
    /* batches */                                                           \
    Q(BATCH_TEXTS, "SELECT EXISTS (SELECT 1 FROM batch WHERE memory = ?"    \
      " AND state = 1 AND texts > 0)")                                      \
    Q(BATCH_NEWEST, "SELECT id, import, state, texts FROM batch"            \
      " WHERE memory = ? ORDER BY id DESC LIMIT 1")                         \
    Q(BATCH_ADD, "INSERT INTO batch(memory, import, state, origin, created,"\
      " texts, first_pair) VALUES(?,?,?,?,?,0,"                             \
      " (SELECT pairs + 1 FROM head)) RETURNING id")                        \
    Q(BATCH_TEXT, "UPDATE batch SET texts = texts + 1 WHERE id = ?"         \
      " RETURNING texts")                                                   \
    Q(BATCH_STATE, "SELECT state, first_pair FROM batch WHERE id = ?")      \
    Q(BATCH_FINISH, "UPDATE batch SET state = 1, texts = ?2, finished = ?3" \
      " WHERE id = ?1")                                                     \
    Q(BATCH_EXTRA, "UPDATE batch SET format = ?2, extra = ?3"               \
      " WHERE id = ?1")                                                     \
    Q(BATCH_HEAD, "SELECT extra FROM batch WHERE memory = ? AND state = 1"  \
      " AND import = 1 AND format = ? AND extra IS NOT NULL"                \
      " ORDER BY finished DESC LIMIT 1")                                    \
    Q(BATCH_NOT_DONE, "SELECT id FROM batch WHERE state <> 1 AND id > ?"    \
      " ORDER BY id LIMIT 1")                                               \
    Q(BATCH_DELETE, "DELETE FROM batch WHERE id = ?")                       \
    /* the end of an import: equal texts that others added meanwhile, and   \
       texts that lost their last visible pair meanwhile */                 \
    Q(JOIN_EQUAL, "SELECT mine.id, t.id FROM batch b"                       \
      " CROSS JOIN text t ON " TEXT_OF_BATCH                                \
      " CROSS JOIN by_hash h ON h.hash = t.hash AND h.text"                 \
      " BETWEEN (?2 << 32) AND (?2 << 32 | 0xffffffff)"                     \
      " CROSS JOIN text mine ON mine.id = h.text"                           \
      " WHERE b.memory = ?1 AND b.state = 1"                                \
      " AND (b.id > ?2 OR b.finished > ?3) AND t.hidden IS NULL"            \
      " AND mine.tagged = t.tagged AND mine.source = t.source"              \
      " AND mine.target = t.target")                                        \
    Q(JOIN_HIDDEN, "SELECT t.id, t.hash, t.tagged, t.source, t.target"      \
      " FROM hidden h CROSS JOIN text t ON t.id = h.text"                   \
      " WHERE t.memory = ?1 AND EXISTS"                                     \
      " (SELECT 1 FROM pair WHERE text = t.id AND batch = ?2) LIMIT 1")     \
    /* deleting the rows of dead imports and dropped memories, in steps */  \
    Q(WIPE_PAIRS, "DELETE FROM pair WHERE id BETWEEN ?1 AND ?2"             \
      " AND batch = ?3")                                                    \
    Q(WIPE_HIDDEN_HASHES, "DELETE FROM by_hash WHERE (hash, text) IN"       \
      " (SELECT hash, id FROM text WHERE id IN (SELECT text FROM hidden)"   \
      " AND NOT EXISTS (SELECT 1 FROM pair WHERE text = text.id))")         \
    Q(WIPE_HIDDEN, "DELETE FROM text WHERE id IN (SELECT text FROM hidden)" \
      " AND NOT EXISTS (SELECT 1 FROM pair WHERE text = text.id)")          \
    Q(WIPE_PAIRS_OF, "DELETE FROM pair WHERE text IN (SELECT id FROM text"  \
      " WHERE id BETWEEN (?1 << 32) AND (?1 << 32 | 0xffffffff)"            \
      " ORDER BY id LIMIT ?2)")                                             \
    Q(WIPE_HASHES, "DELETE FROM by_hash WHERE (hash, text) IN"              \
      " (SELECT hash, id FROM text"                                         \
      " WHERE id BETWEEN (?1 << 32) AND (?1 << 32 | 0xffffffff)"            \
      " ORDER BY id LIMIT ?2)")                                             \
    Q(WIPE_TEXTS, "DELETE FROM text WHERE id IN (SELECT id FROM text"       \
      " WHERE id BETWEEN (?1 << 32) AND (?1 << 32 | 0xffffffff)"            \
      " ORDER BY id LIMIT ?2)")                                             \
    Q(WIPE_CHANGES, "DELETE FROM change WHERE seq IN (SELECT seq FROM"      \
      " change WHERE memory = ?1 ORDER BY seq LIMIT ?2)")                   \
    /* the change log */                                                    \
    Q(CHANGE_ADD, "INSERT INTO change(memory, kind, first, last)"           \
      " VALUES(?,0,?,?) RETURNING seq")                                     \
    Q(CHANGE_REMOVE,                                                        \
      "INSERT INTO change(memory, kind, first, last, source, tagged)"       \
      " SELECT memory, 1, id, id, source, tagged FROM text WHERE id = ?")   \
    Q(CHANGE_TOP, "SELECT seq FROM sqlite_sequence WHERE name = 'change'")  \
    Q(CHANGE_LAST, "SELECT max("                                            \
      " (SELECT ifnull(max(seq), 0) FROM change WHERE memory = ?1),"        \
      " (SELECT ifnull(max(max(seq, clean)), 0) FROM manifest"              \
      " WHERE memory = ?1))")                                               \
    Q(CHANGES, "SELECT seq, kind, first, last, source, tagged FROM change"  \
      " WHERE memory = ?1 AND seq > min(?2, ?3)"                            \
      " AND seq > CASE kind WHEN 0 THEN ?2 ELSE ?3 END ORDER BY seq")       \
    Q(CHANGE_TEXTS, "SELECT t.id, t.source, t.target, t.tagged, t.memory,"  \
      " t.hash FROM text t"                                                 \
      " CROSS JOIN batch b ON b.id = t.id >> 32 AND b.state = 1"            \
      " WHERE t.id BETWEEN ? AND ? AND t.hidden IS NULL ORDER BY t.id")     \
    Q(LOG_START, "SELECT ifnull(max(min(seq), min(clean)), 0) FROM manifest"\
      " WHERE memory = ?")                                                  \
    Q(CHANGE_COUNT, "SELECT ifnull(sum(last - first + 1), 0) FROM change"   \
      " WHERE memory = ? AND seq > ? AND kind = 0")                         \
    Q(SCAN, "SELECT t.id, t.source, t.target, t.tagged, t.memory, t.hash"   \
      " FROM batch b CROSS JOIN text t ON " TEXT_OF_BATCH                   \
      " WHERE b.memory = ? AND b.state = 1 AND t.hidden IS NULL"            \
      " ORDER BY b.id, t.id")                                               \
    /* the manifests of the index */                                        \
    Q(MANIFEST, "SELECT generation, seq, clean FROM manifest"               \
      " WHERE memory = ? AND analyzer = ?")                                 \
    Q(MANIFEST_SEGMENTS, "SELECT number, docs, checksum FROM segment"       \
      " WHERE memory = ? AND analyzer = ? ORDER BY place")                  \
    Q(MANIFEST_SET, "INSERT OR REPLACE INTO manifest(memory, analyzer,"     \
      " generation, seq, clean) VALUES(?,?,?,?,?)")                         \
    Q(MANIFEST_DELETE, "DELETE FROM manifest WHERE memory = ?"              \
      " AND analyzer = ?")                                                  \
    Q(MANIFEST_DROP, "DELETE FROM manifest WHERE memory = ?")               \
    Q(SEGMENT_ADD, "INSERT INTO segment(memory, analyzer, place, number,"   \
      " docs, checksum) VALUES(?,?,?,?,?,?)")                               \
    Q(SEGMENT_DELETE, "DELETE FROM segment WHERE memory = ?"                \
      " AND analyzer = ?")                                                  \
    Q(SEGMENT_DROP, "DELETE FROM segment WHERE memory = ?")                 \
    Q(SEGMENT_LIST, "SELECT number FROM segment")                           \
    Q(SEGMENT_ROWS, "SELECT number, docs, checksum, memory, analyzer"       \
      " FROM segment ORDER BY memory, analyzer, place")                     \
    Q(LAGGARD, "SELECT o.analyzer FROM manifest o JOIN manifest w"          \
      " ON w.memory = o.memory WHERE w.memory = ?1 AND w.analyzer = ?2"     \
      " AND o.analyzer <> ?2 AND (o.seq < w.seq OR o.clean < w.clean)"      \
      " AND ?3 < (SELECT count(*) FROM (SELECT 1 FROM change c"             \
      " WHERE c.memory = ?1 AND c.seq <= max(w.seq, w.clean)"               \
      " AND CASE c.kind WHEN 0 THEN c.seq > o.seq AND c.seq <= w.seq"       \
      " ELSE c.seq > o.clean AND c.seq <= w.clean END LIMIT ?3 + 1))"       \
      " LIMIT 1")                                                           \
    Q(TRIM, "DELETE FROM change WHERE memory = ?1"                          \
      " AND seq <= (SELECT max(min(seq), min(clean)) FROM manifest"         \
      " WHERE memory = ?1) AND seq <= CASE kind"                            \
      " WHEN 0 THEN (SELECT min(seq) FROM manifest WHERE memory = ?1)"      \
      " ELSE (SELECT min(clean) FROM manifest WHERE memory = ?1) END")

enum query {
#define Q(name, sql) Q_##name,
    STORE_QUERIES(Q)
#undef Q
    Q_COUNT
};

/* Identifies a version of a file that is read without locks: when any of
 * these differs, somebody has written to the file. */
struct file_look {
    uint64_t inode;
    int64_t size, seconds, nanoseconds;
    int64_t log;                /* bytes of the write-ahead log */
};

struct store {
    sqlite3 *db;
    char *path;                 /* as the caller gave it */
    char *name;                 /* given to SQLite: the path, or a URI */
    bool immutable;             /* name is a URI: read without locks */
    bool reopen;                /* reopening failed; the next call retries */
    struct file_look last_look; /* when immutable */
    bool writable;
    bool has_sums;              /* the file's pages have checksums */
    bool relaxed;
    uint64_t uuid;

    int sync;                   /* PRAGMA synchronous of the connection: 1, 2;
                                   0: not set yet */
    int depth;                  /* of nested transactions; 0: none is open */
    bool view;                  /* the transaction is for reading */
    bool lost;                  /* SQLite rolled the transaction back */
    uint32_t rollbacks;
    int64_t changes_before;     /* sqlite3_total_changes when it began */

    struct store_import *imports;       /* that run on this connection */
    struct store_import *chunk; /* the one with a transaction open, or NULL */
    int chunk_rows;             /* commit a chunk at this size; tests make
                                   both small */
    size_t chunk_bytes;
    int wipe_rows;              /* deleted in one transaction */
    double wipe_until;          /* stop deleting at this time; 0: no limit */
    int64_t max_log;            /* changes kept for an index that lags */

    sqlite3_stmt *stmt[Q_COUNT];
    struct strbuf text_buf, pair_buf, extra_buf;    /* strings that callers
                                   were given */
};

/* ---- store.c ------------------------------------------------------------ */

/* Whether the transaction fields obey the invariants above. */
bool store_sound(const struct store *s);
/* Whether a write transaction is open, so that rows may be changed. */
static inline bool store_in_write(const struct store *s)
{
    return s->writable && (s->chunk || (s->depth > 0 && !s->view));
}

/* Translates a result code of SQLite to a status with a message. */
enum status store_error(sqlite3 *db, const char *path, int rc, struct err *e);
/* "PATH: the file is damaged (why); what to do about it". */
enum status store_damaged(const char *path, const char *why, struct err *e);
/* Creates an empty database file; see sqlfile_make. */
int store_make_file(const char *path, sqlite3 **db);

/* Runs statement q to its end with these values (base/sql.h). */
enum status query_run(struct store *s, enum query q, struct sql_values values,
                      struct err *e);
/* Runs statement q up to its first row. The columns are in s->stmt[q] until
 * query_next or query_end. When *found is false, or after an error, the
 * statement has ended already and query_end is not needed. */
enum status query_first(struct store *s, enum query q,
                        struct sql_values values, bool *found, struct err *e);
enum status query_next(struct store *s, enum query q, bool *found,
                       struct err *e);
void query_end(struct store *s, enum query q);
/* The first column of the only row; 0 when there is no row. */
enum status query_int(struct store *s, enum query q, struct sql_values values,
                      int64_t *value, struct err *e);
struct str column_str(sqlite3_stmt *st, int column);    /* NULL: empty */

const char *store_sql(enum query q);

/* Sets PRAGMA synchronous. 1 (NORMAL): a commit does not wait until the log is
 * on the disk; 2 (FULL): it does. Call only outside transactions. */
enum status set_sync(struct store *s, int level, struct err *e);

/* Begin and commit a transaction that writes. They do not touch `depth`. */
enum status write_begin(struct store *s, struct err *e);
enum status write_commit(struct store *s, struct err *e);

/* An operation of several statements: a transaction, or a savepoint when one
 * is open already. op_end commits it when st is ST_OK and undoes it otherwise.
 * It returns st, or the error of the commit. */
enum status op_begin(struct store *s, struct err *e);
enum status op_end(struct store *s, enum status st, struct err *e);

/* Opens another connection to the same file, for reading. */
enum status store_connect_again(const struct store *s, sqlite3 **db,
                                struct err *e);
int64_t now_seconds(void);      /* since 1970 */
double now_exact(void);         /* the same with a fraction */
uint64_t new_uuid(void);        /* random, never 0 */
/* Creates a file in one step: `fill` writes it under a temporary name and
 * leaves nothing in its log. An existing file is not replaced: the result is
 * ST_OK with *existed true. */
typedef enum status fill_fn(void *user, const char *temp, struct err *e);
enum status file_create_new(const char *path, fill_fn *fill, void *user,
                            bool *existed, struct err *e);
/* Copies the log into the file as far as readers allow, without waiting for
 * them, and truncates it. */
void store_checkpoint(struct store *s);
/* Copies the whole log into the file and truncates it. It is an error when a
 * reader or the disk prevents that. */
enum status store_checkpoint_all(struct store *s, struct err *e);

/* ---- store_memory.c ----------------------------------------------------- */

/* ST_ARGUMENT when the memory does not exist or was dropped. */
enum status memory_get(struct store *s, int64_t id, struct memory_info *out,
                       struct err *e);

/* ---- store_pairs.c ------------------------------------------------------ */

/* ST_TEXT when a source or target is empty, or any string of the unit is not
 * valid UTF-8 or contains a NUL. */
enum status unit_check(const struct unit *u, struct err *e);
/* unit_check for a pair that is about to be stored. In addition its texts and
 * metadata may have at most UNIT_TEXT_MAX bytes each (ST_LIMIT). A memory may
 * hold longer texts that were stored before this limit existed; those stay
 * readable. */
enum status unit_accept(const struct unit *u, struct err *e);
int64_t text_hash(int64_t memory, const struct unit *u);
/* Whether the text of a row matches its hash. From column `source` on, the row
 * has: source, target, tagged, memory, hash. */
bool text_row_sound(sqlite3_stmt *row, int source);
/* Sets an error that names a pair of the damaged text. */
enum status report_damaged_text(struct store *s, int64_t text, struct err *e);
/* Finds the text equal to u that is visible or was created by the batch
 * current_batch; *id is 0 when there is none. */
enum status text_find(struct store *s, int64_t memory, const struct unit *u,
                      int64_t hash, int64_t current_batch, int64_t *id,
                      struct err *e);
enum status text_insert(struct store *s, int64_t id, int64_t memory,
                        const struct unit *u, int64_t hash, struct err *e);
/* Whether the text with this id equals that of the unit. */
enum status text_equals(struct store *s, int64_t id, const struct unit *u,
                        bool *equal, struct err *e);
enum status hash_insert(struct store *s, int64_t hash, int64_t text,
                        struct err *e);
/* Deletes the text unless a pair refers to it. sqlite3_changes says whether it
 * was deleted. */
enum status text_delete(struct store *s, int64_t text, struct err *e);
/* What pair_insert needs beside the unit. A time of the unit that equals
 * batch_created is not stored. `now` replaces times that the unit does not
 * have; when it is 0, those of the batch count. */
struct pair_row {
    int64_t id, text, batch, position, batch_created;
    double now;
    const char *origin;         /* NULL: that of the batch */
};
enum status pair_insert(struct store *s, const struct pair_row *r,
                        const struct memory_info *m, const struct unit *u,
                        struct err *e);

/* ---- store_import.c ----------------------------------------------------- */

/* Commits the open chunk of an import, if there is one, so that other writers
 * can go on. Afterwards no chunk is open, also when it failed. */
enum status chunk_settle(struct store *s, struct err *e);
/* Marks imports as failed whose last transaction was rolled back. */
void imports_rolled_back(struct store *s);
/* Takes the lock of a batch. Returns a file descriptor, which the caller
 * closes to release the lock, or -1 when somebody else holds it or the lock
 * file cannot be opened. Call inside a write transaction. */
int batch_lock(struct store *s, int64_t batch);
/* Removes the lock file when no batch needs it. */
void lock_file_drop(struct store *s);

/* ---- store_maintain.c --------------------------------------------------- */

/* How long a sweep may take: when a file is opened, and otherwise. */
#define SWEEP_OPEN_SECONDS 0.5
#define SWEEP_SECONDS 2.0
/* Deletes the rows of a batch that is not done, in small transactions, and
 * stops after about `seconds` (0: when all are deleted). The caller holds the
 * lock of the batch. */
enum status batch_wipe(struct store *s, int64_t batch, double seconds,
                       struct err *e);
/* Deletes batches whose importer died and memories that were dropped. */
enum status store_sweep(struct store *s, double seconds, struct err *e);

#endif
