/* api_deepl.c - DeepL's API: translation, languages, usage. Glossaries,
 * documents and translation memories are refused.
 *
 * deepl-node repeats a request after every status of 500 and above, so what is
 * not offered is a 404, or a 400 if it is an argument. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "languages.h"
#include "route.h"
#include "text_list.h"
#include "translate_call.h"

/* There is no limit; clients compute a percentage with it. */
#define DEEPL_CHARACTER_LIMIT ((json_int_t)1000000000000)

/* ---- answers ---------------------------------------------------------- */

static void deepl_reply(struct call *c, json_t *json)
{
    call_set_header(c, "X-Trace-ID", call_id(c));
    call_reply_json(c, 200, json);
}

static void deepl_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    bool path = f->kind == FAIL_PATH;
    char message[sizeof f->message + 1];

    snprintf(message, sizeof message, "%s%s", path ? "Not found" : f->message,
             path ? "" : ".");
    if (f->kind == FAIL_NO_KEY) status = 403;
    if (f->kind == FAIL_UNSUPPORTED) status = 404;
    call_set_header(c, "X-Trace-ID", call_id(c));
    call_reply_json(c, status, json_pack("{s:s}", "message", message));
}

/* An argument whose value is refused, in the words that DeepL has for it. */
static void deepl_refuse(struct call *c, const char *argument)
{
    call_fail_field(c, argument, "Value for '%s' not supported", argument);
}

/* "de" in upper case. */
static const char *upper(char *out, size_t size, const char *code)
{
    size_t n = 0;

    for (; code[n] && n + 1 < size; n++)
        out[n] = (char)toupper((unsigned char)code[n]);
    out[n] = '\0';
    return out;
}

/* ---- arguments of a translation --------------------------------------- */

struct deepl_wish {
    struct wish wish;
    struct text_list texts;
    enum text_form form;
    const char *model;          /* for model_type_used; NULL: not asked */
    const char *tags_version;   /* for tag_handling_version; NULL: no tags */
    bool billed;
};

static bool one_of(const char *value, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(value, *list)) return true;
    return false;
}

/* Whether an argument is absent or has one of the values; else refuses it. */
static bool deepl_check(struct call *c, const char *argument,
                        const char *const *list)
{
    const char *value = call_arg(c, argument);

    if (!value || !*value || one_of(value, list)) return true;
    deepl_refuse(c, argument);
    return false;
}

static bool deepl_pair(struct call *c, const struct text_list *texts,
                       struct wish *w)
{
    const struct server *s = call_server(c);
    const char *source = call_arg(c, "source_lang");
    const char *target = call_arg(c, "target_lang");

    if (!target || !*target) {
        call_fail_field(c, "target_lang",
                        "Parameter 'target_lang' not specified");
        return false;
    }
    w->target = skmt_language_code(target);
    w->source = source && *source ? skmt_language_code(source) : NULL;
    if (text_list_is_probe(c, texts, w->source, w->target)) return true;
    if (!w->target || !language_is_target(s, w->target)) {
        deepl_refuse(c, "target_lang");
        return false;
    }
    if (!source || !*source) return true;
    if (w->source && language_is_served(s, w->source, w->target)) return true;
    deepl_refuse(c, "source_lang");
    return false;
}

/* What would change the translation and is not here is refused; what is only a
 * wish is accepted. */
static bool deepl_refusals(struct call *c)
{
    static const char *const formalities[] = { "default", "prefer_more",
                                               "prefer_less", NULL };
    static const char *const splits[] = { "0", "1", "nonewlines", NULL };
    static const char *const needs[] = { "glossary_id", "glossary_ids",
                                         "translation_memory_id", NULL };
    const char *formality = call_arg(c, "formality");

    if (formality && *formality && !one_of(formality, formalities)) {
        call_fail_field(c, "formality", "'formality' is not supported for "
                        "given 'target_lang'");
        return false;
    }
    for (const char *const *name = needs; *name; name++) {
        const json_t *v = json_object_get(call_args(c), *name);

        if (!v || json_is_null(v) ||
            (json_is_string(v) && !*json_string_value(v)) ||
            (json_is_array(v) && json_array_size(v) == 0))
            continue;
        call_fail_field(c, *name, "Parameter '%s' is not offered by this "
                        "server", *name);
        return false;
    }
    return deepl_check(c, "split_sentences", splits);
}

