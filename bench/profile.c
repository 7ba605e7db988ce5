/* profile.c - shows how much time each kernel takes in a translation.
 *
 *     profile MODEL TEXT [OPTION VALUE]...
 *         translate the lines of TEXT, unsplit, on one thread
 *     profile MODEL PAIRS.tsv keys ROWS
 *         compute the keys of the pairs, 16 pairs at a time, with ROWS tokens
 *         in a pass
 *
 * The engine gets a table of kernels that measure their own time. The numbers
 * are therefore those of a real run, with its cache misses, unlike the hot
 * measurements of bench/kernels.c. It also counts passes and rows, and how many
 * inputs are zero in the products that follow a ReLU. Times are CPU times:
 * other programs that use the same processor do not count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/pairfinder.h"
#include "engine/result.h"
#include "knn/key_builder.h"
#include "search/batch.h"

enum op { PRODUCT, PROJECT, SPARSE, SELF, CROSS, ENCODER, STATS, NORM,
          QUANTIZE, LIST, OPS };
static const char *const op_name[OPS] = {
    "products", "output projection", "products after a ReLU",
    "decoder self-attention",
    "cross-attention", "encoder attention", "row_stats",
    "layer_norm", "quantize", "list_nonzero",
};

static const struct kernels *real_kernels;
static const struct linear *projection;
static struct { double seconds; long calls; double work; } spent[OPS];
static double zeros, inputs;

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add(enum op op, double start, double work)
{
    spent[op].seconds += cpu_seconds() - start;
    spent[op].calls++;
    spent[op].work += work;
}

static double macs(const struct gemm *g, int panels)
{
    return (double)g->rows * g->l->k * panels * PANEL;
}

static enum op product_of(const struct gemm *g)
{
    return g->l == projection ? PROJECT : PRODUCT;
}

static void timed_i8(const struct gemm *g, int p0, int p1)
{
    double t = cpu_seconds();

    real_kernels->gemm_i8(g, p0, p1);
    add(product_of(g), t, macs(g, p1 - p0));
}

static void timed_f32(const struct gemm *g, int p0, int p1)
{
    double t = cpu_seconds();

    real_kernels->gemm_f32(g, p0, p1);
    add(product_of(g), t, macs(g, p1 - p0));
}

static void timed_bf16(const struct gemm *g, int p0, int p1)
{
    double t = cpu_seconds();

    real_kernels->gemm_bf16(g, p0, p1);
    add(product_of(g), t, macs(g, p1 - p0));
}

static void timed_sparse(const struct gemm *g, int p0, int p1)
{
    double t = cpu_seconds();

    real_kernels->gemm_sparse(g, p0, p1);
    add(SPARSE, t, macs(g, p1 - p0));
}

static void timed_list(const uint8_t *xq, int rows, int k, struct nonzero *nz)
{
    double t = cpu_seconds();

    real_kernels->list_nonzero(xq, rows, k, nz);
    add(LIST, t, rows);
    for (int r = 0; r < rows; r++) {
        int n = 4 * nz[r].n;
        while (n && !nz[r].value[n - 1]) n--;
        zeros += k - n;
    }
    inputs += (double)rows * k;
}

static void timed_attention(const struct attention *a)
{
    /* In the encoder, keys and queries are columns of the same matrix. */
    bool same_matrix = a->ldk == a->ldq;
    enum op op = a->causal ? SELF : same_matrix ? ENCODER : CROSS;
    double t = cpu_seconds();

    real_kernels->attention(a);
    add(op, t, (double)a->n_q * a->n_k);
}

static void timed_stats(const float *x, int n, float *block_max,
                        struct row_stats *out)
{
    double t = cpu_seconds();

    real_kernels->row_stats(x, n, block_max, out);
    add(STATS, t, n);
}

static void timed_norm(const float *x, size_t ldx, int rows, int d,
                       const float *gain, const float *bias, float eps,
                       float *y, size_t ldy)
{
    double t = cpu_seconds();

    real_kernels->layer_norm(x, ldx, rows, d, gain, bias, eps, y, ldy);
    add(NORM, t, rows);
}

static void timed_quantize(const float *x, size_t ldx, int rows, int k,
                           uint8_t *q, float *s)
{
    double t = cpu_seconds();

    real_kernels->quantize(x, ldx, rows, k, q, s);
    add(QUANTIZE, t, rows);
}

static struct kernels timed_table(const struct kernels *k)
{
    struct kernels t = *k;

    real_kernels = k;
    t.gemm_i8 = timed_i8;
    t.gemm_f32 = timed_f32;
    t.gemm_bf16 = timed_bf16;
    t.gemm_sparse = timed_sparse;
    t.list_nonzero = timed_list;
    t.attention = timed_attention;
    t.row_stats = timed_stats;
    t.layer_norm = timed_norm;
    t.quantize = timed_quantize;
    return t;
}

/* Reads the lines of a file and prepares a result with its job for each. */
static int read_lines(const char *path, const struct engine *en,
                      const struct options *o, const struct search_options *so,
                      struct result **out, int cap)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    int k = 0;

    while (f && k < cap && (n = getline(&line, &size, f)) > 0) {
        if (line[n - 1] == '\n') n--;
        if (!result_prepare(&out[k], en, o, so, line, (size_t)n, NULL, NULL))
            k++;
    }
    if (f) fclose(f);
    free(line);
    return k;
}

/* Translates all results and returns the number of tokens, or -1 on failure.
 * Like the worker of a stream, it refills the lanes when a quarter of them is
 * free. */
static long decode(struct batch *b, struct result **r, int n, int lanes,
                   struct err *e)
{
    long tokens = 0;
    struct job *done;

