/* retrieve.c - measures the speed of the translation memory through the public
 * API.
 *
 *     retrieve import MEMORY TSV
 *         create a memory file from a table
 *     retrieve search MEMORY QUERIES [MODEL] [--rounds N]
 *         run the whole retrieval: BM25, ranking, and fetching 16 pairs. The
 *         similarity counts pieces of MODEL; without MODEL it counts words
 *     retrieve bm25 MEMORY QUERIES [--rounds N]
 *         find the best 64 texts by BM25 only
 *     retrieve visible MEMORY [N]
 *         N times: add a pair, and find it from another process
 *     retrieve beside MEMORY QUERIES [MODEL] [--rate N] [--rounds N]
 *                     [--from FILE]
 *         search while another process adds N pairs a second (lines of FILE, or
 *         of QUERIES without it) and while it does not, in turn
 *
 * Each prints lines of JSON; times are in milliseconds. A round of searches is
 * one pass over all queries; the first pass is not timed. Percentiles are
 * computed for each round, and their median over the rounds is printed.
 * bench/memory.sh makes the tables. */
#include <skmt.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tm/index.h"

enum { MAX_LINES = 20000, MAX_ROUNDS = 50 };

struct bench {
    const char *path, *file, *model_path;       /* model_path may be NULL */
    const char *from;           /* file of lines to add; NULL: the queries */
    int rounds, rate;
    char *lines[MAX_LINES];
    size_t n;
    skmt_tm *tm;
    skmt_model *model;          /* NULL: similarity counts words */
    double ms[MAX_LINES];       /* the times of a round */
};

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "retrieve: %s\n", what);
    exit(2);
}

static void check(skmt_status st, const skmt_error *e)
{
    if (st) die(e->message);
}

static void check_err(enum status st, const struct err *e)
{
    if (st) die(e->msg);
}

static double now_ms(void) { return 1000 * clock_seconds(); }

/* Returns a value of /proc/self/status in MB: VmHWM is the peak resident memory
 * of this process, RssAnon the present resident memory without pages of
 * files. */
static double status_mb(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)))
            kb = atof(line + strlen(name) + 1);
    if (f) fclose(f);
    return kb * 1024 / 1e6;
}

static void read_lines(struct bench *b)
{
    FILE *f = fopen(b->file, "r");
    size_t cap = 0;

    if (!f) die("cannot open the file of queries");
    while (b->n < MAX_LINES && getline(&b->lines[b->n], &cap, f) > 0) {
        b->lines[b->n][strcspn(b->lines[b->n], "\t\n")] = '\0';
        b->n++;
        cap = 0;
    }
    fclose(f);
    if (!b->n) die("the file of queries is empty");
}

static void open_memory(struct bench *b, skmt_tm_mode mode)
{
    skmt_error e;

    check(skmt_tm_open(&b->tm, b->path, mode, &e), &e);
    if (b->model_path && !b->model)
        check(skmt_model_open(&b->model, b->model_path, &e), &e);
}

static void close_all(struct bench *b)
{
    skmt_tm_close(b->tm);
    skmt_model_close(b->model);
    for (size_t i = 0; i < b->n; i++) free(b->lines[i]);
}

/* ---- percentiles --------------------------------------------------------- */

enum { P50, P95, P99, MAX, N_POINTS };

struct points { double at[N_POINTS]; };

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* Returns the percentiles of ms[0 .. n-1] and sorts the array. */
static struct points points_of(double *ms, size_t n)
{
    qsort(ms, n, sizeof *ms, by_value);
    return (struct points){ { ms[n / 2], ms[n * 95 / 100], ms[n * 99 / 100],
                              ms[n - 1] } };
}

static struct points median_points(const struct points *p, int n)
{
    struct points out;
    double v[MAX_ROUNDS];

    for (int k = 0; k < N_POINTS; k++) {
        for (int i = 0; i < n; i++) v[i] = p[i].at[k];
        qsort(v, (size_t)n, sizeof *v, by_value);
        out.at[k] = (v[(n - 1) / 2] + v[n / 2]) / 2;
    }
    return out;
}

static void print_points(const char *prefix, struct points p)
{
    printf("\"%sp50_ms\":%.4f,\"%sp95_ms\":%.4f,\"%sp99_ms\":%.4f,"
           "\"%smax_ms\":%.4f", prefix, p.at[P50], prefix, p.at[P95], prefix,
           p.at[P99], prefix, p.at[MAX]);
}

/* ---- import -------------------------------------------------------------- */

static void print_stats(struct bench *b)
{
    const char *name;
    int64_t value;

    for (int i = 0; (name = skmt_tm_stat(b->tm, i, &value)); i++)
        printf(",\"%s\":%" PRId64, name, value);
}

