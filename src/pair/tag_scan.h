/* tag_scan.h - splits a tagged text (tags.h) into pieces: runs of text, and
 * tags. What looks like a tag but is not well-formed is text. Nothing is
 * copied: all views point into the text. */
#ifndef PAIR_TAG_SCAN_H
#define PAIR_TAG_SCAN_H

#include <stdint.h>

#include "base/str.h"

enum tag_piece_kind {
    PIECE_END,                  /* of the text */
    PIECE_TEXT,
    PIECE_OPEN, PIECE_CLOSE,    /* start tag, end tag */
    PIECE_LONE                  /* empty-element tag */
};

struct tag_piece {
    enum tag_piece_kind kind;
    struct str text;            /* the whole piece, still escaped */
    struct str name;            /* without prefix */
    struct str attrs;           /* everything after the name */
};

/* Removes the first piece from *rest. */
void tag_scan_next(struct str *rest, struct tag_piece *p);
/* Parses an attribute at s[*at..] and advances *at. Returns false if there is
 * no well-formed one. */
bool tag_scan_attr(struct str s, size_t *at, struct str *name,
                   struct str *value);
/* Parses the entity at the beginning of s into *cp. Returns its length, or 0 if
 * it is not a known entity. */
size_t tag_scan_entity(struct str s, uint32_t *cp);
/* Whether the content of an element is code, not text. */
bool tag_scan_is_code(struct str name);
bool tag_scan_is_name_char(char c);

#endif
