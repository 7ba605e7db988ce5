/* tm_call.c - helpers for the subcommands of "skmt tm": looking up options,
 * opening the memory, reporting errors, asking for confirmation, reading lines
 * and printing. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/record.h"
#include "common/steering.h"
#include "confirm.h"
#include "tm_call.h"
#include "tm_print.h"

/* ---- options ---------------------------------------------------------- */

static const struct tm_option *last_typed(const struct tm_call *c,
                                          const char *option)
{
    for (int i = c->n_typed; i-- > 0;)
        if (!strcmp(c->typed_options[i].name, option))
            return &c->typed_options[i];
    return NULL;
}

bool tm_has_option(const struct tm_call *c, const char *option)
{
    return last_typed(c, option) != NULL;
}

const char *tm_value(const struct tm_call *c, const char *option)
{
    const struct tm_option *o = last_typed(c, option);

    return o ? o->value : NULL;
}

int tm_number(const char *text, int64_t low, const char *what, int64_t *out)
{
    char *end;
    long long n;

    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno || end == text || *end || n < low)
        return complain(EXIT_USAGE, "%s: '%s' is not a whole number%s", what,
                        text, low > 0 ? " of 1 or more" : "");
    *out = n;
    return EXIT_DONE;
}

/* ---- opening ---------------------------------------------------------- */

int tm_show_progress(void *user, const char *stage, uint64_t done,
                     uint64_t total, uint64_t units)
{
    struct tm_call *c = user;

    if (strncmp(c->stage, stage, sizeof c->stage - 1)) {
        progress_end(&c->progress);
        progress_begin(&c->progress, "pairs", total,
                       !tm_has_option(c, "quiet"));
        snprintf(c->stage, sizeof c->stage, "%s", stage);
        c->progress.stage = c->stage;
    }
    c->progress.total = total;
    progress_update(&c->progress, done, units);
    return interrupt_signal() != 0;
}

int tm_prepare(struct tm_call *c, skmt_tm_mode mode)
{
    if (mode != SKMT_TM_CREATE && memory_must_exist(c->path))
        return EXIT_TROUBLE;
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    interrupt_set_polled(true);
    return EXIT_DONE;
}

/* If --name selects a single memory, record which one it is. */
static void record_opened(struct tm_call *c)
{
    static const char *const one[] = { "tm import", "tm add", "tm export",
                                       "tm set" };

    record_memory(c->path, c->tm);
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (!strcmp(c->command, one[i]))
            record_value("name", tm_memory_name(c));
}

int tm_open(struct tm_call *c, skmt_tm_mode mode)
{
    int status = tm_prepare(c, mode);
    skmt_error err;

    assert(!c->tm);
    if (status) return status;
    if (skmt_tm_open(&c->tm, c->path, mode, &err)) return tm_failed(c, &err);
    record_opened(c);
    skmt_tm_on_progress(c->tm, tm_show_progress, c);
    skmt_tm_set_relaxed(c->tm, tm_has_option(c, "relaxed"));
    return EXIT_DONE;
}

/* Whether the file can be opened for writing without waiting. FILE-lock exists
 * while an import is running. */
static bool can_write_now(const char *path)
{
    char lock[PATH_MAX];
    int n = snprintf(lock, sizeof lock, "%s-lock", path);

    return !access(path, W_OK) && n < (int)sizeof lock && access(lock, F_OK);
}

int tm_open_read(struct tm_call *c)
{
    int status = tm_prepare(c, SKMT_TM_READ);
    skmt_error err;

    if (status) return status;
    if (!can_write_now(c->path)
        || skmt_tm_open(&c->tm, c->path, SKMT_TM_WRITE, NULL)) {
        if (skmt_tm_open(&c->tm, c->path, SKMT_TM_READ, &err))
            return tm_failed(c, &err);
    }
    record_opened(c);
    skmt_tm_on_progress(c->tm, tm_show_progress, c);
    return EXIT_DONE;
}

int tm_select_memories(struct tm_call *c, const skmt_model *model)
{
    const char **names = calloc((size_t)c->n_typed + 1, sizeof *names);
    skmt_error err;
    int n = 0, status = EXIT_DONE;

    if (!names) return complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; i < c->n_typed; i++)
        if (!strcmp(c->typed_options[i].name, "name"))
            names[n++] = c->typed_options[i].value;
    if (model ? skmt_tm_use_with(c->tm, model, names, n, c->options, &err)
              : skmt_tm_use(c->tm, names, n, &err))
        status = tm_failed(c, &err);
    free(names);
    return status;
}

