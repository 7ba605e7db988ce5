/* test_family_ct2.c - tests of the plans for CTranslate2 folders and Argos
 * packages: settings, ids and tokenizers, and what is refused.
 * tools/check_foreign.py tests the arithmetic. */
#include <sys/stat.h>

#include "convert/convert.h"
#include "convert/family.h"
#include "convert/tensor_step.h"
#include "made_ct2.h"
#include "made_spm.h"
#include "scratch_dir.h"
#include "test.h"

/* ---- a folder ---- */

/* The pieces of the vocabulary, CT2_V of them, are those of the SentencePiece
 * model in another order, and special ones. */
static const char vocabulary[] =
    "<unk>\n<blank>\n<s>\n</s>\n" SP "a\nb\nc\n" SP "\na\nde\n";
static const struct spec pieces[] = {
    { "<unk>", 0, UNK }, { "<s>", 0, CONTROL }, { "</s>", 0, CONTROL },
    { "a", -1, NORMAL }, { "b", -2, NORMAL }, { "c", -3, NORMAL },
    { SP, -4, NORMAL }, { SP "a", -5, NORMAL }, { "x", -6, NORMAL },
};
static const char config[] =
    "{\"add_source_bos\": false, \"add_source_eos\": true, \"bos_token\": "
    "\"<s>\", \"eos_token\": \"</s>\", \"unk_token\": \"<unk>\", "
    "\"decoder_start_token\": \"<s>\", \"layer_norm_epsilon\": null}";

struct folder {
    struct scratch at;
    const char *in;             /* where model.bin is: "" or "model/" */
};

static void put_bytes_of(const struct folder *f, const char *folder,
                         const char *name, const struct strbuf *b)
{
    char path[100];
    FILE *out;

    snprintf(path, sizeof path, "%s%s", folder, name);
    out = fopen(scratch_path(&f->at, path), "wb");
    if (!CHECK(out != NULL)) return;
    fwrite(b->data, 1, b->len, out);
    fclose(out);
}

static void put_text(const struct folder *f, const char *folder,
                     const char *name, const char *text)
{
    struct strbuf b = { (char *)(uintptr_t)text, strlen(text), 0, 0 };

    put_bytes_of(f, folder, name, &b);
}

static void put_model(const struct folder *f, struct made_ct2 *m)
{
    ct2_end_model(m);
    put_bytes_of(f, f->in, "model.bin", &m->b);
    strbuf_release(&m->b);
}

static void put_plain_model(const struct folder *f, const char *without)
{
    struct made_ct2 m;

    ct2_begin_model(&m, 6, without);
    put_model(f, &m);
}

static void put_spm(const struct folder *f, const char *name)
{
    struct strbuf b;

    make_model(&b, 1, pieces, COUNT(pieces));
    put_bytes_of(f, "", name, &b);
    strbuf_release(&b);
}

/* A folder with all that a model needs. */
static void folder_make(struct folder *f, const char *in)
{
    *f = (struct folder){ .in = in };
    if (!scratch_make_small(&f->at)) return;
    if (*in) mkdir(scratch_path(&f->at, in), 0700);
    put_plain_model(f, NULL);
    put_text(f, in, "shared_vocabulary.txt", vocabulary);
    put_text(f, in, "config.json", config);
    put_spm(f, "sentencepiece.model");
}

/* ---- a plan ---- */

static struct file_set *files;          /* of the plan */

static struct model_plan *plan_of(const struct folder *f,
                                  const struct family_options *o,
                                  struct err *e)
{
    static const struct family_options none;
    struct model_plan *p = NULL;

    *e = (struct err){ 0 };
    if (!CHECK_OK(file_set_open(&files, f->at.dir, e), e)) return NULL;
    CHECK(!model_plan_make(&p, files, o ? o : &none, e) || (!p && e->msg[0]));
    return p;
}

static void plan_end(struct model_plan *p)
{
    model_plan_free(p);
    file_set_close(files);
    files = NULL;
}

/* The message of the failure without the name of the folder. */
static const char *refusal(const struct folder *f,
                           const struct family_options *o)
{
    static char msg[500];
    size_t n = strlen(f->at.dir);
    struct step_list steps = { 0 };
    struct err e;
    struct model_plan *p = plan_of(f, o, &e);

    if (p) step_list_make(&steps, p, &e);
    step_list_release(&steps);
    plan_end(p);
    snprintf(msg, sizeof msg, "%s", e.msg);
    return strncmp(msg, f->at.dir, n) ? msg : msg + n;
}

#define REFUSED(f, want) CHECK_STR(refusal(f, NULL), want)

