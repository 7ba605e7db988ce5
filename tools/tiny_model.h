/* tiny_model.h - write a small random model folder that the converter can read.
 *
 * tools/tiny_model.c and some tests include this file; all its functions are
 * static. Start from TINY_DEFAULT and change what is to be tested. The same
 * options give the same bytes. */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tiny {
    int d, heads, ffn, dec_ffn, enc_layers, dec_layers;
    int vocab;                  /* 0: the number of pieces of the tokenizer */
    int max_positions, offset;
    bool post;                  /* norms after each block */
    bool final_norm;
    const char *act;            /* relu gelu silu swish */
    const char *pos;            /* sinusoidal-halves .. learned */
    const char *type;           /* F32 F16 BF16 */
    bool separate;              /* three embedding tables instead of one */
    bool out_bias;              /* the projection has a bias */
    bool no_bias;               /* linear layers without biases */
    int prefix_id;              /* before the source, -1 for none */
    int attention_layer;        /* -1: the default */
    uint64_t seed;
    const char *spm;            /* tokenizer to copy; NULL: generate one with
                                   310 pieces */
    int spm_pieces;             /* number of pieces of `spm` */
    /* Names of a tensor to omit, to put a NaN in, and to add. With these, the
     * converter must reject the model. */
    const char *skip, *nan, *extra;
};

#define TINY_DEFAULT { \
    .d = 32, .heads = 4, .ffn = 64, .dec_ffn = 64, .enc_layers = 2,           \
    .dec_layers = 2, .max_positions = 64, .final_norm = true, .act = "relu",  \
    .pos = "sinusoidal-halves", .type = "F32", .prefix_id = -1,     \
    .attention_layer = -1, .seed = 1 }

enum tiny_kind { TINY_MATRIX, TINY_GAIN, TINY_BIAS, TINY_TABLE };

/* ---- random numbers ---- */

