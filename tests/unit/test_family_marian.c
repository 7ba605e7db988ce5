/* test_family_marian.c - plans and converts made-up Marian models, and refuses
 * others. tools/check_foreign.py compares what such models compute. */
#include "test.h"

#include "base/file.h"
#include "convert/convert.h"
#include "convert/family.h"
#include "made_bin.h"
#include "made_marian.h"
#include "made_spm.h"
#include "model/weights.h"
#include "scratch_dir.h"
#include "text/subword.h"

/* ---- a model ---- */

static const struct made_marian usual = {
    .d = 8, .heads = 2, .ffn = 16, .dec_ffn = 8, .enc = 1, .dec = 2,
    .v_src = 9, .v_tgt = 9, .one_table = true, .tied = true, .bias = true,
};

static const struct spec small[] = {
    { "<unk>", 0, UNK }, { "<s>", 0, CONTROL }, { "</s>", 0, CONTROL },
    { SP, -2, NORMAL }, { "a", -3, NORMAL }, { "b", -3, NORMAL },
    { SP "a", -2, NORMAL }, { "q", -5, NORMAL },
};

/* Its ids are 0 to 8. "q" is only in the SentencePiece model. */
static const char vocab[] = "\"a\": 0\n</s>: 1\n<unk>: 2\nb: 3\n\"" SP "\": 4\n"
    "\"" SP "a\": 5\n'>>deu<<': 6\n'>>fra<<': 7\nx: 8\n";

static const char decoder[] = "models: [opus.npz]\nvocabs: [v.yml, v.yml]\n"
    "beam-size: 6\nnormalize: 1\nword-penalty: 0\n";

/* What is wrong with the weights that are written. */
struct flaw {
    const char *without;        /* a tensor that is left out */
    const char *longer;         /* a tensor with another row */
    const char *wider;          /* a tensor with another column */
    const char *nan;            /* a tensor with NaN */
    const char *extra;          /* one more tensor */
};

struct tensor_writer {
    struct made_zip zip;
    const struct flaw *flaw;
    uint32_t state;
};

static bool is_named(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static void write_tensor(void *user, const char *name, int rows, int cols)
{
    struct tensor_writer *w = user;
    float *v;
    int n;

    if (is_named(w->flaw->without, name)) return;
    rows += is_named(w->flaw->longer, name);
    cols += is_named(w->flaw->wider, name);
    n = rows * cols;
    v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < n; i++) {
        w->state = w->state * 1664525 + 1013904223;
        v[i] = (float)(w->state >> 8) / (1 << 24) - 0.5f;
    }
    if (is_named(w->flaw->nan, name)) v[n / 2] = NAN;
    made_npz_add(&w->zip, name, "<f4", rows, cols, v, (size_t)n * sizeof *v);
    free(v);
}

/* Write opus.npz. */
static void write_weights(const struct scratch *s, const struct made_marian *m,
                          const struct flaw *flaw)
{
    static const struct flaw none;
    struct tensor_writer w = { .flaw = flaw ? flaw : &none, .state = 1 };
    FILE *f = fopen(scratch_path(s, "opus.npz"), "wb");

    if (!CHECK(f != NULL)) return;
    made_zip_init(&w.zip);
    made_marian_each(m, write_tensor, &w);
    if (w.flaw->extra) write_tensor(&w, w.flaw->extra, 1, 8);
    made_marian_settings(m, &w.zip);
    made_zip_end(&w.zip);
    made_zip_flush(&w.zip, f);
    fclose(f);
    made_zip_release(&w.zip);
}

static void write_spm(const struct scratch *s, const char *name)
{
    FILE *f = fopen(scratch_path(s, name), "wb");
    struct strbuf spm;

    make_model(&spm, 1, small, COUNT(small));
    if (CHECK(f != NULL)) {
        fwrite(spm.data, 1, spm.len, f);
        fclose(f);
    }
    strbuf_release(&spm);
}

/* Write a whole package. */
static bool write_package(struct scratch *s, const struct made_marian *m,
                          const struct flaw *flaw)
{
    if (!scratch_make_small(s)) return false;
    write_weights(s, m, flaw);
    write_spm(s, "source.spm");
    write_spm(s, "target.spm");
    return scratch_write(s, "v.yml", vocab) &&
           scratch_write(s, "decoder.yml", decoder);
}

