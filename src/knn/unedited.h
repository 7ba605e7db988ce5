/* unedited.h - the tokens of a stored text that a sentence has, too, and the
 * fates of the target words that translate them (method 10.1).
 *
 * Both texts are compared by edit distance: an insertion, a deletion and a
 * replacement cost 1. A stored token is unedited if it is paired with an equal
 * token on the path of the smallest cost. All functions are pure. */
#ifndef KNN_UNEDITED_H
#define KNN_UNEDITED_H

#include "align/symmetrize.h"
#include "base/err.h"

/* Set kept[i] to 1 if stored token i is unedited, else to 0. Of several paths
 * the one is taken that, read from the end, replaces or pairs tokens where it
 * can, else drops a stored token. */
enum status unedited_find(const int32_t *stored, int n, const int32_t *sentence,
                          int n_sentence, uint8_t *kept, struct err *e);

/* What the links of a target word say. */
enum word_fate {
    FATE_UNALIGNED,             /* it has no links */
    FATE_KEPT,                  /* all its links go to unedited words */
    FATE_EDITED                 /* a link goes to an edited word */
};

/* Set the fates of n target words. Source words from n_kept on count as edited:
 * nothing is known about them. Links to other target words are ignored. */
void unedited_fates(const uint8_t *kept, int n_kept,
                    const struct word_link *links, int n_links, uint8_t *fate,
                    int n);

#endif