static uint64_t tiny_next(uint64_t *s)          /* splitmix64 */
{
    uint64_t z = *s += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in [-1, 1). */
static float tiny_random(uint64_t *s)
{
    return (float)((double)(tiny_next(s) >> 11) / 0x1p52 - 1);
}

static float tiny_value(uint64_t *s, enum tiny_kind kind, int cols)
{
    float u = tiny_random(s);

    switch (kind) {
    case TINY_GAIN: return 1 + 0.2f * u;
    case TINY_BIAS: return 0.1f * u;
    default: return u * sqrtf(3.0f / (float)cols);      /* variance 1/cols */
    }
}

/* ---- the list of tensors ---- */

/* Called for each tensor in order. cols is 0 for a vector. */
typedef void tiny_visit(void *ctx, const struct tiny *o, const char *name,
                        enum tiny_kind kind, int rows, int cols);

struct tiny_walk {
    const struct tiny *o;
    tiny_visit *fn;
    void *ctx;
};

static void tiny_one(const struct tiny_walk *w, const char *prefix,
                     const char *name, enum tiny_kind kind, int rows, int cols)
{
    char full[64];

    snprintf(full, sizeof full, "%s%s", prefix, name);
    if (w->o->skip && !strcmp(full, w->o->skip)) return;
    w->fn(w->ctx, w->o, full, kind, rows, cols);
}

static void tiny_linear(const struct tiny_walk *w, const char *prefix,
                        const char *name, int n, int k)
{
    char full[64];

    snprintf(full, sizeof full, "%s%s.", prefix, name);
    tiny_one(w, full, "weight", TINY_MATRIX, n, k);
    if (!w->o->no_bias) tiny_one(w, full, "bias", TINY_BIAS, n, 0);
}

static void tiny_norm(const struct tiny_walk *w, const char *prefix,
                      const char *name)
{
    char full[64];

    snprintf(full, sizeof full, "%s%s.", prefix, name);
    tiny_one(w, full, "weight", TINY_GAIN, w->o->d, 0);
    tiny_one(w, full, "bias", TINY_BIAS, w->o->d, 0);
}

static void tiny_attention(const struct tiny_walk *w, const char *prefix,
                           const char *name)
{
    static const char *const part[] = { ".q", ".k", ".v", ".o" };
    char full[64];

    for (int i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s%s", name, part[i]);
        tiny_linear(w, prefix, full, w->o->d, w->o->d);
    }
}

static void tiny_layer(const struct tiny_walk *w, const char *stack, int i,
                       int ffn, bool cross)
{
    char prefix[32];

    snprintf(prefix, sizeof prefix, "%s.%d.", stack, i);
    tiny_norm(w, prefix, "ln1");
    tiny_attention(w, prefix, "att");
    if (cross) {
        tiny_norm(w, prefix, "ln2");
        tiny_attention(w, prefix, "xatt");
    }
    tiny_norm(w, prefix, "ln3");
    tiny_linear(w, prefix, "f1", ffn, w->o->d);
    tiny_linear(w, prefix, "f2", w->o->d, ffn);
}

static void tiny_tables(const struct tiny_walk *w)
{
    const struct tiny *o = w->o;

    if (o->separate) {
        tiny_one(w, "", "emb_src.weight", TINY_TABLE, o->vocab, o->d);
        tiny_one(w, "", "emb_tgt.weight", TINY_TABLE, o->vocab, o->d);
        tiny_one(w, "", "out.weight", TINY_TABLE, o->vocab, o->d);
    } else {
        tiny_one(w, "", "emb.weight", TINY_TABLE, o->vocab, o->d);
    }
    if (o->out_bias) tiny_one(w, "", "out.bias", TINY_BIAS, o->vocab, 0);
    if (!strcmp(o->pos, "learned")) {
        tiny_one(w, "", "pos_src.weight", TINY_TABLE, o->max_positions, o->d);
        tiny_one(w, "", "pos_tgt.weight", TINY_TABLE, o->max_positions, o->d);
    }
}

static void tiny_each(const struct tiny *o, tiny_visit *fn, void *ctx)
{
    struct tiny_walk w = { o, fn, ctx };

    tiny_tables(&w);
    for (int i = 0; i < o->enc_layers; i++)
        tiny_layer(&w, "enc", i, o->ffn, false);
    for (int i = 0; i < o->dec_layers; i++)
        tiny_layer(&w, "dec", i, o->dec_ffn, true);
    if (o->final_norm) {
        tiny_norm(&w, "", "eln");
        tiny_norm(&w, "", "dln");
    }
    if (o->extra) tiny_one(&w, "", o->extra, TINY_BIAS, 4, 0);
}

/* ---- model.safetensors ---- */

struct tiny_out {
    FILE *f;
    int n;                      /* number of tensors so far */
    size_t offset;              /* of the next tensor, for the header */
};

static size_t tiny_bytes(const struct tiny *o)
{
    return strcmp(o->type, "F32") ? 2 : 4;
}

static void tiny_list(void *ctx, const struct tiny *o, const char *name,
                      enum tiny_kind kind, int rows, int cols)
{
    struct tiny_out *t = ctx;
    size_t size = (size_t)rows * (size_t)(cols ? cols : 1) * tiny_bytes(o);

    (void)kind;
    fprintf(t->f, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%d", t->n++ ? "," : "",
            name, o->type, rows);
    if (cols) fprintf(t->f, ",%d", cols);
    fprintf(t->f, "],\"data_offsets\":[%zu,%zu]}", t->offset,
            t->offset + size);
    t->offset += size;
}

/* Round to nearest, ties to even. Only for magnitudes that occur here: the
 * result must not overflow. */
static uint16_t tiny_f16(float v)
{
    int exponent;
    float m = frexpf(fabsf(v), &exponent);      /* [0.5, 1) */
    unsigned sign = signbit(v) ? 0x8000u : 0;

    if (isnan(v)) return 0x7e00;
    if (v == 0 || exponent < -13)               /* subnormal */
        return (uint16_t)(sign | (unsigned)lrintf(ldexpf(fabsf(v), 24)));
    return (uint16_t)(sign + ((unsigned)(exponent + 14) << 10) +
                      (unsigned)(lrintf(ldexpf(m, 11)) - 1024));
}

static void tiny_put(FILE *f, const struct tiny *o, float v)
{
    uint32_t u;
    size_t n = tiny_bytes(o);

    memcpy(&u, &v, sizeof u);
    if (!strcmp(o->type, "BF16")) u >>= 16;
    else if (!strcmp(o->type, "F16")) u = tiny_f16(v);
    for (size_t i = 0; i < n; i++) putc((int)(u >> 8 * i & 255), f);
}

static void tiny_data(void *ctx, const struct tiny *o, const char *name,
                      enum tiny_kind kind, int rows, int cols)
{
    struct tiny_out *t = ctx;
    uint64_t s = o->seed * 1000003 + (uint64_t)t->n++;
    int n = rows * (cols ? cols : 1);

    for (int i = 0; i < n; i++) {
        float v = tiny_value(&s, kind, cols);

        if (o->nan && i == n / 2 && !strcmp(o->nan, name)) v = NAN;
        tiny_put(t->f, o, v);
    }
}

static void tiny_tensors(FILE *f, const struct tiny *o)
{
    struct tiny_out t = { f, 0, 0 };
    uint64_t len;

    fwrite("\0\0\0\0\0\0\0\0{", 1, 9, f);
    tiny_each(o, tiny_list, &t);
    putc('}', f);
    while (ftell(f) % 8) putc(' ', f);
    len = (uint64_t)ftell(f) - 8;
    rewind(f);
    for (int i = 0; i < 8; i++) putc((int)(len >> 8 * i & 255), f);
    fseek(f, 0, SEEK_END);
    t.n = 0;
    tiny_each(o, tiny_data, &t);
}

/* ---- config.json ---- */

static void tiny_config(FILE *f, const struct tiny *o)
{
    fprintf(f, "{\n \"model_type\": \"transformer\",\n"
            " \"source_language\": \"xx\",\n \"target_language\": \"yy\",\n"
            " \"name\": \"tiny\",\n");
    fprintf(f, " \"vocab_size\": %d,\n \"d_model\": %d,\n \"heads\": %d,\n"
            " \"ffn\": %d,\n \"decoder_ffn\": %d,\n"
            " \"encoder_layers\": %d,\n \"decoder_layers\": %d,\n", o->vocab,
            o->d, o->heads, o->ffn, o->dec_ffn, o->enc_layers, o->dec_layers);
    fprintf(f, " \"norm\": \"%s\",\n \"final_norm\": %s,\n"
            " \"layer_norm_eps\": 1e-5,\n \"activation\": \"%s\",\n"
            " \"positions\": \"%s\",\n \"position_offset\": %d,\n"
            " \"max_positions\": %d,\n", o->post ? "post" : "pre",
            o->final_norm ? "true" : "false", o->act, o->pos, o->offset,
            o->max_positions);
    fprintf(f, " \"embedding_scale\": %d,\n \"tied_embeddings\": %s,\n"
            " \"output_bias\": %s,\n", o->d / 8 ? o->d / 8 : 1,
            o->separate ? "false" : "true", o->out_bias ? "true" : "false");
    if (o->prefix_id >= 0)
        fprintf(f, " \"source_prefix_ids\": [%d],\n", o->prefix_id);
    if (o->attention_layer >= 0)
        fprintf(f, " \"attention_layer\": %d,\n", o->attention_layer);
    fprintf(f, " \"pad_id\": 0,\n \"unk_id\": 1,\n \"bos_id\": 2,\n"
            " \"eos_id\": 3,\n \"decoder_start_id\": 2,\n"
            " \"source_suffix_ids\": [3]\n}\n");
}

/* ---- spm.model ---- */

#define TINY_PIECES 310

/* SentencePiece{ 1 piece, 2 score, 3 type } as field 1 of the model. */
static void tiny_piece(FILE *f, const char *text, float score, int type)
{
    int n = (int)strlen(text);
    uint32_t u;

    memcpy(&u, &score, sizeof u);
    fprintf(f, "%c%c%c%c%s%c", 0x0a, n + 9, 0x0a, n, text, 0x15);
    for (int i = 0; i < 4; i++) putc((int)(u >> 8 * i & 255), f);
    fprintf(f, "%c%c", 0x18, type);
}

/* A tokenizer of special pieces, 256 byte pieces, letters and a few short
 * words. If backwards is set, letters and words have other ids. */
static void tiny_spm(FILE *f, bool backwards)
{
    static const char *const special[] = { "<pad>", "<unk>", "<s>", "</s>" };
    static const char *const words[] = {
        "th", "he", "in", "er", "an", "re", "on", "\xe2\x96\x81the",
        "\xe2\x96\x81" "a", "\xe2\x96\x81of", "\xe2\x96\x81to", "ing", "ed",
        "\xe2\x96\x81is", "\xe2\x96\x81in", "\xe2\x96\x81" "and", ".", ",",
        "ch", "sch", "ei", "en", "\xe2\x96\x81",
    };
    char text[16];

    for (int i = 0; i < 4; i++)
        tiny_piece(f, special[i], 0, i == 1 ? 2 : 3);
    for (int i = 0; i < 256; i++) {
        snprintf(text, sizeof text, "<0x%02X>", i);
        tiny_piece(f, text, 0, 6);
    }
    for (int i = 0; i < 26; i++) {
        snprintf(text, sizeof text, "%c", backwards ? 'z' - i : 'a' + i);
        tiny_piece(f, text, -8 - 0.1f * (float)i, 1);
    }
    for (int i = 0; i < 23; i++)
        tiny_piece(f, words[backwards ? 22 - i : i], -4 - 0.1f * (float)i, 1);
    tiny_piece(f, "!", -9, 1);
    /* TrainerSpec: 3 unigram, 35 byte_fallback; NormalizerSpec: none. */
    fwrite("\x12\x05\x18\x01\x98\x02\x01\x1a\x02\x18\x01", 1, 11, f);
}

static bool tiny_copy(FILE *to, const char *path)
{
    FILE *from = fopen(path, "rb");
    char buf[65536];
    size_t n;

    if (!from) return false;
    while ((n = fread(buf, 1, sizeof buf, from))) fwrite(buf, 1, n, to);
    fclose(from);
    return true;
}

/* ---- the folder ---- */

static FILE *tiny_open(const char *dir, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return fopen(path, "w+b");
}

static bool tiny_close(FILE *f)
{
    bool ok = !ferror(f);

    return fclose(f) == 0 && ok;
}

/* Write the three files to an existing folder. On failure, returns false and
 * errno is set. */
static bool tiny_write(const char *dir, const struct tiny *options)
{
    struct tiny o = *options;
    FILE *f = tiny_open(dir, "spm.model");
    bool ok = f != NULL;

    if (!o.vocab) o.vocab = o.spm ? o.spm_pieces : TINY_PIECES;
    if (ok && o.spm) ok = tiny_copy(f, o.spm);
    else if (ok) tiny_spm(f, false);
    if (f) ok &= tiny_close(f);
    f = ok ? tiny_open(dir, "config.json") : NULL;
    if (f) tiny_config(f, &o);
    ok = f && tiny_close(f);
    f = ok ? tiny_open(dir, "model.safetensors") : NULL;
    if (f) tiny_tensors(f, &o);
    return f && tiny_close(f);
}

#endif
