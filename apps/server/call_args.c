/* call_args.c - the body and the arguments of a call. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/call_internal.h"
#include "server/server.h"
#include "server/server_log.h"
#include "server/settings.h"

/* A larger body of a route with ROUTE_FILE goes to a file. */
enum { CALL_IN_MEMORY = 1 << 20 };

/* ---- temporary files ---------------------------------------------------- */

/* The ending of a file name, ".tmx" or ".tmx.gz", as far as it is harmless:
 * readers of files choose the format by it. */
static void call_ending(const char *name, char *out, size_t size)
{
    const char *dot = name + strlen(name);
    size_t n = 0;

    for (int dots = 0; dot > name && dots < 2; dot--) {
        char c = dot[-1];

        if (c == '.') {
            dots++;
            n = strlen(dot - 1);
            if (dots == 1 && strcasecmp(dot - 1, ".gz") &&
                strcasecmp(dot - 1, ".xz") && strcasecmp(dot - 1, ".zst"))
                break;
        } else if (!strchr("abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", c)) {
            break;
        }
    }
    if (n + 1 > size || n > 16) n = 0;
    snprintf(out, size, "%s", name + strlen(name) - n);
}

/* Makes a temporary file whose name ends like `name`. Returns its descriptor,
 * or -1; *path is kept by the call. */
static int call_temp_file(struct call *c, const char *name, char **path)
{
    char ending[24], pattern[512];
    int fd;

    call_ending(name, ending, sizeof ending);
    snprintf(pattern, sizeof pattern, "%s/skmt-XXXXXX%s", c->temp, ending);
    fd = mkostemps(pattern, (int)strlen(ending), O_CLOEXEC);
    if (fd < 0) return -1;
    *path = call_copy(c, pattern, strlen(pattern));
    if (*path) return fd;
    unlink(pattern);
    close(fd);
    return -1;
}

static bool call_write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t m = write(fd, s, n);

        if (m < 0 && errno == EINTR) continue;
        if (m <= 0) return false;
        s += m;
        n -= (size_t)m;
    }
    return true;
}

/* Fails because a temporary file could not be written. */
static bool call_temp_failed(struct call *c)
{
    server_log(LOG_ERROR, c->id, "cannot write a temporary file: %s",
               strerror(errno));
    call_fail(c, FAIL_STORAGE, "The body could not be stored, request %s",
              c->id);
    return false;
}

void call_clean(struct call *c)
{
    for (int i = 0; i < c->n_uploads; i++) unlink(c->uploads[i].path);
    free(c->uploads);
    c->uploads = NULL;
    c->n_uploads = 0;
    if (c->body_file) unlink(c->body_file);
    c->body_file = NULL;
    if (c->body_fd >= 0) close(c->body_fd);
    c->body_fd = -1;
    free(c->body);
    c->body = NULL;
    json_decref(c->json);
    json_decref(c->body_args);
    json_decref(c->query_args);
    json_decref(c->args);
    c->json = c->body_args = c->query_args = c->args = NULL;
}

/* ---- receiving ---------------------------------------------------------- */

/* The kind of the body, from the header; `bytes` in case there is none. */
static enum body_kind call_body_kind(const struct call *c, const char *bytes,
                                     size_t n)
{
    return body_kind(call_header(c, "Content-Type"), bytes, n);
}

/* Whether the whole body is a file, whatever is in it. */
static bool call_is_file(const struct call *c)
{
    unsigned flags = c->routing.route ? c->routing.route->flags : 0;

    return flags & ROUTE_FILE &&
           (flags & ROUTE_RAW || !call_header(c, "Content-Type"));
}

/* Whether the body can be a file or contain one. */
static bool call_takes_file(const struct call *c)
{
    const struct route *r = c->routing.route;
    enum body_kind kind = call_body_kind(c, "-", 1);

    return call_is_file(c) || (r && r->flags & ROUTE_FILE &&
                               kind != BODY_JSON && kind != BODY_FORM);
}

/* Whether nobody knows yet who the client is: its key may be in the body. */
static bool call_is_stranger(const struct call *c)
{
    return c->server->settings->keys && !c->account;
}

