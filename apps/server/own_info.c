/* own_info.c - what the server is, whether it works, and what it has done. */
#include <string.h>

#include "common/textbuf.h"
#include "languages.h"
#include "metrics.h"
#include "models.h"
#include "own.h"
#include "page_files.h"
#include "server.h"
#include "settings.h"
#include "translate_call.h"

/* ---- /v1/info --------------------------------------------------------- */

static const char *state_name(const struct server *s)
{
    switch (server_state(s)) {
    case SERVER_LOADING: return "loading";
    case SERVER_READY: return "ready";
    default: return "stopping";
    }
}

static json_t *languages_json(const struct server *s)
{
    json_t *list = json_array();

    for (int i = 0; i < language_pairs(s); i++) {
        const char *source, *target;

        language_pair(s, i, &source, &target);
        json_array_append_new(list, json_pack(
            "{s:s, s:s, s:s, s:s}", "source", source,
            "source_name", skmt_language_name(source), "target", target,
            "target_name", skmt_language_name(target)));
    }
    return list;
}

/* The options of the engine that a client may set. */
static json_t *options_json(void)
{
    static const skmt_option_group groups[] = {
        SKMT_OPTIONS_TRANSLATE, SKMT_OPTIONS_STEER, SKMT_OPTIONS_SEARCH };
    json_t *list = json_array();

    for (int g = 0; g < 3; g++) {
        skmt_option_info o = SKMT_INIT(skmt_option_info);

        for (int i = 0; skmt_option_describe(groups[g], i, &o); i++)
            if (wish_option_allowed(o.name))
                json_array_append_new(list, json_pack(
                    "{s:s, s:s, s:s, s:s}", "name", o.name, "kind", o.kind,
                    "default", o.fallback, "help", o.help));
    }
    return list;
}

static json_t *limits_json(const struct settings *s)
{
    return json_pack("{s:i, s:I, s:I, s:I, s:i, s:i, s:i, s:i}",
                     "texts", s->max_texts,
                     "text_bytes", (json_int_t)s->max_text,
                     "body_bytes", (json_int_t)s->max_body,
                     "file_bytes", (json_int_t)s->max_file,
                     "nbest", (int)OWN_MAX_NBEST,
                     "matches", (int)OWN_MAX_MATCHES,
                     "page", (int)OWN_MAX_PAGE,
                     "deadline_ms", s->deadline * 1000);
}

static json_t *account_json(const struct account *a)
{
    return json_pack("{s:o, s:b, s:b}", "name", own_string(account_name(a)),
                     "memory", (int)account_has_memory(a),
                     "write", (int)(account_has_memory(a)
                                    && account_may_write(a)));
}

void own_info(struct call *c)
{
    const struct server *s = call_server(c);

    call_reply_json(c, 200, json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}",
        "version", skmt_version(), "state", state_name(s), "isa", skmt_isa(),
        "languages", languages_json(s), "models", models_facts(s->models),
        "account", account_json(call_account(c)),
        "limits", limits_json(s->settings), "options", options_json()));
}

/* ---- /health, /ready, /openapi.json ----------------------------------- */

void own_health(struct call *c)
{
    call_reply_json(c, 200, json_pack("{s:s, s:s}", "status", "ok", "version",
                                      skmt_version()));
}

void own_ready(struct call *c)
{
    const struct server *s = call_server(c);
    bool ready = server_state(s) == SERVER_READY;

    if (!ready) call_set_header(c, "Retry-After", "1");
    call_reply_json(c, ready ? 200 : 503,
                    json_pack("{s:s}", "status", state_name(s)));
}

void own_openapi(struct call *c)
{
    for (const struct page_file *f = page_files; f->name; f++)
        if (!strcmp(f->name, "openapi.json")) {
            call_reply_bytes(c, 200, "application/json; charset=utf-8",
                             f->bytes, f->n);
            return;
        }
    call_fail(c, FAIL_INTERNAL, "openapi.json is not part of the program");
}

/* ---- /metrics --------------------------------------------------------- */

/* Compares two strings in a time that depends on the length of the first
 * only. */
static bool same_secret(const char *given, const char *secret)
{
    size_t n = strlen(given), m = strlen(secret);
    unsigned char differ = n != m;

    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(given[i] ^ secret[m ? i % m : 0]);
    return !differ;
}

static bool may_read_metrics(const struct call *c)
{
    const char *token = call_server(c)->settings->metrics_token;
    const char *given = call_header(c, "Authorization");

    if (!token) return call_is_local(c);
    if (!given || strncasecmp(given, "Bearer ", 7)) return false;
    return same_secret(given + 7, token);
}

void own_metrics(struct call *c)
{
    const struct server *s = call_server(c);
    struct textbuf t = { .data = NULL };

    if (!may_read_metrics(c)) {
        call_fail(c, FAIL_FORBIDDEN, s->settings->metrics_token
                  ? "the token of --metrics-token is needed"
                  : "only programs on this machine may read the metrics");
        return;
    }
    metrics_print(s->metrics, s->accounts, &t);
    if (t.failed) call_fail(c, FAIL_INTERNAL, "out of memory");
    else call_reply_bytes(c, 200, METRICS_TYPE, t.data, t.len);
    textbuf_release(&t);
}
