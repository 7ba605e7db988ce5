/* tm_maintain.c - skmt tm export, check, rebuild, compact and recover: the
 * subcommands that work on the file as a whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "common/jput.h"
#include "common/record.h"
#include "tm_call.h"
#include "tm_print.h"

/* ---- export ----------------------------------------------------------- */

static int print_exported(struct tm_call *c, const char *path, int64_t n)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", path);
        jput_int_field(t, "pairs", n);
        jput_line_end(t);
    } else {
        put_noun(t, n, "pair", "pairs");
        textbuf_adds(t, " written to ");
        textbuf_adds(t, path);
        textbuf_adds(t, "\n");
    }
    return tm_print(c);
}

int cmd_tm_export(struct tm_call *c)
{
    const char *path = tm_value(c, "output"), *format = tm_value(c, "format");
    bool standard = !path || !strcmp(path, "-");
    skmt_error err;
    int64_t n = 0;
    int status;

    if (standard && c->json)
        return complain(EXIT_USAGE, "--json needs -o FILE: without it, the "
                        "pairs go to standard output");
    if (path && !path[0])
        return complain(EXIT_USAGE, "--output needs the name of a file");
    if ((status = tm_open_read(c))) return status;
    if (standard && !format) format = "tmx";
    if (skmt_tm_export(c->tm, tm_value(c, "name"), standard ? "-" : path,
                       format, tm_value(c, "target-file"), &n, &err))
        return tm_failed(c, &err);
    progress_end(&c->progress);
    return standard ? EXIT_DONE : print_exported(c, path, n);
}

/* ---- check ------------------------------------------------------------ */

/* Append a problem. This is the callback of skmt_tm_check(). */
static void put_problem(void *user, const char *sentence)
{
    struct tm_call *c = user;
    struct textbuf *t = &c->out;

    progress_end(&c->progress);
    if (c->json) {
        jput_text(t, sentence);
    } else {
        put_visible(t, sentence, strlen(sentence));
        textbuf_adds(t, "\n");
    }
}

/* Append one of several translations of a source. The one that is used is
 * marked with "*". */
static void tm_maintain_put_translation(struct textbuf *t,
                                        const skmt_translation *tr,
                                        bool is_used)
{
    textbuf_adds(t, is_used ? "  * " : "    ");
    put_visible(t, tr->pair->target, strlen(tr->pair->target));
    textbuf_addf(t, "\n      id %lld, ", (long long)tr->pair->id);
    put_visible(t, tr->pair->memory, strlen(tr->pair->memory));
    textbuf_adds(t, ", ");
    put_date_time(t, tr->confirmed);
    if (tr->occurrences > 1) {
        textbuf_adds(t, ", ");
        put_noun(t, tr->occurrences, "time", "times");
    }
    textbuf_adds(t, "\n");
}

static void jput_translation(struct textbuf *t, const skmt_translation *tr,
                             bool is_used)
{
    jput_object(t);
    jput_bool_field(t, "wins", is_used);
    jput_int_field(t, "priority", tr->priority);
    jput_time_field(t, "confirmed", tr->confirmed);
    jput_int_field(t, "occurrences", tr->occurrences);
    jput_pair(t, tr->pair);
    jput_object_end(t);
}

/* Append a source and its translations. This is the callback of
 * skmt_tm_contradictions(). */
static int put_contradiction(void *user, const char *source,
                             const skmt_translation *const *list, int n)
{
    struct tm_call *c = user;
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_object(t);
        jput_text_field(t, "source", source);
        jput_key(t, "translations");
        jput_array(t);
    } else {
        put_visible(t, source, strlen(source));
        textbuf_adds(t, "\n");
    }
    for (int i = 0; i < n; i++) {
        if (c->json) jput_translation(t, list[i], i == 0);
        else tm_maintain_put_translation(t, list[i], i == 0);
    }
    if (c->json) {
        jput_array_end(t);
        jput_object_end(t);
    }
    return t->failed || interrupt_signal() || (!c->json && tm_print(c));
}

/* List the sources with several translations. */
static int check_contradictions(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    skmt_error err;
    int64_t n = 0;
    int status = tm_open_search(c, false);

    if (status) return status;
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->path);
        jput_key(t, "contradictions");
        jput_array(t);
    }
    if (skmt_tm_contradictions(c->tm, put_contradiction, c, &n, &err)) {
        if (t->failed) return tm_print(c);
        return tm_failed(c, &err);
    }
    if (c->json) {
        jput_array_end(t);
        jput_line_end(t);
    } else {
        textbuf_adds(t, c->path);
        textbuf_adds(t, ": ");
        put_noun(t, n, "source has", "sources have");
        textbuf_adds(t, " several translations\n");
    }
    status = tm_print(c);
    return status ? status : n ? EXIT_TROUBLE : EXIT_DONE;
}

