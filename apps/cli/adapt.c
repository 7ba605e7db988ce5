/* adapt.c - one training of the network of learned trust, and the thread in
 * which it runs.
 *
 *     pick pairs of the memory -> find similar ones -> train -> compare with
 *     the network in use -> replace the settings file
 *
 * Invariant: while the thread runs, it alone uses a->options, a->task and
 * a->result. The thread that started it uses them again after it has joined it.
 * `stop` and `ended` are atomic. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "adapt.h"
#include "common/interrupt.h"
#include "common/lines.h"
#include "common/wholefile.h"
#include "tm_print.h"
#include "trust_fit.h"

#define LEARNED_BY "# Learned by skmt "

struct adapt {
    struct adapt_setup setup;
    struct adapt_task task;     /* of the last training */
    skmt_options *options;      /* its options, a copy */
    pthread_t thread;
    bool is_started;            /* the thread was created and not joined */
    atomic_bool stop, ended;
    bool has_result;            /* of a training, not taken yet */
    struct adapt_result result;
};

static skmt_status adapt_out_of_memory(skmt_error *err)
{
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

void adapt_result_release(struct adapt_result *r)
{
    free(r->network);
    memset(r, 0, sizeof *r);
}

/* ---- stopping ------------------------------------------------------------ */

static bool adapt_goes_on(void *user, enum tune_work work, size_t done,
                          size_t total)
{
    struct adapt *a = user;

    (void)work, (void)done, (void)total;
    return !atomic_load(&a->stop) && !interrupt_signal();
}

/* Stop work of the library on the memory. This is a skmt_tm_progress_fn. */
static int adapt_stops_memory(void *user, const char *what, uint64_t done,
                              uint64_t total, uint64_t units)
{
    (void)what, (void)done, (void)total, (void)units;
    return !adapt_goes_on(user, WORK_PICK, 0, 0);
}

/* ---- options ------------------------------------------------------------- */

static skmt_status copy_options(skmt_options *to, skmt_options *from,
                                skmt_option_group group, skmt_error *err)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && skmt_option_describe(group, i, &info); i++)
        st = skmt_options_set(to, info.name, skmt_options_get(from, info.name),
                              err);
    return st;
}

static skmt_status copy_all_options(skmt_options **out, skmt_options *from,
                                    skmt_error *err)
{
    static const skmt_option_group groups[] = { SKMT_OPTIONS_TRANSLATE,
        SKMT_OPTIONS_STEER, SKMT_OPTIONS_SEARCH, SKMT_OPTIONS_MODEL };
    skmt_status st;

    skmt_options_free(*out);
    st = skmt_options_new(out, err);
    for (size_t i = 0; !st && i < sizeof groups / sizeof *groups; i++)
        st = copy_options(*out, from, groups[i], err);
    return st;
}

/* ---- what to learn from -------------------------------------------------- */

static struct tune_source adapt_source(const struct adapt *a, skmt_tm *tm)
{
    const struct adapt_task *task = &a->task;
    size_t newest = task->n_newest;

    if (newest > ADAPT_PAIRS / 2) newest = ADAPT_PAIRS / 2;
    return (struct tune_source){
        .tm = tm, .names = task->names, .n_names = task->n_names,
        .model = a->setup.model, .options = a->options, .limit = ADAPT_PAIRS,
        .at_random = true, .seed = task->seed, .newest_of = task->newest_of,
        .n_newest = newest, .max_pairs = SKMT_TRAINER_PAIRS };
}

/* Pick pairs and find the pairs that are similar to them. The memory is closed
 * before the training. */
