/* daemon_check.c - what the headers of a request tell, and the requests that
 * are refused because of them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/utf8_scan.h"
#include "server/access.h"
#include "server/daemon_internal.h"
#include "server/settings_address.h"

enum { CHECK_HEADERS = 100 };   /* more are refused */

/* ---- the request target ------------------------------------------------- */

/* Whether a decoded path is a text without control characters. */
static bool check_path(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 32 || s[i] == 127) return false;
    return utf8_first_bad(s, n) == n;
}

bool daemon_split_target(struct call *c, const char *target)
{
    char *copy, *query;
    long n;

    /* A proxy may send the whole address. */
    if (!strncasecmp(target, "http://", 7) ||
        !strncasecmp(target, "https://", 8)) {
        target = strstr(target, "//") + 2;
        target += strcspn(target, "/?");
        if (*target != '/') target = "/";
    }
    copy = call_copy(c, target, strlen(target));
    if (!copy) return false;
    query = strchr(copy, '?');
    if (query) {
        *query++ = 0;
        c->query = query;
    }
    n = body_percent_decode(copy, strlen(copy), false);
    if (n < 1 || copy[0] != '/' || !check_path(copy, (size_t)n)) return false;
    copy[n] = 0;
    c->path = copy;
    return true;
}

/* ---- addresses ---------------------------------------------------------- */

/* The four bytes of an IPv4 address, also of one that is written as IPv6; NULL
 * if it is none. */
static const uint8_t *check_ipv4(const struct sockaddr_storage *a)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;

    if (a->ss_family == AF_INET)
        return (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr;
    if (a->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        return six->sin6_addr.s6_addr + 12;
    return NULL;
}

bool daemon_is_loopback(const struct sockaddr_storage *a)
{
    const uint8_t *v4 = check_ipv4(a);

    if (v4) return v4[0] == 127;
    return a->ss_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static bool check_is_private(const struct sockaddr_storage *a)
{
    const uint8_t *v4 = check_ipv4(a);

    if (v4)
        return v4[0] == 127 || v4[0] == 10 || (v4[0] == 192 && v4[1] == 168) ||
               (v4[0] == 172 && v4[1] >= 16 && v4[1] < 32);
    if (a->ss_family != AF_INET6) return false;
    return daemon_is_loopback(a) ||
           (((const struct sockaddr_in6 *)a)->sin6_addr.s6_addr[0] & 0xfe) ==
               0xfc;
}

bool daemon_trusts(const struct settings *s, const struct sockaddr_storage *a)
{
    return s->trust_proxy && check_is_private(a);
}

bool daemon_same_peer(const struct sockaddr_storage *a,
                      const struct sockaddr_storage *b)
{
    const uint8_t *v = check_ipv4(a), *w = check_ipv4(b);

    if (v || w) return v && w && !memcmp(v, w, 4);
    if (a->ss_family != b->ss_family) return false;
    return a->ss_family != AF_INET6 ||
           !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)b)->sin6_addr, 8);
}

/* The last of the headers with a name: some proxies (HAProxy) add one of their
 * own after those that the client sent. */
static const char *check_last_header(const struct call *c, const char *name)
{
    for (int i = c->in.n - 1; i >= 0; i--)
        if (!strcasecmp(c->in.list[i].name, name)) return c->in.list[i].value;
    return NULL;
}

/* Takes the address of the client from the last entry of X-Forwarded-For, the
 * one that the proxy itself has added. */
static void check_forwarded(const struct settings *s, struct call *c)
{
    const char *list = check_last_header(c, "X-Forwarded-For");
    struct sockaddr_storage a = { 0 };
    char text[64];
    const char *last;

    if (!list || !daemon_trusts(s, &c->peer)) return;
    last = strrchr(list, ',');
    last = last ? last + 1 : list;
    if (sscanf(last, " [%63[0-9a-fA-F:.]", text) != 1 &&
        sscanf(last, " %63[0-9a-fA-F:.]", text) != 1)
        return;
    if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr) ==
        1) {
        a.ss_family = AF_INET6;
    } else {
        text[strcspn(text, ":")] = 0;
        if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr) !=
            1)
            return;
        a.ss_family = AF_INET;
    }
    c->peer = a;
}

/* ---- Host and Origin ---------------------------------------------------- */

/* Writes the name of "name:port" or "[::1]:port" in lower case, without a final
 * dot. */
