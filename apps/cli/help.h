/* help.h - the help pages of the commands, and the commands' own options.
 *
 * Each option is listed once; the command line parser (args.h), the help pages
 * and the man page all read that list. */
#ifndef HELP_H
#define HELP_H

#include "common/args.h"
#include "common/findmodel.h"
#include "common/progress.h"

/* --help (HELP_OPTION) is the last of every list of options. */

struct page {
    const char *command;        /* "translate", "tm import"; NULL ends a list */
    const char *text;           /* usage, description, examples */
    const struct opt *own;      /* the command's own options; may be NULL */
    describe_fn *describe;      /* the library's options; may be NULL */
};
extern const struct page tm_pages[];    /* of "skmt tm" and its subcommands */
extern const struct page knn_pages[];   /* of "skmt knn" and its subcommands */
extern const struct page model_pages[]; /* of "skmt model" likewise */
extern const char learn_page[];         /* the texts of pages */
extern const char align_page[];
extern const char serve_page[];

extern const struct opt translate_options[];
extern const struct opt learn_options[];
extern const struct opt score_options[];
extern const struct opt tune_options[];
extern const struct opt align_options[];
extern const struct opt systems_options[];
extern const struct opt info_options[];
extern const struct opt convert_options[];

/* Describes the library's options that skmt tune accepts. */
int tune_option_describe(int i, skmt_option_info *out);
/* Likewise of skmt knn involved. */
int involved_option_describe(int i, skmt_option_info *out);

/* Returns the page of a command, or NULL. */
const struct page *help_find(const char *name);
/* Prints the page of a command on stdout. Returns an exit status. */
int help_command(const char *name);

#endif
