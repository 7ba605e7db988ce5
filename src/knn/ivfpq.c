/* ivfpq.c - searches by an IVF-PQ index: chooses lists, lets Faiss compare the
 * codes in them, and computes the distances of the best candidates. It does not
 * build indexes (ivfpq_build.c).
 *
 * Invariants:
 *   - The arrays of the file were checked, so every id that Faiss returns is
 *     the number of an entry.
 *   - Hits of a query are sorted by distance, then by block and entry. */
#include "knn/ivfpq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/centroids.h"
#include "knn/datastore_format.h"
#include "knn/entry_numbers.h"
#include "knn/ivfpq_plugin.h"

struct ivfpq {
    struct ivfpq_file file;
    struct ivfpq_options o;
    const struct entries *s;    /* borrowed: it owns this index */
    const struct faiss_plugin *plugin;
    struct faiss_index *faiss;
    struct centroids centroids;
    struct entry_numbers numbers;
    uint8_t *live;              /* bit map of entries; NULL: none of the lists
                                   was deleted */
};

struct ivfpq_scan {
    const struct ivfpq *ix;
    const struct kernels *kernels;
    int most;                   /* candidates of a query */
    float *scores;              /* [CENTROID_ROWS, ld of centroids] */
    int64_t *list;              /* [probes] */
    float *list_d2;             /* [probes] */
    int64_t *id;                /* [most] candidates */
    float *d2;                  /* [most] */
    int8_t *key;                /* an int8 key, padded with zeros to 64 */
    int n_queries;
    int found[EXACT_SCAN_ROWS];
    struct scan_hit *hits;      /* [EXACT_SCAN_ROWS, KNN_MAX_K] */
};

/* ---- candidates ---------------------------------------------------------- */

/* The squared distance of a query to a stored key, as exact_scan.c computes
 * it. */
static float key_distance(struct ivfpq_scan *sc, const float *q,
                          const struct entry_block *b, int i)
{
    const struct entries *s = sc->ix->s;
    float d2;
    struct distances a = { .q = q, .n_q = 1, .n = 1, .d = s->d, .out = &d2,
                           .ldq = (size_t)pad_to(s->d, 16), .ldo = 1 };

    if (s->type == ENTRY_INT8) {
        datastore_key_unpack(b->keys, i, pad_to(s->d, 4), sc->key);
        a.keys = sc->key;
        a.ldk = (size_t)pad_to(s->d, 64);
        a.scale = b->scale + i;
        sc->kernels->distances_i8(&a);
    } else {
        a.ldk = (size_t)pad_to(s->d, 32);
        a.keys = (const uint16_t *)b->keys + (size_t)i * a.ldk;
        sc->kernels->distances_f16(&a);
    }
    return d2;
}

static bool hit_before(const struct scan_hit *a, const struct scan_hit *b)
{
    if (a->d2 != b->d2) return a->d2 < b->d2;
    if (a->block != b->block) return a->block < b->block;
    return a->entry < b->entry;
}

