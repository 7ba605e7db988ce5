/* knn_train.c - skmt knn train: finds fixed settings, or trains the network of
 * system adaptive, for translating with a datastore.
 *
 *     pairs -> record their steps -> try fixed settings -> train
 *           -> print losses, settings file */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/jput.h"
#include "common/record.h"
#include "common/wholefile.h"
#include "knn_call.h"
#include "tm_print.h"

/* A pair of the dev file; its texts are in dev_set.text. */
struct dev_pair { size_t source, source_len, target, target_len; };

struct dev_set {
    struct textbuf text;
    struct dev_pair *at;
    size_t n, cap;
};

struct train_call {
    struct knn_call *c;
    bool vanilla;               /* fixed settings only */
    const char *dev, *output;
    struct dev_set set;
};

/* ---- the pairs ---------------------------------------------------------- */

static bool dev_set_add(struct dev_set *s, const char *source,
                        size_t source_len, const char *target,
                        size_t target_len)
{
    struct dev_pair p = { s->text.len, source_len, s->text.len + source_len,
                          target_len };

    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        struct dev_pair *at = realloc(s->at, cap * sizeof *at);

        if (!at) return false;
        s->at = at;
        s->cap = cap;
    }
    textbuf_add(&s->text, source, source_len);
    textbuf_add(&s->text, target, target_len);
    s->at[s->n++] = p;
    return !s->text.failed;
}

static int read_dev_pairs(struct train_call *t, skmt_pairs *p)
{
    skmt_error err;

    for (;;) {
        const char *source, *target;
        size_t source_len, target_len;

        if (skmt_pairs_next(p, &source, &source_len, &target, &target_len,
                            &err))
            return knn_failed(t->c, &err);
        if (!source) return EXIT_DONE;
        if (!dev_set_add(&t->set, source, source_len, target, target_len))
            return complain(EXIT_TROUBLE, "out of memory");
    }
}

/* Keep `limit` pairs, evenly spaced. */
static void dev_set_thin(struct dev_set *s, size_t limit)
{
    size_t all = s->n;

    if (!limit || limit >= all) return;
    for (size_t i = 0; i < limit; i++) s->at[i] = s->at[i * all / limit];
    s->n = limit;
}

/* Reading may block, and it does not poll for signals. So a signal ends the
 * program at once. */
static int read_dev_file(struct train_call *t, int64_t limit)
{
    skmt_pairs *p;
    skmt_error err;
    int status;

    interrupt_set_polled(false);
    if (skmt_pairs_open(&p, t->dev, t->c->import, &err))
        status = knn_failed(t->c, &err);
    else status = read_dev_pairs(t, p);
    interrupt_set_polled(true);
    skmt_pairs_close(p);
    dev_set_thin(&t->set, (size_t)limit);
    return status;
}

/* ---- the work ----------------------------------------------------------- */

static void begin_stage(struct train_call *t, const char *stage,
                        const char *unit, size_t total)
{
    progress_end(&t->c->progress);
    progress_begin(&t->c->progress, unit, total, !t->c->quiet);
    t->c->progress.stage = stage;
}

/* Record the steps of all pairs. */
static int add_dev_pairs(struct train_call *t)
{
    const struct dev_set *s = &t->set;
    skmt_error err;

    begin_stage(t, "searching", "pairs", s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct dev_pair *p = &s->at[i];

        if (skmt_knn_trainer_add(t->c->trainer, s->text.data + p->source,
                                 p->source_len, s->text.data + p->target,
                                 p->target_len, &err))
            return knn_failed(t->c, &err);
        progress_update(&t->c->progress, i + 1, i + 1);
        if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    }
    return EXIT_DONE;
}

/* This is a skmt_knn_trainer_fn. */
static int show_training(void *user, int done, int total)
{
    struct train_call *t = user;

    t->c->progress.total = (uint64_t)total;
    progress_update(&t->c->progress, (uint64_t)done, (uint64_t)done);
    return interrupt_signal() != 0;
}

static int train_all(struct train_call *t)
{
    skmt_error err;
    int status = add_dev_pairs(t);

    if (status) return status;
    begin_stage(t, "trying", "settings", 0);
    if (skmt_knn_trainer_try(t->c->trainer, show_training, t, &err))
        return knn_failed(t->c, &err);
    if (t->vanilla) return EXIT_DONE;
    begin_stage(t, "training", "updates", 0);
    if (skmt_knn_trainer_train(t->c->trainer, show_training, t, &err))
        return knn_failed(t->c, &err);
    return EXIT_DONE;
}

/* ---- the result --------------------------------------------------------- */

static double train_stat(const struct train_call *t, const char *wanted)
{
    const char *name;
    double x;

    for (int i = 0; (name = skmt_knn_trainer_stat(t->c->trainer, i, &x)); i++)
        if (!strcmp(name, wanted)) return x;
    return 0;
}

