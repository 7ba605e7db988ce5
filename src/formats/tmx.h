/* tmx.h - what the TMX reader and writer share.
 *
 * The extra data (extra.h) of a unit; parts that are empty are left out:
 *
 *     {"tmx":{"tu":{attributes},             those without a field in a unit
 *             "head":"<prop ...>..</prop>",  children of <tu> except <tuv>
 *             "source":{attributes}, "source_head":"...", "source_seg":{...},
 *             "target":{...}, "target_head":"...", "target_seg":{...},
 *             "others":"<tuv ...>..</tuv>"}} the other languages
 *
 * The extra data of the file: {"tmx":{"root":{...},"header":{...},
 * "head":"..."}}. The document of a unit is stored as <prop
 * type="x-document">. XML comments are not kept. */
#ifndef FORMATS_TMX_H
#define FORMATS_TMX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define TMX_DOCUMENT "x-document"
#define TMX_DATE_BYTES 17               /* 20260131T235959Z and NUL */

/* Parses a date of exactly this form. Other forms give false, and so does the
 * first second of 1970, which means "not known" in a unit. */
bool tmx_date_parse(const char *s, int64_t *seconds);
bool tmx_date_format(int64_t seconds, char out[TMX_DATE_BYTES]);

#endif
