/* fts.c - measures the full-text index of SQLite (FTS5) on the same searches,
 * for comparison with ours.
 *
 *     fts DATABASE TSV QUERIES N
 *
 * Puts the sources of TSV into a new FTS5 table. Then searches for each of the
 * first N lines of QUERIES, with all its words joined by OR, and fetches the
 * best 64 rows by FTS5's bm25. Prints a line of JSON. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "text/words.h"

enum { MAX_QUERIES = 10000 };

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "fts: %s\n", what);
    exit(2);
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;

    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL)) die(sqlite3_errmsg(db));
    return st;
}

static long fill(sqlite3 *db, const char *path)
{
    FILE *f = fopen(path, "r");
    sqlite3_stmt *put;
    char *line = NULL;
    size_t cap = 0;
    long n = 0;

    if (!f) die("cannot open TSV");
    run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE VIRTUAL TABLE t USING fts5(source); BEGIN");
    put = prepare(db, "INSERT INTO t VALUES(?)");
    while (getline(&line, &cap, f) > 0) {
        sqlite3_bind_text(put, 1, line, (int)strcspn(line, "\t\n"),
                          SQLITE_STATIC);
        if (sqlite3_step(put) != SQLITE_DONE) die(sqlite3_errmsg(db));
        sqlite3_reset(put);
        n++;
    }
    sqlite3_finalize(put);
    free(line);
    fclose(f);
    run(db, "COMMIT; INSERT INTO t(t) VALUES('optimize')");
    return n;
}

/* Writes the query: "one" OR "two" OR ... */
static void or_query(const char *line, struct strbuf *out)
{
    struct words w;
    const char *join = "";

    strbuf_reset(out);
    words_begin(&w, str_of(line));
    while (words_next(&w)) {
        if (w.kind != WORD_TERM) continue;
        strbuf_adds(out, join);
        strbuf_adds(out, "\"");
        strbuf_add(out, line + w.begin, w.end - w.begin);
        strbuf_adds(out, "\"");
        join = " OR ";
    }
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static size_t ask(sqlite3 *db, const char *path, size_t most, double *ms)
{
    FILE *f = fopen(path, "r");
    sqlite3_stmt *get = prepare(db, "SELECT rowid FROM t WHERE t MATCH ?"
                                    " ORDER BY rank LIMIT 64");
    struct strbuf query;
    char *line = NULL;
    size_t cap = 0, n = 0;
    double begin;

    if (!f) die("cannot open QUERIES");
    strbuf_init(&query, 0);
    while (n < most && getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        or_query(line, &query);
        if (!query.len) continue;
        begin = clock_seconds();
        sqlite3_bind_text(get, 1, query.data, (int)query.len, SQLITE_STATIC);
        while (sqlite3_step(get) == SQLITE_ROW) continue;
        if (sqlite3_reset(get)) die(sqlite3_errmsg(db));
        ms[n++] = 1000 * (clock_seconds() - begin);
    }
    sqlite3_finalize(get);
    strbuf_release(&query);
    free(line);
    fclose(f);
    return n;
}

int main(int argc, char **argv)
{
    static double ms[MAX_QUERIES];
    double begin = clock_seconds(), filled;
    size_t n;
    long lines;
    sqlite3 *db;

    if (argc != 5) die("usage: fts DATABASE TSV QUERIES N");
    remove(argv[1]);
    if (sqlite3_open(argv[1], &db)) die("cannot create DATABASE");
    lines = fill(db, argv[2]);
    filled = clock_seconds() - begin;
    n = (size_t)atol(argv[4]);
    n = ask(db, argv[3], n < MAX_QUERIES ? n : MAX_QUERIES, ms);
    if (!n) die("QUERIES has no line with a word");
    qsort(ms, n, sizeof *ms, by_value);
    printf("{\"what\":\"fts5\",\"pairs\":%ld,\"import_seconds\":%.1f,"
           "\"queries\":%zu,\"p50_ms\":%.3f,\"p95_ms\":%.3f,"
           "\"max_ms\":%.3f,\"max_rss_mb\":%.1f}\n", lines, filled, n,
           ms[n / 2], ms[n * 95 / 100], ms[n - 1], peak_rss_mb());
    sqlite3_close(db);
    return 0;
}
