/* keys.h - the keys of a model's pairs, shared by sessions and streams. */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "engine/engine.h"
#include "knn/keycache.h"
#include "tm/tmfile.h"

struct keys {
    struct keycache *cache;
    struct keyfile *file;       /* the cache's, or NULL */
    uint64_t maker;             /* model and options they were made with */
    enum key_type type;
};

/* file may be NULL: memory only. */
enum status keys_new(struct keys **out, const struct engine *en,
                     const struct options *o, const char *file,
                     struct err *e);
void keys_free(struct keys *k);                 /* NULL is fine */
/* ST_ARGUMENT: made for another model or with other options. */
enum status keys_fit(const struct keys *k, const struct engine *en,
                     const struct options *o, struct err *e);

/* Make the keys of every pair of the memories in use that are not there yet;
 * *made counts. With a file all stay as long as its limit allows, and the file
 * is compacted; without one as many stay as there is room for. */
enum status keys_warm(struct keys *k, const struct engine *en,
                      const struct options *o, struct tmfile *tm,
                      int64_t *made, struct err *e);
/* Remove from the file the keys of all pairs that are not in the memories in
 * use, and compact it; *removed counts. Nothing happens without a file. */
enum status keys_drop_others(struct keys *k, struct tmfile *tm,
                             int64_t *removed, struct err *e);

#endif
