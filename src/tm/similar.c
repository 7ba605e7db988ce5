/* similar.c - edit distance, bit-parallel, and differences; see similar.h.
 *
 * The table of distances has a row for each unit of the pattern and a column
 * for each unit of the text. Neighbors in it differ by -1, 0 or 1, so a
 * column is kept as differences, two bits a row: `up` where a cell is one more
 * than the cell above, `down` where it is one less. A column follows from the
 * one before by a dozen operations on 64 rows (a block) at a time.
 *
 * What a text unit needs is the set of rows that hold it. These are found
 * through a small hash table; for a pattern of several blocks a unit has a
 * list of (block, rows) in ascending order, as most units are in few blocks.
 * So a pattern costs memory in proportion to its length. Slots of earlier
 * patterns are told by their stamp, and nothing is cleared. */
#include "tm/similar.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "text/words.h"

#define BLOCK 64
#define NONE UINT32_MAX

struct similar_slot {
    uint32_t symbol;
    uint32_t stamp;             /* of the pattern it belongs to */
    uint32_t first, last;       /* its entries */
};

struct similar_entry {
    uint64_t rows;              /* of the block that hold the symbol */
    uint32_t block, next;       /* next: NONE at the end */
};

struct column { uint64_t up, down; };

struct similar {
    struct similar_slot *slot;  /* [n_slots] */
    struct similar_entry *entry;  /* [n_entries] */
    struct column *column;      /* [n_blocks] */
    size_t cap_slots, cap_entries, cap_columns;
    size_t n_slots, n_entries, n_blocks;        /* n_slots: a power of two */
    uint32_t *pattern;          /* [n], a copy */
    size_t cap_pattern;
    size_t n;                   /* of the pattern */
    uint32_t stamp;
};

enum status similar_new(struct similar **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? ST_OK : err_nomem(e, "edit distances");
}

void similar_free(struct similar *s)
{
    if (!s) return;
    free(s->slot);
    free(s->entry);
    free(s->column);
    free(s->pattern);
    free(s);
}

/* The symbol's slot, or the free one where it belongs. There always is a free
 * one: the table has at least twice as many as the pattern has units. */
