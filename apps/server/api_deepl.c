/* api_deepl.c - DeepL's API. */
#include "route.h"

static void deepl_fail(struct call *c, const struct failure *f)
{
    call_reply_json(c, f->status ? f->status : fail_status(f->kind),
                    json_pack("{s:s}", "message", f->message));
}

static const struct route deepl_routes[] = {
    { 0 }
};

const struct api api_deepl = {
    "deepl", "/deepl", deepl_routes, deepl_fail, 4000
};
