/* learn_ask.c - skmt learn at a terminal: shows each translation to a person
 * and stores the corrected text.
 *
 * The dialog is written to stderr. The output, unless it is the terminal, gets
 * the corrected texts, one line for each source.
 *
 * /undo removes the last answer and asks for its line again. A line that was
 * written to a pipe cannot be removed. Therefore the output of the last
 * answer is held until the next answer is given or the dialog ends, and blank
 * lines after it are held as well.
 *
 * Invariant: if dialog.last.exists, its line.text points to its own copy of the
 * source, and its output has not been written. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/interrupt.h"
#include "editor.h"
#include "learn_call.h"
#include "tm_print.h"

struct answered_line {          /* the last line with an answer */
    bool exists;
    bool changed_memory;        /* the answer changed the memory; undo must
                                   reverse it */
    struct input_line line;     /* its text is `source` */
    struct textbuf source;      /* with a NUL */
    struct textbuf output;      /* the line of output, not yet written */
    struct textbuf blank_lines; /* the blank lines after it */
};

struct learn_dialog {
    struct learn_call *c;
    struct editor editor;
    struct lines in;            /* sources from files */
    bool types_sources;         /* the person types the sources, too */
    struct answered_line last;
    struct textbuf initial;     /* the text that the editor begins with */
};

enum answer_kind {
    ANSWER_STORE,               /* store a text */
    ANSWER_SKIP,                /* go on without storing */
    ANSWER_UNDO,
    ANSWER_REPEAT               /* a command was handled; ask again */
};

/* ---- messages ----------------------------------------------------------- */

static void print_dialog_help(const struct learn_dialog *d)
{
    fputs(d->editor.plain
          ? "Press Enter to store the translation, or type the text to store "
            "instead of it.\nType - to store nothing.\n"
          : "Edit the translation and press Enter to store it. To store "
            "nothing, enter an\nempty line or -.\n", stderr);
    fputs("Commands: /undo removes the last answer and asks for it again, "
          "/help shows this\ntext. Ctrl-D ends the dialog. If a text begins "
          "with /, type // instead of /.\n", stderr);
}

static void print_source(const struct input_line *line)
{
    fprintf(stderr, "\n%s:%llu  %s\n", line->file,
            (unsigned long long)line->number, line->text);
}

/* Print a text with control characters made visible. */
static void print_visible(const char *text)
{
    struct textbuf line = { 0 };

    put_visible(&line, text, strlen(text));
    if (!line.failed) fwrite(line.data, 1, line.len, stderr);
    textbuf_release(&line);
}

/* Print the other translations of sentences whose stored translation was
 * reused. */
static void print_alternatives(const struct learn_dialog *d)
{
    const skmt_result *r = d->c->result;

    for (int sentence = 0; sentence < skmt_result_sentences(r); sentence++) {
        skmt_found_pair s = SKMT_INIT(skmt_found_pair);

        skmt_result_pair(r, sentence, 0, &s);
        for (int i = 1; s.exact && i < skmt_result_pairs(r, sentence); i++) {
            skmt_found_pair other = SKMT_INIT(skmt_found_pair);

            skmt_result_pair(r, sentence, i, &other);
            fprintf(stderr, "(another stored translation, pair %lld of %s: ",
                    (long long)other.id, other.memory);
            print_visible(other.target);
            fputs(")\n", stderr);
        }
    }
}

/* Print how similar the best pair of the memory is; with a plain editor, also
 * print the translation. */
static void print_translation(const struct learn_dialog *d)
{
    bool exact;
    double similarity = learn_similarity(d->c, &exact);

    if (exact) {
        fputs("(stored translation of the same sentence)\n", stderr);
        print_alternatives(d);
    }
    if (!exact && similarity > 0)
        fprintf(stderr, "(the most similar stored sentence: %d%%)\n",
                similarity_percent(similarity));
    if (d->editor.plain) fprintf(stderr, "%s\n", d->c->text.data);
}

static int print_dialog_summary(const struct learn_dialog *d)
{
    fprintf(stderr, "%llu %s stored in %s\n",
            (unsigned long long)d->c->n_stored,
            d->c->n_stored == 1 ? "pair" : "pairs", d->c->steering.memory);
    return EXIT_DONE;
}

/* ---- one answer --------------------------------------------------------- */

static void learn_ask_trim_end(char *text)
{
    size_t n = strlen(text);

    while (n && strchr(" \t", text[n - 1])) text[--n] = 0;
}

