/* bpe.c - pairs of neighbors merged, best score first.
 *
 * The text starts as characters (and user-defined pieces, which never merge).
 * Again and again the two neighbors whose union is the piece of the highest
 * score become one, the leftmost of equals, until no union is a piece. The
 * candidates wait in a heap; one made stale by another merge is recognized by
 * its length when it comes up, and dropped.
 *
 * Unused pieces do merge (they are steps on the way to longer ones) but are
 * taken apart again at the end, the way they were last put together.
 *
 * When no piece reaches over a word border, words cannot influence each other
 * and are done one by one, in memory that stays small. */
#include <stdlib.h>

#include "base/mem.h"
#include "text/subword_model.h"

#define NONE UINT32_MAX

struct symbol {
    uint32_t at, len;           /* len 0: merged into its left neighbor */
    uint32_t prev, next;        /* NONE at the ends */
    bool frozen;
};

struct bpe_pair {
    float score;
    uint32_t left, right;
    uint32_t len;               /* of the union when it was found */
};

struct bpe_merger {
    const struct subword_model *m;
    const char *text;
    struct symbol *sym;
    size_t n_sym, cap_sym;
    struct bpe_pair *heap;
    size_t n_heap, cap_heap;
    uint16_t *split;            /* [m->n] left length of unused pieces, 0:
                                   never made; NULL without unused pieces */
};

static bool before(const struct bpe_pair *a, const struct bpe_pair *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static bool heap_push(struct bpe_merger *g, struct bpe_pair p)
{
    size_t i = g->n_heap;

    if (!mem_grow(&g->heap, &g->cap_heap, i + 1, sizeof *g->heap))
        return false;
    g->n_heap++;
    while (i && before(&p, &g->heap[(i - 1) / 2])) {
        g->heap[i] = g->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    g->heap[i] = p;
    return true;
}

static struct bpe_pair heap_pop(struct bpe_merger *g)
{
    struct bpe_pair top = g->heap[0], last = g->heap[--g->n_heap];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < g->n_heap) {
        if (child + 1 < g->n_heap &&
            before(&g->heap[child + 1], &g->heap[child]))
            child++;
        if (!before(&g->heap[child], &last)) break;
        g->heap[i] = g->heap[child];
        i = child;
    }
    if (g->n_heap) g->heap[i] = last;
    return top;
}

/* Put the pair into the heap if its union is a piece. false: no memory. */
static bool consider(struct bpe_merger *g, uint32_t left, uint32_t right)
{
    const struct subword_model *m = g->m;
    const struct symbol *a, *b;
    int32_t id;

    if (left == NONE || right == NONE) return true;
    a = &g->sym[left];
    b = &g->sym[right];
    if (a->frozen || b->frozen || a->len + b->len > m->longest) return true;
    id = piece_trie_find(&m->text, g->text + a->at, a->len + b->len);
    if (id < 0) return true;
    if (m->piece[id].type == PIECE_UNUSED) g->split[id] = (uint16_t)a->len;
    return heap_push(g, (struct bpe_pair){ m->piece[id].score, left, right,
                                       a->len + b->len });
}

static bool add_symbols(struct bpe_merger *g, size_t begin, size_t end)
{
    g->n_sym = 0;
    while (begin < end) {
        size_t len = piece_trie_longest(&g->m->user, g->text + begin,
                                        end - begin);
        uint32_t i = (uint32_t)g->n_sym;
        bool frozen = len > 0;

        if (!frozen) len = lead_length(g->text[begin]);
        if (len > end - begin) len = end - begin;
        if (!mem_grow(&g->sym, &g->cap_sym, g->n_sym + 1, sizeof *g->sym))
            return false;
        g->sym[g->n_sym++] = (struct symbol){
            (uint32_t)begin, (uint32_t)len, i ? i - 1 : NONE, i + 1, frozen
        };
        begin += len;
    }
    g->sym[g->n_sym - 1].next = NONE;
    return true;
}

static bool bpe_merge(struct bpe_merger *g, struct bpe_pair p)
{
    struct symbol *a = &g->sym[p.left], *b = &g->sym[p.right];

    if (!a->len || !b->len || a->len + b->len != p.len) return true;
    a->len = p.len;
    b->len = 0;
    a->next = b->next;
    if (b->next != NONE) g->sym[b->next].prev = p.left;
    return consider(g, a->prev, p.left) && consider(g, p.left, a->next);
}

/* Note the symbol, taken apart while it is an unused piece. The parts are
 * shorter, so the depth is bounded by the longest piece. */
static void write_cut(const struct bpe_merger *g, size_t at, size_t len,
                      uint16_t *cut)
{
    int32_t id = g->split ? subword_model_find(g->m, g->text + at, len) : -1;

    if (id >= 0 && g->m->piece[id].type == PIECE_UNUSED && g->split[id]) {
        write_cut(g, at, g->split[id], cut);
        write_cut(g, at + g->split[id], len - g->split[id], cut);
    } else {
        cut[at] = (uint16_t)len;
    }
}

static bool segment_range(struct bpe_merger *g, size_t begin, size_t end,
                          uint16_t *cut)
{
    g->n_heap = 0;
    if (!add_symbols(g, begin, end)) return false;
    for (uint32_t i = 1; i < g->n_sym; i++)
        if (!consider(g, i - 1, i)) return false;
    while (g->n_heap)
        if (!bpe_merge(g, heap_pop(g))) return false;
    for (uint32_t i = 0; i != NONE; i = g->sym[i].next)
        write_cut(g, g->sym[i].at, g->sym[i].len, cut);
    return true;
}

/* Where the word that begins at `at` ends: before the next space symbol that
 * follows something else. */
static size_t word_end(const char *text, size_t at, size_t n)
{
    bool seen = false;

    for (; at < n; at++) {
        bool space = n - at >= 3 && !memcmp(text + at, "\xE2\x96\x81", 3);

        if (space && seen) return at;
        if (space) at += 2;
        else seen = true;
    }
    return n;
}

enum status bpe_segment(const struct subword_model *m, const char *text,
                        size_t n, uint16_t *cut, struct err *e)
{
    struct bpe_merger g = { .m = m, .text = text };
    bool whole = m->space_inside || m->has_unused, ok = true;
    size_t at = 0, end;

    if (m->has_unused) {
        g.split = calloc((size_t)m->n, sizeof *g.split);
        ok = g.split != NULL;
    }
    for (; ok && at < n; at = end) {
        end = whole ? n : word_end(text, at, n);
        ok = segment_range(&g, at, end, cut);
    }
    free(g.sym);
    free(g.heap);
    free(g.split);
    return ok ? ST_OK : err_nomem(e, "splitting text into pieces");
}
