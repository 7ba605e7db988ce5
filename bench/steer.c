/* steer.c - measures how a memory slows down or speeds up translation, through
 * the public API.
 *
 *     steer MODEL table NAME MEMORY.tm FILE.jsonl ROUNDS
 *     steer MODEL draft NAME MEMORY.tm FILE.jsonl ROUNDS
 *     steer MODEL whole NAME MEMORY.tm FILE.jsonl 1
 *     steer MODEL bound NAME MEMORY.tm FILE.jsonl 1
 *     steer MODEL tokens MEMORY.tm           count the target pieces
 *
 * A line of FILE is {"src": text, "tm": [[source, target, similarity], ..]}.
 * Without "tm" the pairs are first searched in the memory, untimed.
 *
 * table: the time of plain translation, SK-MT1 and SK-MT2, at batch 1, 4, 8
 * and 16, in these modes:
 *   paper   pairs given, keys in the cache, no drafts and no pruning: the time
 *           of decoding alone, as in the paper
 *   decode  the same with drafts and pruning, as in all modes below
 *   warm    pairs searched, keys in the cache
 *   cold    pairs searched, the cache empty at first and kept during the run
 *   none    pairs searched, no cache
 *
 * draft: at batch 1, pairs searched and keys in the cache: plain translation,
 * the method of the paper, and the method with drafts and pruning ("drops"),
 * with beam 4 and greedy. Sentences are grouped by the similarity of their best
 * pair. If the file gives the pairs, a search is made nevertheless, so that its
 * time counts.
 *
 * whole: a whole set at batch 1. The cache has the default size and is empty at
 * first, as for a user who starts to use a memory. The further the run gets,
 * the more keys are in the cache.
 *
 * bound: the multiply-adds of plain translation, and those of computing the
 * keys of all pairs if no sentence reuses the keys of another (equal sources of
 * one sentence are encoded once). Their ratio is the speed that a cold run
 * could reach if only products took time. Also prints the multiply-adds of the
 * keys without those that zero inputs save, and the rate at which this
 * processor multiplies many rows: together they bound the time from below.
 *
 * Times are CPU times of all threads together, because texts are split and
 * pairs are searched on threads of their own. The systems that are compared
 * take turns in every round. Printed are the median times of the rounds and the
 * medians of the ratios of each round. Each row is a line of JSON. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <skmt.h>

#include "base/mem.h"
#include "model/weights.h"
#include "tensor/kernels.h"
#include "text/subword.h"

enum { MAX_LINES = 4000, MAX_ROUNDS = 25, MAX_ROWS = 64, BANDS = 3 };

struct text {
    const char *src;
    size_t len;
    skmt_similar *pairs;
    int n;
    int band;                   /* by the best similarity s: 0 for s > 0.8, 1
                                 * for 0.5 <= s <= 0.8, 2 for s < 0.5 */
};

static skmt_model *model;
static skmt_tm *tm;
static const char *set_name;
static struct text texts[MAX_LINES];
static int n_texts, n_rounds;
static bool pairs_given;        /* the file gives the pairs */

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "steer: %s\n", what);
    exit(2);
}

static void check(skmt_status st, const skmt_error *e)
{
    if (st) die(e->message);
}

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- texts and their pairs -------------------------------------------- */

static void read_given_pairs(struct text *t, const json_t *list)
{
    t->pairs = calloc(json_array_size(list) + 1, sizeof *t->pairs);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *p = json_array_get(list, i);

        t->pairs[t->n++] = (skmt_similar){
            sizeof(skmt_similar), json_string_value(json_array_get(p, 0)),
            json_string_value(json_array_get(p, 1)),
            json_number_value(json_array_get(p, 2)) };
    }
}

static void find_pairs(struct text *t)
{
    skmt_matches *m;
    skmt_error e;

    check(skmt_tm_search(tm, t->src, NULL, model, &m, &e), &e);
    t->pairs = calloc((size_t)skmt_matches_count(m) + 1, sizeof *t->pairs);
    for (int i = 0; i < skmt_matches_count(m); i++) {
        skmt_match it = SKMT_INIT(skmt_match);

        skmt_matches_get(m, i, &it);
        t->pairs[t->n++] = (skmt_similar){ sizeof(skmt_similar),
                                           strdup(it.pair->source),
                                           strdup(it.pair->target),
                                           it.similarity };
    }
    skmt_matches_free(m);
}

