/* extra.h - what only one format knows, as a JSON object with one key:
 *
 *     {"tmx":{"tu":{"usagecount":"3"},"head":"<note>seen</note>"}}
 *
 * The key is the format, so a writer sees at once whether the rest is for it.
 * Readers append by hand, which costs next to nothing; writers parse. */
#ifndef FORMATS_EXTRA_H
#define FORMATS_EXTRA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "base/strbuf.h"

/* Append a JSON string, or `"key":` with a comma where one is needed (where
 * something other than '{' or '[' comes before). false: no memory. */
bool extra_put_string(struct strbuf *out, const char *s, size_t n);
bool extra_put_key(struct strbuf *out, const char *key);
/* "key":"s", unless s is empty */
bool extra_put(struct strbuf *out, const char *key, struct str s);
/* "key":{members}, unless there are none */
bool extra_put_object(struct strbuf *out, const char *key,
                      const struct strbuf *members);

/* The strings of an object (NULL is fine) as XML attributes, but those in
 * `but` (NULL-terminated) and what cannot be a name. */
bool extra_put_attrs(struct strbuf *xml, json_t *attrs,
                     const char *const *but);

/* The object under this key, NULL when the extra is another format's, empty
 * or no JSON. *root is to be given to json_decref (NULL is fine). */
json_t *extra_open(struct str extra, const char *key, json_t **root);
/* A string of an object (NULL is fine), or the empty one. */
struct str extra_get(const json_t *object, const char *key);

#endif
