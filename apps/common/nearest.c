/* nearest.c - compares names by the number of letters that differ, and
 * remembers the most similar one. */
#include <string.h>

#include "common/nearest.h"

#define NAME_MAX_BYTES 64

/* Return the Levenshtein distance of two short names. */
static size_t nearest_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1], n = strlen(b);

    if (n > NAME_MAX_BYTES) return n;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t best = diagonal + (a[i] != b[j]);

            diagonal = row[j + 1];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (diagonal + 1 < best) best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[n];
}

void nearest_begin(struct nearest *n, const char *typed)
{
    n->typed = typed;
    n->best = NULL;
    n->distance = 1 + (strlen(typed) + 2) / 3;  /* limit for suggestions */
}

void nearest_offer(struct nearest *n, const char *name)
{
    size_t d;

    if (strlen(n->typed) > NAME_MAX_BYTES) return;
    d = nearest_distance(n->typed, name);
    /* Suggest --attention for --att, no matter how much is missing. */
    if (strlen(n->typed) >= 3 && !strncmp(n->typed, name, strlen(n->typed)))
        d = 1;
    if (d < n->distance) {
        n->distance = d;
        n->best = name;
    }
}

const char *nearest_end(const struct nearest *n)
{
    return n->best;
}
