/* result_writer.h - results to lines of output; the callback of a stream.
 *
 * The reading side announces each line with writer_expect() before it pushes
 * it; the stream calls writer_result() in the same order on its own thread.
 * A line is written whole, in one go, as soon as its result is there. After
 * a failure nothing more is written and the stream is canceled. */
#ifndef WRITER_H
#define WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "explain_html.h"
#include "lines.h"
#include "progress.h"
#include "skmt.h"
#include "textbuf.h"

struct origin {                 /* where an expected result comes from */
    const char *file;
    uint64_t number, bytes;
    bool cr;
    char *text;                 /* [len] the line itself, for a page; or NULL */
    size_t len;
};

struct result_writer {
    int fd;
    const char *name;           /* of the output, for messages */
    bool json;
    bool ranked;                /* plain n-best lists */
    bool explained;             /* with what the memory had to do with it */
    bool color;
    struct html *html;          /* the same as a page; NULL: none */
    struct progress progress;

    pthread_mutex_t lock;       /* the queue, the times and the failure */
    struct origin *queue;       /* ring of [cap], a power of two */
    size_t cap, first, waiting;
    double busy_since, busy_seconds;    /* something was on its way */
    int status;                 /* an exit status once something failed */
    char message[700];          /* "": fail quietly */

    struct textbuf line;        /* from here on: the callback's */
    struct explain explain;     /* init'ed when one of the two is wanted */
    uint64_t lines, bytes;
};

void writer_init(struct result_writer *w);
void writer_release(struct result_writer *w);
bool writer_expect(struct result_writer *w, const struct input_line *line);  /* no memory */
skmt_stream_fn writer_result;           /* user is the struct result_writer */
int writer_status(struct result_writer *w);
double writer_busy_seconds(struct result_writer *w);
void writer_fail(struct result_writer *w, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
