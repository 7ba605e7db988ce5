/* own_config.h - read the config.json of a model that was trained for skmt.
 *
 * docs/formats/model.md lists the keys and their values. An unknown key is an
 * error, because it might change what the model computes. Keys that begin with
 * "_" are comments and are ignored. */
#ifndef CONVERT_OWN_CONFIG_H
#define CONVERT_OWN_CONFIG_H

#include "base/err.h"
#include "convert/file_set.h"
#include "model/config.h"

struct own_config {
    int tied_embeddings;        /* 1: the projection is the target table */
    int output_bias;            /* 1: the projection has a bias */
};

/* cfg has its defaults. Only types are checked here; config_parse() knows the
 * ranges. */
enum status own_config_read(struct own_config *c, struct config *cfg,
                            struct file_set *s, struct err *e);

#endif
