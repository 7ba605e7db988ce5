/* serve.c - starts the server, waits for signals, and stops it.
 *
 * The main thread opens everything, in this order: the socket, so that clients
 * get an answer at once; the accounts and the daemon, which answers 503 as long
 * as the server is not ready; the models and the queue. It then waits until the
 * signal thread tells it to stop. No other thread receives signals. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/program.h"
#include "server/access.h"
#include "server/daemon.h"
#include "server/detector.h"
#include "server/metrics.h"
#include "server/models.h"
#include "server/serve_notify.h"
#include "server/server.h"
#include "server/server_log.h"
#include "server/settings.h"
#include "server/settings_address.h"
#include "server/work.h"

struct running {
    struct settings settings;
    struct server server;
    struct daemon *daemon;
    sigset_t signals;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    double stop_time;           /* of the first signal that stops */
    bool stop;                  /* set by the signal thread, under the lock */
    bool reload;                /* likewise: SIGHUP while the server loaded */
};

int server_state(const struct server *s)
{
    return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

static void set_server_state(struct server *s, enum server_state state)
{
    __atomic_store_n(&s->state, state, __ATOMIC_RELEASE);
}

static double serve_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- signals ------------------------------------------------------------ */

static void reload_keys(struct running *r)
{
    skmt_error err;

    if (!r->settings.keys)
        server_log(LOG_INFO, NULL, "SIGHUP ignored: there is no key file");
    else if (accounts_reload(r->server.accounts, &err))
        server_log(LOG_ERROR, NULL, "the keys could not be read again, the old "
                   "ones stay valid: %s", err.message);
    else
        server_log(LOG_INFO, NULL, "keys read again; there are %d",
                   accounts_count(r->server.accounts));
}

/* timeout(1), shells and terminals send a signal to the process and to its
 * group, or twice. What arrives this soon after the first is the same one. */
#define SAME_SIGNAL_SECONDS 0.5

/* SIGHUP. The keys may have been read already when the server still loads, so
 * they are read again as soon as it is ready. */
static void hang_up(struct running *r)
{
    pthread_mutex_lock(&r->lock);
    if (server_state(&r->server) == SERVER_LOADING) r->reload = true;
    else if (!r->stop) reload_keys(r);
    pthread_mutex_unlock(&r->lock);
}

/* While the server loads, no client has been told that anything was done, so
 * that it can end at once. */
static void begin_to_stop(struct running *r, int sig)
{
    double now = serve_now(CLOCK_MONOTONIC);

    pthread_mutex_lock(&r->lock);
    if (r->stop && now > r->stop_time + SAME_SIGNAL_SECONDS)
        _exit(EXIT_SIGNAL + sig);
    if (server_state(&r->server) == SERVER_LOADING) _exit(EXIT_DONE);
    if (!r->stop) r->stop_time = now;
    r->stop = true;
    pthread_cond_signal(&r->stopped);
    pthread_mutex_unlock(&r->lock);
}

static void *serve_signals(void *user)
{
    struct running *r = user;
    int sig;

    while (!sigwait(&r->signals, &sig)) {
        if (sig == SIGHUP) hang_up(r);
        else begin_to_stop(r, sig);
    }
    return NULL;
}

/* Call this before any other thread starts: they inherit the mask. */
static int catch_signals(struct running *r)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    pthread_attr_t attr;
    pthread_t thread;
    int error;

    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigemptyset(&r->signals);
    sigaddset(&r->signals, SIGTERM);
    sigaddset(&r->signals, SIGINT);
    sigaddset(&r->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &r->signals, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attr, serve_signals, r);
    pthread_attr_destroy(&attr);
    return error ? complain(EXIT_TROUBLE, "cannot start a thread: %s",
                            strerror(error))
                 : EXIT_DONE;
}

/* ---- the process -------------------------------------------------------- */

/* Connections, memory files and temporary files need descriptors. */
static void allow_files(const struct settings *s)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)s->max_connections + (rlim_t)s->handlers + 512;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < wanted)
        server_log(LOG_WARN, NULL, "only %llu files can be open (ulimit -n), "
                   "which may be too few for %d connections",
                   (unsigned long long)limit.rlim_cur, s->max_connections);
}

/* Many threads answer, one after the other. With an arena of the allocator for
 * each, memory would grow with the number of threads. */
