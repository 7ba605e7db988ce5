/* bpe_merges.c - merges the best pair of a word first, with a heap of
 * candidates.
 *
 * Candidates of one rank are popped from left to right. What their merges make
 * possible waits in `fresh` until all of them are done, because a pair is
 * merged everywhere before another one is chosen, also if a better one has
 * appeared. (That happens only if the list is not one that was learned.) A
 * candidate that another merge has destroyed is recognized when it is popped:
 * its symbols are no longer there.
 *
 * Invariants: parts that are alive (symbol != DEAD) form a doubly linked list
 * in text order. heap.at[0 .. n) is a heap by first_of(). */
#include "text/bpe_merges.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

#define NO_PART UINT32_MAX
#define DEAD (-2)

void bpe_merges_release(struct bpe_merges *b)
{
    string_ids_release(&b->symbols);
    map64_release(&b->ranks);
    free(b->merge);
    *b = (struct bpe_merges){ 0 };
}

void bpe_word_release(struct bpe_word *w)
{
    free(w->part);
    free(w->heap.at);
    free(w->fresh.at);
    *w = (struct bpe_word){ 0 };
}

/* ---- the list ----------------------------------------------------------- */

static uint64_t pair_key(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

/* The number of the union of two strings, or -1. */
static int32_t add_union(struct bpe_merges *b, struct str left,
                         struct str right)
{
    char *both = malloc(left.n + right.n + 1);
    int32_t id;

    if (!both) return -1;
    memcpy(both, left.p, left.n);
    memcpy(both + left.n, right.p, right.n);
    id = string_ids_add(&b->symbols, (struct str){ both, left.n + right.n });
    free(both);
    return id;
}

bool bpe_merges_add(struct bpe_merges *b, struct str left, struct str right,
                    bool *known)
{
    int32_t l = string_ids_add(&b->symbols, left);
    int32_t r = string_ids_add(&b->symbols, right);
    int32_t both = add_union(b, left, right);
    uint32_t *rank;
    bool fresh;

    assert(left.n && right.n && b->n < UINT32_MAX);
    *known = false;
    if (l < 0 || r < 0 || both < 0
        || !mem_grow(&b->merge, &b->cap, b->n + 1, sizeof *b->merge)
        || !(rank = map64_put(&b->ranks, pair_key(l, r), &fresh)))
        return false;
    *known = !fresh;
    if (*known) return true;
    *rank = (uint32_t)b->n;
    b->merge[b->n++] = (struct bpe_merge){ l, r, both };
    return true;
}

bool bpe_merges_add_symbol(struct bpe_merges *b, struct str symbol)
{
    return string_ids_add(&b->symbols, symbol) >= 0;
}

static int32_t find_char(const struct bpe_merges *b, const char *s, size_t n,
                         bool last)
{
    char text[4 + sizeof BPE_WORD_END];

    assert(n <= 4);
    memcpy(text, s, n);
    memcpy(text + n, BPE_WORD_END, sizeof BPE_WORD_END);
    if (last && !b->apart) n += sizeof BPE_WORD_END - 1;
    return string_ids_find(&b->symbols, (struct str){ text, n });
}

void bpe_merges_finish(struct bpe_merges *b)
{
    for (int last = 0; last < 2; last++)
        for (int c = 0; c < 128; c++) {
            char s = (char)c;

            b->ascii[last][c] = find_char(b, &s, 1, last);
        }
}

/* ---- a heap of candidates ----------------------------------------------- */

static bool first_of(struct bpe_candidate a, struct bpe_candidate b)
{
    return a.rank < b.rank || (a.rank == b.rank && a.left < b.left);
}

static bool candidates_push(struct bpe_candidates *h, struct bpe_candidate c)
{
    size_t i = h->n;

    if (!mem_grow(&h->at, &h->cap, i + 1, sizeof *h->at)) return false;
    h->n++;
    for (; i && first_of(c, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = c;
    return true;
}

static struct bpe_candidate candidates_pop(struct bpe_candidates *h)
{
    struct bpe_candidate top = h->at[0], last = h->at[h->n - 1];
    size_t i = 0, child;

    assert(h->n > 0);
    h->n--;
    while ((child = 2 * i + 1) < h->n) {
        if (child + 1 < h->n && first_of(h->at[child + 1], h->at[child]))
            child++;
        if (!first_of(h->at[child], last)) break;
        h->at[i] = h->at[child];
        i = child;
    }
    if (h->n) h->at[i] = last;
    return top;
}

/* ---- a word ------------------------------------------------------------- */

static bool add_part(struct bpe_word *w, int32_t symbol, uint32_t begin)
{
    uint32_t i = (uint32_t)w->n;

    if (!mem_grow(&w->part, &w->cap, w->n + 1, sizeof *w->part)) return false;
    w->part[w->n++] = (struct bpe_part){ symbol, begin,
                                         i ? i - 1 : NO_PART, i + 1 };
    return true;
}

static bool add_chars(const struct bpe_merges *b, struct bpe_word *w,
                      const char *text, uint32_t begin, uint32_t end)
{
    int len;

    w->n = 0;
    for (uint32_t at = begin; at < end; at += (uint32_t)len) {
        bool last;
        int32_t symbol;

        (void)utf8_next(text + at, end - at, &len);
        last = at + (uint32_t)len == end;
        symbol = len == 1 && (unsigned char)text[at] < 128
            ? b->ascii[last][(unsigned char)text[at]]
            : find_char(b, text + at, (size_t)len, last);
        if (!add_part(w, symbol, at)) return false;
    }
    if (b->apart
        && !add_part(w, string_ids_find(&b->symbols, str_of(BPE_WORD_END)),
                     end)) return false;
    w->part[w->n - 1].next = NO_PART;
    return true;
}

/* Append the pair to `fresh` if the list has it. */
static bool add_candidate(const struct bpe_merges *b, struct bpe_word *w,
                          uint32_t left, uint32_t right)
{
    const uint32_t *rank;

    if (left == NO_PART || right == NO_PART) return true;
    assert(w->part[left].next == right && w->part[right].prev == left);
    if (w->part[left].symbol < 0 || w->part[right].symbol < 0) return true;
    rank = map64_find(&b->ranks, pair_key(w->part[left].symbol,
                                          w->part[right].symbol));
    if (!rank) return true;
    if (!mem_grow(&w->fresh.at, &w->fresh.cap, w->fresh.n + 1,
                  sizeof *w->fresh.at)) return false;
    w->fresh.at[w->fresh.n++] = (struct bpe_candidate){ *rank, left };
    return true;
}

/* Merge a candidate unless it is stale. Returns false when out of memory. */
static bool merge_parts(const struct bpe_merges *b, struct bpe_word *w,
                        struct bpe_candidate c)
{
    const struct bpe_merge *m = &b->merge[c.rank];
    struct bpe_part *left = &w->part[c.left], *right;

    if (left->symbol != m->left || left->next == NO_PART) return true;
    right = &w->part[left->next];
    if (right->symbol != m->right) return true;
    left->symbol = m->both;
    right->symbol = DEAD;
    left->next = right->next;
    if (left->next != NO_PART) w->part[left->next].prev = c.left;
    return add_candidate(b, w, left->prev, c.left)
           && add_candidate(b, w, c.left, left->next);
}

static bool merge_all(const struct bpe_merges *b, struct bpe_word *w)
{
    uint32_t rank = UINT32_MAX;
    bool ok = true;

    w->heap.n = w->fresh.n = 0;
    for (uint32_t i = 1; ok && i < w->n; i++)
        ok = add_candidate(b, w, i - 1, i);
    while (ok && (w->heap.n || w->fresh.n)) {
        struct bpe_candidate c;

        if (!w->heap.n || w->heap.at[0].rank != rank) {
            for (size_t i = 0; ok && i < w->fresh.n; i++)
                ok = candidates_push(&w->heap, w->fresh.at[i]);
            w->fresh.n = 0;
            if (!ok) break;
        }
        c = candidates_pop(&w->heap);
        rank = c.rank;
        ok = merge_parts(b, w, c);
    }
    return ok;
}

bool bpe_split(const struct bpe_merges *b, struct bpe_word *w,
               const char *text, uint32_t begin, uint32_t end)
{
    uint32_t next;
    size_t n = 0;

    assert(begin < end);
    if (!add_chars(b, w, text, begin, end) || !merge_all(b, w)) return false;
    /* n <= i: no part is overwritten before it was read. */
    for (uint32_t i = 0; i != NO_PART; i = next) {
        next = w->part[i].next;
        w->part[n++] = w->part[i];
    }
    w->n = n;
    if (w->part[n - 1].begin == end) w->n--;    /* "</w>" alone */
    assert(w->n > 0);
    return true;
}
