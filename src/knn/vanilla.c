/* vanilla.c - the steering system kNN-MT ("Nearest Neighbor Machine
 * Translation"): the neighbors are states of all pairs, and lambda is fixed. */
#include "knn/vanilla.h"

#include <stdlib.h>

struct system_options vanilla_options(const struct system_options *o)
{
    struct system_options own = *o;

    own.weigh.adapter = ADAPTER_FIXED;
    own.repeat_votes = 0;
    if (own.entries) own.online = NULL;
    return own;
}

enum status vanilla_init(struct weighed *w, weighed_fn *fn,
                         const struct system_options *o,
                         const struct system_sentence *s, struct err *e)
{
    enum status st = weighed_init(w, fn, o, s, KNN_MAX_K, e);

    if (st) return st;
    if (!o->entries && !o->online)
        return err_set(e, ST_ARGUMENT, "system: there is no datastore");
    if (o->entries && o->entries->kind == STATE_FFN) w->mixer.want = WANT_FFN;
    return ST_OK;
}

enum status vanilla_new(struct mixer **out, const struct system_options *o,
                        const struct system_sentence *s, struct err *e)
{
    struct system_options own = vanilla_options(o);
    struct weighed *w = calloc(1, sizeof *w);
    enum status st;

    *out = NULL;
    if (!w) return err_nomem(e, "neighbor search");
    st = vanilla_init(w, weighed_by_options, &own, s, e);
    if (st) weighed_free(&w->mixer);
    else *out = &w->mixer;
    return st;
}

enum status vanilla_prepare(struct mixer *m, void *worker,
                            const struct system_pair *pairs, int n,
                            struct err *e)
{
    struct weighed *w = weighed_of(m);
    enum status st = w->v.entries ? voters_prepare_entries(&w->v, worker, e)
                                  : voters_prepare_online(&w->v, e);

    (void)pairs;
    (void)n;
    return st ? st : weighed_ready(w, e);
}

const char *const vanilla_option_names[] = {
    "k", "tau", "lambda", "cache", "eos-votes", NULL
};

const struct steering_system vanilla_system = {
    .name = "vanilla",
    .title = "nearest neighbors among the states of all pairs, fixed weight",
    .paper = "Khandelwal et al., Nearest Neighbor Machine Translation, "
             "ICLR 2021",
    .options = vanilla_option_names,
    .needs = NEEDS_ENTRIES,
    .worker_new = worker_search_make,
    .worker_free = worker_search_unmake,
    .sentence_new = vanilla_new,
    .prepare = vanilla_prepare,
};
