/* tm_print.h - formats pairs, numbers and times, as text and as JSON. */
#ifndef TM_PRINT_H
#define TM_PRINT_H

#include <stdint.h>

#include "common/jput.h"
#include "common/textbuf.h"
#include "skmt.h"

/* The put and jput functions append to t. */

/* Makes a text safe to print on a terminal: control characters are written as
 * \n, \t or \x1b. */
void put_visible(struct textbuf *t, const char *s, size_t n);
void put_count(struct textbuf *t, int64_t n);           /* 1,234,567 */
void put_aligned(struct textbuf *t, int64_t n, size_t width);
void put_noun(struct textbuf *t, int64_t n, const char *one,
              const char *many);                        /* 1 pair, 2 pairs */
void put_date(struct textbuf *t, int64_t seconds);      /* 2024-05-31 */
/* 2024-05-31 12:00:00 UTC */
void put_date_time(struct textbuf *t, int64_t seconds);

/* Returns a similarity in percent, rounded down, so that only equal texts are
 * 100% similar. All similarities that are printed are rounded by this
 * function. */
int similarity_percent(double similarity);

/* Appends the members of a pair's object. The caller writes the braces. */
void jput_pair(struct textbuf *t, const skmt_pair *p);
/* Appends the object that describes a memory, with braces. */
void jput_memory(struct textbuf *t, const skmt_tm_info *m);

#endif
