/* fields.h - splits a text at white space, as Python's str.split() does.
 *
 * White space is what Python's scorers take for it, including the separators
 * U+001C to U+001F, so that scores agree with theirs on unusual text too. */
#ifndef METRICS_FIELDS_H
#define METRICS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct fields {
    struct str *at;             /* [n], not empty; they point into the text */
    size_t n, cap;
};

/* Replaces the fields by those of the text. Returns false when memory runs
 * out. *f must be zeroed before the first call. */
bool fields_split(struct fields *f, struct str text);
void fields_release(struct fields *f);  /* f may be zeroed */

struct str fields_trim_end(struct str text);    /* cut trailing white space */

#endif