static void limit_arenas(const struct settings *s)
{
    mallopt(M_ARENA_MAX, s->threads + 4);
}

/* ---- opening ------------------------------------------------------------ */

static int serve_failed(const skmt_error *err)
{
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

static int open_socket(struct running *r, int *fd)
{
    struct settings *s = &r->settings;
    char why[200];

    *fd = address_listen(&s->address, &s->address_size, why, sizeof why);
    return *fd < 0 ? complain(EXIT_TROUBLE, "%s", why) : EXIT_DONE;
}

/* Begin to answer: 503 for the moment. */
static int open_daemon(struct running *r)
{
    struct server *s = &r->server;
    skmt_error err;
    int fd, status;

    s->metrics = metrics_new(s->started);
    if (!s->metrics) return complain(EXIT_TROUBLE, "out of memory");
    if (accounts_open(&s->accounts, &r->settings, &err))
        return serve_failed(&err);
    accounts_set_metrics(s->accounts, s->metrics);
    if ((status = open_socket(r, &fd))) return status;
    return daemon_start(&r->daemon, s, fd, &err) ? serve_failed(&err)
                                                 : EXIT_DONE;
}

static int open_queue(struct running *r)
{
    struct server *s = &r->server;
    struct work_limits limits = work_limits_of(&r->settings);
    const char *const *languages;
    skmt_error err;
    int n;

    languages = models_languages(s->models, &n);
    if (detector_new(&s->detector, languages, n, &err) ||
        work_new(&s->work, &limits, r->settings.threads, &err))
        return serve_failed(&err);
    return EXIT_DONE;
}

/* A damaged memory of a key does not stop the other clients. */
static int check_accounts(struct running *r)
{
    skmt_error err;

    if (!accounts_check(r->server.accounts, &err)) return EXIT_DONE;
    if (!r->settings.keys) return serve_failed(&err);
    server_log(LOG_ERROR, NULL, "%s", err.message);
    return EXIT_DONE;
}

/* A memory in other languages than those of the models is left out of all
 * translations. That is not an error, but seldom what was wanted. */
static void check_languages(struct running *r)
{
    const struct models *models = r->server.models;
    const struct sockaddr nobody = { .sa_family = AF_UNSPEC };
    struct account *a;
    skmt_error err;
    bool used = false;
    int wait;

    if (!r->settings.memory || access_enter(r->server.accounts, NULL, &nobody,
                                            &a, &wait) != ACCESS_GRANTED)
        return;
    for (int i = 0; !used && i < models_count(models); i++) {
        const struct served_model *m = models_get(models, i);
        skmt_tm *tm;

        used = account_borrow_for(a, NULL, 0, m->source, m->target, &tm, &err)
            || tm;
        account_return(a, tm);
    }
    access_release(a);
    if (!used)
        server_log(LOG_WARN, NULL, "%s has no memory in the languages of a "
                   "model, so no translation uses it; 'skmt tm stats' shows "
                   "its languages", r->settings.memory);
}

/* Tell the metrics what the queue and the models know. This is a
 * metrics_values_fn. */
static void serve_values(void *user, struct metrics_values *out)
{
    const struct server *s = user;
    struct work_state queue = work_get_state(s->work);

    out->queue_texts += queue.texts;
    out->queue_bytes += queue.bytes;
    out->decoder_passes += models_service_stat(s->models, "passes");
    out->key_cache_bytes += models_keys_stat(s->models, "bytes");
    out->key_cache_hits += models_keys_stat(s->models, "hits");
    out->key_cache_misses += models_keys_stat(s->models, "misses");
}

static void describe_models(struct server *s)
{
    for (int i = 0; i < models_count(s->models); i++) {
        const char *name = skmt_model_get(models_get(s->models, i)->model,
                                          "name");

        metrics_add_model(s->metrics, skmt_version(), skmt_isa(),
                          name ? name : "");
    }
    metrics_add_reader(s->metrics, serve_values, s);
}

static int open_models(struct running *r)
{
    struct server *s = &r->server;
    int status = models_open(&s->models, &r->settings);
    skmt_error err;

    if (!status) status = open_queue(r);
    if (!status) status = check_accounts(r);
    if (status) return status;
    check_languages(r);
    describe_models(s);
    if (!models_self_test(s->models, &err)) return serve_failed(&err);
    return EXIT_DONE;
}

/* ---- running ------------------------------------------------------------ */

static void announce(const struct running *r)
{
    char address[80];

    address_print(&r->settings.address, address, sizeof address);
    fprintf(stderr, "skmt: listening on %s://%s/\n",
            r->settings.tls_cert ? "https" : "http", address);
    notify_supervisor("READY=1\n");
}

/* Wait until all calls are answered, or the time for that is over. */
static void drain(struct running *r)
{
    const struct timespec pause = { 0, 10 * 1000 * 1000 };
    double end = serve_now(CLOCK_MONOTONIC) + r->settings.drain_seconds;
    int left;

    server_log(LOG_INFO, NULL, "stopping; %d requests to finish",
               daemon_calls(r->daemon));
    daemon_quiesce(r->daemon);
    while ((left = daemon_calls(r->daemon)) > 0 &&
           serve_now(CLOCK_MONOTONIC) < end)
        nanosleep(&pause, NULL);
    if (left > 0)
        server_log(LOG_WARN, NULL, "%d requests were not finished within "
                   "%d seconds and are canceled", left,
                   r->settings.drain_seconds);
}

static void serve_until_stopped(struct running *r)
{
    pthread_mutex_lock(&r->lock);
    set_server_state(&r->server, SERVER_READY);
    if (r->reload) reload_keys(r);
    pthread_mutex_unlock(&r->lock);
    announce(r);
    pthread_mutex_lock(&r->lock);
    while (!r->stop) pthread_cond_wait(&r->stopped, &r->lock);
    pthread_mutex_unlock(&r->lock);
    notify_supervisor("STOPPING=1\n");
    set_server_state(&r->server, SERVER_STOPPING);
    drain(r);
}

/* The settings are kept: the signal thread ends with the process. */
static void serve_close(struct running *r)
{
    struct server *s = &r->server;

    set_server_state(s, SERVER_STOPPING);
    daemon_stop(r->daemon);
    if (s->models) models_close(s->models);
    if (s->work) work_free(s->work);
    if (s->accounts) accounts_close(s->accounts);
    if (s->detector) detector_free(s->detector);
    if (s->metrics) metrics_free(s->metrics);
}

static int serve_all(struct running *r)
{
    struct settings *s = &r->settings;
    int status;

    limit_arenas(s);
    server_log_begin(STDERR_FILENO, s->log_level, s->log_text);
    allow_files(s);
    if ((status = catch_signals(r))) return status;
    r->server.settings = s;
    r->server.started = serve_now(CLOCK_REALTIME);
    status = open_daemon(r);
    if (!status) status = open_models(r);
    if (!status) serve_until_stopped(r);
    serve_close(r);
    return status;
}

/* ---- commands ----------------------------------------------------------- */

/* When root adds a key, the service, which runs as another user, must still be
 * able to read the file: it gets the owner of its folder. */
static int give_to_owner(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1)
                         : strdup(".");
    struct stat st;
    bool ok = folder && (geteuid() || stat(folder, &st) ||
                         !chown(path, st.st_uid, st.st_gid));

    free(folder);
    return ok ? EXIT_DONE : complain(EXIT_TROUBLE, "%s: %s", path,
                                     strerror(errno));
}

static int print_new_key(const struct settings *s)
{
    char key[KEY_TEXT_BYTES];
    skmt_error err;

    if (accounts_new_key(s->keys, s->new_key, key, sizeof key, &err))
        return serve_failed(&err);
    if (give_to_owner(s->keys)) return EXIT_TROUBLE;
    puts(key);
    complain(0, "added a key for %s to %s; it is shown only this once. Send "
             "SIGHUP to a running server to make it read the file",
             s->new_key, s->keys);
    return EXIT_DONE;
}

int serve_run(int argc, char **argv, int (*help)(void))
{
    static struct running r = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                .stopped = PTHREAD_COND_INITIALIZER };
    int status = settings_read(&r.settings, argc, argv);

    if (!status && r.settings.help) status = help();
    else if (!status && r.settings.new_key) status = print_new_key(&r.settings);
    else if (!status) status = serve_all(&r);
    settings_release(&r.settings);
    return status;
}
