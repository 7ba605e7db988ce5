/* extra.h - the data of a unit that only its own format understands.
 *
 * It is a JSON object with one key, the name of the format:
 *
 *     {"tmx":{"tu":{"usagecount":"3"},"head":"<note>seen</note>"}}
 *
 * A writer checks the key to see whether the data is meant for it. Readers
 * append the JSON piece by piece, which is cheap; writers parse it. */
#ifndef FORMATS_EXTRA_H
#define FORMATS_EXTRA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "base/strbuf.h"

/* Append a JSON string; or `"key":`, with a comma before it unless it follows
 * '{' or '['. All extra_put functions return false when out of memory. */
bool extra_put_string(struct strbuf *out, const char *s, size_t n);
bool extra_put_key(struct strbuf *out, const char *key);
/* Appends "key":"s", or nothing if s is empty. */
bool extra_put(struct strbuf *out, const char *key, struct str s);
/* Appends "key":{members}, or nothing if there are no members. */
bool extra_put_object(struct strbuf *out, const char *key,
                      const struct strbuf *members);

/* Appends the strings of a JSON object as XML attributes. Skips the names in
 * `except` (NULL-terminated) and names that are not valid in XML. `attrs` may
 * be NULL. */
bool extra_put_attrs(struct strbuf *xml, json_t *attrs,
                     const char *const *except);

/* Parses `extra` and returns the object under this key. Returns NULL if the
 * data belongs to another format, is empty or is not JSON. The caller passes
 * *root (which may be NULL) to json_decref. */
json_t *extra_open(struct str extra, const char *key, json_t **root);
/* Returns a string member of an object, or the empty string if the object is
 * NULL or has no such string. */
struct str extra_get(const json_t *object, const char *key);

#endif
