/* public_pair.h - a pair of the store as the public struct: NUL-terminated
 * strings in a buffer, and plain texts beside tagged ones. */
#ifndef API_PUBLIC_PAIR_H
#define API_PUBLIC_PAIR_H

#include "base/strbuf.h"
#include "skmt.h"
#include "tm/store.h"

/* Replaces what the buffer held; out's strings are in it. m, the pair's memory,
 * gives its name, and languages the pair itself does not have. */
enum status public_pair(struct strbuf *buffer, const struct pair *p,
                        const struct memory_info *m, skmt_pair *out,
                        struct err *e);
void public_pair_empty(skmt_pair *out);         /* zeros and "" */

#endif
