/* cmd_convert.c - skmt convert: makes a model file from the files of a model.
 * The library does the conversion; here are the options, the report, progress
 * and signals. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/args.h"
#include "common/interrupt.h"
#include "common/progress.h"
#include "common/record.h"
#include "conversion.h"
#include "help.h"
#include "skmt_tools.h"

struct convert_command {
    skmt_conversion *c;
    const char *from, *output;
    bool quiet;
    struct progress progress;
};

static skmt_status convert_write(struct convert_command *cmd, skmt_error *err)
{
    skmt_status st;

    progress_begin(&cmd->progress, "MB", 0, !cmd->quiet);
    st = skmt_conversion_write(cmd->c, cmd->output, conversion_show_progress,
                               &cmd->progress, err);
    progress_end(&cmd->progress);
    if (!st && !cmd->quiet)
        conversion_print_result("written", cmd->output);
    return st;
}

static int convert(struct convert_command *cmd)
{
    skmt_error err;
    skmt_status st;
    int sig;

    interrupt_block();
    st = skmt_conversion_open(cmd->c, cmd->from, &err);
    if (!st)
        conversion_print_report(skmt_conversion_report(cmd->c), cmd->quiet);
    if (!st && cmd->output)
        st = convert_write(cmd, &err);
    else if (!st && !cmd->quiet)
        puts("nothing is written; name a file with -o FILE");
    sig = interrupt_pending();
    if (st && st != SKMT_ERR_CANCELED) complain(0, "%s", err.message);
    if (sig) return EXIT_SIGNAL + sig;
    if (st) return st == SKMT_ERR_ARGUMENT ? EXIT_USAGE : EXIT_TROUBLE;
    return EXIT_DONE;
}

/* Returns an exit status if the command ends here, else -1. */
static int convert_read_options(struct convert_command *cmd, struct args *a)
{
    skmt_error err;
    enum arg what;

    while ((what = args_next(a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND)
            return complain(EXIT_USAGE, "convert: unexpected operand '%s'; "
                            "name the model with --from PATH", a->value);
        if (args_is(a, "from")) cmd->from = a->value;
        else if (args_is(a, "output")) cmd->output = a->value;
        else if (args_is(a, "quiet")) cmd->quiet = true;
        else if (args_is(a, "help")) return help_command("convert");
        else if (skmt_conversion_set(cmd->c, a->name, a->value, &err))
            return complain(EXIT_USAGE, "--%s", err.message);
        if (args_is(a, "type")) record_value("type", a->value);
    }
    if (!cmd->from)
        return complain(EXIT_USAGE, "convert needs --from PATH; see 'skmt help "
                        "convert'");
    return -1;
}

int cmd_convert(int argc, char **argv)
{
    struct args a = { .command = "convert", .own = convert_options,
                      .argc = argc, .argv = argv };
    struct convert_command cmd = { 0 };
    skmt_error err;
    int status;

    if (skmt_conversion_new(&cmd.c, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    record_value("type", "int8");
    status = convert_read_options(&cmd, &a);
    if (status < 0) status = convert(&cmd);
    skmt_conversion_free(cmd.c);
    return status;
}
