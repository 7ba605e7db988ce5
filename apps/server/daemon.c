/* daemon.c - the connections: starts and stops libmicrohttpd, receives requests
 * and sends answers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/textbuf.h"
#include "server/access.h"
#include "server/daemon_internal.h"
#include "server/metrics.h"
#include "server/server_log.h"

enum {
    DAEMON_MEMORY = 128 << 10,  /* of a connection: address and headers */
    DAEMON_SMALL_BODY = 64 << 10,       /* read before a refusal is sent */
    DAEMON_MORE_BODY = 4 << 20, /* read of a body that is too long */
    DAEMON_REQUESTS = 1000,     /* of a connection */
    DAEMON_FULL_WARN = 60       /* seconds between two warnings */
};

/* ---- connections -------------------------------------------------------- */

static int daemon_count_peer(struct daemon *d, const struct sockaddr_storage *a)
{
    int n = 0;

    for (struct conn *x = d->conns; x; x = x->next)
        n += daemon_same_peer(&x->peer, a);
    return n;
}

/* Decides whether a connection is accepted. */
static enum MHD_Result daemon_accept(void *user, const struct sockaddr *address,
                                     socklen_t size)
{
    const struct settings *s;
    struct daemon *d = user;
    struct sockaddr_storage a = { 0 };
    double now = call_now();
    bool free_of_limit, ok, warn;

    memcpy(&a, address, size < sizeof a ? size : sizeof a);
    s = d->settings;
    free_of_limit = daemon_is_loopback(&a) || daemon_trusts(s, &a);
    pthread_mutex_lock(&d->lock);
    ok = !d->quiesced && d->n_conns < s->max_connections &&
         (free_of_limit || daemon_count_peer(d, &a) < s->max_per_address);
    warn = !ok && !d->quiesced && now > d->warned + DAEMON_FULL_WARN;
    if (warn) d->warned = now;
    pthread_mutex_unlock(&d->lock);
    if (warn) server_log(LOG_WARN, NULL, "connections are refused: too many");
    return ok ? MHD_YES : MHD_NO;
}

