/* tm_import.c - skmt tm import: files into a memory, as one step.
 *
 * With --skip-bad what cannot be read is written to a file as it was met:
 * file:line:column: why, then the raw text indented. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tm_call.h"
#include "tm_print.h"

struct rejects {
    char *path;
    FILE *file;                 /* opened by the first */
    int error;                  /* errno of what went wrong with it */
};

struct import_call {
    struct tm_call *c;
    skmt_import *how;
    struct rejects rejects;
    double seconds;
};

/* ---- what was left out ------------------------------------------------ */

static void tm_import_write_raw(FILE *f, const char *raw, size_t len)
{
    while (len > 0) {
        const char *newline = memchr(raw, '\n', len);
        size_t n = newline ? (size_t)(newline - raw) : len;

        fputs("    ", f);
        fwrite(raw, 1, n, f);
        fputc('\n', f);
        if (newline) n++;
        raw += n;
        len -= n;
    }
}

static int rejected(void *user, const char *file, uint64_t line,
                    uint64_t column, const char *why, const char *raw,
                    size_t raw_len)
{
    struct rejects *r = user;

    if (!r->file && !(r->file = fopen(r->path, "we"))) {
        r->error = errno;
        return 1;
    }
    fprintf(r->file, "%s:%llu", file, (unsigned long long)line);
    if (column) fprintf(r->file, ":%llu", (unsigned long long)column);
    fprintf(r->file, ": %s\n", why);
    tm_import_write_raw(r->file, raw, raw_len);
    if (!ferror(r->file)) return 0;
    r->error = errno;
    return 1;
}

static void rejects_close(struct rejects *r)
{
    if (r->file && fclose(r->file) && !r->error) r->error = errno;
    r->file = NULL;
}

/* --rejects, or beside the memory. */
static int rejects_begin(struct import_call *im)
{
    struct tm_call *c = im->c;
    const char *path = tm_value(c, "rejects");
    size_t size;

    if (!tm_given(c, "skip-bad"))
        return path ? complain(EXIT_USAGE, "--rejects goes with --skip-bad")
                    : EXIT_DONE;
    size = strlen(path ? path : c->path) + sizeof ".rejects";
    im->rejects.path = malloc(size);
    if (!im->rejects.path) return complain(EXIT_TROUBLE, "out of memory");
    snprintf(im->rejects.path, size, "%s%s", path ? path : c->path,
             path ? "" : ".rejects");
    record_value("rejects", im->rejects.path);
    skmt_import_rejects(im->how, rejected, &im->rejects);
    return EXIT_DONE;
}

/* ---- how to read ------------------------------------------------------ */

