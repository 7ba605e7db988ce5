/* unit.h - one pair of texts as a file holds it, common to all formats.
 *
 * A reader fills a unit, the store keeps it, a writer writes it. Texts are
 * valid UTF-8 without NUL. Line breaks inside a text are '\n'. A unit borrows
 * all its strings. */
#ifndef PAIR_UNIT_H
#define PAIR_UNIT_H

#include <stdint.h>

#include "base/str.h"

/* The maximum size in bytes of a source or a target, including its tags. The
 * limit is the same for files that are imported and for pairs that are
 * added. */
#define UNIT_TEXT_MAX_MIB 16
#define UNIT_TEXT_MAX ((size_t)UNIT_TEXT_MAX_MIB << 20)

struct unit {
    struct str source, target;
    bool tagged;                /* both are in the tagged form (tags.h) */
    struct str source_lang, target_lang;    /* as in the file; may be empty */
    struct str id;              /* the unit's name in its file, or empty */
    struct str document;        /* the part of the file it belongs to (XLIFF's
                                   original, a docs.tsv id), or empty */
    struct str author;
    int64_t created, changed;   /* seconds since 1970, UTC; 0: not known */
    struct str extra;           /* what only this format knows (extra.h), for
                                   its writer; or empty */
    uint64_t line;              /* where it begins in the file, from 1 */
};

#endif
