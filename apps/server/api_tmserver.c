/* api_tmserver.c - the API of tmserver (Translate Toolkit) and of amaGama,
 * which Weblate and Virtaal speak: it looks up stored pairs and adds pairs, and
 * translates nothing.
 *
 * The two differ in the defaults of a search. amaGama also lists its
 * languages. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "body.h"
#include "common/textbuf.h"
#include "languages.h"
#include "models.h"
#include "pair_list.h"
#include "route.h"
#include "server.h"
#include "settings.h"

static void tmserver_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    char internal[100];

    if (f->kind == FAIL_TEXT_LIMIT)
        status = 414;
    if (f->kind == FAIL_WRONG_KEY)
        status = 401;
    snprintf(internal, sizeof internal, "Internal error, request %s",
             call_id(c));
    call_reply_json(c, status, json_pack("{s:s}", "error",
                    f->kind == FAIL_INTERNAL ? internal : f->message));
}

/* ---- languages ---------------------------------------------------------- */

/* The model of the languages in the path; NULL if the pair is not served. */
static const struct served_model *tmserver_model(struct call *c)
{
    const char *source = skmt_language_code(call_path_part(c, "src"));
    const char *target = skmt_language_code(call_path_part(c, "tgt"));

    return source && target
               ? models_find(call_server(c)->models, source, target) : NULL;
}

/* The same for storing: fails the call if there is none. */
static const struct served_model *needed_model(struct call *c)
{
    const struct served_model *m = tmserver_model(c);

    if (!m)
        call_fail(c, FAIL_LANGUAGE, "the server does not translate between "
                  "these languages");
    return m;
}

static void amagama_languages(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *sources = json_array(), *targets = json_array();
    const char *const *codes;
    int i, n;

    codes = models_languages(s->models, &n);
    for (i = 0; i < n; i++) {
        if (language_is_source(s, codes[i]))
            json_array_append_new(sources, json_string(codes[i]));
        if (language_is_target(s, codes[i]))
            json_array_append_new(targets, json_string(codes[i]));
    }
    call_reply_json(c, 200, json_pack("{s:o, s:o}", "sourceLanguages", sources,
                                      "targetLanguages", targets));
}

/* ---- searching ---------------------------------------------------------- */

struct lookup {
    const struct served_model *model;
    const char *text;
    int64_t least;              /* similarity in percent */
    int64_t most;               /* candidates */
};

/* Whether a stored pair is of these languages, or of unknown ones. */
static bool fits_model(const skmt_pair *p, const struct served_model *m)
{
    return skmt_language_fits(p->source_lang, m->source) &&
           skmt_language_fits(p->target_lang, m->target);
}

static json_t *lookup_json(const struct lookup *x, const skmt_matches *found)
{
    skmt_match m = SKMT_INIT(skmt_match);
    json_t *list = json_array();
    int i;

    for (i = 0; i < skmt_matches_count(found); i++) {
        skmt_matches_get(found, i, &m);
        if (m.similarity * 100 < (double)x->least ||
            (int64_t)json_array_size(list) >= x->most ||
            !fits_model(m.pair, x->model))
            continue;
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f}",
            "source", m.pair->source, "target", m.pair->target,
            "quality", round(m.similarity * 10000) / 100,
            "rank", round(m.score * 100) / 100));
    }
    return list;
}

/* Searches for more pairs than are wanted, because some may be of other
 * languages. */
static skmt_status lookup_search(const struct lookup *x, skmt_tm *tm,
                                 skmt_matches **found, skmt_error *err)
{
    skmt_options *o = NULL;
    char most[24];
    skmt_status st = models_copy_options(x->model, &o, err);

    snprintf(most, sizeof most, "%lld", (long long)x->most + 16);
    if (!st)
        st = skmt_options_set(o, "matches", most, err);
    if (!st)
        st = skmt_tm_search(tm, x->text, o, x->model->model, found, err);
    skmt_options_free(o);
    return st;
}

static void lookup_run(struct call *c, const struct lookup *x)
{
    struct account *a = call_account(c);
    skmt_matches *found = NULL;
    skmt_error err;
    skmt_tm *tm;
    skmt_status st = account_borrow(a, NULL, 0, &tm, &err);

    if (!st && tm) {
        st = lookup_search(x, tm, &found, &err);
        account_return(a, tm);
    }
    if (st)
        call_fail_error(c, &err);
    else
        call_reply_json(c, 200, found ? lookup_json(x, found) : json_array());
    skmt_matches_free(found);
}

/* Without languages, without a memory, or with nothing found, the answer is an
 * empty list. */
static void lookup_text(struct call *c, int64_t least, int64_t most)
{
    struct lookup x = { tmserver_model(c), call_path_rest(c), least, most };
    int64_t limit = call_server(c)->settings->max_text;

    if (!x.text[0] && !(x.text = call_arg(c, "source")))
        x.text = "";
    if (!x.text[0])
        call_fail(c, FAIL_NOT_FOUND, "the path has no text");
    else if ((int64_t)strlen(x.text) > limit)
        call_fail(c, FAIL_TEXT_LIMIT, "the text is longer than %lld bytes",
                  (long long)limit);
    else if (call_arg_int(c, "min_similarity", 0, 100, &x.least) < 0)
        call_fail_field(c, "min_similarity",
                        "min_similarity is not a number from 0 to 100");
    else if (call_arg_int(c, "max_candidates", 0, 1000, &x.most) < 0)
        call_fail_field(c, "max_candidates",
                        "max_candidates is not a number from 0 to 1000");
    else if (!x.model || !account_has_memory(call_account(c)))
        call_reply_json(c, 200, json_array());
    else
        lookup_run(c, &x);
}

