/* test_route.c - finding the API and the route of a request. */
#include <strings.h>

#include "server/route.h"
#include "test.h"

/* One header of the request: "Name: value", or NULL. */
static const char *one_header(void *user, const char *name)
{
    const char *line = user;
    size_t n = strlen(name);
    bool begins = name[n - 1] == '*';

    if (!line || strncasecmp(line, name, begins ? n - 1 : n)) return NULL;
    return strchr(line, ':') + 2;
}

static struct routing find(const char *method, const char *path,
                           const char *header)
{
    return route_find(method, path, false, one_header,
                      (void *)(uintptr_t)header);
}

static const char *api_of(const char *method, const char *path,
                          const char *header)
{
    return find(method, path, header).api->name;
}

TEST(route_prefixes)
{
    CHECK_STR(api_of("GET", "/libretranslate/languages", NULL),
              "libretranslate");
    CHECK_STR(api_of("GET", "/modernmt/memories", NULL), "modernmt");
    CHECK_STR(api_of("POST", "/deepl/v2/translate", NULL), "deepl");
    CHECK_STR(api_of("GET", "/tmserver/de/en/unit/a", NULL), "tmserver");
    CHECK_STR(api_of("GET", "/api/v1/de/en/unit/a", NULL), "amagama");
    CHECK_STR(api_of("GET", "/apertium/listPairs", NULL), "apertium");
    CHECK_STR(api_of("GET", "/MTRestService/TranslateJson", NULL), "opuscat");
    CHECK_STR(api_of("GET", "/mtrestservice/translatejson", NULL), "opuscat");
    /* A longer word is no prefix, and a prefix alone is the root of its API. */
    CHECK_STR(api_of("GET", "/deeplx/v2/translate", NULL), "libretranslate");
    CHECK_STR(find("GET", "/modernmt", NULL).path, "/");
    CHECK_STR(find("GET", "/deepl/v2/usage", NULL).path, "/v2/usage");
    CHECK_STR(api_of("GET", "/MMT-no", "MMT-ApiKey: x"), "modernmt");
}

TEST(route_paths_of_one_api)
{
    static const char *const expected[][2] = {
        { "/v1/translate", "own" }, { "/v1/nothing", "own" },
        { "/health", "own" }, { "/ready", "own" }, { "/metrics", "own" },
        { "/", "page" }, { "/v2/translate", "deepl" }, { "/v3/glossaries",
        "deepl" }, { "/listPairs", "apertium" }, { "/memories", "modernmt" },
        { "/memories/1/content", "modernmt" }, { "/import-jobs/1", "modernmt" },
        { "/context-vector", "modernmt" }, { "/users/me", "modernmt" },
        { "/translate/detect", "modernmt" }, { "/tags-projection", "modernmt" },
        { "/_health", "modernmt" }, { "/languages", "libretranslate" },
        { "/languages/", "libretranslate" }, { "/nothing", "libretranslate" },
        { "/translate_file", "libretranslate" },
    };

    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_STR(api_of("GET", expected[i][0], NULL), expected[i][1]);
}

TEST(route_translate_at_the_root)
{
    CHECK_STR(api_of("POST", "/translate", NULL), "libretranslate");
    CHECK_STR(api_of("POST", "/translate/", NULL), "libretranslate");
    CHECK_STR(api_of("POST", "/translate", "MMT-ApiKey: k"), "modernmt");
    CHECK_STR(api_of("POST", "/translate", "X-HTTP-Method-Override: GET"),
              "modernmt");
    CHECK_STR(api_of("GET", "/languages", "mmt-platform: x"), "modernmt");
    CHECK_STR(api_of("GET", "/translate", NULL), "modernmt");
    CHECK_STR(route_find("GET", "/translate", true, one_header, NULL).api->name,
              "apertium");
    CHECK_STR(route_find("HEAD", "/translate", true, one_header,
                         NULL).api->name, "apertium");
    CHECK_STR(route_find("POST", "/translate", true, one_header,
                         NULL).api->name, "libretranslate");
}

TEST(route_methods)
{
    struct routing r = find("DELETE", "/libretranslate/languages", NULL);

    CHECK(!r.route && r.why == FAIL_METHOD);
    CHECK_STR(r.allow, "GET, HEAD");
    r = find("HEAD", "/health", NULL);
    CHECK(r.route != NULL);
    CHECK_STR(r.method, "GET");
    r = find("BREW", "/health", NULL);
    CHECK(!r.route && !r.method && r.why == FAIL_METHOD);
    r = find("GET", "/libretranslate/nothing", NULL);
    CHECK(!r.route && r.why == FAIL_PATH);
    CHECK_STR(r.allow, "");
    /* Several routes have this path; each method is listed once. */
    r = find("PATCH", "/modernmt/memories/1", NULL);
    CHECK_STR(r.allow, "GET, HEAD, PUT, DELETE");
    r = find("POST", "/modernmt/memories/1", "X-HTTP-Method-Override: delete");
    REQUIRE(r.route != NULL);
    CHECK_STR(r.method, "DELETE");
    r = find("POST", "/modernmt/memories/1", "X-HTTP-Method-Override: brew");
    CHECK(!r.route && r.why == FAIL_METHOD);
    /* Only ModernMT's API has that header. */
    r = find("POST", "/libretranslate/translate",
             "X-HTTP-Method-Override: GET");
    REQUIRE(r.route != NULL);
    CHECK_STR(r.method, "POST");
}

/* The value of a part of the path, or "". */
static const char *part(const struct route_part *parts, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strncmp(parts[i].name, name, strlen(name))) return parts[i].value;
    return "";
}

TEST(route_parts)
{
    static const struct route id = { "GET", "/memories/:id/content/:tuid", NULL,
                                     0, NULL };
    static const struct route text = { "GET", "/:src/:tgt/unit/*", NULL,
                                       ROUTE_TEXT_PATH, NULL };
    struct route_part parts[ROUTE_PARTS];
    char a[] = "/memories/12/content/x y/", b[] = "/de/en/unit/a/b/c/";
    char c[] = "/de/en/unit/";
    const char *rest;
    int n = route_split(&id, a, parts, &rest);

    CHECK_INT(n, 2);
    CHECK_STR(part(parts, n, "id"), "12");
    CHECK_STR(part(parts, n, "tuid"), "x y");
    CHECK_STR(rest, "");
    n = route_split(&text, b, parts, &rest);
    CHECK_INT(n, 2);
    CHECK_STR(part(parts, n, "src"), "de");
    CHECK_STR(part(parts, n, "tgt"), "en");
    CHECK_STR(rest, "a/b/c/");
    n = route_split(&text, c, parts, &rest);
    CHECK_INT(n, 2);
    CHECK_STR(rest, "");
}

TEST(route_templates)
{
    CHECK(find("GET", "/tmserver/de/en/unit/a/b//c", NULL).route != NULL);
    CHECK(!find("GET", "/tmserver/de/en", NULL).route);
    CHECK(!find("GET", "/tmserver//en/unit/a", NULL).route);
    CHECK(!find("GET", "/libretranslate//languages", NULL).route);
    CHECK(find("GET", "/libretranslate/languages/", NULL).route != NULL);
    CHECK(!find("GET", "/libretranslate/languages//", NULL).route);
    CHECK(!find("GET", "/libretranslate/LANGUAGES", NULL).route);
    CHECK(!find("GET", "/modernmt/memories/", NULL).route ==
          !find("GET", "/modernmt/memories", NULL).route);
}
