/* cmd_tune.c - skmt tune: finds the best settings for a memory.
 *
 *     lines -> translate without the memory -> find sentences -> find pairs
 *           -> translate and score with each setting
 *           -> print tables, heat map, settings file
 *
 * As in the paper, the grid is searched in steps (unless --full): the first two
 * axes together (m and k with SK-MT) at the model's default tau, then one after
 * the other. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/args.h"
#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/record.h"
#include "common/wholefile.h"
#include "help.h"
#include "tune_call.h"

#define DEFAULT_LIMIT 200
#define KEY_CACHE "1G"          /* enough for about 4,000 sentences */

static int tune_out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

/* ---- options ---------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list)) return true;
    return false;
}

/* Describe the library's options, except those that are tuned or have no
 * effect here. */
int tune_option_describe(int i, skmt_option_info *out)
{
    static const char *const hidden[] = { "matches", "k", "tau", "lambda",
        "cache", "chunk-lambda", "chunk-tau", "occurrences", "pieces-weight",
        "preset", "exact", "explain", "nbest", "attention", "invalid", NULL };

    for (int k = 0; steered_option_describe(k, out); k++) {
        if (is_one_of(out->name, hidden) || i-- > 0) continue;
        if (!strcmp(out->name, "key-cache")) out->fallback = KEY_CACHE;
        return 1;
    }
    return 0;
}

static int parse_whole(const char *name, const char *value, long *out)
{
    char *end;

    errno = 0;
    *out = strtol(value, &end, 10);
    if (end == value || *end || errno || *out < 0)
        return complain(EXIT_USAGE, "--%s: '%s' is not a whole number of 0 "
                        "or more", name, value);
    return EXIT_DONE;
}

static int add_drop(struct tune_call *c, const char *name)
{
    if (c->n_drop == sizeof c->drop / sizeof *c->drop)
        return complain(EXIT_USAGE, "--drop was given more than %d times",
                        c->n_drop);
    c->drop[c->n_drop++] = name;
    return EXIT_DONE;
}

static int parse_metric(struct tune_call *c, const char *value)
{
    for (c->metric = 0; c->metric < N_METRICS; c->metric++)
        if (!strcmp(value, tune_metrics[c->metric].name)) return EXIT_DONE;
    return complain(EXIT_USAGE, "--metric: '%s' is neither bleu nor chrf",
                    value);
}

static int tune_own_option(struct tune_call *c, const struct args *a)
{
    static const char *const of_grid[] = { "metric", "full", "svg", NULL };
    static const char *const of_learn[] = { "seed", "anew", "drop", "steps",
        "ablation",
                                            NULL };
    int status;

    if (steering_option(&c->steering, a, &status)) return status;
    if (tune_axes_option(c->axes, a, &status)) {
        c->grid_option = a->name;
        return status;
    }
    if (is_one_of(a->name, of_grid)) c->grid_option = a->name;
    if (is_one_of(a->name, of_learn)) c->learn_option = a->name;
    if (args_is(a, "model")) c->model_name = a->value;
    else if (args_is(a, "dev")) c->dev = a->value;
    else if (args_is(a, "output")) c->output = a->value;
    else if (args_is(a, "svg")) c->svg = a->value;
    else if (args_is(a, "full")) c->full = true;
    else if (args_is(a, "learn")) c->learn = true;
    else if (args_is(a, "anew")) c->anew = true;
    else if (args_is(a, "steps")) c->steps = true;
    else if (args_is(a, "ablation")) c->ablation = true;
    else if (args_is(a, "drop")) return add_drop(c, a->value);
    else if (args_is(a, "seed")) return parse_whole("seed", a->value, &c->seed);
    else if (args_is(a, "json")) c->json = true;
    else if (args_is(a, "quiet")) c->quiet = true;
    else if (args_is(a, "help")) c->help = true;
    else if (args_is(a, "limit"))
        return parse_whole("limit", a->value, &c->limit);
    else if (args_is(a, "metric")) return parse_metric(c, a->value);
    return EXIT_DONE;
}

