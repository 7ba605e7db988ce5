/* voters.h - what all systems share that search for neighbors: the neighbors of
 * each row, which of their votes count, guesses of what follows, and the
 * explanations. A mixer has a struct voters as a member.
 *
 * Neighbors come from one of three places:
 *   - the sentence's own datastore, of the pairs that were found for it
 *     (voters_prepare), or of all corrections so far (voters_prepare_online);
 *   - a datastore of all pairs, which is searched for all sentences of a pass
 *     together (voters_prepare_entries, voters_ask);
 *   - a finder of the system, over entries of such a datastore
 *     (voters_prepare_finder).
 *
 * Invariants:
 *   - The datastore is empty, finder, asking, similarity, found and nb are
 *     NULL, before voters_prepare.. and after voters_end, and always in a
 *     sentence without neighbors.
 *   - Of finder and asking at most one is set.
 *   - nb and found of row i belong to the last pass only. */
#ifndef KNN_VOTERS_H
#define KNN_VOTERS_H

#include "knn/asking.h"
#include "knn/datastore.h"
#include "knn/entries.h"
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
    struct entries *entries;    /* held until voters_release; neighbors name its
                                   pairs. NULL: they name those of `online`, or
                                   of `pairs` */
    struct online_view *online; /* held likewise, or NULL */
    const struct finder *finder;        /* &store.finder, or borrowed */
    struct asking *asking;      /* owned */
    bool in_chunks;             /* not every step searches (chunks.h) */
    int max_len;                /* most tokens of a translation */
    struct neighbor *nb;        /* [rows, o.k] of the last pass */
    int *found;                 /* [rows] */
    int hyps, tokens;           /* room for explanations; 0: none */
    struct explanation *why;    /* [hyps, tokens] */
    struct vote *votes;         /* [hyps, tokens, o.k] memory of why[].votes */
    struct neighbor *again;     /* [tokens, o.k] of a reading */
    int *found_again;           /* [tokens] */
    int32_t *named;             /* [n_named] pairs of `entries` or `online` that
                                   votes name, by their index in the
                                   explanations; NULL: that of `pairs` */
    int n_named;
    int32_t *named_at;          /* [named_mask + 1] hash table: index in `named`
                                   plus 1, or 0 */
    uint32_t named_mask;
};

/* Fails with ST_ARGUMENT when an option is out of range; k is at most
 * most_k. */
enum status voters_init(struct voters *v, const struct system_options *o,
                        const struct system_sentence *s, int most_k,
                        struct err *e);
/* Add the keys of the sentence. */
enum status voters_prepare(struct voters *v, const struct system_pair *pairs,
                           int n, struct err *e);
/* Search o.entries, with the worker's own search, as o.cache and o.chunk
 * say. */
enum status voters_prepare_entries(struct voters *v, struct worker_search *ws,
                                   struct err *e);
/* Add the keys of all corrections of o.online. */
enum status voters_prepare_online(struct voters *v, struct err *e);
/* Ask this finder, whose neighbors are entries of o.entries. It is borrowed
 * until voters_end. */
enum status voters_prepare_finder(struct voters *v, const struct finder *f,
                                  struct err *e);
/* Release what voters_prepare.. made. The explanations stay. */
void voters_end(struct voters *v);
void voters_release(struct voters *v);

/* The search to be shared with other sentences (mixer.search), or NULL. */
struct pass_search *voters_search(const struct voters *v);
/* Put the rows into the queue of that search; to be used by `ask`. */
enum status voters_ask(struct voters *v, const struct mixer_rows *in,
                       struct err *e);
/* Find the neighbors of the rows, unless the shared search has found them.
 * Row i has voters_count(v, i) neighbors, voters_of(v, i). */
enum status voters_find(struct voters *v, const struct mixer_rows *in,
                        struct err *e);
/* Whether there are entries to search. If not, voters_find finds nothing. */
static inline bool voters_active(const struct voters *v)
{
    return v->finder || v->asking;
}
static inline struct neighbor *voters_of(const struct voters *v, int i)
{
    return v->nb + (size_t)i * (size_t)v->o.k;
}
static inline int voters_count(const struct voters *v, int i)
{
    return v->found[i];
}
/* Find the neighbors of the rows of a reading, for explanations: of token t,
 * voters_again(v, t, &n). Only if voters_can_record(v, in, 0). */
enum status voters_find_again(struct voters *v, const struct mixer_reading *in,
                              struct err *e);
static inline struct neighbor *voters_again(const struct voters *v, int t,
                                            int *n)
{
    *n = v->found_again[t];
    return v->again + (size_t)t * (size_t)v->o.k;
}

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
 * pair that voted for it. No guesses are made from a datastore of all pairs. */
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
/* Pair i of the explanations, if neighbors do not name the pairs of the
 * sentence. Returns false if there is none. */
bool voters_pair(const struct voters *v, int i, struct mixer_pair *out);

#endif
