/* round_trip.h - reads any bytes as a format, writes the units and reads them
 * back.
 *
 * For any bytes, reading ends with units or with an error message. Everything
 * that was read can be written, and reading it back gives the same units with
 * all their fields and extra data. Texts with tags are compared only if their
 * tags are native to the format; others are converted. The length of the input
 * selects the options. If no languages are given, the bytes are only read,
 * because the choice of languages then depends on units that are not
 * returned. */
#ifndef FUZZ_ROUND_TRIP_H
#define FUZZ_ROUND_TRIP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/reader.h"
#include "formats/tags_convert.h"
#include "formats/writer.h"
#include "formats/xml_write.h"
#include "pair/tags.h"

static struct unit *units;
static size_t n_units;

static struct str own(struct str s)
{
    char *p = malloc(s.n + 1);

    if (!p) abort();
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){ p, s.n };
}

static void own_unit(const struct unit *u)
{
    struct unit *to;

    units = realloc(units, (n_units + 1) * sizeof *units);
    if (!units) abort();
    to = &units[n_units++];
    *to = *u;
    to->source = own(u->source);
    to->target = own(u->target);
    to->source_lang = own(u->source_lang);
    to->target_lang = own(u->target_lang);
    to->id = own(u->id);
    to->document = own(u->document);
    to->author = own(u->author);
    to->extra = own(u->extra);
}

static void drop_units(void)
{
    for (size_t i = 0; i < n_units; i++) {
        struct str s[] = { units[i].source, units[i].target, units[i].id,
                           units[i].source_lang, units[i].target_lang,
                           units[i].document, units[i].author,
                           units[i].extra };
        for (size_t k = 0; k < sizeof s / sizeof *s; k++)
            free((char *)(uintptr_t)s[k].p);
    }
    free(units);
    units = NULL;
    n_units = 0;
}

static void same(const char *what, struct str want, struct str got)
{
    if (str_eq(want, got)) return;
    fprintf(stderr, "%s:\n  %.*s\n  %.*s\n", what, (int)want.n, want.p,
            (int)got.n, got.p);
    abort();
}

/* Returns whether a conversion leaves the tags unchanged. */
static bool is_native(struct str s, enum tags_dialect d)
{
    struct strbuf out;
    bool as_is;

    strbuf_init(&out, 0);
    if (!tags_convert(s, d, &out)) abort();
    if (!xml_is_content((struct str){ out.data, out.len })) abort();
    as_is = str_eq(s, (struct str){ out.data, out.len });
    strbuf_release(&out);
    return as_is;
}

static void same_unit(const struct unit *want, const struct unit *got,
                      enum tags_dialect d)
{
    if (!want->tagged || (is_native(want->source, d) &&
                          is_native(want->target, d))) {
        if (want->tagged != got->tagged) abort();
        same("source", want->source, got->source);
        same("target", want->target, got->target);
    }
    if (want->id.n) same("id", want->id, got->id);
    if (want->source_lang.n)
        same("source_lang", want->source_lang, got->source_lang);
    if (want->target_lang.n)
        same("target_lang", want->target_lang, got->target_lang);
    same("document", want->document, got->document);
    same("author", want->author, got->author);
    same("extra", want->extra, got->extra);
    if (want->created != got->created || want->changed != got->changed)
        abort();
}

static const char *write_units(enum format f, struct str extra)
{
    static char path[64];
    struct writer_options o = { .format = f, .extra = extra };
    struct writer *w;
    struct err e = { 0 };

    snprintf(path, sizeof path, "%s/fuzz-%ld", access("/dev/shm", W_OK)
             ? "/tmp" : "/dev/shm", (long)getpid());
    if (writer_open(&w, path, &o, &e)) goto bad;
    for (size_t i = 0; i < n_units; i++)
        if (writer_put(w, &units[i], &e)) goto bad;
    if (writer_commit(w, &e)) goto bad;
    writer_close(w);
    return path;
bad:
    fprintf(stderr, "%s\n", e.msg);
    abort();
}

static void read_back(const char *path, enum format f, enum tags_dialect d)
{
    struct reader_options o = { .format = f, .fuzzy = true,
                                .source_lang = "de", .target_lang = "en" };
    const struct unit *u;
    struct reader *r;
    struct err e = { 0 };
    size_t n = 0;

    if (reader_open(&r, path, &o, &e)) abort();
    while (!reader_next(r, &u, &e) && u) {
        if (n == n_units) abort();
        same_unit(&units[n++], u, d);
    }
    if (e.status || n != n_units) {
        fprintf(stderr, "%zu of %zu: %s\n", n, n_units, e.msg);
        abort();
    }
    reader_close(r);
    unlink(path);
}

static int ignore(void *user, const struct reject *r)
{
    (void)user;
    return !r->why[0] || r->raw.n > 65536;
}

static void round_trip(enum format f, const uint8_t *data, size_t size)
{
    struct reader_options o = { .format = f, .skip_bad = size & 1,
                                .fuzzy = size & 2, .max_text = 20000,
                                .reject = ignore };
    bool named = (size & 12) != 0;
    struct str bytes = { (const char *)data, size }, none = { NULL, 0 };
    const struct unit *u = NULL;
    struct reader *r;
    struct err e = { 0 };
    enum status st;

    if (named) {
        o.source_lang = "de";
        o.target_lang = "en";
    }
    st = reader_open_memory(&r, "fuzz", bytes, none, &o, &e);
    while (!st && !(st = reader_next(r, &u, &e)) && u) own_unit(u);
    if (st && (!e.msg[0] || st == ST_CANCELED)) abort();
    if (!st && named && n_units) {
        struct str x = own(reader_extra(r));
        enum tags_dialect d = f == FORMAT_TMX ? TAGS_TMX
                              : strstr(x.p, "{\"xliff2\"") == x.p
                              ? TAGS_XLIFF2 : TAGS_XLIFF1;
        read_back(write_units(f, x), f, d);
        free((char *)(uintptr_t)x.p);
    }
    reader_close(r);
    drop_units();
}

#endif
