/* cmd_align.c - skmt align: parses the options and opens the files.
 * align_pairs.c does the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align_call.h"
#include "cli.h"
#include "common/args.h"
#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/record.h"
#include "common/steering.h"
#include "common/wholefile.h"
#include "help.h"

/* ---- options ------------------------------------------------------------ */

static int set_print(struct align_call *c, const char *value)
{
    static const char *const words[] = { "numbers", "words", "tokens",
                                         "none" };

    for (int i = 0; i < 4; i++)
        if (!strcmp(words[i], value)) {
            c->print = (enum align_print)i;
            return EXIT_DONE;
        }
    return complain(EXIT_USAGE, "--print: '%s' is not numbers, words, "
                    "tokens or none", value);
}

static int set_align_option(struct align_call *c, const struct args *a)
{
    if (args_is(a, "output")) c->output = a->value;
    else if (args_is(a, "save")) c->save = a->value;
    else if (args_is(a, "load")) c->load = a->value;
    else if (args_is(a, "evaluate")) c->evaluate = a->value;
    else if (args_is(a, "memory")) c->memory = a->value;
    else if (args_is(a, "name")) c->memory_name = a->value;
    else if (args_is(a, "pieces")) c->model_name = a->value;
    else if (args_is(a, "tokenized")) c->tokenized = true;
    else if (args_is(a, "keep-case")) c->keep_case = true;
    else if (args_is(a, "json")) c->json = true;
    else if (args_is(a, "quiet")) c->quiet = true;
    else if (args_is(a, "help")) c->help = true;
    else if (args_is(a, "print")) return set_print(c, a->value);
    else c->settings[c->n_settings++] =
             (struct align_setting){ a->name, a->value };
    return EXIT_DONE;
}

static bool has_setting(const struct align_call *c, const char *name)
{
    for (int i = 0; i < c->n_settings; i++)
        if (!strcmp(c->settings[i].name, name)) return true;
    return false;
}

/* Options of the training that have no effect with --load. */
static const char *useless_with_load(const struct align_call *c)
{
    static const char *const names[] = { "iterations", "alpha", "null-prob",
                                         "tension", "threads" };

    if (c->save) return "save";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_setting(c, names[i])) return names[i];
    return NULL;
}

static int check_align_input(const struct align_call *c)
{
    int n = 0;

    if (!c->n_files && !c->memory)
        return complain(EXIT_USAGE, "align needs PAIRS or --memory FILE; see "
                        "'skmt help align'");
    if (c->memory_name && !c->memory)
        return complain(EXIT_USAGE, "--name needs --memory FILE");
    if (has_setting(c, "header") && has_setting(c, "no-header"))
        return complain(EXIT_USAGE, "--header and --no-header cannot be used "
                        "together");
    for (int i = 0; i < c->n_files; i++) n += !strcmp(c->files[i], "-");
    if (c->evaluate) n += !strcmp(c->evaluate, "-");
    if (n > 1)
        return complain(EXIT_USAGE, "standard input ('-') can be read only "
                        "once");
    return EXIT_DONE;
}

static int check_align_options(struct align_call *c)
{
    int status = check_align_input(c);

    if (status) return status;
    if (c->model_name && (c->tokenized || c->keep_case))
        return complain(EXIT_USAGE, "--pieces and --%s cannot be used together",
                        c->tokenized ? "tokenized" : "keep-case");
    if (c->load && useless_with_load(c))
        return complain(EXIT_USAGE, "--load and --%s cannot be used together: "
                        "there is no training", useless_with_load(c));
    if (c->print != ALIGN_PRINT_NUMBERS && c->json)
        return complain(EXIT_USAGE, "--print and --json cannot be used "
                        "together");
    if (c->print == ALIGN_PRINT_TOKENS && (c->evaluate || c->save || c->load))
        return complain(EXIT_USAGE, "--print tokens does not align: it cannot "
                        "be used with --evaluate, --save or --load");
    if (c->print == ALIGN_PRINT_NONE && c->output)
        return complain(EXIT_USAGE, "--print none and --output cannot be used "
                        "together");
    /* With --evaluate, --json is for the scores, and -o has numbers. */
    if (c->json && !c->evaluate) c->print = ALIGN_PRINT_JSON;
    return EXIT_DONE;
}

static int parse_align(struct align_call *c, int argc, char **argv)
{
    struct args a = { .command = "align", .own = align_options,
                      .argc = argc, .argv = argv };
    int status = EXIT_DONE;
    enum arg what;

    while (!status && !c->help && (what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND) c->files[c->n_files++] = a.value;
        else status = set_align_option(c, &a);
    }
    return status || c->help ? status : check_align_options(c);
}

