/* table_header.h - decides whether the first row of a table is a header.
 *
 * The row is a header if its source and target columns contain
 *   - known names of columns ("source" and "target", "src" and "tgt",
 *     "original" and "translation", ..., in upper or lower case), each with an
 *     optional remark in parentheses: "source (Deutsch)"; or
 *   - two different language codes ("de" and "en-US"). If the languages of the
 *     pairs are known, the codes must be of these languages.
 * Any other row is a pair. */
#ifndef FORMATS_TABLE_HEADER_H
#define FORMATS_TABLE_HEADER_H

#include <stdbool.h>

#include "base/str.h"

/* Return whether a row with these texts is a header. The languages are NULL or
 * "" if they are not known. */
bool is_table_header(struct str source, struct str target,
                     const char *source_lang, const char *target_lang);

#endif
