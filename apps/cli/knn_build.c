/* knn_build.c - skmt knn build and add: run pairs through the model and store
 * their entries in a datastore.
 *
 * The library stores the entries of every few pairs. After Ctrl-C, kill -9 or
 * an error, what was stored is kept. The same build continues from there. */
#include <stdio.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/jput.h"
#include "common/record.h"
#include "knn_call.h"
#include "tm_print.h"

/* ---- the maker ---------------------------------------------------------- */

static int knn_show_building(void *user, const skmt_datastore_progress *p)
{
    struct knn_call *c = user;
    int64_t done = p->seen - p->first;
    struct textbuf size = { 0 };

    put_bytes(&size, p->bytes);
    if (!size.failed)
        snprintf(c->size, sizeof c->size, "%.*s", (int)size.len, size.data);
    textbuf_release(&size);
    c->progress.total = p->total ? (uint64_t)(p->total - p->first) : 0;
    progress_update(&c->progress, (uint64_t)done, (uint64_t)done);
    return interrupt_signal() != 0;
}

/* Give an option of the command line to the maker. `as` is the name of the
 * setting. */
static int set_maker(struct knn_call *c, const char *as, const char *value)
{
    skmt_error err;

    if (!value || !skmt_datastore_maker_set(c->maker, as, value, &err))
        return EXIT_DONE;
    progress_end(&c->progress);
    /* The message of a file names the file. */
    if (!strcmp(as, "alignment")) return complain_error(&err);
    return complain(EXIT_USAGE, "--%s", err.message);
}

static int set_maker_options(struct knn_call *c)
{
    static const char *const same[] = { "type", "key", "threads", "block",
                                        "limit", "seed", "alignment" };
    int status = EXIT_DONE;

    for (size_t i = 0; !status && i < sizeof same / sizeof *same; i++)
        status = set_maker(c, same[i], knn_value(c, same[i]));
    if (!status && knn_has_option(c, "no-eos"))
        status = set_maker(c, "eos", "no");
    if (!status && knn_has_option(c, "any-language"))
        status = set_maker(c, "any-language", "yes");
    for (int i = 0; !status && i < c->n_typed; i++)
        if (!strcmp(c->typed[i].name, "name"))
            status = set_maker(c, "name", c->typed[i].value);
    return status;
}

/* The memories that are used if none is named. */
static int use_fitting_memories(struct knn_call *c)
{
    skmt_error err;

    if (!c->tm || knn_has_option(c, "name") ||
        knn_has_option(c, "any-language") ||
        !skmt_tm_use_with(c->tm, c->model, NULL, 0, NULL, &err))
        return EXIT_DONE;
    return knn_failed(c, &err);
}

static int make_maker(struct knn_call *c, const char *stage)
{
    skmt_error err;
    int status = use_fitting_memories(c);

    if (status) return status;
    if (skmt_datastore_maker_new(&c->maker, c->model, &err))
        return knn_failed(c, &err);
    status = set_maker_options(c);
    if (status) return status;
    progress_begin(&c->progress, "pairs", 0, !c->quiet);
    c->progress.stage = stage;
    c->progress.extra = c->size;
    skmt_datastore_maker_on_progress(c->maker, knn_show_building, c);
    return EXIT_DONE;
}

static int64_t maker_stat(const struct knn_call *c, const char *wanted)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_datastore_maker_stat(c->maker, i, &n)); i++)
        if (!strcmp(name, wanted)) return n;
    return 0;
}

/* ---- the result --------------------------------------------------------- */

static void put_left_out(struct knn_call *c, const char *stat,
                         const char *why)
{
    int64_t n = maker_stat(c, stat);

    if (!n) return;
    put_noun(&c->out, n, "pair", "pairs");
    textbuf_adds(&c->out, why);
}

static void put_made(struct knn_call *c, const char *path, double seconds)
{
    struct textbuf *t = &c->out;
    int64_t entries = maker_stat(c, "entries");

    put_noun(t, maker_stat(c, "added"), "pair", "pairs");
    textbuf_adds(t, " stored, ");
    put_noun(t, entries, "entry", "entries");
    textbuf_addf(t, ", %.2f s", seconds);
    if (seconds > 0) {
        textbuf_adds(t, ", ");
        put_noun(t, (int64_t)((double)entries / seconds), "entry", "entries");
        textbuf_adds(t, "/s");
    }
    textbuf_adds(t, "\n");
    put_left_out(c, "known", " already in the datastore\n");
    put_left_out(c, "empty", " left out because a text is empty\n");
    put_left_out(c, "invalid", " left out because a text is not valid "
                 "UTF-8\n");
    put_left_out(c, "cut", " with a text that was cut after 199 pieces\n");
    textbuf_adds(t, path);
    textbuf_adds(t, ": ");
    put_noun(t, maker_stat(c, "pairs"), "pair", "pairs");
    textbuf_adds(t, ", ");
    put_noun(t, maker_stat(c, "stored"), "entry", "entries");
    textbuf_adds(t, ", ");
    put_bytes(t, maker_stat(c, "bytes"));
    textbuf_adds(t, "\n");
}

