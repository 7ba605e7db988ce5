/* api_tmserver.c - the API of tmserver. */
#include "route.h"

static void tmserver_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status, json_pack("{s:s}", "error", f->message));
}

static const struct route tmserver_routes[] = { { .path = NULL } };

const struct api api_tmserver = {
    .name = "tmserver", .prefix = "/tmserver", .routes = tmserver_routes, .fail = tmserver_fail,
    .wait_ms = 4000,
};
