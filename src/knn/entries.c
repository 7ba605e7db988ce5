/* entries.c - finds the block of a pair and reads single keys. Searching all
 * keys is the job of entry_search.c. */
#include "knn/entries.h"

#include "base/invariant.h"
#include "tensor/tensor.h"

const struct entry_block *entries_block_of(const struct entries *s,
                                           int32_t pair)
{
    int low = 0, high = s->n_blocks - 1;

    assert(pair >= 0 && pair < s->n_pairs);
    while (low < high) {        /* the last block that begins at or before */
        int mid = low + (high - low + 1) / 2;

        if (s->blocks[mid].first_pair <= pair) low = mid;
        else high = mid - 1;
    }
    assert(pair - s->blocks[low].first_pair < s->blocks[low].n_pairs);
    return &s->blocks[low];
}

static void read_int8(const struct entry_block *b, int i, int d, float *out)
{
    size_t groups = (size_t)pad_to(d, 4) / 4;
    const int8_t *panel = (const int8_t *)b->keys +
                          (size_t)(i / ENTRY_PANEL) * groups * ENTRY_PANEL * 4;
    const int8_t *at = panel + i % ENTRY_PANEL * 4;

    for (int k = 0; k < d; k++)
        out[k] = b->scale[i] * (float)at[(size_t)(k / 4) * ENTRY_PANEL * 4 +
                                         (size_t)(k % 4)];
}

void entries_key(const struct entries *s, const struct entry_block *b, int i,
                 float *out)
{
    const uint16_t *row;

    assert(i >= 0 && i < b->n);
    if (s->type == ENTRY_INT8) {
        read_int8(b, i, s->d, out);
        return;
    }
    row = (const uint16_t *)b->keys + (size_t)i * (size_t)pad_to(s->d, 32);
    for (int k = 0; k < s->d; k++) out[k] = f16_to_f32(row[k]);
}

const int32_t *entries_tokens(const struct entries *s, int32_t pair, int *n)
{
    const struct entry_block *b = entries_block_of(s, pair);
    struct entry_span span = b->span[pair - b->first_pair];

    *n = (int)span.n;
    return b->token + span.first;
}