static void record_align_defaults(const struct align_call *c)
{
    static const struct align_setting defaults[] = {
        { "method", "grow-diag-final-and" }, { "iterations", "5" },
        { "alpha", "0.01" }, { "null-prob", "0.08" }, { "tension", "4" },
        { "threads", "1" }, { "source-column", "1" }, { "target-column", "2" }
    };

    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!has_setting(c, defaults[i].name))
            record_value(defaults[i].name, defaults[i].value);
    if (c->print == ALIGN_PRINT_NUMBERS) record_value("print", "numbers");
}

/* ---- settings of the library -------------------------------------------- */

static bool is_aligner_setting(const char *name)
{
    static const char *const names[] = { "method", "iterations", "alpha",
                                         "null-prob", "tension", "threads" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* The other settings are those of an import. */
static int apply_settings(struct align_call *c)
{
    skmt_error err;

    for (int i = 0; i < c->n_settings; i++) {
        const char *name = c->settings[i].name, *value = c->settings[i].value;
        skmt_status st;

        if (is_aligner_setting(name))
            st = skmt_aligner_set(c->aligner, name, value, &err);
        else
            st = skmt_import_set(c->import, name, value ? value : "yes", &err);
        if (st) return complain(EXIT_USAGE, "--%s", err.message);
    }
    return EXIT_DONE;
}

static int make_aligner(struct align_call *c)
{
    skmt_error err;
    skmt_status st;

    if (c->model_name) {
        int status = model_find(&c->model, c->model_name, NULL, NULL);

        if (status) return status;
    }
    st = skmt_aligner_new(&c->aligner, c->model, &err);
    if (!st && c->tokenized)
        st = skmt_aligner_set(c->aligner, "split", "spaces", &err);
    if (!st && c->keep_case)
        st = skmt_aligner_set(c->aligner, "case", "keep", &err);
    if (!st) st = skmt_import_new(&c->import, &err);
    if (st) return align_failed(c, &err);
    skmt_aligner_on_progress(c->aligner, align_show_progress, c);
    skmt_aligner_on_iteration(c->aligner, align_report, c);
    return apply_settings(c);
}

/* ---- files -------------------------------------------------------------- */

/* A file that is opened for writing leaves no SQLite files beside it. */
static int open_align_memory(struct align_call *c)
{
    int status = memory_must_exist(c->memory);
    skmt_error err;

    if (status) return status;
    if ((access(c->memory, W_OK) ||
         skmt_tm_open(&c->tm, c->memory, SKMT_TM_WRITE, NULL)) &&
        skmt_tm_open(&c->tm, c->memory, SKMT_TM_READ, &err))
        return align_failed(c, &err);
    record_memory(c->memory, c->tm);
    return EXIT_DONE;
}

/* Open or check all files before the work begins, so that a wrong name is
 * reported at once. */
static int open_align_files(struct align_call *c)
{
    skmt_error err;
    skmt_status st = SKMT_OK;
    int status = EXIT_DONE;

    if (c->memory) status = open_align_memory(c);
    if (!status && c->save) status = whole_file_check(c->save);
    if (!status && c->output && strcmp(c->output, "-"))
        status = whole_file_check(c->output);
    if (status) return status;
    if (c->load) st = skmt_aligner_load(c->aligner, c->load, &err);
    if (!st && c->evaluate) st = skmt_gold_open(&c->gold, c->evaluate, &err);
    return st ? align_failed(c, &err) : EXIT_DONE;
}

/* ---- the command -------------------------------------------------------- */

static int run_align(struct align_call *c)
{
    int status;

    record_align_defaults(c);
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    status = make_aligner(c);
    if (!status) status = open_align_files(c);
    if (status) return status;
    interrupt_set_polled(true);
    return align_pairs(c);
}

static void align_call_release(struct align_call *c)
{
    skmt_output_close(c->out);
    skmt_gold_close(c->gold);
    record_memory(c->memory, c->tm);
    skmt_tm_close(c->tm);
    skmt_import_free(c->import);
    skmt_aligner_free(c->aligner);
    skmt_model_close(c->model);
    textbuf_release(&c->kept);
    textbuf_release(&c->line);
    free(c->settings);
    free(c->files);
}

int cmd_align(int argc, char **argv)
{
    struct align_call c = { 0 };
    int status;

    c.files = calloc((size_t)argc + 1, sizeof *c.files);
    c.settings = calloc((size_t)argc + 1, sizeof *c.settings);
    if (!c.files || !c.settings)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = parse_align(&c, argc, argv)))
        status = c.help ? help_command("align") : run_align(&c);
    align_call_release(&c);
    interrupt_set_polled(false);
    return status;
}
