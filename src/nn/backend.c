/* backend.c - what is the same for all implementations of backends. */
#include "nn/backend.h"

#include "model/languages.h"

static enum status no_languages(const struct config *c, struct err *e)
{
    bool both = c->language_tokens == LANGUAGE_TOKENS_BOTH;

    if (both && c->prefix_id < 0)
        return err_set(e, ST_ARGUMENT, "from: choose the source and the target "
                       "language of this multilingual model, with from and to "
                       "(skmt info lists them)");
    return err_set(e, ST_ARGUMENT, "to: choose the target language of this "
                   "multilingual model (skmt info lists them)");
}

enum status backend_executor_new(const struct backend *b,
                                 const struct executor_limits *l,
                                 struct pool *pool, struct executor **out,
                                 struct err *e)
{
    *out = NULL;
    if (!languages_chosen(b->cfg)) return no_languages(b->cfg, e);
    return b->ops->executor_new(b, l, pool, out, e);
}

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