static skmt_status adapt_read(struct adapt *a, struct tune_set *set,
                              skmt_error *err)
{
    const struct tune_watch watch = { adapt_goes_on, a };
    const struct adapt_task *task = &a->task;
    struct tune_source from;
    skmt_tm *tm;
    skmt_status st = skmt_tm_open(&tm, a->setup.memory, SKMT_TM_READ, err);

    if (st) return st;
    skmt_tm_on_progress(tm, adapt_stops_memory, a);
    st = skmt_tm_use_with(tm, a->setup.model, task->names, task->n_names,
                          a->options, err);
    from = adapt_source(a, tm);
    if (!st) st = tune_set_pick(set, &from, &watch, err);
    if (!st && !tune_set_add_whole_lines(set)) st = adapt_out_of_memory(err);
    if (!st) st = tune_set_search(set, &from, &watch, err);
    skmt_tm_close(tm);
    return st;
}

/* ---- the settings file --------------------------------------------------- */

/* Whether a line of the file is replaced when a network is written. */
static bool is_replaced_line(const char *line)
{
    static const char *const names[] = { "preset", "system", "trust" };

    if (!strncmp(line, LEARNED_BY, strlen(LEARNED_BY))) return true;
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);

        if (!strncmp(line, names[i], n) && line[n + strspn(line + n, " \t")]
            == '=') return true;
    }
    return false;
}

/* Append the lines of the file that are kept. A file that was removed has
 * none. */
static skmt_status put_kept_lines(struct textbuf *t, const char *path,
                                  skmt_error *err)
{
    struct lines in;
    struct input_line line;
    bool ok;

    if (access(path, F_OK)) return SKMT_OK;
    lines_open(&in, &path, 1, -1);
    while (lines_next(&in, true, &line) == LINES_LINE) {
        if (is_replaced_line(line.text)) continue;
        textbuf_add(t, line.text, line.len);
        textbuf_adds(t, "\n");
    }
    ok = !in.message[0] && !t->failed;
    *err = (skmt_error){ .status = SKMT_ERR_IO };
    snprintf(err->message, sizeof err->message, "%.400s",
             in.message[0] ? in.message : "out of memory");
    lines_close(&in);
    return ok ? SKMT_OK : SKMT_ERR_IO;
}

/* Append "60 of 300 pairs of my.tm". */
static void put_pairs_learned(struct textbuf *t, const struct adapt *a)
{
    const struct adapt_result *r = &a->result;

    put_count(t, (int64_t)r->n_pairs);
    if (r->n_pairs < r->n_all) {
        textbuf_adds(t, " of ");
        put_count(t, (int64_t)r->n_all);
    }
    textbuf_adds(t, " pairs of ");
    put_visible(t, a->setup.memory, strlen(a->setup.memory));
}

static skmt_status write_network(struct adapt *a, skmt_error *err)
{
    const char *path = a->setup.settings;
    struct textbuf text = { 0 }, kept = { 0 };
    skmt_status st = put_kept_lines(&kept, path, err);

    textbuf_addf(&text, LEARNED_BY "learn --adapt %s from ", skmt_version());
    put_pairs_learned(&text, a);
    textbuf_adds(&text, "\n");
    trust_fit_put_settings(&text, a->result.network, &kept);
    if (!st) {
        *err = (skmt_error){ .status = SKMT_ERR_IO };
        if (!whole_file_replace(path, &text, err->message,
                                sizeof err->message)) st = SKMT_ERR_IO;
    }
    textbuf_release(&text);
    textbuf_release(&kept);
    return st;
}

/* ---- a training ---------------------------------------------------------- */

/* Compare the network with the one in use, and keep it if it is better. */
static skmt_status adapt_judge(struct adapt *a, skmt_trainer *t,
                               skmt_error *err)
{
    struct trust_fit_stats s = trust_fit_stats(t);
    struct adapt_result *r = &a->result;

    r->outcome = !trust_fit_is_enough(&s) ? ADAPT_TOO_SMALL
                 : trust_fit_is_better(&s, s.present) ? ADAPT_NEW : ADAPT_SAME;
    if (r->outcome != ADAPT_NEW) return SKMT_OK;
    r->network = strdup(skmt_trainer_network(t));
    if (!r->network) return adapt_out_of_memory(err);
    return a->setup.settings ? write_network(a, err) : SKMT_OK;
}

