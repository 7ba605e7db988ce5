/* trust_fit.h - trains the network of learned trust on a set of lines, and
 * decides whether it is worth keeping. skmt tune --learn and skmt learn --adapt
 * use it.
 *
 *     skmt_trainer_new(&t, ..)
 *     trust_fit_train(t, &set, &watch, &err)
 *     trust_fit_stats(t), trust_fit_is_enough(), trust_fit_is_better()
 *     trust_fit_put_settings(&text, skmt_trainer_network(t), NULL)
 *
 * Each line of the set must be one sentence (tune_set_add_whole_lines): the
 * translations of several sentences cannot be told apart. About a fourth of the
 * lines is for validation. Whether a pair of a memory is one of them depends
 * only on its id. So if a network is compared with one that was trained before
 * on pairs of the same memory, neither has learned from the validation pairs.
 *
 * Nothing is printed. Each thread may use a trainer of its own. */
#ifndef TRUST_FIT_H
#define TRUST_FIT_H

#include "common/textbuf.h"
#include "skmt_tools.h"
#include "tune_set.h"

/* The statistics of skmt_trainer_stat(), by name. */
#define TRUST_FIT_STATS(X) X(steps) X(valid_steps) X(plain) X(sk2) X(fixed) \
    X(fixed_weight) X(model) X(learned) X(oracle) X(present)

struct trust_fit_stats {
#define X(name) double name;
    TRUST_FIT_STATS(X)
#undef X
};

/* Adds the lines of the set to the trainer and trains, unless there are no
 * steps to learn from. Fails with SKMT_ERR_CANCELED if `watch` says so. */
skmt_status trust_fit_train(skmt_trainer *t, const struct tune_set *set,
                            const struct tune_watch *watch, skmt_error *err);
/* Trains on the same lines again, after a setting has changed. */
skmt_status trust_fit_train_again(skmt_trainer *t,
                                  const struct tune_watch *watch,
                                  skmt_error *err);
struct trust_fit_stats trust_fit_stats(skmt_trainer *t);
/* Whether there are enough steps for a network. */
bool trust_fit_is_enough(const struct trust_fit_stats *s);
/* Whether the network is clearly better than another with this loss. */
bool trust_fit_is_better(const struct trust_fit_stats *s, double loss);

/* Appends the lines of a settings file that choose the network, or the default
 * if it is NULL. `others`: "name = value" lines to put between them; may be
 * NULL. */
void trust_fit_put_settings(struct textbuf *t, const char *network,
                            const struct textbuf *others);

#endif
