/* pairlist.h - the ids of all pairs of a source, and the texts of a pair
 * without its tags: for work that goes through a whole memory. */
#ifndef ENGINE_PAIRLIST_H
#define ENGINE_PAIRLIST_H

#include "base/strbuf.h"
#include "tm/source.h"

/* What to fetch: all pairs of a source. They are listed before pairs are
 * fetched, because a source cannot be asked while it lists its changes. */
struct pairlist {               /* initialize with zeros */
    struct source_want *at;     /* [n] */
    size_t n, cap;
    unsigned parts;             /* FETCH_.. of each; set by pairlist_read */
};

/* List the pairs of the memories in use, in any order. */
enum status pairlist_read(struct pairlist *l, struct pair_source *source,
                          unsigned parts, struct err *e);
void pairlist_sort(struct pairlist *l);         /* by id */
void pairlist_release(struct pairlist *l);

/* The texts of a pair without tags. They are borrowed from the pair or from the
 * buffers, and valid until the next call. */
struct plain_text {
    struct strbuf buffers[2];
    struct str source, target;
};
void plain_text_init(struct plain_text *p);
void plain_text_release(struct plain_text *p);
enum status plain_text_set(struct plain_text *p,
                           const struct source_pair *from, struct err *e);

#endif