int64_t call_body_limit(const struct call *c)
{
    const struct settings *s = c->server->settings;

    return call_takes_file(c) && !(call_is_stranger(c) &&
                                   s->max_body < s->max_file)
               ? s->max_file : s->max_body;
}

void call_fail_too_big(struct call *c)
{
    long long limit = call_body_limit(c);

    if (call_takes_file(c) && call_is_stranger(c)) {
        call_set_header(c, "WWW-Authenticate", "Bearer");
        call_fail(c, FAIL_NO_KEY, "An API key is needed, in a header if the "
                                  "body has more than %lld bytes", limit);
    } else {
        call_fail(c, FAIL_TOO_BIG, "The body has more than %lld bytes", limit);
    }
}

/* Moves the body from memory to a file. */
static bool call_spool(struct call *c)
{
    c->body_fd = call_temp_file(c, "", &c->body_file);
    if (c->body_fd < 0 || !call_write_all(c->body_fd, c->body, c->body_n))
        return call_temp_failed(c);
    free(c->body);
    c->body = NULL;
    c->body_cap = 0;
    return true;
}

static bool call_grow_body(struct call *c, size_t n)
{
    size_t cap = c->body_cap ? c->body_cap : 4096;
    char *body;

    while (cap < c->body_n + n + 1) cap *= 2;
    if (cap == c->body_cap) return true;
    body = realloc(c->body, cap);
    if (!body) {
        call_fail(c, FAIL_NOT_READY, "The server is out of memory");
        return false;
    }
    c->body = body;
    c->body_cap = cap;
    return true;
}

bool call_add_body(struct call *c, const char *bytes, size_t n)
{
    if ((int64_t)(c->body_n + n) > call_body_limit(c)) {
        call_fail_too_big(c);
        return false;
    }
    if (c->body_fd < 0 && c->body_n + n > CALL_IN_MEMORY &&
        call_takes_file(c) && !call_spool(c))
        return false;
    if (c->body_fd >= 0) {
        if (!call_write_all(c->body_fd, bytes, n)) return call_temp_failed(c);
    } else {
        if (!call_grow_body(c, n)) return false;
        memcpy(c->body + c->body_n, bytes, n);
        c->body[c->body_n + n] = 0;
    }
    c->body_n += n;
    return true;
}

/* ---- parsing ------------------------------------------------------------ */

/* Fails because the body cannot be read; false. */
static bool call_unreadable(struct call *c, const char *why)
{
    call_fail(c, FAIL_JSON, "%s", why);
    return false;
}

bool call_read_query(struct call *c)
{
    char why[BODY_WHY];

    c->query_args = json_object();
    if (!c->query_args ||
        !body_form(c->query_args, c->query, strlen(c->query), why)) {
        if (!c->query_args) snprintf(why, sizeof why, "out of memory");
        call_fail(c, FAIL_ARGUMENT, "The query of the address: %s", why);
        return false;
    }
    return true;
}

static bool call_read_json(struct call *c)
{
    char why[BODY_WHY];

    c->json = body_json(c->body, c->body_n, why);
    if (!c->json) return call_unreadable(c, why);
    if (json_is_object(c->json)) {
        json_decref(c->body_args);
        c->body_args = json_incref(c->json);
        return true;
    }
    if (c->routing.route->flags & ROUTE_ANY_JSON) return true;
    return call_unreadable(c, "Invalid JSON format: an object is expected");
}

/* Adds a file; the strings are kept by the call. */
static bool call_add_upload(struct call *c, struct upload u)
{
    struct upload *list = realloc(c->uploads, (size_t)(c->n_uploads + 1) *
                                                  sizeof *list);

    if (list) c->uploads = list;
    u.field = call_copy(c, u.field, strlen(u.field));
    u.name = call_copy(c, u.name, strlen(u.name));
    u.type = call_copy(c, u.type, strlen(u.type));
    if (!list || !u.field || !u.name || !u.type) {
        unlink(u.path);
        call_fail(c, FAIL_NOT_READY, "The server is out of memory");
        return false;
    }
    c->uploads[c->n_uploads++] = u;
    return true;
}

