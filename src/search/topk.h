/* topk.h - the k largest values of a row of logits. */
#ifndef SEARCH_TOPK_H
#define SEARCH_TOPK_H

#include <stdint.h>

#define TOPK_MAX 136            /* 2 * 64 candidates and a few forbidden ids */

struct topk_entry { float value; int32_t id; };

/* Find the k largest of x [n], in descending order, equal values by lower id.
 * block_max holds the maximum of each run of PANEL values; runs whose maximum
 * is too small are not read. Returns the number found: k, or n when n < k. */
int topk(const float *x, int n, const float *block_max, int k,
         struct topk_entry *out);

#endif
