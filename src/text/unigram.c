/* unigram.c - splits a text into the pieces with the highest total score.
 *
 * This is a Viterbi search over byte positions: the best path to a position is
 * extended by every piece that begins there. A character that no single piece
 * covers may be unknown, with a score of ten below the worst piece. Three
 * details are needed to match SentencePiece in every tie: positions and pieces
 * are visited in ascending order, and only a strictly better path replaces
 * another; path scores are rounded to float; but a candidate with a known piece
 * is compared before rounding.
 *
 * A path score is needed only as far back as the longest piece, so scores are
 * kept in a ring buffer. Only the step lengths (cut) grow with the text. */
#include <stdlib.h>

#include "base/invariant.h"
#include "text/subword_model.h"

struct viterbi {
    const struct subword_model *m;
    const char *text;
    size_t n;
    uint16_t *cut;              /* [n + 1] length of the last piece of the best
                                   path to this position; 0: no path yet */
    float *ring;                /* [mask + 1] scores of the best paths */
    size_t mask;
};

/* Considers a path whose last piece is at `at` and has len bytes. */
static void unigram_offer(struct viterbi *v, size_t at, size_t len,
                          double total)
{
    size_t end = at + len;
    float *best = &v->ring[end & v->mask];

    if (v->cut[end] && !(total > *best)) return;
    *best = (float)total;
    v->cut[end] = (uint16_t)len;
}

static double piece_score(const struct subword_model *m, int32_t id,
                          size_t len)
{
    /* A user-defined piece must score higher than any split of it. */
    if (m->piece[id].type == PIECE_USER)
        return (float)len * m->max_score - 0.1;
    return m->piece[id].score;
}

/* Extends the best path to `at` by every piece that begins there. */
static void unigram_extend(struct viterbi *v, size_t at, size_t char_len)
{
    const struct subword_model *m = v->m;
    float base = v->ring[at & v->mask];
    bool covered = false;
    uint32_t node = 0;

    assert(char_len >= 1 && char_len <= v->n - at);
    assert(at == 0 || v->cut[at]);      /* a path leads here */
    for (size_t i = at; i < v->n; i++) {
        int32_t id;

        node = piece_trie_step(&m->text, node, v->text[i]);
        if (!node) break;
        id = m->text.value[node];
        if (id < 0 || m->piece[id].type == PIECE_UNUSED) continue;
        unigram_offer(v, at, i + 1 - at, piece_score(m, id, i + 1 - at) + base);
        if (i + 1 - at == char_len) covered = true;
    }
    if (!covered) {
        float unk = m->min_score - 10.0f, total = unk + base;

        unigram_offer(v, at, char_len, total);
    }
}

/* Follows the best path backward. On entry cut[i] is the length of the piece
 * that ends at i; on return it is the length of the piece that begins at i. */
static void reverse_cuts(uint16_t *cut, size_t n)
{
    uint16_t len = cut[n];

    while (n) {
        uint16_t before;

        assert(len >= 1 && len <= n);
        n -= len;
        before = cut[n];
        cut[n] = len;
        len = before;
    }
}

enum status unigram_segment(const struct subword_model *m, const char *text,
                            size_t n, uint16_t *cut, struct err *e)
{
    struct viterbi v = { m, text, n, cut, NULL, 7 };

    assert(n > 0);
    while (v.mask <= m->longest) v.mask = v.mask * 2 + 1;
    v.ring = calloc(v.mask + 1, sizeof *v.ring);
    if (!v.ring) return err_nomem(e, "splitting text into pieces");
    for (size_t at = 0; at < n;) {
        size_t len = lead_length(text[at]);

        if (len > n - at) len = n - at;
        unigram_extend(&v, at, len);
        at += len;
    }
    reverse_cuts(cut, n);
    free(v.ring);
    return ST_OK;
}
