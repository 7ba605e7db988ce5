/* unit.h - one pair of texts as a file has it: what all formats pass on.
 *
 * A reader fills a unit, the store keeps it, a writer writes it. Texts are
 * valid UTF-8 without NUL. Line breaks inside a text are '\n'. */
#ifndef FORMATS_UNIT_H
#define FORMATS_UNIT_H

#include <stdint.h>

#include "base/str.h"

/* The most bytes that a source or a target may have, its tags included. Files
 * that are imported and pairs that are added have the same limit. */
#define UNIT_TEXT_MAX_MIB 16
#define UNIT_TEXT_MAX ((size_t)UNIT_TEXT_MAX_MIB << 20)

struct unit {
    struct str source, target;
    bool tagged;                /* both are in the tagged form: tags.h */
    struct str source_lang, target_lang;    /* as the file says; may be empty */
    struct str id;              /* the unit's own name in its file, or empty */
    struct str document;        /* part of the file it stands in (XLIFF's
                                   original, a docs.tsv id), or empty */
    struct str author;
    int64_t created, changed;   /* seconds since 1970, UTC; 0: not known */
    struct str extra;           /* a JSON object: what only this format knows
                                   and its writer gives back; or empty */
    uint64_t line;              /* where it begins in the file, from 1 */
};

#endif