static bool check_host_name(const char *host, char *out, size_t size)
{
    size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

    if (n >= size || n > strlen(host)) return false;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)host[i]);
    out[n] = 0;
    if (n > 1 && out[n - 1] == '.') out[n - 1] = 0;
    return out[0] != 0;
}

static bool check_is_address(const char *name)
{
    struct in6_addr six;
    struct in_addr four;
    char text[64];

    if (sscanf(name, "[%63[^]]", text) == 1)
        return inet_pton(AF_INET6, text, &six) == 1;
    return inet_pton(AF_INET, name, &four) == 1;
}

static bool check_is_localhost(const char *name)
{
    size_t n = strlen(name);

    return !strcmp(name, "localhost") ||
           (n > 10 && !strcmp(name + n - 10, ".localhost"));
}

bool daemon_host_is_ours(const struct settings *s, const char *host)
{
    char name[256], other[256];

    if (!s->loopback && s->keys) return true;
    for (int i = 0; i < s->hosts.n; i++)
        if (!strcmp(s->hosts.list[i], "*")) return true;
    if (!check_host_name(host, name, sizeof name)) return false;
    /* A page can give its own name our address (DNS rebinding), but it cannot
     * become an address or "localhost". */
    if (check_is_address(name) || check_is_localhost(name)) return true;
    for (int i = 0; i < s->hosts.n; i++)
        if (check_host_name(s->hosts.list[i], other, sizeof other) &&
            !strcmp(name, other))
            return true;
    return false;
}

/* Whether the page that sends the request was not served by us. */
static bool check_is_foreign(const struct call *c)
{
    const char *origin = call_header(c, "Origin");
    const char *site = call_header(c, "Sec-Fetch-Site");
    const char *host = call_header(c, "Host");
    const char *name;

    if (origin) {
        name = strstr(origin, "://");
        return !name || !host || strcasecmp(name + 3, host) != 0;
    }
    return site && strcasecmp(site, "same-origin") &&
           strcasecmp(site, "none");
}

/* Whether pages of this origin may translate. *any: every page may. */
static bool check_origin_allowed(const struct settings *s, const char *origin,
                                 bool *any)
{
    *any = false;
    for (int i = 0; i < s->cors.n; i++) {
        *any = !strcmp(s->cors.list[i], "*");
        if (*any || !strcasecmp(s->cors.list[i], origin)) return true;
    }
    return false;
}

void daemon_allow_origin(struct daemon *d, struct call *c)
{
    const char *origin = call_header(c, "Origin");
    bool any;

    if (!d->settings->cors.n || !c->routing.route ||
        !(c->routing.route->flags & ROUTE_TRANSLATES))
        return;
    if (!origin) origin = "";
    if (!check_origin_allowed(d->settings, origin, &any)) {
        call_headers_add(&c->out, "Vary", "Origin");
        return;
    }
    call_set_header(c, "Access-Control-Allow-Origin", any ? "*" : origin);
    call_set_header(c, "Access-Control-Expose-Headers",
                    "Retry-After, X-Request-Id, X-Trace-ID, RateLimit, "
                    "RateLimit-Policy");
    call_set_header(c, "Cross-Origin-Resource-Policy", "cross-origin");
    if (!any) call_headers_add(&c->out, "Vary", "Origin");
}

/* ---- OPTIONS ------------------------------------------------------------ */

static const char *check_header(void *user, const char *name)
{
    return call_header(user, name);
}

/* Answers OPTIONS: the methods of the path, and what other origins may do. */
static void check_options(struct daemon *d, struct call *c, bool langpair)
{
    const char *wanted = call_header(c, "Access-Control-Request-Method");
    char allow[96];

    if (c->routing.why == FAIL_PATH) {
        call_fail(c, FAIL_PATH, "Not found");
        return;
    }
    snprintf(allow, sizeof allow, "%s%sOPTIONS", c->routing.allow,
             c->routing.allow[0] ? ", " : "");
    call_set_header(c, "Allow", allow);
    if (wanted && strlen(wanted) < 16) {
        c->routing = route_find(wanted, c->path, langpair, check_header, c);
        daemon_allow_origin(d, c);
        if (call_headers_find(&c->out, "Access-Control-Allow-Origin")) {
            call_set_header(c, "Access-Control-Allow-Methods", allow);
            call_set_header(c, "Access-Control-Allow-Headers",
                            "Authorization, Content-Type, MMT-ApiKey, "
                            "X-Api-Key, X-HTTP-Method-Override, X-Request-Id");
            call_set_header(c, "Access-Control-Max-Age", "86400");
        }
    }
    call_reply_empty(c, 204);
}

