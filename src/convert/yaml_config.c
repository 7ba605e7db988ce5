/* yaml_config.c - turns the events of libyaml into a JSON object of jansson.
 *
 * The object has one level: values, and lists of values. What is deeper is
 * skipped with a counter, not with recursion, and an object stands for it. */
#include "convert/yaml_config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/invariant.h"

#define YAML_MOST 1048576       /* bytes; usual are 2,000 */

struct yaml_reader {
    yaml_parser_t parser;
    yaml_event_t event;         /* the current one */
    bool has_event;
    const char *name;           /* of the file */
    struct err *e;
};

/* ---- events ---- */

static enum status yaml_bad(const struct yaml_reader *r, const char *what)
{
    return err_set(r->e, ST_FORMAT, "%.250s:%zu: %s", r->name,
                   r->event.start_mark.line + 1, what);
}

static enum status yaml_unreadable(const struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *what = p->problem ? p->problem : "cannot be read";

    if (p->error == YAML_MEMORY_ERROR) return err_nomem(r->e, r->name);
    if (p->error == YAML_READER_ERROR)
        return err_set(r->e, ST_FORMAT, "%.250s: byte %zu: not valid YAML: %s",
                       r->name, p->problem_offset, what);
    return err_set(r->e, ST_FORMAT, "%.250s:%zu: not valid YAML: %s", r->name,
                   p->problem_mark.line + 1, what);
}

/* Whether a tag says that a scalar is a string. yaml-cpp writes "!" so. */
static bool tags_string(const yaml_char_t *tag)
{
    return !strcmp((const char *)tag, "!") ||
           !strcmp((const char *)tag, YAML_STR_TAG);
}

/* What is refused wherever it stands. */
static enum status check_event(const struct yaml_reader *r)
{
    const yaml_event_t *v = &r->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;

    switch (v->type) {
    case YAML_ALIAS_EVENT:
        return yaml_bad(r, "an alias is not accepted");
    case YAML_SCALAR_EVENT:
        anchor = v->data.scalar.anchor;
        tag = v->data.scalar.tag;
        if (tag && tags_string(tag)) tag = NULL;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = v->data.sequence_start.anchor;
        tag = v->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = v->data.mapping_start.anchor;
        tag = v->data.mapping_start.tag;
        break;
    default: break;
    }
    if (anchor) return yaml_bad(r, "an anchor is not accepted");
    return tag ? yaml_bad(r, "a tag is not accepted") : ST_OK;
}

static void drop_event(struct yaml_reader *r)
{
    if (r->has_event) yaml_event_delete(&r->event);
    r->has_event = false;
}

static enum status yaml_next(struct yaml_reader *r)
{
    drop_event(r);
    if (!yaml_parser_parse(&r->parser, &r->event)) return yaml_unreadable(r);
    r->has_event = true;
    return check_event(r);
}

static enum status yaml_expect(struct yaml_reader *r, yaml_event_type_t type,
                               const char *what)
{
    enum status st = yaml_next(r);

    return st || r->event.type == type ? st : yaml_bad(r, what);
}

/* ---- scalars ---- */

static bool is_word(const char *s, const char *lower, const char *title,
                    const char *upper)
{
    return !strcmp(s, lower) || !strcmp(s, title) || !strcmp(s, upper);
}

/* The value of a scalar that is a decimal number; NULL if it is not. YAML also
 * has "+1", ".5" and "1.", which become "1", "0.5" and "1.0" for jansson, which
 * reads numbers in the same way in every locale. */
static json_t *number_value(const char *s)
{
    char text[64];
    const char *sign = *s == '-' ? "-" : "";
    size_t n = strlen(s);
    bool ends;

    if (!n || n > 50 || strspn(s, "+-.0123456789eE") != n) return NULL;
    if (*s == '+' || *s == '-') s++;
    if (*s == '+' || *s == '-') return NULL;
    ends = s[0] && s[strlen(s) - 1] == '.' && s[0] != '.';
    snprintf(text, sizeof text, "%s%s%s%s", sign, *s == '.' ? "0" : "", s,
             ends ? "0" : "");
    return json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

/* The value of the current scalar. NULL: out of memory, or bad text, which
 * libyaml does not give. */
static json_t *scalar_value(const struct yaml_reader *r)
{
    const char *s = (const char *)r->event.data.scalar.value;
    json_t *number;

    if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        !r->event.data.scalar.tag) {
        if (!*s || !strcmp(s, "~") || is_word(s, "null", "Null", "NULL"))
            return json_null();
        if (is_word(s, "true", "True", "TRUE")) return json_true();
        if (is_word(s, "false", "False", "FALSE")) return json_false();
        if ((number = number_value(s))) return number;
    }
    return json_stringn(s, r->event.data.scalar.length);
}

