/* large_model.c - writes made-up models of the sizes of well-known ones, as
 * folders of CTranslate2, for benchmarks.
 *
 *     large_model TOKENIZER.skmt OUT SIZE TYPE
 *
 * SIZE is opus, wmt19 or nllb; TYPE is float32 or int8. OUT is the folder,
 * which must not exist. The same folder is for both programs: CTranslate2 reads
 * it, and `skmt convert --from OUT` makes a model file of it.
 *
 *     opus    OPUS-MT: 6 + 6 layers, d_model 512, feed-forward 2048, 8 heads,
 *             58,101 tokens, Swish, norms after the blocks, a zero start
 *     wmt19   fairseq's WMT19 de-en: 6 + 6 layers, d_model 1024, feed-forward
 *             8192 and 4096, 16 heads, 42,024 tokens, ReLU, norms after the
 *             blocks
 *     nllb    NLLB-200 600M: 12 + 12 layers, d_model 1024, feed-forward 4096,
 *             16 heads, 256,206 tokens, ReLU, norms before the blocks
 *
 * The weights are random numbers of the usual variance. A tenth of the inner
 * activations are positive, which is usual in trained models (7 % in the
 * shipped one) and matters to kernels that skip zeros. The end token never
 * comes out, so that each translation is as long as the length limit allows.
 * The int8 weights are those of float32, rounded. Text is split into the pieces
 * of the model file TOKENIZER.skmt. The other tokens of the vocabulary come out
 * of the model, but no text contains them.
 *
 * Rows are written as they are made, so it needs little memory.
 *
 * To compare both programs with the same work, N tokens for each sentence:
 *
 *     decode M.skmt TEXT --set max-len-a=0 --set max-len-b=N+1 ..
 *     decode M.skmt TEXT --pieces > PIECES
 *     ct2bench OUT PIECES --max-length N .. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/splitmix.h"
#include "model/mfile.h"
#include "model/sinusoid.h"
#include "text/subword.h"

struct size {
    const char *name;
    int layers, d, ffn, ffn_decoder, heads, vocab;
    bool relu, pre, zero_start;
    enum positions positions;
    int offset, n_positions;
};

static const struct size sizes[] = {
    { "opus", 6, 512, 2048, 2048, 8, 58101, false, false, true,
      POS_HALVES_HF, 0, 512 },
    { "wmt19", 6, 1024, 8192, 4096, 16, 42024, true, false, false,
      POS_HALVES, 2, 1024 },
    { "nllb", 12, 1024, 4096, 4096, 16, 256206, true, true, false,
      POS_HALVES, 2, 1024 },
};

struct writer {
    FILE *f;
    const struct size *s;
    bool int8;
    uint32_t n;                 /* variables so far */
    uint32_t matrices;          /* matrices so far */
    long count_at;              /* where their number is in the file */
    float *row;                 /* as long as the longest */
    int8_t *row8;
};

enum { F32 = 0, I8 = 1, I16 = 2 };     /* types of variables */
enum { NAME_SIZE = 120 };
static const float INACTIVE = -1.28f;   /* a tenth of N(0, 1) is above 1.28 */

_Noreturn static void die(const char *what, const char *name)
{
    fprintf(stderr, "large_model: %s%s%s\n", name, *name ? ": " : "", what);
    exit(2);
}

/* ---- variables ----------------------------------------------------------- */

static void put_bytes(struct writer *w, const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, w->f) != n) die("cannot be written", "model.bin");
}

static void put_number(struct writer *w, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t b = (uint8_t)(v >> 8 * i);

        put_bytes(w, &b, 1);
    }
}

static void put_string(struct writer *w, const char *s)
{
    put_number(w, (uint32_t)strlen(s) + 1, 2);
    put_bytes(w, s, strlen(s) + 1);
}

/* A dimension 0 ends the shape. The data follow. */
static void put_head(struct writer *w, const char *name, int a, int b, int type)
{
    static const int bytes[] = { [F32] = 4, [I8] = 1, [I16] = 2 };

    w->n++;
    put_string(w, name);
    put_number(w, a ? b ? 2 : 1 : 0, 1);
    if (a) put_number(w, (uint32_t)a, 4);
    if (b) put_number(w, (uint32_t)b, 4);
    put_number(w, (uint32_t)type, 1);
    put_number(w, (uint32_t)(a ? a : 1) * (uint32_t)(b ? b : 1) *
                  (uint32_t)bytes[type], 4);
}

static void put_scalar(struct writer *w, const char *side, const char *name,
                       int type, int value)
{
    char whole[NAME_SIZE];

    snprintf(whole, sizeof whole, "%s/%s", side, name);
    put_head(w, whole, 0, 0, type);
    put_number(w, (uint32_t)value, type == I16 ? 2 : 1);
}

static void put_constants(struct writer *w, const char *stem, const char *name,
                          int n, float value)
{
    char whole[NAME_SIZE];

    snprintf(whole, sizeof whole, "%s/%s", stem, name);
    put_head(w, whole, n, 0, F32);
    for (int i = 0; i < n; i++) put_bytes(w, &value, 4);
}

