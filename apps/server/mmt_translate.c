/* mmt_translate.c - translates and detects languages for ModernMT's API. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "languages.h"
#include "mmt.h"
#include "text_list.h"
#include "translate_call.h"

enum { MMT_MOST_ALTERNATIVES = 32, MMT_LONGEST_WAIT_MS = 3600000 };

/* What a call of /translate asks for. */
struct mmt_wish {
    struct wish wish;
    struct text_list texts;
    struct mmt_names memories;
    const char *context_vector; /* as the client wrote it; NULL: none */
    bool score;
};

/* ---- reading the arguments -------------------------------------------- */

/* The names of newer and of old servers. */
static const struct { const char *name; enum text_form form; } text_forms[] = {
    { "text/plain", TEXT_PLAIN }, { "text/xml", TEXT_XML },
    { "text/html", TEXT_XML }, { "application/xliff+xml", TEXT_XML },
    { "txt", TEXT_PLAIN }, { "xml", TEXT_XML }, { "html", TEXT_XML },
    { "xliff", TEXT_XML }
};

static bool mmt_read_form(struct call *c, enum text_form *form)
{
    const char *field = call_arg(c, "format") ? "format" : "if";
    const char *name = call_arg(c, field);

    *form = TEXT_GUESS;
    if (!name || !*name) return true;
    for (size_t i = 0; i < sizeof text_forms / sizeof *text_forms; i++) {
        if (strcasecmp(name, text_forms[i].name)) continue;
        *form = text_forms[i].form;
        return true;
    }
    call_fail_field(c, field, "parameter %s must be text/plain, text/xml, "
                    "text/html or application/xliff+xml", field);
    return false;
}

/* Reads the texts into t, which the caller releases in any case. */
static bool mmt_read_texts(struct call *c, struct text_list *t)
{
    enum text_form form;
    int found = text_list_read(c, "q", t), tag;

    if (found < 0 || !mmt_read_form(c, &form)) return false;
    if (!found) {
        call_fail_field(c, "q", "Missing parameter q");
        return false;
    }
    if (!text_list_decode(t, form, &tag)) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return false;
    }
    if (tag >= 0)
        call_fail(c, FAIL_UNSUPPORTED, "text %d of %d has tags, which this "
                  "server does not translate", tag + 1, t->n);
    return tag < 0;
}

static bool mmt_read_priority(struct call *c, struct wish *w)
{
    const char *priority = call_arg(c, "priority");

    if (!priority || !*priority || !strcasecmp(priority, "normal")) return true;
    if (!strcasecmp(priority, "background")) {
        w->priority = -1;
        return true;
    }
    call_fail_field(c, "priority",
                    "parameter priority must be normal or background");
    return false;
}

static bool mmt_read_numbers(struct call *c, struct wish *w)
{
    int64_t more = 0, nbest = 1, timeout = 0;

    if (call_arg_int(c, "alt_translations", 0, MMT_MOST_ALTERNATIVES,
                     &more) < 0) {
        call_fail_field(c, "alt_translations", "parameter alt_translations "
                        "must be 0 to %d", MMT_MOST_ALTERNATIVES);
        return false;
    }
    if (call_arg_int(c, "nbest", 0, MMT_MOST_ALTERNATIVES, &nbest) < 0) {
        call_fail_field(c, "nbest", "parameter nbest must be 0 to %d",
                        MMT_MOST_ALTERNATIVES);
        return false;
    }
    if (call_arg_int(c, "timeout", 0, MMT_LONGEST_WAIT_MS, &timeout) < 0) {
        call_fail_field(c, "timeout", "parameter timeout must be 0 to %d",
                        MMT_LONGEST_WAIT_MS);
        return false;
    }
    w->nbest = (int)(more + 1 > nbest ? more + 1 : nbest);
    w->wait_ms = (int)timeout;
    w->deadline_ms = timeout;
    return true;
}

/* Glossaries that a client asks for and does not get would give wrong terms
 * without a word. */
static bool mmt_refuse_glossaries(struct call *c)
{
    json_t *ids = mmt_ids(c, "glossaries");
    size_t n = json_array_size(ids);

    if (!ids) return false;
    json_decref(ids);
    if (n == 0) return true;
    call_fail(c, FAIL_UNSUPPORTED, "this server has no glossaries");
    return false;
}

static bool mmt_read_memories(struct call *c, struct mmt_wish *m)
{
    if (!mmt_names_read(c, "hints", &m->memories) ||
        !mmt_names_read(c, "context_vector", &m->memories))
        return false;
    m->context_vector = call_arg(c, "context_vector");
    if (!m->memories.given) return true;
    m->wish.memories = (const char *const *)m->memories.names;
    m->wish.n_memories = m->memories.n;
    m->wish.without_memory = m->memories.n == 0;
    return true;
}

