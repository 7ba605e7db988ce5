/* lines.h - the lines of several files, one after the other.
 *
 * A line ends at '\n' or at the end of its file. A '\r' before it and a byte
 * order mark before a file's first line are left out of the text; the line
 * says what was. A line may have 64 MiB; a longer one is an error.
 *
 * Reading never waits unasked: when a pipe or terminal has nothing for a
 * moment, lines_next() says so and the caller can hand over what it has got
 * before it comes back to wait. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_line {
    char *text;                 /* [len + 1], a NUL follows; lives until the
                                   next call */
    size_t len;
    size_t skipped;             /* bytes of a byte order mark before text */
    uint64_t bytes;             /* all it took in the file */
    uint64_t number;            /* from 1 in each file */
    const char *file;           /* as a message names it */
    bool cr;                    /* "\r\n" */
};

enum lines_state {
    LINES_LINE,
    LINES_WAIT,                 /* nothing ready; call with wait = true */
    LINES_END,
    LINES_STOPPED,              /* wake_fd became readable */
    LINES_FAILED                /* message */
};

struct lines {
    const char *const *files;   /* [n_files], "-" is standard input */
    int n_files, at;
    int wake_fd;                /* -1: none */
    int fd;
    bool eof;
    uint64_t number;
    char *buf;                  /* [cap] */
    size_t begin, end, cap;     /* unread bytes */
    size_t scanned;             /* of them have no newline */
    char message[512];
};

void lines_open(struct lines *r, const char *const *files, int n_files,
                int wake_fd);
enum lines_state lines_next(struct lines *r, bool wait, struct input_line *out);
void lines_close(struct lines *r);

#endif
