/* test_convert.c - tests of converting a model folder to a model file, and of
 * loading its weights: correct values, and messages for wrong input. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/tiny_model.h"
#include "../fuzz/reseal.h"
#include "base/file.h"
#include "base/mem.h"
#include "convert/convert.h"
#include "model/weights.h"
#include "read_tensors.h"
#include "test.h"

static char dir[] = "/tmp/skmt-convert-XXXXXX";
static char out[64], in_dir[40];

static const char *in(const char *name)
{
    static char path[4][96];
    static int turn;
    char *p = path[turn++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", in_dir, name);
    return p;
}

static void make_dir(void)
{
    if (out[0]) return;
    if (!mkdtemp(dir)) abort();
    snprintf(out, sizeof out, "%s/m.skmt", dir);
    snprintf(in_dir, sizeof in_dir, "%s/in", dir);
    if (mkdir(in_dir, 0700)) abort();
}

static void tiny(const struct tiny *o)
{
    make_dir();
    if (!tiny_write(in_dir, o)) abort();
}

/* Convert the folder and open the result. */
static enum status make(struct weights **w, enum dtype type, struct err *e)
{
    enum status st = convert_model(in_dir, type, out, NULL, NULL, e);

    *w = NULL;
    return st ? st : weights_open(w, out, e);
}

/* An input tensor as floats. The caller frees it. */
static float *original(const char *path, const char *name, int *n)
{
    struct tensor_file *f;
    struct file_tensor *t;
    struct err e;
    float *v = NULL;

    if (tensors_open(&f, path, &e)) return NULL;
    t = tensor_file_find(f, name);
    if (t) v = tensors_values(f, t, n);
    tensor_file_close(f);
    return v;
}

/* Count values that changed more than rounding allows: for int8, half of 1/127
 * of the largest magnitude of the row; for bf16, half of the last of 8 bits. */
static int count_moved(enum dtype type, const float *got, const float *want,
                       int k)
{
    float max = 0, may;
    int moved = 0;

    for (int i = 0; i < k; i++) max = fmaxf(max, fabsf(want[i]));
    for (int i = 0; i < k; i++) {
        may = type == DT_F32 ? 0 : type == DT_BF16 ? fabsf(want[i]) / 256
                                                   : max / 127 * 0.5001f;
        moved += !(fabsf(got[i] - want[i]) <= may);
    }
    return moved;
}

/* The rows of l, starting with `first`, must equal the input tensor `name`. */
static void check_rows(const struct linear *l, int first, const char *path,
                       const char *name)
{
    int n = 0, moved = 0;
    float *want = original(path, name, &n);
    float *got = calloc((size_t)l->k, sizeof *got);

    REQUIRE(want != NULL && got != NULL);
    CHECK_INT(n % l->k, 0);
    for (int r = 0; r < n / l->k; r++) {
        linear_row(l, first + r, got);
        moved += count_moved(l->type, got, want + (size_t)r * (size_t)l->k,
                             l->k);
    }
    if (moved)
        test_fail(__FILE__, __LINE__, "%s: %d values differ", name, moved);
    free(want);
    free(got);
}

static void check_floats(const float *got, const char *path, const char *name)
{
    int n = 0;
    float *want = original(path, name, &n);

    REQUIRE(want != NULL && got != NULL);
    CHECK_MEM(got, want, (size_t)n * sizeof *want);
    free(want);
}