static skmt_knn_setting best_setting(const struct train_call *t)
{
    skmt_knn_setting s = SKMT_INIT(skmt_knn_setting);

    skmt_knn_trainer_setting(t->c->trainer, (int)train_stat(t, "best"), &s);
    return s;
}

/* A row for each k, a column for each tau: the loss and the best lambda. */
static void put_grid(struct train_call *t)
{
    struct textbuf *out = &t->c->out;
    skmt_knn_setting s = SKMT_INIT(skmt_knn_setting);
    int k = 0;

    textbuf_adds(out, "\nbest lambda, and its negative log-likelihood per "
                 "token:\n  tau  ");
    for (int i = 0; skmt_knn_trainer_setting(t->c->trainer, i, &s); i++) {
        if (k && s.k != k) break;
        textbuf_addf(out, "%11g", s.tau);
        k = s.k;
    }
    k = 0;
    for (int i = 0; skmt_knn_trainer_setting(t->c->trainer, i, &s); i++) {
        if (s.k != k) textbuf_addf(out, "\n  k %-3d", s.k);
        textbuf_addf(out, " %.2f %5.3f", s.lambda, s.loss);
        k = s.k;
    }
    textbuf_adds(out, "\n");
}

static void put_losses(struct train_call *t, const char *what, double loss,
                       double held)
{
    textbuf_addf(&t->c->out, "  %-34s %7.3f  %7.3f\n", what, loss, held);
}

static void put_dev_pairs(struct train_call *t)
{
    struct textbuf *out = &t->c->out;
    int64_t pairs = (int64_t)train_stat(t, "pairs");
    int64_t known = (int64_t)train_stat(t, "known");
    int64_t left_out = (int64_t)(train_stat(t, "empty") +
                                 train_stat(t, "invalid"));

    put_noun(out, pairs, "pair", "pairs");
    textbuf_adds(out, ", ");
    put_noun(out, (int64_t)train_stat(t, "steps"), "token", "tokens");
    textbuf_adds(out, " to learn from, ");
    put_count(out, (int64_t)train_stat(t, "held_steps"));
    textbuf_adds(out, " held out\n");
    if (left_out) {
        put_noun(out, left_out, "pair", "pairs");
        textbuf_adds(out, " left out because a text is empty or not valid "
                     "UTF-8\n");
    }
    if (!known) return;
    put_noun(out, known, "pair is", "pairs are");
    textbuf_adds(out, " in the datastore, too\n");
}

static void put_trained_text(struct train_call *t)
{
    struct textbuf *out = &t->c->out;
    skmt_knn_setting s = best_setting(t);
    char what[64];

    put_dev_pairs(t);
    put_grid(t);
    textbuf_addf(out, "\n%-36s %7s  %7s\n", "negative log-likelihood per "
                 "token:", "learned", "held");
    put_losses(t, "model alone", train_stat(t, "plain"),
               train_stat(t, "held_plain"));
    snprintf(what, sizeof what, "k %d, tau %g, lambda %.2f", s.k, s.tau,
             s.lambda);
    put_losses(t, what, train_stat(t, "fixed"), train_stat(t, "held_fixed"));
    if (!t->vanilla) {
        snprintf(what, sizeof what, "network, tau %g", train_stat(t, "tau"));
        put_losses(t, what, train_stat(t, "network"),
                   train_stat(t, "held_network"));
    }
    if (!t->vanilla &&
        train_stat(t, "held_network") >= train_stat(t, "held_fixed"))
        textbuf_adds(out, "\nThe network is not better than fixed settings "
                     "(--system vanilla).\n");
    if (!t->output) return;
    textbuf_adds(out, "\nUse it with --settings ");
    put_visible(out, t->output, strlen(t->output));
    textbuf_adds(out, "\n");
}

static void put_trained_json(struct train_call *t)
{
    struct textbuf *out = &t->c->out;
    skmt_knn_setting s = best_setting(t);
    const char *name;
    double x;

    jput_object(out);
    jput_text_field(out, "system", t->vanilla ? "vanilla" : "adaptive");
    for (int i = 0; (name = skmt_knn_trainer_stat(t->c->trainer, i, &x)); i++)
        jput_number_field(out, name, x);
    jput_int_field(out, "fixed_k", s.k);
    jput_number_field(out, "fixed_tau", s.tau);
    jput_number_field(out, "fixed_lambda", s.lambda);
    jput_key(out, "grid");
    jput_array(out);
    for (int i = 0; skmt_knn_trainer_setting(t->c->trainer, i, &s); i++) {
        jput_object(out);
        jput_int_field(out, "k", s.k);
        jput_number_field(out, "tau", s.tau);
        jput_number_field(out, "lambda", s.lambda);
        jput_number_field(out, "loss", s.loss);
        jput_object_end(out);
    }
    jput_array_end(out);
    jput_line_end(out);
}

