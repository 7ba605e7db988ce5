/* ter.c - computes edit distances in a band around the diagonal, and searches
 * for shifts.
 *
 * Cell (i, j) of the table holds the edit distance between the first i words of
 * the hypothesis and the first j words of the reference. Only the band of each
 * row is stored. A shift does not change the length of the hypothesis, so all
 * trials of a sentence have the same bands, and the rows before the first moved
 * word are those of the present table.
 *
 * Invariants: the bands of neighboring rows touch, so that a path leads from
 * cell (0, 0) to the last cell and the distance is below FAR. A shift moves
 * words within the hypothesis. */
#include "metrics/ter.h"

#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "text/utf8.h"
#include "text/words.h"

#define SHIFT_WORDS 10          /* longest sequence that is shifted */
#define SHIFT_REACH 50          /* how far apart its two places may be */
#define TRIALS 1000             /* for a sentence */
#define BAND 25                 /* columns on either side of the diagonal */
#define FAR (1u << 30)          /* the distance in a cell outside the band */

enum op { OP_SAME, OP_REPLACE, OP_HYP_ONLY, OP_REF_ONLY };

struct ter_row {
    size_t lo, hi;              /* the band: columns [lo, hi) */
    size_t at;                  /* index of the cell in column lo */
};

/* The cells of a table, row by row: distance and last operation. */
struct cells { uint32_t *cost; uint8_t *op; };

/* Moves `length` words from place `from` to place `to`; see apply_shift().
 * The gain is how much this lowers the edit distance. */
struct shift { int64_t gain; size_t length, from, to; };

struct ter {
    const uint32_t *ref;        /* [n_ref] */
    size_t n_hyp, n_ref;
    uint32_t *hyp, *moved;      /* [n_hyp]; moved: after a shift on trial */
    struct ter_row *rows;       /* [n_hyp + 1] */
    struct cells table, trial;  /* for hyp, and for moved */
    /* The cheapest alignment, from the table. align[j] is the number of
     * hypothesis words up to and including the one aligned with reference word
     * j. hyp_errors[i] and ref_errors[j] count the errors before a word. */
    size_t *align;              /* [n_ref] */
    uint32_t *hyp_errors;       /* [n_hyp + 1] */
    uint32_t *ref_errors;       /* [n_ref + 1] */
    int trials;
};

/* ---- the table ---------------------------------------------------------- */

/* Sets the bands of the rows and returns the number of cells. */
static size_t ter_lay_rows(struct ter *t)
{
    double ratio = t->n_hyp ? (double)t->n_ref / (double)t->n_hyp : 1;
    /* The diagonal moves `ratio` columns from row to row. The band must be
     * wide enough for neighboring rows to touch. */
    size_t band = ratio / 2 > BAND ? (size_t)ceil(ratio / 2 + BAND) : BAND;
    size_t at = 0;

    for (size_t i = 0; i <= t->n_hyp; i++) {
        size_t diagonal = (size_t)floor((double)i * ratio);
        struct ter_row *r = &t->rows[i];

        r->lo = i && diagonal > band ? diagonal - band : 0;
        r->hi = t->n_ref + 1;
        if (i && i < t->n_hyp && diagonal + band < r->hi)
            r->hi = diagonal + band;
        r->at = at;
        at += r->hi - r->lo;
        assert(r->lo < r->hi && r->hi <= t->n_ref + 1);
        assert(!i || r->lo <= t->rows[i - 1].hi);
    }
    return at;
}

static uint32_t cost_at(const struct ter_row *r, const uint32_t *cost, size_t j)
{
    return j >= r->lo && j < r->hi ? cost[r->at + j - r->lo] : FAR;
}

static void ter_first_row(struct ter *t)
{
    for (size_t j = 0; j <= t->n_ref; j++) {
        t->table.cost[j] = (uint32_t)j;
        t->table.op[j] = OP_REF_ONLY;
    }
}

/* Computes row i, for a hypothesis whose word i - 1 is `word`. Among equal
 * costs the diagonal step wins, then deleting a word of the hypothesis. `above`
 * holds the cells of the row before. */
static void fill_row(const struct ter *t, size_t i, uint32_t word,
                     const uint32_t *above, struct cells out)
{
    const struct ter_row *r = &t->rows[i], *up = r - 1;
    uint32_t left = FAR;

    for (size_t j = r->lo; j < r->hi; j++) {
        bool same = j && word == t->ref[j - 1];
        uint32_t best = FAR, way;
        enum op op = OP_REF_ONLY;

        way = j ? cost_at(up, above, j - 1) + !same : FAR;
        if (way < best) best = way, op = same ? OP_SAME : OP_REPLACE;
        way = cost_at(up, above, j) + 1;
        if (way < best) best = way, op = OP_HYP_ONLY;
        if (left + 1 < best) best = left + 1, op = OP_REF_ONLY;
        out.cost[r->at + j - r->lo] = left = best;
        out.op[r->at + j - r->lo] = (uint8_t)op;
    }
}

