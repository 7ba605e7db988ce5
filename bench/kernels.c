/* kernels.c - measures the speed of the kernels of src/tensor/cpu on this CPU.
 *
 *     kernels [-i ISA] [-t TYPE] [-p PLACE] [-m MIB] [-q]
 *
 * The default is the best instruction set and every type. Matrix products are
 * reported in billions of multiply-adds a second (GMAC/s) and in GB/s of
 * weights. They are measured hot (the same matrix every time, in the cache) and
 * cold (different matrices of MIB, by default 33, in turn, as in a decoder).
 * Other kernels are reported in microseconds per call. Each number is the best
 * of several rounds, because the machine may be shared. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tensor/kernels.h"

#define COUNT(a) (sizeof (a) / sizeof *(a))

/* Returns the CPU time of this thread. The time that other processes use on a
 * shared core does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The kind of memory that holds the weights: huge pages, 4 KB pages, a mapped
 * file, or a mapped file whose pages were collapsed into huge pages. */
enum place { PLACE_HUGE, PLACE_SMALL, PLACE_FILE, PLACE_COLLAPSE };
static const char *const place_names[] = { "huge", "4k", "file", "collapse" };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *map_anonymous(size_t bytes, int advice)
{
    size_t huge = (size_t)2 << 20;
    char *p = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) die("mmap");
    p += (huge - (size_t)p % huge) % huge;
    madvise(p, bytes, advice);
    return p;
}

/* Fills memory with random values: int8 from -127 to 127, floats around 1. */
static void fill(void *p, size_t bytes, enum dtype type)
{
    uint32_t s = 1;

    if (type == DT_I8) {
        for (size_t i = 0; i < bytes; i++) {
            s = s * 1664525 + 1013904223;
            ((int8_t *)p)[i] = (int8_t)((int)(s >> 24) % 255 - 127);
        }
        return;
    }
    for (size_t i = 0; i < bytes / 2; i++) {
        s = s * 1664525 + 1013904223;
        ((uint16_t *)p)[i] = (uint16_t)(0x3f00 + (s >> 24));
    }
}

static volatile char sink;

static void *weights(size_t bytes, enum dtype type, enum place place)
{
    if (place == PLACE_HUGE || place == PLACE_SMALL) {
        void *p = map_anonymous(bytes, place == PLACE_HUGE ? MADV_HUGEPAGE
                                                           : MADV_NOHUGEPAGE);
        fill(p, bytes, type);
        return p;
    }
    char name[] = "kernels.bench.XXXXXX";
    int fd = mkstemp(name);
    size_t whole = (bytes + (2 << 20) - 1) >> 21 << 21;
    char *tmp = map_anonymous(whole, MADV_NOHUGEPAGE);
    if (fd < 0) die("mkstemp");
    fill(tmp, bytes, type);
    for (size_t at = 0; at < whole; ) {
        ssize_t n = write(fd, tmp + at, whole - at);
        if (n <= 0) die("write");
        at += (size_t)n;
    }
    fsync(fd);
    close(fd);
    /* MADV_COLLAPSE fails if the file is open for writing. */
    fd = open(name, O_RDONLY);
    unlink(name);
    void *p = mmap(tmp, whole, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
    if (p == MAP_FAILED) die("mmap");
    close(fd);
    for (size_t at = 0; at < whole; at += 4096) sink += tmp[at];
    if (place == PLACE_COLLAPSE && madvise(p, whole, MADV_COLLAPSE))
        perror("MADV_COLLAPSE");
    return p;
}

static void run_gemm(const struct kernels *k, const struct gemm *g)
{
    int n = linear_panels(g->l);

    switch (g->l->type) {
    case DT_I8: k->gemm_i8(g, 0, n); break;
    case DT_F32: k->gemm_f32(g, 0, n); break;
    default: k->gemm_bf16(g, 0, n); break;
    }
}

/* Returns the seconds of one product, measured over `copies` matrices that
 * follow each other in memory. Rounds are short, so that some of them run
 * undisturbed by other processes. */
static double time_gemm(const struct kernels *k, struct gemm g, size_t copies)
{
    struct linear l = *g.l;
    const char *w = l.w;
    size_t bytes = linear_bytes(l.type, l.n, l.k), calls = copies;
    double best = 1e9, begin = now(), t;

    g.l = &l;
    for (int r = 0; r < 5 || (r < 200 && now() - begin < 0.1); r++) {
        t = now();
        for (size_t c = 0; c < calls; c++) {
            l.w = w + c % copies * bytes;
            run_gemm(k, &g);
        }
        t = now() - t;
        if (t / (double)calls < best) best = t / (double)calls;
        if (t < 2e-4) calls *= 2;
    }
    return best;
}

static void bench_gemm(const struct kernels *k, enum dtype type,
                       enum place place, size_t cold_bytes)
{
    static const int shape[][2] = { { 512, 512 }, { 1536, 512 },
                                    { 2048, 512 }, { 512, 2048 },
                                    { 16000, 512 } };
    static const int rows[] = { 1, 2, 4, 8, 16, 64, 256 };
    enum { MAX_ROWS = 256, MAX_K = 2048, MAX_N = 16000 };
    size_t most = linear_bytes(type, MAX_N, 512);
    size_t bytes = (cold_bytes > most ? cold_bytes : most) + 65536;
    void *w = weights(bytes, type, place);
    float *x = map_anonymous(sizeof *x * MAX_ROWS * MAX_K, MADV_HUGEPAGE);
    float *y = map_anonymous(sizeof *y * MAX_ROWS * MAX_N, MADV_HUGEPAGE);
    float *scale = map_anonymous(sizeof *scale * MAX_N, MADV_HUGEPAGE);
    int32_t *comp = map_anonymous(sizeof *comp * MAX_N, MADV_HUGEPAGE);
    float *xs = map_anonymous(sizeof *xs * MAX_ROWS, MADV_HUGEPAGE);

    fill(x, sizeof *x * MAX_ROWS * MAX_K, DT_F32);
    printf("\n%s, %s, weights in %s pages: GMAC/s and (GB/s)\n",
           isa_name(k->isa), dtype_name(type), place_names[place]);
    printf("%-6s %-5s %-5s", "N", "K", "");
    for (size_t m = 0; m < COUNT(rows); m++) printf("        M=%-4d", rows[m]);
    for (size_t s = 0; s < COUNT(shape); s++) {
        struct linear l = { .type = type, .n = shape[s][0], .k = shape[s][1],
                            .w = w, .scale = scale, .comp = comp,
                            .bias = scale };
        size_t one = linear_bytes(type, l.n, l.k), copies = cold_bytes / one;
        for (int cold = 0; cold < 2; cold++) {
            printf("\n%-6d %-5d %-5s", l.n, l.k, cold ? "cold" : "hot");
            for (size_t m = 0; m < COUNT(rows); m++) {
                struct gemm g = { .l = &l, .rows = rows[m], .x = x,
                                  .ldx = (size_t)l.k, .xq = (void *)x,
                                  .xs = xs, .y = y, .ldy = (size_t)l.n };
                if (k->isa == ISA_REF && (rows[m] > 4 || l.n > 2048)) continue;
                double t = time_gemm(k, g, cold && copies ? copies : 1);
                printf("  %6.1f (%4.1f)", (double)l.n * l.k * rows[m] / t / 1e9,
                       (double)one / t / 1e9);
                fflush(stdout);
            }
        }
    }
    printf("\n");
    munmap(w, bytes);
}

#define TIME(us, calls, statement) do {                                   \
    us = 1e9;                                                             \
    for (int r_ = 0; r_ < 100; r_++) {                                    \
        double t_ = now();                                                \
        for (int c_ = 0; c_ < (calls); c_++) { statement; }               \
        t_ = (now() - t_) / (calls) * 1e6;                                \
        if (t_ < us) us = t_;                                             \
    } } while (0)

