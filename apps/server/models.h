/* models.h - the models that are served, by language pair.
 *
 * Each pair has a model with a service, which translates the texts of all
 * clients together, and a cache of the keys of stored pairs, which all accounts
 * share. Models do not change after models_open, so any thread may use them. */
#ifndef SERVER_MODELS_H
#define SERVER_MODELS_H

#include <jansson.h>
#include <stdbool.h>

#include "skmt.h"

struct models;                  /* opaque; in struct server */
struct settings;                /* settings.h */

struct served_model {
    const char *source, *target;        /* codes of skmt_language_code */
    const char *path;           /* of its file */
    skmt_model *model;
    skmt_service *service;
    skmt_keys *keys;            /* shared; with the key file, if there is one */
};

/* Reads a pair such as "de-en", "deu_Latn-zho_Hant" or "pt_BR-en": codes
 * without "-". from and to [PAIR_CODE_BYTES] get the codes. Returns false if it
 * is no pair. */
enum { PAIR_CODE_BYTES = 16 };
bool models_split_pair(const char *pair, char *from, char *to);

/* Opens the models of the settings and starts their services. A multilingual
 * model is opened once for each pair of the settings that no model before it
 * translates; without models in the settings, each pair chooses an installed
 * one. Two models of the same pair are an error. Prints errors. Returns an exit
 * status; *out is NULL if it failed. */
int models_open(struct models **out, const struct settings *s);
/* No call may be running. NULL is fine. */
void models_close(struct models *m);

/* The models, in the order of the settings. m may be NULL: none. */
int models_count(const struct models *m);
const struct served_model *models_get(const struct models *m, int i);
/* The model of a pair (codes of skmt_language_code). NULL if there is none.
 * source NULL: the first with this target; target NULL: the first with this
 * source. */
const struct served_model *models_find(const struct models *m,
                                       const char *source, const char *target);
/* All languages, each once: sources first. The list belongs to m. */
const char *const *models_languages(const struct models *m, int *n);

/* Translates a sentence with each model. On failure, writes why. */
bool models_self_test(const struct models *m, skmt_error *err);

/* What /v1/info tells about each model: an array of objects with "source",
 * "target", "name", "type" and other facts of skmt_model_fact. No paths. New;
 * NULL if out of memory. */
json_t *models_facts(const struct models *m);
/* A statistic of all services (skmt_service_stat) or of all key caches
 * (skmt_keys_stat), summed over the models; 0 if it is unknown. */
int64_t models_service_stat(struct models *m, const char *name);
int64_t models_keys_stat(struct models *m, const char *name);

/* A copy of the options of a model, to be changed for a request. */
skmt_status models_copy_options(const struct served_model *m,
                                skmt_options **out, skmt_error *err);
/* The keys that a request with these options uses: NULL, for those of the
 * service, if they do not fit the shared ones. */
skmt_keys *models_keys_for(const struct served_model *m, skmt_options *o);

#endif
