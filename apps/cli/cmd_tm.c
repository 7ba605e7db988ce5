/* cmd_tm.c - skmt tm: finds the subcommand, reads its command line, runs it.
 *
 * The options of a subcommand are those of its page in tm_help.c; here it only
 * says how many operands it takes after the memory file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "interrupt.h"
#include "record.h"
#include "tm_call.h"

static const struct subcommand {
    const char *name;
    tm_run_fn *run;
    int least, most;            /* operands after MEM; -1: any number */
    const char *operands;       /* those it cannot do without */
} subcommands[] = {
    { "create", cmd_tm_create, 0, 0, "MEM" },
    { "import", cmd_tm_import, 1, -1, "MEM and FILEs" },
    { "search", cmd_tm_search, 0, -1, "MEM" },
    { "add", cmd_tm_add, 0, 2, "MEM" },
    { "edit", cmd_tm_edit, 1, 1, "MEM and an ID" },
    { "delete", cmd_tm_delete, 0, -1, "MEM" },
    { "show", cmd_tm_show, 1, 1, "MEM and an ID" },
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
        return complain(EXIT_USAGE, "there is no command 'tm %s'; did you "
                        "mean 'tm %s'?", word, best);
    return complain(EXIT_USAGE, "there is no command 'tm %s'; see "
                    "'skmt help tm'", word);
}

static void cmd_tm_take_option(struct tm_call *c, const struct args *a)
{
    struct tm_given *g = &c->given[c->n_given++];

    g->name = a->name;
    g->value = a->value;
    if (args_is(a, "json")) c->json = true;
}

static void take_operand(struct tm_call *c, const char *word)
{
    if (!c->path) c->path = word;
    else c->operands[c->n_operands++] = word;
}

static int check_operands(const struct tm_call *c, const struct subcommand *s)
{
    if (!c->path || !c->path[0] || c->n_operands < s->least)
        return complain(EXIT_USAGE, "%s needs %s; see 'skmt help %s'",
                        c->command, s->operands, c->command);
    if (s->most >= 0 && c->n_operands > s->most)
        return complain(EXIT_USAGE, "%s takes no operand '%s'; see "
                        "'skmt help %s'", c->command, c->operands[s->most],
                        c->command);
    return EXIT_DONE;
}

/* The defaults as this command describes them, then what was given. */
static int cmd_tm_set_defaults(struct tm_call *c, describe_fn *describe)
{
    skmt_option_info info;
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
        if (what == ARG_OPERAND) take_operand(c, a.value);
        if (what == ARG_OWN) cmd_tm_take_option(c, &a);
        if (what == ARG_ENGINE
            && skmt_options_set(c->options, a.name, a.value, &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    if (page->describe) record_options(page->describe, c->options);
    return tm_given(c, "help") ? EXIT_DONE : check_operands(c, s);
}

static int run(const struct subcommand *s, int argc, char **argv)
{
    char command[64];
    struct tm_call c = { .command = command };
    int status;

    snprintf(command, sizeof command, "tm %s", s->name);
    c.operands = calloc((size_t)argc + 1, sizeof *c.operands);
    c.given = calloc((size_t)argc + 1, sizeof *c.given);
    c.options = skmt_options_new();
    if (!c.operands || !c.given || !c.options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = cmd_tm_parse(&c, s, help_find(command), argc, argv)))
        status = tm_given(&c, "help") ? help_command(command) : s->run(&c);
    record_memory(c.path, c.tm);
    skmt_tm_close(c.tm);
    skmt_model_close(c.model);
    interrupt_work(false);
    textbuf_release(&c.out);
    skmt_options_free(c.options);
    free(c.given);
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
        if (!strcmp(argv[1], s->name)) return run(s, argc - 1, argv + 1);
    return cmd_tm_unknown(argv[1]);
}
