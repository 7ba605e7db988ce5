/* option_help.h - prints lists of options on stdout, for help pages. */
#ifndef COMMON_OPTION_HELP_H
#define COMMON_OPTION_HELP_H

#include "common/args.h"

/* Prints the own options of a program or command, each with its description.
 * --record, which args.h adds to every list, is printed before the last of
 * them, --help. */
void option_help_own(const struct opt *list);
/* Prints the library's options that are accepted. */
void option_help_library(describe_fn *describe);
/* Prints the same as lines of fields that are separated by tabs: option,
 * letter, value, default, description. Each line begins with `before`. describe
 * and list may be NULL. */
void option_help_table(const char *before, const struct opt *list,
                       describe_fn *describe);

#endif
