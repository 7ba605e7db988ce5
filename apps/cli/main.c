/* main.c - the main program of the skmt tool: finds the command and runs it.
 * It also prints error messages (complain) and writes the record of the run
 * (record.h) at the end. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "record.h"

const struct command commands[] = {
    { "translate", "translate lines of text", cmd_translate },
    { "tm", "manage and search a translation memory", cmd_tm },
    { "learn", "translate, and learn from corrections", cmd_learn },
    { "score", "score translations against references", cmd_score },
    { "tune", "find the best settings for a memory", cmd_tune },
    { "info", "show the properties of a model", cmd_info },
    { "convert", "make a model file from trained weights", cmd_convert },
    { "help", "show the options and examples of a command", cmd_help },
    { NULL, NULL, NULL }
};

int complain(int status, const char *fmt, ...)
{
    va_list ap;

    flockfile(stderr);
    fputs("skmt: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    funlockfile(stderr);
    return status;
}

void check_isa(void)
{
    const char *want = getenv("SKMT_ISA");

    if (want && *want && strcmp(want, skmt_isa()))
        complain(0, "SKMT_ISA asks for '%s' kernels, which are not available "
                 "on this processor; using '%s'", want, skmt_isa());
}

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

/* If a standard stream is closed, the next file or pipe that is opened would
 * get its number. /dev/null takes its place, opened such that access still
 * fails: fd 0 cannot be read, 1 and 2 cannot be written. */
static bool fill_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0
            && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY)
               != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    int status;

    if (!fill_standard_fds()) return EXIT_TROUBLE;
    interrupt_catch_faults();
    record_start(argc, argv);
    status = dispatch(argc, argv);
    /* Output through stdio (help, info) fails here if the disk is full. */
    if (fflush(stdout) || ferror(stdout)) {
        int trouble = complain(EXIT_TROUBLE, "cannot write to standard output");

        if (status == EXIT_DONE) status = trouble;
    }
    return record_finish(status);
}
