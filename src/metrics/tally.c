/* tally.c - numbers the words and n-grams of a pair of texts and counts clipped
 * n-gram matches.
 *
 * Invariant of tally_match(): n-grams of the reference have the numbers 1 to
 * at most s->ref.n. 0 stands for an n-gram that the reference does not have.
 * s->ref_left[id] is never more than the occurrences of the n-gram. */
#include "metrics/tally.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"

/* Clearing a map costs time in proportion to its slots. A map that one long
 * line has made larger than this is freed, so that short lines stay fast. */
#define KEEP_SLOTS 65536

void tally_init(struct tally *s)
{
    *s = (struct tally){ 0 };
    strbuf_init(&s->text, 0);
    strbuf_init(&s->other, 0);
}

void tally_release(struct tally *s)
{
    strbuf_release(&s->text);
    strbuf_release(&s->other);
    fields_release(&s->words);
    map64_release(&s->ids);
    map64_release(&s->words_seen);
    free(s->hyp.at);
    free(s->ref.at);
    free(s->hyp_gram.at);
    free(s->ref_gram.at);
    free(s->ref_left.at);
    tally_init(s);
}

bool units_push(struct units *u, uint32_t unit)
{
    if (!mem_grow(&u->at, &u->cap, u->n + 1, sizeof *u->at)) return false;
    u->at[u->n++] = unit;
    return true;
}

static bool units_fill(struct units *u, size_t n, uint32_t value)
{
    if (!mem_grow(&u->at, &u->cap, n, sizeof *u->at)) return false;
    for (size_t i = 0; i < n; i++) u->at[i] = value;
    u->n = n;
    return true;
}

static void clear_map(struct map64 *m)
{
    if (m->mask >= KEEP_SLOTS) map64_release(m);
    else map64_clear(m);
}

void tally_begin(struct tally *s) { clear_map(&s->ids); }

void tally_begin_document(struct tally *s) { clear_map(&s->words_seen); }

bool tally_number(struct tally *s, struct units *out)
{
    out->n = 0;
    for (size_t i = 0; i < s->words.n; i++) {
        struct str w = s->words.at[i];
        bool fresh;
        uint32_t *id = map64_put(&s->ids, XXH3_64bits(w.p, w.n), &fresh);

        if (!id) return false;
        if (fresh) *id = (uint32_t)s->ids.n;
        if (!units_push(out, *id)) return false;
    }
    return true;
}

static uint64_t gram_key(uint32_t begin, uint32_t last)
{
    return (uint64_t)begin << 32 | last;
}

/* Numbers the n-grams of the reference from 1 and counts each. s->ref_gram
 * holds the numbers of its (n-1)-grams, and afterwards those of its n-grams. */
static bool number_ref(struct tally *s, size_t n)
{
    assert(s->ref_gram.n == s->ref.n && s->ref_left.n == s->ref.n + 1);
    tally_begin(s);
    for (size_t i = 0; i + n <= s->ref.n; i++) {
        bool fresh;
        uint32_t *id = map64_put(&s->ids, gram_key(s->ref_gram.at[i],
                                                   s->ref.at[i + n - 1]),
                                 &fresh);

        if (!id) return false;
        if (fresh) {
            *id = (uint32_t)s->ids.n;
            assert(*id >= 1 && *id < s->ref_left.n);
            s->ref_left.at[*id] = 0;
        }
        s->ref_gram.at[i] = *id;
        s->ref_left.at[*id]++;
    }
    return true;
}

/* Returns how many n-grams of the hypothesis match. An n-gram that the
 * reference does not have gets the number 0, and so does every longer one that
 * begins with it. */
static int64_t tally_match_hyp(struct tally *s, size_t n)
{
    int64_t found = 0;

    assert(s->hyp_gram.n == s->hyp.n);
    for (size_t i = 0; i + n <= s->hyp.n; i++) {
        uint32_t begin = s->hyp_gram.at[i];
        const uint32_t *id = !begin ? NULL
            : map64_find(&s->ids, gram_key(begin, s->hyp.at[i + n - 1]));

        s->hyp_gram.at[i] = id ? *id : 0;
        if (!id || !s->ref_left.at[*id]) continue;
        s->ref_left.at[*id]--;
        found++;
    }
    return found;
}

bool tally_match(struct tally *s, int orders, int64_t *matches)
{
    if (!units_fill(&s->hyp_gram, s->hyp.n, 1)
        || !units_fill(&s->ref_gram, s->ref.n, 1)
        || !units_fill(&s->ref_left, s->ref.n + 1, 0))
        return false;
    for (int n = 1; n <= orders; n++) {
        if (!number_ref(s, (size_t)n)) return false;
        matches[n - 1] = tally_match_hyp(s, (size_t)n);
        assert(matches[n - 1] <= gram_count(s->hyp.n, n));
        assert(matches[n - 1] <= gram_count(s->ref.n, n));
    }
    return true;
}
