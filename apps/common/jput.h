/* jput.h - appends JSON to a text buffer.
 *
 *     jput_object(t);
 *     jput_text_field(t, "file", name);
 *     jput_key(t, "scores");
 *     jput_array(t);
 *     for (i = 0; i < n; i++) jput_number(t, score[i]);
 *     jput_array_end(t);
 *     jput_line_end(t);
 *
 * A comma is put before a key or value if a value is before it in the buffer.
 * So the buffer may have other text before the JSON only if that ends with a
 * newline. Strings are written as valid UTF-8: each invalid byte becomes
 * U+FFFD. Errors are those of the buffer (textbuf.h). */
#ifndef COMMON_JPUT_H
#define COMMON_JPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/textbuf.h"

void jput_object(struct textbuf *t);
void jput_object_end(struct textbuf *t);
void jput_array(struct textbuf *t);
void jput_array_end(struct textbuf *t);
/* Ends an object that is a line of its own. */
void jput_line_end(struct textbuf *t);

void jput_key(struct textbuf *t, const char *key);

void jput_string(struct textbuf *t, const char *s, size_t n);
void jput_text(struct textbuf *t, const char *s);       /* NUL-terminated */
void jput_int(struct textbuf *t, int64_t n);
/* NaN and infinity are written as null. */
void jput_number(struct textbuf *t, double v);          /* 7 digits */
void jput_exact(struct textbuf *t, double v);           /* 12 digits */
void jput_fixed(struct textbuf *t, double v, int decimals);
void jput_hex(struct textbuf *t, uint64_t v);   /* a string of 16 digits */
void jput_bool(struct textbuf *t, bool v);
void jput_null(struct textbuf *t);
/* A time in seconds since 1970, as "2024-05-31T12:00:00Z". */
void jput_time(struct textbuf *t, int64_t seconds);
/* A value that is JSON already. */
void jput_raw(struct textbuf *t, const char *json, size_t n);

/* A key and its value. */
void jput_text_field(struct textbuf *t, const char *key, const char *s);
void jput_int_field(struct textbuf *t, const char *key, int64_t n);
void jput_number_field(struct textbuf *t, const char *key, double v);
void jput_exact_field(struct textbuf *t, const char *key, double v);
void jput_fixed_field(struct textbuf *t, const char *key, double v,
                      int decimals);
void jput_hex_field(struct textbuf *t, const char *key, uint64_t v);
void jput_bool_field(struct textbuf *t, const char *key, bool v);
void jput_time_field(struct textbuf *t, const char *key, int64_t seconds);

#endif