static bool call_read_part(struct call *c, const struct body_part *p)
{
    char *path = NULL;
    bool ok;
    int fd;

    if (!p->is_file) {
        char *text = call_copy(c, p->at, p->n);

        if (!text || strlen(text) != p->n || !json_is_object(c->body_args) ||
            !body_add_field(c->body_args, p->name, strlen(p->name), text,
                            p->n))
            return call_unreadable(c, "a field of the body is not valid UTF-8, "
                                      "or contains U+0000");
        return true;
    }
    fd = call_temp_file(c, p->file, &path);
    if (fd < 0) return call_temp_failed(c);
    ok = call_write_all(fd, p->at, p->n);
    close(fd);
    if (!ok) {
        unlink(path);
        return call_temp_failed(c);
    }
    return call_add_upload(c, (struct upload){ p->name, p->file, p->type, path,
                                               p->n });
}

/* Fields stay in memory, so they have the limit of a body without files. */
static bool call_check_fields(struct call *c, const struct body_part *parts,
                              int n)
{
    int64_t limit = c->server->settings->max_body, total = 0;

    for (int i = 0; i < n; i++)
        if (!parts[i].is_file) total += (int64_t)parts[i].n;
    if (total <= limit) return true;
    call_fail(c, FAIL_TOO_BIG, "The fields of the body have more than %lld "
                               "bytes", (long long)limit);
    return false;
}

static bool call_read_parts(struct call *c, const char *bytes)
{
    struct body_part *parts = calloc(BODY_PARTS, sizeof *parts);
    char boundary[128], why[BODY_WHY] = "out of memory";
    int n = -1;
    bool ok;

    body_parameter(call_header(c, "Content-Type"), "boundary", boundary,
                   sizeof boundary);
    if (parts) n = body_multipart(bytes, c->body_n, boundary, parts, why);
    ok = n < 0 ? call_unreadable(c, why) : call_check_fields(c, parts, n);
    for (int i = 0; i < n && ok; i++) ok = call_read_part(c, &parts[i]);
    free(parts);
    return ok;
}

static bool call_read_multipart(struct call *c)
{
    char *map;
    bool ok;

    if (c->body) return call_read_parts(c, c->body);
    map = mmap(NULL, c->body_n, PROT_READ, MAP_PRIVATE, c->body_fd, 0);
    if (map == MAP_FAILED) return call_temp_failed(c);
    ok = call_read_parts(c, map);
    munmap(map, c->body_n);
    return ok;
}

/* Makes the whole body a file. */
static bool call_read_file(struct call *c)
{
    const char *disposition = call_header(c, "Content-Disposition");
    char name[256] = "", type[128];
    char *path = NULL;
    int fd;

    if (disposition) body_parameter(disposition, "filename", name, sizeof name);
    for (char *s = name; *s; s++)
        if ((unsigned char)*s < 32 || *s == '/' || *s == '\\') *s = '_';
    body_media_type(call_header(c, "Content-Type"), type, sizeof type);
    fd = call_temp_file(c, name, &path);
    if (fd < 0) return call_temp_failed(c);
    if (c->body_file ? rename(c->body_file, path) != 0
                     : !call_write_all(fd, c->body ? c->body : "", c->body_n)) {
        close(fd);
        unlink(path);
        return call_temp_failed(c);
    }
    close(fd);
    c->body_file = NULL;
    return call_add_upload(c, (struct upload){ "", name, type, path,
                                               c->body_n });
}

static bool call_read_by_kind(struct call *c)
{
    unsigned flags = c->routing.route->flags;
    char why[BODY_WHY];

    if (call_is_file(c) && c->body_n > 0) return call_read_file(c);
    if (flags & ROUTE_RAW) return true;
    switch (call_body_kind(c, c->body ? c->body : "-", c->body_n)) {
    case BODY_EMPTY: return true;
    case BODY_JSON: return call_read_json(c);
    case BODY_FORM:
        if (!c->body) return call_read_file(c);
        return body_form(c->body_args, c->body, c->body_n, why)
                   ? true : call_unreadable(c, why);
    case BODY_MULTIPART: return call_read_multipart(c);
    default: break;
    }
    if (flags & ROUTE_FILE) return call_read_file(c);
    call_fail(c, FAIL_TYPE, "The media type of the body is not supported, or "
                            "its charset is not UTF-8");
    return false;
}

