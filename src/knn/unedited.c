/* unedited.c - the path of edit distance by dynamic programming. Texts are at
 * most a few hundred tokens long, so the whole table is kept. */
#include "knn/unedited.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* cost[i * (m + 1) + j]: of changing the first i stored tokens into the first j
 * tokens of the sentence. */
static void fill_costs(const int32_t *a, size_t n, const int32_t *b, size_t m,
                       uint32_t *cost)
{
    size_t w = m + 1;

    for (size_t j = 0; j <= m; j++) cost[j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        cost[i * w] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = cost[(i - 1) * w + j - 1] + (a[i - 1] != b[j - 1]);
            uint32_t drop = cost[(i - 1) * w + j] + 1;
            uint32_t add = cost[i * w + j - 1] + 1;

            if (drop < best) best = drop;
            if (add < best) best = add;
            cost[i * w + j] = best;
        }
    }
}

static void trace_back(const int32_t *a, size_t n, const int32_t *b, size_t m,
                       const uint32_t *cost, uint8_t *kept)
{
    size_t i = n, j = m, w = m + 1;

    memset(kept, 0, n);
    while (i && j) {
        bool same = a[i - 1] == b[j - 1];
        uint32_t here = cost[i * w + j];

        if (here == cost[(i - 1) * w + j - 1] + !same) {
            kept[--i] = same;
            j--;
        } else if (here == cost[(i - 1) * w + j] + 1) {
            i--;
        } else {
            assert(here == cost[i * w + j - 1] + 1);
            j--;
        }
    }
}

enum status unedited_find(const int32_t *stored, int n, const int32_t *sentence,
                          int n_sentence, uint8_t *kept, struct err *e)
{
    size_t a = (size_t)n, b = (size_t)n_sentence;
    uint32_t *cost;

    assert(n >= 0 && n_sentence >= 0);
    cost = malloc((a + 1) * (b + 1) * sizeof *cost);
    if (!cost) return err_nomem(e, "comparing a pair");
    fill_costs(stored, a, sentence, b, cost);
    trace_back(stored, a, sentence, b, cost, kept);
    free(cost);
    return ST_OK;
}

void unedited_fates(const uint8_t *kept, int n_kept,
                    const struct word_link *links, int n_links, uint8_t *fate,
                    int n)
{
    memset(fate, FATE_UNALIGNED, (size_t)n);
    for (int i = 0; i < n_links; i++) {
        uint32_t s = links[i].source, t = links[i].target;

        if (t >= (uint32_t)n || fate[t] == FATE_EDITED) continue;
        fate[t] = s < (uint32_t)n_kept && kept[s] ? FATE_KEPT : FATE_EDITED;
    }
}
