/* serve_load.c - puts a server under load and measures it.
 *
 *     serve_load [OPTIONS] PORT FILE
 *
 * CONNECTIONS connections to 127.0.0.1 ask for the translations of the lines of
 * FILE, each line in a request of its own, one after the other and from the
 * beginning again. A connection sends its next request when it has the answer,
 * and PAUSE milliseconds later after status 429. After SECONDS it sends no
 * more, and the program ends when all answers are there. It prints one line of
 * JSON. Its status is 1 if a request failed with anything but 429, or if a
 * translation was wrong.
 *
 *     -c N      connections (64)
 *     -s N      seconds (60)
 *     -p PID    the process of the server: also measure its CPU time and memory
 *     -m FILE   write its memory every 10 seconds
 *     -e FILE   the right translations of the lines
 *     -o FILE   write the lines that were translated, in the order of answers
 *     -w MS     pause after status 429 (100)
 *     -k KEY    send this key
 *     -n N      end after N requests */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINES = 100000, ANSWER_BYTES = 1 << 20, STUCK_SECONDS = 90 };

struct link {                   /* a connection */
    int fd;
    char *request;              /* [to_send] */
    size_t to_send, sent;
    char *answer;               /* [ANSWER_BYTES + 1] */
    size_t have;
    int line;                   /* of the request; -1: idle */
    double began, idle_until;
};

static struct {
    int port, connections, pause_ms;
    int pid;
    long most;                  /* requests; 0: any number */
    double seconds;
    const char *key;
    FILE *log, *memory;
    char **lines, **wanted;     /* [n_lines]; wanted may be NULL */
    int n_lines;
} load = { .connections = 64, .seconds = 60, .pause_ms = 100 };

static struct {
    long sent, ok, busy, failed, wrong, no_retry_after;
    double *ms;                 /* [ok] */
    long cap;
    char first_error[200];
    double next_sample;         /* of memory */
    long kib_10s;               /* memory after 10 seconds */
    long kib_round;             /* and when there were as many answers as
                                   lines; 0: not so far */
} seen;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "serve_load: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the process of the server ------------------------------------------ */

/* Its CPU time in seconds; 0 if it is unknown. */
static double server_cpu(void)
{
    char path[64], text[2048], *at;
    unsigned long long user = 0, system = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", load.pid);
    if (!load.pid || !(f = fopen(path, "r"))) return 0;
    at = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    if (at)
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
               &user, &system);
    fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static long server_kib(void)
{
    char path[64], text[256];
    long kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", load.pid);
    if (!load.pid || !(f = fopen(path, "r"))) return 0;
    while (fgets(text, sizeof text, f))
        if (sscanf(text, "VmRSS: %ld", &kib) == 1) break;
    fclose(f);
    return kib;
}

static void sample_memory(double seconds)
{
    if (!seen.kib_10s && seconds >= 10) seen.kib_10s = server_kib();
    if (!seen.kib_round && seen.ok >= load.n_lines)
        seen.kib_round = server_kib();
    if (!load.memory || seconds < seen.next_sample) return;
    fprintf(load.memory, "%.0f s, %ld lines: %.1f MiB\n", seconds, seen.ok,
            (double)server_kib() / 1024);
    seen.next_sample += 10;
}

/* ---- requests ----------------------------------------------------------- */

static char **read_lines(const char *path, int *n)
{
    FILE *f = fopen(path, "r");
    char **lines = calloc(MAX_LINES, sizeof *lines), *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (!f || !lines) die(path);
    for (*n = 0; *n < MAX_LINES && (len = getline(&line, &cap, f)) > 0;) {
        if (line[len - 1] == '\n') line[len - 1] = 0;
        lines[(*n)++] = strdup(line);
    }
    free(line);
    fclose(f);
    return lines;
}

static void link_open(struct link *l)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)load.port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int on = 1;

    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&to, sizeof to))
        die("connect");
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(l->fd, F_SETFL, O_NONBLOCK);
}

