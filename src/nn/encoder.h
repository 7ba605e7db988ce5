/* encoder.h - source ids to states, several sentences at a time.
 *
 * Sentences lie one after the other with no padding; only attention needs to
 * know where one ends. */
#ifndef NN_ENCODER_H
#define NN_ENCODER_H

#include "nn/net.h"

struct source {
    const int32_t *ids;         /* with the model's end mark */
    int n;
};

/* Called with the states after each layer (-1: the embeddings, then 0 ..,
 * and encoder_layers for the final norm), for tests that look inside. */
typedef void layer_probe(void *user, int layer, const float *x, size_t ld,
                         int rows);

/* Encode n sentences, together at most ws->rows rows. The states are left in
 * ws->x, [rows, d] with stride ws->ld, sentence after sentence. */
void encoder_run(struct workspace *ws, const struct source *src, int n,
                 layer_probe *probe, void *user);

#endif
