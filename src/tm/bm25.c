/* bm25.c - term at a time, block by block.
 *
 * A block's sums (2^16 documents, 256 KiB) stay in the second-level cache.
 * Once `top` documents are known, their worst score is a bar: the terms of the
 * block are put in order of the most they can add, and as long as the first of
 * them together stay below the bar, a document that has only those cannot
 * matter (MaxScore: Turtle and Flood 1995). So the others are summed first, and
 * the frequent little words are looked up only for documents that can still
 * reach the bar. */
#include "tm/bm25.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tm/length_byte.h"

#define K1 1.2
#define B 0.75
#define FULL_SUM 2147483647.0   /* scores are below 2^31: signed compares */
/* A list this long in a segment is worth a table of what its classes add. */
#define TABLE_DF 1024
/* Fewer postings in a block than this: visit them again instead of all sums. */
#define SPARSE_POSTS 8192
/* Looking a document up in a run costs about as much as this many additions. */
#define LOOKUP_COST 24

struct query_term {
    uint64_t hash;
    uint32_t times;
    uint32_t df;
    double weight;              /* times * idf, scaled */
};

struct term_state {             /* of one term in one segment */
    const struct query_term *q;
    struct seg_list list;
    uint32_t run;               /* next run */
    const uint8_t *post;        /* its postings */
    uint32_t most;              /* the most a posting adds */
    uint32_t *table;            /* [NARROW_CLASSES] what each adds, or NULL */
};

struct active { struct term_state *t; struct seg_run run; const uint8_t *p; };

struct bm25_entry { uint32_t sum; int64_t text; uint32_t part, doc; };

struct bm25 {
    uint32_t *sums;             /* [BLOCK_DOCS], zero between blocks */
    struct query_term *terms;
    size_t n_terms, cap_terms;
    struct term_state *states;
    struct active *active;
    uint64_t *most_before;      /* [n] most the first i active can add */
    size_t cap_states, cap_active, cap_before;
    uint32_t *tables;           /* [n * NARROW_CLASSES] */
    size_t cap_tables;
    uint16_t *candidates;       /* [BLOCK_DOCS] */
    uint32_t *tail_sums;
    size_t cap_tail;
    struct bm25_entry *heap;    /* worst first */
    size_t n_heap, cap_heap, top;
    double scale;
    uint64_t *sorted;           /* the query's terms */
    size_t cap_sorted;
};

enum status bm25_new(struct bm25 **out, struct err *e)
{
    struct bm25 *b = calloc(1, sizeof *b);

    *out = b;
    if (!b) return err_nomem(e, "search");
    b->sums = mem_zalloc(BLOCK_DOCS, sizeof *b->sums);
    b->candidates = malloc(BLOCK_DOCS * sizeof *b->candidates);
    if (b->sums && b->candidates) return ST_OK;
    bm25_free(b);
    *out = NULL;
    return err_nomem(e, "search");
}

void bm25_free(struct bm25 *b)
{
    if (!b) return;
    mem_free(b->sums);
    free(b->terms);
    free(b->states);
    free(b->active);
    free(b->most_before);
    free(b->tables);
    free(b->candidates);
    free(b->tail_sums);
    free(b->heap);
    free(b->sorted);
    free(b);
}

/* ---- the best so far ----------------------------------------------------- */

/* Lower score, or as good and younger. */
static bool worse(const struct bm25_entry *a, const struct bm25_entry *b)
{
    return a->sum != b->sum ? a->sum < b->sum : a->text > b->text;
}

