/* net_text.h - the parts that the text forms of networks have in common:
 * numbers in hexadecimal, and a checksum at the end.
 *
 * Digits are in lower case, and a number has a fixed number of them. A float is
 * written as its bits, 8 digits. The seal is a space and the checksum (XXH3) of
 * the text before it, 16 digits. */
#ifndef KNN_NET_TEXT_H
#define KNN_NET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NET_TEXT_SEAL = 17 };    /* characters of a seal */

/* Write n floats, or the seal of the text from `text` to `at`. Both return the
 * end of what they have written, where they put a NUL. */
char *net_text_put_floats(char *at, const float *values, int n);
char *net_text_put_seal(const char *text, char *at);

/* Read a number of exactly so many digits. Returns false if there are other
 * characters, or the text ends. */
bool net_text_number(const char *at, int digits, uint64_t *out);
/* Read n floats. Returns false also if one of them is not finite. */
bool net_text_floats(const char *at, float *out, int n);
/* Whether a right seal, and nothing more, follows the first n characters. The
 * text has at least n. */
bool net_text_sealed(const char *text, size_t n);

#endif