    for (int at = 0; at < n || batch_busy_lanes(b);) {
        int room = batch_count_idle_lanes(b);

        while (at < n && room && (room >= (lanes + 3) / 4 ||
                                  !batch_busy_lanes(b))) {
            struct job *some[64];
            int k = 0;

            while (k < room && k < 64 && at < n) {
                struct result *x = r[at++];
                if (x->n_sentences && x->sentences[0].job)
                    some[k++] = x->sentences[0].job;
            }
            if (batch_add(b, some, k, e)) return -1;
            room = batch_count_idle_lanes(b);
        }
        if (batch_step(b, &done, e)) return -1;
        for (; done; done = done->next) tokens += done->hyps[0].n;
    }
    return tokens;
}

/* Reads up to `cap` pairs of a file and encodes them. */
static int read_pairs(FILE *f, const struct engine *en,
                      struct steering_pair *out, int cap, struct err *e)
{
    char *line = NULL;
    size_t size = 0;
    int n = 0;

    while (n < cap && getline(&line, &size, f) > 0) {
        char *tab = strchr(line, '\t');
        struct str source = { line, tab ? (size_t)(tab - line) : 0 };
        struct str target = { tab + 1, tab ? strcspn(tab + 1, "\t\n") : 0 };

        if (!tab) continue;
        if (steering_pair_encode(en, source, target, &out[n], e)) break;
        n++;
    }
    free(line);
    return n;
}

/* Computes the keys of the pairs of a file, as a worker does for a sentence.
 * Returns the number of tokens, or -1 on failure. */
static long make_keys(const struct engine *en, const char *path, int rows,
                      struct err *e)
{
    enum { PAIRS = 16 };
    struct key_builder_options ko = { .rows = rows, .type = KEY_INT8 };
    struct steering_pair in[PAIRS] = { 0 };
    struct key_pair work[PAIRS];
    struct key_builder *kb;
    FILE *f = fopen(path, "r");
    long tokens = 0;
    int n;

    if (!f) err_set(e, ST_IO, "cannot open %s", path);
    if (!f || key_builder_new(&kb, en->backend, NULL, &ko, e)) return -1;
    while ((n = read_pairs(f, en, in, PAIRS, e)) > 0) {
        for (int i = 0; i < n; i++)
            work[i] = (struct key_pair){ in[i].ids, in[i].n_src,
                in[i].ids + in[i].n_src, in[i].n_tgt, NULL };
        if (key_builder_run(kb, work, n, e)) tokens = -1;
        for (int i = 0; i < n; i++) {
            if (tokens >= 0) tokens += in[i].n_tgt;
            pair_keys_drop(work[i].keys);
            free(in[i].ids);
            in[i] = (struct steering_pair){ 0 };
        }
        if (tokens < 0) break;
    }
    key_builder_free(kb);
    fclose(f);
    return tokens;
}

static void report(double seconds, long tokens, const struct batch *b)
{
    printf("%s, %s: %.3f s, %ld tokens", cpu_name(),
           isa_name(real_kernels->isa), seconds, tokens);
    if (b) {
        struct batch_counts c = batch_counts(b);
        printf(", %llu passes, %.2f rows per pass",
               (unsigned long long)c.passes,
               (double)c.rows / (double)c.passes);
    }
    putchar('\n');
    for (int i = 0; i < OPS; i++) {
        if (!spent[i].calls) continue;
        printf("%-28s %7.3f s %5.1f%%  %9.2f us per call", op_name[i],
               spent[i].seconds, 100 * spent[i].seconds / seconds,
               1e6 * spent[i].seconds / (double)spent[i].calls);
        if (i <= SPARSE)
            printf("  %6.1f GMAC/s", spent[i].work / spent[i].seconds / 1e9);
        else if (i <= ENCODER)
            printf("  %6.1f keys", spent[i].work / (double)spent[i].calls);
        putchar('\n');
    }
    if (inputs > 0)
        printf("zero inputs after a ReLU: %.1f%%\n",
               100 * zeros / inputs);
}

int main(int argc, char **argv)
{
    static struct result *results[100000];
    struct engine *en;
    struct options o;
    struct search_options so;
    struct batch_limits limits;
    struct batch *b;
    struct kernels table;
    struct err e = { 0 };
    double start;
    long tokens;
    int n;

    options_defaults(&o);
    o.split = SPLIT_NONE;
    if (argc < 3 || argc % 2 == 0 || engine_open(&en, argv[1], &e)) {
        fprintf(stderr, "usage: profile MODEL TEXT [OPTION VALUE]...\n"
                "       profile MODEL PAIRS.tsv keys ROWS\n%s\n",
                e.msg);
        return 2;
    }
    table = timed_table(en->net->k);
    projection = &en->net->w->project;
    en->net->k = &table;
    if (argc == 5 && !strcmp(argv[3], "keys")) {
        start = cpu_seconds();
        tokens = make_keys(en, argv[2], atoi(argv[4]), &e);
        if (tokens < 0) goto failed;
        report(cpu_seconds() - start, tokens, NULL);
        engine_close(en);
        return 0;
    }
    for (int i = 3; i < argc; i += 2)
        if (options_set(&o, argv[i], argv[i + 1], &e)) goto failed;
    limits = engine_batch_limits(en, &o);
    if (engine_search_options(en, &o, &so, &e) ||
        batch_new(&b, en->backend, &limits, NULL, &e))
        goto failed;
    n = read_lines(argv[2], en, &o, &so, results, 100000);
    start = cpu_seconds();
    tokens = decode(b, results, n, limits.lanes, &e);
    if (tokens < 0) goto failed;
    report(cpu_seconds() - start, tokens, b);
    for (int i = 0; i < n; i++) result_free(results[i]);
    batch_free(b);
    engine_close(en);
    return 0;
failed:
    fprintf(stderr, "profile: %s\n", e.msg);
    return 1;
}
