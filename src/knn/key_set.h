/* key_set.h - a set of pair ids (pair_keys.h), for work that must see each
 * distinct pair once. A zeroed struct is an empty set. */
#ifndef KNN_KEY_SET_H
#define KNN_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "knn/pair_keys.h"

struct key_set {
    struct key_id *slots;       /* [mask + 1], a power of two; or NULL. A slot
                                   of zeros is empty. */
    size_t mask, n;
    bool has_zeros;             /* the id of zeros is in the set */
};

void key_set_release(struct key_set *s);
bool key_set_has(const struct key_set *s, struct key_id id);
/* Add an id; nothing happens if it is there. Returns false when out of
 * memory. */
bool key_set_add(struct key_set *s, struct key_id id);

#endif
