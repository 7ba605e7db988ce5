/* datastore_builder.h - the keys of sentences about to be decoded.
 *
 * What the pairfinder did not find in the cache is made here, the pairs of all
 * sentences together, and goes to the cache. One worker's. */
#ifndef ENGINE_DATASTORE_BUILDER_H
#define ENGINE_DATASTORE_BUILDER_H

#include "engine/pairfinder.h"

struct datastore_builder;

/* pool may be NULL; all but o is borrowed. */
enum status datastore_builder_new(struct datastore_builder **out,
                                  const struct engine *en,
                                  const struct options *o, struct pool *pool,
                                  struct err *e);
void datastore_builder_free(struct datastore_builder *kw);  /* NULL is fine */
void datastore_builder_set_pool(struct datastore_builder *kw, bool use);

/* Fill the key stores of n pairsets (NULL: nothing to do). What the cache's file
 * cannot take is not kept: that is no reason not to translate. */
enum status datastore_builder_run(struct datastore_builder *kw,
                                  struct key_cache *keys,
                                  struct pairset *const *pairsets, int n,
                                  struct err *e);

/* The keys of pairs as such: each gets its block, and the cache must take
 * them. */
enum status datastore_builder_make(struct datastore_builder *kw,
                                   struct key_cache *keys,
                                   struct steering_pair *const *pairs, int n,
                                   struct err *e);

#endif
