/* skmt_tools.h - functions that make and inspect model files and datastores,
 * score translations, align words, and read and write files.
 *
 * This interface is for the command line tool, for build scripts and for
 * evaluation. Unlike skmt.h it may change in any release.
 *
 * A line of a file can contain any bytes, also NUL. So texts that are scored or
 * aligned are passed with their lengths, and need no terminating NUL. */
#ifndef SKMT_TOOLS_H
#define SKMT_TOOLS_H

#include "skmt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- model files --------------------------------------------------------- */

/* Convert a model of skmt or of another project to a .skmt file:
 *
 *     skmt_conversion *c;
 *     skmt_conversion_new(&c, &err);
 *     skmt_conversion_set(c, "type", "bf16", &err);  ..
 *     skmt_conversion_open(c, "opus-2020-02-26.zip", &err);
 *     puts(skmt_conversion_report(c));
 *     skmt_conversion_write(c, "de-en.skmt", NULL, NULL, &err);
 *     skmt_conversion_free(c);
 *
 * A skmt_conversion may be used by one thread at a time. */
typedef struct skmt_conversion skmt_conversion;
SKMT_API skmt_status skmt_conversion_new(skmt_conversion **out,
                                         skmt_error *err);
SKMT_API void skmt_conversion_free(skmt_conversion *c);  /* NULL is fine */
/* Change a setting, before the model is opened. The keys are:
 *     type         of the weights: f32, bf16 or int8 (int8)
 *     family       the name of a family (skmt_family), instead of what the
 *                  files look like
 *     source-lang, target-lang
 *                  the languages, where the files do not say them; of a
 *                  multilingual model, those it translates unless others are
 *                  chosen when it is opened
 *     heads        the number of attention heads, where the files do not say it
 *     positions    halves, halves-hf or in-turn: another kind of sinusoidal
 *                  positions than that of the family
 *     checkpoint   the file to take of several checkpoints of fairseq
 *     tokenizer, target-tokenizer
 *                  files with SentencePiece models, for a model that comes
 *                  without one; the second is for the target, if it has its
 *                  own */
SKMT_API skmt_status skmt_conversion_set(skmt_conversion *c, const char *key,
                                         const char *value, skmt_error *err);
/* Find out what is at `path`, a folder or a zip archive, or a checkpoint (*.pt)
 * in its folder. Fails if it is not a model that can be converted. */
SKMT_API skmt_status skmt_conversion_open(skmt_conversion *c, const char *path,
                                          skmt_error *err);
/* What was found, as whole lines, some of which begin with "note: " or
 * "warning: ". "" before the model is opened and after it was written. */
SKMT_API const char *skmt_conversion_report(const skmt_conversion *c);
/* Write the model file `out`, which appears only when it is complete.
 * `progress` may be NULL; it gets the bytes done and their total. If it returns
 * non-zero, the conversion stops with SKMT_ERR_CANCELED. To write the model
 * again, open it again. */
typedef int skmt_conversion_fn(void *user, uint64_t done, uint64_t total);
SKMT_API skmt_status skmt_conversion_write(skmt_conversion *c, const char *out,
                                           skmt_conversion_fn *progress,
                                           void *user, skmt_error *err);
/* The families of models that can be converted: the name of family i, NULL
 * after the last. *title says what it is. */
SKMT_API const char *skmt_family(int i, const char **title);

/* Call fn once for each tensor in a model file. */
typedef void skmt_tensor_fn(void *user, const char *name, const char *type,
                            int64_t rows, int64_t cols, uint64_t bytes,
                            uint64_t checksum);
SKMT_API skmt_status skmt_model_tensors(const skmt_model *model,
                                        skmt_tensor_fn *fn, void *user);

/* The text of the license that came with the model, NULL if none did. *len is
 * its length; it need not end with a NUL. It is valid until the model is
 * closed. */
SKMT_API const char *skmt_model_notice(const skmt_model *model, size_t *len);

/* What a model file says about itself: its header is read and checked, its
 * weights are not read. The facts are "name", "family", "license", "origin",
 * "source_lang", "target_lang", "languages" (codes with commas between; empty
 * unless the model has many languages), "type", "bytes" and "checksum". The
 * strings are valid until the card is closed. */
typedef struct skmt_card skmt_card;
SKMT_API skmt_status skmt_card_open(skmt_card **out, const char *path,
                                    skmt_error *err);
SKMT_API void skmt_card_close(skmt_card *card);         /* NULL is fine */
/* Get fact i: returns its name and sets *value. NULL after the last. */
SKMT_API const char *skmt_card_fact(const skmt_card *card, int i,
                                    const char **value);
/* Get a fact by its name. NULL when there is no such fact. */
SKMT_API const char *skmt_card_get(const skmt_card *card, const char *name);
/* How well the model translates from one language to another: 0 if it does
 * not, as far as its file says; a larger number is better. NULL or "": any
 * language. */
SKMT_API int skmt_card_fit(const skmt_card *card, const char *from,
                           const char *to);

/* ---- the model store ----------------------------------------------------- */

