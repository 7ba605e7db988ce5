/* align_model.h - trained parameters of word alignment, for both directions.
 *
 * The forward direction makes targets of sources, the reverse direction makes
 * sources of targets. A model is immutable and may be shared by threads. It was
 * trained in this process or is a file (docs/formats/alignment.md), which is
 * mapped and used in place. aligner.h aligns texts with a model. */
#ifndef ALIGN_ALIGN_MODEL_H
#define ALIGN_ALIGN_MODEL_H

#include "align/align_train.h"
#include "base/file.h"

struct align_model {
    enum word_split split;      /* how texts were split into words */
    bool keep_case;
    uint64_t tokenizer;         /* SPLIT_PIECES: hash of the tokenizer */
    const uint64_t *keys[2];    /* [n_keys] of the words of sources and of
                                   targets (enum bitext_which); ascending */
    size_t n_keys[2];
    struct align_direction forward, reverse;
    struct mapping map;         /* the file; empty if it was trained here */
    bool map_borrowed;          /* the bytes belong to the caller */
};

/* The number of a word that the model does not know. */
#define ALIGN_UNKNOWN UINT32_MAX

/* Trains a model with both directions. Finishes the bitext. n_threads is at
 * least 1 and does not change the result. Fails with ST_ARGUMENT if there are
 * no words. */
enum status align_model_train(struct align_model **out, struct bitext *b,
                              const struct word_splitter *splitter,
                              const struct align_settings *s, int n_threads,
                              struct err *e);

/* Reads and checks a file. */
enum status align_model_open(struct align_model **out, const char *path,
                             struct err *e);
/* Reads from memory, for tests and fuzzers. The bytes are borrowed and are
 * aligned to 8. `name` is used in messages. */
enum status align_model_open_memory(struct align_model **out,
                                    const uint8_t *bytes, size_t size,
                                    const char *name, struct err *e);
/* Writes a file, which replaces an old one when it is complete. */
enum status align_model_save(const struct align_model *m, const char *path,
                             struct err *e);
void align_model_free(struct align_model *m);           /* NULL is fine */

/* The number of a word of a side, or ALIGN_UNKNOWN. */
uint32_t align_model_number(const struct align_model *m,
                            enum bitext_which side, uint64_t key);

/* Fails with ST_ARGUMENT if texts that are split like this cannot be aligned
 * with the model. `name` is the file of the model. */
enum status align_model_fits(const struct align_model *m,
                             const struct word_splitter *splitter,
                             const char *name, struct err *e);

#endif
