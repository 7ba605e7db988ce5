/* json_config.h - typed values of a JSON file such as config.json.
 *
 * The functions that get a value remember the first failure, so that a caller
 * reads all values and then asks once:
 *
 *     c->heads = json_config_int(j, "heads", JSON_REQUIRED, 1, 1024);
 *     json_config_refuse(j, "use_alibi");
 *     st = json_config_check(j, e);
 *
 * A message names the file and the key. A key that is absent and one whose
 * value is null mean the same: the default. After a failure the functions
 * return defaults within the range. Strings are valid until the file is
 * closed. */
#ifndef CONVERT_JSON_CONFIG_H
#define CONVERT_JSON_CONFIG_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "convert/file_set.h"

struct json_config;             /* opaque */

/* As a default: the key must be there. */
#define JSON_REQUIRED INT_MIN

/* Read a file of the set, which must contain an object. */
enum status json_config_open(struct json_config **out, struct file_set *s,
                             const char *name, struct err *e);
/* Settings that another reader has made: `object` is a json_t of jansson, an
 * object whose numbers are all reals. It belongs to the config from now on,
 * also on failure. `name` is that of the file, for messages. */
struct json_t;
enum status json_config_take(struct json_config **out, struct json_t *object,
                             const char *name, struct err *e);
/* Also take the words of YAML and texts as true and false: "yes", "off". */
void json_config_take_words(struct json_config *c);
void json_config_close(struct json_config *c);          /* NULL is fine */

/* The name of the file, for messages. */
const char *json_config_name(const struct json_config *c);

/* The first failure, or ST_OK. */
enum status json_config_check(const struct json_config *c, struct err *e);

/* Whether a key is there and not null. */
bool json_config_has(const struct json_config *c, const char *key);

bool json_config_is_object(const struct json_config *c, const char *key);

int json_config_int(struct json_config *c, const char *key, int def, int low,
                    int high);
double json_config_number(struct json_config *c, const char *key, double def,
                          double low, double high);
bool json_config_bool(struct json_config *c, const char *key, bool def);
/* def may be NULL. A string of the file has no NUL and no control
 * characters. */
const char *json_config_string(struct json_config *c, const char *key,
                               const char *def);
/* The index of a string in a list that ends with NULL; def when absent, which
 * may be -1 or JSON_REQUIRED. Any other string is refused, and the message
 * lists the words. */
int json_config_word(struct json_config *c, const char *key,
                     const char *const *words, int def);

/* The number of elements of a list; 0 when absent. An int or a string is a list
 * of one. Then its elements, which must exist. */
int json_config_length(struct json_config *c, const char *key);
int json_config_int_at(struct json_config *c, const char *key, int i, int low,
                       int high);
/* The only int of element i, which is an int or a list of one int. -1 if it is
 * a list of several. */
int json_config_only_int_at(struct json_config *c, const char *key, int i,
                            int low, int high);
const char *json_config_string_at(struct json_config *c, const char *key,
                                  int i);

/* Call fn for each member of the object under a key, or of the whole object if
 * `key` is NULL, in the order of the file, until fn returns false. value is
 * that of a string, else NULL. */
typedef bool json_config_fn(void *user, const char *name, const char *value);
void json_config_each(struct json_config *c, const char *key,
                      json_config_fn *fn, void *user);

/* Refuse a key that is on: fails unless it is absent, null, false, 0, "", or an
 * empty list or object. */
void json_config_refuse(struct json_config *c, const char *key);
/* Refuse another value than `want`; the key may be absent. */
void json_config_must_be(struct json_config *c, const char *key, bool want);

#endif