static void bench_other_kernels(const struct kernels *k)
{
    enum { KEYS = 512, DIM = 512, VOCAB = 250000 };
    size_t ld = 3 * DIM;
    float *kv = map_anonymous(sizeof *kv * KEYS * ld, MADV_HUGEPAGE);
    float *out = map_anonymous(sizeof *out * KEYS * DIM, MADV_HUGEPAGE);
    float *x = map_anonymous(sizeof *x * VOCAB, MADV_HUGEPAGE);
    float *scratch = map_anonymous(sizeof *x * ATTENTION_SCRATCH(KEYS),
                                   MADV_HUGEPAGE);
    static const int q_k[][2] = { { 1, 1 }, { 1, 16 }, { 1, 64 }, { 1, 256 },
                                  { 4, 16 }, { 4, 32 }, { 4, 256 },
                                  { 32, 32 }, { 128, 128 } };
    static int32_t slot[KEYS];
    static float block[VOCAB / PANEL + 1], s[64];
    struct row_stats stats;
    double us;

    for (size_t i = 0; i < KEYS * ld; i++)
        kv[i] = (float)(i * 2654435761u % 1024) / 1024 - 0.5f;
    for (int i = 0; i < VOCAB; i++)
        x[i] = (float)((unsigned)i * 2654435761u % 4096) / 256 - 8;
    for (int i = 0; i < KEYS; i++) slot[i] = (i * 37) % KEYS;

    printf("\n%s: microseconds per call\n", isa_name(k->isa));
    for (size_t i = 0; i < COUNT(q_k); i++) {
        struct attention a = {
            .n_q = q_k[i][0], .n_k = q_k[i][1], .heads = 8, .head_dim = 64,
            .q = kv, .ldq = ld, .k = kv + DIM, .v = kv + 2 * DIM, .ldk = ld,
            .ldv = ld, .scale = 0.125f, .out = out, .ldo = DIM,
            .slot = q_k[i][0] == 1 ? slot : NULL, .scratch = scratch };
        TIME(us, 20000 / (a.n_q * a.n_k + 50) + 1, k->attention(&a));
        printf("attention %3d queries %3d keys   %8.2f\n", a.n_q, a.n_k, us);
    }
    TIME(us, 300, k->layer_norm(x, DIM, 4, DIM, x + 8192, x + 16384, 1e-5f,
                                 out, DIM));
    printf("layer_norm 4 x 512              %8.2f\n", us);
    TIME(us, 300, k->quantize(x, DIM, 4, DIM, (uint8_t *)out, s));
    printf("quantize   4 x 512              %8.2f\n", us);
    TIME(us, 10, k->row_stats(x, 16000, block, &stats));
    printf("row_stats  16000                %8.2f\n", us);
    TIME(us, 1, k->row_stats(x, VOCAB, block, &stats));
    printf("row_stats  250000               %8.2f\n", us);
}

