/* learn_ask.c - a person corrects each translation at a terminal.
 *
 * Talk goes to stderr. The output, where it is something else than the
 * terminal, gets the text the person left: one line for each source. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "learn_call.h"
#include "learn_edit.h"
#include "tm_print.h"

struct talk {
    struct learn_call *c;
    struct editor editor;
    struct lines in;            /* sources of files */
    bool typed;                 /* sources are typed, too */
};

enum verdict { TAKE, LEAVE, UNDO };

/* ---- saying ------------------------------------------------------------- */

static void say_how(const struct talk *t)
{
    fputs(t->editor.plain
          ? "Enter stores the translation, a text is stored instead of it, - "
            "stores nothing;\n"
          : "Enter stores the translation as you leave it; an empty line or - "
            "stores nothing;\n", stderr);
    fputs("/undo takes the last pair back, Ctrl-D ends.\n", stderr);
}

/* Control characters would reach the terminal. */
static void say_visible(const char *text)
{
    struct textbuf line = { 0 };

    put_visible(&line, text, strlen(text));
    if (!line.failed) fwrite(line.data, 1, line.len, stderr);
    textbuf_release(&line);
}

/* Other translations of the sentences that were taken as stored. */
static void say_alternatives(const struct talk *t)
{
    const skmt_result *r = t->c->result;

    for (int seg = 0; seg < skmt_result_segs(r); seg++) {
        skmt_steering s;

        skmt_result_pair(r, seg, 0, &s);
        for (int i = 1; s.exact && i < skmt_result_pairs(r, seg); i++) {
            skmt_steering other;

            skmt_result_pair(r, seg, i, &other);
            fprintf(stderr, "(also stored, as pair %lld of %s: ",
                    (long long)other.id, other.memory);
            say_visible(other.target);
            fputs(")\n", stderr);
        }
    }
}

static void say_line(const struct talk *t, const struct line *line)
{
    bool exact;
    double similarity = learn_similarity(t->c, &exact);

    if (!t->typed)
        fprintf(stderr, "\n%s:%llu  %s\n", line->file,
                (unsigned long long)line->number, line->text);
    if (exact) {
        fputs("(from the memory)\n", stderr);
        say_alternatives(t);
    }
    if (!exact && similarity > 0)
        fprintf(stderr, "(the memory has one that is %d %% similar)\n",
                similarity_percent(similarity));
    if (t->editor.plain) fprintf(stderr, "%s\n", t->c->text.data);
}

static int say_end(const struct talk *t)
{
    fprintf(stderr, "%llu %s stored in %s\n",
            (unsigned long long)t->c->stored,
            t->c->stored == 1 ? "pair" : "pairs", t->c->steering.memory);
    return EXIT_DONE;
}

/* ---- an answer ---------------------------------------------------------- */

static void trim_end(char *text)
{
    size_t n = strlen(text);

    while (n && strchr(" \t", text[n - 1])) text[--n] = 0;
}

/* The text to store into *target. */
static enum verdict judge(const struct talk *t, char *answer,
                          const char **target)
{
    trim_end(answer);
    if (!strcmp(answer, "/undo")) return UNDO;
    *target = t->c->text.data;
    if (!strcmp(answer, "-")) return LEAVE;
    if (!*answer) return t->editor.plain && **target ? TAKE : LEAVE;
    *target = answer;
    return TAKE;
}

static int undo(struct talk *t)
{
    int64_t id = t->c->last.is.id;
    skmt_error err;

    if (!id) {
        fputs("nothing was stored that could be taken back\n", stderr);
        return EXIT_DONE;
    }
    if (learn_undo(t->c, &err)) return learn_failed(t->c, &err);
    fprintf(stderr, "pair %lld is taken back\n", (long long)id);
    return EXIT_DONE;
}

/* True: stored. What cannot be stored - a full disk, a byte that is no UTF-8 -
 * is said, and may be tried again. */
static bool store(struct talk *t, const char *source, const char *target)
{
    const struct outcome *is = &t->c->outcome;
    skmt_error err;

    if (learn_store(t->c, source, target, &err)) {
        complain(0, "not stored: %s", err.message);
        return false;
    }
    fprintf(stderr, is->added ? "stored as pair %lld"
                              : "stored already, as pair %lld",
            (long long)is->id);
    if (is->replaced)
        fprintf(stderr, ", instead of %d other%s", is->replaced,
                is->replaced == 1 ? "" : "s");
    fputc('\n', stderr);
    return true;
}

/* ---- a line ------------------------------------------------------------- */

