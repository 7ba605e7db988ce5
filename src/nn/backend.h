/* backend.h - the interface between search and arithmetic.
 *
 * A backend is a model on a device. It never changes, and threads share it. An
 * executor is the state of one thread on that device: encoded sources, decoder
 * states, and the rows of the last pass. Callers name all of these by numbers.
 * They never see a pointer to this data, so it may be in the memory of another
 * device. Only ids, options and results are passed through host memory.
 *
 *   lane   the place of an encoded source, 0 .. limits.lanes - 1
 *   state  the keys and values of one decoded token, for all layers. States
 *          form a tree: each follows a parent. A state lives as long as it is
 *          held or has children.
 *   row    one token at one position in a pass; rows are numbered from 0
 *
 * The rows of a pass do not influence each other: the results of a row depend
 * only on its source, its path and its token. They are the same in every pass,
 * on every executor of the backend.
 *
 * An implementation has a struct backend, and a struct executor, as the first
 * members of its own structs. A function that returns a status fails when the
 * device fails. After that it always fails; state_drop and free still work. */
#ifndef NN_BACKEND_H
#define NN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/enumlist.h"
#include "base/err.h"
#include "model/config.h"

struct pool;
struct backend;
struct executor;

/* ---- what goes in and comes out ------------------------------------------ */

struct executor_limits {
    int lanes;                  /* sources that are encoded at a time */
    int max_source;             /* longest source, with special tokens */
    int rows;                   /* most rows of a pass */
    int max_len;                /* most positions of a path */
    int states;                 /* most states in use; 0: only translations
                                   that are known are run (force) */
};

struct source {
    const int32_t *ids;         /* with the special tokens of the model */
    int n;
};

struct pass_row {
    int lane;                   /* rows of one lane are adjacent */
    int32_t token;
    int pos;                    /* 0 for the start token */
    const int32_t *path;        /* [pos + 1] states, the row's own last */
};

/* Teacher forcing: rows of known translations, without states. */
struct forced_text {
    int source;                 /* index into the sources of the call */
    const int32_t *tokens;      /* [rows - 1] after the start token */
    int rows;                   /* the start token and the tokens */
};

struct token_logit { float logit; int32_t token; };

/* The most tokens that a projection may ask for: twice the largest beam and a
 * few that search does not use; the most listed tokens. */
enum { PROJECT_BEST = 136, PROJECT_LISTED = 65 };

/* One row: what is wanted, and the result. With z = logit - max, the model's
 * probability of a token is exp(z) / sum. */
struct projection {
    int n_best;                 /* in: how many of the best tokens; 0 .. */
    struct token_logit *best;   /* [n_best] out: best first, equal ones by
                                   lower token */
    int n_found;                /* out: n_best, or the vocabulary if smaller */
    int n_listed;
    const int32_t *listed;      /* [n_listed] in: tokens */
    float *listed_logit;        /* [n_listed] out */
    float max, sum;             /* out: of the row */
};

/* Keys that decoder states are compared with: rows of f32, or of int8 with one
 * scale per key. Rows are aligned to 64 bytes and padded with zeros to a
 * multiple of 64 bytes. The content of a serial number never changes, so a
 * device may keep a copy of it. */
#define KEY_TYPES(X)                                                        \
    X(KEY_INT8, "int8")                                                     \
    X(KEY_F32, "f32")
enum key_type { KEY_TYPES(ENUM_CONSTANT) };     /* key files store these
                                                   numbers: append only */
struct key_rows {
    enum key_type type;
    int n, d;
    size_t ld;                  /* elements from one key to the next */
    const void *keys;           /* [n, ld] in host memory */
    const float *scale;         /* [n] KEY_INT8: number = scale * int8 */
    uint64_t serial;            /* unique among all keys of the process */
};

/* ---- executor ----------------------------------------------------------- */

struct executor_ops {
    void (*free)(struct executor *x);

    /* Turn the use of the thread pool on or off. It is on at first. */
    void (*use_pool)(struct executor *x, bool use);

    /* Encode n sources, and put source i into lane[i]. */
    enum status (*encode)(struct executor *x, const struct source *src,
                          const int *lane, int n, struct err *e);

    /* Take a state that follows `parent` (-1: none), held once. Returns -1 when
     * all states are in use. Dropping -1 does nothing. */
    int32_t (*state_new)(struct executor *x, int32_t parent);
    void (*state_drop)(struct executor *x, int32_t state);

    /* Run n rows through the decoder. Within a pass, a row may follow the state
     * of an earlier row. attention is NULL, or host memory [n, ld] for the
     * cross-attention of the last layer, averaged over the heads; then all rows
     * have the same lane, and one thread computes it. */
    enum status (*run)(struct executor *x, const struct pass_row *rows, int n,
                       float *attention, size_t ld, struct err *e);
    /* Encode n_src sources and run the rows of n texts, one text after the
     * other. The executor has neither lanes nor states. All sources together,
     * and all texts together, have at most limits.rows rows. */
    enum status (*force)(struct executor *x, const struct source *src,
                         int n_src, const struct forced_text *text, int n,
                         struct err *e);

    /* The following functions read the rows of the last pass. */

    /* Project rows 0 .. n - 1 to the vocabulary; p[i] is for row i. */
    enum status (*project)(struct executor *x, struct projection *p, int n,
                           struct err *e);
    /* Squared distances of rows [row, row + n) to keys [from, from + n_keys):
     * out[i * ldo + j] is that of row + i and key from + j. */
    enum status (*distances)(struct executor *x, int row, int n,
                             const struct key_rows *keys, int from, int n_keys,
                             float *out, size_t ldo, struct err *e);
    /* Set *states to a host copy of the final decoder states of rows
     * [row, row + n), with stride *ld. It is valid until the next call. */
    enum status (*read)(struct executor *x, int row, int n,
                        const float **states, size_t *ld, struct err *e);
};

struct executor {
    const struct executor_ops *ops;
    const struct backend *backend;
    struct executor_limits limits;
};

/* ---- backend ------------------------------------------------------------ */

struct backend_ops {
    const char *name;           /* such as "cpu" */
    void (*close)(struct backend *b);
    /* pool is borrowed, and may be NULL. */
    enum status (*executor_new)(const struct backend *b,
                                const struct executor_limits *l,
                                struct pool *pool, struct executor **out,
                                struct err *e);
};

struct backend {
    const struct backend_ops *ops;
    const struct config *cfg;   /* special tokens and hyperparameters */
    int d;                      /* size of a decoder state */
    int vocab;
    int max_pos;                /* most positions of a source or translation */
};

void backend_close(struct backend *b);          /* NULL is fine */
void executor_free(struct executor *x);         /* NULL is fine */

#endif