static int tune_argument(void *user, enum arg what, const struct args *a)
{
    if (what == ARG_OPERAND)
        return complain(EXIT_USAGE, "tune: unexpected operand '%s'; name the "
                        "lines to tune on with --dev FILE", a->value);
    return tune_own_option(user, a);
}

/* ---- all options together --------------------------------------------- */

/* Make sure that lambda is tuned if and only if the adapter is fixed. given:
 * whether --adapter was given. */
static int choose_adapter(struct tune_call *c, bool given)
{
    const char *adapter = skmt_options_get(c->options, "adapter");
    skmt_error err;

    c->fixed = c->axes[AXIS_LAMBDA].given;
    if (!strcmp(adapter, "none"))
        return complain(EXIT_USAGE, "--adapter none ignores the memory, so "
                        "there is nothing to tune");
    if (c->fixed && given && strcmp(adapter, "fixed"))
        return complain(EXIT_USAGE, "--lambda needs --adapter fixed, not "
                        "--adapter %s", adapter);
    if (!c->fixed && !strcmp(adapter, "fixed")) c->fixed = true;
    if (c->fixed && skmt_options_set(c->options, "adapter", "fixed", &err))
        return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

/* Append the options that differ from their defaults to other_settings.
 * prefix: makes them comments if they do not belong in a settings file. */
static void add_changed_options(struct tune_call *c, skmt_options *defaults,
                                skmt_option_group group, const char *prefix)
{
    static const char *const hidden[] = { "matches", "k", "tau", "lambda",
        "cache", "chunk-lambda", "chunk-tau", "occurrences", "pieces-weight",
        "adapter", "preset", "exact", "explain", "draft", "key-cache",
        "threads", "batch", "nbest", "attention", "invalid", "early-stop",
        NULL };
    static const char *const learned[] = { "system", "trust", NULL };
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    for (int i = 0; skmt_option_describe(group, i, &info); i++) {
        const char *value = skmt_options_get(c->options, info.name);
        const char *fallback = skmt_options_get(defaults, info.name);

        if (is_one_of(info.name, hidden) || !value || !fallback
            || (c->learn && is_one_of(info.name, learned))
            || !strcmp(value, fallback)) continue;
        textbuf_addf(&c->other_settings, "%s%s = ", prefix, info.name);
        textbuf_adds(&c->other_settings, value);        /* may be long */
        textbuf_adds(&c->other_settings, "\n");
    }
}

static int set_other_settings(struct tune_call *c)
{
    skmt_options *defaults;

    if (skmt_options_new(&defaults, NULL)) return tune_out_of_memory();
    add_changed_options(c, defaults, SKMT_OPTIONS_TRANSLATE, "# found with ");
    add_changed_options(c, defaults, SKMT_OPTIONS_STEER, "");
    add_changed_options(c, defaults, SKMT_OPTIONS_SEARCH, "");
    skmt_options_free(defaults);
    return c->other_settings.failed ? tune_out_of_memory() : EXIT_DONE;
}

static bool is_given(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strncmp(argv[i], option, strlen(option))) return true;
    return false;
}

/* A datastore has no pairs that could be left out, so it needs --dev. */
static int tune_check_inputs(const struct tune_call *c)
{
    if (c->learn || c->uses_pairs) {
        if (steering_has_memory(&c->steering)) return EXIT_DONE;
        return complain(EXIT_USAGE, "tune needs --memory FILE; see 'skmt help "
                        "tune'");
    }
    if (!c->steering.datastore)
        return complain(EXIT_USAGE, "tune needs --datastore FILE for system %s",
                        c->system.name);
    if (c->dev) return EXIT_DONE;
    return complain(EXIT_USAGE, "tune needs --dev FILE for system %s: the "
                    "pairs of a datastore cannot be left out while they are "
                    "translated", c->system.name);
}