static bool deepl_tags(struct call *c, struct deepl_wish *d)
{
    static const char *const kinds[] = { "xml", "html", NULL };
    static const char *const versions[] = { "v1", "v2", NULL };
    const char *version = call_arg(c, "tag_handling_version");
    const char *kind = call_arg(c, "tag_handling");

    if (!deepl_check(c, "tag_handling", kinds) ||
        !deepl_check(c, "tag_handling_version", versions))
        return false;
    if (!kind || !*kind) return true;
    d->form = TEXT_XML;
    d->tags_version = version && *version ? version : "v1";
    return true;
}

static bool deepl_model(struct call *c, struct deepl_wish *d)
{
    static const char *const models[] = { "latency_optimized",
        "quality_optimized", "prefer_quality_optimized", NULL };
    const char *model = call_arg(c, "model_type");

    if (!deepl_check(c, "model_type", models)) return false;
    if (model && *model)
        d->model = !strcmp(model, models[0]) ? models[0] : models[1];
    return true;
}

static bool deepl_texts(struct call *c, struct deepl_wish *d)
{
    int found = text_list_read(c, "text", &d->texts), tag;

    if (found < 0) return false;
    if (!found || d->texts.n == 0) {
        call_fail_field(c, "text", "Parameter 'text' not specified");
        return false;
    }
    if (!text_list_decode(&d->texts, d->form, &tag)) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return false;
    }
    if (tag >= 0)
        call_fail_field(c, "tag_handling", "Text %d of %d has tags. "
                        "Translating tags is not offered by this server",
                        tag + 1, d->texts.n);
    return tag < 0;
}

/* ---- translating ------------------------------------------------------ */

static json_t *deepl_translation(const struct deepl_wish *d, int i,
                                 const struct text_answer *t)
{
    char source[16];
    json_t *o = json_pack("{s:s,s:o}",
        "detected_source_language", upper(source, sizeof source, t->source),
        "text", text_list_answer(&d->texts, i, t->alternatives[0].text));

    if (d->billed)
        json_object_set_new(o, "billed_characters",
            json_integer((json_int_t)text_list_characters(&d->texts, i)));
    if (d->model)
        json_object_set_new(o, "model_type_used", json_string(d->model));
    if (d->tags_version)
        json_object_set_new(o, "tag_handling_version",
                            json_string(d->tags_version));
    return o;
}

static void deepl_answer(struct call *c, const struct deepl_wish *d)
{
    struct answer a;
    json_t *list;

    if (!answer_texts(c, &d->wish, d->texts.texts, d->texts.n, &a)) return;
    list = json_array();
    for (int i = 0; i < a.n; i++)
        json_array_append_new(list, deepl_translation(d, i, &a.texts[i]));
    answer_release(&a);
    deepl_reply(c, json_pack("{s:o}", "translations", list));
}

/* Answers Weblate's probe with its text. */
static void deepl_probe(struct call *c, const struct deepl_wish *d)
{
    char text[] = "test";
    struct alternative a = { .text = text };
    struct text_answer t = { .source = "en", .alternatives = &a, .n = 1 };

    deepl_reply(c, json_pack("{s:[o]}", "translations",
                             deepl_translation(d, 0, &t)));
}

static void deepl_translate(struct call *c)
{
    struct deepl_wish d = { .wish = { .nbest = 1 } };

    d.billed = call_arg_bool(c, "show_billed_characters", false);
    if (deepl_tags(c, &d) && deepl_texts(c, &d) &&
        deepl_pair(c, &d.texts, &d.wish) && deepl_refusals(c) &&
        deepl_model(c, &d)) {
        if (text_list_is_probe(c, &d.texts, d.wish.source, d.wish.target))
            deepl_probe(c, &d);
        else
            deepl_answer(c, &d);
    }
    text_list_release(&d.texts);
}

/* ---- languages and usage ---------------------------------------------- */

/* DeepL has variants of these as targets, and its clients refuse the code
 * without a region. Our models have no variants. */
