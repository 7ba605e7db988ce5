/* engine.h - a model opened for translation. It never changes after
 * engine_open, so any number of sessions and streams may share it. What uses
 * the model for longer than a call holds it. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdatomic.h>

#include "align/word_keys.h"
#include "base/err.h"
#include "engine/facts.h"
#include "engine/options.h"
#include "model/weights.h"
#include "nn/net.h"
#include "search/batch.h"

/* The pieces of a tokenizer as C strings. */
struct piece_texts {
    const char **text;          /* [vocab_size] */
    char *block;                /* the memory of the strings; NULL if they are
                                   those of the other side */
};

struct engine {
    atomic_int holders;
    struct weights *w;
    struct net *net;
    struct backend *backend;    /* runs the model */
    struct languages languages; /* of a multilingual model */
    struct facts facts;
    struct piece_texts src_pieces, tgt_pieces;
    struct trust *trust;        /* the network in the model file, or NULL */
};

/* Open a model as the options of open.def say. There is one holder then. Of a
 * multilingual model whose languages are not chosen, the tokenizers and facts
 * can be used, but it cannot translate: backend_executor_new() fails. */
enum status engine_open_with(struct engine **out, const char *path,
                             const struct options *o, struct err *e);
/* The same with the defaults. */
enum status engine_open(struct engine **out, const char *path, struct err *e);
/* Add a holder. Returns en. */
const struct engine *engine_hold(const struct engine *en);
/* Remove a holder; the last one frees the model. NULL is fine. */
void engine_close(const struct engine *en);

/* A checksum of the weights and the tokenizer, and of the languages that were
 * chosen if the model has several: the states of a pair depend on all of these.
 * Unlike the checksum of the file it does not depend on other settings in the
 * file. */
uint64_t engine_weights_id(const struct engine *en);
/* Fail with ST_VERSION if option "trust" is a network that was trained with
 * another model: it would be useless. */
enum status engine_check_trust(const struct engine *en,
                               const struct options *o, struct err *e);

/* The same for option "metak". */
enum status engine_check_metak(const struct engine *en,
                               const struct options *o, struct err *e);

/* Splits the texts of both sides into pieces, for alignments. */
struct word_splitter engine_splitter(const struct engine *en);

/* The longest sentence, in pieces without special tokens, under these
 * options. Longer ones are cut. */
int engine_max_source(const struct engine *en, const struct options *o);

/* Replace the option values that mean "automatic" (0, -1) by the values that
 * are used. en may be NULL; options that depend on the model then stay as they
 * are. steered: for a translation with a memory; otherwise for a translation
 * without one or for a search. */
struct options engine_resolve(const struct engine *en,
                              const struct options *o, bool steered);

/* Make the search options of a job. Fails with ST_ARGUMENT when options
 * contradict each other or do not fit the model. */
enum status engine_search_options(const struct engine *en,
                                  const struct options *o,
                                  struct search_options *out, struct err *e);

/* The limits of a batch for jobs with these options. */
struct batch_limits engine_batch_limits(const struct engine *en,
                                        const struct options *o);

#endif
