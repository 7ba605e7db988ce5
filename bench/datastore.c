/* datastore.c - compares the speed of building a datastore with that of the
 * bare forward pass.
 *
 *     datastore MODEL MEMORY STORE [TYPE [THREADS [ROUNDS]]]
 *
 * In each round it does three things with the pairs of the memory:
 *
 *     forward   encoder and decoder over all pairs, in passes of 256 rows; the
 *               states are not read
 *     keys      the same with knn/key_builder: the states are quantized and
 *               copied
 *     build     all of "skmt knn build": fetch and tokenize the pairs, compute
 *               their keys, write the file STORE and flush it
 *
 * and prints entries per second of CPU time and of elapsed time, best of all
 * rounds. The pairs of the first two are tokenized before the clock starts.
 * TYPE is int8 (default) or f16. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "engine/datastore_maker.h"
#include "engine/pairlist.h"
#include "engine/pairset.h"
#include "knn/key_builder.h"
#include "tm/tmfile.h"

enum { ROWS = 256, GROUP = 256 };

struct bench {
    struct engine *en;
    struct tmfile *tm;
    const char *store;
    enum entry_type type;
    int threads;
    struct pool *pool;
    struct steering_pair *pairs;        /* [n] */
    size_t n, cap;
    long entries;
    struct plain_text plain;
};

static void bench_must(enum status st, const struct err *e)
{
    if (!st) return;
    fprintf(stderr, "datastore: %s\n", e->msg);
    exit(1);
}

/* ---- the pairs ----------------------------------------------------------- */

static enum status keep_pair(void *user, size_t i,
                             const struct source_pair *from, struct err *e)
{
    struct bench *b = user;
    struct steering_pair *p;
    enum status st = plain_text_set(&b->plain, from, e);

    (void)i;
    if (st) return st;
    if (!mem_grow(&b->pairs, &b->cap, b->n + 1, sizeof *b->pairs))
        return err_nomem(e, "pairs");
    p = &b->pairs[b->n];
    *p = (struct steering_pair){ 0 };
    st = steering_pair_encode(b->en, b->plain.source, b->plain.target, p, e);
    if (st || !p->n_tgt) return st;
    b->n++;
    b->entries += p->n_tgt + 1;
    return ST_OK;
}

static void read_pairs(struct bench *b)
{
    struct pairlist l = { 0 };
    struct err e;

    plain_text_init(&b->plain);
    bench_must(pairlist_read(&l, tmfile_source(b->tm), FETCH_TEXTS, &e), &e);
    pairlist_sort(&l);
    bench_must(source_fetch(tmfile_source(b->tm), l.at, l.n, keep_pair, b, &e),
               &e);
    pairlist_release(&l);
}

/* ---- three kinds of work ------------------------------------------------- */

static void run_forward(struct bench *b)
{
    const struct backend *be = b->en->backend;
    struct executor_limits l = { .rows = ROWS, .max_source = ROWS,
                                 .max_len = ROWS };
    struct forced_text text[ROWS];
    struct source source[ROWS];
    struct executor *x;
    struct err e;
    size_t at = 0;

    bench_must(be->ops->executor_new(be, &l, b->pool, &x, &e), &e);
    while (at < b->n) {
        int n = 0, src = 0, tgt = 0;

        for (; at < b->n && n < ROWS; at++, n++) {
            const struct steering_pair *p = &b->pairs[at];

            src += p->n_src;
            tgt += p->n_tgt + 1;
            if (src > ROWS || tgt > ROWS) break;
            source[n] = (struct source){ p->ids, p->n_src };
            text[n] = (struct forced_text){ n, p->ids + p->n_src,
                                            p->n_tgt + 1 };
        }
        bench_must(x->ops->force(x, source, n, text, n, 0, &e), &e);
    }
    executor_free(x);
}

static void run_keys(struct bench *b)
{
    struct key_builder_options o = {
        .rows = ROWS, .type = b->type == ENTRY_INT8 ? KEY_INT8 : KEY_F32,
        .with_eos = true, .no_attention = true };
    struct key_pair work[GROUP];
    struct key_builder *kb;
    struct err e;

    bench_must(key_builder_new(&kb, b->en->backend, b->pool, &o, &e), &e);
    for (size_t at = 0; at < b->n; at += GROUP) {
        int n = b->n - at < GROUP ? (int)(b->n - at) : GROUP;

        for (int i = 0; i < n; i++) {
            const struct steering_pair *p = &b->pairs[at + (size_t)i];

            work[i] = (struct key_pair){ p->ids, p->n_src, p->ids + p->n_src,
                                         p->n_tgt, NULL };
        }
        bench_must(key_builder_run(kb, work, n, &e), &e);
        for (int i = 0; i < n; i++) pair_keys_drop(work[i].keys);
    }
    key_builder_free(kb);
}

static void run_build(struct bench *b)
{
    struct datastore_maker_options o = { .threads = b->threads,
                                         .type = b->type, .with_eos = true };
    struct pair_source *source = tmfile_source(b->tm);
    struct datastore_maker *m;
    struct err e;

    unlink(b->store);
    bench_must(datastore_maker_create(&m, b->en, b->store, &o, source, &e),
               &e);
    bench_must(datastore_maker_add_all(m, source, &e), &e);
    bench_must(datastore_maker_finish(m, &e), &e);
    datastore_maker_close(m);
}

/* ---- measuring ----------------------------------------------------------- */

static const struct bench_work {
    const char *name;
    void (*run)(struct bench *b);
} work[] = {
    { "forward", run_forward }, { "keys", run_keys }, { "build", run_build }
};
enum { KINDS = sizeof work / sizeof *work };

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void measure(struct bench *b, int rounds)
{
    double cpu[KINDS], wall[KINDS];

    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < KINDS; k++) {
            double c = cpu_seconds(), w = clock_seconds();

            work[k].run(b);
            c = cpu_seconds() - c;
            w = clock_seconds() - w;
            if (!r || c < cpu[k]) cpu[k] = c;
            if (!r || w < wall[k]) wall[k] = w;
        }
    printf("%zu pairs, %ld entries, %d threads, best of %d\n", b->n,
           b->entries, b->threads, rounds);
    for (int k = 0; k < KINDS; k++)
        printf("%-8s %8.0f entries per CPU second (%.2f)  %8.0f per second "
               "(%.2f)\n", work[k].name, (double)b->entries / cpu[k],
               cpu[0] / cpu[k], (double)b->entries / wall[k],
               wall[0] / wall[k]);
}

int main(int argc, char **argv)
{
    struct bench b = { .threads = argc > 5 ? atoi(argv[5]) : 1 };
    struct err e;

    if (argc < 4 || b.threads < 1) {
        fprintf(stderr, "usage: datastore MODEL MEMORY STORE [TYPE [THREADS "
                "[ROUNDS]]]\n");
        return 2;
    }
    b.store = argv[3];
    b.type = argc > 4 && !strcmp(argv[4], "f16") ? ENTRY_F16 : ENTRY_INT8;
    bench_must(engine_open(&b.en, argv[1], &e), &e);
    bench_must(tmfile_open(&b.tm, argv[2], STORE_READ, &e), &e);
    bench_must(pool_new(&b.pool, b.threads, &e), &e);
    read_pairs(&b);
    measure(&b, argc > 6 ? atoi(argv[6]) : 3);
    for (size_t i = 0; i < b.n; i++) free(b.pairs[i].ids);
    free(b.pairs);
    plain_text_release(&b.plain);
    pool_free(b.pool);
    tmfile_close(b.tm);
    engine_close(b.en);
    return 0;
}
