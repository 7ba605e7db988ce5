/* fuzz_http_body.c - any bytes as the body of a request must be refused or
 * become arguments that are texts.
 *
 * The first byte of an input says what the rest is: JSON ('j'), a form ('f'), a
 * multipart body whose boundary is "B" ('m'), or a line with a header, then a
 * body of that type ('t'). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8_scan.h"
#include "server/body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct body_part parts[BODY_PARTS];

static void body_must(int ok)
{
    if (!ok) abort();
}

/* Texts must be UTF-8 without U+0000. */
static void check_json(const json_t *json, int depth)
{
    const char *key;
    json_t *value;
    size_t i;

    body_must(depth <= BODY_DEPTH);
    if (json_is_string(json)) {
        size_t n = json_string_length(json);

        body_must(strlen(json_string_value(json)) == n);
        body_must(utf8_first_bad(json_string_value(json), n) == n);
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        body_must(utf8_first_bad(key, strlen(key)) == strlen(key));
        check_json(value, depth + 1);
    }
    json_array_foreach(json, i, value) check_json(value, depth + 1);
}

static void fuzz_json(const char *text, size_t n)
{
    char why[BODY_WHY] = "";
    json_t *json = body_json(text, n, why);

    body_must(json || why[0]);
    if (json) check_json(json, 0);
    json_decref(json);
}

static void fuzz_form(const char *text, size_t n)
{
    char why[BODY_WHY] = "";
    json_t *o = json_object();

    body_must(body_form(o, text, n, why) || why[0]);
    check_json(o, 0);
    json_decref(o);
}

static void fuzz_multipart(const char *text, size_t n, const char *boundary)
{
    char why[BODY_WHY] = "";
    int found = body_multipart(text, n, boundary, parts, why);

    body_must(found >= 0 ? found <= BODY_PARTS : why[0]);
    for (int i = 0; i < found; i++) {
        struct body_part *p = &parts[i];

        body_must(p->at >= text && p->at + p->n <= text + n);
        body_must(!strpbrk(p->file, "/\\") && strcmp(p->file, ".."));
        body_must(utf8_first_bad(p->name, strlen(p->name)) == strlen(p->name));
        body_must(utf8_first_bad(p->file, strlen(p->file)) == strlen(p->file));
    }
}

/* A header Content-Type, a newline, and the body. */
static void fuzz_typed(char *text, size_t n)
{
    char *line_end = memchr(text, '\n', n), boundary[128], type[64];
    char *body;
    size_t body_n;

    if (!line_end) return;
    *line_end = 0;
    body = line_end + 1;
    body_n = n - (size_t)(body - text);
    body_media_type(text, type, sizeof type);
    switch (body_kind(text, body, body_n)) {
    case BODY_JSON: fuzz_json(body, body_n); break;
    case BODY_FORM: fuzz_form(body, body_n); break;
    case BODY_MULTIPART:
        body_parameter(text, "boundary", boundary, sizeof boundary);
        fuzz_multipart(body, body_n, boundary);
        break;
    default: break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size < 1) return 0;
    /* Exactly as long as the input, so that the sanitizer sees what reads
     * beyond its end. */
    text = malloc(size);
    if (!text) return 0;
    memcpy(text, data + 1, size - 1);
    if (data[0] == 'j') fuzz_json(text, size - 1);
    if (data[0] == 'f') fuzz_form(text, size - 1);
    if (data[0] == 'm') fuzz_multipart(text, size - 1, "B");
    if (data[0] == 't') fuzz_typed(text, size - 1);
    free(text);
    return 0;
}
