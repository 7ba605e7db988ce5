/* topk.c - insertion into a short sorted list, after skipping the blocks whose
 * maximum rules them out. */
#include "nn/topk.h"

#include <assert.h>
#include <math.h>

#include "tensor/tensor.h"

/* Insert v into the descending list of at most k values. Returns its new
 * length. */
static int topk_insert(struct token_logit *list, int len, int k,
                       struct token_logit v)
{
    int i;

    if (len == k && v.logit <= list[len - 1].logit) return len;
    for (i = len < k ? len : k - 1; i > 0 && list[i - 1].logit < v.logit; i--)
        list[i] = list[i - 1];
    list[i] = v;
    return len < k ? len + 1 : k;
}

/* The k-th largest block maximum. At least k values are that large, so no
 * smaller value is among the k largest. */
static float floor_of(const float *block_max, int blocks, int k,
                      struct token_logit *tmp)
{
    int len = 0;

    if (blocks < k) return -INFINITY;
    for (int b = 0; b < blocks; b++)
        len = topk_insert(tmp, len, k, (struct token_logit){ block_max[b], b });
    return tmp[k - 1].logit;
}

int topk(const float *x, int n, const float *block_max, int k,
         struct token_logit *out)
{
    int blocks = (n + PANEL - 1) / PANEL, len = 0;
    float least;

    assert(k > 0 && k <= PROJECT_BEST && n > 0);
    least = floor_of(block_max, blocks, k, out);
    for (int b = 0; b < blocks; b++) {
        int end = (b + 1) * PANEL < n ? (b + 1) * PANEL : n;

        if (block_max[b] < least) continue;
        for (int i = b * PANEL; i < end; i++)
            if (x[i] >= least)
                len = topk_insert(out, len, k, (struct token_logit){ x[i], i });
    }
    return len;
}