/* The plan is made, and its tensors are all there. */
static struct model_plan *sound_plan(const struct folder *f,
                                     const struct family_options *o)
{
    struct step_list steps = { 0 };
    struct err e;
    struct model_plan *p = plan_of(f, o, &e);

    if (!p) {
        CHECK_STR(e.msg, "");
        return NULL;
    }
    CHECK_OK(step_list_make(&steps, p, &e), &e);
    step_list_release(&steps);
    return p;
}

/* ---- what is planned ---- */

TEST(plans_a_folder)
{
    struct folder f;
    struct model_plan *p;

    folder_make(&f, "");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.d_model, CT2_D);
    CHECK_INT(p->cfg.ffn, CT2_FFN);
    CHECK_INT(p->cfg.encoder_layers, 1);
    CHECK_INT(p->cfg.heads, 2);
    CHECK_INT(p->cfg.norm, NORM_PRE);
    CHECK_INT(p->cfg.final_norm, 1);
    CHECK_INT(p->cfg.activation, ACT_RELU);
    CHECK_INT(p->cfg.positions, POS_HALVES);
    CHECK_INT(p->cfg.position_offset, 1);
    CHECK_NEAR(p->cfg.embedding_scale, sqrt(CT2_D), 1e-12);
    CHECK_NEAR(p->cfg.layer_norm_eps, 1e-5, 0);
    CHECK_INT(p->cfg.beam, 2);
    CHECK(p->shared_table && p->tied && !p->output_bias);
    /* The tokenizer has the piece "x", which the vocabulary lacks. */
    CHECK_INT(p->cfg.vocab_size, CT2_V + 1);
    CHECK_INT(p->source_row[CT2_V], 0);
    CHECK_MEM(p->barred, "\1\1\1\0\0\0\0\0\0\0\1", CT2_V + 1);
    CHECK_INT(p->cfg.eos_id, 3);
    CHECK_INT(p->cfg.start_id, 2);
    CHECK_INT(p->cfg.suffix_id, 3);
    CHECK_INT(p->cfg.prefix_id, -1);
    CHECK_STR(p->cfg.family, "ctranslate2");
    /* A table, 12 and 20 tensors in the layers, 4 in the last norms and 2
     * scalars. Aliases do not count. */
    CHECK(strstr(p->report.data, "weights     39 tensors, mostly f32, 6 kB")
          != NULL);
    CHECK_INT(p->target_tokenizer.len, 0);
    plan_end(p);
    scratch_remove(&f.at);
}

/* Zero start is how a model from Marian is known. */
TEST(a_zero_start_needs_an_id_of_its_own)
{
    struct folder f;
    struct made_ct2 m;
    struct model_plan *p;

    folder_make(&f, "");
    ct2_begin_model(&m, 6, NULL);
    ct2_number(&m, "decoder/start_from_zero_embedding", CT2_I8, 1);
    put_model(&f, &m);
    put_text(&f, "", "config.json", "{\"decoder_start_token\": null}");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.vocab_size, CT2_V + 2);
    CHECK_INT(p->cfg.start_id, CT2_V + 1);
    CHECK_INT(p->source_row[CT2_V + 1], -1);
    CHECK_INT(p->barred[CT2_V + 1], 1);
    CHECK_INT(p->cfg.suffix_id, 3);
    plan_end(p);
    scratch_remove(&f.at);
}

TEST(versions_before_6_have_tokens_in_the_model)
{
    struct folder f;
    struct made_ct2 m;
    struct model_plan *p;

    folder_make(&f, "");
    remove(scratch_path(&f.at, "config.json"));
    ct2_begin_model(&m, 5, NULL);
    ct2_text(&m, "unk_token", "<blank>");
    ct2_text(&m, "eos_token", "<s>");
    ct2_number(&m, "with_source_bos", CT2_I8, 1);
    ct2_text(&m, "bos_token", "</s>");
    ct2_number(&m, "with_target_bos", CT2_I8, 0);
    put_model(&f, &m);
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.unk_id, 1);
    CHECK_INT(p->cfg.eos_id, 2);
    CHECK_INT(p->cfg.start_id, 2);
    CHECK_INT(p->cfg.prefix_id, 3);
    CHECK_INT(p->cfg.suffix_id, -1);
    plan_end(p);
    scratch_remove(&f.at);
}

