/* help.h - the commands' own options, listed once for parsing and help, and
 * the pages that show them. */
#ifndef HELP_H
#define HELP_H

#include "args.h"

struct page {
    const char *command;        /* "translate", "tm import"; NULL ends a list */
    const char *text;           /* usage, what it does, examples */
    const struct opt *own;      /* may be NULL */
    describe_fn *describe;      /* the library's options; may be NULL */
};
extern const struct page tm_pages[];
extern const char learn_page[];         /* the text of one */

extern const struct opt translate_options[];
extern const struct opt learn_options[];
extern const struct opt score_options[];
extern const struct opt tune_options[];
extern const struct opt info_options[];
extern const struct opt convert_options[];

/* Of the library's options those skmt tune takes. */
int tune_option_describe(int i, skmt_option_info *out);

/* The page of a command; NULL: there is none. */
const struct page *help_find(const char *name);
int help_command(const char *name);     /* prints its page on stdout */

#endif
