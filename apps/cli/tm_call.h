/* tm_call.h - shared by the subcommands of "skmt tm": the parsed command line,
 * the open memory file, progress and output.
 *
 * cmd_tm.c parses the command line, runs one subcommand and cleans up. A
 * subcommand looks up options by name, opens the memory, appends its answer to
 * `out` and returns an exit status. */
#ifndef TM_CALL_H
#define TM_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "common/lines.h"
#include "common/progress.h"
#include "common/textbuf.h"
#include "help.h"
#include "skmt.h"

struct tm_option { const char *name, *value; };  /* value NULL: a flag */

struct tm_call {
    const char *command;        /* "tm import" */
    const char *path;           /* the memory file */
    const char **operands;      /* [n_operands] after it */
    int n_operands;
    struct tm_option *typed_options;    /* [n_typed] in order */
    int n_typed;
    bool json;
    skmt_options *options;      /* the library's options */

    skmt_tm *tm;
    skmt_model *model;          /* for similarity; NULL: measure it in words.
                                   Must outlive tm */
    struct progress progress;
    char stage[32];             /* what the library is doing: "reading" */
    char memory[128];           /* result of tm_memory_name() */
    struct textbuf out;
};

typedef int tm_run_fn(struct tm_call *c);
/* tm_memories.c */
tm_run_fn cmd_tm_create, cmd_tm_list, cmd_tm_set, cmd_tm_drop;
/* tm_pairs.c */
tm_run_fn cmd_tm_add, cmd_tm_edit, cmd_tm_delete, cmd_tm_show;
/* tm_import.c, tm_search.c, tm_stats.c */
tm_run_fn cmd_tm_import, cmd_tm_search, cmd_tm_stats;
/* tm_maintain.c */
tm_run_fn cmd_tm_export, cmd_tm_check, cmd_tm_rebuild, cmd_tm_compact;
tm_run_fn cmd_tm_recover;
/* tm_warm.c */
tm_run_fn cmd_tm_warm;

bool tm_has_option(const struct tm_call *c, const char *option);
/* Returns the last value typed for an option, or NULL if there is none. */
const char *tm_value(const struct tm_call *c, const char *option);

/* The functions below that return int print an error and return an exit status
 * if they fail. */

/* Does what tm_open() does before it opens the file, for functions of the
 * library that open c->path themselves. The file must exist unless mode is
 * SKMT_TM_CREATE. */
int tm_prepare(struct tm_call *c, skmt_tm_mode mode);
/* A skmt_tm_progress_fn; user is the struct tm_call. */
int tm_show_progress(void *user, const char *stage, uint64_t done,
                     uint64_t total, uint64_t units);
/* Opens c->path. From here on Ctrl-C stops long work in an orderly way: the
 * library's work, and reading lines with interrupt_fd(). */
int tm_open(struct tm_call *c, skmt_tm_mode mode);
/* Opens c->path for reading; but opens it for writing if that is allowed and
 * does not have to wait. Then index data that a search computes (missing index
 * files, the pieces of the sources) is saved, and no SQLite files are left
 * beside the memory. */
int tm_open_read(struct tm_call *c);
/* Selects the memories of --name, or, without it, all; or those that fit the
 * model, if it is not NULL. */
int tm_select_memories(struct tm_call *c, const skmt_model *model);
/* Like tm_open_read, and selects the memories of --name and opens the model of
 * --model (with_model: unless --no-model). */
int tm_open_search(struct tm_call *c, bool with_model);

/* Prints the error of the library. Returns the exit status for it. */
int tm_failed(struct tm_call *c, const skmt_error *err);
/* Ends the progress line after a signal. Returns the exit status for it. */
int tm_stopped(struct tm_call *c);

/* Returns the name of the memory that --name selects: its value, the only
 * memory of the file, or "main". The string is c->memory. */
const char *tm_memory_name(struct tm_call *c);
/* Describes that memory. The strings of *out are valid until the next call on
 * c->tm. */
int tm_memory_info(struct tm_call *c, skmt_tm_info *out);
/* Asks "question [y/N]", unless --yes was given. Fails if the answer is not
 * yes or if there is no terminal. */
int tm_confirm(struct tm_call *c, const char *question);
/* Parses a whole number of at least `low`. what: its name in the message. */
int tm_number(const char *text, int64_t low, const char *what, int64_t *out);

/* Appends the JSON object of every memory to `out`, or calls row for each. */
typedef void tm_row_fn(struct textbuf *t, const skmt_tm_info *m);
int tm_put_memories(struct tm_call *c, tm_row_fn *row);

/* Calls fn with each line of a file ("-": standard input) until fn returns
 * something else than EXIT_DONE, a signal arrives or reading fails. */
typedef int tm_line_fn(struct tm_call *c, struct input_line *line, void *user);
int tm_each_line(struct tm_call *c, const char *file, tm_line_fn *fn,
                 void *user);
/* Prints "file:line: what". Returns EXIT_TROUBLE. */
int tm_bad_line(const struct input_line *line, const char *what);

/* Prints and empties `out`. */
int tm_print(struct tm_call *c);

#endif
