/* fast.c - the steering system Fast kNN-MT: for each source token of the
 * sentence, its most similar occurrences in the datastore are found; the
 * entries that are aligned to them are the candidates, and only these are
 * searched while decoding (source_index.h, candidate_set.h).
 *
 * Invariant: the candidates exist from fast_prepare to fast_end. */
#include "knn/fast.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "knn/candidate_set.h"
#include "knn/vanilla.h"

struct fast {                   /* the mixer of a sentence */
    struct weighed w;           /* must be the first member */
    struct candidate_set *candidates;
};

struct fast_worker {
    const struct backend *backend;
    struct executor *x;         /* encodes sources; NULL: not made yet */
    struct entries *entries;    /* that index holds */
    struct source_index *index; /* NULL: not made yet */
    struct place_list places;   /* scratch */
};

static struct fast *fast_of(struct mixer *m)
{
    return (struct fast *)(void *)m;
}

/* ---- the worker ---------------------------------------------------------- */

static enum status fast_worker_new(void **out, const struct backend *b,
                                   struct err *e)
{
    struct fast_worker *fw = calloc(1, sizeof *fw);

    *out = fw;
    if (!fw) return err_nomem(e, "neighbor search");
    fw->backend = b;
    return ST_OK;
}

static void fast_worker_free(void *worker)
{
    struct fast_worker *fw = worker;

    executor_free(fw->x);
    source_index_free(fw->index);
    place_list_release(&fw->places);
    free(fw);
}

/* Make the executor, and the index of this datastore. A worker keeps the index
 * of one datastore. */
static enum status fast_worker_ready(struct fast_worker *fw, struct entries *s,
                                     struct err *e)
{
    const struct backend *b = fw->backend;
    struct executor_limits l = { .max_source = b->max_pos, .rows = b->max_pos,
                                 .max_len = b->max_pos };
    enum status st = ST_OK;

    if (!fw->x) st = backend_executor_new(b, &l, NULL, &fw->x, e);
    if (st || fw->entries == s) return st;
    source_index_free(fw->index);
    fw->index = NULL;
    fw->entries = NULL;
    st = source_index_new(&fw->index, s, e);
    if (!st) fw->entries = s;
    return st;
}

/* Encode the source and find its candidates. */
static enum status find_candidates(struct fast_worker *fw,
                                   const struct voters *v, struct err *e)
{
    struct source src = { v->source, v->n_source };
    struct source_states q = { .token = v->source, .n = v->n_source };
    enum status st = fw->x->ops->force(fw->x, &src, 1, NULL, 0, WANT_SOURCE,
                                       e);

    if (!st)
        st = fw->x->ops->read(fw->x, STATE_SOURCE, 0, q.n, &q.states, &q.ld,
                              e);
    return st ? st : source_index_search(fw->index, &q, v->o.occurrences,
                                         &fw->places, e);
}

/* ---- the mixer ----------------------------------------------------------- */

static void fast_end(struct mixer *m)
{
    struct fast *f = fast_of(m);

    weighed_end(m);
    candidate_set_free(f->candidates);
    f->candidates = NULL;
}

static void fast_free(struct mixer *m)
{
    fast_end(m);
    weighed_free(m);
}

static const struct mixer_ops fast_ops = WEIGHED_OPS(fast_end, fast_free);

static enum status fast_new(struct mixer **out, const struct system_options *o,
                            const struct system_sentence *s, struct err *e)
{
    struct system_options own = vanilla_options(o);
    struct fast *f;
    enum status st;

    *out = NULL;
    if (!o->entries || !o->entries->has_sources || o->occurrences < 1)
        return err_set(e, ST_ARGUMENT, "system: there is no datastore with "
                       "source tokens, or occurrences is below 1");
    f = calloc(1, sizeof *f);
    if (!f) return err_nomem(e, "neighbor search");
    st = vanilla_init(&f->w, weighed_by_options, &own, s, e);
    f->w.mixer.ops = &fast_ops;
    if (st) fast_free(&f->w.mixer);
    else *out = &f->w.mixer;
    return st;
}

static enum status fast_prepare(struct mixer *m, void *worker,
                                const struct system_pair *pairs, int n,
                                struct err *e)
{
    struct fast *f = fast_of(m);
    struct fast_worker *fw = worker;
    struct voters *v = &f->w.v;
    enum status st = fast_worker_ready(fw, v->entries, e);

    (void)pairs;
    (void)n;
    if (!st) st = find_candidates(fw, v, e);
    if (!st)
        st = candidate_set_new(&f->candidates, v->entries, &fw->places,
                               KEY_INT8, e);
    if (st || !candidate_set_count(f->candidates)) return st;
    st = voters_prepare_finder(v, candidate_set_finder(f->candidates), e);
    return st ? st : weighed_ready(&f->w, e);
}

static const char *const fast_option_names[] = {
    "k", "tau", "lambda", "occurrences", "eos-votes", NULL
};

const struct steering_system fast_system = {
    .name = "fast",
    .title = "entries aligned to similar source tokens, by cosine",
    .paper = "Meng et al., Fast Nearest Neighbor Machine Translation, "
             "Findings of ACL 2022",
    .options = fast_option_names,
    .needs = NEEDS_ENTRIES | NEEDS_SOURCES,
    .worker_new = fast_worker_new,
    .worker_free = fast_worker_free,
    .sentence_new = fast_new,
    .prepare = fast_prepare,
};
