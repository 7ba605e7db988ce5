/* similar.h - bit-parallel edit distance of one text to many others, and the
 * words in which two texts differ.
 *
 * The algorithm is that of Myers (J. ACM 46:3, 1999) in Hyyro's block form: 64
 * rows of the table at a time. The pattern is prepared once and compared with
 * each candidate. Distances are exact Levenshtein distances: an insertion, a
 * deletion and a replacement cost 1. A struct similar belongs to one
 * thread. */
#ifndef TM_SIMILAR_H
#define TM_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct similar;                 /* opaque */

enum status similar_new(struct similar **out, struct err *e);
void similar_free(struct similar *s);           /* NULL is fine */

/* Set the text to compare with. It is copied. Without this call the pattern is
 * empty. */
enum status similar_set(struct similar *s, const uint32_t *pattern, size_t n,
                        struct err *e);
/* The distance from the pattern to text. Allocates nothing. The time is
 * proportional to the product of the lengths. If that is more than
 * SIMILAR_CELLS_MAX (two texts of 131,072 units each), only the common
 * beginning and the common end of both count as equal, and the result may be
 * larger than the distance. */
#define SIMILAR_CELLS_MAX ((uint64_t)1 << 34)
size_t similar_distance(struct similar *s, const uint32_t *text, size_t n);

/* The same by the textbook algorithm, in O(n m), for tests. *ok is false when
 * out of memory. */
size_t similar_reference(const uint32_t *a, size_t n, const uint32_t *b,
                         size_t m, bool *ok);

/* 1 - distance / max(n, m), and 1 for two empty texts. */
double similarity(size_t distance, size_t n, size_t m);

/* ---- differences, for display -------------------------------------------- */

/* How a stored source becomes the query, as a list of stretches in reading
 * order. Texts are compared word by word. No stretch is empty, and no two
 * neighbors are of the same kind. A KEEP is in both texts, a DROP only in the
 * stored one, an ADD only in the query; at the same place, a DROP comes before
 * an ADD. All KEEP and DROP joined are the stored text, all KEEP and ADD are
 * the query, byte for byte. White space between words is kept only beside a
 * kept word or at either end of a text. */
enum edit { EDIT_KEEP, EDIT_DROP, EDIT_ADD };
struct stretch {
    enum edit kind;
    size_t begin, end;          /* bytes of the stored text (KEEP, DROP) or of
                                   the query (ADD) */
};
struct stretches { struct stretch *at; size_t n, cap; };
void stretches_release(struct stretches *s);
/* Replaces the contents of out. When the parts that differ have more than about
 * two thousand words each, they are not compared: all of the stored part is
 * dropped, and all of the query's part is added. */
enum status differences(struct str stored, struct str query,
                        struct stretches *out, struct err *e);

#endif