/* Row r of the matrix number `which`: uniform, with the variance 1/k. The state
 * of the generator depends on nothing else, so rows can be made twice. */
static void make_row(struct writer *w, uint32_t which, int r, int k)
{
    uint64_t state = (uint64_t)which << 32 | (uint32_t)r;
    double most = sqrt(3.0 / k);

    for (int i = 0; i < k; i++)
        w->row[i] = (float)((2 * splitmix_unit(&state) - 1) * most);
}

static float row_scale(const struct writer *w, int k)
{
    float top = 0;

    for (int i = 0; i < k; i++) top = fmaxf(top, fabsf(w->row[i]));
    return 127 / top;
}

static void put_int8(struct writer *w, const char *name, uint32_t which, int n,
                     int k)
{
    char scale[NAME_SIZE + 6];

    put_head(w, name, n, k, I8);
    for (int r = 0; r < n; r++) {
        float s;

        make_row(w, which, r, k);
        s = row_scale(w, k);
        for (int i = 0; i < k; i++)
            w->row8[i] = (int8_t)lrintf(w->row[i] * s);
        put_bytes(w, w->row8, (size_t)k);
    }
    snprintf(scale, sizeof scale, "%s_scale", name);
    put_head(w, scale, n, 0, F32);
    for (int r = 0; r < n; r++) {
        float s;

        make_row(w, which, r, k);
        s = row_scale(w, k);
        put_bytes(w, &s, 4);
    }
}

static void put_weight(struct writer *w, const char *stem, int n, int k)
{
    uint32_t which = w->matrices++;
    char name[NAME_SIZE];

    snprintf(name, sizeof name, "%s/weight", stem);
    if (w->int8) {
        put_int8(w, name, which, n, k);
        return;
    }
    put_head(w, name, n, k, F32);
    for (int r = 0; r < n; r++) {
        make_row(w, which, r, k);
        put_bytes(w, w->row, (size_t)k * sizeof *w->row);
    }
}

/* ---- layers -------------------------------------------------------------- */

static void put_linear(struct writer *w, const char *layer, const char *name,
                       int n, int k, float bias)
{
    char stem[NAME_SIZE - 10];

    snprintf(stem, sizeof stem, "%s/%s", layer, name);
    put_weight(w, stem, n, k);
    put_constants(w, stem, "bias", n, bias);
}

static void put_norm(struct writer *w, const char *stem, const char *name,
                     float gain)
{
    char whole[NAME_SIZE - 10];

    snprintf(whole, sizeof whole, "%s/%s", stem, name);
    put_constants(w, whole, "gamma", w->s->d, gain);
    put_constants(w, whole, "beta", w->s->d, 0);
}

/* `gain` is that of the last norm. */
static void put_layer(struct writer *w, const char *side, int i, int ffn,
                      float gain)
{
    const int d = w->s->d;
    char stem[40];

    snprintf(stem, sizeof stem, "%s/layer_%d", side, i);
    put_linear(w, stem, "self_attention/linear_0", 3 * d, d, 0);
    put_linear(w, stem, "self_attention/linear_1", d, d, 0);
    put_norm(w, stem, "self_attention/layer_norm", 1);
    if (side[0] == 'd') {
        put_linear(w, stem, "attention/linear_0", d, d, 0);
        put_linear(w, stem, "attention/linear_1", 2 * d, d, 0);
        put_linear(w, stem, "attention/linear_2", d, d, 0);
        put_norm(w, stem, "attention/layer_norm", 1);
    }
    put_linear(w, stem, "ffn/linear_0", ffn, d, INACTIVE);
    put_linear(w, stem, "ffn/linear_1", d, ffn, 0);
    put_norm(w, stem, "ffn/layer_norm", gain);
}

static void put_positions(struct writer *w, const char *side)
{
    const struct size *s = w->s;
    char name[60];

    snprintf(name, sizeof name, "%s/position_encodings/encodings", side);
    put_head(w, name, s->n_positions, s->d, F32);
    for (int p = 0; p < s->n_positions; p++) {
        sinusoid_row(w->row, p + s->offset, s->d, s->positions);
        put_bytes(w, w->row, (size_t)s->d * sizeof *w->row);
    }
}

/* The norm before the projection has the gain 4, so that some tokens are much
 * more probable than others. */
static void put_stack(struct writer *w, const char *side, int ffn)
{
    const struct size *s = w->s;
    float last = side[0] == 'd' ? 4 : 1;

    for (int i = 0; i < s->layers; i++)
        put_layer(w, side, i, ffn,
                  !s->pre && i == s->layers - 1 ? last : 1);
    if (s->pre) put_norm(w, side, "layer_norm", last);
    put_positions(w, side);
    put_scalar(w, side, "num_heads", I16, s->heads);
    put_scalar(w, side, "pre_norm", I8, s->pre);
    put_scalar(w, side, "activation", I8, s->relu ? 0 : 2);
    put_scalar(w, side, "scale_embeddings", I8, 1);
}

