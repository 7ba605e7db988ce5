/* api_apertium.c - the API of Apertium. */
#include "route.h"

static void apertium_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status, json_pack("{s:s}", "error", f->message));
}

static const struct route apertium_routes[] = { { .path = NULL } };

const struct api api_apertium = {
    .name = "apertium", .prefix = "/apertium", .routes = apertium_routes, .fail = apertium_fail,
    .wait_ms = 15000,
};
