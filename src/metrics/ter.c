/* ter.c - edit distance in a band, and the search for shifts.
 *
 * The table has a row for each number of words taken of the hypothesis and a
 * column for each number taken of the reference; of a row only the band around
 * the diagonal is kept. A shift leaves the length as it is, so all trials of a
 * sentence have the same bands, and rows before the first moved word are those
 * of the present table. */
#include "metrics/ter.h"

#include <math.h>
#include <stdlib.h>

#include "text/utf8.h"
#include "text/words.h"

#define SHIFT_WORDS 10
#define SHIFT_REACH 50
#define TRIALS 1000
#define BAND 25
#define FAR (1u << 30)          /* the distance of a cell outside the band */

enum op { OP_SAME, OP_REPLACE, OP_HYP_ONLY, OP_REF_ONLY };

struct ter_row {
    size_t lo, hi;              /* columns [lo, hi) */
    size_t at;                  /* of column lo among the cells */
};

struct cells { uint32_t *cost; uint8_t *op; };

struct shift { int64_t gain; size_t length, from, to; };

struct ter {
    const uint32_t *ref;        /* [n_ref] */
    size_t n_hyp, n_ref;
    uint32_t *hyp, *moved;      /* [n_hyp] */
    struct ter_row *rows;       /* [n_hyp + 1] */
    struct cells now, trial;
    /* What the table says of each word: where the reference's stands in the
     * hypothesis (behind so many words), and errors before it, as sums. */
    size_t *align;              /* [n_ref] */
    uint32_t *hyp_errors;       /* [n_hyp + 1] */
    uint32_t *ref_errors;       /* [n_ref + 1] */
    int trials;
};

/* ---- the table ---------------------------------------------------------- */

static size_t lay_rows(struct ter *t)
{
    double ratio = t->n_hyp ? (double)t->n_ref / (double)t->n_hyp : 1;
    /* A row must meet the one before it, however fast the diagonal falls. */
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
        t->now.cost[j] = (uint32_t)j;
        t->now.op[j] = OP_REF_ONLY;
    }
}

/* Among equal ways the diagonal one wins, then leaving out a word of the
 * hypothesis. `above` has the row before. */
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
    return cost_at(&t->rows[t->n_hyp], c.cost, t->n_ref);
}

static void fill_table(struct ter *t)
{
    ter_first_row(t);
    for (size_t i = 1; i <= t->n_hyp; i++)
        fill_row(t, i, t->hyp[i - 1], t->now.cost, t->now);
}

static enum op op_at(const struct ter *t, size_t i, size_t j)
{
    const struct ter_row *r = &t->rows[i];

    return j >= r->lo && j < r->hi ? t->now.op[r->at + j - r->lo]
                                   : OP_REF_ONLY;
}

static void to_sums(uint32_t *errors, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i <= n; i++) {
        uint32_t here = i < n ? errors[i] : 0;

        errors[i] = sum;
        sum += here;
    }
}

/* Follow the cheapest way back from the end. */
static void trace(struct ter *t)
{
    size_t i = t->n_hyp, j = t->n_ref;

    while (i || j) {
        enum op op = !i ? OP_REF_ONLY : !j ? OP_HYP_ONLY : op_at(t, i, j);

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
    to_sums(t->hyp_errors, t->n_hyp);
    to_sums(t->ref_errors, t->n_ref);
}

/* ---- shifts ------------------------------------------------------------- */

/* Move `length` words so that they stand before what is word `to` now; a place
 * among or just behind them means as many words further on. */
static void move(const struct ter *t, const struct shift *s, uint32_t *out)
{
    const uint32_t *w = t->hyp;
    size_t end = s->from + s->length, begin = s->from, n = t->n_hyp;

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

static uint32_t try_shift(struct ter *t, const struct shift *s)
{
    size_t first = (s->to < s->from ? s->to : s->from) + 1;

    move(t, s, t->moved);
    for (size_t i = first; i <= t->n_hyp; i++)
        fill_row(t, i, t->moved[i - 1],
                 i == first ? t->now.cost : t->trial.cost, t->trial);
    t->trials++;
    return ter_distance(t, t->trial);
}

static bool better(const struct shift *a, const struct shift *b)
{
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->length != b->length) return a->length > b->length;
    if (a->from != b->from) return a->from < b->from;
    return a->to < b->to;
}

/* Every place the stretch could go to: before the words that stand for the
 * reference's at `ref`, or between any two of them. */
static void try_places(struct ter *t, size_t from, size_t ref, size_t length,
                       struct shift *best)
{
    uint32_t before = ter_distance(t, t->now);
    size_t last = SIZE_MAX;

    for (size_t k = ref; k <= ref + length; k++) {
        struct shift s = { 0, length, from, k ? t->align[k - 1] : 0 };

        if (s.to == last) continue;
        last = s.to;
        s.gain = (int64_t)before - (int64_t)try_shift(t, &s);
        if (!best->length || better(&s, best)) *best = s;
    }
}

/* Worth a trial: something is wrong at both places, and the reference's first
 * word does not stand within the stretch already. */
static bool worth_it(const struct ter *t, size_t from, size_t ref,
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
        if (worth_it(t, from, ref, n)) try_places(t, from, ref, n, best);
    }
}

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
        trace(t);
        best = best_shift(t);
        if (t->trials >= TRIALS || best.gain <= 0) break;
        move(t, &best, t->moved);
        t->hyp = t->moved;
        t->moved = swap;
    }
    return shifts + ter_distance(t, t->now);
}

/* ---- a pair ------------------------------------------------------------- */

static void ter_release(struct ter *t)
{
    free(t->hyp);
    free(t->moved);
    free(t->rows);
    free(t->now.cost);
    free(t->now.op);
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
    cells = lay_rows(t);
    return cells_make(&t->now, cells) && cells_make(&t->trial, cells);
}

/* The one letter whose lower case is two characters (i and a dot above). */
#define CAPITAL_DOTTED_I "\xC4\xB0"
#define SMALL_DOTTED_I "i\xCC\x87"

static bool lower(struct strbuf *out, struct str text)
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

static bool lower_words(struct tally *s, struct str text, struct units *out)
{
    return lower(&s->text, text)
           && fields_split(&s->words, strbuf_view(&s->text))
           && tally_number(s, out);
}

bool ter_count(struct tally *s, struct str hyp, struct str ref,
               int64_t *stats)
{
    struct ter t;
    bool ok;

    tally_begin(s);
    if (!lower_words(s, hyp, &s->hyp) || !lower_words(s, ref, &s->ref))
        return false;
    stats[TER_REF_LEN] = (int64_t)s->ref.n;
    stats[TER_EDITS] = (int64_t)s->hyp.n;       /* of an empty reference */
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
