/* chunk.c - the steering system Chunk-based kNN-MT: the datastore is searched
 * at some steps only. At the others, the tokens that follow the neighbors found
 * so far are searched (chunks.h), with a weight and a temperature of their
 * own. */
#include "knn/chunk.h"

#include <stdlib.h>

#include "knn/vanilla.h"

static void chunk_weigh(const struct weighed *w, int step,
                        const struct neighbor *nb, int n,
                        struct knn_mixture *out)
{
    struct weigh_options o = w->v.o.weigh;

    if (!asking_searches(w->v.asking, step)) {
        o.tau = w->v.o.chunk_tau;
        o.lambda = w->v.o.chunk_lambda;
    }
    weigh(nb, n, &o, out);
}

/* Whether the options of the steps between two searches are in range. */
static bool chunk_in_range(const struct system_options *o)
{
    return o->chunk_tau > 0 && o->chunk_lambda >= 0 && o->chunk_lambda <= 1;
}

static enum status chunk_new(struct mixer **out,
                             const struct system_options *o,
                             const struct system_sentence *s, struct err *e)
{
    struct system_options own = vanilla_options(o);
    struct weighed *w;
    enum status st;

    *out = NULL;
    if (!chunk_in_range(o))
        return err_set(e, ST_ARGUMENT, "chunk-tau must be above 0 and "
                       "chunk-lambda from 0 to 1");
    if (!o->entries)
        return err_set(e, ST_ARGUMENT, "system: there is no datastore");
    w = calloc(1, sizeof *w);
    if (!w) return err_nomem(e, "neighbor search");
    st = vanilla_init(w, chunk_weigh, &own, s, e);
    w->v.in_chunks = true;
    if (st) weighed_free(&w->mixer);
    else *out = &w->mixer;
    return st;
}

static const char *const chunk_option_names[] = {
    "k", "tau", "lambda", "chunk", "chunk-first", "chunk-longest",
    "chunk-dims", "chunk-tau", "chunk-lambda", "cache", "eos-votes", NULL
};

const struct steering_system chunk_system = {
    .name = "chunk",
    .title = "all pairs; between searches, what follows earlier neighbors",
    .paper = "Martins et al., Chunk-based Nearest Neighbor Machine "
             "Translation, EMNLP 2022",
    .options = chunk_option_names,
    .needs = NEEDS_ENTRIES,
    .worker_new = worker_search_make,
    .worker_free = worker_search_unmake,
    .sentence_new = chunk_new,
    .prepare = vanilla_prepare,
};
