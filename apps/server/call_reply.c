/* call_reply.c - the answers of a call: JSON, bytes, files and streams. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "server/call_internal.h"

enum {
    REPLY_GZIP_FROM = 1024,     /* shorter answers are not compressed */
    REPLY_STREAM_MAX = 64 << 10 /* bytes that wait for a slow client */
};

/* Headers with control characters would let a text become a header. */
static bool reply_header_is_safe(const char *value)
{
    for (const unsigned char *s = (const unsigned char *)value; *s; s++)
        if ((*s < 32 && *s != '\t') || *s == 127) return false;
    return true;
}

void call_set_header(struct call *c, const char *name, const char *value)
{
    if (!reply_header_is_safe(name) || !reply_header_is_safe(value)) return;
    for (int i = 0; i < c->out.n; i++)
        if (!strcasecmp(c->out.list[i].name, name)) {
            char *copy = strdup(value);

            if (!copy) return;
            free(c->out.list[i].value);
            c->out.list[i].value = copy;
            return;
        }
    call_headers_add(&c->out, name, value);
}

/* Whether a type is worth compressing. */
static bool reply_is_text(const char *type)
{
    return !strncmp(type, "text/", 5) || strstr(type, "json") ||
           strstr(type, "xml") || strstr(type, "javascript");
}

/* Compresses the answer if the client wants that. Without memory it is sent as
 * it is. */
static void reply_compress(struct call *c, const char *type)
{
    z_stream z = { 0 };
    unsigned char *out;
    uLong bound;

    if (c->bytes_n <= REPLY_GZIP_FROM || !reply_is_text(type) ||
        call_headers_find(&c->out, "Content-Encoding"))
        return;
    call_headers_add(&c->out, "Vary", "Accept-Encoding");
    if (!c->gzip) return;
    if (deflateInit2(&z, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    bound = deflateBound(&z, c->bytes_n);
    out = malloc(bound);
    z.next_in = (unsigned char *)c->bytes;
    z.avail_in = (uInt)c->bytes_n;
    z.next_out = out;
    z.avail_out = (uInt)bound;
    if (out && bound <= UINT32_MAX && deflate(&z, Z_FINISH) == Z_STREAM_END) {
        free(c->bytes);
        c->bytes = (char *)out;
        c->bytes_n = z.total_out;
        out = NULL;
        call_set_header(c, "Content-Encoding", "gzip");
    }
    free(out);
    deflateEnd(&z);
}

/* Sets a header that the function of the route may have set already. */
static void reply_default(struct call *c, const char *name, const char *value)
{
    if (!call_headers_find(&c->out, name)) call_set_header(c, name, value);
}

static void reply_common(struct call *c, const char *type)
{
    if (type) reply_default(c, "Content-Type", type);
    reply_default(c, "Cache-Control", "no-store");
    reply_default(c, "X-Content-Type-Options", "nosniff");
    reply_default(c, "X-Request-Id", c->id);
    reply_default(c, "X-Trace-ID", c->id);
    reply_default(c, "Referrer-Policy", "no-referrer");
    reply_default(c, "X-Frame-Options", "DENY");
    reply_default(c, "Content-Security-Policy",
                  "default-src 'none'; frame-ancestors 'none'");
}

/* Answers with bytes, which the call then owns. */
static void reply_take(struct call *c, int status, const char *type,
                       char *bytes, size_t n)
{
    if (c->answer != ANSWER_NONE) {
        free(bytes);
        return;
    }
    c->status = status;
    c->bytes = bytes;
    c->bytes_n = n;
    if (type) reply_compress(c, type);
    reply_common(c, type);
    c->answer = ANSWER_BYTES;
}

void call_reply_bytes(struct call *c, int status, const char *type,
                      const void *bytes, size_t n)
{
    char *copy = malloc(n + 1);

    if (!copy) {
        reply_take(c, 500, type, NULL, 0);
        return;
    }
    if (n) memcpy(copy, bytes, n);
    reply_take(c, status, type, copy, n);
}

void call_reply_json(struct call *c, int status, json_t *json)
{
    /* Ten digits are more than any of our numbers has, and keep 88.88 from
     * becoming 88.879999999999995. */
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY |
                                             JSON_REAL_PRECISION(10))
                      : NULL;

    json_decref(json);
    if (text) {
        reply_take(c, status, "application/json; charset=utf-8", text,
                   strlen(text));
    } else {
        /* The function that writes errors may lack memory too. */
        static const char sorry[] = "{\"error\":\"Internal error\"}";

        c->why = "internal";
        call_reply_bytes(c, 500, "application/json; charset=utf-8", sorry,
                         sizeof sorry - 1);
    }
}

void call_reply_empty(struct call *c, int status)
{
    reply_take(c, status, NULL, NULL, 0);
}

/* Writes a name as the value of Content-Disposition: the characters that are
 * safe in quotes, and the whole name percent-encoded. */
static void reply_disposition(const char *name, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "attachment; filename=\"");

    for (const char *s = name; *s && n + 8 < size; s++)
        out[n++] = *s > 32 && *s < 127 && !strchr("\"\\%;", *s) ? *s : '_';
    n += (size_t)snprintf(out + n, size - n, "\"; filename*=UTF-8''");
    for (const char *s = name; *s && n + 8 < size; s++)
        n += (size_t)snprintf(out + n, size - n, "%%%02X", (unsigned char)*s);
}

