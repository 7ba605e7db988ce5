/* body.c - parses JSON, forms, queries and multipart bodies. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/utf8_scan.h"
#include "server/body.h"

static bool body_bad(char why[BODY_WHY], const char *sentence)
{
    snprintf(why, BODY_WHY, "%s", sentence);
    return false;
}

/* Whether bytes are a text: UTF-8 without U+0000. */
static bool body_is_text(const char *s, size_t n)
{
    return utf8_first_bad(s, n) == n && !memchr(s, 0, n);
}

/* ---- media types -------------------------------------------------------- */

static bool body_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void body_media_type(const char *content_type, char *out, size_t size)
{
    size_t n = 0;

    if (!content_type) content_type = "";
    while (body_is_blank(*content_type)) content_type++;
    while (content_type[n] && content_type[n] != ';' &&
           !body_is_blank(content_type[n]) && n + 1 < size) {
        out[n] = (char)tolower((unsigned char)content_type[n]);
        n++;
    }
    out[n] = 0;
}

/* Reads a quoted string after its first quote. Returns what follows it; NULL if
 * it does not end or does not fit. */
static const char *body_quoted(const char *s, char *out, size_t size)
{
    size_t n = 0;

    for (; *s && *s != '"'; s++) {
        /* Browsers escape quotes as %22 and do not escape a backslash, which
         * can be part of a Windows path. */
        if (s[0] == '\\' && (s[1] == '"' || s[1] == '\\')) s++;
        if (n + 1 >= size) return NULL;
        out[n++] = *s;
    }
    out[n] = 0;
    return *s ? s + 1 : NULL;
}

/* The same for a word that is not quoted. */
static const char *body_word(const char *s, char *out, size_t size)
{
    size_t n = strcspn(s, "; \t");

    if (n >= size) return NULL;
    memcpy(out, s, n);
    out[n] = 0;
    return s + n;
}

bool body_parameter(const char *value, const char *name, char *out, size_t size)
{
    size_t name_n = strlen(name);
    const char *s = value;

    out[0] = 0;
    s += strcspn(s, ";");
    while (*s == ';') {
        char other[300];
        size_t n;
        bool mine;

        s++;
        while (body_is_blank(*s)) s++;
        n = strcspn(s, "=; \t");
        mine = n == name_n && !strncasecmp(s, name, n);
        s += n;
        while (body_is_blank(*s)) s++;
        if (*s == '=') {
            s++;
            while (body_is_blank(*s)) s++;
            s = *s == '"' ? body_quoted(s + 1, mine ? out : other,
                                        mine ? size : sizeof other)
                          : body_word(s, mine ? out : other,
                                      mine ? size : sizeof other);
            if (!s) {
                out[0] = 0;
                return false;
            }
            if (mine) return true;
        }
        s += strcspn(s, ";");
    }
    return false;
}

static bool body_ends(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

static bool body_charset_is_utf8(const char *content_type)
{
    char charset[32];

    if (!content_type || !strchr(content_type, ';')) return true;
    if (!body_parameter(content_type, "charset", charset, sizeof charset))
        return true;
    return !strcasecmp(charset, "utf-8") || !strcasecmp(charset, "utf8") ||
           !strcasecmp(charset, "us-ascii");
}

enum body_kind body_kind(const char *content_type, const char *body, size_t n)
{
    char type[128];
    size_t i = 0;

    if (!n) return BODY_EMPTY;
    body_media_type(content_type, type, sizeof type);
    if (!type[0]) {
        while (i < n && isspace((unsigned char)body[i])) i++;
        return i < n && (body[i] == '{' || body[i] == '[') ? BODY_JSON
                                                           : BODY_FORM;
    }
    if (!body_charset_is_utf8(content_type)) return BODY_OTHER;
    if (!strcmp(type, "application/json") || body_ends(type, "+json"))
        return BODY_JSON;
    if (!strcmp(type, "application/x-www-form-urlencoded")) return BODY_FORM;
    if (!strcmp(type, "multipart/form-data")) return BODY_MULTIPART;
    return BODY_OTHER;
}

/* ---- JSON --------------------------------------------------------------- */

/* What a value of jansson needs in memory, roughly. */
enum { JSON_CONTAINER = 300, JSON_VALUE = 60 };

/* What is wrong with the structure of a JSON text, NULL if nothing. jansson
 * allows 2048 levels, which is too much for functions that call themselves.
 * And many empty values need a hundred times the memory of their text. */
static const char *body_structure(const char *s, size_t n)
{
    bool quoted = false;
    size_t memory = 0;
    int depth = 0;

    for (size_t i = 0; i < n; i++) {
        if (quoted) {
            if (s[i] == '\\') i++;
            else if (s[i] == '"') quoted = false;
        } else if (s[i] == '"') {
            quoted = true;
        } else if (s[i] == '{' || s[i] == '[') {
            if (++depth > BODY_DEPTH) return "it is nested too deeply";
            memory += JSON_CONTAINER;
        } else if (s[i] == '}' || s[i] == ']') {
            depth--;
        } else if (s[i] == ',') {
            memory += JSON_VALUE;
        }
    }
    return memory > BODY_MEMORY + BODY_MEMORY_BYTE * n
               ? "it has too many values" : NULL;
}

/* What is wrong with JSON, from the error code: the texts of jansson quote the
 * input. */
static void body_json_error(const json_error_t *e, char why[BODY_WHY])
{
    const char *what = "the syntax is wrong";

    switch (json_error_code(e)) {
    case json_error_out_of_memory: what = "out of memory"; break;
    case json_error_premature_end_of_input: what = "it ends too early"; break;
    case json_error_end_of_input_expected:
        what = "something follows its end";
        break;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        what = "a text contains U+0000";
        break;
    case json_error_numeric_overflow: what = "a number is too large"; break;
    case json_error_invalid_utf8: what = "it is not valid UTF-8"; break;
    default: break;
    }
    snprintf(why, BODY_WHY, "Invalid JSON format: %s (line %d, column %d)",
             what, e->line, e->column);
}

json_t *body_json(const char *text, size_t n, char why[BODY_WHY])
{
    const char *bad = utf8_first_bad(text, n) < n ? "it is not valid UTF-8"
                                                  : body_structure(text, n);
    json_error_t e;
    json_t *json;

    if (bad) {
        snprintf(why, BODY_WHY, "Invalid JSON format: %s", bad);
        return NULL;
    }
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, n -= 3;
    json = json_loadb(text, n, JSON_DECODE_ANY, &e);
    if (!json) body_json_error(&e, why);
    return json;
}

/* ---- forms -------------------------------------------------------------- */

static int body_hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

long body_percent_decode(char *s, size_t n, bool plus)
{
    size_t out = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] == '+' && plus) {
            s[out++] = ' ';
        } else if (s[i] == '%') {
            int high = i + 1 < n ? body_hex(s[i + 1]) : -1;
            int low = i + 2 < n ? body_hex(s[i + 2]) : -1;

            if (high < 0 || low < 0) return -1;
            s[out++] = (char)(high * 16 + low);
            i += 2;
        } else {
            s[out++] = s[i];
        }
    }
    return (long)out;
}

