/* main.c - the main program of the skmt tool: finds the command and runs it. It
 * also writes the record of the run (record.h) at the end. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/interrupt.h"
#include "common/nearest.h"
#include "common/record.h"
#include "skmt.h"

const struct command commands[] = {
    { "translate", "translate lines of text", cmd_translate },
    { "tm", "manage and search a translation memory", cmd_tm },
    { "serve", "answer requests over HTTP, with a web page", cmd_serve },
    { "learn", "translate, and learn from corrections", cmd_learn },
    { "score", "score translations against references", cmd_score },
    { "tune", "find the best settings for a memory", cmd_tune },
    { "align", "find the words that translate each other", cmd_align },
    { "systems", "list the methods by which a memory steers", cmd_systems },
    { "knn", "make and inspect a datastore for kNN-MT", cmd_knn },
    { "model", "list, add and remove models, and choose defaults", cmd_model },
    { "info", "show the properties of a model", cmd_info },
    { "convert", "make a model file from trained weights", cmd_convert },
    { "help", "show the options and examples of a command", cmd_help },
    { NULL, NULL, NULL }
};

static int print_version(void)
{
    check_isa();
    printf("skmt %s\nkernels: %s\nprocessor: %s\n", skmt_version(),
           skmt_isa(), skmt_cpu());
    return EXIT_DONE;
}

static int main_unknown(const char *word)
{
    const char *what = word[0] == '-' ? "option" : "command";
    struct nearest near;
    const char *best;

    nearest_begin(&near, word);
    if (word[0] == '-') {
        nearest_offer(&near, "--help");
        nearest_offer(&near, "--version");
    } else {
        for (const struct command *c = commands; c->name; c++)
            nearest_offer(&near, c->name);
    }
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "unknown %s '%s'; did you mean '%s'?",
                        what, word, best);
    return complain(EXIT_USAGE, "unknown %s '%s'; see 'skmt --help'",
                    what, word);
}

static int dispatch(int argc, char **argv)
{
    char *help[] = { "help", NULL };

    if (argc < 2) {
        cmd_help(1, help);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return print_version();
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return cmd_help(1, help);
    for (const struct command *c = commands; c->name; c++)
        if (!strcmp(argv[1], c->name)) return c->run(argc - 1, argv + 1);
    return main_unknown(argv[1]);
}

int main(int argc, char **argv)
{
    int status;

    if (!program_start("skmt")) return EXIT_TROUBLE;
    interrupt_catch_faults();
    record_start(argc, argv);
    status = program_finish(dispatch(argc, argv));
    return record_finish(status);
}
