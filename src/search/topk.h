/* topk.h - the best few of a row of logits. */
#ifndef SEARCH_TOPK_H
#define SEARCH_TOPK_H

#include <stdint.h>

#define TOPK_MAX 136            /* 2 * 64 candidates and a few barred ids */

struct top { float value; int32_t id; };

/* The k largest of x [n], descending, equal ones by lower id; block_max holds
 * the maximum of each run of PANEL values, so that only runs that can hold
 * one are read. Returns how many there are: k, or n when that is less. */
int topk(const float *x, int n, const float *block_max, int k,
         struct top *out);

#endif
