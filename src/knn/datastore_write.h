/* datastore_write.h - make and change a datastore file (datastore_file.h).
 *
 *     datastore_writer_create(&w, path, &kind, &build, &e);
 *     datastore_writer_add(w, &item, &e);  ..
 *     datastore_writer_finish(w, &e);
 *     datastore_writer_close(w);
 *
 * What was added or deleted counts from the next commit on. It is on the disk
 * then: a program that is killed, or a power failure, loses what came after the
 * last commit, and nothing else. The same holds after an error of the disk
 * (ST_IO), such as a full one; the writer can only be closed then.
 *
 * A commit ends a block, so blocks are small if commits are frequent. A file
 * has one writer at a time; others are refused. A writer is used by one
 * thread at a time. */
#ifndef KNN_DATASTORE_WRITE_H
#define KNN_DATASTORE_WRITE_H

#include "knn/datastore_file.h"

struct datastore_writer;        /* opaque */

/* What the entries of a new datastore are. */
struct datastore_kind {
    struct datastore_model model;
    enum entry_type type;
    enum state_kind kind;       /* STATE_FINAL or STATE_FFN */
    bool with_eos;              /* pairs have an entry for EOS */
    bool has_sources, has_weights;
    const struct entry_map *map;        /* copied; NULL: keys are states */
};

/* What a build writes into the header, so that it can be continued. */
struct datastore_build {
    uint64_t memory;            /* identity of the memory; 0: none */
    uint64_t request;           /* a hash of all that determines the pairs */
};

/* A link from source token `source` to entry `entry` of the same pair. */
struct datastore_link { uint32_t source, entry; };

/* A pair with its entries. All arrays are borrowed. */
struct datastore_item {
    struct str source, target;  /* valid UTF-8, without tags */
    int64_t id;                 /* in the memory; 0: none */
    int n;                      /* entries; may be 0 */
    const int32_t *token;       /* [n] */
    const uint16_t *pos;        /* [n] ascending; NULL: 0, 1, 2 .. */
    const float *log_weight;    /* [n] at least 0; NULL: all 0 */
    /* The keys: [n, ld] in one of three forms; the other two are NULL. Floats
     * are converted to the type of the datastore: to int8 as `quantize` of
     * struct kernels does it, to f16 by rounding to nearest even. The other two
     * forms are stored as they are, so they must be of that type. A key with a
     * number that is not finite is never found. */
    const float *f32;
    const int8_t *int8;         /* with `scale`; -127 to 127 */
    const uint16_t *f16;
    size_t ld;
    const float *scale;         /* [n] */
    const float *norm;          /* [n] infinity: never found, whatever the key
                                   is; other numbers are not used. NULL: all
                                   are found. */
    /* The source tokens, if the datastore has sources. Their keys are states of
     * the encoder, which are divided by their norms and quantized; or they are
     * int8 with scales, as in a struct entry_block, and stored as they are. */
    int n_src;
    const int32_t *src_token;   /* [n_src] */
    const float *src_f32;       /* [n_src, src_ld] */
    const int8_t *src_int8;     /* [n_src, src_ld] */
    size_t src_ld;
    const float *src_scale;     /* [n_src] */
    const struct datastore_link *link;  /* [n_links] by source */
    int n_links;
};

/* Make a new file. It is unfinished until datastore_writer_finish. Fails if the
 * file exists, unless it is what an interrupted creation has left. b may be
 * NULL. */
enum status datastore_writer_create(struct datastore_writer **out,
                                    const char *path,
                                    const struct datastore_kind *k,
                                    const struct datastore_build *b,
                                    struct err *e);
/* The same, but the file appears under its name, or replaces an old one, only
 * when it is finished. There is no need to commit before that. */
enum status datastore_writer_replace(struct datastore_writer **out,
                                     const char *path,
                                     const struct datastore_kind *k,
                                     const struct datastore_build *b,
                                     struct err *e);
/* Open an existing file, finished or not, and cut off what an interrupted
 * writer has left after its last commit. The blocks are not checked: open the
 * file with datastore_file_open, too. */
enum status datastore_writer_open(struct datastore_writer **out,
                                  const char *path, struct err *e);
/* Forgets what was not committed. NULL is fine. */
void datastore_writer_close(struct datastore_writer *w);

/* What the file has as of the last commit. */
struct datastore_info datastore_writer_info(const struct datastore_writer *w);

/* Entries after which a block is written; at most this many and those of one
 * pair. The default is DATASTORE_BLOCK. */
enum { DATASTORE_BLOCK = 16384 };
void datastore_writer_set_block(struct datastore_writer *w, int entries);
/* Whether the block is full, so that this is a good moment to commit. Otherwise
 * the next add writes it, without a commit. */
bool datastore_writer_full(const struct datastore_writer *w);
/* The bytes that the file would have if it were committed now. */
uint64_t datastore_writer_bytes(const struct datastore_writer *w);

enum status datastore_writer_add(struct datastore_writer *w,
                                 const struct datastore_item *it,
                                 struct err *e);
/* Delete pairs that were committed and are not deleted yet. */
enum status datastore_writer_delete(struct datastore_writer *w,
                                    const int32_t *pairs, size_t n,
                                    struct err *e);
/* `last` is the last pair of the memory that was added or left out, for a build
 * that is continued. A commit without changes does nothing. */
enum status datastore_writer_commit(struct datastore_writer *w, int64_t last,
                                    struct err *e);
/* Commit, and say that the file is complete. */
enum status datastore_writer_finish(struct datastore_writer *w,
                                    struct err *e);

#endif
