/* libre_translate.c - translates the texts of POST /translate for clients of
 * LibreTranslate. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "languages.h"
#include "libre.h"
#include "server.h"
#include "settings.h"
#include "text_list.h"
#include "translate_call.h"

/* The largest beam has 64 translations, and one of them is the answer. */
enum { MOST_ALTERNATIVES = 63 };

/* What is asked for. */
struct libre_call {
    struct text_list texts;
    const char *source;         /* code; NULL: auto */
    const char *target;
    int64_t alternatives;
    enum text_form form;
};

/* ---- arguments ---------------------------------------------------------- */

static bool libre_read_texts(struct call *c, struct text_list *t)
{
    const struct settings *s = call_server(c)->settings;
    int found = text_list_read(c, "q", t), i;

    if (found < 0)
        return false;
    if (!found || t->n == 0 || (t->single && !t->texts[0][0])) {
        call_fail_field(c, "q", "Invalid request: missing q parameter");
        return false;
    }
    if (!libre_within(c, t->n, s->max_texts))
        return false;
    for (i = 0; i < t->n; i++)
        if (!libre_within(c, (int64_t)strlen(t->texts[i]), s->max_text))
            return false;
    return true;
}

static bool libre_read_format(struct call *c, struct libre_call *x)
{
    const char *format = call_arg(c, "format");
    bool html = format && !strcmp(format, "html");

    if (format && format[0] && !html && strcmp(format, "text")) {
        call_fail_field(c, "format", "%s format is not supported",
                        libre_is_word(format) ? format : "The");
        return false;
    }
    x->form = html ? TEXT_XML : TEXT_PLAIN;
    return true;
}

static bool libre_read_alternatives(struct call *c, struct libre_call *x)
{
    int found = call_arg_int(c, "alternatives", 0, INT64_MAX,
                             &x->alternatives);

    if (found >= 0 && x->alternatives <= MOST_ALTERNATIVES)
        return true;
    if (found < 0)
        call_fail_field(c, "alternatives", "Invalid request: alternatives "
                        "parameter is not a number");
    else
        call_fail_field(c, "alternatives", "Invalid request: alternatives "
                        "(%lld) exceeds alternatives limit (%d)",
                        (long long)x->alternatives, MOST_ALTERNATIVES);
    return false;
}

static bool libre_read_languages(struct call *c, struct libre_call *x)
{
    const char *source, *target;

    if (!(source = libre_needed(c, "source")) ||
        !(target = libre_needed(c, "target")))
        return false;
    if (strcmp(source, "auto") && !(x->source = libre_language(c, source)))
        return false;
    if (!(x->target = libre_language(c, target)))
        return false;
    if (x->source || language_is_target(call_server(c), x->target))
        return true;
    call_fail(c, FAIL_LANGUAGE, "%s (%s) is not available as a target language",
              skmt_language_name(x->target), x->target);
    return false;
}

/* ---- the answer --------------------------------------------------------- */

static json_t *libre_alternatives(const struct libre_call *x, int i,
                                  const struct text_answer *a)
{
    json_t *list = json_array();
    int k;

    for (k = 1; list && k < a->n && k <= x->alternatives; k++)
        if (a->alternatives[k].text[0])
            json_array_append_new(list, text_list_answer(&x->texts, i,
                                            a->alternatives[k].text));
    return list;
}

/* The language of text i. If it was not detected because the server has only
 * one pair, the confidence still says how much the text looks like it. */
static json_t *libre_detected(struct call *c, const struct libre_call *x,
                              int i, const struct text_answer *a)
{
    double confidence = a->confidence;
    const char *code = a->source;

    if (!a->detected) {
        code = language_detect(call_server(c), x->texts.texts[i], &confidence);
        if (code && strcmp(code, a->source))
            confidence = 100 - confidence;
    }
    return json_pack("{s:f, s:s}", "confidence", rint(confidence),
                     "language", a->source);
}

/* One element, or the list. Takes `list`. */
static json_t *libre_shape(const struct libre_call *x, json_t *list)
{
    json_t *first;

    if (!x->texts.single)
        return list;
    first = json_incref(json_array_get(list, 0));
    json_decref(list);
    return first;
}

static json_t *libre_answer(struct call *c, const struct libre_call *x,
                            const struct answer *a)
{
    json_t *texts = json_array(), *found = json_array(), *more = json_array();
    json_t *out = json_object();
    int i;

    for (i = 0; i < a->n; i++) {
        json_array_append_new(texts, text_list_answer(&x->texts, i,
                                         a->texts[i].alternatives[0].text));
        json_array_append_new(found, libre_detected(c, x, i, &a->texts[i]));
        json_array_append_new(more, libre_alternatives(x, i, &a->texts[i]));
    }
    json_object_set_new(out, "translatedText", libre_shape(x, texts));
    if (!x->source)
        json_object_set_new(out, "detectedLanguage", libre_shape(x, found));
    else
        json_decref(found);
    if (x->alternatives > 0)
        json_object_set_new(out, "alternatives", libre_shape(x, more));
    else
        json_decref(more);
    return out;
}

static void libre_run(struct call *c, struct libre_call *x)
{
    struct wish w = { .source = x->source, .target = x->target,
                      .nbest = (int)x->alternatives + 1 };
    struct answer a;
    int tag;

    if (!text_list_decode(&x->texts, x->form, &tag)) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return;
    }
    if (tag >= 0) {
        call_fail_field(c, "q", "Invalid request: text %d of %d has tags, "
                        "which this server does not translate yet", tag + 1,
                        x->texts.n);
        return;
    }
    if (!answer_texts(c, &w, x->texts.texts, x->texts.n, &a))
        return;
    call_reply_json(c, 200, libre_answer(c, x, &a));
    answer_release(&a);
}

/* Answers Weblate's probe with its text. */
static void libre_reply_probe(struct call *c, const struct libre_call *x)
{
    json_t *text = json_incref(json_array_get(x->texts.json, 0));

    call_reply_json(c, 200, x->texts.single
                    ? json_pack("{s:o}", "translatedText", text)
                    : json_pack("{s:[o]}", "translatedText", text));
}

void libre_translate(struct call *c)
{
    struct libre_call x = { 0 };

    if (libre_read_texts(c, &x.texts) && libre_read_languages(c, &x) &&
        libre_read_format(c, &x) && libre_read_alternatives(c, &x)) {
        if (text_list_is_probe(c, &x.texts, x.source, x.target))
            libre_reply_probe(c, &x);
        else if (!x.source || libre_pair(c, x.source, x.target))
            libre_run(c, &x);
    }
    text_list_release(&x.texts);
}
