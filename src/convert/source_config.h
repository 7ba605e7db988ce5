/* source_config.h - the config.json beside a model's weights.
 *
 * Keys and their words are listed in docs/formats/model.md. A key we do not
 * know is refused: it may change what the model computes. Keys that begin
 * with "_" are notes and are passed over. */
#ifndef CONVERT_SOURCE_CONFIG_H
#define CONVERT_SOURCE_CONFIG_H

#include "base/err.h"
#include "model/config.h"

struct source_config {
    struct config cfg;          /* checked by config_parse() */
    int tied_embeddings;        /* 1: the projection is the target's table */
    int output_bias;            /* 1: the projection has a bias */
};

enum status source_config_read(struct source_config *c, const char *path,
                               struct err *e);

#endif