static void read_texts(const char *path, bool search)
{
    FILE *f = fopen(path, "r");
    json_t *j;

    if (!f) die("cannot open FILE.jsonl");
    while ((j = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL))) {
        if (n_texts == MAX_LINES) die("FILE.jsonl has more than 4000 lines");
        struct text *t = &texts[n_texts++];
        double best = 0;

        t->src = json_string_value(json_object_get(j, "src"));
        if (!t->src) die("a line has no \"src\"");
        t->len = strlen(t->src);
        pairs_given = json_object_get(j, "tm") != NULL;
        if (pairs_given) read_given_pairs(t, json_object_get(j, "tm"));
        else if (search) find_pairs(t);
        for (int i = 0; i < t->n; i++)
            if (t->pairs[i].similarity > best) best = t->pairs[i].similarity;
        t->band = best > 0.8 ? 0 : best >= 0.5 ? 1 : 2;
    }
    fclose(f);
    if (!n_texts) die("FILE.jsonl has no lines");
}

/* ---- the table --------------------------------------------------------- */

enum mode { PLAIN, PAPER, DECODE, WARM, COLD, NONE };
static const char *const mode_name[] = { "plain", "paper", "decode", "warm",
                                         "cold", "none" };
#define USUAL_CACHE "256M"

struct row {
    const char *preset;         /* NULL: no memory */
    enum mode mode;
    int batch;
    double seconds[MAX_ROUNDS];
};

static skmt_options *options_for(const char *preset, int batch,
                                 const char *cache)
{
    skmt_options *o;
    char text[16];
    skmt_error e;

    snprintf(text, sizeof text, "%d", batch);
    check(skmt_options_new(&o, &e), &e);
    check(skmt_options_set(o, "batch", text, &e), &e);
    check(skmt_options_set(o, "split", "none", &e), &e);
    check(skmt_options_set(o, "exact", "steer", &e), &e);
    check(skmt_options_set(o, "key-cache", cache, &e), &e);
    if (preset) check(skmt_options_set(o, "preset", preset, &e), &e);
    return o;
}

static int ignore(void *user, uint64_t number, skmt_result *r,
                  const skmt_error *e)
{
    (void)user;
    (void)number;
    if (!r) die(e->message);
    return 0;
}

static int pairs_of(const char *preset, const struct text *t)
{
    int most = !strcmp(preset, "sk1") ? 2 : 16;

    return t->n < most ? t->n : most;
}

/* Translates all texts with a stream and returns the seconds. If keys is NULL,
 * the stream has a cache of its own. */
static double run_all(const struct row *w, skmt_keys *keys)
{
    skmt_options *o = options_for(w->preset, w->batch,
                                  w->mode == NONE ? "0" : "4G");
    skmt_stream *s;
    skmt_error e;
    double start;

    if (w->mode <= PAPER) {
        check(skmt_options_set(o, "draft", "0", &e), &e);
        check(skmt_options_set(o, "prune", "0", &e), &e);
        check(skmt_options_set(o, "repeat-votes", "0", &e), &e);
    }
    check(skmt_stream_new(&s, model, o, ignore, NULL, &e), &e);
    if (w->mode != PLAIN)
        check(skmt_stream_use(s, w->mode <= DECODE ? NULL : tm, keys, &e),
              &e);
    start = cpu_now();
    for (int i = 0; i < n_texts; i++) {
        const struct text *t = &texts[i];

        check(w->mode == PAPER || w->mode == DECODE
                  ? skmt_stream_push_with(s, t->src, NULL, t->pairs,
                                          pairs_of(w->preset, t), &e)
                  : skmt_stream_push(s, t->src, NULL, &e), &e);
    }
    check(skmt_stream_flush(s, &e), &e);
    start = cpu_now() - start;
    skmt_stream_free(s);
    skmt_options_free(o);
    return start;
}

static long long keys_stat(skmt_keys *k, const char *which)
{
    const char *name;
    int64_t n, found = 0;

    for (int i = 0; (name = skmt_keys_stat(k, i, &n)); i++)
        if (!strcmp(name, which)) found = n;
    return found;
}

/* Fills in the rows of a batch size and returns their number. SK-MT1 and
 * SK-MT2 of one mode are neighbors, so that they run right after each other. */
