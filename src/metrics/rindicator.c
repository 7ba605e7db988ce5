/* rindicator.c - words seen before, and which of them came back. */
#include "metrics/rindicator.h"

#include <ctype.h>
#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metrics/moses.h"
#include "metrics/stopwords.h"
#include "text/words.h"

#define STOPWORD_MAX 32         /* bytes; none is longer */

enum { IN_HYP = 1, IN_REF = 2 };        /* what s->ids says of a word */

/* ---- what counts as a word ---------------------------------------------- */

static bool is_punctuation(struct str w)
{
    unsigned char c = (unsigned char)w.p[0];

    return w.n == 1 && c > ' ' && c < 0x7F && !isalnum(c);
}

static size_t digits(struct str w, size_t at)
{
    size_t n = 0;

    while (at + n < w.n && w.p[at + n] >= '0' && w.p[at + n] <= '9') n++;
    return n;
}

/* Digits, then maybe a dot, then maybe digits. */
static bool rindicator_is_number(struct str w)
{
    size_t at = digits(w, 0);

    if (!at) return false;
    if (at < w.n && w.p[at] == '.') at++;
    return at + digits(w, at) == w.n;
}

static bool is_stopword(struct str w)
{
    char lower[3 * STOPWORD_MAX];

    if (w.n > STOPWORD_MAX) return false;
    return stopwords_has((struct str){ lower, words_lower(w, lower) });
}

static bool counts(struct str w, bool stopwords)
{
    return !is_punctuation(w) && !rindicator_is_number(w)
           && (stopwords || !is_stopword(w));
}

/* ---- a line ------------------------------------------------------------- */

int rindicator_bucket(uint32_t times)
{
    if (times < 2) return (int)times;
    return times <= 5 ? 2 : times <= 9 ? 3 : 4;
}

/* The two ways to count remember their words apart, by other keys. A seed of
 * the hash would not do: in words of three bytes it changes the last one, so
 * that "qqA" with one seed is "qqF" with another. */
static uint64_t rindicator_key_of(struct str w, bool stopwords)
{
    return XXH3_64bits(w.p, w.n) ^ (stopwords ? 0x9E3779B97F4A7C15u : 0);
}

static bool mark_hyp(struct tally *s, bool stopwords)
{
    bool fresh;

    for (size_t i = 0; i < s->words.n; i++) {
        uint32_t *mark = map64_put(
            &s->ids, rindicator_key_of(s->words.at[i], stopwords), &fresh);

        if (!mark) return false;
        *mark = IN_HYP;
    }
    return true;
}

/* A place in s->seen for each word, so that counting cannot fail halfway. */
static bool reserve_seen(struct tally *s, bool stopwords)
{
    bool fresh;

    for (size_t i = 0; i < s->words.n; i++) {
        uint64_t key = rindicator_key_of(s->words.at[i], stopwords);

        if (!map64_put(&s->seen, key, &fresh)
            || !map64_put(&s->ids, key, &fresh))
            return false;
    }
    return true;
}

static void count_word(struct tally *s, struct str w, bool stopwords,
                       int64_t *stats)
{
    uint64_t key = rindicator_key_of(w, stopwords);
    uint32_t *mark = map64_find(&s->ids, key);
    uint32_t *times = map64_find(&s->seen, key);
    int b = rindicator_bucket(*times);

    if (*mark & IN_REF || !counts(w, stopwords)) return;
    stats[R_WORDS + b]++;
    if (*mark & IN_HYP) stats[R_FOUND + b]++;
    *mark |= IN_REF;
    if (*times < UINT32_MAX) ++*times;
}

static bool rindicator_do_count(struct tally *s, struct str hyp, struct str ref,
                                bool stopwords, int64_t *stats)
{
    memset(stats, 0, R_STATS * sizeof *stats);
    tally_begin(s);
    if (!moses_tally(s, hyp) || !mark_hyp(s, stopwords)
        || !moses_tally(s, ref) || !reserve_seen(s, stopwords))
        return false;
    for (size_t i = 0; i < s->words.n; i++)
        count_word(s, s->words.at[i], stopwords, stats);
    return true;
}

bool rindicator_count(struct tally *s, struct str hyp, struct str ref,
                      int64_t *stats)
{
    return rindicator_do_count(s, hyp, ref, false, stats);
}

bool rindicator_count_all(struct tally *s, struct str hyp, struct str ref,
                          int64_t *stats)
{
    return rindicator_do_count(s, hyp, ref, true, stats);
}

/* ---- of the sums -------------------------------------------------------- */

double rindicator_score(const int64_t *stats)
{
    int64_t found = 0, words = 0;

    for (int b = 0; b < R_BUCKETS; b++) {
        found += stats[R_FOUND + b];
        words += stats[R_WORDS + b];
    }
    return words ? 100.0 * (double)found / (double)words : 0;
}

const char *rindicator_detail(const int64_t *stats, int i, double *value)
{
    static const char *const names[] = {
        "r0", "r1", "r2_5", "r6_9", "r10", "found_r0", "found_r1",
        "found_r2_5", "found_r6_9", "found_r10", "words_r0", "words_r1",
        "words_r2_5", "words_r6_9", "words_r10"
    };

    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    if (i >= R_BUCKETS) *value = (double)stats[i - R_BUCKETS];
    else if (!stats[R_WORDS + i]) *value = NAN;
    else *value = 100.0 * (double)stats[R_FOUND + i]
                        / (double)stats[R_WORDS + i];
    return names[i];
}
