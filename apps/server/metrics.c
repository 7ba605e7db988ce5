/* metrics.c - counts what the server does with atomic additions, and prints the
 * counts in the text format of Prometheus (version 0.0.4).
 *
 * Counts that have labels are in a table of series. A series is found by the
 * addresses of its two label strings, which are static, so nothing is compared
 * or copied. The table has a fixed size, larger than the number of routes. */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/access.h"
#include "server/metrics.h"

enum {
    SERIES = 512,               /* a power of 2 */
    STATUSES = 600,
    BUCKETS = 12, REJECTS = 5, LOOKUPS = 3, MODELS = 64
};

static const double bucket_ends[BUCKETS] = { 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25, 0.5, 1, 2.5, 5, 10, 30 };
/* As labels, whatever the locale says about points. */
static const char *const bucket_labels[BUCKETS + 1] = {
    "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5",
    "10", "30", "+Inf" };

struct time_histogram {
    int64_t in_bucket[BUCKETS + 1];     /* each value in one bucket */
    int64_t nanoseconds;        /* the sum of all values */
};

/* The counts of a route, of a kind of documents, or of an API that stored
 * pairs: `kind` tells which. */
enum series_kind { SERIES_ROUTE = 1, SERIES_DOCUMENT, SERIES_ADDED };
struct metrics_series {
    int ready;                  /* the labels are set */
    enum series_kind kind;
    const char *a, *b;          /* labels */
    int64_t count;              /* SERIES_ADDED */
    int32_t *status;            /* [STATUSES] of routes and documents */
    struct time_histogram seconds;   /* of routes */
};

struct model_label { char *version, *isa, *model; };

struct metrics {
    double started;
    pthread_mutex_t lock;       /* for adding series and models */
    struct metrics_series series[SERIES];
    int64_t in_flight, abandoned, source_tokens, target_tokens, work_ns;
    int64_t rejected[REJECTS], looked_up[LOOKUPS];
    struct time_histogram queue_wait;
    struct { metrics_values_fn *fn; void *user; } reader[METRICS_READERS];
    int n_readers;
    struct model_label model[MODELS];
    int n_models;
};

struct metrics *metrics_new(double started)
{
    struct metrics *m = calloc(1, sizeof *m);

    if (!m) return NULL;
    m->started = started;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m) return;
    for (int i = 0; i < SERIES; i++) free(m->series[i].status);
    for (int i = 0; i < m->n_models; i++) {
        free(m->model[i].version);
        free(m->model[i].isa);
        free(m->model[i].model);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- counting ------------------------------------------------------------ */

static void add64(int64_t *count, int64_t n)
{
    __atomic_add_fetch(count, n, __ATOMIC_RELAXED);
}

static int64_t get64(const int64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void histogram_add(struct time_histogram *h, double seconds)
{
    int i = 0;

    if (!(seconds >= 0)) seconds = 0;
    while (i < BUCKETS && seconds > bucket_ends[i]) i++;
    add64(&h->in_bucket[i], 1);
    add64(&h->nanoseconds, (int64_t)(1e9 * fmin(seconds, 1e9)));
}

static bool series_is(struct metrics_series *s, enum series_kind kind,
                      const char *a, const char *b)
{
    return __atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) && s->kind == kind
           && s->a == a && s->b == b;
}

static size_t series_place(enum series_kind kind, const char *a,
                           const char *b)
{
    uint64_t h = (uint64_t)(uintptr_t)a * 0x9e3779b97f4a7c15u;

    h = (h ^ (uint64_t)(uintptr_t)b ^ kind) * 0xd6e8feb86659fd93u;
    return (size_t)(h >> 32);
}

/* The place of a series, or the free place where it can be added. NULL: the
 * table is full. */
static struct metrics_series *series_find(struct metrics *m,
                                          enum series_kind kind,
                                          const char *a, const char *b)
{
    size_t place = series_place(kind, a, b);

    for (size_t i = 0; i < SERIES; i++) {
        struct metrics_series *s = &m->series[(place + i) % SERIES];

        if (!__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE)
            || series_is(s, kind, a, b)) return s;
    }
    return NULL;
}