/* The models that a user has, as files NAME.skmt in a folder, and which of them
 * is meant by a name or by languages:
 *
 *     skmt_store *s;
 *     char *path;
 *     skmt_store_open(&s, NULL, &err);
 *     skmt_store_add_folder(s, "/usr/share/skmt/models", &err);
 *     if (!skmt_store_find(s, NULL, "en", "fr", &path, &err)) {
 *         skmt_model_open(&model, path, &err);
 *         skmt_free(path);
 *     }
 *     skmt_store_close(s);
 *
 * The functions that change the store may be called while other processes
 * change it. A skmt_store does not notice changes, also its own: open it again.
 * Threads may share it. */
typedef struct skmt_store skmt_store;

/* Open the store in a folder, which need not exist. NULL: that of the user:
 * $SKMT_HOME/models, else $XDG_DATA_HOME/skmt/models, else
 * ~/.local/share/skmt/models. Fails only if out of memory; what else may be
 * wrong is found by skmt_store_check and skmt_store_find. */
SKMT_API skmt_status skmt_store_open(skmt_store **out, const char *folder,
                                     skmt_error *err);
SKMT_API void skmt_store_close(skmt_store *s);          /* NULL is fine */
/* Also find the models of this folder, after those of the folders before it.
 * They cannot be changed. The folder need not exist. */
SKMT_API skmt_status skmt_store_add_folder(skmt_store *s, const char *folder,
                                           skmt_error *err);
/* The folder of the store. NULL if there is none, because none of the
 * variables above is set. */
SKMT_API const char *skmt_store_folder(const skmt_store *s);
/* Fails if the folder or the list of defaults could not be read. */
SKMT_API skmt_status skmt_store_check(const skmt_store *s, skmt_error *err);

/* Model i: returns its name, sets *path to its file, and *removable to 1 if it
 * is in the folder of the store. NULL after the last. A model hides those with
 * the same name in later folders. */
SKMT_API const char *skmt_store_model(const skmt_store *s, int i,
                                      const char **path, int *removable);
/* Default i: returns the name of the model, and sets the languages that it is
 * for; "" if it is for everything. NULL after the last. */
SKMT_API const char *skmt_store_default(const skmt_store *s, int i,
                                        const char **from, const char **to);

/* Find the model that a user means, and set *path to its file; free it with
 * skmt_free. The model is, with NULL for what is not given:
 *   1. `name`: a path, a file in the current folder, or a model by its name;
 *   2. $SKMT_MODEL likewise, unless it is for other languages;
 *   3. if a language is given, the default for this pair, or the model that
 *      fits best (skmt_card_fit). Of equal ones it is the default for
 *      everything, or one of an earlier folder; if there are still several,
 *      that is an error;
 *   4. the default for everything;
 *   5. "de-en". */
SKMT_API skmt_status skmt_store_find(const skmt_store *s, const char *name,
                                     const char *from, const char *to,
                                     char **path, skmt_error *err);

/* Add a copy of a model file, or a conversion instead of
 * skmt_conversion_write. The model appears when it is complete. If there is a
 * model of this name, fails with SKMT_ERR_ARGUMENT unless `replace` is not 0.
 * `progress` may be NULL. */
SKMT_API skmt_status skmt_store_add(const skmt_store *s, const char *name,
                                    const char *file, int replace,
                                    skmt_conversion_fn *progress, void *user,
                                    skmt_error *err);
SKMT_API skmt_status skmt_store_convert(const skmt_store *s, const char *name,
                                        skmt_conversion *c, int replace,
                                        skmt_conversion_fn *progress,
                                        void *user, skmt_error *err);
/* Delete a model of the store, and the defaults that name it. */
SKMT_API skmt_status skmt_store_remove(const skmt_store *s, const char *name,
                                       skmt_error *err);
/* Make a model the default for everything (from and to NULL) or for a pair of
 * languages. name NULL: there is no such default any more. */
SKMT_API skmt_status skmt_store_set_default(const skmt_store *s,
                                            const char *name,
                                            const char *from, const char *to,
                                            skmt_error *err);

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

/* Write a file. NAME.gz, NAME.xz and NAME.zst are compressed. The file appears,
 * or replaces an existing one, only when it is committed. "-" is standard
 * output; it, a pipe and a device are written directly. The first error is
 * permanent: every later call reports it. */
typedef struct skmt_output skmt_output;

SKMT_API skmt_status skmt_output_open(skmt_output **out, const char *path,
                                      skmt_error *err);
SKMT_API skmt_status skmt_output_write(skmt_output *o, const char *bytes,
                                       size_t n, skmt_error *err);
SKMT_API skmt_status skmt_output_commit(skmt_output *o, skmt_error *err);
/* Without a commit, the file is left as it was. */
SKMT_API void skmt_output_close(skmt_output *o);

/* ---- pairs of a file ----------------------------------------------------- */

/* Read the pairs of a file in any format that skmt_tm_import can read, one at a
 * time. Inline tags are removed. */
typedef struct skmt_pairs skmt_pairs;