static void print_info(struct bench *b)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    skmt_error e;

    check(skmt_tm_get_info(b->tm, 0, &info, &e), &e);
    printf(",\"texts\":%" PRId64 ",\"source_bytes\":%" PRId64
           ",\"target_bytes\":%" PRId64, info.texts, info.source_bytes,
           info.target_bytes);
}

static void import(struct bench *b)
{
    skmt_import *how;
    double begin = clock_seconds(), seconds;
    int64_t pairs;
    skmt_error e;

    if (skmt_import_new(&how, NULL)) die("out of memory");
    open_memory(b, SKMT_TM_CREATE);
    check(skmt_import_set(how, "format", "tsv", &e), &e);
    check(skmt_tm_import(b->tm, NULL, &b->file, 1, how, &e), &e);
    skmt_import_stat(how, 0, &pairs);
    skmt_tm_close(b->tm);       /* closing may finish the work: time it too */
    seconds = clock_seconds() - begin;
    printf("{\"what\":\"import\",\"pairs\":%" PRId64 ",\"seconds\":%.3f,"
           "\"pairs_per_second\":%.0f,\"max_rss_mb\":%.1f", pairs, seconds,
           (double)pairs / seconds, status_mb("VmHWM"));
    skmt_import_free(how);
    open_memory(b, SKMT_TM_READ);
    print_info(b);
    print_stats(b);
    printf("}\n");
}

/* ---- search -------------------------------------------------------------- */

/* Returns the time of one search, including reading the matches. */
static double search_ms(struct bench *b, const char *text)
{
    double begin = now_ms();
    skmt_matches *found;
    skmt_match m = SKMT_INIT(skmt_match);
    skmt_error e;
    size_t bytes = 0;

    check(skmt_tm_search(b->tm, text, NULL, b->model, &found, &e), &e);
    for (int i = 0; i < skmt_matches_count(found); i++) {
        skmt_matches_get(found, i, &m);
        bytes += strlen(m.pair->source) + strlen(m.pair->target);
    }
    skmt_matches_free(found);
    return bytes == (size_t)-1 ? 0 : now_ms() - begin;
}

static struct points search_round(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++) b->ms[i] = search_ms(b, b->lines[i]);
    return points_of(b->ms, b->n);
}

static void search(struct bench *b)
{
    struct points p[MAX_ROUNDS];
    double first, model_mb;

    read_lines(b);
    open_memory(b, SKMT_TM_WRITE);
    model_mb = status_mb("VmRSS");
    first = search_ms(b, b->lines[0]);  /* writes the file of ids if missing */
    search_round(b);
    for (int i = 0; i < b->rounds; i++) p[i] = search_round(b);
    printf("{\"what\":\"search\",\"with\":\"%s\",\"queries\":%zu,"
           "\"rounds\":%d,", b->model ? "pieces" : "words", b->n, b->rounds);
    print_points("", median_points(p, b->rounds));
    printf(",\"first_ms\":%.1f,\"max_rss_mb\":%.1f,\"rss_mb\":%.1f,"
           "\"anon_mb\":%.1f,\"model_mb\":%.1f", first, status_mb("VmHWM"),
           status_mb("VmRSS"), status_mb("RssAnon"), model_mb);
    print_info(b);
    print_stats(b);
    printf("}\n");
}

/* ---- BM25 alone ---------------------------------------------------------- */

struct bm25_index {
    struct store *store;
    struct index *index;
    struct analyzer analyzer;
    struct terms terms;
};

static void bm25_open(struct bm25_index *in, const char *path)
{
    struct memory_info *list;
    struct err e;
    size_t n;

    check_err(store_open(&in->store, path, STORE_READ, &e), &e);
    check_err(store_memory_list(in->store, &list, &n, &e), &e);
    if (!n) die("the file contains no memory");
    check_err(index_open(&in->index, in->store, list[0].id, &in->analyzer,
                           NULL, &e), &e);
    free(list);
}

static struct points bm25_round(struct bench *b, struct bm25_index *in)
{
    struct hit hits[64];
    struct err e;
    size_t n;

    for (size_t i = 0; i < b->n; i++) {
        double begin = now_ms();

        check_err(index_refresh(in->index, &e), &e);
        check_err(analyze(&in->analyzer, str_of(b->lines[i]), &in->terms,
                            &e), &e);
        check_err(index_search(in->index, &in->terms, 64, hits, &n, &e), &e);
        b->ms[i] = now_ms() - begin;
    }
    return points_of(b->ms, b->n);
}