static void daemon_open_conn(struct daemon *d, struct MHD_Connection *mhd,
                             void **socket_context)
{
    const union MHD_ConnectionInfo *fd, *address;
    struct conn *x = calloc(1, sizeof *x);

    *socket_context = x;
    if (!x) return;
    fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    address = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    x->daemon = d;
    x->mhd = mhd;
    x->fd = fd->connect_fd;
    memcpy(&x->peer, address->client_addr,
           address->client_addr->sa_family == AF_INET6
               ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    pthread_mutex_lock(&d->lock);
    conn_expect(x, CONN_HEADERS, d->settings->header_seconds);
    x->next = d->conns;
    if (d->conns) d->conns->prev = x;
    d->conns = x;
    d->n_conns++;
    pthread_mutex_unlock(&d->lock);
}

static void daemon_close_conn(struct daemon *d, struct conn *x)
{
    pthread_mutex_lock(&d->lock);
    if (x->prev) x->prev->next = x->next;
    else d->conns = x->next;
    if (x->next) x->next->prev = x->prev;
    d->n_conns--;
    pthread_mutex_unlock(&d->lock);
    free(x);
}

static void daemon_connection(void *user, struct MHD_Connection *mhd,
                              void **socket_context,
                              enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        daemon_open_conn(user, mhd, socket_context);
    else if (*socket_context)
        daemon_close_conn(user, *socket_context);
}

static struct conn *daemon_conn(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* ---- a request arrives -------------------------------------------------- */

/* The request line has arrived. The result is passed to daemon_request. */
static void *daemon_target(void *user, const char *target,
                           struct MHD_Connection *mhd)
{
    struct daemon *d = user;
    struct conn *x = daemon_conn(mhd);
    struct call *c = x ? call_new(d->server) : NULL;

    if (!c) return NULL;
    c->routing.api = &api_own;
    c->temp = d->temp;
    c->peer = x->peer;
    c->conn = x;
    c->wake = daemon_wake;
    daemon_split_target(c, target);
    pthread_mutex_lock(&d->lock);
    x->call = c;
    d->n_calls++;
    /* The first request has the time from the beginning of the connection. */
    if (x->state != CONN_HEADERS)
        conn_expect(x, CONN_HEADERS, d->settings->header_seconds);
    pthread_mutex_unlock(&d->lock);
    metrics_in_flight(d->server->metrics, 1);
    return c;
}

/* A header that is not text is kept as one that daemon_check refuses. */
static enum MHD_Result daemon_header(void *user, enum MHD_ValueKind kind,
                                     const char *name, size_t name_n,
                                     const char *value, size_t value_n)
{
    struct call *c = user;

    (void)kind;
    if (!value) value = "";
    if (strlen(name) != name_n || strlen(value) != value_n) name = "";
    return call_headers_add(&c->in, name, value) ? MHD_YES : MHD_NO;
}

static double daemon_deadline(const struct settings *s, const struct call *c)
{
    bool file = c->routing.route && c->routing.route->flags & ROUTE_FILE;

    return file ? 0 : call_now() + s->deadline;
}

/* Whether the client sends a body that is too large to be read for nothing. */
static bool daemon_large_body(const struct call *c)
{
    const char *length = call_header(c, "Content-Length");

    if (call_header(c, "Expect")) return true;
    return length && (strlen(length) > 9 || atol(length) > DAEMON_SMALL_BODY);
}

static enum MHD_Result daemon_send(struct daemon *d, struct call *c);

/* The headers have arrived. */
static enum MHD_Result daemon_begin(struct daemon *d, struct call *c,
                                    const char *method)
{
    struct conn *x = c->conn;
    int n = MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, daemon_header,
                                        c);

    if (n != c->in.n) return MHD_NO;
    c->stage = CALL_BODY;
    daemon_check(d, c, method);
    pthread_mutex_lock(&d->lock);
    conn_expect(x, CONN_BODY, d->settings->body_seconds);
    pthread_mutex_unlock(&d->lock);
    if (c->answer == ANSWER_NONE) return MHD_YES;
    if (!c->close && !daemon_large_body(c)) return MHD_YES;
    c->close = true;
    return daemon_send(d, c);
}

/* A part of the body has arrived. */
static enum MHD_Result daemon_body(struct daemon *d, struct call *c,
                                   const char *bytes, size_t n)
{
    struct conn *x = c->conn;

    c->received += (int64_t)n;
    pthread_mutex_lock(&d->lock);
    x->deadline += (double)n / 65536;
    pthread_mutex_unlock(&d->lock);
    if (c->answer == ANSWER_NONE) {
        call_add_body(c, bytes, n);
        return MHD_YES;
    }
    /* The call has failed, and libmicrohttpd cannot answer before the end of
     * the body. */
    return c->received < call_body_limit(c) + DAEMON_MORE_BODY ? MHD_YES
                                                               : MHD_NO;
}

/* The request is complete: it waits for a handler. */
static enum MHD_Result daemon_dispatch(struct daemon *d, struct call *c)
{
    struct conn *x = c->conn;

    pthread_mutex_lock(&d->lock);
    conn_expect(x, CONN_WORK, 0);
    pthread_mutex_unlock(&d->lock);
    c->deadline = daemon_deadline(d->settings, c);
    pthread_mutex_lock(&c->lock);
    c->suspended = true;
    MHD_suspend_connection(x->mhd);
    pthread_mutex_unlock(&c->lock);
    if (lanes_push(d, c)) return MHD_YES;
    call_fail(c, FAIL_NOT_READY, "The server is stopping");
    pthread_mutex_lock(&c->lock);
    c->stage = CALL_ENDED;
    daemon_wake(c);
    pthread_mutex_unlock(&c->lock);
    return MHD_YES;
}

static enum MHD_Result daemon_request(void *user, struct MHD_Connection *mhd,
                                      const char *path, const char *method,
                                      const char *version, const char *body,
                                      size_t *body_n, void **con_cls)
{
    struct daemon *d = user;
    struct call *c = *con_cls;

    (void)mhd, (void)path, (void)version;
    if (!c) return MHD_NO;
    if (c->stage == CALL_HEADERS) return daemon_begin(d, c, method);
    if (*body_n) {
        size_t n = *body_n;

        *body_n = 0;
        return daemon_body(d, c, body, n);
    }
    if (c->answer != ANSWER_NONE) return daemon_send(d, c);
    return c->stage == CALL_BODY ? daemon_dispatch(d, c) : MHD_YES;
}

/* ---- the answer --------------------------------------------------------- */

/* libmicrohttpd asks for the next part of a stream. */
static ssize_t daemon_stream(void *user, uint64_t at, char *out, size_t max)
{
    struct call *c = user;
    ssize_t n = 0;

    (void)at;
    pthread_mutex_lock(&c->lock);
    if (c->stream_at < c->stream_n) {
        size_t left = c->stream_n - c->stream_at;

        n = (ssize_t)(left < max ? left : max);
        memcpy(out, c->stream + c->stream_at, (size_t)n);
        c->stream_at += (size_t)n;
        c->sent += n;
        pthread_cond_broadcast(&c->changed);
    } else if (c->stream_ended) {
        n = c->stream_broken ? MHD_CONTENT_READER_END_WITH_ERROR
                             : MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        c->suspended = true;
        MHD_suspend_connection(c->conn->mhd);
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void daemon_stream_end(void *user)
{
    call_release(user);
}

static struct MHD_Response *daemon_response(struct call *c)
{
    struct MHD_Response *r;
    struct stat st;

    if (c->answer == ANSWER_STREAM) {
        r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384,
                                              daemon_stream, c,
                                              daemon_stream_end);
        if (r) call_keep(c);
        return r;
    }
    if (c->answer == ANSWER_FILE) {
        if (fstat(c->file_fd, &st)) return NULL;
        c->sent = st.st_size;
        r = MHD_create_response_from_fd64((uint64_t)st.st_size, c->file_fd);
        if (r) c->file_fd = -1;
        return r;
    }
    c->sent = (int64_t)c->bytes_n;
    /* The call lives until the answer has been sent. */
    return MHD_create_response_from_buffer(c->bytes_n,
                                           c->bytes ? c->bytes : "",
                                           MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result daemon_send(struct daemon *d, struct call *c)
{
    struct conn *x = c->conn;
    struct MHD_Response *r = daemon_response(c);
    enum MHD_Result ok;

    if (!r) return MHD_NO;
    c->stage = CALL_SENT;
    pthread_mutex_lock(&d->lock);
    if (++x->requests >= DAEMON_REQUESTS || d->quiesced) c->close = true;
    conn_expect(x, CONN_ANSWER, d->settings->send_seconds);
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < c->out.n; i++)
        MHD_add_response_header(r, c->out.list[i].name, c->out.list[i].value);
    if (c->close) MHD_add_response_header(r, "Connection", "close");
    ok = MHD_queue_response(x->mhd, (unsigned)c->status, r);
    MHD_destroy_response(r);
    return ok;
}

/* ---- the end of a call -------------------------------------------------- */

static void daemon_count_failure(struct daemon *d, const struct call *c)
{
    struct metrics *m = d->server->metrics;

    switch (c->failed) {
    case FAIL_NO_KEY:
    case FAIL_WRONG_KEY: metrics_rejected(m, REJECT_AUTH); break;
    case FAIL_RATE: metrics_rejected(m, REJECT_RATE); break;
    case FAIL_BUSY: metrics_rejected(m, REJECT_QUEUE); break;
    case FAIL_TOO_BIG:
    case FAIL_TEXT_LIMIT: metrics_rejected(m, REJECT_SIZE); break;
    case FAIL_NOT_READY: metrics_rejected(m, REJECT_DRAINING); break;
    default: break;
    }
}

static void daemon_log(const struct call *c, double seconds)
{
    const struct route *r = c->routing.route;
    struct log_call line = {
        .id = c->id, .method = c->method, .api = c->routing.api->name,
        .route = r ? r->path : "-", .status = c->status,
        .ms = seconds * 1000, .queue_ms = c->queue_ms,
        .in_bytes = c->received, .out_bytes = c->sent, .texts = c->texts,
        .source_tokens = c->source_tokens, .target_tokens = c->target_tokens,
        .key = c->account ? account_number(c->account) : 0,
        .why = c->gone ? "gone" : c->why
    };

    if (r && r->flags & ROUTE_QUIET && c->status < 400) return;
    server_log_call(c->status == 500 || c->status == 507 ? LOG_ERROR : LOG_INFO,
                    &line);
}

/* Counts and logs a call whose headers had arrived. */
static void daemon_account_for(struct daemon *d, struct call *c)
{
    const struct route *r = c->routing.route;
    double seconds = call_now() - c->began;

    if (c->gone) metrics_abandoned(d->server->metrics);
    if (c->status) {
        metrics_request(d->server->metrics, c->routing.api->name,
                        r ? (r->name ? r->name : r->path) : "none", c->status,
                        seconds);
        daemon_count_failure(d, c);
    }
    if (c->stage != CALL_HEADERS) daemon_log(c, seconds);
}

static void daemon_completed(void *user, struct MHD_Connection *mhd,
                             void **con_cls,
                             enum MHD_RequestTerminationCode why)
{
    struct daemon *d = user;
    struct call *c = *con_cls;
    struct conn *x;

    (void)mhd;
    if (!c) return;
    *con_cls = NULL;
    x = c->conn;
    if (why != MHD_REQUEST_TERMINATED_COMPLETED_OK &&
        why != MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN)
        call_cancel(c, true);
    pthread_mutex_lock(&c->lock);
    c->conn = NULL;
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&d->lock);
    x->call = NULL;
    d->n_calls--;
    conn_expect(x, CONN_IDLE, d->settings->idle_seconds);
    if (c->close && c->failed >= 0) watch_linger(d, x->fd);
    pthread_mutex_unlock(&d->lock);
    metrics_in_flight(d->server->metrics, -1);
    daemon_account_for(d, c);
    call_release(c);
}

/* ---- temporary files ---------------------------------------------------- */

/* Removes a folder of temporary files. */
static void daemon_remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (e->d_name[0] != '.') unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    rmdir(path);
}

/* Removes the folders of servers that were killed. That of a server that runs
 * is locked. */
static void daemon_sweep(const char *parent)
{
    DIR *dir = opendir(parent);
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        char path[400];
        struct stat st;
        int fd;

        if (strncmp(e->d_name, "skmt-serve-", 11)) continue;
        snprintf(path, sizeof path, "%s/%s", parent, e->d_name);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) continue;
        if (!fstat(fd, &st) && st.st_uid == geteuid() &&
            !flock(fd, LOCK_EX | LOCK_NB))
            daemon_remove_folder(path);
        close(fd);
    }
    if (dir) closedir(dir);
}

