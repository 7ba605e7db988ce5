/* learn_adapt.c - skmt learn --adapt: trains the network of learned trust again
 * after every N corrections, and uses it from the next line on.
 *
 * At a terminal, or if another program sends the lines, training takes place in
 * the background, so that nobody waits for it. With --corrections all
 * corrections are known before, and nobody waits: training takes place between
 * two lines, so that the output is always the same. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/wholefile.h"
#include "learn_call.h"

enum { ADAPT_EVERY = 50 };      /* the default of --adapt-every */

/* ---- options ------------------------------------------------------------- */

/* Options that must have their default, or the other value, for the network to
 * be used. */
static const struct { const char *name, *other; } network_options[] = {
    { "preset", "learned" }, { "system", "learned" }, { "tau", NULL },
    { "adapter", NULL }
};

/* Check that a network would be used at all. */
static int check_uses_network(struct learn_call *c)
{
    skmt_options *defaults;
    int status = EXIT_DONE;

    if (skmt_options_new(&defaults, NULL))
        return complain(EXIT_TROUBLE, "out of memory");
    for (size_t i = 0; !status && i < sizeof network_options
                                       / sizeof *network_options; i++) {
        const char *name = network_options[i].name;
        const char *value = skmt_options_get(c->options, name);
        const char *other = network_options[i].other;

        if (!strcmp(value, skmt_options_get(defaults, name))
            || (other && !strcmp(value, other))) continue;
        status = complain(EXIT_USAGE, "--adapt trains a network, but with "
                          "option %s = %s no network is used; remove this "
                          "option from the command line or the settings file",
                          name, value);
    }
    skmt_options_free(defaults);
    return status;
}

/* Check that the settings file is not a file of another option, which would be
 * overwritten. The files need not exist. */
static int check_not_settings(const struct learn_call *c, const char *option,
                              const char *other)
{
    const char *path = c->steering.settings;
    struct stat a, b;

    if (!other) return EXIT_DONE;
    if (strcmp(path, other)
        && (stat(path, &a) || stat(other, &b) || a.st_dev != b.st_dev
            || a.st_ino != b.st_ino)) return EXIT_DONE;
    return complain(EXIT_USAGE, "--%s and --settings name the same file",
                    option);
}

static int check_settings_file(const struct learn_call *c)
{
    const char *path = c->steering.settings;
    struct stat file;
    int status;

    if (!path || !*path || !strcmp(path, "-"))
        return complain(EXIT_USAGE, "--adapt needs --settings FILE, the file "
                        "that the network is written to");
    status = check_not_settings(c, "output", c->output);
    if (!status) status = check_not_settings(c, "memory", c->steering.memory);
    if (!status)
        status = check_not_settings(c, "key-file", c->steering.key_file);
    if (status || stat(path, &file) || S_ISREG(file.st_mode)) return status;
    return complain(EXIT_USAGE, "%s: --adapt needs a regular file, which it "
                    "can replace", path);
}

int learn_adapt_check(struct learn_call *c, const char *file_network)
{
    int status;

    if (!c->wants_adapt)
        return !c->adapt_every ? EXIT_DONE
               : complain(EXIT_USAGE, "--adapt-every needs --adapt");
    if (!c->adapt_every) c->adapt_every = ADAPT_EVERY;
    status = c->simulate ? EXIT_DONE : check_settings_file(c);
    if (!status) status = check_uses_network(c);
    if (status || c->simulate) return status;
    if (!strcmp(skmt_options_get(c->options, "trust"), file_network))
        return EXIT_DONE;
    return complain(EXIT_USAGE, "--adapt takes the network from the settings "
                    "file, so --trust cannot be given");
}

/* ---- begin --------------------------------------------------------------- */

/* Create a settings file that chooses the defaults, or check that the old one
 * can be replaced. Other commands can use the file at once. */
static int create_settings_file(const struct learn_call *c)
{
    static const char text[] = "# Learned by skmt learn --adapt: nothing yet\n"
                               "preset = auto\ntrust = default\n";
    const char *path = c->steering.settings;
    struct textbuf t = { 0 };
    int status;

    if (!access(path, F_OK)) return whole_file_check(path);
    textbuf_adds(&t, text);
    status = whole_file_write(path, &t);
    textbuf_release(&t);
    return status;
}

