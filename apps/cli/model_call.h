/* model_call.h - shared by the subcommands of "skmt model": the parsed command
 * line, and the store.
 *
 * cmd_model.c parses the command line, opens the store, runs one subcommand and
 * cleans up. A subcommand prints its answer and returns an exit status. */
#ifndef MODEL_CALL_H
#define MODEL_CALL_H

#include <stdbool.h>

#include "cli.h"
#include "help.h"
#include "skmt_tools.h"

struct model_option { const char *name, *value; };      /* value NULL: a flag */

struct model_call {
    const char *command;        /* "model add" */
    const char **operands;      /* [n_operands] */
    int n_operands;
    struct model_option *typed; /* [n_typed] in order */
    int n_typed;
    skmt_store *store;
};

typedef int model_run_fn(struct model_call *c);
model_run_fn cmd_model_list, cmd_model_add, cmd_model_remove;
model_run_fn cmd_model_default;

bool model_has_option(const struct model_call *c, const char *name);
/* Returns the last value typed for an option, or NULL if there is none. */
const char *model_value(const struct model_call *c, const char *name);
/* Prints the error of the library. Returns the exit status for it. */
int model_failed(const skmt_error *err);

#endif