/* `how` has the settings of an import (skmt_import_set); it may be NULL.
 * Otherwise keep it until the pairs are closed. "-" is standard input. */
SKMT_API skmt_status skmt_pairs_open(skmt_pairs **out, const char *path,
                                     skmt_import *how, skmt_error *err);
/* Get the next pair. The texts are valid until the next call; *source is NULL
 * after the last pair. A unit without a source or a target, and an empty line
 * of a table, is a pair of empty texts. So line n of a table without a header
 * is pair n. */
SKMT_API skmt_status skmt_pairs_next(skmt_pairs *p, const char **source,
                                     size_t *source_len, const char **target,
                                     size_t *target_len, skmt_error *err);
/* The bytes of the file that were read, for reports of progress. *total is its
 * size; 0 if it is not known. */
SKMT_API uint64_t skmt_pairs_done(const skmt_pairs *p, uint64_t *total);
SKMT_API void skmt_pairs_close(skmt_pairs *p);

/* ---- word alignment ------------------------------------------------------ */

/* Find the words of a source and of its translation that correspond:
 *
 *     skmt_aligner_new(&a, NULL, &err);
 *     skmt_aligner_add(a, source, strlen(source), target, strlen(target),
 *                      &err);  ..
 *     skmt_aligner_train(a, &err);
 *     for (i = 0; i < skmt_aligner_size(a); i++)
 *         skmt_aligner_links(a, i, &links, &n, &err);  ..
 *
 * The parameters are learned from the pairs that are added, or read from a file
 * (skmt_aligner_load). Texts are split into words and punctuation marks, or
 * into the pieces of a model. An aligner may be used by one thread at a
 * time. */
typedef struct skmt_aligner skmt_aligner;

/* A link between two words, which are counted from 0. */
typedef struct skmt_link {
    uint32_t source, target;
} skmt_link;

/* Make an aligner for the pieces of a model, or for words if `model` is
 * NULL. */
SKMT_API skmt_status skmt_aligner_new(skmt_aligner **out,
                                      const skmt_model *model,
                                      skmt_error *err);
SKMT_API void skmt_aligner_free(skmt_aligner *a);
/* Change a setting. Those of words must be set before the first pair is added
 * or parameters are read. The keys are:
 *     split        words: words and punctuation marks; spaces: what is between
 *                  spaces (words); not for an aligner of pieces
 *     case         lower: words are compared in lower case; keep: as they are
 *                  (lower)
 *     method       forward, reverse, intersect, union, grow-diag or
 *                  grow-diag-final-and (grow-diag-final-and)
 *     iterations   of the training (5)
 *     alpha        of the Dirichlet prior of the training; 0: none (0.01)
 *     null-prob    probability of a word that has no counterpart (0.08)
 *     tension      how much the diagonal is preferred, when the training
 *                  begins (4)
 *     threads      of the training (1); the result is the same */
SKMT_API skmt_status skmt_aligner_set(skmt_aligner *a, const char *key,
                                      const char *value, skmt_error *err);
/* Set a function that is called from time to time during the training. */
SKMT_API void skmt_aligner_on_progress(skmt_aligner *a,
                                       skmt_tm_progress_fn *fn, void *user);
/* Set a function that is called after each iteration. log_likelihood and
 * perplexity (per word) are those of the parameters with which the iteration
 * began; tension is the new one. Return non-zero to stop. */
typedef int skmt_aligner_fn(void *user, const char *direction, int iteration,
                            int iterations, double log_likelihood,
                            double perplexity, double tension);
SKMT_API void skmt_aligner_on_iteration(skmt_aligner *a, skmt_aligner_fn *fn,
                                        void *user);

/* Add a pair to learn from. A pair with an empty text, or with more than 1000
 * words in a text, is counted, but it is not learned from and gets no links. */
SKMT_API skmt_status skmt_aligner_add(skmt_aligner *a, const char *source,
                                      size_t source_len, const char *target,
                                      size_t target_len, skmt_error *err);
/* The number of pairs that were added. */
SKMT_API size_t skmt_aligner_size(const skmt_aligner *a);
/* Learn the parameters from the pairs. No pair can be added afterwards. */
SKMT_API skmt_status skmt_aligner_train(skmt_aligner *a, skmt_error *err);
/* Write the parameters to a file, or read them instead of a training. A file
 * that does not fit the split, the case or the model is refused. */
SKMT_API skmt_status skmt_aligner_save(const skmt_aligner *a, const char *path,
                                       skmt_error *err);
SKMT_API skmt_status skmt_aligner_load(skmt_aligner *a, const char *path,
                                       skmt_error *err);

/* Align similar pairs with these parameters from now on, for system "pieces"
 * (option "system"). The aligner was made with a model and has parameters. Keep
 * it as long as it is used. NULL: none; the system then uses the attention of
 * the decoder. skmt_stream_use_alignment first waits until all texts are
 * delivered. */
SKMT_API skmt_status skmt_session_use_alignment(skmt_session *s,
                                                const skmt_aligner *a,
                                                skmt_error *err);