static void sift_down(struct bm25_entry *heap, size_t n, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        struct bm25_entry swap;

        if (child >= n) return;
        if (child + 1 < n && worse(&heap[child + 1], &heap[child])) child++;
        if (!worse(&heap[child], &heap[i])) return;
        swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

static void bm25_offer(struct bm25 *b, struct bm25_entry en)
{
    if (b->n_heap < b->top) {
        b->heap[b->n_heap++] = en;
        if (b->n_heap == b->top)
            for (size_t i = b->top / 2; i-- > 0;)
                sift_down(b->heap, b->top, i);
    } else if (worse(&b->heap[0], &en)) {
        b->heap[0] = en;
        sift_down(b->heap, b->top, 0);
    }
}

/* A document below this cannot enter. */
static uint32_t bar(const struct bm25 *b)
{
    return b->n_heap == b->top ? b->heap[0].sum : 0;
}

static int best_first(const void *x, const void *y)
{
    const struct bm25_entry *a = x, *b = y;

    return worse(a, b) ? 1 : worse(b, a) ? -1 : 0;
}

/* ---- the query ----------------------------------------------------------- */

static int bm25_by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

static bool collect_terms(struct bm25 *b, const struct terms *query)
{
    b->n_terms = 0;
    if (!mem_grow(&b->sorted, &b->cap_sorted, query->n + 1, sizeof *b->sorted)
        || !mem_grow(&b->terms, &b->cap_terms, query->n + 1,
                     sizeof *b->terms))
        return false;
    if (!query->n) return true;
    memcpy(b->sorted, query->at, query->n * sizeof *b->sorted);
    qsort(b->sorted, query->n, sizeof *b->sorted, bm25_by_value);
    for (size_t i = 0; i < query->n; i++) {
        if (b->n_terms && b->terms[b->n_terms - 1].hash == b->sorted[i])
            b->terms[b->n_terms - 1].times++;
        else
            b->terms[b->n_terms++]
                = (struct query_term){ .hash = b->sorted[i], .times = 1 };
    }
    return true;
}

/* Document frequencies, and the states of all segments in one array:
 * [segment * n_terms + term]. */
static bool find_lists(struct bm25 *b, const struct bm25_parts *parts,
                       struct segment **damaged)
{
    for (size_t i = 0; i < b->n_terms; i++) {
        struct query_term *q = &b->terms[i];
        const uint32_t *dead = parts->dead_df
                               ? map64_find(parts->dead_df, q->hash) : NULL;

        q->df = parts->tail ? tail_df(parts->tail, q->hash) : 0;
        for (size_t s = 0; s < parts->n_segments; s++) {
            struct term_state *t = &b->states[s * b->n_terms + i];

            *t = (struct term_state){ .q = q };
            if (!segment_find(parts->segments[s], q->hash, &t->list)) {
                *damaged = parts->segments[s];
                return false;
            }
            t->post = t->list.posts;
            q->df += t->list.df;
        }
        if (dead) q->df -= *dead < q->df ? *dead : q->df;
    }
    return true;
}

static void weigh_terms(struct bm25 *b, const struct bm25_parts *parts)
{
    double all = 0;

    for (size_t i = 0; i < b->n_terms; i++) {
        struct query_term *q = &b->terms[i];
        double n = (double)parts->n_docs, df = q->df < n ? q->df : n;

        q->weight = df ? q->times * log(1 + (n - df + 0.5) / (df + 0.5)) : 0;
        all += q->weight;
    }
    b->scale = all > 0 ? (FULL_SUM - (double)b->n_terms) / all : 0;
    for (size_t i = 0; i < b->n_terms; i++) b->terms[i].weight *= b->scale;
}

/* What a posting adds: never nothing, for a document that has a word of the
 * query has a score. */
static inline uint32_t bm25_share(double weight, double impact)
{
    uint32_t v = (uint32_t)(weight * impact + 0.5);

    return v ? v : 1;
}

static double norm_of(uint8_t length, double average)
{
    return K1 * (1 - B + B * length_of_byte(length) / average);
}

static void set_impacts(struct segment *s, double average)
{
    if (s->impact_for == average) return;
    s->max_impact = 0;
    for (uint32_t c = 0; c < s->n_classes; c++) {
        double tf = s->classes[c].tf;

        s->impact[c] = tf / (tf + norm_of(s->classes[c].length, average));
        if (s->impact[c] > s->max_impact) s->max_impact = s->impact[c];
    }
    s->impact_for = average;
}

/* ---- one block ----------------------------------------------------------- */

static void make_table(const struct segment *s, struct term_state *t)
{
    uint32_t n = s->n_classes < NARROW_CLASSES ? s->n_classes
                                               : NARROW_CLASSES;

    for (uint32_t c = 0; c < n; c++)
        t->table[c] = bm25_share(t->q->weight, s->impact[c]);
    memset(t->table + n, 0, (NARROW_CLASSES - n) * sizeof *t->table);
}

static inline uint32_t doc_at(const uint8_t *p, uint32_t k)
{
    uint16_t d;

    memcpy(&d, p + 2 * (size_t)k, 2);
    return d;
}

static uint32_t share_at(const struct segment *s, const struct active *a,
                         uint32_t k)
{
    const uint8_t *cls = a->p + 2 * (size_t)run_count(a->run);
    uint16_t c = cls[k];

    if (a->run.block & RUN_WIDE) memcpy(&c, cls + 2 * (size_t)k, 2);
    else if (a->t->table) return a->t->table[c];
    return c < s->n_classes ? bm25_share(a->t->q->weight, s->impact[c]) : 0;
}

static void add_run(struct bm25 *b, const struct segment *s,
                    const struct active *a)
{
    uint32_t n = run_count(a->run), *sums = b->sums;
    const uint8_t *p = a->p, *cls = a->p + 2 * (size_t)n;
    const uint32_t *table = a->t->table;

    if (!table || a->run.block & RUN_WIDE) {
        for (uint32_t k = 0; k < n; k++)
            sums[doc_at(p, k)] += share_at(s, a, k);
        return;
    }
    for (uint32_t k = 0; k < n; k++) sums[doc_at(p, k)] += table[cls[k]];
}

/* What the run adds to one document; 0 when it is not in the run. */
static uint32_t bm25_look_up(const struct segment *s, const struct active *a,
                             uint32_t doc)
{
    uint32_t lo = 0, n = run_count(a->run);

    while (n > 1) {             /* doc is in [lo, lo + n) if anywhere */
        uint32_t half = n / 2;

        lo = doc_at(a->p, lo + half) <= doc ? lo + half : lo;
        n -= half;
    }
    return doc_at(a->p, lo) == doc ? share_at(s, a, lo) : 0;
}

/* Documents whose sum is at least cut, ascending or in the order of the
 * postings. Sums are left for clear_sums. */
static uint32_t scan_sums(struct bm25 *b, uint32_t cut)
{
    const int32_t *sums = (const int32_t *)(const void *)b->sums;
    int32_t c = (int32_t)cut - 1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < BLOCK_DOCS; i += 32) {
        int32_t any = 0;

        for (uint32_t k = 0; k < 32; k++) any |= -(sums[i + k] > c);
        if (!any) continue;
        for (uint32_t k = 0; k < 32; k++)
            if (sums[i + k] > c) b->candidates[n++] = (uint16_t)(i + k);
    }
    return n;
}

