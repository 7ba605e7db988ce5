/* stopwords.c - a search by halves. */
#include "metrics/stopwords.h"

#include "metrics/stopwords_en.h"

static int stopwords_compare(struct str a, struct str b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool stopwords_has(struct str word)
{
    size_t low = 0, high = sizeof stopwords_en / sizeof *stopwords_en;

    while (word.n && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stopwords_compare(word, str_of(stopwords_en[middle]));

        if (!order) return true;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return false;
}
