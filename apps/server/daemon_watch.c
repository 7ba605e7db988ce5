/* daemon_watch.c - looks four times a second for clients that are too slow,
 * that have gone, or whose call takes too long. */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/daemon_internal.h"

enum { WATCH_MS = 250, LINGER_SECONDS = 3 };

void conn_expect(struct conn *x, enum conn_state state, double seconds)
{
    x->state = state;
    x->deadline = seconds > 0 ? call_now() + seconds : 0;
}

/* Whether the client has taken a part of the answer since the last look. */
static bool watch_progress(struct conn *x)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    memset(&info, 0, sizeof info);
    if (getsockopt(x->fd, IPPROTO_TCP, TCP_INFO, &info, &size)) return false;
    if (info.tcpi_bytes_acked == x->acked) return false;
    x->acked = info.tcpi_bytes_acked;
    return true;
}

/* Whether the client has been sent all there is of a stream, and waits for the
 * handler to write more. */
static bool watch_waits(struct call *c)
{
    bool waits;

    if (!c || c->stage != CALL_SENT) return false;
    pthread_mutex_lock(&c->lock);
    waits = c->suspended;
    pthread_mutex_unlock(&c->lock);
    return waits;
}

/* Closes a connection whose deadline has passed. libmicrohttpd notices that its
 * socket is shut down, and cleans up. */
static void watch_deadline(struct daemon *d, struct conn *x, double now)
{
    if (x->state == CONN_ANSWER && (watch_progress(x) || watch_waits(x->call)))
        x->deadline = now + d->settings->send_seconds;
    if (!x->deadline || now < x->deadline) return;
    x->deadline = 0;
    shutdown(x->fd, SHUT_RDWR);
}

/* Calls to be canceled. */
struct watch_list {
    struct pollfd *fds;         /* [n] */
    struct call **calls;        /* [n], kept */
    int n;
};

/* Collects the calls whose connections are suspended. */
static void watch_collect(struct daemon *d, struct watch_list *w, double now)
{
    w->n = 0;
    w->fds = malloc((size_t)(d->n_conns + 1) * sizeof *w->fds);
    w->calls = malloc((size_t)(d->n_conns + 1) * sizeof(struct call *));
    for (struct conn *x = d->conns; x; x = x->next) {
        watch_deadline(d, x, now);
        if (!x->call || !w->fds || !w->calls) continue;
        if (x->call->stage != CALL_QUEUED && x->call->stage != CALL_RUNS &&
            !watch_waits(x->call))
            continue;
        w->fds[w->n] = (struct pollfd){ .fd = x->fd,
                                        .events = POLLRDHUP };
        w->calls[w->n++] = x->call;
        call_keep(x->call);
    }
    /* Under the lock, so that no descriptor is closed and used again. */
    if (w->n && poll(w->fds, (nfds_t)w->n, 0) < 0)
        for (int i = 0; i < w->n; i++) w->fds[i].revents = 0;
}

/* Reads and drops what clients of refused connections still send. */
static void watch_read(struct daemon *d, double now)
{
    static char sink[65536];    /* only this thread uses it */
    int kept = 0;

    for (int i = 0; i < d->n_lingering; i++) {
        struct lingerer l = d->lingering[i];
        ssize_t n = 1;

        for (int part = 0; part < 64 && n > 0; part++)
            n = recv(l.fd, sink, sizeof sink, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN) || now > l.until)
            close(l.fd);
        else
            d->lingering[kept++] = l;
    }
    d->n_lingering = kept;
}

void watch_linger(struct daemon *d, int fd)
{
    int copy = d->n_lingering < MAX_LINGER ? dup(fd) : -1;

    if (copy < 0) return;
    shutdown(copy, SHUT_WR);
    d->lingering[d->n_lingering++] =
        (struct lingerer){ copy, call_now() + LINGER_SECONDS };
}

static void watch_once(struct daemon *d)
{
    struct watch_list w;
    double now = call_now();

    watch_read(d, now);
    watch_collect(d, &w, now);
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < w.n; i++) {
        struct call *c = w.calls[i];

        if (w.fds[i].revents)
            call_cancel(c, true);
        else if (c->deadline > 0 && now > c->deadline)
            call_cancel(c, false);
        call_release(c);
    }
    free(w.fds);
    free(w.calls);
    pthread_mutex_lock(&d->lock);
}

static void *watch_run(void *user)
{
    struct daemon *d = user;

    pthread_mutex_lock(&d->lock);
    while (!d->ended) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_nsec += WATCH_MS * 1000000L;
        t.tv_sec += t.tv_nsec / 1000000000L;
        t.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&d->tick, &d->lock, &t);
        watch_once(d);
    }
    for (int i = 0; i < d->n_lingering; i++) close(d->lingering[i].fd);
    d->n_lingering = 0;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

bool watch_start(struct daemon *d)
{
    pthread_condattr_t a;

    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&d->tick, &a);
    pthread_condattr_destroy(&a);
    d->watching = !pthread_create(&d->watcher, NULL, watch_run, d);
    if (!d->watching) pthread_cond_destroy(&d->tick);
    return d->watching;
}

void watch_stop(struct daemon *d)
{
    if (!d->watching) return;
    pthread_mutex_lock(&d->lock);
    d->ended = true;
    pthread_cond_signal(&d->tick);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->watcher, NULL);
    pthread_cond_destroy(&d->tick);
}
