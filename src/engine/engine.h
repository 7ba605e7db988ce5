/* engine.h - a model opened for translation, shared by sessions and streams. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/err.h"
#include "engine/options.h"
#include "model/weights.h"
#include "nn/net.h"
#include "search/job.h"

struct fact { char name[24]; char value[128]; };

struct engine {
    struct weights *w;
    struct net *net;
    struct fact *facts;         /* for people: skmt info */
    int n_facts;
    const char **piece_text;    /* [vocab_size] pieces, NUL-terminated */
    char *piece_block;
};

enum status engine_open(struct engine **out, const char *path, struct err *e);
void engine_close(struct engine *en);           /* NULL is fine */

/* Longest sentence in pieces (without marks) under these options. */
int engine_max_source(const struct engine *en, const struct options *o);

/* The options in force with this model (NULL: with any): where o leaves the
 * choice to us (0, -1), what is chosen. steered: for a translation with a
 * memory; else for one without, or a search. */
struct options engine_resolve(const struct engine *en,
                              const struct options *o, bool steered);

/* The options as search wants them; fails where they do not fit each other
 * or the model. */
enum status engine_search_options(const struct engine *en,
                                  const struct options *o,
                                  struct search_options *out, struct err *e);

#endif
