/* tokenizer_files.h - the tokenizers of a model whose own files do not name
 * them: those that the user names, or files with usual names. */
#ifndef CONVERT_TOKENIZER_FILES_H
#define CONVERT_TOKENIZER_FILES_H

#include <stddef.h>

#include "base/err.h"
#include "convert/family.h"
#include "convert/file_set.h"

struct tokenizer_file {
    char *name;                 /* for messages */
    char *bytes;
    size_t size;
};

struct tokenizer_files {
    struct tokenizer_file source;
    struct tokenizer_file target;       /* bytes NULL: one for both sides */
};

/* Read the files that the options name or, if they name none, those that are in
 * the folder ("" or "model/") of the set: source.spm and target.spm, or
 * sentencepiece.model, and so on. Fails with ST_FORMAT, and says what to do, if
 * there are none. */
enum status tokenizer_files_find(struct tokenizer_files *t, struct file_set *s,
                                 const char *folder,
                                 const struct family_options *o,
                                 struct err *e);

/* For all that is in t, which may be all zeros. */
void tokenizer_files_release(struct tokenizer_files *t);

#endif
