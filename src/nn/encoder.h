/* encoder.h - the encoder: source token ids to states, for several sentences at
 * once.
 *
 * Sentences are stored one after the other without padding. Only attention
 * needs to know where a sentence ends. */
#ifndef NN_ENCODER_H
#define NN_ENCODER_H

#include "nn/backend.h"
#include "nn/net.h"

/* Called with the states after each layer, for tests: layer is -1 for the
 * embeddings, 0 and up for the layers, and the number of layers for the final
 * norm. */
typedef void layer_probe(void *user, int layer, const float *x, size_t ld,
                         int rows);

/* Encode n sentences that have at most ws->rows tokens together. The states
 * are left in ws->x, [rows, d] with stride ws->ld, sentence by sentence. */
void encoder_run(struct workspace *ws, const struct source *src, int n,
                 layer_probe *probe, void *user);

#endif
