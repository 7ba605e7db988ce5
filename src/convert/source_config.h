/* source_config.h - read the config.json of a model to be converted.
 *
 * docs/formats/model.md lists the keys and their values. An unknown key is an
 * error, because it might change what the model computes. Keys that begin with
 * "_" are comments and are ignored. */
#ifndef CONVERT_SOURCE_CONFIG_H
#define CONVERT_SOURCE_CONFIG_H

#include "base/err.h"
#include "model/config.h"

struct source_config {
    struct config cfg;          /* checked by config_parse() */
    int tied_embeddings;        /* 1: the projection is the target table */
    int output_bias;            /* 1: the projection has a bias */
};

enum status source_config_read(struct source_config *c, const char *path,
                               struct err *e);

#endif
