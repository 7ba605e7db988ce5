/* merge.h - greedy merging: remove entries whose neighbors say the same (He,
 * Neubig and Berg-Kirkpatrick 2021; method 7.2).
 *
 * Entries are visited in a random order. A visited entry takes over those of
 * its k nearest entries that have the same token and that neither took over
 * others nor were taken over. These are removed, and its weight grows by 1 for
 * each. So the weight of an entry is the number of entries that it stands for,
 * and the sum of all weights does not change. A search adds the logarithm of
 * the weight (weigh.h).
 *
 * Nothing is written: the result is a list of weights, from which a smaller
 * datastore can be made. It depends on the seed, but not on how many entries
 * are searched at a time. */
#ifndef KNN_MERGE_H
#define KNN_MERGE_H

#include "knn/entries.h"
#include "knn/finder.h"

/* The search for nearest entries: exact, or by an index. `nearest` is as
 * entry_search_states (entry_search.h), with entry_search *es as `search`. */
struct merge_search {
    enum status (*nearest)(void *search, const float *q, size_t ldq, int n,
                           int k, struct neighbor *out, int *found,
                           struct err *e);
    void *search;
};

/* done of total entries were visited; `left` of all entries remain so far. A
 * non-zero result stops. */
typedef int merge_progress_fn(void *user, int64_t done, int64_t total,
                              int64_t left);

struct merge_options {
    int k;                      /* neighbors of each entry, itself included: 1
                                   to KNN_MAX_K. With 1 only entries with equal
                                   keys are merged. */
    uint64_t seed;              /* of the order */
    merge_progress_fn *progress;        /* may be NULL */
    void *user;
};
struct merge_options merge_options_defaults(void);

struct merge_result {
    int64_t n;                  /* entries, with those that were deleted
                                   before; numbers as in entry_numbers.h */
    uint32_t *weight;           /* [n] 0: removed, or deleted before */
    int64_t before, after;      /* entries that can be found */
};

/* Entries may have weights already; those above 1 are kept then. Fails with
 * ST_CANCELED, with ST_LIMIT if there are 2^32 entries or more, or as the
 * search does. Release the result in any case. */
enum status merge_entries(struct merge_result *out, const struct entries *s,
                          const struct merge_search *search,
                          const struct merge_options *o, struct err *e);
void merge_result_release(struct merge_result *r);

#endif
