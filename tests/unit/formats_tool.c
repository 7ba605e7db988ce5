/* formats_tool.c - reads a file and prints its units, or writes them to another
 * file.
 *
 *     formats_tool [-s LANG] [-t LANG] [-f] [-k] [-q] [-x VERSION] IN [OUT]
 *
 * Units are printed as lines of JSON, the counts on standard error. -f includes
 * unfinished units, -k skips bad ones, -q prints only the counts. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "formats/reader.h"
#include "formats/writer.h"

static json_t *string_of(struct str s)
{
    return json_stringn(s.n ? s.p : "", s.n);
}

static void print_unit(const struct unit *u)
{
    json_t *o = json_pack("{so so sb so so so so so sI sI so sI}",
        "source", string_of(u->source), "target", string_of(u->target),
        "tagged", u->tagged, "source_lang", string_of(u->source_lang),
        "target_lang", string_of(u->target_lang), "id", string_of(u->id),
        "document", string_of(u->document), "author", string_of(u->author),
        "created", (json_int_t)u->created, "changed", (json_int_t)u->changed,
        "extra", string_of(u->extra), "line", (json_int_t)u->line);

    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static int print_reject(void *user, const struct reject *r)
{
    (void)user;
    fprintf(stderr, "%s:%llu:%llu: %s (%zu bytes)\n", r->file,
            (unsigned long long)r->line, (unsigned long long)r->column,
            r->why, r->raw.n);
    return 0;
}

static void print_counts(struct reader *r)
{
    struct reader_counts n;

    reader_counts(r, &n);
    fprintf(stderr, "%s: %llu units, %llu empty, %llu other languages, %llu "
            "unfinished, %llu bad; %.0f MB\n", format_name(reader_format(r)),
            (unsigned long long)n.units, (unsigned long long)n.empty,
            (unsigned long long)n.other_language,
            (unsigned long long)n.unfinished, (unsigned long long)n.bad,
            peak_rss_mb());
}

/* The extra data of the file is complete only at its end, so the file is first
 * read once for it. */
static enum status read_through(const char *path,
                                const struct reader_options *o,
                                struct writer *w, bool print,
                                struct writer_options *wo, struct err *e)
{
    const struct unit *u;
    struct reader *r;
    enum status st = reader_open(&r, path, o, e);

    while (!st && !(st = reader_next(r, &u, e)) && u) {
        if (w) st = writer_put(w, u, e);
        if (print) print_unit(u);
    }
    if (!st && wo) {
        struct str x = reader_extra(r);
        wo->extra = (struct str){ strndup(x.n ? x.p : "", x.n), x.n };
    }
    if (!st && !wo) print_counts(r);
    reader_close(r);
    return st;
}

static enum status copy(const char *in, const char *out,
                        const struct reader_options *o,
                        struct writer_options *wo, struct err *e)
{
    struct writer *w = NULL;
    enum status st = read_through(in, o, NULL, false, wo, e);

    wo->format = format_of_path(out);
    if (!st) st = writer_open(&w, out, wo, e);
    if (!st) st = read_through(in, o, w, false, NULL, e);
    if (!st) st = writer_commit(w, e);
    writer_close(w);
    free((char *)(uintptr_t)wo->extra.p);
    return st;
}

int main(int argc, char **argv)
{
    struct reader_options o = { .reject = print_reject };
    struct writer_options wo = { 0 };
    struct err e = { 0 };
    bool quiet = false;
    enum status st;
    int c;

    while ((c = getopt(argc, argv, "s:t:x:fkq")) != -1) {
        if (c == 's') o.source_lang = wo.source_lang = optarg;
        else if (c == 't') o.target_lang = wo.target_lang = optarg;
        else if (c == 'x') wo.xliff_version = optarg;
        else if (c == 'f') o.fuzzy = true;
        else if (c == 'k') o.skip_bad = true;
        else if (c == 'q') quiet = true;
        else return 2;
    }
    if (optind >= argc) return 2;
    if (optind + 1 < argc)
        st = copy(argv[optind], argv[optind + 1], &o, &wo, &e);
    else st = read_through(argv[optind], &o, NULL, !quiet, NULL, &e);
    if (st) fprintf(stderr, "%s\n", e.msg);
    return st != ST_OK;
}