int cmd_tm_check(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    skmt_error err;
    int n = 0, status;

    if (tm_has_option(c, "contradictions")) return check_contradictions(c);
    if (tm_has_option(c, "name"))
        return complain(EXIT_USAGE, "--name needs --contradictions; otherwise "
                        "the whole file is checked");
    status = tm_open(c, SKMT_TM_READ);
    if (status) return status;
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->path);
        jput_key(t, "problems");
        jput_array(t);
    }
    if (skmt_tm_check(c->tm, put_problem, c, &n, &err))
        return tm_failed(c, &err);
    if (c->json) {
        jput_array_end(t);
        jput_line_end(t);
    } else {
        textbuf_adds(t, c->path);
        if (n) textbuf_addf(t, ": %d problem%s\n", n, n == 1 ? "" : "s");
        else textbuf_adds(t, ": no problems\n");
    }
    status = tm_print(c);
    return status ? status : n ? EXIT_TROUBLE : EXIT_DONE;
}

/* ---- rebuild, compact ------------------------------------------------- */

static int64_t disk_bytes(struct tm_call *c)
{
    int64_t value, sum = 0;
    const char *name;

    for (int i = 0; (name = skmt_tm_stat(c->tm, i, &value)); i++) {
        size_t len = strlen(name);

        if (len > 6 && !strcmp(name + len - 6, "_bytes")) sum += value;
    }
    return sum;
}

static int print_size(struct tm_call *c, double seconds)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->path);
        jput_int_field(t, "bytes", disk_bytes(c));
        jput_number_field(t, "seconds", seconds);
        jput_line_end(t);
    } else {
        textbuf_adds(t, c->path);
        textbuf_adds(t, ": ");
        put_count(t, disk_bytes(c));
        textbuf_addf(t, " bytes, %.2f s\n", seconds);
    }
    return tm_print(c);
}

/* Open the memory, call fn on it and print the new size. */
static int run_on_file(struct tm_call *c,
                       skmt_status (*fn)(skmt_tm *tm, skmt_error *err))
{
    int status = tm_open(c, SKMT_TM_WRITE);
    double begin = wall_seconds();
    skmt_error err;

    if (status) return status;
    if (fn(c->tm, &err)) return tm_failed(c, &err);
    return print_size(c, wall_seconds() - begin);
}

int cmd_tm_rebuild(struct tm_call *c)
{
    return run_on_file(c, skmt_tm_rebuild);
}

int cmd_tm_compact(struct tm_call *c)
{
    return run_on_file(c, skmt_tm_compact);
}

/* ---- recover ---------------------------------------------------------- */

static void put_recovered(struct tm_call *c, const skmt_recovery *r)
{
    struct textbuf *t = &c->out;

    put_noun(t, r->pairs, "pair", "pairs");
    textbuf_adds(t, " saved in ");
    textbuf_adds(t, c->operands[0]);
    textbuf_adds(t, "\n");
    if (r->doubtful) {
        put_noun(t, r->doubtful, "of them is doubtful: its texts",
                 "of them are doubtful: their texts");
        textbuf_adds(t, " are intact, but document, author and times may be "
                     "wrong or missing\n");
    }
    if (r->lost < 0)
        textbuf_adds(t, "the number of pairs that were lost is unknown\n");
    if (r->lost > 0) {
        textbuf_adds(t, "at most ");
        put_noun(t, r->lost, "pair", "pairs");
        textbuf_adds(t, " could not be read\n");
    }
}

int cmd_tm_recover(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    skmt_recovery r = SKMT_INIT(skmt_recovery);
    skmt_error err;
    int status;

    /* tm_prepare would suggest creating the file, which does not help here. */
    if (access(c->path, F_OK) && errno == ENOENT)
        return complain(EXIT_TROUBLE, "%s does not exist", c->path);
    if ((status = tm_prepare(c, SKMT_TM_READ))) return status;
    if (skmt_tm_recover(c->path, c->operands[0], tm_show_progress, c, &r,
                        &err))
        return tm_failed(c, &err);
    if (!skmt_tm_open(&c->tm, c->operands[0], SKMT_TM_READ, &err))
        record_memory(c->operands[0], c->tm);
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->operands[0]);
        jput_int_field(t, "pairs", r.pairs);
        jput_int_field(t, "doubtful", r.doubtful);
        jput_int_field(t, "lost", r.lost);
        jput_line_end(t);
    } else {
        put_recovered(c, &r);
    }
    return tm_print(c);
}
