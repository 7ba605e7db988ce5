/* shared_keys.h - the keys of a model's pairs, shared by sessions and streams. */
#ifndef ENGINE_SHARED_KEYS_H
#define ENGINE_SHARED_KEYS_H

#include "engine/engine.h"
#include "knn/key_cache.h"
#include "tm/tmfile.h"

struct shared_keys {
    struct key_cache *cache;
    struct key_file *file;      /* the cache's, or NULL */
    uint64_t maker;             /* model and options they were made with */
    enum key_type type;
};

/* file may be NULL: memory only. */
enum status shared_keys_new(struct shared_keys **out, const struct engine *en,
                            const struct options *o, const char *file,
                            struct err *e);
void shared_keys_free(struct shared_keys *k);   /* NULL is fine */
/* ST_ARGUMENT: made for another model or with other options. */
enum status shared_keys_fit(const struct shared_keys *k,
                            const struct engine *en, const struct options *o,
                            struct err *e);

/* Make the keys of every pair of the memories in use that are not there yet;
 * *made counts. With a file all stay as long as its limit allows, and the file
 * is compacted; without one as many stay as there is room for. */
enum status shared_keys_warm(struct shared_keys *k, const struct engine *en,
                             const struct options *o, struct tmfile *tm,
                             int64_t *made, struct err *e);
/* Remove from the file the keys of all pairs that are not in the memories in
 * use, and compact it; *removed counts. Nothing happens without a file. */
enum status keys_drop_others(struct shared_keys *k, struct tmfile *tm,
                             int64_t *removed, struct err *e);

#endif
