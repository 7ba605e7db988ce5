/* skmt_tools.h - functions that make and inspect model files, score
 * translations, and read lines of files.
 *
 * This interface is for the command line tool, for build scripts and for
 * evaluation. Unlike skmt.h it may change in any release.
 *
 * A line of a file can contain any bytes, also NUL. So texts that are scored
 * are passed with their lengths, and need no terminating NUL. */
#ifndef SKMT_TOOLS_H
#define SKMT_TOOLS_H

#include "skmt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- model files --------------------------------------------------------- */

/* Convert a model to a .skmt file. dir is a directory with the files
 * model.safetensors, config.json and spm.model; out is the name of the new
 * file. type is "f32", "bf16" or "int8". progress may be NULL; it is called
 * with the number of steps done and the total. */
typedef void skmt_progress_fn(void *user, int done, int total);
SKMT_API skmt_status skmt_convert(const char *dir, const char *type,
                                  const char *out, skmt_progress_fn *progress,
                                  void *user, skmt_error *err);

/* Call fn once for each tensor in a model file. */
typedef void skmt_tensor_fn(void *user, const char *name, const char *type,
                            int64_t rows, int64_t cols, uint64_t bytes,
                            uint64_t checksum);
SKMT_API skmt_status skmt_model_tensors(const skmt_model *model,
                                        skmt_tensor_fn *fn, void *user);

/* ---- scores -------------------------------------------------------------- */

/* Score translations against references:
 *
 *     skmt_score *s;
 *     skmt_score_new(&s, "bleu,chrf,ter", &err);
 *     skmt_score_add(s, hyp, strlen(hyp), ref, strlen(ref), &err);  ..
 *     skmt_score_get(s, "bleu", &value, &err);
 *
 * "bleu", "chrf" (chrF2) and "ter" give the same results as sacrebleu with its
 * default settings. BLEU uses the tokenizer 13a, n-grams up to order 4 and
 * exponential smoothing. TER counts shifts as edits; a lower TER is better. All
 * scores are in percent.
 *
 * "chrf-eps" is an older definition of chrF2 that some published scores use: an
 * F-score is computed for each n-gram order and averaged over all six orders.
 *
 * "r" is the R-indicator. It measures how quickly a system picks up words from
 * earlier corrections. The words of each reference are divided into groups by
 * how many earlier references of the same document contain them. R of a group
 * is the percentage of its words that the translation of the line also contains
 * (skmt_score_detail). The score is the same percentage for all groups
 * together. "r" ignores English stop words; "r-all" counts them.
 *
 * Only counts are stored, not the texts. A skmt_score may be used by one thread
 * at a time. */
typedef struct skmt_score skmt_score;

/* Make a skmt_score. `metrics` is a list such as "bleu,ter". */
SKMT_API skmt_status skmt_score_new(skmt_score **out, const char *metrics,
                                    skmt_error *err);
SKMT_API void skmt_score_free(skmt_score *s);
/* Add a line of a translation and its reference. */
SKMT_API skmt_status skmt_score_add(skmt_score *s, const char *hyp,
                                    size_t hyp_len, const char *ref,
                                    size_t ref_len, skmt_error *err);
/* Start a new document: lines that are added from now on belong to it. */
SKMT_API void skmt_score_document(skmt_score *s);
/* The number of lines added so far. *documents is the number of documents;
 * documents may be NULL. */
SKMT_API size_t skmt_score_size(const skmt_score *s, size_t *documents);
/* Make a new skmt_score with the lines of those documents that have min_lines
 * to max_lines lines. The counts of each line are copied. */
SKMT_API skmt_status skmt_score_select(skmt_score **out, const skmt_score *s,
                                       size_t min_lines, size_t max_lines,
                                       skmt_error *err);
/* Get the score of all lines so far; 0 when there are none. */
SKMT_API skmt_status skmt_score_get(const skmt_score *s, const char *metric,
                                    double *value, skmt_error *err);
/* The name of metric i; NULL after the last. *title is its title, such as
 * "chrF2"; *signature is a text that says how it was computed, such as
 * "nrefs:1|case:mixed|..". Both pointers may be NULL. */
