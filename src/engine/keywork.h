/* keywork.h - the keys of sentences about to be decoded.
 *
 * What the recaller did not find in the cache is made here, the pairs of all
 * sentences together, and goes to the cache. One worker's. */
#ifndef ENGINE_KEYWORK_H
#define ENGINE_KEYWORK_H

#include "engine/recall.h"

struct keywork;

/* pool may be NULL; all but o is borrowed. */
enum status keywork_new(struct keywork **out, const struct engine *en,
                        const struct options *o, struct pool *pool,
                        struct err *e);
void keywork_free(struct keywork *kw);          /* NULL is fine */
void keywork_use_pool(struct keywork *kw, bool use);

/* Fill the key stores of n recalls (NULL: nothing to do). What the cache's file
 * cannot take is not kept: that is no reason not to translate. */
enum status keywork_run(struct keywork *kw, struct keycache *keys,
                        struct recall *const *recalls, int n, struct err *e);

/* The keys of pairs as such: each gets its block, and the cache must take
 * them. */
enum status keywork_make(struct keywork *kw, struct keycache *keys,
                         struct recalled *const *pairs, int n, struct err *e);

#endif
