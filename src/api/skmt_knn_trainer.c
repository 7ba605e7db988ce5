/* skmt_knn_trainer.c - the part of include/skmt_tools.h that finds settings for
 * systems that search a datastore. The work is done in engine/metak_trainer.c,
 * knn/metak_grid.c and knn/metak_train.c. */
#include <stdlib.h>
#include <string.h>

#include "api/datastore_handle.h"
#include "api/handles.h"
#include "api/sized.h"
#include "base/invariant.h"
#include "engine/metak_trainer.h"
#include "knn/metak_grid.h"

enum { HOLD_EVERY = 4 };
/* With fewer steps nothing can be learned, and the losses say nothing. */
enum { LEAST_KNN_STEPS = 200 };

struct skmt_knn_trainer {
    const struct engine *en;    /* held */
    struct entries *s;          /* held */
    struct metak_trainer *trainer;      /* made with the first pair */
    struct metak_training how;
    double tau;                 /* of the network; 0: that of the best cell */
    int threads;
    bool tried, trained;        /* tried: the steps were divided, and cells and
                                   best are set */
    struct metak_samples held;
    struct fixed_setting cells[GRID_CELLS];
    int best;
    struct metak net;
    struct metak_trained went;
    char network[METAK_TEXT];
    double losses[6];           /* plain, fixed, network; held_.. */
    skmt_knn_trainer_fn *fn;
    void *user;
};

skmt_status skmt_knn_trainer_new(skmt_knn_trainer **out,
                                 const skmt_datastore *ds, skmt_error *err)
{
    skmt_knn_trainer *t;

    *out = NULL;
    err_clear(err_of(err));
    if (!ds->en)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "open the "
                                    "datastore with its model to train");
    t = calloc(1, sizeof *t);
    if (!t) return (skmt_status)err_nomem(err_of(err), "training");
    t->en = engine_hold(ds->en);
    t->s = entries_hold(ds->s);
    t->threads = 1;
    t->how = metak_training_defaults(ds->en->backend->vocab);
    t->how.k = METAK_MOST;      /* better than 8, as published (method 5.2) */
    *out = t;
    return SKMT_OK;
}

void skmt_knn_trainer_free(skmt_knn_trainer *t)
{
    if (!t) return;
    metak_trainer_free(t->trainer);
    metak_samples_release(&t->held);
    entries_drop(t->s);
    engine_close(t->en);
    free(t);
}

/* ---- settings ------------------------------------------------------------ */

static enum status set_knn_number(const char *key, const char *value,
                                  double low, double high, bool whole,
                                  double *out, struct err *e)
{
    char *end;
    double x = strtod(value, &end);

    if (end == value || *end || !(x >= low && x <= high) ||
        (whole && x != (double)(int64_t)x))
        return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not a %snumber from "
                       "%.15g to %.15g", key, value, whole ? "whole " : "",
                       low, high);
    *out = x;
    return ST_OK;
}

static enum status set_network_k(skmt_knn_trainer *t, const char *value,
                                 struct err *e)
{
    double x = 0;
    enum status st = set_knn_number("k", value, 1, METAK_MOST, true, &x, e);

    if (st) return st;
    if (!metak_allows((int)x))
        return err_set(e, ST_ARGUMENT, "k: \"%.40s\" is not 1, 2, 4, 8, 16 or "
                       "32", value);
    t->how.k = (int)x;
    return ST_OK;
}

static enum status knn_trainer_set(skmt_knn_trainer *t, const char *key,
                                   const char *value, struct err *e)
{
    double x = 0;
    enum status st;

    if (!strcmp(key, "k")) return set_network_k(t, value, e);
    if (!strcmp(key, "tau"))
        return set_knn_number(key, value, 0, 1e6, false, &t->tau, e);
    if (!strcmp(key, "seed")) {
        st = set_knn_number(key, value, 0, 1e15, true, &x, e);
        if (!st) t->how.seed = (uint64_t)x;
    } else if (!strcmp(key, "threads")) {
        st = set_knn_number(key, value, 1, 256, true, &x, e);
        if (!st) t->threads = (int)x;
    } else if (!strcmp(key, "updates")) {
        st = set_knn_number(key, value, 1, 1e6, true, &x, e);
        if (!st) t->how.updates = (int)x;
    } else {
        st = err_set(e, ST_ARGUMENT, "there is no setting \"%.40s\"", key);
    }
    return st;
}

skmt_status skmt_knn_trainer_set(skmt_knn_trainer *t, const char *key,
                                 const char *value, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)knn_trainer_set(t, key, value, err_of(err));
}

/* ---- pairs --------------------------------------------------------------- */

static enum status knn_trainer_start(skmt_knn_trainer *t, struct err *e)
{
    if (t->tried)
        return err_set(e, ST_ARGUMENT, "settings were tried already, so no "
                       "pairs can be added");
    if (t->trainer) return ST_OK;
    return metak_trainer_new(&t->trainer, t->en, t->s, t->threads, e);
}

skmt_status skmt_knn_trainer_add(skmt_knn_trainer *t, const char *source,
                                 size_t source_len, const char *target,
                                 size_t target_len, skmt_error *err)
{
    struct err *e = err_of(err);
    enum status st;

    err_clear(e);
    st = knn_trainer_start(t, e);
    if (!st)
        st = metak_trainer_add(t->trainer, (struct str){ source, source_len },
                               (struct str){ target, target_len }, e);
    return (skmt_status)st;
}

