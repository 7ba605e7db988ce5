/* bm25.c - BM25 scoring, term at a time, block by block.
 *
 * The sums of a block (2^16 documents, 256 KiB) stay in the level-2 cache.
 * Once `top` documents are known, the lowest of their scores is a threshold.
 * The terms of a block are sorted by the most that they can add. The weak
 * terms are the longest prefix that stays below the threshold in total: a
 * document that has only weak terms cannot be a hit (MaxScore: Turtle and
 * Flood 1995). So the other terms are summed first, and the weak terms, which
 * are the frequent words, are looked up only for documents that can still
 * reach the threshold.
 *
 * Invariants: sums are all zero between two blocks. The heap has at most `top`
 * entries; once it is full it is a heap with the lowest-ranking entry first,
 * and the threshold never falls. A sum never exceeds INT32_MAX. */
#include "tm/bm25.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tm/length_byte.h"

#define K1 1.2
#define B 0.75
/* Scores stay below 2^31, so that they can be compared as signed integers. */
#define FULL_SUM 2147483647.0
/* A list of at least this length gets a table of what each class adds. */
#define TABLE_DF 1024
/* With fewer postings in a block, visit those instead of all sums. */
#define SPARSE_POSTS 8192
/* Finding a document in a run costs about as much as this many additions. */
#define LOOKUP_COST 24

struct query_term {
    uint64_t hash;
    uint32_t times;             /* how often it is in the query */
    uint32_t df;
    double weight;              /* times * idf, scaled */
};

struct term_state {             /* of one term in one segment */
    const struct query_term *q;
    struct seg_list list;
    uint32_t run;               /* next run */
    const uint8_t *post;        /* its postings */
    uint32_t max_share;         /* the most that a posting adds */
    uint32_t *table;            /* [NARROW_CLASSES] what each class adds, or
                                   NULL */
};

struct active_run {             /* the run of a term in the present block */
    struct term_state *t;
    struct seg_run run;
    const uint8_t *p;           /* its postings */
};

struct bm25_entry { uint32_t sum; int64_t text; uint32_t part, doc; };

struct bm25 {
    uint32_t *sums;             /* [BLOCK_DOCS] */
    struct query_term *terms;
    size_t n_terms, cap_terms;
    struct term_state *states;
    struct active_run *active;
    uint64_t *bound_before;     /* [n + 1] most that active runs 0 .. i - 1
                                   add in total */
    size_t cap_states, cap_active, cap_before;
    uint32_t *tables;           /* [n * NARROW_CLASSES] */
    size_t cap_tables;
    uint16_t *candidates;       /* [BLOCK_DOCS] */
    uint32_t *tail_sums;
    size_t cap_tail;
    struct bm25_entry *heap;    /* lowest-ranking entry first */
    size_t n_heap, cap_heap, top;
    double scale;               /* from scores to sums */
    uint64_t *sorted;           /* the terms of the query */
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
    free(b->bound_before);
    free(b->tables);
    free(b->candidates);
    free(b->tail_sums);
    free(b->heap);
    free(b->sorted);
    free(b);
}

/* ---- the best hits so far ------------------------------------------------ */

/* A lower score, or the same score and a higher text id. */
static bool ranks_lower(const struct bm25_entry *a, const struct bm25_entry *b)
{
    return a->sum != b->sum ? a->sum < b->sum : a->text > b->text;
}

