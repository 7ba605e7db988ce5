/* pair_list.h - stores the pairs of a client in the memory of its account. */
#ifndef SERVER_PAIR_LIST_H
#define SERVER_PAIR_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "call.h"

/* Stores a text with its translation. If both have the same number of lines,
 * each line is a pair, because texts are translated line by line. source and
 * target are codes of languages; `from` is the name of the API. Returns false
 * after it has failed the call. */
bool pair_list_store_text(struct call *c, const char *text,
                          const char *translation, const char *source,
                          const char *target, const char *from);

/* Stores a JSON list of objects with the strings "source" and "target" (or
 * "Source" and "Target"), all or none. *n gets the number of pairs. Returns
 * false after it has failed the call. */
bool pair_list_store(struct call *c, const json_t *list, const char *source,
                     const char *target, const char *from, int64_t *n);

#endif