/* The keys of a sentence. Each call handles the block of one pair. */
enum { KEYS = 650, BLOCK = 30, BLOCKS = (KEYS + BLOCK - 1) / BLOCK };

/* Computes the distances to all keys of a sentence. Its blocks are scattered
 * among the `all` blocks in memory; `turn` selects which ones are used. */
static void all_distances(const struct kernels *k, enum dtype type,
                          struct distances *a, const char *keys, size_t all,
                          size_t turn)
{
    size_t bytes = BLOCK * a->ldk * dtype_bytes(type) + 128;

    for (size_t b = 0; b < BLOCKS; b++) {
        a->keys = keys + (turn * BLOCKS + b) * 37 % all * bytes;
        a->n = b + 1 < BLOCKS ? BLOCK : KEYS - (BLOCKS - 1) * BLOCK;
        if (type == DT_I8) k->distances_i8(a);
        else k->distances_f32(a);
        a->out += BLOCK;
    }
    a->out -= BLOCKS * BLOCK;
}

/* "Hot" keys are the same in every call. "Far" keys are taken in turn from
 * 16 MB, so that they are not in the cache, as after a decoder step. */
static void bench_distances(const struct kernels *k, enum dtype type)
{
    enum { DIM = 512, MAX_Q = 8 };
    static const int n_q[] = { 1, 2, 3, 4, 5, 8 };
    size_t bytes = BLOCK * DIM * dtype_bytes(type) + 128;
    size_t all = (((size_t)16 << 20) / bytes / 37) * 37 + 1, turn = 0;
    char *keys = map_anonymous(all * bytes, MADV_HUGEPAGE);
    float *q = map_anonymous(sizeof *q * MAX_Q * DIM, MADV_HUGEPAGE);
    static float scale[BLOCK], out[MAX_Q * BLOCKS * BLOCK];

    fill(keys, all * bytes, type);
    fill(q, sizeof *q * MAX_Q * DIM, DT_F32);
    for (int i = 0; i < BLOCK; i++) scale[i] = 0.01f;
    for (size_t i = 0; i < COUNT(n_q); i++) {
        struct distances a = { .q = q, .ldq = DIM, .n_q = n_q[i], .ldk = DIM,
                               .scale = scale, .d = DIM, .out = out,
                               .ldo = BLOCKS * BLOCK };
        double hot, far;
        TIME(hot, 10, all_distances(k, type, &a, keys, all, 0));
        TIME(far, 10, all_distances(k, type, &a, keys, all, turn++));
        printf("distances %-4s %d x %d keys      %8.2f hot %8.2f far\n",
               dtype_name(type), n_q[i], KEYS, hot, far);
    }
    munmap(keys, all * bytes);
    munmap(q, sizeof *q * MAX_Q * DIM);
}

int main(int argc, char **argv)
{
    static const enum dtype types[] = { DT_I8, DT_F32, DT_BF16 };
    const struct kernels *k = kernels_pick(NULL);
    const char *type = NULL;
    enum place place = PLACE_HUGE;
    int all = 1, mib = 33, c;

    while ((c = getopt(argc, argv, "i:t:p:m:q")) != -1) {
        enum isa isa;
        if (c == 'i' && isa_parse(optarg, &isa)) k = kernels_for(isa);
        else if (c == 't') type = optarg;
        else if (c == 'p') place = (enum place)atoi(optarg);
        else if (c == 'm') mib = atoi(optarg);
        else if (c == 'q') all = 0;
        else k = NULL;
    }
    if (!k || place > PLACE_COLLAPSE || mib < 1) {
        fprintf(stderr, "usage: kernels [-i ref|avx2|avx512|amx] "
                "[-t f32|bf16|int8] [-p 0..3] [-m MIB] [-q]\n"
                "  -p  where the weights are: 0 huge pages, 1 4 KB pages,\n"
                "      2 a mapped file, 3 a mapped file in huge pages\n"
                "  -m  size of all cold matrices together: 33\n"
                "  -q  matrix products only\n");
        return 1;
    }
    printf("%s\n", cpu_name());
    for (size_t t = 0; t < COUNT(types); t++)
        if (!type || !strcmp(type, dtype_name(types[t])))
            bench_gemm(k, types[t], place, (size_t)mib << 20);
    if (all) {
        bench_other_kernels(k);
        bench_distances(k, DT_F32);
        bench_distances(k, DT_I8);
    }
    return 0;
}