/* Whether the text is a command, "/word". /help and unknown commands are
 * handled here; for /undo, *undo is set. */
static bool handle_command(const struct learn_dialog *d, const char *text,
                           bool *undo)
{
    *undo = !strcmp(text, "/undo");
    if (text[0] != '/' || text[1] == '/') return false;
    if (!strcmp(text, "/help"))
        print_dialog_help(d);
    else if (!*undo)
        fprintf(stderr, "unknown command '%.*s'; the commands are /undo and "
                "/help; if a text begins with /, type // instead of /\n",
                (int)strcspn(text, " \t"), text);
    return true;
}

/* Convert "//text", as it is typed, to "/text". */
static char *unescape_slash(char *text)
{
    return text[0] == '/' && text[1] == '/' ? text + 1 : text;
}

/* Interpret an answer. For ANSWER_STORE, *target is set to the text to store;
 * for ANSWER_SKIP, to the translation. Otherwise it is not set. */
static enum answer_kind parse_answer(const struct learn_dialog *d,
                                     char *answer, const char **target)
{
    bool undo;

    learn_ask_trim_end(answer);
    if (handle_command(d, answer, &undo))
        return undo ? ANSWER_UNDO : ANSWER_REPEAT;
    *target = d->c->text.data;
    if (!strcmp(answer, "-")) return ANSWER_SKIP;
    if (!*answer)
        return d->editor.plain && **target ? ANSWER_STORE : ANSWER_SKIP;
    *target = unescape_slash(answer);
    return ANSWER_STORE;
}

/* Return the translation as the initial text of the editor, with a leading
 * slash escaped. Return NULL if out of memory. */
static const char *initial_text(struct learn_dialog *d)
{
    const char *text = d->c->text.data;

    textbuf_reset(&d->initial);
    if (text[0] == '/') textbuf_adds(&d->initial, "/");
    textbuf_add(&d->initial, text, strlen(text) + 1);
    return d->initial.failed ? NULL : d->initial.data;
}

/* Store a pair and report it. Returns false if that failed, for example
 * because of a full disk or invalid UTF-8; the person may try again. */
static bool store_answer(struct learn_dialog *d, const char *source,
                         const char *target)
{
    const struct learn_outcome *o = &d->c->outcome;
    skmt_error err;

    if (learn_store(d->c, source, target, &err)) {
        complain(0, "not stored: %s", err.message);
        return false;
    }
    fprintf(stderr, o->added ? "stored as pair %lld"
                             : "already stored as pair %lld",
            (long long)o->id);
    if (o->n_replaced)
        fprintf(stderr, "; it replaces %d other translation%s",
                o->n_replaced, o->n_replaced == 1 ? "" : "s");
    fputc('\n', stderr);
    return true;
}

/* ---- the last answer ---------------------------------------------------- */

static int ask_out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

static void answered_release(struct answered_line *a)
{
    textbuf_release(&a->source);
    textbuf_release(&a->output);
    textbuf_release(&a->blank_lines);
    memset(a, 0, sizeof *a);
}

/* Write the output that was held. Its answer can no longer be undone. */
static int write_held_output(struct learn_dialog *d)
{
    struct answered_line *a = &d->last;
    int status = EXIT_DONE;

    assert(!a->exists || a->line.text == a->source.data);
    if (a->exists) status = learn_write_bytes(d->c, &a->output);
    if (!status) status = learn_write_bytes(d->c, &a->blank_lines);
    answered_release(a);
    return status;
}

static void ask_put_line(struct textbuf *t, const char *text, bool cr)
{
    textbuf_adds(t, text);
    textbuf_adds(t, cr ? "\r\n" : "\n");
}

/* Finish a line that has been answered: write the output of the answer before
 * it and hold the output of this one. */
static int finish_line(struct learn_dialog *d, const struct input_line *line,
                       const char *target, bool changed_memory)
{
    struct answered_line answer = { .exists = true,
                                    .changed_memory = changed_memory,
                                    .line = *line };
    int status;

    textbuf_add(&answer.source, line->text, line->len);
    textbuf_add(&answer.source, "", 1);
    ask_put_line(&answer.output, target, line->cr);
    status = answer.source.failed || answer.output.failed
                 ? ask_out_of_memory() : write_held_output(d);
    answer.line.text = answer.source.data;
    if (status) answered_release(&answer);
    else d->last = answer;
    return status;
}

