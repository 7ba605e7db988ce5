/* csv.h - scan and write single records of a CSV file (RFC 4180).
 *
 * A field that begins with '"' extends to the closing quote and may contain
 * line breaks and delimiters; "" inside it is one quote. Every other field is
 * literal, including any quotes in it. A record ends with \n or \r\n.
 *
 * Positions are byte offsets into the scanned string. Every field of a
 * complete record satisfies begin <= end <= bytes. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/str.h"
#include "base/strbuf.h"

enum { CSV_COLUMNS = 3 };       /* columns one scan can extract */

struct csv_field {
    size_t begin, end;          /* without the quotes */
    bool quoted;
};

struct csv_record {
    size_t n_fields;
    struct csv_field field[CSV_COLUMNS];        /* the requested columns */
    size_t bytes;               /* length including the line end */
    bool crlf;                  /* the record ends with \r\n */
    const char *fault;          /* what was expected, unless CSV_RECORD */
    size_t fault_at;            /* where it was expected */
};

enum csv_found {
    CSV_RECORD,
    CSV_MORE,                   /* s ends inside the record; `fault` says
                                   what is missing */
    CSV_BAD
};

/* Scans the record at the beginning of s, which must not be empty. at_end
 * means that no input follows s. `columns` holds the columns to extract,
 * counted from 1; 0 extracts nothing. */
enum csv_found csv_scan(struct str s, bool at_end, char delimiter,
                        const int columns[CSV_COLUMNS],
                        struct csv_record *rec);

/* Guesses the delimiter (',', ';' or tab) from the beginning of a file: the
 * one for which most records have as many fields as the first record, which
 * must have at least n_columns. */
char csv_sniff(struct str s, bool at_end, size_t n_columns);

/* Returns whether a file begins like CSV with ',' or ';'. This requires that
 * all complete records of s have the same number of fields, at least
 * n_columns; that no unquoted field contains a tab or begins with a space (so
 * prose with commas is not taken for CSV); and that there is positive evidence
 * for CSV: a quoted field, a known header, or exactly n_columns fields. */
bool csv_recognize(struct str s, bool at_end, size_t n_columns);

/* Returns the text of field i: a view into s, or into `room`, which is
 * overwritten. In a record that ends with \r\n, a \r\n inside quotes is also a
 * line break and becomes \n. Returns false when out of memory. */
bool csv_text(struct str s, const struct csv_record *rec, int i,
              struct strbuf *room, struct str *text);

/* Returns whether a field must be quoted. Fields that contain any delimiter
 * csv_sniff knows, or that begin with a space (see csv_recognize), are quoted
 * too. If one field of a record needs quotes, quote all of them, so that no
 * other delimiter can be mistaken for ours. */
bool csv_needs_quotes(struct str text);
bool csv_put(struct str text, bool quoted, struct strbuf *out);

#endif