static int tune_check_options(struct tune_call *c, int argc, char **argv)
{
    int status = choose_adapter(c, is_given(argc, argv, "--adapter"));

    if (!status) status = steering_choose_system(&c->steering, c->options);
    if (!status && !c->learn) status = tune_axes_choose(c);
    if (!status) status = tune_check_inputs(c);
    if (status) return status;
    if (c->learn && c->grid_option)
        return complain(EXIT_USAGE, "--%s cannot be combined with --learn",
                        c->grid_option);
    if (c->ablation && (c->json || c->n_drop))
        return complain(EXIT_USAGE, "--ablation cannot be combined with "
                        "--%s", c->json ? "json" : "drop");
    if (!c->learn && c->learn_option)
        return complain(EXIT_USAGE, "--%s needs --learn", c->learn_option);
    if (c->output && (!c->output[0] || !strcmp(c->output, "-")))
        return complain(EXIT_USAGE, "--output needs the name of a file");
    if (c->svg && (!c->svg[0] || !strcmp(c->svg, "-")))
        return complain(EXIT_USAGE, "--svg needs the name of a file");
    if (c->svg && c->output && !strcmp(c->svg, c->output))
        return complain(EXIT_USAGE, "--output and --svg name the same file");
    return set_other_settings(c);
}

static void tune_record_defaults(const struct tune_call *c)
{
    struct textbuf list = { 0 };

    record_valuef("limit", "%ld", c->limit);
    if (c->learn) {
        record_valuef("seed", "%ld", c->seed);
        return;
    }
    for (int i = 0; i < N_AXES; i++) {
        const struct tune_axis *x = &c->axes[i];

        if (!x->used) continue;
        textbuf_reset(&list);
        for (int k = 0; k < x->n; k++)
            textbuf_addf(&list, "%s%.10g", k ? "," : "", x->values[k]);
        textbuf_add(&list, "", 1);
        if (!list.failed) record_value(x->name, list.data);
    }
    textbuf_release(&list);
    record_value("metric", tune_metrics[c->metric].name);
}

