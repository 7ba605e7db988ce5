/* public_pair.h - converts a pair of the store to a skmt_pair, whose strings
 * are NUL-terminated and which has texts with and without tags. */
#ifndef API_PUBLIC_PAIR_H
#define API_PUBLIC_PAIR_H

#include "base/strbuf.h"
#include "skmt.h"
#include "tm/store.h"

/* Fill *out. Its strings are stored in the buffer, whose old content is
 * replaced. m is the memory of the pair: its name is used, and its languages if
 * the pair has none. */
enum status public_pair(struct strbuf *buffer, const struct pair *p,
                        const struct memory_info *m, skmt_pair *out,
                        struct err *e);
/* A pair that does not exist: its numbers are 0, its tagged strings are NULL,
 * and its other strings are "". */
const skmt_pair *public_pair_none(void);

#endif
