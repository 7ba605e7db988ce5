/* tune_call.h - the state of one call of "skmt tune": the options, the lines to
 * tune on, and the scores found so far.
 *
 *     cmd_tune.c -> tune_axes.c  which options are tried, with which values
 *                -> tune_lines.c the lines, their sentences and similar pairs
 *                -> tune_grid.c  the score of each setting, and the best one
 *                -> tune_text.c  tables, JSON, the settings file
 *                -> tune_svg.c   the tables as heat maps
 *                -> tune_learn.c --learn: trains a network instead
 *
 * A setting is a point of a grid; each axis is an option. Similar pairs are
 * searched only once, and all settings share one cache of keys. Only the main
 * thread uses this struct, except that the callback of a stream updates the
 * scores and the progress while the stream is running. */
#ifndef TUNE_CALL_H
#define TUNE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "common/args.h"
#include "common/progress.h"
#include "common/steering.h"
#include "common/textbuf.h"
#include "skmt_tools.h"
#include "tune_set.h"

/* ---- the grid */

/* In the order in which they are tried. */
enum { AXIS_M, AXIS_K, AXIS_LAMBDA, AXIS_TAU, AXIS_CACHE, AXIS_CHUNK_LAMBDA,
       AXIS_CHUNK_TAU, AXIS_OCCURRENCES, AXIS_PIECES, N_AXES };
enum { TUNE_BLEU, TUNE_CHRF, N_METRICS };
enum { AXIS_MAX = 24 };         /* maximum number of values of an axis */

struct tune_axis {
    const char *name;           /* the option of skmt tune, such as "m" */
    const char *setting;        /* the library's option, such as "matches" */
    const char *example;        /* a list of values for messages: "50,100" */
    bool whole;                 /* whole numbers only */
    bool given;                 /* on the command line */
    bool used;                  /* it is tried; otherwise n is 1 */
    double low, high;           /* range of the values */
    double values[AXIS_MAX];    /* [n] ascending */
    int n;
};

struct tune_point {             /* a setting */
    double score[N_METRICS];
    bool is_scored;
};

struct tune_metric { const char *name, *title; };       /* "chrf", "chrF2" */
extern const struct tune_metric tune_metrics[N_METRICS];

/* A subset of the grid: some axes vary, the others are fixed. */
struct tune_table {
    bool varies[N_AXES];
    int at[N_AXES];             /* index of the value of each fixed axis */
};

/* ---- the call */

struct tune_call {
    const char *model_name, *dev, *output, *svg;
    int metric;                 /* the metric that decides: TUNE_BLEU .. */
    long limit;                 /* lines to tune on; 0: all */
    bool full, json, quiet, help;
    bool fixed;                 /* --adapter fixed: lambda is tuned, too */
    skmt_system_info system;    /* that is tuned */
    bool uses_pairs;            /* the system uses similar pairs of a memory,
                                   otherwise a datastore */
    bool uses_adapter;          /* the system has option "adapter" */
    bool learn;                 /* train a network instead of trying settings */
    bool anew, steps, ablation; /* --anew; --steps; --ablation */
    const char *grid_option, *learn_option;     /* that only trying settings
                                   has, or only --learn; NULL: none given */
    long seed;
    const char *drop[16];       /* [n_drop] features that it does not see */
    int n_drop;
    char *network;              /* the result; NULL: that of the model */
    struct steering steering;
    skmt_options *options;
    struct textbuf other_settings;      /* "name = value" lines of options that
                                           were set but are not tuned */

    skmt_model *model;
    struct tune_set set;
    struct tune_axis axes[N_AXES];
    struct tune_point *points;  /* [product of the n of all axes] */
    struct tune_point model_only;       /* the model without the memory */
    int best[N_AXES];           /* the best setting so far */
    struct tune_table *tables;  /* [n_tables] to be shown */
    size_t n_tables, cap_tables;
    size_t n_points, n_scored;  /* settings to try; tried so far */
    uint64_t n_lines_done;      /* over all settings */
    struct progress progress;
    enum tune_work work;        /* what progress shows */
    char stage[64];             /* for progress: "3 of 26 settings" */
    struct textbuf out;
};

