/* main.c - the skmt tool: finds the command and runs it. */
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
    { "tm", "keep and search a translation memory", cmd_tm },
    { "learn", "translate, and learn from corrections", cmd_learn },
    { "score", "score translations against a reference", cmd_score },
    { "tune", "find the settings that suit a memory", cmd_tune },
    { "info", "print a model's facts", cmd_info },
    { "convert", "make a model file from trained weights", cmd_convert },
    { "help", "explain a command, with examples", cmd_help },
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
        complain(0, "no '%s' kernels for this processor (SKMT_ISA); using "
                 "'%s'", want, skmt_isa());
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
        return complain(EXIT_USAGE, "there is no %s '%s'; did you mean '%s'?",
                        what, word, best);
    return complain(EXIT_USAGE, "there is no %s '%s'; see 'skmt --help'",
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

/* A standard stream that is closed would give its number to the next file or
 * pipe opened. Its place is taken by what fails as the closed one would: fd 0
 * cannot be read, 1 and 2 cannot be written. */
static bool hold_standard_fds(void)
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

    if (!hold_standard_fds()) return EXIT_TROUBLE;
    interrupt_faults();
    record_start(argc, argv);
    status = dispatch(argc, argv);
    /* What went through stdio (help, info) may have met a full disk. */
    if (fflush(stdout) || ferror(stdout)) {
        int trouble = complain(EXIT_TROUBLE, "writing standard output failed");

        if (status == EXIT_DONE) status = trouble;
    }
    return record_finish(status);
}