/* The lines of the settings file. */
static void put_train_settings(struct textbuf *out, const struct train_call *t)
{
    skmt_knn_setting s = best_setting(t);

    textbuf_addf(out, "# Found by skmt knn train %s on %.0f pairs of ",
                 skmt_version(), train_stat(t, "pairs"));
    put_visible(out, t->dev, strlen(t->dev));
    textbuf_adds(out, "\n# with the datastore ");
    put_visible(out, knn_value(t->c, "datastore"),
                strlen(knn_value(t->c, "datastore")));
    textbuf_addf(out, "\n# Loss of the pairs held out: %.4f; the model alone "
                 "has %.4f\n", train_stat(t, t->vanilla ? "held_fixed"
                                                        : "held_network"),
                 train_stat(t, "held_plain"));
    if (t->vanilla) {
        textbuf_addf(out, "system = vanilla\nk = %d\ntau = %g\nlambda = %g\n",
                     s.k, s.tau, s.lambda);
        return;
    }
    textbuf_adds(out, "system = adaptive\nmetak = ");
    textbuf_adds(out, skmt_knn_trainer_network(t->c->trainer));
    textbuf_adds(out, "\n");
}

static int write_train_settings(struct train_call *t)
{
    struct textbuf text = { 0 };
    int status;

    put_train_settings(&text, t);
    status = text.failed ? complain(EXIT_TROUBLE, "%s", textbuf_why(&text))
                         : whole_file_write(t->output, &text);
    textbuf_release(&text);
    return status;
}

/* Many copies of dev pairs are probably a mistake. */
static void warn_known(const struct train_call *t)
{
    double pairs = train_stat(t, "pairs"), known = train_stat(t, "known");

    if (known * 2 < pairs) return;
    complain(0, "warning: %.0f of %.0f pairs are in the datastore, too; new "
             "texts will have fewer near entries than these", known, pairs);
}

/* ---- the command -------------------------------------------------------- */

static int check_train_options(struct train_call *t)
{
    const char *system = knn_value(t->c, "system");

    if (!knn_value(t->c, "datastore"))
        return complain(EXIT_USAGE, "knn train needs --datastore STORE; see "
                        "'skmt help knn train'");
    t->dev = knn_value(t->c, "dev");
    if (!t->dev)
        return complain(EXIT_USAGE, "knn train needs --dev FILE; see 'skmt "
                        "help knn train'");
    if (system && strcmp(system, "adaptive") && strcmp(system, "vanilla"))
        return complain(EXIT_USAGE, "--system: '%s' is not adaptive or "
                        "vanilla", system);
    t->vanilla = system && !strcmp(system, "vanilla");
    if (t->vanilla && (knn_has_option(t->c, "k") ||
                       knn_has_option(t->c, "tau") ||
                       knn_has_option(t->c, "seed") ||
                       knn_has_option(t->c, "updates")))
        return complain(EXIT_USAGE, "--k, --tau, --seed and --updates are for "
                        "--system adaptive");
    t->output = knn_value(t->c, "output");
    return EXIT_DONE;
}

static void record_train_defaults(const struct knn_call *c)
{
    static const struct { const char *name, *value; } list[] = {
        { "system", "adaptive" }, { "k", "32" }, { "tau", "0" },
        { "limit", "0" }, { "seed", "1" }, { "updates", "5000" },
        { "threads", "1" } };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!knn_has_option(c, list[i].name))
            record_value(list[i].name, list[i].value);
}

static int make_knn_trainer(struct knn_call *c)
{
    static const char *const names[] = { "k", "tau", "seed", "updates",
                                         "threads" };
    skmt_error err;

    if (skmt_knn_trainer_new(&c->trainer, c->ds, &err))
        return knn_failed(c, &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (knn_value(c, names[i]) &&
            skmt_knn_trainer_set(c->trainer, names[i], knn_value(c, names[i]),
                                 &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

static int run_train(struct train_call *t)
{
    struct knn_call *c = t->c;
    int64_t limit = 0;
    int status = check_train_options(t);

    record_train_defaults(c);
    if (!status) status = knn_number(c, "limit", 1, &limit);
    if (!status) status = knn_make_import(c);
    if (!status && t->output) status = whole_file_check(t->output);
    if (!status) status = knn_start(c);
    if (!status) status = knn_open_model(c);
    if (!status) status = knn_open_store(c, true);
    if (!status) status = make_knn_trainer(c);
    if (!status) status = read_dev_file(t, limit);
    if (!status) status = train_all(t);
    progress_end(&c->progress);
    if (status) return status;
    warn_known(t);
    if (t->output) status = write_train_settings(t);
    if (status) return status;
    if (c->json) put_trained_json(t);
    else put_trained_text(t);
    return knn_print(c);
}

int cmd_knn_train(struct knn_call *c)
{
    struct train_call t = { .c = c };
    int status = run_train(&t);

    textbuf_release(&t.set.text);
    free(t.set.at);
    return status;
}
