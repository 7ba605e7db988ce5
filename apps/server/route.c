/* route.c - finds the API and the route that a request means. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/route.h"

static const struct api *const apis[] = {
    &api_own, &api_page, &api_libre, &api_mmt, &api_deepl, &api_tmserver,
    &api_amagama, &api_apertium, &api_opuscat
};
enum { N_APIS = sizeof apis / sizeof *apis };

const struct api *route_api(int i)
{
    return i >= 0 && i < N_APIS ? apis[i] : NULL;
}

/* Paths at the root that only one API has. A final slash means everything
 * below. */
static const struct root_path { const char *path; const struct api *api; }
    root_paths[] = {
        { "/v1/", &api_own },
        { "/v2/", &api_deepl },
        { "/v3/", &api_deepl },
        { "/listPairs", &api_apertium },
        { "/memories", &api_mmt },
        { "/memories/", &api_mmt },
        { "/import-jobs", &api_mmt },
        { "/import-jobs/", &api_mmt },
        { "/context-vector", &api_mmt },
        { "/users/me", &api_mmt },
        { "/tags-projection", &api_mmt },
        { "/_health", &api_mmt },
        { "/translate/", &api_mmt },
    };
enum { N_ROOT_PATHS = sizeof root_paths / sizeof *root_paths };

/* ---- templates ---------------------------------------------------------- */

/* The length of a path without its final slash; that of "/" is 0. */
static size_t route_length(const char *path)
{
    size_t n = strlen(path);

    return n > 0 && path[n - 1] == '/' ? n - 1 : n;
}

/* Whether n characters are the same; OPUS-CAT's paths have no case. */
static bool route_same(const char *a, const char *b, size_t n, bool any_case)
{
    return any_case ? !strncasecmp(a, b, n) : !strncmp(a, b, n);
}

/* Whether a path fits a template. A final slash is ignored, unless it belongs
 * to a text. */
static bool route_fits(const struct route *r, const char *path, bool any_case)
{
    const char *t = r->path, *t_end = t + route_length(t);
    const char *p = path, *p_end = path + route_length(path);

    while (t < t_end) {
        size_t n, m;

        if (*t == '*') return true;
        if (p == p_end) return t[0] == '/' && t[1] == '*' && *p == '/';
        if (*t != '/' || *p != '/') return false;
        t++, p++;
        if (*t == '*') return true;
        n = strcspn(t, "/");
        m = strcspn(p, "/");
        if (t[0] == ':' ? m == 0 : n != m || !route_same(t, p, n, any_case))
            return false;
        t += n;
        p += m;
    }
    return p == p_end;
}

int route_split(const struct route *r, char *path,
                struct route_part parts[ROUTE_PARTS], const char **rest)
{
    const char *t = r->path;
    char *p = path;
    int n = 0;

    *rest = "";
    if (!(r->flags & ROUTE_TEXT_PATH)) path[route_length(path)] = 0;
    while (*t == '/' && *p == '/') {
        size_t length = strcspn(++t, "/");

        if (*t == '*') {
            *rest = p + 1;
            return n;
        }
        *p++ = 0;
        if (*t == ':' && n < ROUTE_PARTS)
            parts[n++] = (struct route_part){ t + 1, p };
        t += length;
        p += strcspn(p, "/");
    }
    return n;
}

/* ---- methods ------------------------------------------------------------ */

/* The static name of a method; NULL if it is not one that a route can have. */
static const char *route_method(const char *written)
{
    static const char *const known[] = { "GET", "POST", "PUT", "DELETE",
                                         "PATCH", NULL };

    if (!strcmp(written, "HEAD")) return "GET";
    for (int i = 0; known[i]; i++)
        if (!strcasecmp(written, known[i])) return known[i];
    return NULL;
}

/* Whether a word is in a list of words that are separated by blanks. */
static bool route_has_method(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Adds the methods of a route to a list for the header Allow. */
static void route_allow(char *list, size_t size, const char *methods)
{
    char word[16];
    int used;

    for (; sscanf(methods, " %15s%n", word, &used) == 1; methods += used) {
        size_t n = strlen(list);

        if (strstr(list, word)) continue;
        snprintf(list + n, size - n, "%s%s%s", n ? ", " : "", word,
                 !strcmp(word, "GET") ? ", HEAD" : "");
    }
}

/* ---- which API ---------------------------------------------------------- */

/* The path after a prefix; NULL if it has another one. */
static const char *route_after(const char *path, const char *prefix,
                               bool any_case)
{
    size_t n = strlen(prefix);

    if (!n || strlen(path) < n || !route_same(path, prefix, n, any_case))
        return NULL;
    if (!path[n]) return "/";
    return path[n] == '/' ? path + n : NULL;
}

static const struct api *by_prefix(const char *path, const char **after)
{
    for (int i = 0; i < N_APIS; i++) {
        *after = route_after(path, apis[i]->prefix, apis[i] == &api_opuscat);
        if (*after) return apis[i];
    }
    *after = path;
    return NULL;
}

static bool route_knows(const struct api *api, const char *path)
{
    for (const struct route *r = api->routes; r->path; r++)
        if (route_fits(r, path, false)) return true;
    return false;
}

/* The API of a path that only one API has, NULL if there is none. */
static const struct api *by_path(const char *path)
{
    size_t n = route_length(path);

    for (int i = 0; i < N_ROOT_PATHS; i++) {
        const char *p = root_paths[i].path;
        size_t m = strlen(p);

        if (p[m - 1] == '/' ? !strncmp(path, p, m) && path[m]
                            : n == m && !strncmp(path, p, m))
            return root_paths[i].api;
    }
    if (route_knows(&api_own, path)) return &api_own;
    return route_knows(&api_page, path) ? &api_page : NULL;
}

/* docs/server.md, "Which API is meant". */
static const struct api *at_root(const char *method, const char *path,
                                 bool langpair,
                                 const char *(*header)(void *, const char *),
                                 void *user)
{
    const struct api *api = by_path(path);
    size_t n = route_length(path);

    if (api) return api;
    if (header(user, "MMT-*") || header(user, "X-HTTP-Method-Override"))
        return &api_mmt;
    if (method && !strcmp(method, "GET") && n == strlen("/translate") &&
        !strncmp(path, "/translate", n))
        return langpair ? &api_apertium : &api_mmt;
    return &api_libre;
}

struct routing route_find(const char *method, const char *path, bool langpair,
                          const char *(*header)(void *user, const char *name),
                          void *user)
{
    struct routing r = { .why = FAIL_PATH, .method = route_method(method) };
    const char *other;
    bool any_case;

    r.api = by_prefix(path, &r.path);
    if (!r.api) r.api = at_root(r.method, path, langpair, header, user);
    any_case = r.api == &api_opuscat;
    if (r.api == &api_mmt && r.method && !strcmp(r.method, "POST") &&
        (other = header(user, "X-HTTP-Method-Override")))
        r.method = route_method(other);
    for (const struct route *t = r.api->routes; t->path; t++) {
        if (!route_fits(t, r.path, any_case)) continue;
        if (r.method && route_has_method(t->methods, r.method)) {
            r.route = t;
            return r;
        }
        r.why = FAIL_METHOD;
        route_allow(r.allow, sizeof r.allow, t->methods);
    }
    return r;
}
