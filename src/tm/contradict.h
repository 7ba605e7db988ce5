/* contradict.h - sources that have several different translations.
 *
 * Sources are the same when their plain texts are, space at either end left
 * aside; their translations are in the order of precedence.h, so the first is
 * the one that is taken. A source whose translations are all equal, in several
 * memories say, is not listed. */
#ifndef TM_CONTRADICT_H
#define TM_CONTRADICT_H

#include "tm/precedence.h"
#include "tm/tmfile.h"

struct contradiction {          /* one of the translations of a source */
    const struct memory_info *memory;
    struct precedence precedence;       /* last.pair: its pair confirmed last */
};
/* Non-zero: stop, contradict_list then gives ST_CANCELED. The strings and the
 * list live until it returns. The store may be read, not changed. */
typedef int contradict_fn(void *user, struct str source,
                          const struct contradiction *list, size_t n);

/* All of the memories in use, by the age of their oldest text, as of one
 * moment. *n_sources counts the calls. */
enum status contradict_list(struct tmfile *t, contradict_fn *fn, void *user,
                            int64_t *n_sources, struct err *e);

#endif
