/* backend.h - the interface between search and arithmetic.
 *
 * A backend is a model on a device. It never changes, and threads share it. An
 * executor is the memory of one thread on that device: encoded sources, slots,
 * and the rows of the last pass. Callers name all of these by numbers. They
 * never see a pointer to this data, so it may be in the memory of another
 * device. Only ids, options and results are passed through host memory.
 *
 *   lane   the place of an encoded source, 0 .. limits.lanes - 1. It keeps its
 *          source until the next `encode` into it; by then all slots that were
 *          computed in the lane are dropped.
 *   slot   the keys and values of one decoded token, for all layers; slots are
 *          numbered 0 .. limits.slots - 1. Slots form a tree: each follows a
 *          parent. A slot is in use as long as it is held or has children.
 *   row    one token at one position in a pass; rows are numbered from 0
 *   state  the final decoder vector of a row, from which the next token is
 *          predicted
 *
 * The rows of a pass do not influence each other: the results of a row depend
 * only on its source, its path and its token. With `run` they are equal bit for
 * bit in every pass and on every executor of the backend. With `force` they may
 * differ from these by rounding.
 *
 * One thread at a time uses an executor. Different threads may use different
 * executors of a backend at the same time.
 *
 * The first token of a translation, at position 0, is config_first_token(): the
 * start_id of the model, or its target_prefix_id if it has one. In the second
 * case the backend puts start_id before it by itself.
 *
 * Arrays that are passed in are borrowed for the call. Only executor_new may
 * allocate host memory. The functions of an executor that return a status fail
 * only when the device fails: with ST_DEVICE. After that the executor may only
 * be given slot_drop and free; there are no results of the pass.
 *
 * An implementation has a struct backend, and a struct executor, as the first
 * members of its own structs. No function may be NULL. */
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

/* lanes and slots are both 0, or both above 0. If they are 0, `encode`, `run`
 * and the functions of slots are not called, only `force`. If they are above 0,
 * `force` is not called. */
struct executor_limits {
    int lanes;                  /* most sources that are kept at a time */
    int max_source;             /* longest source, with special tokens; at most
                                   backend.max_pos */
    int rows;                   /* most rows of a pass, at least 1 */
    int max_len;                /* most positions of a path, and most rows of a
                                   forced text; at most backend.max_pos */
    int slots;                  /* most slots in use at a time */
};

struct source {
    const int32_t *ids;         /* with the special tokens of the model */
    int n;
};

/* A row computes and writes its own slot, path[pos], and reads those before it.
 * path[i] follows path[i - 1], and path[0] has no parent. Earlier rows of the
 * same lane have computed all slots before its own, in this pass or in passes
 * before it. No other row computes the same slot. */
struct pass_row {
    int lane;                   /* rows of one lane are adjacent */
    int32_t token;
    int pos;                    /* 0 for the first token */
    const int32_t *path;        /* [pos + 1] slots */
};

/* Teacher forcing: rows of known translations, without slots. */
struct forced_text {
    int source;                 /* index into the sources of the call */
    const int32_t *tokens;      /* [rows - 1] after the first token */
    int rows;                   /* the first token and the tokens; 0: no rows */
};

struct token_logit { float logit; int32_t token; };

/* The most tokens that a projection may ask for. Best tokens: twice the largest
 * beam (64), and a few that search does not use. Listed tokens: those of a
 * mixture (64, see mixer.h), and one that search adds: a forced token. */
enum { PROJECT_BEST = 136, PROJECT_LISTED = 513 };

/* One row: what is wanted, and the result. With z = logit - max, the model's
 * probability of a token is exp(z) / sum. An array may be NULL if its size
 * is 0. */
struct projection {
    int n_best;                 /* in: how many of the best tokens, 0 ..
                                   PROJECT_BEST */
    struct token_logit *best;   /* [n_best] out: best first, equal ones by
                                   lower token */
    int n_found;                /* out: n_best, or the vocabulary if smaller */
    int n_listed;               /* in: 0 .. PROJECT_LISTED */
    const int32_t *listed;      /* [n_listed] in: tokens, in any order */
    float *listed_logit;        /* [n_listed] out, in the same order */
    float max, sum;             /* out, always: the largest logit, and the sum
                                   of exp(z) over the vocabulary */
    float zsum;                 /* out, always: the sum of z exp(z); the entropy
                                   is log(sum) - zsum / sum */
};

/* Keys that states are compared with: rows of f32, or of int8 with one scale
 * per key. Rows are aligned to 64 bytes and padded with zeros to a multiple of
 * 64 bytes. The content of a serial number never changes, so a device may keep
 * a copy of it. No call says that a serial number is not used any more: a
 * backend evicts copies by itself. */
#define KEY_TYPES(X)                                                        \
    X(KEY_INT8, "int8")                                                     \
    X(KEY_F32, "f32")
enum key_type { KEY_TYPES(ENUM_CONSTANT) };     /* key files store these
                                                   numbers: append only */
struct key_rows {
    enum key_type type;
    int n, d;                   /* d is that of the backend */
    size_t ld;                  /* elements from one key to the next */
    const void *keys;           /* [n, ld] in host memory */
    const float *scale;         /* [n] KEY_INT8: number = scale * int8 */
    uint64_t serial;            /* unique among all keys of the process */
};

