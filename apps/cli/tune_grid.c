/* tune_grid.c - translates the lines with each setting, scores them and finds
 * the best setting.
 *
 * Every setting has its own stream. All of them share one cache of keys, so
 * that the keys of a pair are computed only once. The sentences are those into
 * which the library split the lines when it translated them without the memory,
 * and each gets its own pairs. Therefore the score of the best setting is the
 * score of "skmt translate" with that setting.
 *
 * Invariant: an index on an axis is in [0, n) of that axis. A point that is
 * scored has a score for every metric. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "tune_call.h"

/* The values of axes until they are tuned. */
#define FIRST_LAMBDA 0.5
#define FIRST_CACHE 6           /* of the paper */
#define FIRST_CHUNK_TAU 10
#define FIRST_OCCURRENCES 512
#define FIRST_PIECES_WEIGHT 1
#define FIRST_TAU 100           /* the tau of the paper, used if the model has
                                   none */

const struct tune_metric tune_metrics[N_METRICS] = {
    [TUNE_BLEU] = { "bleu", "BLEU" },
    [TUNE_CHRF] = { "chrf", "chrF2" },
};

/* ---- points of the grid ----------------------------------------------- */

struct tune_point *tune_point_at(const struct tune_call *c,
                                 const int at[N_AXES])
{
    size_t i = 0;

    for (int a = 0; a < N_AXES; a++) {
        assert(at[a] >= 0 && at[a] < c->axes[a].n);
        i = i * (size_t)c->axes[a].n + (size_t)at[a];
    }
    return &c->points[i];
}

double tune_value(const struct tune_call *c, int axis, const int at[N_AXES])
{
    return c->axes[axis].values[at[axis]];
}

void tune_table_first(const struct tune_table *t, int at[N_AXES])
{
    for (int a = 0; a < N_AXES; a++) at[a] = t->varies[a] ? 0 : t->at[a];
}

bool tune_table_next(const struct tune_call *c, const struct tune_table *t,
                     int at[N_AXES])
{
    for (int a = N_AXES; a-- > 0;) {
        if (!t->varies[a]) continue;
        if (++at[a] < c->axes[a].n) return true;
        at[a] = 0;
    }
    return false;
}

bool tune_table_best(const struct tune_call *c, const struct tune_table *t,
                     int metric, int best[N_AXES])
{
    const struct tune_point *found = NULL;
    int at[N_AXES];

    tune_table_first(t, at);
    do {
        const struct tune_point *p = tune_point_at(c, at);

        if (!p->is_scored
            || (found && p->score[metric] <= found->score[metric]))
            continue;
        found = p;
        memcpy(best, at, sizeof at);
    } while (tune_table_next(c, t, at));
    return found != NULL;
}

/* Return the index of the value on an axis that is nearest to a number. */
static int nearest_on_axis(const struct tune_axis *x, double value)
{
    int best = 0;

    for (int i = 1; i < x->n; i++) {
        double d = x->values[i] - value, best_d = x->values[best] - value;

        if (d * d < best_d * best_d) best = i;
    }
    return best;
}

static double model_tau(const skmt_model *model)
{
    const char *fact = skmt_model_get(model, "knn_tau");
    double tau = fact ? strtod(fact, NULL) : 0;

    return tau > 0 ? tau : FIRST_TAU;
}

/* How many settings are tried in steps. */
static size_t count_in_steps(const struct tune_call *c)
{
    int a = tune_axes_used(c, 0), b = tune_axes_used(c, 1);
    int n = c->axes[a].n * (b < 0 ? 1 : c->axes[b].n);

    for (int i = 2; (a = tune_axes_used(c, i)) >= 0; i++)
        n += c->axes[a].n - 1;
    return (size_t)n;
}

int tune_grid_begin(struct tune_call *c)
{
    const double first[N_AXES] = {
        [AXIS_LAMBDA] = FIRST_LAMBDA, [AXIS_TAU] = model_tau(c->model),
        [AXIS_CACHE] = FIRST_CACHE, [AXIS_CHUNK_LAMBDA] = FIRST_LAMBDA,
        [AXIS_CHUNK_TAU] = FIRST_CHUNK_TAU,
        [AXIS_OCCURRENCES] = FIRST_OCCURRENCES,
        [AXIS_PIECES] = FIRST_PIECES_WEIGHT };
    size_t n = 1;

    for (int a = 0; a < N_AXES; a++) n *= (size_t)c->axes[a].n;
    c->points = calloc(n, sizeof *c->points);
    if (!c->points) return complain(EXIT_TROUBLE, "out of memory");
    c->n_points = c->full ? n : count_in_steps(c);
    for (int a = 0; a < N_AXES; a++)
        c->best[a] = nearest_on_axis(&c->axes[a], first[a]);
    return EXIT_DONE;
}

/* ---- one pass over the lines ------------------------------------------ */