SKMT_API skmt_status skmt_stream_use_alignment(skmt_stream *s,
                                               const skmt_aligner *a,
                                               skmt_error *err);
/* The aligner must exist until the request was submitted. */
SKMT_API skmt_status skmt_request_use_alignment(skmt_request *q,
                                                const skmt_aligner *a,
                                                skmt_error *err);

/* Get the links of pair i, or of any pair of texts. They are ordered by source
 * and then by target, and are valid until the next call of one of these
 * functions. */
SKMT_API skmt_status skmt_aligner_links(skmt_aligner *a, size_t i,
                                        const skmt_link **links, size_t *n,
                                        skmt_error *err);
SKMT_API skmt_status skmt_aligner_align(skmt_aligner *a, const char *source,
                                        size_t source_len, const char *target,
                                        size_t target_len,
                                        const skmt_link **links, size_t *n,
                                        skmt_error *err);
/* The links that were returned last in Pharaoh format, such as "0-0 1-2". NULL
 * when out of memory. It is valid until the next call. */
SKMT_API const char *skmt_aligner_pharaoh(skmt_aligner *a);
/* Split a pair into the words that links count. Keep the texts while the words
 * are used. */
SKMT_API skmt_status skmt_aligner_split(skmt_aligner *a, const char *source,
                                        size_t source_len, const char *target,
                                        size_t target_len, skmt_error *err);
/* Word i of the source (side 0) or the target (side 1) that was split last;
 * NULL after the last word. It is a part of the text, or the text of a piece;
 * it has no terminating NUL. */
SKMT_API const char *skmt_aligner_word(const skmt_aligner *a, int side,
                                       size_t i, size_t *len);
/* Get statistic i: returns its name and sets *value. The names are:
 *     pairs            pairs that were added or aligned
 *     empty, long      pairs without links because a text is empty or too long
 *     source_words, target_words      distinct words of the parameters
 *     forward_entries, reverse_entries        word pairs with a probability
 * Returns NULL after the last. */
SKMT_API const char *skmt_aligner_stat(const skmt_aligner *a, int i,
                                       int64_t *value);

/* Compare links with a reference: a file with one line of links for each pair,
 * in Pharaoh format. "0-0" is a sure link, "0?0" or "0p0" a possible one. The
 * file may be compressed. */
typedef struct skmt_gold skmt_gold;

SKMT_API skmt_status skmt_gold_open(skmt_gold **out, const char *path,
                                    skmt_error *err);
/* Compare the links that `a` returned last with the next line. */
SKMT_API skmt_status skmt_gold_compare(skmt_gold *g, const skmt_aligner *a,
                                       skmt_error *err);
/* Fail if the file has more lines. */
SKMT_API skmt_status skmt_gold_finish(skmt_gold *g, skmt_error *err);
/* Get statistic i: returns its name and sets *value. The names are:
 *     pairs                       pairs compared
 *     links, sure, possible       links found; sure and possible links of the
 *                                 reference (a sure link is possible, too)
 *     hit_sure, hit_possible      links found that are sure, or possible
 *     precision, recall, aer      in percent; aer is the alignment error rate.
 *                                 NaN if there are no links
 * Returns NULL after the last. */
SKMT_API const char *skmt_gold_stat(const skmt_gold *g, int i, double *value);
SKMT_API void skmt_gold_close(skmt_gold *g);

/* ---- datastores ---------------------------------------------------------- */

/* A datastore is a file with decoder states of a model: those of all pairs of a
 * memory, each with the token that followed it (docs/formats/datastore.md).
 * A skmt_datastore is such a file, opened for reading. It never changes, and
 * threads may share it, except for the functions that return an entry or a
 * fact. */
typedef struct skmt_datastore skmt_datastore;

/* Open a datastore. With a model, the datastore must be finished and must have
 * been made with this model. model may be NULL, to look at a datastore: then
 * any datastore is accepted, and entries have no pieces. */
SKMT_API skmt_status skmt_datastore_open(skmt_datastore **out,
                                         const char *path,
                                         const skmt_model *model,
                                         skmt_error *err);
SKMT_API void skmt_datastore_close(skmt_datastore *ds);
/* Search this datastore from now on, with a system that needs one (option
 * "system"). It must have been opened with the same model, and stay open as
 * long as it is used. NULL: none. skmt_stream_use_datastore first waits until
 * all texts that were pushed have been delivered. */
SKMT_API skmt_status skmt_session_use_datastore(skmt_session *s,
                                                const skmt_datastore *ds,
                                                skmt_error *err);
SKMT_API skmt_status skmt_stream_use_datastore(skmt_stream *s,
                                               const skmt_datastore *ds,
                                               skmt_error *err);
/* The datastore must stay open until the request was submitted. */
SKMT_API void skmt_request_use_datastore(skmt_request *q,
                                         const skmt_datastore *ds);