/* ---- smuggling ---------------------------------------------------------- */

/* The number of headers with a name. */
static int check_count(const struct call *c, const char *name)
{
    int n = 0;

    for (int i = 0; i < c->in.n; i++)
        n += !strcasecmp(c->in.list[i].name, name);
    return n;
}

/* Whether a header name is a token (RFC 9110), and the value has no control
 * characters. libmicrohttpd is lenient here. */
static bool check_header_form(const struct call_pair *p)
{
    if (!p->name[0]) return false;
    for (const unsigned char *s = (const unsigned char *)p->name; *s; s++)
        if (!isalnum(*s) && !strchr("!#$%&'*+-.^_`|~", *s)) return false;
    for (const unsigned char *s = (const unsigned char *)p->value; *s; s++)
        if ((*s < 32 && *s != '\t') || *s == 127) return false;
    return true;
}

/* What a proxy before us could understand differently; NULL if nothing. The
 * body of one request would then be taken for another request. */
static const char *check_smuggling(const struct call *c)
{
    const char *coding = call_header(c, "Transfer-Encoding");
    const char *length = call_header(c, "Content-Length");

    if (c->in.n > CHECK_HEADERS) return "There are too many headers";
    for (int i = 0; i < c->in.n; i++)
        if (!check_header_form(&c->in.list[i])) return "A header is malformed";
    if (check_count(c, "Content-Length") > 1)
        return "Content-Length is given twice";
    if (length && (!*length || strspn(length, "0123456789") != strlen(length)))
        return "Content-Length is not a number";
    if (coding && length)
        return "Content-Length and Transfer-Encoding are both given";
    if (check_count(c, "Transfer-Encoding") > 1 ||
        (coding && strcasecmp(coding, "chunked")))
        return "This Transfer-Encoding is not supported";
    if (check_count(c, "Host") > 1) return "Host is given twice";
    return NULL;
}

/* ---- keys --------------------------------------------------------------- */

/* Names of arguments of the body. */
static const char *check_body_arg(void *user, const char *name)
{
    const struct call *c = user;

    return json_string_value(json_object_get(c->body_args, name));
}

static const char *check_query_arg(void *user, const char *name)
{
    const struct call *c = user;

    return json_string_value(json_object_get(c->query_args, name));
}

/* Fails a call that access_enter refuses. */
static void check_refuse_key(struct call *c, enum access_answer answer,
                             int retry_after)
{
    struct failure f = { .kind = FAIL_RATE, .retry_after = retry_after };

    if (answer == ACCESS_NO_KEY) {
        call_set_header(c, "WWW-Authenticate", "Bearer");
        call_fail(c, FAIL_NO_KEY, "An API key is needed");
    } else if (answer == ACCESS_WRONG_KEY) {
        call_fail(c, FAIL_WRONG_KEY, "Invalid API key");
    } else {
        snprintf(f.message, sizeof f.message,
                 "Too many wrong API keys from this address");
        call_fail_with(c, &f);
    }
}

bool daemon_enter(struct daemon *d, struct call *c, bool body_is_there)
{
    struct key_source from = { check_header,
                               body_is_there ? check_body_arg : NULL,
                               check_query_arg, c };
    const char *key = access_find_key(&from);
    bool open = c->routing.route->flags & ROUTE_OPEN;
    enum access_answer answer;
    int retry_after = 0;

    /* The key may be in the body. An open route does not need it now. */
    if ((!key || open) && !body_is_there) return true;
    if (open && !key && accounts_need_key(d->server->accounts)) return true;
    answer = access_enter(d->server->accounts, key,
                          (const struct sockaddr *)&c->peer, &c->account,
                          &retry_after);
    if (answer == ACCESS_GRANTED || open) return true;
    check_refuse_key(c, answer, retry_after);
    return false;
}

/* ---- all checks --------------------------------------------------------- */

