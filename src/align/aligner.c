/* aligner.c - finds the most probable alignment of each direction (method 4.3)
 * and joins them.
 *
 * In IBM model 2 the words of the made text are independent of each other given
 * the other text, so the best link of each word is the best alignment. */
#include "align/aligner.h"

#include <stdlib.h>

#include "align/diagonal.h"
#include "base/invariant.h"

struct aligner {
    const struct align_model *model;
    double weight[ALIGNER_WORDS_MAX];
    uint32_t forward[ALIGNER_WORDS_MAX], reverse[ALIGNER_WORDS_MAX];
    struct word_link links[2 * ALIGNER_WORDS_MAX];
    uint8_t scratch[SYMMETRIZE_BYTES(ALIGNER_WORDS_MAX, ALIGNER_WORDS_MAX)];
};

enum status aligner_new(struct aligner **out, const struct align_model *m,
                        struct err *e)
{
    *out = malloc(sizeof **out);
    if (!*out) return err_nomem(e, "aligning");
    (*out)->model = m;
    return ST_OK;
}

void aligner_free(struct aligner *a) { free(a); }

/* The given word that most probably made word i of the made text (from 1), or
 * NO_WORD for the null word. Among equals the first one wins, and the null word
 * wins over all of them. */
static uint32_t best_given(struct aligner *a, const struct align_direction *d,
                           struct bitext_text given, struct bitext_text made,
                           uint32_t i)
{
    const struct lexicon *l = &d->lexicon;
    uint32_t word = made.at[i - 1], best = NO_WORD;
    double sum = diagonal_sum(d->tension, i, made.n, given.n);
    double most = lexicon_prob(l, 0, word) * d->null_prob * sum /
                  (1 - d->null_prob);

    diagonal_weights(d->tension, i, made.n, given.n, a->weight);
    for (uint32_t j = 0; j < given.n; j++) {
        size_t row = given.at[j] == ALIGN_UNKNOWN ? l->n_rows
                                                  : (size_t)given.at[j] + 1;
        double p;

        if (a->weight[j] <= most) continue;     /* a probability is at most 1 */
        p = a->weight[j] * lexicon_prob(l, row, word);
        if (p <= most) continue;
        most = p;
        best = j;
    }
    return best;
}

static void align_direction(struct aligner *a, const struct align_direction *d,
                            struct bitext_text given, struct bitext_text made,
                            uint32_t *best)
{
    for (uint32_t i = 1; i <= made.n; i++)
        best[i - 1] = given.n ? best_given(a, d, given, made, i) : NO_WORD;
}

struct word_links aligner_run(struct aligner *a, enum align_method method,
                              const uint32_t *source, size_t n,
                              const uint32_t *target, size_t m)
{
    struct bitext_text s = { source, (uint32_t)n }, t = { target, (uint32_t)m };
    struct two_alignments both = { a->forward, a->reverse, s.n, t.n };

    assert(n <= ALIGNER_WORDS_MAX && m <= ALIGNER_WORDS_MAX);
    align_direction(a, &a->model->forward, s, t, a->forward);
    align_direction(a, &a->model->reverse, t, s, a->reverse);
    return (struct word_links){
        a->links, symmetrize(method, &both, a->links, a->scratch) };
}