/* What else a pass keeps, besides the final states of its rows. It does not
 * change the states. */
enum pass_want {
    WANT_ATTENTION = 1,         /* for `attention` */
    WANT_FFN = 2,               /* for `read` with STATE_FFN */
    WANT_SOURCE = 4             /* for `read` with STATE_SOURCE; only `force` */
};

/* The states that can be read. Datastores (knn/entries.h) store these numbers:
 * append only. */
#define STATE_KINDS(X)                                                      \
    X(STATE_FINAL, "final")     /* from which the next token is predicted */  \
    X(STATE_FFN, "ffn")         /* input of the feed-forward block of the last \
                                   decoder layer, after its norm if the model \
                                   is pre-norm */                             \
    X(STATE_SOURCE, "source")   /* of the encoder; the rows are the tokens of \
                                   all sources of the last `force`, in order */
enum state_kind { STATE_KINDS(ENUM_CONSTANT) };

/* ---- executor ----------------------------------------------------------- */

struct executor_ops {
    void (*free)(struct executor *x);

    /* Turn the use of the thread pool on or off. It is on at first. */
    void (*use_pool)(struct executor *x, bool use);

    /* Encode n sources, and put source i into lane[i]. The lanes are
     * different. */
    enum status (*encode)(struct executor *x, const struct source *src,
                          const int *lane, int n, struct err *e);

    /* Take a slot that follows `parent` (-1: none). Returns -1 when all slots
     * are in use. The caller holds the slot until it drops it, exactly once.
     * Dropping -1 does nothing. */
    int32_t (*slot_new)(struct executor *x, int32_t parent);
    void (*slot_drop)(struct executor *x, int32_t slot);

    /* Run n rows through the decoder. `want` has bits of enum pass_want. */
    enum status (*run)(struct executor *x, const struct pass_row *rows, int n,
                       unsigned want, struct err *e);
    /* Encode n_src sources and run the rows of n texts; the rows are numbered
     * text by text. All sources together have at most limits.rows tokens, and
     * all texts together at most limits.rows rows. */
    enum status (*force)(struct executor *x, const struct source *src,
                         int n_src, const struct forced_text *text, int n,
                         unsigned want, struct err *e);

    /* The following functions read the rows of the last pass, which is that of
     * the last `run` or `force`. They do not change its results. */

    /* Project rows [row, row + n) to the vocabulary; p[i] is for row + i. n may
     * be 0. */
    enum status (*project)(struct executor *x, int row, int n,
                           struct projection *p, struct err *e);
    /* Squared distances of rows [row, row + n) to keys [from, from + n_keys):
     * out[i * ldo + j] is that of row + i and key from + j. Nothing else of
     * out is written. n and n_keys are at least 1. */
    enum status (*distances)(struct executor *x, int row, int n,
                             const struct key_rows *keys, int from, int n_keys,
                             float *out, size_t ldo, struct err *e);
    /* Set *states to a host copy of the states of rows [row, row + n), with
     * stride *ld, in memory of the executor. The last pass wanted this kind of
     * states, unless it is STATE_FINAL. The copy is valid until the next call
     * of any function of this executor. The numbers from d to *ld of a row are
     * unspecified. n may be 0. */
    enum status (*read)(struct executor *x, enum state_kind kind, int row,
                        int n, const float **states, size_t *ld,
                        struct err *e);
    /* Set *weights to a host copy of the cross-attention of rows [row, row +
     * n), with stride *ld, under the same rules. A row has a weight for each
     * token of its source; they sum to 1. The weights are those of the decoder
     * layer config.attention_layer, averaged over its heads: a layer whose
     * attention tells which source token the next token translates. */
    enum status (*attention)(struct executor *x, int row, int n,
                             const float **weights, size_t *ld,
                             struct err *e);
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
    /* Make an executor, with all members of struct executor set. pool is
     * borrowed, and may be NULL. Fails with ST_NOMEM when the memory of the
     * host or the device is not enough, and with ST_DEVICE when the device
     * fails. Several threads may call this at the same time. */
    enum status (*executor_new)(const struct backend *b,
                                const struct executor_limits *l,
                                struct pool *pool, struct executor **out,
                                struct err *e);
};

struct backend {
    const struct backend_ops *ops;
    const struct config *cfg;   /* callers read config_first_token() and, of
                                   its members, eos_id, pad_id, bos_id,
                                   prefix_id, suffix_id and knn_tau; the
                                   others are for the backend itself */
    int d;                      /* size of a state */
    int vocab;
    int max_pos;                /* most positions of a source or translation */
};

/* The piece of a source of n tokens that has the largest weight of attention,
 * counted from 0, without the special tokens of the model. 0 if there are no
 * pieces. */
int attended_piece(const struct config *cfg, const float *weights, int n);

/* Make an executor (backend_ops). Fails with ST_ARGUMENT if the model is
 * multilingual and its languages are not chosen (model/languages.h). */
enum status backend_executor_new(const struct backend *b,
                                 const struct executor_limits *l,
                                 struct pool *pool, struct executor **out,
                                 struct err *e);
void backend_close(struct backend *b);          /* NULL is fine */
void executor_free(struct executor *x);         /* NULL is fine */

#endif
