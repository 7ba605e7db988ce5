/* online_view.h - the entries of the corrections so far, for systems that learn
 * from each corrected sentence: token entries (keys of each pair) and policy
 * entries (kok_policy.h).
 *
 * A view never changes. Adding a correction makes a new view, which shares all
 * that the old one has; a sentence keeps the view it began with. Any number of
 * threads may read a view, hold it and drop it. */
#ifndef KNN_ONLINE_VIEW_H
#define KNN_ONLINE_VIEW_H

#include <stdatomic.h>

#include "base/str.h"
#include "knn/kok_policy.h"
#include "knn/pair_keys.h"

/* A corrected sentence. */
struct online_pair {
    atomic_int holders;
    struct pair_keys *keys;     /* held */
    char *source, *target;      /* with a NUL, in the block of this struct */
    int64_t id;                 /* as the caller numbers pairs */
};

struct online_view {
    atomic_int holders;
    struct online_pair **pairs; /* [n] held, in the order of the corrections */
    int n;
    struct kok_policy policy;   /* of the same corrections */
};

/* Copies the texts, and holds the keys. The caller is the only holder. */
enum status online_pair_new(struct online_pair **out, struct pair_keys *keys,
                            struct str source, struct str target, int64_t id,
                            struct err *e);
void online_pair_drop(struct online_pair *p);   /* NULL is fine */

/* Make an empty view. The caller is the only holder. */
enum status online_view_new(struct online_view **out, struct err *e);
/* Make a view with one more pair, which it holds, and its policy entries, which
 * may be NULL. */
enum status online_view_add(struct online_view **out,
                            const struct online_view *old,
                            struct online_pair *pair, struct kok_block *policy,
                            struct err *e);
struct online_view *online_view_hold(struct online_view *v);    /* returns v */
void online_view_drop(struct online_view *v);   /* NULL is fine */

#endif