/* Makes a folder and locks it. Another server that starts may remove it before
 * it is locked; *again then says that it is worth another try. */
static bool daemon_try_folder(struct daemon *d, const char *parent,
                              bool *again)
{
    struct stat named, locked;

    *again = false;
    snprintf(d->temp, sizeof d->temp, "%s/skmt-serve-XXXXXX", parent);
    if (!mkdtemp(d->temp)) return false;
    d->temp_lock = open(d->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->temp_lock >= 0 && !flock(d->temp_lock, LOCK_EX | LOCK_NB) &&
        !stat(d->temp, &named) && !fstat(d->temp_lock, &locked) &&
        named.st_ino == locked.st_ino)
        return true;
    *again = errno == ENOENT || errno == EWOULDBLOCK;
    if (d->temp_lock >= 0) close(d->temp_lock);
    d->temp_lock = -1;
    return false;
}

static bool daemon_make_folder(struct daemon *d)
{
    const char *parent = getenv("TMPDIR");
    bool again = true;

    if (!parent || parent[0] != '/' ||
        strlen(parent) + 20 > sizeof d->temp)
        parent = "/tmp";
    daemon_sweep(parent);
    for (int i = 0; i < 100 && again; i++)
        if (daemon_try_folder(d, parent, &again)) return true;
    return false;
}