static bool mmt_read_wish(struct call *c, struct mmt_wish *m)
{
    const char *source = NULL, *target = NULL;

    if (!mmt_read_texts(c, &m->texts) || !mmt_read_priority(c, &m->wish) ||
        !mmt_read_numbers(c, &m->wish) || !mmt_refuse_glossaries(c) ||
        !mmt_language(c, "source", false, &source) ||
        !mmt_language(c, "target", true, &target) ||
        !mmt_read_memories(c, m))
        return false;
    m->wish.source = source;
    m->wish.target = target;
    m->score = call_arg_bool(c, "include_score", false);
    m->wish.explain = m->score;
    return true;
}

/* ---- the answer ------------------------------------------------------- */

/* How likely the model finds the translation: the geometric mean of the
 * probabilities of its pieces. A text that is stored word for word has 1. */
static double mmt_score(const struct text_answer *t)
{
    double logprob = 0;
    int pieces = 0;

    for (int i = 0; i < t->n_lines; i++) {
        const skmt_result *r = t->lines[i].result;

        if (!r) continue;
        for (int k = 0; k < skmt_result_sentences(r); k++)
            pieces += skmt_result_target_pieces(r, 0, k);
        logprob += skmt_result_logprob(r, 0);
    }
    return pieces > 0 && logprob < 0 ? exp(logprob / pieces) : 1;
}

static json_t *mmt_alternatives(const struct mmt_wish *m, int i,
                                const struct text_answer *t)
{
    json_t *list = json_array();

    for (int k = 1; k < t->n; k++)
        json_array_append_new(list, text_list_answer(&m->texts, i,
                                                t->alternatives[k].text));
    return list;
}

static json_t *mmt_translation(const struct mmt_wish *m, int i,
                               const struct text_answer *t)
{
    json_int_t n = (json_int_t)text_list_characters(&m->texts, i);
    json_t *o = json_pack("{s:o,s:I,s:I}", "translation",
        text_list_answer(&m->texts, i, t->alternatives[0].text),
        "characters", n, "billedCharacters", n);

    if (!m->wish.source)
        json_object_set_new(o, "detectedLanguage", json_string(t->source));
    if (m->wish.nbest > 1)
        json_object_set_new(o, "altTranslations", mmt_alternatives(m, i, t));
    if (m->context_vector)
        json_object_set_new(o, "contextVector",
                            json_string(m->context_vector));
    if (m->score) json_object_set_new(o, "score", json_real(mmt_score(t)));
    return o;
}

static void mmt_answer(struct call *c, const struct mmt_wish *m)
{
    struct answer a;
    json_t *data;

    if (!answer_texts(c, &m->wish, m->texts.texts, m->texts.n, &a)) return;
    if (m->texts.single) {
        data = mmt_translation(m, 0, &a.texts[0]);
    } else {
        data = json_array();
        for (int i = 0; i < a.n; i++)
            json_array_append_new(data, mmt_translation(m, i, &a.texts[i]));
    }
    mmt_reply(c, data);
    answer_release(&a);
}

/* Answers Weblate's probe with its text. */
static void mmt_probe(struct call *c, const struct mmt_wish *m)
{
    char text[] = "test";
    struct alternative a = { .text = text };
    struct text_answer t = { .source = "en", .alternatives = &a, .n = 1 };
    json_t *o = mmt_translation(m, 0, &t);

    mmt_reply(c, m->texts.single ? o : json_pack("[o]", o));
}

void mmt_translate(struct call *c)
{
    struct mmt_wish m = { 0 };

    if (mmt_read_wish(c, &m)) {
        if (m.texts.n == 0) mmt_reply(c, json_array());
        else if (text_list_is_probe(c, &m.texts, m.wish.source,
                                    m.wish.target))
            mmt_probe(c, &m);
        else mmt_answer(c, &m);
    }
    text_list_release(&m.texts);
    mmt_names_release(&m.memories);
}

/* ---- detection -------------------------------------------------------- */

static json_t *mmt_detected(struct call *c, const struct text_list *t, int i)
{
    double confidence;
    const char *code = language_detect(call_server(c), t->texts[i],
                                       &confidence);

    return json_pack("{s:I,s:s?}",
        "billedCharacters", (json_int_t)text_list_characters(t, i),
        "detectedLanguage", code);
}

void mmt_detect(struct call *c)
{
    struct text_list t;
    json_t *data;
    int found = text_list_read(c, "q", &t);

    if (found == 0) call_fail_field(c, "q", "Missing parameter q");
    if (found > 0) {
        data = t.single ? mmt_detected(c, &t, 0) : json_array();
        for (int i = 0; !t.single && i < t.n; i++)
            json_array_append_new(data, mmt_detected(c, &t, i));
        mmt_reply(c, data);
    }
    text_list_release(&t);
}
