/* learn_ask.c - a person corrects each translation at a terminal.
 *
 * The dialog goes to stderr. The output, where it is not the terminal, gets the
 * text that the person left: one line for each source.
 *
 * /undo takes the last answer back and asks for its line again. A line that
 * went into a pipe cannot be taken back, so the line of the last answer is held
 * until the next answer is given or the dialog ends. Blank lines after it wait
 * with it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "learn_call.h"
#include "learn_edit.h"
#include "tm_print.h"

struct answered {               /* the last line that has an answer */
    bool exists;
    bool stored;                /* the answer changed the memory */
    struct input_line line;     /* its text is `source` */
    struct textbuf source;      /* with a NUL */
    struct textbuf output;      /* the line of output, not written yet */
    struct textbuf blank;       /* the blank lines after it */
};

struct learn_dialog {
    struct learn_call *c;
    struct editor editor;
    struct lines in;            /* sources of files */
    bool typed;                 /* sources are typed, too */
    struct answered last;
    struct textbuf shown;       /* the text that the editor begins with */
};

enum verdict { TAKE, LEAVE, UNDO, AGAIN };

/* ---- saying ------------------------------------------------------------- */

static void say_how(const struct learn_dialog *t)
{
    fputs(t->editor.plain
          ? "Enter stores the translation, a text is stored instead of it, - "
            "stores nothing;\n"
          : "Enter stores the translation as you leave it; an empty line or - "
            "stores nothing;\n", stderr);
    fputs("/undo takes the last answer back, /help shows this, Ctrl-D ends; a "
          "text that begins\nwith / is typed with two: //.\n", stderr);
}

