/* source.h - where stored pairs come from: the interface of pair sources.
 *
 * A source has memories, which it lists. It finds candidates for a text in each
 * of them, fetches pairs, tells what has changed since a mark, and has an
 * identity. The
 * memory file is a source (tmfile_source). A source need not be a local file:
 * every call is about many pairs at once, so that a source on another machine
 * needs few round trips.
 *
 * Ranking candidates by edit distance is the task of rerank.h. It needs the
 * symbols (analyze.h) of each candidate's source, or its texts. A source that
 * has stored the symbols returns them, which saves tokenizing. A source whose
 * fetches are slow returns the texts with the candidates, so that filters need
 * no fetch.
 *
 * An implementation embeds struct pair_source as its first member. Whoever
 * opens a source closes it. A source belongs to one thread at a time. */
#ifndef TM_SOURCE_H
#define TM_SOURCE_H

#include "base/err.h"
#include "pair/pair.h"
#include "tm/analyze.h"

/* ---- candidates ---------------------------------------------------------- */

struct candidate_texts {
    struct str source, target;
    bool tagged;                /* both are in the tagged form (pair/tags.h) */
};

/* Invariant: a candidate has symbols, or texts, or both. */
struct candidate {
    int64_t id;                 /* for source_fetch; greater than 0. It names a
                                   text of one memory: pairs with equal texts
                                   may share an id. A newer text should have a
                                   higher id. */
    double score;               /* by the source's own measure, which need not
                                   be comparable between memories */
    bool has_symbols;
    uint32_t n_symbols, chars;  /* of its source */
    size_t symbols_at;          /* see candidate_symbols */
    const struct candidate_texts *texts;        /* may be NULL */
};

struct candidate_list {         /* the candidates of a memory, best first */
    const struct memory_info *memory;
    size_t begin, n;            /* in candidates.at */
    size_t rank;                /* of the first one; others follow. 0 in find,
                                   q->top in find_ties. */
};

/* Every memory in use has a list, also if it is empty. The order of equal
 * scores is free. What memory and texts point to belongs to the source and is
 * valid until the next source_find, also if pairs are added or removed
 * before. */
struct candidates {             /* initialize with zeros */
    struct candidate *at;
    size_t n, cap;
    struct candidate_list *lists;
    size_t n_lists, lists_cap;
    uint32_t *symbols;
    size_t n_symbols, symbols_cap;
};
void candidates_release(struct candidates *c);
static inline const uint32_t *candidate_symbols(const struct candidates *c,
                                                const struct candidate *it)
{
    return c->symbols + it->symbols_at;
}

/* For sources: empty the list, begin the list of a memory, append a candidate
 * to that list, and set the symbols of the last candidate, which are copied.
 * All but the first return false when out of memory. */
void candidates_reset(struct candidates *c);
bool candidates_begin_list(struct candidates *c, const struct memory_info *m,
                           size_t rank);
bool candidates_add(struct candidates *c, int64_t id, double score,
                    const struct candidate_texts *texts);
bool candidates_set_symbols(struct candidates *c, const uint32_t *at, size_t n,
                            uint32_t chars);
/* Whether every candidate can be ranked, and each list is in order. For
 * PARANOID_CHECK and tests. */
bool candidates_sound(const struct candidates *c);

/* ---- pairs --------------------------------------------------------------- */

/* What to fetch. Each part may cost a query, so only what is needed should be
 * asked for. */
enum {
    FETCH_TEXTS = 1,            /* source, target, tagged */
    FETCH_RECORD = 2,           /* all of the oldest pair with these texts, its
                                   memory, and the number of such pairs */
    FETCH_CONFIRMED = 4         /* when it was confirmed last */
};
struct source_want { int64_t id; unsigned parts; };

struct source_pair {
    bool found;                 /* false: it was removed meanwhile, and nothing
                                   else is set */
    struct pair pair;           /* FETCH_TEXTS: source, target and tagged of
                                   its unit; FETCH_RECORD: all */
    const struct memory_info *memory;   /* FETCH_RECORD */
    int64_t occurrences;                /* FETCH_RECORD */
    struct confirmation confirmed;      /* FETCH_CONFIRMED */
};
/* p is valid during the call. The function must not call the source. An error
 * ends the fetch, which returns it. */
