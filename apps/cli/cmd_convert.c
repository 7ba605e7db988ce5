/* cmd_convert.c - skmt convert: makes a model file from trained weights. The
 * library does the conversion; here are the options, progress and signals. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/args.h"
#include "common/interrupt.h"
#include "common/progress.h"
#include "common/record.h"
#include "help.h"
#include "skmt_tools.h"

static void show_convert_progress(void *user, int done, int total)
{
    struct progress *p = user;

    p->total = (uint64_t)total;
    progress_update(p, (uint64_t)done, (uint64_t)done);
}

/* The library cannot be interrupted, and killing the process would leave its
 * temporary file behind. Therefore Ctrl-C takes effect at the end, a second or
 * two later: the complete file is kept and the exit status reports the
 * signal. */
static int convert(const char *from, const char *type, const char *output,
                   bool quiet)
{
    struct progress p;
    skmt_error err;
    skmt_status st;
    int sig;

    interrupt_block();
    progress_begin(&p, "tensors", 0, !quiet);
    st = skmt_convert(from, type, output, show_convert_progress, &p, &err);
    progress_end(&p);
    sig = interrupt_pending();
    if (st) complain(0, "%s", err.message);
    if (sig) return EXIT_SIGNAL + sig;
    if (st) return st == SKMT_ERR_ARGUMENT ? EXIT_USAGE : EXIT_TROUBLE;
    return EXIT_DONE;
}

int cmd_convert(int argc, char **argv)
{
    struct args a = { .command = "convert", .own = convert_options,
                      .argc = argc, .argv = argv };
    const char *from = NULL, *type = "int8", *output = NULL;
    bool quiet = false;
    enum arg what;

    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND)
            return complain(EXIT_USAGE, "convert: unexpected operand '%s'; "
                            "name the folder with --from DIR", a.value);
        if (args_is(&a, "from")) from = a.value;
        else if (args_is(&a, "type")) type = a.value;
        else if (args_is(&a, "output")) output = a.value;
        else if (args_is(&a, "quiet")) quiet = true;
        else if (args_is(&a, "help")) return help_command("convert");
    }
    if (!from || !output)
        return complain(EXIT_USAGE, "convert needs --from DIR and -o FILE; "
                        "see 'skmt help convert'");
    if (strcmp(type, "f32") && strcmp(type, "bf16") && strcmp(type, "int8"))
        return complain(EXIT_USAGE, "--type: '%s' is not f32, bf16 or int8",
                        type);
    record_value("type", type);
    return convert(from, type, output, quiet);
}
