/* store_index.c - the part of the store that serves the index: the change log
 * and the manifests. It knows nothing about the contents of index files.
 *
 * The change log has one row for each text that was added or removed on its
 * own, and one row for a whole import. Rows are deleted when the manifests of
 * all analyzers of the memory have passed them; while a memory has no
 * manifest, nothing is deleted. An index with a manifest sees from a new
 * generation that rows it needs may have been deleted. An index without a
 * manifest (one in memory, or of few texts) asks store_log_start.
 *
 * Invariants: change numbers and generations only grow and are never used
 * again. A manifest and its segment rows change in one write transaction,
 * together with the rows of the log that it makes unnecessary. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tm/store_internal.h"

bool store_inside(const struct store *s)
{
    return s->depth > 0;
}

enum status store_last_change(struct store *s, int64_t memory, int64_t *seq,
                              struct err *e)
{
    return query_int(s, Q_CHANGE_LAST, SQL(memory), seq, e);
}

enum status store_log_start(struct store *s, int64_t memory, int64_t *seq,
                            struct err *e)
{
    return query_int(s, Q_LOG_START, SQL(memory), seq, e);
}

/* ---- changes ------------------------------------------------------------- */

/* Calls fn with an add for each row of a query that has the columns id,
 * source, target, tagged, memory, hash. */
static enum status report_adds(struct store *s, enum query q, bool found,
                               int64_t seq, change_fn *fn, void *user,
                               struct err *e)
{
    sqlite3_stmt *row = s->stmt[q];
    enum status st = ST_OK;

    assert(sqlite3_column_count(row) == 6);
    while (!st && found) {
        struct change c = { .kind = CHANGE_ADD, .seq = seq,
                            .text = sqlite3_column_int64(row, 0),
                            .source = column_str(row, 1),
                            .tagged = sqlite3_column_int(row, 3) != 0 };
        if (!text_row_sound(row, 1)) {
            query_end(s, q);
            return report_damaged_text(s, c.text, e);
        }
        if (fn(user, &c)) {
            query_end(s, q);
            return ST_CANCELED;
        }
        st = query_next(s, q, &found, e);
    }
    return st;
}

static enum status report_change(struct store *s, sqlite3_stmt *row,
                                 change_fn *fn, void *user, struct err *e)
{
    bool found;
    enum status st;
    struct change c = { .kind = CHANGE_REMOVE,
                        .seq = sqlite3_column_int64(row, 0),
                        .text = sqlite3_column_int64(row, 2),
                        .source = column_str(row, 4),
                        .tagged = sqlite3_column_int(row, 5) != 0 };

    assert(sqlite3_column_count(row) == 6);
    if (sqlite3_column_int(row, 1) == CHANGE_ADD) {
        st = query_first(s, Q_CHANGE_TEXTS,
                         SQL(c.text, sqlite3_column_int64(row, 3)), &found, e);
        return st ? st : report_adds(s, Q_CHANGE_TEXTS, found, c.seq, fn, user,
                                     e);
    }
    return fn(user, &c) ? ST_CANCELED : ST_OK;
}

enum status store_changes(struct store *s, int64_t memory, int64_t adds_after,
                          int64_t removes_after, change_fn *fn, void *user,
                          struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_CHANGES,
                                 SQL(memory, adds_after, removes_after), &found,
                                 e);

    while (!st && found) {
        st = report_change(s, s->stmt[Q_CHANGES], fn, user, e);
        if (st) query_end(s, Q_CHANGES);
        else st = query_next(s, Q_CHANGES, &found, e);
    }
    return st;
}

enum status store_count_adds(struct store *s, int64_t memory,
                             int64_t adds_after, int64_t *n, struct err *e)
{
    return query_int(s, Q_CHANGE_COUNT, SQL(memory, adds_after), n, e);
}

enum status store_scan(struct store *s, int64_t memory, change_fn *fn,
                       void *user, struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_SCAN, SQL(memory), &found, e);

    return st ? st : report_adds(s, Q_SCAN, found, 0, fn, user, e);
}

