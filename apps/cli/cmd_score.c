/* cmd_score.c - skmt score: parses the options and prints the scores of
 * translations. score_read.c reads the files and computes the scores. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "common/args.h"
#include "common/record.h"
#include "help.h"
#include "score_call.h"

#define DEFAULT_METRICS "bleu,chrf,ter"
/* The column of the reference in a --docs table: id, source, reference. */
#define DOCS_COLUMN 3

/* Options that can be evaluated only when all of them are known. */
struct score_options {
    const char *ref, *docs, *metrics;
    bool no_stopwords;          /* --r-stopwords off */
    bool help;
};

/* ---- options ------------------------------------------------------------ */

static int parse_number(const struct args *a, long min, long max, long *out)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(a->value, &end, 10);
    if (end == a->value || *end || errno || n < min || n > max)
        return complain(EXIT_USAGE, "--%s: '%s' is not a whole number from "
                        "%ld to %ld", a->name, a->value, min, max);
    *out = n;
    return EXIT_DONE;
}

static int parse_bounds(struct score_call *c, const char *value)
{
    const char *at = value;
    unsigned long last = 0;

    for (c->n_bounds = 0; c->n_bounds < BOUNDS_MAX; at++) {
        char *end = NULL;
        unsigned long n;

        errno = 0;
        n = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (errno || n <= last || n > 1000000000 || (*end && *end != ','))
            break;
        c->bounds[c->n_bounds++] = last = n;
        at = end;
        if (!*at) return EXIT_DONE;
    }
    return complain(EXIT_USAGE, "--buckets: '%s' is not a list of at most %d "
                    "ascending numbers such as 50,100,200", value,
                    BOUNDS_MAX);
}

static int parse_on_off(const struct args *a, bool *off)
{
    *off = !strcmp(a->value, "off");
    if (*off || !strcmp(a->value, "on")) return EXIT_DONE;
    return complain(EXIT_USAGE, "--%s: '%s' is neither on nor off", a->name,
                    a->value);
}

static int score_set_option(struct score_call *c, struct score_options *o,
                            const struct args *a)
{
    if (args_is(a, "ref")) o->ref = a->value;
    else if (args_is(a, "docs")) o->docs = a->value;
    else if (args_is(a, "metrics")) o->metrics = a->value;
    else if (args_is(a, "words")) c->words = true;
    else if (args_is(a, "freq-corpus")) c->freq_corpus = a->value;
    else if (args_is(a, "json")) c->json = true;
    else if (args_is(a, "help")) o->help = true;
    else if (args_is(a, "buckets")) return parse_bounds(c, a->value);
    else if (args_is(a, "r-stopwords"))
        return parse_on_off(a, &o->no_stopwords);
    else if (args_is(a, "column"))
        return parse_number(a, 1, 1000, &c->column);
    else if (args_is(a, "resamples"))
        return parse_number(a, 0, 1000000, &c->resamples);
    else if (args_is(a, "seed"))
        return parse_number(a, 0, 2147483647, &c->seed);
    return EXIT_DONE;
}

static void add_score_file(struct score_call *c, const char *file)
{
    size_t width = strlen(file);

    c->files[c->n_files++].name = file;
    if (width > c->name_width) c->name_width = width;
}

/* ---- all options together ----------------------------------------------- */

/* Make the list of metrics. "r" becomes "r-all" with --r-stopwords off. Return
 * NULL if out of memory. */
static char *metric_list(const struct score_options *o)
{
    const char *name = o->metrics ? o->metrics
                       : o->docs ? DEFAULT_METRICS ",r" : DEFAULT_METRICS;
    struct textbuf t = { 0 };

    for (;; name++) {
        size_t n = strcspn(name, ",");

        textbuf_add(&t, name, n);
        if (n == 1 && *name == 'r' && o->no_stopwords)
            textbuf_adds(&t, "-all");
        name += n;
        textbuf_add(&t, name, 1);               /* the comma, or the NUL */
        if (!*name) break;
    }
    if (t.failed) textbuf_release(&t);
    return t.data;
}

