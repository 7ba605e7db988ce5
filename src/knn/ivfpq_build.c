/* ivfpq_build.c - trains an IVF-PQ index with a sample of the keys of a
 * datastore, encodes all keys, and writes the index file. The plug-in moves
 * centroids and computes codes; distances to centroids are computed here, so
 * that threads can share the work and the result does not depend on the BLAS
 * library that Faiss would use. */
#include "knn/ivfpq_build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/splitmix.h"
#include "knn/centroids.h"
#include "knn/datastore_file.h"
#include "knn/entry_numbers.h"
#include "knn/ivfpq_file.h"
#include "knn/ivfpq_plugin.h"

enum {
    LIST_ROUNDS = 10,           /* of k-means, as in the published systems */
    CODE_ROUNDS = 25,
    CODE_SAMPLE = 256 * IVFPQ_CODES,    /* keys that train the codebooks */
    CHUNK = 4096,               /* keys that are compared between two calls of
                                   progress */
    KEYS_PER_LIST = 39
};

/* What a call of the pool works on. */
struct assignment {
    const struct centroids *c;
    const float *x;             /* [n, d] */
    int64_t n;
    int64_t *which;             /* [n] nearest centroid */
    float *d2;                  /* [n] */
    float *scores;              /* [threads, CENTROID_ROWS, ld] */
};

struct indexer {
    const struct entries *s;
    struct ivfpq_build_options o;
    const struct faiss_plugin *plugin;
    struct pool *pool;
    int threads;
    struct ivfpq_header head;
    int64_t n;                  /* entries that can be found */

    float *sample;              /* [n_sample, d] */
    int64_t n_sample;
    float *centroids;           /* [lists, d] */
    float *codebooks;           /* [subvectors, 256, d / subvectors] */

    /* Every entry that can be found, in the order of the file. */
    int64_t *ids;               /* [n] */
    int32_t *list;              /* [n] */
    uint8_t *codes;             /* [n, subvectors] */

    struct centroids *set;      /* that the clustering compares with */
    const char *stage;
    uint64_t done, total;       /* of the stage */
};

/* ---- progress ------------------------------------------------------------ */

static void begin_stage(struct indexer *b, const char *stage, uint64_t total)
{
    b->stage = stage;
    b->done = 0;
    b->total = total;
}

static bool builder_advance(struct indexer *b, uint64_t n)
{
    b->done += n;
    return !b->o.progress || !b->o.progress(b->o.user, b->stage, b->done,
                                            b->total, b->done);
}

/* ---- nearest centroids --------------------------------------------------- */

/* The function of a pool. */
static void assign_share(void *arg, int part, int n_parts)
{
    const struct assignment *a = arg;
    const struct centroids *c = a->c;
    float *scores = a->scores + (size_t)part * CENTROID_ROWS * c->ld;
    int64_t end = a->n * (part + 1) / n_parts;

    for (int64_t i = a->n * part / n_parts; i < end; i += CENTROID_ROWS) {
        int rows = end - i < CENTROID_ROWS ? (int)(end - i) : CENTROID_ROWS;
        const float *x = a->x + (size_t)i * (size_t)c->d;

        centroids_score(c, x, (size_t)c->d, rows, scores);
        for (int r = 0; r < rows; r++)
            centroids_best(c, x + (size_t)r * (size_t)c->d,
                           scores + (size_t)r * c->ld, 1, &a->which[i + r],
                           &a->d2[i + r]);
    }
}

/* Find the nearest centroid of each x. Returns false if it was canceled, or
 * memory ran out. */
