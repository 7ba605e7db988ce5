/* args.h - parses the command line, one option or operand at a time.
 *
 * A program, or each of its commands, lists its own options. If it also accepts
 * options of the library, their names come from the library
 * (skmt_option_describe), so that no option is defined twice. --record
 * (record.h) is accepted in addition; it is handled here and commands do not
 * see it.
 *
 * Accepted forms: --name=value, --name value, -xvalue, -x value; --name and
 * --no-name for the library's flags. "--" ends the options; "-" alone is an
 * operand. */
#ifndef COMMON_ARGS_H
#define COMMON_ARGS_H

#include <stdbool.h>

#include "skmt.h"

/* Describes option i of a list of library options in *out. Returns 0 if i is
 * beyond the last one. */
typedef int describe_fn(int i, skmt_option_info *out);

struct opt {
    const char *name;           /* "output"; NULL ends a list */
    char letter;                /* 'o', or 0 */
    const char *value;          /* "FILE" in help; NULL if it takes no value */
    const char *help;           /* a phrase without a period */
};

#define HELP_OPTION { "help", 'h', NULL, "show this page" }
#define NO_MORE_OPTIONS { NULL, 0, NULL, NULL }

enum arg {
    ARG_END,
    ARG_OPERAND,                /* value is set */
    ARG_OWN,                    /* name and value of one of the own options */
    ARG_ENGINE,                 /* name and value of a library option */
    ARG_BAD                     /* the error was printed on stderr */
};

struct args {
    const char *command;        /* NULL if the program has no commands */
    const struct opt *own;
    describe_fn *describe;      /* the library's options; may be NULL */
    int argc;
    char **argv;                /* argv[0] is the command's name */
    int at;                     /* index in argv; initially 0 */
    bool only_operands;         /* "--" was found */
    const char *name, *value;   /* result of args_next() */
};

/* Finds the next argument and sets a->name and a->value. */
enum arg args_next(struct args *a);
/* Whether the option that args_next() found has this name. */
bool args_is(const struct args *a, const char *name);

/* The next two functions parse the whole command line in two passes. A command
 * with a settings file needs this: the first pass finds the name of the file,
 * and the second one applies the library's options of the command line, which
 * override those of the file. a: as before the first args_next(). */

/* Calls fn for every own option and operand, until fn returns something else
 * than EXIT_DONE. Returns an exit status. */
typedef int args_fn(void *user, enum arg what, const struct args *a);
int args_parse_own(struct args a, args_fn *fn, void *user);
/* Sets every library option of the command line in o. Returns an exit
 * status. */
int args_set_engine(struct args a, skmt_options *o);

#endif