/* As in CTranslate2: the unknown token gets the row after the vocabulary. */
TEST(a_vocabulary_without_unk_gets_it)
{
    struct folder f;
    struct model_plan *p;

    folder_make(&f, "");
    put_text(&f, "", "shared_vocabulary.txt",
             "<s>\n</s>\n" SP "a\nb\nc\n" SP "\na\nde\n");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.unk_id, 8);
    CHECK(strstr(p->report.data, "warning: \"encoder/embeddings_0/weight\" has "
                 "1 rows more than the vocabulary has pieces") != NULL);
    plan_end(p);
    put_text(&f, "", "shared_vocabulary.txt",
             "1\n2\n3\n4\n<s>\n</s>\n" SP "a\nb\nc\nde\n");
    REFUSED(&f, "/model.bin: \"encoder/embeddings_0/weight\" has 10 rows, but "
            "the vocabulary has 11 pieces (with its unknown token)");
    scratch_remove(&f.at);
}

TEST(tokenizers_are_found_or_named)
{
    static const char *const names[] = {
        "spm.model", "tokenizer.model", "whatever.spm",
    };
    struct family_options o = { 0 };
    char path[100];
    struct folder f;

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(names); i++) {
        rename(scratch_path(&f.at, i ? names[i - 1] : "sentencepiece.model"),
               scratch_path(&f.at, names[i]));
        plan_end(sound_plan(&f, NULL));
    }
    rename(scratch_path(&f.at, "whatever.spm"),
           scratch_path(&f.at, "whatever.txt"));
    REFUSED(&f, ": there is no tokenizer, such as sentencepiece.model, or "
            "source.spm and target.spm. Name the SentencePiece model that the "
            "model was trained with: --tokenizer FILE and, if the target has "
            "its own, --target-tokenizer FILE");
    snprintf(path, sizeof path, "%s/whatever.txt", f.at.dir);
    o.tokenizer = path;
    plan_end(sound_plan(&f, &o));
    o = (struct family_options){ .target_tokenizer = path };
    CHECK_STR(refusal(&f, &o), "target-tokenizer: name the tokenizer of the "
              "source too, with tokenizer");
    scratch_remove(&f.at);
}

TEST(two_tokenizers_may_share_a_vocabulary)
{
    struct folder f;
    struct strbuf b;
    struct model_plan *p;

    folder_make(&f, "");
    put_spm(&f, "source.spm");
    put_spm(&f, "target.spm");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->target_tokenizer.len, 0);      /* they are equal */
    plan_end(p);
    make_model(&b, 1, pieces, COUNT(pieces) - 2);
    put_bytes_of(&f, "", "target.spm", &b);
    strbuf_release(&b);
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK(p->source_tokenizer.len && p->target_tokenizer.len);
    CHECK(p->shared_table);
    plan_end(p);
    scratch_remove(&f.at);
}

static const char languages[] =
    "<unk>\n__de__\n<s>\n</s>\n" SP "a\nb\n__en__\n" SP "\na\nde\n";

TEST(tokens_of_languages_mean_m2m_100)
{
    struct folder f;
    struct model_plan *p;

    folder_make(&f, "");
    put_text(&f, "", "shared_vocabulary.txt", languages);
    put_text(&f, "", "config.json", "{\"decoder_start_token\": \"</s>\"}");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_STR(p->languages.data, "de\t1\nen\t6\n");
    CHECK_INT(p->cfg.language_tokens, LANGUAGE_TOKENS_BOTH);
    CHECK_INT(p->cfg.suffix_id, 3);
    CHECK_INT(p->cfg.start_id, 3);
    CHECK(p->barred[1] && p->barred[6]);
    plan_end(p);
    /* Its tokenizer may have come along, and says more. */
    put_text(&f, "", "tokenizer_config.json",
             "{\"tokenizer_class\": \"SMALL100Tokenizer\"}");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.language_tokens, LANGUAGE_TOKENS_TARGET_FIRST);
    CHECK(strstr(p->report.data, "note: the model is taken for SMaLL-100"));
    plan_end(p);
    put_text(&f, "", "tokenizer_config.json", "{\"legacy_behaviour\": true}");
    CHECK(strstr(refusal(&f, NULL), "\"legacy_behaviour\"") != NULL);
    remove(scratch_path(&f.at, "tokenizer_config.json"));
    put_text(&f, "", "config.json", "{\"decoder_start_token\": \"</s>\", "
             "\"add_source_bos\": true}");
    REFUSED(&f, "the settings put \"<s>\" before the source, where the "
            "language of this model stands");
    scratch_remove(&f.at);
}

/* ---- what is refused ---- */