void call_reply_file(struct call *c, const char *type, const char *path,
                     const char *name)
{
    char disposition[1600];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    unlink(path);
    if (fd < 0) {
        call_fail(c, FAIL_STORAGE, "A file could not be read, request %s",
                  c->id);
        return;
    }
    if (c->answer != ANSWER_NONE) {
        close(fd);
        return;
    }
    c->status = 200;
    c->file_fd = fd;
    reply_disposition(name, disposition, sizeof disposition);
    reply_default(c, "Content-Disposition", disposition);
    reply_common(c, type);
    c->answer = ANSWER_FILE;
}

/* ---- streams ------------------------------------------------------------ */

bool call_stream_begin(struct call *c, const char *type)
{
    if (c->answer != ANSWER_NONE) return false;
    c->status = 200;
    reply_default(c, "X-Accel-Buffering", "no");
    reply_common(c, type);
    pthread_mutex_lock(&c->lock);
    c->answer = ANSWER_STREAM;
    if (c->wake) c->wake(c);
    pthread_mutex_unlock(&c->lock);
    return !c->canceled;
}

/* Makes room for n more bytes. */
static bool reply_stream_room(struct call *c, size_t n)
{
    size_t cap = c->stream_cap ? c->stream_cap : 4096;
    char *stream;

    if (c->stream_at) {
        memmove(c->stream, c->stream + c->stream_at,
                c->stream_n - c->stream_at);
        c->stream_n -= c->stream_at;
        c->stream_at = 0;
    }
    while (cap < c->stream_n + n) cap *= 2;
    if (cap == c->stream_cap) return true;
    stream = realloc(c->stream, cap);
    if (!stream) return false;
    c->stream = stream;
    c->stream_cap = cap;
    return true;
}

bool call_stream_write(struct call *c, const char *bytes, size_t n)
{
    bool ok;

    if (c->answer != ANSWER_STREAM) return false;
    pthread_mutex_lock(&c->lock);
    while (!c->canceled && c->stream_n - c->stream_at >= REPLY_STREAM_MAX)
        pthread_cond_wait(&c->changed, &c->lock);
    ok = !c->canceled && !c->stream_broken && reply_stream_room(c, n);
    if (ok) {
        memcpy(c->stream + c->stream_n, bytes, n);
        c->stream_n += n;
        if (c->wake) c->wake(c);
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

void call_stream_end(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    c->stream_ended = true;
    if (c->wake) c->wake(c);
    pthread_mutex_unlock(&c->lock);
}
