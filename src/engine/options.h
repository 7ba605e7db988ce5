/* options.h - all options of translating, of steering by a memory, of searching
 * a memory and of opening a model, as one struct whose fields are set by name.
 *
 * options.def, steer.def, retrieval.def and open.def list them; the struct and
 * the parser are generated from these lists. A struct options is plain data and
 * may be copied. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum split_mode { SPLIT_AUTO, SPLIT_NONE };
enum invalid_mode { INVALID_ERROR, INVALID_REPLACE };
enum analyzer_mode { ANALYZER_STANDARD, ANALYZER_SUBWORD };
enum preset { PRESET_SK1, PRESET_SK2, PRESET_PAPER_SK1, PRESET_PAPER_SK2 };
enum eos_mode { EOS_ABSTAINS, EOS_COUNTS };
enum exact_mode { EXACT_AUTO, EXACT_USE, EXACT_STEER };
enum device { DEVICE_CPU };

/* The largest value of option beam. */
enum { MAX_BEAM = 64 };

/* The temperature of the SK-MT paper. */
#define PAPER_TAU 100

struct options {
#define INT(field, name, def, low, high, help) int field;
#define REAL(field, name, def, low, high, help) double field;
#define FLAG(field, name, def, help) bool field;
#define AUTO_FLAG(field, name, help) int field;     /* -1: automatic */
#define ENUM(field, name, def, first, values, help) int field;
#define SIZE(field, name, def, text, help) int64_t field;
#include "engine/options.def"
#include "engine/steer.def"
#include "engine/retrieval.def"
#include "engine/open.def"
#undef INT
#undef REAL
#undef FLAG
#undef AUTO_FLAG
#undef ENUM
#undef SIZE
};

struct option_info {
    const char *name;
    const char *kind;           /* "int", "float", "bool", "size", or the values
                                   of an enum: "a|b|c" */
    const char *fallback;       /* the default, as text */
    const char *help;
};

void options_defaults(struct options *o);
/* Set an option by name. The error names the option and its valid values. */
enum status options_set(struct options *o, const char *name,
                        const char *value, struct err *e);
/* Write the value as text that options_set accepts. Returns false when there is
 * no such option. */
bool options_get(const struct options *o, const char *name, char *out,
                 int size);
/* The lists that the options come from: options.def, steer.def, retrieval.def
 * and open.def. */
enum option_group {
    OPTIONS_TRANSLATE, OPTIONS_STEER, OPTIONS_SEARCH, OPTIONS_MODEL
};
/* Describe option i of a group. Returns false after the last one. */
bool option_describe(enum option_group group, int i, struct option_info *out);

/* The values that are used: the value that was set, or the default of the
 * preset. Other code must call these functions and not read the fields. */
int options_matches(const struct options *o);   /* pairs of a search */
int options_pairs(const struct options *o);     /* pairs that steer */
int options_k(const struct options *o);
/* model_tau is the value in the model file, 0 if it has none. */
double options_tau(const struct options *o, double model_tau);
bool options_knn_eos(const struct options *o);
int options_repeat_votes(const struct options *o);      /* 0: no limit */
enum exact_mode options_exact(const struct options *o); /* never EXACT_AUTO */
double options_prune_steered(const struct options *o);  /* 0: no pruning */

#endif
