/* tail.h - an index of the newest texts, in memory.
 *
 * The tail grows by one document at a time and is emptied as a whole. Posting
 * lists are chains through one array, so that adding a text takes about a
 * microsecond and emptying the tail frees nothing.
 *
 * Invariants: along a chain, document numbers fall strictly. n_live and words
 * count the live documents, which are those not marked deleted (dead), and
 * counts has the number of live documents of each term. A dead document keeps
 * its postings. by_text leads to the last document of a text; at most that one
 * is live. After tail_add failed, the tail must be emptied before it is used
 * again. */
#ifndef TM_TAIL_H
#define TM_TAIL_H

#include "base/map64.h"
#include "tm/analyze.h"

struct tail_doc {
    int64_t text;
    uint32_t words;             /* terms, with repetitions */
    uint8_t length;             /* length_byte.h */
    bool dead;
};
struct tail_post { uint32_t doc, tf, next; };   /* next: index + 1, 0: last */

struct tail {                   /* initialize with zeros */
    struct tail_doc *docs;
    size_t n_docs, cap_docs;
    struct map64 by_text;       /* text id to document */
    struct map64 heads;         /* term hash to posting + 1 */
    struct map64 counts;        /* term hash to number of live documents */
    struct tail_post *posts;
    size_t n_posts, cap_posts;
    uint64_t words;             /* of the live documents */
    uint32_t n_live;
};

void tail_release(struct tail *t);
void tail_reset(struct tail *t);                /* empty; keeps the memory */

/* The text must have no live document. */
enum status tail_add(struct tail *t, int64_t text, const struct terms *terms,
                     struct err *e);
/* The live document of a text; false: it has none. */
bool tail_find(const struct tail *t, int64_t text, uint32_t *doc);
/* Mark a live document deleted. terms: those of the document; this sorts
 * them. */
void tail_mark_deleted(struct tail *t, uint32_t doc, struct terms *terms);

/* The number of live documents that have a term. */
uint32_t tail_df(const struct tail *t, uint64_t hash);
/* The first posting of a term, or NULL. The next one is posts[next - 1]. Dead
 * documents are included. */
const struct tail_post *tail_list(const struct tail *t, uint64_t hash);

/* Tests the invariants above, for PARANOID_CHECK. */
bool tail_sound(const struct tail *t);

#endif
