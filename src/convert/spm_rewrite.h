/* spm_rewrite.h - put the pieces of a SentencePiece model into the order of a
 * vocabulary, so that its ids are those of the model's tables.
 *
 * Segmentation and printed text stay exactly those of the original: the rules
 * are in docs/foreign.md. */
#ifndef CONVERT_SPM_REWRITE_H
#define CONVERT_SPM_REWRITE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/vocabulary.h"

struct spm_rewrite {
    struct strbuf model;        /* the new model */
    int n;                      /* its pieces: those of the vocabulary, then
                                   those that only the SentencePiece model has.
                                   The latter should have the row of `unk` in
                                   the tables, and never come out */
    int n_only_spm;             /* how many of the latter there are */
    int32_t unk;                /* the id of the unknown piece */
};

/* `control` [n_control] are pieces of the vocabulary that no text contains and
 * that print nothing, besides those that are control pieces in the model: </s>,
 * <pad>, language tokens. One that the vocabulary lacks is ignored. `unknown`
 * is the vocabulary's own text for the unknown piece. `name` is the file that
 * messages name. r->model must be initialized; on failure it is empty. */
enum status spm_rewrite(struct spm_rewrite *r, const void *spm, size_t size,
                        const struct vocabulary *v, const char *unknown,
                        const char *const *control, size_t n_control,
                        const char *name, struct err *e);

#endif
