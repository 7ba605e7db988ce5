/* import.h - imports files into a memory and its index.
 *
 * However many files an import has, their pairs become visible together, with
 * their index, or not at all. The import uses a bounded amount of memory, and
 * other writers can write while it runs. */
#ifndef EXCHANGE_IMPORT_H
#define EXCHANGE_IMPORT_H

#include "formats/reader.h"
#include "tm/tmfile.h"

struct import_options {
    struct reader_options reader;   /* a language that is NULL: the memory's */
    const char *origin;             /* NULL: the name of each file */
};

struct import_counts {
    int64_t pairs;              /* imported */
    int64_t texts;              /* of these, texts that are new */
    int64_t empty, other_language, unfinished, bad, headers;    /* units left
                                   out; see reader.h */
};

/* The path "-" is standard input. A memory without languages gets those of the
 * options, or else those of the first pair that has some. *out is filled also
 * when the import fails: it then says how far the import came. */
enum status tm_import(struct tmfile *t, const char *memory,
                      const char *const *paths, size_t n,
                      const struct import_options *o,
                      struct import_counts *out, struct err *e);

#endif