SKMT_API const char *skmt_score_metric(const skmt_score *s, int i,
                                       const char **title,
                                       const char **signature);
/* Get detail i of a score: returns its name and sets *value. The names are, in
 * this order:
 *     bleu             correct1, correct2, correct3, correct4,
 *                      total1, total2, total3, total4, hyp_len, ref_len,
 *                      precision1, precision2, precision3, precision4, bp
 *     ter              edits, ref_len
 *     r, r-all         r0, r1, r2_5, r6_9, r10,
 *                      found_r0, found_r1, found_r2_5, found_r6_9, found_r10,
 *                      words_r0, words_r1, words_r2_5, words_r6_9, words_r10
 * "chrf" and "chrf-eps" have no details. The numbers in the names of "r" and
 * "r-all" are those of the earlier references that contain a word; r10 means 10
 * or more. r0, r1, r2_5, r6_9 and r10 are NaN if there are no such words.
 * Returns NULL after the last. */
SKMT_API const char *skmt_score_detail(const skmt_score *s,
                                       const char *metric, int i,
                                       double *value);
/* Compute the 95% confidence interval of a score by bootstrap resampling of
 * the lines. The same seed gives the same interval; 1000 resamples are
 * usual. */
SKMT_API skmt_status skmt_score_interval(const skmt_score *s,
                                         const char *metric, int resamples,
                                         uint64_t seed, double *low,
                                         double *high, skmt_error *err);
/* Test whether the scores of a and b differ significantly, by paired
 * resampling. Both must have the same lines with the same references. *p is the
 * p-value. */
SKMT_API skmt_status skmt_score_compare(const skmt_score *a,
                                        const skmt_score *b,
                                        const char *metric, int resamples,
                                        uint64_t seed, double *p,
                                        skmt_error *err);

/* ---- words by frequency -------------------------------------------------- */

/* Compute how well words are translated depending on their frequency. First
 * learn the frequencies, from the references or from training data; then add
 * the lines. Text is split into words as by the Moses tokenizer for English;
 * case is kept. In each line, a word of the reference is matched at most once.
 * A skmt_words may be used by one thread at a time. */
typedef struct skmt_words skmt_words;

SKMT_API skmt_status skmt_words_new(skmt_words **out, skmt_error *err);
SKMT_API void skmt_words_free(skmt_words *w);
/* Count the words of a text. */
SKMT_API skmt_status skmt_words_learn(skmt_words *w, const char *text,
                                      size_t len, skmt_error *err);
/* Add a line of a translation and its reference. */
SKMT_API skmt_status skmt_words_add(skmt_words *w, const char *hyp,
                                    size_t hyp_len, const char *ref,
                                    size_t ref_len, skmt_error *err);
/* Remove all lines, but keep the frequencies. */
SKMT_API void skmt_words_reset(skmt_words *w);

typedef struct skmt_words_info {
    size_t size;                /* sizeof(skmt_words_info) */
    const char *frequency;      /* "<1", "1", .. "[5,10)" .. ">=1000" */
    int64_t matched, hyp_words, ref_words;
    double precision, recall, f1;       /* in percent */
} skmt_words_info;
/* Get the results for frequency range i, rarest words first. Returns 0 after
 * the last. */
SKMT_API int skmt_words_get(const skmt_words *w, int i, skmt_words_info *out);
/* A text that says how words were counted, to print beside the results. */
SKMT_API const char *skmt_words_signature(void);

/* ---- lines of a file ----------------------------------------------------- */

/* Read a text file line by line. The file may be compressed with gzip, xz or
 * zstd, and may be in UTF-16; "-" is standard input. */
typedef struct skmt_lines skmt_lines;

SKMT_API skmt_status skmt_lines_open(skmt_lines **out, const char *path,
                                     skmt_error *err);
/* Get the next line, without its line end. *text has *len bytes and no
 * terminating NUL. It is valid until the next call; it is NULL after the last
 * line. */
SKMT_API skmt_status skmt_lines_next(skmt_lines *l, const char **text,
                                     size_t *len, skmt_error *err);
