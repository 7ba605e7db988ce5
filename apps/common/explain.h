/* explain.h - explains how the memory influenced a translation.
 *
 * The library reports votes for single tokens. Here tokens are joined to words,
 * and the votes are located in the texts of the stored pairs, one sentence at a
 * time. Results must come from a stream, session or service with option
 * "explain".
 *
 * The weight of a token is lambda, the weight of the memory in the decision for
 * it, from 0 to 1 (skmt_result_weight()). A struct explain may be used by one
 * thread at a time. */
#ifndef COMMON_EXPLAIN_H
#define COMMON_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/textbuf.h"
#include "skmt.h"

struct explain_word {           /* the text between two spaces */
    int first, n;               /* its tokens */
    size_t begin, end;          /* bytes of the text, without spaces */
    double low, high;           /* lowest and highest weight of its tokens */
    int pair;                   /* with the most weight in it; -1: none */
};

struct explain_place {          /* a token of a pair's target that voted */
    int pair, position;
    int32_t id;
    const char *text;           /* as in the vocabulary */
    bool matches_output;        /* for at least one of its votes, the token
                                   voted for is the one in the translation */
    int word;                   /* the first word it voted for; if
                                   matches_output, the first such word */
    size_t begin, end;          /* bytes of the target, ascending with position;
                                   empty for a token without text (EOS) */
};

struct explain_pair {
    skmt_found_pair match;        /* the pair and its similarity */
    int first, n;               /* its places; n is 0 if it did not vote */
};

struct explain {
    const skmt_model *model;    /* borrowed */
    skmt_session *tokenizer;    /* splits targets into pieces */

    const skmt_result *r;       /* the sentence below is of this result, which
                                   must still exist */
    int hyp, seg;
    bool exact;                 /* the target of the first pair was reused; the
                                   other pairs are alternatives */
    const char *text;           /* the translation is [begin, end) of it */
    size_t begin, end;
    struct explain_word *words;
    struct explain_place *places;       /* sorted by pair and position */
    struct explain_pair *pairs;         /* best first */
    int n_words, n_places, n_pairs;
    size_t cap_words, cap_places, cap_pairs;
};

void explain_init(struct explain *x, const skmt_model *model);
void explain_release(struct explain *x);        /* x may be zeroed */
/* Computes the words, places and pairs of a sentence. Returns false on
 * failure, with the error in *err. */
bool explain_load(struct explain *x, const skmt_result *r, int hyp, int seg,
                  skmt_error *err);
int explain_n_voting(const struct explain *x);  /* number of pairs that voted */
/* Whether a token counts for the weight and the pair of its word. A token that
 * is only the space before the word does not. */
bool explain_counts(const struct explain *x, const struct explain_word *w,
                    const skmt_piece *p);

/* Whether a pair was found by its similarity, in a memory or by the caller. A
 * pair of a datastore was not; it has no similarity and no name of a memory. */
static inline bool explain_has_similarity(const skmt_found_pair *p)
{
    return p->similarity >= 0;
}

/* Returns a piece of the vocabulary without the mark for a leading space. */
const char *explain_piece(const char *text);

/* Appends what raised (+) or lowered (-) the weight of token i most, such as
 * "close state (+), model disagrees (-)". Returns the number of reasons; if it
 * is 0, nothing is appended. Phrases contain no characters that HTML
 * reserves. */
int explain_put_reasons(const struct explain *x, struct textbuf *t, int i);

/* ---- as JSON: members of the objects of a sentence and of a token */

/* Appends "pairs": the pairs that steered the sentence, without
 * alternatives. */
void explain_json_pairs(struct textbuf *t, const skmt_result *r, int seg);
/* Appends an array of the other stored translations of sentences [seg, end)
 * whose stored translation was reused. Returns their number; if it is 0,
 * nothing is appended. */
int explain_json_alternatives(struct textbuf *t, const skmt_result *r, int seg,
                              int end);
void explain_json_token(struct textbuf *t, const skmt_result *r, int hyp,
                        int seg, int i);

#endif
