/* contradict.h - lists sources that have several different translations.
 *
 * Two sources are the same if their plain texts are equal, without white space
 * at either end. The translations of a source come in the order of
 * precedence.h; the first one is used for translating. A source whose
 * translations are all equal, for example in several memories, is not
 * listed. */
#ifndef TM_CONTRADICT_H
#define TM_CONTRADICT_H

#include "tm/precedence.h"
#include "tm/store.h"

struct contradiction {          /* one of the translations of a source */
    const struct memory_info *memory;
    struct precedence precedence;       /* last.pair: the pair of this text
                                           that was confirmed last */
};
/* Called for each such source. Return non-zero to stop; contradict_list then
 * returns ST_CANCELED. source and list are valid during the call. The callback
 * may read the store but must not change it. */
typedef int contradict_fn(void *user, struct str source,
                          const struct contradiction *list, size_t n);

/* Call fn for the sources of the n memories, as of one moment. The source with
 * the oldest text comes first. *n_sources is the number of calls. */
enum status contradict_list(struct store *s, const struct memory_info *memories,
                            size_t n, contradict_fn *fn, void *user,
                            int64_t *n_sources, struct err *e);

#endif
