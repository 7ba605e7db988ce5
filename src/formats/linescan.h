/* linescan.h - an input by lines, whole ones, however long they are.
 *
 * A line's text is a view into a buffer that grows with the longest line, up
 * to a limit; what is longer is skipped and said to be so. A format whose
 * records span lines (CSV) works on the buffer itself: it asks for more until
 * the record is complete, then takes it. */
#ifndef FORMATS_LINESCAN_H
#define FORMATS_LINESCAN_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct input;

struct linescan {
    struct input *in;           /* borrowed */
    char *buf;                  /* [cap]; begin .. end are not taken yet */
    size_t begin, end, cap;
    size_t limit;               /* bytes of one line */
    uint64_t line;              /* lines taken so far */
};

struct line {
    struct str text;            /* without its end, \n or \r\n */
    bool found;                 /* false: at the end of the file */
    bool too_long;              /* over the limit; text is empty */
};

enum status linescan_init(struct linescan *ls, struct input *in, size_t limit,
                          struct err *e);
void linescan_release(struct linescan *ls);     /* zeroed struct is fine */

/* The next line, number ls->line; its text lives until the next call. */
enum status linescan_next(struct linescan *ls, struct line *out,
                          struct err *e);

/* What is there and not taken yet. linescan_more has at least `want` bytes of
 * it there unless the file ends before (then all); it may move them. */
struct str linescan_rest(const struct linescan *ls);
enum status linescan_more(struct linescan *ls, size_t want, struct err *e);
void linescan_take(struct linescan *ls, size_t n);  /* counts its lines */

/* What keeps these bytes from being a text: NULL, or what was expected, and
 * where in *at. Used on lines, so that the place can be said. */
const char *text_fault(struct str bytes, size_t *at);

#endif