static bool assign_rows(struct indexer *b, const struct centroids *c,
                        const float *x, int64_t n, int64_t *which, float *d2)
{
    struct assignment a = { .c = c };
    bool go_on = true;

    a.scores = mem_alloc((size_t)b->threads * CENTROID_ROWS * c->ld,
                         sizeof *a.scores);
    if (!a.scores) return false;
    for (int64_t i = 0; go_on && i < n; i += CHUNK) {
        a.x = x + (size_t)i * (size_t)c->d;
        a.n = n - i < CHUNK ? n - i : CHUNK;
        a.which = which + i;
        a.d2 = d2 + i;
        pool_run(b->pool, assign_share, &a);
        go_on = builder_advance(b, (uint64_t)a.n);
    }
    mem_free(a.scores);
    return go_on;
}

/* A faiss_nearest_fn. */
static int nearest_centroids(void *user, const float *centroids,
                             int n_centroids, int d, const float *x,
                             int64_t n, int64_t *which, float *d2)
{
    struct indexer *b = user;

    assert(b->set->n == n_centroids && b->set->d == d);
    centroids_set(b->set, centroids);
    return !assign_rows(b, b->set, x, n, which, d2);
}

/* Cluster x [n, d] by k-means. */
static enum status cluster_keys(struct indexer *b, const float *x, int64_t n,
                                int d, int n_centroids, int rounds,
                                float *out, struct err *e)
{
    struct faiss_clustering c = {
        .n = n, .d = d, .n_centroids = n_centroids, .rounds = rounds,
        .seed = (int)(b->o.seed & INT32_MAX), .x = x,
        .nearest = nearest_centroids, .user = b };
    struct faiss_message why;
    struct centroids set;
    enum status st = centroids_init(&set, x, n_centroids, d, e);
    int result;

    if (st) return st;
    b->set = &set;
    result = b->plugin->cluster(&c, out, &why);
    centroids_release(&set);
    return ivfpq_plugin_result(result, &why, e);
}

/* ---- training ------------------------------------------------------------ */

/* Read the sample: each entry is taken with the probability that is needed to
 * get exactly n_sample of them (Knuth, algorithm S). */
static enum status read_sample(struct indexer *b, struct err *e)
{
    const struct entries *s = b->s;
    uint64_t state = b->o.seed, left = (uint64_t)b->n;
    int64_t taken = 0;

    b->sample = mem_alloc((size_t)b->n_sample * (size_t)s->d,
                          sizeof *b->sample);
    if (!b->sample) return err_nomem(e, "IVF-PQ index: sample of keys");
    for (int k = 0; k < s->n_blocks; k++)
        for (int i = 0; i < s->blocks[k].n; i++) {
            if (entry_is_deleted(&s->blocks[k], i)) continue;
            if (splitmix_unit(&state) * (double)left-- <
                (double)(b->n_sample - taken))
                entries_key(s, &s->blocks[k], i,
                            b->sample + (size_t)taken++ * (size_t)s->d);
        }
    assert(taken == b->n_sample);
    return ST_OK;
}

static enum status train_lists(struct indexer *b, struct err *e)
{
    begin_stage(b, "lists", (uint64_t)b->n_sample * LIST_ROUNDS);
    return cluster_keys(b, b->sample, b->n_sample, b->s->d,
                        (int)b->head.lists, LIST_ROUNDS, b->centroids, e);
}

/* Replace the first n keys of the sample by an even choice of it, as
 * differences to their centroids. */
static enum status take_differences(struct indexer *b, int64_t n,
                                    struct err *e)
{
    size_t d = (size_t)b->s->d;
    int64_t *which = calloc((size_t)n, sizeof *which);
    float *d2 = calloc((size_t)n, sizeof *d2);
    struct centroids set = { 0 };
    enum status st = which && d2 ? ST_OK : err_nomem(e, "IVF-PQ index");

    for (int64_t i = 0; i < n; i++)     /* to a place that is not behind */
        memmove(b->sample + (size_t)i * d,
                b->sample + (size_t)(i * b->n_sample / n) * d,
                d * sizeof *b->sample);
    if (!st)
        st = centroids_init(&set, b->centroids, (int)b->head.lists, b->s->d,
                            e);
    if (!st && !assign_rows(b, &set, b->sample, n, which, d2))
        st = err_set(e, ST_CANCELED, "canceled");
    for (int64_t i = 0; !st && i < n; i++)
        for (size_t k = 0; k < d; k++)
            b->sample[(size_t)i * d + k] -=
                b->centroids[(size_t)which[i] * d + k];
    centroids_release(&set);
    free(which);
    free(d2);
    return st;
}

