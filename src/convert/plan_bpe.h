/* plan_bpe.h - the tokenizer of one side of a model that splits words as Moses
 * does, and then with BPE codes. */
#ifndef CONVERT_PLAN_BPE_H
#define CONVERT_PLAN_BPE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/file_set.h"
#include "convert/vocabulary.h"
#include "text/moses_bpe.h"

struct plan_bpe {
    const char *file;           /* of the codes, in the set */
    enum bpe_codes form;
    enum bpe_marks marks;
    unsigned steps;             /* enum moses_step, or'ed */
    const char *language;       /* of the text */
    int32_t unk;                /* the id of words that have no piece */
    /* Pieces that no text contains and that print nothing. One that the
     * vocabulary lacks is ignored. */
    const char *const *control;
    size_t n_control;
    const char *truecaser;      /* file of a truecasing model, or NULL */
};

/* Append the tokenizer whose pieces are those of a vocabulary to *out. */
enum status plan_bpe_write(struct strbuf *out, const struct plan_bpe *b,
                           const struct vocabulary *v, struct file_set *s,
                           struct err *e);

/* The form of a file of codes that fastBPE or subword-nmt wrote: the lines of
 * fastBPE end in a count. Fails only if the file cannot be read. */
enum status plan_bpe_form(enum bpe_codes *form, struct file_set *s,
                          const char *file, struct err *e);

#endif