/* Make the request for the next line. */
static void link_ask(struct link *l)
{
    json_t *body;
    char *json, key[200] = "";
    int n;

    l->line = (int)(seen.sent++ % load.n_lines);
    body = json_pack("{s:[s], s:s, s:s}", "texts", load.lines[l->line],
                     "source", "de", "target", "en");
    json = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!json) die("a line is not UTF-8");
    if (load.key)
        snprintf(key, sizeof key, "Authorization: Bearer %s\r\n", load.key);
    free(l->request);
    n = asprintf(&l->request,
                 "POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                 "Content-Type: application/json\r\n%s"
                 "Content-Length: %zu\r\n\r\n%s",
                 load.port, key, strlen(json), json);
    if (n < 0) die("memory");
    free(json);
    l->to_send = (size_t)n;
    l->sent = l->have = 0;
    l->began = now();
}

static void failed(const char *what)
{
    seen.failed++;
    if (!seen.first_error[0])
        snprintf(seen.first_error, sizeof seen.first_error, "%s", what);
}

static void count_translation(const struct link *l, const char *body)
{
    json_t *answer = json_loads(body, 0, NULL);
    const char *text = json_string_value(json_object_get(json_array_get(
        json_object_get(answer, "translations"), 0), "text"));

    if (!text || (load.wanted && strcmp(text, load.wanted[l->line])))
        seen.wrong++;
    json_decref(answer);
    if (seen.ok == seen.cap) {
        seen.cap = 2 * seen.cap + 1024;
        seen.ms = realloc(seen.ms, (size_t)seen.cap * sizeof *seen.ms);
        if (!seen.ms) die("memory");
    }
    seen.ms[seen.ok++] = 1000 * (now() - l->began);
    if (load.log) fprintf(load.log, "%s\n", load.lines[l->line]);
}

/* Count an answer that is complete. */
static void link_answered(struct link *l, const char *body)
{
    int status = atoi(l->answer + strlen("HTTP/1.1 "));

    if (status == 200) count_translation(l, body);
    else if (status == 429) {
        seen.busy++;
        if (!strcasestr(l->answer, "\r\nRetry-After: ")) seen.no_retry_after++;
        l->idle_until = now() + load.pause_ms / 1000.0;
    } else {
        failed(l->answer);
    }
    l->line = -1;
}

/* Whether the answer is complete: its headers, and a body of Content-Length
 * bytes. */
static const char *answer_body(const struct link *l)
{
    char *end = strstr(l->answer, "\r\n\r\n"), *length;

    if (!end) return NULL;
    length = strcasestr(l->answer, "\r\nContent-Length: ");
    if (!length || length > end) return NULL;
    if (l->have - (size_t)(end + 4 - l->answer)
        < strtoul(length + strlen("\r\nContent-Length: "), NULL, 10))
        return NULL;
    return end + 4;
}

static void link_again(struct link *l, const char *what)
{
    failed(what);
    close(l->fd);
    l->line = -1;
    l->fd = -1;
}

/* Send and receive as much as possible. */
static void link_move(struct link *l)
{
    const char *body;
    ssize_t n = 0;

    while (l->sent < l->to_send &&
           (n = send(l->fd, l->request + l->sent, l->to_send - l->sent,
                     MSG_NOSIGNAL)) > 0)
        l->sent += (size_t)n;
    if (n < 0 && errno != EAGAIN) {
        link_again(l, "send failed");
        return;
    }
    while ((n = recv(l->fd, l->answer + l->have, ANSWER_BYTES - l->have, 0))
           > 0)
        l->have += (size_t)n;
    l->answer[l->have] = 0;
    if (l->line >= 0 && (body = answer_body(l))) link_answered(l, body);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        if (l->line >= 0) link_again(l, "the connection was closed");
        else {
            close(l->fd);
            l->fd = -1;
        }
    }
}

/* ---- the load ----------------------------------------------------------- */

static void watch(int set, struct link *l)
{
    struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET,
                             .data.ptr = l };

    link_open(l);
    if (epoll_ctl(set, EPOLL_CTL_ADD, l->fd, &e)) die("epoll");
}

/* Begin requests on connections that are idle. Returns the number of those that
 * have one. */
