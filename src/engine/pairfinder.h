/* pairfinder.h - find the stored pairs for the sentences of a text.
 *
 *     sentence -> tm/retrieve.h -> pairs, each with its keys from the
 *                 cache or with the tokens to compute them from
 *
 * A sentence that is stored itself gets the stored translation, and its job is
 * freed (option exact). The thread that submits texts uses the pairfinder, and
 * it alone searches. The pairsets that it makes belong to the sentences of the
 * result, and go with them to the worker that decodes. */
#ifndef ENGINE_PAIRFINDER_H
#define ENGINE_PAIRFINDER_H

#include "align/align_model.h"
#include "engine/pairset.h"
#include "engine/result.h"
#include "engine/shared_keys.h"
#include "tm/retrieve.h"

/* A pair that the caller of the API has found. */
struct similar_pair {
    struct str source, target;
    double similarity;
};

struct pairfinder;              /* opaque */

/* Where pairs and entries come from. All pointers are borrowed. */
struct steering_sources {
    struct pair_source *source; /* NULL: only given pairs are used */
    struct shared_keys *keys;   /* of the pairs; NULL: the system has none */
    struct entries *entries;    /* a datastore of all pairs, or NULL */
    struct online_view *online; /* the corrections so far, or NULL */
    const struct align_model *alignment;        /* of pieces, or NULL */
};

/* en is borrowed; from and o are copied. */
enum status pairfinder_new(struct pairfinder **out, const struct engine *en,
                           const struct options *o,
                           const struct steering_sources *from,
                           struct err *e);
void pairfinder_free(struct pairfinder *pf);    /* NULL is fine */

/* Find pairs for every sentence of r, if the system of the options needs them,
 * and make the mixers. If `given` is not NULL, its n pairs are
 * used for all sentences instead of a search. A sentence that is stored word
 * for word loses its job and gets the stored translation (option exact), unless
 * pairs are given or the text has a forced prefix. */
enum status pairfinder_run(struct pairfinder *pf, struct result *r,
                           const struct similar_pair *given, int n,
                           struct err *e);

/* Make the query for a search of up to `matches` pairs under these options. en
 * may be NULL if the analyzer does not need the model's vocabulary. */
enum status make_retrieve_query(const struct options *o,
                                const struct engine *en, int matches,
                                struct retrieve_query *q, struct err *e);

#endif
