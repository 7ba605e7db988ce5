/* tune_text.c - prints the results of skmt tune: tables, JSON, and the settings
 * file for "skmt translate --settings". */
#include <stdio.h>
#include <string.h>

#include "common/jput.h"
#include "tm_print.h"
#include "tune_call.h"

#define LABEL_WIDTH 8           /* of a row, at least */
#define CELL_WIDTH 8            /* of a score with its star */
#define PAGE_WIDTH 79

/* ---- the header ------------------------------------------------------- */

void tune_put_lines(struct textbuf *t, const struct tune_call *c)
{
    const struct tune_set *s = &c->set;
    const char *name = s->from_memory ? c->steering.memory
                       : strcmp(c->dev, "-") ? c->dev : "standard input";

    put_count(t, (int64_t)s->n);
    if (s->n < s->n_all) {
        textbuf_adds(t, " of ");
        put_count(t, (int64_t)s->n_all);
    }
    if (s->from_memory) textbuf_adds(t, s->n_all == 1 ? " pair" : " pairs");
    else textbuf_adds(t, s->n_all == 1 ? " line" : " lines");
    textbuf_adds(t, " of ");
    put_visible(t, name, strlen(name));
}

static void put_axis(struct textbuf *t, const struct tune_axis *x)
{
    textbuf_addf(t, "%s ", x->name);
    for (int i = 0; i < x->n; i++) {
        if (i) textbuf_adds(t, ",");
        tune_put_number(t, x->values[i]);
    }
}

/* Append all values to try: "m 1,2; k 1,2; tau 100". */
static void put_axes(struct textbuf *t, const struct tune_call *c)
{
    const char *between = "";

    for (int a = 0; a < N_AXES; a++) {
        if (!c->axes[a].used) continue;
        textbuf_adds(t, between);
        put_axis(t, &c->axes[a]);
        between = "; ";
    }
}

/* Append the order in which the axes are tried. */
static void put_order(struct textbuf *t, const struct tune_call *c)
{
    int a;

    if (c->full) {
        textbuf_adds(t, "all combinations");
        return;
    }
    textbuf_adds(t, c->axes[tune_axes_used(c, 0)].name);
    if ((a = tune_axes_used(c, 1)) < 0) return;
    textbuf_addf(t, " and %s first", c->axes[a].name);
    for (int i = 2; (a = tune_axes_used(c, i)) >= 0; i++)
        if (c->axes[a].n > 1) textbuf_addf(t, ", then %s", c->axes[a].name);
}

static void tune_text_put_scores(struct textbuf *t, const struct tune_point *p)
{
    for (int i = 0; i < N_METRICS; i++)
        textbuf_addf(t, "%s%s %.2f", i ? ", " : "", tune_metrics[i].title,
                     p->score[i]);
}

static void put_similarity(struct textbuf *t, const struct tune_set *s)
{
    textbuf_addf(t, "\nMean similarity of the best pair: %.2f", s->similarity);
    if (!s->n_same) return;
    textbuf_adds(t, "; ");
    put_noun(t, (int64_t)s->n_same, "sentence is", "sentences are");
    textbuf_adds(t, " stored word for word,\n"
                 "and translated like any other here");
}

void tune_text_header(struct tune_call *c)
{
    const struct tune_set *s = &c->set;
    struct textbuf *t = &c->out;

    textbuf_adds(t, "Tuned on ");
    tune_put_lines(t, c);
    if (s->n < s->n_all) textbuf_adds(t, ",\nspread evenly (--limit)");
    if (s->from_memory)
        textbuf_addf(t, ",%ceach left out while it is translated",
                     s->n < s->n_all ? ' ' : '\n');
    textbuf_adds(t, ": ");
    put_noun(t, (int64_t)s->n_sentences, "sentence", "sentences");
    if (c->uses_pairs) put_similarity(t, s);
    textbuf_adds(t, "\nSettings tried: ");
    put_count(t, (int64_t)c->n_points);
    textbuf_adds(t, ", ");
    put_order(t, c);
    textbuf_adds(t, "\nWithout the memory: ");
    tune_text_put_scores(t, &c->model_only);
    textbuf_adds(t, "\n");
}

/* ---- tables ----------------------------------------------------------- */

static void put_right(struct textbuf *t, const char *text, size_t width)
{
    for (size_t n = strlen(text); n < width; n++) textbuf_adds(t, " ");
    textbuf_adds(t, text);
}

/* Append a score, with a star if it is the best of its table. */
static void tune_text_put_cell(struct textbuf *t, const struct tune_point *p,
                               int metric, bool best)
{
    if (!p->is_scored) put_right(t, "-", CELL_WIDTH - 1);
    else textbuf_addf(t, "%*.2f", CELL_WIDTH - 1, p->score[metric]);
    textbuf_adds(t, best ? "*" : " ");
}

static void put_column_labels(struct textbuf *t, const struct tune_axis *x)
{
    for (int i = 0; i < x->n; i++) {
        textbuf_addf(t, "%*.10g ", CELL_WIDTH - 1, x->values[i]);
    }
}