static void say_source(const struct input_line *line)
{
    fprintf(stderr, "\n%s:%llu  %s\n", line->file,
            (unsigned long long)line->number, line->text);
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
static void say_alternatives(const struct learn_dialog *t)
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

/* What the memory has for the source, and the translation. */
static void say_translation(const struct learn_dialog *t)
{
    bool exact;
    double similarity = learn_similarity(t->c, &exact);

    if (exact) {
        fputs("(from the memory)\n", stderr);
        say_alternatives(t);
    }
    if (!exact && similarity > 0)
        fprintf(stderr, "(the memory has one that is %d %% similar)\n",
                similarity_percent(similarity));
    if (t->editor.plain) fprintf(stderr, "%s\n", t->c->text.data);
}

static int say_end(const struct learn_dialog *t)
{
    fprintf(stderr, "%llu %s stored in %s\n",
            (unsigned long long)t->c->stored,
            t->c->stored == 1 ? "pair" : "pairs", t->c->steering.memory);
    return EXIT_DONE;
}

/* ---- an answer ---------------------------------------------------------- */

static void learn_ask_trim_end(char *text)
{
    size_t n = strlen(text);

    while (n && strchr(" \t", text[n - 1])) text[--n] = 0;
}

/* Says so when the text is a command, "/word", and no known one. False: it is
 * no command at all. */
static bool is_command(const struct learn_dialog *t, const char *text,
                       bool *undo)
{
    *undo = !strcmp(text, "/undo");
    if (text[0] != '/' || text[1] == '/') return false;
    if (!strcmp(text, "/help"))
        say_how(t);
    else if (!*undo)
        fprintf(stderr, "there is no command '%.*s'; the commands are /undo "
                "and /help; a text that begins with / is typed with two: "
                "//\n", (int)strcspn(text, " \t"), text);
    return true;
}

/* "//text" stands for "/text". */
static char *unescaped(char *text)
{
    return text[0] == '/' && text[1] == '/' ? text + 1 : text;
}

/* The text to store into *target. */
static enum verdict judge(const struct learn_dialog *t, char *answer,
                          const char **target)
{
    bool undo;

    learn_ask_trim_end(answer);
    if (is_command(t, answer, &undo)) return undo ? UNDO : AGAIN;
    *target = t->c->text.data;
    if (!strcmp(answer, "-")) return LEAVE;
    if (!*answer) return t->editor.plain && **target ? TAKE : LEAVE;
    *target = unescaped(answer);
    return TAKE;
}

/* The translation as the editor shows it, so that Enter stores it. NULL: out
 * of memory. */
static const char *editable(struct learn_dialog *t)
{
    const char *text = t->c->text.data;

    textbuf_reset(&t->shown);
    if (text[0] == '/') textbuf_adds(&t->shown, "/");
    textbuf_add(&t->shown, text, strlen(text) + 1);
    return t->shown.failed ? NULL : t->shown.data;
}

/* True: stored. What cannot be stored - a full disk, a byte that is no UTF-8 -
 * is said, and may be tried again. */
static bool store(struct learn_dialog *t, const char *source,
                  const char *target)
{
    const struct learn_outcome *is = &t->c->outcome;
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

/* ---- the last answer ---------------------------------------------------- */

static int ask_no_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

static void answered_release(struct answered *a)
{
    textbuf_release(&a->source);
    textbuf_release(&a->output);
    textbuf_release(&a->blank);
    memset(a, 0, sizeof *a);
}

/* Write what waits. It cannot be taken back then. */
static int write_last(struct learn_dialog *t)
{
    struct answered *a = &t->last;
    int status = EXIT_DONE;

    if (a->exists) status = learn_write_bytes(t->c, &a->output);
    if (!status) status = learn_write_bytes(t->c, &a->blank);
    answered_release(a);
    return status;
}

static void ask_put_line(struct textbuf *t, const char *text, bool cr)
{
    textbuf_adds(t, text);
    textbuf_adds(t, cr ? "\r\n" : "\n");
}

/* The line has its answer: the one before it is written, this one waits. */
static int answer_line(struct learn_dialog *t, const struct input_line *line,
                       const char *target, bool stored)
{
    struct answered now = { .exists = true, .stored = stored, .line = *line };
    int status;

    textbuf_add(&now.source, line->text, line->len);
    textbuf_add(&now.source, "", 1);
    ask_put_line(&now.output, target, line->cr);
    status = now.source.failed || now.output.failed ? ask_no_memory()
                                                    : write_last(t);
    now.line.text = now.source.data;
    if (status) answered_release(&now);
    else t->last = now;
    return status;
}

static int blank_line(struct learn_dialog *t, const struct input_line *line)
{
    ask_put_line(&t->last.blank, "", line->cr);
    if (t->last.blank.failed) return ask_no_memory();
    return t->last.exists ? EXIT_DONE : write_last(t);
}

/* Take the last answer back; *was is what was answered. */
static int take_back(struct learn_dialog *t, struct answered *was)
{
    int64_t id = t->c->last.is.id;
    skmt_error err;

    memset(was, 0, sizeof *was);
    if (!t->last.exists) {
        fputs("there is no answer that could be taken back\n", stderr);
        return EXIT_DONE;
    }
    if (t->last.stored) {
        if (learn_undo(t->c, &err)) return learn_failed(t->c, &err);
        fprintf(stderr, "pair %lld is taken back\n", (long long)id);
    }
    *was = t->last;
    memset(&t->last, 0, sizeof t->last);
    return EXIT_DONE;
}

/* ---- a line ------------------------------------------------------------- */

static int learn_ask_stopped(const struct learn_dialog *t, enum edit_state st)
{
    if (st == EDIT_STOPPED) return EXIT_SIGNAL + interrupt_signal();
    return complain(EXIT_TROUBLE, "reading standard input: %s",
                    t->editor.message);
}

static int ask_translate(struct learn_dialog *t, const struct input_line *line)
{
    skmt_error err;

    if (learn_translate(t->c, line->text, line->len, &err))
        return learn_failed(t->c, &err);
    return EXIT_DONE;
}

static int undo(struct learn_dialog *t, bool *done);

/* One answer. *given: it is one; false: ask again, beginning with *begin. */
static int take_answer(struct learn_dialog *t, const struct input_line *line,
                       char *answer, const char **begin, bool *given,
                       bool *done)
{
    const struct learn_outcome *is = &t->c->outcome;
    const char *target;
    enum verdict v = judge(t, answer, &target);
    int status;

    *given = v == LEAVE || (v == TAKE && store(t, line->text, target));
    if (*given)
        return answer_line(t, line, target,
                           v == TAKE && (is->added || is->replaced));
    *begin = answer;
    if (v != UNDO) return EXIT_DONE;
    if ((status = undo(t, done)) || *done) return status;
    if ((status = ask_translate(t, line))) return status;
    say_source(line);
    say_translation(t);
    *begin = editable(t);
    return *begin ? EXIT_DONE : ask_no_memory();
}

/* Ask until there is an answer that can be done. *done: the person ends. */
static int ask_line(struct learn_dialog *t, const struct input_line *line,
                    bool *done)
{
    const char *prompt = t->editor.plain ? "correction> " : "= ";
    const char *begin = editable(t);
    bool given = false;
    int status = begin ? EXIT_DONE : ask_no_memory();

    while (!status && !given && !*done) {
        char *answer;
        enum edit_state st = editor_line(&t->editor, prompt, begin, &answer);

        if (st == EDIT_END) *done = true;
        else if (st != EDIT_LINE) status = learn_ask_stopped(t, st);
        else status = take_answer(t, line, answer, &begin, &given, done);
    }
    return status;
}

/* Take the last answer back and ask for its line again. */
static int undo(struct learn_dialog *t, bool *done)
{
    struct answered was;
    int status = take_back(t, &was);

    if (!status && was.exists) {
        status = ask_translate(t, &was.line);
        if (!status) {
            say_source(&was.line);
            say_translation(t);
            status = ask_line(t, &was.line, done);
        }
        /* Without an answer it is not in the output; nor is what follows. */
        if (t->last.exists && was.blank.len)
            textbuf_add(&t->last.blank, was.blank.data, was.blank.len);
    }
    answered_release(&was);
    return status;
}

/* A line that brings its correction along needs no answer. */
static int learn_ask_take_given(struct learn_dialog *t,
                                const struct input_line *line,
                                const char *correction)
{
    const struct learn_outcome *is = &t->c->outcome;

    fprintf(stderr, "= %s\n", correction);
    if (!store(t, line->text, correction)) return EXIT_TROUBLE;
    return answer_line(t, line, correction, is->added || is->replaced);
}

static int talk_about(struct learn_dialog *t, struct input_line *line,
                      bool *done)
{
    char *correction;
    skmt_error err;
    int status = learn_split(t->c, line, &correction);

    *done = false;
    if (status) return t->typed ? EXIT_DONE : status;
    t->c->lines++;
    if (!line->len) return blank_line(t, line);
    if (learn_translate(t->c, line->text, line->len, &err)) {
        status = err.status == SKMT_TEXT || err.status == SKMT_LIMIT
                     ? learn_bad_line(t->c, line, err.message)
                     : learn_failed(t->c, &err);
        return t->typed && status == EXIT_TROUBLE ? EXIT_DONE : status;
    }
    if (!t->typed) say_source(line);
    say_translation(t);
    return correction ? learn_ask_take_given(t, line, correction)
                      : ask_line(t, line, done);
}

/* ---- all lines ---------------------------------------------------------- */

static enum edit_state type_source(struct learn_dialog *t,
                                   struct input_line *line)
{
    enum edit_state st = editor_line(&t->editor, "> ", "", &line->text);

    line->len = strlen(line->text);
    line->number++;
    return st;
}

/* A typed source, or a command in its place. The editor's text is gone when it
 * asks for the next: `source` keeps it. */
static int typed_line(struct learn_dialog *t, struct input_line *line,
                      struct textbuf *source, bool *done)
{
    bool wants_undo;

    if (line->text[0] == '/') learn_ask_trim_end(line->text);
    if (is_command(t, line->text, &wants_undo))
        return wants_undo ? undo(t, done) : EXIT_DONE;
    line->text = unescaped(line->text);
    line->len = strlen(line->text);
    textbuf_reset(source);
    textbuf_add(source, line->text, line->len + 1);
    if (source->failed) return ask_no_memory();
    line->text = source->data;
    return talk_about(t, line, done);
}

static int typed_lines(struct learn_dialog *t)
{
    struct input_line line = { .file = "standard input" };
    struct textbuf source = { 0 };
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        enum edit_state st = type_source(t, &line);

        if (st == EDIT_END) break;
        status = st == EDIT_LINE ? typed_line(t, &line, &source, &done)
                                 : learn_ask_stopped(t, st);
    }
    textbuf_release(&source);
    return status;
}

static int file_lines(struct learn_dialog *t)
{
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        struct input_line line;
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
    struct learn_dialog t = { .c = c };
    int status, written;

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
    written = write_last(&t);
    lines_close(&t.in);
    editor_release(&t.editor);
    textbuf_release(&t.shown);
    say_end(&t);
    return status ? status : written;
}
