/* entries.c - measures the exact search of a large datastore on this CPU.
 *
 *     entries [-i ISA] [-t int8|f16] [-n KEYS] [-d DIMENSIONS] [-k K]
 *             [-m QUERIES] [-p THREADS] [-f KEYS.f32 -q QUERIES.f32]
 *
 * The default is the best instruction set, both types, 100,000 and 1,000,000
 * made-up keys of 512 dimensions, 1 to 256 queries, 8 neighbors and one thread.
 * Made-up keys are in clusters: a center, and noise that is a little smaller.
 * With -f and -q, keys and queries are read from files of floats, such as
 * decoder states; the number of keys is that of the file, unless -n is smaller.
 *
 * Each row has the best of several runs: the time of a search for all queries
 * together and for each query, the rate at which keys are read, multiply-adds
 * per second, the speed in relation to the int8 products alone (gemm_i8 with
 * the same keys and queries; int8 only), and the share of keys whose distance
 * was computed. The time is the CPU time of the thread, with several threads
 * elapsed time. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/mem.h"
#include "base/pool.h"
#include "knn/exact_scan.h"

#define COUNT(a) (sizeof (a) / sizeof *(a))

enum { BLOCK = 65536, CENTERS = 2000, MOST_QUERIES = EXACT_SCAN_ROWS };

struct bench {
    const struct kernels *k;
    struct entries s;
    struct pool *pool;
    const char *key_file, *query_file;
    float *centers;             /* [CENTERS, d] */
    float *queries;             /* [MOST_QUERIES, ld] */
    size_t ld;
    int neighbors;
    int only;                   /* number of queries; 0: several */
    uint64_t seed;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(const struct bench *b)
{
    struct timespec t;

    clock_gettime(b->pool ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- data ---------------------------------------------------------------- */

/* A number from -1 to 1, with a distribution like a bell. */
static float noise(struct bench *b)
{
    uint64_t x;

    b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
    x = b->seed >> 20;
    return (float)((int)(x & 2047) + (int)(x >> 11 & 2047) +
                   (int)(x >> 22 & 2047) + (int)(x >> 33 & 2047) - 4094) / 4094;
}

static void make_centers(struct bench *b)
{
    size_t n = (size_t)CENTERS * (size_t)b->s.d;

    b->centers = mem_alloc(n, sizeof *b->centers);
    if (!b->centers) die("memory");
    for (size_t i = 0; i < n; i++) b->centers[i] = 2 * noise(b);
}

/* The next vector, read from a file or made up. */
static void next_vector(struct bench *b, FILE *f, float *out)
{
    int d = b->s.d;
    const float *center;

    if (f) {
        if (fread(out, sizeof *out, (size_t)d, f) != (size_t)d) rewind(f);
        return;
    }
    center = b->centers + (b->seed >> 40) % CENTERS * (size_t)d;
    for (int i = 0; i < d; i++) out[i] = center[i] + 1.2f * noise(b);
}

static void put_int8(struct entry_block *b, const struct bench *x, int i,
                     const float *key, uint8_t *q)
{
    int d = x->s.d, sum = 0;
    size_t kp = (size_t)pad_to(d, 4);
    int8_t *to = (int8_t *)b->keys + (size_t)(i / PANEL) * kp * PANEL +
                 i % PANEL * 4;
    double norm = 0;
    float scale;

    x->k->quantize(key, (size_t)d, 1, d, q, &scale);
    for (size_t c = 0; c < kp; c++) {
        int v = q[c] - 128;

        to[c / 4 * 4 * PANEL + c % 4] = (int8_t)v;
        sum += v;
        norm += v * v;
    }
    ((float *)b->scale)[i] = scale;
    ((int32_t *)b->comp)[i] = 128 * sum;
    ((float *)b->norm)[i] = (float)(norm * (double)scale * (double)scale);
}

static void put_f16(struct entry_block *b, const struct bench *x, int i,
                    const float *key)
{
    uint16_t *to = (uint16_t *)b->keys + (size_t)i * (size_t)pad_to(x->s.d, 32);
    double norm = 0;

    for (int c = 0; c < x->s.d; c++) {
        float v = f16_to_f32(to[c] = f32_to_f16(key[c]));

        norm += (double)v * (double)v;
    }
    ((float *)b->norm)[i] = (float)norm;
}

/* Keys are in 4 KB pages, as those of a mapped file are. */
static void *key_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) die("mmap");
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

static size_t key_bytes(const struct entries *s)
{
    return s->type == ENTRY_INT8 ? (size_t)pad_to(s->d, 4)
                                 : (size_t)pad_to(s->d, 32) * 2;
}

static void make_block(struct bench *x, struct entry_block *b, int n, FILE *f)
{
    size_t np = (size_t)pad_to(n, PANEL);
    float *key = mem_alloc((size_t)x->s.d, sizeof *key), *norm;
    uint8_t *q = mem_alloc((size_t)pad_to(x->s.d, 4), 1);

    *b = (struct entry_block){ .n = n,
        .keys = key_memory(np * key_bytes(&x->s)),
        .scale = mem_zalloc(np, 4), .comp = mem_zalloc(np, 4),
        .norm = norm = mem_zalloc(np, 4) };
    if (!key || !q || !b->scale || !b->comp || !norm) die("memory");
    for (int i = 0; i < n; i++) {
        next_vector(x, f, key);
        if (x->s.type == ENTRY_INT8) put_int8(b, x, i, key, q);
        else put_f16(b, x, i, key);
    }
    for (size_t i = (size_t)n; i < np; i++) norm[i] = INFINITY;
    mem_free(key);
    mem_free(q);
}

static FILE *open_floats(const char *path)
{
    FILE *f = path ? fopen(path, "rb") : NULL;

    if (path && !f) die(path);
    return f;
}

/* The number of vectors in the file of keys, at most n. */
static long count_keys(const struct bench *b, FILE *f, long n)
{
    long all;

    if (!f) return n;
    if (fseek(f, 0, SEEK_END)) die("seek");
    all = ftell(f) / (long)sizeof(float) / b->s.d;
    rewind(f);
    return n && n < all ? n : all;
}

static void make_data(struct bench *b, long n)
{
    FILE *keys = open_floats(b->key_file), *q = open_floats(b->query_file);

    b->seed = 1;
    n = count_keys(b, keys, n);
    make_centers(b);
    b->s.n = n;
    b->s.n_blocks = (int)((n + BLOCK - 1) / BLOCK);
    b->s.blocks = calloc((size_t)b->s.n_blocks, sizeof *b->s.blocks);
    if (!b->s.blocks) die("memory");
    for (int i = 0; i < b->s.n_blocks; i++, n -= BLOCK)
        make_block(b, &b->s.blocks[i], n < BLOCK ? (int)n : BLOCK, keys);
    b->ld = (size_t)pad_to(b->s.d, 16);
    b->queries = mem_zalloc(MOST_QUERIES * b->ld, sizeof *b->queries);
    if (!b->queries) die("memory");
    for (int i = 0; i < 17 * MOST_QUERIES; i++) /* from the whole file */
        next_vector(b, q, b->queries + (size_t)(i / 17) * b->ld);
    if (keys) fclose(keys);
    if (q) fclose(q);
}

static void free_data(struct bench *b)
{
    for (int i = 0; i < b->s.n_blocks; i++) {
        struct entry_block *at = &b->s.blocks[i];

        munmap((void *)at->keys,
               (size_t)pad_to(at->n, PANEL) * key_bytes(&b->s));
        mem_free((void *)at->scale);
        mem_free((void *)at->comp);
        mem_free((void *)at->norm);
    }
    free(b->s.blocks);
    mem_free(b->centers);
    mem_free(b->queries);
}

/* ---- measuring ----------------------------------------------------------- */

/* The products of n queries with all keys, and nothing else. */
struct products {
    int n;
    uint8_t *xq;                /* [n, d padded to 4] */
    float *xs, *y;
};

static void products_init(struct products *p, const struct bench *b, int n)
{
    p->n = n;
    p->xq = mem_alloc((size_t)n, (size_t)pad_to(b->s.d, 4));
    p->xs = mem_alloc((size_t)n, sizeof *p->xs);
    p->y = mem_alloc((size_t)n * PANEL, sizeof *p->y);
    if (!p->xq || !p->xs || !p->y) die("memory");
    b->k->quantize(b->queries, b->ld, n, b->s.d, p->xq, p->xs);
}

static void products_release(struct products *p)
{
    mem_free(p->xq);
    mem_free(p->xs);
    mem_free(p->y);
}

static void products_run(const struct products *p, const struct bench *b)
{
    size_t kp = (size_t)pad_to(b->s.d, 4);

    for (int i = 0; i < b->s.n_blocks; i++) {
        const struct entry_block *eb = &b->s.blocks[i];

        for (int at = 0; at < eb->n; at += PANEL) {
            struct linear l = { .type = DT_I8, .n = PANEL, .k = b->s.d,
                .w = (const int8_t *)eb->keys + (size_t)at * kp,
                .scale = eb->scale + at, .comp = eb->comp + at };
            struct gemm g = { .l = &l, .rows = p->n, .xq = p->xq, .xs = p->xs,
                              .y = p->y, .ldy = PANEL };

            b->k->gemm_i8(&g, 0, 1);
        }
    }
}

/* Set *least to the smaller of itself and the time since t. */
static void keep_least(const struct bench *b, double t, double *least)
{
    t = now(b) - t;
    if (t < *least) *least = t;
}

/* Runs of the search and of the products alternate, so that other work on the
 * machine affects both. */
static void bench_row(const struct bench *b, struct exact_scan *sc, int n)
{
    bool products = b->s.type == ENTRY_INT8 && !b->pool;
    int k[MOST_QUERIES];
    struct scan_queries in = { b->queries, b->ld, n, k };
    struct scan_counts before = exact_scan_counts(sc), after;
    double macs = 1e-9 * (double)b->s.n * b->s.d * n;
    double search = INFINITY, alone = INFINITY, begin = now(b);
    struct products p;

    products_init(&p, b, n);
    for (int i = 0; i < n; i++) k[i] = b->neighbors;
    for (int r = 0; r < 3 || (r < 20 && now(b) - begin < 0.5); r++) {
        double t = now(b);

        exact_scan_run(sc, &in, true);
        keep_least(b, t, &search);
        t = now(b);
        if (products) products_run(&p, b);
        if (products) keep_least(b, t, &alone);
    }
    after = exact_scan_counts(sc);
    printf("| %s | %lld | %d | %.1f | %.2f | %.1f | %.1f |",
           b->s.type == ENTRY_INT8 ? "int8" : "f16", (long long)b->s.n, n,
           1e3 * search, 1e3 * search / n, 1e-9 * (double)b->s.n *
           (double)key_bytes(&b->s) / search, macs / search);
    if (products) printf(" %.2f |", alone / search);
    else printf(" - |");
    printf(" %.3f %% |\n", 100 * (double)(after.measured - before.measured) /
           (double)(after.compared - before.compared));
    fflush(stdout);
    products_release(&p);
}

static void bench_type(struct bench *b, enum entry_type type, long n)
{
    static const int queries[] = { 1, 4, 16, 64, 256 };
    struct exact_scan *sc;
    struct err e;

    b->s.type = type;
    make_data(b, n);
    if (exact_scan_new(&sc, &b->s, b->k, b->pool, &e)) die(e.msg);
    if (b->only) bench_row(b, sc, b->only);
    else for (size_t i = 0; i < COUNT(queries); i++)
        bench_row(b, sc, queries[i]);
    exact_scan_free(sc);
    free_data(b);
}

static int usage(void)
{
    fprintf(stderr, "usage: entries [-i ref|avx2|avx512|amx] [-t int8|f16] "
            "[-n KEYS] [-d DIMENSIONS]\n"
            "               [-k K] [-m QUERIES] [-p THREADS] [-f KEYS.f32 -q "
            "QUERIES.f32]\n");
    return 1;
}

int main(int argc, char **argv)
{
    struct bench b = { .k = kernels_pick(NULL), .neighbors = 8,
                       .s = { .d = 512 } };
    long n = 0, sizes[] = { 100000, 1000000 };
    const char *type = NULL;
    enum isa isa;
    int threads = 1, c;
    struct err e;

    while ((c = getopt(argc, argv, "i:t:n:d:k:m:p:f:q:")) != -1) {
        if (c == 'i' && isa_parse(optarg, &isa)) b.k = kernels_for(isa);
        else if (c == 't') type = optarg;
        else if (c == 'n') n = atol(optarg);
        else if (c == 'd') b.s.d = atoi(optarg);
        else if (c == 'k') b.neighbors = atoi(optarg);
        else if (c == 'm') b.only = atoi(optarg);
        else if (c == 'p') threads = atoi(optarg);
        else if (c == 'f') b.key_file = optarg;
        else if (c == 'q') b.query_file = optarg;
        else return usage();
    }
    if (!b.k || b.s.d < 1 || n < 0 || b.neighbors < 1 ||
        b.neighbors > KNN_MAX_K || threads < 1 || b.only < 0 ||
        b.only > MOST_QUERIES)
        return usage();
    if (threads > 1 && pool_new(&b.pool, threads, &e)) die(e.msg);
    printf("%s, %s, d %d, k %d, threads %d\n\n", cpu_name(),
           isa_name(b.k->isa), b.s.d, b.neighbors, threads);
    printf("| type | keys | queries | ms | ms/query | GB/s | GMAC/s "
           "| of products | measured |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 4; i++) {
        enum entry_type t = i % 2 ? ENTRY_F16 : ENTRY_INT8;

        if (type && !strcmp(type, "int8") != (t == ENTRY_INT8)) continue;
        if (i >= 2 && (n || b.key_file)) continue;
        bench_type(&b, t, n || b.key_file ? n : sizes[i / 2]);
    }
    pool_free(b.pool);
    return 0;
}
