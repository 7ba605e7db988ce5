/* made_fairseq.h - checkpoints of fairseq in memory, for tests: the names of
 * their tensors, and the older form of torch.save(). All tensors are parts of
 * one storage. */
#ifndef MADE_FAIRSEQ_H
#define MADE_FAIRSEQ_H

#include <stdbool.h>
#include <stdio.h>

#include "made_pickle.h"

struct made_fairseq {
    int d, ffn, dec_ffn, enc, dec, v_src, v_tgt;
    bool old;                   /* in_proj_weight, layer_norms, embed_out */
    bool tied;                  /* the projection is the target's table; else it
                                   is stored */
    bool pre;                   /* norms before the blocks and at the end */
    int positions;              /* rows of learned positions; 0: computed */
};

/* rows is 0 for a vector. */
typedef void made_fairseq_fn(void *user, const char *name, int rows, int cols);

/* ---- the tensors ---- */

/* Without inputs (k is 0) it is a norm, whose weight is a vector. */
static inline void made_fairseq_linear(made_fairseq_fn *fn, void *user,
                                       const char *stem, const char *part,
                                       int n, int k)
{
    char name[240];

    snprintf(name, sizeof name, "%s%s.weight", stem, part);
    fn(user, name, k ? n : 0, k ? k : n);
    snprintf(name, sizeof name, "%s%s.bias", stem, part);
    fn(user, name, 0, n);
}

/* Norm number i of a layer, which newer versions call `block`. */
static inline void made_fairseq_norm(const struct made_fairseq *m,
                                     made_fairseq_fn *fn, void *user,
                                     const char *stem, int i,
                                     const char *block)
{
    char name[60];

    if (m->old) snprintf(name, sizeof name, "layer_norms.%d", i);
    else snprintf(name, sizeof name, "%s_layer_norm", block);
    made_fairseq_linear(fn, user, stem, name, m->d, 0);
}

static inline void made_fairseq_block(const struct made_fairseq *m,
                                      made_fairseq_fn *fn, void *user,
                                      const char *layer, const char *block)
{
    static const char *const parts[] = { "q_proj", "k_proj", "v_proj" };
    char stem[80], name[100];

    snprintf(stem, sizeof stem, "%s%s.", layer, block);
    if (m->old) {
        snprintf(name, sizeof name, "%sin_proj_weight", stem);
        fn(user, name, 3 * m->d, m->d);
        snprintf(name, sizeof name, "%sin_proj_bias", stem);
        fn(user, name, 0, 3 * m->d);
    }
    for (int i = 0; i < 3 && !m->old; i++)
        made_fairseq_linear(fn, user, stem, parts[i], m->d, m->d);
    made_fairseq_linear(fn, user, stem, "out_proj", m->d, m->d);
}

static inline void made_fairseq_layer(const struct made_fairseq *m,
                                      made_fairseq_fn *fn, void *user,
                                      bool decoder, int layer)
{
    int f = decoder ? m->dec_ffn : m->ffn;
    char stem[60];

    snprintf(stem, sizeof stem, "%s.layers.%d.",
             decoder ? "decoder" : "encoder", layer);
    made_fairseq_block(m, fn, user, stem, "self_attn");
    made_fairseq_norm(m, fn, user, stem, 0, "self_attn");
    if (decoder) {
        made_fairseq_block(m, fn, user, stem, "encoder_attn");
        made_fairseq_norm(m, fn, user, stem, 1, "encoder_attn");
    }
    made_fairseq_linear(fn, user, stem, "fc1", f, m->d);
    made_fairseq_linear(fn, user, stem, "fc2", m->d, f);
    made_fairseq_norm(m, fn, user, stem, 1 + decoder, "final");
}

