/* backend.c - destruction of backends and executors, which is the same for all
 * implementations. */
#include "nn/backend.h"

void backend_close(struct backend *b)
{
    if (b) b->ops->close(b);
}

void executor_free(struct executor *x)
{
    if (x) x->ops->free(x);
}

int attended_piece(const struct config *cfg, const float *weights, int n)
{
    int first = cfg->prefix_id >= 0, end = n - (cfg->suffix_id >= 0);
    int best = first;

    for (int i = first + 1; i < end; i++)
        if (weights[i] > weights[best]) best = i;
    return best - first;
}
