/* lines.c - reads files in blocks and splits them into lines. Text is not
 * checked: a line may contain any bytes.
 *
 * Invariant: begin <= end <= cap, and cap > end once a buffer exists, so that
 * there is room for the NUL after a last line without a newline. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lines.h"

#define READ_BYTES (256u << 10)
#define LINE_MAX_MIB 64u
/* The time that a pipe may be empty before lines_next() returns LINES_WAIT. It
 * is long enough for a program that writes steadily, and too short for a person
 * to notice. */
#define PIPE_WAIT_MS 20

void lines_open(struct lines *r, const char *const *files, int n_files,
                int wake_fd)
{
    memset(r, 0, sizeof *r);
    r->files = files;
    r->n_files = n_files;
    r->at = -1;
    r->wake_fd = wake_fd;
    r->fd = -1;
    r->eof = true;
}

void lines_close(struct lines *r)
{
    if (r->fd > STDIN_FILENO) close(r->fd);
    free(r->buf);
    r->fd = -1;
    r->buf = NULL;
}

static const char *file_name(const struct lines *r)
{
    const char *name = r->files[r->at];

    return strcmp(name, "-") ? name : "standard input";
}

static enum lines_state lines_failed(struct lines *r, const char *why)
{
    snprintf(r->message, sizeof r->message, "reading %s: %s", file_name(r),
             why);
    return LINES_FAILED;
}

static enum lines_state next_file(struct lines *r)
{
    if (r->fd > STDIN_FILENO) close(r->fd);
    r->fd = -1;
    if (++r->at >= r->n_files) {
        r->at = r->n_files;
        return LINES_END;
    }
    r->number = 0;
    r->fd = strcmp(r->files[r->at], "-")
                ? open(r->files[r->at], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (r->fd < 0) return lines_failed(r, strerror(errno));
    r->eof = false;
    return LINES_LINE;
}

/* Make room in the buffer for another read and a NUL after it. */
static enum lines_state lines_make_room(struct lines *r)
{
    size_t kept = r->end - r->begin;

    assert(r->begin <= r->end && r->end <= r->cap);
    if (kept > (size_t)LINE_MAX_MIB << 20) {
        char why[64];

        snprintf(why, sizeof why, "line %llu is longer than %u MiB",
                 (unsigned long long)r->number + 1, LINE_MAX_MIB);
        return lines_failed(r, why);
    }
    if (r->begin > 0 && kept > 0) memmove(r->buf, r->buf + r->begin, kept);
    r->begin = 0;
    r->end = kept;
    if (r->cap < kept + READ_BYTES + 1) {
        size_t cap = 2 * kept + READ_BYTES + 1;
        char *grown = realloc(r->buf, cap);

        if (!grown) return lines_failed(r, "out of memory");
        r->buf = grown;
        r->cap = cap;
    }
    return LINES_LINE;
}

static enum lines_state wait_ready(struct lines *r, bool wait)
{
    struct pollfd fds[2] = { { r->fd, POLLIN, 0 },
                             { r->wake_fd, POLLIN, 0 } };

    for (;;) {
        int n = poll(fds, 2, wait ? -1 : PIPE_WAIT_MS);

        if (n < 0 && errno != EINTR) return lines_failed(r, strerror(errno));
        if (n == 0) return LINES_WAIT;
        if (n > 0 && fds[1].revents) return LINES_STOPPED;
        if (n > 0) return LINES_LINE;
    }
}

static enum lines_state lines_fill(struct lines *r, bool wait)
{
    enum lines_state st = wait_ready(r, wait);
    ssize_t n;

    if (st == LINES_LINE) st = lines_make_room(r);
    if (st != LINES_LINE) return st;
    do n = read(r->fd, r->buf + r->end, r->cap - r->end - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0) return lines_failed(r, strerror(errno));
    if (n == 0) r->eof = true;
    r->end += (size_t)n;
    return LINES_LINE;
}

/* Return the line of len bytes at begin; with its newline it has `bytes`. */
static void lines_return(struct lines *r, size_t len, size_t bytes,
                         struct input_line *out)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    char *text = r->buf + r->begin;

    assert(r->begin + bytes <= r->end && r->begin + len < r->cap);
    out->bytes = bytes;
    out->number = ++r->number;
    out->file = file_name(r);
    out->skipped = r->number == 1 && len >= 3
                   && !memcmp(text, byte_order_mark, 3) ? 3 : 0;
    out->text = text + out->skipped;
    out->len = len - out->skipped;
    out->cr = out->len > 0 && out->text[out->len - 1] == '\r';
    if (out->cr) out->len--;
    out->text[out->len] = 0;
    r->begin += bytes;
    r->scanned = 0;
}

enum lines_state lines_next(struct lines *r, bool wait, struct input_line *out)
{
    for (;;) {
        size_t have = r->end - r->begin;
        char *newline = NULL;
        enum lines_state st;

        if (have > r->scanned)
            newline = memchr(r->buf + r->begin + r->scanned, '\n',
                             have - r->scanned);
        if (newline) {
            size_t len = (size_t)(newline - (r->buf + r->begin));

            lines_return(r, len, len + 1, out);
            return LINES_LINE;
        }
        r->scanned = have;
        if (r->eof && have > 0) {
            lines_return(r, have, have, out);
            return LINES_LINE;
        }
        st = r->eof ? next_file(r) : lines_fill(r, wait);
        if (st != LINES_LINE) return st;
    }
}
