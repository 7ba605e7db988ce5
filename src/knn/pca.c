/* pca.c - computes the covariance of keys in chunks, takes its eigenvectors
 * (eigen.c) and applies them to vectors. It reads and writes no files.
 *
 * The covariance is not computed as the mean of x x^T minus mean mean^T,
 * because this loses digits where the mean is large. Instead each chunk of rows
 * has its own mean, and the products of its deviations are added. If na rows
 * with the mean a are joined with nb rows with the mean b, then
 *     (na nb / (na + nb)) (b - a) (b - a)^T
 * has to be added. We treat the square root of this as one more row of the
 * chunk. (Chan, Golub and LeVeque 1979.) */
#include "knn/pca.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/splitmix.h"
#include "knn/eigen.h"
#include "knn/entry_numbers.h"

/* ---- mean and covariance ------------------------------------------------- */

/* Rows of a chunk. A multiple of 4 together with the additional row, because
 * products are added 4 rows at a time. */
enum { CHUNK_ROWS = 63, CHUNK_ALL = 64 };

struct pca_sums {
    int d;
    struct pool *pool;
    int64_t n;                  /* rows that are in mean and products */
    double *mean;               /* [d] of these rows */
    double *products;           /* [d, d] sums of products of deviations; the
                                   part above the diagonal */
    double *chunk;              /* [CHUNK_ALL, d] the rows that are not in yet,
                                   and one more */
    int waiting;                /* rows in chunk, less than CHUNK_ROWS */
};

void pca_sums_free(struct pca_sums *s)
{
    if (!s) return;
    mem_free(s->mean);
    mem_free(s->products);
    mem_free(s->chunk);
    free(s);
}

enum status pca_sums_new(struct pca_sums **out, int d, struct pool *pool,
                         struct err *e)
{
    struct pca_sums *s = calloc(1, sizeof *s);
    size_t n = (size_t)d;

    *out = NULL;
    assert(d > 0 && d <= PCA_MAX_D);
    if (!s) return err_nomem(e, "principal components");
    s->d = d;
    s->pool = pool;
    s->mean = mem_zalloc(n, sizeof *s->mean);
    s->products = mem_zalloc(n * n, sizeof *s->products);
    s->chunk = mem_alloc(n * CHUNK_ALL, sizeof *s->chunk);
    if (!s->mean || !s->products || !s->chunk) {
        pca_sums_free(s);
        return err_nomem(e, "principal components");
    }
    *out = s;
    return ST_OK;
}

/* Replace the waiting rows by their deviations from their mean, append the row
 * that accounts for the difference to the mean so far, and update that mean.
 * Unused rows become zeros. */
static void center_chunk(struct pca_sums *s)
{
    size_t d = (size_t)s->d;
    double nb = s->waiting, na = (double)s->n, all = na + nb;
    double *more = s->chunk + (size_t)s->waiting * d;

    memset(more, 0, (size_t)(CHUNK_ALL - s->waiting) * d * sizeof *more);
    for (size_t j = 0; j < d; j++) {
        double mean = 0, *x = s->chunk + j;

        for (int r = 0; r < s->waiting; r++) mean += x[(size_t)r * d];
        mean /= nb;
        for (int r = 0; r < s->waiting; r++) x[(size_t)r * d] -= mean;
        more[j] = sqrt(na * nb / all) * (mean - s->mean[j]);
        s->mean[j] += (mean - s->mean[j]) * nb / all;
    }
    s->n += s->waiting;
    s->waiting = 0;
}

/* Add the products of column i with the columns from i on, for 4 rows. */
static void add_products(double *to, const double *x, size_t d, size_t i)
{
    const double *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
    double a0 = x[i], a1 = x1[i], a2 = x2[i], a3 = x3[i];

    for (size_t j = i; j < d; j++)
        to[j] += a0 * x[j] + a1 * x1[j] + a2 * x2[j] + a3 * x3[j];
}

/* A part of the rows of the matrix: every n_parts-th, so that the parts take
 * the same time. */
static void products_part(void *arg, int part, int n_parts)
{
    const struct pca_sums *s = arg;
    size_t d = (size_t)s->d;

    for (size_t i = (size_t)part; i < d; i += (size_t)n_parts)
        for (size_t r = 0; r < CHUNK_ALL; r += 4)
            add_products(s->products + i * d, s->chunk + r * d, d, i);
}