static void bm25_alone(struct bench *b)
{
    struct points p[MAX_ROUNDS];
    struct bm25_index in = { 0 };

    read_lines(b);
    bm25_open(&in, b->path);
    bm25_round(b, &in);
    for (int i = 0; i < b->rounds; i++) p[i] = bm25_round(b, &in);
    printf("{\"what\":\"bm25\",\"queries\":%zu,\"rounds\":%d,", b->n,
           b->rounds);
    print_points("", median_points(p, b->rounds));
    printf(",\"max_rss_mb\":%.1f}\n", status_mb("VmHWM"));
    terms_release(&in.terms);
    index_close(in.index);
    store_close(in.store);
}

/* ---- time until an added pair is found ----------------------------------- */

static void send_bytes(int fd, const void *bytes, size_t n)
{
    if (write(fd, bytes, n) != (ssize_t)n) die("the other process has ended");
}

static bool receive_bytes(int fd, void *bytes, size_t n)
{
    return read(fd, bytes, n) == (ssize_t)n;
}

static void nth_text(char *out, size_t size, long run, int i)
{
    snprintf(out, size, "Eintrag %d von Lauf %ld wird sofort gefunden", i,
             run);
}

/* The searching process: searches for each number that it receives and sends
 * back how long it took. */
static void finder(struct bench *b, int in, int out, long run)
{
    char text[100];
    skmt_matches *found;
    skmt_match m = SKMT_INIT(skmt_match);
    skmt_error e;
    double ms;
    int i;

    open_memory(b, SKMT_TM_READ);
    search_ms(b, "Eintrag");
    send_bytes(out, &run, sizeof run);
    while (receive_bytes(in, &i, sizeof i)) {
        nth_text(text, sizeof text, run, i);
        ms = now_ms();
        check(skmt_tm_search(b->tm, text, NULL, NULL, &found, &e), &e);
        ms = now_ms() - ms;
        if (!skmt_matches_count(found)) die("the addition was not found");
        skmt_matches_get(found, 0, &m);
        if (strcmp(m.pair->source, text)) die("the addition was not found");
        skmt_matches_free(found);
        send_bytes(out, &ms, sizeof ms);
    }
    skmt_tm_close(b->tm);
    exit(0);
}

/* Returns the time that the disk needs to append 8 KB to a file and flush
 * them. */
static double flush_ms(int fd)
{
    static const char page[8192];
    double begin = now_ms();

    if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd))
        die("cannot write the probe file next to the memory");
    return now_ms() - begin;
}

static void visible(struct bench *b)
{
    enum { MAX_ADDS = 5000 };
    static double add[MAX_ADDS], find[MAX_ADDS], sum[MAX_ADDS],
        disk[MAX_ADDS];
    int to[2], from[2], fd, n = b->file ? atoi(b->file) : 300;
    long run = (long)time(NULL);
    char text[100], probe[4096];
    skmt_error e;
    int64_t id;
    pid_t child;

    if (n < 1 || n > MAX_ADDS) die("N must be from 1 to 5000");
    if (pipe(to) || pipe(from)) die("cannot create pipes");
    child = fork();
    if (child < 0) die("cannot start a process");
    if (!child) {
        close(to[1]);
        close(from[0]);
        finder(b, to[0], from[1], run);
    }
    close(to[0]);
    close(from[1]);
    open_memory(b, SKMT_TM_WRITE);
    snprintf(probe, sizeof probe, "%s.probe", b->path);
    fd = open(probe, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !receive_bytes(from[0], &run, sizeof run))
        die("cannot create the probe file or start the other process");
    for (int i = 0; i < n; i++) {
        disk[i] = flush_ms(fd);
        nth_text(text, sizeof text, run, i);
        add[i] = now_ms();
        check(skmt_tm_add(b->tm, NULL, text, "it is found", &id, &e), &e);
        add[i] = now_ms() - add[i];
        send_bytes(to[1], &i, sizeof i);
        if (!receive_bytes(from[0], &find[i], sizeof find[i]))
            die("the other process has ended");
        sum[i] = add[i] + find[i];
    }
    close(to[1]);
    waitpid(child, NULL, 0);
    close(fd);
    unlink(probe);
    printf("{\"what\":\"visible\",\"adds\":%d,", n);
    print_points("add_", points_of(add, (size_t)n));
    printf(",");
    print_points("search_", points_of(find, (size_t)n));
    printf(",");
    print_points("both_", points_of(sum, (size_t)n));
    printf(",");
    print_points("disk_", points_of(disk, (size_t)n));
    printf("}\n");
}

/* ---- searches while another process writes ------------------------------- */

/* The writing process: it adds pairs after it has received '+' and stops after
 * '-'; then it sends back how many it added. It does not wait for the disk,
 * because the disk might not allow the rate, and readers do not wait for it
 * either. If it falls behind by more than 100 ms, it does not catch up. */
