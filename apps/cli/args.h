/* args.h - the command line, one option or operand at a time.
 *
 * A command lists its own options; when it takes the library's too, those are
 * read from where the library describes them (skmt_option_describe() and the
 * like), so the flags are never written twice.
 * Every command takes --record too (record.h), which no command sees.
 * Accepted: --name=value, --name value, -xvalue, -x value; for switches
 * --name and --no-name; "--" ends the options and "-" alone is an operand. */
#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>

#include "skmt.h"

/* Counts through some options of the library: 0 after the last. */
typedef int describe_fn(int i, skmt_option_info *out);

struct opt {
    const char *name;           /* "output"; NULL ends a list */
    char letter;                /* 'o', or 0 */
    const char *value;          /* "FILE" in help; NULL: takes none */
    const char *help;           /* a sentence */
};

enum arg {
    ARG_END,
    ARG_OPERAND,                /* value */
    ARG_OWN,                    /* name and value of one of the own options */
    ARG_ENGINE,                 /* of one of the library's */
    ARG_BAD                     /* said so on stderr */
};

struct args {
    const char *command;
    const struct opt *own;
    describe_fn *describe;      /* the library's options too; may be NULL */
    int argc;
    char **argv;                /* argv[0] is the command's name */
    int at;                     /* set to 0 */
    bool only_operands;
    const char *name, *value;   /* of what args_next found */
};

enum arg args_next(struct args *a);
bool args_is(const struct args *a, const char *name);

/* All of them in two goes, for a command that has a file of settings: its name
 * is among the own options, and what is in it comes before the library's
 * options that are typed, which win. a: as for the first args_next. */

/* Every own option and operand, as args_next finds it. An exit status; the
 * first bad one ends it. */
typedef int take_arg_fn(void *user, enum arg what, const struct args *a);
int args_take_own(struct args a, take_arg_fn *take, void *user);
/* Every one of the library's options, into o. */
int args_set_engine(struct args a, skmt_options *o);

#endif