/* Finds a series or adds it. NULL: the table is full, or out of memory. */
static struct metrics_series *series_get(struct metrics *m,
                                         enum series_kind kind,
                                         const char *a, const char *b)
{
    struct metrics_series *s = series_find(m, kind, a, b);

    if (!s || series_is(s, kind, a, b)) return s;
    pthread_mutex_lock(&m->lock);
    s = series_find(m, kind, a, b);     /* others may have added some */
    if (s && !s->ready) {
        s->kind = kind;
        s->a = a;
        s->b = b;
        s->status = calloc(STATUSES, sizeof *s->status);
        if (s->status) __atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
        else s = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    return s;
}

static void count_status(struct metrics_series *s, int status)
{
    if (status < 0 || status >= STATUSES) status = 0;
    __atomic_add_fetch(&s->status[status], 1, __ATOMIC_RELAXED);
}

void metrics_request(struct metrics *m, const char *api, const char *route,
                     int status, double seconds)
{
    struct metrics_series *s =
        m ? series_get(m, SERIES_ROUTE, api, route) : NULL;

    if (!s) return;
    count_status(s, status);
    histogram_add(&s->seconds, seconds);
}

void metrics_document(struct metrics *m, const char *format, int status)
{
    struct metrics_series *s =
        m ? series_get(m, SERIES_DOCUMENT, format, NULL) : NULL;

    if (s) count_status(s, status);
}

void metrics_added(struct metrics *m, const char *from, int64_t n)
{
    struct metrics_series *s =
        m ? series_get(m, SERIES_ADDED, from, NULL) : NULL;

    if (s && n > 0) add64(&s->count, n);
}

void metrics_in_flight(struct metrics *m, int change)
{
    if (m) add64(&m->in_flight, change);
}

void metrics_rejected(struct metrics *m, enum metrics_reject why)
{
    if (m) add64(&m->rejected[why], 1);
}

void metrics_abandoned(struct metrics *m)
{
    if (m) add64(&m->abandoned, 1);
}

void metrics_queue_wait(struct metrics *m, double seconds)
{
    if (m) histogram_add(&m->queue_wait, seconds);
}

void metrics_tokens(struct metrics *m, int64_t source, int64_t target)
{
    if (!m) return;
    add64(&m->source_tokens, source);
    add64(&m->target_tokens, target);
}

void metrics_translated(struct metrics *m, double seconds)
{
    if (m && seconds > 0) add64(&m->work_ns, (int64_t)(1e9 * seconds));
}

void metrics_looked_up(struct metrics *m, enum metrics_lookup result)
{
    if (m) add64(&m->looked_up[result], 1);
}

void metrics_add_reader(struct metrics *m, metrics_values_fn *fn, void *user)
{
    if (!m || m->n_readers == METRICS_READERS) return;
    m->reader[m->n_readers].fn = fn;
    m->reader[m->n_readers++].user = user;
}

/* Series must differ in their labels, and a model can serve several pairs. */
static bool has_model(const struct metrics *m, const char *model)
{
    for (int i = 0; i < m->n_models; i++)
        if (!strcmp(m->model[i].model, model)) return true;
    return false;
}

void metrics_add_model(struct metrics *m, const char *version,
                       const char *isa, const char *model)
{
    struct model_label *l;

    if (!m) return;
    pthread_mutex_lock(&m->lock);
    if (m->n_models < MODELS && !has_model(m, model)) {
        l = &m->model[m->n_models++];
        l->version = strdup(version);
        l->isa = strdup(isa);
        l->model = strdup(model);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- printing ------------------------------------------------------------ */

static void put_help(struct textbuf *t, const char *name, const char *type,
                     const char *help)
{
    textbuf_adds(t, "# HELP ");
    textbuf_adds(t, name);
    textbuf_adds(t, " ");
    textbuf_adds(t, help);
    textbuf_adds(t, "\n# TYPE ");
    textbuf_adds(t, name);
    textbuf_adds(t, " ");
    textbuf_adds(t, type);
    textbuf_adds(t, "\n");
}

/* Adds a label; the first one opens the braces. */
static void put_label(struct textbuf *t, bool first, const char *name,
                      const char *value)
{
    textbuf_adds(t, first ? "{" : ",");
    textbuf_adds(t, name);
    textbuf_adds(t, "=\"");
    for (; value && *value; value++) {
        if (*value == '\\') textbuf_adds(t, "\\\\");
        else if (*value == '"') textbuf_adds(t, "\\\"");
        else if (*value == '\n') textbuf_adds(t, "\\n");
        else textbuf_add(t, value, 1);
    }
    textbuf_adds(t, "\"");
}

/* A number with a point, whatever the locale says. */
static void put_seconds(struct textbuf *t, double seconds)
{
    int64_t ns = (int64_t)llround(seconds * 1e9);

    textbuf_addf(t, " %lld.%09lld\n", (long long)(ns / 1000000000),
                 (long long)(ns % 1000000000));
}

static void put_count(struct textbuf *t, int64_t n)
{
    textbuf_addf(t, " %lld\n", (long long)n);
}

/* A metric without labels. */
static void put_plain(struct textbuf *t, const char *name, const char *type,
                      const char *help, int64_t n)
{
    put_help(t, name, type, help);
    textbuf_adds(t, name);
    put_count(t, n);
}

static void put_time(struct textbuf *t, const char *name, const char *type,
                     const char *help, double seconds)
{
    put_help(t, name, type, help);
    textbuf_adds(t, name);
    put_seconds(t, seconds);
}

/* The labels of a route, without the closing brace. */
static void put_labels(struct textbuf *t, const struct metrics_series *s)
{
    if (!s) return;
    put_label(t, true, "api", s->a);
    put_label(t, false, "route", s->b);
}

/* The lines of a histogram. s: of a route, or NULL. */
static void put_histogram(struct textbuf *t, const char *name,
                          const struct time_histogram *h,
                          const struct metrics_series *s)
{
    int64_t sum = 0;

    for (int i = 0; i <= BUCKETS; i++) {
        sum += get64(&h->in_bucket[i]);
        textbuf_adds(t, name);
        textbuf_adds(t, "_bucket");
        put_labels(t, s);
        put_label(t, !s, "le", bucket_labels[i]);
        textbuf_adds(t, "}");
        put_count(t, sum);
    }
    textbuf_adds(t, name);
    textbuf_adds(t, "_sum");
    put_labels(t, s);
    textbuf_adds(t, s ? "}" : "");
    put_seconds(t, 1e-9 * (double)get64(&h->nanoseconds));
    textbuf_adds(t, name);
    textbuf_adds(t, "_count");
    put_labels(t, s);
    textbuf_adds(t, s ? "}" : "");
    put_count(t, sum);
}

/* The next series of a kind after place i; SERIES if there is none. */
static int series_next(struct metrics *m, enum series_kind kind, int i)
{
    for (i++; i < SERIES; i++)
        if (__atomic_load_n(&m->series[i].ready, __ATOMIC_ACQUIRE)
            && m->series[i].kind == kind) break;
    return i;
}

/* A line for each status of each series of a kind. */
static void put_statuses(struct textbuf *t, struct metrics *m,
                         enum series_kind kind, const char *name)
{
    for (int i = series_next(m, kind, -1); i < SERIES;
         i = series_next(m, kind, i)) {
        const struct metrics_series *s = &m->series[i];

        for (int status = 0; status < STATUSES; status++) {
            int32_t n = __atomic_load_n(&s->status[status], __ATOMIC_RELAXED);
            char text[12];

            if (!n) continue;
            snprintf(text, sizeof text, "%d", status);
            textbuf_adds(t, name);
            if (kind == SERIES_ROUTE) put_labels(t, s);
            else put_label(t, true, "format", s->a);
            put_label(t, false, "status", text);
            textbuf_adds(t, "}");
            put_count(t, n);
        }
    }
}

static void put_requests(struct textbuf *t, struct metrics *m)
{
    static const char *const why[REJECTS] = { "queue", "rate", "size", "auth",
                                              "draining" };
    const char *name = "skmt_http_requests_total";

    put_help(t, name, "counter", "Requests that were answered.");
    put_statuses(t, m, SERIES_ROUTE, name);
    name = "skmt_http_request_duration_seconds";
    put_help(t, name, "histogram",
             "Time from the first byte of a request to the end of its answer.");
    for (int i = series_next(m, SERIES_ROUTE, -1); i < SERIES;
         i = series_next(m, SERIES_ROUTE, i))
        put_histogram(t, name, &m->series[i].seconds, &m->series[i]);
    put_plain(t, "skmt_http_requests_in_flight", "gauge",
              "Requests that are not answered yet.", get64(&m->in_flight));
    name = "skmt_requests_rejected_total";
    put_help(t, name, "counter", "Requests that were refused.");
    for (int i = 0; i < REJECTS; i++) {
        textbuf_adds(t, name);
        put_label(t, true, "reason", why[i]);
        textbuf_adds(t, "}");
        put_count(t, get64(&m->rejected[i]));
    }
    put_plain(t, "skmt_requests_abandoned_total", "counter",
              "Requests whose client went away before the answer.",
              get64(&m->abandoned));
    name = "skmt_documents_total";
    put_help(t, name, "counter", "Documents that were translated or refused.");
    put_statuses(t, m, SERIES_DOCUMENT, name);
}

static void put_work(struct textbuf *t, struct metrics *m,
                     const struct metrics_values *v)
{
    put_plain(t, "skmt_queue_texts", "gauge", "Texts that wait.",
              v->queue_texts);
    put_plain(t, "skmt_queue_bytes", "gauge", "Bytes of texts that wait.",
              v->queue_bytes);
    put_help(t, "skmt_queue_wait_seconds", "histogram",
             "Time that a text waited.");
    put_histogram(t, "skmt_queue_wait_seconds", &m->queue_wait, NULL);
    put_plain(t, "skmt_source_tokens_total", "counter",
              "Pieces of the texts that were translated.",
              get64(&m->source_tokens));
    put_plain(t, "skmt_target_tokens_total", "counter",
              "Pieces of the translations.", get64(&m->target_tokens));
    put_plain(t, "skmt_decoder_passes_total", "counter",
              "Runs of the decoder, each over a batch.", v->decoder_passes);
    put_time(t, "skmt_translate_seconds_total", "counter",
             "Time that texts were in work.",
             1e-9 * (double)get64(&m->work_ns));
    put_plain(t, "skmt_key_cache_bytes", "gauge",
              "Keys of stored pairs in memory.", v->key_cache_bytes);
    put_plain(t, "skmt_key_cache_hits_total", "counter",
              "Lookups of keys that were there.", v->key_cache_hits);
    put_plain(t, "skmt_key_cache_misses_total", "counter",
              "Lookups of keys that had to be computed.",
              v->key_cache_misses);
}

static void put_size(void *user, int number, int64_t pairs)
{
    struct textbuf *t = user;
    char text[12];

    if (pairs < 0) return;
    snprintf(text, sizeof text, "%d", number);
    textbuf_adds(t, "skmt_memory_pairs");
    put_label(t, true, "memory", text);
    textbuf_adds(t, "}");
    put_count(t, pairs);
}

static void put_memories(struct textbuf *t, struct metrics *m,
                         struct accounts *accounts)
{
    static const char *const result[LOOKUPS] = { "exact", "fuzzy", "none" };
    const char *name = "skmt_memory_pairs";

    put_help(t, name, "gauge",
             "Stored pairs; the label is the number of the key.");
    if (accounts) accounts_each_size(accounts, put_size, t);
    name = "skmt_memory_lookups_total";
    put_help(t, name, "counter", "Texts by what the memory had for them.");
    for (int i = 0; i < LOOKUPS; i++) {
        textbuf_adds(t, name);
        put_label(t, true, "result", result[i]);
        textbuf_adds(t, "}");
        put_count(t, get64(&m->looked_up[i]));
    }
    name = "skmt_memory_additions_total";
    put_help(t, name, "counter", "Pairs that were stored.");
    for (int i = series_next(m, SERIES_ADDED, -1); i < SERIES;
         i = series_next(m, SERIES_ADDED, i)) {
        textbuf_adds(t, name);
        put_label(t, true, "source", m->series[i].a);
        textbuf_adds(t, "}");
        put_count(t, get64(&m->series[i].count));
    }
}

/* ---- the process --------------------------------------------------------- */

static int64_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long size, resident = 0;

    if (!f) return 0;
    if (fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
    fclose(f);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static int64_t open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int64_t n = -1;             /* that of the folder itself */

    if (!d) return 0;
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void put_process(struct textbuf *t, const struct metrics *m)
{
    struct timespec cpu = { 0 };

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    put_plain(t, "process_resident_memory_bytes", "gauge",
              "Resident memory.", resident_bytes());
    put_time(t, "process_cpu_seconds_total", "counter",
             "User and system time.",
             (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec);
    put_plain(t, "process_open_fds", "gauge", "Open file descriptors.",
              open_files());
    put_time(t, "process_start_time_seconds", "gauge",
             "When the process started, in seconds since 1970.", m->started);
}

static void put_build(struct textbuf *t, struct metrics *m)
{
    put_help(t, "skmt_build_info", "gauge",
             "Version, kernels and model; the value is always 1.");
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->n_models; i++) {
        textbuf_adds(t, "skmt_build_info");
        put_label(t, true, "version", m->model[i].version);
        put_label(t, false, "isa", m->model[i].isa);
        put_label(t, false, "model", m->model[i].model);
        textbuf_adds(t, "}");
        put_count(t, 1);
    }
    pthread_mutex_unlock(&m->lock);
}

void metrics_print(struct metrics *m, struct accounts *accounts,
                   struct textbuf *out)
{
    struct metrics_values v = { 0 };

    if (!m) return;
    for (int i = 0; i < m->n_readers; i++) {
        struct metrics_values one = { 0 };

        m->reader[i].fn(m->reader[i].user, &one);
        v.queue_texts += one.queue_texts;
        v.queue_bytes += one.queue_bytes;
        v.decoder_passes += one.decoder_passes;
        v.key_cache_bytes += one.key_cache_bytes;
        v.key_cache_hits += one.key_cache_hits;
        v.key_cache_misses += one.key_cache_misses;
    }
    put_build(out, m);
    put_requests(out, m);
    put_work(out, m, &v);
    put_memories(out, m, accounts);
    put_process(out, m);
}
