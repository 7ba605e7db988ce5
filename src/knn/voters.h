/* voters.h - what all systems share that search a sentence's own datastore: the
 * neighbors of each row, which of their votes count, guesses of what follows,
 * and the explanations. A mixer has a struct voters as a member.
 *
 * Invariants:
 *   - The datastore is empty, and similarity and nb are NULL, before
 *     voters_prepare and after voters_end, and always in a sentence without
 *     pairs.
 *   - nb of row i belongs to the last pass only. */
#ifndef KNN_VOTERS_H
#define KNN_VOTERS_H

#include "knn/datastore.h"
#include "knn/repeat.h"
#include "knn/system.h"

struct voters {
    struct system_options o;
    struct datastore store;
    struct system_pair *pairs;  /* [store.n_pairs] as they were given */
    float *similarity;          /* [store.n_pairs] */
    const int32_t *source;      /* [n_source] pieces of the sentence */
    int n_source;
    int first_piece, end_piece; /* its tokens that are not special */
    int rows;                   /* most rows of the sentence in a pass */
    struct neighbor *nb;        /* [rows, o.k] of the last pass */
    int hyps, tokens;           /* room for explanations; 0: none */
    struct explanation *why;    /* [hyps, tokens] */
    struct vote *votes;         /* [hyps, tokens, o.k] memory of why[].votes */
};

/* Fails with ST_ARGUMENT when an option is out of range; k is at most
 * most_k. */
enum status voters_init(struct voters *v, const struct system_options *o,
                        const struct system_sentence *s, int most_k,
                        struct err *e);
/* Add the keys of the sentence. */
enum status voters_prepare(struct voters *v, const struct system_pair *pairs,
                           int n, struct err *e);
/* Release what voters_prepare made. The explanations stay. */
void voters_end(struct voters *v);
void voters_release(struct voters *v);

/* Find the neighbors of n rows of the last pass of x, from `row` on. *found is
 * the number of neighbors of each row; 0 when there are no entries. Those of
 * row i are voters_of(v, i). */
enum status voters_find(struct voters *v, struct executor *x, int row, int n,
                        int *found, struct err *e);
static inline struct neighbor *voters_of(const struct voters *v, int i)
{
    return v->nb + (size_t)i * (size_t)v->o.k;
}
/* The neighbors of one row, for an explanation; nb has room for o.k. */
enum status voters_find_again(const struct voters *v, struct executor *x,
                              int row, struct neighbor *nb, int *found,
                              struct err *e);

/* The last tokens of a translation, as far as votes depend on them: oldest
 * first. */
struct voters_said {
    int32_t token[REPEAT_TOKENS];
    int n;
};
void voters_said_row(struct voters_said *said, const struct mixer_rows *in,
                     int i);
void voters_said_token(struct voters_said *said,
                       const struct mixer_reading *in, int t);
/* Whether a neighbor is for EOS, and EOS has to abstain. */
bool vote_abstains(const struct voters *v, const struct neighbor *nb);
/* Whether the vote of a neighbor counts: it does not abstain, and does not
 * repeat a phrase too often. */
bool vote_counts(const struct voters *v, const struct voters_said *said,
                 const struct neighbor *nb);

/* Whether the token of a neighbor is a piece of its pair's source but not of
 * the sentence; and whether it is one of the sentence. */
bool voters_foreign(const struct voters *v, const struct neighbor *nb);
bool voters_own(const struct voters *v, const struct neighbor *nb);
/* Where a neighbor and a row come from. The decoder attends to the source: the
 * neighbor to a piece of its pair's source (pair_keys.from), the row to pieces
 * of the sentence. All values are from 0 to 1. */
struct voters_place {
    float aligned;              /* how far the sentence has the word that the
                                   neighbor attends to (system_pair.same_word);
                                   0: it does not */
    float focus;                /* how much the row attends to that piece */
    float shared;               /* how much it attends to words that the pair's
                                   source has, too */
};
/* attention is that of the row [n_source]. */
struct voters_place voters_place(const struct voters *v,
                                 const struct neighbor *nb,
                                 const float *attention);

/* Add a guess for each token that got a vote: the continuation of the nearest
 * pair that voted for it. */
void voters_guess(const struct voters *v, const struct neighbor *nb, int n,
                  struct mixture *out);
/* Guess that the translation begins like the best pair. */
void voters_guess_first(const struct voters *v, struct guess *out);

/* Record the votes on token t of a reading, n of them, and their shares.
 * Returns the record, so that the caller can add reasons. */
struct explanation *voters_record(struct voters *v,
                                  const struct mixer_reading *in, int t,
                                  float weight, const struct neighbor *nb,
                                  const float *share, int n);
/* Whether a reading can be recorded: there is room for its translation, and
 * there are entries. */
bool voters_can_record(const struct voters *v, const struct mixer_reading *in,
                       int t);
struct explanation voters_explanation(const struct voters *v, int hyp, int pos);

#endif
