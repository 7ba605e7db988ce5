/* repeat.h - votes that would only repeat what was just said.
 *
 * The decoder's state after "the end." is often still near the stored state
 * before a period, so a stored sentence votes for "." again and again, and
 * some votes lead around a longer circle: "the purchaser's pay the
 * purchaser's pay". A token completes a repetition when, with it, the last p
 * tokens of the translation are the same as the p tokens before them. Such a
 * vote counts only while the phrase occurs at most `limit` times in a row, or
 * if the stored sentence has the same repetition at that place. A phrase that
 * comes again after other words is no repetition. */
#ifndef KNN_REPEAT_H
#define KNN_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPEAT_MAX_PHRASE = 16,     /* tokens of the longest phrase looked for */
    REPEAT_MAX_LIMIT = 8,
    /* So many of the last tokens are enough. */
    REPEAT_TOKENS = REPEAT_MAX_PHRASE * (REPEAT_MAX_LIMIT + 1)
};

/* said[n_said]: the last tokens of the translation so far, at least
 * REPEAT_TOKENS of them if it has as many. The vote is for stored[pos], and
 * stored[0 .. pos) comes before it in the stored sentence. limit is 1 to
 * REPEAT_MAX_LIMIT. */
bool repeats_too_often(const int32_t *said, int n_said, const int32_t *stored,
                       int pos, int limit);

#endif
