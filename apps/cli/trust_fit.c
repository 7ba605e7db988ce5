/* trust_fit.c - runs the lines of a set through the trainer of the library,
 * trains, and writes the network as settings. */
#include <stdlib.h>
#include <string.h>

#include "trust_fit.h"

enum { VALIDATE_EVERY = 4 };
/* With fewer steps the loss on the validation lines says nothing. Each step of
 * a line is counted twice: with all pairs, and with few. */
enum { LEAST_STEPS = 400 };
/* A network must be better than another by this much, in nats per token, to be
 * used instead of it. */
#define LEAST_GAIN 0.001

/* ---- training ------------------------------------------------------------ */

/* Whether line i is for validation. Ids of pairs are hashed, because those of a
 * memory may have a pattern. */
static bool is_for_validation(const struct tune_set *s, size_t i)
{
    uint64_t n = s->lines[i].number * 0x9e3779b97f4a7c15u >> 32;

    if (!s->from_memory) n = i;
    return n % VALIDATE_EVERY == VALIDATE_EVERY - 1;
}

static skmt_status trust_fit_canceled(skmt_error *err)
{
    *err = (skmt_error){ .status = SKMT_ERR_CANCELED, .message = "canceled" };
    return SKMT_ERR_CANCELED;
}

static skmt_status trust_fit_add_line(skmt_trainer *t,
                                      const struct tune_set *set, size_t i,
                                      skmt_error *err)
{
    const struct tune_line *line = &set->lines[i];
    const struct tune_sentence *s = &set->sentences[i];
    char *target = strndup(set->text.data + line->target, line->target_len);
    skmt_status st = SKMT_ERR_NOMEM;

    if (target)
        st = skmt_trainer_add(t, s->query, target, s->pairs, s->n_pairs,
                              is_for_validation(set, i), err);
    else
        *err = (skmt_error){ .status = st, .message = "out of memory" };
    free(target);
    return st;
}

/* Report an epoch. This is a skmt_trainer_fn. */
static int trust_fit_epoch(void *user, int epoch, int epochs, double loss)
{
    const struct tune_watch *w = user;

    (void)loss;
    return !w->go_on(w->user, WORK_TRAIN, (size_t)epoch, (size_t)epochs);
}

skmt_status trust_fit_train_again(skmt_trainer *t,
                                  const struct tune_watch *watch,
                                  skmt_error *err)
{
    return skmt_trainer_train(t, trust_fit_epoch, (void *)(uintptr_t)watch,
                              err);
}

skmt_status trust_fit_train(skmt_trainer *t, const struct tune_set *set,
                            const struct tune_watch *watch, skmt_error *err)
{
    for (size_t i = 0; i < set->n_sentences; i++) {
        skmt_status st = watch->go_on(watch->user, WORK_ADD, i,
                                      set->n_sentences)
                             ? trust_fit_add_line(t, set, i, err)
                             : trust_fit_canceled(err);

        if (st) return st;
    }
    /* The trainer refuses to train with nothing; here that is a set that is
     * too small. */
    if (!(trust_fit_stats(t).steps > 0)) return SKMT_OK;
    return trust_fit_train_again(t, watch, err);
}

/* ---- the result ---------------------------------------------------------- */

struct trust_fit_stats trust_fit_stats(skmt_trainer *t)
{
    struct trust_fit_stats s = { 0 };
    struct { const char *name; double *at; } list[] = {
#define X(name) { #name, &s.name },
        TRUST_FIT_STATS(X)
#undef X
    };
    const char *name;
    double value;

    for (int i = 0; (name = skmt_trainer_stat(t, i, &value)); i++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            if (!strcmp(list[k].name, name)) *list[k].at = value;
    return s;
}

bool trust_fit_is_enough(const struct trust_fit_stats *s)
{
    return s->steps >= LEAST_STEPS
           && s->valid_steps >= LEAST_STEPS / VALIDATE_EVERY;
}

bool trust_fit_is_better(const struct trust_fit_stats *s, double loss)
{
    return s->learned <= loss - LEAST_GAIN;
}

void trust_fit_put_settings(struct textbuf *t, const char *network,
                            const struct textbuf *others)
{
    textbuf_adds(t, network ? "preset = learned\n" : "preset = auto\n");
    if (others && others->len) textbuf_add(t, others->data, others->len);
    textbuf_adds(t, "trust = ");
    textbuf_adds(t, network ? network : "default");
    textbuf_adds(t, "\n");
}