int learn_adapt_begin(struct learn_call *c)
{
    struct adapt_setup setup = { .model = c->model, .keys = c->steering.keys,
                                 .memory = c->steering.memory,
                                 .settings = c->steering.settings,
                                 .background = !c->corrections };
    skmt_error err;
    /* Once more: now the memory and the key file exist. */
    int status = check_settings_file(c);

    if (!status) status = create_settings_file(c);
    if (status) return status;
    return adapt_new(&c->adapt, &setup, &err) ? learn_failed(c, &err)
                                              : EXIT_DONE;
}

/* ---- training ------------------------------------------------------------ */

void learn_adapt_stored(struct learn_call *c)
{
    struct adapt_task task = {
        .options = c->options, .names = c->steering.names,
        .n_names = c->steering.n_names, .newest_of = c->memory,
        .n_newest = (size_t)c->n_stored, .seed = c->n_trainings + 1 };
    skmt_error err;

    if (!c->adapt || adapt_is_busy(c->adapt)
        || c->n_stored < c->n_stored_before + (uint64_t)c->adapt_every)
        return;
    c->n_stored_before = c->n_stored;
    c->n_trainings++;
    if (!adapt_start(c->adapt, &task, &err)) return;
    progress_end(&c->progress);
    complain(0, "the network cannot be trained: %s", err.message);
}

/* Print "trained with 60 of 300 pairs; ..". */
static void report_end(const struct learn_call *c,
                       const struct adapt_result *r)
{
    const char *file = c->steering.settings;
    char pairs[80];

    if (r->n_pairs < r->n_all)
        snprintf(pairs, sizeof pairs, "%zu of %zu pairs", r->n_pairs, r->n_all);
    else
        snprintf(pairs, sizeof pairs, "%zu pair%s", r->n_pairs,
                 r->n_pairs == 1 ? "" : "s");
    if (r->outcome == ADAPT_NEW)
        complain(0, "trained with %s; the new network is now in %s", pairs,
                 file);
    else
        complain(0, "trained with %s; %s, so nothing was changed in %s", pairs,
                 r->outcome == ADAPT_SAME ? "the new network is not better"
                                          : "there is too little to learn from",
                 file);
}

/* Print one line about a training. Only a failure is printed with --quiet. */
static void report_training(struct learn_call *c, const struct adapt_result *r)
{
    progress_end(&c->progress);
    if (r->outcome == ADAPT_FAILED)
        complain(0, "training failed, so nothing was changed in %s: %s",
                 c->steering.settings, r->error.message);
    else if (c->quiet)
        return;
    else if (r->outcome == ADAPT_CANCELED)
        complain(0, "training was stopped, so nothing was changed in %s",
                 c->steering.settings);
    else
        report_end(c, r);
}

/* ---- using the network --------------------------------------------------- */

skmt_status learn_adapt_use(struct learn_call *c, const char *network,
                            skmt_error *err)
{
    skmt_status st = skmt_options_set(c->options, "preset", "learned", err);

    return st ? st : skmt_options_set(c->options, "trust", network, err);
}

/* Replace the session by one with the new network. The keys are shared, so
 * nothing is computed again. */
static skmt_status renew_session(struct learn_call *c, const char *network,
                                 skmt_error *err)
{
    skmt_session *session = NULL;
    skmt_status st = learn_adapt_use(c, network, err);

    if (!st) st = skmt_session_new(&session, c->model, c->options, err);
    if (!st)
        st = skmt_session_use(session, c->steering.tm, c->steering.keys, err);
    if (st) {
        skmt_session_free(session);
        return st;
    }
    skmt_session_free(c->session);
    c->session = session;
    skmt_result_free(c->result);        /* it must be translated again */
    c->result = NULL;
    return SKMT_OK;
}

skmt_status learn_adapt_poll(struct learn_call *c, skmt_error *err)
{
    struct adapt_result r;
    skmt_status st = SKMT_OK;

    if (!c->adapt || !adapt_take(c->adapt, &r)) return SKMT_OK;
    report_training(c, &r);
    if (r.network) st = renew_session(c, r.network, err);
    adapt_result_release(&r);
    return st;
}

void learn_adapt_end(struct learn_call *c)
{
    struct adapt_result r;

    if (!c->adapt) return;
    adapt_cancel(c->adapt);
    if (adapt_take(c->adapt, &r)) {
        report_training(c, &r);
        adapt_result_release(&r);
    }
    adapt_free(c->adapt);
    c->adapt = NULL;
}