/* ---- start and stop ----------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static skmt_status daemon_bad(skmt_error *err, const char *fmt, ...)
{
    va_list ap;

    if (!err) return SKMT_ERR_IO;
    err->status = SKMT_ERR_IO;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    return SKMT_ERR_IO;
}

/* Reads a file of certificates or a key. NULL on failure. */
static char *daemon_read_pem(const char *path, skmt_error *err)
{
    FILE *f = fopen(path, "rbe");
    struct textbuf t = { 0 };
    char part[4096];
    size_t n;

    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        textbuf_add(&t, part, n);
    textbuf_add(&t, "", 1);
    if (f && !ferror(f) && !t.failed) {
        fclose(f);
        return t.data;
    }
    daemon_bad(err, "cannot read %s: %s", path, strerror(errno));
    if (f) fclose(f);
    textbuf_release(&t);
    return NULL;
}

/* Starts libmicrohttpd. It copies the certificate and the key. */
static skmt_status daemon_listen(struct daemon *d, int fd, skmt_error *err)
{
    const struct settings *s = d->settings;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    char *cert = s->tls_cert ? daemon_read_pem(s->tls_cert, err) : NULL;
    char *key = s->tls_key ? daemon_read_pem(s->tls_key, err) : NULL;
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, cert },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, key },
        { MHD_OPTION_END, 0, NULL }
    };

    if ((s->tls_cert && !cert) || (s->tls_key && !key)) {
        free(cert);
        free(key);
        return SKMT_ERR_IO;
    }
    if (cert && key) flags |= MHD_USE_TLS;
    else tls[0].option = MHD_OPTION_END;
    d->mhd = MHD_start_daemon(
        flags, 0, daemon_accept, d, daemon_request, d,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)DAEMON_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->max_connections + 64,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, daemon_target, d,
        MHD_OPTION_NOTIFY_CONNECTION, daemon_connection, d,
        MHD_OPTION_NOTIFY_COMPLETED, daemon_completed, d,
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    free(cert);
    free(key);
    if (d->mhd) return SKMT_OK;
    return daemon_bad(err, flags & MHD_USE_TLS
                      ? "cannot start the HTTP server; are the files of "
                        "--tls-cert and --tls-key a certificate and its key?"
                      : "cannot start the HTTP server");
}

