/* ivfpq.h - search a large datastore approximately, by an IVF-PQ index.
 *
 * The entries are divided into lists, each with a centroid. A search reads only
 * the lists (`probes`) whose centroids are nearest to the query. An entry is
 * stored as a short code: its difference to the centroid, cut into subvectors,
 * each replaced by the nearest of 256 (a product code). Faiss compares the
 * codes with the query (faiss_plugin.h).
 *
 * Distances by codes are approximate. So a search takes several candidates for
 * each neighbor (`rerank`) and computes their distances from the stored keys.
 * These are bit for bit those of the exact search. With rerank 0 the
 * approximations are used, as in the published systems.
 *
 * Deleted entries are never found. Entries that were added to the datastore
 * after the index was built are compared exactly (entry_search.c).
 *
 * An open index never changes, and threads may share it. An ivfpq_scan belongs
 * to one thread at a time. */
#ifndef KNN_IVFPQ_H
#define KNN_IVFPQ_H

#include "knn/exact_scan.h"
#include "knn/ivfpq_file.h"

struct ivfpq;                   /* opaque */
struct ivfpq_scan;              /* opaque */

enum { IVFPQ_RERANK = 4, IVFPQ_RERANK_MAX = 64 };

struct ivfpq_options {
    int probes;                 /* lists that are read; 0: as the file says */
    int rerank;                 /* candidates per neighbor whose distance is
                                   computed; 0: none, at most
                                   IVFPQ_RERANK_MAX */
};

/* Open the index of s, which comes from datastore_file_open and is borrowed.
 * Fails if the plug-in is missing, or if the file does not belong to s. */
enum status ivfpq_open(struct ivfpq **out, const char *path,
                       const struct entries *s, const struct ivfpq_options *o,
                       struct err *e);
void ivfpq_close(struct ivfpq *ix);             /* NULL is fine */
const struct ivfpq_file *ivfpq_file_of(const struct ivfpq *ix);
/* With the number of probes that is used. */
struct ivfpq_options ivfpq_options_of(const struct ivfpq *ix);

/* Scratch memory for searches, and their results. ix is borrowed. Our own code
 * allocates nothing after this, but Faiss allocates tables in each search. */
enum status ivfpq_scan_new(struct ivfpq_scan **out, const struct ivfpq *ix,
                           struct err *e);
void ivfpq_scan_free(struct ivfpq_scan *sc);    /* NULL is fine */
/* Find neighbors of all queries. The neighbors of a query do not depend on the
 * other queries. */
enum status ivfpq_scan_run(struct ivfpq_scan *sc,
                           const struct scan_queries *queries, struct err *e);
/* The neighbors of query i of the last run, nearest first, equal ones by block
 * and entry. *n is at most k; it is less if the lists have fewer entries. */
const struct scan_hit *ivfpq_scan_hits(const struct ivfpq_scan *sc, int i,
                                       int *n);

#endif