static uint32_t ter_distance(const struct ter *t, struct cells c)
{
    uint32_t d = cost_at(&t->rows[t->n_hyp], c.cost, t->n_ref);

    assert(d < FAR);
    return d;
}

static void fill_table(struct ter *t)
{
    ter_first_row(t);
    for (size_t i = 1; i <= t->n_hyp; i++)
        fill_row(t, i, t->hyp[i - 1], t->table.cost, t->table);
}

static enum op op_at(const struct ter *t, size_t i, size_t j)
{
    const struct ter_row *r = &t->rows[i];

    return j >= r->lo && j < r->hi ? t->table.op[r->at + j - r->lo]
                                   : OP_REF_ONLY;
}

/* Replaces errors[0 .. n-1] by the sums before each, up to errors[n]. */
static void to_prefix_sums(uint32_t *errors, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i <= n; i++) {
        uint32_t here = i < n ? errors[i] : 0;

        errors[i] = sum;
        sum += here;
    }
}

/* Follows the cheapest path back from the last cell, and fills in align,
 * hyp_errors and ref_errors. */
static void trace_back(struct ter *t)
{
    size_t i = t->n_hyp, j = t->n_ref;

    while (i || j) {
        enum op op = !i ? OP_REF_ONLY : !j ? OP_HYP_ONLY : op_at(t, i, j);

        assert(i <= t->n_hyp && j <= t->n_ref);
        if (op == OP_HYP_ONLY) {
            t->hyp_errors[--i] = 1;
        } else if (op == OP_REF_ONLY) {
            t->ref_errors[--j] = 1;
            t->align[j] = i;
        } else {
            t->align[--j] = i--;
            t->hyp_errors[i] = t->ref_errors[j] = op == OP_REPLACE;
        }
    }
    to_prefix_sums(t->hyp_errors, t->n_hyp);
    to_prefix_sums(t->ref_errors, t->n_ref);
}

/* ---- shifts ------------------------------------------------------------- */

/* Writes the shifted hypothesis to out. The moved words go before the word
 * that is now at `to`. If `to` is among the moved words or just after them,
 * they move on by `to` - `from` words. */
static void apply_shift(const struct ter *t, const struct shift *s,
                        uint32_t *out)
{
    const uint32_t *w = t->hyp;
    size_t end = s->from + s->length, begin = s->from, n = t->n_hyp;

    assert(s->length && end <= n && s->to <= n);
    memcpy(out, w, n * sizeof *w);
    if (s->to < begin) {
        memcpy(out + s->to, w + begin, s->length * sizeof *w);
        memcpy(out + s->to + s->length, w + s->to,
               (begin - s->to) * sizeof *w);
    } else {
        size_t stop = s->to > end ? s->to : s->to + s->length;

        if (stop > n) stop = n;
        memcpy(out + begin, w + end, (stop - end) * sizeof *w);
        memcpy(out + begin + stop - end, w + begin, s->length * sizeof *w);
    }
}

/* Returns the edit distance after the shift. */
static uint32_t try_shift(struct ter *t, const struct shift *s)
{
    size_t first = (s->to < s->from ? s->to : s->from) + 1;

    apply_shift(t, s, t->moved);
    for (size_t i = first; i <= t->n_hyp; i++)
        fill_row(t, i, t->moved[i - 1],
                 i == first ? t->table.cost : t->trial.cost, t->trial);
    t->trials++;
    return ter_distance(t, t->trial);
}

static bool is_better_shift(const struct shift *a, const struct shift *b)
{
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->length != b->length) return a->length > b->length;
    if (a->from != b->from) return a->from < b->from;
    return a->to < b->to;
}

/* Tries each place to which the `length` words at `from` could move: before
 * the words that are aligned with the reference words at `ref`, after them, or
 * between any two of them. */
static void try_places(struct ter *t, size_t from, size_t ref, size_t length,
                       struct shift *best)
{
    uint32_t before = ter_distance(t, t->table);
    size_t last = SIZE_MAX;

    assert(from + length <= t->n_hyp && ref + length <= t->n_ref);
    for (size_t k = ref; k <= ref + length; k++) {
        struct shift s = { 0, length, from, k ? t->align[k - 1] : 0 };

        if (s.to == last) continue;
        last = s.to;
        s.gain = (int64_t)before - (int64_t)try_shift(t, &s);
        if (!best->length || is_better_shift(&s, best)) *best = s;
    }
}

/* A shift is tried only if there is an error in both places and the first
 * reference word is not already aligned within the sequence. */
static bool is_worth_a_trial(const struct ter *t, size_t from, size_t ref,
                             size_t length)
{
    return t->hyp_errors[from + length] > t->hyp_errors[from]
           && t->ref_errors[ref + length] > t->ref_errors[ref]
           && !(t->align[ref] > from && t->align[ref] <= from + length);
}

static void try_pair(struct ter *t, size_t from, size_t ref,
                     struct shift *best)
{
    for (size_t n = 1; n <= SHIFT_WORDS && from + n <= t->n_hyp
         && ref + n <= t->n_ref && t->trials < TRIALS; n++) {
        if (t->hyp[from + n - 1] != t->ref[ref + n - 1]) return;
        if (is_worth_a_trial(t, from, ref, n))
            try_places(t, from, ref, n, best);
    }
}

