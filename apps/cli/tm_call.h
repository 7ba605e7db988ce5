/* tm_call.h - what the subcommands of "skmt tm" share: the command line as it
 * was given, the open memory file, and what is said while it works.
 *
 * cmd_tm.c parses, runs one subcommand and cleans up. A subcommand asks for
 * options by name, opens the memory, puts its answer in `out` and returns an
 * exit status. */
#ifndef TM_CALL_H
#define TM_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "help.h"
#include "lines.h"
#include "progress.h"
#include "skmt.h"
#include "textbuf.h"

struct tm_given { const char *name, *value; };  /* value NULL: a switch */

struct tm_call {
    const char *command;        /* "tm import" */
    const char *path;           /* the memory file */
    const char **operands;      /* [n_operands] after it */
    int n_operands;
    struct tm_given *given;     /* [n_given] options, in order */
    int n_given;
    bool json;
    skmt_options *options;      /* of a search, or of keys */

    skmt_tm *tm;
    skmt_model *model;          /* of a search; NULL: words. Closed after tm */
    struct progress progress;
    char what[32];              /* the library is at: "reading" */
    char memory[128];           /* tm_memory_name */
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

bool tm_given(const struct tm_call *c, const char *option);
/* The last value given; NULL: none. */
const char *tm_value(const struct tm_call *c, const char *option);

/* Before work on the file c->path that the library opens itself: what tm_open
 * does but for opening. It must exist unless mode is SKMT_TM_CREATE. */
int tm_prepare(struct tm_call *c, skmt_tm_mode mode);
/* A skmt_tm_progress_fn; user is the call. */
int tm_show_progress(void *user, const char *what, uint64_t done,
                     uint64_t total, uint64_t units);
/* Open c->path. From here on Ctrl-C is noted and stops what takes long: the
 * library's work, and lines read with interrupt_fd(). */
int tm_open(struct tm_call *c, skmt_tm_mode mode);
/* The same to read, but open to write where that is allowed and takes no
 * waiting: then what a search learns about the file (index files that were
 * missing, the pieces of its sources) is kept, and no file of SQLite's is left
 * beside it. */
int tm_open_read(struct tm_call *c);
/* The same to search: the memories --name lists, and the model whose pieces
 * measure similarity, as --model and --no-model ask. */
int tm_open_search(struct tm_call *c, bool with_model);

/* Says what failed; the exit status for it. */
int tm_failed(struct tm_call *c, const skmt_error *err);
int tm_stopped(struct tm_call *c);      /* a signal came */

/* The memory --name means, by its name (kept in c->memory): for answers and
 * questions. */
const char *tm_memory_name(struct tm_call *c);
/* What is known of it; out's strings live until the next call on c->tm. */
int tm_memory_info(struct tm_call *c, skmt_tm_info *out);
/* "question [y/N]", unless --yes; an exit status when the answer is no or
 * nobody is there to give it. */
int tm_confirm(struct tm_call *c, const char *question);
/* A whole number of at least `low`, or a complaint about `what`. */
int tm_number(const char *text, int64_t low, const char *what, int64_t *out);

/* Every memory's JSON object, or its row, into `out`. */
typedef void tm_row_fn(struct textbuf *t, const skmt_tm_info *m);
int tm_put_memories(struct tm_call *c, tm_row_fn *row);

/* Call fn with each line of a file ("-": standard input) until it returns
 * something else than EXIT_DONE, a signal comes or reading fails. */
typedef int tm_line_fn(struct tm_call *c, struct input_line *line, void *user);
int tm_each_line(struct tm_call *c, const char *file, tm_line_fn *fn,
                 void *user);
/* "file:line: what"; the exit status for it. */
int tm_bad_line(const struct input_line *line, const char *what);

/* Print what is in `out` and empty it. */
int tm_print(struct tm_call *c);

#endif
