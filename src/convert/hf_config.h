/* hf_config.h - what config.json and generation_config.json of Hugging Face say
 * in the same way for Marian, M2M-100 and NLLB-200. */
#ifndef CONVERT_HF_CONFIG_H
#define CONVERT_HF_CONFIG_H

#include "base/err.h"
#include "convert/file_set.h"
#include "convert/json_config.h"
#include "convert/model_plan.h"

/* The defaults that differ between the families. */
struct hf_defaults {
    enum act activation;
    bool scale_embedding;
};

/* Read sizes, heads, activation, scale and the trained positions
 * (max_positions) of a network, and refuse settings that would change it. */
enum status hf_config_network(struct config *c, struct json_config *j,
                              const struct hf_defaults *d, struct err *e);

/* Read the settings of search, from generation_config.json or, if a key is not
 * there, from config.json (which `j` is): beam size, length penalty, and tokens
 * that must not come out, which are barred. Settings that skmt does not have
 * become notes. Call plan_rows() before. */
enum status hf_config_search(struct model_plan *p, struct file_set *s,
                             struct json_config *j, struct err *e);

/* The text of a special token in tokenizer_config.json, or `def`. It is stored
 * as a string, or as an object with the key "content". Valid until the file is
 * closed; j may be NULL. */
const char *hf_config_token(struct json_config *j, const char *key,
                            const char *def);

/* Open tokenizer_config.json. *out is NULL if there is none. */
enum status hf_config_open_tokenizer(struct json_config **out,
                                     struct file_set *s, struct err *e);

#endif
