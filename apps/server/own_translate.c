/* own_translate.c - translates the texts of POST /v1/translate, and answers. */
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "own.h"
#include "server.h"

/* ---- the answer ------------------------------------------------------- */

/* All translations but the best. */
static json_t *own_others_json(const struct text_answer *a)
{
    json_t *list = json_array();

    for (int i = 1; i < a->n; i++) {
        json_t *one = json_pack("{s:o, s:f}", "text",
                                own_string(a->alternatives[i].text), "score",
                                a->alternatives[i].score);

        if (json_array_append_new(list, one)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *own_text_json(const struct text_answer *a, bool nbest)
{
    json_t *j = json_pack(
        "{s:o, s:s, s:s, s:f, s:f, s:f}",
        "text", own_string(a->alternatives[0].text),
        "source", a->source, "target", a->target,
        "score", a->alternatives[0].score,
        "exact", a->exact, "similarity", a->similarity);

    if (j && a->detected) {
        json_object_set_new(j, "detected", json_true());
        json_object_set_new(j, "confidence", json_real(a->confidence));
    }
    if (j && nbest && json_object_set_new(j, "alternatives",
                                          own_others_json(a))) {
        json_decref(j);
        return NULL;
    }
    return j;
}

/* Adds the explanation of a text. Returns false after it has failed the
 * call. */
static bool own_add_explanation(struct call *c, struct explain *x,
                                const struct text_answer *a, const char *text,
                                enum offset_unit unit, json_t *out)
{
    const struct served_model *m = models_find(call_server(c)->models,
                                               a->source, a->target);
    skmt_error err;
    json_t *segments;

    if (!m) {
        call_fail(c, FAIL_INTERNAL, "the model of the answer is missing");
        return false;
    }
    if (x->model != m->model) { /* another pair of languages */
        explain_release(x);
        explain_init(x, m->model);
    }
    segments = own_explain_json(x, a, text, unit, &err);
    if (!segments) {
        call_fail_error(c, &err);
        return false;
    }
    return !json_object_set_new(out, "segments", segments);
}

static void own_reply_texts(struct call *c, const struct own_wish *w,
                            const char *const *texts, const struct answer *a)
{
    struct explain x = { .model = NULL };
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int i = 0; ok && i < a->n; i++) {
        json_t *j = own_text_json(&a->texts[i], w->wish.nbest > 1);

        ok = j && !(w->wish.explain && call_canceled(c));
        if (ok && w->wish.explain
            && !own_add_explanation(c, &x, &a->texts[i], texts[i], w->unit,
                                    j)) {
            json_decref(j);
            json_decref(list);
            explain_release(&x);
            return;
        }
        if (json_array_append_new(list, j)) ok = false;
    }
    explain_release(&x);
    if (ok) {
        call_reply_json(c, 200, json_pack("{s:o}", "translations", list));
        return;
    }
    json_decref(list);
    if (!call_canceled(c)) call_fail(c, FAIL_INTERNAL, "out of memory");
}

/* ---- the request ------------------------------------------------------ */

/* The texts of the call: a new list of strings. NULL after it has failed the
 * call. */
static json_t *own_read_texts(struct call *c)
{
    const json_t *args = call_args(c);
    bool many = json_object_get(args, "texts") != NULL;
    const char *name = many ? "texts" : "text";
    json_t *list = call_arg_list(c, name, false);

    if (!list) {
        call_fail_field(c, name, many ? "texts must be a list of strings"
                                      : "text must be a string");
    } else if (many && json_object_get(args, "text")) {
        call_fail_field(c, "text", "text and texts exclude each other");
    } else if (json_array_size(list) == 0) {
        call_fail_field(c, "texts", "texts is missing or empty");
    } else {
        return list;
    }
    json_decref(list);
    return NULL;
}

static bool own_read_translate(struct call *c, struct own_wish *w)
{
    int64_t nbest = 1;

    if (!own_wish_read(c, w)
        || !own_read_int(c, "nbest", 1, OWN_MAX_NBEST, &nbest)
        || !own_read_optional(c, "prefix", &w->wish.prefix)) return false;
    w->wish.nbest = (int)nbest;
    w->wish.explain = call_arg_bool(c, "explain", false);
    if (call_arg_bool(c, "background", false)) w->wish.priority = -1;
    return true;
}

static void own_translate_list(struct call *c, const struct own_wish *w,
                               const json_t *list)
{
    size_t n = json_array_size(list);
    const char **texts = calloc(n, sizeof *texts);
    struct answer a;

    if (!texts) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return;
    }
    for (size_t i = 0; i < n; i++)
        texts[i] = json_string_value(json_array_get(list, i));
    if (n > 1 && w->wish.prefix) {
        call_fail_field(c, "prefix", "a prefix is possible with one text only");
    } else if (answer_texts(c, &w->wish, texts, (int)n, &a)) {
        own_reply_texts(c, w, texts, &a);
        answer_release(&a);
    }
    free(texts);
}

void own_translate(struct call *c)
{
    struct own_wish w;
    json_t *list;

    if (own_read_translate(c, &w)) {
        list = own_read_texts(c);
        if (list) own_translate_list(c, &w, list);
        json_decref(list);
    }
    own_wish_release(&w);
}