/* ---- values ---- */

/* Skip the list or mapping that has just begun. */
static enum status skip_nested(struct yaml_reader *r)
{
    enum status st = ST_OK;

    for (int depth = 1; !st && depth;) {
        st = yaml_next(r);
        if (st) break;
        switch (r->event.type) {
        case YAML_SEQUENCE_START_EVENT: case YAML_MAPPING_START_EVENT:
            depth++;
            break;
        case YAML_SEQUENCE_END_EVENT: case YAML_MAPPING_END_EVENT:
            depth--;
            break;
        default: break;
        }
    }
    return st;
}

/* Read the value whose first event is the current one: a scalar, or anything
 * else as an object, which is not empty so that it is never "off". */
static enum status read_item(struct yaml_reader *r, json_t **out)
{
    enum status st = ST_OK;

    if (r->event.type == YAML_SCALAR_EVENT) {
        *out = scalar_value(r);
    } else {
        *out = json_pack("{sb}", "nested", 1);
        st = skip_nested(r);
    }
    return st || *out ? st : err_nomem(r->e, r->name);
}

/* Read a list, whose start is the current event. */
static enum status read_yaml_list(struct yaml_reader *r, json_t **out)
{
    enum status st = ST_OK;

    *out = json_array();
    if (!*out) return err_nomem(r->e, r->name);
    while (!(st = yaml_next(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        json_t *item = NULL;

        st = read_item(r, &item);
        if (st) json_decref(item);
        else if (json_array_append_new(*out, item))
            st = err_nomem(r->e, r->name);
        if (st) break;
    }
    return st;
}

/* Read the value of a key, and put both into the object. */
static enum status read_yaml_pair(struct yaml_reader *r, json_t *object)
{
    json_t *value = NULL;
    char *key;
    enum status st;

    if (r->event.type != YAML_SCALAR_EVENT)
        return yaml_bad(r, "a key is expected, not a list or a mapping");
    if (strlen((const char *)r->event.data.scalar.value) !=
        r->event.data.scalar.length)
        return yaml_bad(r, "a key contains NUL");
    if (json_object_get(object, (const char *)r->event.data.scalar.value))
        return yaml_bad(r, "a key occurs twice");
    key = strdup((const char *)r->event.data.scalar.value);
    if (!key) return err_nomem(r->e, r->name);
    st = yaml_next(r);
    if (!st)
        st = r->event.type == YAML_SEQUENCE_START_EVENT
                 ? read_yaml_list(r, &value) : read_item(r, &value);
    if (st) json_decref(value);
    else if (json_object_set_new(object, key, value))
        st = err_nomem(r->e, r->name);
    free(key);
    return st;
}

static enum status read_document(struct yaml_reader *r, json_t *object)
{
    static const char what[] = "a mapping of settings is expected";
    enum status st = yaml_expect(r, YAML_STREAM_START_EVENT, what);

    if (!st) st = yaml_expect(r, YAML_DOCUMENT_START_EVENT, what);
    if (!st) st = yaml_expect(r, YAML_MAPPING_START_EVENT, what);
    while (!st && !(st = yaml_next(r)) &&
           r->event.type != YAML_MAPPING_END_EVENT)
        st = read_yaml_pair(r, object);
    if (!st) st = yaml_expect(r, YAML_DOCUMENT_END_EVENT, what);
    if (!st)
        st = yaml_expect(r, YAML_STREAM_END_EVENT,
                         "a second document is not accepted");
    return st;
}

/* ---- opening ---- */

enum status yaml_config_parse(struct json_config **out, const char *text,
                              size_t size, const char *name, struct err *e)
{
    struct yaml_reader r = { .name = name, .e = e };
    json_t *object = json_object();
    enum status st;

    *out = NULL;
    if (!object || !yaml_parser_initialize(&r.parser)) {
        json_decref(object);
        return err_nomem(e, name);
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    st = read_document(&r, object);
    drop_event(&r);
    yaml_parser_delete(&r.parser);
    if (st) {
        json_decref(object);
        return st;
    }
    st = json_config_take(out, object, name, e);
    if (!st) json_config_take_words(*out);
    return st;
}

enum status yaml_config_open(struct json_config **out, struct file_set *s,
                             const char *name, struct err *e)
{
    struct file_stream *f;
    char *text, *title;
    size_t size;
    enum status st = file_stream_open(&f, s, name, e);

    *out = NULL;
    if (st) return st;
    title = strdup(file_stream_name(f));
    file_stream_close(f);
    if (!title) return err_nomem(e, name);
    st = file_set_read(s, name, YAML_MOST, &text, &size, e);
    if (!st) st = yaml_config_parse(out, text, size, title, e);
    free(text);
    free(title);
    return st;
}
