/* repeat.c - finds votes that would repeat a phrase too many times in a row.
 * repeat.h defines what a repetition is. */
#include "knn/repeat.h"

#include "base/invariant.h"

/* How many times in a row the translation would end with its last p tokens if
 * `token` came next. */
static int times_in_a_row(const int32_t *said, int n, int32_t token, int p)
{
    int same = 0;

    if (n < p || said[n - p] != token) return 1;
    do same++;
    while (n - same - p >= 0 && said[n - same] == said[n - same - p]);
    return 1 + same / p;
}

/* How many tokens before stored[pos] equal the last tokens of the
 * translation. */
static int common_tokens(const int32_t *said, int n, const int32_t *stored,
                         int pos)
{
    int same = 0;

    while (same < n && same < pos &&
           said[n - 1 - same] == stored[pos - 1 - same])
        same++;
    return same;
}

bool repeats_too_often(const int32_t *said, int n_said, const int32_t *stored,
                       int pos, int limit)
{
    int common = -1;

    assert(limit >= 1 && limit <= REPEAT_MAX_LIMIT);
    assert(n_said >= 0 && pos >= 0);
    for (int p = 1; p <= REPEAT_MAX_PHRASE; p++) {
        int times = times_in_a_row(said, n_said, stored[pos], p);

        if (times <= limit) continue;
        if (common < 0) common = common_tokens(said, n_said, stored, pos);
        if (common + 1 < times * p) return true;
    }
    return false;
}