/* A fused matrix has the rows of the originals, one below the other. */
static void check_layers(const struct weights *w, const char *path)
{
    int d = w->cfg.d_model;

    for (int i = 0; i < 3; i++) {
        static const char *const part[] = { "q", "k", "v" };
        char name[40];

        snprintf(name, sizeof name, "enc.1.att.%s.weight", part[i]);
        check_rows(&w->enc[1].qkv, i * d, path, name);
        snprintf(name, sizeof name, "dec.0.att.%s.weight", part[i]);
        check_rows(&w->dec[0].qkv, i * d, path, name);
        if (!w->dec[0].qkv.bias) continue;
        snprintf(name, sizeof name, "dec.0.att.%s.bias", part[i]);
        check_floats(w->dec[0].qkv.bias + i * d, path, name);
    }
    check_rows(&w->dec[1].cross_q, 0, path, "dec.1.xatt.q.weight");
    check_rows(&w->dec[1].cross_kv, 0, path, "dec.1.xatt.k.weight");
    check_rows(&w->dec[1].cross_kv, d, path, "dec.1.xatt.v.weight");
    check_rows(&w->dec[1].cross_out, 0, path, "dec.1.xatt.o.weight");
    check_rows(&w->dec[1].out, 0, path, "dec.1.att.o.weight");
    check_rows(&w->enc[0].up, 0, path, "enc.0.f1.weight");
    check_rows(&w->dec[0].down, 0, path, "dec.0.f2.weight");
    check_floats(w->enc[0].self_norm.gain, path, "enc.0.ln1.weight");
    check_floats(w->enc[0].ffn_norm.bias, path, "enc.0.ln3.bias");
    check_floats(w->dec[1].cross_norm.gain, path, "dec.1.ln2.weight");
}

TEST(convert_keeps_the_weights)
{
    static const enum dtype types[] = { DT_F32, DT_BF16, DT_I8 };
    struct tiny o = TINY_DEFAULT;

    o.dec_ffn = 36;
    tiny(&o);
    for (size_t i = 0; i < COUNT(types); i++) {
        struct weights *w;
        struct err e;

        REQUIRE_OK(make(&w, types[i], &e), &e);
        CHECK_INT(weights_type(w), types[i]);
        check_layers(w, in("model.safetensors"));
        check_rows(&w->src_emb, 0, in("model.safetensors"), "emb.weight");
        CHECK(w->src_emb.w == w->project.w && w->tgt_emb.w == w->project.w);
        CHECK(!w->project.bias && !w->src_pos && !w->tgt_pos);
        check_floats(w->dec_norm.bias, in("model.safetensors"), "dln.bias");
        CHECK_INT(w->cfg.ffn_decoder, 36);
        CHECK_INT(w->cfg.suffix_id, 3);
        CHECK_INT(w->cfg.prefix_id, -1);
        CHECK_INT(w->cfg.attention_layer, 0);
        CHECK_INT(subword_size(w->src_subword), TINY_PIECES);
        CHECK_STR(w->cfg.source_lang, "xx");
        weights_close(w);
    }
}

/* Kernels read whole panels. So the padding of scales and sums must be that of
 * a row of zeros, and the padding of a bias must be zero. */
TEST(convert_pads_with_zeros)
{
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;

    tiny(&o);
    REQUIRE_OK(make(&w, DT_I8, &e), &e);
    for (int i = 32; i < 64; i++) {
        CHECK(w->enc[0].out.scale[i] == 1);
        CHECK_INT(w->enc[0].out.comp[i], 0);
        CHECK(w->enc[0].out.bias[i] == 0);
    }
    weights_close(w);
}

TEST(convert_knows_separate_tables_bias_and_positions)
{
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;
    const char *path;

    o.separate = o.out_bias = o.post = true;
    o.final_norm = false;
    o.pos = "learned";
    o.act = "swish";
    o.prefix_id = 7;
    o.attention_layer = 1;
    o.offset = 2;
    tiny(&o);
    path = in("model.safetensors");
    REQUIRE_OK(make(&w, DT_F32, &e), &e);
    check_rows(&w->src_emb, 0, path, "emb_src.weight");
    check_rows(&w->tgt_emb, 0, path, "emb_tgt.weight");
    check_rows(&w->project, 0, path, "out.weight");
    check_floats(w->project.bias, path, "out.bias");
    check_floats(w->src_pos, path, "pos_src.weight");
    check_floats(w->tgt_pos, path, "pos_tgt.weight");
    CHECK(!w->src_emb.bias && !w->tgt_emb.bias);
    CHECK(!w->enc_norm.gain && !w->dec_norm.gain);
    CHECK_INT(w->cfg.norm, NORM_POST);
    CHECK_INT(w->cfg.positions, POS_LEARNED);
    CHECK_INT(w->cfg.activation, ACT_SILU);
    CHECK_INT(w->cfg.prefix_id, 7);
    CHECK_INT(w->cfg.attention_layer, 1);
    CHECK_INT(w->cfg.position_offset, 2);
    weights_close(w);
}

