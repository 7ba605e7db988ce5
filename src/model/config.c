/* config.c - reads, checks and writes the hyperparameters of a model.
 *
 * The list in config.h becomes a table of numbers; a second table lists the
 * strings. A default outside the range of its key means that the key is
 * required. Numbers are read and written in the C locale, whatever locale the
 * program has set: a model made under a German locale must open anywhere. */
#include "model/config.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* Of the text form. The longest value is a network. */
enum { LONGEST_LINE = 5000 };

struct number {
    const char *key;
    size_t offset;              /* in struct config */
    bool real;                  /* a double, not an int */
    double def, low, high;      /* default value and range */
};

static const struct number numbers[] = {
#define AT(f) #f, offsetof(struct config, f)
#define I(f, def, low, high) { AT(f), false, def, low, high },
#define F(f, def, low, high) { AT(f), true, def, low, high },
    CONFIG_LIST(I, F)
#undef I
#undef F
};

struct string {
    const char *key;
    size_t offset, size;
};

#define STRING(f) { AT(f), sizeof ((struct config *)0)->f }
static const struct string strings[] = {
    STRING(source_lang), STRING(target_lang), STRING(name), STRING(family),
    STRING(license), STRING(origin), STRING(trust),
};

enum { N_NUMBERS = sizeof numbers / sizeof *numbers,
       N_STRINGS = sizeof strings / sizeof *strings };

/* The keys that a text contains, one bit each. */
typedef uint64_t keyset;
_Static_assert(N_NUMBERS + N_STRINGS <= 64, "keyset is too small");

/* Switches this thread to the C locale while numbers are read or written. */
struct c_locale { locale_t c, old; };

static bool c_locale_enter(struct c_locale *l)
{
    l->c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!l->c) return false;
    l->old = uselocale(l->c);
    return true;
}

static void c_locale_leave(struct c_locale *l)
{
    uselocale(l->old);
    freelocale(l->c);
}

static void config_set_number(struct config *c, const struct number *n,
                              double v)
{
    char *at = (char *)c + n->offset;

    assert(n->offset < sizeof *c && (n->real || v == floor(v)));
    if (n->real) memcpy(at, &v, sizeof v);
    else memcpy(at, &(int){ (int)v }, sizeof(int));
}

static double config_get_number(const struct config *c, const struct number *n)
{
    const char *at = (const char *)c + n->offset;
    double v;
    int i;

    if (n->real) {
        memcpy(&v, at, sizeof v);
        return v;
    }
    memcpy(&i, at, sizeof i);
    return i;
}

static enum status config_parse_number(struct config *c, const struct number *n,
                                       const char *value, struct err *e)
{
    char *end;
    double v = strtod(value, &end);

    if (!*value || *end || value[strspn(value, "+-.0123456789eE")])
        return err_set(e, ST_FORMAT, "config: %s=%s is not a number", n->key,
                       value);
    if (!(v >= n->low && v <= n->high))
        return err_set(e, ST_FORMAT, "config: %s=%s is not between %g and %g",
                       n->key, value, n->low, n->high);
    if (!n->real && v != floor(v))
        return err_set(e, ST_FORMAT, "config: %s=%s is not a whole number",
                       n->key, value);
    config_set_number(c, n, v);
    return ST_OK;
}

static bool config_printable(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f) return false;
    return true;
}

static enum status parse_string(struct config *c, const struct string *s,
                                const char *value, struct err *e)
{
    if (strlen(value) >= s->size)
        return err_set(e, ST_FORMAT, "config: %s is longer than %zu bytes",
                       s->key, s->size - 1);
    if (!config_printable(value))
        return err_set(e, ST_FORMAT, "config: %s contains control characters",
                       s->key);
    assert(s->offset + s->size <= sizeof *c);
    strcpy((char *)c + s->offset, value);
    return ST_OK;
}

/* The index of a key: the numbers first, then the strings. -1 if unknown. */
static int config_find_key(const char *key)
{
    for (int i = 0; i < N_NUMBERS; i++)
        if (!strcmp(numbers[i].key, key)) return i;
    for (int i = 0; i < N_STRINGS; i++)
        if (!strcmp(strings[i].key, key)) return N_NUMBERS + i;
    return -1;
}

/* line is "key=value", NUL-terminated. The function modifies it. */
static enum status parse_line(struct config *c, char *line, keyset *keys_given,
                              struct err *e)
{
    char *eq = strchr(line, '=');
    int i;

    if (!eq)
        return err_set(e, ST_FORMAT, "config: \"%.40s\" is not key=value",
                       line);
    *eq = 0;
    i = config_find_key(line);
    if (i < 0) return ST_OK;
    if (*keys_given >> i & 1)
        return err_set(e, ST_FORMAT, "config: %s is given twice", line);
    *keys_given |= (keyset)1 << i;
    if (i < N_NUMBERS) return config_parse_number(c, &numbers[i], eq + 1, e);
    return parse_string(c, &strings[i - N_NUMBERS], eq + 1, e);
}

