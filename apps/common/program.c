/* program.c - starts and finishes a program, and prints its error messages. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/program.h"
#include "skmt.h"

static const char *name_for_messages = "skmt";

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

bool program_start(const char *name)
{
    name_for_messages = name;
    return fill_standard_fds();
}

/* Output through stdio fails here if the disk is full. */
int program_finish(int status)
{
    int trouble;

    if (!fflush(stdout) && !ferror(stdout)) return status;
    trouble = complain(EXIT_TROUBLE, "cannot write to standard output");
    return status == EXIT_DONE ? trouble : status;
}

const char *program_name(void) { return name_for_messages; }

int complain(int status, const char *fmt, ...)
{
    va_list ap;

    flockfile(stderr);
    fprintf(stderr, "%s: ", name_for_messages);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    funlockfile(stderr);
    return status;
}

/* Whether the message begins with "file:line:" or "file:line:column:". */
static bool names_a_line(const skmt_error *err)
{
    const char *at = err->message;

    if (err->status == SKMT_ERR_IO || err->status == SKMT_ERR_ARGUMENT)
        return false;
    while ((at = strchr(at, ':'))) {
        size_t n = strspn(++at, "0123456789");

        if (n > 0 && at[n] == ':') return true;
    }
    return false;
}

int complain_error(const skmt_error *err)
{
    if (names_a_line(err)) fprintf(stderr, "%s\n", err->message);
    else complain(0, "%s", err->message);
    return err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE : EXIT_TROUBLE;
}

void check_isa(void)
{
    const char *want = getenv("SKMT_ISA");

    if (want && *want && strcmp(want, skmt_isa()))
        complain(0, "SKMT_ISA asks for '%s' kernels, which are not available "
                 "on this processor; using '%s'", want, skmt_isa());
}