/* End a line, without blanks before its end. */
static void end_line(struct textbuf *t)
{
    while (t->len && t->data[t->len - 1] == ' ') t->len--;
    textbuf_adds(t, "\n");
}

struct table_view {             /* a table to be printed */
    const struct tune_call *c;
    const struct tune_table *table;
    int rows, cols;             /* its axes; rows may be -1 */
    char corner[48];            /* the names of both */
    int label_width;
    int best[N_METRICS][N_AXES];
    bool has_best[N_METRICS];
};

static void tune_text_put_score(struct textbuf *t, const struct table_view *v,
                                int metric, const int at[N_AXES])
{
    tune_text_put_cell(t, tune_point_at(v->c, at), metric,
                       v->has_best[metric]
                       && !memcmp(at, v->best[metric],
                                  sizeof v->best[metric]));
}

/* Append row `row` of a table, for metrics [first, end) side by side. */
static void tune_text_put_row(struct textbuf *t, const struct table_view *v,
                              int row, int first, int end)
{
    int at[N_AXES];

    textbuf_addf(t, "%*.10g", v->label_width,
                 v->c->axes[v->rows].values[row]);
    tune_table_first(v->table, at);
    at[v->rows] = row;
    for (int k = first; k < end; k++) {
        if (k > first) textbuf_adds(t, "  ");
        for (int i = 0; i < v->c->axes[v->cols].n; i++) {
            at[v->cols] = i;
            tune_text_put_score(t, v, k, at);
        }
    }
    end_line(t);
}

/* Append a table with rows and columns, as the paper prints m and k, for
 * metrics [first, end). */
static void put_grid(struct textbuf *t, const struct table_view *v, int first,
                     int end)
{
    const struct tune_axis *cols = &v->c->axes[v->cols];

    textbuf_addf(t, "%*s", v->label_width, "");
    for (int k = first; k < end; k++)
        textbuf_addf(t, "%s%*s%-*s", k > first ? "  " : "", CELL_WIDTH - 5, "",
                     cols->n * CELL_WIDTH - CELL_WIDTH + 5,
                     tune_metrics[k].title);
    end_line(t);
    put_right(t, v->corner, (size_t)v->label_width);
    for (int k = first; k < end; k++) {
        if (k > first) textbuf_adds(t, "  ");
        put_column_labels(t, cols);
    }
    end_line(t);
    for (int i = 0; i < v->c->axes[v->rows].n; i++)
        tune_text_put_row(t, v, i, first, end);
}

/* Append one row for each metric, as the paper prints tau. */
static void put_metric_rows(struct textbuf *t, const struct table_view *v)
{
    const struct tune_axis *cols = &v->c->axes[v->cols];
    int at[N_AXES];

    put_right(t, cols->name, LABEL_WIDTH);
    put_column_labels(t, cols);
    end_line(t);
    tune_table_first(v->table, at);
    for (int k = 0; k < N_METRICS; k++) {
        put_right(t, tune_metrics[k].title, LABEL_WIDTH);
        for (int i = 0; i < cols->n; i++) {
            at[v->cols] = i;
            tune_text_put_score(t, v, k, at);
        }
        end_line(t);
    }
}

static void name_corner(struct table_view *v)
{
    int n = snprintf(v->corner, sizeof v->corner, "%s \\ %s",
                     v->c->axes[v->rows].name, v->c->axes[v->cols].name);

    v->label_width = n > LABEL_WIDTH ? n : LABEL_WIDTH;
}

void tune_text_table(struct tune_call *c, const struct tune_table *table)
{
    struct table_view v = { .c = c, .table = table };
    struct textbuf *t = &c->out;
    int columns;

    for (int k = 0; k < N_METRICS; k++)
        v.has_best[k] = tune_table_best(c, table, k, v.best[k]);
    tune_table_axes(table, &v.rows, &v.cols);
    textbuf_adds(t, "\n");
    tune_put_title(t, c, table);
    textbuf_adds(t, "\n");
    if (v.rows < 0) {
        put_metric_rows(t, &v);
        return;
    }
    name_corner(&v);
    columns = v.label_width + N_METRICS * (c->axes[v.cols].n * CELL_WIDTH + 2);
    if (columns <= PAGE_WIDTH) put_grid(t, &v, 0, N_METRICS);
    else for (int k = 0; k < N_METRICS; k++) put_grid(t, &v, k, k + 1);
}

