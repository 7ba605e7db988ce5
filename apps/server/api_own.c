/* api_own.c - the routes of skmt's own API, and the form of its errors.
 *
 * docs/api-http.md describes the requests and answers, openapi.json lists them
 * for programs. own_*.c contain the functions. */
#include "own.h"

static void own_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status ? f->status : fail_status(f->kind),
                    own_failure_json(c, f));
}

const struct route own_routes[] = {
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