TEST(refuses_other_kinds_of_models)
{
    static const struct { const char *spec; int revision; const char *why; }
    cases[] = {
        { "WhisperSpec", 3, "/model.bin: the model is a \"WhisperSpec\", not a "
          "\"TransformerSpec\": only translation models with an encoder and a "
          "decoder can be converted" },
        { "TransformerSpec", 1, "/model.bin: models of revision 1 have other "
          "names and cannot be read; convert the original model again with a "
          "newer CTranslate2" },
        { "TransformerSpec", 8, "/model.bin: the model has the revision 8, and "
          "revisions up to 7 are known" },
        { "TransformerSpec", 7, "/model.bin: tensor "
          "\"decoder/embeddings/weight\" is missing" },
    };
    struct folder f;

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_ct2 m;

        ct2_begin(&m, 2, cases[i].spec, cases[i].revision);
        put_bytes_of(&f, "", "model.bin", &m.b);
        strbuf_release(&m.b);
        REFUSED(&f, cases[i].why);
    }
    scratch_remove(&f.at);
}

/* Variables that change the arithmetic. */
TEST(refuses_what_it_cannot_compute)
{
    static const struct { const char *name, *what; } cases[] = {
        { "encoder/layer_0/self_attention/relative_position_keys",
          "relative positions" },
        { "decoder/layer_0/self_attention/rotary_dim", "rotary positions" },
        { "encoder/layernorm_embedding/gamma", "a norm after the embeddings" },
        { "encoder/layer_0/ffn/linear_0_noact/weight",
          "gated feed-forward layers" },
        { "decoder/project_in/weight", "another width of the embeddings" },
        { "decoder/scale_outputs", "scaled outputs" },
        { "encoder/embeddings_1/weight", "several features of the source" },
        { "encoder/layer_0/norm/gamma", "RMS norms" },
        { "encoder/layer_0/ffn/linear_0/weight_zero",
          "weights compressed with AWQ" },
    };
    struct folder f;
    char want[300];

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_ct2 m;

        ct2_begin_model(&m, 6, NULL);
        ct2_random(&m, cases[i].name, "", CT2_D, 0);
        put_model(&f, &m);
        snprintf(want, sizeof want, "/model.bin: \"%s\": the model has %s, and "
                 "skmt cannot compute that", cases[i].name, cases[i].what);
        REFUSED(&f, want);
    }
    scratch_remove(&f.at);
}

TEST(refuses_scalars_it_does_not_know)
{
    static const struct { const char *name; int type, value; const char *why; }
    cases[] = {
        { "decoder/alibi", CT2_I8, 1, "\"alibi\" of the decoder is on, and "
          "skmt cannot compute that" },
        { "encoder/multi_query_attention", CT2_I8, 1, "\"multi_query_attention"
          "\" of the encoder is on, and skmt cannot compute that" },
        { "encoder/activation", CT2_I8, 1, "\"activation\" of the encoder is 1 "
          "and that of the decoder 0; skmt needs the same for both" },
        { "activation", CT2_I8, 1, "\"activation\" is 1 (GELU approximated "
          "with tanh), and skmt cannot compute that" },
        { "activation", CT2_I8, 9, "\"activation\" is 9, which is not known" },
        { "decoder/pre_norm", CT2_I8, 0, "\"pre_norm\" of the encoder is 1 and "
          "that of the decoder 0; skmt needs the same for both" },
        { "encoder/scale_embeddings", CT2_I8, 0, "the embeddings of the source "
          "are multiplied by 1 and those of the target by 2.82843; skmt needs "
          "the same for both" },
        { "encoder/unheard_of", CT2_I8, 0, NULL },
    };
    struct folder f;
    char want[300];

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_ct2 m;

        ct2_begin_model(&m, 6, NULL);
        ct2_number(&m, cases[i].name, cases[i].type, cases[i].value);
        put_model(&f, &m);
        snprintf(want, sizeof want, "/model.bin: %s", cases[i].why);
        if (cases[i].why) REFUSED(&f, want);
        else CHECK(strstr(refusal(&f, NULL), "unheard_of") != NULL);
    }
    scratch_remove(&f.at);
}

TEST(names_what_is_missing)
{
    static const char *const names[] = {
        "encoder/layer_0/self_attention/linear_0/weight",
        "decoder/layer_0/attention/layer_norm/beta",
        "decoder/layer_norm/gamma",
    };
    struct folder f;

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(names); i++) {
        put_plain_model(&f, names[i]);
        CHECK(*refusal(&f, NULL));
    }
    put_plain_model(&f, names[0]);
    REFUSED(&f, "/model.bin: tensor \"encoder/layer_0/self_attention/linear_0/"
            "weight\" is missing");
    put_plain_model(&f, "/bias");               /* those are optional */
    plan_end(sound_plan(&f, NULL));
    scratch_remove(&f.at);
}

