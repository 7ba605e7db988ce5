/* fields.h - a text cut at white space, as Python's str.split() cuts it.
 *
 * What counts as white space is what the reference scorers take for it, down
 * to the separators U+001C..U+001F, so that no score differs for a tab. */
#ifndef METRICS_FIELDS_H
#define METRICS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct fields {
    struct str *at;             /* [n], views of the text; never empty ones */
    size_t n, cap;
};

bool fields_split(struct fields *f, struct str text);   /* false: no memory */
void fields_release(struct fields *f);          /* zeroed struct is fine */

bool fields_is_space(uint32_t cp);
struct str fields_trim_end(struct str text);    /* without white space there */

#endif