void tune_text_end(struct tune_call *c)
{
    const struct tune_point *best = tune_point_at(c, c->best);
    struct textbuf *t = &c->out;

    textbuf_addf(t, "\nBest by %s: ", tune_metrics[c->metric].title);
    tune_put_setting(t, c, c->best);
    textbuf_adds(t, " (");
    tune_text_put_scores(t, best);
    textbuf_adds(t, ")\n");
    if (best->score[c->metric] <= c->model_only.score[c->metric])
        textbuf_adds(t, "This is not better than without the memory: the "
                     "memory does not help these lines.\n");
    if (c->output) {
        textbuf_adds(t, "Settings written to ");
        put_visible(t, c->output, strlen(c->output));
        textbuf_adds(t, ", for skmt translate --settings\n");
    }
    if (c->svg) {
        textbuf_adds(t, "Heat map written to ");
        put_visible(t, c->svg, strlen(c->svg));
        textbuf_adds(t, "\n");
    }
}

/* ---- the settings file ------------------------------------------------ */

void tune_text_settings(struct textbuf *t, const struct tune_call *c)
{
    const char *from = c->uses_pairs ? c->steering.memory
                                     : c->steering.datastore;

    textbuf_addf(t, "# Found by skmt tune %s on ", skmt_version());
    tune_put_lines(t, c);
    if (!c->set.from_memory) {
        textbuf_addf(t, "\n# with the %s ",
                     c->uses_pairs ? "memory" : "datastore");
        put_visible(t, from, strlen(from));
    } else {
        textbuf_adds(t, ",\n# each left out while it was translated");
    }
    textbuf_adds(t, "\n# Best by ");
    textbuf_adds(t, tune_metrics[c->metric].title);
    textbuf_adds(t, ": ");
    tune_text_put_scores(t, tune_point_at(c, c->best));
    textbuf_adds(t, "; without the memory ");
    tune_text_put_scores(t, &c->model_only);
    textbuf_adds(t, "\n# Tried: ");
    put_axes(t, c);
    textbuf_adds(t, ": ");
    put_order(t, c);
    textbuf_adds(t, "\n");
    for (int a = 0; a < N_AXES; a++) {
        if (!c->axes[a].used) continue;
        textbuf_addf(t, "%s = ", c->axes[a].setting);
        tune_put_number(t, tune_value(c, a, c->best));
        textbuf_adds(t, "\n");
    }
    if (c->uses_adapter)
        textbuf_addf(t, "adapter = %s\n", c->fixed ? "fixed" : "distance");
    textbuf_add(t, c->other_settings.data, c->other_settings.len);
}

/* ---- JSON ------------------------------------------------------------- */

static void jput_scores(struct textbuf *t, const struct tune_point *p)
{
    for (int i = 0; i < N_METRICS; i++) {
        jput_number_field(t, tune_metrics[i].name, p->score[i]);
    }
}

static void jput_setting(struct textbuf *t, const struct tune_call *c,
                         const int at[N_AXES])
{
    jput_object(t);
    for (int a = 0; a < N_AXES; a++) {
        if (!c->axes[a].used) continue;
        jput_number_field(t, c->axes[a].name, tune_value(c, a, at));
    }
    jput_scores(t, tune_point_at(c, at));
    jput_object_end(t);
}

static void jput_keys(struct textbuf *t, skmt_keys *keys)
{
    const char *name;
    int64_t value;

    jput_object(t);
    for (int i = 0; (name = skmt_keys_stat(keys, i, &value)); i++)
        jput_int_field(t, name, value);
    jput_object_end(t);
}

static void jput_points(struct textbuf *t, const struct tune_call *c)
{
    struct tune_table all = { .at = { 0 } };
    int at[N_AXES];

    for (int a = 0; a < N_AXES; a++) all.varies[a] = c->axes[a].used;
    jput_array(t);
    tune_table_first(&all, at);
    do {
        if (!tune_point_at(c, at)->is_scored) continue;
        jput_setting(t, c, at);
    } while (tune_table_next(c, &all, at));
    jput_array_end(t);
}

void tune_text_json(struct tune_call *c)
{
    struct textbuf *t = &c->out;

    jput_object(t);
    if (c->uses_pairs) jput_text_field(t, "memory", c->steering.memory);
    else jput_text_field(t, "datastore", c->steering.datastore);
    jput_text_field(t, "system", c->system.name);
    if (c->dev) jput_text_field(t, "dev", c->dev);
    jput_int_field(t, "lines", (int64_t)c->set.n);
    jput_int_field(t, "of_lines", (int64_t)c->set.n_all);
    jput_int_field(t, "sentences", (int64_t)c->set.n_sentences);
    if (c->uses_pairs) {
        jput_number_field(t, "similarity", c->set.similarity);
        jput_int_field(t, "stored_sentences", (int64_t)c->set.n_same);
    }
    if (c->uses_adapter)
        jput_text_field(t, "adapter", c->fixed ? "fixed" : "distance");
    jput_text_field(t, "metric", tune_metrics[c->metric].name);
    jput_key(t, "without_memory");
    jput_object(t);
    jput_scores(t, &c->model_only);
    jput_object_end(t);
    jput_key(t, "settings");
    jput_points(t, c);
    jput_key(t, "best");
    jput_setting(t, c, c->best);
    jput_key(t, "keys");
    jput_keys(t, c->steering.keys);
    jput_line_end(t);
}