static struct model_plan *plan_package(const struct scratch *s,
                                       const struct family_options *o)
{
    static const struct family_options none;
    struct model_plan *p = NULL;
    struct file_set *set;
    struct err e;

    if (!CHECK_OK(file_set_open(&set, s->dir, &e), &e)) return NULL;
    CHECK_OK(model_plan_make(&p, set, o ? o : &none, &e), &e);
    file_set_close(set);
    return p;
}

/* ---- plans ---- */

TEST(plan_of_a_package)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_package(&s, &usual, NULL));
    p = plan_package(&s, NULL);
    if (p) {
        const struct config *c = &p->cfg;

        CHECK_STR(c->family, "marian");
        CHECK_INT(c->vocab_size, 11);   /* with "q" and the zero row */
        CHECK_INT(c->d_model, 8);
        CHECK_INT(c->ffn, 16);
        CHECK_INT(c->ffn_decoder, 8);
        CHECK_INT(c->norm, NORM_POST);
        CHECK_INT(c->final_norm, 0);
        CHECK_INT(c->positions, POS_HALVES);
        CHECK_NEAR(c->layer_norm_eps, 1e-6, 1e-12);
        CHECK_NEAR(c->embedding_scale, sqrt(8), 1e-9);
        CHECK_INT(c->eos_id, 1);
        CHECK_INT(c->suffix_id, 1);
        CHECK_INT(c->unk_id, 2);
        CHECK_INT(c->start_id, 10);
        CHECK_INT(c->pad_id, 10);
        CHECK_INT(c->beam, 6);
        CHECK_NEAR(c->length_penalty, 1, 0);
        CHECK_INT(c->language_tokens, LANGUAGE_TOKENS_TARGET_FIRST);
        CHECK_STR(p->languages.data, "deu\t6\nfra\t7\n");
        CHECK_MEM(p->barred, "\0\0\1\0\0\0\1\1\0\1\1", 11);
        CHECK_INT(p->source_row[9], 2);
        CHECK_INT(p->source_row[10], -1);
        CHECK_INT(p->target_tokenizer.len, 0);
    }
    model_plan_free(p);
    scratch_remove(&s);
}

TEST(plan_of_a_package_with_two_vocabularies)
{
    static const struct family_options o = { .source_lang = "en",
                                             .target_lang = "fra" };
    struct made_marian m = usual;
    struct model_plan *p;
    struct scratch s;

    m.one_table = m.tied = false;
    m.v_tgt = 4;
    REQUIRE(write_package(&s, &m, NULL));
    scratch_write(&s, "t.vocab", "<unk>\na\n</s>\n" SP "b\n");
    scratch_write(&s, "decoder.yml", "models: [./opus.npz]\n"
                  "vocabs: [sub/v.yml, t.vocab]\nallow-unk: true\n"
                  "beam-size: 100\nnormalize: 0.6\nword-penalty: 0.5\n");
    scratch_write(&s, "README.md", "* source language(s): deu eng\n"
                  "* download: [x](https://example.org/x.zip)\n");
    p = plan_package(&s, &o);
    if (p) {
        CHECK_INT(p->cfg.vocab_size, 11);
        CHECK_INT(p->cfg.eos_id, 2);
        CHECK_INT(p->cfg.suffix_id, 1);
        CHECK_INT(p->cfg.unk_id, 0);
        CHECK_INT(p->cfg.beam, 64);
        CHECK_NEAR(p->cfg.length_penalty, 0.6, 1e-9);
        CHECK_STR(p->cfg.source_lang, "en");
        CHECK_STR(p->cfg.target_lang, "fra");
        CHECK_STR(p->cfg.origin, "https://example.org/x.zip");
        CHECK_MEM(p->barred, "\0\0\0\0\1\1\1\1\1\1\1", 11);
        CHECK(strstr(p->report.data, "warning: decoder.yml says "
                     "\"word-penalty: 0.5\"") != NULL);
        CHECK(strstr(p->report.data, "note: decoder.yml says \"beam-size: "
                     "100\"; 64 is used") != NULL);
        CHECK(!p->shared_table && !p->tied);
    }
    model_plan_free(p);
    scratch_remove(&s);
}