/* Get statistic i: returns its name and sets *value. The names are:
 *     pairs, deleted     pairs, and pairs that were deleted since
 *     entries            entries that a search can find
 *     stored             entries in the file, with those of deleted pairs
 *     bytes              size of the file
 *     blocks             parts of the file that have entries
 *     d, d_model         numbers of a key, and of a state
 *     vocabulary         tokens of the model
 *     eos                1: pairs have an entry for EOS
 *     merged             1: entries were merged
 *     source_tokens      source tokens, if it has sources
 *     unfinished         1: building it was interrupted
 * Returns NULL after the last. */
SKMT_API const char *skmt_datastore_stat(const skmt_datastore *ds, int i,
                                         int64_t *value);
/* Get fact i: returns its name and sets *value, which is valid until the next
 * call. The names are:
 *     type      how keys are stored: "int8" or "f16"
 *     key       which state they are: "final" or "ffn"
 *     model     a hash of the weights of the model, 16 digits
 *     memory    the identity of the memory file; "" if there is none
 *     store     the identity of the datastore
 * Returns NULL after the last. */
SKMT_API const char *skmt_datastore_fact(skmt_datastore *ds, int i,
                                         const char **value);

/* An entry. The texts are valid as long as the datastore is open. */
typedef struct skmt_entry {
    size_t size;                /* sizeof(skmt_entry) */
    const char *source, *target;        /* of its pair */
    int64_t id;                 /* of its pair in the memory; 0: none */
    int64_t pair;               /* of its pair in the datastore, from 0 */
    int32_t position;           /* of the token in the target, from 0 */
    int32_t tokens;             /* entries of the pair */
    int32_t token;
    int32_t begin, end;         /* bytes of the target that the token covers;
                                   both 0 without a model. For EOS, both are
                                   the length of the target. */
    const char *text;           /* the token, as in the vocabulary; "" without
                                   a model */
    double norm;                /* of the key */
    double weight;              /* entries that were merged into it; else 1 */
} skmt_entry;
/* Get entry i, from 0 to "stored" - 1. Returns 1; or 0 if there is no such
 * entry, or it was deleted. */
SKMT_API int skmt_datastore_entry(skmt_datastore *ds, int64_t i,
                                  skmt_entry *out);

/* Check what opening a datastore does not check: the keys, which are most of
 * the file. `fn` is called for each problem; *n_problems is their number. fn,
 * progress and n_problems may be NULL. */
SKMT_API skmt_status skmt_datastore_check(const skmt_datastore *ds,
                                          skmt_problem_fn *fn, void *user,
                                          skmt_tm_progress_fn *progress,
                                          void *progress_user,
                                          int *n_problems, skmt_error *err);
/* Write a copy without deleted pairs and with large blocks. It appears under
 * its name when it is complete; an existing file is replaced. progress may be
 * NULL. */
SKMT_API skmt_status skmt_datastore_compact(const skmt_datastore *ds,
                                            const char *path,
                                            skmt_tm_progress_fn *progress,
                                            void *user, skmt_error *err);
/* How to make a smaller copy of a datastore. A number that is 0 has its
 * default. */
typedef struct skmt_reduction {
    size_t size;                /* sizeof(skmt_reduction) */
    int dims;                   /* reduce: numbers of a key (256) */
    int64_t sample;             /* reduce: keys that the map is computed from
                                   (100000) */
    int k;                      /* merge: neighbors of each entry that it may
                                   take over, itself included (2) */
    uint64_t seed;              /* of the sample, or of the order of entries
                                   (1) */
    int threads;                /* (1); the result is the same */
} skmt_reduction;
/* Write a copy with shorter keys: their principal components. *kept is the part
 * of the variance that they keep, 0 to 1. Or write a copy in which entries with
 * the same token are merged, if they are close to each other. *removed is the
 * number of entries that are gone. kept, removed and progress may be NULL.
 *
 * A datastore can be reduced once, and merged once. The copy appears under its
 * name when it is complete; an existing file is replaced. Pairs cannot be added
 * to it. */
SKMT_API skmt_status skmt_datastore_reduce(const skmt_datastore *ds,
                                           const char *path,
                                           const skmt_reduction *how,
                                           skmt_tm_progress_fn *progress,
                                           void *user, double *kept,
                                           skmt_error *err);
SKMT_API skmt_status skmt_datastore_merge(const skmt_datastore *ds,
                                          const char *path,
                                          const skmt_reduction *how,
                                          skmt_tm_progress_fn *progress,
                                          void *user, int64_t *removed,
                                          skmt_error *err);
/* Delete the pairs that have one of these ids in the memory, and this source,
 * and this target. NULL, or n_ids 0, does not restrict; one of the three must
 * be given. *n is the number of pairs deleted; n may be NULL. */
SKMT_API skmt_status skmt_datastore_delete(const char *path,
                                           const int64_t *ids, int n_ids,
                                           const char *source,
                                           const char *target, int64_t *n,
                                           skmt_error *err);
/* Delete the pairs that are not in the memories that `tm` uses. */
SKMT_API skmt_status skmt_datastore_delete_missing(const char *path,
                                                   skmt_tm *tm, int64_t *n,
                                                   skmt_error *err);