static void tmserver_lookup(struct call *c)
{
    lookup_text(c, 75, 3);
}

static void amagama_lookup(struct call *c)
{
    lookup_text(c, 70, 5);
}

/* ---- adding ------------------------------------------------------------- */

static void tmserver_reply_empty(struct call *c)
{
    call_reply_bytes(c, 200, "text/plain; charset=utf-8", "", 0);
}

/* name: of the file, as the client called it. */
static void tmserver_reply_added(struct call *c, int64_t n, const char *name)
{
    struct textbuf t = { 0 };

    textbuf_addf(&t, "added %lld units from ", (long long)n);
    textbuf_adds(&t, name);
    if (t.failed)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else
        call_reply_bytes(c, 200, "text/plain; charset=utf-8", t.data, t.len);
    textbuf_release(&t);
}

/* Stores a unit as one pair, also if it has several lines: it is looked up as a
 * whole. The source may be missing, because it is in the path, too. */
static void store_unit(struct call *c, const struct served_model *m,
                       const json_t *unit)
{
    const char *source = json_string_value(json_object_get(unit, "source"));
    const char *target = json_string_value(json_object_get(unit, "target"));
    json_t *list;
    int64_t n;

    if (!source)
        source = call_path_rest(c);
    if (!source[0] || !target || !target[0]) {
        call_fail(c, FAIL_ARGUMENT, "source or target is missing");
        return;
    }
    list = json_pack("[{s:s, s:s}]", "source", source, "target", target);
    if (!list)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else if (pair_list_store(c, list, m->source, m->target, "tmserver", &n))
        tmserver_reply_empty(c);
    json_decref(list);
}

/* The body is JSON whatever its media type says: clients disagree on it. */
static void tmserver_add(struct call *c)
{
    const struct served_model *m = needed_model(c);
    char why[BODY_WHY];
    const char *body;
    json_t *unit;
    size_t n;

    if (!m)
        return;
    body = call_body(c, &n);
    unit = body_json(body, n, why);
    if (!unit)
        call_fail(c, FAIL_JSON, "%s", why);
    else if (!json_is_object(unit))
        call_fail(c, FAIL_JSON, "the body is not a JSON object");
    else
        store_unit(c, m, unit);
    json_decref(unit);
}

static void tmserver_store_list(struct call *c)
{
    const struct served_model *m = needed_model(c);
    int64_t n;

    if (m && pair_list_store(c, call_json(c), m->source, m->target, "tmserver",
                             &n))
        tmserver_reply_added(c, n, call_path_part(c, "name"));
}

static void tmserver_store_file(struct call *c)
{
    const struct served_model *m = needed_model(c);
    const struct upload *file = call_upload(c, NULL);
    const char *name = call_path_part(c, "name");
    struct account *a = call_account(c);
    int64_t n = 0;
    skmt_error err;

    if (!m)
        return;
    if (!account_has_memory(a) || !account_may_write(a))
        call_fail(c, FAIL_FORBIDDEN, "this server stores no pairs for you");
    else if (!file)
        call_fail(c, FAIL_ARGUMENT, "the body is not a file");
    else if (account_import(a, NULL, file->path, name, m->source, m->target,
                            NULL, NULL, &n, &err))
        call_fail_error(c, &err);
    else
        tmserver_reply_added(c, n, name);
}

/* ---- the APIs ----------------------------------------------------------- */

enum {
    UNIT_ADD = ROUTE_WRITES | ROUTE_RAW | ROUTE_TEXT_PATH,
    STORE_FILE = ROUTE_WRITES | ROUTE_FILE | ROUTE_RAW
};

static const struct route tmserver_routes[] = {
    { "GET", "/:src/:tgt/unit/*", tmserver_lookup, ROUTE_TEXT_PATH, NULL },
    { "PUT POST", "/:src/:tgt/unit/*", tmserver_add, UNIT_ADD, NULL },
    { "PUT", "/:src/:tgt/store/:name", tmserver_store_file, STORE_FILE,
      NULL },
    { "POST", "/:src/:tgt/store/:name", tmserver_store_list,
      ROUTE_WRITES | ROUTE_ANY_JSON, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

static const struct route amagama_routes[] = {
    { "GET", "/:src/:tgt/unit/*", amagama_lookup, ROUTE_TEXT_PATH, NULL },
    { "PUT POST", "/:src/:tgt/unit/*", tmserver_add, UNIT_ADD, NULL },
    { "PUT", "/:src/:tgt/store/:name", tmserver_store_file, STORE_FILE,
      NULL },
    { "POST", "/:src/:tgt/store/:name", tmserver_store_list,
      ROUTE_WRITES | ROUTE_ANY_JSON, NULL },
    { "GET", "/languages", amagama_languages, ROUTE_OPEN, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

const struct api api_tmserver = { "tmserver", "/tmserver", tmserver_routes,
                                  tmserver_fail, 4000 };
const struct api api_amagama = { "amagama", "/api/v1", amagama_routes,
                                 tmserver_fail, 4000 };
