/* fuzz_http_path.c - any request line must find a route, or none.
 *
 * An input is "METHOD TARGET" or "METHOD TARGET\nHeader: value". The target is
 * decoded and routed as in a request, and cut into its parts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/utf8_scan.h"
#include "server/daemon_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void path_must(int ok)
{
    if (!ok) abort();
}

static const char *path_header(void *user, const char *name)
{
    return call_header(user, name);
}

/* What was found must fit to what was asked. */
static void path_check(struct call *c)
{
    struct routing *r = &c->routing;

    path_must(r->api != NULL && r->path != NULL && r->path[0] == '/');
    path_must(strlen(r->allow) < sizeof r->allow - 1);
    if (!r->route) {
        path_must(r->why == FAIL_PATH || r->why == FAIL_METHOD);
        return;
    }
    path_must(r->method && strstr(r->route->methods, r->method));
    path_must(call_take_parts(c));
    for (int i = 0; i < c->n_parts; i++) {
        path_must(c->parts[i].value[0] && !strchr(c->parts[i].value, '/'));
        path_must(call_path_part(c, "nothing")[0] == 0);
    }
    path_must(strlen(c->rest) < strlen(c->path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call *c = call_new(NULL);
    char *text = malloc(size + 1), *target, *header, *colon;

    if (!c || !text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    target = strchr(text, ' ');
    header = strchr(text, '\n');
    if (header) *header++ = 0;
    colon = header ? strchr(header, ':') : NULL;
    if (colon) {
        *colon = 0;
        call_headers_add(&c->in, header, colon + 1);
    }
    if (target && (!header || target < header)) {
        *target++ = 0;
        if (daemon_split_target(c, target)) {
            path_must(utf8_first_bad(c->path, strlen(c->path)) ==
                      strlen(c->path));
            c->routing = route_find(text, c->path, size & 1, path_header, c);
            path_check(c);
        }
    }
    free(text);
    call_release(c);
    return 0;
}
