/* vocabulary_spm.h - make a tokenizer whose ids are those of a vocabulary, from
 * a SentencePiece model in a file. */
#ifndef CONVERT_VOCABULARY_SPM_H
#define CONVERT_VOCABULARY_SPM_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/file_set.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary.h"

/* Whether a piece of the vocabulary is one that no text contains and that
 * prints nothing, such as </s> or the token of a language. */
typedef bool control_piece_fn(void *user, const char *piece);

/* Rewrite the SentencePiece model in a file of the set (spm_rewrite.h) to *out,
 * which is empty, and set *side for plan_rows(). `unknown` is the vocabulary's
 * unknown piece. */
enum status vocabulary_spm(struct strbuf *out, struct plan_side *side,
                           struct file_set *s, const char *file,
                           const struct vocabulary *v, const char *unknown,
                           control_piece_fn *is_control, void *user,
                           struct err *e);

/* The same for a model in memory. `name` is the file that messages name. */
enum status vocabulary_spm_bytes(struct strbuf *out, struct plan_side *side,
                                 struct str spm, const char *name,
                                 const struct vocabulary *v,
                                 const char *unknown,
                                 control_piece_fn *is_control, void *user,
                                 struct err *e);

/* The same for a tokenizer that cleans texts first (opus_cleaning.h). */
enum status vocabulary_spm_clean(struct strbuf *out, struct plan_side *side,
                                 struct file_set *s, const char *file,
                                 const struct vocabulary *v,
                                 const char *unknown,
                                 control_piece_fn *is_control, void *user,
                                 struct err *e);

/* Read a vocabulary in a file of the set. */
enum status vocabulary_of_file(struct vocabulary **out,
                               enum vocabulary_form form, struct file_set *s,
                               const char *file, struct err *e);

#endif
