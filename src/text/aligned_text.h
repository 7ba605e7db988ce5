/* aligned_text.h - a text of which each byte knows where it comes from, and the
 * passes that change it.
 *
 * The origin of a byte is a number, such as an offset in the user's text. The
 * origins ascend. Bytes with the same origin are one unit: they replace the
 * same part of the original. A pass reads `now` from begin to end and writes
 * the changed text:
 *
 *     aligned_begin(w);
 *     aligned_keep(w, 0, 5);               the first five bytes as they are
 *     aligned_put(w, "&amp;", 5, 5);       in place of byte 5
 *     aligned_keep(w, 6, w->now.n);
 *     aligned_end(w);                      w->now is the changed text
 *
 * If memory runs out, `failed` is set and everything after does nothing, so it
 * is enough to look once, at the end. For use inside text/ and metrics/. */
#ifndef TEXT_ALIGNED_TEXT_H
#define TEXT_ALIGNED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct aligned_text {
    char *text;                 /* [n] */
    uint32_t *from;             /* [n + 1]; from[n]: the original's end */
    size_t n, cap;              /* room for `cap` bytes and cap + 1 origins */
};

struct aligned_work {           /* initialize with zeros */
    struct aligned_text now, next;
    bool failed;                /* out of memory, or */
    bool too_long;              /* the text would have 4 GiB */
};
void aligned_release(struct aligned_work *w);

/* Set the text. The origin of each character is its offset; an invalid byte
 * becomes U+FFFD. */
void aligned_set(struct aligned_work *w, struct str text);

void aligned_begin(struct aligned_work *w);
/* Write bytes [begin, end) of w->now, with their origins. */
void aligned_keep(struct aligned_work *w, size_t begin, size_t end);
/* Write n bytes that replace byte `at` of w->now, or stand before it. `at` may
 * be the end. */
void aligned_put(struct aligned_work *w, const char *bytes, size_t n,
                 size_t at);
void aligned_end(struct aligned_work *w);

/* For a text that is not made from another one: append bytes to w->now, with
 * the origin `from`, which is not below those before. Afterwards set the end
 * of the original. */
void aligned_append(struct aligned_work *w, const char *bytes, size_t n,
                    uint32_t from);
void aligned_finish(struct aligned_work *w, uint32_t end);

/* Whether the origins ascend and none is above `end`. For PARANOID_CHECK. */
bool aligned_sound(const struct aligned_text *t, uint32_t end);

#endif
