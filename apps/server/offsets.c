/* offsets.c - byte offsets into UTF-8 as offsets in other units. */
#include <string.h>

#include "offsets.h"

bool offset_unit_of(const char *name, enum offset_unit *out)
{
    static const char *const names[] = { "utf16", "utf8", "codepoints" };

    *out = OFFSETS_UTF16;
    if (!name) return true;
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum offset_unit)i;
            return true;
        }
    return false;
}

void offsets_init(struct offsets *o, const char *text, enum offset_unit unit)
{
    *o = (struct offsets){ .text = text, .length = strlen(text),
                           .unit = unit };
}

/* Whether a byte continues a character. */
static bool is_inside(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* The units of the character that begins with this byte. Those of four bytes
 * are a surrogate pair in UTF-16. */
static size_t units_of(const struct offsets *o, unsigned char first)
{
    if (o->unit == OFFSETS_UTF16 && first >= 0xF0) return 2;
    return 1;
}

size_t offsets_of_byte(struct offsets *o, size_t byte)
{
    if (byte > o->length) byte = o->length;
    if (o->unit == OFFSETS_UTF8) return byte;
    while (byte > 0 && byte < o->length && is_inside(o->text[byte])) byte--;
    if (byte < o->byte) o->byte = o->count = 0;
    for (; o->byte < byte; o->byte++)
        if (!is_inside(o->text[o->byte]))
            o->count += units_of(o, (unsigned char)o->text[o->byte]);
    return o->count;
}

bool offsets_to_byte(const struct offsets *o, size_t count, size_t *byte)
{
    size_t at = 0, n = 0;

    *byte = 0;
    if (o->unit == OFFSETS_UTF8) {
        if (count > o->length) return false;
        *byte = count;
        return count == o->length || !is_inside(o->text[count]);
    }
    while (at < o->length && n < count) {
        n += units_of(o, (unsigned char)o->text[at++]);
        while (at < o->length && is_inside(o->text[at])) at++;
    }
    *byte = at;
    return n == count;
}
