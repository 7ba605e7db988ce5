/* index.h - a BM25 index over one memory that is always up to date.
 *
 * Most texts are in segments (segment.h), files that the manifest in the store
 * lists. Texts that were added since are in a small index in memory (tail.h).
 * Texts that were removed since are marked dead. index_refresh() reads the
 * store's log, so the next search finds a pair as soon as any process has
 * committed it. Scores do not depend on how the texts are distributed: the
 * statistics are those of the visible texts, and sums are exact (bm25.h).
 *
 * The index is derived data. If a segment is missing, belongs to another
 * store, or does not match its checksums, the index is built again from the
 * store. It is built in memory where the folder cannot be written, and inside
 * a transaction of the caller.
 *
 * The files are in a folder beside the store, FILE.index/. A struct index uses
 * the store of its caller and belongs to the same thread. */
#ifndef TM_INDEX_H
#define TM_INDEX_H

#include "tm/analyze.h"
#include "tm/store.h"

struct index;                   /* opaque */

/* Called from time to time during long work. Return non-zero to stop; the
 * interrupted function then returns ST_CANCELED. what: "indexing", "encoding",
 * "merging", "checking". total is 0 when it is not known. */
typedef int index_progress_fn(void *user, const char *what, uint64_t done,
                              uint64_t total);
struct index_options {
    index_progress_fn *progress;        /* may be NULL */
    void *user;
    size_t tail_limit;          /* texts kept in memory before they become a
                                   segment; 0: 2048 */
};

/* The index holds the analyzer's tokenizer until it is closed. */
enum status index_open(struct index **out, struct store *s, int64_t memory,
                       const struct analyzer *a,
                       const struct index_options *o, struct err *e);
void index_close(struct index *ix);             /* NULL is fine */

/* Bring the index up to date with what is committed. This takes microseconds
 * when nothing has changed. */
enum status index_refresh(struct index *ix, struct err *e);

struct hit {
    int64_t text;
    double score;
    uint32_t part, doc;         /* its place in the index, for index_symbols */
};
/* The best `top` texts by BM25 (method.md 1.3), best first; of equal scores
 * the lower text id comes first. hits is the caller's array [top]; *n is how
 * many were found. */
enum status index_search(struct index *ix, const struct terms *query,
                         size_t top, struct hit *hits, size_t *n,
                         struct err *e);

/* Choose the tokenizer whose symbols (analyze.h) index_symbols returns. Each
 * segment has a file of subword ids per tokenizer, which is written on first
 * use. sw NULL: symbols are words, computed from the text in the store. */
enum status index_use_symbols(struct index *ix, const struct subword *sw,
                              uint64_t tokenizer, struct err *e);
/* The symbols of a hit's source, valid until the next call. The hit must come
 * from the last search, with no refresh in between. chars may be NULL, which
 * saves time: counting characters takes longer than the rest. */
enum status index_symbols(struct index *ix, const struct hit *h,
                          const uint32_t **at, size_t *n, uint32_t *chars,
                          struct err *e);

/* ---- building during an import ------------------------------------------ */

struct index_build;             /* opaque */
/* Collects the new texts of an import in order of id. Memory is bounded: a
 * full builder is written to a segment file at once. */
enum status index_build_new(struct index_build **out, struct store *s,
                            int64_t memory, const struct analyzer *a,
                            struct err *e);
enum status index_build_add(struct index_build *b, int64_t text,
                            struct str plain_source, struct err *e);
/* Call between store_import_prepare and store_import_commit. Writes a manifest
 * as of change `seq` that lists the new segments and covers all earlier
 * changes. The texts in `dropped` are left out. batch is store_import_batch. */
enum status index_build_publish(struct index_build *b, int64_t seq,
                                int64_t batch, const int64_t *dropped,
                                size_t n_dropped, struct err *e);
/* Call this when the commit failed after all: index_build_free then removes
 * the files. */
void index_build_unpublish(struct index_build *b);
/* Published files stay, others are removed. */
void index_build_free(struct index_build *b);   /* NULL is fine */

/* ---- maintenance --------------------------------------------------------- */

struct index_stats {
    int64_t docs;               /* searchable texts */
    int64_t terms;              /* distinct terms, summed over segments */
    int64_t total_terms;        /* terms of all texts, with repetitions */
    int segments;
    int64_t tail_docs, dead_docs;
    int64_t bytes;              /* of the segment files */
    int64_t symbol_bytes;       /* of the files of subword ids */
};
void index_stats(const struct index *ix, struct index_stats *out);

/* Turn the tail into a segment and merge small segments where that pays off.
 * all: merge into as few segments as possible and drop dead documents. Other
 * processes can search meanwhile. Without `all`, does nothing when another
 * process is merging. */
enum status index_merge(struct index *ix, bool all, struct err *e);
bool index_wants_merge(const struct index *ix);
/* Verify every checksum and compare every text of the store with the index.
 * The number of problems is added to *n_problems. */
enum status index_check(struct index *ix, problem_fn *fn, void *user,
                        int *n_problems, struct err *e);
/* Verify each byte of the files of every index of the store. A missing file is
 * not a problem: it is written again when it is needed. */
enum status index_check_files(struct store *s, problem_fn *fn, void *user,
                              int *n_problems, struct err *e);
/* Build the index again, whatever the present files contain. */
enum status index_rebuild(struct index *ix, struct err *e);
/* Remove files that no manifest lists. Does nothing while another process has
 * files that are not listed yet. */
enum status index_sweep(struct store *s, struct err *e);

#endif