/* Returns the best shift of this round; its gain is 0 if no shift was tried. */
static struct shift best_shift(struct ter *t)
{
    struct shift best = { 0 };

    for (size_t from = 0; from < t->n_hyp; from++) {
        size_t ref = from > SHIFT_REACH ? from - SHIFT_REACH : 0;

        for (; ref < t->n_ref && ref <= from + SHIFT_REACH; ref++) {
            if (t->trials >= TRIALS) return best;
            try_pair(t, from, ref, &best);
        }
    }
    return best;
}

static int64_t count_edits(struct ter *t)
{
    int64_t shifts = 0;

    for (;; shifts++) {
        struct shift best;
        uint32_t *swap = t->hyp;

        fill_table(t);
        trace_back(t);
        best = best_shift(t);
        if (t->trials >= TRIALS || best.gain <= 0) break;
        apply_shift(t, &best, t->moved);
        t->hyp = t->moved;
        t->moved = swap;
    }
    return shifts + ter_distance(t, t->table);
}

/* ---- counting a pair ---------------------------------------------------- */

static void ter_release(struct ter *t)
{
    free(t->hyp);
    free(t->moved);
    free(t->rows);
    free(t->table.cost);
    free(t->table.op);
    free(t->trial.cost);
    free(t->trial.op);
    free(t->align);
    free(t->hyp_errors);
    free(t->ref_errors);
}

static bool cells_make(struct cells *c, size_t n)
{
    c->cost = calloc(n, sizeof *c->cost);
    c->op = calloc(n, sizeof *c->op);
    return c->cost && c->op;
}

static bool ter_make(struct ter *t, const struct units *hyp,
                     const struct units *ref)
{
    size_t cells;

    *t = (struct ter){ .ref = ref->at, .n_hyp = hyp->n, .n_ref = ref->n };
    t->hyp = calloc(hyp->n + 1, sizeof *t->hyp);
    t->moved = calloc(hyp->n + 1, sizeof *t->moved);
    t->rows = calloc(hyp->n + 1, sizeof *t->rows);
    t->align = calloc(ref->n + 1, sizeof *t->align);
    t->hyp_errors = calloc(hyp->n + 1, sizeof *t->hyp_errors);
    t->ref_errors = calloc(ref->n + 1, sizeof *t->ref_errors);
    if (!t->hyp || !t->moved || !t->rows || !t->align || !t->hyp_errors
        || !t->ref_errors)
        return false;
    if (hyp->n) memcpy(t->hyp, hyp->at, hyp->n * sizeof *t->hyp);
    cells = ter_lay_rows(t);
    return cells_make(&t->table, cells) && cells_make(&t->trial, cells);
}

/* The only letter whose lower case is two characters: i and a combining dot
 * above. */
#define CAPITAL_DOTTED_I "\xC4\xB0"
#define SMALL_DOTTED_I "i\xCC\x87"

static bool ter_lower(struct strbuf *out, struct str text)
{
    strbuf_reset(out);
    while (text.n) {
        const char *hit = memmem(text.p, text.n, CAPITAL_DOTTED_I, 2);
        struct str part = { text.p, hit ? (size_t)(hit - text.p) : text.n };

        if (!strbuf_reserve(out, 3 * part.n)) return false;
        out->len += words_lower(part, out->data + out->len);
        if (hit && !strbuf_adds(out, SMALL_DOTTED_I)) return false;
        if (hit) part.n += 2;
        text.p += part.n;
        text.n -= part.n;
    }
    return true;
}

static bool ter_words(struct tally *s, struct str text, struct units *out)
{
    return ter_lower(&s->text, text)
           && fields_split(&s->words, strbuf_view(&s->text))
           && tally_number(s, out);
}

bool ter_count(struct tally *s, struct str hyp, struct str ref,
               int64_t *stats)
{
    struct ter t;
    bool ok;

    tally_begin(s);
    if (!ter_words(s, hyp, &s->hyp) || !ter_words(s, ref, &s->ref))
        return false;
    stats[TER_REF_LEN] = (int64_t)s->ref.n;
    stats[TER_EDITS] = (int64_t)s->hyp.n;   /* if the reference is empty */
    if (!s->ref.n) return true;
    ok = ter_make(&t, &s->hyp, &s->ref);
    if (ok) stats[TER_EDITS] = count_edits(&t);
    ter_release(&t);
    return ok;
}

double ter_score(const int64_t *stats)
{
    if (stats[TER_REF_LEN])
        return 100 * ((double)stats[TER_EDITS] / (double)stats[TER_REF_LEN]);
    return stats[TER_EDITS] ? 100 : 0;
}

const char *ter_detail(const int64_t *stats, int i, double *value)
{
    if (i != TER_EDITS && i != TER_REF_LEN) return NULL;
    *value = (double)stats[i];
    return i == TER_EDITS ? "edits" : "ref_len";
}
