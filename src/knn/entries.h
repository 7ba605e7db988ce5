/* entries.h - the entries of a large datastore, as a search sees them.
 *
 * An entry is a decoder state (the key) and the token that followed it. All
 * pairs of a memory together have millions of entries, so they are not copied:
 * a struct entries describes where they are, in a mapped file
 * (datastore_file.h) or in memory that a test has made.
 *
 * Entries are in blocks. The entries of a pair are in one block, adjacent and
 * in the order of their positions. Positions may be missing, if entries were
 * merged (merge.h). Pairs are numbered from 0 in the order of the blocks.
 *
 * Nothing changes while a struct entries is held, so any number of threads may
 * read it. */
#ifndef KNN_ENTRIES_H
#define KNN_ENTRIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/enumlist.h"
#include "base/err.h"
#include "base/str.h"
#include "nn/backend.h"

/* How keys are stored. Files have these numbers: append only. */
#define ENTRY_TYPES(X)                                                      \
    X(ENTRY_INT8, "int8")                                                   \
    X(ENTRY_F16, "f16")
enum entry_type { ENTRY_TYPES(ENUM_CONSTANT) };

/* Entries per panel: arrays of a block are padded to a multiple of this. */
enum { ENTRY_PANEL = 64 };

struct entry_block {
    int n;                      /* entries, without the padding */
    /* ENTRY_INT8: panels of 64 keys, [n padded / 64][d padded to 4 / 4][64][4],
     * as the weights of a struct linear (tensor/tensor.h) with one output for
     * each key. key = scale * int8; values are from -127 to 127; comp is 128
     * times the sum of the int8 numbers of a key.
     * ENTRY_F16: rows of IEEE half floats, [n padded][ld]. ld is d padded to a
     * multiple of 32, with zeros. scale and comp are NULL. */
    const void *keys;           /* aligned to 64 bytes */
    const float *scale;         /* [n padded] */
    const int32_t *comp;        /* [n padded] */
    /* The squared norm of each key as it is stored, with a relative error of at
     * most 2^-15, which a sum in double has by far. Infinity: the entry was
     * deleted, or it is padding; it is never found. */
    const float *norm;          /* [n padded] */
    const int32_t *token;       /* [n padded] the value */
    const int32_t *pair;        /* [n padded] its pair, counted in the block */
    const uint16_t *pos;        /* [n padded] position of the token in the
                                   target of the pair */
    const float *log_weight;    /* [n padded] logarithm of the number of entries
                                   that were merged into it; NULL: all 0 */
    int32_t first_pair;         /* number of its first pair */
    int n_pairs;
    const struct entry_span *span;      /* [n_pairs] */

    /* The source tokens of the pairs, if the datastore has them; else n_src is
     * 0. A key is the state of the encoder at a token, divided by its norm. */
    int n_src;
    const int8_t *src_keys;     /* [n_src][src_ld], src_ld is d_model padded to
                                   64 */
    const float *src_scale;     /* [n_src] */
    const int32_t *src_token;   /* [n_src] */
    /* The entries of the target tokens that source token i is aligned to:
     * link[link_begin[i] .. link_begin[i + 1]), as indices of this block. */
    const uint32_t *link_begin; /* [n_src + 1] */
    const uint32_t *link;
};

/* The entries of a pair: [first, first + n) of its block. n is 0 if the pair
 * was deleted. */
struct entry_span { uint32_t first, n; };

/* A pair. The texts are borrowed from the datastore; a NUL follows each. */
struct entry_pair {
    struct str source, target;
    int64_t id;                 /* in the memory it was read from */
    bool deleted;
};

/* A linear map that makes keys shorter: y = matrix (x - mean). The rows of the
 * matrix are orthonormal and sorted by variance, largest first. */
struct entry_map {
    int from, to;               /* dimensions of x and y */
    const float *mean;          /* [from] */
    const float *matrix;        /* [to, from] */
};

struct entries;
struct ivfpq;
struct entries_ops {
    struct entry_pair (*pair)(const struct entries *s, int32_t pair);
    void (*free)(struct entries *s);
};

struct entries {
    const struct entries_ops *ops;
    atomic_int holders;
    enum entry_type type;
    enum state_kind kind;       /* which state of the decoder the keys are */
    int d_model;                /* dimensions of a state */
    int d;                      /* of a key; d_model, or map->to */
    const struct entry_map *map;        /* NULL: keys are states */
    struct entry_block *blocks; /* [n_blocks] */
    int n_blocks;
    int32_t n_pairs;            /* with deleted ones */
    int64_t n;                  /* entries that can be found */
    bool has_sources;
    uint64_t model;             /* checksum of the weights of the model that has
                                   computed the keys; 0: any */
    struct ivfpq *index;        /* searches it approximately (ivfpq.h); NULL:
                                   all keys are compared. It is set before
                                   anybody else holds the entries, and closed
                                   with them. */
};

static inline struct entries *entries_hold(struct entries *s)
{
    atomic_fetch_add(&s->holders, 1);
    return s;
}
/* The last one frees it. NULL is fine. */
static inline void entries_drop(struct entries *s)
{
    if (s && atomic_fetch_sub(&s->holders, 1) == 1) s->ops->free(s);
}

/* The block of a pair. */
const struct entry_block *entries_block_of(const struct entries *s,
                                           int32_t pair);
/* Read key i of a block as floats, out [d]. */
void entries_key(const struct entries *s, const struct entry_block *b, int i,
                 float *out);
/* The tokens of a pair's entries, and their number. */
const int32_t *entries_tokens(const struct entries *s, int32_t pair, int *n);

#endif
