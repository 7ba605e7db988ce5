/* api_libre.c - the API of LibreTranslate: its routes, the form of its errors,
 * and everything but the translation (libre_translate.c). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "account.h"
#include "common/textbuf.h"
#include "languages.h"
#include "libre.h"
#include "models.h"
#include "pair_list.h"
#include "route.h"
#include "server.h"
#include "settings.h"

/* ---- errors ------------------------------------------------------------- */

/* The sentence of a failure. Those of the functions below are LibreTranslate's
 * already. */
static void libre_sentence(const struct call *c, const struct failure *f,
                           char *to, size_t size)
{
    const char *fixed = NULL;
    int rate = call_server(c)->settings->rate;

    switch (f->kind) {
    case FAIL_JSON: case FAIL_TYPE: fixed = "Invalid JSON format"; break;
    case FAIL_NO_KEY:
        fixed = "Please contact the server operator to get an API key";
        break;
    case FAIL_WRONG_KEY: fixed = "Invalid API key"; break;
    case FAIL_PATH: fixed = "Not found"; break;
    case FAIL_METHOD: fixed = "Method not allowed"; break;
    default: break;
    }
    if (f->kind == FAIL_INTERNAL)
        snprintf(to, size, "Internal error, request %s", call_id(c));
    else if (f->kind == FAIL_RATE && rate > 0)
        snprintf(to, size, "Slowdown: %d per 1 minute", rate);
    else if (f->kind == FAIL_RATE || f->kind == FAIL_BUSY)
        snprintf(to, size, "Slowdown: %s", f->message);
    else
        snprintf(to, size, "%s", fixed ? fixed : f->message);
}

static void libre_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    char sentence[600];

    if (f->kind == FAIL_NO_KEY || f->kind == FAIL_TYPE ||
        f->kind == FAIL_TEXT_LIMIT)
        status = 400;
    libre_sentence(c, f, sentence, sizeof sentence);
    call_reply_json(c, status, json_pack("{s:s}", "error", sentence));
}

/* ---- arguments ---------------------------------------------------------- */

const char *libre_needed(struct call *c, const char *argument)
{
    const char *s = call_arg(c, argument);

    if (s && s[0])
        return s;
    call_fail_field(c, argument, "Invalid request: missing %s parameter",
                    argument);
    return NULL;
}

bool libre_is_word(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

    return n <= 16 && !s[n];
}

const char *libre_language(struct call *c, const char *written)
{
    const struct server *s = call_server(c);
    const char *code = skmt_language_code(written);

    if (code && (language_is_source(s, code) || language_is_target(s, code)))
        return code;
    call_fail(c, FAIL_LANGUAGE, "%s is not supported",
              libre_is_word(written) ? written : "The language");
    return NULL;
}

bool libre_pair(struct call *c, const char *source, const char *target)
{
    if (language_is_served(call_server(c), source, target))
        return true;
    call_fail(c, FAIL_LANGUAGE, "%s (%s) is not available as a target language "
              "from %s (%s)", skmt_language_name(target), target,
              skmt_language_name(source), source);
    return false;
}

bool libre_within(struct call *c, int64_t size, int64_t limit)
{
    if (size <= limit)
        return true;
    call_fail(c, FAIL_TEXT_LIMIT, "Invalid request: request (%lld) exceeds "
              "text limit (%lld)", (long long)size, (long long)limit);
    return false;
}

/* ---- languages ---------------------------------------------------------- */

static json_t *libre_targets(const struct server *s, const char *code)
{
    json_t *list = json_array();
    const char *source, *target;
    int i;

    for (i = 0; list && i < language_pairs(s); i++) {
        language_pair(s, i, &source, &target);
        if (!strcmp(source, code))
            json_array_append_new(list, json_string(target));
    }
    return list;
}

/* Languages that are only targets are listed, too, because clients look a
 * target up in this list. */
static void libre_languages(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *list = json_array();
    const char *const *codes;
    int i, n;

    codes = models_languages(s->models, &n);
    for (i = 0; list && i < n; i++)
        json_array_append_new(list,
            json_pack("{s:s, s:s, s:o}", "code", codes[i],
                      "name", skmt_language_name(codes[i]),
                      "targets", libre_targets(s, codes[i])));
    call_reply_json(c, 200, list);
}

/* All texts of a list in one, separated by line ends. NULL if out of memory. */
static json_t *libre_join(const json_t *list)
{
    struct textbuf t = { 0 };
    json_t *joined = NULL;
    size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        const char *s = json_string_value(json_array_get(list, i));

        if (i)
            textbuf_add(&t, "\n", 1);
        textbuf_adds(&t, s ? s : "");
    }
    if (!t.failed)
        joined = json_stringn(t.data ? t.data : "", t.len);
    textbuf_release(&t);
    return joined;
}

