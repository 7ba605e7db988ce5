/* writer.c - opens the output files, creates the writer of a format and passes
 * units to it. It does not format any text itself. */
#include "formats/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "formats/output.h"

static enum status writer_of_format(struct writer **out, enum format f,
                                    struct err *e)
{
    switch (f) {
    case FORMAT_TMX: return tmx_writer_new(out, e);
    case FORMAT_XLIFF: return xliff_writer_new(out, e);
    case FORMAT_PO: return po_writer_new(out, e);
    case FORMAT_TSV:
    case FORMAT_CSV: return tsv_writer_new(out, e);
    case FORMAT_PARALLEL: return parallel_writer_new(out, e);
    default: return err_set(e, ST_ARGUMENT, "unknown format number %d", (int)f);
    }
}

static enum status writer_check_options(const char *path,
                                        const struct writer_options *o,
                                        struct err *e)
{
    if (o->format == FORMAT_PARALLEL && !o->target_path)
        return err_set(e, ST_ARGUMENT, "plain text needs two files; the one "
                       "for the translations is missing");
    if (o->format != FORMAT_PARALLEL && o->target_path)
        return err_set(e, ST_ARGUMENT, "only plain text has a second file; a "
                       "%s file contains both languages",
                       format_name(o->format));
    if (o->target_path && !strcmp(o->target_path, path))
        return err_set(e, ST_ARGUMENT, "%s: the two languages need different "
                       "files", path);
    if (o->xliff_version && o->format == FORMAT_XLIFF &&
        strcmp(o->xliff_version, "1.2") && strcmp(o->xliff_version, "2.0"))
        return err_set(e, ST_ARGUMENT, "XLIFF can be written in version 1.2 "
                       "or 2.0, not %s", o->xliff_version);
    return ST_OK;
}

static char *writer_copy_string(const char *s, size_t n, bool *ok)
{
    char *p = strndup(n ? s : "", n);

    if (!p) *ok = false;
    return p;
}

/* Copies the options, which the caller owns. */
static bool writer_copy_options(struct writer *w,
                                const struct writer_options *o)
{
    const char *s = o->source_lang ? o->source_lang : "";
    const char *t = o->target_lang ? o->target_lang : "";
    bool ok = true;

    w->o = *o;
    w->o.source_lang = writer_copy_string(s, strlen(s), &ok);
    w->o.target_lang = writer_copy_string(t, strlen(t), &ok);
    w->o.extra.p = writer_copy_string(o->extra.p, o->extra.n, &ok);
    if (o->xliff_version)
        w->o.xliff_version = strcmp(o->xliff_version, "2.0") ? "1.2" : "2.0";
    w->o.target_path = NULL;
    return ok;
}

enum status writer_open(struct writer **out, const char *path,
                        const struct writer_options *o, struct err *e)
{
    struct writer *w = NULL;
    enum status st = writer_check_options(path, o, e);

    *out = NULL;
    if (!st) st = writer_of_format(&w, o->format, e);
    if (st) return st;
    if (!writer_copy_options(w, o)) st = err_nomem(e, path);
    if (!st) st = output_open(&w->out, path, e);
    if (!st && o->target_path)
        st = output_open(&w->out_target, o->target_path, e);
    assert(st || (w->o.source_lang && w->o.target_lang));
    if (!st) st = w->ops->begin(w, e);
    if (st) writer_close(w);
    else *out = w;
    return st;
}

enum status writer_put(struct writer *w, const struct unit *u, struct err *e)
{
    return w->ops->put(w, u, e);
}

enum status writer_commit(struct writer *w, struct err *e)
{
    enum status st = w->ops->end(w, e);

    if (!st) st = output_commit(w->out, e);
    if (!st && w->out_target) st = output_commit(w->out_target, e);
    return st;
}

void writer_close(struct writer *w)
{
    struct output *out, *out_target;
    struct writer_options o;

    if (!w) return;
    out = w->out;
    out_target = w->out_target;
    o = w->o;
    w->ops->close(w);
    output_close(out);
    output_close(out_target);
    free((char *)(uintptr_t)o.source_lang);
    free((char *)(uintptr_t)o.target_lang);
    free((char *)(uintptr_t)o.extra.p);
}
