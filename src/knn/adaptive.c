/* adaptive.c - the steering system Adaptive kNN-MT: the neighbors of vanilla
 * kNN-MT, weighed by a network that chooses among 1, 2, 4 .. neighbors and none
 * (metak.h). */
#include "knn/adaptive.h"

#include <stdlib.h>

#include "knn/vanilla.h"
#include "knn/weighed.h"

struct adaptive {               /* the mixer of a sentence */
    struct weighed w;           /* must be the first member */
    struct metak net;
};

static void adaptive_weigh(const struct weighed *w, int step,
                           const struct neighbor *nb, int n,
                           struct knn_mixture *out)
{
    (void)step;
    metak_decide(&((const struct adaptive *)(const void *)w)->net, nb, n, out);
}

static enum status adaptive_new(struct mixer **out,
                                const struct system_options *o,
                                const struct system_sentence *s, struct err *e)
{
    struct system_options own = vanilla_options(o);
    struct adaptive *a;
    enum status st;

    *out = NULL;
    if (!o->metak)
        return err_set(e, ST_ARGUMENT, "system: adaptive needs a network; "
                       "train one with 'skmt knn train' and use --settings");
    a = calloc(1, sizeof *a);
    if (!a) return err_nomem(e, "neighbor search");
    a->net = *o->metak;
    own.k = a->net.k;
    st = vanilla_init(&a->w, adaptive_weigh, &own, s, e);
    if (st) weighed_free(&a->w.mixer);
    else *out = &a->w.mixer;
    return st;
}

static const char *const adaptive_option_names[] = {
    "metak", "cache", "eos-votes", NULL
};

const struct steering_system adaptive_system = {
    .name = "adaptive",
    .title = "all pairs; a network chooses how many neighbors count",
    .paper = "Zheng et al., Adaptive Nearest Neighbor Machine Translation, "
             "ACL 2021",
    .options = adaptive_option_names,
    .needs = NEEDS_ENTRIES,
    .worker_new = worker_search_make,
    .worker_free = worker_search_unmake,
    .sentence_new = adaptive_new,
    .prepare = vanilla_prepare,
};