/* Words are split by "source.bpe"; a truecasing model makes them small. */
TEST(packages_with_bpe_codes)
{
    static const char text[] = "Ab";
    struct model_plan *p;
    struct subword *sw;
    struct pieces ids = { 0 };
    struct scratch s;
    struct err e;

    REQUIRE(write_package(&s, &usual, NULL));
    remove(scratch_path(&s, "source.spm"));
    remove(scratch_path(&s, "target.spm"));
    scratch_write(&s, "source.bpe", "#version: 0.2\na b</w>\n");
    scratch_write(&s, "target.bpe", "#version: 0.2\na b</w>\n");
    scratch_write(&s, "source.tcmodel", "ab (9/9)\n");
    scratch_write(&s, "v.yml", "ab: 0\n</s>: 1\n<unk>: 2\na@@: 3\nb: 4\n");
    p = plan_package(&s, NULL);
    if (p && CHECK_OK(subword_open(&sw, p->source_tokenizer.data,
                                   p->source_tokenizer.len, &e), &e)) {
        CHECK_OK(subword_encode(sw, text, strlen(text), &ids, &e), &e);
        CHECK_INT(ids.n, 1);
        if (ids.n) CHECK_INT(ids.at[0].id, 0);
        CHECK_INT(p->cfg.vocab_size, 6);
        CHECK(p->target_tokenizer.len > 0);     /* without a truecaser */
        CHECK(strstr(p->report.data, "warning: texts are split by") != NULL);
        subword_close(sw);
    }
    pieces_release(&ids);
    model_plan_free(p);
    scratch_remove(&s);
}

TEST(the_only_language_is_the_target)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_package(&s, &usual, NULL));
    scratch_write(&s, "v.yml", "a: 0\n</s>: 1\n<unk>: 2\nb: 3\nc: 4\nd: 5\n"
                  "'>>deu<<': 6\ne: 7\nf: 8\n");
    p = plan_package(&s, NULL);
    if (p) {
        CHECK_STR(p->languages.data, "deu\t6\n");
        CHECK_STR(p->cfg.target_lang, "deu");
        CHECK_STR(p->cfg.source_lang, "");
    }
    model_plan_free(p);
    scratch_remove(&s);
}

/* The row of zeros that decoding begins with, and the row of "q", which the
 * vocabulary lacks. */
TEST(tables_of_a_converted_model)
{
    float row[8], unk[8], zeros[8] = { 0 };
    struct weights *w = NULL;
    struct scratch s;
    struct err e;

    REQUIRE(write_package(&s, &usual, NULL));
    CHECK_OK(convert_model(s.dir, DT_F32, scratch_path(&s, "m.skmt"), NULL,
                           NULL, &e), &e);
    if (CHECK_OK(weights_open(&w, scratch_path(&s, "m.skmt"), &e), &e)) {
        linear_row(&w->src_emb, 10, row);
        CHECK_MEM(row, zeros, sizeof row);
        linear_row(&w->src_emb, 9, row);
        linear_row(&w->src_emb, 2, unk);
        CHECK_MEM(row, unk, sizeof row);
        CHECK(w->project.bias[10] < -1e8f && w->project.bias[9] < -1e8f);
        CHECK(w->project.bias[2] < -1e8f && w->project.bias[3] > -1);
    }
    weights_close(w);
    scratch_remove(&s);
}

TEST(a_decoder_file_of_training_counts_too)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_package(&s, &usual, NULL));
    rename(scratch_path(&s, "decoder.yml"),
           scratch_path(&s, "opus.npz.decoder.yml"));
    p = plan_package(&s, NULL);
    CHECK(p != NULL);
    model_plan_free(p);
    scratch_remove(&s);
}

/* ---- refusals ---- */

/* Convert the package and expect a message. The package is removed. */
static void expect_refusal(const struct scratch *s, const char *want)
{
    struct err e = { 0 };
    enum status st = convert_model(s->dir, DT_F32, scratch_path(s, "m.skmt"),
                                   NULL, NULL, &e);

    CHECK(st != ST_OK);
    CHECK(access(scratch_path(s, "m.skmt"), F_OK) != 0);
    if (!strstr(e.msg, want))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, want);
    scratch_remove(s);
}