static const struct { const char *code, *variant, *name; } variants[] = {
    { "en", "EN-GB", "English (British; the same as American here)" },
    { "en", "EN-US", "English (American)" },
    { "pt", "PT-BR", "Portuguese (Brazilian; the same as European here)" },
    { "pt", "PT-PT", "Portuguese (European)" }
};

static void add_entry(json_t *list, const char *code, const char *name,
                      bool target)
{
    json_t *entry, *o;
    size_t i;

    json_array_foreach(list, i, entry)
        if (!strcmp(json_string_value(json_object_get(entry, "language")),
                    code))
            return;
    o = json_pack("{s:s,s:s}", "language", code, "name", name);
    if (target) json_object_set_new(o, "supports_formality", json_false());
    json_array_append_new(list, o);
}

static void add_target(json_t *list, const char *code)
{
    char out[16];
    bool found = false;

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (strcmp(variants[i].code, code)) continue;
        add_entry(list, variants[i].variant, variants[i].name, true);
        found = true;
    }
    if (!found)
        add_entry(list, upper(out, sizeof out, code), skmt_language_name(code),
                  true);
}

static void deepl_languages(struct call *c)
{
    static const char *const types[] = { "source", "target", NULL };
    const char *type = call_arg(c, "type"), *source, *target;
    bool targets = type && !strcmp(type, "target");
    json_t *list;
    char out[16];

    if (!deepl_check(c, "type", types)) return;
    list = json_array();
    for (int i = 0; i < language_pairs(call_server(c)); i++) {
        language_pair(call_server(c), i, &source, &target);
        if (targets) add_target(list, target);
        else add_entry(list, upper(out, sizeof out, source),
                       skmt_language_name(source), false);
    }
    deepl_reply(c, list);
}

static void deepl_usage(struct call *c)
{
    deepl_reply(c, json_pack("{s:I,s:I}", "character_count",
        (json_int_t)account_characters(call_account(c)),
        "character_limit", DEEPL_CHARACTER_LIMIT));
}

/* Weblate asks for this before it asks for glossaries. */
static void deepl_glossary_pairs(struct call *c)
{
    deepl_reply(c, json_pack("{s:[]}", "supported_languages"));
}

/* ---- what is not offered ---------------------------------------------- */

static void deepl_no_glossaries(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "Glossaries are not offered by this "
              "server");
}

static void deepl_no_documents(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "Translating documents is not offered by "
              "this server");
}

static void deepl_no_memories(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "Translation memories are not offered by "
              "this server in DeepL's form; use /v1/memories or ModernMT's");
}

static void deepl_not_here(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "This is not offered by this server");
}

#define ALL_METHODS "GET POST PUT PATCH DELETE"

static const struct route deepl_routes[] = {
    { "POST", "/v2/translate", deepl_translate, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/v2/languages", deepl_languages, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/v2/usage", deepl_usage, 0, NULL },
    { "GET", "/v2/glossary-language-pairs", deepl_glossary_pairs, 0, NULL },
    { ALL_METHODS, "/v2/glossaries", deepl_no_glossaries, 0, NULL },
    { ALL_METHODS, "/v2/glossaries/*", deepl_no_glossaries, 0, NULL },
    { ALL_METHODS, "/v3/glossaries", deepl_no_glossaries, 0, NULL },
    { ALL_METHODS, "/v3/glossaries/*", deepl_no_glossaries, 0, NULL },
    { ALL_METHODS, "/v2/document", deepl_no_documents, ROUTE_FILE, NULL },
    { ALL_METHODS, "/v2/document/*", deepl_no_documents, 0, NULL },
    { ALL_METHODS, "/v3/translation_memories", deepl_no_memories, 0, NULL },
    { ALL_METHODS, "/v3/translation_memories/*", deepl_no_memories, 0, NULL },
    { ALL_METHODS, "/v2/write/*", deepl_not_here, 0, NULL },
    { ALL_METHODS, "/v3/*", deepl_not_here, 0, NULL },
    { 0 }
};

const struct api api_deepl = {
    "deepl", "/deepl", deepl_routes, deepl_fail, 4000
};
