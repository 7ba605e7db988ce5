/* textbuf.h - text that grows, with a writer for JSON values.
 *
 * What goes in as JSON strings comes out as valid UTF-8: bytes that are not
 * become U+FFFD. When memory runs out, or the text would be longer than
 * TEXTBUF_MAX_MIB, `failed` is set, and later calls do nothing. textbuf_why
 * says which of the two it was. */
#ifndef TEXTBUF_H
#define TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>

#define TEXTBUF_MAX_MIB 1024

struct textbuf {
    char *data;                 /* not NUL-terminated */
    size_t len, cap;
    bool failed;
    bool too_long;              /* failed because of TEXTBUF_MAX_MIB */
};

void textbuf_release(struct textbuf *t);        /* zeroed struct is fine */
const char *textbuf_why(const struct textbuf *t);   /* for a message */
void textbuf_reset(struct textbuf *t);
void textbuf_add(struct textbuf *t, const char *s, size_t n);
void textbuf_adds(struct textbuf *t, const char *s);
__attribute__((format(printf, 2, 3)))
void textbuf_addf(struct textbuf *t, const char *fmt, ...);  /* short texts */

void jput_string(struct textbuf *t, const char *s, size_t n);
void jput_text(struct textbuf *t, const char *s);    /* NUL-terminated */
void jput_number(struct textbuf *t, double v);          /* null: not finite */
/* ,"key": - the comma is left out after an opening bracket */
void jput_key(struct textbuf *t, const char *key);
void jput_comma(struct textbuf *t);

/* Offset of the first byte that is not UTF-8, n when there is none. */
size_t utf8_first_bad(const char *s, size_t n);

#endif
