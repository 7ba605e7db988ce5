/* test_call.c - what a call tells the function of its route, and what the
 * headers of a request tell the daemon. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include "server/daemon_internal.h"
#include "server/server_log.h"
#include "test.h"

static struct settings settings;
static struct server server = { .settings = &settings };
static char folder[64];

/* The last failure, and its number. */
static struct failure failed;
static int failures;

static void remember(struct call *c, const struct failure *f)
{
    failed = *f;
    failures++;
    call_reply_empty(c, f->status);
}

static const struct api api_test = { .name = "test", .prefix = "/test",
                                     .fail = remember };

/* A call with these flags of its route and this media type. */
static struct call *begin(unsigned flags, const char *type, const char *query)
{
    static struct route route;
    struct call *c = call_new(&server);

    route = (struct route){ "GET POST", "/a", NULL, flags, NULL };
    settings.max_body = 1000;
    settings.max_file = 3 << 20;
    c->routing = (struct routing){ .api = &api_test, .route = &route };
    c->query = (char *)(uintptr_t)query;
    if (!folder[0]) {
        strcpy(folder, "/tmp/skmt-test-XXXXXX");
        if (!mkdtemp(folder)) abort();
    }
    c->temp = folder;
    failures = 0;
    failed = (struct failure){ 0 };
    if (type) call_headers_add(&c->in, "Content-Type", type);
    return c;
}

__attribute__((destructor)) static void remove_folder(void)
{
    if (folder[0]) rmdir(folder);
}

static bool receive(struct call *c, const char *body)
{
    return call_add_body(c, body, strlen(body)) && call_read_query(c) &&
           call_read_body(c);
}

/* ---- arguments ---------------------------------------------------------- */

TEST(call_arguments)
{
    struct call *c = begin(0, "application/json", "q=hidden&only=x&n=7");
    int64_t n = 5;
    json_t *list;

    REQUIRE(receive(c, "{\"q\":\"a\",\"i\":12,\"r\":1.5,\"t\":true,\"z\":null,"
                       "\"w\":3.0,\"big\":\"99999999999999999999\","
                       "\"l\":[\"a\",\"b,c\"],\"m\":[\"a\",1]}"));
    CHECK_STR(call_arg(c, "q"), "a");
    CHECK_STR(call_arg(c, "only"), "x");
    CHECK_STR(call_arg(c, "i"), "12");
    CHECK_STR(call_arg(c, "r"), "1.5");
    CHECK(!call_arg(c, "z") && !call_arg(c, "t") && !call_arg(c, "no"));
    CHECK(call_arg_bool(c, "t", false) && call_arg_bool(c, "i", false));
    CHECK(call_arg_bool(c, "z", true) && !call_arg_bool(c, "no", false));
    CHECK(!call_arg_bool(c, "q", true));
    CHECK_INT(call_arg_int(c, "no", 0, 9, &n), 0);
    CHECK_INT(n, 5);
    CHECK_INT(call_arg_int(c, "n", 0, 9, &n), 1);
    CHECK_INT(n, 7);
    CHECK_INT(call_arg_int(c, "w", 0, 9, &n), 1);
    CHECK_INT(n, 3);
    CHECK_INT(call_arg_int(c, "i", 0, 9, &n), -1);
    CHECK_INT(call_arg_int(c, "r", 0, 9, &n), -1);
    CHECK_INT(call_arg_int(c, "q", 0, 9, &n), -1);
    CHECK_INT(call_arg_int(c, "big", 0, INT64_MAX, &n), -1);
    CHECK_INT(n, 3);
    list = call_arg_list(c, "l", false);
    CHECK_INT(json_array_size(list), 2);
    json_decref(list);
    list = call_arg_list(c, "l", true);
    CHECK_INT(json_array_size(list), 3);
    json_decref(list);
    list = call_arg_list(c, "q", false);
    CHECK_INT(json_array_size(list), 1);
    json_decref(list);
    CHECK(!call_arg_list(c, "m", false));
    list = call_arg_list(c, "no", false);
    CHECK_INT(json_array_size(list), 0);
    json_decref(list);
    call_release(c);
}

