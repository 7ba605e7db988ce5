/* metak_grid.c - tries values of k, tau and lambda on recorded steps.
 *
 * The loss is a sum of -ln(lambda a + (1 - lambda) b), each of which is convex
 * in lambda. So the best lambda is found by bisection. */
#include "knn/metak_grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"

/* Added to a probability, as in search. */
#define GRID_LEAST 1e-9
enum { GRID_LAMBDAS = 100 };

const int grid_ks[GRID_KS] = { 1, 2, 4, 8, 16, 32 };
const double grid_taus[GRID_TAUS] = { 5, 10, 20, 35, 50, 75, 100, 200, 500 };

/* What the neighbors give to the right token: p_knn(y); or -1 if there are no
 * neighbors, and so lambda is 0. */
static double fixed_hit(const struct metak_sample *s, int k, double tau)
{
    int n = metak_count(k, s->nb, s->n < k ? s->n : k);
    double share[METAK_MOST], hit = 0;

    assert(k <= METAK_MOST);
    if (!n) return -1;
    metak_softmax(s->nb, n, tau, share);
    for (int j = 0; j < n; j++)
        if (s->nb[j].token == s->target) hit += share[j];
    return hit;
}

static double fixed_log(double hit, double model, double lambda)
{
    if (hit < 0) return log(model + GRID_LEAST);
    return log(lambda * hit + (1 - lambda) * model + GRID_LEAST);
}

static double loss_with_hits(const struct metak_samples *s, const double *hit,
                             int hundredths)
{
    double sum = 0, lambda = (double)hundredths / GRID_LAMBDAS;

    for (size_t i = 0; i < s->n; i++)
        sum -= fixed_log(hit[i], (double)s->at[i].model, lambda);
    return s->n ? sum / (double)s->n : 0;
}

bool fixed_setting_fit(struct fixed_setting *f, const struct metak_samples *s)
{
    double *hit = malloc((s->n + 1) * sizeof *hit);
    int low = 0, high = GRID_LAMBDAS - 1;

    if (!hit) return false;
    for (size_t i = 0; i < s->n; i++)
        hit[i] = fixed_hit(&s->at[i], f->k, f->tau);
    while (low < high) {
        int middle = (low + high) / 2;

        if (loss_with_hits(s, hit, middle + 1) < loss_with_hits(s, hit, middle))
            low = middle + 1;
        else
            high = middle;
    }
    f->lambda = (double)low / GRID_LAMBDAS;
    f->loss = loss_with_hits(s, hit, low);
    free(hit);
    return true;
}

double fixed_setting_loss(const struct fixed_setting *f,
                          const struct metak_samples *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum -= fixed_log(fixed_hit(&s->at[i], f->k, f->tau),
                         (double)s->at[i].model, f->lambda);
    return s->n ? sum / (double)s->n : 0;
}

enum status metak_grid(const struct metak_samples *s,
                       struct fixed_setting cells[GRID_CELLS], int *best,
                       grid_progress_fn *progress, void *user, struct err *e)
{
    *best = 0;
    for (int i = 0; i < GRID_CELLS; i++) {
        if (progress && progress(user, i, GRID_CELLS))
            return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
        cells[i] = (struct fixed_setting){ .k = grid_ks[i / GRID_TAUS],
                                           .tau = grid_taus[i % GRID_TAUS] };
        if (!fixed_setting_fit(&cells[i], s)) return err_nomem(e, "training");
        if (cells[i].loss < cells[*best].loss) *best = i;
    }
    return ST_OK;
}
