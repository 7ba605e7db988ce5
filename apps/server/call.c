/* call.c - a request: its life, its headers, why it fails, and canceling it.
 * The arguments are in call_args.c, the answers in call_reply.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "server/access.h"
#include "server/call_internal.h"
#include "server/server.h"
#include "server/server_log.h"
#include "server/settings_address.h"
#include "server/settings.h"

/* ---- life --------------------------------------------------------------- */

double call_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct call *call_new(struct server *s)
{
    struct call *c = calloc(1, sizeof *c);
    pthread_condattr_t a;

    if (!c) return NULL;
    c->server = s;
    c->owners = 1;
    c->failed = -1;
    c->method = "GET";
    c->query = "";
    c->rest = "";
    c->temp = "/tmp";
    c->body_fd = c->file_fd = -1;
    c->began = call_now();
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &a);
    pthread_condattr_destroy(&a);
    return c;
}

void call_keep(struct call *c)
{
    c->owners++;
}

static void call_headers_release(struct call_headers *h)
{
    for (int i = 0; i < h->n; i++) {
        free(h->list[i].name);
        free(h->list[i].value);
    }
    free(h->list);
}

void call_release(struct call *c)
{
    if (--c->owners) return;
    call_clean(c);
    if (c->account) access_release(c->account);
    call_headers_release(&c->in);
    call_headers_release(&c->out);
    for (int i = 0; i < c->n_kept; i++) free(c->kept[i]);
    free(c->kept);
    free(c->bytes);
    free(c->stream);
    if (c->file_fd >= 0) close(c->file_fd);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- headers and strings ------------------------------------------------ */

bool call_headers_add(struct call_headers *h, const char *name,
                      const char *value)
{
    struct call_pair p;

    if (h->n == h->cap) {
        int cap = h->cap ? 2 * h->cap : 16;
        struct call_pair *list = realloc(h->list, (size_t)cap * sizeof *list);

        if (!list) return false;
        h->list = list;
        h->cap = cap;
    }
    p = (struct call_pair){ strdup(name), strdup(value) };
    if (!p.name || !p.value) {
        free(p.name);
        free(p.value);
        return false;
    }
    h->list[h->n++] = p;
    return true;
}

const char *call_headers_find(const struct call_headers *h, const char *name)
{
    size_t n = strlen(name);
    bool begins = n > 0 && name[n - 1] == '*';

    for (int i = 0; i < h->n; i++)
        if (begins ? !strncasecmp(h->list[i].name, name, n - 1)
                   : !strcasecmp(h->list[i].name, name))
            return h->list[i].value;
    return NULL;
}

char *call_copy(struct call *c, const char *s, size_t n)
{
    char *copy;

    if (c->n_kept == c->cap_kept) {
        int cap = c->cap_kept ? 2 * c->cap_kept : 8;
        char **kept = realloc(c->kept, (size_t)cap * sizeof *kept);

        if (!kept) return NULL;
        c->kept = kept;
        c->cap_kept = cap;
    }
    copy = malloc(n + 1);
    if (!copy) return NULL;
    memcpy(copy, s, n);
    copy[n] = 0;
    return c->kept[c->n_kept++] = copy;
}

static bool call_id_is_good(const char *id)
{
    size_t n = id ? strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789._-") : 0;

    return n >= 1 && n <= 64 && !id[n];
}

void call_choose_id(struct call *c)
{
    const char *given = call_header(c, "X-Request-Id");
    uint64_t number;

    if (call_id_is_good(given)) {
        snprintf(c->id, sizeof c->id, "%s", given);
        return;
    }
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = (uint64_t)(call_now() * 1e9) ^ (uint64_t)(uintptr_t)c;
    snprintf(c->id, sizeof c->id, "%016llx", (unsigned long long)number);
}

bool call_take_parts(struct call *c)
{
    char *copy = call_copy(c, c->routing.path, strlen(c->routing.path));

    if (!copy) return false;
    c->n_parts = route_split(c->routing.route, copy, c->parts, &c->rest);
    return true;
}

struct server *call_server(const struct call *c)
{
    return c->server;
}

const struct api *call_api(const struct call *c)
{
    return c->routing.api;
}

const struct route *call_route(const struct call *c)
{
    return c->routing.route;
}

const char *call_method(const struct call *c)
{
    return c->method;
}

const char *call_path_part(const struct call *c, const char *name)
{
    for (int i = 0; i < c->n_parts; i++) {
        size_t n = strcspn(c->parts[i].name, "/");

        if (strlen(name) == n && !strncmp(c->parts[i].name, name, n))
            return c->parts[i].value;
    }
    return "";
}

const char *call_path_rest(const struct call *c)
{
    return c->rest;
}

const char *call_header(const struct call *c, const char *name)
{
    return call_headers_find(&c->in, name);
}

const char *call_id(const struct call *c)
{
    return c->id;
}

struct account *call_account(const struct call *c)
{
    return c->account;
}

const char *call_temp_folder(const struct call *c)
{
    return c->temp;
}

bool call_is_local(const struct call *c)
{
    return !call_headers_find(&c->in, "X-Forwarded-For") &&
           !call_headers_find(&c->in, "Forwarded") &&
           address_is_loopback(&c->peer);
}

void call_count(struct call *c, int texts, int source_tokens, int target_tokens,
                double queue_ms)
{
    c->texts += texts;
    c->source_tokens += source_tokens;
    c->target_tokens += target_tokens;
    if (queue_ms > c->queue_ms) c->queue_ms = queue_ms;
}

/* ---- canceling ---------------------------------------------------------- */

bool call_canceled(const struct call *c)
{
    return c->canceled || (c->deadline > 0 && call_now() > c->deadline);
}

void call_on_cancel(struct call *c, void (*fn)(void *user), void *user)
{
    pthread_mutex_lock(&c->lock);
    if (c->canceled && fn) {
        fn(user);
        fn = NULL;
    }
    c->on_cancel = fn;
    c->on_cancel_user = user;
    pthread_mutex_unlock(&c->lock);
}

void call_cancel(struct call *c, bool gone)
{
    pthread_mutex_lock(&c->lock);
    if (gone) c->gone = true;
    if (!c->canceled) {
        c->canceled = true;
        if (c->on_cancel) c->on_cancel(c->on_cancel_user);
        c->on_cancel = NULL;
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* ---- failures ----------------------------------------------------------- */

/* The statuses of the kinds, and the words for the log. */
static const struct { int status; const char *word; } fail_kinds[] = {
    [FAIL_ARGUMENT] = { 400, "argument" }, [FAIL_JSON] = { 400, "body" },
    [FAIL_LANGUAGE] = { 400, "language" }, [FAIL_NO_KEY] = { 401, "no_key" },
    [FAIL_WRONG_KEY] = { 403, "wrong_key" },
    [FAIL_FORBIDDEN] = { 403, "forbidden" },
    [FAIL_NOT_FOUND] = { 404, "not_found" }, [FAIL_PATH] = { 404, "path" },
    [FAIL_METHOD] = { 405, "method" }, [FAIL_CONFLICT] = { 409, "conflict" },
    [FAIL_TOO_BIG] = { 413, "too_big" },
    [FAIL_TEXT_LIMIT] = { 413, "text_limit" }, [FAIL_TYPE] = { 415, "type" },
    [FAIL_UNSUPPORTED] = { 501, "unsupported" }, [FAIL_BUSY] = { 429, "busy" },
    [FAIL_RATE] = { 429, "rate" }, [FAIL_NOT_READY] = { 503, "not_ready" },
    [FAIL_STORAGE] = { 507, "storage" }, [FAIL_INTERNAL] = { 500, "internal" },
};

int fail_status(enum fail_kind kind)
{
    return fail_kinds[kind].status;
}

void call_fail_with(struct call *c, const struct failure *f)
{
    struct failure g = *f;
    char seconds[16];

    if (c->answer != ANSWER_NONE) {
        /* The status of a stream is sent already. The client must see that it
         * is not complete. */
        c->stream_broken = c->answer == ANSWER_STREAM;
        return;
    }
    if (!g.status) g.status = fail_status(g.kind);
    c->why = fail_kinds[g.kind].word;
    c->failed = (int)g.kind;
    if (g.retry_after > 0) {
        snprintf(seconds, sizeof seconds, "%d", g.retry_after);
        call_set_header(c, "Retry-After", seconds);
    }
    if (g.kind == FAIL_METHOD && c->routing.allow[0])
        call_set_header(c, "Allow", c->routing.allow);
    c->routing.api->fail(c, &g);
}

void call_fail(struct call *c, enum fail_kind kind, const char *fmt, ...)
{
    struct failure f = { .kind = kind };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f.message, sizeof f.message, fmt, ap);
    va_end(ap);
    if (kind == FAIL_BUSY || kind == FAIL_RATE || kind == FAIL_NOT_READY)
        f.retry_after = 1;
    call_fail_with(c, &f);
}

void call_fail_field(struct call *c, const char *field, const char *fmt, ...)
{
    struct failure f = { .kind = FAIL_ARGUMENT };
    va_list ap;

    snprintf(f.field, sizeof f.field, "%s", field);
    va_start(ap, fmt);
    vsnprintf(f.message, sizeof f.message, fmt, ap);
    va_end(ap);
    call_fail_with(c, &f);
}

/* Logs an error whose message a client must not see. */
static void call_hide(const struct call *c, enum fail_kind kind,
                      const skmt_error *err, struct failure *f)
{
    server_log(LOG_ERROR, c->id, "%s", err->message);
    f->kind = kind;
    snprintf(f->message, sizeof f->message, kind == FAIL_STORAGE
             ? "A file could not be read or written, request %s"
             : "Internal error, request %s", c->id);
}

void call_describe_error(struct call *c, const skmt_error *err,
                         struct failure *out)
{
    *out = (struct failure){ .kind = FAIL_ARGUMENT };
    snprintf(out->message, sizeof out->message, "%s", err->message);
    switch (err->status) {
    case SKMT_ERR_ARGUMENT:
    case SKMT_ERR_TEXT:
        break;
    case SKMT_ERR_LIMIT:
        out->kind = FAIL_TEXT_LIMIT;
        break;
    case SKMT_ERR_CANCELED:
    case SKMT_ERR_DEADLINE:
        *out = (struct failure){ .kind = FAIL_BUSY, .status = 503,
                                 .retry_after = 1,
                                 .message = "The request took too long" };
        break;
    case SKMT_ERR_NOMEM:
        *out = (struct failure){ .kind = FAIL_NOT_READY, .retry_after = 1,
                                 .message = "The server is out of memory" };
        break;
    case SKMT_ERR_IO:
        call_hide(c, FAIL_STORAGE, err, out);
        break;
    default:
        call_hide(c, FAIL_INTERNAL, err, out);
    }
}

void call_fail_error(struct call *c, const skmt_error *err)
{
    struct failure f;

    call_describe_error(c, err, &f);
    call_fail_with(c, &f);
}
