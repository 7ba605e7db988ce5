/* weights.c - finds each tensor of the lists in weights.h and checks its shape.
 *
 * Nothing is copied: all pointers lead into the mapped file, which mfile.c has
 * already checked. This file only checks that the tensors are those that the
 * configuration requires. */
#include "model/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "model/mfile_format.h"

/* The name of a tensor has three parts: "enc.0." + "self.qkv" + ".w". */
struct loader {
    const struct mfile *file;
    const struct config *cfg;
    char prefix[32];            /* the first part, or "" */
    struct err *e;
};

static enum status missing(const struct loader *s, const char *name)
{
    return err_set(s->e, ST_FORMAT, "%s: the model has no tensor \"%s\", "
                   "which its configuration requires",
                   mfile_name(s->file), name);
}

static enum status bad_shape(const struct loader *s, const struct mtensor *t,
                             int64_t rows, int64_t cols)
{
    return err_set(s->e, ST_FORMAT, "%s: tensor \"%s\" is %s [%" PRId64 ", %"
                   PRId64 "], but the configuration requires [%" PRId64 ", %"
                   PRId64 "]", mfile_name(s->file), t->name,
                   dtype_name(t->type), t->shape[0], t->shape[1], rows, cols);
}

/* Find a tensor. Its whole name goes to full [MFILE_NAME_MAX + 1]. */
static const struct mtensor *find_tensor(const struct loader *s,
                                         const char *name, const char *suffix,
                                         char *full)
{
    assert(strlen(s->prefix) + strlen(name) + strlen(suffix) <=
           MFILE_NAME_MAX);
    snprintf(full, MFILE_NAME_MAX + 1, "%s%s%s", s->prefix, name, suffix);
    return mfile_find(s->file, full);
}

/* Load a plain tensor [rows, cols] of the given type. *out is NULL if an
 * optional tensor does not exist. */
static enum status load_plain(const struct loader *s, const void **out,
                              const char *name, const char *suffix,
                              enum dtype type, int rows, int cols,
                              bool optional)
{
    char full[MFILE_NAME_MAX + 1];
    const struct mtensor *t = find_tensor(s, name, suffix, full);

    *out = NULL;
    if (!t) return optional ? ST_OK : missing(s, full);
    if (t->type != type || t->layout != LAYOUT_PLAIN)
        return err_set(s->e, ST_FORMAT, "%s: tensor \"%s\" is %s, but should "
                       "be %s", mfile_name(s->file), full,
                       dtype_name(t->type), dtype_name(type));
    if (t->shape[0] != rows || t->shape[1] != cols)
        return bad_shape(s, t, rows, cols);
    assert((uintptr_t)t->data % MFILE_ALIGN == 0);
    *out = t->data;
    return ST_OK;
}

/* Load a vector of n floats. */
static enum status load_floats(const struct loader *s, const float **out,
                               const char *name, const char *suffix, int n,
                               bool optional)
{
    const void *p;
    enum status st = load_plain(s, &p, name, suffix, DT_F32, n, 1, optional);

    *out = p;
    return st;
}

static enum status load_norm(const struct loader *s, struct norm *norm,
                             const char *name, int d)
{
    enum status st = load_floats(s, &norm->gain, name, ".g", d, false);

    if (!st) st = load_floats(s, &norm->bias, name, ".b", d, false);
    return st;
}

/* Scales and sums, like biases, are stored with padding, so that kernels can
 * read them for whole panels. */
static enum status load_scales(const struct loader *s, struct linear *l,
                               const char *name)
{
    const void *comp;
    int padded = pad_to(l->n, PANEL);
    enum status st = load_floats(s, &l->scale, name, ".s", padded, false);

    if (st) return st;
    st = load_plain(s, &comp, name, ".c", DT_I32, padded, 1, false);
    l->comp = comp;
    return st;
}

/* int8 weights by input (tensor.h) are stored as X.t. They are allowed only
 * after a ReLU, because their product does not support negative inputs. */
static enum status load_by_input(const struct loader *s, struct linear *l,
                                 const char *name, int n, int k)
{
    int padded = pad_to(n, PANEL);
    const void *w;
    enum status st = load_plain(s, &w, name, ".t", DT_I8, k, padded, false);

    if (!st && (s->cfg->activation != ACT_RELU || strcmp(name, "ffn.down")))
        st = err_set(s->e, ST_FORMAT, "%s: tensor \"%s%s.t\" does not follow "
                     "a ReLU", mfile_name(s->file), s->prefix, name);
    if (!st && k > LINEAR_I8_MAX_INPUTS)
        st = err_set(s->e, ST_FORMAT, "%s: tensor \"%s%s.t\" has more than "
                     "%d inputs", mfile_name(s->file), s->prefix, name,
                     LINEAR_I8_MAX_INPUTS);
    if (st) return st;
    *l = (struct linear){ .type = DT_I8, .n = n, .k = k, .by_input = w };
    st = load_floats(s, &l->scale, name, ".s", padded, false);
    if (!st) st = load_floats(s, &l->bias, name, ".b", padded, true);
    return st;
}

