/* knn_call.c - helpers for the subcommands of "skmt knn": looking up options,
 * opening files, reporting progress and errors, and printing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/record.h"
#include "common/steering.h"
#include "knn_call.h"

/* ---- options ------------------------------------------------------------ */

static const struct knn_option *knn_last_typed(const struct knn_call *c,
                                               const char *option)
{
    for (int i = c->n_typed; i-- > 0;)
        if (!strcmp(c->typed[i].name, option)) return &c->typed[i];
    return NULL;
}

bool knn_has_option(const struct knn_call *c, const char *option)
{
    return knn_last_typed(c, option) != NULL;
}

const char *knn_value(const struct knn_call *c, const char *option)
{
    const struct knn_option *o = knn_last_typed(c, option);

    return o ? o->value : NULL;
}

int knn_number(const struct knn_call *c, const char *option, int64_t low,
               int64_t *out)
{
    const char *text = knn_value(c, option);
    char *end;
    long long n;

    if (!text) return EXIT_DONE;
    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno || end == text || *end || n < low)
        return complain(EXIT_USAGE, "--%s: '%s' is not a whole number of %lld "
                        "or more", option, text, (long long)low);
    *out = n;
    return EXIT_DONE;
}

int knn_number_up_to(const struct knn_call *c, const char *option, int64_t low,
                     int64_t most, int64_t *out)
{
    int64_t n = *out;
    int status = knn_number(c, option, low, &n);

    if (!status && n > most)
        return complain(EXIT_USAGE, "--%s: %lld is more than %lld", option,
                        (long long)n, (long long)most);
    if (!status) *out = n;
    return status;
}

/* ---- opening ------------------------------------------------------------ */

int knn_start(struct knn_call *c)
{
    (void)c;
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    interrupt_set_polled(true);
    return EXIT_DONE;
}

/* A memory file that is opened for writing leaves no SQLite files beside
 * it. */
int knn_open_memory(struct knn_call *c, const char *option)
{
    const char *path = knn_value(c, option);
    int status = memory_must_exist(path);
    skmt_error err;

    if (status) return status;
    if ((access(path, W_OK) ||
         skmt_tm_open(&c->tm, path, SKMT_TM_WRITE, NULL)) &&
        skmt_tm_open(&c->tm, path, SKMT_TM_READ, &err))
        return knn_failed(c, &err);
    c->tm_path = path;
    record_memory(path, c->tm);
    return EXIT_DONE;
}

int knn_open_model(struct knn_call *c)
{
    static const char *const pair[] = { "from", "to" };
    skmt_options *o;
    skmt_error err;
    skmt_status st = skmt_options_new(&o, &err);
    int status;

    for (size_t i = 0; i < sizeof pair / sizeof *pair && !st; i++)
        if (knn_value(c, pair[i]))
            st = skmt_options_set(o, pair[i], knn_value(c, pair[i]), &err);
    status = st ? knn_failed(c, &err)
                : model_find(&c->model, knn_value(c, "model"), o, NULL);
    skmt_options_free(o);
    if (!status) check_isa();
    return status;
}

int knn_open_store(struct knn_call *c, bool with_model)
{
    const char *path = knn_value(c, "datastore");
    skmt_error err;

    if (skmt_datastore_open(&c->ds, path ? path : c->operands[0],
                            with_model ? c->model : NULL, &err))
        return knn_failed(c, &err);
    return EXIT_DONE;
}

int knn_make_import(struct knn_call *c)
{
    static const char *const names[] = {
        "format", "source-lang", "target-lang", "target-file",
        "source-column", "target-column", "header", "no-header", "fuzzy" };
    skmt_error err;

    if (knn_has_option(c, "header") && knn_has_option(c, "no-header"))
        return complain(EXIT_USAGE, "--header and --no-header cannot be used "
                        "together");
    if (skmt_import_new(&c->import, &err)) return knn_failed(c, &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = knn_value(c, names[i]);

        if (knn_has_option(c, names[i]) &&
            skmt_import_set(c->import, names[i], value ? value : "yes", &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    return EXIT_DONE;
}

/* ---- progress and errors ------------------------------------------------ */

int knn_show_progress(void *user, const char *stage, uint64_t done,
                      uint64_t total, uint64_t units)
{
    struct knn_call *c = user;
    bool entries = !strcmp(stage, "sampling") || !strcmp(stage, "merging");

    if (strncmp(c->stage, stage, sizeof c->stage - 1)) {
        progress_end(&c->progress);
        progress_begin(&c->progress, entries ? "entries" : "pairs", total,
                       !c->quiet);
        snprintf(c->stage, sizeof c->stage, "%s", stage);
        c->progress.stage = c->stage;
    }
    c->progress.total = total;
    progress_update(&c->progress, done, units);
    return interrupt_signal() != 0;
}

int knn_failed(struct knn_call *c, const skmt_error *err)
{
    progress_end(&c->progress);
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return EXIT_SIGNAL + interrupt_signal();
    return complain_error(err);
}

/* ---- output ------------------------------------------------------------- */

int knn_print(struct knn_call *c)
{
    progress_end(&c->progress);
    if (c->out.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->out));
    if (c->out.len) fwrite(c->out.data, 1, c->out.len, stdout);
    textbuf_reset(&c->out);
    /* main() prints the error. */
    return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;
}

void put_bytes(struct textbuf *t, int64_t bytes)
{
    static const char *const units[] = { "KB", "MB", "GB", "TB" };
    double size = (double)bytes / 1e3;
    int unit = 0;

    for (; size >= 999.95 && unit < 3; unit++) size /= 1e3;
    textbuf_addf(t, "%.1f %s", size, units[unit]);
}
