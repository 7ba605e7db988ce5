/* strbuf.h - a text that grows, up to a limit given to strbuf_init().
 *
 * The text is always NUL-terminated, and data is never NULL, even when the text
 * is empty. A failed append leaves the text unchanged. A buffer must not be
 * used by two threads at once. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct strbuf {
    char *data;                 /* [len + 1], NUL-terminated */
    size_t len;
    size_t cap;
    size_t limit;               /* largest len allowed; 0 means no limit */
};

void strbuf_init(struct strbuf *sb, size_t limit);
void strbuf_release(struct strbuf *sb);     /* sb can be used again, empty */
void strbuf_reset(struct strbuf *sb);       /* set to "", keep the memory */

/* The view is valid until the text is changed. */
static inline struct str strbuf_view(const struct strbuf *sb)
{
    return (struct str){ sb->data, sb->len };
}

/* These return false when out of memory or above the limit. strbuf_reserve()
 * makes room for `extra` more bytes and the NUL. */
bool strbuf_reserve(struct strbuf *sb, size_t extra);
bool strbuf_add(struct strbuf *sb, const void *bytes, size_t n);
bool strbuf_adds(struct strbuf *sb, const char *s);
bool strbuf_addc(struct strbuf *sb, char c);
__attribute__((format(printf, 2, 3)))
bool strbuf_addf(struct strbuf *sb, const char *fmt, ...);

/* Hand over the text and leave the buffer empty. The caller frees the text.
 * Returns NULL when out of memory. */
char *strbuf_take(struct strbuf *sb);

#endif