/* Insert a hit into a sorted list of n of at most k. Returns the new n. */
static int hit_insert(struct scan_hit *list, int n, int k, struct scan_hit hit)
{
    int at;

    if (n == k && !hit_before(&hit, &list[k - 1])) return n;
    if (n < k) n++;
    for (at = n - 1; at > 0 && hit_before(&hit, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = hit;
    return n;
}

/* Keep the best k of the n candidates as hits of query r. */
static void take_candidates(struct ivfpq_scan *sc, const float *q, int r,
                            int k, int n)
{
    const struct ivfpq *ix = sc->ix;
    struct scan_hit *list = sc->hits + (size_t)r * KNN_MAX_K;

    for (int c = 0; c < n && sc->id[c] >= 0; c++) {
        int i;
        const struct entry_block *b = entry_numbers_find(&ix->numbers,
                                                         sc->id[c], &i);
        struct scan_hit hit = { sc->d2[c], (int32_t)(b - ix->s->blocks), i };

        assert(!entry_is_deleted(b, i));
        if (ix->o.rerank) hit.d2 = key_distance(sc, q, b, i);
        if (!(hit.d2 < INFINITY)) hit.d2 = INFINITY;
        if (hit.d2 < 0) hit.d2 = 0;     /* by codes, after rounding */
        sc->found[r] = hit_insert(list, sc->found[r], k, hit);
    }
}

/* ---- a run --------------------------------------------------------------- */

static enum status search_lists(struct ivfpq_scan *sc, const float *q, int r,
                                int k, const float *scores, struct err *e)
{
    const struct ivfpq *ix = sc->ix;
    int n = ix->o.rerank ? k * ix->o.rerank : k;
    struct faiss_message why;
    int result;

    assert(n <= sc->most);
    sc->found[r] = 0;
    centroids_best(&ix->centroids, q, scores, ix->o.probes, sc->list,
                   sc->list_d2);
    result = ix->plugin->search(ix->faiss, q, ix->o.probes, sc->list,
                                sc->list_d2, n, sc->d2, sc->id, &why);
    if (result) return ivfpq_plugin_result(result, &why, e);
    take_candidates(sc, q, r, k, n);
    return ST_OK;
}

enum status ivfpq_scan_run(struct ivfpq_scan *sc,
                           const struct scan_queries *queries, struct err *e)
{
    const struct centroids *c = &sc->ix->centroids;
    enum status st = ST_OK;

    assert(queries->n <= EXACT_SCAN_ROWS);
    sc->n_queries = queries->n;
    for (int r = 0; !st && r < queries->n; r += CENTROID_ROWS) {
        const float *q = queries->q + (size_t)r * queries->ldq;
        int n = queries->n - r < CENTROID_ROWS ? queries->n - r
                                               : CENTROID_ROWS;

        centroids_score(c, q, queries->ldq, n, sc->scores);
        for (int i = 0; !st && i < n; i++, q += queries->ldq)
            st = search_lists(sc, q, r + i, queries->k[r + i],
                              sc->scores + (size_t)i * c->ld, e);
    }
    return st;
}

const struct scan_hit *ivfpq_scan_hits(const struct ivfpq_scan *sc, int i,
                                       int *n)
{
    assert(i >= 0 && i < sc->n_queries);
    *n = sc->found[i];
    return sc->hits + (size_t)i * KNN_MAX_K;
}

void ivfpq_scan_free(struct ivfpq_scan *sc)
{
    if (!sc) return;
    mem_free(sc->scores);
    mem_free(sc->key);
    free(sc->list);
    free(sc->list_d2);
    free(sc->id);
    free(sc->d2);
    free(sc->hits);
    free(sc);
}

static bool ivfpq_scan_alloc(struct ivfpq_scan *sc)
{
    const struct ivfpq *ix = sc->ix;
    size_t probes = (size_t)ix->o.probes, most = (size_t)sc->most;

    sc->scores = mem_alloc(CENTROID_ROWS * ix->centroids.ld,
                           sizeof *sc->scores);
    sc->key = mem_zalloc((size_t)pad_to(ix->s->d, 64), 1);
    sc->list = calloc(probes, sizeof *sc->list);
    sc->list_d2 = calloc(probes, sizeof *sc->list_d2);
    sc->id = calloc(most, sizeof *sc->id);
    sc->d2 = calloc(most, sizeof *sc->d2);
    sc->hits = calloc((size_t)EXACT_SCAN_ROWS * KNN_MAX_K, sizeof *sc->hits);
    return sc->scores && sc->key && sc->list && sc->list_d2 && sc->id &&
           sc->d2 && sc->hits;
}

enum status ivfpq_scan_new(struct ivfpq_scan **out, const struct ivfpq *ix,
                           struct err *e)
{
    struct ivfpq_scan *sc = calloc(1, sizeof *sc);

    *out = NULL;
    if (!sc) return err_nomem(e, "neighbor search");
    sc->ix = ix;
    sc->kernels = kernels_pick(NULL);
    sc->most = KNN_MAX_K * (ix->o.rerank ? ix->o.rerank : 1);
    if (!ivfpq_scan_alloc(sc)) {
        ivfpq_scan_free(sc);
        return err_nomem(e, "neighbor search");
    }
    *out = sc;
    return ST_OK;
}

/* ---- opening ------------------------------------------------------------- */

/* Mark the entries that can be found, if some of the lists were deleted. */
static enum status mark_live(struct ivfpq *ix, struct err *e)
{
    const struct entries *s = ix->s;
    const struct ivfpq_header *h = &ix->file.head;
    uint64_t gone = 0, number = 0;

    ix->live = calloc(h->stored / 8 + 1, 1);
    if (!ix->live) return err_nomem(e, "IVF-PQ index");
    for (uint32_t b = 0; b < h->blocks; b++)
        for (int i = 0; i < s->blocks[b].n; i++, number++)
            if (!entry_is_deleted(&s->blocks[b], i))
                ix->live[number / 8] |= (uint8_t)(1 << number % 8);
    for (uint64_t i = 0; i < h->n; i++)
        gone += !(ix->live[ix->file.ids[i] / 8] >> ix->file.ids[i] % 8 & 1);
    if (gone) return ST_OK;
    free(ix->live);
    ix->live = NULL;
    return ST_OK;
}

static enum status open_faiss(struct ivfpq *ix, struct err *e)
{
    const struct ivfpq_file *f = &ix->file;
    struct faiss_arrays a = {
        .d = (int)f->head.d, .lists = (int)f->head.lists,
        .subvectors = (int)f->head.subvectors, .centroids = f->centroids,
        .codebooks = f->codebooks, .begin = f->begin, .ids = f->ids,
        .codes = f->codes, .live = ix->live,
        .live_bytes = f->head.stored / 8 + 1 };
    struct faiss_message why;
    int result = ix->plugin->index_new(&ix->faiss, &a, &why);

    return ivfpq_plugin_result(result, &why, e);
}

static enum status set_options(struct ivfpq *ix, const struct ivfpq_options *o,
                               struct err *e)
{
    int lists = (int)ix->file.head.lists;

    ix->o = *o;
    if (o->rerank < 0 || o->rerank > IVFPQ_RERANK_MAX || o->probes < 0)
        return err_set(e, ST_ARGUMENT, "rerank must be from 0 to %d, and "
                       "probes not negative", IVFPQ_RERANK_MAX);
    if (!o->probes) ix->o.probes = (int)ix->file.head.probes;
    if (ix->o.probes > lists) ix->o.probes = lists;
    return ST_OK;
}

enum status ivfpq_open(struct ivfpq **out, const char *path,
                       const struct entries *s, const struct ivfpq_options *o,
                       struct err *e)
{
    struct ivfpq *ix = calloc(1, sizeof *ix);
    enum status st;

    *out = NULL;
    if (!ix) return err_nomem(e, path);
    ix->s = s;
    st = ivfpq_file_open(&ix->file, path, e);
    if (!st) st = ivfpq_file_fits(&ix->file, path, s, e);
    if (!st) st = set_options(ix, o, e);
    if (!st) st = ivfpq_plugin_get(&ix->plugin, e);
    if (!st) st = entry_numbers_init(&ix->numbers, s, e);
    if (!st) st = mark_live(ix, e);
    if (!st)
        st = centroids_init(&ix->centroids, ix->file.centroids,
                            (int)ix->file.head.lists, (int)ix->file.head.d, e);
    if (!st) st = open_faiss(ix, e);
    if (st) ivfpq_close(ix);
    else *out = ix;
    return st;
}

void ivfpq_close(struct ivfpq *ix)
{
    if (!ix) return;
    if (ix->plugin) ix->plugin->index_free(ix->faiss);
    centroids_release(&ix->centroids);
    entry_numbers_release(&ix->numbers);
    free(ix->live);
    ivfpq_file_close(&ix->file);
    free(ix);
}

const struct ivfpq_file *ivfpq_file_of(const struct ivfpq *ix)
{
    return &ix->file;
}

struct ivfpq_options ivfpq_options_of(const struct ivfpq *ix) { return ix->o; }
