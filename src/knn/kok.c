/* kok.c - the steering system KoK (kNN-over-kNN): the neighbors are states of
 * the corrections so far, and lambda comes from a second search, among what was
 * found before earlier corrections (kok_policy.h). */
#include "knn/kok.h"

#include <stdlib.h>

#include "knn/vanilla.h"
#include "knn/weighed.h"

struct kok {                    /* the mixer of a sentence */
    struct weighed w;           /* must be the first member */
    struct kok_options o;
};

static void kok_weigh(const struct weighed *w, int step,
                      const struct neighbor *nb, int n,
                      struct knn_mixture *out)
{
    const struct kok *k = (const struct kok *)(const void *)w;

    (void)step;
    kok_policy_decide(&w->v.online->policy, &k->o, nb, n, out);
}

static enum status kok_new(struct mixer **out, const struct system_options *o,
                           const struct system_sentence *s, struct err *e)
{
    struct system_options own = vanilla_options(o);
    struct kok_options options = kok_options_of(o);
    enum status st = kok_options_check(&options, e);
    struct kok *k;

    *out = NULL;
    if (st) return st;
    if (!o->online)
        return err_set(e, ST_ARGUMENT, "system: kok needs corrections; use "
                       "'skmt learn'");
    own.entries = NULL;
    own.online = o->online;
    k = calloc(1, sizeof *k);
    if (!k) return err_nomem(e, "neighbor search");
    k->o = options;
    st = vanilla_init(&k->w, kok_weigh, &own, s, e);
    if (st) weighed_free(&k->w.mixer);
    else *out = &k->w.mixer;
    return st;
}

static const char *const kok_option_names[] = { "k", "tau", "eos-votes", NULL };

const struct steering_system kok_system = {
    .name = "kok",
    .title = "all corrections so far; the weight is learned from them, too",
    .paper = "Wang et al., Non-Parametric Online Learning from Human Feedback "
             "for Neural Machine Translation, AAAI 2022",
    .options = kok_option_names,
    .needs = NEEDS_ONLINE,
    .sentence_new = kok_new,
    .prepare = vanilla_prepare,
};