static int rows_of_batch(int batch, struct row *rows)
{
    static const char *const presets[] = { "sk1", "sk2" };
    int n = 0;

    rows[n++] = (struct row){ NULL, PLAIN, batch, { 0 } };
    for (enum mode m = PAPER; m <= NONE; m++)
        for (int p = 0; p < 2; p++)
            if (m < NONE || batch == 1)
                rows[n++] = (struct row){ presets[p], m, batch, { 0 } };
    return n;
}

static void print_row(struct row *row, const struct row *plain,
                      skmt_keys *keys)
{
    double ratio[MAX_ROUNDS];

    for (int r = 0; r < n_rounds; r++)
        ratio[r] = plain->seconds[r] / row->seconds[r];
    printf("{\"set\":\"%s\",\"system\":\"%s\",\"mode\":\"%s\","
           "\"batch\":%d,\"sentences\":%d,\"ms\":%.3f,\"ratio\":%.4f,"
           "\"key_bytes\":%lld}\n", set_name,
           row->preset ? row->preset : "nmt", mode_name[row->mode], row->batch,
           n_texts, 1e3 * median(row->seconds, n_rounds) / n_texts,
           median(ratio, n_rounds), keys_stat(keys, "bytes"));
}

/* The speed of a shared machine changes from minute to minute. A ratio is
 * therefore computed from two runs of the same round, and the median of the
 * rounds is printed. */
static void table(void)
{
    static const int batches[] = { 1, 4, 8, 16 };
    static struct row rows[MAX_ROWS];
    skmt_options *o = options_for(NULL, 1, "4G");
    skmt_keys *keys;
    skmt_error e;

    check(skmt_keys_new(&keys, model, o, NULL, &e), &e);
    run_all(&(struct row){ "sk2", DECODE, 16, { 0 } }, keys);
    run_all(&(struct row){ "sk2", WARM, 16, { 0 } }, keys);
    for (int b = 0; b < 4; b++) {
        int n = rows_of_batch(batches[b], rows);

        for (int r = 0; r < n_rounds; r++)
            for (int i = 0; i < n; i++)
                rows[i].seconds[r] = run_all(&rows[i], rows[i].mode < COLD
                                                           ? keys : NULL);
        for (int i = 0; i < n; i++) print_row(&rows[i], &rows[0], keys);
        fflush(stdout);
    }
    skmt_keys_free(keys);
    skmt_options_free(o);
}

/* ---- drafts ------------------------------------------------------------ */

struct way {
    const char *name;
    const char *preset;         /* NULL: no memory */
    const char *beam, *draft, *prune;
};

static const struct way ways[] = {
    { "nmt", NULL, "4", "0", "0" },
    { "sk1 as it is", "sk1", "4", "0", "0" },
    { "sk1 drafts", "sk1", "4", "8", "0" },
    { "sk1 drops", "sk1", "4", "0", "-1" },
    { "sk1 drafts, drops", "sk1", "4", "8", "-1" },
    { "sk2 as it is", "sk2", "4", "0", "0" },
    { "sk2 drops", "sk2", "4", "0", "-1" },
    { "sk2 drafts, drops", "sk2", "4", "8", "-1" },
    { "nmt greedy", NULL, "1", "0", "0" },
    { "sk1 greedy", "sk1", "1", "0", "0" },
    { "sk1 greedy, drafts", "sk1", "1", "8", "0" },
};
enum { WAYS = sizeof ways / sizeof *ways };

struct tally {                  /* of one way, by band */
    double seconds[BANDS][MAX_ROUNDS];
    int64_t passes[BANDS], rows[BANDS], steps[BANDS];
};

static void read_counters(skmt_session *s, int64_t out[3])
{
    static const char *const names[] = { "passes", "rows", "steps" };
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_session_stat(s, i, &n)); i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(name, names[k])) out[k] = n;
}

static double translate(skmt_session *s, const struct way *w,
                        const struct text *t, const skmt_options *o)
{
    double start = cpu_now();
    skmt_matches *m = NULL;
    skmt_result *r;
    skmt_error e;

    if (w->preset && pairs_given) {
        check(skmt_tm_search(tm, t->src, o, model, &m, &e), &e);
        check(skmt_session_translate_with(s, t->src, NULL, t->pairs,
                                          pairs_of(w->preset, t), &r, &e),
              &e);
    } else {
        check(skmt_session_translate(s, t->src, NULL, &r, &e), &e);
    }
    start = cpu_now() - start;
    skmt_matches_free(m);
    skmt_result_free(r);
    return start;
}

