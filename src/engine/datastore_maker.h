/* datastore_maker.h - fill datastore files: run pairs through the model and
 * write their entries (knn/datastore_write.h).
 *
 *     datastore_maker_create(&m, en, path, &options, source, &e);
 *     datastore_maker_add_all(m, source, &e);
 *     datastore_maker_finish(m, &e);
 *     datastore_maker_close(m);
 *
 * Each distinct pair of texts is stored once, in the order of the ids of the
 * source. Texts are cut after PAIR_PIECES pieces, and pairs with an empty text
 * are left out. The file is committed whenever a block is full. If the work is
 * interrupted, the same calls continue after the last commit.
 *
 * A maker is used by one thread at a time. */
#ifndef ENGINE_DATASTORE_MAKER_H
#define ENGINE_DATASTORE_MAKER_H

#include "align/aligner.h"
#include "engine/engine.h"
#include "knn/datastore_write.h"
#include "tm/source.h"

struct datastore_maker;         /* opaque */

/* All numbers are totals at the moment. */
struct datastore_progress {
    int64_t seen;               /* pairs of the source, stored or left out */
    int64_t first;              /* those of them seen before this call */
    int64_t total;              /* pairs of the source; 0: not known */
    int64_t pairs, entries;     /* in the file */
    uint64_t bytes;             /* of the file */
};
/* A non-zero result stops the work, which then returns ST_CANCELED; what was
 * done so far is committed first. */
typedef int datastore_progress_fn(void *user,
                                  const struct datastore_progress *p);

struct datastore_maker_options {
    int threads;                /* at least 1 */
    int block;                  /* entries of a block; 0: DATASTORE_BLOCK */
    datastore_progress_fn *progress;    /* may be NULL */
    void *user;
    bool any_language;          /* of the memories that are added */
    /* The alignment of the pieces of this model, borrowed. With it, a new file
     * gets source tokens. A file that has them needs it. */
    const struct align_model *align;
    enum align_method method;
    /* The following are for new files. */
    enum entry_type type;
    enum state_kind kind;
    bool with_eos;
    int64_t limit;              /* store a random sample of this many pairs; 0:
                                   all */
    uint64_t seed;              /* of the sample */
    uint64_t names;             /* a hash of which memories of the source are in
                                   use */
};

/* What was done with the pairs so far. */
struct datastore_counts {
    int64_t added, entries;     /* pairs, and their entries */
    int64_t known;              /* pairs that were in the file already */
    int64_t empty;              /* pairs without pieces in a text */
    int64_t invalid;            /* pairs that are not valid UTF-8 */
    int64_t cut;                /* pairs of which a text was cut */
};

/* Make a new file for the pairs of the source, or go on with one that was
 * begun with the same model, source and options. Fails with ST_ARGUMENT if
 * there is another file. */
enum status datastore_maker_create(struct datastore_maker **out,
                                   const struct engine *en, const char *path,
                                   const struct datastore_maker_options *o,
                                   struct pair_source *source, struct err *e);
/* Open a finished file, to add pairs. */
enum status datastore_maker_open(struct datastore_maker **out,
                                 const struct engine *en, const char *path,
                                 const struct datastore_maker_options *o,
                                 struct err *e);
/* Forgets what was not committed. NULL is fine. */
void datastore_maker_close(struct datastore_maker *m);

/* Add a pair that the file does not have yet. The texts have no tags. id is 0
 * if it has none. */
enum status datastore_maker_add(struct datastore_maker *m, int64_t id,
                                struct str source, struct str target,
                                struct err *e);
/* Add all pairs of the source, or a sample of them, that the file does not have
 * yet. */
enum status datastore_maker_add_all(struct datastore_maker *m,
                                    struct pair_source *source,
                                    struct err *e);
/* Store what is left, and commit. A new file is complete then. */
enum status datastore_maker_finish(struct datastore_maker *m, struct err *e);

struct datastore_counts datastore_maker_counts(
    const struct datastore_maker *m);
/* What the file has as of the last commit. */
struct datastore_info datastore_maker_info(const struct datastore_maker *m);
/* The model of a datastore that this engine can use. */
struct datastore_model datastore_model_of(const struct engine *en);

#endif