static int set_how(struct import_call *im)
{
    static const char *const keys[] = {
        "format", "source-lang", "target-lang", "target-file",
        "source-column", "target-column", "document-column", "origin",
        "header", "no-header", "fuzzy", "skip-bad"
    };
    skmt_error err;

    if (tm_given(im->c, "header") && tm_given(im->c, "no-header"))
        return complain(EXIT_USAGE, "--header and --no-header exclude each "
                        "other");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = tm_value(im->c, keys[i]);

        if (!tm_given(im->c, keys[i])) continue;
        if (skmt_import_set(im->how, keys[i], value ? value : "yes", &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    return EXIT_DONE;
}

/* ---- what came of it -------------------------------------------------- */

static double rate(const struct import_call *im)
{
    return (double)skmt_import_count(im->how, "pairs")
           / (im->seconds > 1e-3 ? im->seconds : 1e-3);
}

static void put_left_out(struct textbuf *t, int64_t n, const char *why,
                         const char **before)
{
    if (n <= 0) return;
    textbuf_adds(t, *before);
    *before = ", ";
    put_count(t, n);
    textbuf_adds(t, " ");
    textbuf_adds(t, why);
}

static void put_counts(const struct import_call *im)
{
    struct textbuf *t = &im->c->out;
    int64_t empty = skmt_import_count(im->how, "empty");
    int64_t other = skmt_import_count(im->how, "other-language");
    int64_t unfinished = skmt_import_count(im->how, "unfinished");
    int64_t bad = skmt_import_count(im->how, "bad");
    int64_t headers = skmt_import_count(im->how, "headers");
    const char *before = "left out: ";

    put_noun(t, skmt_import_count(im->how, "pairs"), "pair", "pairs");
    textbuf_adds(t, " imported, ");
    put_count(t, skmt_import_count(im->how, "texts"));
    textbuf_adds(t, " not known before\n");
    if (empty + other + unfinished + bad + headers > 0) {
        put_left_out(t, empty, "empty", &before);
        put_left_out(t, other, "in other languages", &before);
        put_left_out(t, unfinished, "unfinished (--fuzzy takes them)",
                     &before);
        put_left_out(t, headers, "header (--no-header takes it as a pair)",
                     &before);
        put_left_out(t, bad, "bad, see ", &before);
        if (bad > 0) textbuf_adds(t, im->rejects.path);
        textbuf_adds(t, "\n");
    }
    textbuf_addf(t, "%.2f s, ", im->seconds);
    put_count(t, (int64_t)rate(im));
    textbuf_adds(t, " pairs/s\n");
}

static void tm_import_put_json(const struct import_call *im)
{
    static const char *const counts[][2] = {
        { "pairs", "pairs" }, { "texts", "texts" }, { "empty", "empty" },
        { "other-language", "other_language" },
        { "unfinished", "unfinished" }, { "bad", "bad" },
        { "headers", "headers" }
    };
    struct textbuf *t = &im->c->out;

    textbuf_adds(t, "{");
    jput_field(t, "file", im->c->path);
    jput_field(t, "memory", tm_memory_name(im->c));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        jput_int(t, counts[i][1], skmt_import_count(im->how, counts[i][0]));
    if (skmt_import_count(im->how, "bad") > 0)
        jput_field(t, "rejects", im->rejects.path);
    jput_key(t, "seconds");
    jput_number(t, im->seconds);
    jput_key(t, "pairs_per_second");
    jput_number(t, rate(im));
    textbuf_adds(t, "}\n");
}

/* "de to en", as the import was told or the memory has it. */
static void put_languages(struct textbuf *t, const struct import_call *im,
                          const skmt_tm_info *m)
{
    const char *source = tm_value(im->c, "source-lang");
    const char *target = tm_value(im->c, "target-lang");

    if (!source) source = m->source_lang;
    if (!target) target = m->target_lang;
    textbuf_adds(t, source[0] ? source : "any language");
    textbuf_adds(t, " to ");
    textbuf_adds(t, target[0] ? target : "any language");
}

static void put_reason(struct textbuf *t, int64_t n, const char *why)
{
    if (n <= 0) return;
    textbuf_adds(t, t->len ? ", " : "");
    put_count(t, n);
    textbuf_adds(t, " ");
    textbuf_adds(t, why);
}

/* Why an import has stored nothing. A file that has no units at all is no
 * error; one whose units were all left out is, for somebody expects them. */
static int explain_nothing(const struct import_call *im, const skmt_tm_info *m)
{
    int64_t other = skmt_import_count(im->how, "other-language");
    struct textbuf t = { 0 };

    put_reason(&t, other, "in languages other than ");
    if (other > 0) put_languages(&t, im, m);
    put_reason(&t, skmt_import_count(im->how, "empty"),
               "without a source or a target text");
    put_reason(&t, skmt_import_count(im->how, "unfinished"),
               "not finished (--fuzzy takes them)");
    put_reason(&t, skmt_import_count(im->how, "bad"), "that cannot be read");
    if (!t.len) {
        complain(0, "nothing was imported: there is no pair in %s",
                 im->c->n_operands == 1 ? im->c->operands[0] : "these files");
        return EXIT_DONE;
    }
    complain(0, "nothing was imported; what was left out: %.*s", (int)t.len,
             t.failed ? "" : t.data);
    textbuf_release(&t);
    return EXIT_TROUBLE;
}

/* What the user should know about an import that went well. */
static int give_notes(const struct import_call *im)
{
    struct tm_call *c = im->c;
    const char *missing;
    skmt_tm_info m;
    int status = tm_memory_info(c, &m);

    if (status) return status;
    if (!skmt_import_count(im->how, "pairs")) return explain_nothing(im, &m);
    if (!m.source_lang[0] == !m.target_lang[0]) return EXIT_DONE;
    missing = m.source_lang[0] ? "target" : "source";
    complain(0, "the file does not say its %s language; 'skmt tm set %s "
             "--%s-lang LANG' sets it", missing, c->path, missing);
    return EXIT_DONE;
}

static int tm_import_failed(struct import_call *im, const skmt_error *err)
{
    struct tm_call *c = im->c;
    int status;

    if (im->rejects.error) {
        progress_end(&c->progress);
        return complain(EXIT_TROUBLE, "writing %s: %s; nothing was imported",
                        im->rejects.path, strerror(im->rejects.error));
    }
    status = tm_failed(c, err);
    if (status > EXIT_SIGNAL)
        complain(0, "import stopped; %s is as it was", c->path);
    return status;
}

static int import(struct import_call *im)
{
    struct tm_call *c = im->c;
    double begin = wall_seconds();
    skmt_error err;
    skmt_status st;
    int status;

    st = skmt_tm_import(c->tm, tm_value(c, "name"), c->operands,
                        c->n_operands, im->how, &err);
    im->seconds = wall_seconds() - begin;
    rejects_close(&im->rejects);
    if (st) return tm_import_failed(im, &err);
    if (im->rejects.error)
        complain(0, "writing %s: %s; the pairs were imported",
                 im->rejects.path, strerror(im->rejects.error));
    if (c->json) tm_import_put_json(im);
    else put_counts(im);
    tm_print(c);
    status = give_notes(im);
    return im->rejects.error ? EXIT_TROUBLE : status;
}

int cmd_tm_import(struct tm_call *c)
{
    struct import_call im = { .c = c };
    int status;

    im.how = skmt_import_new();
    if (!im.how) return complain(EXIT_TROUBLE, "out of memory");
    status = set_how(&im);
    if (!status) status = rejects_begin(&im);
    if (!status) status = tm_open(c, SKMT_TM_WRITE);
    if (!status) status = import(&im);
    skmt_import_free(im.how);
    free(im.rejects.path);
    return status;
}