static int print_made(struct knn_call *c, const char *path, double seconds)
{
    struct textbuf *t = &c->out;
    const char *name;
    int64_t n;

    if (!c->json) {
        put_made(c, path, seconds);
        return knn_print(c);
    }
    jput_object(t);
    jput_text_field(t, "file", path);
    for (int i = 0; (name = skmt_datastore_maker_stat(c->maker, i, &n)); i++)
        jput_int_field(t, name, n);
    jput_number_field(t, "seconds", seconds);
    jput_line_end(t);
    return knn_print(c);
}

/* ---- build -------------------------------------------------------------- */

static int check_build_options(const struct knn_call *c)
{
    const char *path = knn_value(c, "output");

    if (!knn_value(c, "memory"))
        return complain(EXIT_USAGE, "knn build needs --memory FILE; see 'skmt "
                        "help knn build'");
    if (!path || !path[0])
        return complain(EXIT_USAGE, "knn build needs -o STORE; see 'skmt help "
                        "knn build'");
    if (knn_has_option(c, "sources") != knn_has_option(c, "alignment"))
        return complain(EXIT_USAGE, "--sources and --alignment FILE must be "
                        "used together");
    if (knn_has_option(c, "seed") && !knn_has_option(c, "limit"))
        return complain(EXIT_USAGE, "--seed needs --limit N");
    return EXIT_DONE;
}

static void record_build_defaults(const struct knn_call *c)
{
    static const struct { const char *name, *value; } list[] = {
        { "type", "int8" }, { "key", "final" }, { "threads", "1" },
        { "block", "16384" }, { "limit", "0" }, { "seed", "1" } };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!knn_has_option(c, list[i].name))
            record_value(list[i].name, list[i].value);
}

int cmd_knn_build(struct knn_call *c)
{
    const char *path = knn_value(c, "output");
    skmt_error err;
    double begin;
    int status = check_build_options(c);

    record_build_defaults(c);
    if (!status) status = knn_start(c);
    if (!status) status = knn_open_memory(c, "memory");
    if (!status) status = knn_open_model(c);
    if (!status) status = make_maker(c, "building");
    if (status) return status;
    begin = wall_seconds();
    if (!skmt_datastore_maker_build(c->maker, path, c->tm, &err))
        return print_made(c, path, wall_seconds() - begin);
    status = knn_failed(c, &err);
    if (err.status == SKMT_ERR_CANCELED)
        complain(0, "stopped; %s has %lld pairs so far, and the same command "
                 "continues", path, (long long)maker_stat(c, "pairs"));
    return status;
}

/* ---- add ---------------------------------------------------------------- */

static int check_add_options(const struct knn_call *c)
{
    int n = 0;

    if (c->n_operands < 2 && !knn_value(c, "memory"))
        return complain(EXIT_USAGE, "knn add needs FILE or --memory FILE; see "
                        "'skmt help knn add'");
    if ((knn_has_option(c, "name") || knn_has_option(c, "any-language")) &&
        !knn_value(c, "memory"))
        return complain(EXIT_USAGE, "--name and --any-language need --memory "
                        "FILE");
    for (int i = 1; i < c->n_operands; i++) n += !strcmp(c->operands[i], "-");
    if (n > 1)
        return complain(EXIT_USAGE, "standard input ('-') can be read only "
                        "once");
    return EXIT_DONE;
}

static int add_pairs_of(struct knn_call *c, skmt_pairs *p)
{
    skmt_error err;

    for (;;) {
        const char *source, *target;
        size_t source_len, target_len;

        if (skmt_pairs_next(p, &source, &source_len, &target, &target_len,
                            &err))
            return knn_failed(c, &err);
        if (!source) return EXIT_DONE;
        if (skmt_datastore_maker_add(c->maker, source, source_len, target,
                                     target_len, &err))
            return knn_failed(c, &err);
        if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    }
}

/* Reading standard input may block, and it does not poll for signals. So let a
 * signal end the program at once. */
static int add_file(struct knn_call *c, const char *file)
{
    skmt_pairs *p;
    skmt_error err;
    int status;

    interrupt_set_polled(strcmp(file, "-") != 0);
    if (skmt_pairs_open(&p, file, c->import, &err))
        status = knn_failed(c, &err);
    else status = add_pairs_of(c, p);
    interrupt_set_polled(true);
    skmt_pairs_close(p);
    return status;
}

static int add_everything(struct knn_call *c)
{
    int status = EXIT_DONE;
    skmt_error err;

    if (c->tm && skmt_datastore_maker_add_tm(c->maker, c->tm, &err))
        return knn_failed(c, &err);
    for (int i = 1; !status && i < c->n_operands; i++)
        status = add_file(c, c->operands[i]);
    if (!status && skmt_datastore_maker_finish(c->maker, &err))
        status = knn_failed(c, &err);
    return status;
}

int cmd_knn_add(struct knn_call *c)
{
    skmt_error err;
    double begin;
    int status = check_add_options(c);

    if (!status) status = knn_start(c);
    if (!status && knn_value(c, "memory"))
        status = knn_open_memory(c, "memory");
    if (!status) status = knn_make_import(c);
    if (!status) status = knn_open_model(c);
    if (!status) status = make_maker(c, "adding");
    if (status) return status;
    begin = wall_seconds();
    if (skmt_datastore_maker_open(c->maker, c->operands[0], &err))
        return knn_failed(c, &err);
    status = add_everything(c);
    return status ? status
                  : print_made(c, c->operands[0], wall_seconds() - begin);
}