TEST(wrong_tensors_are_named)
{
    static const struct { struct flaw flaw; const char *want; } cases[] = {
        { { .without = "encoder_l1_self_Wq" },
          "opus.npz: tensor \"encoder_l1_self_Wq\" is missing" },
        { { .without = "decoder_l2_ffn_b2" },
          "tensor \"decoder_l2_ffn_b2\" is missing" },
        { { .without = "decoder_ff_logit_out_b" },
          "tensor \"decoder_ff_logit_out_b\" is missing" },
        { { .without = "Wemb" }, "tensor \"Wemb\" is missing" },
        { { .wider = "decoder_l1_context_Wk" },
          "tensor \"decoder_l1_context_Wk\" has the shape [8, 9], but "
          "according to special:model.yml it should have [8, 8]" },
        { { .longer = "encoder_l1_ffn_b1" },
          "tensor \"encoder_l1_ffn_b1\" has the shape [2, 16]" },
        { { .wider = "Wemb" }, "tensor \"Wemb\" has the shape [9, 9]" },
        { { .nan = "decoder_l1_self_Wv" },
          "tensor \"decoder_l1_self_Wv\" contains NaN" },
        { { .nan = "Wemb" }, "tensor \"Wemb\" contains NaN" },
        { { .extra = "Wpos" }, "tensor \"Wpos\" is not part of the model" },
        { { .extra = "encoder_emb_ln_scale_pre" },
          "tensor \"encoder_emb_ln_scale_pre\" is not part of" },
        { { .extra = "decoder_l1_rnn_W" },
          "tensor \"decoder_l1_rnn_W\" is not part of" },
        { { .extra = "encoder_l2_self_Wq" },
          "tensor \"encoder_l2_self_Wq\" is not part of" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scratch s;

        REQUIRE(write_package(&s, &usual, &cases[i].flaw));
        expect_refusal(&s, cases[i].want);
    }
}

TEST(other_networks_are_refused)
{
    static const char *const cases[][2] = {
        { "transformer-decoder-autoreg: rnn\ndec-cell: ssru\n",
          "opus.npz: special:model.yml: the decoder is a recurrent network" },
        { "transformer-decoder-autoreg: average-attention\n",
          "\"average-attention\"" },
        { "right-left: true\n", "\"right-left\" is set" },
        { "transformer-pool: true\n", "\"transformer-pool\" is set" },
        { "lemma-dim-emb: 8\n", "\"lemma-dim-emb\" is set" },
        { "transformer-train-position-embeddings: true\n",
          "\"transformer-train-position-embeddings\" is set" },
        { "transformer-postprocess-emb: nd\n", "norms after the embeddings" },
        { "something-new: 3\n", "\"something-new\" is set" },
        { "a: &x 1\n", "an anchor is not accepted" },
        { "type: s2s\n", "a key occurs twice" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_marian m = usual;
        struct scratch s;

        m.settings = cases[i][0];
        REQUIRE(write_package(&s, &m, NULL));
        expect_refusal(&s, cases[i][1]);
    }
}

/* Another text in place of one file of the package; NULL: the file is
 * missing. */
TEST(wrong_files_are_named)
{
    static const struct { const char *file, *text, *want; } cases[] = {
        { "decoder.yml", NULL, "these are not the files of a model" },
        { "decoder.yml", "models: [other.npz]\nvocabs: [v.yml, v.yml]\n",
          "decoder.yml: names the file \"other.npz\", which is not there" },
        { "decoder.yml", "models: [opus.npz]\nvocabs: [v.yml, ../w.yml]\n",
          "decoder.yml: names the file \"../w.yml\", which is not there" },
        { "decoder.yml", "models: [opus.npz, opus.npz]\n"
          "vocabs: [v.yml, v.yml]\n", "\"models\" names 2 files" },
        { "decoder.yml", "models: [opus.npz]\nvocabs: [v.yml, *x]\n",
          "decoder.yml:2: " },
        { "decoder.yml", "models: [v.yml]\nvocabs: [v.yml, v.yml]\n",
          "v.yml: " },
        { "v.yml", "a: 0\n</s>: 1\n<unk>: 2\nb: 4\n", "v.yml" },
        { "v.yml", "a: 0\n</s>: 1\n<unk>: 1\n", "v.yml" },
        { "v.yml", "a: 0\n</s>: 1\n", "does not have the piece \"<unk>\"" },
        { "v.yml", "a: 0\n<unk>: 1\n", "does not have the piece \"</s>\"" },
        { "v.yml", "a: 0\n</s>: 1\n<unk>: 2\nb: 3\nc: 4\nd: 5\ne: 6\nf: 7\n"
          "g: 8\nh: 9\n", "v.yml: has 10 pieces, but the table \"Wemb\" has "
          "only 9 rows" },
        { "source.spm", NULL, "there is neither \"source.spm\" nor "
          "\"source.bpe\", which say how texts are split" },
        { "target.spm", "no model", "target.spm: " },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scratch s;

        REQUIRE(write_package(&s, &usual, NULL));
        if (cases[i].text) scratch_write(&s, cases[i].file, cases[i].text);
        else remove(scratch_path(&s, cases[i].file));
        expect_refusal(&s, cases[i].want);
    }
}

TEST(one_table_needs_one_vocabulary)
{
    struct scratch s;

    REQUIRE(write_package(&s, &usual, NULL));
    scratch_write(&s, "t.vocab", "<unk>\na\n</s>\n");
    scratch_write(&s, "decoder.yml", "models: [opus.npz]\n"
                  "vocabs: [v.yml, t.vocab]\n");
    expect_refusal(&s, "v.yml and t.vocab differ, but source and target have "
                   "one table");
}

TEST(weights_alone_are_not_enough)
{
    struct file_set *set;
    struct model_plan *p;
    struct scratch s;
    struct err e;

    REQUIRE(write_package(&s, &usual, NULL));
    REQUIRE_OK(file_set_open(&set, scratch_path(&s, "opus.npz"), &e), &e);
    CHECK_INT(model_plan_make(&p, set, &(struct family_options){ 0 }, &e),
              ST_FORMAT);
    CHECK(p == NULL);
    CHECK(strstr(e.msg, "only the weights of a Marian model") != NULL);
    file_set_close(set);
    scratch_remove(&s);
}

/* Write a .bin file with settings and one tensor. */
static void write_bin(const struct scratch *s, const char *name,
                      const char *settings)
{
    const float factor = 1;
    struct made_bin items[] = {
        { "none_QuantMultA", BIN_F32, 1, { 1 }, &factor, 4 },
        { "special:model.yml", BIN_I8, 1, { (int)strlen(settings) }, settings,
          strlen(settings) },
    };
    FILE *f = fopen(scratch_path(s, name), "wb");
    struct strbuf file;

    strbuf_init(&file, 0);
    made_bin_write(&file, 1, items, COUNT(items));
    if (CHECK(f != NULL)) {
        fwrite(file.data, 1, file.len, f);
        fclose(f);
    }
    strbuf_release(&file);
}

/* They are recognized by their weights and have no decoder.yml. */
TEST(small_models_of_firefox_are_refused)
{
    static const char *const cases[][2] = {
        { "type: transformer\ntransformer-decoder-autoreg: rnn\n"
          "dec-cell: ssru\n",
          "model.deen.intgemm.alphas.bin: special:model.yml: the decoder is a "
          "recurrent network (\"transformer-decoder-autoreg\" is \"rnn\"), as "
          "in the small models of Firefox and Bergamot" },
        { "type: transformer\n", "there is no decoder.yml" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scratch s;

        REQUIRE(scratch_make_small(&s));
        write_bin(&s, "model.deen.intgemm.alphas.bin", cases[i][0]);
        write_spm(&s, "vocab.deen.spm");
        scratch_write(&s, "lex.50.50.deen.s2t.bin", "x");
        expect_refusal(&s, cases[i][1]);
    }
}

/* Cut the file of the weights at many places. */
TEST(truncated_weights_are_refused)
{
    struct scratch s;
    struct err e;
    char *bytes;
    size_t n;

    REQUIRE(write_package(&s, &usual, NULL));
    REQUIRE_OK(file_read(&bytes, &n, scratch_path(&s, "opus.npz"), 1 << 20,
                         &e), &e);
    for (size_t k = 0; k < n; k += 97 * 7) {
        CHECK(!truncate(scratch_path(&s, "opus.npz"), (off_t)k));
        err_clear(&e);
        CHECK(convert_model(s.dir, DT_F32, scratch_path(&s, "m.skmt"), NULL,
                            NULL, &e) != ST_OK && e.msg[0]);
        write_weights(&s, &usual, NULL);
    }
    free(bytes);
    scratch_remove(&s);
}
