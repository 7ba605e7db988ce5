/* forced.h - score a known translation by teacher forcing (method 0.3).
 *
 * All tokens of the target go through the decoder in one pass. Row t has seen
 * the start token, the target_prefix_id of the model if it has one, and y_1 ..
 * y_t, and predicts y_{t+1}. */
#ifndef NN_FORCED_H
#define NN_FORCED_H

#include "nn/decoder.h"

struct forced {
    const int32_t *src;         /* [n_src] with special tokens */
    int n_src;
    const int32_t *tgt;         /* [n_tgt] without EOS */
    int n_tgt;
    layer_probe *enc_probe, *dec_probe;     /* or NULL */
    void *user;
    float *hidden;              /* out, or NULL: [n_tgt + 1, d] */
    float *logprob;             /* out, or NULL: [n_tgt + 1], EOS last */
    /* or NULL: called with the logits [vocab] and statistics of row t */
    void (*logits)(void *user, int t, const float *x, struct row_stats s);
};

enum status forced_run(const struct net *net, struct pool *pool,
                       const struct forced *f, struct err *e);

#endif
