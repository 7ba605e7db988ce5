/* api_mmt.c - ModernMT's API: routes, envelope, errors, and what needs neither
 * a translation nor a memory. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "languages.h"
#include "mmt.h"
#include "route.h"
#include "server.h"

/* ---- the envelope ----------------------------------------------------- */

void mmt_reply(struct call *c, json_t *data)
{
    json_t *all = data ? json_pack("{s:i,s:o}", "status", 200, "data", data)
                       : NULL;

    call_reply_json(c, 200, all);
}

/* The type that clients know an error by. */
static const char *mmt_error_type(struct call *c, enum fail_kind kind)
{
    switch (kind) {
    case FAIL_ARGUMENT:
    case FAIL_JSON:
    case FAIL_TYPE: return "ParameterParsingException";
    case FAIL_LANGUAGE: return "UnsupportedLanguageException";
    case FAIL_NO_KEY:
    case FAIL_WRONG_KEY:
    case FAIL_FORBIDDEN: return "AuthenticationException";
    case FAIL_NOT_FOUND: return "NotFoundException";
    case FAIL_PATH: return "ApiNotFoundException";
    case FAIL_METHOD: return "MethodNotAllowedException";
    case FAIL_CONFLICT: return "ConflictException";
    case FAIL_TOO_BIG:
    case FAIL_TEXT_LIMIT: return "RequestTooLargeException";
    case FAIL_UNSUPPORTED: return "NotSupportedException";
    case FAIL_BUSY: return "DecoderUnavailableException";
    case FAIL_RATE: return "TooManyRequestsException";
    case FAIL_NOT_READY:
        return server_state(call_server(c)) == SERVER_STOPPING
               ? "SystemShutdownException" : "DecoderUnavailableException";
    case FAIL_STORAGE: return "StorageException";
    case FAIL_INTERNAL: break;
    }
    return "InternalException";
}

/* An import without pairs has a type of its own, which no kind has. It is told
 * by the field. */
const char mmt_empty_corpus[] = "empty corpus";

static void mmt_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);
    const char *type = mmt_error_type(c, f->kind);
    const char *message = f->message;

    if (f->kind == FAIL_WRONG_KEY) status = 401;
    if (f->kind == FAIL_PATH) message = "Invalid API endpoint";
    if (!strcmp(f->field, mmt_empty_corpus)) type = "EmptyCorpusException";
    call_reply_json(c, status, json_pack("{s:i,s:{s:s,s:s}}",
        "status", status, "error", "type", type, "message", message));
}

/* ---- languages -------------------------------------------------------- */

/* {"de":["en"]} */
static void mmt_languages(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *all = json_object();

    for (int i = 0; i < language_pairs(s); i++) {
        const char *source, *target;
        json_t *targets;

        language_pair(s, i, &source, &target);
        targets = json_object_get(all, source);
        if (!targets) {
            json_object_set_new(all, source, json_array());
            targets = json_object_get(all, source);
        }
        json_array_append_new(targets, json_string(target));
    }
    mmt_reply(c, all);
}

static void add_language(json_t *list, const char *code)
{
    json_t *known;
    size_t i;

    json_array_foreach(list, i, known)
        if (!strcmp(json_string_value(known), code)) return;
    json_array_append_new(list, json_string(code));
}

/* ["de","en"] */
static void mmt_language_list(struct call *c)
{
    const struct server *s = call_server(c);
    json_t *list = json_array();

    for (int i = 0; i < language_pairs(s); i++) {
        const char *source, *target;

        language_pair(s, i, &source, &target);
        add_language(list, source);
        add_language(list, target);
    }
    mmt_reply(c, list);
}

/* ---- about the server and the account --------------------------------- */

static void put_time(char *out, size_t size, double seconds)
{
    time_t at = (time_t)seconds;
    struct tm tm;

    gmtime_r(&at, &tm);
    strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
}

