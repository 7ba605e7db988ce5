/* cli.h - declarations shared by all commands of the skmt tool.
 *
 * A command parses its arguments, does its work through the public API and
 * returns an exit status. Error messages go to stderr. They are one sentence
 * that starts with "skmt: " or, if an input line is at fault, with
 * "file:line: ". */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "skmt.h"

/* Documented in cmd_help.c and in the man page. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_TROUBLE = 1,           /* input or output error, or out of memory */
    EXIT_USAGE = 2,             /* usage error */
    EXIT_MODEL = 3,             /* no usable model file */
    EXIT_SIGNAL = 128           /* plus the number of the signal */
};

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);      /* argv[0] is the name */
};
extern const struct command commands[];     /* ends with a NULL name */

int cmd_translate(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_tm(int argc, char **argv);
int cmd_learn(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_help(int argc, char **argv);

/* Prints "skmt: ", the message and a newline on stderr. Returns status. */
__attribute__((format(printf, 2, 3)))
int complain(int status, const char *fmt, ...);

/* Prints a warning if SKMT_ISA asks for kernels that are not available. */
void check_isa(void);

/* Finds the known name that is most similar to a mistyped one: begin with the
 * typed name, offer each known name, then end. nearest_end() returns NULL if
 * no known name is similar enough to suggest. */
struct nearest { const char *typed, *best; size_t distance; };
void nearest_begin(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *name);
const char *nearest_end(const struct nearest *n);

#endif
