/* import.h - files into a memory and its index, in one step for everybody.
 *
 * Whatever number of files: their pairs become visible together, with their
 * index, or not at all. Memory is bounded; other writers get their turn. */
#ifndef TM_IMPORT_H
#define TM_IMPORT_H

#include "formats/reader.h"
#include "tm/tmfile.h"

struct import_options {
    struct reader_options reader;   /* languages NULL: the memory's */
    const char *origin;             /* NULL: each file's name */
};

struct import_counts {
    int64_t pairs;              /* came in */
    int64_t texts;              /* of them new, and searched from now on */
    int64_t empty, other_language, unfinished, bad, headers;    /* left out:
                                   reader.h */
};

/* "-" is standard input. A memory whose languages are not known takes those
 * asked for, or else those of the first pair. *out is filled also when it
 * fails: how far it came. */
enum status tm_import(struct tmfile *t, const char *memory,
                      const char *const *paths, size_t n,
                      const struct import_options *o,
                      struct import_counts *out, struct err *e);

#endif