static void draft(void)
{
    static struct tally tally[WAYS];
    skmt_session *s[WAYS];
    skmt_options *o[WAYS];
    skmt_keys *keys;
    skmt_error e;
    int count[BANDS] = { 0 };

    check(skmt_keys_new(&keys, model, o[0] = options_for(NULL, 1, "4G"), NULL,
                        &e), &e);
    skmt_options_free(o[0]);
    for (int i = 0; i < WAYS; i++) {
        o[i] = options_for(ways[i].preset, 1, "4G");
        check(skmt_options_set(o[i], "beam", ways[i].beam, &e), &e);
        check(skmt_options_set(o[i], "draft", ways[i].draft, &e), &e);
        check(skmt_options_set(o[i], "prune", ways[i].prune, &e), &e);
        check(skmt_session_new(&s[i], model, o[i], &e), &e);
        if (ways[i].preset)
            check(skmt_session_use(s[i], tm, keys, &e), &e);
    }
    for (int i = 0; i < n_texts; i++) count[texts[i].band]++;
    /* Round 0 fills the cache. The systems take turns at every sentence, so
     * that other work on the machine slows all of them down equally. */
    for (int r = 0; r <= n_rounds; r++)
        for (int i = 0; i < n_texts; i++)
            for (int k = 0; k < WAYS; k++) {
                int64_t before[3] = { 0 }, after[3] = { 0 };
                int b = texts[i].band;
                double seconds;

                read_counters(s[k], before);
                seconds = translate(s[k], &ways[k], &texts[i], o[k]);
                read_counters(s[k], after);
                if (r) tally[k].seconds[b][r - 1] += seconds;
                if (r != 1) continue;
                tally[k].passes[b] += after[0] - before[0];
                tally[k].rows[b] += after[1] - before[1];
                tally[k].steps[b] += after[2] - before[2];
            }
    for (int k = 0; k < WAYS; k++)
        for (int b = 0; b < BANDS; b++)
            printf("{\"set\":\"%s\",\"way\":\"%s\",\"band\":%d,"
                   "\"sentences\":%d,\"seconds\":%.6f,\"passes\":%lld,"
                   "\"rows\":%lld,\"steps\":%lld}\n", set_name, ways[k].name,
                   b, count[b], median(tally[k].seconds[b], n_rounds),
                   (long long)tally[k].passes[b], (long long)tally[k].rows[b],
                   (long long)tally[k].steps[b]);
    for (int i = 0; i < WAYS; i++) {
        skmt_session_free(s[i]);
        skmt_options_free(o[i]);
    }
    skmt_keys_free(keys);
}

/* ---- a whole set, with a cache that is empty at first ------------------ */

struct system {
    const char *preset;         /* NULL: no memory */
    skmt_options *o;
    skmt_keys *keys;
    skmt_session *s;
    double seconds;
};

static void system_open(struct system *y)
{
    skmt_error e;

    y->o = options_for(y->preset, 1, USUAL_CACHE);
    check(skmt_session_new(&y->s, model, y->o, &e), &e);
    if (!y->preset) return;
    check(skmt_keys_new(&y->keys, model, y->o, NULL, &e), &e);
    check(skmt_session_use(y->s, tm, y->keys, &e), &e);
}

static void system_close(struct system *y)
{
    skmt_session_free(y->s);
    skmt_keys_free(y->keys);
    skmt_options_free(y->o);
}

static void whole(void)
{
    struct system y[] = { { .preset = NULL }, { .preset = "sk1" },
                          { .preset = "sk2" } };
    enum { N = sizeof y / sizeof *y };

    for (int k = 0; k < N; k++) system_open(&y[k]);
    for (int i = 0; i < n_texts; i++)
        for (int k = 0; k < N; k++) {
            struct way w = { .preset = y[k].preset };

            y[k].seconds += translate(y[k].s, &w, &texts[i], y[k].o);
        }
    for (int k = 1; k < N; k++)
        printf("{\"set\":\"%s\",\"whole\":\"%s\",\"sentences\":%d,"
               "\"plain\":%.3f,\"ms\":%.3f,\"ratio\":%.4f,\"hits\":%lld,"
               "\"misses\":%lld,\"key_bytes\":%lld}\n", set_name,
               y[k].preset, n_texts, 1e3 * y[0].seconds / n_texts,
               1e3 * y[k].seconds / n_texts, y[0].seconds / y[k].seconds,
               keys_stat(y[k].keys, "hits"), keys_stat(y[k].keys, "misses"),
               keys_stat(y[k].keys, "bytes"));
    for (int k = 0; k < N; k++) system_close(&y[k]);
}

