/* cover.c - the greedy set cover of cover.h. Each round looks at all uses. A
 * sentence has a few thousand of them and needs some ten rounds, so it does not
 * need more than that. */
#include "common/cover.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cover {
    const struct cover_use *uses;       /* [n] */
    int n, n_steps, n_pairs;
    int *times;                 /* [n_steps] chosen pairs that the step has */
    int *gain;                  /* [n_pairs] uncovered steps that have it */
    int *last_step;             /* [n_pairs] the last step counted, plus 1 */
};

/* Call this before each walk over the uses. */
static void cover_forget(struct cover *c)
{
    memset(c->last_step, 0, (size_t)c->n_pairs * sizeof *c->last_step);
}

/* Whether use i is the first one of this pair and step. */
static bool cover_is_new(struct cover *c, int i)
{
    int step = c->uses[i].step, *last = &c->last_step[c->uses[i].pair];
    bool is_new = *last != step + 1;

    assert(!i || step >= c->uses[i - 1].step);
    *last = step + 1;
    return is_new;
}

/* Add `by` to the times of all steps that have the pair. Returns the lowest
 * that results. */
static int cover_count(struct cover *c, int pair, int by)
{
    int lowest = c->n_pairs;

    cover_forget(c);
    for (int i = 0; i < c->n; i++) {
        int *times = &c->times[c->uses[i].step];

        if (c->uses[i].pair != pair || !cover_is_new(c, i)) continue;
        *times += by;
        if (*times < lowest) lowest = *times;
    }
    return lowest;
}

/* The pair that covers most, or -1 if all steps are covered. */
static int cover_best(struct cover *c)
{
    int best = -1, most = 0;

    memset(c->gain, 0, (size_t)c->n_pairs * sizeof *c->gain);
    cover_forget(c);
    for (int i = 0; i < c->n; i++)
        if (cover_is_new(c, i) && !c->times[c->uses[i].step])
            c->gain[c->uses[i].pair]++;
    for (int p = 0; p < c->n_pairs; p++)
        if (c->gain[p] > most) {
            most = c->gain[p];
            best = p;
        }
    return best;
}

/* Drop the chosen pairs without which all steps are still covered. */
static int cover_drop(struct cover *c, int *chosen, int n)
{
    int kept = 0;

    for (int i = n; i-- > 0;)
        if (cover_count(c, chosen[i], -1) > 0) chosen[i] = -1;
        else cover_count(c, chosen[i], 1);
    for (int i = 0; i < n; i++)
        if (chosen[i] >= 0) chosen[kept++] = chosen[i];
    return kept;
}

int cover_greedy(const struct cover_use *uses, int n, int n_steps,
                 int n_pairs, int *chosen)
{
    struct cover c = { .uses = uses, .n = n, .n_steps = n_steps,
                       .n_pairs = n_pairs };
    int n_chosen = 0, pair;

    c.times = calloc((size_t)n_steps + 1, sizeof *c.times);
    c.gain = calloc((size_t)n_pairs + 1, sizeof *c.gain);
    c.last_step = calloc((size_t)n_pairs + 1, sizeof *c.last_step);
    if (!c.times || !c.gain || !c.last_step) n_chosen = -1;
    while (n_chosen >= 0 && (pair = cover_best(&c)) >= 0) {
        assert(n_chosen < n_pairs);
        cover_count(&c, pair, 1);
        chosen[n_chosen++] = pair;
    }
    if (n_chosen > 0) n_chosen = cover_drop(&c, chosen, n_chosen);
    free(c.times);
    free(c.gain);
    free(c.last_step);
    return n_chosen;
}
