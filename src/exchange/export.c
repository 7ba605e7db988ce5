/* export.c - writes the pairs of a memory to a file, one at a time, through
 * formats/writer.h. The file appears under its name only when it is
 * complete. */
#include "exchange/export.h"

#include "base/invariant.h"
#include "base/strbuf.h"

enum { PROGRESS_EVERY = 1024 };

static enum status write_pairs(struct tmfile *t, struct pair_cursor *c,
                               struct writer *w, int64_t total, int64_t *n,
                               struct err *e)
{
    enum status st = ST_OK;
    struct pair p;
    bool found;

    for (;;) {
        st = pair_cursor_next(c, &p, &found, e);
        if (st || !found) return st;
        st = writer_put(w, &p.unit, e);
        if (st) return st;
        ++*n;
        if (*n % PROGRESS_EVERY == 0 &&
            tmfile_report(t, "exporting", (uint64_t)*n, (uint64_t)total,
                          (uint64_t)*n))
            return err_set(e, ST_CANCELED, "the export was stopped");
    }
}

static enum status copy_extra(struct tmfile *t, int64_t memory,
                              enum format format, struct strbuf *out,
                              struct err *e)
{
    struct str extra = { 0 };
    enum status st = tmfile_extra(t, memory, format_name(format), &extra, e);

    if (!st && extra.n && !strbuf_add(out, extra.p, extra.n))
        st = err_nomem(e, "the head of a file");
    return st;
}

/* Derives the format from the file name if the options do not name it. */
static enum status choose_format(const char *path, enum format *f,
                                 struct err *e)
{
    if (*f == FORMAT_AUTO) *f = format_of_path(path);
    if (*f != FORMAT_AUTO) return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s: the format is not clear from the file "
                   "name; choose tmx, xliff, po, tsv, csv or text", path);
}

enum status tm_export(struct tmfile *t, const char *memory, const char *path,
                      const struct export_options *o, int64_t *n,
                      struct err *e)
{
    enum format format = o->format;
    struct memory_counts counts = { 0 };
    struct pair_cursor *c = NULL;
    struct writer *w = NULL;
    struct memory_info m;
    struct strbuf extra;
    enum status st = choose_format(path, &format, e);

    *n = 0;
    strbuf_init(&extra, 0);
    if (!st) st = tmfile_find(t, memory, &m, e);
    if (!st) st = copy_extra(t, m.id, format, &extra, e);
    if (!st && tmfile_has_progress(t))
        st = tmfile_counts(t, m.id, &counts, e);
    if (!st) {
        struct writer_options wo = {
            .format = format, .source_lang = m.source_lang,
            .target_lang = m.target_lang, .target_path = o->target_path,
            .extra = { extra.data, extra.len } };

        assert(format != FORMAT_AUTO);

        st = writer_open(&w, path, &wo, e);
    }
    if (!st) {
        struct pair_filter f = { .memory = m.id };

        st = tmfile_cursor_open(&c, t, &f, e);
    }
    if (!st) st = write_pairs(t, c, w, counts.pairs, n, e);
    if (!st) st = writer_commit(w, e);
    pair_cursor_close(c);
    writer_close(w);
    strbuf_release(&extra);
    return st;
}