/* Functions that return int return an exit status. */

/* ---- tune_axes.c */

/* Sets names and ranges; no values are chosen yet. */
void tune_axes_init(struct tune_axis axes[N_AXES]);
/* Parses the list of option a if it is an axis, and sets *status to an exit
 * status. Returns false if it is another option. */
bool tune_axes_option(struct tune_axis axes[N_AXES], const struct args *a,
                      int *status);
/* Chooses the axes of the system that the options name, and their values. */
int tune_axes_choose(struct tune_call *c);
/* Axis number `at` of those that are used, or -1. */
int tune_axes_used(const struct tune_call *c, int at);

/* ---- tune_lines.c */

/* Reads the lines of --dev, or picks pairs of the memory. */
int tune_lines_read(struct tune_call *c);
/* Finds the similar pairs of each sentence. Call it after
 * tune_run_model_only(), which finds the sentences. */
int tune_lines_search(struct tune_call *c);
/* Prints an error about lines[index]: "dev.tsv:17: what" or "skmt: pair 17 of
 * my.tm: what". */
int tune_lines_complain(const struct tune_call *c, size_t index,
                        const char *what);
/* Prints an error of the library, unless a signal caused it. */
int tune_failed(struct tune_call *c, const skmt_error *err);
/* Shows the progress of work on the set, and stops it after a signal. */
struct tune_watch tune_watch_of(struct tune_call *c);

/* ---- tune_grid.c */

/* Allocates the points and chooses the first setting, which depends on the
 * model. */
int tune_grid_begin(struct tune_call *c);
struct tune_point *tune_point_at(const struct tune_call *c,
                                 const int at[N_AXES]);
double tune_value(const struct tune_call *c, int axis, const int at[N_AXES]);
/* Translates all lines without the memory, and finds their sentences. */
int tune_run_model_only(struct tune_call *c);
/* Scores the settings of a table that are not scored yet, and sets c->best to
 * the best of the table. */
int tune_run_table(struct tune_call *c, const struct tune_table *t);
/* Finds the best setting of a table by a metric; of equal ones the first.
 * Returns false if none is scored. */
bool tune_table_best(const struct tune_call *c, const struct tune_table *t,
                     int metric, int best[N_AXES]);
/* These visit all settings of a table; the last axis varies fastest.
 * tune_table_next() returns false after the last one. */
void tune_table_first(const struct tune_table *t, int at[N_AXES]);
bool tune_table_next(const struct tune_call *c, const struct tune_table *t,
                     int at[N_AXES]);

/* ---- tune_learn.c */

int tune_learn(struct tune_call *c);
void tune_learn_settings(struct textbuf *t, const struct tune_call *c);

/* ---- tables */

/* The axes that vary. *rows is -1 if there is only one, which is *cols. */
void tune_table_axes(const struct tune_table *t, int *rows, int *cols);
/* The tune_put functions append to t. */

/* "m and k at tau 100" */
void tune_put_title(struct textbuf *t, const struct tune_call *c,
                    const struct tune_table *table);
/* "m 16, k 2, tau 100" */
void tune_put_setting(struct textbuf *t, const struct tune_call *c,
                      const int at[N_AXES]);
void tune_put_number(struct textbuf *t, double v);      /* 0.1, 16, 1e-05 */
/* "200 of 2,000 lines of dev.tsv" */
void tune_put_lines(struct textbuf *t, const struct tune_call *c);

/* ---- tune_text.c and tune_svg.c: these append to a textbuf */

void tune_text_header(struct tune_call *c);
void tune_text_table(struct tune_call *c, const struct tune_table *t);
void tune_text_end(struct tune_call *c);
void tune_text_json(struct tune_call *c);
void tune_text_settings(struct textbuf *t, const struct tune_call *c);
void tune_svg(struct textbuf *t, const struct tune_call *c);

#endif