static enum status load_linear(const struct loader *s, struct linear *l,
                               const char *name, int n, int k)
{
    char full[MFILE_NAME_MAX + 1];
    const struct mtensor *t = find_tensor(s, name, ".w", full);
    enum status st = ST_OK;

    memset(l, 0, sizeof *l);
    if (!t) {
        char other[MFILE_NAME_MAX + 1];
        if (find_tensor(s, name, ".t", other))
            return load_by_input(s, l, name, n, k);
        return missing(s, full);
    }
    if (t->shape[0] != n || t->shape[1] != k) return bad_shape(s, t, n, k);
    if (t->type == DT_I8 && k > LINEAR_I8_MAX_INPUTS)
        return err_set(s->e, ST_FORMAT, "%s: tensor \"%s\" has more than %d "
                       "inputs, too many for int8", mfile_name(s->file), full,
                       LINEAR_I8_MAX_INPUTS);
    l->type = t->type;
    l->n = n;
    l->k = k;
    l->w = t->data;
    assert(t->layout == LAYOUT_PANELS);
    assert(t->bytes == linear_bytes(l->type, n, k));
    if (l->type == DT_I8) st = load_scales(s, l, name);
    if (!st)
        st = load_floats(s, &l->bias, name, ".b", pad_to(n, PANEL), true);
    return st;
}

static enum status load_encoder_layer(const struct loader *s,
                                      struct encoder_layer *layer, int d,
                                      int f)
{
    enum status st = ST_OK;

#define L(field, name, n, k) \
    if (!st) st = load_linear(s, &layer->field, name, n, k);
#define N(field, name) \
    if (!st) st = load_norm(s, &layer->field, name, d);
    ENCODER_LAYER_WEIGHTS(L, N)
    return st;
}

static enum status load_decoder_layer(const struct loader *s,
                                      struct decoder_layer *layer, int d,
                                      int f)
{
    enum status st = ST_OK;

    DECODER_LAYER_WEIGHTS(L, N)
#undef L
#undef N
    return st;
}

static enum status load_encoder(struct weights *w, struct loader *s)
{
    const struct config *c = &w->cfg;
    enum status st = ST_OK;

    w->enc = calloc((size_t)c->encoder_layers, sizeof *w->enc);
    if (!w->enc) return err_nomem(s->e, mfile_name(s->file));
    for (int i = 0; i < c->encoder_layers && !st; i++) {
        snprintf(s->prefix, sizeof s->prefix, "enc.%d.", i);
        st = load_encoder_layer(s, &w->enc[i], c->d_model, c->ffn);
    }
    s->prefix[0] = 0;
    if (!st && c->final_norm)
        st = load_norm(s, &w->enc_norm, "enc.norm", c->d_model);
    return st;
}

static enum status load_decoder(struct weights *w, struct loader *s)
{
    const struct config *c = &w->cfg;
    enum status st = ST_OK;

    w->dec = calloc((size_t)c->decoder_layers, sizeof *w->dec);
    if (!w->dec) return err_nomem(s->e, mfile_name(s->file));
    for (int i = 0; i < c->decoder_layers && !st; i++) {
        snprintf(s->prefix, sizeof s->prefix, "dec.%d.", i);
        st = load_decoder_layer(s, &w->dec[i], c->d_model, c->ffn_decoder);
    }
    s->prefix[0] = 0;
    if (!st && c->final_norm)
        st = load_norm(s, &w->dec_norm, "dec.norm", c->d_model);
    return st;
}

/* There is one table for both languages, or one for each. The projection is a
 * matrix of its own, or the target table. Only the projection has a bias. */
static enum status load_embeddings(struct weights *w, struct loader *s)
{
    int v = w->cfg.vocab_size, d = w->cfg.d_model;
    bool shared = mfile_find(w->file, "emb.w") != NULL;
    bool own = mfile_find(w->file, "project.w") != NULL;
    enum status st;

    st = load_linear(s, &w->src_emb, shared ? "emb" : "emb.src", v, d);
    if (!st)
        st = load_linear(s, &w->tgt_emb, shared ? "emb" : "emb.tgt", v, d);
    if (st) return st;
    w->src_emb.bias = w->tgt_emb.bias = NULL;
    w->project = w->tgt_emb;
    if (own) return load_linear(s, &w->project, "project", v, d);
    return load_floats(s, &w->project.bias, "project", ".b",
                       pad_to(v, PANEL), true);
}

