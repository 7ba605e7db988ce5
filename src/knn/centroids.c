/* centroids.c - compares rows with centroids by the matrix product of the
 * kernels. It does not move centroids (ivfpq_build.c). */
#include "knn/centroids.h"

#include <math.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tensor/pack.h"

static float squared_norm(const float *x, int d)
{
    double sum = 0;

    for (int i = 0; i < d; i++) sum += (double)x[i] * (double)x[i];
    return (float)sum;
}

void centroids_set(struct centroids *c, const float *from)
{
    pack_linear(DT_F32, from, c->n, c->d, c->packed, NULL, NULL);
    for (int i = 0; i < c->n; i++)
        c->norm[i] = squared_norm(from + (size_t)i * (size_t)c->d, c->d);
}

enum status centroids_init(struct centroids *c, const float *from, int n,
                           int d, struct err *e)
{
    assert(n >= 1 && d >= 1);
    *c = (struct centroids){ .kernels = kernels_pick(NULL), .n = n, .d = d,
                             .ld = (size_t)pad_to(n, PANEL) };
    c->packed = mem_alloc(linear_bytes(DT_F32, n, d), 1);
    c->norm = mem_alloc((size_t)n, sizeof *c->norm);
    if (!c->packed || !c->norm) {
        centroids_release(c);
        return err_nomem(e, "IVF-PQ index");
    }
    centroids_set(c, from);
    return ST_OK;
}

void centroids_release(struct centroids *c)
{
    mem_free(c->packed);
    mem_free(c->norm);
    memset(c, 0, sizeof *c);
}

void centroids_score(const struct centroids *c, const float *x, size_t ldx,
                     int rows, float *scores)
{
    struct linear l = { .type = DT_F32, .n = c->n, .k = c->d, .w = c->packed };
    struct gemm g = { .l = &l, .rows = rows, .x = x, .ldx = ldx, .y = scores,
                      .ldy = c->ld };

    assert(rows <= CENTROID_ROWS);
    c->kernels->gemm_f32(&g, 0, linear_panels(&l));
    for (int r = 0; r < rows; r++) {
        float *y = scores + (size_t)r * c->ld;

        for (int i = 0; i < c->n; i++) y[i] = c->norm[i] - 2 * y[i];
    }
}

void centroids_best(const struct centroids *c, const float *x,
                    const float *scores, int k, int64_t *which, float *d2)
{
    float norm = squared_norm(x, c->d);
    int n = 0;

    assert(k >= 1 && k <= c->n);
    for (int i = 0; i < c->n; i++) {
        int at;

        if (n == k && !(scores[i] < d2[k - 1])) continue;
        if (n < k) n++;
        for (at = n - 1; at > 0 && scores[i] < d2[at - 1]; at--) {
            d2[at] = d2[at - 1];
            which[at] = which[at - 1];
        }
        d2[at] = scores[i];
        which[at] = i;
    }
    for (int i = 0; i < k; i++) d2[i] = d2[i] + norm > 0 ? d2[i] + norm : 0;
}
