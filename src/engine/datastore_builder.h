/* datastore_builder.h - fill the datastores of sentences before they are
 * decoded.
 *
 * Keys that the pairfinder did not find in the cache are computed here, for the
 * pairs of all sentences together, and put into the cache. Each worker has a
 * datastore_builder of its own. */
#ifndef ENGINE_DATASTORE_BUILDER_H
#define ENGINE_DATASTORE_BUILDER_H

#include "engine/pairset.h"
#include "engine/shared_keys.h"

struct datastore_builder;

/* en and pool are borrowed. pool may be NULL. */
enum status datastore_builder_new(struct datastore_builder **out,
                                  const struct engine *en, struct pool *pool,
                                  struct err *e);
void datastore_builder_free(struct datastore_builder *db);  /* NULL is fine */
void datastore_builder_set_pool(struct datastore_builder *db, bool use);

/* Have datastore_builder_run call this between groups of passes. A group has at
 * most KEY_GROUP_ROWS rows, unless a pair is longer. fn may be NULL. */
enum { KEY_GROUP_ROWS = 1024 };
void datastore_builder_set_pause(struct datastore_builder *db,
                                 void (*fn)(void *user), void *user);

/* Compute the missing keys of n pairsets, which may have different caches and
 * systems, and prepare their mixers. NULL entries are skipped. An error of the
 * key file is ignored: the keys are used but not stored.
 *
 * why[i] is set to what is wrong with pairset i: there is no memory for its
 * keys, or its system has failed. Then its mixer cannot be used. All other
 * errors are those of the device, and are returned. */
enum status datastore_builder_run(struct datastore_builder *db,
                                  struct pairset *const *pairsets, int n,
                                  struct err *why, struct err *e);

/* Compute the missing keys of n pairs and put them into the cache. Here an
 * error of the key file is returned. */
enum status datastore_builder_make(struct datastore_builder *db,
                                   const struct shared_keys *keys,
                                   struct steering_pair *const *pairs, int n,
                                   struct err *e);

#endif