/* The top bit of a sum marks a document that was listed. */
#define LISTED 0x80000000u

static uint32_t visit_sums(struct bm25 *b, const struct active *at, size_t n_at,
                           uint32_t cut)
{
    uint32_t n = 0;

    for (size_t i = 0; i < n_at; i++)
        for (uint32_t k = 0; k < run_count(at[i].run); k++) {
            uint32_t d = doc_at(at[i].p, k);

            if (b->sums[d] & LISTED || b->sums[d] < cut) continue;
            b->sums[d] |= LISTED;
            b->candidates[n++] = (uint16_t)d;
        }
    for (uint32_t i = 0; i < n; i++) b->sums[b->candidates[i]] &= ~LISTED;
    return n;
}

static void clear_sums(struct bm25 *b, const struct active *at, size_t n_at,
                       bool sparse)
{
    if (!sparse) {
        memset(b->sums, 0, BLOCK_DOCS * sizeof *b->sums);
        return;
    }
    for (size_t i = 0; i < n_at; i++)
        for (uint32_t k = 0; k < run_count(at[i].run); k++)
            b->sums[doc_at(at[i].p, k)] = 0;
}

static void offer_doc(struct bm25 *b, const struct segment *s, uint32_t part,
                      uint32_t block, uint32_t low)
{
    uint32_t doc = block * BLOCK_DOCS + low, sum = b->sums[low];

    if (sum < bar(b) || doc >= s->n_docs || segment_is_dead(s, doc)) return;
    bm25_offer(b, (struct bm25_entry){ sum, segment_text(s, doc), part, doc });
}

