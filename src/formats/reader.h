/* reader.h - pairs out of a file, one at a time, in constant memory.
 *
 *     reader_open(&r, "memory.tmx.gz", &options, &e);
 *     while (!(st = reader_next(r, &u, &e)) && u) ...
 *
 * The format is recognized by content when not given. What is wrong with the
 * input is said as "file:line:column: what was expected". By default the first
 * bad unit ends the reading; with skip_bad it is handed to reject and reading
 * goes on with the next one. Units without a source or target text are counted
 * as empty and left out. */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include "base/err.h"
#include "formats/unit.h"

/* enum, name on the command line, usual ending */
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
enum format format_of_path(const char *path);   /* by its ending, packed or
                                                   not; FORMAT_AUTO: none */

/* A unit that was left out, with the bytes it was read from where they are at
 * hand (may be empty). Called from reader_next. Non-zero: stop. */
struct reject {
    const char *file;
    uint64_t line, column;      /* from 1; column counts bytes, in XML
                                   characters; 0: not known */
    const char *why;
    struct str raw;
};
typedef int reject_fn(void *user, const struct reject *r);

struct reader_options {
    enum format format;
    const char *source_lang, *target_lang;  /* "de" takes de, de-DE, de_AT;
                                   NULL: the first the file has */
    const char *target_path;    /* FORMAT_PARALLEL: the other language's file */
    int source_column, target_column, document_column;
                                /* TSV and CSV, from 1; 0: 1, 2 and none */
    bool header;                /* TSV and CSV: the first line is no pair */
    bool no_header;             /* it is one, whatever it looks like; neither:
                                   as table_header.h says */
    bool fuzzy;                 /* take what is marked fuzzy or unfinished */
    bool skip_bad;
    size_t max_text;            /* bytes of one text;
                                   0: UNIT_TEXT_MAX */
    reject_fn *reject;          /* with skip_bad; may be NULL */
    void *user;
};

struct reader;

enum status reader_open(struct reader **out, const char *path,
                        const struct reader_options *o, struct err *e);
/* From memory: tests and fuzzers. target may be NULL but for PARALLEL. */
enum status reader_open_memory(struct reader **out, const char *name,
                               struct str bytes, struct str target,
                               const struct reader_options *o, struct err *e);
void reader_close(struct reader *r);            /* NULL is fine */

/* *u is NULL at the end; its texts live until the next call. */
enum status reader_next(struct reader *r, const struct unit **u,
                        struct err *e);

struct reader_counts {
    uint64_t units;             /* handed out */
    uint64_t empty;             /* no source or target text */
    uint64_t other_language;    /* a side was not in the languages asked for */
    uint64_t unfinished;        /* fuzzy, not approved; see options */
    uint64_t bad;               /* skipped */
    uint64_t headers;           /* first lines of tables that look like
                                   headers, without the option */
};
void reader_counts(const struct reader *r, struct reader_counts *out);
enum format reader_format(const struct reader *r);
/* What the file's head holds (TMX <header>, the PO header entry, XLIFF's
 * attributes), as a JSON object for the writer; may be empty. Complete once
 * reader_next gave NULL. */
struct str reader_extra(const struct reader *r);
bool reader_waits(const struct reader *r);      /* as input.h */
uint64_t reader_done(const struct reader *r);   /* as input.h */
uint64_t reader_total(const struct reader *r);

/* ---- for the formats themselves ---------------------------------------- */

struct input;
/* A format embeds struct reader as its first member. */
struct reader_ops {
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
/* Report a bad unit: with skip_bad counts it, calls reject and returns ST_OK
 * (or ST_CANCELED); else the error "file:line:column: why". */
__attribute__((format(printf, 6, 7)))
enum status reader_bad(struct reader *r, struct err *e, uint64_t line,
                       uint64_t column, struct str raw, const char *fmt, ...);
/* Is `lang` (of the file) what `wanted` asks for? NULL wants all. */
bool lang_matches(struct str lang, const char *wanted);

/* One per format: a zeroed reader with its ops. reader.c fills in the rest
 * before the first call of next, and counts the units handed out. */
enum status tmx_reader_new(struct reader **out, struct err *e);
enum status xliff_reader_new(struct reader **out, struct err *e);
enum status po_reader_new(struct reader **out, struct err *e);
enum status tsv_reader_new(struct reader **out, struct err *e); /* and CSV */
enum status parallel_reader_new(struct reader **out, struct err *e);

#endif
