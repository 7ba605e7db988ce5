/* libre_spec.c - describes LibreTranslate's API: GET /spec (OpenAPI 2) for
 * programs, GET /docs for people. Both are written from one list. */
#include <jansson.h>
#include <string.h>

#include "common/textbuf.h"
#include "libre.h"

/* An argument: "*" at its end means that it is needed. */
static const struct libre_operation {
    const char *method, *path, *summary;
    const char *arguments;      /* separated by blanks */
} operations[] = {
    { "post", "/translate", "Translate a text or a list of texts",
      "q* source* target* format alternatives api_key" },
    { "post", "/detect", "Detect the language of a text", "q* api_key" },
    { "get", "/languages", "List the languages", "" },
    { "post", "/suggest", "Store a better translation in the memory, where the "
      "next translation finds it", "q* s* source* target* api_key" },
    { "get", "/frontend/settings", "Get the limits of the server", "" },
    { "get", "/health", "Ask whether the server is alive", "" },
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

static const struct { const char *name, *help; } arguments[] = {
    { "q", "The text; /translate and /detect take a JSON list of texts, too" },
    { "s", "The better translation" },
    { "source", "Code of the language of the text; auto: detect it" },
    { "target", "Code of the language to translate to" },
    { "format", "text, or html for texts with entities" },
    { "alternatives", "Number of other translations that are wanted" },
    { "api_key", "The API key, if the server needs one" },
};
enum { N_ARGUMENTS = sizeof arguments / sizeof *arguments };

static const char *argument_help(const char *name, size_t n)
{
    for (int i = 0; i < N_ARGUMENTS; i++)
        if (strlen(arguments[i].name) == n &&
            !strncmp(arguments[i].name, name, n))
            return arguments[i].help;
    return "";
}

/* ---- OpenAPI ------------------------------------------------------------ */

static json_t *parameters_of(const struct libre_operation *o)
{
    json_t *list = json_array();
    const char *s = o->arguments;

    while (*s) {
        size_t n = strcspn(s, "* ");
        bool needed = s[n] == '*';

        json_array_append_new(list, json_pack(
            "{s:s%, s:s, s:s, s:b, s:s}", "name", s, n, "in", "formData",
            "type", n == strlen("alternatives") ? "integer" : "string",
            "required", (int)needed, "description", argument_help(s, n)));
        s += n + needed;
        s += *s == ' ';
    }
    return list;
}

static json_t *operation_json(const struct libre_operation *o)
{
    return json_pack("{s:s, s:o, s:{s:{s:s}, s:{s:s, s:{s:s}}}}",
                     "summary", o->summary, "parameters", parameters_of(o),
                     "responses", "200", "description", "The answer",
                     "default", "description", "An error: {\"error\": ..}",
                     "schema", "$ref", "#/definitions/error");
}

void libre_spec(struct call *c)
{
    json_t *paths = json_object();

    for (int i = 0; i < N_OPERATIONS; i++)
        json_object_set_new(paths, operations[i].path,
                            json_pack("{s:o}", operations[i].method,
                                      operation_json(&operations[i])));
    call_reply_json(c, 200, json_pack(
        "{s:s, s:{s:s, s:s}, s:[s,s], s:[s], s:o, s:{s:{s:s, s:{s:{s:s}}}}}",
        "swagger", "2.0", "info", "title", "LibreTranslate's API, by skmt",
        "version", skmt_version(), "consumes", "application/json",
        "application/x-www-form-urlencoded", "produces", "application/json",
        "paths", paths, "definitions", "error", "type", "object",
        "properties", "error", "type", "string"));
}

/* ---- the page ----------------------------------------------------------- */

static void put_argument(struct textbuf *t, const char *name, size_t n,
                         bool needed)
{
    textbuf_adds(t, "<dt><code>");
    textbuf_add(t, name, n);
    textbuf_adds(t, needed ? "</code> (needed)</dt><dd>" : "</code></dt><dd>");
    textbuf_adds(t, argument_help(name, n));
    textbuf_adds(t, "</dd>\n");
}

static void put_operation(struct textbuf *t, const struct libre_operation *o)
{
    const char *s = o->arguments;

    textbuf_addf(t, "<h2><code>%s %s</code></h2>\n<p>",
                 strcmp(o->method, "get") ? "POST" : "GET", o->path);
    textbuf_adds(t, o->summary);
    textbuf_adds(t, ".</p>\n");
    if (*s) textbuf_adds(t, "<dl>\n");
    while (*s) {
        size_t n = strcspn(s, "* ");
        bool needed = s[n] == '*';

        put_argument(t, s, n, needed);
        s += n + needed;
        s += *s == ' ';
    }
    if (*o->arguments) textbuf_adds(t, "</dl>\n");
}

void libre_docs(struct call *c)
{
    struct textbuf t = { 0 };

    textbuf_adds(&t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                 "<meta charset=\"utf-8\">\n"
                 "<title>LibreTranslate's API, by skmt</title>\n</head>\n"
                 "<body>\n<h1>LibreTranslate's API, by skmt</h1>\n"
                 "<p>Arguments are fields of a JSON object or of a form. An "
                 "error is <code>{\"error\": \"..\"}</code>.</p>\n");
    for (int i = 0; i < N_OPERATIONS; i++) put_operation(&t, &operations[i]);
    textbuf_adds(&t, "</body>\n</html>\n");
    if (t.failed)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else
        call_reply_bytes(c, 200, "text/html; charset=utf-8", t.data, t.len);
    textbuf_release(&t);
}