TEST(convert_gives_a_tied_projection_its_bias)
{
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;

    o.out_bias = o.no_bias = true;
    tiny(&o);
    REQUIRE_OK(make(&w, DT_BF16, &e), &e);
    check_floats(w->project.bias, in("model.safetensors"), "out.bias");
    CHECK(w->project.w == w->tgt_emb.w && !w->tgt_emb.bias);
    CHECK(!w->enc[0].qkv.bias && !w->dec[1].down.bias);
    weights_close(w);
}

/* Some models have no bias for the keys. That third of the fused bias is 0. */
TEST(convert_fills_a_missing_part_of_a_bias)
{
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;

    o.skip = "enc.0.att.k.bias";
    tiny(&o);
    REQUIRE_OK(make(&w, DT_F32, &e), &e);
    check_floats(w->enc[0].qkv.bias, in("model.safetensors"),
                 "enc.0.att.q.bias");
    for (int i = 32; i < 64; i++) CHECK(w->enc[0].qkv.bias[i] == 0);
    check_floats(w->enc[0].qkv.bias + 64, in("model.safetensors"),
                 "enc.0.att.v.bias");
    weights_close(w);
}

TEST(convert_reads_half_floats)
{
    static const char *const types[] = { "F16", "BF16" };
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;
    float full[32], half[32];

    tiny(&o);
    REQUIRE_OK(make(&w, DT_F32, &e), &e);
    linear_row(&w->src_emb, 5, full);
    weights_close(w);
    for (size_t t = 0; t < COUNT(types); t++) {
        o.type = types[t];
        tiny(&o);
        REQUIRE_OK(make(&w, DT_F32, &e), &e);
        linear_row(&w->src_emb, 5, half);
        for (int i = 0; i < 32; i++)
            CHECK_NEAR(half[i], full[i], t ? 0.005 : 0.0005);
        check_layers(w, in("model.safetensors"));
        weights_close(w);
    }
}

/* Every half float survives, and numbers between two go to the nearer one. */
TEST(f32_to_f16_rounds)
{
    for (uint32_t h = 0; h < 0x7c00; h++) {
        float x = f16_to_f32((uint16_t)h), y = f16_to_f32((uint16_t)(h + 1));

        CHECK_INT(f32_to_f16(x), h);
        CHECK_INT(f32_to_f16(-x), h | 0x8000);
        if (h == 0x7bff) break;
        CHECK_INT(f32_to_f16((x + y) / 2), h % 2 ? h + 1 : h);
        CHECK_INT(f32_to_f16(nextafterf((x + y) / 2, x)), h);
        CHECK_INT(f32_to_f16(nextafterf((x + y) / 2, y)), h + 1);
    }
    CHECK_INT(f32_to_f16(65519.99f), 0x7bff);
    CHECK_INT(f32_to_f16(65520), 0x7c00);
    CHECK_INT(f32_to_f16(1e30f), 0x7c00);
    CHECK_INT(f32_to_f16(-INFINITY), 0xfc00);
    CHECK(isnan(f16_to_f32(f32_to_f16(NAN))));
}

TEST(f16_to_f32_is_exact)
{
    CHECK(f16_to_f32(0x0000) == 0);
    CHECK(signbit(f16_to_f32(0x8000)));
    CHECK(f16_to_f32(0x3c00) == 1);
    CHECK(f16_to_f32(0xc000) == -2);
    CHECK(f16_to_f32(0x7bff) == 65504);
    CHECK(f16_to_f32(0x0001) == 0x1p-24f);
    CHECK(f16_to_f32(0x03ff) == 1023 * 0x1p-24f);
    CHECK(f16_to_f32(0x0400) == 0x1p-14f);
    CHECK(f16_to_f32(0x3555) == 0x1.554p-2f);
    CHECK(isinf(f16_to_f32(0x7c00)) && f16_to_f32(0xfc00) < 0);
    CHECK(isnan(f16_to_f32(0x7c01)));
}