/* Whether the client accepts answers with gzip. */
static bool check_accepts_gzip(const struct call *c)
{
    const char *list = call_header(c, "Accept-Encoding");
    const char *at = list ? strcasestr(list, "gzip") : NULL;
    double q = 1;

    if (!at) return false;
    sscanf(at + 4, " ; q = %lf", &q);
    return q > 0;
}

/* Refuses by what is known of the body. */
static bool check_body(struct call *c)
{
    const char *length = call_header(c, "Content-Length");
    const char *type = call_header(c, "Content-Type");
    const char *coding = call_header(c, "Content-Encoding");
    bool any = c->routing.route->flags & (ROUTE_FILE | ROUTE_RAW);
    bool body = call_header(c, "Transfer-Encoding") ||
                (length && strtoull(length, NULL, 10));

    if (!body) return true;
    if (coding && strcasecmp(coding, "identity")) {
        call_fail(c, FAIL_TYPE, "Content-Encoding is not supported");
        return false;
    }
    if (!any && body_kind(type, "-", 1) == BODY_OTHER) {
        call_fail(c, FAIL_TYPE, "The media type of the body is not supported, "
                                "or its charset is not UTF-8");
        return false;
    }
    if (length && (strlen(length) > 18 ||
                   strtoll(length, NULL, 10) > call_body_limit(c))) {
        call_fail_too_big(c);
        return false;
    }
    return true;
}

/* Refuses a call whose route exists. */
static bool check_route(struct daemon *d, struct call *c)
{
    const struct route *r = c->routing.route;
    bool full;

    if (!(r->flags & ROUTE_OPEN) && server_state(d->server) != SERVER_READY) {
        call_fail(c, FAIL_NOT_READY, "The server is %s",
                  server_state(d->server) == SERVER_LOADING ? "loading"
                                                            : "stopping");
        return false;
    }
    if (r->flags & ROUTE_WRITES && check_is_foreign(c)) {
        call_fail(c, FAIL_FORBIDDEN,
                  "Pages of other sites may not change a memory");
        return false;
    }
    if (!daemon_enter(d, c, false) || !check_body(c)) return false;
    pthread_mutex_lock(&d->lock);
    full = lanes_full(d, c);
    pthread_mutex_unlock(&d->lock);
    if (full) call_fail(c, FAIL_BUSY, "Slowdown: the server is busy");
    return !full;
}

/* Refuses a request that is malformed or not for us. */
static bool check_form(struct daemon *d, struct call *c)
{
    struct failure f = { .kind = FAIL_FORBIDDEN, .status = 421 };
    const char *smuggled = check_smuggling(c);
    const char *host = call_header(c, "Host");

    if (smuggled || !c->path) {
        c->close = true;
        call_fail(c, FAIL_ARGUMENT, "%s",
                  smuggled ? smuggled : "The path is malformed");
        return false;
    }
    if (host && !daemon_host_is_ours(d->settings, host)) {
        snprintf(f.message, sizeof f.message,
                 "This name of the server is not known; see option --host");
        call_fail_with(c, &f);
        return false;
    }
    return true;
}

/* Whether the query has a name, without decoding its values. */
static bool check_query_has(const char *query, const char *name)
{
    size_t n = strlen(name);

    for (const char *s = query; s; s = strchr(s, '&')) {
        s += *s == '&';
        if (!strncmp(s, name, n) && (s[n] == '=' || s[n] == '&' || !s[n]))
            return true;
    }
    return false;
}

void daemon_check(struct daemon *d, struct call *c, const char *method)
{
    bool langpair = check_query_has(c->query, "langpair");

    call_choose_id(c);
    check_forwarded(d->settings, c);
    c->gzip = check_accepts_gzip(c);
    c->http_head = !strcmp(method, "HEAD");
    if (c->path)
        c->routing = route_find(method, c->path, langpair, check_header, c);
    if (!check_form(d, c)) return;
    if (!strcmp(method, "OPTIONS")) {
        check_options(d, c, langpair);
        return;
    }
    if (c->routing.method) c->method = c->routing.method;
    if (!c->routing.route) {
        call_fail(c, c->routing.why, c->routing.why == FAIL_METHOD
                      ? "This method is not allowed here" : "Not found");
        return;
    }
    daemon_allow_origin(d, c);
    if (!call_take_parts(c)) {
        call_fail(c, FAIL_NOT_READY, "The server is out of memory");
        return;
    }
    if (call_read_query(c)) check_route(d, c);
}
