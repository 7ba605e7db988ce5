/* source_index.h - the entries of a datastore that are aligned to source tokens
 * like those of a sentence (Meng et al. 2022; method 9.1).
 *
 * The datastore has the encoder states of the source tokens of its pairs, and
 * for each of these tokens the entries that it is aligned to (entries.h). The
 * index lists, for each token of the vocabulary, where it occurs. For a token
 * of a sentence, the occurrences of the same token with the most similar states
 * are found, and through their links the candidates of the sentence: the
 * entries that the decoder compares its states with (candidate_set.h).
 *
 * Only occurrences with a link to an entry that can be found are in the index.
 * So a deleted pair has no influence.
 *
 * An index never changes, and threads may share it. It takes 4 bytes for each
 * source token of the datastore. */
#ifndef KNN_SOURCE_INDEX_H
#define KNN_SOURCE_INDEX_H

#include "knn/entries.h"

struct source_index;            /* opaque */

/* Holds s. Fails with ST_ARGUMENT if the datastore has no source tokens, with
 * ST_LIMIT if it has 2^32 or more, and with ST_NOMEM. */
enum status source_index_new(struct source_index **out, struct entries *s,
                             struct err *e);
void source_index_free(struct source_index *ix);        /* NULL is fine */

/* How often a token occurs. Any number is fine. */
size_t source_index_count(const struct source_index *ix, int32_t token);

/* The source of a sentence. */
struct source_states {
    const int32_t *token;       /* [n] */
    const float *states;        /* [n, ld] of the encoder, s->d_model numbers
                                   each, of any norm */
    size_t ld;
    int n;
};

/* Entry `entry` of block `block`. */
struct entry_place { int32_t block, entry; };
struct place_list {             /* initialize with zeros */
    struct entry_place *at;     /* [n] by block, then entry; all different */
    size_t n, cap;
};
void place_list_release(struct place_list *l);

/* Find the candidates of a sentence: for each of its tokens the `most`
 * occurrences of the same token with the largest cosine of their states (equal
 * ones in the order of the datastore), and then all entries that these are
 * aligned to. All occurrences are compared. A token that does not occur has no
 * candidates. Replaces the content of out. Fails with ST_NOMEM only. */
enum status source_index_search(const struct source_index *ix,
                                const struct source_states *q, int most,
                                struct place_list *out, struct err *e);

#endif