/* MateCat refuses an engine whose billing period has no planForCatTool. */
static void mmt_me(struct call *c)
{
    struct account *a = call_account(c);
    const char *name = account_name(a);
    char begin[32];
    json_t *period;

    put_time(begin, sizeof begin, call_server(c)->started);
    period = json_pack("{s:s,s:s,s:I,s:s,s:s,s:b,s:i,s:s,s:s}",
        "begin", begin, "end", "", "chars", (json_int_t)account_characters(a),
        "plan", "local", "planDescription", "skmt on your own computer",
        "planForCatTool", 1, "amount", 0, "currency", "EUR",
        "currencySymbol", "\u20ac");
    mmt_reply(c, json_pack("{s:i,s:s,s:s,s:s,s:s,s:i,s:s,s:o}",
        "id", account_number(a), "name", name && *name ? name : "skmt",
        "email", "", "registrationDate", begin, "country", "",
        "isBusiness", 0, "status", "active", "billingPeriod", period));
}

static void mmt_info(struct call *c)
{
    mmt_reply(c, json_pack("{s:s,s:s}", "name", "skmt", "version",
                           skmt_version()));
}

static void mmt_health(struct call *c)
{
    if (server_state(call_server(c)) == SERVER_READY)
        mmt_reply(c, json_pack("{s:s}", "status", "ok"));
    else
        call_fail(c, FAIL_NOT_READY, "the server is starting or stopping");
}

static void mmt_no_quality(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "this server does not estimate quality");
}

static void mmt_no_batch(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "this server calls no webhooks; use "
              "/translate");
}

static void mmt_no_projection(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "this server does not project tags");
}

static void mmt_no_glossary(struct call *c)
{
    call_fail(c, FAIL_UNSUPPORTED, "this server has no glossaries");
}

/* ---- routes ----------------------------------------------------------- */

/* A call with X-HTTP-Method-Override has the method that it names. Reading is
 * also possible with a POST that has none, because a text may be too long for a
 * URL. */
static const struct route mmt_routes[] = {
    { "GET POST", "/translate", mmt_translate, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/languages", mmt_languages, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/translate/languages", mmt_language_list,
      ROUTE_TRANSLATES, NULL },
    { "GET POST", "/translate/detect", mmt_detect, ROUTE_TRANSLATES, NULL },
    { "GET POST", "/translate/qe", mmt_no_quality, 0, NULL },
    { "GET POST", "/translate/batch", mmt_no_batch, 0, NULL },
    { "GET POST", "/tags-projection", mmt_no_projection, 0, NULL },
    { "GET POST", "/context-vector", mmt_context_vector, ROUTE_FILE, NULL },
    { "GET", "/memories", mmt_memories_list, 0, NULL },
    { "POST", "/memories", mmt_memories_create, ROUTE_WRITES, NULL },
    { "GET POST", "/memories/connect", mmt_memories_connect, ROUTE_WRITES,
      NULL },
    { "POST", "/memories/content", mmt_content_share, ROUTE_WRITES, NULL },
    { "GET", "/memories/imports/:id", mmt_import_job, 0, NULL },
    { "GET", "/memories/:id", mmt_memory_get, 0, NULL },
    { "PUT", "/memories/:id", mmt_memory_change, ROUTE_WRITES, NULL },
    { "DELETE", "/memories/:id", mmt_memory_delete, ROUTE_WRITES, NULL },
    { "POST", "/memories/:id/content", mmt_content_add,
      ROUTE_WRITES | ROUTE_FILE, NULL },
    { "PUT", "/memories/:id/content", mmt_content_replace, ROUTE_WRITES,
      NULL },
    { "POST", "/memories/:id/corpus", mmt_content_add,
      ROUTE_WRITES | ROUTE_FILE, NULL },
    { "PUT", "/memories/:id/corpus", mmt_content_replace, ROUTE_WRITES,
      NULL },
    { "POST PUT", "/memories/:id/glossary", mmt_no_glossary,
      ROUTE_WRITES | ROUTE_FILE, NULL },
    { "GET", "/import-jobs/:id", mmt_import_job, 0, NULL },
    { "GET POST", "/users/me", mmt_me, 0, NULL },
    { "GET", "/_health", mmt_health, ROUTE_OPEN | ROUTE_QUIET, NULL },
    { "GET", "/", mmt_info, ROUTE_OPEN, NULL },
    { 0 }
};

const struct api api_mmt = {
    "modernmt", "/modernmt", mmt_routes, mmt_fail, 4000
};