static int finish_blank_line(struct learn_dialog *d,
                             const struct input_line *line)
{
    ask_put_line(&d->last.blank_lines, "", line->cr);
    if (d->last.blank_lines.failed) return ask_out_of_memory();
    return d->last.exists ? EXIT_DONE : write_held_output(d);
}

/* Undo the last answer and move it to *undone. */
static int undo_last(struct learn_dialog *d, struct answered_line *undone)
{
    struct learn_outcome o = d->c->last.outcome;
    skmt_error err;

    memset(undone, 0, sizeof *undone);
    if (!d->last.exists) {
        fputs("there is no answer to undo\n", stderr);
        return EXIT_DONE;
    }
    if (d->last.changed_memory) {
        if (learn_undo(d->c, &err)) return learn_failed(d->c, &err);
        if (o.added)
            fprintf(stderr, "undone: pair %lld removed\n", (long long)o.id);
        else
            fputs("undone: the replaced pairs are restored\n", stderr);
    }
    *undone = d->last;
    memset(&d->last, 0, sizeof d->last);
    return EXIT_DONE;
}

/* ---- one line ----------------------------------------------------------- */

static int learn_ask_stopped(const struct learn_dialog *d, enum edit_state st)
{
    if (st == EDIT_STOPPED) return EXIT_SIGNAL + interrupt_signal();
    return complain(EXIT_TROUBLE, "reading standard input: %s",
                    d->editor.message);
}

static int ask_translate(struct learn_dialog *d, const struct input_line *line)
{
    skmt_error err;

    if (learn_translate(d->c, line->text, line->len, &err))
        return learn_failed(d->c, &err);
    return EXIT_DONE;
}

static int undo_and_ask(struct learn_dialog *d, bool *done);

/* Carry out one answer. *finished is set to whether the line has its answer. If
 * it does not, the caller must ask again, with *begin as the initial text,
 * unless *done is set because the person ended the dialog. */
static int apply_answer(struct learn_dialog *d, const struct input_line *line,
                        char *answer, const char **begin, bool *finished,
                        bool *done)
{
    const struct learn_outcome *o = &d->c->outcome;
    const char *target;
    enum answer_kind kind = parse_answer(d, answer, &target);
    int status;

    *finished = kind == ANSWER_SKIP
                || (kind == ANSWER_STORE
                    && store_answer(d, line->text, target));
    if (*finished)
        return finish_line(d, line, target, kind == ANSWER_STORE
                           && (o->added || o->n_replaced));
    *begin = answer;
    if (kind != ANSWER_UNDO) return EXIT_DONE;
    if ((status = undo_and_ask(d, done)) || *done) return status;
    if ((status = ask_translate(d, line))) return status;
    print_source(line);
    print_translation(d);
    *begin = initial_text(d);
    return *begin ? EXIT_DONE : ask_out_of_memory();
}

/* Ask until the line has an answer. *done is set if the person ends the
 * dialog. */
static int ask_line(struct learn_dialog *d, const struct input_line *line,
                    bool *done)
{
    const char *prompt = d->editor.plain ? "correction> " : "= ";
    const char *begin = initial_text(d);
    bool finished = false;
    int status = begin ? EXIT_DONE : ask_out_of_memory();

    while (!status && !finished && !*done) {
        char *answer;
        enum edit_state st = editor_line(&d->editor, prompt, begin, &answer);

        if (st == EDIT_END) *done = true;
        else if (st != EDIT_LINE) status = learn_ask_stopped(d, st);
        else status = apply_answer(d, line, answer, &begin, &finished, done);
    }
    return status;
}

/* Undo the last answer and ask for its line again. */
static int undo_and_ask(struct learn_dialog *d, bool *done)
{
    struct answered_line undone;
    int status = undo_last(d, &undone);

    if (!status && undone.exists) {
        status = ask_translate(d, &undone.line);
        if (!status) {
            print_source(&undone.line);
            print_translation(d);
            status = ask_line(d, &undone.line, done);
        }
        /* If the line got no new answer, it is not written, and neither are
         * the blank lines after it. */
        if (d->last.exists && undone.blank_lines.len)
            textbuf_add(&d->last.blank_lines, undone.blank_lines.data,
                        undone.blank_lines.len);
    }
    answered_release(&undone);
    return status;
}

