/* json_config.c - reads a JSON object with jansson, and gets values of given
 * types from it.
 *
 * All numbers are read as doubles, because tokenizer_config.json has numbers
 * that no integer type holds; an int is a number without a fraction. An object
 * with a repeated key is refused. The first failure is kept in `why`. */
#include "convert/json_config.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/invariant.h"
#include "base/strbuf.h"

#define FILE_MOST 33554432      /* 32 MiB; an index of weights has some */

struct json_config {
    char *name;                 /* of the file */
    json_t *root;
    bool takes_words;           /* "yes" is true */
    struct err why;             /* status ST_OK: no failure so far */
};

/* ---- opening ---- */

static enum status parse_object(struct json_config *c, const char *text,
                                size_t size, struct err *e)
{
    json_error_t why = { 0 };

    c->root = json_loadb(text, size,
                         JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
                         &why);
    if (!c->root && (!why.text[0] ||
                     json_error_code(&why) == json_error_out_of_memory))
        return err_nomem(e, c->name);
    if (!c->root)
        return err_set(e, ST_FORMAT, "%s:%d: %s", c->name, why.line, why.text);
    if (!json_is_object(c->root))
        return err_set(e, ST_FORMAT, "%s: not a JSON object", c->name);
    return ST_OK;
}

/* Read the file as a stream, whose name is that for messages. */
static enum status load_file(struct json_config *c, struct file_set *s,
                             const char *name, struct err *e)
{
    struct file_stream *f;
    char *text;
    size_t size;
    enum status st = file_stream_open(&f, s, name, e);

    if (st) return st;
    c->name = strdup(file_stream_name(f));
    file_stream_close(f);
    if (!c->name) return err_nomem(e, name);
    st = file_set_read(s, name, FILE_MOST, &text, &size, e);
    if (!st) st = parse_object(c, text, size, e);
    free(text);
    return st;
}

enum status json_config_open(struct json_config **out, struct file_set *s,
                             const char *name, struct err *e)
{
    struct json_config *c = calloc(1, sizeof *c);
    enum status st;

    *out = NULL;
    if (!c) return err_nomem(e, name);
    st = load_file(c, s, name, e);
    if (st) json_config_close(c);
    else *out = c;
    return st;
}

enum status json_config_take(struct json_config **out, struct json_t *object,
                             const char *name, struct err *e)
{
    struct json_config *c = calloc(1, sizeof *c);

    assert(json_is_object(object));
    *out = c;
    if (c && (c->name = strdup(name))) {
        c->root = object;
        return ST_OK;
    }
    free(c);
    json_decref(object);
    *out = NULL;
    return err_nomem(e, name);
}

void json_config_take_words(struct json_config *c) { c->takes_words = true; }

void json_config_close(struct json_config *c)
{
    if (!c) return;
    json_decref(c->root);
    free(c->name);
    free(c);
}

const char *json_config_name(const struct json_config *c) { return c->name; }

/* ---- failures ---- */

enum status json_config_check(const struct json_config *c, struct err *e)
{
    if (!c->why.status) return ST_OK;
    return err_set(e, c->why.status, "%s", c->why.msg);
}

/* Remember that the value of a key is wrong. */
__attribute__((format(printf, 3, 4)))
static void config_fail(struct json_config *c, const char *key,
                        const char *fmt, ...)
{
    char what[300];
    va_list ap;

    if (c->why.status) return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    err_set(&c->why, ST_FORMAT, "%s: \"%.60s\" %s", c->name, key, what);
}

static json_t *config_get(const struct json_config *c, const char *key)
{
    json_t *v = json_object_get(c->root, key);

    return json_is_null(v) ? NULL : v;
}

/* The value of a key, or NULL, which is a failure if the key is required. */
static json_t *config_want(struct json_config *c, const char *key,
                           bool required)
{
    json_t *v = config_get(c, key);

    if (!v && required) config_fail(c, key, "is missing");
    return v;
}

bool json_config_has(const struct json_config *c, const char *key)
{
    return config_get(c, key) != NULL;
}

bool json_config_is_object(const struct json_config *c, const char *key)
{
    return json_is_object(config_get(c, key));
}

/* ---- numbers and words ---- */

static bool whole_number(const json_t *v, int low, int high, int *out)
{
    double d = json_number_value(v);

    if (!json_is_number(v) || !(d >= low && d <= high) || floor(d) != d)
        return false;
    *out = (int)d;
    return true;
}

int json_config_int(struct json_config *c, const char *key, int def, int low,
                    int high)
{
    json_t *v = config_want(c, key, def == JSON_REQUIRED);
    int n;

    assert(low <= high);
    if (def == JSON_REQUIRED) def = low;
    if (!v) return def;
    if (whole_number(v, low, high, &n)) return n;
    config_fail(c, key, "should be a whole number from %d to %d", low, high);
    return def;
}

double json_config_number(struct json_config *c, const char *key, double def,
                          double low, double high)
{
    json_t *v = config_want(c, key, def == JSON_REQUIRED);
    double d = json_number_value(v);

    assert(low <= high);
    if (def == JSON_REQUIRED) def = low;
    if (!v) return def;
    if (json_is_number(v) && d >= low && d <= high) return d;
    if (low <= -1e300 && high >= 1e300)
        config_fail(c, key, "should be a number");
    else
        config_fail(c, key, "should be a number from %g to %g", low, high);
    return def;
}

