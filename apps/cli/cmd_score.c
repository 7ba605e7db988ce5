/* cmd_score.c - skmt score: how near translations come to a reference.
 *
 * The references are read once and kept; each file of translations is then
 * read line by line beside them. The handles of all files stay, for the later
 * ones are compared with the first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cli.h"
#include "help.h"
#include "lines.h"
#include "textbuf.h"
#include "tm_print.h"

struct score_call {
    const char *ref;
    const char *metrics;
    long column;                /* of the references, from 1; 0: all */
    long resamples;             /* 0: no intervals */
    long seed;
    bool json;
    const char **files;         /* [n_files] */
    skmt_score **scores;        /* [n_files] */
    int n_files;
    size_t name_width;          /* of the longest, at least "file" */
    struct textbuf refs;        /* one after the other */
    size_t *ends;               /* [n_refs] of each in refs */
    size_t n_refs, cap;
    struct textbuf out;
};

/* ---- reading ------------------------------------------------------------ */

static int bad_line(const struct line *line, const char *why)
{
    fprintf(stderr, "%s:%" PRIu64 ": %s\n", line->file, line->number, why);
    return EXIT_TROUBLE;
}

typedef int line_fn(struct score_call *c, const struct line *line, void *user);

/* fn for every line of a file, until one is not EXIT_DONE. */
static int each_line(struct score_call *c, const char *file, line_fn *fn,
                     void *user)
{
    enum lines_state state = LINES_LINE;
    int status = EXIT_DONE;
    struct lines r;
    struct line line;

    lines_open(&r, &file, 1, -1);
    while (!status && (state = lines_next(&r, true, &line)) == LINES_LINE)
        status = fn(c, &line, user);
    if (state == LINES_FAILED) status = complain(EXIT_TROUBLE, "%s", r.message);
    lines_close(&r);
    return status;
}

/* The part of a line between its tabs; false: it has fewer. */
static bool pick_column(const struct line *line, long column,
                        const char **text, size_t *len)
{
    const char *at = line->text, *end = line->text + line->len, *tab;

    for (long i = 1; i < column; i++) {
        at = memchr(at, '\t', (size_t)(end - at));
        if (!at) return false;
        at++;
    }
    tab = column ? memchr(at, '\t', (size_t)(end - at)) : NULL;
    *text = at;
    *len = (size_t)((tab ? tab : end) - at);
    return true;
}

static int keep_ref(struct score_call *c, const struct line *line, void *user)
{
    const char *text;
    size_t len;

    (void)user;
    if (!pick_column(line, c->column, &text, &len)) {
        char why[64];

        snprintf(why, sizeof why, "has no column %ld", c->column);
        return bad_line(line, why);
    }
    if (c->n_refs == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 1024;
        size_t *ends = realloc(c->ends, cap * sizeof *ends);

        if (!ends) return complain(EXIT_TROUBLE, "out of memory");
        c->ends = ends;
        c->cap = cap;
    }
    textbuf_add(&c->refs, text, len);
    if (c->refs.failed) return complain(EXIT_TROUBLE, "out of memory");
    c->ends[c->n_refs++] = c->refs.len;
    return EXIT_DONE;
}

struct reading { skmt_score *score; size_t at; };

static int add_line(struct score_call *c, const struct line *line, void *user)
{
    struct reading *r = user;
    size_t begin = r->at ? c->ends[r->at - 1] : 0;
    skmt_error err;

    if (r->at == c->n_refs)
        return complain(EXIT_TROUBLE, "%s has more lines than the %zu of %s",
                        line->file, c->n_refs, c->ref);
    if (skmt_score_add(r->score, line->text, line->len,
                       c->refs.data ? c->refs.data + begin : "",
                       c->ends[r->at] - begin, &err))
        return bad_line(line, err.message);
    r->at++;
    return EXIT_DONE;
}

static int read_file(struct score_call *c, int i)
{
    struct reading r = { NULL, 0 };
    skmt_error err;
    int status;

    if (skmt_score_new(&c->scores[i], c->metrics, &err))
        return complain(err.status == SKMT_ARGUMENT ? EXIT_USAGE
                                                    : EXIT_TROUBLE,
                        "%s", err.message);
    r.score = c->scores[i];
    status = each_line(c, c->files[i], add_line, &r);
    if (!status && r.at < c->n_refs)
        status = complain(EXIT_TROUBLE, "%s has %zu lines, but %s has %zu",
                          c->files[i], r.at, c->ref, c->n_refs);
    return status;
}

