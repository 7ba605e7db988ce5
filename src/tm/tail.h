/* tail.h - the newest texts, indexed in memory.
 *
 * Grows one document at a time and is emptied as a whole. Lists are chains
 * through one array, so that adding a text takes a microsecond and emptying
 * frees nothing. */
#ifndef TM_TAIL_H
#define TM_TAIL_H

#include "base/map64.h"
#include "tm/analyze.h"

struct tail_doc {
    int64_t text;
    uint32_t words;
    uint8_t length;             /* length_byte.h */
    bool dead;
};
struct tail_post { uint32_t doc, tf, next; };   /* next: index + 1, 0: last */

struct tail {                   /* zeroed to begin with */
    struct tail_doc *docs;
    size_t n_docs, cap_docs;
    struct map64 by_text;       /* text id to document */
    struct map64 heads;         /* term hash to posting + 1 */
    struct map64 counts;        /* term hash to live documents */
    struct tail_post *posts;
    size_t n_posts, cap_posts;
    uint64_t words;             /* of the live documents */
    uint32_t n_live;
};

void tail_release(struct tail *t);
void tail_reset(struct tail *t);

enum status tail_add(struct tail *t, int64_t text, const struct terms *terms,
                     struct err *e);
/* The live document of a text; false: none. */
bool tail_find(const struct tail *t, int64_t text, uint32_t *doc);
/* terms: of that document; they are sorted. */
void tail_kill(struct tail *t, uint32_t doc, struct terms *terms);

uint32_t tail_df(const struct tail *t, uint64_t hash);
/* The first posting of a term, then posts[i].next - 1; NULL: none. */
const struct tail_post *tail_list(const struct tail *t, uint64_t hash);

#endif
