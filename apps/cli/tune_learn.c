/* tune_learn.c - skmt tune --learn: trains the network that decides how far the
 * memory is trusted.
 *
 *     lines -> find pairs -> run each line through the model, with its
 *     translation known -> train -> print what it is worth, settings file
 *
 * The training itself is in trust_fit.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jput.h"
#include "trust_fit.h"
#include "tune_call.h"

/* ---- the work ------------------------------------------------------------ */

static int set_trainer(struct tune_call *c, skmt_trainer *t)
{
    char seed[32];
    skmt_error err;

    snprintf(seed, sizeof seed, "%ld", c->seed);
    if (skmt_trainer_set(t, "seed", seed, &err) ||
        (c->anew && skmt_trainer_set(t, "begin", "random", &err)))
        return tune_failed(c, &err);
    for (int i = 0; i < c->n_drop; i++)
        if (skmt_trainer_set(t, "drop", c->drop[i], &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

/* ---- what comes out ------------------------------------------------------ */

/* Why the network is not worth keeping; NULL if it is. */
static const char *why_not(const struct trust_fit_stats *s)
{
    if (!trust_fit_is_enough(s)) return "there is too little to learn from";
    if (!trust_fit_is_better(s, s->model))
        return "the default of the model is as good";
    return NULL;
}

static void put_loss(struct textbuf *t, const char *what, double loss)
{
    textbuf_addf(t, "  %-28s %6.3f\n", what, loss);
}

static void put_learned_text(struct tune_call *c,
                             const struct trust_fit_stats *s)
{
    struct textbuf *t = &c->out;
    const char *why = why_not(s);
    char fixed[40];

    snprintf(fixed, sizeof fixed, "best fixed weight (%.2f)", s->fixed_weight);
    tune_put_lines(t, c);
    textbuf_addf(t, "\n%.0f steps to learn from, %.0f to validate with\n\n"
                 "negative log-likelihood per token:\n", s->steps,
                 s->valid_steps);
    put_loss(t, "model alone", s->plain);
    put_loss(t, "SK-MT2", s->sk2);
    put_loss(t, fixed, s->fixed);
    put_loss(t, "default of the model", s->model);
    put_loss(t, "learned network", s->learned);
    put_loss(t, "bound (right neighbor)", s->oracle);
    if (why && c->network)
        textbuf_addf(t, "\nThe learned network is kept (--anew), although %s."
                     "\n", why);
    else if (why)
        textbuf_addf(t, "\nThe learned network is not kept: %s.\n", why);
    else if (c->output)
        textbuf_addf(t, "\nUse it with --settings %s\n", c->output);
}

static void put_learned_json(struct tune_call *c,
                             const struct trust_fit_stats *s)
{
    struct textbuf *t = &c->out;

    jput_object(t);
    jput_number_field(t, "steps", s->steps);
    jput_number_field(t, "valid_steps", s->valid_steps);
    jput_number_field(t, "plain", s->plain);
    jput_number_field(t, "sk2", s->sk2);
    jput_number_field(t, "fixed", s->fixed);
    jput_number_field(t, "fixed_weight", s->fixed_weight);
    jput_number_field(t, "model", s->model);
    jput_number_field(t, "learned", s->learned);
    jput_number_field(t, "oracle", s->oracle);
    jput_bool_field(t, "kept", c->network != NULL);
    jput_line_end(t);
}

/* The settings file. If the network is not kept, the file chooses the default,
 * which is the network of the model, if it has one. */
void tune_learn_settings(struct textbuf *t, const struct tune_call *c)
{
    textbuf_addf(t, "# Learned by skmt tune --learn %s from ", skmt_version());
    tune_put_lines(t, c);
    textbuf_adds(t, "\n");
    trust_fit_put_settings(t, c->network, &c->other_settings);
}

/* Keep the network if it is worth it, or if --anew asks for it. */
static int keep_network(struct tune_call *c, skmt_trainer *t,
                        const struct trust_fit_stats *s)
{
    const char *network = skmt_trainer_network(t);

    if (!network || (why_not(s) && !c->anew)) return EXIT_DONE;
    c->network = strdup(network);
    return c->network ? EXIT_DONE : complain(EXIT_TROUBLE, "out of memory");
}

/* Print what the network is worth and, if asked for, the steps. */
static void put_learned(struct tune_call *c, skmt_trainer *t,
                        const struct trust_fit_stats *s)
{
    if (c->json) put_learned_json(c, s);
    else put_learned_text(c, s);
    for (size_t i = 0; c->steps && skmt_trainer_step(t, i); i++) {
        textbuf_adds(&c->out, skmt_trainer_step(t, i));
        textbuf_adds(&c->out, "\n");
    }
}

/* Train once more without a feature and print the loss. */
static int train_without(struct tune_call *c, skmt_trainer *t,
                         const char *feature, double with)
{
    struct tune_watch watch = tune_watch_of(c);
    struct trust_fit_stats s;
    skmt_error err;

    if (skmt_trainer_set(t, "drop", "", &err)
        || skmt_trainer_set(t, "drop", feature, &err)
        || trust_fit_train_again(t, &watch, &err))
        return tune_failed(c, &err);
    progress_end(&c->progress);
    s = trust_fit_stats(t);
    textbuf_addf(&c->out, "  without %-20s %6.4f  %+.4f\n", feature, s.learned,
                 s.learned - with);
    return EXIT_DONE;
}

/* What each feature is worth: the loss of a network that does not see it. */
static int put_ablation(struct tune_call *c, skmt_trainer *t, double with)
{
    const char *feature;
    int status = EXIT_DONE;

    textbuf_addf(&c->out, "\nloss without a feature:\n  %-28s %6.4f\n",
                 "all features", with);
    for (int i = 0; !status && (feature = skmt_trainer_feature(i)); i++)
        status = train_without(c, t, feature, with);
    return status;
}

static int train(struct tune_call *c, skmt_trainer *t)
{
    struct tune_watch watch = tune_watch_of(c);
    struct trust_fit_stats s;
    skmt_error err;
    int status;

    if (trust_fit_train(t, &c->set, &watch, &err)) return tune_failed(c, &err);
    progress_end(&c->progress);
    s = trust_fit_stats(t);
    status = keep_network(c, t, &s);
    if (!status) put_learned(c, t, &s);
    if (!status && c->ablation && skmt_trainer_network(t))
        status = put_ablation(c, t, s.learned);
    return status;
}

int tune_learn(struct tune_call *c)
{
    skmt_trainer *t = NULL;
    skmt_error err;
    int status = tune_lines_read(c);

    if (!status && !tune_set_add_whole_lines(&c->set))
        status = complain(EXIT_TROUBLE, "out of memory");
    if (!status) status = tune_lines_search(c);
    if (!status &&
        skmt_trainer_new(&t, c->model, c->options, c->steering.keys, &err))
        status = tune_failed(c, &err);
    if (!status) status = set_trainer(c, t);
    if (!status) status = train(c, t);
    skmt_trainer_free(t);
    return status;
}
