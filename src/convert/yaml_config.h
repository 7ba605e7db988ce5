/* yaml_config.h - read the settings in a YAML file of Marian: a mapping of keys
 * to values and to lists of values.
 *
 * The result is asked like a JSON file (json_config.h). A plain scalar is null,
 * true or false, or a number, if it looks like one in JSON (and for null also ~
 * or nothing); every other scalar is a string, also yes, no, on and off. Lists
 * and mappings inside of a list or a mapping are kept as a value of another
 * type, so that it fails where it is asked for. Anchors, aliases, tags other
 * than that of strings, repeated keys and a second document are refused. */
#ifndef CONVERT_YAML_CONFIG_H
#define CONVERT_YAML_CONFIG_H

#include <stddef.h>

#include "convert/json_config.h"

/* Read a file of the set. */
enum status yaml_config_open(struct json_config **out, struct file_set *s,
                             const char *name, struct err *e);

/* Read a text. `name` is that of the file, for messages, which say the line. */
enum status yaml_config_parse(struct json_config **out, const char *text,
                              size_t size, const char *name, struct err *e);

#endif