static void pca_sums_flush(struct pca_sums *s)
{
    if (!s->waiting) return;
    center_chunk(s);
    pool_run(s->pool, products_part, s);
}

void pca_sums_add(struct pca_sums *s, const float *row)
{
    double *to = s->chunk + (size_t)s->waiting * (size_t)s->d;

    for (int j = 0; j < s->d; j++) to[j] = (double)row[j];
    if (++s->waiting == CHUNK_ROWS) pca_sums_flush(s);
}

int64_t pca_sums_count(const struct pca_sums *s) { return s->n + s->waiting; }

/* ---- the map ------------------------------------------------------------- */

void pca_free(struct pca *p)
{
    if (!p) return;
    mem_free(p->mean);
    mem_free(p->matrix);
    mem_free(p->variance);
    free(p);
}

/* The whole covariance matrix; a [d, d]. */
static void copy_covariance(const struct pca_sums *s, double *a)
{
    size_t d = (size_t)s->d;

    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            a[i * d + j] = a[j * d + i] =
                s->products[i * d + j] / (double)s->n;
}

/* Copy the results to p as floats. Rounding makes variances that are zero
 * slightly negative. */
static void pca_fill(struct pca *p, const struct pca_sums *s,
                     const double *vector)
{
    size_t n = (size_t)p->map.to * (size_t)s->d;

    for (int j = 0; j < s->d; j++) {
        p->mean[j] = (float)s->mean[j];
        p->variance[j] = fmax(p->variance[j], 0);
    }
    for (size_t i = 0; i < n; i++) p->matrix[i] = (float)vector[i];
}

static struct pca *pca_alloc(int from, int to)
{
    struct pca *p = calloc(1, sizeof *p);

    if (!p) return NULL;
    p->mean = mem_alloc((size_t)from, sizeof *p->mean);
    p->matrix = mem_alloc((size_t)to * (size_t)from, sizeof *p->matrix);
    p->variance = mem_alloc((size_t)from, sizeof *p->variance);
    p->map = (struct entry_map){ from, to, p->mean, p->matrix };
    if (p->mean && p->matrix && p->variance) return p;
    pca_free(p);
    return NULL;
}

enum status pca_new(struct pca **out, struct pca_sums *s, int to,
                    struct err *e)
{
    size_t d = (size_t)s->d;
    struct pca *p = pca_alloc(s->d, to);
    double *a = mem_alloc(2 * d * d + 2 * d, sizeof *a);
    enum status st = ST_OK;

    assert(to > 0 && to <= s->d);
    *out = NULL;
    pca_sums_flush(s);
    if (!p || !a) st = err_nomem(e, "principal components");
    else if (!s->n)
        st = err_set(e, ST_ARGUMENT, "there are no keys to compute principal "
                     "components from");
    if (!st) {
        double *vector = a + d * d, *scratch = vector + d * d;

        copy_covariance(s, a);
        if (eigen_symmetric(a, s->d, p->variance, vector, scratch))
            pca_fill(p, s, vector);
        else
            st = err_set(e, ST_FORMAT, "principal components: a key has a "
                         "number that is not finite");
    }
    mem_free(a);
    if (st) pca_free(p);
    else *out = p;
    return st;
}

double pca_explained(const struct pca *p, int n)
{
    double all = 0, kept = 0;

    assert(n >= 0 && n <= p->map.from);
    for (int i = 0; i < p->map.from; i++) {
        all += p->variance[i];
        if (i < n) kept += p->variance[i];
    }
    return all > 0 ? kept / all : 1;
}

/* ---- vectors ------------------------------------------------------------- */

/* Each output has LANES sums, one for the inputs j with the same j % LANES, so
 * that the compiler can use vectors. MAP_ROWS outputs are computed together,
 * because they need the same inputs. */
enum { LANES = 8, MAP_ROWS = 4 };

/* Add n <= LANES inputs, beginning with input j, to n_rows sums. */
static inline void map_step(const struct entry_map *map, const float *x, int j,
                            int n, int row, int n_rows,
                            float sum[MAP_ROWS][LANES])
{
    const float *m = map->matrix + (size_t)row * (size_t)map->from + j;
    float part[LANES];

    for (int i = 0; i < n; i++) part[i] = x[j + i] - map->mean[j + i];
    for (int r = 0; r < n_rows; r++, m += map->from)
        for (int i = 0; i < n; i++) sum[r][i] += m[i] * part[i];
}

