/* precedence.h - which of several translations of one source comes first.
 *
 * The rule, for pairs whose sources are the same text (inline tags and space
 * at either end do not count):
 *
 *   1. the memory with the higher priority;
 *   2. the translation that was confirmed most recently (an add, an import, an
 *      edit or a repeated add confirms a pair; struct confirmation);
 *   3. among equal times, which the pairs of one import usually have, the later
 *      import, and within an import the order of its file.
 *
 * tm/rerank orders matches by this rule; tm/contradict lists the sources for
 * which it decides. */
#ifndef TM_PRECEDENCE_H
#define TM_PRECEDENCE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "pair/pair.h"

struct precedence {
    int priority;               /* of the memory */
    struct confirmation last;
};

/* A total order for sorting: less than 0 when a comes before b, and 0 only when
 * both are the same pair. */
int precedence_compare(const struct precedence *a,
                       const struct precedence *b);
/* The form in which sources are compared: plain text without space at either
 * end. *out points into `text` or into the buffer, whose old content is
 * lost. */
enum status precedence_source(struct str text, bool tagged,
                              struct strbuf *buffer, struct str *out,
                              struct err *e);

#endif
