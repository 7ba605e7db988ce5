/* tsv.c - reads and writes tables of pairs: TSV (literal, see oneline.h) and
 * CSV (csv.h).
 *
 * Source and target are columns 1 and 2 unless the options say otherwise. Of
 * the other columns, only one that names the document is kept. The first row
 * is a header if the options say so or if it looks like one (table_header.h).
 *
 * The columns that are written are source, target and, if the imported file
 * had one, the document. If that file had a header, its names are written
 * again. The result can always be read without options: a name that the reader
 * would not recognize is written as "source (NAME)", and a header is added if
 * the first pair looks like one. */
#include <stdlib.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "formats/csv.h"
#include "formats/extra.h"
#include "formats/linescan.h"
#include "formats/oneline.h"
#include "formats/output.h"
#include "formats/reader.h"
#include "formats/table_header.h"
#include "formats/writer.h"
#include "pair/tags.h"

#define SNIFF_BYTES ((size_t)64 << 10)  /* read to guess the delimiter */

enum { SOURCE, TARGET, DOCUMENT };      /* the columns of interest */

static const char *const column_name[] = { "source", "target", "document" };

/* ---- reading ------------------------------------------------------------ */

struct tsv_reader {
    struct reader r;
    struct linescan lines;
    char delimiter;             /* 0 until the table is open */
    bool first_row_read;
    int column[CSV_COLUMNS];    /* from 1; 0: not wanted */
    int last_column;            /* the largest of them */
    struct strbuf room[CSV_COLUMNS];    /* texts that were unescaped */
    struct strbuf extra;
    struct unit unit;
};

struct table_row {
    struct str raw;             /* the bytes of the row */
    uint64_t line;              /* number of its first line */
    struct str text[CSV_COLUMNS];
    size_t n_columns;
};

/* Reports a fault at offset `at` of row->raw. It may lie beyond raw.n, on a
 * later line. */
static enum status tsv_bad_at(struct tsv_reader *t, const struct table_row *row,
                              size_t at, const char *why, struct err *e)
{
    uint64_t line = row->line;
    size_t line_at = 0;

    for (size_t i = 0; i < at; i++)
        if (row->raw.p[i] == '\n') {
            line++;
            line_at = i + 1;
        }
    return reader_bad(&t->r, e, line, at - line_at + 1, row->raw, "%s", why);
}

static enum status tsv_open_table(struct tsv_reader *t, struct err *e)
{
    const struct reader_options *o = &t->r.o;
    enum status st;

    t->column[SOURCE] = o->source_column ? o->source_column : 1;
    t->column[TARGET] = o->target_column ? o->target_column : 2;
    t->column[DOCUMENT] = o->document_column;
    for (int k = 0; k < CSV_COLUMNS; k++) {
        if (t->column[k] < 0)
            return err_set(e, ST_ARGUMENT, "the %s column is %d, but columns "
                           "are counted from 1", column_name[k],
                           t->column[k]);
        if (t->column[k] > t->last_column) t->last_column = t->column[k];
    }
    /* A line contains both texts and the other columns. */
    st = linescan_init(&t->lines, t->r.in, 4 * o->max_text, e);
    if (!st && t->r.format == FORMAT_CSV)
        st = linescan_more(&t->lines, SNIFF_BYTES, e);
    if (st) return st;
    struct str s = linescan_rest(&t->lines);
    t->delimiter = t->r.format == FORMAT_CSV
        ? csv_sniff(s, s.n < SNIFF_BYTES, (size_t)t->last_column) : '\t';
    return ST_OK;
}

/* Splits a line at its tabs and sets the wanted columns. */
static void split_line(struct tsv_reader *t, struct table_row *row)
{
    const char *p = row->raw.p, *end = p + row->raw.n;

    for (row->n_columns = 1; ; row->n_columns++) {
        const char *tab = p < end ? memchr(p, '\t', (size_t)(end - p)) : NULL;

        for (int k = 0; k < CSV_COLUMNS; k++)
            if (t->column[k] && (size_t)t->column[k] == row->n_columns)
                row->text[k] = (struct str){ p, (size_t)((tab ? tab : end)
                                                         - p) };
        if (!tab || row->n_columns == (size_t)t->last_column) break;
        p = tab + 1;
    }
}

/* Reads a line of TSV. *more is false at the end of the file. *ok is false if
 * the line was bad; it was reported then. */