static int tune_parse(struct tune_call *c, int argc, char **argv)
{
    struct args a = { .command = "tune", .own = tune_options,
                      .describe = tune_option_describe, .argc = argc,
                      .argv = argv };
    int status = args_parse_own(a, tune_argument, c);
    skmt_error err;

    if (status || c->help) return status;
    if (skmt_options_set(c->options, "key-cache", KEY_CACHE, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    status = steering_settings(&c->steering, c->options);
    if (!status) status = args_set_engine(a, c->options);
    if (!status) status = tune_check_options(c, argc, argv);
    if (!status) tune_record_defaults(c);
    return status;
}

/* ---- files ------------------------------------------------------------ */

/* Check that an output does not replace a file that is read. */
static int tune_check_not_same(const char *out, const char *in,
                               const char *role)
{
    struct stat a, b;

    if (!out || !in || stat(out, &a) || stat(in, &b) || !S_ISREG(a.st_mode)
        || a.st_dev != b.st_dev || a.st_ino != b.st_ino) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: cannot be both the %s and an output",
                    out, role);
}

/* Check an output file before the work begins, so that the user does not see
 * the error only after an hour of translating. */
static int check_output(const struct tune_call *c, const char *out,
                        const char *model)
{
    int status = EXIT_DONE;

    if (!out) return EXIT_DONE;
    status = tune_check_not_same(out, c->steering.memory, "memory");
    if (!status)
        status = tune_check_not_same(out, c->steering.datastore, "datastore");
    if (!status) status = tune_check_not_same(out, c->dev, "--dev file");
    if (!status)
        status = tune_check_not_same(out, c->steering.key_file, "key file");
    if (!status) status = tune_check_not_same(out, model, "model");
    return status ? status : whole_file_check(out);
}

static int open_all(struct tune_call *c)
{
    const char *path;
    skmt_error err;
    int status;

    check_isa();
    if ((status = model_find(&c->model, c->model_name, c->options, &path)))
        return status;
    if ((status = check_output(c, c->output, path))
        || (status = check_output(c, c->svg, path))
        || (status = tune_check_not_same(c->svg, c->output,
                                         "settings file")))
        return status;
    status = steering_open(&c->steering, c->model, c->options, SKMT_TM_READ,
                           c->quiet);
    if (status || c->steering.keys) return status;
    if (skmt_keys_new(&c->steering.keys, c->model, c->options, NULL, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    return EXIT_DONE;
}

/* ---- trying settings -------------------------------------------------- */

/* Print and empty c->out. */
static int print_out(struct tune_call *c)
{
    progress_end(&c->progress);
    if (c->out.failed) return tune_out_of_memory();
    if (c->out.len) fwrite(c->out.data, 1, c->out.len, stdout);
    textbuf_reset(&c->out);
    return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;   /* main() prints why */
}

/* Add a table of two axes, or of one if they are the same, at the best
 * setting. */
static struct tune_table *add_table(struct tune_call *c, int axis, int other)
{
    struct tune_table *t;

    if (c->n_tables == c->cap_tables) {
        size_t cap = 2 * c->cap_tables + 4;

        t = realloc(c->tables, cap * sizeof *t);
        if (!t) return NULL;
        c->tables = t;
        c->cap_tables = cap;
    }
    assert(c->n_tables < c->cap_tables);
    t = &c->tables[c->n_tables++];
    *t = (struct tune_table){ .varies = { false } };
    memcpy(t->at, c->best, sizeof t->at);
    t->varies[axis] = t->varies[other] = true;
    return t;
}

/* Score the settings of one table and print it. After a signal, the part that
 * was scored is printed. */
static int run_tune_step(struct tune_call *c, int axis, int other)
{
    const struct tune_table *t = add_table(c, axis, other);
    int status, shown = EXIT_DONE;

    if (!t) return tune_out_of_memory();
    status = tune_run_table(c, t);
    if (!c->json && (!status || status > EXIT_SIGNAL)) {
        tune_text_table(c, t);
        shown = print_out(c);
    }
    return status ? status : shown;
}

static int run_steps(struct tune_call *c)
{
    int first = tune_axes_used(c, 0), second = tune_axes_used(c, 1), a;
    int status = run_tune_step(c, first, second < 0 ? first : second);

    for (int i = 2; !status && (a = tune_axes_used(c, i)) >= 0; i++)
        if (c->axes[a].n > 1) status = run_tune_step(c, a, a);
    return status;
}

/* Print a table of settings that are already scored. */
static int show_table(struct tune_call *c, int axis, int other,
                     const int at[N_AXES])
{
    struct tune_table *t = add_table(c, axis, other);

    if (!t) return tune_out_of_memory();
    memcpy(t->at, at, sizeof t->at);
    if (!c->json) tune_text_table(c, t);
    return EXIT_DONE;
}

/* Score all settings. Then print a table of the first two axes for all values
 * of the others, and a table of each of the others at the best setting. */
static int run_full(struct tune_call *c)
{
    struct tune_table all = { .at = { 0 } }, rest = { .at = { 0 } };
    int first = tune_axes_used(c, 0), second = tune_axes_used(c, 1), a;
    int at[N_AXES], status;

    for (int i = 0; i < N_AXES; i++) {
        all.varies[i] = c->axes[i].used;
        rest.varies[i] = c->axes[i].used && i != first && i != second;
    }
    if ((status = tune_run_table(c, &all))) return status;
    tune_table_first(&rest, at);
    do {
        status = show_table(c, first, second < 0 ? first : second, at);
    } while (!status && tune_table_next(c, &rest, at));
    for (int i = 2; !status && (a = tune_axes_used(c, i)) >= 0; i++)
        if (c->axes[a].n > 1) status = show_table(c, a, a, c->best);
    return status;
}

static int cmd_tune_stopped(struct tune_call *c, int status)
{
    struct textbuf t = { 0 };

    progress_end(&c->progress);
    if (c->learn)
        return complain(status, "stopped before the end; no file was written");
    if (!c->n_scored)
        return complain(status, "stopped before the first setting was scored; "
                        "no file was written");
    tune_put_setting(&t, c, c->best);
    textbuf_addf(&t, " (%s %.2f)", tune_metrics[c->metric].title,
                 tune_point_at(c, c->best)->score[c->metric]);
    complain(0, "stopped after %zu of %zu settings, best so far: %.*s; no "
             "file was written", c->n_scored, c->n_points, (int)t.len,
             t.failed ? "?" : t.data);
    textbuf_release(&t);
    return status;
}

/* ---- all steps -------------------------------------------------------- */

static int write_files(struct tune_call *c)
{
    struct textbuf settings = { 0 }, picture = { 0 };
    int status = EXIT_DONE;

    if (c->learn) tune_learn_settings(&settings, c);
    else tune_text_settings(&settings, c);
    if (c->svg) tune_svg(&picture, c);
    if (c->svg) status = whole_file_write(c->svg, &picture);
    if (!status && c->output) status = whole_file_write(c->output, &settings);
    textbuf_release(&settings);
    textbuf_release(&picture);
    return status;
}

static int cmd_tune_finish(struct tune_call *c)
{
    int status = write_files(c);

    if (status) return status;
    if (c->learn) return print_out(c);
    if (c->json) tune_text_json(c);
    else tune_text_end(c);
    return print_out(c);
}

static void begin_tune_progress(struct tune_call *c, const char *stage,
                                size_t passes)
{
    c->n_lines_done = 0;
    snprintf(c->stage, sizeof c->stage, "%s", stage);
    progress_begin(&c->progress, "lines", c->set.n * passes, !c->quiet);
    c->progress.stage = c->stage;
}

static int tune_all(struct tune_call *c)
{
    int status;

    if (c->learn) {
        status = tune_learn(c);
        return status ? status : cmd_tune_finish(c);
    }
    status = tune_grid_begin(c);
    if (!status) status = tune_lines_read(c);
    if (status) return status;
    begin_tune_progress(c, "without the memory", 1);
    status = tune_run_model_only(c);
    progress_end(&c->progress);
    if (!status && c->uses_pairs) status = tune_lines_search(c);
    if (status) return status;
    if (!c->json) {
        tune_text_header(c);
        if ((status = print_out(c))) return status;
    }
    begin_tune_progress(c, "", c->n_points);
    status = c->full ? run_full(c) : run_steps(c);
    progress_end(&c->progress);
    return status ? status : cmd_tune_finish(c);
}

static int run_tune(struct tune_call *c)
{
    int status;

    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    interrupt_set_polled(true);
    status = open_all(c);
    if (!status) status = tune_all(c);
    progress_end(&c->progress);
    return status > EXIT_SIGNAL ? cmd_tune_stopped(c, status) : status;
}

static void tune_call_release(struct tune_call *c)
{
    steering_close(&c->steering);
    tune_set_release(&c->set);
    skmt_options_free(c->options);
    skmt_model_close(c->model);
    free(c->points);
    free(c->network);
    free(c->tables);
    textbuf_release(&c->other_settings);
    textbuf_release(&c->out);
}

int cmd_tune(int argc, char **argv)
{
    struct tune_call c = { .limit = DEFAULT_LIMIT, .seed = 1,
                           .system = SKMT_INIT(skmt_system_info) };
    int status;

    tune_axes_init(c.axes);
    skmt_options_new(&c.options, NULL);
    if (!c.options) status = tune_out_of_memory();
    else status = tune_parse(&c, argc, argv);
    if (!status) status = c.help ? help_command("tune") : run_tune(&c);
    tune_call_release(&c);
    return status;
}
