/* csv.c - scans CSV records, guesses the delimiter and quotes fields.
 *
 * A scan works on the bytes that are in memory: it either finds a complete
 * record or reports that more input is needed. It allocates nothing and reads
 * no file; tsv.c does that. */
#include "formats/csv.h"

#include <string.h>

#include "base/invariant.h"
#include "formats/table_header.h"

#define SNIFF_RECORDS 200       /* records used to guess the delimiter */

/* The rarest in texts comes first: if several delimiters fit equally well, the
 * first one wins. */
static const char delimiters[] = { '\t', ';', ',' };

/* Returns the position of the closing quote at or after i, or s.n if there is
 * none. */
static size_t closing_quote(struct str s, size_t i)
{
    while (i < s.n) {
        const char *q = memchr(s.p + i, '"', s.n - i);

        if (!q) break;
        i = (size_t)(q - s.p);
        if (i + 1 == s.n || s.p[i + 1] != '"') return i;
        i += 2;
    }
    return s.n;
}

static size_t csv_plain_end(struct str s, size_t i, char delimiter)
{
    while (i < s.n && s.p[i] != delimiter && s.p[i] != '\n') i++;
    return i;
}

static enum csv_found csv_fail(struct csv_record *rec, enum csv_found found,
                               size_t at, const char *why)
{
    rec->fault = why;
    rec->fault_at = at;
    return found;
}

/* Returns the length of the line end at i (1 for \n, 2 for \r\n), or 0. */
static size_t csv_line_end(struct str s, size_t i)
{
    if (i < s.n && s.p[i] == '\n') return 1;
    return i + 1 < s.n && s.p[i] == '\r' && s.p[i + 1] == '\n' ? 2 : 0;
}

/* Scans the field at *i and advances *i past it. */
static enum csv_found scan_field(struct str s, bool at_end, char delimiter,
                                 size_t *i, struct csv_field *f,
                                 struct csv_record *rec)
{
    size_t start = *i;

    f->quoted = s.p[start] == '"';
    if (!f->quoted) {
        f->begin = start;
        f->end = *i = csv_plain_end(s, start, delimiter);
        if (*i == s.n && !at_end)
            return csv_fail(rec, CSV_MORE, start, "expected a line end");
        if ((*i == s.n || s.p[*i] == '\n') && *i > start &&
            s.p[*i - 1] == '\r')
            f->end = --*i;
        return CSV_RECORD;
    }
    f->begin = start + 1;
    f->end = closing_quote(s, f->begin);
    *i = f->end + 1;
    if (f->end == s.n || (*i >= s.n && !at_end) ||
        (*i + 1 == s.n && s.p[*i] == '\r' && !at_end))
        return csv_fail(rec, CSV_MORE, start,
                        "expected a closing quote, found none");
    if (*i < s.n && s.p[*i] != delimiter && !csv_line_end(s, *i) &&
        !(*i + 1 == s.n && s.p[*i] == '\r'))
        return csv_fail(rec, CSV_BAD, *i, "expected a delimiter or a line "
                        "end after the closing quote");
    return CSV_RECORD;
}

enum csv_found csv_scan(struct str s, bool at_end, char delimiter,
                        const int columns[CSV_COLUMNS],
                        struct csv_record *rec)
{
    size_t i = 0;

    assert(s.n > 0);
    *rec = (struct csv_record){ 0 };
    for (;;) {
        struct csv_field f = { i, i, false };
        enum csv_found found = CSV_RECORD;

        assert(i <= s.n);
        if (i < s.n) found = scan_field(s, at_end, delimiter, &i, &f, rec);
        else if (!at_end)
            found = csv_fail(rec, CSV_MORE, i, "expected another field");
        if (found != CSV_RECORD) return found;
        assert(f.begin <= f.end && f.end <= i && i <= s.n);
        rec->n_fields++;
        for (int k = 0; k < CSV_COLUMNS; k++)
            if (columns[k] && (size_t)columns[k] == rec->n_fields)
                rec->field[k] = f;
        if (i >= s.n || s.p[i] != delimiter) break;
        i++;
    }
    if (i < s.n && s.p[i] == '\r' && i + 1 == s.n) i++;
    rec->crlf = csv_line_end(s, i) == 2;
    rec->bytes = i + csv_line_end(s, i);
    assert(rec->bytes > 0 && rec->bytes <= s.n);
    return CSV_RECORD;
}

/* Returns how many of the first records have as many fields as the very first
 * one, or 0 if that one has fewer than n_columns. *exact is set if it has
 * exactly n_columns. */