static enum status tsv_next_line(struct tsv_reader *t, struct table_row *row,
                                 bool *more, bool *ok, struct err *e)
{
    struct scanned_line line;
    enum status st = linescan_next(&t->lines, &line, e);
    const char *fault;
    size_t at;

    *more = line.found;
    *ok = false;
    if (st || !line.found) return st;
    *row = (struct table_row){ .raw = line.text, .line = t->lines.line };
    if (line.too_long)
        return reader_bad(&t->r, e, row->line, 0, row->raw, "expected a line "
                          "of at most %zu bytes", t->lines.limit);
    fault = text_fault(row->raw, &at);
    if (fault) return tsv_bad_at(t, row, at, fault, e);
    split_line(t, row);
    for (int k = 0; k < CSV_COLUMNS; k++)
        if (!oneline_get(row->text[k], &t->room[k], &row->text[k]))
            return err_nomem(e, "a line");
    *ok = true;
    return ST_OK;
}

/* Reports a bad record and skips its first line only: the other lines may be
 * part of it just because a quote is missing. */
static enum status bad_record(struct tsv_reader *t, struct table_row *row,
                              const struct csv_record *rec, struct err *e)
{
    const char *nl = memchr(row->raw.p, '\n', row->raw.n);
    enum status st;
    struct scanned_line line;

    if (nl) row->raw.n = (size_t)(nl - row->raw.p);
    st = tsv_bad_at(t, row, rec->fault_at, rec->fault, e);
    return st ? st : linescan_next(&t->lines, &line, e);
}

/* Reads until the buffer contains a whole record. *more is false at the end of
 * the file. *ok is false if the record was bad; it was reported then. */
static enum status find_record(struct tsv_reader *t, struct table_row *row,
                               struct csv_record *rec, bool *more, bool *ok,
                               struct err *e)
{
    size_t want = 1;

    *ok = false;
    for (;;) {
        enum status st = linescan_more(&t->lines, want, e);
        struct str s = linescan_rest(&t->lines);
        bool at_end = s.n < want;

        *more = s.n > 0;
        if (st || !s.n) return st;
        *row = (struct table_row){ .raw = s, .line = t->lines.line + 1 };
        switch (csv_scan(s, at_end, t->delimiter, t->column, rec)) {
        case CSV_RECORD:
            *ok = true;
            return ST_OK;
        case CSV_MORE:
            if (!at_end && s.n <= t->lines.limit) {
                want = 2 * s.n;
                continue;
            }
            /* fall through */
        case CSV_BAD:
            break;
        }
        return bad_record(t, row, rec, e);
    }
}

static enum status next_record(struct tsv_reader *t, struct table_row *row,
                               bool *more, bool *ok, struct err *e)
{
    struct csv_record rec;
    enum status st = find_record(t, row, &rec, more, ok, e);
    const char *fault;
    size_t at;

    if (st || !*ok) return st;
    assert(rec.bytes > 0 && rec.bytes <= row->raw.n);
    row->raw.n = rec.bytes;
    row->n_columns = rec.n_fields;
    linescan_take(&t->lines, rec.bytes);
    fault = text_fault(row->raw, &at);
    *ok = !fault;
    if (fault) return tsv_bad_at(t, row, at, fault, e);
    while (row->raw.n && strchr("\r\n", row->raw.p[row->raw.n - 1]))
        row->raw.n--;
    for (int k = 0; k < CSV_COLUMNS; k++)
        if (!csv_text(row->raw, &rec, k, &t->room[k], &row->text[k]))
            return err_nomem(e, "a record");
    return ST_OK;
}

/* Checks the number of columns and the size of the texts. *ok is false for an
 * empty line, which is not an error, and for a bad row, which was reported. */
static enum status check_row(struct tsv_reader *t, const struct table_row *row,
                             bool *ok, struct err *e)
{
    const char *what = t->r.format == FORMAT_CSV ? "record" : "line";

    *ok = false;
    if (!row->raw.n) {
        t->r.counts.empty++;
        return ST_OK;
    }
    if (row->n_columns < (size_t)t->last_column)
        return reader_bad(&t->r, e, row->line, row->raw.n + 1, row->raw,
                          "expected %d columns separated by %s, found a %s "
                          "with %zu", t->last_column,
                          t->delimiter == '\t' ? "tabs" :
                          t->delimiter == ';' ? "semicolons" : "commas",
                          what, row->n_columns);
    for (int k = 0; k < CSV_COLUMNS; k++)
        if (row->text[k].n > t->r.o.max_text)
            return reader_bad(&t->r, e, row->line, 0, row->raw, "expected a "
                              "%s of at most %zu bytes, found %zu",
                              column_name[k], t->r.o.max_text,
                              row->text[k].n);
    *ok = true;
    return ST_OK;
}

