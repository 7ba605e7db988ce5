/* string_ids.h - numbers strings: equal strings have the same number.
 *
 * Numbers are dense, in the order in which the strings were added. A string is
 * bytes, also NUL; it may be empty. The strings are copied. For use inside
 * text/ only. */
#ifndef TEXT_STRING_IDS_H
#define TEXT_STRING_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

struct string_ids {             /* initialize with zeros */
    struct strbuf bytes;        /* all strings, one after another */
    uint32_t *end;              /* [n] where each string ends in bytes */
    size_t n, cap;
    uint32_t *slot;             /* [mask + 1] number + 1, or 0; or NULL */
    size_t mask;
};
void string_ids_release(struct string_ids *t);

/* The number of a string, or -1. */
int32_t string_ids_find(const struct string_ids *t, struct str s);
/* The same, but a string that is not known is added. -1: out of memory, or the
 * strings would exceed 4 GiB. */
int32_t string_ids_add(struct string_ids *t, struct str s);
/* The string of a number, until the next one is added. */
struct str string_ids_text(const struct string_ids *t, int32_t id);

#endif
