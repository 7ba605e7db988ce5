/* shared_keys.h - a cache of keys, with or without a key file, that sessions,
 * streams and services share. The public API calls it skmt_keys. */
#ifndef ENGINE_SHARED_KEYS_H
#define ENGINE_SHARED_KEYS_H

#include "engine/engine.h"
#include "knn/key_cache.h"
#include "tm/progress.h"
#include "tm/source.h"

struct shared_keys {
    struct key_cache *cache;
    struct key_file *file;      /* owned by the cache, or NULL */
    uint64_t maker;             /* identifies the model and the key options */
    enum key_type type;
    bool with_eos;              /* pairs have an entry for EOS */
};

/* file is the name of the key file; NULL: keep keys in memory only. */
enum status shared_keys_new(struct shared_keys **out, const struct engine *en,
                            const struct options *o, const char *file,
                            struct err *e);
void shared_keys_free(struct shared_keys *k);   /* NULL is fine */
/* Check that the keys were made for this model and these options. Returns
 * ST_ARGUMENT if not. */
enum status shared_keys_fit(const struct shared_keys *k,
                            const struct engine *en, const struct options *o,
                            struct err *e);

/* Compute the missing keys of all pairs of the source; *made is the number of
 * pairs. progress may be NULL. With a key file, as many are stored as its limit
 * allows, and the file is compacted; without one, as many are kept as the cache
 * allows. */
enum status shared_keys_warm(struct shared_keys *k, const struct engine *en,
                             const struct options *o,
                             struct pair_source *source,
                             tm_progress_fn *progress, void *user,
                             int64_t *made, struct err *e);
/* Remove from the key file the keys of all pairs that are not in the source,
 * and compact it; *removed is the number of pairs. Does nothing without a key
 * file. */
enum status shared_keys_drop_others(struct shared_keys *k,
                                    struct pair_source *source,
                                    int64_t *removed, struct err *e);

#endif