static void daemon_free(struct daemon *d)
{
    if (d->temp[0]) daemon_remove_folder(d->temp);
    if (d->temp_lock >= 0) close(d->temp_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

skmt_status daemon_start(struct daemon **out, struct server *s, int listen_fd,
                         skmt_error *err)
{
    struct daemon *d = calloc(1, sizeof *d);
    skmt_status st;

    *out = NULL;
    if (!d) return daemon_bad(err, "out of memory");
    d->server = s;
    d->settings = s->settings;
    d->temp_lock = -1;
    pthread_mutex_init(&d->lock, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (!daemon_make_folder(d)) {
        st = daemon_bad(err, "cannot make a folder for temporary files: %s",
                        strerror(errno));
        daemon_free(d);
        return st;
    }
    st = lanes_start(d) && watch_start(d)
             ? daemon_listen(d, listen_fd, err)
             : daemon_bad(err, "cannot start threads");
    *out = d;
    if (st) {
        close(listen_fd);
        daemon_stop(d);
        *out = NULL;
    }
    return st;
}

void daemon_quiesce(struct daemon *d)
{
    MHD_socket fd;

    pthread_mutex_lock(&d->lock);
    if (d->quiesced) {
        pthread_mutex_unlock(&d->lock);
        return;
    }
    d->quiesced = true;
    for (struct conn *x = d->conns; x; x = x->next)
        if (x->state == CONN_IDLE) shutdown(x->fd, SHUT_RDWR);
    pthread_mutex_unlock(&d->lock);
    fd = d->mhd ? MHD_quiesce_daemon(d->mhd) : MHD_INVALID_SOCKET;
    if (fd != MHD_INVALID_SOCKET) close(fd);
}

int daemon_calls(struct daemon *d)
{
    int n;

    pthread_mutex_lock(&d->lock);
    n = d->n_calls;
    pthread_mutex_unlock(&d->lock);
    return n;
}

/* Cancels all calls. */
static void daemon_cancel_all(struct daemon *d)
{
    for (;;) {
        struct call *c = NULL;

        pthread_mutex_lock(&d->lock);
        for (struct conn *x = d->conns; x && !c; x = x->next)
            if (x->call && !x->call->canceled) c = x->call;
        if (c) call_keep(c);
        pthread_mutex_unlock(&d->lock);
        if (!c) return;
        call_cancel(c, false);
        call_release(c);
    }
}

void daemon_stop(struct daemon *d)
{
    struct timespec pause = { .tv_nsec = 10000000 };

    if (!d) return;
    daemon_quiesce(d);
    daemon_cancel_all(d);
    lanes_stop(d);
    /* The last answers need a moment to be sent. */
    for (int i = 0; i < 100 && daemon_calls(d); i++) nanosleep(&pause, NULL);
    if (d->mhd) MHD_stop_daemon(d->mhd);
    watch_stop(d);
    daemon_free(d);
}