struct tune_pass {
    struct tune_call *c;
    bool model_only;            /* translate without the memory: each text is
                                   a line; otherwise it is a sentence */
    skmt_score *score;
    struct textbuf line;        /* the translation of a line so far */
    int status;                 /* exit status of an error that was printed */
};

/* Score p->line, the complete translation of line i. */
static int score_line(struct tune_pass *p, size_t i)
{
    struct tune_call *c = p->c;
    const struct tune_line *line = &c->set.lines[i];
    skmt_error err;

    if (p->line.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&p->line));
    if (skmt_score_add(p->score, p->line.data, p->line.len,
                       c->set.text.data + line->target, line->target_len,
                       &err))
        return tune_lines_complain(c, i, err.message);
    textbuf_reset(&p->line);
    c->n_lines_done++;
    progress_update(&c->progress, c->n_lines_done, c->n_lines_done);
    return EXIT_DONE;
}

/* Add the sentences of a line. A line without sentences gets an empty one. */
static int add_sentences(struct tune_pass *p, size_t line, const skmt_result *r)
{
    int n = skmt_result_sentences(r);
    size_t begin = 0, end = 0;

    for (int i = 0; i < (n ? n : 1); i++) {
        if (n) skmt_result_sentence_span(r, i, &begin, &end);
        if (!tune_set_add_sentence(&p->c->set, line, begin, end))
            return complain(EXIT_TROUBLE, "out of memory");
    }
    return EXIT_DONE;
}

static int add_line_result(struct tune_pass *p, size_t line,
                           const skmt_result *r)
{
    int status = add_sentences(p, line, r);

    textbuf_adds(&p->line, skmt_result_text(r, 0));
    return status ? status : score_line(p, line);
}

static int add_sentence_result(struct tune_pass *p, size_t i,
                               const skmt_result *r)
{
    const struct tune_set *s = &p->c->set;
    const struct tune_sentence *sentence = &s->sentences[i];

    textbuf_add(&p->line, sentence->gap, sentence->gap_len);
    textbuf_adds(&p->line, skmt_result_text(r, 0));
    if (i + 1 < s->n_sentences && sentence[1].line == sentence->line)
        return EXIT_DONE;
    return score_line(p, sentence->line);
}

/* This is the callback of the stream. */
static int tune_result(void *user, uint64_t number, skmt_result *r,
                       const skmt_error *err)
{
    struct tune_pass *p = user;
    size_t i = (size_t)number;

    assert(i < (p->model_only ? p->c->set.n : p->c->set.n_sentences));
    if (!r) {
        progress_end(&p->c->progress);
        p->status = tune_lines_complain(
            p->c, p->model_only ? i : p->c->set.sentences[i].line,
            err->message);
    } else {
        p->status = p->model_only ? add_line_result(p, i, r)
                             : add_sentence_result(p, i, r);
    }
    return p->status;
}

static skmt_status tune_grid_push_line(skmt_stream *stream,
                                       const struct tune_set *s, size_t i,
                                       skmt_error *err)
{
    return skmt_stream_push(stream, s->text.data + s->lines[i].source, NULL,
                            err);
}

static skmt_status push_sentence(skmt_stream *stream,
                                 const struct tune_sentence *sentence,
                                 int max_pairs, skmt_error *err)
{
    int n = sentence->n_pairs < max_pairs ? sentence->n_pairs : max_pairs;

    return skmt_stream_push_with(stream, sentence->query, NULL,
                                 sentence->pairs, n, err);
}

/* Push all texts, each with max_pairs pairs at most. */
static skmt_status tune_grid_push_all(struct tune_pass *p, skmt_stream *stream,
                                      int max_pairs, skmt_error *err)
{
    const struct tune_set *s = &p->c->set;
    skmt_status st = SKMT_OK;

    if (p->model_only)
        for (size_t i = 0; !st && i < s->n; i++)
            st = tune_grid_push_line(stream, s, i, err);
    else
        for (size_t i = 0; !st && i < s->n_sentences; i++)
            st = push_sentence(stream, &s->sentences[i], max_pairs, err);
    return st ? st : skmt_stream_flush(stream, err);
}

static int pass_failed(const struct tune_pass *p, const skmt_error *err)
{
    if (p->status) return p->status;
    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    if (err->status == SKMT_ERR_ARGUMENT)
        return complain(EXIT_USAGE, "--%s", err->message);
    return complain(EXIT_TROUBLE, "%s", err->message);
}

/* The sentences come with their pairs, so the stream does not search the
 * memory. */
static skmt_status use_memory(skmt_stream *stream, const struct steering *s,
                              skmt_error *err)
{
    skmt_status st = skmt_stream_use(stream, NULL, s->keys, err);

    if (!st) st = skmt_stream_use_datastore(stream, s->ds, err);
    if (st) return st;
    return skmt_stream_use_alignment(stream, s->aligner, err);
}