TEST(call_bodies_that_fail)
{
    static const struct { const char *type, *body; enum fail_kind kind; }
        bad[] = {
            { "application/json", "{", FAIL_JSON },
            { "application/json", "[1]", FAIL_JSON },
            { "application/x-www-form-urlencoded", "a=%", FAIL_JSON },
            { "multipart/form-data", "--", FAIL_JSON },
            { "multipart/form-data; boundary=b", "--b", FAIL_JSON },
            { "text/plain", "a", FAIL_TYPE },
            { "application/json; charset=utf-16", "{}", FAIL_TYPE },
        };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct call *c = begin(0, bad[i].type, "");

        CHECK(!receive(c, bad[i].body));
        CHECK_INT(failed.kind, bad[i].kind);
        CHECK_INT(failures, 1);
        call_release(c);
    }
}

TEST(call_body_kinds)
{
    struct call *c = begin(ROUTE_ANY_JSON, "application/json", "a=1");

    REQUIRE(receive(c, "[1]"));
    CHECK(json_is_array(call_json(c)));
    CHECK_STR(call_arg(c, "a"), "1");
    call_release(c);

    c = begin(ROUTE_RAW, "application/json", "a=1");
    REQUIRE(receive(c, "{"));
    CHECK_STR(call_body(c, NULL), "{");
    CHECK_STR(call_arg(c, "a"), "1");
    call_release(c);

    c = begin(0, "application/json", "a=1");
    REQUIRE(receive(c, ""));
    CHECK_STR(call_arg(c, "a"), "1");
    call_release(c);

    c = begin(0, "application/json", "a=%zz");
    CHECK(!receive(c, "{}"));
    CHECK_INT(failed.kind, FAIL_ARGUMENT);
    call_release(c);
}

/* ---- files -------------------------------------------------------------- */

/* Whether a file holds n times one letter. */
static bool holds(const char *path, char letter, size_t n)
{
    FILE *f = fopen(path, "r");
    int c;

    if (!f) return false;
    while ((c = getc(f)) == letter) n--;
    fclose(f);
    return c == EOF && n == 0;
}

TEST(call_whole_body_is_a_file)
{
    static char part[65536];
    struct call *c = begin(ROUTE_FILE, "application/x-tmx+xml", "");
    const struct upload *u;
    char path[600];

    call_headers_add(&c->in, "Content-Disposition",
                     "attachment; filename=\"../x/a b.tmx.gz\"");
    memset(part, 'x', sizeof part);
    for (int i = 0; i < 32; i++)
        REQUIRE(call_add_body(c, part, sizeof part));
    CHECK(!c->body && c->body_fd >= 0);         /* not in memory */
    REQUIRE(call_read_query(c) && call_read_body(c));
    u = call_upload(c, NULL);
    REQUIRE(u != NULL);
    CHECK_STR(u->name, ".._x_a b.tmx.gz");
    CHECK_STR(u->type, "application/x-tmx+xml");
    CHECK_INT(u->bytes, 32 * 65536);
    CHECK(strstr(u->path, ".tmx.gz") != NULL && !strncmp(u->path, folder, 20));
    CHECK(holds(u->path, 'x', 32 * 65536));
    snprintf(path, sizeof path, "%s", u->path);
    call_release(c);
    CHECK(access(path, F_OK) != 0);
    CHECK(rmdir(folder) == 0);                  /* nothing is left */
    folder[0] = 0;
}

TEST(call_multipart_with_a_file)
{
    struct call *c = begin(ROUTE_FILE, "multipart/form-data; boundary=B", "");
    static char big[(2 << 20) + 1];
    const struct upload *u;

    memset(big, 'y', sizeof big - 1);
    for (const char *const *s = (const char *const[]){
             "--B\r\nContent-Disposition: form-data; name=lang\r\n\r\nde\r\n"
             "--B\r\nContent-Disposition: form-data; name=file; "
             "filename=\"a;b.tsv\"\r\n\r\n", big, "\r\n--B--", NULL }; *s; s++)
        REQUIRE(call_add_body(c, *s, strlen(*s)));
    REQUIRE(call_read_query(c) && call_read_body(c));
    CHECK_STR(call_arg(c, "lang"), "de");
    u = call_upload(c, "file");
    REQUIRE(u != NULL);
    CHECK(!call_upload(c, "other"));
    CHECK_STR(u->name, "a;b.tsv");
    CHECK(holds(u->path, 'y', sizeof big - 1));
    call_release(c);
    CHECK(rmdir(folder) == 0);
    folder[0] = 0;
}

