/* similar.h - edit distance, one text against many, bit-parallel.
 *
 * Myers' algorithm (J. ACM 46:3, 1999) in Hyyro's block form: 64 rows of the
 * table at a time. The pattern is compiled once and compared with each
 * candidate; distances are exact Levenshtein (insert, delete, replace cost 1).
 * A struct similar belongs to one thread. */
#ifndef TM_SIMILAR_H
#define TM_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct similar;

enum status similar_new(struct similar **out, struct err *e);
void similar_free(struct similar *s);           /* NULL is fine */

/* The text to compare with; copied. */
enum status similar_set(struct similar *s, const uint32_t *pattern, size_t n,
                        struct err *e);
/* Distance of the pattern to text. Allocates nothing. The time grows with the
 * product of the lengths. Where that is more than SIMILAR_CELLS_MAX (two texts
 * of 131,072 units each), only what both have in common at the beginning and
 * at the end counts as equal, and the distance may be too large. */
#define SIMILAR_CELLS_MAX ((uint64_t)1 << 34)
size_t similar_distance(struct similar *s, const uint32_t *text, size_t n);

/* The plain table, O(n m): what the above is tested against. *ok is false
 * when there is no memory for a row. */
size_t similar_reference(const uint32_t *a, size_t n, const uint32_t *b,
                         size_t m, bool *ok);

/* 1 - distance / max(n, m); 1 for two empty texts. */
double similarity(size_t distance, size_t n, size_t m);

/* ---- differences, to show to people ------------------------------------- */

/* How `stored` (a stored source) becomes `query` (the query): stretches in the
 * order of reading, word by word, neighbors of one kind joined and none of
 * them empty. KEEP has bytes of both; DROP only of stored; ADD only of query,
 * and a DROP comes before an ADD at the same place. KEEP and DROP put together
 * are stored, KEEP and ADD are query, byte for byte: white space counts too,
 * but is kept on its own only beside a kept word or where a text ends. */
enum edit { EDIT_KEEP, EDIT_DROP, EDIT_ADD };
struct stretch {
    enum edit kind;
    size_t begin, end;          /* bytes of stored (KEEP, DROP) or query (ADD) */
};
struct stretches { struct stretch *at; size_t n, cap; };
void stretches_release(struct stretches *s);
/* Replaces what out held. Where more than some thousand words of both differ
 * they are not compared: those of stored are dropped, those of query added. */
enum status differences(struct str stored, struct str query,
                        struct stretches *out, struct err *e);

#endif
