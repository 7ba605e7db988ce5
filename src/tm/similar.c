/* similar.c - computes edit distances, 64 rows at a time, and finds the words
 * in which two texts differ.
 *
 * The table of distances has a row for each unit of the pattern and a column
 * for each unit of the text. Neighboring cells differ by -1, 0 or 1, so a
 * column is stored as differences, two bits per row: `up` where a cell is one
 * more than the cell above, `down` where it is one less. The next column is
 * computed by a dozen operations on 64 rows (a block) at a time.
 *
 * For a unit of the text we need the set of rows of the pattern that have it.
 * A hash table leads from a unit to a list of (block, rows) in ascending order
 * of block. Most units are in few blocks, so the memory is proportional to the
 * length of the pattern. A slot whose stamp is not the present one belongs to
 * an earlier pattern and counts as free; so nothing has to be cleared. */
#include "tm/similar.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/words.h"

#define BLOCK 64
#define NONE UINT32_MAX

struct similar_slot {
    uint32_t symbol;
    uint32_t stamp;             /* of the pattern it belongs to */
    uint32_t first, last;       /* entries of its list */
};

struct similar_entry {
    uint64_t rows;              /* of the block that have the symbol */
    uint32_t block, next;       /* next: NONE at the end */
};

struct similar_column { uint64_t up, down; };