TEST(call_body_limits)
{
    static char part[1001];
    struct call *c = begin(0, "application/json", "");

    CHECK(call_add_body(c, part, 1000));
    CHECK(!call_add_body(c, part, 1));
    CHECK_INT(failed.kind, FAIL_TOO_BIG);
    CHECK_INT(failed.status, 413);
    call_release(c);
    /* JSON of a route for files has the limit of JSON. */
    c = begin(ROUTE_FILE, "application/json", "");
    CHECK(!call_add_body(c, part, 1001));
    call_release(c);
    c = begin(ROUTE_FILE, "text/plain", "");
    CHECK(call_add_body(c, part, 1001));
    call_release(c);
}

/* Who has not shown a key yet may not fill the disk. */
TEST(call_files_of_strangers)
{
    static char part[1001];
    struct call *c = begin(ROUTE_FILE, "text/plain", "");

    settings.keys = (char[]){ "keys" };
    CHECK(call_add_body(c, part, 1000));
    CHECK(!call_add_body(c, part, 1));
    CHECK_INT(failed.kind, FAIL_NO_KEY);
    settings.keys = NULL;
    call_release(c);
}

TEST(call_large_fields_of_a_form)
{
    struct call *c = begin(ROUTE_FILE, "multipart/form-data; boundary=B", "");
    char text[1001];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (const char *const *s = (const char *const[]){
             "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n", text,
             "\r\n--B\r\nContent-Disposition: form-data; name=b\r\n\r\nc"
             "\r\n--B--", NULL }; *s; s++)
        REQUIRE(call_add_body(c, *s, strlen(*s)));
    CHECK(!call_read_body(c));
    CHECK_INT(failed.kind, FAIL_TOO_BIG);
    call_release(c);
}

/* ---- answers ------------------------------------------------------------ */

TEST(call_answers)
{
    struct call *c = begin(0, NULL, "");

    call_set_header(c, "X-A", "1");
    call_set_header(c, "x-a", "2");
    call_set_header(c, "X-B", "a\r\nSet-Cookie: b");
    call_reply_json(c, 201, json_pack("{s:f}", "n", 88.88));
    CHECK_STR(call_headers_find(&c->out, "X-A"), "2");
    CHECK(!call_headers_find(&c->out, "X-B"));
    CHECK_INT(c->status, 201);
    CHECK_INT(c->bytes_n, 11);
    CHECK_MEM(c->bytes, "{\"n\":88.88}", 11);
    /* There is one answer only. */
    call_fail(c, FAIL_NOT_FOUND, "too late");
    CHECK_INT(failures, 0);
    call_reply_empty(c, 204);
    CHECK_INT(c->status, 201);
    call_release(c);
}

TEST(call_failures)
{
    struct call *c = begin(0, NULL, "");
    skmt_error err = { .status = SKMT_ERR_IO, .message = "/secret/path" };

    /* The message is logged, not here. */
    server_log_begin(open("/dev/null", O_WRONLY), LOG_ERROR, false);
    CHECK(fail_status(FAIL_STORAGE) == 507 && fail_status(FAIL_BUSY) == 429);
    call_fail_error(c, &err);
    CHECK_INT(failed.kind, FAIL_STORAGE);
    CHECK(!strstr(failed.message, "secret"));
    call_release(c);
    c = begin(0, NULL, "");
    call_fail_field(c, "q", "wrong");
    CHECK_STR(failed.field, "q");
    CHECK_INT(failed.status, 400);
    call_release(c);
    c = begin(0, NULL, "");
    call_fail(c, FAIL_BUSY, "wait");
    CHECK_STR(call_headers_find(&c->out, "Retry-After"), "1");
    call_release(c);
}

