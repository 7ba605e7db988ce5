/* tune_call.h - what the parts of "skmt tune" share: what was asked for, the
 * lines to tune on, and the scores found so far.
 *
 *     cmd_tune.c -> tune_set.c   lines, cut into sentences, and their pairs
 *                -> tune_grid.c  a score for each setting, the best of them
 *                -> tune_text.c  tables, JSON, the settings file
 *                -> tune_svg.c   the tables as a picture
 *
 * A setting is a place in a grid of four axes. Pairs are searched once for all
 * of it, and one store of keys serves every setting. All of it belongs to one
 * thread, but while a stream works its callback owns the scores. */
#ifndef TUNE_CALL_H
#define TUNE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "progress.h"
#include "skmt.h"
#include "steering.h"
#include "textbuf.h"

/* ---- the grid */

enum { AXIS_M, AXIS_K, AXIS_LAMBDA, AXIS_TAU, N_AXES };
enum { TUNE_BLEU, TUNE_CHRF, N_METRICS };
enum { AXIS_MAX = 24 };         /* values of one axis, at most */

struct tune_axis {
    const char *name;           /* "tau": the option, and what tables say */
    const char *setting;        /* "tau": the library's name for it */
    const char *example;        /* "50,100": of a list */
    bool whole;                 /* whole numbers only */
    double low, high;           /* what a value may be */
    double at[AXIS_MAX];        /* [n] rising */
    int n;
};

struct tune_point {             /* what a setting is worth */
    double score[N_METRICS];
    bool done;
};

struct tune_metric { const char *name, *title; };       /* "chrf", "chrF" */
extern const struct tune_metric tune_metrics[N_METRICS];

/* Settings of which some axes vary and the others stand at `at`. */
struct tune_table {
    bool varies[N_AXES];
    int at[N_AXES];             /* of those that vary: not used */
};

/* ---- the lines */

struct tune_line {
    uint64_t number;            /* of the line in its file, or of the pair */
    size_t source, source_len;  /* in the set's text */
    size_t target, target_len;
    size_t n_sentences;
};

struct tune_sentence {
    const char *text, *gap;     /* [len], and [gap_len] blanks before it */
    size_t len, gap_len;
    size_t line;                /* of the set */
    skmt_similar *pairs;        /* [n_pairs] best first; holds the texts too */
    int n_pairs;
};

struct tune_set {
    bool leave_out;             /* pairs of the memory, not a dev set */
    struct textbuf text;        /* of all lines; does not move once read */
    struct tune_line *lines;    /* [n] to tune on, of n_all there are */
    size_t n, cap, n_all;
    struct tune_sentence *sentences;    /* [n_sentences], in order */
    size_t n_sentences, cap_sentences;
    double similarity;          /* of the sentences' best pairs, on average */
    size_t n_same;              /* sentences stored word for word */
};

/* ---- the call */

struct tune_call {
    const char *model_name, *dev, *output, *svg;
    int metric;                 /* TUNE_BLEU ..: what decides */
    long limit;                 /* lines to tune on; 0: all */
    bool full, json, quiet, help;
    bool fixed;                 /* adapter fixed: lambda is tuned, too */
    struct steering steering;
    skmt_options *options;
    struct textbuf with;        /* "name = value" lines: what else counts */

    skmt_model *model;
    struct tune_set set;
    struct tune_axis axes[N_AXES];
    struct tune_point *points;  /* [product of the axes' n] */
    struct tune_point alone;    /* the model without the memory */
    int at[N_AXES];             /* the best so far */
    struct tune_table *tables;  /* [n_tables] to be shown */
    size_t n_tables, cap_tables;
    size_t n_points, n_done;    /* settings to try, and tried */
    uint64_t n_lines_done;      /* over all settings */
    struct progress progress;
    char what[64];              /* it is at: "3 of 26" */
    struct textbuf out;
};

/* ---- tune_set.c */

/* Read the lines, or choose pairs of the memory. An exit status. */
int tune_set_read(struct tune_call *c);
/* Find the pairs of each sentence; after tune_run_alone(). */
int tune_set_search(struct tune_call *c);
bool tune_set_add_sentence(struct tune_set *s, size_t line, size_t begin,
                           size_t end);         /* false: no memory */
void tune_set_release(struct tune_set *s);
/* "dev.tsv:17: what", or "skmt: pair 17: what". */
int tune_set_complain(const struct tune_call *c, size_t line,
                      const char *what);

/* ---- tune_grid.c */

/* Grids of the paper where none were given; to be called with the model. */
int tune_grid_begin(struct tune_call *c);
struct tune_point *tune_point_at(const struct tune_call *c,
                                 const int at[N_AXES]);
double tune_value(const struct tune_call *c, int axis, const int at[N_AXES]);
/* Translate all lines without the memory; learns where sentences are. */
int tune_run_alone(struct tune_call *c);
/* Try every setting of a table that was not yet; c->at becomes its best. */
int tune_run_table(struct tune_call *c, const struct tune_table *t);
/* The best of a table by a metric; of equals the first. False: none is done. */
bool tune_table_best(const struct tune_call *c, const struct tune_table *t,
                     int metric, int best[N_AXES]);
/* The first place of a table and then each next, the last axis first; false
 * after the last. */
void tune_table_first(const struct tune_table *t, int at[N_AXES]);
bool tune_table_next(const struct tune_call *c, const struct tune_table *t,
                     int at[N_AXES]);

/* ---- tables */

/* Its axes: rows is -1 when one alone varies. */
void tune_table_axes(const struct tune_table *t, int *rows, int *cols);
/* "m and k at tau 100" */
void tune_put_title(struct textbuf *t, const struct tune_call *c,
                    const struct tune_table *table);
/* "m 16, k 2, tau 100" */
void tune_put_setting(struct textbuf *t, const struct tune_call *c,
                      const int at[N_AXES]);
void tune_put_number(struct textbuf *t, double v);      /* 0.1, 16, 1e-05 */
/* "200 of 2,000 lines of dev.tsv" */
void tune_put_lines(struct textbuf *t, const struct tune_call *c);

/* ---- tune_text.c and tune_svg.c: into a textbuf */

void tune_text_head(struct tune_call *c);
void tune_text_table(struct tune_call *c, const struct tune_table *t);
void tune_text_end(struct tune_call *c);
void tune_text_json(struct tune_call *c);
void tune_text_settings(struct textbuf *t, const struct tune_call *c);
void tune_svg(struct textbuf *t, const struct tune_call *c);

#endif
