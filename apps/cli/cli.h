/* cli.h - what the commands of the skmt tool share.
 *
 * A command parses its arguments, does its work over the public API and
 * returns an exit status; only commands print. Messages are one sentence on
 * stderr that starts with "skmt: " or, about an input, with "file:line: ". */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "skmt.h"

/* Documented in help.c and in the man page. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_TROUBLE = 1,           /* an input or output failed */
    EXIT_USAGE = 2,             /* the command line makes no sense */
    EXIT_MODEL = 3,             /* no usable model file */
    EXIT_SIGNAL = 128           /* plus the signal's number */
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

/* "skmt: " sentence newline on stderr; returns status. */
__attribute__((format(printf, 2, 3)))
int complain(int status, const char *fmt, ...);

/* Says so when SKMT_ISA asks for kernels that cannot be had. */
void check_isa(void);

/* The name in the list nearest to what was typed, NULL when none is near. */
struct nearest { const char *typed, *best; size_t distance; };
void nearest_begin(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *name);
const char *nearest_end(const struct nearest *n);

#endif