struct similar {
    struct similar_slot *slot;  /* [n_slots] */
    struct similar_entry *entry;  /* [n_entries] */
    struct similar_column *column;      /* [n_blocks] */
    size_t cap_slots, cap_entries, cap_columns;
    size_t n_slots, n_entries, n_blocks;        /* n_slots: a power of two */
    uint32_t *pattern;          /* [n], a copy */
    size_t cap_pattern;
    size_t n;                   /* units of the pattern */
    uint32_t stamp;             /* of the present pattern */
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

/* The slot of a symbol, or the free slot where it belongs. There is always a
 * free slot: the table has at least twice as many as the pattern has units. */
static struct similar_slot *similar_find(const struct similar *s,
                                         uint32_t symbol)
{
    size_t mask = s->n_slots - 1;
    size_t i = (size_t)(symbol * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;

    while (s->slot[i].stamp == s->stamp && s->slot[i].symbol != symbol)
        i = (i + 1) & mask;
    return &s->slot[i];
}

/* Make room for n units and begin a new stamp. New slots get stamp 0, which no
 * pattern has. */
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
    assert(s->n_entries < s->cap_entries);
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
        return err_set(e, ST_LIMIT, "a text of %zu units is too long to "
                       "compare", n);
    if (!similar_make_room(s, n)) return err_nomem(e, "edit distances");
    if (n) memcpy(s->pattern, pattern, n * sizeof *pattern);
    for (size_t i = 0; i < n; i++) set_row(s, i, pattern[i]);
    s->n = n;
    s->n_blocks = (n + BLOCK - 1) / BLOCK;
    assert(s->n_entries <= n && s->n_blocks <= s->cap_columns);
    return ST_OK;
}

/* The difference between two neighboring cells of a row: plus is 1, minus is 1,
 * or both are 0. */
struct similar_delta { uint64_t plus, minus; };

/* Advance one block by one column. rows: the rows that have the unit of the
 * text. in: the difference in the row above the block. Returns the difference
 * in row `last` of the block. */
static inline struct similar_delta similar_advance(struct similar_column *c,
                                                   uint64_t rows,
                                                   struct similar_delta in,
                                                   unsigned last)
{
    uint64_t up = c->up, down = c->down, vertical = rows | down;
    uint64_t diagonal, plus, minus;
    struct similar_delta out;

    rows |= in.minus;
    diagonal = (((rows & up) + up) ^ up) | rows;
    plus = down | ~(diagonal | up);
    minus = up & diagonal;
    out = (struct similar_delta){ plus >> last & 1, minus >> last & 1 };
    plus = plus << 1 | in.plus;
    minus = minus << 1 | in.minus;
    c->up = minus | ~(vertical | plus);
    c->down = plus & vertical;
    return out;
}

/* Above the first row, each unit of the text costs one more. */
static const struct similar_delta top_delta = { 1, 0 };

/* The distance for a pattern of up to 64 units. */
static size_t one_block(const struct similar *s, const uint32_t *text,
                        size_t n)
{
    struct similar_column c = { ~UINT64_C(0), 0 };
    unsigned last = (unsigned)(s->n - 1);
    size_t distance = s->n;

    assert(s->n > 0 && s->n <= BLOCK);
    for (size_t i = 0; i < n; i++) {
        const struct similar_slot *slot = similar_find(s, text[i]);
        uint64_t rows = slot->stamp == s->stamp ? s->entry[slot->first].rows
                                                : 0;
        struct similar_delta d = similar_advance(&c, rows, top_delta, last);

        distance += d.plus - d.minus;
    }
    return distance;
}

/* Advance all blocks by one column. Returns the difference in the last row. */
static struct similar_delta next_column(struct similar *s, uint32_t symbol)
{
    const struct similar_slot *slot = similar_find(s, symbol);
    uint32_t at = slot->stamp == s->stamp ? slot->first : NONE;
    struct similar_delta d = top_delta;

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

/* An upper bound of the distance, for texts that are too long for the table:
 * all between the common beginning and the common end is replaced. */
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
        s->column[b] = (struct similar_column){ ~UINT64_C(0), 0 };
    for (size_t i = 0; i < n; i++) {
        struct similar_delta d = next_column(s, text[i]);

        distance += d.plus - d.minus;
    }
    assert(distance <= (n > s->n ? n : s->n));
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

/* The largest table for common words, in cells of two bytes. */
#define CELLS_MAX ((size_t)1 << 22)

struct similar_word { size_t begin, end; uint64_t hash; };  /* or a mark */

struct similar_side {
    struct str text;
    struct similar_word *at;
    size_t n, cap;
    size_t next_word;           /* the first that is in no stretch yet */
    size_t bytes_done;          /* bytes that are in stretches */
};

struct word_diff {
    struct similar_side stored, query;
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

/* Whether bytes s .. s_end of the stored text and q .. q_end of the query are
 * the same. */
static bool same_bytes(const struct word_diff *d, size_t s, size_t s_end,
                       size_t q, size_t q_end)
{
    return s_end - s == q_end - q &&
           (s == s_end ||
            !memcmp(d->stored.text.p + s, d->query.text.p + q, s_end - s));
}

static bool same_word(const struct word_diff *d, size_t i, size_t j)
{
    const struct similar_word *s = &d->stored.at[i], *q = &d->query.at[j];

    return s->hash == q->hash &&
           same_bytes(d, s->begin, s->end, q->begin, q->end);
}

/* Append a stretch, or extend the last one of the same kind. */
static bool similar_emit(struct stretches *s, enum edit kind, size_t begin,
                         size_t end)
{
    assert(begin <= end);
    if (begin == end) return true;
    if (s->n && s->at[s->n - 1].kind == kind) {
        assert(s->at[s->n - 1].end == begin);
        s->at[s->n - 1].end = end;
        return true;
    }
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = (struct stretch){ kind, begin, end };
    return true;
}

/* Where word i begins, or where the text ends if there is no word i. */
static size_t word_begin(const struct similar_side *s, size_t i)
{
    return i < s->n ? s->at[i].begin : s->text.n;
}

/* Drop the stored words before i and add the query's words before j: none of
 * them is kept. Equal white space at either end of the two parts is kept. From
 * "a day" to "a new day": keep "a ", add "new ", keep "day". */
static bool replace_words(struct word_diff *d, size_t i, size_t j)
{
    struct similar_side *s = &d->stored, *q = &d->query;
    size_t s_end = word_begin(s, i), q_end = word_begin(q, j), s_tail, q_tail;
    size_t s_lead = word_begin(s, s->next_word);
    size_t q_lead = word_begin(q, q->next_word);

    if (same_bytes(d, s->bytes_done, s_lead, q->bytes_done, q_lead)) {
        if (!similar_emit(d->out, EDIT_KEEP, s->bytes_done, s_lead))
            return false;
        s->bytes_done = s_lead;
        q->bytes_done = q_lead;
    }
    s_tail = s->next_word < i ? s->at[i - 1].end : s->bytes_done;
    q_tail = q->next_word < j ? q->at[j - 1].end : q->bytes_done;
    if (!same_bytes(d, s_tail, s_end, q_tail, q_end)) {
        s_tail = s_end;
        q_tail = q_end;
    }
    return similar_emit(d->out, EDIT_DROP, s->bytes_done, s_tail) &&
           similar_emit(d->out, EDIT_ADD, q->bytes_done, q_tail) &&
           similar_emit(d->out, EDIT_KEEP, s_tail, s_end);
}

/* Stored word i is kept as word j of the query. */
static bool keep_word(struct word_diff *d, size_t i, size_t j)
{
    struct similar_side *s = &d->stored, *q = &d->query;

    assert(i >= s->next_word && i < s->n && j >= q->next_word && j < q->n);
    if (!replace_words(d, i, j) ||
        !similar_emit(d->out, EDIT_KEEP, s->at[i].begin, s->at[i].end))
        return false;
    s->bytes_done = s->at[i].end;
    q->bytes_done = q->at[j].end;
    s->next_word = i + 1;
    q->next_word = j + 1;
    return true;
}

/* Keep as many as possible of the stored words from .. n - 1 and the query's
 * words from .. m - 1 (longest common subsequence). common[i][j] is how many
 * words the texts from i and j on can have in common. */
static bool keep_common(struct word_diff *d, size_t from, size_t n, size_t m)
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
            ok = keep_word(d, from + i, from + j);
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

static bool similar_compare(struct word_diff *d)
{
    size_t n = d->stored.n, m = d->query.n, from = 0, tail = 0;
    bool ok = true;

    while (from < n && from < m && same_word(d, from, from)) from++;
    while (tail < n - from && tail < m - from &&
           same_word(d, n - tail - 1, m - tail - 1))
        tail++;
    for (size_t i = 0; ok && i < from; i++) ok = keep_word(d, i, i);
    ok = ok && keep_common(d, from, n - tail, m - tail);
    for (; ok && tail; tail--) ok = keep_word(d, n - tail, m - tail);
    return ok && replace_words(d, n, m);
}

enum status differences(struct str stored, struct str query,
                        struct stretches *out, struct err *e)
{
    struct word_diff d = { .out = out };
    bool ok;

    out->n = 0;
    ok = similar_list_words(&d.stored, stored) &&
         similar_list_words(&d.query, query) && similar_compare(&d);
    free(d.stored.at);
    free(d.query.at);
    return ok ? ST_OK : err_nomem(e, "the differences of two texts");
}