typedef enum status source_fetch_fn(void *user, size_t i,
                                    const struct source_pair *p,
                                    struct err *e);

/* ---- changes ------------------------------------------------------------- */

/* A point in the history of a source. It is valid for the source that set it,
 * as long as that is open. The meaning of the fields is up to the source, but
 * zeros are the mark before everything: they always give SOURCE_RESET, and no
 * source sets a mark to zeros. */
struct source_mark { uint64_t version, change, memories; };

enum source_news {
    SOURCE_SAME,                /* nothing has changed since the mark */
    SOURCE_CHANGED,             /* pairs were added or removed, as listed; other
                                   data, such as dates, may have changed too */
    SOURCE_RESET                /* anything may have changed; the list has
                                   everything that exists now */
};
struct source_change { bool removed; int64_t id; };
/* Return non-zero to stop; source_changes then returns ST_CANCELED. The
 * function must not call the source. */
typedef int source_change_fn(void *user, const struct source_change *c);

/* ---- the interface ------------------------------------------------------- */

struct source_query {
    struct str text;            /* plain text, valid UTF-8 */
    size_t top;                 /* candidates of each memory */
    struct analyzer analyzer;   /* the terms to count, if the score of the
                                   source counts terms */
    const struct subword *sw;   /* the tokenizer of symbols; NULL: words */
    uint64_t tokenizer;         /* the hash that identifies sw */
    bool chars;                 /* symbols need their `chars`, too */
};

/* find_ties looks at no more than this many candidates of a memory. */
enum { SOURCE_TIES_MAX = 4096 };

struct pair_source { const struct source_ops *ops; };

/* The functions below empty `out` and call these; they check the results.
 * All but find_ties must be there. */
struct source_ops {
    enum status (*find)(struct pair_source *s, const struct source_query *q,
                        struct candidates *out, struct err *e);
    enum status (*find_ties)(struct pair_source *s,         /* may be NULL */
                             const struct source_query *q, int64_t memory,
                             struct candidates *out, struct err *e);
    enum status (*fetch)(struct pair_source *s, const struct source_want *w,
                         size_t n, source_fetch_fn *fn, void *user,
                         struct err *e);
    enum status (*changes)(struct pair_source *s, struct source_mark *mark,
                           source_change_fn *fn, void *user,
                           enum source_news *news, struct err *e);
    enum status (*memories)(struct pair_source *s,
                            const struct memory_info **list, size_t *n,
                            struct err *e);
    uint64_t (*identity)(struct pair_source *s);
};

/* The best candidates of each memory, of its present state. Replaces the
 * contents of out. A pair that has nothing in common with the text is not a
 * candidate. A pair that is removed during the search may be among them. */
enum status source_find(struct pair_source *s, const struct source_query *q,
                        struct candidates *out, struct err *e);
/* The candidates of one memory that come after the first q->top and have the
 * same score as the last of these. A source may return none, as one without
 * find_ties does. Call this only after source_find with the same query. */
enum status source_find_ties(struct pair_source *s,
                             const struct source_query *q, int64_t memory,
                             struct candidates *out, struct err *e);
/* Calls fn for each of the n pairs, in their order, as of one moment. */
enum status source_fetch(struct pair_source *s, const struct source_want *w,
                         size_t n, source_fetch_fn *fn, void *user,
                         struct err *e);
/* Lists the changes of the memories in use since the mark, and sets the mark to
 * the present. They come in any order; a pair that was added and removed since
 * the mark may be left out. fn may be NULL. On error, and if fn stops, the mark
 * stays as it was. */
enum status source_changes(struct pair_source *s, struct source_mark *mark,
                           source_change_fn *fn, void *user,
                           enum source_news *news, struct err *e);
/* The memories in use. The list belongs to the source and is valid until the
 * next call. */
enum status source_memories(struct pair_source *s,
                            const struct memory_info **list, size_t *n,
                            struct err *e);
/* A number, not 0, that tells this collection of pairs from any other. */
uint64_t source_identity(struct pair_source *s);

#endif
