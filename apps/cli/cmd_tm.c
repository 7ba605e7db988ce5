/* cmd_tm.c - skmt tm: finds the subcommand, parses its command line and runs
 * it.
 *
 * The options of a subcommand are listed with its help page in tm_help.c. The
 * table below has its function and the number of its operands. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/interrupt.h"
#include "common/nearest.h"
#include "common/record.h"
#include "tm_call.h"

static const struct subcommand {
    const char *name;
    tm_run_fn *run;
    int min_operands, max_operands;     /* after MEM; -1: any number */
    const char *required;       /* the required operands, for a message */
} subcommands[] = {
    { "create", cmd_tm_create, 0, 0, "MEM" },
    { "import", cmd_tm_import, 1, -1, "MEM and FILE" },
    { "search", cmd_tm_search, 0, -1, "MEM" },
    { "add", cmd_tm_add, 0, 2, "MEM" },
    { "edit", cmd_tm_edit, 1, 1, "MEM and ID" },
    { "delete", cmd_tm_delete, 0, -1, "MEM" },
    { "show", cmd_tm_show, 1, 1, "MEM and ID" },
    { "export", cmd_tm_export, 0, 0, "MEM" },
    { "stats", cmd_tm_stats, 0, 0, "MEM" },
    { "list", cmd_tm_list, 0, 0, "MEM" },
    { "set", cmd_tm_set, 0, 0, "MEM" },
    { "drop", cmd_tm_drop, 0, 0, "MEM" },
    { "check", cmd_tm_check, 0, 0, "MEM" },
    { "rebuild", cmd_tm_rebuild, 0, 0, "MEM" },
    { "compact", cmd_tm_compact, 0, 0, "MEM" },
    { "recover", cmd_tm_recover, 1, 1, "OLD and NEW" },
    { "warm", cmd_tm_warm, 0, 0, "MEM" },
    { NULL, NULL, 0, 0, NULL }
};

static int cmd_tm_unknown(const char *word)
{
    struct nearest near;
    const char *best;

    nearest_begin(&near, word);
    for (const struct subcommand *s = subcommands; s->name; s++)
        nearest_offer(&near, s->name);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "unknown command 'tm %s'; did you mean "
                        "'tm %s'?", word, best);
    return complain(EXIT_USAGE, "unknown command 'tm %s'; see 'skmt help tm'",
                    word);
}

static void add_tm_option(struct tm_call *c, const struct args *a)
{
    struct tm_option *o = &c->typed_options[c->n_typed++];

    o->name = a->name;
    o->value = a->value;
    if (args_is(a, "json")) c->json = true;
}

static void add_tm_operand(struct tm_call *c, const char *word)
{
    if (!c->path) c->path = word;
    else c->operands[c->n_operands++] = word;
}

static int check_operands(const struct tm_call *c, const struct subcommand *s)
{
    if (!c->path || !c->path[0] || c->n_operands < s->min_operands)
        return complain(EXIT_USAGE, "%s needs %s; see 'skmt help %s'",
                        c->command, s->required, c->command);
    if (s->max_operands >= 0 && c->n_operands > s->max_operands)
        return complain(EXIT_USAGE, "%s: unexpected operand '%s'; see "
                        "'skmt help %s'", c->command,
                        c->operands[s->max_operands], c->command);
    return EXIT_DONE;
}

/* Set the library's options to the defaults of this subcommand, which may
 * differ from the library's. */
static int cmd_tm_set_defaults(struct tm_call *c, describe_fn *describe)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);
    skmt_error err;

    for (int i = 0; describe && describe(i, &info); i++)
        if (skmt_options_set(c->options, info.name, info.fallback, &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

static int cmd_tm_parse(struct tm_call *c, const struct subcommand *s,
                        const struct page *page, int argc, char **argv)
{
    struct args a = { .command = c->command, .own = page->own,
                      .describe = page->describe, .argc = argc,
                      .argv = argv };
    int status = cmd_tm_set_defaults(c, page->describe);
    skmt_error err;
    enum arg what;

    if (status) return status;
    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        assert(c->n_operands + c->n_typed < argc);
        if (what == ARG_OPERAND) add_tm_operand(c, a.value);
        if (what == ARG_OWN) add_tm_option(c, &a);
        if (what == ARG_ENGINE
            && skmt_options_set(c->options, a.name, a.value, &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    if (page->describe) record_options(page->describe, c->options);
    return tm_has_option(c, "help") ? EXIT_DONE : check_operands(c, s);
}

static int run_subcommand(const struct subcommand *s, int argc, char **argv)
{
    char command[64];
    struct tm_call c = { .command = command };
    int status;

    snprintf(command, sizeof command, "tm %s", s->name);
    c.operands = calloc((size_t)argc + 1, sizeof *c.operands);
    c.typed_options = calloc((size_t)argc + 1, sizeof *c.typed_options);
    skmt_options_new(&c.options, NULL);
    assert(help_find(command));         /* every subcommand has a page */
    if (!c.operands || !c.typed_options || !c.options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = cmd_tm_parse(&c, s, help_find(command), argc, argv)))
        status = tm_has_option(&c, "help") ? help_command(command)
                                           : s->run(&c);
    record_memory(c.path, c.tm);
    skmt_tm_close(c.tm);
    skmt_model_close(c.model);
    interrupt_set_polled(false);
    textbuf_release(&c.out);
    skmt_options_free(c.options);
    free(c.typed_options);
    free(c.operands);
    return status;
}

int cmd_tm(int argc, char **argv)
{
    if (argc < 2) {
        help_command("tm");
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_command("tm");
    for (const struct subcommand *s = subcommands; s->name; s++)
        if (!strcmp(argv[1], s->name))
            return run_subcommand(s, argc - 1, argv + 1);
    return cmd_tm_unknown(argv[1]);
}