static void sift_down(struct bm25_entry *heap, size_t n, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        struct bm25_entry swap;

        if (child >= n) return;
        if (child + 1 < n && ranks_lower(&heap[child + 1], &heap[child]))
            child++;
        if (!ranks_lower(&heap[child], &heap[i])) return;
        swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

bool bm25_sound(const struct bm25 *b)
{
    for (uint32_t i = 0; i < BLOCK_DOCS; i++)
        if (b->sums[i]) return false;
    for (size_t i = 1; b->n_heap == b->top && i < b->n_heap; i++)
        if (ranks_lower(&b->heap[i], &b->heap[(i - 1) / 2])) return false;
    return b->n_heap <= b->top;
}

static void bm25_offer(struct bm25 *b, struct bm25_entry en)
{
    assert(b->top > 0 && b->n_heap <= b->top && b->top <= b->cap_heap);
    if (b->n_heap < b->top) {
        b->heap[b->n_heap++] = en;
        if (b->n_heap == b->top)
            for (size_t i = b->top / 2; i-- > 0;)
                sift_down(b->heap, b->top, i);
    } else if (ranks_lower(&b->heap[0], &en)) {
        b->heap[0] = en;
        sift_down(b->heap, b->top, 0);
    }
}

/* A document with a lower sum cannot be a hit. */
static uint32_t bm25_threshold(const struct bm25 *b)
{
    return b->n_heap == b->top ? b->heap[0].sum : 0;
}

static int best_first(const void *x, const void *y)
{
    const struct bm25_entry *a = x, *b = y;

    return ranks_lower(a, b) ? 1 : ranks_lower(b, a) ? -1 : 0;
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
    assert(b->n_terms > 0 && b->n_terms <= query->n);
    return true;
}

/* Set the document frequencies, and the states of all segments, which are in
 * one array [segment * n_terms + term]. False: *damaged is damaged. */
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

/* What a posting adds. It is at least 1: a document that has a word of the
 * query has a score above 0. */
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

static uint32_t share_at(const struct segment *s, const struct active_run *a,
                         uint32_t k)
{
    const uint8_t *cls = a->p + 2 * (size_t)run_count(a->run);
    uint16_t c = cls[k];

    if (a->run.block & RUN_WIDE) memcpy(&c, cls + 2 * (size_t)k, 2);
    else if (a->t->table) return a->t->table[c];
    return c < s->n_classes ? bm25_share(a->t->q->weight, s->impact[c]) : 0;
}

static void add_run(struct bm25 *b, const struct segment *s,
                    const struct active_run *a)
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
static uint32_t bm25_look_up(const struct segment *s,
                             const struct active_run *a, uint32_t doc)
{
    uint32_t lo = 0, n = run_count(a->run);

    while (n > 1) {             /* doc is in [lo, lo + n) or absent */
        uint32_t half = n / 2;

        lo = doc_at(a->p, lo + half) <= doc ? lo + half : lo;
        n -= half;
    }
    return doc_at(a->p, lo) == doc ? share_at(s, a, lo) : 0;
}

/* scan_sums and visit_sums list the documents whose sum is at least `cut` in
 * b->candidates and return how many they are: the first in ascending order, the
 * second in the order of the postings. Sums stay as they are. */
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

/* Marks a document that is in the list already. Sums do not use this bit. */
#define LISTED 0x80000000u

static uint32_t visit_sums(struct bm25 *b, const struct active_run *at,
                           size_t n_at, uint32_t cut)
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

static void clear_sums(struct bm25 *b, const struct active_run *at, size_t n_at,
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

    if (sum < bm25_threshold(b) || doc >= s->n_docs || segment_is_dead(s, doc))
        return;
    bm25_offer(b, (struct bm25_entry){ sum, segment_text(s, doc), part, doc });
}

/* Add the first n active runs, the weakest last, to the sums of the candidates.
 * After each run, candidates that can no longer reach the threshold are
 * dropped. Returns how many remain. */
static uint32_t add_weak_terms(struct bm25 *b, const struct segment *s,
                               size_t n, uint32_t n_cand)
{
    while (n-- > 0 && n_cand) {
        const struct active_run *a = &b->active[n];
        uint64_t rest = b->bound_before[n];
        uint32_t kept = 0, threshold = bm25_threshold(b);

        if ((uint64_t)n_cand * LOOKUP_COST > run_count(a->run)) {
            /* This changes the sums of all documents of the run. Those that
             * are not candidates are not read, and cleared with the block. */
            add_run(b, s, a);
        } else {
            for (uint32_t i = 0; i < n_cand; i++)
                b->sums[b->candidates[i]] +=
                    bm25_look_up(s, a, b->candidates[i]);
        }
        for (uint32_t i = 0; i < n_cand; i++)
            if (b->sums[b->candidates[i]] + rest >= threshold)
                b->candidates[kept++] = b->candidates[i];
        n_cand = kept;
    }
    return n_cand;
}

static int weakest_first(const void *x, const void *y)
{
    const struct active_run *a = x, *b = y;

    if (a->t->max_share != b->t->max_share)
        return a->t->max_share < b->t->max_share ? -1 : 1;
    return a->t < b->t ? -1 : 1;
}

static void score_block(struct bm25 *b, const struct segment *s, uint32_t part,
                        uint32_t block, size_t n_active)
{
    struct active_run *at = b->active;
    uint32_t threshold = bm25_threshold(b), n_cand, cut, posts = 0;
    size_t n_weak = 0;          /* runs that together stay below threshold */
    uint64_t most = 0;
    bool sparse;

    for (size_t i = 0; i < n_active; i++) {
        b->bound_before[i] = most;
        most += at[i].t->max_share;
        if (most < threshold) n_weak = i + 1;
    }
    if (most < threshold) return;
    b->bound_before[n_active] = most;
    assert(n_weak < n_active);
    for (size_t i = n_weak; i < n_active; i++) {
        add_run(b, s, &at[i]);
        posts += run_count(at[i].run);
    }
    cut = threshold > b->bound_before[n_weak]
          ? threshold - (uint32_t)b->bound_before[n_weak] : 1;
    sparse = posts < SPARSE_POSTS;
    n_cand = sparse ? visit_sums(b, at + n_weak, n_active - n_weak, cut)
                    : scan_sums(b, cut);
    if (n_weak) {
        uint64_t dense = 0;

        for (size_t i = 0; i < n_weak; i++) dense += run_count(at[i].run);
        n_cand = add_weak_terms(b, s, n_weak, n_cand);
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

        t->max_share = t->list.df ? bm25_share(t->q->weight, s->max_impact)
                                  : 0;
        t->table = NULL;
        if (t->list.df < TABLE_DF) continue;
        t->table = table;
        table += NARROW_CLASSES;
        assert(table <= b->tables + b->cap_tables);
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
            b->active[n++] = (struct active_run){ t, run, t->post };
            t->run++;
            t->post += run_bytes(run);
        }
        if (!n) continue;
        qsort(b->active, n, sizeof *b->active, weakest_first);
        score_block(b, s, part, block, n);
        PARANOID_CHECK(bm25_sound(b));
    }
    for (size_t i = 0; i < b->n_terms; i++)     /* all postings were read */
        assert(states[i].run == states[i].list.n_runs);
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
    for (uint32_t d = 0; d < t->n_docs; d++) {
        assert(b->tail_sums[d] <= INT32_MAX);
        if (b->tail_sums[d] && !t->docs[d].dead)
            bm25_offer(b, (struct bm25_entry){ b->tail_sums[d],
                                               t->docs[d].text, part, d });
    }
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
           && mem_grow(&b->bound_before, &b->cap_before, n + 2,
                       sizeof *b->bound_before)
           && mem_grow(&b->heap, &b->cap_heap, top + 1, sizeof *b->heap);
}

/* Make room for the tables of one segment: as many as the segment with the most
 * long lists needs. */
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
    assert(b->n_heap <= top);
    qsort(b->heap, b->n_heap, sizeof *b->heap, best_first);
    for (size_t i = 0; i < b->n_heap; i++)
        hits[i] = (struct hit){ b->heap[i].text,
                                b->heap[i].sum / b->scale, b->heap[i].part,
                                b->heap[i].doc };
    *n = b->n_heap;
    return ST_OK;
}