static int count_bytes(void *user, uint64_t done, uint64_t total)
{
    uint64_t *last = user;

    CHECK(done > last[0] && done <= total);
    last[0] = done;
    last[1] = total;
    last[2]++;
    return 0;
}

TEST(convert_gives_the_same_bytes_and_reports_progress)
{
    struct tiny o = TINY_DEFAULT;
    uint64_t seen[3] = { 0 };
    struct mapping a, b;
    char other[80];
    struct err e;

    tiny(&o);
    snprintf(other, sizeof other, "%s/n.skmt", dir);
    REQUIRE_OK(convert_model(in_dir, DT_I8, out, count_bytes, seen, &e), &e);
    CHECK(seen[2] > 50 && seen[0] == seen[1]);
    REQUIRE_OK(convert_model(in_dir, DT_I8, other, NULL, NULL, &e), &e);
    REQUIRE_OK(mapping_open(&a, out, &e), &e);
    REQUIRE_OK(mapping_open(&b, other, &e), &e);
    CHECK_INT(a.size, b.size);
    CHECK_MEM(a.data, b.data, a.size < b.size ? a.size : b.size);
    mapping_close(&a);
    mapping_close(&b);
    unlink(other);
}

/* ---- input that is rejected ---- */

static void refused(const char *file, const char *says)
{
    struct weights *w;
    struct err e = { 0 };
    enum status st = make(&w, DT_I8, &e);

    weights_close(w);
    CHECK(st != ST_OK);
    if (!strstr(e.msg, file) || !strstr(e.msg, says))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks %s or \"%s\"", e.msg,
                  file, says);
    CHECK(access(out, F_OK) != 0);
}

#define REFUSED(change, file, says) do {                                  \
    struct tiny o = TINY_DEFAULT;                                         \
    change;                                                               \
    tiny(&o);                                                             \
    unlink(out);                                                          \
    refused(file, says); } while (0)

TEST(convert_refuses_tensors_that_do_not_fit)
{
    const char *f = "model.safetensors";

    REFUSED(o.skip = "emb.weight", f, "\"emb.weight\" is missing");
    REFUSED(o.skip = "enc.1.ln3.bias", f, "\"enc.1.ln3.bias\" is missing");
    REFUSED(o.skip = "dec.0.xatt.v.weight", f, "\"dec.0.xatt.v.weight\" is");
    REFUSED(o.extra = "lm_head.bias", f, "\"lm_head.bias\" is not part");
    REFUSED(o.extra = "out.bias", f, "\"out.bias\" is not part");
    REFUSED(o.extra = "dec.2.ln1.bias", f, "\"dec.2.ln1.bias\" is not part");
    REFUSED(o.nan = "dec.0.att.k.weight", f, "\"dec.0.att.k.weight\" "
            "contains NaN or infinite values");
    REFUSED(o.nan = "eln.weight", f, "\"eln.weight\" contains");
    REFUSED((o.pos = "learned", o.skip = "pos_tgt.weight"), f,
            "\"pos_tgt.weight\" is missing");
    REFUSED((o.separate = true, o.skip = "out.weight"), f,
            "\"out.weight\" is missing");
    REFUSED(o.vocab = 309, "spm.model", "310 pieces");
}

TEST(convert_refuses_a_wrong_shape)
{
    struct tiny o = TINY_DEFAULT;
    FILE *f;

    tiny(&o);
    unlink(out);
    f = fopen(in("config.json"), "wb");
    REQUIRE(f != NULL);
    o.ffn = 68;
    o.vocab = TINY_PIECES;
    tiny_config(f, &o);
    fclose(f);
    refused("model.safetensors", "\"enc.0.f1.weight\" has the shape [64, 32], "
            "but according to config.json it should have [68, 32]");
}

static void put(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in(name), "wb");

    if (!f) abort();
    fwrite(bytes, 1, n, f);
    fclose(f);
}

