/* tmx.h - what the TMX reader and writer agree on.
 *
 * A unit's extra (extra.h), each part only where there is something:
 *
 *     {"tmx":{"tu":{attributes},             what the unit has no field for
 *             "head":"<prop ...>..</prop>",  children of <tu> but <tuv>
 *             "source":{attributes}, "source_head":"...", "source_seg":{...},
 *             "target":{...}, "target_head":"...", "target_seg":{...},
 *             "others":"<tuv ...>..</tuv>"}} other languages
 *
 * and the file's: {"tmx":{"root":{...},"header":{...},"head":"..."}}. A
 * unit's document is <prop type="x-document">. Comments are not kept. */
#ifndef FORMATS_TMX_H
#define FORMATS_TMX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define TMX_DOCUMENT "x-document"
#define TMX_DATE_BYTES 17               /* 20260131T235959Z and NUL */

/* Only the exact form; others, and 1970 to the second, are not read. */
bool tmx_date_parse(const char *s, int64_t *seconds);
bool tmx_date_format(int64_t seconds, char out[TMX_DATE_BYTES]);

#endif
