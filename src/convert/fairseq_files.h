/* fairseq_files.h - find the files of a model of fairseq that say how texts are
 * split, by their names. They have no fixed names. */
#ifndef CONVERT_FAIRSEQ_FILES_H
#define CONVERT_FAIRSEQ_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/file_set.h"

bool fairseq_files_have_codes(struct file_set *s);
bool fairseq_files_have_spm(struct file_set *s);

/* The file of BPE codes for a language: the only one, the only one with the
 * language in its name, or one with a usual name. Fails with ST_FORMAT if there
 * is none, or if it is not clear which one. *file is a name of the set. */
enum status fairseq_files_codes(const char **file, struct file_set *s,
                                const char *language, struct err *e);

/* The only SentencePiece model with the language in its name, a name of the
 * set. NULL if there is none, or several. */
const char *fairseq_files_spm(struct file_set *s, const char *language);

#endif
