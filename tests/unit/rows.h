/* rows.h - collects all units that a reader returns, and writes them with a
 * writer. */
#ifndef ROWS_H
#define ROWS_H

#include "base/file.h"
#include "base/strbuf.h"
#include "formats/reader.h"
#include "formats/writer.h"
#include "scratch_dir.h"

enum { MAX_ROWS = 64 };

struct rows {
    enum status st;             /* of the last read */
    struct err e;
    struct reader_counts counts;
    struct unit u[MAX_ROWS];    /* texts NUL-terminated */
    int n;
    char *extra;                /* of the file */
    struct strbuf bad;          /* "line:column why\n" for each rejected unit */
};

static inline struct str row_copy(struct str s)
{
    return (struct str){ strndup(s.n ? s.p : "", s.n), s.n };
}

static inline void rows_add(struct rows *r, const struct unit *u)
{
    struct unit *to = &r->u[r->n++];

    *to = *u;
    to->source = row_copy(u->source);
    to->target = row_copy(u->target);
    to->source_lang = row_copy(u->source_lang);
    to->target_lang = row_copy(u->target_lang);
    to->document = row_copy(u->document);
    to->extra = row_copy(u->extra);
}

static inline void rows_free(struct rows *r)
{
    for (int i = 0; i < r->n; i++) {
        free((char *)r->u[i].source.p);
        free((char *)r->u[i].target.p);
        free((char *)r->u[i].source_lang.p);
        free((char *)r->u[i].target_lang.p);
        free((char *)r->u[i].document.p);
        free((char *)r->u[i].extra.p);
    }
    free(r->extra);
    strbuf_release(&r->bad);
    memset(r, 0, sizeof *r);
}

static inline int rows_reject(void *user, const struct reject *bad)
{
    struct rows *r = user;

    strbuf_addf(&r->bad, "%llu:%llu %s\n", (unsigned long long)bad->line,
                (unsigned long long)bad->column, bad->why);
    return 0;
}

/* Read to the end or to the first error, and close the reader. */
static inline void rows_drain(struct rows *r, struct reader *reader)
{
    const struct unit *u = NULL;

    while (r->n < MAX_ROWS &&
           !(r->st = reader_next(reader, &u, &r->e)) && u)
        rows_add(r, u);
    CHECK(r->n < MAX_ROWS);
    reader_counts(reader, &r->counts);
    r->extra = (char *)row_copy(reader_extra(reader)).p;
    CHECK_INT(r->counts.units, r->n);
    reader_close(reader);
}

static inline void rows_read(struct rows *r, const char *name,
                             struct str bytes, struct str target,
                             struct reader_options o)
{
    struct reader *reader;

    memset(r, 0, sizeof *r);
    strbuf_init(&r->bad, 0);
    o.reject = rows_reject;
    o.user = r;
    r->st = reader_open_memory(&reader, name, bytes, target, &o, &r->e);
    if (!r->st) rows_drain(r, reader);
}

static inline void rows_read_file(struct rows *r, const char *path,
                                  struct reader_options o)
{
    struct reader *reader;

    memset(r, 0, sizeof *r);
    strbuf_init(&r->bad, 0);
    r->st = reader_open(&reader, path, &o, &r->e);
    if (CHECK_OK(r->st, &r->e)) rows_drain(r, reader);
}

/* The output of the writer for these units. The caller frees it. */
static inline char *rows_write(const struct rows *r, struct writer_options o)
{
    struct scratch dir;
    struct writer *w = NULL;
    struct err e = { 0 };
    char *text = NULL;
    size_t size;

    if (!scratch_make(&dir)) return strdup("");
    if (!o.extra.n && r->extra) o.extra = str_of(r->extra);
    if (o.format == FORMAT_PARALLEL)
        o.target_path = scratch_path(&dir, "target");
    CHECK_OK(writer_open(&w, scratch_path(&dir, "out"), &o, &e), &e);
    for (int i = 0; w && i < r->n; i++)
        CHECK_OK(writer_put(w, &r->u[i], &e), &e);
    if (w) CHECK_OK(writer_commit(w, &e), &e);
    writer_close(w);
    file_read(&text, &size, scratch_path(&dir, "out"), 1 << 26, &e);
    if (o.format == FORMAT_PARALLEL && text) {  /* both files, joined */
        char *first = text, *second = NULL;

        file_read(&second, &size, scratch_path(&dir, "target"), 1 << 26, &e);
        if (asprintf(&text, "%s%s", first, second ? second : "") < 0)
            text = NULL;
        free(first);
        free(second);
    }
    scratch_remove(&dir);
    return text ? text : strdup("");
}

/* Check that all sources and targets are equal. */
static inline void rows_same(const struct rows *a, const struct rows *b)
{
    CHECK_INT(a->n, b->n);
    for (int i = 0; i < a->n && i < b->n; i++) {
        CHECK_STR(a->u[i].source.p, b->u[i].source.p);
        CHECK_STR(a->u[i].target.p, b->u[i].target.p);
    }
}

#endif