static enum status parse_lines(struct config *c, const char *text, size_t len,
                               keyset *keys_given, struct err *e)
{
    char line[LONGEST_LINE + 1];
    enum status st = ST_OK;

    while (len && !st) {
        const char *nl = memchr(text, '\n', len);
        size_t n = nl ? (size_t)(nl - text) : len;

        if (n >= sizeof line || memchr(text, 0, n))
            return err_set(e, ST_FORMAT, n >= sizeof line ?
                           "config: a line is too long" :
                           "config: the text contains a NUL byte");
        memcpy(line, text, n);
        line[n] = 0;
        if (n) st = parse_line(c, line, keys_given, e);
        text += n + (nl != NULL);
        len -= n + (nl != NULL);
    }
    return st;
}

void config_defaults(struct config *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < N_NUMBERS; i++)
        config_set_number(c, &numbers[i], numbers[i].def);
}

static enum status check_required(keyset keys_given, struct err *e)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        const struct number *n = &numbers[i];

        if (!(keys_given >> i & 1) && (n->def < n->low || n->def > n->high))
            return err_set(e, ST_FORMAT, "config: %s is missing", n->key);
    }
    return ST_OK;
}

static enum status check_ids(const struct config *c, struct err *e)
{
    const struct { const char *key; int id; } ids[] = {
        { "pad_id", c->pad_id },       { "unk_id", c->unk_id },
        { "bos_id", c->bos_id },       { "eos_id", c->eos_id },
        { "start_id", c->start_id },   { "suffix_id", c->suffix_id },
        { "prefix_id", c->prefix_id },
        { "target_prefix_id", c->target_prefix_id },
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i].id >= c->vocab_size)
            return err_set(e, ST_FORMAT,
                           "config: %s=%d is not less than vocab_size=%d",
                           ids[i].key, ids[i].id, c->vocab_size);
    return ST_OK;
}

/* Conditions that involve several values. */
static enum status check_together(const struct config *c, struct err *e)
{
    if (c->d_model % c->heads)
        return err_set(e, ST_FORMAT,
                       "config: d_model=%d is not a multiple of heads=%d",
                       c->d_model, c->heads);
    if (c->positions != POS_LEARNED && c->d_model % 2)
        return err_set(e, ST_FORMAT, "config: sinusoidal positions require "
                       "an even d_model, not %d", c->d_model);
    if (c->position_offset + c->max_source > c->max_positions)
        return err_set(e, ST_FORMAT, "config: position_offset=%d plus "
                       "max_source=%d is greater than max_positions=%d",
                       c->position_offset, c->max_source, c->max_positions);
    if (c->attention_layer >= c->decoder_layers)
        return err_set(e, ST_FORMAT, "config: attention_layer=%d is not less "
                       "than decoder_layers=%d", c->attention_layer,
                       c->decoder_layers);
    return check_ids(c, e);
}

static void fill_derived(struct config *c)
{
    int room = (c->max_positions - c->position_offset) / 2;

    if (!c->ffn_decoder) c->ffn_decoder = c->ffn;
    if (c->attention_layer < 0)
        c->attention_layer = (c->decoder_layers - 1) / 2;
    if (!c->max_source) c->max_source = room < 1 ? 1 : room < 250 ? room : 250;
}

enum status config_parse(struct config *c, const char *text, size_t len,
                         struct err *e)
{
    struct c_locale loc;
    keyset keys_given = 0;
    enum status st;

    config_defaults(c);
    if (!c_locale_enter(&loc)) return err_nomem(e, "config: the C locale");
    st = parse_lines(c, text, len, &keys_given, e);
    if (!st) st = check_required(keys_given, e);
    if (!st) {
        fill_derived(c);
        st = check_together(c, e);
    }
    c_locale_leave(&loc);
    return st;
}

bool config_format(const struct config *c, struct strbuf *out)
{
    struct c_locale loc;
    bool ok = c_locale_enter(&loc);

    if (!ok) return false;
    for (int i = 0; i < N_NUMBERS && ok; i++)
        ok = strbuf_addf(out, numbers[i].real ? "%s=%.17g\n" : "%s=%.0f\n",
                         numbers[i].key, config_get_number(c, &numbers[i]));
    for (int i = 0; i < N_STRINGS && ok; i++)
        ok = strbuf_addf(out, "%s=%s\n", strings[i].key,
                         (const char *)c + strings[i].offset);
    c_locale_leave(&loc);
    return ok;
}
