/* adam.c - keeps the moments of the gradient and changes the parameters by
 * them. It does not compute gradients. */
#include "knn/adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum status adam_init(struct adam *a, int n, double decay, double clip,
                      struct err *e)
{
    size_t size = (size_t)n;

    assert(n > 0 && clip >= 0);
    memset(a, 0, sizeof *a);
    a->w = calloc(4 * size, sizeof *a->w);
    if (!a->w) return err_nomem(e, "training");
    a->n = n;
    a->grad = a->w + size;
    a->m = a->grad + size;
    a->v = a->m + size;
    a->decay = decay;
    a->clip = clip;
    return ST_OK;
}

void adam_release(struct adam *a)
{
    free(a->w);
    memset(a, 0, sizeof *a);
}

/* Divide the gradient by the number of samples, and limit its norm. */
static void adam_scale(struct adam *a, int n)
{
    double sum = 0, norm;

    for (int i = 0; i < a->n; i++) {
        a->grad[i] /= n;
        sum += a->grad[i] * a->grad[i];
    }
    norm = sqrt(sum);
    if (!(a->clip > 0) || !(norm > a->clip)) return;
    for (int i = 0; i < a->n; i++) a->grad[i] *= a->clip / norm;
}

void adam_step(struct adam *a, double rate, int n)
{
    const double b1 = 0.9, b2 = a->decay;
    double c1, c2;

    assert(n > 0);
    adam_scale(a, n);
    a->step++;
    c1 = 1 - pow(b1, (double)a->step);
    c2 = 1 - pow(b2, (double)a->step);
    for (int i = 0; i < a->n; i++) {
        double g = a->grad[i];

        a->m[i] = b1 * a->m[i] + (1 - b1) * g;
        a->v[i] = b2 * a->v[i] + (1 - b2) * g * g;
        a->w[i] -= rate * (a->m[i] / c1) / (sqrt(a->v[i] / c2) + 1e-8);
        a->grad[i] = 0;
    }
}