/* ---- an upper bound for the speed of a cold run ------------------------ */

static size_t pieces_of(const struct weights *w, const char *text)
{
    struct pieces p = { 0 };
    struct err e;
    size_t n;

    if (subword_encode(w->src_subword, text, strlen(text), &p, &e)) die(e.msg);
    n = p.n < 199 ? p.n : 199;
    pieces_release(&p);
    return n;
}

/* Returns the number of weights that a source token is multiplied with; each is
 * one multiply-add. */
static double encoder_macs(const struct config *c)
{
    double d = c->d_model;

    return c->encoder_layers * (4 * d * d + 2 * d * c->ffn) +
           c->decoder_layers * 2 * d * d;       /* keys for cross-attention */
}

static double decoder_macs(const struct config *c)
{
    double d = c->d_model;

    return c->decoder_layers * (6 * d * d + 2 * d * c->ffn_decoder);
}

/* Nearly all inputs after a ReLU are zero. They cost next to nothing if the
 * weights are stored by input. */
static double skipped_macs(const struct linear *down)
{
    return down->by_input ? (double)down->n * down->k : 0;
}

/* The multiply-adds of a source token and of a target token. */
struct macs { double encoder, decoder; };

static struct macs all_macs(const struct weights *w)
{
    return (struct macs){ encoder_macs(&w->cfg), decoder_macs(&w->cfg) };
}

static struct macs dense_macs(const struct weights *w)
{
    struct macs m = all_macs(w);

    m.encoder -= w->cfg.encoder_layers * skipped_macs(&w->enc[0].down);
    m.decoder -= w->cfg.decoder_layers * skipped_macs(&w->dec[0].down);
    return m;
}

static double key_macs(const struct weights *w, const char *preset,
                       struct macs m)
{
    double sum = 0;

    for (int i = 0; i < n_texts; i++) {
        const skmt_similar *p = texts[i].pairs;

        for (int k = 0; k < pairs_of(preset, &texts[i]); k++) {
            int as = 0;

            while (strcmp(p[as].source, p[k].source)) as++;
            if (as == k)
                sum += m.encoder * (double)(pieces_of(w, p[k].source) + 1);
            sum += m.decoder * (double)pieces_of(w, p[k].target);
        }
    }
    return sum;
}

/* Returns the multiply-adds per second of a product of many rows, the best of
 * 60 measurements. */
static double product_rate(const struct weights *w)
{
    enum { ROWS = 480 };
    const struct kernels *k = kernels_pick(NULL);
    const struct linear *l = &w->enc[0].up;
    size_t ldx = (size_t)pad_to(l->k, PANEL), ldy = (size_t)pad_to(l->n, PANEL);
    float *x = mem_alloc(ROWS * ldx, sizeof *x), xs[ROWS];
    float *y = mem_alloc(ROWS * ldy, sizeof *y);
    uint8_t *xq = mem_alloc(ROWS, (size_t)pad_to(l->k, 4));
    double best = 1e9;

    if (!x || !y || !xq) die("out of memory");
    if (l->type != DT_I8) die("the bound is defined for int8 models only");
    for (size_t i = 0; i < ROWS * ldx; i++) x[i] = (float)(i % 97) / 97 - 0.5f;
    k->quantize(x, ldx, ROWS, l->k, xq, xs);
    for (int r = 0; r < 60; r++) {
        struct gemm g = { .l = l, .rows = ROWS, .x = x, .ldx = ldx, .xq = xq,
                          .xs = xs, .y = y, .ldy = ldy, .act = ACT_RELU };
        double start = cpu_now();

        k->gemm_i8(&g, 0, linear_panels(l));
        start = cpu_now() - start;
        if (start < best) best = start;
    }
    mem_free(x);
    mem_free(y);
    mem_free(xq);
    return (double)ROWS * l->n * l->k / best;
}

