/* pairset.h - what the memory has for a text: pairs, or the translation itself.
 *
 *     sentence -> tm/tmfile -> pairs -> keys there already, or tokens to make
 *                                       them of (datastore_builder.h)
 *
 * A pairfinder is the feeding thread's: it alone searches. What it finds belongs
 * to the result's segments, and goes with them to whoever decodes. */
#ifndef ENGINE_PAIRFINDER_H
#define ENGINE_PAIRFINDER_H

#include "engine/result.h"
#include "knn/key_cache.h"
#include "knn/sk.h"
#include "tm/tmfile.h"

struct steering_pair {          /* one pair */
    struct key_id id;           /* of its keys */
    struct pair_keys *block;    /* them, held; NULL: to be made */
    bool asked;                 /* the cache was, and has counted it */
    int32_t *ids;               /* [n_src + n_tgt] what to make them of */
    int n_src, n_tgt;           /* source with the model's marks; target
                                   without its end */
    double similarity;
    int64_t pair;               /* its number, 0: given by the caller */
    char *source, *target, *memory;     /* for explanations, or NULL */
};

struct pairset {
    struct steering_pair *pairs;     /* [n] best first; of a sentence that was taken
                                   as stored: its pair, then a pair for each
                                   other translation */
    int n;
    int n_more;                 /* behind them, while it is being found out
                                   whether the sentence is stored */
    bool explained;             /* all have their texts */
    struct sk_sentence sk;      /* the job's `user`, once the keys are there */
};
void pairset_free(struct pairset *r);           /* NULL is fine */
/* The sentence is decided: what nobody will read is given back. */
void pairset_drop_keys(struct pairset *r);

/* A pair the caller has found by itself. */
struct similar_pair {
    struct str source, target;
    double similarity;
};

struct pairfinder;

/* tm may be NULL: only given pairs. All borrowed but o. */
enum status pairfinder_new(struct pairfinder **out, const struct engine *en,
                           const struct options *o, struct tmfile *tm,
                           struct key_cache *keys, struct err *e);
void pairfinder_free(struct pairfinder *rc);    /* NULL is fine */

/* For every sentence of r. given: n pairs for all of them instead of a search;
 * NULL: search. A sentence found word for word loses its job and has its
 * translation instead (option exact); prefixed texts never do. */
enum status pairfinder_run(struct pairfinder *rc, struct result *r,
                           const struct similar_pair *given, int n,
                           struct err *e);

/* The pairs of a search for this model under these options. */
enum status options_search(const struct options *o, const struct engine *en,
                           int matches, struct tm_query *q, struct err *e);
/* Which keys a model makes of pairs under these options, as a number. */
uint64_t pairset_fingerprint(const struct engine *en, const struct options *o);
/* Which pair: a hash of its texts without tags. The same pair has the same
 * keys in any memory, copied or not, and when it is given by the caller. */
struct key_id steering_pair_id(struct str source, struct str target);
/* The tokens of a pair: ids, n_src and n_tgt of to. n_tgt is 0 when there is
 * nothing to learn from the pair. */
enum status steering_pair_encode(const struct engine *en, struct str source,
                                 struct str target, struct steering_pair *to,
                                 struct err *e);
/* The pair's id, and its keys where the cache has them; else block is NULL, and
 * ids, n_src and n_tgt are the tokens to make them of. Without a block and with
 * n_tgt 0 there is nothing to learn from the pair. A cache whose file cannot be
 * read has no keys. */
enum status steering_pair_prepare(const struct engine *en,
                                  struct key_cache *keys, struct str source,
                                  struct str target, struct steering_pair *to,
                                  struct err *e);
/* Its keys, when the cache has them; block is NULL otherwise. May be called
 * again: the cache's statistics count a pair once. */
enum status steering_pair_keys(struct key_cache *keys, struct steering_pair *p,
                               struct err *e);
/* Tagged texts without their tags, in the buffers. */
enum status steering_pair_plain(struct strbuf *sb, struct str *source,
                                struct str *target, struct err *e);

#endif
