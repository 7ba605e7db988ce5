/* index.c - compares the search by an IVF-PQ index with the exact search of a
 * datastore, on one thread.
 *
 *     index STORE INDEX QUERIES [-k K] [-n QUERIES] [-b ROWS]
 *
 * The queries are keys of a second datastore, QUERIES, of the same model: an
 * even choice of 5,000. They are searched ROWS (64) at a time, as the rows of a
 * batch are. Recall is the share of the K (8) nearest entries that the index
 * finds; for "nearest" only the first of them counts. The time is the CPU time
 * of the thread for each query. bench/index.sh makes the files. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "knn/datastore_file.h"
#include "knn/entry_numbers.h"
#include "knn/entry_search.h"
#include "knn/ivfpq.h"

struct bench {
    struct entries *s;
    float *q;                   /* [n, d_model] */
    int n, k, rows;
    struct neighbor *exact, *got;       /* [n, k] */
};

static void must(enum status st, const struct err *e)
{
    if (!st) return;
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) exit(1);
    return p;
}

static void read_queries(struct bench *b, const char *path)
{
    struct entry_numbers numbers;
    struct entries *from;
    struct err e;
    int64_t all;

    must(datastore_file_open(&from, path, NULL, false, &e), &e);
    must(entry_numbers_init(&numbers, from, &e), &e);
    all = entry_numbers_total(&numbers);
    if (from->d != b->s->d_model || from->map || all < 1) {
        fprintf(stderr, "%s has no states for queries\n", path);
        exit(1);
    }
    if (b->n > all) b->n = (int)all;
    b->q = room((size_t)b->n, (size_t)from->d * sizeof *b->q);
    for (int i = 0; i < b->n; i++) {
        int at;
        const struct entry_block *block =
            entry_numbers_find(&numbers, all * i / b->n, &at);

        entries_key(from, block, at, b->q + (size_t)i * (size_t)from->d);
    }
    entry_numbers_release(&numbers);
    entries_drop(from);
}

/* Returns the seconds for a query. */
static double search_all(struct bench *b, const struct ivfpq *index,
                         struct neighbor *out)
{
    size_t d = (size_t)b->s->d_model;
    struct entry_search *es;
    struct err e;
    double begin;
    int found;

    must(entry_search_new(&es, b->s, index, NULL, &e), &e);
    begin = cpu_seconds();
    for (int i = 0; i < b->n; i += b->rows) {
        int n = b->n - i < b->rows ? b->n - i : b->rows;

        must(entry_search_states(es, b->q + (size_t)i * d, d, n, b->k,
                                 out + (size_t)i * (size_t)b->k, &found, &e),
             &e);
    }
    begin = cpu_seconds() - begin;
    entry_search_free(es);
    return begin / b->n;
}

static bool is_same(const struct neighbor *a, const struct neighbor *b)
{
    return a->token >= 0 && a->pair == b->pair && a->pos == b->pos;
}

static void print_recall(const struct bench *b, const char *name,
                         double seconds)
{
    int64_t all = 0, first = 0;

    for (int i = 0; i < b->n; i++) {
        const struct neighbor *want = b->exact + (size_t)i * (size_t)b->k;
        const struct neighbor *got = b->got + (size_t)i * (size_t)b->k;

        for (int j = 0; j < b->k; j++)
            for (int l = 0; l < b->k; l++) {
                bool same = is_same(&got[l], &want[j]);

                all += same;
                first += same && !j;
            }
    }
    printf("%-22s %8.3f %8.3f %10.3f\n", name,
           (double)all / ((double)b->n * b->k), (double)first / b->n,
           1e3 * seconds);
    fflush(stdout);
}

static void compare_all(struct bench *b, const char *path)
{
    static const struct ivfpq_options list[] = {
        { 8, 4 }, { 32, 0 }, { 32, 1 }, { 32, 4 }, { 32, 16 }, { 64, 4 },
        { 128, 16 } };
    size_t n = (size_t)b->n * (size_t)b->k;
    double seconds;

    b->exact = room(n, sizeof *b->exact);
    b->got = room(n, sizeof *b->got);
    printf("%lld entries, %d queries, %d at a time\n\n", (long long)b->s->n,
           b->n, b->rows);
    printf("%-22s recall@%d  nearest   ms/query\n", "search", b->k);
    search_all(b, NULL, b->exact);      /* the pages are in memory then */
    seconds = search_all(b, NULL, b->exact);
    memcpy(b->got, b->exact, n * sizeof *b->got);
    print_recall(b, "exact", seconds);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char name[40];
        struct ivfpq *ix;
        struct err e;

        must(ivfpq_open(&ix, path, b->s, &list[i], &e), &e);
        snprintf(name, sizeof name, "probes %d, rerank %d", list[i].probes,
                 list[i].rerank);
        search_all(b, ix, b->got);      /* likewise */
        seconds = search_all(b, ix, b->got);
        print_recall(b, name, seconds);
        ivfpq_close(ix);
    }
    free(b->exact);
    free(b->got);
}

int main(int argc, char **argv)
{
    struct bench b = { .n = 5000, .k = 8, .rows = 64 };
    struct err e;
    int c;

    while ((c = getopt(argc, argv, "k:n:b:")) != -1) {
        if (c == 'k') b.k = atoi(optarg);
        else if (c == 'n') b.n = atoi(optarg);
        else if (c == 'b') b.rows = atoi(optarg);
        else return 2;
    }
    if (argc - optind != 3 || b.k < 1 || b.k > KNN_MAX_K || b.n < 1 ||
        b.rows < 1) {
        fprintf(stderr, "usage: index STORE INDEX QUERIES [-k K] [-n QUERIES] "
                "[-b ROWS]; see bench/index.sh\n");
        return argc > 1 ? 2 : 0;        /* make bench runs it like this */
    }
    must(datastore_file_open(&b.s, argv[optind], NULL, false, &e), &e);
    read_queries(&b, argv[optind + 2]);
    compare_all(&b, argv[optind + 1]);
    free(b.q);
    entries_drop(b.s);
    return 0;
}
