/* stopwords.c - looks up a word in the list of stop words by binary search.
 *
 * Invariant: the list is sorted by bytes, without duplicates
 * (tools/gen_stopwords.py writes it so). */
#include "metrics/stopwords.h"

#include "base/invariant.h"
#include "metrics/stopwords_en.h"

static int stopwords_compare(struct str a, struct str b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

#define N_STOPWORDS (sizeof stopwords_en / sizeof *stopwords_en)

#ifdef PARANOID
static bool stopwords_sorted(void)
{
    for (size_t i = 1; i < N_STOPWORDS; i++)
        if (stopwords_compare(str_of(stopwords_en[i - 1]),
                              str_of(stopwords_en[i])) >= 0)
            return false;
    return true;
}
#endif

bool stopwords_has(struct str word)
{
    size_t low = 0, high = N_STOPWORDS;

    PARANOID_CHECK(stopwords_sorted());
    while (word.n && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stopwords_compare(word, str_of(stopwords_en[middle]));

        if (!order) return true;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return false;
}
