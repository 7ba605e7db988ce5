/* sk.c - the steering system SK-MT ("Simple and Scalable Nearest Neighbor
 * Machine Translation"): the neighbors are states of a few similar pairs, and
 * lambda follows from the distance of the nearest one (weigh.h). */
#include "knn/sk.h"

#include <stdlib.h>

#include "knn/weighed.h"

static enum status sk_prepare(struct mixer *m, void *worker,
                              const struct system_pair *pairs, int n,
                              struct err *e)
{
    struct weighed *w = weighed_of(m);
    enum status st = voters_prepare(&w->v, pairs, n, e);

    (void)worker;
    return st ? st : weighed_ready(w, e);
}

static enum status sk_new(struct mixer **out, const struct system_options *o,
                          const struct system_sentence *s, struct err *e)
{
    struct system_options own = *o;
    struct weighed *w = calloc(1, sizeof *w);
    enum status st;

    *out = NULL;
    if (!w) return err_nomem(e, "neighbor search");
    own.entries = NULL;
    own.online = NULL;
    st = weighed_init(w, weighed_by_options, &own, s, KNN_MAX_K, e);
    if (st) weighed_free(&w->mixer);
    else *out = &w->mixer;
    return st;
}

static const char *const sk_option_names[] = {
    "k", "tau", "adapter", "lambda", "knn-eos", "eos-votes", "repeat-votes",
    NULL
};

const struct steering_system sk_system = {
    .name = "sk",
    .title = "nearest neighbors among the states of a few similar pairs",
    .paper = "Dai et al., Simple and Scalable Nearest Neighbor Machine "
             "Translation, ICLR 2023",
    .options = sk_option_names,
    .needs = NEEDS_PAIRS,
    .sentence_new = sk_new,
    .prepare = sk_prepare,
};