static enum status train_codebooks(struct indexer *b, struct err *e)
{
    int m = (int)b->head.subvectors, d = b->s->d, part = d / m;
    int64_t n = b->n_sample < CODE_SAMPLE ? b->n_sample : CODE_SAMPLE;
    float *x = mem_alloc((size_t)n * (size_t)part, sizeof *x);
    enum status st = x ? ST_OK : err_nomem(e, "IVF-PQ index");

    begin_stage(b, "codebooks", (uint64_t)n * (1 + (uint64_t)m * CODE_ROUNDS));
    if (!st) st = take_differences(b, n, e);
    for (int j = 0; !st && j < m; j++) {
        for (int64_t i = 0; i < n; i++)
            memcpy(x + i * part, b->sample + i * d + j * part,
                   (size_t)part * sizeof *x);
        st = cluster_keys(b, x, n, part, IVFPQ_CODES, CODE_ROUNDS,
                          b->codebooks + (size_t)j * IVFPQ_CODES *
                                         (size_t)part, e);
    }
    mem_free(x);
    mem_free(b->sample);
    b->sample = NULL;
    return st;
}

/* ---- encoding ------------------------------------------------------------ */

/* A few keys on their way to codes. */
struct chunk_of_keys {
    struct indexer *b;
    struct faiss_index *faiss;
    const struct centroids *set;
    int64_t at;                 /* entries that were encoded before */
    int n;
    float *x;                   /* [CHUNK, d] */
    int64_t which[CHUNK];
    float d2[CHUNK];
    int *result;                /* [threads] */
    struct faiss_message *why;  /* [threads] */
};

/* The function of a pool. */
static void encode_share(void *arg, int part, int n_parts)
{
    struct chunk_of_keys *c = arg;
    int from = (int)((int64_t)c->n * part / n_parts);
    int to = (int)((int64_t)c->n * (part + 1) / n_parts);

    c->result[part] = c->b->plugin->encode(
        c->faiss, c->x + (size_t)from * (size_t)c->b->s->d, to - from,
        c->which + from,
        c->b->codes + (size_t)(c->at + from) * c->b->head.subvectors,
        &c->why[part]);
}

static enum status encode_chunk(struct chunk_of_keys *c, struct err *e)
{
    struct indexer *b = c->b;

    if (!assign_rows(b, c->set, c->x, c->n, c->which, c->d2))
        return err_set(e, ST_CANCELED, "canceled");
    pool_run(b->pool, encode_share, c);
    for (int i = 0; i < b->threads; i++)
        if (c->result[i])
            return ivfpq_plugin_result(c->result[i], &c->why[i], e);
    for (int i = 0; i < c->n; i++) b->list[c->at + i] = (int32_t)c->which[i];
    c->at += c->n;
    c->n = 0;
    return ST_OK;
}

static enum status encode_keys(struct chunk_of_keys *c, struct err *e)
{
    const struct entries *s = c->b->s;
    int64_t number = 0;
    enum status st = ST_OK;

    for (int k = 0; !st && k < s->n_blocks; k++)
        for (int i = 0; !st && i < s->blocks[k].n; i++, number++) {
            if (entry_is_deleted(&s->blocks[k], i)) continue;
            c->b->ids[c->at + c->n] = number;
            entries_key(s, &s->blocks[k], i,
                        c->x + (size_t)c->n++ * (size_t)s->d);
            if (c->n == CHUNK) st = encode_chunk(c, e);
        }
    if (!st && c->n) st = encode_chunk(c, e);
    assert(st || c->at == c->b->n);
    return st;
}

