/* writer.h - pairs into a file; the counterpart of reader.h.
 *
 * A unit that was read from a file of the same format is written with all its
 * reader kept in `extra`; one from elsewhere with what the format can hold. A
 * file appears when writer_commit succeeds and not before. */
#ifndef FORMATS_WRITER_H
#define FORMATS_WRITER_H

#include "base/err.h"
#include "formats/reader.h"
#include "formats/unit.h"

struct writer_options {
    enum format format;         /* not AUTO */
    const char *source_lang, *target_lang;  /* of the whole; "" when unknown */
    struct str extra;           /* reader_extra of a file of this format */
    const char *target_path;    /* FORMAT_PARALLEL */
    const char *xliff_version;  /* "1.2" or "2.0"; NULL: as in extra, or 1.2 */
};

struct writer;

/* "-" is standard output; .gz, .xz and .zst are compressed (output.h). */
enum status writer_open(struct writer **out, const char *path,
                        const struct writer_options *o, struct err *e);
enum status writer_put(struct writer *w, const struct unit *u, struct err *e);
enum status writer_commit(struct writer *w, struct err *e);
void writer_close(struct writer *w);    /* NULL is fine; not committed: gone */

/* ---- for the formats themselves ---------------------------------------- */

struct output;
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
/* One per format: a zeroed writer with its ops. writer.c fills in the rest
 * before begin. A put that fails writes nothing: the next one may go on. */
enum status tmx_writer_new(struct writer **out, struct err *e);
enum status xliff_writer_new(struct writer **out, struct err *e);
enum status po_writer_new(struct writer **out, struct err *e);
enum status tsv_writer_new(struct writer **out, struct err *e); /* and CSV */
enum status parallel_writer_new(struct writer **out, struct err *e);

#endif