/* What a word means; -1: neither true nor false. */
static int word_value(const struct json_config *c, const json_t *v)
{
    static const char *const words[][2] = {
        { "false", "true" }, { "no", "yes" }, { "off", "on" }, { "n", "y" },
    };
    const char *s = json_string_value(v);

    for (size_t i = 0; c->takes_words && s && i < 4; i++)
        for (int k = 0; k < 2; k++)
            if (!strcasecmp(words[i][k], s)) return k;
    return -1;
}

bool json_config_bool(struct json_config *c, const char *key, bool def)
{
    json_t *v = config_get(c, key);

    if (!v) return def;
    if (json_is_boolean(v)) return json_is_true(v);
    if (word_value(c, v) >= 0) return word_value(c, v);
    config_fail(c, key, "should be true or false");
    return def;
}

static const char *plain_text(const json_t *v)
{
    const char *s = json_string_value(v);

    if (!s || strlen(s) != json_string_length(v)) return NULL;
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f) return NULL;
    return s;
}

const char *json_config_string(struct json_config *c, const char *key,
                               const char *def)
{
    json_t *v = config_get(c, key);
    const char *s = plain_text(v);

    if (!v) return def;
    if (s) return s;
    config_fail(c, key, "should be a string without control characters");
    return def;
}

/* Join words for a message: "relu, gelu or silu". */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;

    out[0] = 0;
    for (int i = 0; words[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s\"%s\"",
                              i == 0 ? "" : words[i + 1] ? ", " : " or ",
                              words[i]);
}

int json_config_word(struct json_config *c, const char *key,
                     const char *const *words, int def)
{
    json_t *v = config_want(c, key, def == JSON_REQUIRED);
    const char *s = plain_text(v);
    char list[200];

    if (def == JSON_REQUIRED) def = 0;
    if (!v) return def;
    for (int i = 0; s && words[i]; i++)
        if (!strcmp(s, words[i])) return i;
    list_words(words, list, sizeof list);
    config_fail(c, key, "is \"%.40s\"; only %s can be converted",
                s ? s : "of another type", list);
    return def;
}

/* ---- lists and objects ---- */

int json_config_length(struct json_config *c, const char *key)
{
    json_t *v = config_get(c, key);
    size_t n = json_array_size(v);

    if (!v) return 0;
    if (json_is_number(v) || json_is_string(v)) return 1;
    if (json_is_array(v) && n <= INT_MAX) return (int)n;
    config_fail(c, key, "should be a list");
    return 0;
}

static json_t *config_element(struct json_config *c, const char *key, int i)
{
    json_t *v = config_get(c, key);
    json_t *x = json_is_array(v) ? json_array_get(v, (size_t)i) : v;

    assert(i >= 0 && x && (json_is_array(v) || !i));
    return x;
}

int json_config_int_at(struct json_config *c, const char *key, int i, int low,
                       int high)
{
    int n;

    if (whole_number(config_element(c, key, i), low, high, &n)) return n;
    config_fail(c, key, "should be a list of whole numbers from %d to %d; "
                "element %d is not", low, high, i);
    return low;
}

int json_config_only_int_at(struct json_config *c, const char *key, int i,
                            int low, int high)
{
    json_t *v = config_element(c, key, i);
    int n;

    if (json_array_size(v) > 1) return -1;
    if (json_is_array(v)) v = json_array_get(v, 0);
    if (whole_number(v, low, high, &n)) return n;
    config_fail(c, key, "should be a list of lists of whole numbers from %d to "
                "%d; element %d is not", low, high, i);
    return low;
}

const char *json_config_string_at(struct json_config *c, const char *key,
                                  int i)
{
    const char *s = plain_text(config_element(c, key, i));

    if (s) return s;
    config_fail(c, key, "should be a list of strings without control "
                "characters; element %d is not", i);
    return "";
}

void json_config_each(struct json_config *c, const char *key,
                      json_config_fn *fn, void *user)
{
    json_t *object = key ? config_get(c, key) : c->root;
    const char *name;
    json_t *v;

    if (!object) return;
    if (!json_is_object(object)) {
        config_fail(c, key, "should be an object");
        return;
    }
    json_object_foreach(object, name, v)
        if (!fn(user, name, plain_text(v))) return;
}

/* ---- refusing ---- */

static bool is_off(const json_t *v)
{
    return !v || json_is_false(v) ||
           (json_is_number(v) && json_number_value(v) == 0) ||
           (json_is_string(v) && !json_string_length(v)) ||
           (json_is_array(v) && !json_array_size(v)) ||
           (json_is_object(v) && !json_object_size(v));
}

void json_config_refuse(struct json_config *c, const char *key)
{
    json_t *v = config_get(c, key);

    if (!is_off(v) && word_value(c, v) != 0)
        config_fail(c, key, "is set; a model with it cannot be converted");
}

void json_config_must_be(struct json_config *c, const char *key, bool want)
{
    if (json_config_bool(c, key, want) != want)
        config_fail(c, key, "should be %s; another model cannot be converted",
                    want ? "true" : "false");
}