static struct faiss_arrays trained_arrays(const struct indexer *b)
{
    return (struct faiss_arrays){
        .d = b->s->d, .lists = (int)b->head.lists,
        .subvectors = (int)b->head.subvectors, .centroids = b->centroids,
        .codebooks = b->codebooks };
}

static enum status encode_all(struct indexer *b, struct err *e)
{
    struct chunk_of_keys *c = calloc(1, sizeof *c);
    struct faiss_arrays arrays = trained_arrays(b);
    struct centroids set = { 0 };
    struct faiss_message why;
    enum status st;

    if (!c) return err_nomem(e, "IVF-PQ index");
    c->b = b;
    c->set = &set;
    c->x = mem_alloc((size_t)CHUNK * (size_t)b->s->d, sizeof *c->x);
    c->result = calloc((size_t)b->threads, sizeof *c->result);
    c->why = calloc((size_t)b->threads, sizeof *c->why);
    st = c->x && c->result && c->why ? ST_OK : err_nomem(e, "IVF-PQ index");
    if (!st)
        st = centroids_init(&set, b->centroids, arrays.lists, arrays.d, e);
    if (!st)
        st = ivfpq_plugin_result(b->plugin->index_new(&c->faiss, &arrays,
                                                      &why), &why, e);
    begin_stage(b, "entries", (uint64_t)b->n);
    if (!st) st = encode_keys(c, e);
    b->plugin->index_free(c->faiss);
    centroids_release(&set);
    mem_free(c->x);
    free(c->result);
    free(c->why);
    free(c);
    return st;
}

/* ---- writing ------------------------------------------------------------- */

struct index_out {
    struct replacement file;
    XXH3_state_t *sum;          /* of what follows the header */
    uint64_t at;                /* bytes of the file so far */
    size_t held;                /* bytes in `buffer` */
    char buffer[1 << 16];       /* because entries are put one by one */
};

static enum status flush_index(struct index_out *out, struct err *e)
{
    size_t n = out->held;

    out->held = 0;
    XXH3_64bits_update(out->sum, out->buffer, n);
    return replacement_write(&out->file, out->buffer, n, e);
}

static enum status put_index_bytes(struct index_out *out, const void *bytes,
                                   size_t n, struct err *e)
{
    const char *from = bytes;
    enum status st = ST_OK;

    out->at += n;
    while (!st && n) {
        size_t room = sizeof out->buffer - out->held;
        size_t part = n < room ? n : room;

        memcpy(out->buffer + out->held, from, part);
        out->held += part;
        from += part;
        n -= part;
        if (out->held == sizeof out->buffer) st = flush_index(out, e);
    }
    return st;
}

/* Put zeros up to a multiple of 64 bytes. */
static enum status pad_array(struct index_out *out, struct err *e)
{
    static const char zeros[64];

    return put_index_bytes(out, zeros, (size_t)(-out->at % 64), e);
}

/* Where each list begins, and the entries in the order of the lists. */
struct list_order { uint64_t *begin, *order; };

static bool sort_by_list(const struct indexer *b, struct list_order *o)
{
    uint64_t *at;

    o->begin = calloc((size_t)b->head.lists + 2, sizeof *o->begin);
    o->order = calloc((size_t)b->n + 1, sizeof *o->order);
    if (!o->begin || !o->order) return false;
    /* begin[i + 1] is counted at i + 2, and is the place of the next entry of
     * list i while they are put in order. */
    for (int64_t i = 0; i < b->n; i++) o->begin[b->list[i] + 2]++;
    at = o->begin + 1;
    for (uint32_t i = 1; i <= b->head.lists; i++) at[i] += at[i - 1];
    for (int64_t i = 0; i < b->n; i++)
        o->order[at[b->list[i]]++] = (uint64_t)i;
    return true;
}

