/* fairseq_settings.h - what a checkpoint of fairseq says about its model, as
 * one flat list of keys.
 *
 * Older checkpoints have "args", an argparse.Namespace with everything. Newer
 * ones have "cfg", with the dicts "model", "task", "bpe" and so on, which may
 * be objects of omegaconf. The names in the result are those of "args":
 * cfg.model.encoder.embed_dim becomes "encoder_embed_dim", and cfg.bpe._name
 * becomes "bpe". */
#ifndef CONVERT_FAIRSEQ_SETTINGS_H
#define CONVERT_FAIRSEQ_SETTINGS_H

#include "convert/json_config.h"
#include "convert/pickle.h"

/* `root` is what the file contains (torch_file_root()), `name` that of the
 * file, for messages. Fails with ST_FORMAT if it has neither of the two. Values
 * that are neither numbers, strings, booleans nor lists of them become strings
 * that say what they are. The result does not refer to the pickle. */
enum status fairseq_settings_read(struct json_config **out,
                                  const struct pickle_value *root,
                                  const char *name, struct err *e);

#endif
