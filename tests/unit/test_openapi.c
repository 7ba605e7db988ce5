/* test_openapi.c - openapi.json lists exactly the routes that exist. */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "server/page_files.h"
#include "server/route.h"
#include "test.h"

static json_t *load(void)
{
    for (const struct page_file *f = page_files; f->name; f++)
        if (!strcmp(f->name, "openapi.json"))
            return json_loadb((const char *)f->bytes, f->n, 0, NULL);
    return NULL;
}

/* The path of a route as OpenAPI writes it. */
static void path_of(const struct api *a, const struct route *r, char *out,
                    size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s", a->prefix);

    for (const char *s = r->path; *s && n + 8 < size;) {
        size_t name = s[0] == ':' ? strcspn(s, "/") : 0;

        if (name) n += (size_t)sprintf(out + n, "{%.*s}", (int)name - 1, s + 1);
        else if (*s == '*') n += (size_t)sprintf(out + n, "{rest}");
        else out[n++] = *s;
        s += name ? name : 1;
    }
    out[n] = 0;
}

/* Marks the operation of each method of a route as seen. */
static void look_up(json_t *paths, const struct api *a, const struct route *r)
{
    char path[200], methods[64], *save, *word;
    json_t *item;

    path_of(a, r, path, sizeof path);
    item = json_object_get(paths, path);
    if (!item) test_fail(__FILE__, __LINE__, "%s is not listed", path);
    snprintf(methods, sizeof methods, "%s", r->methods);
    for (word = strtok_r(methods, " ", &save); item && word;
         word = strtok_r(NULL, " ", &save)) {
        json_t *op;

        for (char *s = word; *s; s++) *s = (char)tolower((unsigned char)*s);
        op = json_object_get(item, word);
        if (!op) test_fail(__FILE__, __LINE__, "%s %s is not listed", word,
                           path);
        else json_object_set_new(op, "seen", json_true());
    }
}

TEST(every_route_is_listed_and_every_listed_route_exists)
{
    json_t *doc = load(), *paths = json_object_get(doc, "paths"), *item, *op;
    const char *path, *method;
    const struct api *a;
    int n = 0;

    REQUIRE(json_is_object(paths));
    for (int i = 0; (a = route_api(i)); i++)
        for (const struct route *r = a->routes; r->path; r++, n++)
            look_up(paths, a, r);
    CHECK(n > 80);
    json_object_foreach(paths, path, item)
        json_object_foreach(item, method, op)
            if (!json_object_get(op, "seen"))
                test_fail(__FILE__, __LINE__, "%s %s does not exist", method,
                          path);
    json_decref(doc);
}

/* Routes without a key say so, and only they. */
TEST(open_routes_are_marked)
{
    json_t *doc = load(), *paths = json_object_get(doc, "paths");

    REQUIRE(json_is_object(paths));
    for (const struct route *r = route_api(0)->routes; r->path; r++) {
        char path[200], method[16];
        json_t *op;

        path_of(route_api(0), r, path, sizeof path);
        snprintf(method, sizeof method, "%s", r->methods);
        for (char *s = method; *s; s++) *s = (char)tolower((unsigned char)*s);
        op = json_object_get(json_object_get(paths, path), method);
        if (!(json_object_get(op, "security") != NULL)
            != !(r->flags & ROUTE_OPEN))
            test_fail(__FILE__, __LINE__, "%s %s", method, path);
    }
    json_decref(doc);
}

/* Every reference has a schema, and every schema is used. */
TEST(references_lead_somewhere)
{
    json_t *doc = load(), *schemas, *schema;
    char *text = json_dumps(doc, JSON_COMPACT);
    const char *name;

    schemas = json_object_get(json_object_get(doc, "components"), "schemas");
    REQUIRE(text && json_object_size(schemas) > 10);
    for (const char *s = text; (s = strstr(s, "schemas/")); s++) {
        char used[40] = "";

        sscanf(s, "schemas/%39[A-Za-z]", used);
        if (!json_object_get(schemas, used))
            test_fail(__FILE__, __LINE__, "no schema %s", used);
    }
    json_object_foreach(schemas, name, schema) {
        char want[60];

        snprintf(want, sizeof want, "schemas/%s\"", name);
        if (!strstr(text, want))
            test_fail(__FILE__, __LINE__, "%s is not used", name);
    }
    free(text);
    json_decref(doc);
}
