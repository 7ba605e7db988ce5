/* help.h - the commands' own options, listed once for parsing and help. */
#ifndef HELP_H
#define HELP_H

#include "args.h"

extern const struct opt translate_options[];
extern const struct opt info_options[];
extern const struct opt convert_options[];

int help_command(const char *name);     /* prints its page on stdout */

#endif
