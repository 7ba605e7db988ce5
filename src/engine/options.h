/* options.h - the knobs of a translation and of a search in a translation
 * memory as a struct, set by name.
 *
 * Everything expands options.def and retrieval.def. A struct options is plain
 * data. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"

enum split_mode { SPLIT_AUTO, SPLIT_NONE };
enum invalid_mode { INVALID_ERROR, INVALID_REPLACE };
enum analyzer_mode { ANALYZER_STANDARD, ANALYZER_SUBWORD };

struct options {
#define INT(field, name, def, low, high, help) int field;
#define REAL(field, name, def, low, high, help) double field;
#define FLAG(field, name, def, help) bool field;
#define ENUM(field, name, def, first, values, help) int field;
#include "engine/options.def"
#include "engine/retrieval.def"
#undef INT
#undef REAL
#undef FLAG
#undef ENUM
};

struct option_info {
    const char *name, *kind, *fallback, *help;
};

void options_defaults(struct options *o);
enum status options_set(struct options *o, const char *name,
                        const char *value, struct err *e);
/* The value as options_set would take it; false: no such option. */
bool options_get(const struct options *o, const char *name, char *out,
                 int size);
/* The options of a translation, and those of a search; false: no more. */
bool option_describe(int i, struct option_info *out);
bool search_option_describe(int i, struct option_info *out);

#endif
