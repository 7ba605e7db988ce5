/* interrupt.c - see interrupt.h. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"

#define PATIENCE_SECONDS 5

static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };

static struct {
    pthread_mutex_t lock;
    sigset_t set;
    skmt_stream *stream;
    bool asks;
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
    if (!state.stream && !state.asks) _exit(EXIT_SIGNAL + sig);
    state.signal = sig;
    if (state.stream) skmt_stream_cancel(state.stream);
    if (write(state.pipe[1], "", 1) < 0) _exit(EXIT_SIGNAL + sig);
    pthread_mutex_unlock(&state.lock);
    sigtimedwait(&state.set, NULL, &patience);
    _exit(EXIT_SIGNAL + sig);
}

void interrupt_hold(void)
{
    struct sigaction old;

    sigemptyset(&state.set);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!sigaction(wanted[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaddset(&state.set, wanted[i]);
    pthread_sigmask(SIG_BLOCK, &state.set, NULL);
}

int interrupt_held(void)
{
    sigset_t came;

    if (sigpending(&came)) return 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (sigismember(&state.set, wanted[i]) == 1
            && sigismember(&came, wanted[i]) == 1) return wanted[i];
    return 0;
}

bool interrupt_start(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    bool ok;

    if (pipe(state.pipe)) return false;
    interrupt_hold();
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

void interrupt_work(bool asks)
{
    pthread_mutex_lock(&state.lock);
    state.asks = asks;
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
