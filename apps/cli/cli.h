/* cli.h - declarations shared by all commands of the skmt tool.
 *
 * A command parses its arguments, does its work through the public API and
 * returns an exit status (common/program.h). */
#ifndef CLI_H
#define CLI_H

#include "common/program.h"

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);      /* argv[0] is the name */
};
extern const struct command commands[];     /* ends with a NULL name */

int cmd_translate(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_tm(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_learn(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_align(int argc, char **argv);
int cmd_systems(int argc, char **argv);
int cmd_knn(int argc, char **argv);
int cmd_help(int argc, char **argv);

#endif