/* Store the correction of a line that came with one. */
static int store_given_correction(struct learn_dialog *d,
                                  const struct input_line *line,
                                  const char *correction)
{
    const struct learn_outcome *o = &d->c->outcome;

    fprintf(stderr, "= %s\n", correction);
    if (!store_answer(d, line->text, correction)) return EXIT_TROUBLE;
    return finish_line(d, line, correction, o->added || o->n_replaced);
}

/* Translate a line and get its correction. An error in a typed line is only
 * reported; an error in a line of a file ends the dialog. */
static int process_line(struct learn_dialog *d, struct input_line *line,
                        bool *done)
{
    char *correction;
    skmt_error err;
    int status = learn_split(d->c, line, &correction);

    *done = false;
    if (status) return d->types_sources ? EXIT_DONE : status;
    d->c->n_lines++;
    if (!line->len) return finish_blank_line(d, line);
    if (learn_translate(d->c, line->text, line->len, &err)) {
        status = err.status == SKMT_ERR_TEXT || err.status == SKMT_ERR_LIMIT
                     ? learn_bad_line(d->c, line, err.message)
                     : learn_failed(d->c, &err);
        return d->types_sources && status == EXIT_TROUBLE ? EXIT_DONE : status;
    }
    if (!d->types_sources) print_source(line);
    print_translation(d);
    return correction ? store_given_correction(d, line, correction)
                      : ask_line(d, line, done);
}

/* ---- all lines ---------------------------------------------------------- */

static enum edit_state read_typed_source(struct learn_dialog *d,
                                         struct input_line *line)
{
    enum edit_state st = editor_line(&d->editor, "> ", "", &line->text);

    line->len = strlen(line->text);
    line->number++;
    return st;
}

/* Process a typed source or command. The editor will overwrite the text, so it
 * is copied to `source`. */
static int process_typed_line(struct learn_dialog *d, struct input_line *line,
                              struct textbuf *source, bool *done)
{
    bool wants_undo;

    if (line->text[0] == '/') learn_ask_trim_end(line->text);
    if (handle_command(d, line->text, &wants_undo))
        return wants_undo ? undo_and_ask(d, done) : EXIT_DONE;
    line->text = unescape_slash(line->text);
    line->len = strlen(line->text);
    textbuf_reset(source);
    textbuf_add(source, line->text, line->len + 1);
    if (source->failed) return ask_out_of_memory();
    line->text = source->data;
    return process_line(d, line, done);
}

static int process_typed_lines(struct learn_dialog *d)
{
    struct input_line line = { .file = "standard input" };
    struct textbuf source = { 0 };
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        enum edit_state st = read_typed_source(d, &line);

        if (st == EDIT_END) break;
        status = st == EDIT_LINE
                     ? process_typed_line(d, &line, &source, &done)
                     : learn_ask_stopped(d, st);
    }
    textbuf_release(&source);
    return status;
}

static int process_file_lines(struct learn_dialog *d)
{
    bool done = false;
    int status = EXIT_DONE;

    while (!done && !status) {
        struct input_line line;
        enum lines_state st = lines_next(&d->in, true, &line);

        if (st == LINES_END) break;
        if (st == LINES_LINE) status = process_line(d, &line, &done);
        if (st == LINES_FAILED)
            status = complain(EXIT_TROUBLE, "%s", d->in.message);
        if (st == LINES_STOPPED || interrupt_signal())
            status = EXIT_SIGNAL + interrupt_signal();
    }
    return status;
}

int learn_ask(struct learn_call *c)
{
    struct learn_dialog d = { .c = c };
    int status, written;

    for (int i = 0; i < c->n_files; i++)
        if (!strcmp(c->files[i], "-")) d.types_sources = true;
    if (d.types_sources && c->n_files > 1)
        return complain(EXIT_USAGE, "'-' cannot be one of several files when "
                        "standard input is a terminal");
    if (isatty(c->fd)) c->fd = -1;      /* the dialog already shows the text */
    editor_init(&d.editor, interrupt_fd());
    lines_open(&d.in, c->files, c->n_files, interrupt_fd());
    print_dialog_help(&d);
    status = d.types_sources ? process_typed_lines(&d)
                             : process_file_lines(&d);
    written = write_held_output(&d);
    lines_close(&d.in);
    editor_release(&d.editor);
    textbuf_release(&d.initial);
    print_dialog_summary(&d);
    return status ? status : written;
}