static struct similar_slot *similar_find(const struct similar *s,
                                         uint32_t symbol)
{
    size_t mask = s->n_slots - 1;
    size_t i = (size_t)(symbol * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;

    while (s->slot[i].stamp == s->stamp && s->slot[i].symbol != symbol)
        i = (i + 1) & mask;
    return &s->slot[i];
}

/* Slots for n units: new ones get stamp 0, which no pattern has. */
static bool similar_make_room(struct similar *s, size_t n)
{
    size_t want = 16, had = s->cap_slots;

    while (want < 2 * n) want *= 2;
    if (!mem_grow(&s->slot, &s->cap_slots, want, sizeof *s->slot) ||
        !mem_grow(&s->entry, &s->cap_entries, n, sizeof *s->entry) ||
        !mem_grow(&s->pattern, &s->cap_pattern, n, sizeof *s->pattern) ||
        !mem_grow(&s->column, &s->cap_columns, n / BLOCK + 1,
                  sizeof *s->column))
        return false;
    if (s->cap_slots > had)
        memset(s->slot + had, 0, (s->cap_slots - had) * sizeof *s->slot);
    if (++s->stamp == 0) {
        memset(s->slot, 0, s->cap_slots * sizeof *s->slot);
        s->stamp = 1;
    }
    s->n_slots = want;
    return true;
}

static uint32_t new_entry(struct similar *s, uint32_t block)
{
    s->entry[s->n_entries] = (struct similar_entry){ 0, block, NONE };
    return (uint32_t)s->n_entries++;
}

static void set_row(struct similar *s, size_t row, uint32_t symbol)
{
    struct similar_slot *slot = similar_find(s, symbol);
    uint32_t block = (uint32_t)(row / BLOCK);

    if (slot->stamp != s->stamp) {
        uint32_t first = new_entry(s, block);

        *slot = (struct similar_slot){ symbol, s->stamp, first, first };
    } else if (s->entry[slot->last].block != block) {
        uint32_t last = new_entry(s, block);

        s->entry[slot->last].next = last;
        slot->last = last;
    }
    s->entry[slot->last].rows |= UINT64_C(1) << row % BLOCK;
}

enum status similar_set(struct similar *s, const uint32_t *pattern, size_t n,
                        struct err *e)
{
    s->n = s->n_blocks = s->n_entries = 0;
    if (n >= NONE / 4)
        return err_set(e, ST_LIMIT, "a text of %zu units is too long to be "
                       "compared", n);
    if (!similar_make_room(s, n)) return err_nomem(e, "edit distances");
    if (n) memcpy(s->pattern, pattern, n * sizeof *pattern);
    for (size_t i = 0; i < n; i++) set_row(s, i, pattern[i]);
    s->n = n;
    s->n_blocks = (n + BLOCK - 1) / BLOCK;
    return ST_OK;
}

/* The difference along a row from one column to the next: 1 in `plus`, 1 in
 * `minus`, or neither. */
struct similar_along { uint64_t plus, minus; };

/* One block of one column. rows: where the text's unit is; in: along the row
 * above the block. Returns the same of the block's row `last`. */
static inline struct similar_along similar_advance(struct column *c,
                                                   uint64_t rows,
                                                   struct similar_along in,
                                                   unsigned last)
{
    uint64_t up = c->up, down = c->down, vertical = rows | down;
    uint64_t diagonal, plus, minus;
    struct similar_along out;

    rows |= in.minus;
    diagonal = (((rows & up) + up) ^ up) | rows;
    plus = down | ~(diagonal | up);
    minus = up & diagonal;
    out = (struct similar_along){ plus >> last & 1, minus >> last & 1 };
    plus = plus << 1 | in.plus;
    minus = minus << 1 | in.minus;
    c->up = minus | ~(vertical | plus);
    c->down = plus & vertical;
    return out;
}

/* Above the first row each unit of the text costs one more. */
static const struct similar_along top = { 1, 0 };

/* A pattern of up to 64 units. */
static size_t one_block(const struct similar *s, const uint32_t *text,
                        size_t n)
{
    struct column c = { ~UINT64_C(0), 0 };
    unsigned last = (unsigned)(s->n - 1);
    size_t distance = s->n;

    for (size_t i = 0; i < n; i++) {
        const struct similar_slot *slot = similar_find(s, text[i]);
        uint64_t rows = slot->stamp == s->stamp ? s->entry[slot->first].rows
                                                : 0;
        struct similar_along d = similar_advance(&c, rows, top, last);

        distance += d.plus - d.minus;
    }
    return distance;
}

/* All blocks of one column; along the last row. */
static struct similar_along next_column(struct similar *s, uint32_t symbol)
{
    const struct similar_slot *slot = similar_find(s, symbol);
    uint32_t at = slot->stamp == s->stamp ? slot->first : NONE;
    struct similar_along d = top;

    for (size_t b = 0; b < s->n_blocks; b++) {
        bool is_last = b + 1 == s->n_blocks;
        uint64_t rows = 0;

        if (at != NONE && s->entry[at].block == b) {
            rows = s->entry[at].rows;
            at = s->entry[at].next;
        }
        d = similar_advance(&s->column[b], rows, d,
                            is_last ? (unsigned)(s->n - 1) % BLOCK : BLOCK - 1);
    }
    return d;
}

/* For texts that are too long for the table: what differs between the common
 * beginning and the common end is replaced as a whole. Never too small. */
static size_t distance_bound(const struct similar *s, const uint32_t *text,
                             size_t n)
{
    size_t m = s->n, from = 0;

    while (from < n && from < m && text[from] == s->pattern[from]) from++;
    while (n > from && m > from && text[n - 1] == s->pattern[m - 1]) n--, m--;
    return n > m ? n - from : m - from;
}

size_t similar_distance(struct similar *s, const uint32_t *text, size_t n)
{
    size_t distance = s->n;

    if (s->n == 0) return n;
    if (n > SIMILAR_CELLS_MAX / s->n) return distance_bound(s, text, n);
    if (s->n_blocks == 1) return one_block(s, text, n);
    for (size_t b = 0; b < s->n_blocks; b++)
        s->column[b] = (struct column){ ~UINT64_C(0), 0 };
    for (size_t i = 0; i < n; i++) {
        struct similar_along d = next_column(s, text[i]);

        distance += d.plus - d.minus;
    }
    return distance;
}

size_t similar_reference(const uint32_t *a, size_t n, const uint32_t *b,
                         size_t m, bool *ok)
{
    size_t *row = calloc(m + 1, sizeof *row), distance;

    *ok = row != NULL;
    if (!row) return 0;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    distance = row[m];
    free(row);
    return distance;
}

double similarity(size_t distance, size_t n, size_t m)
{
    size_t longer = n > m ? n : m;

    return longer ? 1 - (double)distance / (double)longer : 1;
}

/* ---- differences --------------------------------------------------------- */

/* Cells of the table of common words, two bytes each. */
#define CELLS_MAX ((size_t)1 << 22)

struct similar_word { size_t begin, end; uint64_t hash; };  /* no white space */

struct similar_side {
    struct str text;
    struct similar_word *at;
    size_t n, cap;
    size_t next;                /* the first word that is not in a stretch */
    size_t done;                /* bytes that are */
};

struct diff {
    struct similar_side theirs, ours;
    struct stretches *out;
};

void stretches_release(struct stretches *s)
{
    free(s->at);
    *s = (struct stretches){ 0 };
}

static bool similar_list_words(struct similar_side *s, struct str text)
{
    struct words w;

    s->text = text;
    words_begin(&w, text);
    while (words_next(&w)) {
        if (w.kind == WORD_SPACE) continue;
        if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
        s->at[s->n++] = (struct similar_word){
            w.begin, w.end, XXH3_64bits(text.p + w.begin, w.end - w.begin)
        };
    }
    return true;
}

static bool same_bytes(const struct diff *d, size_t t, size_t t_end, size_t o,
                       size_t o_end)
{
    return t_end - t == o_end - o &&
           (t == t_end ||
            !memcmp(d->theirs.text.p + t, d->ours.text.p + o, t_end - t));
}

static bool same_word(const struct diff *d, size_t i, size_t j)
{
    const struct similar_word *t = &d->theirs.at[i], *o = &d->ours.at[j];

    return t->hash == o->hash &&
           same_bytes(d, t->begin, t->end, o->begin, o->end);
}

static bool similar_emit(struct stretches *s, enum edit kind, size_t begin,
                         size_t end)
{
    if (begin == end) return true;
    if (s->n && s->at[s->n - 1].kind == kind) {
        s->at[s->n - 1].end = end;
        return true;
    }
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = (struct stretch){ kind, begin, end };
    return true;
}

/* Where word i begins, or the text ends. */
static size_t begin_of(const struct similar_side *s, size_t i)
{
    return i < s->n ? s->at[i].begin : s->text.n;
}

/* The words up to i of theirs and j of ours have nothing in common: drop and
 * add them. Equal white space at either end of the two stays: from "a day" to
 * "a new day" is to keep "a ", add "new " and keep "day". */
static bool change(struct diff *d, size_t i, size_t j)
{
    struct similar_side *t = &d->theirs, *o = &d->ours;
    size_t t_end = begin_of(t, i), o_end = begin_of(o, j), t_tail, o_tail;
    size_t t_lead = begin_of(t, t->next), o_lead = begin_of(o, o->next);

    if (same_bytes(d, t->done, t_lead, o->done, o_lead)) {
        if (!similar_emit(d->out, EDIT_KEEP, t->done, t_lead)) return false;
        t->done = t_lead;
        o->done = o_lead;
    }
    t_tail = t->next < i ? t->at[i - 1].end : t->done;
    o_tail = o->next < j ? o->at[j - 1].end : o->done;
    if (!same_bytes(d, t_tail, t_end, o_tail, o_end)) {
        t_tail = t_end;
        o_tail = o_end;
    }
    return similar_emit(d->out, EDIT_DROP, t->done, t_tail) &&
           similar_emit(d->out, EDIT_ADD, o->done, o_tail) &&
           similar_emit(d->out, EDIT_KEEP, t_tail, t_end);
}

/* Word i of theirs is word j of ours. */
static bool similar_keep(struct diff *d, size_t i, size_t j)
{
    struct similar_side *t = &d->theirs, *o = &d->ours;

    if (!change(d, i, j) ||
        !similar_emit(d->out, EDIT_KEEP, t->at[i].begin, t->at[i].end))
        return false;
    t->done = t->at[i].end;
    o->done = o->at[j].end;
    t->next = i + 1;
    o->next = j + 1;
    return true;
}

/* Keep as many as possible of the words from `from` up to n of theirs and m of
 * ours. common[i][j] is how many words what is left from there can share. */
static bool keep_common(struct diff *d, size_t from, size_t n, size_t m)
{
    size_t rows = n - from, cols = m - from, wide = cols + 1, i, j;
    uint16_t *common;
    bool ok = true;

    if (!rows || !cols || wide > CELLS_MAX / (rows + 1)) return true;
    common = calloc((rows + 1) * wide, sizeof *common);
    if (!common) return false;
    for (i = rows; i-- > 0;) {
        uint16_t *row = common + i * wide, *below = row + wide;

        for (j = cols; j-- > 0;) {
            if (same_word(d, from + i, from + j))
                row[j] = (uint16_t)(below[j + 1] + 1);
            else
                row[j] = below[j] > row[j + 1] ? below[j] : row[j + 1];
        }
    }
    for (i = j = 0; ok && i < rows && j < cols;) {
        const uint16_t *row = common + i * wide;

        if (same_word(d, from + i, from + j)) {
            ok = similar_keep(d, from + i, from + j);
            i++;
            j++;
        } else if (row[wide + j] >= row[j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    free(common);
    return ok;
}

static bool similar_compare(struct diff *d)
{
    size_t n = d->theirs.n, m = d->ours.n, from = 0, tail = 0;
    bool ok = true;

    while (from < n && from < m && same_word(d, from, from)) from++;
    while (tail < n - from && tail < m - from &&
           same_word(d, n - tail - 1, m - tail - 1))
        tail++;
    for (size_t i = 0; ok && i < from; i++) ok = similar_keep(d, i, i);
    ok = ok && keep_common(d, from, n - tail, m - tail);
    for (; ok && tail; tail--) ok = similar_keep(d, n - tail, m - tail);
    return ok && change(d, n, m);
}

enum status differences(struct str theirs, struct str ours,
                        struct stretches *out, struct err *e)
{
    struct diff d = { .out = out };
    bool ok;

    out->n = 0;
    ok = similar_list_words(&d.theirs, theirs) &&
         similar_list_words(&d.ours, ours) && similar_compare(&d);
    free(d.theirs.at);
    free(d.ours.at);
    return ok ? ST_OK : err_nomem(e, "the differences of two texts");
}
