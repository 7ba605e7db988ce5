/* csv.h - one record of a CSV file, as RFC 4180 has it.
 *
 * A field that begins with '"' goes to the closing one, line breaks and
 * delimiters included; "" in it is a quote. Other fields are literal, quotes
 * in them too. Records end with \n or \r\n. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/str.h"
#include "base/strbuf.h"

enum { CSV_COLUMNS = 3 };       /* that can be asked for at a time */

struct csv_field {
    size_t begin, end;          /* without its quotes */
    bool quoted;
};

struct csv_record {
    size_t n_fields;
    struct csv_field field[CSV_COLUMNS];        /* those asked for */
    size_t bytes;               /* all of it, its end included */
    bool crlf;                  /* how it ends */
    const char *fault;          /* CSV_BAD: what was expected, */
    size_t fault_at;            /*   and where */
};

enum csv_found {
    CSV_RECORD,
    CSV_MORE,                   /* goes on behind s; fault says with what */
    CSV_BAD
};

/* The record at the beginning of s (not empty). at_end: nothing comes behind
 * s. columns: from 1, 0: not asked for. */
enum csv_found csv_scan(struct str s, bool at_end, char delimiter,
                        const int columns[CSV_COLUMNS],
                        struct csv_record *rec);

/* ',', ';' or tab: what most of the records at the beginning of a file have
 * in the same number, at least n_columns - 1. */
char csv_sniff(struct str s, bool at_end, size_t n_columns);

/* Does a file begin like CSV with ',' or ';'? True only when all complete
 * records of s have the same number of fields, at least n_columns; when no
 * field without quotes has a tab in it or begins with a blank (so prose with
 * commas is none); and when there is something that only CSV has: a field in
 * quotes, a header that is known, or no more fields than n_columns. */
bool csv_recognize(struct str s, bool at_end, size_t n_columns);

/* The text of a field: in s itself, or in `room` (overwritten). In a record
 * that ends with \r\n a line break within quotes is one, too; it becomes \n.
 * false: no memory. */
bool csv_text(struct str s, const struct csv_record *rec, int i,
              struct strbuf *room, struct str *text);

/* Must this field be quoted? With any delimiter of csv_sniff in it, too, and
 * with a blank at its beginning (see csv_recognize). When
 * one field of a record is, all should be: then no delimiter but ours can seem
 * to be one. */
bool csv_needs_quotes(struct str text);
bool csv_put(struct str text, bool quoted, struct strbuf *out);

#endif
