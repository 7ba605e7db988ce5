/* piece_match.h - compares the source of a stored pair with a sentence: which
 * of its pieces the sentence has, too.
 *
 * Pieces are matched by the longest common subsequence. A word is a run of
 * pieces from one that begins a word (subword_begins_word) to the next;
 * punctuation and special tokens are words of their own. "ausgeschaltet" and
 * "eingeschaltet" share the piece "geschaltet" but are different words, so the
 * match of that piece is half a match. */
#ifndef ENGINE_PIECE_MATCH_H
#define ENGINE_PIECE_MATCH_H

#include "base/err.h"
#include "text/subword.h"

struct piece_match {            /* zeros: no pieces */
    int32_t *token;             /* [n] by stored piece: the equal token of the
                                   sentence, or -1. Those that are not -1
                                   ascend. */
    float *same_word;           /* [n] which share of the pieces of its word
                                   has a match, 0 to 1: the smaller one of its
                                   word and that of the sentence. 0 if it has no
                                   match itself. */
    int n;
};

/* Compare n stored pieces with the n_tokens tokens of a sentence, which may
 * include special tokens. Unknown pieces have no match. *m is empty after an
 * error. */
enum status piece_match_init(struct piece_match *m, const struct subword *sw,
                             const int32_t *stored, int n,
                             const int32_t *tokens, int n_tokens,
                             struct err *e);
void piece_match_release(struct piece_match *m);

#endif
