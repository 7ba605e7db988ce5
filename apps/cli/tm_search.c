/* tm_search.c - skmt tm search: prints the most similar pairs, as text or as
 * JSON.
 *
 *      92%  Die Datei wurde [-nicht -]gefunden.
 *           The file was not found.
 *           id 17, memory.tmx:12, main, 2024-05-31, 3 times
 *
 * The first line is the stored source. Words that are missing from the query
 * are marked [-like this-]. Words that are only in the query are inserted
 * {+like this+}. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/jput.h"
#include "common/record.h"
#include "tm_call.h"
#include "tm_print.h"

struct search_call {
    struct tm_call *c;
    bool color;
    bool echo;                  /* print the query before its matches */
};

/* Differences are also struck out or underlined, for color-blind users. */
static const char bold[] = "\033[1m", dim[] = "\033[2m",
    removed_style[] = "\033[31;9m", added_style[] = "\033[32;4m",
    reset_style[] = "\033[0m";

/* ---- text ------------------------------------------------------------- */

static void tm_search_put_style(struct search_call *s, const char *escape)
{
    if (s->color) textbuf_adds(&s->c->out, escape);
}

/* Append one part of the comparison. kind: '=', '-' or '+', as in
 * skmt_matches_edit(). */
static void put_edit(struct search_call *s, char kind, const char *text,
                     size_t n)
{
    struct textbuf *t = &s->c->out;

    if (kind == '=') {
        put_visible(t, text, n);
        return;
    }
    if (s->color) textbuf_adds(t, kind == '-' ? removed_style : added_style);
    else textbuf_adds(t, kind == '-' ? "[-" : "{+");
    put_visible(t, text, n);
    if (s->color) textbuf_adds(t, reset_style);
    else textbuf_adds(t, kind == '-' ? "-]" : "+}");
}

/* Append the source of match i, compared with the query `text`. */
static void put_differences(struct search_call *s, const skmt_matches *m, int i,
                            const skmt_match *match, const char *text)
{
    size_t begin, end;
    char kind;

    for (int k = 0; skmt_matches_edit(m, i, k, &kind, &begin, &end); k++)
        put_edit(s, kind, (kind == '+' ? text : match->pair->source) + begin,
                 end - begin);
}

/* Append where a match comes from:
 * "id 17, memory.tmx:12, letter.docx, main, 2024-05-31, 3 times" */
static void put_provenance(struct search_call *s, const skmt_match *match)
{
    struct textbuf *t = &s->c->out;
    const skmt_pair *p = match->pair;

    textbuf_addf(t, "id %lld", (long long)p->id);
    if (p->origin[0]) {
        textbuf_adds(t, ", ");
        put_visible(t, p->origin, strlen(p->origin));
        if (p->position) textbuf_addf(t, ":%lld", (long long)p->position);
    }
    if (p->document[0]) {
        textbuf_adds(t, ", ");
        put_visible(t, p->document, strlen(p->document));
    }
    textbuf_adds(t, ", ");
    put_visible(t, p->memory, strlen(p->memory));
    textbuf_adds(t, ", ");
    put_date(t, p->changed);
    if (match->occurrences > 1) {
        textbuf_adds(t, ", ");
        put_noun(t, match->occurrences, "time", "times");
    }
}

static void put_match(struct search_call *s, const skmt_matches *m, int i,
                      const char *text)
{
    struct textbuf *t = &s->c->out;
    skmt_match match = SKMT_INIT(skmt_match);

    skmt_matches_get(m, i, &match);
    tm_search_put_style(s, bold);
    textbuf_addf(t, "%3d%%", similarity_percent(match.similarity));
    tm_search_put_style(s, reset_style);
    textbuf_adds(t, "  ");
    put_differences(s, m, i, &match, text);
    textbuf_adds(t, "\n      ");
    put_visible(t, match.pair->target, strlen(match.pair->target));
    textbuf_adds(t, "\n      ");
    tm_search_put_style(s, dim);
    put_provenance(s, &match);
    tm_search_put_style(s, reset_style);
    textbuf_adds(t, "\n");
}

/* Append the matches of one query. m is NULL if the query is blank. */
static void put_matches(struct search_call *s, const skmt_matches *m,
                        const char *text, size_t len)
{
    struct textbuf *t = &s->c->out;
    int n = m ? skmt_matches_count(m) : 0;

    if (s->echo) {
        put_visible(t, text, len);
        textbuf_adds(t, "\n");
    }
    if (n == 0) textbuf_adds(t, "  no match\n");
    for (int i = 0; i < n; i++) put_match(s, m, i, text);
    if (s->echo) textbuf_adds(t, "\n");
}

