/* server_log.c - writes the log of the server. A line is built in memory and
 * written with one call, so that lines of several threads do not mix. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/jput.h"
#include "server/server_log.h"
#include "server/settings.h"

/* Set before other threads start. */
static struct { int fd, level; bool texts; } log_to = { 2, LOG_WARN, false };

bool server_log_wants(int level) { return level <= log_to.level; }

static void log_line_begin(struct textbuf *t, int level, const char *id)
{
    static const char *const name[] = { "error", "warn", "info", "debug" };
    struct timespec now;
    struct tm utc;
    char text[64];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ",
             utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
             utc.tm_min, utc.tm_sec, now.tv_nsec / 1000000);
    jput_object(t);
    jput_text_field(t, "time", text);
    jput_text_field(t, "level", name[level]);
    if (id) jput_text_field(t, "id", id);
}

/* A log that cannot be written does not stop the server. */
static void log_line_end(struct textbuf *t)
{
    jput_line_end(t);
    for (size_t at = 0; !t->failed && at < t->len;) {
        ssize_t n = write(log_to.fd, t->data + at, t->len - at);

        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        at += (size_t)n;
    }
    textbuf_release(t);
}

void server_log_begin(int fd, int level, bool texts)
{
    struct textbuf t = { 0 };

    log_to.fd = fd;
    log_to.level = level;
    log_to.texts = texts;
    if (!texts) return;
    log_line_begin(&t, LOG_WARN, NULL);         /* at any level */
    jput_text_field(&t, "message", "texts of clients are logged (--log-text); "
                    "do not use this with private texts");
    log_line_end(&t);
}

void server_log(int level, const char *id, const char *fmt, ...)
{
    struct textbuf t = { 0 };
    char text[1000];
    va_list args;

    if (!server_log_wants(level)) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    log_line_begin(&t, level, id);
    jput_text_field(&t, "message", text);
    log_line_end(&t);
}

void server_log_call(int level, const struct log_call *c)
{
    struct textbuf t = { 0 };

    if (!server_log_wants(level)) return;
    log_line_begin(&t, level, c->id);
    jput_text_field(&t, "method", c->method ? c->method : "");
    jput_text_field(&t, "api", c->api ? c->api : "");
    jput_text_field(&t, "route", c->route ? c->route : "");
    jput_int_field(&t, "status", c->status);
    jput_fixed_field(&t, "ms", c->ms, 1);
    jput_fixed_field(&t, "queue_ms", c->queue_ms, 1);
    jput_int_field(&t, "in_bytes", c->in_bytes);
    jput_int_field(&t, "out_bytes", c->out_bytes);
    jput_int_field(&t, "texts", c->texts);
    jput_int_field(&t, "tokens", c->source_tokens + c->target_tokens);
    jput_int_field(&t, "key", c->key);
    if (c->peer) jput_text_field(&t, "peer", c->peer);
    if (c->why) jput_text_field(&t, "why", c->why);
    log_line_end(&t);
}

void server_log_text(const char *id, const char *what, const char *text)
{
    struct textbuf t = { 0 };

    if (!log_to.texts) return;
    log_line_begin(&t, LOG_INFO, id);
    jput_text_field(&t, what, text);
    log_line_end(&t);
}