static int open_model(struct tm_call *c)
{
    const char *name = tm_value(c, "model");

    if (name && tm_has_option(c, "no-model"))
        return complain(EXIT_USAGE,
                        "--model and --no-model cannot be used together");
    if (tm_has_option(c, "no-model")
        || (!name && !has_default_model(c->options)))
        return EXIT_DONE;
    return model_find(&c->model, name, c->options, NULL);
}

int tm_open_search(struct tm_call *c, bool with_model)
{
    int status = tm_open_read(c);

    if (!status) status = tm_select_memories(c, NULL);
    if (!status && with_model) status = open_model(c);
    return status;
}

/* ---- errors ----------------------------------------------------------- */

int tm_stopped(struct tm_call *c)
{
    progress_end(&c->progress);
    return interrupt_signal() ? EXIT_SIGNAL + interrupt_signal()
                              : EXIT_TROUBLE;
}

int tm_failed(struct tm_call *c, const skmt_error *err)
{
    progress_end(&c->progress);
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return tm_stopped(c);
    return complain_error(err);
}

/* ---- memories, confirmation ------------------------------------------- */

const char *tm_memory_name(struct tm_call *c)
{
    const char *name = tm_value(c, "name");
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    int n = 0;

    if (!name && !skmt_tm_count(c->tm, &n, NULL) && n == 1
        && !skmt_tm_get_info(c->tm, 0, &info, NULL)) name = info.name;
    snprintf(c->memory, sizeof c->memory, "%s", name ? name : "main");
    return c->memory;
}

int tm_memory_info(struct tm_call *c, skmt_tm_info *out)
{
    const char *name = tm_memory_name(c);
    skmt_error err;
    int n;

    if (skmt_tm_count(c->tm, &n, &err)) return tm_failed(c, &err);
    for (int i = 0; i < n; i++) {
        if (skmt_tm_get_info(c->tm, i, out, &err)) return tm_failed(c, &err);
        if (!strcmp(out->name, name)) return EXIT_DONE;
    }
    return complain(EXIT_USAGE, "%s has no memory '%s'; see 'skmt tm list %s'",
                    c->path, name, c->path);
}

int tm_put_memories(struct tm_call *c, tm_row_fn *row)
{
    struct textbuf *t = &c->out;
    skmt_tm_info m = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    int n;

    if (skmt_tm_count(c->tm, &n, &err)) return tm_failed(c, &err);
    for (int i = 0; i < n; i++) {
        if (skmt_tm_get_info(c->tm, i, &m, &err)) return tm_failed(c, &err);
        if (c->json) jput_memory(t, &m);
        else row(t, &m);
    }
    return EXIT_DONE;
}

int tm_confirm(struct tm_call *c, const char *question)
{
    int status;

    if (tm_has_option(c, "yes")) return EXIT_DONE;
    /* Reading does not poll for signals: let Ctrl-C end the program. */
    interrupt_set_polled(false);
    status = confirm(c->command, question);
    interrupt_set_polled(true);
    return status;
}

/* ---- lines ------------------------------------------------------------ */

int tm_each_line(struct tm_call *c, const char *file, tm_line_fn *fn,
                 void *user)
{
    struct lines in;
    int status = EXIT_DONE;

    lines_open(&in, &file, 1, interrupt_fd());
    while (!status) {
        struct input_line line;
        enum lines_state st = lines_next(&in, true, &line);

        if (st == LINES_END) break;
        if (st == LINES_LINE) status = fn(c, &line, user);
        if (st == LINES_STOPPED || interrupt_signal()) status = tm_stopped(c);
        if (st == LINES_FAILED)
            status = complain(EXIT_TROUBLE, "%s", in.message);
    }
    lines_close(&in);
    return status;
}

int tm_bad_line(const struct input_line *line, const char *what)
{
    fprintf(stderr, "%s:%llu: %s\n", line->file,
            (unsigned long long)line->number, what);
    return EXIT_TROUBLE;
}

/* ---- output ----------------------------------------------------------- */

int tm_print(struct tm_call *c)
{
    progress_end(&c->progress);
    if (c->out.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->out));
    if (c->out.len) fwrite(c->out.data, 1, c->out.len, stdout);
    textbuf_reset(&c->out);
    /* main() prints the error. */
    return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;
}