/* ---- the work ------------------------------------------------------------ */

/* Compute what waits, and hold some of the steps out. */
static enum status divide_steps(skmt_knn_trainer *t, struct err *e)
{
    struct metak_samples *s;
    enum status st = knn_trainer_start(t, e);

    if (!st) st = metak_trainer_flush(t->trainer, e);
    if (st) return st;
    s = metak_trainer_samples(t->trainer);
    if (!t->s->n)
        return err_set(e, ST_ARGUMENT, "the datastore has no entries");
    if (s->n < LEAST_KNN_STEPS ||
        metak_trainer_counts(t->trainer).pairs < HOLD_EVERY)
        return err_set(e, ST_ARGUMENT, "there is too little to learn from: "
                       "%lld pairs with %zu tokens; at least %d pairs and %d "
                       "tokens are needed, and a few hundred pairs are better",
                       (long long)metak_trainer_counts(t->trainer).pairs,
                       s->n, HOLD_EVERY, LEAST_KNN_STEPS);
    return metak_samples_split(s, HOLD_EVERY, &t->held, e);
}

/* Tell the function of the caller about a cell. */
static int tell_cell(void *user, int done, int total)
{
    skmt_knn_trainer *t = user;

    return t->fn ? t->fn(t->user, done, total) : 0;
}

/* Tell it about a validation. */
static int tell_update(void *user, int update, int updates, double loss)
{
    (void)loss;
    return tell_cell(user, update, updates);
}

static enum status try_cells(skmt_knn_trainer *t, struct err *e)
{
    struct metak_samples *s = metak_trainer_samples(t->trainer);
    enum status st = metak_grid(s, t->cells, &t->best, tell_cell, t, e);

    if (st) return st;
    t->losses[0] = metak_loss_model(s);
    t->losses[1] = t->cells[t->best].loss;
    t->losses[3] = metak_loss_model(&t->held);
    t->losses[4] = fixed_setting_loss(&t->cells[t->best], &t->held);
    return ST_OK;
}

skmt_status skmt_knn_trainer_try(skmt_knn_trainer *t, skmt_knn_trainer_fn *fn,
                                 void *user, skmt_error *err)
{
    struct err *e = err_of(err);
    enum status st = ST_OK;

    err_clear(e);
    t->fn = fn;
    t->user = user;
    if (!t->held.n) st = divide_steps(t, e);
    if (!st && !t->tried) st = try_cells(t, e);
    if (!st) t->tried = true;
    return (skmt_status)st;
}

skmt_status skmt_knn_trainer_train(skmt_knn_trainer *t, skmt_knn_trainer_fn *fn,
                                   void *user, skmt_error *err)
{
    struct err *e = err_of(err);
    struct metak_samples *s;
    enum status st;

    err_clear(e);
    t->trained = false;
    if (!t->tried)
        return (skmt_status)err_set(e, ST_ARGUMENT, "try fixed settings "
                                    "before the training");
    t->fn = fn;
    t->user = user;
    t->how.progress = tell_update;
    t->how.user = t;
    t->how.temperature = t->tau > 0 ? t->tau : t->cells[t->best].tau;
    s = metak_trainer_samples(t->trainer);
    st = metak_train(&t->net, s, &t->held, &t->how, &t->went, e);
    if (st) return (skmt_status)st;
    t->trained = true;
    metak_write(&t->net, engine_weights_id(t->en), t->network);
    t->losses[2] = metak_loss(&t->net, s);
    t->losses[5] = metak_loss(&t->net, &t->held);
    return SKMT_OK;
}

/* ---- results ------------------------------------------------------------- */

const char *skmt_knn_trainer_network(const skmt_knn_trainer *t)
{
    return t->trained ? t->network : NULL;
}

int skmt_knn_trainer_setting(const skmt_knn_trainer *t, int i,
                             skmt_knn_setting *out)
{
    skmt_knn_setting found = { .k = 0 };
    bool exists = t->tried && i >= 0 && i < GRID_CELLS;

    if (exists) {
        const struct fixed_setting *f = &t->cells[i];

        found = (skmt_knn_setting){ .k = f->k, .tau = f->tau,
                                    .lambda = f->lambda, .loss = f->loss };
    }
    return !sized_put(SIZED_skmt_knn_setting, out, &found, NULL) && exists;
}

const char *skmt_knn_trainer_stat(const skmt_knn_trainer *t, int i,
                                  double *value)
{
    static const char *const names[] = {
        "pairs", "known", "empty", "invalid", "cut", "steps", "held_steps",
        "best", "tau", "updates", "best_update", "plain", "fixed", "network",
        "held_plain", "held_fixed", "held_network" };
    struct metak_trainer_counts c = { 0 };
    const double *l = t->losses;
    size_t steps = 0;

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    if (t->trainer) {
        c = metak_trainer_counts(t->trainer);
        steps = metak_trainer_samples(t->trainer)->n;
    }
    *value = (double[]){
        (double)c.pairs, (double)c.known, (double)c.empty, (double)c.invalid,
        (double)c.cut, (double)steps, (double)t->held.n, t->best,
        t->trained ? (double)t->net.temperature : 0, t->went.updates,
        t->went.best_update, l[0], l[1], l[2], l[3], l[4], l[5] }[i];
    return names[i];
}