static enum status put_lists(struct index_out *out, const struct indexer *b,
                             const struct list_order *o, struct err *e)
{
    size_t m = b->head.subvectors;
    enum status st = put_index_bytes(out, o->begin, ((size_t)b->head.lists +
                                     1) * sizeof *o->begin, e);

    if (!st) st = pad_array(out, e);
    for (int64_t i = 0; !st && i < b->n; i++)
        st = put_index_bytes(out, &b->ids[o->order[i]], sizeof *b->ids, e);
    if (!st) st = pad_array(out, e);
    for (int64_t i = 0; !st && i < b->n; i++)
        st = put_index_bytes(out, b->codes + o->order[i] * m, m, e);
    return st ? st : pad_array(out, e);
}

static enum status put_centroids(struct index_out *out,
                                 const struct indexer *b, struct err *e)
{
    size_t d = b->head.d;
    enum status st = put_index_bytes(out, b->centroids, b->head.lists * d *
                                     sizeof *b->centroids, e);

    if (!st) st = pad_array(out, e);
    if (!st) st = put_index_bytes(out, b->codebooks, IVFPQ_CODES * d *
                                  sizeof *b->codebooks, e);
    return st ? st : pad_array(out, e);
}

static enum status put_header(struct index_out *out, struct indexer *b,
                              struct err *e)
{
    uint8_t page[IVFPQ_PAGE] = { 0 };
    enum status st = flush_index(out, e);

    if (st) return st;
    b->head.size = out->file.size;
    b->head.payload_sum = XXH3_64bits_digest(out->sum);
    assert(b->head.size == ivfpq_layout_of(&b->head).size);
    memcpy(page, &b->head, sizeof b->head);
    b->head.sum = ivfpq_header_sum(page);
    memcpy(page, &b->head, sizeof b->head);
    return replacement_patch(&out->file, 0, page, sizeof page, e);
}

static enum status write_index(struct indexer *b, const char *path,
                               struct err *e)
{
    uint8_t page[IVFPQ_PAGE] = { 0 };
    struct index_out out = { .sum = XXH3_createState(), .at = IVFPQ_PAGE };
    struct list_order order = { 0 };
    enum status st = out.sum && sort_by_list(b, &order)
                   ? replacement_begin(&out.file, path, e)
                   : err_nomem(e, "IVF-PQ index");

    if (!st) {
        XXH3_64bits_reset(out.sum);
        st = replacement_write(&out.file, page, sizeof page, e);
        if (!st) st = put_centroids(&out, b, e);
        if (!st) st = put_lists(&out, b, &order, e);
        if (!st) st = put_header(&out, b, e);
        if (!st) st = replacement_commit(&out.file, e);
        else replacement_abort(&out.file);
    }
    XXH3_freeState(out.sum);
    free(order.begin);
    free(order.order);
    return st;
}

/* ---- options ------------------------------------------------------------- */

int ivfpq_build_lists(int64_t n)
{
    int lists = 1;

    while (lists < IVFPQ_LISTS && 2 * lists <= n / KEYS_PER_LIST &&
           (int64_t)lists * lists <= 4 * n)     /* 2 lists <= 4 sqrt(n) */
        lists *= 2;
    return lists;
}

/* The largest divisor of d that is at most 64. */
static int default_subvectors(int d)
{
    int m = d < IVFPQ_SUBVECTORS ? d : IVFPQ_SUBVECTORS;

    while (d % m) m--;
    return m;
}

static int64_t default_sample(int lists)
{
    int64_t n = (int64_t)lists * IVFPQ_SAMPLE_PER_LIST;

    return n > CODE_SAMPLE ? n : CODE_SAMPLE;
}

static enum status check_build_options(const struct indexer *b, struct err *e)
{
    const struct ivfpq_build_options *o = &b->o;
    int d = b->s->d;

