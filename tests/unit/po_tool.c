/* po_tool.c - passes a file through our reader and writer, for po_oracle.sh.
 *
 *     po_tool copy FORMAT SOURCE_LANG TARGET_LANG IN OUT
 *     po_tool list FORMAT SOURCE_LANG TARGET_LANG IN     pairs, as JSON
 *
 * FORMAT is that of OUT. "-" as a language requests none. If FUZZY is set in
 * the environment, fuzzy and obsolete entries are included. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reader.h"
#include "formats/writer.h"

static void must(enum status st, const struct err *e)
{
    if (!st) return;
    fprintf(stderr, "po_tool: %s\n", e->msg);
    exit(1);
}

static void list(const struct unit *u)
{
    json_t *pair = json_pack("[s%s%]", u->source.p, u->source.n,
                             u->target.p, u->target.n);

    json_dumpf(pair, stdout, 0);
    putchar('\n');
    json_decref(pair);
}

/* Writes every unit to w, unless it is NULL, and to standard output on
 * request. */
static void read_all(const char *path, const struct reader_options *o,
                     struct writer *w, bool print, char **extra,
                     enum format *format)
{
    struct err e = { 0 };
    const struct unit *u;
    struct reader *r;

    must(reader_open(&r, path, o, &e), &e);
    for (;;) {
        must(reader_next(r, &u, &e), &e);
        if (!u) break;
        if (print) list(u);
        if (w) must(writer_put(w, u, &e), &e);
    }
    if (extra) *extra = strndup(reader_extra(r).n ? reader_extra(r).p : "",
                                reader_extra(r).n);
    *format = reader_format(r);
    reader_close(r);
}

static void copy(char **arg, const struct reader_options *o)
{
    struct writer_options wo = { .source_lang = o->source_lang,
                                 .target_lang = o->target_lang };
    enum format format;
    struct err e = { 0 };
    struct writer *w;
    char *extra;

    if (!format_parse(arg[2], &wo.format)) exit(2);
    read_all(arg[5], o, NULL, false, &extra, &format);
    if (format == wo.format) wo.extra = str_of(extra);
    must(writer_open(&w, arg[6], &wo, &e), &e);
    read_all(arg[5], o, w, false, NULL, &format);
    must(writer_commit(w, &e), &e);
    writer_close(w);
    free(extra);
}

int main(int argc, char **argv)
{
    struct reader_options o = { .fuzzy = getenv("FUZZY") != NULL };
    enum format format;

    if (argc < 6) return 2;
    if (strcmp(argv[3], "-")) o.source_lang = argv[3];
    if (strcmp(argv[4], "-")) o.target_lang = argv[4];
    if (argc == 7 && !strcmp(argv[1], "copy")) copy(argv, &o);
    else if (!strcmp(argv[1], "list"))
        read_all(argv[5], &o, NULL, true, NULL, &format);
    else return 2;
    return 0;
}
