/* server_log.h - the log of the server: one JSON object a line on stderr.
 *
 *     {"time":"2026-01-02T03:04:05.678Z","level":"info","id":"9f..",..}
 *
 * A line never contains texts, queries, names of files of clients, or keys.
 * Nobody rotates the log: systemd's journal, or whoever reads stderr, keeps it.
 *
 * There is one log in a process. All functions may be called by any thread; a
 * line is written whole. */
#ifndef SERVER_SERVER_LOG_H
#define SERVER_SERVER_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* The levels are those of enum log_level (settings.h). */

/* Sets what is logged: lines of this level and more important ones. With
 * `texts`, server_log_text writes, and a warning about it is logged now. fd:
 * usually 2. Before the first call, the log writes warnings to stderr. */
void server_log_begin(int fd, int level, bool texts);
bool server_log_wants(int level);

/* Logs a sentence about the server itself. id: of a request, or NULL. */
__attribute__((format(printf, 3, 4)))
void server_log(int level, const char *id, const char *fmt, ...);

/* Logs an answered request. */
struct log_call {
    const char *id, *method, *api;
    const char *route;          /* the template, never the path */
    int status;
    double ms, queue_ms;
    int64_t in_bytes, out_bytes;
    int texts, source_tokens, target_tokens;
    int key;                    /* number of the account */
    const char *peer;           /* NULL: not logged */
    const char *why;            /* a word for what went wrong, or NULL */
};
void server_log_call(int level, const struct log_call *c);

/* Logs a text, only with --log-text. what: such as "source". */
void server_log_text(const char *id, const char *what, const char *text);

#endif