/* ---- manifests ----------------------------------------------------------- */

void manifest_release(struct manifest *m)
{
    free(m->segments);
    memset(m, 0, sizeof *m);
}

static enum status read_manifest_row(struct store *s, int64_t memory,
                                     uint64_t analyzer, struct manifest *m,
                                     struct err *e)
{
    sqlite3_stmt *row;
    bool found;
    enum status st = query_first(s, Q_MANIFEST, SQL(memory, analyzer), &found,
                                 e);

    memset(m, 0, sizeof *m);
    if (st || !found) return st;
    row = s->stmt[Q_MANIFEST];
    m->generation = sqlite3_column_int64(row, 0);
    m->seq = sqlite3_column_int64(row, 1);
    m->clean = sqlite3_column_int64(row, 2);
    query_end(s, Q_MANIFEST);
    return ST_OK;
}

static enum status read_segments(struct store *s, int64_t memory,
                                 uint64_t analyzer, struct manifest *m,
                                 struct err *e)
{
    sqlite3_stmt *row;
    size_t cap = 0;
    bool found;
    enum status st = query_first(s, Q_MANIFEST_SEGMENTS, SQL(memory, analyzer),
                                 &found, e);

    while (!st && found) {
        row = s->stmt[Q_MANIFEST_SEGMENTS];
        if (!mem_grow(&m->segments, &cap, m->n_segments + 1,
                      sizeof *m->segments)) {
            query_end(s, Q_MANIFEST_SEGMENTS);
            return err_nomem(e, "manifest");
        }
        m->segments[m->n_segments++] = (struct segment_row){
            .number = sqlite3_column_int64(row, 0),
            .docs = sqlite3_column_int64(row, 1),
            .checksum = (uint64_t)sqlite3_column_int64(row, 2) };
        st = query_next(s, Q_MANIFEST_SEGMENTS, &found, e);
    }
    return st;
}

enum status manifest_read(struct store *s, int64_t memory, uint64_t analyzer,
                          struct manifest *out, struct err *e)
{
    enum status st, end;

    memset(out, 0, sizeof *out);
    st = store_begin_read(s, e);
    if (st) return st;
    st = read_manifest_row(s, memory, analyzer, out, e);
    if (!st) st = read_segments(s, memory, analyzer, out, e);
    end = store_commit(s, st ? NULL : e);
    if (!st) st = end;
    if (st) manifest_release(out);
    return st;
}

enum status manifest_generation(struct store *s, int64_t memory,
                                uint64_t analyzer, int64_t *generation,
                                struct err *e)
{
    return query_int(s, Q_MANIFEST, SQL(memory, analyzer), generation, e);
}

static enum status write_segments(struct store *s, int64_t memory,
                                  uint64_t analyzer, const struct manifest *m,
                                  struct err *e)
{
    enum status st = query_run(s, Q_SEGMENT_DELETE, SQL(memory, analyzer), e);

    assert(store_in_write(s) && (m->segments || !m->n_segments));
    for (size_t i = 0; !st && i < m->n_segments; i++)
        st = query_run(s, Q_SEGMENT_ADD,
                       SQL(memory, analyzer, i, m->segments[i].number,
                           m->segments[i].docs, m->segments[i].checksum), e);
    return st;
}

/* Deletes the rows of the log that all manifests have passed. An index that
 * nobody uses any more must not keep the log forever: when it is more than
 * max_log rows behind, its manifest is deleted instead, and the index is built
 * again when it is next used. */
