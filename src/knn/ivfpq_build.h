/* ivfpq_build.h - build the index file of a datastore (ivfpq_file.h).
 *
 * A random sample of the keys is clustered: its centroids are those of the
 * lists. The differences of the sample to the centroids give the codebooks.
 * Then all keys are read once, in the order of the file, and get a list and a
 * code. Only the sample is held as floats; of the other keys, only codes are
 * held.
 *
 * The file appears, or replaces an old one, when it is complete. The same
 * datastore, options and instruction set give the same file, whatever the
 * number of threads. */
#ifndef KNN_IVFPQ_BUILD_H
#define KNN_IVFPQ_BUILD_H

#include "knn/entries.h"
#include "tm/progress.h"

enum {
    IVFPQ_LISTS = 4096,         /* the settings of the papers */
    IVFPQ_SUBVECTORS = 64,
    IVFPQ_PROBES = 32,
    IVFPQ_SAMPLE_PER_LIST = 64  /* keys in the sample */
};

struct ivfpq_build_options {
    int lists;                  /* 0: ivfpq_build_lists */
    int subvectors;             /* 0: the largest divisor of d up to 64 */
    int probes;                 /* 0: IVFPQ_PROBES; for searches that do not
                                   say how many */
    int64_t sample;             /* keys in the sample; 0: 64 for each list, but
                                   at least 65,536 */
    uint64_t seed;
    int threads;
    tm_progress_fn *progress;   /* may be NULL. Stages: "lists", "codebooks",
                                   "entries"; units are keys. */
    void *user;
};

/* The number of lists for n entries: the largest power of two that is at most
 * 4,096, 4 sqrt(n) and n / 39. Faiss wants at least 39 keys for a list. */
int ivfpq_build_lists(int64_t n);

/* s comes from datastore_file_open. Fails with ST_ARGUMENT if it has fewer than
 * 256 entries, or an option does not fit it. */
enum status ivfpq_build(const struct entries *s, const char *path,
                        const struct ivfpq_build_options *o, struct err *e);

#endif
