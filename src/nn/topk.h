/* topk.h - the k largest values of a row of logits. */
#ifndef NN_TOPK_H
#define NN_TOPK_H

#include "nn/backend.h"

/* Find the k largest of x [n], in descending order, equal values by lower id. k
 * is at most PROJECT_BEST. block_max holds the maximum of each run of PANEL
 * values; runs whose maximum is too small are not read. Returns the number
 * found: k, or n when n < k. */
int topk(const float *x, int n, const float *block_max, int k,
         struct token_logit *out);

#endif