static enum status trim_log(struct store *s, int64_t memory,
                            uint64_t analyzer, struct err *e)
{
    sqlite3_stmt *row;
    int64_t laggard;
    bool found = true;
    enum status st = ST_OK;

    assert(store_in_write(s) && s->max_log >= 0);
    while (!st && found) {
        st = query_first(s, Q_LAGGARD, SQL(memory, analyzer, s->max_log),
                         &found, e);
        if (st || !found) break;
        row = s->stmt[Q_LAGGARD];
        laggard = sqlite3_column_int64(row, 0);
        query_end(s, Q_LAGGARD);
        st = query_run(s, Q_MANIFEST_DELETE, SQL(memory, laggard), e);
        if (!st) st = query_run(s, Q_SEGMENT_DELETE, SQL(memory, laggard), e);
    }
    return st ? st : query_run(s, Q_TRIM, SQL(memory), e);
}

/* No two manifests of a file ever have the same generation. So a manifest that
 * was deleted and created again is not mistaken for the old one. */
static enum status
store_index_write_manifest(struct store *s, int64_t memory, uint64_t analyzer,
                           int64_t expected, struct manifest *m, struct err *e)
{
    struct memory_info info;
    int64_t now, generation = 0;
    enum status st = memory_get(s, memory, &info, e);

    assert(store_in_write(s));

    if (!st) st = manifest_generation(s, memory, analyzer, &now, e);
    if (!st && now != expected)
        st = err_set(e, ST_CANCELED, "%s: another process has changed the "
                     "index meanwhile", s->path);
    if (!st) st = query_int(s, Q_GENERATION, SQL_NONE, &generation, e);
    if (!st)
        st = query_run(s, Q_MANIFEST_SET,
                       SQL(memory, analyzer, generation, m->seq, m->clean), e);
    if (!st) st = write_segments(s, memory, analyzer, m, e);
    if (!st) st = trim_log(s, memory, analyzer, e);
    if (!st) m->generation = generation;
    return st;
}

enum status manifest_write(struct store *s, int64_t memory, uint64_t analyzer,
                           int64_t expected, struct manifest *m,
                           struct err *e)
{
    enum status st = op_begin(s, e);

    if (st) return st;
    return op_end(
        s, store_index_write_manifest(s, memory, analyzer, expected, m, e), e);
}

/* ---- segment numbers ----------------------------------------------------- */

enum status store_live_segments(struct store *s, int64_t **numbers, size_t *n,
                                struct err *e)
{
    size_t cap = 0;
    bool found;
    enum status st = query_first(s, Q_SEGMENT_LIST, SQL_NONE, &found, e);

    *numbers = NULL;
    *n = 0;
    while (!st && found) {
        if (!mem_grow(numbers, &cap, *n + 1, sizeof **numbers)) {
            query_end(s, Q_SEGMENT_LIST);
            st = err_nomem(e, "list of segments");
            break;
        }
        (*numbers)[(*n)++] = sqlite3_column_int64(s->stmt[Q_SEGMENT_LIST], 0);
        st = query_next(s, Q_SEGMENT_LIST, &found, e);
    }
    if (!st) return ST_OK;
    free(*numbers);
    *numbers = NULL;
    *n = 0;
    return st;
}

enum status store_index_segments(struct store *s,
                                 struct indexed_segment **list, size_t *n,
                                 struct err *e)
{
    size_t cap = 0;
    bool found;
    enum status st = query_first(s, Q_SEGMENT_ROWS, SQL_NONE, &found, e);

    *list = NULL;
    *n = 0;
    while (!st && found) {
        sqlite3_stmt *row = s->stmt[Q_SEGMENT_ROWS];

        if (!mem_grow(list, &cap, *n + 1, sizeof **list)) {
            query_end(s, Q_SEGMENT_ROWS);
            st = err_nomem(e, "list of segments");
            break;
        }
        (*list)[(*n)++] = (struct indexed_segment){
            { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
              (uint64_t)sqlite3_column_int64(row, 2) },
            sqlite3_column_int64(row, 3),
            (uint64_t)sqlite3_column_int64(row, 4) };
        st = query_next(s, Q_SEGMENT_ROWS, &found, e);
    }
    if (!st) return ST_OK;
    free(*list);
    *list = NULL;
    *n = 0;
    return st;
}