/* The bias of the end token is so low that it never comes out. */
static void put_projection_bias(struct writer *w, int eos)
{
    put_head(w, "decoder/projection/bias", w->s->vocab, 0, F32);
    for (int i = 0; i < w->s->vocab; i++) {
        float b = i == eos ? -1e4f : 0;

        put_bytes(w, &b, 4);
    }
}

static void write_weights(struct writer *w, int eos)
{
    static const char table[] = "decoder/embeddings/weight";

    put_number(w, 6, 4);
    put_string(w, "TransformerSpec");
    put_number(w, 7, 4);
    w->count_at = ftell(w->f);
    put_number(w, 0, 4);
    put_weight(w, "decoder/embeddings", w->s->vocab, w->s->d);
    put_stack(w, "encoder", w->s->ffn);
    put_stack(w, "decoder", w->s->ffn_decoder);
    put_projection_bias(w, eos);
    put_scalar(w, "decoder", "start_from_zero_embedding", I8,
               w->s->zero_start);
    put_number(w, 2, 4);
    put_string(w, "decoder/projection/weight");
    put_string(w, table);
    put_string(w, "encoder/embeddings_0/weight");
    put_string(w, table);
    if (fseek(w->f, w->count_at, SEEK_SET)) die("cannot seek", "model.bin");
    put_number(w, w->n, 4);
}

/* ---- the folder ---------------------------------------------------------- */

static FILE *create(const char *folder, const char *name)
{
    char path[1000];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "wb");
    if (!f) die("cannot be created", path);
    return f;
}

static void finish(FILE *f, const char *name)
{
    if (ferror(f) || fclose(f)) die("cannot be written", name);
}

/* The pieces of the tokenizer, and tokens that no text contains. */
static void write_vocabulary(const char *folder, const struct subword *sw,
                             int n)
{
    FILE *f = create(folder, "shared_vocabulary.txt");

    for (int32_t i = 0; i < n; i++) {
        size_t len = 0;
        const char *piece = i < subword_size(sw) ? subword_piece(sw, i, &len)
                                                 : NULL;

        if (piece) fprintf(f, "%.*s\n", (int)len, piece);
        else fprintf(f, "unused%d\n", (int)i);
    }
    finish(f, "shared_vocabulary.txt");
}

static void write_tokenizer(const char *folder, const struct mtensor *t)
{
    FILE *f = create(folder, "sentencepiece.model");

    fwrite(t->data, 1, (size_t)t->bytes, f);
    finish(f, "sentencepiece.model");
}

static void write_config(const char *folder)
{
    FILE *f = create(folder, "config.json");

    fputs("{\n  \"add_source_bos\": false,\n  \"add_source_eos\": true,\n"
          "  \"bos_token\": \"<s>\",\n  \"decoder_start_token\": \"</s>\",\n"
          "  \"eos_token\": \"</s>\",\n  \"layer_norm_epsilon\": null,\n"
          "  \"unk_token\": \"<unk>\"\n}\n", f);
    finish(f, "config.json");
}

static void write_model(const char *folder, const struct size *s, bool int8,
                        int eos)
{
    size_t widest = (size_t)(s->ffn > 3 * s->d ? s->ffn : 3 * s->d);
    struct writer w = { .s = s, .int8 = int8 };

    w.row = malloc(widest * sizeof *w.row);
    w.row8 = malloc(widest);
    if (!w.row || !w.row8) die("out of memory", "");
    w.f = create(folder, "model.bin");
    write_weights(&w, eos);
    finish(w.f, "model.bin");
    free(w.row);
    free(w.row8);
}

static const struct size *find_size(const char *name)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(sizes[i].name, name)) return &sizes[i];
    die("the sizes are opus, wmt19 and nllb", name);
}

int main(int argc, char **argv)
{
    const struct size *s;
    const struct mtensor *t;
    struct mfile *model;
    struct subword *sw;
    struct err e;

    if (argc != 5 || (strcmp(argv[4], "float32") && strcmp(argv[4], "int8")))
        die("usage: large_model TOKENIZER.skmt OUT opus|wmt19|nllb "
            "float32|int8", "");
    s = find_size(argv[3]);
    if (mfile_open(&model, argv[1], &e)) die(e.msg, "");
    t = mfile_find(model, "tokenizer.spm");
    if (!t) die("has no SentencePiece model for both sides", argv[1]);
    if (subword_open(&sw, t->data, (size_t)t->bytes, &e)) die(e.msg, "");
    if (mkdir(argv[2], 0777)) die("cannot be created", argv[2]);
    write_vocabulary(argv[2], sw, s->vocab);
    write_tokenizer(argv[2], t);
    write_config(argv[2]);
    write_model(argv[2], s, !strcmp(argv[4], "int8"),
                subword_find(sw, "</s>", 4));
    subword_close(sw);
    mfile_close(model);
}