/* Convert with a config.json whose first line is replaced by `json`. */
static void config_with(const char *json, const char *says)
{
    struct tiny o = TINY_DEFAULT;
    char text[4096], all[8192];
    FILE *f;
    size_t n;

    tiny(&o);
    unlink(out);
    f = fopen(in("config.json"), "rb");
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    snprintf(all, sizeof all, "{%s,%s", json, strchr(text, '\n'));
    put("config.json", all, strlen(all));
    refused("config.json", says);
}

TEST(convert_refuses_a_wrong_config)
{
    config_with("\"alibi\": true", "unknown key \"alibi\"");
    config_with("\"knn_tau\": \"x\"", "\"knn_tau\" should be a number");
    config_with("\"max_source_length\": 1.5", "a whole number");
    config_with("\"max_source_length\": 1e9", "max_source=1000000000");
    config_with("\"max_source_length\": 99999999999", "a whole number");
    config_with("\"max_source_length\": 500", "max_source=500");
    config_with("\"attention_layer\": 2", "attention_layer=2 is not less than "
                "decoder_layers=2");
    config_with("\"attention_layer\": -2", "a whole number");
    config_with("\"attention_layer\": 0.5", "a whole number");
    config_with("\"source_prefix_ids\": [1, 2]", "at most one id");
    config_with("\"source_prefix_ids\": [1000]", "prefix_id=1000");
    config_with("\"heads\": 4", "duplicate");
    config_with("\"knn_tau\" 3", ":1: ");
}

TEST(convert_refuses_other_words_in_a_config)
{
    const char *f = "config.json";

    REFUSED(o.act = "tanh", f, "\"activation\" is \"tanh\"; only \"none\", "
            "\"relu\", \"gelu\", \"silu\" or \"swish\" can be converted");
    REFUSED(o.pos = "rotary", f, "\"positions\" is \"rotary\"");
    REFUSED(o.heads = 5, f, "multiple of heads");
    REFUSED(o.enc_layers = 0, f, "encoder_layers=0");
    put("config.json", "[1]", 3);
    refused(f, "not a JSON object");
    put("config.json", "{}", 2);
    refused(f, "\"vocab_size\" is missing");
}

TEST(convert_refuses_missing_and_foreign_files)
{
    struct tiny o = TINY_DEFAULT;
    struct err e;

    tiny(&o);
    unlink(out);
    unlink(in("spm.model"));
    refused("spm.model", "there is no file");
    put("spm.model", "", 0);
    refused("spm.model", "empty");
    put("spm.model", "hello, world", 12);
    refused("spm.model", "SentencePiece");
    CHECK(convert_model("/no/such", DT_I8, out, NULL, NULL, &e) == ST_IO);
    CHECK_STR(e.msg, "/no/such: No such file or directory");
    tiny(&o);
    CHECK(convert_model(in_dir, DT_I8, "/no/dir/x", NULL, NULL, &e) == ST_IO);
    CHECK(convert_model(in_dir, DT_BYTES, out, NULL, NULL, &e) == ST_ARGUMENT);
}

/* ---- loading ---- */

/* Replace a text in the file `out` by another of the same length and correct
 * the checksums. The file must be rejected with a message that contains
 * `says`. */
static void patched(const char *from, const char *to, const char *says)
{
    struct mfile *f;
    struct weights *w = NULL;
    struct mapping map;
    struct err e = { 0 };
    uint8_t *copy, *at;
    size_t n;

    REQUIRE_OK(mapping_open(&map, out, &e), &e);
    n = map.size;
    copy = mem_alloc(n, 1);
    memcpy(copy, map.data, n);
    mapping_close(&map);
    at = memmem(copy, n, from, strlen(from));
    REQUIRE(at != NULL);
    memcpy(at, to, strlen(to));
    reseal(copy, n);
    REQUIRE_OK(mfile_open_memory(&f, copy, n, "m.skmt", &e), &e);
    CHECK_INT(weights_from(&w, f, &e), ST_FORMAT);
    if (!strstr(e.msg, says) || strncmp(e.msg, "m.skmt: ", 8))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", e.msg, says);
    CHECK(w == NULL);
    mem_free(copy);
}