bool body_add_field(json_t *into, const char *name, size_t name_n,
                    const char *value, size_t value_n)
{
    bool list = name_n > 2 && !memcmp(name + name_n - 2, "[]", 2);
    json_t *text = json_stringn(value, value_n), *old, *array;

    if (list) name_n -= 2;
    old = json_object_getn(into, name, name_n);
    if (json_is_array(old)) return !json_array_append_new(old, text);
    if (!old && !list)
        return !json_object_setn_new(into, name, name_n, text);
    array = json_array();
    if ((old && json_array_append(array, old)) ||
        json_array_append_new(array, text)) {
        json_decref(array);
        return false;
    }
    return !json_object_setn_new(into, name, name_n, array);
}

/* Adds "name=value", which is decoded in place. */
static bool body_form_field(json_t *into, char *s, size_t n, char why[BODY_WHY])
{
    char *equals = memchr(s, '=', n);
    size_t name_n = equals ? (size_t)(equals - s) : n;
    char *value = equals ? equals + 1 : s + n;
    long name_out = body_percent_decode(s, name_n, true);
    long value_out = body_percent_decode(value, (size_t)(s + n - value), true);

    if (name_out < 0 || value_out < 0)
        return body_bad(why, "a '%' is not followed by two hexadecimal digits");
    if (!body_is_text(s, (size_t)name_out) ||
        !body_is_text(value, (size_t)value_out))
        return body_bad(why, "an argument is not valid UTF-8, or contains "
                             "U+0000");
    return body_add_field(into, s, (size_t)name_out, value, (size_t)value_out)
               ? true : body_bad(why, "out of memory");
}

bool body_form(json_t *into, const char *text, size_t n, char why[BODY_WHY])
{
    char *copy = malloc(n + 1);
    size_t at = 0;
    int fields = 0;
    bool ok = copy != NULL;

    if (!ok) return body_bad(why, "out of memory");
    memcpy(copy, text, n);
    copy[n] = '&';
    while (ok && at < n) {
        char *end = memchr(copy + at, '&', n + 1 - at);
        size_t length = (size_t)(end - copy) - at;

        if (length && ++fields > BODY_FIELDS)
            ok = body_bad(why, "there are too many arguments");
        else if (length)
            ok = body_form_field(into, copy + at, length, why);
        at += length + 1;
    }
    free(copy);
    return ok;
}

/* ---- multipart ---------------------------------------------------------- */

/* The name of a file without the folders that some clients send. */
static void body_base_name(char *name)
{
    char *base = name;

    for (char *s = name; *s; s++)
        if (*s == '/' || *s == '\\') base = s + 1;
    memmove(name, base, strlen(base) + 1);
    for (char *s = name; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) *s = '_';
    if (!strcmp(name, ".") || !strcmp(name, "..")) name[0] = 0;
}

