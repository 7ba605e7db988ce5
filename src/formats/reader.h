/* reader.h - reads the pairs of a file, one at a time, in constant memory.
 *
 *     reader_open(&r, "memory.tmx.gz", &options, &e);
 *     while (!(st = reader_next(r, &u, &e)) && u) ...
 *
 * If no format is given, it is recognized by the content of the file. Errors
 * in the input are reported as "file:line:column: what was expected". By
 * default the first bad unit ends the reading. With skip_bad it is passed to
 * `reject`, and reading continues with the next unit. Units without a source
 * or target text are counted as empty and not returned. */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include "base/err.h"
#include "pair/unit.h"

/* enum, name on the command line, usual file name extension */
#define FORMAT_LIST(F)                  \
    F(TMX,      "tmx",   ".tmx")        \
    F(XLIFF,    "xliff", ".xlf")        \
    F(PO,       "po",    ".po")         \
    F(TSV,      "tsv",   ".tsv")        \
    F(CSV,      "csv",   ".csv")        \
    F(PARALLEL, "text",  ".txt")

enum format {
    FORMAT_AUTO,
#define F(id, name, ending) FORMAT_##id,
    FORMAT_LIST(F)
#undef F
    FORMAT_COUNT
};
const char *format_name(enum format f);                 /* "tmx" */
bool format_parse(const char *name, enum format *out);
/* Returns the format that the extension names, ignoring .gz, .xz and .zst;
 * FORMAT_AUTO if it names none. */
enum format format_of_path(const char *path);

/* A unit that was rejected. `raw` holds the bytes it was read from if they are
 * available; it may be empty. */
struct reject {
    const char *file;
    uint64_t line, column;      /* from 1; the column counts bytes, in XML
                                   characters; 0 if not known */
    const char *why;
    struct str raw;
};
/* Called from reader_next. A non-zero result stops the reading. */
typedef int reject_fn(void *user, const struct reject *r);

struct reader_options {
    enum format format;
    const char *source_lang, *target_lang;  /* see language_accepts; NULL: the
                                   first in the file */
    const char *target_path;    /* FORMAT_PARALLEL: the file of the targets */
    int source_column, target_column, document_column;
                                /* TSV and CSV, from 1. 0: column 1, column 2
                                   and no document column */
    bool header;                /* TSV and CSV: the first row is a header */
    bool no_header;             /* it is a pair. If neither is set,
                                   table_header.h decides */
    bool fuzzy;                 /* include fuzzy and unfinished units */
    bool skip_bad;
    size_t max_text;            /* maximum bytes of one text;
                                   0: UNIT_TEXT_MAX */
    reject_fn *reject;          /* for skip_bad; may be NULL */
    void *user;
};

struct reader;

enum status reader_open(struct reader **out, const char *path,
                        const struct reader_options *o, struct err *e);
/* Reads from memory, for tests and fuzzers. `target` is the second file of
 * FORMAT_PARALLEL; for other formats target.p is NULL. */
enum status reader_open_memory(struct reader **out, const char *name,
                               struct str bytes, struct str target,
                               const struct reader_options *o, struct err *e);
void reader_close(struct reader *r);            /* NULL is allowed */

/* Sets *u to the next unit, or to NULL at the end. The texts of the unit stay
 * valid until the next call. */
enum status reader_next(struct reader *r, const struct unit **u,
                        struct err *e);

struct reader_counts {
    uint64_t units;             /* returned by reader_next */
    uint64_t empty;             /* without source or target text */
    uint64_t other_language;    /* in a language that was not requested */
    uint64_t unfinished;        /* fuzzy or not approved; see options */
    uint64_t bad;               /* rejected with skip_bad */
    uint64_t headers;           /* first rows of tables that were taken for
                                   headers although no option said so */
};
void reader_counts(const struct reader *r, struct reader_counts *out);
enum format reader_format(const struct reader *r);
/* Returns what the head of the file contains (TMX <header>, the PO header
 * entry, XLIFF's attributes) as a JSON object for the writer; may be empty.
 * It is complete once reader_next has returned NULL. */
struct str reader_extra(const struct reader *r);
bool reader_waits(const struct reader *r);      /* like input_waits */
uint64_t reader_done(const struct reader *r);   /* like input_done */
uint64_t reader_total(const struct reader *r);

/* ---- for the formats themselves ---------------------------------------- */

struct input;
/* A format embeds struct reader as its first member. */
struct reader_ops {
    /* *u is NULL on entry. */
    enum status (*next)(struct reader *r, const struct unit **u,
                        struct err *e);
    void (*close)(struct reader *r);    /* frees r, not its inputs */
};
struct reader {
    const struct reader_ops *ops;
    enum format format;
    struct input *in, *in_target;       /* owned by reader.c */
    struct reader_options o;            /* languages copied by reader.c */
    struct reader_counts counts;
    struct str extra;
};
/* Reports a bad unit. With skip_bad it counts the unit, calls reject and
 * returns ST_OK (or ST_CANCELED if reject wants to stop). Otherwise it sets and
 * returns the error "file:line:column: why". */
__attribute__((format(printf, 6, 7)))
enum status reader_bad(struct reader *r, struct err *e, uint64_t line,
                       uint64_t column, struct str raw, const char *fmt, ...);

/* One constructor per format. It returns a zeroed reader with its ops;
 * reader.c sets the other fields before the first call of next, and counts the
 * units that are returned. */
enum status tmx_reader_new(struct reader **out, struct err *e);
enum status xliff_reader_new(struct reader **out, struct err *e);
enum status po_reader_new(struct reader **out, struct err *e);
enum status tsv_reader_new(struct reader **out, struct err *e); /* and CSV */
enum status parallel_reader_new(struct reader **out, struct err *e);

#endif
