/* marian_package.h - the files of a Marian model: a folder or zip archive with
 * decoder.yml, the weights (.npz or .bin) and the vocabularies. Packages of
 * OPUS-MT also have README.md and preprocess.sh. */
#ifndef CONVERT_MARIAN_PACKAGE_H
#define CONVERT_MARIAN_PACKAGE_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/checkpoint.h"
#include "convert/file_set.h"
#include "convert/marian_config.h"
#include "convert/opus_readme.h"

/* The name of the settings among the weights, for messages. */
#define MARIAN_SETTINGS "special:model.yml"

struct marian_package {
    struct marian_config config;
    struct marian_decoder decoder;      /* its files exist */
    struct json_config *decoder_yml;    /* owns the strings of decoder */
    struct opus_readme readme;
    bool cleans;                        /* texts: opus_cleaning.h */
};

/* Whether the files look like a Marian model. Never fails. */
bool marian_package_recognize(struct file_set *s);

/* Read all of it and open the weights. m is all zeros; it must be released, and
 * *weights closed, also on failure. */
enum status marian_package_read(struct marian_package *m,
                                struct checkpoint **weights,
                                struct file_set *s, struct err *e);
void marian_package_release(struct marian_package *m);

#endif
