/* interrupt.c - see interrupt.h. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"

#define PATIENCE_SECONDS 5

static struct {
    pthread_mutex_t lock;
    sigset_t set;
    skmt_stream *stream;
    int signal;
    int pipe[2];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .pipe = { -1, -1 } };

static void *wait_for_signals(void *unused)
{
    static const struct timespec patience = { PATIENCE_SECONDS, 0 };
    int sig;

    (void)unused;
    if (sigwait(&state.set, &sig)) return NULL;
    pthread_mutex_lock(&state.lock);
    if (!state.stream) _exit(EXIT_SIGNAL + sig);
    state.signal = sig;
    skmt_stream_cancel(state.stream);
    if (write(state.pipe[1], "", 1) < 0) _exit(EXIT_SIGNAL + sig);
    pthread_mutex_unlock(&state.lock);
    sigtimedwait(&state.set, NULL, &patience);
    _exit(EXIT_SIGNAL + sig);
}

bool interrupt_start(void)
{
    static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction old;
    pthread_attr_t attr;
    pthread_t thread;
    bool ok;

    sigemptyset(&state.set);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!sigaction(wanted[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaddset(&state.set, wanted[i]);
    if (pipe(state.pipe)) return false;
    pthread_sigmask(SIG_BLOCK, &state.set, NULL);
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