static enum status load_positions(struct weights *w, struct loader *s)
{
    int rows = w->cfg.max_positions, d = w->cfg.d_model;
    const void *p;
    enum status st;

    if (w->cfg.positions != POS_LEARNED) return ST_OK;
    st = load_plain(s, &p, "pos.src", "", DT_F32, rows, d, false);
    w->src_pos = p;
    if (!st) st = load_plain(s, &p, "pos.tgt", "", DT_F32, rows, d, false);
    if (!st) w->tgt_pos = p;
    return st;
}

/* Put the name of the file before a message of a module that does not know
 * it. */
static enum status prefix_file_name(const struct mfile *f, enum status st,
                                    struct err *e)
{
    char message[sizeof e->msg];

    if (!e) return st;
    memcpy(message, e->msg, sizeof message);
    return err_set(e, st, "%s: %s", mfile_name(f), message);
}

static enum status open_tokenizer(const struct weights *w, const char *name,
                                  const struct subword **out, uint64_t *hash,
                                  struct err *e)
{
    const struct mtensor *t = mfile_find(w->file, name);
    struct subword *sw;
    enum status st;

    if (!t || t->type != DT_BYTES || t->shape[1] != 1)
        return err_set(e, ST_FORMAT, "%s: the model has no tokenizer (\"%s\")",
                       mfile_name(w->file), name);
    st = subword_open(&sw, t->data, (size_t)t->bytes, e);
    if (st) return prefix_file_name(w->file, st, e);
    *out = sw;
    *hash = XXH64(t->data, (size_t)t->bytes, 0);
    if (!*hash) *hash = 1;
    if (subword_size(sw) <= w->cfg.vocab_size) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the tokenizer \"%s\" has %d pieces, but "
                   "the model has only %d", mfile_name(w->file), name,
                   subword_size(sw), w->cfg.vocab_size);
}

/* One tokenizer serves both sides, or there is one for each. */
static enum status load_tokenizers(struct weights *w, struct err *e)
{
    uint64_t both[2];
    enum status st;

    if (mfile_find(w->file, "tokenizer.spm") ||
        !mfile_find(w->file, "tokenizer.src")) {
        st = open_tokenizer(w, "tokenizer.spm", &w->src_subword,
                            &w->src_tokenizer, e);
        w->tgt_subword = subword_hold(w->src_subword);
        w->tokenizer = w->src_tokenizer;
        return st;
    }
    st = open_tokenizer(w, "tokenizer.src", &w->src_subword, &both[0], e);
    if (!st)
        st = open_tokenizer(w, "tokenizer.tgt", &w->tgt_subword, &both[1], e);
    if (st) return st;
    w->src_tokenizer = both[0];
    w->tokenizer = XXH64(both, sizeof both, 0);
    if (!w->tokenizer) w->tokenizer = 1;
    return ST_OK;
}

static enum status load_config(struct weights *w, struct err *e)
{
    size_t len;
    const char *text = mfile_config(w->file, &len);
    enum status st = config_parse(&w->cfg, text, len, e);

    return st ? prefix_file_name(w->file, st, e) : ST_OK;
}

enum status weights_from(struct weights **out, struct mfile *file,
                         struct err *e)
{
    struct loader s = { .file = file, .e = e };
    struct weights *w = calloc(1, sizeof *w);
    enum status st;

    *out = NULL;
    if (!w) {
        mfile_close(file);
        return err_nomem(e, "model");
    }
    w->file = file;
    s.cfg = &w->cfg;
    st = load_config(w, e);
    if (!st) st = load_embeddings(w, &s);
    if (!st) st = load_positions(w, &s);
    if (!st) st = load_encoder(w, &s);
    if (!st) st = load_decoder(w, &s);
    if (!st) st = load_tokenizers(w, e);
    if (st) weights_close(w);
    else *out = w;
    return st;
}

enum status weights_open(struct weights **out, const char *path,
                         struct err *e)
{
    struct mfile *file;
    enum status st = mfile_open(&file, path, e);

    *out = NULL;
    return st ? st : weights_from(out, file, e);
}

void weights_close(struct weights *w)
{
    if (!w) return;
    subword_close(w->src_subword);
    subword_close(w->tgt_subword);
    free(w->enc);
    free(w->dec);
    mfile_close(w->file);
    free(w);
}

enum dtype weights_type(const struct weights *w)
{
    return w->project.type;
}