static size_t count_agreeing(struct str s, bool at_end, char delimiter,
                             size_t n_columns, bool *exact)
{
    static const int none[CSV_COLUMNS];
    struct csv_record rec;
    size_t n_fields = 0, same = 0;

    for (int k = 0; k < SNIFF_RECORDS && s.n; k++) {
        if (csv_scan(s, at_end, delimiter, none, &rec) != CSV_RECORD) break;
        if (!k) n_fields = rec.n_fields;
        same += rec.n_fields == n_fields;
        s.p += rec.bytes;
        s.n -= rec.bytes;
    }
    *exact = n_fields == n_columns;
    return n_fields < n_columns ? 0 : same;
}

char csv_sniff(struct str s, bool at_end, size_t n_columns)
{
    char best = ',';
    size_t best_same = 0;
    bool best_exact = false;

    for (size_t i = 0; i < sizeof delimiters; i++) {
        bool exact;
        size_t same = count_agreeing(s, at_end, delimiters[i], n_columns,
                                     &exact);

        if (same > best_same || (same == best_same && exact && !best_exact)) {
            best = delimiters[i];
            best_same = same;
            best_exact = exact;
        }
    }
    return best;
}

/* What csv_recognize learns from the fields of a record. */
struct csv_evidence {
    size_t n_fields;
    bool quoted;                /* some field is quoted */
    bool prose;                 /* an unquoted field contains a tab or begins
                                   with a space, so this is not CSV */
};

static void collect_evidence(struct str s, char delimiter,
                             struct csv_evidence *found)
{
    struct csv_record unused;

    found->n_fields = 0;
    for (size_t i = 0; ; i++) {
        struct csv_field f = { i, i, false };

        if (i < s.n) scan_field(s, true, delimiter, &i, &f, &unused);
        found->quoted |= f.quoted;
        if (!f.quoted && f.end > f.begin)
            found->prose |= s.p[f.begin] == ' ' ||
                            memchr(s.p + f.begin, '\t', f.end - f.begin);
        found->n_fields++;
        if (i >= s.n || s.p[i] != delimiter) return;
    }
}

static bool first_is_header(struct str s, const struct csv_record *rec)
{
    struct str text[2];

    for (int k = 0; k < 2; k++)
        text[k] = (struct str){ s.p + rec->field[k].begin,
                                rec->field[k].end - rec->field[k].begin };
    return is_table_header(text[0], text[1], NULL, NULL);
}

bool csv_recognize(struct str s, bool at_end, size_t n_columns)
{
    static const int columns[CSV_COLUMNS] = { 1, 2 };
    char delimiter = csv_sniff(s, at_end, n_columns);
    struct csv_evidence found = { 0 };
    size_t n_records = 0, n_fields = 0;
    bool header = false;

    if (delimiter == '\t') return false;
    while (s.n && n_records < SNIFF_RECORDS) {
        struct csv_record rec;
        enum csv_found got = csv_scan(s, at_end, delimiter, columns, &rec);

        if (got == CSV_MORE && !at_end) break;
        if (got != CSV_RECORD) return false;
        if (rec.bytes > csv_line_end(s, 0)) {       /* not a blank line */
            collect_evidence((struct str){ s.p, rec.bytes }, delimiter, &found);
            if (!n_records) n_fields = found.n_fields;
            if (!n_records) header = first_is_header(s, &rec);
            if (found.prose || found.n_fields != n_fields) return false;
            n_records++;
        }
        s.p += rec.bytes;
        s.n -= rec.bytes;
    }
    return n_records && n_fields >= n_columns &&
           (found.quoted || header || n_fields == n_columns);
}

bool csv_text(struct str s, const struct csv_record *rec, int i,
              struct strbuf *room, struct str *text)
{
    const struct csv_field *f = &rec->field[i];
    const char *p = s.p + f->begin;
    size_t n = f->end - f->begin;

    assert(i >= 0 && i < CSV_COLUMNS && f->begin <= f->end);
    *text = (struct str){ p, n };
    if (!f->quoted || !n || (!memchr(p, '"', n) &&
                             !(rec->crlf && memchr(p, '\r', n))))
        return true;
    strbuf_reset(room);
    if (!strbuf_reserve(room, n)) return false;
    for (size_t k = 0; k < n; k++) {
        if (p[k] == '"') k++;                   /* "" is one quote */
        else if (rec->crlf && p[k] == '\r' && k + 1 < n && p[k + 1] == '\n')
            k++;
        strbuf_addc(room, p[k]);
    }
    *text = (struct str){ room->data, room->len };
    return true;
}

bool csv_needs_quotes(struct str text)
{
    if (text.n && text.p[0] == ' ') return true;
    for (size_t i = 0; i < text.n; i++)
        if (strchr("\",;\t\r\n", text.p[i])) return true;
    return false;
}

bool csv_put(struct str text, bool quoted, struct strbuf *out)
{
    if (!quoted) return strbuf_add(out, text.p, text.n);
    if (!strbuf_addc(out, '"')) return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' && !strbuf_addc(out, '"')) return false;
        if (!strbuf_addc(out, text.p[i])) return false;
    }
    return strbuf_addc(out, '"');
}
