/* api_mmt.c - ModernMT's API: its routes, its envelope and its errors. */
#include "mmt.h"
#include "route.h"

void mmt_reply(struct call *c, json_t *data)
{
    if (!data) {
        call_reply_json(c, 500, NULL);
        return;
    }
    call_reply_json(c, 200, json_pack("{s:i,s:o}", "status", 200, "data", data));
}

static void mmt_fail(struct call *c, const struct failure *f)
{
    int status = f->status ? f->status : fail_status(f->kind);

    call_reply_json(c, status, json_pack("{s:i,s:{s:s,s:s}}", "status", status,
        "error", "type", "InternalException", "message", f->message));
}

static const struct route mmt_routes[] = {
    { 0 }
};

const struct api api_mmt = {
    "modernmt", "/modernmt", mmt_routes, mmt_fail, 4000
};
