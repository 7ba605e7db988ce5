/* pca.h - principal components: a linear map that makes keys shorter and keeps
 * as much of their variance as possible (method 7.1).
 *
 * The map is y = matrix (x - mean), a struct entry_map (entries.h). The rows of
 * the matrix are eigenvectors of the covariance of the keys: orthonormal, and
 * sorted by the variance of the keys along them. So the first n numbers of y
 * are the best map to n dimensions, for every n. The sign of a row is such that
 * its component with the largest magnitude is positive.
 *
 * Everything is computed in double precision and in a fixed order. The result
 * depends neither on the number of threads nor on how rows are divided among
 * calls. */
#ifndef KNN_PCA_H
#define KNN_PCA_H

#include "base/pool.h"
#include "knn/entries.h"

/* The most dimensions of a key. The eigenvectors of 1024 dimensions take some
 * seconds, and the time grows with the third power. */
enum { PCA_MAX_D = 4096 };

/* ---- mean and covariance of rows ----------------------------------------- */

struct pca_sums;                /* opaque */

/* d is from 1 to PCA_MAX_D. pool is borrowed, and may be NULL. */
enum status pca_sums_new(struct pca_sums **out, int d, struct pool *pool,
                         struct err *e);
void pca_sums_free(struct pca_sums *s);         /* NULL is fine */
/* Add a row of d numbers. */
void pca_sums_add(struct pca_sums *s, const float *row);
int64_t pca_sums_count(const struct pca_sums *s);

/* ---- the map ------------------------------------------------------------- */

struct pca {
    struct entry_map map;       /* made of the next two */
    float *mean;                /* [map.from] */
    float *matrix;              /* [map.to, map.from] */
    double *variance;           /* [map.from] along all eigenvectors, largest
                                   first; those after map.to are dropped */
};

/* Make a map to `to` dimensions, 1 to d. Fails with ST_ARGUMENT if no row was
 * added, and with ST_FORMAT if a number was not finite. With fewer rows than
 * dimensions some variances are 0. */
enum status pca_new(struct pca **out, struct pca_sums *s, int to,
                    struct err *e);
void pca_free(struct pca *p);                   /* NULL is fine */
/* The part of the variance that the first n dimensions keep, 0 to 1. 1 if all
 * rows were equal. */
double pca_explained(const struct pca *p, int n);

/* y [to] = matrix (x - mean). Each number is summed in an order that depends on
 * nothing but map->from, and the same on every processor. */
void pca_map(const struct entry_map *map, const float *x, float *y);
/* x [from] = mean + matrix^T y: the point nearest to the original that has the
 * image y. */
void pca_unmap(const struct entry_map *map, const float *y, float *x);

/* ---- from a datastore ---------------------------------------------------- */

/* done of total keys were read. A non-zero result stops. */
typedef int pca_progress_fn(void *user, int64_t done, int64_t total);

struct pca_options {
    int to;                     /* dimensions to keep */
    int64_t sample;             /* keys to read; at most this many are drawn,
                                   without replacement. 0: all */
    uint64_t seed;
    pca_progress_fn *progress;  /* may be NULL */
    void *user;
};
struct pca_options pca_options_defaults(void);

/* Make a map from keys of a datastore that has no map yet. Deleted entries are
 * not drawn. Fails as pca_new does, with ST_ARGUMENT if the options do not fit
 * the datastore, and with ST_CANCELED. */
enum status pca_of_entries(struct pca **out, const struct entries *s,
                           const struct pca_options *o, struct pool *pool,
                           struct err *e);

#endif
