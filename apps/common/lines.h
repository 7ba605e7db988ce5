/* lines.h - reads the lines of several files, one after the other.
 *
 * A line ends at '\n' or at the end of its file. A '\r' at its end and a byte
 * order mark at the beginning of a file are not part of the text, but the
 * struct tells whether they were there. A line of more than 64 MiB is an
 * error.
 *
 * lines_next() with wait = false does not block: if a pipe or terminal has no
 * data for a moment, it returns LINES_WAIT, and the caller can finish its
 * pending work before it calls again with wait = true. */
#ifndef COMMON_LINES_H
#define COMMON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_line {
    char *text;                 /* [len + 1] with a NUL at the end; valid until
                                   the next call */
    size_t len;
    size_t skipped;             /* bytes of a byte order mark before text */
    uint64_t bytes;             /* size in the file, with the line end */
    uint64_t number;            /* from 1 in each file */
    const char *file;           /* file name for messages */
    bool cr;                    /* the line ended with "\r\n" */
};

enum lines_state {
    LINES_LINE,
    LINES_WAIT,                 /* no data ready; call with wait = true */
    LINES_END,
    LINES_STOPPED,              /* wake_fd became readable */
    LINES_FAILED                /* message has the error */
};

struct lines {
    const char *const *files;   /* [n_files], "-" is standard input */
    int n_files, at;            /* at: the file being read */
    int wake_fd;                /* -1: none */
    int fd;
    bool eof;                   /* fd is at its end */
    uint64_t number;            /* lines returned from this file */
    char *buf;                  /* [cap] */
    size_t begin, end, cap;     /* unread bytes: [begin, end) */
    size_t scanned;             /* the first unread bytes without a newline */
    char message[512];
};

/* files must stay valid until lines_close(). Files are opened when they are
 * reached. */
void lines_open(struct lines *r, const char *const *files, int n_files,
                int wake_fd);
enum lines_state lines_next(struct lines *r, bool wait, struct input_line *out);
void lines_close(struct lines *r);

#endif