static int run_stream(struct tune_pass *p, int max_pairs)
{
    struct tune_call *c = p->c;
    int status = EXIT_DONE;
    skmt_stream *stream;
    skmt_error err = { 0 };

    if (interrupt_signal() || skmt_stream_new(&stream, c->model, c->options,
                                              tune_result, p, &err))
        return pass_failed(p, &err);
    interrupt_stream(stream);
    if ((!p->model_only && use_memory(stream, &c->steering, &err))
        || tune_grid_push_all(p, stream, max_pairs, &err)) {
        skmt_stream_cancel(stream);
        status = EXIT_TROUBLE;          /* pass_failed() prints the error */
    }
    interrupt_stream(NULL);
    skmt_stream_free(stream);           /* no callback runs after this */
    return status ? pass_failed(p, &err) : EXIT_DONE;
}

/* Translate and score all lines. *point gets the scores. */
static int tune_grid_run_pass(struct tune_call *c, bool model_only,
                              int max_pairs, struct tune_point *point)
{
    struct tune_pass p = { .c = c, .model_only = model_only };
    skmt_error err;
    int status;

    if (skmt_score_new(&p.score, "bleu,chrf", &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    status = run_stream(&p, max_pairs);
    for (int i = 0; !status && i < N_METRICS; i++)
        if (skmt_score_get(p.score, tune_metrics[i].name, &point->score[i],
                           &err))
            status = complain(EXIT_TROUBLE, "%s", err.message);
    point->is_scored = !status;
    skmt_score_free(p.score);
    textbuf_release(&p.line);
    return status;
}

/* ---- settings --------------------------------------------------------- */

static int set_option(struct tune_call *c, const char *name, const char *value)
{
    skmt_error err;

    if (!skmt_options_set(c->options, name, value, &err)) return EXIT_DONE;
    return complain(EXIT_USAGE, "--%s", err.message);
}

static int tune_grid_set_number(struct tune_call *c, int axis,
                                const int at[N_AXES])
{
    char text[32];

    snprintf(text, sizeof text, "%.10g", tune_value(c, axis, at));
    return set_option(c, c->axes[axis].setting, text);
}

int tune_run_model_only(struct tune_call *c)
{
    int status = EXIT_DONE;

    /* Other systems would ask for their datastore. */
    if (!c->uses_pairs) status = set_option(c, "system", "nmt");
    if (!status) status = tune_grid_run_pass(c, true, 0, &c->model_only);
    if (!status && !c->uses_pairs)
        status = set_option(c, "system", c->system.name);
    /* From here on, texts are single sentences. */
    return status ? status : set_option(c, "split", "none");
}

static int run_setting(struct tune_call *c, const int at[N_AXES])
{
    int status = EXIT_DONE;

    snprintf(c->stage, sizeof c->stage, "%zu of %zu settings", c->n_scored,
             c->n_points);
    for (int a = AXIS_M + 1; !status && a < N_AXES; a++)
        if (c->axes[a].used) status = tune_grid_set_number(c, a, at);
    if (!status)
        status = tune_grid_run_pass(c, false, (int)tune_value(c, AXIS_M, at),
                                    tune_point_at(c, at));
    if (!status) c->n_scored++;
    return status;
}

int tune_run_table(struct tune_call *c, const struct tune_table *t)
{
    int at[N_AXES], status = EXIT_DONE;

    tune_table_first(t, at);
    do {
        if (!tune_point_at(c, at)->is_scored) status = run_setting(c, at);
    } while (!status && tune_table_next(c, t, at));
    if (tune_table_best(c, t, c->metric, at)) memcpy(c->best, at, sizeof at);
    return status;
}

/* ---- names of tables and settings ------------------------------------- */

void tune_table_axes(const struct tune_table *t, int *rows, int *cols)
{
    *rows = *cols = -1;
    for (int a = 0; a < N_AXES; a++) {
        if (!t->varies[a]) continue;
        *rows = *cols;
        *cols = a;
    }
}

void tune_put_number(struct textbuf *t, double v)
{
    textbuf_addf(t, "%.10g", v);
}

/* Append the values of the axes that are not in skip: "m 16, tau 100". */
static void put_values(struct textbuf *t, const struct tune_call *c,
                       const int at[N_AXES], const bool skip[N_AXES])
{
    const char *comma = "";

    for (int a = 0; a < N_AXES; a++) {
        if (skip[a] || !c->axes[a].used) continue;
        textbuf_addf(t, "%s%s ", comma, c->axes[a].name);
        tune_put_number(t, tune_value(c, a, at));
        comma = ", ";
    }
}

void tune_put_setting(struct textbuf *t, const struct tune_call *c,
                      const int at[N_AXES])
{
    put_values(t, c, at, (const bool[N_AXES]){ false });
}

void tune_put_title(struct textbuf *t, const struct tune_call *c,
                    const struct tune_table *table)
{
    const char *and = "";

    for (int a = 0; a < N_AXES; a++) {
        if (!table->varies[a]) continue;
        textbuf_addf(t, "%s%s", and, c->axes[a].name);
        and = " and ";
    }
    textbuf_adds(t, " at ");
    put_values(t, c, table->at, table->varies);
}