static int begin_requests(int set, struct link *links, bool more)
{
    int busy = 0;

    for (int i = 0; i < load.connections; i++) {
        struct link *l = &links[i];

        if (more && l->line < 0 && now() >= l->idle_until &&
            (!load.most || seen.sent < load.most)) {
            if (l->fd < 0) watch(set, l);
            link_ask(l);
            link_move(l);
        }
        if (l->line >= 0) busy++;
    }
    return busy;
}

static void run_load(struct link *links, double begin)
{
    int set = epoll_create1(EPOLL_CLOEXEC), busy;
    struct epoll_event events[64];
    double end = begin + load.seconds;

    if (set < 0) die("epoll");
    for (int i = 0; i < load.connections; i++) watch(set, &links[i]);
    while ((busy = begin_requests(set, links, now() < end)) > 0 ||
           (now() < end && (!load.most || seen.sent < load.most))) {
        int n = epoll_wait(set, events, 64, 20);

        for (int i = 0; i < n; i++) {
            struct link *l = events[i].data.ptr;

            if (l->fd >= 0) link_move(l);
        }
        sample_memory(now() - begin);
        if (now() > end + STUCK_SECONDS) {
            failed("no answer");
            break;
        }
    }
    close(set);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double percentile(double share)
{
    if (!seen.ok) return 0;
    return seen.ms[(long)((double)(seen.ok - 1) * share)];
}

static void report(double seconds, double cpu)
{
    qsort(seen.ms, (size_t)seen.ok, sizeof *seen.ms, compare);
    printf("{\"connections\":%d,\"seconds\":%.1f,\"requests\":%ld,\"ok\":%ld,"
           "\"busy\":%ld,\"failed\":%ld,\"wrong\":%ld,\"no_retry_after\":%ld,"
           "\"p50_ms\":%.0f,\"p99_ms\":%.0f,\"per_second\":%.1f,"
           "\"cpu_seconds\":%.2f,\"kib_10s\":%ld,\"kib_round\":%ld,"
           "\"kib_end\":%ld}\n",
           load.connections, seconds, seen.sent, seen.ok, seen.busy,
           seen.failed, seen.wrong, seen.no_retry_after, percentile(0.5),
           percentile(0.99), (double)seen.ok / seconds, cpu,
           seen.kib_10s, seen.kib_round, server_kib());
    if (seen.first_error[0])
        fprintf(stderr, "serve_load: first error: %s\n", seen.first_error);
}

static FILE *open_output(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f) die(path);
    return f;
}

static void parse(int argc, char **argv)
{
    int c, n;

    while ((c = getopt(argc, argv, "c:s:p:e:o:w:k:n:m:")) != -1) {
        if (c == 'c') load.connections = atoi(optarg);
        else if (c == 's') load.seconds = atof(optarg);
        else if (c == 'p') load.pid = atoi(optarg);
        else if (c == 'w') load.pause_ms = atoi(optarg);
        else if (c == 'k') load.key = optarg;
        else if (c == 'n') load.most = atol(optarg);
        else if (c == 'e') load.wanted = read_lines(optarg, &n);
        else if (c == 'o') load.log = open_output(optarg);
        else if (c == 'm') load.memory = open_output(optarg);
        else exit(2);
    }
    if (argc - optind != 2) {
        fprintf(stderr, "usage: serve_load [OPTIONS] PORT FILE\n");
        exit(2);
    }
    load.port = atoi(argv[optind]);
    load.lines = read_lines(argv[optind + 1], &load.n_lines);
    if (load.wanted && n != load.n_lines) die("-e has other lines");
    if (!load.n_lines || load.connections < 1) die("nothing to do");
}

int main(int argc, char **argv)
{
    struct link *links;
    double begin, cpu;

    parse(argc, argv);
    links = calloc((size_t)load.connections, sizeof *links);
    if (!links) die("memory");
    for (int i = 0; i < load.connections; i++) {
        links[i].line = -1;
        if (!(links[i].answer = malloc(ANSWER_BYTES + 1))) die("memory");
    }
    cpu = server_cpu();
    begin = now();
    run_load(links, begin);
    report(now() - begin, server_cpu() - cpu);
    if (load.log && fclose(load.log)) die("-o");
    if (load.memory && fclose(load.memory)) die("-m");
    return seen.failed || seen.wrong || seen.no_retry_after;
}
