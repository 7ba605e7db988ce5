/* api_own.c - the routes of skmt's own API, and the form of its errors.
 *
 * docs/api-http.md describes the requests and answers, openapi.json lists them
 * for programs. own_*.c contain the functions. */
#include <jansson.h>

#include "own.h"
#include "route.h"

/* The word for a kind of failure in "status". */
static const char *own_status(enum fail_kind kind)
{
    switch (kind) {
    case FAIL_ARGUMENT: return "argument";
    case FAIL_JSON: return "json";
    case FAIL_LANGUAGE: return "language";
    case FAIL_NO_KEY: return "no_key";
    case FAIL_WRONG_KEY: return "wrong_key";
    case FAIL_FORBIDDEN: return "forbidden";
    case FAIL_NOT_FOUND: return "not_found";
    case FAIL_PATH: return "path";
    case FAIL_METHOD: return "method";
    case FAIL_CONFLICT: return "conflict";
    case FAIL_TOO_BIG: return "too_big";
    case FAIL_TEXT_LIMIT: return "text_limit";
    case FAIL_TYPE: return "type";
    case FAIL_UNSUPPORTED: return "unsupported";
    case FAIL_BUSY: return "busy";
    case FAIL_RATE: return "rate";
    case FAIL_NOT_READY: return "not_ready";
    case FAIL_STORAGE: return "storage";
    case FAIL_INTERNAL: return "internal";
    }
    return "internal";
}

json_t *own_failure_json(const struct call *c, const struct failure *f)
{
    json_t *e = json_pack("{s:s, s:s, s:s}", "status", own_status(f->kind),
                          "message", f->message, "request_id", call_id(c));

    if (e && f->field[0])
        json_object_set_new(e, "field", json_string(f->field));
    if (e && f->retry_after > 0)
        json_object_set_new(e, "retry_after", json_integer(f->retry_after));
    return e ? json_pack("{s:o}", "error", e) : NULL;
}

static void own_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status ? f->status : fail_status(f->kind),
                    own_failure_json(c, f));
}

static const struct route own_routes[] = {
    { "POST", "/v1/translate", own_translate, ROUTE_TRANSLATES, NULL },
    { "POST", "/v1/complete", own_complete, ROUTE_TRANSLATES, NULL },
    { "POST", "/v1/alternatives", own_alternatives, ROUTE_TRANSLATES, NULL },
    { "GET", "/v1/search", own_search, 0, NULL },
    { "POST", "/v1/feedback", own_feedback, ROUTE_WRITES, NULL },
    { "GET", "/v1/info", own_info, 0, NULL },
    { "GET", "/v1/memories", own_memories_list, 0, NULL },
    { "POST", "/v1/memories", own_memories_create, ROUTE_WRITES, NULL },
    { "GET", "/v1/memories/:name", own_memory_get, 0, NULL },
    { "PATCH", "/v1/memories/:name", own_memory_change, ROUTE_WRITES, NULL },
    { "DELETE", "/v1/memories/:name", own_memory_delete, ROUTE_WRITES, NULL },
    { "POST", "/v1/memories/:name/import", own_import,
      ROUTE_WRITES | ROUTE_FILE, NULL },
    { "GET", "/v1/memories/:name/export", own_export, 0, NULL },
    { "GET", "/v1/memories/:name/pairs", own_pairs_list, 0, NULL },
    { "POST", "/v1/memories/:name/pairs", own_pairs_add, ROUTE_WRITES, NULL },
    { "GET", "/v1/memories/:name/pairs/:id", own_pair_get, 0, NULL },
    { "PUT", "/v1/memories/:name/pairs/:id", own_pair_put, ROUTE_WRITES,
      NULL },
    { "DELETE", "/v1/memories/:name/pairs/:id", own_pair_delete,
      ROUTE_WRITES, NULL },
    { "GET", "/health", own_health, ROUTE_OPEN | ROUTE_QUIET, NULL },
    { "GET", "/ready", own_ready, ROUTE_OPEN | ROUTE_QUIET, NULL },
    { "GET", "/metrics", own_metrics, ROUTE_OPEN | ROUTE_QUIET, NULL },
    { "GET", "/openapi.json", own_openapi, ROUTE_OPEN, NULL },
    { NULL, NULL, NULL, 0, NULL }
};

const struct api api_own = { "own", "", own_routes, own_fail, 10000 };