static int stopped(const struct talk *t, enum edit_state st)
{
    if (st == EDIT_STOPPED) return EXIT_SIGNAL + interrupt_signal();
    return complain(EXIT_TROUBLE, "reading standard input: %s",
                    t->editor.message);
}

/* Ask until there is an answer that can be done. *done: the person ends. */
static int ask_line(struct talk *t, const struct line *line, bool *done)
{
    const char *begin = t->c->text.data, *target;
    const char *prompt = t->editor.plain ? "correction> " : "= ";

    for (;;) {
        char *answer;
        enum edit_state st = editor_line(&t->editor, prompt, begin, &answer);
        enum verdict v;
        skmt_error err;
        int status;

        *done = st == EDIT_END;
        if (*done) return EXIT_DONE;
        if (st != EDIT_LINE) return stopped(t, st);
        v = judge(t, answer, &target);
        if (v == LEAVE || (v == TAKE && store(t, line->text, target)))
            return learn_write(t->c, target, line->cr);
        begin = answer;
        if (v == TAKE) continue;
        if ((status = undo(t))) return status;
        if (learn_translate(t->c, line->text, line->len, &err))
            return learn_failed(t->c, &err);
        say_line(t, line);
        begin = t->c->text.data;
    }
}

/* A line that brings its correction along needs no answer. */
static int take_given(struct talk *t, const struct line *line,
                      const char *correction)
{
    fprintf(stderr, "= %s\n", correction);
    if (!store(t, line->text, correction)) return EXIT_TROUBLE;
    return learn_write(t->c, correction, line->cr);
}

static int talk_about(struct talk *t, struct line *line, bool *done)
{
    char *correction;
    skmt_error err;
    int status = learn_split(t->c, line, &correction);

    *done = false;
    if (status) return t->typed ? EXIT_DONE : status;
    t->c->lines++;
    if (!line->len) return learn_write(t->c, "", line->cr);
    if (learn_translate(t->c, line->text, line->len, &err)) {
        status = err.status == SKMT_TEXT || err.status == SKMT_LIMIT
                     ? learn_bad_line(t->c, line, err.message)
                     : learn_failed(t->c, &err);
        return t->typed && status == EXIT_TROUBLE ? EXIT_DONE : status;
    }
    say_line(t, line);
    return correction ? take_given(t, line, correction)
                      : ask_line(t, line, done);
}

/* ---- all lines ---------------------------------------------------------- */

static enum edit_state type_source(struct talk *t, struct line *line)
{
    enum edit_state st = editor_line(&t->editor, "> ", "", &line->text);

    line->len = strlen(line->text);
    line->number++;
    return st;
}

static int typed_lines(struct talk *t)
{
    struct line line = { .file = "standard input" };
    struct textbuf source = { 0 };
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        enum edit_state st = type_source(t, &line);

        if (st == EDIT_END) break;
        if (st == EDIT_LINE) {
            /* The editor's text is gone when it asks for the next. */
            textbuf_reset(&source);
            textbuf_add(&source, line.text, line.len + 1);
            line.text = source.data;
            status = source.failed ? complain(EXIT_TROUBLE, "out of memory")
                                   : talk_about(t, &line, &done);
        } else {
            status = stopped(t, st);
        }
    }
    textbuf_release(&source);
    return status;
}

static int file_lines(struct talk *t)
{
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        struct line line;
        enum lines_state st = lines_next(&t->in, true, &line);

        if (st == LINES_END) break;
        if (st == LINES_LINE) status = talk_about(t, &line, &done);
        if (st == LINES_FAILED)
            status = complain(EXIT_TROUBLE, "%s", t->in.message);
        if (st == LINES_STOPPED || interrupt_signal())
            status = EXIT_SIGNAL + interrupt_signal();
    }
    return status;
}

int learn_ask(struct learn_call *c)
{
    struct talk t = { .c = c };
    int status;

    for (int i = 0; i < c->n_files; i++)
        if (!strcmp(c->files[i], "-")) t.typed = true;
    if (t.typed && c->n_files > 1)
        return complain(EXIT_USAGE, "at a terminal '-' cannot be one of "
                        "several files");
    if (isatty(c->fd)) c->fd = -1;      /* it is all there already */
    editor_init(&t.editor, interrupt_fd());
    lines_open(&t.in, c->files, c->n_files, interrupt_fd());
    say_how(&t);
    status = t.typed ? typed_lines(&t) : file_lines(&t);
    lines_close(&t.in);
    editor_release(&t.editor);
    say_end(&t);
    return status;
}
