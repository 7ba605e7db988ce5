/* second.c - a second program on top of apps/common, which shows that a program
 * other than skmt can use it: it parses a table of options, reads lines, and
 * writes a JSON object for each of them. tests/cli/common.t runs it.
 *
 * It is linked with libcommon.a and libskmt.a only, as a server would be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "common/lines.h"
#include "common/option_help.h"
#include "common/program.h"
#include "common/record.h"
#include "common/steering.h"

struct call {
    const char *label;          /* may be NULL */
    bool help;
    const char **files;         /* [n_files] */
    int n_files;
    struct steering steering;
    skmt_options *options;
};

static const struct opt own_options[] = {
    { "label", 'l', "TEXT", "add this label to every object" },
    STEERING_OPTIONS,
    HELP_OPTION,
    NO_MORE_OPTIONS
};

static int take_argument(void *user, enum arg what, const struct args *a)
{
    struct call *c = user;
    int status = EXIT_DONE;

    if (what == ARG_OPERAND) c->files[c->n_files++] = a->value;
    else if (steering_option(&c->steering, a, &status)) return status;
    else if (args_is(a, "label")) c->label = a->value;
    else if (args_is(a, "help")) c->help = true;
    return EXIT_DONE;
}

static int parse(struct call *c, int argc, char **argv)
{
    struct args a = { .own = own_options, .describe = steered_option_describe,
                      .argc = argc, .argv = argv };
    int status = args_parse_own(a, take_argument, c);

    if (!c->n_files) c->files[c->n_files++] = "-";
    if (!status) status = steering_settings(&c->steering, c->options);
    return status ? status : args_set_engine(a, c->options);
}

static void put_line(const struct call *c, const struct input_line *line,
                     struct textbuf *t)
{
    textbuf_reset(t);
    jput_object(t);
    jput_text_field(t, "file", line->file);
    jput_int_field(t, "line", (int64_t)line->number);
    if (c->label) jput_text_field(t, "label", c->label);
    jput_text_field(t, "beam", skmt_options_get(c->options, "beam"));
    jput_key(t, "text");
    jput_string(t, line->text, line->len);
    jput_line_end(t);
    fwrite(t->data, 1, t->len, stdout);
    fflush(stdout);
}

static int put_lines(const struct call *c)
{
    struct lines in;
    struct input_line line;
    struct textbuf t = { 0 };
    enum lines_state st;

    lines_open(&in, c->files, c->n_files, interrupt_fd());
    while ((st = lines_next(&in, true, &line)) == LINES_LINE)
        put_line(c, &line, &t);
    if (st == LINES_FAILED) complain(0, "%s", in.message);
    lines_close(&in);
    textbuf_release(&t);
    if (st == LINES_STOPPED) return EXIT_SIGNAL + interrupt_signal();
    return st == LINES_END ? EXIT_DONE : EXIT_TROUBLE;
}

static int print_help(void)
{
    puts("Usage: second [OPTIONS] [FILE ...]\n\nOptions:");
    option_help_own(own_options);
    return EXIT_DONE;
}

static int run(struct call *c, int argc, char **argv)
{
    int status;

    if (!c->files || !c->options)
        return complain(EXIT_TROUBLE, "out of memory");
    status = parse(c, argc, argv);
    if (status || c->help) return status ? status : print_help();
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    interrupt_set_polled(true);
    return put_lines(c);
}

int main(int argc, char **argv)
{
    struct call c = { .files = calloc((size_t)argc + 1, sizeof *c.files) };
    int status;

    if (!program_start("second")) return EXIT_TROUBLE;
    skmt_options_new(&c.options, NULL);
    interrupt_catch_faults();
    record_start(argc, argv);
    status = program_finish(run(&c, argc, argv));
    steering_close(&c.steering);
    status = record_finish(status);
    skmt_options_free(c.options);
    free(c.files);
    return status;
}