static void map_rows(const struct entry_map *map, const float *x, int row,
                     int n_rows, float *y)
{
    float sum[MAP_ROWS][LANES] = { { 0 } };
    int j = 0, left = map->from % LANES;

    if (n_rows == MAP_ROWS)
        for (; j + LANES <= map->from; j += LANES)
            map_step(map, x, j, LANES, row, MAP_ROWS, sum);
    for (; j + LANES <= map->from; j += LANES)
        map_step(map, x, j, LANES, row, n_rows, sum);
    if (left) map_step(map, x, j, left, row, n_rows, sum);
    for (int r = 0; r < n_rows; r++) {
        const float *s = sum[r];

        y[row + r] = ((s[0] + s[4]) + (s[2] + s[6])) +
                     ((s[1] + s[5]) + (s[3] + s[7]));
    }
}

void pca_map(const struct entry_map *map, const float *x, float *y)
{
    for (int row = 0; row < map->to; row += MAP_ROWS)
        map_rows(map, x, row, map->to - row < MAP_ROWS ? map->to - row
                                                       : MAP_ROWS, y);
}

void pca_unmap(const struct entry_map *map, const float *y, float *x)
{
    memcpy(x, map->mean, (size_t)map->from * sizeof *x);
    for (int i = 0; i < map->to; i++) {
        const float *row = map->matrix + (size_t)i * (size_t)map->from;

        for (int j = 0; j < map->from; j++) x[j] += y[i] * row[j];
    }
}

/* ---- from a datastore ---------------------------------------------------- */

struct pca_options pca_options_defaults(void)
{
    return (struct pca_options){ .to = 256, .sample = 100000, .seed = 1 };
}

/* Draws `wanted` of the entries that come, of which `left` are still to
 * come. */
struct entry_draw {
    uint64_t seed;
    int64_t left, wanted, total, done;
};

/* Whether the next entry is drawn: with the probability wanted / left, so that
 * exactly `wanted` are drawn in the end. */
static bool draw_next(struct entry_draw *d)
{
    bool drawn = splitmix_unit(&d->seed) * (double)d->left < (double)d->wanted;

    d->left--;
    d->wanted -= drawn;
    d->done += drawn;
    return drawn;
}

static enum status sample_block(struct pca_sums *sums, const struct entries *s,
                                const struct entry_block *b,
                                struct entry_draw *d,
                                const struct pca_options *o, float *key,
                                struct err *e)
{
    for (int i = 0; i < b->n && d->wanted; i++) {
        if (entry_is_deleted(b, i) || !draw_next(d)) continue;
        entries_key(s, b, i, key);
        pca_sums_add(sums, key);
        if ((d->done % 1024 == 0 || !d->wanted) && o->progress &&
            o->progress(o->user, d->done, d->total))
            return err_set(e, ST_CANCELED, "stopped");
    }
    return ST_OK;
}

static enum status sample_keys(struct pca_sums *sums, const struct entries *s,
                               const struct pca_options *o, struct err *e)
{
    struct entry_draw d = { .seed = o->seed, .left = s->n, .wanted = s->n };
    float *key = mem_alloc((size_t)s->d, sizeof *key);
    enum status st = ST_OK;

    if (!key) return err_nomem(e, "principal components");
    if (o->sample && o->sample < d.wanted) d.wanted = o->sample;
    d.total = d.wanted;
    for (int i = 0; !st && i < s->n_blocks; i++)
        st = sample_block(sums, s, &s->blocks[i], &d, o, key, e);
    mem_free(key);
    return st;
}

enum status pca_of_entries(struct pca **out, const struct entries *s,
                           const struct pca_options *o, struct pool *pool,
                           struct err *e)
{
    struct pca_sums *sums = NULL;
    enum status st;

    *out = NULL;
    if (s->map)
        return err_set(e, ST_ARGUMENT, "the keys of this datastore are reduced "
                       "already, to %d dimensions", s->d);
    if (s->d > PCA_MAX_D || o->to < 1 || o->to > s->d || o->sample < 0)
        return err_set(e, ST_ARGUMENT, "keys of %d dimensions can be reduced "
                       "to 1 to %d dimensions, not to %d", s->d, s->d, o->to);
    st = pca_sums_new(&sums, s->d, pool, e);
    if (!st) st = sample_keys(sums, s, o, e);
    if (!st) st = pca_new(out, sums, o->to, e);
    pca_sums_free(sums);
    return st;
}
