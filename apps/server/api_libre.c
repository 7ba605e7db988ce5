/* api_libre.c - the API of LibreTranslate. */
#include "route.h"

static void libre_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status, json_pack("{s:s}", "error", f->message));
}

static const struct route libre_routes[] = { { .path = NULL } };

const struct api api_libre = {
    .name = "libretranslate", .prefix = "/libretranslate", .routes = libre_routes, .fail = libre_fail,
    .wait_ms = 15000,
};