/* ---- printing ----------------------------------------------------------- */

struct figure {
    const char *metric, *title, *signature;
    double score, low, high, p;
    bool sampled, compared;
};

/* The k-th figure of file i; false: there is none, or it failed (*status). */
static bool find_figure(struct score_call *c, int i, int k,
                        struct figure *f, int *status)
{
    skmt_score *s = c->scores[i];
    uint64_t seed = (uint64_t)c->seed;
    skmt_status st;
    skmt_error err;

    *f = (struct figure){ 0 };
    f->metric = skmt_score_metric(s, k, &f->title, &f->signature);
    if (!f->metric) return false;
    f->sampled = c->resamples && c->n_refs;
    f->compared = f->sampled && i > 0;
    st = skmt_score_get(s, f->metric, &f->score, &err);
    if (!st && f->sampled)
        st = skmt_score_interval(s, f->metric, (int)c->resamples, seed,
                                 &f->low, &f->high, &err);
    if (!st && f->compared)
        st = skmt_score_compare(c->scores[0], s, f->metric,
                                (int)c->resamples, seed, &f->p, &err);
    if (st) *status = complain(EXIT_TROUBLE, "%s", err.message);
    return !st;
}

static void put_padded(struct textbuf *t, const char *name, size_t width)
{
    size_t begin = t->len;

    put_visible(t, name, strlen(name));
    do textbuf_adds(t, " "); while (t->len < begin + width + 2);
}

static void put_row(struct score_call *c, int i, const struct figure *f)
{
    struct textbuf *t = &c->out;

    put_padded(t, c->files[i], c->name_width);
    textbuf_addf(t, "%-11s %7.2f", f->title, f->score);
    if (f->sampled) textbuf_addf(t, "  %7.2f %7.2f", f->low, f->high);
    if (f->compared) textbuf_addf(t, "  %6.4f", f->p);
    textbuf_adds(t, "\n");
}

static void put_head(struct score_call *c)
{
    put_padded(&c->out, "file", c->name_width);
    textbuf_addf(&c->out, "%-11s %7s", "metric", "score");
    if (c->resamples) textbuf_addf(&c->out, "  %15s", "95 % within");
    if (c->resamples && c->n_files > 1) textbuf_addf(&c->out, "  %6s", "p");
    textbuf_adds(&c->out, "\n");
}

static void put_foot(struct score_call *c)
{
    struct textbuf *t = &c->out;
    const char *title, *signature;

    textbuf_adds(t, "\n");
    for (int k = 0; skmt_score_metric(c->scores[0], k, &title, &signature);
         k++)
        textbuf_addf(t, "%-11s %s\n", title, signature);
    if (!c->resamples) return;
    textbuf_addf(t, "%ld resamples, seed %ld", c->resamples, c->seed);
    if (c->n_files > 1) {
        textbuf_adds(t, "; p: of no difference to ");
        put_visible(t, c->files[0], strlen(c->files[0]));
    }
    textbuf_adds(t, "\n");
}

/* More digits than other numbers have: counts must come out whole. */
static void jput_exact(struct textbuf *t, const char *key, double v)
{
    jput_key(t, key);
    textbuf_addf(t, "%.12g", v);
}

static void jput_figure(struct score_call *c, int i, const struct figure *f)
{
    struct textbuf *t = &c->out;
    const char *name;
    double value;

    jput_comma(t);
    textbuf_adds(t, "{");
    jput_field(t, "metric", f->metric);
    jput_exact(t, "score", f->score);
    if (f->sampled) {
        jput_exact(t, "low", f->low);
        jput_exact(t, "high", f->high);
    }
    if (f->compared) jput_exact(t, "p", f->p);
    for (int k = 0; (name = skmt_score_detail(c->scores[i], f->metric, k,
                                              &value)); k++)
        jput_exact(t, name, value);
    jput_field(t, "signature", f->signature);
    textbuf_adds(t, "}");
}

