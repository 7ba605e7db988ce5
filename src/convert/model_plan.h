/* model_plan.h - what a family of models says about one model: its
 * hyperparameters, its tokenizers, and which tensor of its files each tensor of
 * ours is made of.
 *
 * A family (family.h) fills in a plan and computes nothing. convert.c asks the
 * plan for the place of every tensor in the lists of model/weights.h, checks
 * that it exists, has its shape and that no tensor is left over, and then
 * writes the file. The plan owns everything that it points to. */
#ifndef CONVERT_MODEL_PLAN_H
#define CONVERT_MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/checkpoint.h"
#include "model/config.h"

enum stack { STACK_NONE, STACK_ENCODER, STACK_DECODER };
enum tensor_role { ROLE_WEIGHT, ROLE_BIAS, ROLE_NORM_GAIN, ROLE_NORM_BIAS };

/* One part of one of our tensors. `name` is that of weights.h without stack,
 * layer and suffix: "self.qkv", "ffn.norm", "emb.src", "project", "pos.src".
 * The final norm of a stack is "norm", with its stack and layer 0.
 * self.qkv has the parts 0, 1, 2 (q, k, v), cross.kv the parts 0, 1 (k, v), and
 * every other tensor has only part 0. A model with one table has only "emb". */
struct tensor_query {
    enum stack stack;
    int layer;                  /* from 0; 0 outside of a stack */
    const char *name;
    int part;
    enum tensor_role role;
};

/* Where the part is. The tensor may have more rows than the part. A vector may
 * be stored as [n] or as [1, n]. A tensor may be the place of several parts. */
struct tensor_place {
    char name[200];             /* "": the model has no such part. Allowed for
                                   biases only, which are then zero */
    bool transposed;            /* stored as [inputs, outputs] */
    int64_t first;              /* the first of its outputs (or elements) */
    int64_t whole;              /* all outputs of the tensor; 0: those of the
                                   part */
};

struct model_plan;

struct model_plan_ops {
    /* Say where a part is. Cannot fail: a name that does not exist is found by
     * convert.c. */
    void (*place)(const struct model_plan *p, const struct tensor_query *q,
                  struct tensor_place *out);
    void (*free_own)(void *own);        /* may be NULL */
};

struct model_plan {
    const char *family;         /* "OPUS-MT (Marian)", for messages; set by
                                   model_plan_make() */
    const char *described_by;   /* the file with the settings, for messages;
                                   NULL: "config.json" */
    struct config cfg;
    struct checkpoint *tensors;
    bool shared_table;          /* "emb" instead of "emb.src" and "emb.tgt" */
    bool tied;                  /* no "project": the target table is used */
    bool output_bias;           /* the files have a bias of the projection */

    /* For each id, its row in the tables (and in the bias) of the files; -1 is
     * a row of zeros, with bias 0. [cfg.vocab_size]; NULL: all rows in order. A
     * model with shared_table uses source_row for its table; if target_row is
     * NULL, also for its projection and the bias. The tables may have rows that
     * no id has. All of these are in malloc memory. */
    int32_t *source_row, *target_row;
    /* [cfg.vocab_size] 1: an id that must never come out. Its output bias is
     * -1e9. NULL: none. */
    uint8_t *barred;

    /* The tokenizers as in the model file. If target is empty, source serves
     * both sides. */
    struct strbuf source_tokenizer, target_tokenizer;
    struct strbuf languages;    /* lines "CODE TAB ID", or empty */
    struct strbuf notice;       /* the license text, or empty */
    /* What was found, and what the user should know: whole lines. */
    struct strbuf report;

    const struct model_plan_ops *ops;
    void *own;                  /* of the family */
};

#endif