/* An index of a datastore (IVF-PQ, docs/formats/index.md) makes searches of a
 * large datastore faster, and approximate:
 *
 *     skmt_index_settings how = SKMT_INIT(skmt_index_settings);
 *     skmt_index_build(ds, "my.knn.index", &how, NULL, NULL, &err);
 *     skmt_datastore_use_index(ds, "my.knn.index", 0, 4, &err);
 *
 * Building and searching need the plug-in for Faiss. Without it, these two
 * functions fail, and the message says which package to install. 0 means the
 * default in every member. */
typedef struct skmt_index_settings {
    size_t size;                /* sizeof(skmt_index_settings) */
    int32_t lists;              /* 4,096; fewer for a small datastore */
    int32_t subvectors;         /* of a code, one byte each; 64, or the largest
                                   divisor below that of the numbers of a
                                   key */
    int32_t probes;             /* lists that a search reads, unless it says
                                   how many; 32 */
    int32_t threads;            /* 1; the result is the same */
    int64_t sample;             /* keys for training; 64 for each list, at
                                   least 65,536 */
    uint64_t seed;              /* another one gives another sample */
} skmt_index_settings;

/* Build the index of ds. It appears under its name when it is complete; an
 * existing file is replaced. progress may be NULL; its stages are "lists",
 * "codebooks" and "entries". Fails with SKMT_ERR_ARGUMENT if ds has fewer than
 * 256 entries, or a setting does not fit it. */
SKMT_API skmt_status skmt_index_build(const skmt_datastore *ds,
                                      const char *path,
                                      const skmt_index_settings *settings,
                                      skmt_tm_progress_fn *progress,
                                      void *user, skmt_error *err);
/* Search ds by this index from now on. Call it after skmt_datastore_open,
 * before ds is used. The file must be the index of ds; entries that were added
 * to ds later are found too. probes is the number of lists that a search reads;
 * 0: as the file says. For each neighbor, the distances of `rerank` candidates
 * are computed from the keys, at most 64; with 0 the distances are the
 * approximations of the index, as in the published systems. */
SKMT_API skmt_status skmt_datastore_use_index(skmt_datastore *ds,
                                              const char *path, int probes,
                                              int rerank, skmt_error *err);

/* Look at an index file. Opening it checks all its bytes; neither its datastore
 * nor the plug-in is needed. */
typedef struct skmt_index skmt_index;
SKMT_API skmt_status skmt_index_open(skmt_index **out, const char *path,
                                     skmt_error *err);
SKMT_API void skmt_index_close(skmt_index *ix);
/* Whether a file begins like an index, whatever its state. */
SKMT_API int skmt_index_is(const char *path);
/* Get number i: returns its name and sets *value. Returns NULL after the last.
 *     entries            in its lists
 *     stored             of its datastore when it was built, with deleted ones
 *     bytes              size of the file
 *     d                  numbers of a key
 *     lists, subvectors, probes, sample
 *                        as in skmt_index_settings */
SKMT_API const char *skmt_index_stat(const skmt_index *ix, int i,
                                     int64_t *value);
/* The same for "model" and "store": of its datastore, as in
 * skmt_datastore_fact. The text is valid until the next call. */
SKMT_API const char *skmt_index_fact(skmt_index *ix, int i,
                                     const char **value);

/* Corrections are a datastore in RAM that grows with each corrected sentence,
 * for systems "kok" and "vanilla":
 *
 *     skmt_corrections_new(&c, model, options, &err);
 *     skmt_session_use_corrections(session, c, &err);
 *     skmt_corrections_add(c, source, target, &err);  ..
 *
 * The options k, tau, key-type and knn-eos matter. Any number of threads may
 * use the same corrections. A text sees those that were added before it was
 * submitted. Keep them until the sessions, streams and requests that use them
 * are freed. */
typedef struct skmt_corrections skmt_corrections;

SKMT_API skmt_status skmt_corrections_new(skmt_corrections **out,
                                          const skmt_model *model,
                                          const skmt_options *options,
                                          skmt_error *err);
SKMT_API void skmt_corrections_free(skmt_corrections *c);
/* Add a pair. One with an empty text is not added; that is no error. */
SKMT_API skmt_status skmt_corrections_add(skmt_corrections *c,
                                          const char *source,
                                          const char *target,
                                          skmt_error *err);
/* Remove all pairs, for example before the next document. */
SKMT_API skmt_status skmt_corrections_reset(skmt_corrections *c,
                                            skmt_error *err);
/* The number of pairs. */
SKMT_API int skmt_corrections_count(skmt_corrections *c);
/* Use these corrections from now on, like skmt_session_use_datastore. */
SKMT_API skmt_status skmt_session_use_corrections(skmt_session *s,
                                                  skmt_corrections *c,
                                                  skmt_error *err);
SKMT_API skmt_status skmt_stream_use_corrections(skmt_stream *s,
                                                 skmt_corrections *c,
                                                 skmt_error *err);
