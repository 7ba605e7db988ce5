/* interrupt.h - handles Ctrl-C and kill such that no incomplete line is
 * written.
 *
 * A thread waits for SIGINT, SIGTERM and SIGHUP; no other thread receives
 * them. On the first signal it cancels the registered stream and makes
 * interrupt_fd() readable; the command then ends by itself. The process exits
 * at once on a second signal, if the command does not end within five seconds
 * (for example because nobody reads its output), or if there is no stream and
 * the main thread does not poll for signals. A signal that the parent
 * process ignores (nohup) stays ignored. */
#ifndef COMMON_INTERRUPT_H
#define COMMON_INTERRUPT_H

#include <stdbool.h>

#include "skmt.h"

/* Starts the thread. Call this before any other thread starts. Returns false
 * on failure. */
bool interrupt_start(void);
/* Registers the stream to cancel. Call it with NULL before freeing it. */
void interrupt_stream(skmt_stream *s);
/* Says whether the main thread polls for signals from now on: it calls
 * interrupt_signal() or waits for interrupt_fd(), and ends by itself after a
 * signal. If it does not poll, a signal ends the process at once. */
void interrupt_set_polled(bool polled);
int interrupt_fd(void);                 /* readable after a signal */
int interrupt_signal(void);             /* the signal; 0 if there was none */

/* The alternative for short work that must not be interrupted: signals are
 * blocked until the process ends. Call this before any other thread starts. */
void interrupt_block(void);
/* Returns a blocked signal that has arrived; 0 if there is none. */
int interrupt_pending(void);

/* Handles the two signals that the system sends because of a file. Call this
 * first. SIGXFSZ, a file above the limit of ulimit -f, is ignored: the write
 * fails with EFBIG and is reported like a full disk. SIGBUS, sent when a
 * mapped file became shorter or unreadable, ends the process with a message
 * and the status EXIT_SIGNAL + SIGBUS. */
void interrupt_catch_faults(void);

#endif
