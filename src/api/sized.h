/* sized.h - copies structs that can grow between the caller and the library.
 *
 * A public struct that the caller allocates begins with `size_t size`, which
 * the caller sets to its sizeof. Programs that were compiled with an older
 * skmt.h have smaller structs, and programs that were compiled with a newer one
 * have larger structs. So the functions of the API work on structs of their own
 * and copy as many bytes as both sides know.
 *
 * To add a member to such a struct, append it, and make 0 mean what the library
 * did before. */
#ifndef API_SIZED_H
#define API_SIZED_H

#include <stddef.h>

#include "base/err.h"
#include "skmt_tools.h"

/* The structs, and their last members in the first release. */
#define SIZED_STRUCTS(S)                                                    \
    S(skmt_option_info, help)                                               \
    S(skmt_system_info, options)                                            \
    S(skmt_piece, text)                                                     \
    S(skmt_tm_info, target_bytes)                                           \
    S(skmt_tm_state, texts)                                                 \
    S(skmt_pair, changed)                                                   \
    S(skmt_match, occurrences)                                              \
    S(skmt_similar, similarity)                                             \
    S(skmt_found_pair, exact)                                               \
    S(skmt_vote, share)                                                     \
    S(skmt_reason, effect)                                                  \
    S(skmt_recovery, lost)                                                  \
    S(skmt_words_info, f1)                                                  \
    S(skmt_entry, weight)                                                   \
    S(skmt_knn_setting, loss)                                               \
    S(skmt_reduction, threads)                                              \
    S(skmt_index_settings, seed)

/* What the helper has to know about a struct. */
struct sized {
    const char *name;
    size_t first;               /* its size in the first release */
    size_t now;                 /* its size in this version */
};

enum sized_type {
#define S(type, last) SIZED_##type,
    SIZED_STRUCTS(S)
#undef S
    SIZED_TYPES
};
extern const struct sized sized_types[SIZED_TYPES];

/* These functions fail with ST_ARGUMENT and write nothing if the size of the
 * caller's struct is not one that a version of skmt.h can have.
 *
 * Copy the struct `from`, which is of this version, to the caller. Its `size`
 * is not copied. Members that only the caller knows become 0. */
enum status sized_put(enum sized_type type, void *to, const void *from,
                      struct err *e);
/* Copy a struct of the caller to `to`, which is of this version. Members that
 * the caller does not know become 0. */
enum status sized_get(enum sized_type type, void *to, const void *from,
                      struct err *e);
/* The size of a struct of the caller. */
size_t sized_size(const void *p);

#endif