SKMT_API void skmt_request_use_corrections(skmt_request *q,
                                           skmt_corrections *c);

/* Build datastores, and add pairs to them:
 *
 *     skmt_datastore_maker_new(&m, model, &err);
 *     skmt_datastore_maker_set(m, "threads", "2", &err);
 *     skmt_datastore_maker_build(m, "my.knn", tm, &err);
 *
 *     skmt_datastore_maker_open(m, "my.knn", &err);
 *     skmt_datastore_maker_add(m, source, n, target, n, &err);  ..
 *     skmt_datastore_maker_finish(m, &err);
 *
 * Pairs are stored whenever enough of them are computed. If a build is stopped
 * or killed, the same call continues it. A maker is used by one thread at a
 * time. */
typedef struct skmt_datastore_maker skmt_datastore_maker;

SKMT_API skmt_status skmt_datastore_maker_new(skmt_datastore_maker **out,
                                              const skmt_model *model,
                                              skmt_error *err);
/* Frees m. Pairs that were added and not finished may be lost. */
SKMT_API void skmt_datastore_maker_free(skmt_datastore_maker *m);
/* Change a setting. The keys are:
 *     type       int8 or f16: how keys are stored (int8)
 *     key        final or ffn: the state of the decoder from which the next
 *                token is predicted, or the input of its last feed-forward
 *                block (final)
 *     eos        yes or no: store an entry for the end of each target (yes)
 *     any-language
 *                yes or no: also use memories whose languages are not those of
 *                the model (no)
 *     threads    (1); the result is the same
 *     block      store the entries each time there are this many (16384)
 *     limit      build from a random sample of this many pairs; 0: all (0)
 *     seed       of the sample (1)
 *     name       use this memory of the file only; may be set several times
 *     alignment  a file of alignment parameters for the pieces of the model
 *                (skmt_aligner_save): also store the source tokens, and which
 *                entries they are aligned to
 * type, key, eos, limit and seed are for building. */
SKMT_API skmt_status skmt_datastore_maker_set(skmt_datastore_maker *m,
                                              const char *key,
                                              const char *value,
                                              skmt_error *err);
/* How far the work is. */
typedef struct skmt_datastore_progress {
    size_t size;                /* sizeof(skmt_datastore_progress) */
    int64_t seen;               /* pairs of the memory or the files so far */
    int64_t first;              /* those of them that an earlier call did */
    int64_t total;              /* pairs of the memory; 0: not known */
    int64_t pairs, entries, bytes;      /* of the datastore */
} skmt_datastore_progress;
/* Return non-zero to stop. What was computed so far is stored first. */
typedef int skmt_datastore_progress_fn(void *user,
                                       const skmt_datastore_progress *p);
SKMT_API void skmt_datastore_maker_on_progress(skmt_datastore_maker *m,
                                               skmt_datastore_progress_fn *fn,
                                               void *user);
/* Build a new datastore from the memories that `tm` uses, or continue to build
 * it. */
SKMT_API skmt_status skmt_datastore_maker_build(skmt_datastore_maker *m,
                                                const char *path, skmt_tm *tm,
                                                skmt_error *err);
/* Open a datastore to add pairs. */
SKMT_API skmt_status skmt_datastore_maker_open(skmt_datastore_maker *m,
                                               const char *path,
                                               skmt_error *err);
/* Add a pair, or those of a memory, that the datastore does not have yet. */
SKMT_API skmt_status skmt_datastore_maker_add(skmt_datastore_maker *m,
                                              const char *source,
                                              size_t source_len,
                                              const char *target,
                                              size_t target_len,
                                              skmt_error *err);
SKMT_API skmt_status skmt_datastore_maker_add_tm(skmt_datastore_maker *m,
                                                 skmt_tm *tm,
                                                 skmt_error *err);
/* Store all that was added, and close the datastore. */
SKMT_API skmt_status skmt_datastore_maker_finish(skmt_datastore_maker *m,
                                                 skmt_error *err);
/* Get statistic i of the last build, or of the pairs added last: returns its
 * name and sets *value. The names are:
 *     added, entries     pairs that were stored, and their entries
 *     known              pairs that were in the datastore already
 *     empty              pairs left out because a text is empty
 *     invalid            pairs left out because a text is not valid UTF-8
 *     cut                pairs of which a text was cut at 199 pieces
 *     pairs, deleted, stored, bytes       of the datastore
 * Returns NULL after the last. */
SKMT_API const char *skmt_datastore_maker_stat(const skmt_datastore_maker *m,
                                               int i, int64_t *value);

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
 *               out what it is worth; may be set several times. "": it sees
 *               all features again. */
SKMT_API skmt_status skmt_trainer_set(skmt_trainer *t, const char *key,
                                      const char *value, skmt_error *err);
