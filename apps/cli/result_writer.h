/* result_writer.h - the callback of a stream that writes results as lines.
 *
 * The reading thread announces each line with writer_expect() before it pushes
 * it. The stream calls writer_result() in the same order on its own thread.
 * Each line is written with one write as soon as its result is ready. After a
 * failure, nothing more is written and the stream is canceled. */
#ifndef WRITER_H
#define WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/explain.h"
#include "common/lines.h"
#include "common/progress.h"
#include "common/textbuf.h"
#include "explain_html.h"
#include "skmt.h"

struct origin {                 /* the input line of an expected result */
    const char *file;
    uint64_t number, bytes;
    bool cr;
    char *text;                 /* [len] the line itself; NULL without --html */
    size_t len;
};

struct result_writer {
    int fd;
    const char *name;           /* of the output, for messages */
    bool json;
    bool ranked;                /* write n-best lists */
    bool explained;             /* write explanations */
    bool color;
    struct html *html;          /* the --html page; may be NULL */
    struct progress progress;

    pthread_mutex_t lock;       /* protects the fields up to message */
    struct origin *queue;       /* ring of [cap], a power of two */
    size_t cap, first, waiting; /* expected results: [first, +waiting) */
    double busy_since, busy_seconds;    /* times with results expected */
    int status;                 /* an exit status after a failure */
    char message[700];          /* the error; "" if none is to be printed */

    struct textbuf line;        /* from here on: only for the callback */
    struct explain explain;     /* for `explained` and `html` */
    uint64_t lines, bytes;      /* written; bytes of their input */
};

void writer_init(struct result_writer *w);
void writer_release(struct result_writer *w);
/* Returns false if out of memory. */
bool writer_expect(struct result_writer *w, const struct input_line *line);
skmt_stream_fn writer_result;           /* user is the struct result_writer */
int writer_status(struct result_writer *w);
double writer_busy_seconds(struct result_writer *w);
/* Sets status and message, unless there was a failure before. */
void writer_fail(struct result_writer *w, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