/* Builds the extra data of the file: the names of the columns, and whether one
 * is the document. `names` is the header row, or NULL. */
static enum status tsv_keep_layout(struct tsv_reader *t,
                                   const struct table_row *names,
                                   struct err *e)
{
    struct strbuf *out = &t->extra;
    bool document = t->column[DOCUMENT] != 0, ok;

    strbuf_reset(out);
    ok = strbuf_adds(out, "{\"table\":{") && extra_put_key(out, "document") &&
         strbuf_adds(out, document ? "true" : "false") &&
         (!names || (extra_put_key(out, "header") && strbuf_addc(out, '[')));
    for (int k = 0; ok && names && k < 2 + document; k++)
        ok = (!k || strbuf_addc(out, ',')) &&
             extra_put_string(out, names->text[k].p, names->text[k].n);
    if (!ok || !strbuf_adds(out, names ? "]}}" : "}}"))
        return err_nomem(e, "columns");
    t->r.extra = (struct str){ out->data, out->len };
    return ST_OK;
}

/* Returns whether the row is a header. Only the first row can be one. */
static bool tsv_is_header(struct tsv_reader *t, const struct table_row *row)
{
    const struct reader_options *o = &t->r.o;
    bool first = !t->first_row_read;

    t->first_row_read = true;
    if (!first || o->no_header) return false;
    if (o->header) return true;
    if (!is_table_header(row->text[SOURCE], row->text[TARGET],
                         o->source_lang, o->target_lang))
        return false;
    t->r.counts.headers++;
    return true;
}

static const struct unit *tsv_make_unit(struct tsv_reader *t,
                                        const struct table_row *row)
{
    if (!row->text[SOURCE].n || !row->text[TARGET].n) {
        t->r.counts.empty++;
        return NULL;
    }
    t->unit = (struct unit){
        .source = row->text[SOURCE], .target = row->text[TARGET],
        .document = row->text[DOCUMENT], .line = row->line,
    };
    return &t->unit;
}

static enum status tsv_next(struct reader *r, const struct unit **u,
                            struct err *e)
{
    struct tsv_reader *t = (struct tsv_reader *)r;
    enum status st = ST_OK;
    bool more = true;

    if (!t->delimiter) {
        st = tsv_open_table(t, e);
        if (!st && t->column[DOCUMENT]) st = tsv_keep_layout(t, NULL, e);
    }
    while (!st && more && !*u) {
        struct table_row row;
        bool ok;

        st = r->format == FORMAT_CSV ? next_record(t, &row, &more, &ok, e)
                                     : tsv_next_line(t, &row, &more, &ok, e);
        if (!st && ok) st = check_row(t, &row, &ok, e);
        if (st || !ok) continue;
        if (tsv_is_header(t, &row)) st = tsv_keep_layout(t, &row, e);
        else *u = tsv_make_unit(t, &row);
    }
    return st;
}

static void tsv_close(struct reader *r)
{
    struct tsv_reader *t = (struct tsv_reader *)r;

    linescan_release(&t->lines);
    for (int k = 0; k < CSV_COLUMNS; k++) strbuf_release(&t->room[k]);
    strbuf_release(&t->extra);
    free(t);
}

enum status tsv_reader_new(struct reader **out, struct err *e)
{
    static const struct reader_ops ops = { tsv_next, tsv_close };
    struct tsv_reader *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t) return err_nomem(e, "a reader");
    t->r.ops = &ops;
    for (int k = 0; k < CSV_COLUMNS; k++) strbuf_init(&t->room[k], 0);
    strbuf_init(&t->extra, 0);
    *out = &t->r;
    return ST_OK;
}

/* ---- writing ------------------------------------------------------------ */

struct tsv_writer {
    struct writer w;
    int n_columns;              /* 2, or 3 with the document */
    bool row_written;           /* so the next row is not the first */
    struct strbuf row;
    struct strbuf plain;        /* texts without their tags */
};

static enum status tsv_put_row(struct tsv_writer *t,
                               const struct str text[CSV_COLUMNS],
                               struct err *e)
{
    bool csv = t->w.o.format == FORMAT_CSV, quoted = false, ok = true;

    assert(t->n_columns >= 2 && t->n_columns <= CSV_COLUMNS);
    strbuf_reset(&t->row);
    for (int k = 0; csv && k < t->n_columns; k++)
        quoted |= csv_needs_quotes(text[k]);
    for (int k = 0; ok && k < t->n_columns; k++)
        ok = (!k || strbuf_addc(&t->row, csv ? ',' : '\t')) &&
             (csv ? csv_put(text[k], quoted, &t->row)
                  : oneline_put(text[k], true, &t->row));
    if (!ok || !strbuf_addc(&t->row, '\n')) return err_nomem(e, "a line");
    struct str row = { t->row.data, t->row.len };
    enum status st = t->row_written ? ST_OK
                   : output_puts(t->w.out, oneline_before_first(row), e);
    t->row_written = true;
    return st ? st : output_put(t->w.out, row, e);
}