static double plain_macs(const struct weights *w)
{
    skmt_options *o = options_for(NULL, 16, "0");
    skmt_stream *s;
    skmt_error e;
    int64_t work = 0, rows = 0;
    const char *name;
    double sum = 0;

    check(skmt_stream_new(&s, model, o, ignore, NULL, &e), &e);
    for (int i = 0; i < n_texts; i++) {
        check(skmt_stream_push(s, texts[i].src, NULL, &e), &e);
        sum += encoder_macs(&w->cfg) * (double)(pieces_of(w, texts[i].src) + 1);
    }
    check(skmt_stream_flush(s, &e), &e);
    for (int i = 0; (name = skmt_stream_stat(s, i, &work)); i++)
        if (!strcmp(name, "rows")) rows = work;
    skmt_stream_free(s);
    skmt_options_free(o);
    return sum + (double)rows * (decoder_macs(&w->cfg) +
                                 (double)w->cfg.d_model * w->cfg.vocab_size);
}

static void bound(const char *path)
{
    struct weights *w;
    struct err e;
    double plain, n = n_texts * 1e9;

    if (weights_open(&w, path, &e)) die(e.msg);
    plain = plain_macs(w);
    printf("{\"set\":\"%s\",\"bound\":{\"sk1\":%.4f,\"sk2\":%.4f},"
           "\"gmac\":%.3f,\"dense\":{\"sk1\":%.4f,\"sk2\":%.4f},"
           "\"rate\":%.1f}\n", set_name,
           plain / (plain + key_macs(w, "sk1", all_macs(w))),
           plain / (plain + key_macs(w, "sk2", all_macs(w))), plain / n,
           key_macs(w, "sk1", dense_macs(w)) / n,
           key_macs(w, "sk2", dense_macs(w)) / n, product_rate(w) / 1e9);
    weights_close(w);
}

/* ---- the size of a datastore of all tokens ------------------------------ */

static void count_tokens(const char *path)
{
    struct weights *w;
    struct err e;
    skmt_tm_cursor *c;
    skmt_error se;
    skmt_pair p = SKMT_INIT(skmt_pair);
    int found = 0;
    long long pairs = 0, tokens = 0;

    if (weights_open(&w, path, &e)) die(e.msg);
    check(skmt_tm_cursor_open(&c, tm, NULL, &se), &se);
    for (;;) {
        struct pieces pieces = { 0 };

        check(skmt_tm_cursor_next(c, &p, &found, &se), &se);
        if (!found) break;
        if (subword_encode(w->tgt_subword, p.target, strlen(p.target), &pieces,
                           &e))
            die(e.msg);
        tokens += (long long)pieces.n + 1;
        pairs++;
        pieces_release(&pieces);
    }
    printf("{\"pairs\":%lld,\"tokens\":%lld,\"d\":%d}\n", pairs, tokens,
           w->cfg.d_model);
    skmt_tm_cursor_close(c);
    weights_close(w);
}

int main(int argc, char **argv)
{
    skmt_error e;

    if (argc == 4 && !strcmp(argv[2], "tokens")) {
        check(skmt_tm_open(&tm, argv[3], SKMT_TM_WRITE, &e), &e);
        count_tokens(argv[1]);
        skmt_tm_close(tm);
        return 0;
    }
    if (argc != 7)
        die("usage: steer MODEL table|draft|whole|bound NAME MEMORY.tm "
            "FILE.jsonl ROUNDS");
    n_rounds = atoi(argv[6]);
    if (n_rounds < 1 || n_rounds > MAX_ROUNDS)
        die("ROUNDS must be from 1 to 25");
    set_name = argv[3];
    check(skmt_model_open(&model, argv[1], &e), &e);
    check(skmt_tm_open(&tm, argv[4], SKMT_TM_WRITE, &e), &e);
    read_texts(argv[5], strcmp(argv[2], "whole"));
    if (!strcmp(argv[2], "table")) table();
    else if (!strcmp(argv[2], "bound")) bound(argv[1]);
    else if (!strcmp(argv[2], "whole")) whole();
    else draft();
    skmt_tm_close(tm);
    skmt_model_close(model);
    return 0;
}
