/* jput.c - writes JSON values. It keeps no state: whether a comma is needed is
 * seen from the last byte of the buffer. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/jput.h"
#include "common/utf8_scan.h"

/* Put a comma if the buffer ends with a value. Values end with a quote, a
 * bracket, a digit, or a letter of true, false and null. */
static void jput_comma(struct textbuf *t)
{
    char last = t->len ? t->data[t->len - 1] : '\n';

    if (last == '"' || last == ']' || last == '}'
        || (last >= '0' && last <= '9') || (last >= 'a' && last <= 'z'))
        textbuf_add(t, ",", 1);
}

void jput_raw(struct textbuf *t, const char *json, size_t n)
{
    jput_comma(t);
    textbuf_add(t, json, n);
}

static void jput_literal(struct textbuf *t, const char *json)
{
    jput_raw(t, json, strlen(json));
}

/* ---- objects and arrays -------------------------------------------------- */

void jput_object(struct textbuf *t) { jput_literal(t, "{"); }

void jput_object_end(struct textbuf *t) { textbuf_add(t, "}", 1); }

void jput_array(struct textbuf *t) { jput_literal(t, "["); }

void jput_array_end(struct textbuf *t) { textbuf_add(t, "]", 1); }

void jput_line_end(struct textbuf *t) { textbuf_add(t, "}\n", 2); }

void jput_key(struct textbuf *t, const char *key)
{
    jput_text(t, key);
    textbuf_add(t, ":", 1);
}

/* ---- values -------------------------------------------------------------- */

/* len: the length of the character; 0 if it is not valid UTF-8. */
static void jput_char(struct textbuf *t, const char *s, size_t len)
{
    static const char plain[] = "\"\\\n\r\t", escape[] = "\"\\nrt";
    const char *p = len == 1 && s[0] ? strchr(plain, s[0]) : NULL;

    if (len == 0) textbuf_adds(t, "\xEF\xBF\xBD");
    else if (p) textbuf_addf(t, "\\%c", escape[p - plain]);
    else if (len == 1 && ((unsigned char)s[0] < 0x20 || s[0] == 0x7F))
        textbuf_addf(t, "\\u%04x", (unsigned char)s[0]);
    else textbuf_add(t, s, len);
}

void jput_string(struct textbuf *t, const char *s, size_t n)
{
    jput_literal(t, "\"");
    for (size_t i = 0; i < n;) {
        size_t len = utf8_char_bytes(s + i, n - i);

        jput_char(t, s + i, len);
        i += len ? len : 1;
    }
    textbuf_add(t, "\"", 1);
}

void jput_text(struct textbuf *t, const char *s)
{
    jput_string(t, s, strlen(s));
}

void jput_int(struct textbuf *t, int64_t n)
{
    jput_comma(t);
    textbuf_addf(t, "%" PRId64, n);
}

void jput_number(struct textbuf *t, double v)
{
    jput_comma(t);
    if (!isfinite(v)) textbuf_adds(t, "null");
    else textbuf_addf(t, "%.7g", v == 0 ? 0.0 : v);     /* no "-0" */
}

void jput_exact(struct textbuf *t, double v)
{
    jput_comma(t);
    if (isfinite(v)) textbuf_addf(t, "%.12g", v);
    else textbuf_adds(t, "null");
}

void jput_fixed(struct textbuf *t, double v, int decimals)
{
    jput_comma(t);
    if (isfinite(v)) textbuf_addf(t, "%.*f", decimals, v);
    else textbuf_adds(t, "null");
}

void jput_hex(struct textbuf *t, uint64_t v)
{
    jput_comma(t);
    textbuf_addf(t, "\"%016" PRIx64 "\"", v);
}

void jput_bool(struct textbuf *t, bool v)
{
    jput_literal(t, v ? "true" : "false");
}

void jput_null(struct textbuf *t) { jput_literal(t, "null"); }

void jput_time(struct textbuf *t, int64_t seconds)
{
    time_t when = (time_t)seconds;
    char text[64] = "";
    struct tm utc;

    if (gmtime_r(&when, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    jput_text(t, text);
}

/* ---- fields -------------------------------------------------------------- */

void jput_text_field(struct textbuf *t, const char *key, const char *s)
{
    jput_key(t, key);
    jput_text(t, s);
}

void jput_int_field(struct textbuf *t, const char *key, int64_t n)
{
    jput_key(t, key);
    jput_int(t, n);
}

void jput_number_field(struct textbuf *t, const char *key, double v)
{
    jput_key(t, key);
    jput_number(t, v);
}

void jput_exact_field(struct textbuf *t, const char *key, double v)
{
    jput_key(t, key);
    jput_exact(t, v);
}

void jput_fixed_field(struct textbuf *t, const char *key, double v,
                      int decimals)
{
    jput_key(t, key);
    jput_fixed(t, v, decimals);
}

void jput_hex_field(struct textbuf *t, const char *key, uint64_t v)
{
    jput_key(t, key);
    jput_hex(t, v);
}

void jput_bool_field(struct textbuf *t, const char *key, bool v)
{
    jput_key(t, key);
    jput_bool(t, v);
}

void jput_time_field(struct textbuf *t, const char *key, int64_t seconds)
{
    jput_key(t, key);
    jput_time(t, seconds);
}
