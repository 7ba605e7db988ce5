/* program.h - what every program in apps/ has: a name, exit statuses, and error
 * messages.
 *
 * Error messages go to stderr. They are one sentence that starts with the name
 * of the program or, if an input line is at fault, with "file:line: ". */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <stdbool.h>

#include "skmt.h"

/* Documented in apps/cli/cmd_help.c and in the man page. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_TROUBLE = 1,           /* input or output error, or out of memory */
    EXIT_USAGE = 2,             /* usage error */
    EXIT_MODEL = 3,             /* no usable model file */
    EXIT_SIGNAL = 128           /* plus the number of the signal */
};

/* Sets the name, which is not copied, and makes sure that the three standard
 * file descriptors are in use. Call this first. Returns false on failure. */
bool program_start(const char *name);
/* Call this last. Returns the exit status of the program: status, or
 * EXIT_TROUBLE if status is EXIT_DONE and standard output failed. */
int program_finish(int status);
const char *program_name(void);

/* Prints "NAME: ", the message and a newline on stderr. Returns status. */
__attribute__((format(printf, 2, 3)))
int complain(int status, const char *fmt, ...);

/* Prints an error of the library. A message that begins with "file:line:" is
 * printed without "NAME: ", so that editors can parse it. Returns EXIT_USAGE
 * for SKMT_ERR_ARGUMENT, otherwise EXIT_TROUBLE. */
int complain_error(const skmt_error *err);

/* Prints a warning if SKMT_ISA asks for kernels that are not available. */
void check_isa(void);

#endif
