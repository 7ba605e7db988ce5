/* wordfreq.c - counts word frequencies, and the matched words of each line by
 * frequency bucket.
 *
 * Invariant: in each bucket the matched words are at most the words of the
 * hypothesis and at most those of the reference. */
#include "metrics/wordfreq.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "metrics/moses.h"

static const struct { uint32_t from; const char *name; } buckets[] = {
    { 0, "<1" }, { 1, "1" }, { 2, "2" }, { 3, "3" }, { 4, "4" },
    { 5, "[5,10)" }, { 10, "[10,100)" }, { 100, "[100,1000)" },
    { 1000, ">=1000" }
};
_Static_assert(sizeof buckets / sizeof *buckets == WORDFREQ_BUCKETS,
               "a name for each bucket");

void wordfreq_init(struct wordfreq *w)
{
    *w = (struct wordfreq){ 0 };
    tally_init(&w->scratch);
}

void wordfreq_release(struct wordfreq *w)
{
    map64_release(&w->frequency);
    tally_release(&w->scratch);
    wordfreq_init(w);
}

void wordfreq_reset(struct wordfreq *w)
{
    memset(w->counts, 0, sizeof w->counts);
}

int wordfreq_bucket(uint32_t frequency)
{
    int b = WORDFREQ_BUCKETS - 1;

    while (frequency < buckets[b].from) b--;
    return b;
}

/* ---- counting lines ----------------------------------------------------- */

static uint64_t wordfreq_key(struct str word)
{
    return XXH3_64bits(word.p, word.n);
}

bool wordfreq_learn(struct wordfreq *w, struct str text)
{
    struct tally *s = &w->scratch;
    bool fresh;

    if (!moses_tally(s, text)) return false;
    for (size_t i = 0; i < s->words.n; i++) {
        uint64_t key = wordfreq_key(s->words.at[i]);
        uint32_t *n = map64_put(&w->frequency, key, &fresh);

        if (!n) return false;
        if (*n < UINT32_MAX) ++*n;
    }
    return true;
}

static int bucket_of(const struct wordfreq *w, uint64_t key)
{
    const uint32_t *n = map64_find(&w->frequency, key);

    return wordfreq_bucket(n ? *n : 0);
}

/* Counts the words of the reference. w->scratch.ids then holds, for each word,
 * how many occurrences have not been matched yet. */
static bool count_ref(struct wordfreq *w, struct str ref,
                      struct wordfreq_counts *counts)
{
    struct tally *s = &w->scratch;
    bool fresh;

    tally_begin(s);
    if (!moses_tally(s, ref)) return false;
    for (size_t i = 0; i < s->words.n; i++) {
        uint64_t key = wordfreq_key(s->words.at[i]);
        uint32_t *left = map64_put(&s->ids, key, &fresh);

        if (!left) return false;
        ++*left;
        counts[bucket_of(w, key)].ref++;
    }
    return true;
}

static bool wordfreq_match_hyp(struct wordfreq *w, struct str hyp,
                               struct wordfreq_counts *counts)
{
    struct tally *s = &w->scratch;

    if (!moses_tally(s, hyp)) return false;
    for (size_t i = 0; i < s->words.n; i++) {
        uint64_t key = wordfreq_key(s->words.at[i]);
        uint32_t *left = map64_find(&s->ids, key);
        struct wordfreq_counts *c = &counts[bucket_of(w, key)];

        c->hyp++;
        if (!left || !*left) continue;
        c->matched++;
        --*left;
    }
    return true;
}

bool wordfreq_add(struct wordfreq *w, struct str hyp, struct str ref)
{
    struct wordfreq_counts line[WORDFREQ_BUCKETS] = { 0 };

    if (!count_ref(w, ref, line) || !wordfreq_match_hyp(w, hyp, line))
        return false;
    for (int b = 0; b < WORDFREQ_BUCKETS; b++) {
        assert(line[b].matched <= line[b].hyp);
        assert(line[b].matched <= line[b].ref);
        w->counts[b].matched += line[b].matched;
        w->counts[b].hyp += line[b].hyp;
        w->counts[b].ref += line[b].ref;
    }
    return true;
}

void wordfreq_get(const struct wordfreq *w, int bucket,
                  struct wordfreq_figure *out)
{
    const struct wordfreq_counts *n = &w->counts[bucket];

    assert(bucket >= 0 && bucket < WORDFREQ_BUCKETS);
    *out = (struct wordfreq_figure){ .frequency = buckets[bucket].name,
                                     .n = *n };
    if (!n->matched) return;
    out->precision = 100.0 * (double)n->matched / (double)n->hyp;
    out->recall = 100.0 * (double)n->matched / (double)n->ref;
    out->f1 = 2 * out->precision * out->recall
              / (out->precision + out->recall);
}
