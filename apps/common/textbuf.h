/* textbuf.h - a growing text buffer.
 *
 * If memory runs out, or the text would be longer than TEXTBUF_MAX_MIB,
 * `failed` is set and later calls do nothing. textbuf_why() tells which of the
 * two happened. A zeroed struct is an empty buffer. */
#ifndef COMMON_TEXTBUF_H
#define COMMON_TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>

#define TEXTBUF_MAX_MIB 1024

struct textbuf {
    char *data;                 /* not NUL-terminated */
    size_t len, cap;
    bool failed;
    bool too_long;              /* failed because of TEXTBUF_MAX_MIB */
};

void textbuf_release(struct textbuf *t);
/* Returns the reason why `failed` is set, for an error message. */
const char *textbuf_why(const struct textbuf *t);
void textbuf_reset(struct textbuf *t);                  /* len = 0 */
void textbuf_add(struct textbuf *t, const char *s, size_t n);
void textbuf_adds(struct textbuf *t, const char *s);
/* At most 255 bytes are appended; the rest is cut off. */
__attribute__((format(printf, 2, 3)))
void textbuf_addf(struct textbuf *t, const char *fmt, ...);

#endif
