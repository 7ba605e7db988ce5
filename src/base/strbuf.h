/* strbuf.h - text that grows, up to a limit given at birth.
 *
 * The bytes are always NUL-terminated (data is never NULL, even when empty).
 * A failed append leaves the text as it was. Not shared between threads. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct strbuf {
    char *data;                 /* [len + 1], NUL-terminated */
    size_t len;
    size_t cap;
    size_t limit;               /* largest len allowed; 0: no limit */
};

void strbuf_init(struct strbuf *sb, size_t limit);
void strbuf_release(struct strbuf *sb);         /* then as after init */
void strbuf_reset(struct strbuf *sb);           /* empty, keeps the memory */

/* Good until the text is changed. */
static inline struct str strbuf_view(const struct strbuf *sb)
{
    return (struct str){ sb->data, sb->len };
}

/* All return false when memory or the limit is reached. */
bool strbuf_reserve(struct strbuf *sb, size_t extra);
bool strbuf_add(struct strbuf *sb, const void *bytes, size_t n);
bool strbuf_adds(struct strbuf *sb, const char *s);
bool strbuf_addc(struct strbuf *sb, char c);
__attribute__((format(printf, 2, 3)))
bool strbuf_addf(struct strbuf *sb, const char *fmt, ...);

char *strbuf_take(struct strbuf *sb);           /* caller frees; NULL: no mem */

#endif