static skmt_status adapt_train(struct adapt *a, const struct tune_set *set,
                               skmt_error *err)
{
    const struct tune_watch watch = { adapt_goes_on, a };
    skmt_trainer *t;
    char seed[32];
    skmt_status st = skmt_trainer_new(&t, a->setup.model, a->options,
                                      a->setup.keys, err);

    if (st) return st;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)a->task.seed);
    st = skmt_trainer_set(t, "seed", seed, err);
    if (!st) st = skmt_trainer_set(t, "begin", "present", err);
    if (!st) st = trust_fit_train(t, set, &watch, err);
    if (!st) st = adapt_judge(a, t, err);
    skmt_trainer_free(t);
    return st;
}

static void adapt_run(struct adapt *a)
{
    struct adapt_result *r = &a->result;
    struct tune_set set = { 0 };
    skmt_error err;
    skmt_status st = adapt_read(a, &set, &err);

    r->n_pairs = set.n;
    r->n_all = set.n_all;
    if (!st) st = adapt_train(a, &set, &err);
    tune_set_release(&set);
    if (!st) return;
    adapt_result_release(r);
    r->outcome = st == SKMT_ERR_CANCELED ? ADAPT_CANCELED : ADAPT_FAILED;
    r->error = err;
}

/* ---- the thread ---------------------------------------------------------- */

/* Let the translations go first: with this nice value a thread gets a tenth of
 * the time of a normal one. So a training ends even if the machine is busy. On
 * Linux the value belongs to the thread; elsewhere it belongs to the process,
 * and is left alone. */
static void lower_priority(void)
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 10);
#endif
}

static void *adapt_thread(void *user)
{
    struct adapt *a = user;

    lower_priority();
    adapt_run(a);
    atomic_store(&a->ended, true);
    return NULL;
}

skmt_status adapt_new(struct adapt **out, const struct adapt_setup *setup,
                      skmt_error *err)
{
    struct adapt *a = calloc(1, sizeof *a);

    *out = a;
    if (!a) return adapt_out_of_memory(err);
    a->setup = *setup;
    return SKMT_OK;
}

/* Wait for the end of the thread. */
static void adapt_join(struct adapt *a)
{
    if (!a->is_started) return;
    pthread_join(a->thread, NULL);
    a->is_started = false;
    a->has_result = true;
}

void adapt_cancel(struct adapt *a)
{
    atomic_store(&a->stop, true);
    adapt_join(a);
    atomic_store(&a->stop, false);
}

void adapt_free(struct adapt *a)
{
    if (!a) return;
    adapt_cancel(a);
    adapt_result_release(&a->result);
    skmt_options_free(a->options);
    free(a);
}

bool adapt_is_busy(const struct adapt *a)
{
    return a->is_started || a->has_result;
}

skmt_status adapt_start(struct adapt *a, const struct adapt_task *task,
                        skmt_error *err)
{
    skmt_status st;

    assert(!adapt_is_busy(a));
    st = copy_all_options(&a->options, task->options, err);
    if (st) return st;
    a->task = *task;
    atomic_store(&a->ended, false);
    if (!a->setup.background) {
        adapt_run(a);
        a->has_result = true;
        return SKMT_OK;
    }
    a->is_started = !pthread_create(&a->thread, NULL, adapt_thread, a);
    if (a->is_started) return SKMT_OK;
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "cannot create a thread" };
    return SKMT_ERR_NOMEM;
}

bool adapt_take(struct adapt *a, struct adapt_result *out)
{
    if (atomic_load(&a->ended)) adapt_join(a);
    if (!a->has_result) return false;
    *out = a->result;
    memset(&a->result, 0, sizeof a->result);
    a->has_result = false;
    return true;
}
