/* aligner.h - aligns pairs of texts with a trained model.
 *
 *     aligner_new(&a, model, &e);                      once for each thread
 *     for (..) numbers[i] = align_model_number(model, BITEXT_SOURCE, key);
 *     links = aligner_run(a, method, source, n, target, m);
 *
 * Texts are numbers of words of the model. With SPLIT_PIECES the key of a word
 * is the id of a piece, so a steering system can compute the numbers of all ids
 * once. Everything is allocated by aligner_new; aligner_run allocates
 * nothing. An aligner is used by one thread at a time; any number of aligners
 * may share a model. */
#ifndef ALIGN_ALIGNER_H
#define ALIGN_ALIGNER_H

#include "align/align_model.h"
#include "align/symmetrize.h"

struct aligner;                 /* opaque */

/* The most words of a text that can be aligned. */
#define ALIGNER_WORDS_MAX BITEXT_WORDS_MAX

struct word_links {
    const struct word_link *at; /* [n] by source, then by target */
    size_t n;
};

/* The model is borrowed. */
enum status aligner_new(struct aligner **out, const struct align_model *m,
                        struct err *e);
void aligner_free(struct aligner *a);           /* NULL is fine */

/* Align n source words with m target words; both may be 0, and are at most
 * ALIGNER_WORDS_MAX. A number may be ALIGN_UNKNOWN: such a word is linked by
 * its position alone. The links are valid until the next call. */
struct word_links aligner_run(struct aligner *a, enum align_method method,
                              const uint32_t *source, size_t n,
                              const uint32_t *target, size_t m);

#endif