    if (b->n < IVFPQ_CODES)
        return err_set(e, ST_ARGUMENT, "the datastore has %" PRId64 " entries; "
                       "an index needs at least %d, and so small a datastore "
                       "is searched faster without one", b->n, IVFPQ_CODES);
    if (o->lists < 0 || o->lists > IVFPQ_LISTS_MAX || o->lists > b->n)
        return err_set(e, ST_ARGUMENT, "lists: %d is not from 1 to %" PRId64,
                       o->lists, b->n < IVFPQ_LISTS_MAX
                       ? b->n : (int64_t)IVFPQ_LISTS_MAX);
    if (o->subvectors < 0 || o->subvectors > d ||
        (o->subvectors && d % o->subvectors))
        return err_set(e, ST_ARGUMENT, "subvectors: keys have %d numbers, "
                       "which cannot be divided into %d equal parts", d,
                       o->subvectors);
    if (o->sample && (o->sample < IVFPQ_CODES || o->sample < o->lists))
        return err_set(e, ST_ARGUMENT, "train-sample: %" PRId64 " keys are too "
                       "few; there must be at least one for each list, and "
                       "%d", o->sample, IVFPQ_CODES);
    if (o->probes < 0)
        return err_set(e, ST_ARGUMENT, "probes: %d is negative", o->probes);
    return ST_OK;
}

static void set_header(struct indexer *b)
{
    struct datastore_info info = datastore_file_info(b->s);
    const struct ivfpq_build_options *o = &b->o;
    int lists = o->lists ? o->lists : ivfpq_build_lists(b->n);
    int64_t sample = o->sample ? o->sample : default_sample(lists);
    int m = o->subvectors ? o->subvectors : default_subvectors(b->s->d);

    b->n_sample = sample < b->n ? sample : b->n;
    b->head = (struct ivfpq_header){
        .magic = IVFPQ_MAGIC, .endian = IVFPQ_ENDIAN,
        .version = IVFPQ_VERSION, .store = info.store, .model = info.model,
        .keys = datastore_file_keys_sum(b->s, b->s->n_blocks),
        .stored = (uint64_t)info.entries, .n = (uint64_t)b->n,
        .blocks = (uint32_t)b->s->n_blocks, .d = (uint32_t)b->s->d,
        .lists = (uint32_t)lists, .subvectors = (uint32_t)m,
        .probes = (uint32_t)(o->probes ? o->probes : IVFPQ_PROBES),
        .sample = (uint64_t)b->n_sample, .seed = o->seed };
}

static enum status builder_alloc(struct indexer *b, struct err *e)
{
    size_t d = (size_t)b->s->d, n = (size_t)b->n;

    b->centroids = mem_alloc(b->head.lists * d, sizeof *b->centroids);
    b->codebooks = mem_alloc(IVFPQ_CODES * d, sizeof *b->codebooks);
    b->ids = calloc(n, sizeof *b->ids);
    b->list = calloc(n, sizeof *b->list);
    b->codes = calloc(n, b->head.subvectors);
    return b->centroids && b->codebooks && b->ids && b->list && b->codes
         ? ST_OK : err_nomem(e, "IVF-PQ index");
}

static void builder_release(struct indexer *b)
{
    pool_free(b->pool);
    mem_free(b->sample);
    mem_free(b->centroids);
    mem_free(b->codebooks);
    free(b->ids);
    free(b->list);
    free(b->codes);
}

enum status ivfpq_build(const struct entries *s, const char *path,
                        const struct ivfpq_build_options *o, struct err *e)
{
    struct indexer b = { .s = s, .o = *o, .n = s->n, .threads = 1 };
    enum status st = check_build_options(&b, e);

    if (!st) st = ivfpq_plugin_get(&b.plugin, e);
    if (!st && o->threads > 1) st = pool_new(&b.pool, o->threads, e);
    if (!st) {
        b.threads = pool_threads(b.pool);
        set_header(&b);
        st = builder_alloc(&b, e);
    }
    if (!st) st = read_sample(&b, e);
    if (!st) st = train_lists(&b, e);
    if (!st) st = train_codebooks(&b, e);
    if (!st) st = encode_all(&b, e);
    if (!st) st = write_index(&b, path, e);
    builder_release(&b);
    return st;
}