/* RFC 5987, as in filename*=UTF-8''na%C3%AFve.txt. */
static void body_star_name(const char *value, char *out, size_t size)
{
    char raw[256], *text;
    long n;

    if (!body_parameter(value, "filename*", raw, sizeof raw)) return;
    text = strchr(raw, '\'');
    text = text ? strchr(text + 1, '\'') : NULL;
    if (!text || strncasecmp(raw, "utf-8'", 6)) return;
    text++;
    n = body_percent_decode(text, strlen(text), false);
    if (n > 0 && body_is_text(text, (size_t)n) && (size_t)n < size)
        snprintf(out, size, "%.*s", (int)n, text);
}

static bool body_disposition(const char *value, struct body_part *p,
                             char why[BODY_WHY])
{
    char kind[32];

    body_media_type(value, kind, sizeof kind);
    if (strcmp(kind, "form-data") ||
        !body_parameter(value, "name", p->name, sizeof p->name))
        return body_bad(why, "a part of the body has no name, or one that is "
                             "too long");
    p->is_file = body_parameter(value, "filename", p->file, sizeof p->file) ||
                 strcasestr(value, "filename");
    body_star_name(value, p->file, sizeof p->file);
    if (!body_is_text(p->name, strlen(p->name)) ||
        !body_is_text(p->file, strlen(p->file)))
        return body_bad(why, "the name of a part is not valid UTF-8");
    body_base_name(p->file);
    return true;
}

/* Reads one line "Name: value" of the headers of a part. */
static bool body_part_header(const char *line, size_t n, struct body_part *p,
                             char why[BODY_WHY])
{
    char text[1024], *colon, *value;

    if (n >= sizeof text || memchr(line, 0, n))
        return body_bad(why, "a header of a part of the body is too long, or "
                             "contains U+0000");
    memcpy(text, line, n);
    text[n] = 0;
    colon = strchr(text, ':');
    if (!colon)
        return body_bad(why, "a header of a part of the body has no colon");
    *colon = 0;
    value = colon + 1;
    while (body_is_blank(*value)) value++;
    if (!strcasecmp(text, "Content-Disposition"))
        return body_disposition(value, p, why);
    if (!strcasecmp(text, "Content-Type"))
        body_media_type(value, p->type, sizeof p->type);
    if (!strcasecmp(text, "Content-Transfer-Encoding") &&
        strcasecmp(value, "binary") && strcasecmp(value, "8bit") &&
        strcasecmp(value, "7bit"))
        return body_bad(why, "a part of the body has an encoding that is not "
                             "supported");
    return true;
}

/* Reads the headers of a part. Returns where its bytes begin; NULL on
 * failure. */
static const char *body_part_headers(const char *s, const char *end,
                                     struct body_part *p, char why[BODY_WHY])
{
    for (int lines = 0; lines < 16; lines++) {
        const char *line_end = memmem(s, (size_t)(end - s), "\r\n", 2);

        if (!line_end) break;
        if (line_end == s) {
            if (p->name[0]) return s + 2;
            body_bad(why, "a part of the body has no name");
            return NULL;
        }
        if (!body_part_header(s, (size_t)(line_end - s), p, why)) return NULL;
        s = line_end + 2;
    }
    body_bad(why, "a part of the body has no end of its headers");
    return NULL;
}

static int body_bad_parts(char why[BODY_WHY], const char *sentence)
{
    body_bad(why, sentence);
    return -1;
}

/* Finds a mark from s on. Returns what follows it, NULL if there is none; *at
 * gets where it begins. */
static const char *body_next_mark(const char *s, const char *end,
                                  const char *mark, const char **at)
{
    *at = memmem(s, (size_t)(end - s), mark, strlen(mark));
    return *at ? *at + strlen(mark) : NULL;
}

int body_multipart(const char *body, size_t n, const char *boundary,
                   struct body_part parts[BODY_PARTS], char why[BODY_WHY])
{
    const char *s = body, *end = body + n, *next;
    char mark[80];

    if (!boundary[0] || strlen(boundary) > 70)
        return body_bad_parts(why, "the boundary of the body is missing or "
                                   "longer than 70 characters");
    snprintf(mark, sizeof mark, "\r\n--%s", boundary);
    /* The first boundary needs no line end before it. */
    if (n >= strlen(mark) - 2 && !memcmp(body, mark + 2, strlen(mark) - 2))
        s += strlen(mark) - 2;
    else
        s = body_next_mark(body, end, mark, &next);
    if (!s)
        return body_bad_parts(why, "the boundary does not occur in the body");
    for (int found = 0;; found++) {
        struct body_part *p = &parts[found];

        if (end - s >= 2 && !memcmp(s, "--", 2)) return found;
        while (s < end && body_is_blank(*s)) s++;
        if (end - s < 2 || memcmp(s, "\r\n", 2))
            return body_bad_parts(why, "the body ends too early");
        if (found == BODY_PARTS)
            return body_bad_parts(why, "the body has more than 32 parts");
        memset(p, 0, sizeof *p);
        p->at = body_part_headers(s + 2, end, p, why);
        if (!p->at) return -1;
        /* The mark may begin with the line end of the last header. */
        s = body_next_mark(p->at - 2, end, mark, &next);
        if (!s) return body_bad_parts(why, "the body ends too early");
        p->n = next < p->at ? 0 : (size_t)(next - p->at);
    }
}