bool call_read_body(struct call *c)
{
    c->body_args = json_object();
    if (c->body_args && !call_read_by_kind(c)) return false;
    c->args = json_copy(c->query_args);
    if (c->args && c->body_args && !json_object_update(c->args, c->body_args))
        return true;
    call_fail(c, FAIL_NOT_READY, "The server is out of memory");
    return false;
}

/* ---- what the functions of the routes ask ------------------------------- */

const json_t *call_args(const struct call *c)
{
    return c->args;
}

const json_t *call_json(const struct call *c)
{
    return c->json;
}

const char *call_body(const struct call *c, size_t *n)
{
    if (n) *n = c->body_n;
    return c->body ? c->body : "";
}

/* A number as a string in the shortest form that gives the same number. */
static const char *call_number_text(const json_t *v, char *text, size_t size)
{
    double d = json_real_value(v);

    if (json_is_integer(v)) {
        snprintf(text, size, "%lld", (long long)json_integer_value(v));
        return text;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, d);
        if (strtod(text, NULL) == d) break;
    }
    return text;
}

const char *call_arg(const struct call *c, const char *name)
{
    const json_t *v = json_object_get(c->args, name);
    char text[40];

    if (!json_is_number(v)) return json_string_value(v);
    call_number_text(v, text, sizeof text);
    /* The call keeps the copy; nothing that a caller can see changes. */
    return call_copy((struct call *)(uintptr_t)c, text, strlen(text));
}

bool call_arg_bool(const struct call *c, const char *name, bool fallback)
{
    const json_t *v = json_object_get(c->args, name);
    const char *s = json_string_value(v);

    if (!v || json_is_null(v)) return fallback;
    if (s) return !strcasecmp(s, "true") || !strcmp(s, "1") ||
                  !strcasecmp(s, "yes");
    return json_is_true(v) || (json_is_number(v) && json_number_value(v) != 0);
}

/* Reads a whole number. */
static bool call_integer(const json_t *v, int64_t *out)
{
    const char *s = json_string_value(v);
    double d = json_number_value(v);
    char *end;

    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return true;
    }
    if (json_is_real(v)) {
        if (!(d > -9e15 && d < 9e15) || d != (double)(int64_t)d) return false;
        *out = (int64_t)d;
        return true;
    }
    if (!s || !*s || !strchr("-0123456789", *s)) return false;
    errno = 0;
    *out = strtoll(s, &end, 10);
    return !errno && end > s && !*end;
}

int call_arg_int(const struct call *c, const char *name, int64_t low,
                 int64_t high, int64_t *out)
{
    const json_t *v = json_object_get(c->args, name);
    int64_t n;

    if (!v || json_is_null(v)) return 0;
    if (!call_integer(v, &n) || n < low || n > high) return -1;
    *out = n;
    return 1;
}

/* Adds a string to a list, or its parts between commas. */
static bool call_add_words(json_t *list, const char *s, bool commas)
{
    if (!commas) return !json_array_append_new(list, json_string(s));
    for (;;) {
        size_t n = strcspn(s, ","), m = n;
        const char *word = s;

        while (m && strchr(" \t\r\n", *word)) word++, m--;
        while (m && strchr(" \t\r\n", word[m - 1])) m--;
        if (m && json_array_append_new(list, json_stringn(word, m)))
            return false;
        if (!s[n]) return true;
        s += n + 1;
    }
}

json_t *call_arg_list(const struct call *c, const char *name, bool commas)
{
    const json_t *v = json_object_get(c->args, name);
    json_t *list = json_array();
    bool ok = list != NULL;

    if (!v || json_is_null(v)) return list;
    if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v) && ok; i++) {
            const char *s = json_string_value(json_array_get(v, i));

            ok = s && call_add_words(list, s, commas);
        }
    } else {
        const char *s = call_arg(c, name);

        ok = ok && s && call_add_words(list, s, commas);
    }
    if (ok) return list;
    json_decref(list);
    return NULL;
}

const struct upload *call_upload(const struct call *c, const char *field)
{
    for (int i = 0; i < c->n_uploads; i++)
        if (!field || !strcmp(c->uploads[i].field, field))
            return &c->uploads[i];
    return NULL;
}