static inline void made_fairseq_each(const struct made_fairseq *m,
                                     made_fairseq_fn *fn, void *user)
{
    for (int side = 0; side < 2; side++) {
        const char *stem = side ? "decoder." : "encoder.";
        char name[60];

        snprintf(name, sizeof name, "%sversion", stem);
        fn(user, name, 0, 1);
        snprintf(name, sizeof name, "%sembed_tokens.weight", stem);
        fn(user, name, side ? m->v_tgt : m->v_src, m->d);
        snprintf(name, sizeof name, "%sembed_positions.%s", stem,
                 m->positions ? "weight" : "_float_tensor");
        fn(user, name, m->positions, m->positions ? m->d : 1);
        for (int i = 0; i < (side ? m->dec : m->enc); i++)
            made_fairseq_layer(m, fn, user, side, i);
        if (m->pre)
            made_fairseq_linear(fn, user, stem, "layer_norm", m->d, 0);
    }
    if (!m->tied)
        fn(user, m->old ? "decoder.embed_out"
                        : "decoder.output_projection.weight", m->v_tgt, m->d);
}

/* ---- the file ---- */

struct made_checkpoint {
    struct strbuf entries;      /* of the dict "model" */
    int whole;                  /* elements of the storage, at least those of
                                   all tensors */
    int n;                      /* elements so far */
    float *values;              /* [n] in malloc memory */
};

static inline void made_checkpoint_init(struct made_checkpoint *c, int whole)
{
    *c = (struct made_checkpoint){ .whole = whole };
    strbuf_init(&c->entries, 0);
}

static inline void put_int4(struct strbuf *b, int n)
{
    strbuf_addc(b, 'J');
    for (int i = 0; i < 4; i++) strbuf_addc(b, (char)(n >> 8 * i));
}

static inline void put_text(struct strbuf *b, const char *text)
{
    put_string(b, text, strlen(text));
}

static inline void put_storage(struct strbuf *b, int whole)
{
    strbuf_adds(b, "(");
    put_text(b, "storage");
    strbuf_adds(b, "ctorch\nFloatStorage\n");
    put_text(b, "0");
    put_text(b, "cpu");
    put_int4(b, whole);
    strbuf_adds(b, "NtQ");
}

/* Add a tensor with these values. rows is 0 for a vector. */
static inline void made_checkpoint_add(struct made_checkpoint *c,
                                       const char *name, int rows, int cols,
                                       const float *values)
{
    struct strbuf *b = &c->entries;
    int n = (rows ? rows : 1) * cols;

    put_text(b, name);
    strbuf_adds(b, "ctorch._utils\n_rebuild_tensor_v2\n(");
    put_storage(b, c->whole);
    put_int4(b, c->n);
    strbuf_adds(b, "(");
    if (rows) put_int4(b, rows);
    put_int4(b, cols);
    strbuf_adds(b, "t(");
    if (rows) put_int4(b, cols);
    put_int4(b, 1);
    strbuf_adds(b, "t\x89" "ccollections\nOrderedDict\n)RtR");
    c->values = realloc(c->values, (size_t)(c->n + n) * sizeof *values);
    if (!c->values) abort();
    memcpy(c->values + c->n, values, (size_t)n * sizeof *values);
    c->n += n;
}

/* Write the file to *out and release the checkpoint. `args` are the opcodes
 * that push the settings. */
static inline void made_checkpoint_end(struct made_checkpoint *c,
                                       struct strbuf *out, const void *args,
                                       size_t n_args)
{
    static const char head[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a"
        "\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02}(";
    size_t whole = (size_t)c->whole;

    if (c->n > c->whole) abort();
    strbuf_add(out, head, sizeof head - 1);
    put_text(out, "model");
    strbuf_adds(out, "}(");
    strbuf_add(out, c->entries.data, c->entries.len);
    strbuf_addc(out, 'u');
    put_text(out, "args");
    strbuf_add(out, args, n_args);
    strbuf_adds(out, "u.\x80\x02](");
    put_text(out, "0");
    strbuf_adds(out, "e.");
    for (int i = 0; i < 8; i++) strbuf_addc(out, (char)(whole >> 8 * i));
    strbuf_add(out, c->values, (size_t)c->n * sizeof *c->values);
    for (int i = c->n; i < c->whole; i++) strbuf_add(out, "\0\0\0\0", 4);
    strbuf_release(&c->entries);
    free(c->values);
}

#endif
