/* symmetrize.h - joins the alignments of both directions (method 4.4).
 *
 * The forward alignment has at most one source word for each target word, the
 * reverse alignment at most one target word for each source word. All functions
 * are pure; the caller gives the memory. */
#ifndef ALIGN_SYMMETRIZE_H
#define ALIGN_SYMMETRIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/enumlist.h"

#define ALIGN_METHODS(X)                                \
    X(ALIGN_FORWARD, "forward")                         \
    X(ALIGN_REVERSE, "reverse")                         \
    X(ALIGN_INTERSECT, "intersect")                     \
    X(ALIGN_UNION, "union")                             \
    X(ALIGN_GROW_DIAG, "grow-diag")                     \
    X(ALIGN_GROW_DIAG_FINAL_AND, "grow-diag-final-and")
enum align_method { ALIGN_METHODS(ENUM_CONSTANT) ALIGN_METHOD_COUNT };

struct word_link { uint32_t source, target; };  /* word numbers, from 0 */

#define NO_WORD UINT32_MAX

struct two_alignments {
    const uint32_t *forward;    /* [n_target] the source word, or NO_WORD */
    const uint32_t *reverse;    /* [n_source] the target word, or NO_WORD */
    uint32_t n_source, n_target;
};

/* The memory that symmetrize needs: bytes for n_source + n_target words. */
#define SYMMETRIZE_BYTES(n_source, n_target) \
    (2 * ((size_t)(n_source) + (n_target)))

/* Writes the links in ascending order, by source and then by target. Returns
 * their number, which is at most n_source + n_target; `links` has room for that
 * many, and `scratch` has SYMMETRIZE_BYTES. */
size_t symmetrize(enum align_method method, const struct two_alignments *a,
                  struct word_link *links, uint8_t *scratch);

#endif
