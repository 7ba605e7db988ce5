/* metak_grid.h - how well kNN-MT with fixed settings predicts known
 * translations (method 5.1). The samples are those of metak_train.h, so fixed
 * settings can be compared with a network. */
#ifndef KNN_METAK_GRID_H
#define KNN_METAK_GRID_H

#include "knn/metak_train.h"

/* Settings, and their loss: the mean of -ln p(y), in nats per token. */
struct fixed_setting {
    int k;                      /* 1 .. METAK_MOST */
    double tau;                 /* above 0 */
    double lambda;              /* 0, 0.01 .. 0.99 */
    double loss;
};

/* The values of k and tau that are tried. */
enum { GRID_KS = 6, GRID_TAUS = 9, GRID_CELLS = GRID_KS * GRID_TAUS };
extern const int grid_ks[GRID_KS];
extern const double grid_taus[GRID_TAUS];

/* done cells of total were tried. A non-zero result stops. */
typedef int grid_progress_fn(void *user, int done, int total);

/* Compute lambda and loss of each cell, by k and then tau. *best is the index
 * of the best. progress may be NULL. */
enum status metak_grid(const struct metak_samples *s,
                       struct fixed_setting cells[GRID_CELLS], int *best,
                       grid_progress_fn *progress, void *user, struct err *e);

/* Set lambda and loss of a setting for these samples: the best lambda, and its
 * loss. Returns false when out of memory. */
bool fixed_setting_fit(struct fixed_setting *f, const struct metak_samples *s);
/* The loss of a setting for these samples. */
double fixed_setting_loss(const struct fixed_setting *f,
                          const struct metak_samples *s);

#endif
