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
