/* nearest.h - finds the known name that is most similar to a mistyped one.
 *
 * Begin with the typed name, offer each known name, then end. nearest_end()
 * returns NULL if no known name is similar enough to suggest. */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

struct nearest { const char *typed, *best; size_t distance; };
void nearest_begin(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *name);
const char *nearest_end(const struct nearest *n);

#endif
