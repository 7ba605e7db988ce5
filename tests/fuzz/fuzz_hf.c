/* fuzz_hf.c - reads any bytes as one of the files of a model of Hugging Face.
 *
 * The first byte of an input selects the family (OPUS-MT, M2M-100, NLLB-200,
 * FSMT), the second one a file; the rest is the file. The other files are those
 * of a small good model. What can be planned is converted.
 *
 * The good model is in a folder of its own. Only the file that is replaced is
 * written for an input, and removed or restored afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/family.h"

enum { D = 4, F = 4, LAYERS = 1, LANGUAGES = 8, MOST = 1 << 20 };

static const char *const file_names[] = {
    "config.json", "generation_config.json", "tokenizer_config.json",
    "vocab.json", "target_vocab.json", "added_tokens.json",
    "model.safetensors", "source.spm", "sentencepiece.bpe.model", "README.md",
    "vocab-src.json", "vocab-tgt.json", "merges.txt",
};
enum { FILES = sizeof file_names / sizeof *file_names };

enum fuzz_kind { FUZZ_MARIAN, FUZZ_M2M, FUZZ_NLLB, FUZZ_FSMT, FUZZ_KINDS };

static struct good_model {
    char dir[40];
    char *bytes[FILES];         /* NULL: the model does not have the file */
    size_t size[FILES];
} good[FUZZ_KINDS];
static char output[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path_of(const struct good_model *g, int file)
{
    static char path[100];

    snprintf(path, sizeof path, "%.39s/%s", g->dir, file_names[file]);
    return path;
}

static void put_file(const struct good_model *g, int file, const void *bytes,
                     size_t n)
{
    FILE *f = fopen(path_of(g, file), "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}

static int file_index(const char *name)
{
    int i = 0;

    while (strcmp(file_names[i], name)) i++;
    return i;
}

/* ---- the good models ---- */

/* A piece { 1: text, 2: score, 3: type } as field 1 of a model. */
static void put_piece(FILE *f, const char *text, float score, int type)
{
    int n = (int)strlen(text);
    uint32_t u;

    memcpy(&u, &score, sizeof u);
    fprintf(f, "%c%c%c%c%s%c", 0x0a, n + 9, 0x0a, n, text, 0x15);
    for (int i = 0; i < 4; i++) putc((int)(u >> 8 * i & 255), f);
    fprintf(f, "%c%c", 0x18, type);
}

/* A SentencePiece model: <unk>, <s>, </s>, then letters. */
static void write_spm(FILE *f)
{
    static const char *const special[] = { "<unk>", "<s>", "</s>" };
    char text[2] = "a";

    for (int i = 0; i < 3; i++) put_piece(f, special[i], 0, i ? 3 : 2);
    for (int i = 0; i < 5; i++, text[0]++)
        put_piece(f, text, -1 - (float)i, 1);
    put_piece(f, "\xe2\x96\x81", -2, 1);
    fwrite("\x12\x02\x18\x02\x1a\x02\x18\x01", 1, 8, f);
}

static void write_vocab(FILE *f, bool marian)
{
    fputs(marian ? "{\"</s>\":0,\"<unk>\":1,\"a\":2,\"b\":3,\"c\":4,"
                   "\">>deu<<\":5,\">>fra<<\":6,\"\xe2\x96\x81\":7,\"<pad>\":8}"
                 : "{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"a\":4}", f);
}

static int vocab_rows(enum fuzz_kind kind)
{
    switch (kind) {
    case FUZZ_MARIAN: return 9;
    case FUZZ_M2M: return 5 + LANGUAGES + 2;
    case FUZZ_FSMT: return 7;
    default: return 10 + 202 + 2;
    }
}

static void write_config(FILE *f, enum fuzz_kind kind)
{
    bool marian = kind == FUZZ_MARIAN;

    fprintf(f, "{\"model_type\":\"%s\",\"d_model\":%d,\"vocab_size\":%d,"
            "\"encoder_layers\":%d,\"decoder_layers\":%d,"
            "\"encoder_ffn_dim\":%d,\"decoder_ffn_dim\":%d,"
            "\"encoder_attention_heads\":2,\"decoder_attention_heads\":2,"
            "\"activation_function\":\"relu\",\"max_position_embeddings\":16",
            marian ? "marian" : kind == FUZZ_FSMT ? "fsmt" : "m2m_100", D,
            vocab_rows(kind), LAYERS, LAYERS, F, F);
    if (marian)
        fputs(",\"eos_token_id\":0,\"pad_token_id\":8,"
              "\"decoder_start_token_id\":8", f);
    if (kind == FUZZ_FSMT)
        fprintf(f, ",\"src_vocab_size\":%d,\"tgt_vocab_size\":%d,"
                "\"langs\":[\"de\",\"en\"],\"tie_word_embeddings\":true",
                vocab_rows(kind), vocab_rows(kind));
    putc('}', f);
}

/* The header and the data of tensors, in the order of the calls. */
struct tensor_list { FILE *head, *data; long at; };

static void put_tensor(struct tensor_list *l, const char *stem,
                       const char *name, int n, int k)
{
    long size = 4L * n * (k ? k : 1);

    fprintf(l->head, "%s\"model.%s%s\":{\"dtype\":\"F32\",\"shape\":[%d",
            l->at ? "," : "{", stem, name, n);
    if (k) fprintf(l->head, ",%d", k);
    fprintf(l->head, "],\"data_offsets\":[%ld,%ld]}", l->at, l->at + size);
    l->at += size;
    for (long i = 0; i < size; i++) putc(0, l->data);
}

static void put_linear(struct tensor_list *l, const char *stem,
                       const char *name, int n, int k)
{
    char full[60];

    snprintf(full, sizeof full, "%s.weight", name);
    put_tensor(l, stem, full, n, k);
    snprintf(full, sizeof full, "%s.bias", name);
    put_tensor(l, stem, full, n, 0);
}

static void put_block(struct tensor_list *l, const char *stem,
                      const char *block)
{
    static const char *const parts[] = { "q_proj", "k_proj", "v_proj",
                                         "out_proj" };
    char name[60];

    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.%s", block, parts[i]);
        put_linear(l, stem, name, D, D);
    }
    snprintf(name, sizeof name, "%s_layer_norm", block);
    put_linear(l, stem, name, D, 0);
}

static void put_layer(struct tensor_list *l, const char *stem, bool decoder)
{
    put_block(l, stem, "self_attn");
    if (decoder) put_block(l, stem, "encoder_attn");
    put_linear(l, stem, "fc1", F, D);
    put_linear(l, stem, "fc2", D, F);
    put_linear(l, stem, "final_layer_norm", D, 0);
}

static void write_weights(FILE *f, enum fuzz_kind kind)
{
    char *head, *data;
    size_t n_head, n_data;
    struct tensor_list l = { .head = open_memstream(&head, &n_head),
                             .data = open_memstream(&data, &n_data) };

    if (!l.head || !l.data) abort();
    put_tensor(&l, "", kind == FUZZ_FSMT ? "encoder.embed_tokens.weight"
                                         : "shared.weight",
               vocab_rows(kind), D);
    put_layer(&l, "encoder.layers.0.", false);
    put_layer(&l, "decoder.layers.0.", true);
    if (kind == FUZZ_M2M || kind == FUZZ_NLLB) {
        put_linear(&l, "encoder.", "layer_norm", D, 0);
        put_linear(&l, "decoder.", "layer_norm", D, 0);
    }
    putc('}', l.head);
    fclose(l.head);
    fclose(l.data);
    for (int i = 0; i < 8; i++) putc((int)(n_head >> 8 * i & 255), f);
    fwrite(head, 1, n_head, f);
    fwrite(data, 1, n_data, f);
    free(head);
    free(data);
}

static void write_one(struct good_model *g, const char *name,
                      enum fuzz_kind kind)
{
    int i = file_index(name);
    FILE *f = open_memstream(&g->bytes[i], &g->size[i]);

    if (!f) abort();
    if (strstr(name, "spm") || strstr(name, ".model")) write_spm(f);
    else if (!strcmp(name, "vocab.json")) write_vocab(f, kind == FUZZ_MARIAN);
    else if (!strncmp(name, "vocab-", 6))
        fputs("{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"a\":4,"
              "\"ab</w>\":5,\"madeupword0000</w>\":6}", f);
    else if (!strcmp(name, "merges.txt")) fputs("a b</w>\n", f);
    else if (!strcmp(name, "config.json")) write_config(f, kind);
    else if (!strcmp(name, "model.safetensors")) write_weights(f, kind);
    else if (kind == FUZZ_M2M) fputs("{\"language_codes\":\"wmt21\"}", f);
    else fputs("{\"separate_vocabs\":false}", f);
    fclose(f);
    put_file(g, i, g->bytes[i], g->size[i]);
}

/* The target's tokenizer is never replaced: it is read as the source's is. */
static void make_good(struct good_model *g, enum fuzz_kind kind)
{
    char path[64];
    FILE *f;

    strcpy(g->dir, "/tmp/skmt-fuzz-XXXXXX");
    if (!mkdtemp(g->dir)) abort();
    write_one(g, "config.json", kind);
    write_one(g, "tokenizer_config.json", kind);
    write_one(g, "model.safetensors", kind);
    if (kind == FUZZ_FSMT) {
        write_one(g, "vocab-src.json", kind);
        write_one(g, "vocab-tgt.json", kind);
        write_one(g, "merges.txt", kind);
        return;
    }
    if (kind != FUZZ_NLLB) write_one(g, "vocab.json", kind);
    if (kind != FUZZ_MARIAN) {
        write_one(g, "sentencepiece.bpe.model", kind);
        return;
    }
    write_one(g, "source.spm", kind);
    snprintf(path, sizeof path, "%.39s/target.spm", g->dir);
    f = fopen(path, "wb");
    if (!f) abort();
    write_spm(f);
    fclose(f);
}

static void remove_good(void)
{
    for (int k = 0; k < FUZZ_KINDS; k++) {
        char path[64];

        for (int i = 0; i < FILES; i++) unlink(path_of(&good[k], i));
        snprintf(path, sizeof path, "%.39s/target.spm", good[k].dir);
        unlink(path);
        rmdir(good[k].dir);
    }
    unlink(output);
}

/* ---- inputs ---- */

static enum status convert(const char *dir, struct err *e)
{
    static const char *const families[] = { NULL, "small100" };
    struct model_plan *p = NULL;
    struct file_set *s;
    enum status st = file_set_open(&s, dir, e);

    for (size_t i = 0; i < 2 && !st; i++) {
        struct family_options o = { .family = families[i] };

        st = model_plan_make(&p, s, &o, e);
        if (!st) st = convert_plan(p, DT_I8, output, NULL, NULL, e);
        model_plan_free(p);
        p = NULL;
        if (i) st = ST_OK;
    }
    file_set_close(s);
    return st;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct err e;

    (void)argc;
    (void)argv;
    for (int k = 0; k < FUZZ_KINDS; k++)
        make_good(&good[k], (enum fuzz_kind)k);
    snprintf(output, sizeof output, "%s.skmt", good[0].dir);
    atexit(remove_good);
    for (int k = 0; k < FUZZ_KINDS; k++)
        if (convert(good[k].dir, &e)) {
            fprintf(stderr, "the good model %d is refused: %s\n", k, e.msg);
            abort();
        }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = { 0 };
    struct good_model *g;
    int i;

    if (size < 2 || size > MOST) return 0;
    g = &good[data[0] % FUZZ_KINDS];
    i = data[1] % FILES;
    put_file(g, i, data + 2, size - 2);
    if (convert(g->dir, &e) && !e.msg[0]) abort();      /* no message */
    if (g->bytes[i]) put_file(g, i, g->bytes[i], g->size[i]);
    else unlink(path_of(g, i));
    return 0;
}
