/* repeat.h - detect votes that would only repeat the last words.
 *
 * The decoder's state after "the end." is often still near the stored state
 * before a period, so a stored sentence votes for "." again and again, and
 * some votes repeat a longer phrase: "the purchaser's pay the purchaser's
 * pay". A token completes a repetition when, with it, the last p
 * tokens of the translation are the same as the p tokens before them. Such a
 * vote counts only while the phrase occurs at most `limit` times in a row, or
 * if the stored sentence has the same repetition at that place. A phrase that
 * occurs again after other words is not a repetition. */
#ifndef KNN_REPEAT_H
#define KNN_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPEAT_MAX_PHRASE = 16,     /* tokens of the longest phrase checked */
    REPEAT_MAX_LIMIT = 8,
    /* The check never needs more than this many of the last tokens. */
    REPEAT_TOKENS = REPEAT_MAX_PHRASE * (REPEAT_MAX_LIMIT + 1)
};

/* Whether a vote for stored[pos] repeats a phrase more than `limit` times.
 * said[n_said] holds the last tokens of the translation so far: all of them,
 * or at least REPEAT_TOKENS. stored[0 .. pos) precedes the token in the stored
 * sentence. limit is 1 to REPEAT_MAX_LIMIT. */
bool repeats_too_often(const int32_t *said, int n_said, const int32_t *stored,
                       int pos, int limit);

#endif
