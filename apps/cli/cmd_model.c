/* cmd_model.c - skmt model: finds the subcommand, parses its command line and
 * runs it. The options of a subcommand are listed with its help page in
 * model_help.c. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/nearest.h"
#include "model_call.h"

static const struct model_subcommand {
    const char *name;
    model_run_fn *run;
    int min_operands, max_operands;     /* -1: any number */
    const char *required;       /* the required operands, for a message */
} model_subcommands[] = {
    { "list", cmd_model_list, 0, 0, "" },
    { "add", cmd_model_add, 1, -1, "PATH" },
    { "remove", cmd_model_remove, 1, -1, "NAME" },
    { "default", cmd_model_default, 0, 1, "" },
    { NULL, NULL, 0, 0, NULL }
};

bool model_has_option(const struct model_call *c, const char *name)
{
    for (int i = 0; i < c->n_typed; i++)
        if (!strcmp(c->typed[i].name, name)) return true;
    return false;
}

const char *model_value(const struct model_call *c, const char *name)
{
    for (int i = c->n_typed; i-- > 0;)
        if (!strcmp(c->typed[i].name, name)) return c->typed[i].value;
    return NULL;
}

int model_failed(const skmt_error *err)
{
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

static int cmd_model_unknown(const char *word)
{
    struct nearest near;
    const char *best;

    nearest_begin(&near, word);
    for (const struct model_subcommand *s = model_subcommands; s->name; s++)
        nearest_offer(&near, s->name);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "unknown command 'model %s'; did you mean "
                        "'model %s'?", word, best);
    return complain(EXIT_USAGE, "unknown command 'model %s'; see 'skmt help "
                    "model'", word);
}

static int check_model_operands(const struct model_call *c,
                                const struct model_subcommand *s)
{
    if (c->n_operands < s->min_operands)
        return complain(EXIT_USAGE, "%s needs %s; see 'skmt help %s'",
                        c->command, s->required, c->command);
    if (s->max_operands >= 0 && c->n_operands > s->max_operands)
        return complain(EXIT_USAGE, "%s: unexpected operand '%s'; see 'skmt "
                        "help %s'", c->command, c->operands[s->max_operands],
                        c->command);
    return EXIT_DONE;
}

static int parse_model_call(struct model_call *c,
                            const struct model_subcommand *s, int argc,
                            char **argv)
{
    struct args a = { .command = c->command, .own = help_find(c->command)->own,
                      .argc = argc, .argv = argv };
    enum arg what;

    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        assert(c->n_operands + c->n_typed < argc);
        if (what == ARG_OPERAND) c->operands[c->n_operands++] = a.value;
        else c->typed[c->n_typed++] = (struct model_option){ a.name, a.value };
    }
    return model_has_option(c, "help") ? EXIT_DONE : check_model_operands(c, s);
}

static int run_model_call(struct model_call *c,
                          const struct model_subcommand *s)
{
    if (model_has_option(c, "help")) return help_command(c->command);
    c->store = model_folders_open();
    return c->store ? s->run(c) : EXIT_TROUBLE;
}

static int run_model_subcommand(const struct model_subcommand *s, int argc,
                                char **argv)
{
    char command[32];
    struct model_call c = { .command = command };
    int status;

    snprintf(command, sizeof command, "model %s", s->name);
    assert(help_find(command));         /* every subcommand has a page */
    c.operands = calloc((size_t)argc + 1, sizeof *c.operands);
    c.typed = calloc((size_t)argc + 1, sizeof *c.typed);
    if (!c.operands || !c.typed)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = parse_model_call(&c, s, argc, argv)))
        status = run_model_call(&c, s);
    skmt_store_close(c.store);
    free(c.typed);
    free(c.operands);
    return status;
}

int cmd_model(int argc, char **argv)
{
    if (argc < 2) {
        help_command("model");
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_command("model");
    for (const struct model_subcommand *s = model_subcommands; s->name; s++)
        if (!strcmp(argv[1], s->name))
            return run_model_subcommand(s, argc - 1, argv + 1);
    return cmd_model_unknown(argv[1]);
}
