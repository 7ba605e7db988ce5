/* precedence.h - which of several translations of one source comes first.
 *
 * The rule, for pairs whose sources are the same text (inline tags and space
 * at either end do not count):
 *
 *   1. the memory with the higher priority;
 *   2. the translation that was confirmed most recently (store_text_confirmed:
 *      an add, an import, an edit or a repeated add confirms a pair);
 *   3. of equal times, which the pairs of one import usually have, the later
 *      import, and within an import the order of its file.
 *
 * tm/retrieve orders matches by it, tm/contradict lists what it decides. */
#ifndef TM_PRECEDENCE_H
#define TM_PRECEDENCE_H

#include "base/strbuf.h"
#include "tm/store.h"

struct precedence {
    int priority;               /* of the memory */
    struct confirmation last;
};

/* last.occurrences is 0 when the text is not there any more. */
enum status precedence_read(struct store *s, int64_t text, int priority,
                            struct precedence *out, struct err *e);
/* For sorting: less than 0 when a comes before b. 0 only for one and the same
 * pair. */
int precedence_compare(const struct precedence *a,
                       const struct precedence *b);
/* What sources are compared by: plain text, trimmed. It lies in `text` or in
 * the buffer, which is emptied first. */
enum status precedence_source(struct str text, bool tagged,
                              struct strbuf *buffer, struct str *out,
                              struct err *e);

#endif