static int print_file(struct score_call *c, int i)
{
    struct textbuf *t = &c->out;
    int status = EXIT_DONE;
    struct figure f;

    if (c->json) {
        textbuf_adds(t, "{");
        jput_field(t, "file", c->files[i]);
        jput_int(t, "lines", (int64_t)c->n_refs);
        jput_key(t, "scores");
        textbuf_adds(t, "[");
    }
    for (int k = 0; find_figure(c, i, k, &f, &status); k++) {
        if (c->json) jput_figure(c, i, &f);
        else put_row(c, i, &f);
    }
    if (c->json) textbuf_adds(t, "]}\n");
    return status;
}

static int print_all(struct score_call *c)
{
    int status = EXIT_DONE;

    if (!c->json) put_head(c);
    for (int i = 0; !status && i < c->n_files; i++) status = print_file(c, i);
    if (!c->json) put_foot(c);
    if (!status && c->out.failed)
        status = complain(EXIT_TROUBLE, "out of memory");
    if (!status) fwrite(c->out.data, 1, c->out.len, stdout);
    return status;
}

/* ---- the command -------------------------------------------------------- */

static int score(struct score_call *c)
{
    int status = each_line(c, c->ref, keep_ref, NULL);

    for (int i = 0; !status && i < c->n_files; i++) status = read_file(c, i);
    return status ? status : print_all(c);
}

static int take_number(const struct args *a, long least, long most, long *out)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(a->value, &end, 10);
    if (end == a->value || *end || errno || n < least || n > most)
        return complain(EXIT_USAGE, "%s: '%s' is not a whole number from %ld "
                        "to %ld", a->name, a->value, least, most);
    *out = n;
    return EXIT_DONE;
}

static int take_option(struct score_call *c, const struct args *a)
{
    if (args_is(a, "ref")) c->ref = a->value;
    else if (args_is(a, "metrics")) c->metrics = a->value;
    else if (args_is(a, "json")) c->json = true;
    else if (args_is(a, "column"))
        return take_number(a, 1, 1000, &c->column);
    else if (args_is(a, "resamples"))
        return take_number(a, 0, 1000000, &c->resamples);
    else if (args_is(a, "seed"))
        return take_number(a, 0, 2147483647, &c->seed);
    return EXIT_DONE;
}

static void take_file(struct score_call *c, const char *file)
{
    size_t width = strlen(file);

    c->files[c->n_files++] = file;
    if (width > c->name_width) c->name_width = width;
}

static int parse(struct score_call *c, struct args *a, bool *help)
{
    int status = EXIT_DONE, from_stdin = 0;
    enum arg what;

    while (!status && (what = args_next(a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        *help = what == ARG_OWN && args_is(a, "help");
        if (*help) return EXIT_DONE;
        if (what == ARG_OPERAND) take_file(c, a->value);
        else status = take_option(c, a);
    }
    if (status) return status;
    if (!c->ref || !c->n_files)
        return complain(EXIT_USAGE, "score needs --ref REF and FILEs; see "
                        "'skmt help score'");
    for (int i = 0; i < c->n_files; i++)
        from_stdin += !strcmp(c->files[i], "-");
    if (from_stdin + !strcmp(c->ref, "-") > 1)
        return complain(EXIT_USAGE, "standard input ('-') can be read once");
    return EXIT_DONE;
}

static void score_call_release(struct score_call *c)
{
    for (int i = 0; c->scores && i < c->n_files; i++)
        skmt_score_free(c->scores[i]);
    free(c->scores);
    free(c->files);
    free(c->ends);
    textbuf_release(&c->refs);
    textbuf_release(&c->out);
}

int cmd_score(int argc, char **argv)
{
    struct score_call c = { .metrics = "bleu,chrf,ter", .resamples = 1000,
                            .seed = 12345, .name_width = strlen("file") };
    struct args a = { .command = "score", .own = score_options,
                      .argc = argc, .argv = argv };
    bool help = false;
    int status;

    c.files = calloc((size_t)argc, sizeof *c.files);
    c.scores = calloc((size_t)argc, sizeof *c.scores);
    if (!c.files || !c.scores) status = complain(EXIT_TROUBLE, "out of memory");
    else status = parse(&c, &a, &help);
    if (help) status = help_command("score");
    else if (!status) status = score(&c);
    score_call_release(&c);
    return status;
}