TEST(weights_names_what_its_config_asks_for)
{
    struct tiny o = TINY_DEFAULT;
    struct weights *w;
    struct err e;

    tiny(&o);
    REQUIRE_OK(make(&w, DT_I8, &e), &e);
    weights_close(w);
    patched("decoder_layers=2", "decoder_layers=3", "\"dec.2.self.norm.g\"");
    patched("ffn=64", "ffn=68", "tensor \"enc.0.ffn.up.w\" is int8 [64, 32], "
            "but the configuration requires [68, 32]");
    patched("d_model=32", "d_model=36", "\"emb.w\"");
    patched("vocab_size=310", "vocab_size=311", "\"emb.w\"");
    patched("positions=0", "positions=2", "no tensor \"pos.src\"");
    patched("heads=4", "heads=5", "multiple of heads");
    patched("eos_id=3", "eos_id=x", "not a number");
    patched("activation=1", "activation=2", "does not follow a ReLU");
    patched("emb.w", "foo.w", "no tensor \"emb.src.w\"");
    patched("tokenizer.spm", "tokenizer.xxx", "no tokenizer");
    patched("dec.1.cross.kv.s", "dec.1.cross.kv.x", "\"dec.1.cross.kv.s\"");
    patched("enc.norm.b", "enc.norm.x", "no tensor \"enc.norm.b\"");
}

TEST(weights_open_of_a_text_file)
{
    struct weights *w = (void *)1;
    struct err e;

    make_dir();
    put("config.json", "hello", 5);
    CHECK(weights_open(&w, in("config.json"), &e) == ST_FORMAT && !w);
    CHECK(strstr(e.msg, "text file"));
}

/* ---- the format document ---- */

/* docs/formats/model.md must list the same names as the code. */
TEST(model_document_lists_every_name)
{
    static const char *const names[] = {
#define L(field, name, n, k) name,
#define N(field, name) name,
        DECODER_LAYER_WEIGHTS(L, N)
#undef L
#undef N
#define I(field, def, low, high) #field,
#define F(field, def, low, high) #field,
        CONFIG_LIST(I, F)
#undef I
#undef F
    };
    struct err e;
    char *text;
    size_t n;

    if (access("docs/formats/model.md", R_OK)) SKIP("not in the source tree");
    REQUIRE_OK(file_read(&text, &n, "docs/formats/model.md", 1 << 20, &e), &e);
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strstr(text, names[i]))
            test_fail(__FILE__, __LINE__, "%s is not described", names[i]);
    free(text);
}

/* ---- the shipped model ---- */

TEST(convert_the_shared_model)
{
    const char *path = test_shared("model/model.safetensors");
    static const enum dtype types[] = { DT_F32, DT_BF16, DT_I8 };
    char folder[4096], *end;
    struct weights *w;
    struct err e;

    if (!path) SKIP("no shared model");
    make_dir();
    snprintf(folder, sizeof folder, "%s", path);
    end = strrchr(folder, '/');
    for (size_t i = 0; i < COUNT(types); i++) {
        *end = 0;
        REQUIRE_OK(convert_model(folder, types[i], out, NULL, NULL, &e), &e);
        *end = '/';
        REQUIRE_OK(weights_open(&w, out, &e), &e);
        CHECK_INT(w->cfg.d_model, 512);
        CHECK_INT(w->cfg.encoder_layers, 6);
        CHECK_INT(subword_size(w->src_subword), 16000);
        CHECK(w->src_emb.w == w->project.w);
        check_layers(w, folder);
        check_rows(&w->project, 0, folder, "emb.weight");
        weights_close(w);
    }
}

/* Not a test: removes the temporary files. */
__attribute__((destructor)) static void clean(void)
{
    if (!out[0]) return;
    unlink(out);
    unlink(in("model.safetensors"));
    unlink(in("config.json"));
    unlink(in("spm.model"));
    rmdir(in_dir);
    rmdir(dir);
}
