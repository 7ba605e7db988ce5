/* index.h - BM25 over one memory, always as new as the store.
 *
 * Files named by the store's manifest ("segments", segment.h) hold most texts;
 * what was added since is in a small index in memory (tail.h); what was removed
 * is struck out at once. index_refresh() reads the store's log, so a pair that
 * any process has committed is found by the next search. Scores do not depend
 * on how the texts are spread: statistics are those of the visible texts, and
 * sums are exact (bm25.h).
 *
 * All of it is derived: a segment that is missing, of another store, or whose
 * bytes do not agree with their checksums is not believed, and the index is
 * built again from the store. Where the folder cannot be written, and inside a
 * transaction of the caller's, it is built in memory.
 *
 * The files lie in a folder beside the store, FILE.index/. A struct index uses
 * its caller's store and belongs to the same thread. */
#ifndef TM_INDEX_H
#define TM_INDEX_H

#include "tm/analyze.h"
#include "tm/store.h"

struct index;

/* Called now and then during long work (building); non-zero: stop, the call
 * then gives ST_CANCELED. what: "indexing", "encoding", "merging". */
typedef int index_progress_fn(void *user, const char *what, uint64_t done,
                              uint64_t total);
struct index_options {
    index_progress_fn *progress;        /* may be NULL */
    void *user;
    size_t tail_limit;          /* texts kept in memory before they become a
                                   segment; 0: 2048 */
};

/* The analyzer's tokenizer is borrowed. */
enum status index_open(struct index **out, struct store *s, int64_t memory,
                       const struct analyzer *a,
                       const struct index_options *o, struct err *e);
void index_close(struct index *ix);             /* NULL is fine */

/* Up to date with what is committed. Costs microseconds when nothing changed. */
enum status index_refresh(struct index *ix, struct err *e);

struct hit {
    int64_t text;
    double score;
    uint32_t part, doc;         /* where: for index_symbols */
};
/* The best `top` texts by BM25 (method.md 1.3), best first, equal scores by
 * lower text id; *n of them. hits is the caller's [top]. */
enum status index_search(struct index *ix, const struct terms *query,
                         size_t top, struct hit *hits, size_t *n,
                         struct err *e);

/* The symbols (analyze.h) of a hit's source under a tokenizer, from a side
 * file per segment and tokenizer that is made on first use; sw NULL: words,
 * read from the store. Valid until the next call. chars may be NULL: counting
 * them takes longer than the rest. */
enum status index_use_symbols(struct index *ix, const struct subword *sw,
                              uint64_t tokenizer, struct err *e);
enum status index_symbols(struct index *ix, const struct hit *h,
                          const uint32_t **at, size_t *n, uint32_t *chars,
                          struct err *e);

/* ---- building beside an import ------------------------------------------ */

struct index_build;
/* Collects new texts of an import in order of id. Memory is bounded: full runs
 * become segment files at once. */
enum status index_build_new(struct index_build **out, struct store *s,
                            int64_t memory, const struct analyzer *a,
                            struct err *e);
enum status index_build_add(struct index_build *b, int64_t text,
                            struct str plain_source, struct err *e);
/* Between store_import_prepare and commit: enter the segments and all earlier
 * changes into the manifest, as of `seq`; texts in gone are left out; batch is store_import_batch. */
enum status index_build_publish(struct index_build *b, int64_t seq,
                                int64_t batch, const int64_t *gone,
                                size_t n_gone, struct err *e);
/* When the commit failed after all: the files are not to stay. */
void index_build_unpublish(struct index_build *b);
/* Published files stay, others are removed. */
void index_build_free(struct index_build *b);   /* NULL is fine */

/* ---- care ---------------------------------------------------------------- */

struct index_stats {
    int64_t docs;               /* searchable texts */
    int64_t terms;              /* of the segments, summed */
    int64_t total_terms;        /* words in all texts */
    int segments;
    int64_t tail_docs, dead_docs;
    int64_t bytes;              /* of the segment files */
    int64_t symbol_bytes;       /* of the side files */
};
void index_stats(const struct index *ix, struct index_stats *out);

/* Turn the tail into a segment and join small segments, as much as pays off
 * (all: into as few as possible, and drop what is dead). Others search on
 * meanwhile. Called by whoever writes, when it has time. */
enum status index_merge(struct index *ix, bool all, struct err *e);
bool index_wants_merge(const struct index *ix);
/* Every checksum, and every text of the store against the index; what is
 * found is added to *n_problems. */
enum status index_check(struct index *ix, problem_fn *fn, void *user,
                        int *n_problems, struct err *e);
/* The files of every index of the store as they lie on the disk, each byte of
 * them. A file that is not there is no problem: it is made again. */
enum status index_check_files(struct store *s, problem_fn *fn, void *user,
                              int *n_problems, struct err *e);
/* Forget the files and build again. */
enum status index_rebuild(struct index *ix, struct err *e);
/* Remove files no manifest mentions. */
enum status index_sweep(struct store *s, struct err *e);

#endif
