/* api_apertium.c - the API of Apertium APy, which OmegaT and Weblate speak.
 *
 * Clients look only at responseStatus in the body, and show responseDetails if
 * it is not 200. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "languages.h"
#include "route.h"
#include "server.h"
#include "translate_call.h"

static void apertium_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    const char *why = f->message;
    char internal[100];

    if (f->kind == FAIL_TEXT_LIMIT)
        status = 414;
    if (f->kind == FAIL_WRONG_KEY)
        status = 401;
    if (f->kind == FAIL_INTERNAL) {
        snprintf(internal, sizeof internal, "Internal error, request %s",
                 call_id(c));
        why = internal;
    }
    call_reply_json(c, status, json_pack("{s:{s:s}, s:s, s:i}",
                                         "responseData", "translatedText", "",
                                         "responseDetails", why,
                                         "responseStatus", status));
}

static void apertium_reply(struct call *c, json_t *data)
{
    call_reply_json(c, 200, json_pack("{s:o, s:n, s:i}", "responseData", data,
                                      "responseDetails",
                                      "responseStatus", 200));
}

/* Reads "de|en". Fails the call if it is no pair that is served. */
static bool apertium_pair(struct call *c, const char **source,
                          const char **target)
{
    const char *written = call_arg(c, "langpair"), *bar;
    char first[16];

    if (!written) {
        call_fail_field(c, "langpair", "Missing argument langpair");
        return false;
    }
    bar = strchr(written, '|');
    *source = *target = NULL;
    if (bar && bar - written < (int)sizeof first) {
        memcpy(first, written, (size_t)(bar - written));
        first[bar - written] = '\0';
        *source = skmt_language_code(first);
        *target = skmt_language_code(bar + 1);
    }
    if (*source && *target &&
        language_is_served(call_server(c), *source, *target))
        return true;
    call_fail(c, FAIL_LANGUAGE, "That pair is not installed");
    return false;
}

static void apertium_translate(struct call *c)
{
    const char *text = call_arg(c, "q");
    struct wish w = { .nbest = 1 };
    struct answer a;

    if (!text || !text[0]) {
        call_fail_field(c, "q", "Missing argument q");
        return;
    }
    if (!apertium_pair(c, &w.source, &w.target) ||
        !answer_texts(c, &w, &text, 1, &a))
        return;
    apertium_reply(c, json_pack("{s:s}", "translatedText",
                                a.texts[0].alternatives[0].text));
    answer_release(&a);
}

static void apertium_pairs(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *list = json_array();
    const char *source, *target;
    int i;

    for (i = 0; i < language_pairs(s); i++) {
        language_pair(s, i, &source, &target);
        json_array_append_new(list, json_pack("{s:s, s:s}",
                                              "sourceLanguage", source,
                                              "targetLanguage", target));
    }
    apertium_reply(c, list);
}

static const struct route apertium_routes[] = {
    { "GET POST", "/translate", apertium_translate, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/listPairs", apertium_pairs,
      ROUTE_OPEN | ROUTE_TRANSLATES, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

const struct api api_apertium = { "apertium", "/apertium", apertium_routes,
                                  apertium_fail, 15000 };
