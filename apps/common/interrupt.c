/* interrupt.c - the signal thread, and the handlers for SIGBUS and SIGXFSZ.
 *
 * state.lock protects the stream, is_polled and signal. The lock is held
 * while a stream is canceled, so interrupt_stream(NULL) does not return before
 * the cancel is done and the stream may be freed. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "common/program.h"

/* After this time, a command that does not end by itself is ended. */
#define END_TIMEOUT_SECONDS 5

static const int handled_signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { N_HANDLED = sizeof handled_signals / sizeof *handled_signals };

static struct {
    pthread_mutex_t lock;
    sigset_t set;
    skmt_stream *stream;        /* canceled on a signal; may be NULL */
    bool is_polled;             /* the main thread polls for signals */
    int signal;                 /* the one received; 0: none */
    int pipe[2];                /* readable after a signal */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .pipe = { -1, -1 } };

static void *wait_for_signals(void *unused)
{
    static const struct timespec timeout = { END_TIMEOUT_SECONDS, 0 };
    int sig;

    (void)unused;
    if (sigwait(&state.set, &sig)) return NULL;
    pthread_mutex_lock(&state.lock);
    if (!state.stream && !state.is_polled) _exit(EXIT_SIGNAL + sig);
    state.signal = sig;
    if (state.stream) skmt_stream_cancel(state.stream);
    if (write(state.pipe[1], "", 1) < 0) _exit(EXIT_SIGNAL + sig);
    pthread_mutex_unlock(&state.lock);
    sigtimedwait(&state.set, NULL, &timeout);
    _exit(EXIT_SIGNAL + sig);
}

void interrupt_block(void)
{
    struct sigaction old;

    sigemptyset(&state.set);
    for (size_t i = 0; i < N_HANDLED; i++)
        if (!sigaction(handled_signals[i], NULL, &old)
            && old.sa_handler != SIG_IGN)
            sigaddset(&state.set, handled_signals[i]);
    pthread_sigmask(SIG_BLOCK, &state.set, NULL);
}

int interrupt_pending(void)
{
    sigset_t pending;

    if (sigpending(&pending)) return 0;
    for (size_t i = 0; i < N_HANDLED; i++)
        if (sigismember(&state.set, handled_signals[i]) == 1
            && sigismember(&pending, handled_signals[i]) == 1)
            return handled_signals[i];
    return 0;
}

bool interrupt_start(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    bool ok;

    assert(state.pipe[0] < 0);          /* there is only one thread */
    if (pipe(state.pipe)) return false;
    interrupt_block();
    if (pthread_attr_init(&attr)) return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    ok = !pthread_create(&thread, &attr, wait_for_signals, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}

void interrupt_stream(skmt_stream *s)
{
    pthread_mutex_lock(&state.lock);
    state.stream = s;
    pthread_mutex_unlock(&state.lock);
}

void interrupt_set_polled(bool polled)
{
    pthread_mutex_lock(&state.lock);
    state.is_polled = polled;
    pthread_mutex_unlock(&state.lock);
}

/* ---- SIGBUS ------------------------------------------------------------- */

/* Take the default action for a SIGBUS that was not caused by a file
 * (misaligned access, kill). Uses only async-signal-safe functions. */
static void take_default_action(int sig, const siginfo_t *info)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };

    sigaction(sig, &usual, NULL);
    if (info->si_code <= 0) raise(sig);     /* else the fault repeats itself */
}

static char fault_message[300];

/* Several threads may get this signal; the first one prints the message. Uses
 * only async-signal-safe functions. */
static void mapped_file_failed(int sig, siginfo_t *info, void *unused)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    ssize_t written;

    (void)unused;
    if (info->si_code != BUS_ADRERR && info->si_code != BUS_OBJERR) {
        take_default_action(sig, info);
        return;
    }
    while (atomic_flag_test_and_set(&printed)) pause();
    written = write(STDERR_FILENO, fault_message, strlen(fault_message));
    (void)written;
    _exit(EXIT_SIGNAL + sig);
}

void interrupt_catch_faults(void)
{
    struct sigaction bus = { .sa_sigaction = mapped_file_failed,
                             .sa_flags = SA_SIGINFO };
    struct sigaction ignore = { .sa_handler = SIG_IGN };

    snprintf(fault_message, sizeof fault_message, "%s: a file in use (the "
             "model, an index file of the memory or the key file) became "
             "shorter or unreadable; stopped. Everything stored before is "
             "safe.\n", program_name());
    sigemptyset(&bus.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

/* ---- state ------------------------------------------------------------- */

int interrupt_fd(void)
{
    return state.pipe[0];
}

int interrupt_signal(void)
{
    int sig;

    pthread_mutex_lock(&state.lock);
    sig = state.signal;
    pthread_mutex_unlock(&state.lock);
    return sig;
}