/* Add what the first n active terms, the weakest last summed, give to the
 * candidates that can still reach the bar. */
static uint32_t refine(struct bm25 *b, const struct segment *s, size_t n,
                       uint32_t n_cand)
{
    while (n-- > 0 && n_cand) {
        const struct active *a = &b->active[n];
        uint64_t rest = b->most_before[n];
        uint32_t kept = 0, floor = bar(b);

        if ((uint64_t)n_cand * LOOKUP_COST > run_count(a->run)) {
            /* Every document of the run gets its share; those that are no
             * candidates are never read, and cleared with the block. */
            add_run(b, s, a);
        } else {
            for (uint32_t i = 0; i < n_cand; i++)
                b->sums[b->candidates[i]] +=
                    bm25_look_up(s, a, b->candidates[i]);
        }
        for (uint32_t i = 0; i < n_cand; i++)
            if (b->sums[b->candidates[i]] + rest >= floor)
                b->candidates[kept++] = b->candidates[i];
        n_cand = kept;
    }
    return n_cand;
}

static int weakest_first(const void *x, const void *y)
{
    const struct active *a = x, *b = y;

    if (a->t->most != b->t->most) return a->t->most < b->t->most ? -1 : 1;
    return a->t < b->t ? -1 : 1;
}

static void score_block(struct bm25 *b, const struct segment *s, uint32_t part,
                        uint32_t block, size_t n_active)
{
    struct active *at = b->active;
    uint32_t floor = bar(b), n_cand, cut, posts = 0;
    size_t rest = 0;            /* terms that cannot lift a document alone */
    uint64_t most = 0;
    bool sparse;

    for (size_t i = 0; i < n_active; i++) {
        b->most_before[i] = most;
        most += at[i].t->most;
        if (most < floor) rest = i + 1;
    }
    if (most < floor) return;
    b->most_before[n_active] = most;
    for (size_t i = rest; i < n_active; i++) {
        add_run(b, s, &at[i]);
        posts += run_count(at[i].run);
    }
    cut = floor > b->most_before[rest] ? floor - (uint32_t)b->most_before[rest]
                                       : 1;
    sparse = posts < SPARSE_POSTS;
    n_cand = sparse ? visit_sums(b, at + rest, n_active - rest, cut)
                    : scan_sums(b, cut);
    if (rest) {
        uint64_t dense = 0;

        for (size_t i = 0; i < rest; i++) dense += run_count(at[i].run);
        n_cand = refine(b, s, rest, n_cand);
        for (uint32_t i = 0; i < n_cand; i++)
            offer_doc(b, s, part, block, b->candidates[i]);
        clear_sums(b, at, n_active, sparse && posts + dense < BLOCK_DOCS / 4);
        return;
    }
    for (uint32_t i = 0; i < n_cand; i++)
        offer_doc(b, s, part, block, b->candidates[i]);
    clear_sums(b, at, n_active, sparse);
}

/* ---- segments and the tail ----------------------------------------------- */

static void prepare_states(struct bm25 *b, const struct segment *s,
                           struct term_state *states)
{
    uint32_t *table = b->tables;

    for (size_t i = 0; i < b->n_terms; i++) {
        struct term_state *t = &states[i];

        t->most = t->list.df ? bm25_share(t->q->weight, s->max_impact) : 0;
        t->table = NULL;
        if (t->list.df < TABLE_DF) continue;
        t->table = table;
        table += NARROW_CLASSES;
        make_table(s, t);
    }
}

static void score_segment(struct bm25 *b, const struct segment *s,
                          uint32_t part, struct term_state *states)
{
    uint32_t n_blocks = (s->n_docs + BLOCK_DOCS - 1) / BLOCK_DOCS;

    prepare_states(b, s, states);
    for (uint32_t block = 0; block < n_blocks; block++) {
        size_t n = 0;

        for (size_t i = 0; i < b->n_terms; i++) {
            struct term_state *t = &states[i];
            struct seg_run run;

            if (t->run >= t->list.n_runs) continue;
            run = t->list.runs[t->run];
            if ((run.block & ~RUN_WIDE) != block) continue;
            b->active[n++] = (struct active){ t, run, t->post };
            t->run++;
            t->post += run_bytes(run);
        }
        if (!n) continue;
        qsort(b->active, n, sizeof *b->active, weakest_first);
        score_block(b, s, part, block, n);
    }
}

