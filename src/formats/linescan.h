/* linescan.h - splits an input into lines of any length.
 *
 * The text of a line is a view into a buffer that grows with the longest line,
 * up to a limit. A longer line is skipped and reported as too long. A format
 * whose records may span lines (CSV) works on the buffer itself: it requests
 * more bytes until the record is complete and then consumes it.
 *
 * Invariant: begin <= end <= cap. buf[begin..end) was read from the input but
 * not consumed. */
#ifndef FORMATS_LINESCAN_H
#define FORMATS_LINESCAN_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct input;

struct linescan {
    struct input *in;           /* borrowed */
    char *buf;                  /* [cap] */
    size_t begin, end, cap;
    size_t limit;               /* maximum bytes of a line */
    uint64_t line;              /* number of lines consumed so far */
};

struct scanned_line {
    struct str text;            /* without the line end, \n or \r\n */
    bool found;                 /* false at the end of the file */
    bool too_long;              /* over the limit; text is empty */
};

enum status linescan_init(struct linescan *ls, struct input *in, size_t limit,
                          struct err *e);
void linescan_release(struct linescan *ls);     /* a zeroed struct is allowed */

/* Returns the next line; its number is ls->line afterwards. The text stays
 * valid until the next call. */
enum status linescan_next(struct linescan *ls, struct scanned_line *out,
                          struct err *e);

/* Returns the bytes that were read but not consumed. */
struct str linescan_rest(const struct linescan *ls);
/* Reads until linescan_rest has at least `want` bytes or the file ends. The
 * bytes may move. */
enum status linescan_more(struct linescan *ls, size_t want, struct err *e);
/* Consumes n bytes of linescan_rest and counts the lines in them. */
void linescan_take(struct linescan *ls, size_t n);

/* Returns NULL if the bytes are valid text: UTF-8 without NUL. Otherwise
 * returns what was expected and sets *at to the offset of the fault. */
const char *text_fault(struct str bytes, size_t *at);

#endif
