/* pair_sizes.c - finds the distinct lengths of pairs, and computes the diagonal
 * prior for each of them. */
#include "align/pair_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "align/diagonal.h"
#include "base/invariant.h"
#include "base/mem.h"

void pair_sizes_release(struct pair_sizes *s)
{
    free(s->at);
    free(s->of_pair);
    free(s->sum);
    free(s->linked);
    memset(s, 0, sizeof *s);
}

static bool pair_sizes_add(struct pair_sizes *s, uint32_t given, uint32_t made)
{
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = (struct pair_size){ given, made, s->n_places };
    s->n_places += made;
    return true;
}

static bool pair_sizes_group(struct pair_sizes *s, struct map64 *known,
                             size_t n_pairs, const struct bitext_side *given,
                             const struct bitext_side *made)
{
    for (size_t pair = 0; pair < n_pairs; pair++) {
        uint32_t g = bitext_text(given, pair).n, m = bitext_text(made, pair).n;
        uint32_t *index;
        bool fresh;

        assert(!g == !m);
        s->of_pair[pair] = 0;
        if (!g) continue;
        index = map64_put(known, (uint64_t)g << 32 | m, &fresh);
        if (!index) return false;
        if (fresh) {
            *index = (uint32_t)s->n;
            if (!pair_sizes_add(s, g, m)) return false;
        }
        s->of_pair[pair] = *index;
    }
    return true;
}

enum status pair_sizes_init(struct pair_sizes *s, size_t n_pairs,
                            const struct bitext_side *given,
                            const struct bitext_side *made, struct err *e)
{
    struct map64 known = { 0 };
    bool ok;

    s->of_pair = malloc((n_pairs + 1) * sizeof *s->of_pair);
    ok = s->of_pair && pair_sizes_group(s, &known, n_pairs, given, made);
    map64_release(&known);
    s->sum = malloc((s->n_places + 1) * sizeof *s->sum);
    s->linked = malloc((s->n_places + 1) * sizeof *s->linked);
    ok = ok && s->sum && s->linked;
    return ok ? ST_OK : err_nomem(e, "the lengths of pairs");
}

void pair_sizes_begin(struct pair_sizes *s, double tension)
{
    for (size_t k = 0; k < s->n; k++) {
        const struct pair_size *size = &s->at[k];

        for (uint32_t i = 1; i <= size->made; i++)
            s->sum[size->place + i - 1] =
                diagonal_sum(tension, i, size->made, size->given);
    }
    memset(s->linked, 0, s->n_places * sizeof *s->linked);
}

double pair_sizes_expect(const struct pair_sizes *s, double tension)
{
    double expected = 0;

    for (size_t k = 0; k < s->n; k++) {
        const struct pair_size *size = &s->at[k];

        for (uint32_t i = 1; i <= size->made; i++)
            expected += s->linked[size->place + i - 1] *
                        diagonal_mean(tension, i, size->made, size->given);
    }
    return expected;
}