TEST(refuses_settings_that_do_not_fit)
{
    static const struct { const char *config, *why; } cases[] = {
        { "{\"decoder_start_token\": null}", "/config.json: the model has no "
          "start token of its own (\"decoder_start_token\" is null): the "
          "program that calls CTranslate2 chooses it, and the files do not say "
          "which one it is. Convert the original model instead" },
        { "{\"decoder_start_token\": \"<z>\"}", "the vocabulary does not have "
          "the start token \"<z>\"" },
        { "{\"eos_token\": \"<z>\"}", "the vocabulary does not have the end "
          "token \"<z>\"" },
        { "{\"quantization_type\": 1}", "/config.json: \"quantization_type\" "
          "is set; a model with it cannot be converted" },
        { "{", "/config.json:1: string or '}' expected near end of file" },
    };
    struct folder f;

    folder_make(&f, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_text(&f, "", "config.json", cases[i].config);
        REFUSED(&f, cases[i].why);
    }
    remove(scratch_path(&f.at, "config.json"));
    REFUSED(&f, ": there is no config.json, which a model of version 6 needs");
    put_text(&f, "", "config.json", config);
    remove(scratch_path(&f.at, "shared_vocabulary.txt"));
    REFUSED(&f, ": there is no vocabulary: neither shared_vocabulary.json (or "
            ".txt), nor source_vocabulary and target_vocabulary");
    scratch_remove(&f.at);
}

/* ---- Argos ---- */

static const char metadata[] =
    "{\"package_version\": \"1.9\", \"from_code\": \"de\", \"from_name\": "
    "\"German\", \"to_code\": \"en\", \"to_name\": \"English\"%s}";

static void put_metadata(const struct folder *f, const char *more)
{
    char text[400];

    snprintf(text, sizeof text, metadata, more);
    put_text(f, "", "metadata.json", text);
}

TEST(plans_an_argos_package)
{
    struct folder f;
    struct model_plan *p;

    folder_make(&f, "model/");
    put_metadata(&f, ", \"license\": \"CC0\"");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_STR(p->cfg.family, "argos");
    CHECK_STR(p->cfg.source_lang, "de");
    CHECK_STR(p->cfg.target_lang, "en");
    CHECK_STR(p->cfg.name, "German-English");
    CHECK_STR(p->cfg.origin, "Argos translate-de_en 1.9");
    CHECK_STR(p->cfg.license, "CC0");
    CHECK_INT(p->cfg.beam, 4);
    CHECK_NEAR(p->cfg.length_penalty, 0.2, 0);
    CHECK_INT(p->cfg.target_prefix_id, -1);
    plan_end(p);
    put_metadata(&f, ", \"target_prefix\": \"de\"");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.target_prefix_id, 9);
    CHECK_INT(p->barred[9], 1);
    plan_end(p);
    scratch_remove(&f.at);
}

TEST(an_argos_package_may_have_merges_of_bpe)
{
    struct folder f;
    struct model_plan *p;

    folder_make(&f, "model/");
    put_metadata(&f, "");
    remove(scratch_path(&f.at, "sentencepiece.model"));
    put_text(&f, "model/", "shared_vocabulary.txt",
             "<unk>\n<blank>\n<s>\n</s>\na@@\nb\nc\nd@@\ne\nde\n");
    put_text(&f, "", "bpe.model", "#version: 0.2\nd e</w>\n");
    p = sound_plan(&f, NULL);
    REQUIRE(p != NULL);
    CHECK_INT(p->cfg.vocab_size, CT2_V);
    CHECK(!p->source_row && p->target_tokenizer.len);
    CHECK_MEM(p->barred, "\1\1\1\0\0\0\0\0\0\0", CT2_V);
    plan_end(p);
    put_text(&f, "", "bpe.model", "#version: 0.2\nd\n");
    CHECK(strstr(refusal(&f, NULL), "bpe.model:2: ") != NULL);
    scratch_remove(&f.at);
}

TEST(refuses_other_argos_packages)
{
    struct folder f;

    folder_make(&f, "model/");
    put_metadata(&f, ", \"type\": \"sbd\"");
    REFUSED(&f, ": metadata.json: the package is for \"sbd\", not for "
            "translation");
    put_metadata(&f, ", \"target_prefix\": \"__fr__\"");
    REFUSED(&f, "the vocabulary does not have the first token of translations "
            "\"__fr__\"");
    put_text(&f, "", "metadata.json", "{\"from_code\": \"d e\"}");
    REFUSED(&f, "source-lang: \"d e\" is not a language code");
    put_text(&f, "", "metadata.json", "[]");
    REFUSED(&f, "/metadata.json: not a JSON object");
    scratch_remove(&f.at);
}