/* ---- JSON ------------------------------------------------------------- */

static void jput_edits(struct textbuf *t, const skmt_matches *m, int i)
{
    size_t begin, end;
    char kind;

    jput_key(t, "edits");
    jput_array(t);
    for (int k = 0; skmt_matches_edit(m, i, k, &kind, &begin, &end); k++) {
        jput_object(t);
        jput_key(t, "kind");
        jput_string(t, &kind, 1);
        jput_int_field(t, "begin", (int64_t)begin);
        jput_int_field(t, "end", (int64_t)end);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void jput_match(struct textbuf *t, const skmt_matches *m, int i)
{
    skmt_match match = SKMT_INIT(skmt_match);

    skmt_matches_get(m, i, &match);
    jput_object(t);
    jput_number_field(t, "similarity", match.similarity);
    jput_number_field(t, "score", match.score);
    jput_int_field(t, "occurrences", match.occurrences);
    jput_pair(t, match.pair);
    jput_edits(t, m, i);
    jput_object_end(t);
}

static void jput_matches(struct search_call *s, const skmt_matches *m,
                         const struct input_line *line)
{
    struct textbuf *t = &s->c->out;
    int n = m ? skmt_matches_count(m) : 0;

    jput_object(t);
    jput_int_field(t, "line", (int64_t)line->number);
    jput_key(t, "text");
    jput_string(t, line->text, line->len);
    jput_key(t, "matches");
    jput_array(t);
    for (int i = 0; i < n; i++) jput_match(t, m, i);
    jput_array_end(t);
    jput_line_end(t);
}

/* ---- searching -------------------------------------------------------- */

/* Print an error. An error in the text of a line is printed with its file and
 * number; a query of the command line has no file. */
static int search_failed(struct search_call *s, const struct input_line *line,
                         const skmt_error *err)
{
    if (!line->file || err->status != SKMT_ERR_TEXT)
        return tm_failed(s->c, err);
    progress_end(&s->c->progress);
    return tm_bad_line(line, err->message);
}

/* A blank line is not searched for, but output is printed for it, with no
 * matches. */
static int search_line(struct tm_call *c, struct input_line *line, void *user)
{
    struct search_call *s = user;
    bool blank = strspn(line->text, " \t") == line->len;
    skmt_matches *m = NULL;
    skmt_error err;

    if (memchr(line->text, 0, line->len)) {
        progress_end(&c->progress);
        return tm_bad_line(line, "the line contains a NUL byte");
    }
    if (!blank && skmt_tm_search(c->tm, line->text, c->options, c->model, &m,
                                 &err))
        return search_failed(s, line, &err);
    if (c->json) jput_matches(s, m, line);
    else put_matches(s, m, line->text, line->len);
    skmt_matches_free(m);
    return tm_print(c);
}

/* Search for one query: the operands, joined by spaces. */
static int search_operands(struct search_call *s)
{
    struct textbuf text = { 0 };
    struct input_line line = { .number = 1 };
    int status;

    for (int i = 0; i < s->c->n_operands; i++) {
        if (i) textbuf_adds(&text, " ");
        textbuf_adds(&text, s->c->operands[i]);
    }
    textbuf_add(&text, "", 1);          /* a line ends with a NUL */
    line.text = text.data;
    line.len = text.len - !text.failed; /* without the NUL */
    status = text.failed ? complain(EXIT_TROUBLE, "out of memory")
                         : search_line(s->c, &line, s);
    textbuf_release(&text);
    return status;
}

/* ---- command line ----------------------------------------------------- */

static int choose_color(struct search_call *s)
{
    const char *when = tm_value(s->c, "color"), *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");

    if (!when) when = "auto";
    if (strcmp(when, "auto") && strcmp(when, "always") && strcmp(when, "never"))
        return complain(EXIT_USAGE, "--color: '%s' is not auto, always or "
                        "never", when);
    record_value("color", when);
    s->color = !strcmp(when, "always")
               || (!strcmp(when, "auto") && isatty(STDOUT_FILENO)
                   && !(no_color && no_color[0]) && term
                   && strcmp(term, "dumb"));
    return EXIT_DONE;
}

int cmd_tm_search(struct tm_call *c)
{
    struct search_call s = { .c = c };
    const char *file = tm_value(c, "file");
    int status;

    if (file && c->n_operands)
        return complain(EXIT_USAGE, "tm search: TEXT and --file cannot be "
                        "used together");
    status = choose_color(&s);
    if (!status) status = tm_open_search(c, true);
    if (status) return status;
    if (c->n_operands) return search_operands(&s);
    s.echo = true;
    return tm_each_line(c, file ? file : "-", search_line, &s);
}
