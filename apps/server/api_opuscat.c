/* api_opuscat.c - the API of OPUS-CAT. */
#include "route.h"

static void opuscat_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status, json_pack("{s:s}", "error", f->message));
}

static const struct route opuscat_routes[] = { { .path = NULL } };

const struct api api_opuscat = {
    .name = "opuscat", .prefix = "/MTRestService", .routes = opuscat_routes, .fail = opuscat_fail,
    .wait_ms = 15000,
};