static bool score_tail(struct bm25 *b, const struct tail *t, uint32_t part,
                       double average)
{
    if (!t || !t->n_docs) return true;
    if (!mem_grow(&b->tail_sums, &b->cap_tail, t->n_docs,
                  sizeof *b->tail_sums))
        return false;
    memset(b->tail_sums, 0, t->n_docs * sizeof *b->tail_sums);
    for (size_t i = 0; i < b->n_terms; i++) {
        const struct tail_post *p = tail_list(t, b->terms[i].hash);

        for (; p; p = p->next ? &t->posts[p->next - 1] : NULL) {
            double tf = p->tf;
            double norm = norm_of(t->docs[p->doc].length, average);

            b->tail_sums[p->doc] += bm25_share(b->terms[i].weight,
                                               tf / (tf + norm));
        }
    }
    for (uint32_t d = 0; d < t->n_docs; d++)
        if (b->tail_sums[d] && !t->docs[d].dead)
            bm25_offer(b, (struct bm25_entry){ b->tail_sums[d], t->docs[d].text,
                                          part, d });
    return true;
}

static bool bm25_make_room(struct bm25 *b, const struct bm25_parts *parts,
                           size_t top)
{
    size_t n = b->n_terms;

    b->top = top;
    b->n_heap = 0;
    return mem_grow(&b->states, &b->cap_states, n * parts->n_segments + 1,
                    sizeof *b->states)
           && mem_grow(&b->active, &b->cap_active, n + 1, sizeof *b->active)
           && mem_grow(&b->most_before, &b->cap_before, n + 2,
                       sizeof *b->most_before)
           && mem_grow(&b->heap, &b->cap_heap, top + 1, sizeof *b->heap);
}

/* Tables for as many lists as are long in any one segment. */
static bool make_tables(struct bm25 *b, const struct bm25_parts *parts)
{
    size_t most = 0;

    for (size_t s = 0; s < parts->n_segments; s++) {
        size_t n = 0;

        for (size_t i = 0; i < b->n_terms; i++)
            n += b->states[s * b->n_terms + i].list.df >= TABLE_DF;
        if (n > most) most = n;
    }
    return mem_grow(&b->tables, &b->cap_tables, most * NARROW_CLASSES + 1,
                    sizeof *b->tables);
}

enum status bm25_search(struct bm25 *b, const struct bm25_parts *parts,
                        const struct terms *query, size_t top,
                        struct hit *hits, size_t *n,
                        struct segment **damaged, struct err *e)
{
    double average = parts->n_docs
                     ? (double)parts->words / (double)parts->n_docs : 0;

    *n = 0;
    *damaged = NULL;
    if (!collect_terms(b, query) || !bm25_make_room(b, parts, top))
        return err_nomem(e, "search");
    if (!top || !b->n_terms || !parts->words) return ST_OK;
    if (!find_lists(b, parts, damaged)) return ST_OK;
    weigh_terms(b, parts);
    if (!make_tables(b, parts)) return err_nomem(e, "search");
    if (!score_tail(b, parts->tail, (uint32_t)parts->n_segments, average))
        return err_nomem(e, "search");
    for (size_t s = 0; s < parts->n_segments; s++) {
        set_impacts(parts->segments[s], average);
        score_segment(b, parts->segments[s], (uint32_t)s,
                      b->states + s * b->n_terms);
    }
    qsort(b->heap, b->n_heap, sizeof *b->heap, best_first);
    for (size_t i = 0; i < b->n_heap; i++)
        hits[i] = (struct hit){ b->heap[i].text,
                                b->heap[i].sum / b->scale, b->heap[i].part,
                                b->heap[i].doc };
    *n = b->n_heap;
    return ST_OK;
}
