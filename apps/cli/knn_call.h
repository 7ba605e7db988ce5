/* knn_call.h - shared by the subcommands of "skmt knn": the parsed command
 * line, the open files, progress and output.
 *
 * cmd_knn.c parses the command line, runs one subcommand and cleans up. A
 * subcommand looks up options by name, opens what it needs, appends its answer
 * to `out` and returns an exit status. To add a subcommand, write its function
 * and its help page (knn_help.c), and add a line to the table in cmd_knn.c. */
#ifndef KNN_CALL_H
#define KNN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "common/progress.h"
#include "common/steering.h"
#include "common/textbuf.h"
#include "skmt_tools.h"

struct knn_option { const char *name, *value; };        /* NULL: a flag */

struct knn_call {
    const char *command;        /* "knn build" */
    const char **operands;      /* [n_operands]; the first is the datastore,
                                   except for "knn build", "train" and
                                   "involved"; for "knn index" it is that of
                                   --datastore */
    int n_operands;
    struct knn_option *typed;   /* [n_typed] in order */
    int n_typed;
    bool json, quiet;
    skmt_options *options;      /* of the library, if the page lists them */
    struct steering steering;   /* likewise: --settings and --datastore */

    skmt_model *model;
    skmt_tm *tm;
    const char *tm_path;        /* of tm */
    skmt_datastore *ds;
    skmt_datastore_maker *maker;
    skmt_knn_trainer *trainer;
    skmt_import *import;        /* settings for reading files */
    struct progress progress;
    char stage[32];             /* what progress shows */
    char size[32];              /* of the datastore, shown by progress */
    struct textbuf out;
};

typedef int knn_run_fn(struct knn_call *c);
/* knn_build.c */
knn_run_fn cmd_knn_build, cmd_knn_add;
/* knn_train.c */
knn_run_fn cmd_knn_train;
/* knn_edit.c */
knn_run_fn cmd_knn_delete;
/* knn_copy.c */
knn_run_fn cmd_knn_compact, cmd_knn_reduce, cmd_knn_merge;
/* knn_involved.c */
knn_run_fn cmd_knn_involved;
/* knn_index.c */
knn_run_fn cmd_knn_index;
/* knn_show.c */
knn_run_fn cmd_knn_info, cmd_knn_sample, cmd_knn_check;

bool knn_has_option(const struct knn_call *c, const char *option);
/* Returns the last value typed for an option, or NULL if there is none. */
const char *knn_value(const struct knn_call *c, const char *option);
/* Parses a whole number of at least `low`; *out is not changed if the option
 * was not given. */
int knn_number(const struct knn_call *c, const char *option, int64_t low,
               int64_t *out);
/* The same with a largest number, `most`. */
int knn_number_up_to(const struct knn_call *c, const char *option, int64_t low,
                     int64_t most, int64_t *out);

/* The functions below that return int print an error and return an exit status
 * if they fail. */

/* From here on Ctrl-C stops long work in an orderly way. Call this before any
 * thread is started. */
int knn_start(struct knn_call *c);
/* Opens the memory of an option, for reading. */
int knn_open_memory(struct knn_call *c, const char *option);
int knn_open_model(struct knn_call *c);
/* Opens the datastore: that of --datastore, or the first operand. with_model:
 * it must be finished, and fit c->model. */
int knn_open_store(struct knn_call *c, bool with_model);
/* Makes c->import: the settings for reading files that were given as
 * options. */
int knn_make_import(struct knn_call *c);

/* A skmt_tm_progress_fn; user is the struct knn_call. */
int knn_show_progress(void *user, const char *stage, uint64_t done,
                      uint64_t total, uint64_t units);
/* Prints the error of the library. Returns the exit status for it. */
int knn_failed(struct knn_call *c, const skmt_error *err);
/* Prints and empties `out`. */
int knn_print(struct knn_call *c);

/* Appends a size for people: "1.4 GB". */
void put_bytes(struct textbuf *t, int64_t bytes);

#endif
