/* table_header.h - is the first row of a table a header or a pair?
 *
 * It is a header when its source and target columns hold
 *   - names of columns that are known ("source" and "target", "src" and "tgt",
 *     "original" and "translation", ..., in any case), each perhaps with a
 *     remark in parentheses: "source (Deutsch)"; or
 *   - two different language codes ("de" and "en-US"). Where it is known which
 *     languages the pairs have, the codes must be of these languages.
 * Anything else is a pair. */
#ifndef FORMATS_TABLE_HEADER_H
#define FORMATS_TABLE_HEADER_H

#include <stdbool.h>

#include "base/str.h"

/* Languages: NULL or "" when they are not known. */
bool table_header_is(struct str source, struct str target,
                     const char *source_lang, const char *target_lang);

#endif
