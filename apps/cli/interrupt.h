/* interrupt.h - Ctrl-C and kill, without half a line of output.
 *
 * A thread waits for SIGINT, SIGTERM and SIGHUP; none of the others ever sees
 * one. On the first it cancels the stream it was told of and makes
 * interrupt_fd() readable. A second one, one when there is neither a stream
 * nor other work that asks, or five seconds without an end (a pipe nobody
 * reads) end the process at once.
 * A signal the parent ignores (nohup) stays so. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

#include "skmt.h"

bool interrupt_start(void);             /* before any other thread starts */
void interrupt_stream(skmt_stream *s);  /* NULL: before it is freed */
void interrupt_work(bool asks);         /* work that asks interrupt_signal() */
int interrupt_fd(void);                 /* readable after a signal */
int interrupt_signal(void);             /* 0: none came */

/* Instead of all that, for work that is short and must not be left half done:
 * signals wait until the process ends. Before any other thread starts. */
void interrupt_hold(void);
int interrupt_held(void);               /* one that waits; 0: none came */

/* The two signals that the system sends because of a file; call this first.
 * SIGXFSZ, a file over the limit of ulimit -f, is ignored: the write fails with
 * EFBIG instead and is reported like a full disk. SIGBUS, a mapped file that
 * became shorter or cannot be read any more, ends the process with a sentence
 * and the status EXIT_SIGNAL + SIGBUS. */
void interrupt_faults(void);

#endif