/* Add the steps of a pair. The n similar pairs come best first, and the first
 * SKMT_TRAINER_PAIRS are used: all of them, and once more the first 1, 2 or 4,
 * as if the memory were small. If `validate` is not 0, the pair is not learned
 * from but decides which network is best. */
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
/* The name of feature i, for setting "drop". NULL after the last. */
SKMT_API const char *skmt_trainer_feature(int i);
/* Get step i as JSON, for tests and experiments: what was known at it
 * (neighbors, best_prob, entropy ..), the features of the step (x) and of each
 * neighbor (votes), and what the trained network makes of them (lambda, share).
 * Returns NULL after the last. The text is valid until the next call. */
SKMT_API const char *skmt_trainer_step(skmt_trainer *t, size_t i);

/* ---- training for datastores --------------------------------------------- */

/* Find settings for systems that search a datastore, from pairs whose
 * translation is known (a dev set):
 *
 *     skmt_datastore_open(&ds, "my.knn", model, &err);
 *     skmt_knn_trainer_new(&t, ds, &err);
 *     skmt_knn_trainer_add(t, source, n, target, n, &err);  ..
 *     skmt_knn_trainer_try(t, NULL, NULL, &err);
 *     skmt_knn_trainer_train(t, NULL, NULL, &err);
 *     skmt_options_set(options, "metak", skmt_knn_trainer_network(t), &err);
 *
 * The pairs should not be in the datastore: a copy of a pair is its own nearest
 * neighbor. Every fourth pair is held out. What is chosen is chosen with the
 * other pairs, so the losses of the held-out pairs tell how good it is for new
 * texts. A trainer may be used by one thread at a time. */
typedef struct skmt_knn_trainer skmt_knn_trainer;

/* Make a trainer. The datastore was opened with its model; it may be closed
 * while the trainer exists. */
SKMT_API skmt_status skmt_knn_trainer_new(skmt_knn_trainer **out,
                                          const skmt_datastore *ds,
                                          skmt_error *err);
SKMT_API void skmt_knn_trainer_free(skmt_knn_trainer *t);
/* Change a setting. The keys are:
 *     threads   (1); the result is the same. Set it before the first pair.
 *     k         neighbors of the network: 1, 2, 4, 8, 16 or 32 (32)
 *     tau       temperature of the network; 0: that of the best fixed settings
 *               (0)
 *     seed      of the random numbers (1); the same seed gives the same network
 *     updates   at most this many updates of the network (5000) */
SKMT_API skmt_status skmt_knn_trainer_set(skmt_knn_trainer *t,
                                          const char *key, const char *value,
                                          skmt_error *err);
/* Add a pair. One with an empty text, or one that is not valid UTF-8, is left
 * out and counted. Pairs can be added until skmt_knn_trainer_try is called. */
SKMT_API skmt_status skmt_knn_trainer_add(skmt_knn_trainer *t,
                                          const char *source,
                                          size_t source_len,
                                          const char *target,
                                          size_t target_len,
                                          skmt_error *err);
/* How far the work is: cells of the grid that were tried, or updates of the
 * network. A non-zero result stops. */
typedef int skmt_knn_trainer_fn(void *user, int done, int total);
/* Try fixed settings: values of k and tau, each with its best lambda. Fails
 * with SKMT_ERR_ARGUMENT if there are too few pairs. fn may be NULL. */
SKMT_API skmt_status skmt_knn_trainer_try(skmt_knn_trainer *t,
                                          skmt_knn_trainer_fn *fn, void *user,
                                          skmt_error *err);
/* Train the network of system "adaptive". fn may be NULL. */
SKMT_API skmt_status skmt_knn_trainer_train(skmt_knn_trainer *t,
                                            skmt_knn_trainer_fn *fn,
                                            void *user, skmt_error *err);
/* The network, as a value of option "metak". NULL before the training. */
SKMT_API const char *skmt_knn_trainer_network(const skmt_knn_trainer *t);

/* Fixed settings for systems "vanilla" and "efficient". The losses are means of
 * the negative log-likelihood of a token, in nats. */
typedef struct skmt_knn_setting {
    size_t size;                /* sizeof(skmt_knn_setting) */
    int k;
    double tau, lambda;
    double loss;                /* of the pairs that are not held out */
} skmt_knn_setting;
/* Get the settings of cell i of the grid, by k and then tau. Returns 0 if there
 * is no such cell, or nothing was tried yet. */
SKMT_API int skmt_knn_trainer_setting(const skmt_knn_trainer *t, int i,
                                      skmt_knn_setting *out);
/* Get statistic i: returns its name and sets *value. The names are:
 *     pairs, known           pairs that were used, and those of them that the
 *                            datastore has
 *     empty, invalid, cut    pairs that were left out, and pairs of which a
 *                            text was cut
 *     steps, held_steps      tokens, without and only those held out
 *     best                   the number of the best cell
 *     tau                    of the network
 *     updates, best_update   of the training: all, and those of the best
 *                            network
 *     plain, fixed, network  losses of the model alone, of the best cell, and
 *                            of the network
 *     held_plain, held_fixed, held_network      of the pairs held out
 * Returns NULL after the last. */
SKMT_API const char *skmt_knn_trainer_stat(const skmt_knn_trainer *t, int i,
                                           double *value);

#ifdef __cplusplus
}
#endif
#endif