SKMT_API void skmt_lines_close(skmt_lines *l);

/* ---- learned trust ------------------------------------------------------- */

#define SKMT_TRAINER_PAIRS 16

/* Train the network that decides how far a memory is trusted (option "trust"):
 *
 *     skmt_trainer_new(&t, model, options, NULL, &err);
 *     skmt_trainer_add(t, source, target, pairs, n, 0, &err);  ..
 *     skmt_trainer_train(t, NULL, NULL, &err);
 *     skmt_options_set(options, "trust", skmt_trainer_network(t), &err);
 *
 * It learns from pairs whose translation is known, each with the similar pairs
 * that a search finds for its source. If they come from the memory itself,
 * leave out of the similar pairs all that have the same source. A trainer may
 * be used by one thread at a time. */
typedef struct skmt_trainer skmt_trainer;

/* Make a trainer. The options are those of the translations that the network
 * is for; NULL means the defaults. keys may be NULL: then the trainer has keys
 * of its own. Free the keys after the trainer. */
SKMT_API skmt_status skmt_trainer_new(skmt_trainer **out,
                                      const skmt_model *model,
                                      const skmt_options *options,
                                      skmt_keys *keys, skmt_error *err);
SKMT_API void skmt_trainer_free(skmt_trainer *t);
/* Change a setting of the training. The keys are:
 *     seed      of the random numbers (1); the same seed gives the same network
 *     epochs    at most this many passes over the steps (200)
 *     patience  stop after this many epochs without a better network (20)
 *     batch     steps of an update (128)
 *     rate      learning rate of Adam (0.003)
 *     begin     model: go on from the network of the model, if it has one;
 *               present: go on from that of option "trust", if it is set, else
 *               from that of the model; random: begin anew (model)
 *     drop      the name of a feature that the network does not see, to find
 *               out what it is worth; may be set several times */
SKMT_API skmt_status skmt_trainer_set(skmt_trainer *t, const char *key,
                                      const char *value, skmt_error *err);
/* Add the steps of a pair. The n similar pairs come best first, and the first
 * SKMT_TRAINER_PAIRS are used: all of them, and once more the first 1, 2 or 4, as
 * if the memory were small. If `validate` is not 0, the pair is not learned from
 * but decides which network is best. */
SKMT_API skmt_status skmt_trainer_add(skmt_trainer *t, const char *source,
                                      const char *target,
                                      const skmt_similar *pairs, int n,
                                      int validate, skmt_error *err);
/* Train. `fn` is called after each epoch, with the loss of the validation
 * steps; it returns non-zero to stop. fn may be NULL. */
typedef int skmt_trainer_fn(void *user, int epoch, int epochs, double loss);
SKMT_API skmt_status skmt_trainer_train(skmt_trainer *t, skmt_trainer_fn *fn,
                                        void *user, skmt_error *err);
/* The network, as a value of option "trust". NULL before the training. */
SKMT_API const char *skmt_trainer_network(skmt_trainer *t);
/* Get statistic i: returns its name and sets *value. The names are:
 *     steps, valid_steps   steps to learn from, and to validate with
 * and the loss of the validation steps, in nats per token, of
 *     plain       the model alone
 *     sk2         SK-MT with 2 neighbors and the tau of the model
 *     fixed       the best fixed weight of the memory, fixed_weight
 *     model       what the model does by default: its network, or sk2 if it
 *                 has none
 *     learned     the network that was trained
 *     oracle      a bound: the right neighbor, wherever there is one
 *     present     the network of option "trust", if it is set, else as "model"
 * Returns NULL after the last. All values are determined when i is 0. */
SKMT_API const char *skmt_trainer_stat(skmt_trainer *t, int i, double *value);
/* Get step i as JSON, for tests and experiments: what was known at it
 * (neighbors, best_prob, entropy ..), the features of the step (x) and of each
 * neighbor (votes), and what the trained network makes of them (lambda, share).
 * Returns NULL after the last. The text is valid until the next call. */
SKMT_API const char *skmt_trainer_step(skmt_trainer *t, size_t i);

#ifdef __cplusplus
}
#endif
#endif