static void adder(struct bench *b, int in, int out)
{
    double step = 1000.0 / b->rate, due = 0;
    char order = '-', text[10000];
    int64_t id, total = 0, count = 0;
    skmt_error e;

    if (b->from) {
        b->file = b->from;
        b->n = 0;
        read_lines(b);
    }
    open_memory(b, SKMT_TM_WRITE);
    skmt_tm_set_relaxed(b->tm, 1);
    fcntl(in, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct timespec nap = { 0, 200000 };
        char heard;
        ssize_t got = read(in, &heard, 1);

        if (!got) break;
        if (got == 1) {
            if (heard == '-') send_bytes(out, &count, sizeof count);
            order = heard;
            count = 0;
            due = now_ms();
        }
        if (order == '-' || now_ms() < due) {
            nanosleep(&nap, NULL);
            continue;
        }
        snprintf(text, sizeof text, "%" PRId64 " %ld: %s", total,
                 (long)getpid(), b->lines[(size_t)total % b->n]);
        check(skmt_tm_add(b->tm, NULL, text, "a pair among many", &id, &e),
              &e);
        due += step;
        if (due < now_ms() - 100) due = now_ms() - 100;
        total++;
        count++;
    }
    skmt_tm_close(b->tm);
    exit(0);
}

/* Searches for all queries once, while the other process adds (busy) or is
 * idle. Sets *rate to the pairs that were added per second. */
static struct points round_beside(struct bench *b, int to, int from, bool busy,
                                  double *rate)
{
    struct timespec nap = { 0, 300000000 };
    int64_t added = 0;
    double begin;
    struct points p;

    if (busy) send_bytes(to, "+", 1);
    nanosleep(&nap, NULL);
    begin = clock_seconds();
    p = search_round(b);
    if (busy) {
        send_bytes(to, "-", 1);
        if (!receive_bytes(from, &added, sizeof added))
            die("the other process has ended");
    }
    *rate = (double)added / (clock_seconds() - begin + 0.3);
    return p;
}

static void beside(struct bench *b)
{
    struct points quiet[MAX_ROUNDS], busy[MAX_ROUNDS], q, w;
    double rate, rates = 0;
    int to[2], from[2];
    pid_t child;

    read_lines(b);
    if (pipe(to) || pipe(from)) die("cannot create pipes");
    child = fork();
    if (child < 0) die("cannot start a process");
    if (!child) {
        close(to[1]);
        close(from[0]);
        adder(b, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    open_memory(b, SKMT_TM_READ);
    search_round(b);
    for (int i = 0; i < b->rounds; i++) {
        quiet[i] = round_beside(b, to[1], from[0], false, &rate);
        busy[i] = round_beside(b, to[1], from[0], true, &rate);
        rates += rate / b->rounds;
    }
    close(to[1]);
    waitpid(child, NULL, 0);
    q = median_points(quiet, b->rounds);
    w = median_points(busy, b->rounds);
    printf("{\"what\":\"beside\",\"queries\":%zu,\"rounds\":%d,\"rate\":%.0f,",
           b->n, b->rounds, rates);
    print_points("quiet_", q);
    printf(",");
    print_points("busy_", w);
    printf(",\"p99_ratio\":%.3f}\n", w.at[P99] / q.at[P99]);
}

/* ---- command line -------------------------------------------------------- */

static int number(const char *s)
{
    int n = s ? atoi(s) : 0;

    if (n < 1) die("the numbers must be positive");
    return n;
}

static void parse(struct bench *b, int argc, char **argv)
{
    const char **files[] = { &b->path, &b->file, &b->model_path };
    size_t n = 0;

    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--rounds")) b->rounds = number(argv[++i]);
        else if (!strcmp(argv[i], "--rate")) b->rate = number(argv[++i]);
        else if (!strcmp(argv[i], "--from")) b->from = argv[++i];
        else if (argv[i][0] == '-') die("unknown option");
        else if (n < 3) *files[n++] = argv[i];
        else die("too many files");
    }
    if (!n) die("MEMORY is missing");
    if (b->rounds > MAX_ROUNDS) die("--rounds is 50 at most");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct bench *b);
        bool needs_file;
    } commands[] = {
        { "import", import, true }, { "search", search, true },
        { "bm25", bm25_alone, true }, { "visible", visible, false },
        { "beside", beside, true },
    };
    static struct bench b = { .rounds = 5, .rate = 1000 };

    for (size_t i = 0; argc > 2 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            parse(&b, argc, argv);
            if (commands[i].needs_file && !b.file)
                die("TSV or QUERIES is missing");
            commands[i].run(&b);
            close_all(&b);
            return 0;
        }
    die("usage: retrieve import|search|bm25|visible|beside MEMORY ...; "
        "the first comment of bench/retrieve.c describes it");
}
