/* cmd_knn.c - skmt knn: finds the subcommand, parses its command line and runs
 * it.
 *
 * The options of a subcommand are listed with its help page in knn_help.c. The
 * table below has its function and the number of its operands. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/interrupt.h"
#include "common/nearest.h"
#include "common/record.h"
#include "help.h"
#include "knn_call.h"

static const struct knn_subcommand {
    const char *name;
    knn_run_fn *run;
    int min_operands, max_operands;     /* -1: any number */
    const char *required;       /* the required operands, for a message */
} knn_subcommands[] = {
    { "build", cmd_knn_build, 0, 0, "" },
    { "add", cmd_knn_add, 1, -1, "STORE" },
    { "index", cmd_knn_index, 0, 0, "" },
    { "delete", cmd_knn_delete, 1, 1, "STORE" },
    { "check", cmd_knn_check, 1, 1, "STORE" },
    { "info", cmd_knn_info, 1, 1, "FILE" },
    { "sample", cmd_knn_sample, 1, 1, "STORE" },
    { "compact", cmd_knn_compact, 1, 1, "STORE" },
    { "reduce", cmd_knn_reduce, 1, 1, "STORE" },
    { "merge", cmd_knn_merge, 1, 1, "STORE" },
    { "train", cmd_knn_train, 0, 0, "" },
    { "involved", cmd_knn_involved, 0, -1, "" },
    { NULL, NULL, 0, 0, NULL }
};

static int cmd_knn_unknown(const char *word)
{
    struct nearest near;
    const char *best;

    nearest_begin(&near, word);
    for (const struct knn_subcommand *s = knn_subcommands; s->name; s++)
        nearest_offer(&near, s->name);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "unknown command 'knn %s'; did you mean "
                        "'knn %s'?", word, best);
    return complain(EXIT_USAGE, "unknown command 'knn %s'; see 'skmt help "
                    "knn'", word);
}

static int check_knn_operands(const struct knn_call *c,
                              const struct knn_subcommand *s)
{
    if (c->n_operands < s->min_operands ||
        (s->min_operands && !c->operands[0][0]))
        return complain(EXIT_USAGE, "%s needs %s; see 'skmt help %s'",
                        c->command, s->required, c->command);
    if (s->max_operands >= 0 && c->n_operands > s->max_operands)
        return complain(EXIT_USAGE, "%s: unexpected operand '%s'; see "
                        "'skmt help %s'", c->command,
                        c->operands[s->max_operands], c->command);
    return EXIT_DONE;
}

/* Set the library's options: first those of --settings, then those of the
 * command line. */
static int set_knn_engine(struct knn_call *c, struct args a)
{
    int status;

    c->steering.settings = knn_value(c, "settings");
    c->steering.datastore = knn_value(c, "datastore");
    status = steering_settings(&c->steering, c->options);
    if (!status) status = args_set_engine(a, c->options);
    return status ? status
                  : steering_choose_system(&c->steering, c->options);
}

static int cmd_knn_parse(struct knn_call *c, const struct knn_subcommand *s,
                         const struct page *page, int argc, char **argv)
{
    struct args a = { .command = c->command, .own = page->own,
                      .describe = page->describe, .argc = argc,
                      .argv = argv };
    const struct args unparsed = a;
    enum arg what;
    int status;

    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        assert(c->n_operands + c->n_typed < argc);
        if (what == ARG_OPERAND) c->operands[c->n_operands++] = a.value;
        else if (what == ARG_OWN)
            c->typed[c->n_typed++] = (struct knn_option){ a.name, a.value };
    }
    c->json = knn_has_option(c, "json");
    c->quiet = knn_has_option(c, "quiet");
    if (knn_has_option(c, "help")) return EXIT_DONE;
    status = check_knn_operands(c, s);
    return status || !page->describe ? status : set_knn_engine(c, unparsed);
}

static void knn_call_release(struct knn_call *c)
{
    skmt_datastore_maker_free(c->maker);
    skmt_knn_trainer_free(c->trainer);
    skmt_datastore_close(c->ds);
    skmt_import_free(c->import);
    record_memory(c->tm_path, c->tm);
    skmt_tm_close(c->tm);
    steering_close(&c->steering);
    skmt_model_close(c->model);
    skmt_options_free(c->options);
    interrupt_set_polled(false);
    textbuf_release(&c->out);
    free(c->typed);
    free(c->operands);
}

static int run_knn(const struct knn_subcommand *s, int argc, char **argv)
{
    char command[64];
    struct knn_call c = { .command = command };
    int status;

    snprintf(command, sizeof command, "knn %s", s->name);
    c.operands = calloc((size_t)argc + 1, sizeof *c.operands);
    c.typed = calloc((size_t)argc + 1, sizeof *c.typed);
    skmt_options_new(&c.options, NULL);
    assert(help_find(command));         /* every subcommand has a page */
    if (!c.operands || !c.typed || !c.options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = cmd_knn_parse(&c, s, help_find(command), argc, argv)))
        status = knn_has_option(&c, "help") ? help_command(command)
                                            : s->run(&c);
    knn_call_release(&c);
    return status;
}

int cmd_knn(int argc, char **argv)
{
    if (argc < 2) {
        help_command("knn");
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_command("knn");
    for (const struct knn_subcommand *s = knn_subcommands; s->name; s++)
        if (!strcmp(argv[1], s->name)) return run_knn(s, argc - 1, argv + 1);
    return cmd_knn_unknown(argv[1]);
}
