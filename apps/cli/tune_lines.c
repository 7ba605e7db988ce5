/* tune_lines.c - the lines of skmt tune: reads them from --dev or picks them
 * from the memory, and prints what is wrong with them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/utf8_scan.h"
#include "tune_call.h"

/* ---- errors and progress ---------------------------------------------- */

static const char *dev_name(const struct tune_call *c)
{
    return strcmp(c->dev, "-") ? c->dev : "standard input";
}

/* Print an error about a line or pair. number: as in struct tune_line. */
static int complain_at_number(const struct tune_call *c, uint64_t number,
                              const char *what)
{
    if (c->set.from_memory)
        return complain(EXIT_TROUBLE, "pair %" PRIu64 " of %s: %s", number,
                        c->steering.memory, what);
    fprintf(stderr, "%s:%" PRIu64 ": %s\n", dev_name(c), number, what);
    return EXIT_TROUBLE;
}

int tune_lines_complain(const struct tune_call *c, size_t index,
                        const char *what)
{
    return complain_at_number(c, c->set.lines[index].number, what);
}

int tune_failed(struct tune_call *c, const skmt_error *err)
{
    progress_end(&c->progress);
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return EXIT_SIGNAL + interrupt_signal();
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

/* Show the progress of long work. This is the function of a tune_watch. */
static bool show_work(void *user, enum tune_work work, size_t done,
                      size_t total)
{
    static const struct { const char *unit, *stage; } shown[] = {
        [WORK_PICK] = { NULL, NULL },
        [WORK_SEARCH] = { "sentences", "searching" },
        [WORK_ADD] = { "pairs", "reading" },
        [WORK_TRAIN] = { "epochs", NULL } };
    struct tune_call *c = user;

    if (work != c->work) {
        progress_end(&c->progress);
        progress_begin(&c->progress, shown[work].unit, total,
                       shown[work].unit && !c->quiet);
        c->progress.stage = shown[work].stage;
        c->work = work;
    }
    progress_update(&c->progress, done, done);
    return !interrupt_signal();
}

struct tune_watch tune_watch_of(struct tune_call *c)
{
    return (struct tune_watch){ show_work, c };
}

/* ---- lines of a file -------------------------------------------------- */

/* Parse a source, a tab and a translation. Further columns are ignored. */
static int parse_dev_line(struct tune_call *c, uint64_t number,
                          const char *text, size_t len)
{
    const char *tab = len ? memchr(text, '\t', len) : NULL, *end;
    size_t bad = utf8_first_bad(text, len), target_len;
    char what[80];

    if (!tab)
        return complain_at_number(c, number, "expected a source, a tab and a "
                                  "translation");
    target_len = len - (size_t)(tab + 1 - text);
    end = target_len ? memchr(tab + 1, '\t', target_len) : NULL;
    if (end) target_len = (size_t)(end - tab - 1);
    if (tab == text)
        return complain_at_number(c, number, "the source is empty");
    if (!target_len)
        return complain_at_number(c, number, "the translation is empty");
    snprintf(what, sizeof what, "byte %zu is not valid UTF-8", bad + 1);
    if (bad < len) return complain_at_number(c, number, what);
    if (memchr(text, 0, len))
        return complain_at_number(c, number, "the line contains a NUL byte");
    if (tune_set_add_line(&c->set, number, text, (size_t)(tab - text), tab + 1,
                          target_len))
        return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->set.text));
}

static int tune_lines_parse(struct tune_call *c)
{
    int status = EXIT_DONE;
    skmt_lines *in;
    skmt_error err;
    const char *text;
    size_t len;

    if (skmt_lines_open(&in, c->dev, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    for (uint64_t number = 1; !status; number++) {
        if (skmt_lines_next(in, &text, &len, &err))
            status = complain(EXIT_TROUBLE, "%s", err.message);
        if (status || !text) break;
        status = parse_dev_line(c, number, text, len);
    }
    skmt_lines_close(in);
    return status;
}

static int read_dev(struct tune_call *c)
{
    struct tune_set *s = &c->set;
    int status;

    /* Reading lines may block, and it does not poll for signals. Therefore let
     * a signal end the program at once. */
    interrupt_set_polled(false);
    status = tune_lines_parse(c);
    interrupt_set_polled(true);
    if (status) return status;
    if (!s->n) return complain(EXIT_TROUBLE, "%s is empty", dev_name(c));
    s->n_all = s->n;
    if (c->limit && (size_t)c->limit < s->n) s->n = (size_t)c->limit;
    for (size_t i = 0; i < s->n; i++)
        s->lines[i] = s->lines[tune_set_spread(i, s->n, s->n_all)];
    return EXIT_DONE;
}

/* ---- the memory ------------------------------------------------------- */

/* The most pairs of a sentence that are needed. A network learns from as many
 * as skmt_trainer_add uses. */
static int most_pairs(const struct tune_call *c)
{
    const struct tune_axis *m = &c->axes[AXIS_M];

    return c->learn ? SKMT_TRAINER_PAIRS : (int)m->values[m->n - 1];
}

static struct tune_source tune_source_of(struct tune_call *c)
{
    return (struct tune_source){
        .tm = c->steering.tm, .names = c->steering.names,
        .n_names = c->steering.n_names, .model = c->model,
        .options = c->options, .limit = (size_t)c->limit,
        .at_random = c->learn, .seed = (uint64_t)c->seed,
        .max_pairs = most_pairs(c) };
}

static int pick_pairs(struct tune_call *c)
{
    struct tune_source from = tune_source_of(c);
    struct tune_watch watch = tune_watch_of(c);
    skmt_error err;

    if (tune_set_pick(&c->set, &from, &watch, &err))
        return tune_failed(c, &err);
    if (c->set.n) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s has no pairs to tune on",
                    c->steering.memory);
}

int tune_lines_read(struct tune_call *c)
{
    c->set.from_memory = !c->dev;
    c->set.leave_out = !c->dev || c->learn;
    return c->dev ? read_dev(c) : pick_pairs(c);
}

int tune_lines_search(struct tune_call *c)
{
    struct tune_source from = tune_source_of(c);
    struct tune_watch watch = tune_watch_of(c);
    skmt_error err;
    skmt_status st = tune_set_search(&c->set, &from, &watch, &err);

    progress_end(&c->progress);
    return st ? tune_failed(c, &err) : EXIT_DONE;
}
