/* api_opuscat.c - the API of OPUS-CAT MT Engine, which its plug-ins for Trados,
 * memoQ, OmegaT and Wordfast speak. Paths have no case.
 *
 * The plug-ins place tags by the alignment of the pieces, so every translation
 * comes with its pieces (opuscat_pieces.h). */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "languages.h"
#include "opuscat_pieces.h"
#include "pair_list.h"
#include "route.h"
#include "server.h"
#include "translate_call.h"

static void opuscat_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    char internal[100];

    if (f->kind == FAIL_BUSY || f->kind == FAIL_RATE)
        status = 503;
    if (f->kind == FAIL_TEXT_LIMIT)
        status = 414;
    if (f->kind == FAIL_WRONG_KEY)
        status = 401;
    snprintf(internal, sizeof internal, "Internal error, request %s",
             call_id(c));
    call_reply_json(c, status, json_pack("{s:s}", "error",
                    f->kind == FAIL_INTERNAL ? internal : f->message));
}

static void opuscat_reply_text(struct call *c, const char *text)
{
    call_reply_bytes(c, 200, "text/plain; charset=utf-8", text, strlen(text));
}

/* The pair of srcLangCode and trgLangCode, which must be served. */
static bool opuscat_pair(struct call *c, const char **source,
                         const char **target)
{
    *source = skmt_language_code(call_arg(c, "srcLangCode"));
    *target = skmt_language_code(call_arg(c, "trgLangCode"));
    if (*source && *target &&
        language_is_served(call_server(c), *source, *target))
        return true;
    call_fail(c, FAIL_LANGUAGE, "no model translates from srcLangCode to "
              "trgLangCode");
    return false;
}

/* ---- translating -------------------------------------------------------- */

/* Translates `input`, which may be empty. Fails the call if it cannot. */
static bool opuscat_answer(struct call *c, struct wish *w, const char **text,
                           struct answer *a)
{
    *text = call_arg(c, "input");
    if (!*text)
        *text = "";
    return opuscat_pair(c, &w->source, &w->target) &&
           answer_texts(c, w, text, 1, a);
}

static void opuscat_text(struct call *c)
{
    struct wish w = { .nbest = 1 };
    struct answer a;
    const char *text;

    if (!opuscat_answer(c, &w, &text, &a))
        return;
    opuscat_reply_text(c, a.texts[0].alternatives[0].text);
    answer_release(&a);
}

static void opuscat_object(struct call *c)
{
    struct wish w = { .nbest = 1, .explain = true, .attention = true };
    struct opuscat_pieces p = { 0 };
    struct answer a;
    const char *text;

    if (!opuscat_answer(c, &w, &text, &a))
        return;
    if (opuscat_pieces_read(&p, c, &w, text, &a.texts[0]))
        call_reply_json(c, 200, opuscat_pieces_json(&p,
                            a.texts[0].alternatives[0].text));
    opuscat_pieces_release(&p);
    answer_release(&a);
}

/* Nothing is translated in advance: a translation that nobody waits for would
 * only delay others, and one that is asked for comes at once. */
static void opuscat_order(struct call *c)
{
    const json_t *list = call_json(c);
    const char *source, *target;
    size_t i;

    if (!opuscat_pair(c, &source, &target))
        return;
    for (i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            break;
    if (!json_is_array(list) || i < json_array_size(list))
        call_fail(c, FAIL_JSON, "the body is not a list of strings");
    else if (i == 0)
        call_fail(c, FAIL_ARGUMENT, "the list of texts is empty");
    else
        opuscat_reply_text(c, "");
}

/* ---- the memory --------------------------------------------------------- */

/* A plug-in fine-tunes a model with the pairs of a project. Here they are added
 * to the memory, and the next translation uses them. */
static void opuscat_customize(struct call *c)
{
    const json_t *job = call_json(c), *list;
    const char *source, *target;
    int64_t n;

    if (!opuscat_pair(c, &source, &target))
        return;
    list = json_object_get(job, "Input");
    if (!list)
        list = json_object_get(job, "input");
    if (pair_list_store(c, list, source, target, "opuscat", &n))
        opuscat_reply_text(c, "");
}

/* ---- the server --------------------------------------------------------- */

static void opuscat_pairs(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *list = json_array();
    const char *source, *target;
    int i;

    for (i = 0; i < language_pairs(s); i++) {
        language_pair(s, i, &source, &target);
        json_array_append_new(list, json_sprintf("%s-%s", source, target));
    }
    call_reply_json(c, 200, list);
}

/* A pair has one model, which has no tag. */
static void opuscat_tags(struct call *c)
{
    const char *source, *target;

    if (opuscat_pair(c, &source, &target))
        call_reply_json(c, 200, json_pack("[s]", ""));
}

static void opuscat_model_status(struct call *c)
{
    const char *source, *target;
    char line[100];

    if (!opuscat_pair(c, &source, &target))
        return;
    snprintf(line, sizeof line, "The model from %s to %s is loaded", source,
             target);
    opuscat_reply_text(c, line);
}

/* Clients pass the answer on as tokenCode, which is ignored. */
static void opuscat_login(struct call *c)
{
    opuscat_reply_text(c, "0");
}

enum { OPEN = ROUTE_OPEN | ROUTE_TRANSLATES };

static const struct route opuscat_routes[] = {
    { "GET", "/TranslateJson", opuscat_object, ROUTE_TRANSLATES, NULL },
    { "POST", "/TranslatePost", opuscat_object, ROUTE_TRANSLATES, NULL },
    { "GET", "/Translate", opuscat_text, ROUTE_TRANSLATES, NULL },
    { "GET", "/TranslateStream", opuscat_text, ROUTE_TRANSLATES, NULL },
    { "GET", "/TranslateParagraphJson", opuscat_text, ROUTE_TRANSLATES, NULL },
    { "POST", "/PreOrderBatch", opuscat_order, ROUTE_ANY_JSON, NULL },
    { "POST", "/Customize", opuscat_customize, ROUTE_WRITES, NULL },
    { "GET", "/ListSupportedLanguagePairs", opuscat_pairs, OPEN, NULL },
    { "GET", "/GetLanguagePairModelTags", opuscat_tags, OPEN, NULL },
    { "GET", "/CheckModelStatus", opuscat_model_status, OPEN, NULL },
    { "GET", "/Login", opuscat_login, OPEN, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

const struct api api_opuscat = { "opuscat", "/MTRestService", opuscat_routes,
                                 opuscat_fail, 15000 };
