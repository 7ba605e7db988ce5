/* offsets.h - byte offsets into UTF-8 as offsets in other units.
 *
 * The library counts bytes. JavaScript counts UTF-16 code units, Python counts
 * characters. */
#ifndef SERVER_OFFSETS_H
#define SERVER_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>

enum offset_unit { OFFSETS_UTF16, OFFSETS_UTF8, OFFSETS_CODEPOINTS };

/* The unit with this name ("utf16", "utf8", "codepoints"; NULL: utf16). Returns
 * false if there is none. */
bool offset_unit_of(const char *name, enum offset_unit *out);

/* A text with the place of the last question: offsets are usually asked for in
 * ascending order, so a question does not begin at the start of the text. */
struct offsets {
    const char *text;           /* valid UTF-8, NUL-terminated; borrowed */
    size_t length;              /* bytes */
    enum offset_unit unit;
    size_t byte, count;         /* the last question: bytes, units */
};
void offsets_init(struct offsets *o, const char *text, enum offset_unit unit);
/* The offset in units of a byte offset; one inside a character counts as its
 * begin, one after the end as the end. */
size_t offsets_of_byte(struct offsets *o, size_t byte);
/* The byte offset of an offset in units. Returns false if it is behind the end
 * or inside a character. */
bool offsets_to_byte(const struct offsets *o, size_t count, size_t *byte);

#endif
