/* naive_bm25.h - BM25 over a list of documents, written to be obviously right.
 *
 *     struct naive_bm25 b = { 0 };
 *     naive_add(&b, terms, n);                  for each document
 *     double *score = naive_scores(&b, query, n_query);        [b.n], free()
 *     naive_release(&b);
 *
 * It computes what Lucene computes: a term adds
 * idf * tf / (tf + k1 (1 - b + b dl / avgdl)) for each time that it is in the
 * query, where idf = ln(1 + (N - df + 0.5) / (df + 0.5)), k1 = 1.2, b = 0.75.
 * avgdl is the average of the exact lengths; dl is rounded like Lucene's
 * length byte. There is no index: every document is read. */
#ifndef NAIVE_BM25_H
#define NAIVE_BM25_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct naive_doc { uint64_t *term; size_t n; };

struct naive_bm25 {             /* initialize with zeros */
    struct naive_doc *doc;
    size_t n;
};

static inline void naive_add(struct naive_bm25 *b, const uint64_t *term,
                             size_t n)
{
    struct naive_doc d = { malloc((n + 1) * sizeof *term), n };

    if (n) memcpy(d.term, term, n * sizeof *term);
    b->doc = realloc(b->doc, (b->n + 1) * sizeof *b->doc);
    b->doc[b->n++] = d;
}

static inline void naive_release(struct naive_bm25 *b)
{
    for (size_t i = 0; i < b->n; i++) free(b->doc[i].term);
    free(b->doc);
    *b = (struct naive_bm25){ 0 };
}

/* The length that Lucene's byte stands for: length - 24 is rounded down to four
 * significant bits. */
static inline double naive_length(size_t n)
{
    size_t v = n - 24, step = 1;

    if (n < 24) return (double)n;
    while (v / step >= 16) step *= 2;
    return (double)(24 + v / step * step);
}

static inline double naive_count(const struct naive_doc *d, uint64_t term)
{
    double n = 0;

    for (size_t i = 0; i < d->n; i++) n += d->term[i] == term;
    return n;
}

static inline double naive_average(const struct naive_bm25 *b)
{
    double sum = 0;

    for (size_t i = 0; i < b->n; i++) sum += (double)b->doc[i].n;
    return b->n ? sum / (double)b->n : 0;
}

/* A score for each document, in malloc memory. */
static inline double *naive_scores(const struct naive_bm25 *b,
                                   const uint64_t *query, size_t n)
{
    double *score = calloc(b->n + 1, sizeof *score), avg = naive_average(b);

    for (size_t q = 0; q < n; q++) {
        double df = 0, idf;

        for (size_t i = 0; i < b->n; i++)
            df += naive_count(&b->doc[i], query[q]) > 0;
        idf = log(1 + ((double)b->n - df + 0.5) / (df + 0.5));
        for (size_t i = 0; i < b->n; i++) {
            double tf = naive_count(&b->doc[i], query[q]);
            double dl = naive_length(b->doc[i].n);

            if (tf > 0)
                score[i] += idf * tf /
                            (tf + 1.2 * (1 - 0.75 + 0.75 * dl / avg));
        }
    }
    return score;
}

#endif