static bool looks_like_header(const struct tsv_writer *t,
                              const struct str text[CSV_COLUMNS])
{
    const struct writer_options *o = &t->w.o;

    return is_table_header(text[SOURCE], text[TARGET], NULL, NULL) &&
           is_table_header(text[SOURCE], text[TARGET], o->source_lang,
                           o->target_lang);
}

/* Writes a header: the names themselves if the reader recognizes them, else
 * "source (NAME)". */
static enum status put_names(struct tsv_writer *t,
                             const struct str name[CSV_COLUMNS],
                             struct err *e)
{
    struct strbuf room[CSV_COLUMNS];
    struct str text[CSV_COLUMNS];
    bool ok = true;
    enum status st;

    if (looks_like_header(t, name)) return tsv_put_row(t, name, e);
    for (int k = 0; k < CSV_COLUMNS; k++) {
        strbuf_init(&room[k], 0);
        ok = ok && strbuf_adds(&room[k], column_name[k]);
        if (name[k].n)
            ok = ok && strbuf_adds(&room[k], " (") &&
                 strbuf_add(&room[k], name[k].p, name[k].n) &&
                 strbuf_addc(&room[k], ')');
        text[k] = strbuf_view(&room[k]);
    }
    st = ok ? tsv_put_row(t, text, e) : err_nomem(e, "a header");
    for (int k = 0; k < CSV_COLUMNS; k++) strbuf_release(&room[k]);
    return st;
}

/* Writes a pair. Adds a header if the pair would be taken for one. */
static enum status tsv_put_pair(struct tsv_writer *t,
                                const struct str text[CSV_COLUMNS],
                                struct err *e)
{
    static const struct str no_name[CSV_COLUMNS];
    enum status st = ST_OK;

    if (!t->row_written &&
        is_table_header(text[SOURCE], text[TARGET], NULL, NULL))
        st = put_names(t, no_name, e);
    return st ? st : tsv_put_row(t, text, e);
}

static enum status tsv_begin(struct writer *w, struct err *e)
{
    struct tsv_writer *t = (struct tsv_writer *)w;
    json_t *root, *layout = extra_open(w->o.extra, "table", &root), *names;
    struct str text[CSV_COLUMNS];
    enum status st = ST_OK;

    t->n_columns = json_is_true(json_object_get(layout, "document")) ? 3 : 2;
    names = json_object_get(layout, "header");
    for (size_t k = 0; k < CSV_COLUMNS; k++) {
        json_t *name = json_array_get(names, k);

        text[k] = (struct str){ json_string_value(name),
                                json_string_length(name) };
    }
    if (json_is_array(names)) st = put_names(t, text, e);
    json_decref(root);
    return st;
}

static enum status tsv_put(struct writer *w, const struct unit *u,
                           struct err *e)
{
    struct tsv_writer *t = (struct tsv_writer *)w;
    struct str text[CSV_COLUMNS] = { u->source, u->target, u->document };
    size_t border;

    if (!u->tagged) return tsv_put_pair(t, text, e);
    strbuf_reset(&t->plain);
    if (!tags_strip(u->source, &t->plain)) return err_nomem(e, "a text");
    border = t->plain.len;
    if (!tags_strip(u->target, &t->plain)) return err_nomem(e, "a text");
    text[SOURCE] = (struct str){ t->plain.data, border };
    text[TARGET] = (struct str){ t->plain.data + border,
                                 t->plain.len - border };
    return tsv_put_pair(t, text, e);
}

static enum status tsv_end(struct writer *w, struct err *e)
{
    (void)w, (void)e;
    return ST_OK;
}

static void tsv_writer_close(struct writer *w)
{
    struct tsv_writer *t = (struct tsv_writer *)w;

    strbuf_release(&t->row);
    strbuf_release(&t->plain);
    free(t);
}

enum status tsv_writer_new(struct writer **out, struct err *e)
{
    static const struct writer_ops ops = {
        tsv_begin, tsv_put, tsv_end, tsv_writer_close
    };
    struct tsv_writer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t) return err_nomem(e, "a writer");
    t->w.ops = &ops;
    strbuf_init(&t->row, 0);
    strbuf_init(&t->plain, 0);
    *out = &t->w;
    return ST_OK;
}