static void count(void *user)
{
    ++*(int *)user;
}

TEST(call_cancels_once)
{
    struct call *c = begin(0, NULL, "");
    int n = 0;

    call_on_cancel(c, count, &n);
    CHECK(!call_canceled(c));
    call_cancel(c, false);
    call_cancel(c, true);
    CHECK(call_canceled(c));
    CHECK_INT(n, 1);
    call_on_cancel(c, count, &n);       /* at once */
    CHECK_INT(n, 2);
    CHECK(!call_stream_begin(c, "text/plain"));
    CHECK(!call_stream_write(c, "a", 1));
    call_release(c);
}

/* ---- the daemon's checks ------------------------------------------------ */

static struct sockaddr_storage address(const char *text)
{
    struct sockaddr_storage a = { 0 };

    a.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    if (a.ss_family == AF_INET6)
        inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr);
    else inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr);
    return a;
}

static bool same(const char *a, const char *b)
{
    struct sockaddr_storage x = address(a), y = address(b);

    return daemon_same_peer(&x, &y);
}

TEST(daemon_addresses)
{
    struct sockaddr_storage local = address("127.8.9.1");
    struct sockaddr_storage mapped = address("::ffff:127.0.0.1");
    struct sockaddr_storage far = address("8.8.8.8");
    struct sockaddr_storage near = address("10.1.2.3");

    CHECK(same("1.2.3.4", "1.2.3.4") && !same("1.2.3.4", "1.2.3.5"));
    CHECK(same("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6"));
    CHECK(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
    CHECK(same("::ffff:1.2.3.4", "1.2.3.4") && !same("::1", "127.0.0.1"));
    CHECK(daemon_is_loopback(&local) && daemon_is_loopback(&mapped));
    CHECK(!daemon_is_loopback(&far));
    settings.trust_proxy = true;
    CHECK(daemon_trusts(&settings, &near) && !daemon_trusts(&settings, &far));
    settings.trust_proxy = false;
    CHECK(!daemon_trusts(&settings, &near));
}

/* The address that counts for a request from `from`. The list may consist of
 * several headers, with '|' between them. */
static const char *forwarded(const char *from, const char *list)
{
    static char text[64];
    struct daemon d = { .settings = &settings };
    struct call *c = begin(0, NULL, "");
    const struct sockaddr_storage *a = &c->peer;

    c->peer = address(from);
    c->path = (char[]){ "/nothing" };
    for (const char *s = list; s; s = strchr(s, '|') ? strchr(s, '|') + 1
                                                     : NULL) {
        char one[64];

        snprintf(one, sizeof one, "%.*s", (int)strcspn(s, "|"), s);
        call_headers_add(&c->in, "X-Forwarded-For", one);
    }
    daemon_check(&d, c, "GET");
    inet_ntop(a->ss_family, a->ss_family == AF_INET6
              ? (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr
              : (const void *)&((const struct sockaddr_in *)a)->sin_addr,
              text, sizeof text);
    call_release(c);
    return text;
}

TEST(daemon_forwarded_addresses)
{
    CHECK_STR(forwarded("127.0.0.1", "8.8.8.8"), "127.0.0.1");
    settings.trust_proxy = true;
    CHECK_STR(forwarded("127.0.0.1", "8.8.8.8"), "8.8.8.8");
    CHECK_STR(forwarded("127.0.0.1", "1.1.1.1, 8.8.8.8:99"), "8.8.8.8");
    CHECK_STR(forwarded("10.0.0.1", "1.1.1.1,[2001:db8::1]:99"), "2001:db8::1");
    CHECK_STR(forwarded("127.0.0.1", "2001:db8::2"), "2001:db8::2");
    CHECK_STR(forwarded("127.0.0.1", "1.1.1.1|8.8.8.8"), "8.8.8.8");
    CHECK_STR(forwarded("127.0.0.1", "unknown"), "127.0.0.1");
    CHECK_STR(forwarded("127.0.0.1", ""), "127.0.0.1");
    CHECK_STR(forwarded("8.8.4.4", "8.8.8.8"), "8.8.4.4");
    settings.trust_proxy = false;
}

TEST(daemon_hosts)
{
    char *names[] = { "mt.example" };

    settings.loopback = true;
    CHECK(daemon_host_is_ours(&settings, "localhost:5000"));
    CHECK(daemon_host_is_ours(&settings, "[::1]:5000"));
    CHECK(daemon_host_is_ours(&settings, "192.0.2.1"));
    CHECK(!daemon_host_is_ours(&settings, "mt.example"));
    CHECK(!daemon_host_is_ours(&settings, "1.2.3.4.example"));
    CHECK(!daemon_host_is_ours(&settings, "[::1"));
    CHECK(!daemon_host_is_ours(&settings, ""));
    settings.hosts.list = names;
    settings.hosts.n = 1;
    CHECK(daemon_host_is_ours(&settings, "MT.example.:443"));
    CHECK(!daemon_host_is_ours(&settings, "a.mt.example"));
    settings.hosts.n = 0;
    settings.loopback = false;
    CHECK(!daemon_host_is_ours(&settings, "mt.example"));
    settings.keys = "keys";
    CHECK(daemon_host_is_ours(&settings, "mt.example"));
    settings.keys = NULL;
}

/* What a preflight request of a page of http://a.example gets. */
static const char *preflight(char *path, const char *method)
{
    static char text[64];
    struct daemon d = { .settings = &settings };
    struct call *c = begin(0, NULL, "");
    const char *value;

    c->path = path;
    call_headers_add(&c->in, "Origin", "http://a.example");
    call_headers_add(&c->in, "Access-Control-Request-Method", method);
    daemon_check(&d, c, "OPTIONS");
    CHECK_INT(c->status, 204);
    CHECK(call_headers_find(&c->out, "Allow") != NULL);
    CHECK(!call_headers_find(&c->out, "Access-Control-Allow-Credentials"));
    value = call_headers_find(&c->out, "Access-Control-Allow-Origin");
    snprintf(text, sizeof text, "%s", value ? value : "");
    call_release(c);
    return text;
}

TEST(daemon_cors)
{
    char translate[] = "/translate", memories[] = "/v1/memories";
    char *every[] = { "*" }, *one[] = { "http://a.example" };
    char *other[] = { "http://b.example" };

    CHECK_STR(preflight(translate, "POST"), "");
    settings.cors.n = 1;
    settings.cors.list = every;
    CHECK_STR(preflight(translate, "POST"), "*");
    CHECK_STR(preflight(translate, "DELETE"), "");
    CHECK_STR(preflight(memories, "POST"), "");
    settings.cors.list = one;
    CHECK_STR(preflight(translate, "POST"), "http://a.example");
    settings.cors.list = other;
    CHECK_STR(preflight(translate, "POST"), "");
    settings.cors.n = 0;
}

/* The path of a request target, or "bad". */
static const char *path_of(const char *target)
{
    static char path[64];
    struct call *c = begin(0, NULL, "");

    snprintf(path, sizeof path, "%s",
             daemon_split_target(c, target) ? c->path : "bad");
    if (strcmp(path, "bad")) {
        strcat(path, "|");
        strcat(path, c->query);
    }
    call_release(c);
    return path;
}

TEST(daemon_targets)
{
    CHECK_STR(path_of("/a%2Fb+c?d=%zz"), "/a/b+c|d=%zz");
    CHECK_STR(path_of("http://h:1/a?b"), "/a|b");
    CHECK_STR(path_of("HTTPS://h"), "/|");
    CHECK_STR(path_of("*"), "bad");
    CHECK_STR(path_of("h:80"), "bad");
    CHECK_STR(path_of("/%00"), "bad");
    CHECK_STR(path_of("/%0a"), "bad");
    CHECK_STR(path_of("/%7f"), "bad");
    CHECK_STR(path_of("/%ff"), "bad");
    CHECK_STR(path_of("/%"), "bad");
    CHECK_STR(path_of(""), "bad");
}