/* Confidences are whole numbers, as LibreTranslate gives them. */
static void reply_detected(struct call *c, const char *text)
{
    double confidence;
    const char *code = language_detect(call_server(c), text, &confidence);

    call_reply_json(c, 200, json_pack("[{s:f, s:s}]",
                                      "confidence", rint(confidence),
                                      "language", code ? code : "en"));
}

static void libre_detect(struct call *c)
{
    json_t *list = call_arg_list(c, "q", false);
    json_t *text = list ? libre_join(list) : NULL;

    if (!list)
        call_fail_field(c, "q", "Invalid request: q must be a text or a list "
                        "of texts");
    else if (!text)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else if (!json_string_length(text))
        call_fail_field(c, "q", "Invalid request: missing q parameter");
    else
        reply_detected(c, json_string_value(text));
    json_decref(text);
    json_decref(list);
}

/* ---- settings ----------------------------------------------------------- */

static void libre_settings(struct call *c)
{
    const struct server *s = call_server(c);
    bool key = accounts_need_key(s->accounts);
    bool stores = key || s->settings->memory;
    const char *source = "", *target = "en";

    if (language_pairs(s) > 0)
        language_pair(s, 0, &source, &target);
    call_reply_json(c, 200,
        json_pack("{s:I, s:i, s:b, s:b, s:b, s:b, s:[], s:{s:{s:s, s:s}, "
                  "s:{s:s, s:s}}}",
                  "charLimit", (json_int_t)s->settings->max_text,
                  "frontendTimeout", 500, "apiKeys", key, "keyRequired", key,
                  "suggestions", stores, "filesTranslation", 0,
                  "supportedFilesFormat", "language",
                  "source", "code", "auto", "name", "Auto Detect",
                  "target", "code", target,
                  "name", skmt_language_name(target)));
}

static void libre_health(struct call *c)
{
    call_reply_json(c, 200, json_pack("{s:s}", "status", "ok"));
}

/* ---- suggestions -------------------------------------------------------- */

/* The source language of a suggestion. The page of LibreTranslate sends "auto"
 * if it was detected; the pair with the target decides then. */
static const char *suggest_source(struct call *c, const char *written,
                                  const char *target)
{
    const struct server *s = call_server(c);
    const char *source, *to;
    int i;

    if (strcmp(written, "auto"))
        return libre_language(c, written);
    for (i = 0; i < language_pairs(s); i++) {
        language_pair(s, i, &source, &to);
        if (!strcmp(to, target))
            return source;
    }
    call_fail(c, FAIL_LANGUAGE, "%s (%s) is not available as a target language",
              skmt_language_name(target), target);
    return NULL;
}

/* Stores the suggestion in the memory, where the next translation finds it. */
static void libre_suggest(struct call *c)
{
    int64_t limit = call_server(c)->settings->max_text;
    const char *text, *better, *source, *target;

    if (!account_has_memory(call_account(c)) ||
        !account_may_write(call_account(c))) {
        call_fail(c, FAIL_FORBIDDEN, "Suggestions are disabled on this server");
        return;
    }
    if (!(text = libre_needed(c, "q")) || !(better = libre_needed(c, "s")) ||
        !(source = libre_needed(c, "source")) ||
        !(target = libre_needed(c, "target")) ||
        !(target = libre_language(c, target)) ||
        !(source = suggest_source(c, source, target)) ||
        !libre_pair(c, source, target) ||
        !libre_within(c, (int64_t)strlen(text), limit) ||
        !libre_within(c, (int64_t)strlen(better), limit))
        return;
    if (pair_list_store_text(c, text, better, source, target, "libretranslate"))
        call_reply_json(c, 200, json_pack("{s:b}", "success", 1));
}

/* ---- files -------------------------------------------------------------- */

static void libre_file(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "Files translation is not available on this "
              "server");
}

/* ---- the API ------------------------------------------------------------ */

static const struct route libre_routes[] = {
    { "POST", "/translate", libre_translate, ROUTE_TRANSLATES, NULL },
    { "GET", "/languages", libre_languages,
      ROUTE_OPEN | ROUTE_TRANSLATES, NULL },
    { "POST", "/detect", libre_detect, ROUTE_TRANSLATES, NULL },
    { "GET", "/frontend/settings", libre_settings,
      ROUTE_OPEN | ROUTE_TRANSLATES, NULL },
    { "POST", "/suggest", libre_suggest, ROUTE_WRITES, NULL },
    { "POST", "/translate_file", libre_file, ROUTE_FILE, NULL },
    { "GET", "/download_file/:name", libre_file, 0, NULL },
    { "GET", "/health", libre_health, ROUTE_OPEN | ROUTE_QUIET, NULL },
    { "GET", "/spec", libre_spec, ROUTE_OPEN, NULL },
    { "GET", "/docs", libre_docs, ROUTE_OPEN, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

const struct api api_libre = { "libretranslate", "/libretranslate",
                               libre_routes, libre_fail, 15000 };
