/* tm_import.c - skmt tm import: reads files into a memory, in one transaction.
 * The library parses the files; here are the options, the file of rejected
 * units and the summary.
 *
 * With --skip-bad, each unit that cannot be read is written to the file of
 * rejects: "file:line:column: reason", then the raw text, indented. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jput.h"
#include "common/record.h"
#include "tm_call.h"
#include "tm_print.h"

struct rejects {
    char *path;
    FILE *file;                 /* opened for the first reject */
    int error;                  /* errno of a failure to write it */
};

struct import_call {
    struct tm_call *c;
    skmt_import *import;        /* the library's options and counts */
    struct rejects rejects;
    double seconds;
};

/* ---- rejected units --------------------------------------------------- */

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

/* Write a unit that is skipped to the file of rejects. Returns 1 to stop the
 * import. This is the callback of skmt_import_on_reject(). */
static int write_reject(void *user, const char *file, uint64_t line,
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

/* Choose the file of rejects: --rejects, or MEM.rejects. */
static int rejects_begin(struct import_call *im)
{
    struct tm_call *c = im->c;
    const char *path = tm_value(c, "rejects");
    size_t size;

    if (!tm_has_option(c, "skip-bad"))
        return path ? complain(EXIT_USAGE, "--rejects needs --skip-bad")
                    : EXIT_DONE;
    size = strlen(path ? path : c->path) + sizeof ".rejects";
    im->rejects.path = malloc(size);
    if (!im->rejects.path) return complain(EXIT_TROUBLE, "out of memory");
    snprintf(im->rejects.path, size, "%s%s", path ? path : c->path,
             path ? "" : ".rejects");
    record_value("rejects", im->rejects.path);
    skmt_import_on_reject(im->import, write_reject, &im->rejects);
    return EXIT_DONE;
}

/* ---- options ---------------------------------------------------------- */

static int set_import_options(struct import_call *im)
{
    static const char *const settings[] = {
        "format", "source-lang", "target-lang", "target-file",
        "source-column", "target-column", "document-column", "origin",
        "header", "no-header", "fuzzy", "skip-bad"
    };
    skmt_error err;

    if (tm_has_option(im->c, "header") && tm_has_option(im->c, "no-header"))
        return complain(EXIT_USAGE, "--header and --no-header cannot be used "
                        "together");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *value = tm_value(im->c, settings[i]);

        if (!tm_has_option(im->c, settings[i])) continue;
        if (skmt_import_set(im->import, settings[i], value ? value : "yes",
                            &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    return EXIT_DONE;
}

/* ---- the summary ------------------------------------------------------ */

/* Get a count of the import by its name; 0 if there is none. */
static int64_t import_count(const struct import_call *im, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_import_stat(im->import, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    return 0;
}

static double pairs_per_second(const struct import_call *im)
{
    return (double)import_count(im, "pairs")
           / (im->seconds > 1e-3 ? im->seconds : 1e-3);
}

/* Append *separator and one item of a list. *separator becomes a comma. */
static void put_left_out(struct textbuf *t, int64_t n, const char *why,
                         const char **separator)
{
    if (n <= 0) return;
    textbuf_adds(t, *separator);
    *separator = ", ";
    put_count(t, n);
    textbuf_adds(t, " ");
    textbuf_adds(t, why);
}

static void put_counts(const struct import_call *im)
{
    struct textbuf *t = &im->c->out;
    int64_t empty = import_count(im, "empty");
    int64_t other = import_count(im, "other_language");
    int64_t unfinished = import_count(im, "unfinished");
    int64_t bad = import_count(im, "bad");
    int64_t headers = import_count(im, "headers");
    const char *separator = "left out: ";

    put_noun(t, import_count(im, "pairs"), "pair", "pairs");
    textbuf_adds(t, " imported, ");
    put_count(t, import_count(im, "texts"));
    textbuf_adds(t, " of them new\n");
    if (empty + other + unfinished + bad + headers > 0) {
        put_left_out(t, empty, "empty", &separator);
        put_left_out(t, other, "in other languages", &separator);
        put_left_out(t, unfinished, "unfinished (import them with --fuzzy)",
                     &separator);
        put_left_out(t, headers, "header (import it with --no-header)",
                     &separator);
        put_left_out(t, bad, "unreadable, see ", &separator);
        if (bad > 0) textbuf_adds(t, im->rejects.path);
        textbuf_adds(t, "\n");
    }
    textbuf_addf(t, "%.2f s, ", im->seconds);
    put_count(t, (int64_t)pairs_per_second(im));
    textbuf_adds(t, " pairs/s\n");
}

static void tm_import_put_json(const struct import_call *im)
{
    struct textbuf *t = &im->c->out;
    const char *name;
    int64_t n;

    jput_object(t);
    jput_text_field(t, "file", im->c->path);
    jput_text_field(t, "memory", tm_memory_name(im->c));
    for (int i = 0; (name = skmt_import_stat(im->import, i, &n)); i++)
        jput_int_field(t, name, n);
    if (import_count(im, "bad") > 0)
        jput_text_field(t, "rejects", im->rejects.path);
    jput_number_field(t, "seconds", im->seconds);
    jput_number_field(t, "pairs_per_second", pairs_per_second(im));
    jput_line_end(t);
}

/* Append the languages of the options, or else of the memory: "de to en". */
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

/* Explain why an import stored nothing. It is no error if the files have no
 * units. It is an error if all units were left out, because the user expects
 * pairs. */
static int explain_empty_import(const struct import_call *im,
                                const skmt_tm_info *m)
{
    int64_t other = import_count(im, "other_language");
    struct textbuf t = { 0 };

    put_reason(&t, other, "in languages other than ");
    if (other > 0) put_languages(&t, im, m);
    put_reason(&t, import_count(im, "empty"),
               "without a source or a target text");
    put_reason(&t, import_count(im, "unfinished"),
               "unfinished (import them with --fuzzy)");
    put_reason(&t, import_count(im, "bad"), "unreadable");
    if (!t.len) {
        complain(0, "nothing was imported: there are no pairs in %s",
                 im->c->n_operands == 1 ? im->c->operands[0] : "these files");
        return EXIT_DONE;
    }
    complain(0, "nothing was imported; units left out: %.*s", (int)t.len,
             t.failed ? "" : t.data);
    textbuf_release(&t);
    return EXIT_TROUBLE;
}

/* Print notes about an import that succeeded. */
static int print_import_notes(const struct import_call *im)
{
    struct tm_call *c = im->c;
    const char *missing;
    skmt_tm_info m = SKMT_INIT(skmt_tm_info);
    int status = tm_memory_info(c, &m);

    if (status) return status;
    if (!import_count(im, "pairs"))
        return explain_empty_import(im, &m);
    if (!m.source_lang[0] == !m.target_lang[0]) return EXIT_DONE;
    missing = m.source_lang[0] ? "target" : "source";
    complain(0, "the %s language is not known; set it with 'skmt tm set %s "
             "--%s-lang LANG'", missing, c->path, missing);
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
        complain(0, "import stopped; %s is unchanged", c->path);
    return status;
}

static int run_import(struct import_call *im)
{
    struct tm_call *c = im->c;
    double begin = wall_seconds();
    skmt_error err;
    skmt_status st;
    int status;

    st = skmt_tm_import(c->tm, tm_value(c, "name"), c->operands,
                        c->n_operands, im->import, &err);
    im->seconds = wall_seconds() - begin;
    rejects_close(&im->rejects);
    if (st) return tm_import_failed(im, &err);
    if (im->rejects.error)
        complain(0, "writing %s: %s; the pairs were imported",
                 im->rejects.path, strerror(im->rejects.error));
    if (c->json) tm_import_put_json(im);
    else put_counts(im);
    tm_print(c);
    status = print_import_notes(im);
    return im->rejects.error ? EXIT_TROUBLE : status;
}

int cmd_tm_import(struct tm_call *c)
{
    struct import_call im = { .c = c };
    int status;

    if (skmt_import_new(&im.import, NULL))
        return complain(EXIT_TROUBLE, "out of memory");
    status = set_import_options(&im);
    if (!status) status = rejects_begin(&im);
    if (!status) status = tm_open(c, SKMT_TM_WRITE);
    if (!status) status = run_import(&im);
    skmt_import_free(im.import);
    free(im.rejects.path);
    return status;
}