static int check_stdin(const struct score_call *c)
{
    int n = !strcmp(c->ref, "-");

    if (c->freq_corpus) n += !strcmp(c->freq_corpus, "-");
    for (int i = 0; i < c->n_files; i++)
        n += !strcmp(c->files[i].name, "-");
    if (n > 1)
        return complain(EXIT_USAGE, "standard input ('-') can be read only "
                        "once");
    return EXIT_DONE;
}

static int score_check_options(struct score_call *c,
                               const struct score_options *o)
{
    if ((!o->ref && !o->docs) || !c->n_files)
        return complain(EXIT_USAGE, "score needs --ref REF or --docs TSV, and "
                        "at least one FILE; see 'skmt help score'");
    if (o->ref && o->docs)
        return complain(EXIT_USAGE, "--ref and --docs cannot be used "
                        "together");
    c->ref = o->ref ? o->ref : o->docs;
    c->docs = o->docs;
    if (c->docs && !c->column) c->column = DOCS_COLUMN;
    if (c->docs && c->column == 1)
        return complain(EXIT_USAGE, "--column: with --docs, column 1 is the "
                        "name of the document");
    if (c->freq_corpus) c->words = true;
    c->metrics = metric_list(o);
    if (!c->metrics) return complain(EXIT_TROUBLE, "out of memory");
    return check_stdin(c);
}

static void score_record_defaults(const struct score_call *c,
                                  const struct score_options *o)
{
    struct textbuf bounds = { 0 };

    for (int i = 0; i < c->n_bounds; i++)
        textbuf_addf(&bounds, "%s%lu", i ? "," : "",
                     (unsigned long)c->bounds[i]);
    textbuf_add(&bounds, "", 1);
    if (!bounds.failed) record_value("buckets", bounds.data);
    textbuf_release(&bounds);
    record_value("metrics", c->metrics);
    record_value("r-stopwords", o->no_stopwords ? "off" : "on");
    record_valuef("resamples", "%ld", c->resamples);
    record_valuef("seed", "%ld", c->seed);
    if (c->column) record_valuef("column", "%ld", c->column);
}

static int cmd_score_parse(struct score_call *c, struct score_options *o,
                           struct args *a)
{
    int status = EXIT_DONE;
    enum arg what;

    while (!status && !o->help && (what = args_next(a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND) add_score_file(c, a->value);
        else status = score_set_option(c, o, a);
    }
    if (status || o->help) return status;
    if (!(status = score_check_options(c, o))) score_record_defaults(c, o);
    return status;
}

/* ---- the command -------------------------------------------------------- */

static int print_results(struct score_call *c)
{
    if (c->json) score_json(c);
    else score_text(c);
    if (c->out.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->out));
    fwrite(c->out.data, 1, c->out.len, stdout);
    return EXIT_DONE;
}

static void score_call_release(struct score_call *c)
{
    for (int i = 0; c->files && i < c->n_files; i++) {
        for (int g = 0; g < GROUPS_MAX; g++)
            skmt_score_free(c->files[i].scores[g]);
        free(c->files[i].results);
    }
    free(c->files);
    free(c->metrics);
    free(c->ends);
    free(c->documents);
    textbuf_release(&c->refs);
    textbuf_release(&c->ids);
    textbuf_release(&c->out);
}

int cmd_score(int argc, char **argv)
{
    struct score_call c = { .bounds = { 50, 100, 200, 500, 1000 },
                            .n_bounds = 5, .resamples = 1000, .seed = 12345,
                            .name_width = strlen("file") };
    struct args a = { .command = "score", .own = score_options,
                      .argc = argc, .argv = argv };
    struct score_options o = { 0 };
    int status;

    c.files = calloc((size_t)argc, sizeof *c.files);
    if (!c.files) status = complain(EXIT_TROUBLE, "out of memory");
    else status = cmd_score_parse(&c, &o, &a);
    if (o.help) status = help_command("score");
    else if (!status) status = score_read(&c);
    if (!status && !o.help) status = print_results(&c);
    score_call_release(&c);
    return status;
}
