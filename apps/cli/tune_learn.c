/* tune_learn.c - skmt tune --learn: trains the network that decides how far the
 * memory is trusted.
 *
 *     lines -> find pairs -> run each line through the model, with its
 *     translation known -> train -> print what it is worth, settings file
 *
 * Every fourth line is for validation: it decides when to stop. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/jput.h"
#include "tune_call.h"

enum { VALIDATE_EVERY = 4 };
/* With fewer steps the loss on the validation lines says nothing. */
enum { LEAST_STEPS = 200 };
/* A network must be better than the default of the model by this much, in nats
 * per token, to be written. */
#define LEAST_GAIN 0.001

struct learn_stats { double steps, valid_steps, plain, sk2, fixed,
                     fixed_weight, model, learned, oracle; };

static int tune_learn_failed(const skmt_error *err)
{
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return EXIT_SIGNAL + interrupt_signal();
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

/* ---- the work ------------------------------------------------------------ */

/* Each line is one sentence: a stored pair may have several, and their
 * translations cannot be told apart. */
static int lines_to_sentences(struct tune_call *c)
{
    for (size_t i = 0; i < c->set.n; i++)
        if (!tune_set_add_sentence(&c->set, i, 0, c->set.lines[i].source_len))
            return complain(EXIT_TROUBLE, "out of memory");
    return EXIT_DONE;
}

static int add_line(struct tune_call *c, skmt_trainer *t, size_t i)
{
    const struct tune_line *line = &c->set.lines[i];
    const struct tune_sentence *s = &c->set.sentences[i];
    char *target = strndup(c->set.text.data + line->target, line->target_len);
    bool validate = i % VALIDATE_EVERY == VALIDATE_EVERY - 1;
    skmt_error err;
    skmt_status st;

    if (!target) return complain(EXIT_TROUBLE, "out of memory");
    st = skmt_trainer_add(t, s->query, target, s->pairs, s->n_pairs, validate,
                          &err);
    free(target);
    return st ? tune_learn_failed(&err) : EXIT_DONE;
}

static int add_lines(struct tune_call *c, skmt_trainer *t)
{
    int status = EXIT_DONE;

    progress_begin(&c->progress, "pairs", c->set.n, !c->quiet);
    c->progress.stage = "reading";
    for (size_t i = 0; !status && i < c->set.n; i++) {
        if (interrupt_signal()) status = EXIT_SIGNAL + interrupt_signal();
        else status = add_line(c, t, i);
        progress_update(&c->progress, i + 1, i + 1);
    }
    progress_end(&c->progress);
    return status;
}

static int show_epoch(void *user, int epoch, int epochs, double loss)
{
    struct tune_call *c = user;

    (void)loss;
    if (epoch == 1)
        progress_begin(&c->progress, "epochs", (uint64_t)epochs, !c->quiet);
    progress_update(&c->progress, (uint64_t)epoch, (uint64_t)epoch);
    return interrupt_signal() != 0;
}

static int train(struct tune_call *c, skmt_trainer *t)
{
    skmt_error err;
    skmt_status st = skmt_trainer_train(t, show_epoch, c, &err);

    progress_end(&c->progress);
    return st ? tune_learn_failed(&err) : EXIT_DONE;
}

static int set_trainer(struct tune_call *c, skmt_trainer *t)
{
    char seed[32];
    skmt_error err;

    snprintf(seed, sizeof seed, "%ld", c->seed);
    if (skmt_trainer_set(t, "seed", seed, &err) ||
        (c->anew && skmt_trainer_set(t, "begin", "random", &err)))
        return tune_learn_failed(&err);
    for (int i = 0; i < c->n_drop; i++)
        if (skmt_trainer_set(t, "drop", c->drop[i], &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

/* ---- what comes out ------------------------------------------------------ */

static struct learn_stats stats_of(skmt_trainer *t)
{
    struct learn_stats s = { 0 };
    struct { const char *name; double *at; } list[] = {
        { "steps", &s.steps }, { "valid_steps", &s.valid_steps },
        { "plain", &s.plain }, { "sk2", &s.sk2 }, { "fixed", &s.fixed },
        { "fixed_weight", &s.fixed_weight }, { "model", &s.model },
        { "learned", &s.learned }, { "oracle", &s.oracle } };
    const char *name;
    double value;

    for (int i = 0; (name = skmt_trainer_stat(t, i, &value)); i++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            if (!strcmp(list[k].name, name)) *list[k].at = value;
    return s;
}

/* Why the network is not worth keeping; NULL if it is. */
static const char *why_not(const struct learn_stats *s)
{
    if (s->steps < LEAST_STEPS || s->valid_steps < LEAST_STEPS / 4)
        return "there is too little to learn from";
    if (s->learned > s->model - LEAST_GAIN)
        return "the default of the model is as good";
    return NULL;
}

static void put_loss(struct textbuf *t, const char *what, double loss)
{
    textbuf_addf(t, "  %-28s %6.3f\n", what, loss);
}

static void put_learned_text(struct tune_call *c, const struct learn_stats *s)
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

static void put_learned_json(struct tune_call *c, const struct learn_stats *s)
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
    textbuf_adds(t, c->network ? "\npreset = learned\n"
                               : "\npreset = auto\n");
    textbuf_add(t, c->other_settings.data, c->other_settings.len);
    textbuf_adds(t, "trust = ");
    textbuf_adds(t, c->network ? c->network : "default");
    textbuf_adds(t, "\n");
}

/* Keep the network if it is worth it, or if --anew asks for it. */
static int keep_network(struct tune_call *c, skmt_trainer *t,
                        const struct learn_stats *s)
{
    if (why_not(s) && !c->anew) return EXIT_DONE;
    c->network = strdup(skmt_trainer_network(t));
    return c->network ? EXIT_DONE : complain(EXIT_TROUBLE, "out of memory");
}

int tune_learn(struct tune_call *c)
{
    skmt_trainer *t = NULL;
    struct learn_stats s;
    skmt_error err;
    int status = tune_set_read(c);

    if (!status) status = lines_to_sentences(c);
    if (!status) status = tune_set_search(c);
    if (!status &&
        skmt_trainer_new(&t, c->model, c->options, c->steering.keys, &err))
        status = tune_learn_failed(&err);
    if (!status) status = set_trainer(c, t);
    if (!status) status = add_lines(c, t);
    if (!status) status = train(c, t);
    if (!status) {
        s = stats_of(t);
        status = keep_network(c, t, &s);
    }
    if (!status) {
        if (c->json) put_learned_json(c, &s);
        else put_learned_text(c, &s);
    }
    for (size_t i = 0; !status && c->steps && skmt_trainer_step(t, i); i++) {
        textbuf_adds(&c->out, skmt_trainer_step(t, i));
        textbuf_adds(&c->out, "\n");
    }
    skmt_trainer_free(t);
    return status;
}
