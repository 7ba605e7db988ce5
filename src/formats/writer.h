/* writer.h - writes pairs to a file; the counterpart of reader.h.
 *
 * A unit that was read from a file of the same format is written with
 * everything its reader kept in `extra`. A unit from another format is written
 * with what this format can represent. The file appears only when
 * writer_commit succeeds. */
#ifndef FORMATS_WRITER_H
#define FORMATS_WRITER_H

#include "base/err.h"
#include "formats/reader.h"
#include "pair/unit.h"

struct writer_options {
    enum format format;         /* not FORMAT_AUTO */
    const char *source_lang, *target_lang;  /* of the whole file; NULL or ""
                                   if not known */
    struct str extra;           /* reader_extra of a file of this format */
    const char *target_path;    /* for FORMAT_PARALLEL */
    const char *xliff_version;  /* "1.2" or "2.0"; NULL: as in extra, or 1.2 */
};

struct writer;

/* The path "-" is standard output; .gz, .xz and .zst are compressed
 * (output.h). */
enum status writer_open(struct writer **out, const char *path,
                        const struct writer_options *o, struct err *e);
enum status writer_put(struct writer *w, const struct unit *u, struct err *e);
enum status writer_commit(struct writer *w, struct err *e);
/* Frees the writer. Without a commit no file is written. NULL is allowed. */
void writer_close(struct writer *w);

/* ---- for the formats themselves ---------------------------------------- */

struct output;
/* A format embeds struct writer as its first member. */
struct writer_ops {
    enum status (*begin)(struct writer *w, struct err *e);
    enum status (*put)(struct writer *w, const struct unit *u, struct err *e);
    enum status (*end)(struct writer *w, struct err *e);
    void (*close)(struct writer *w);    /* frees w, not its outputs */
};
struct writer {
    const struct writer_ops *ops;
    struct writer_options o;            /* copied; languages are never NULL */
    struct output *out, *out_target;    /* owned by writer.c */
};
/* One constructor per format. It returns a zeroed writer with its ops;
 * writer.c sets the other fields before it calls begin. A put that fails
 * writes nothing, so the caller may continue with the next unit. */
enum status tmx_writer_new(struct writer **out, struct err *e);
enum status xliff_writer_new(struct writer **out, struct err *e);
enum status po_writer_new(struct writer **out, struct err *e);
enum status tsv_writer_new(struct writer **out, struct err *e); /* and CSV */
enum status parallel_writer_new(struct writer **out, struct err *e);

#endif
