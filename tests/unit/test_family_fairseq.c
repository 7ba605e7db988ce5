/* test_family_fairseq.c - plans and converts made-up checkpoints of fairseq,
 * and refuses others. tools/check_foreign.py compares what such models compute.
 */
#include "test.h"

#include "convert/family.h"
#include "convert/tensor_step.h"
#include "made_fairseq.h"
#include "scratch_dir.h"
#include "text/subword.h"

/* ---- a model ---- */

static const struct made_fairseq usual = {
    .d = 8, .ffn = 16, .dec_ffn = 4, .enc = 1, .dec = 2, .v_src = 9,
    .v_tgt = 7,
};
static const char settings[] = "argparse.Namespace{'arch': 'transformer',"
    " 'encoder_attention_heads': 2, 'decoder_attention_heads': 2,"
    " 'encoder_layers': 1, 'decoder_layers': 2,"
    " 'source_lang': 'de', 'target_lang': 'en'";
static const char dict_de[] = "ab 9\na@@ 8\nb 7\n&quot; 2\nmadeupword0000 0\n";
static const char dict_en[] = "b 3\nmadeupword0000 0\nab 1\n";

/* What is wrong with the weights that are written. */
struct flaw {
    const char *without;        /* a tensor that is left out */
    const char *longer;         /* a tensor with another row or element */
    const char *extra;          /* one more tensor */
};

struct tensor_writer {
    struct made_checkpoint c;
    const struct flaw *flaw;
};

static bool is_named(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

/* A value depends on the tensor and its place only. */
static float made_value(const char *name, int i)
{
    uint32_t h = 1;

    for (; *name; name++) h = h * 31 + (unsigned char)*name;
    h = (h + (uint32_t)i * 7919) * 2654435761u;
    return (float)(h >> 8) / (1 << 24) - 0.5f;
}

static void write_tensor(void *user, const char *name, int rows, int cols)
{
    struct tensor_writer *w = user;
    float *v;
    int n;

    if (is_named(w->flaw->without, name)) return;
    if (is_named(w->flaw->longer, name)) rows ? rows++ : cols++;
    n = (rows ? rows : 1) * cols;
    v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < n; i++) v[i] = made_value(name, i);
    /* The version of the code. */
    if (n == 1) v[0] = 3;
    made_checkpoint_add(&w->c, name, rows, cols, v);
    free(v);
}

/* Write model.pt; `more` are settings, as in Python, and a comma before. */
static bool write_checkpoint(const struct scratch *s,
                             const struct made_fairseq *m,
                             const struct flaw *flaw, const char *more)
{
    static const struct flaw none;
    struct tensor_writer w = { .flaw = flaw ? flaw : &none };
    FILE *f = fopen(scratch_path(s, "model.pt"), "wb");
    struct strbuf args, notation, out;
    const char *at;

    if (!CHECK(f != NULL)) return false;
    strbuf_init(&args, 0);
    strbuf_init(&notation, 0);
    strbuf_init(&out, 0);
    strbuf_addf(&notation, "%s%s}", settings, more ? more : "");
    at = notation.data;
    put_value(&args, &at);
    made_checkpoint_init(&w.c, 8000);
    made_fairseq_each(m, write_tensor, &w);
    if (w.flaw->extra) write_tensor(&w, w.flaw->extra, 2, 2);
    made_checkpoint_end(&w.c, &out, args.data, args.len);
    fwrite(out.data, 1, out.len, f);
    strbuf_release(&args);
    strbuf_release(&notation);
    strbuf_release(&out);
    return CHECK(!fclose(f));
}

static bool write_folder(struct scratch *s, const struct made_fairseq *m,
                         const struct flaw *flaw, const char *more)
{
    return scratch_make_small(s) && write_checkpoint(s, m, flaw, more) &&
           scratch_write(s, "dict.de.txt", dict_de) &&
           scratch_write(s, "dict.en.txt", dict_en) &&
           scratch_write(s, "bpecodes", "a b</w> 9\n");
}

/* NULL, and *e, if the model is refused. */
static struct model_plan *try_folder(const struct scratch *s,
                                     const struct family_options *o,
                                     struct err *e)
{
    static const struct family_options none;
    struct model_plan *p = NULL;
    struct file_set *set;

    *e = (struct err){ 0 };
    if (!CHECK_OK(file_set_open(&set, s->dir, e), e)) return NULL;
    model_plan_make(&p, set, o ? o : &none, e);
    file_set_close(set);
    return p;
}

static struct model_plan *plan_folder(const struct scratch *s,
                                      const struct family_options *o)
{
    struct err e;
    struct model_plan *p = try_folder(s, o, &e);

    if (!p) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return p;
}

/* ---- plans ---- */

static void check_config(const struct config *c)
{
    CHECK_STR(c->family, "fairseq");
    CHECK_STR(c->source_lang, "de");
    CHECK_STR(c->target_lang, "en");
    CHECK_INT(c->vocab_size, 9);
    CHECK_INT(c->d_model, 8);
    CHECK_INT(c->heads, 2);
    CHECK_INT(c->ffn, 16);
    CHECK_INT(c->ffn_decoder, 4);
    CHECK_INT(c->encoder_layers, 1);
    CHECK_INT(c->decoder_layers, 2);
    CHECK_INT(c->norm, NORM_POST);
    CHECK_INT(c->final_norm, 0);
    CHECK_INT(c->activation, ACT_RELU);
    CHECK_INT(c->positions, POS_HALVES);
    CHECK_INT(c->position_offset, 2);
    CHECK_INT(c->max_positions, 1026);
    CHECK_NEAR(c->layer_norm_eps, 1e-5, 1e-12);
    CHECK_NEAR(c->embedding_scale, sqrt(8), 1e-9);
    CHECK_INT(c->bos_id, 0);
    CHECK_INT(c->pad_id, 1);
    CHECK_INT(c->eos_id, 2);
    CHECK_INT(c->start_id, 2);
    CHECK_INT(c->suffix_id, 2);
    CHECK_INT(c->unk_id, 3);
    CHECK_INT(c->beam, 5);
    CHECK_NEAR(c->length_penalty, 1, 0);
}

TEST(plan_of_a_checkpoint_with_two_dictionaries)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_folder(&s, &usual, NULL, NULL));
    p = plan_folder(&s, NULL);
    if (p) {
        check_config(&p->cfg);
        CHECK(!p->shared_table && !p->tied && !p->output_bias);
        /* <s>, <pad>, <unk>, the filler, and rows that the target lacks */
        CHECK_MEM(p->barred, "\1\1\0\1\0\1\0\1\1", 9);
        CHECK_INT(p->source_row[8], 8);
        CHECK_INT(p->target_row[6], 6);
        CHECK_INT(p->target_row[7], -1);
        CHECK(p->target_tokenizer.len > 0);
    }
    model_plan_free(p);
    scratch_remove(&s);
}

/* Texts as ids. */
static void check_ids(const struct model_plan *p, const char *text,
                      const int32_t *want, int n)
{
    struct pieces ids = { 0 };
    struct subword *sw;
    struct err e;

    if (!CHECK_OK(subword_open(&sw, p->source_tokenizer.data,
                               p->source_tokenizer.len, &e), &e))
        return;
    if (CHECK_OK(subword_encode(sw, text, strlen(text), &ids, &e), &e)) {
        CHECK_INT(ids.n, n);
        for (int i = 0; i < n && i < (int)ids.n; i++)
            CHECK_INT(ids.at[i].id, want[i]);
    }
    pieces_release(&ids);
    subword_close(sw);
}

TEST(texts_of_a_checkpoint)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_folder(&s, &usual, NULL, NULL));
    p = plan_folder(&s, NULL);
    if (p) check_ids(p, "ab,b", (int32_t[]){ 4, 3, 6 }, 3);
    model_plan_free(p);

    /* Words are split at blanks only. */
    REQUIRE(write_checkpoint(&s, &usual, NULL, ", 'tokenizer': 'space'"));
    p = plan_folder(&s, NULL);
    if (p) check_ids(p, "ab,b", (int32_t[]){ 5, 3, 3, 6 }, 4);
    model_plan_free(p);
    scratch_remove(&s);
}

/* A dictionary that has a piece twice: the last one counts. */
TEST(dictionaries_with_a_piece_twice)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_folder(&s, &usual, NULL, NULL));
    scratch_write(&s, "dict.de.txt", "ab 9\na@@ 8\nb 7\n"
                  "ab 5 #fairseq:overwrite\n<unk> 1 #fairseq:overwrite\n");
    p = plan_folder(&s, NULL);
    if (p) {
        check_ids(p, "ab,b", (int32_t[]){ 7, 3, 6 }, 3);
        CHECK_INT(p->cfg.unk_id, 3);
    }
    model_plan_free(p);
    scratch_remove(&s);
}

/* Each language may have codes of its own. */
TEST(codes_of_each_language)
{
    struct model_plan *p;
    struct scratch s;

    REQUIRE(write_folder(&s, &usual, NULL, NULL));
    remove(scratch_path(&s, "bpecodes"));
    scratch_write(&s, "code.de", "a b</w> 9\n");
    scratch_write(&s, "code.en", "#version: 0.2\nb a</w>\n");
    p = plan_folder(&s, NULL);
    if (p) check_ids(p, "ab b", (int32_t[]){ 4, 6 }, 2);
    model_plan_free(p);
    scratch_write(&s, "code.de", "#version: 0.2\nb a</w>\n");
    scratch_write(&s, "code.en", "a b</w> 9\n");
    p = plan_folder(&s, NULL);
    if (p) check_ids(p, "ab b", (int32_t[]){ 5, 6, 6 }, 3);
    model_plan_free(p);
    scratch_remove(&s);
}

TEST(plan_with_norms_before_and_learned_positions)
{
    struct made_fairseq m = usual;
    struct model_plan *p;
    struct scratch s;

    m.pre = true;
    m.positions = 20;
    REQUIRE(write_folder(&s, &m, NULL, ", 'encoder_normalize_before': True,"
                         " 'decoder_normalize_before': True,"
                         " 'encoder_learned_pos': True,"
                         " 'decoder_learned_pos': True,"
                         " 'no_scale_embedding': True, 'beam': 7,"
                         " 'lenpen': 0.6, 'max_source_positions': 10"));
    p = plan_folder(&s, NULL);
    if (p) {
        CHECK_INT(p->cfg.norm, NORM_PRE);
        CHECK_INT(p->cfg.final_norm, 1);
        CHECK_INT(p->cfg.positions, POS_LEARNED);
        CHECK_INT(p->cfg.max_positions, 20);
        CHECK_INT(p->cfg.max_source, 10);
        CHECK_NEAR(p->cfg.embedding_scale, 1, 0);
        CHECK_INT(p->cfg.beam, 7);
        CHECK_NEAR(p->cfg.length_penalty, 0.6, 1e-12);
    }
    model_plan_free(p);
    scratch_remove(&s);
}

/* ---- names ---- */

/* Rows `first` and on of a tensor of the file are what a step has from row
 * `row` on. */
static void check_rows(const struct step_list *l, const char *step, int row,
                       const char *tensor, int first, int n)
{
    float got[64 * 8];
    struct err e;

    for (size_t i = 0; i < l->n; i++) {
        const struct tensor_step *s = &l->at[i];

        if (strcmp(s->name, step)) continue;
        REQUIRE_OK(tensor_step_read(s, row, n, got, &e), &e);
        for (int k = 0; k < n * s->cols; k++)
            CHECK_NEAR(got[k], made_value(tensor, first * s->cols + k), 0);
        return;
    }
    test_fail(__FILE__, __LINE__, "no tensor %s", step);
}

static void check_names(const struct made_fairseq *m, const char *q,
                        const char *bias, const char *norm)
{
    struct step_list l = { 0 };
    struct model_plan *p;
    struct scratch s;
    struct err e;
    int d = m->d, first = m->old ? d : 0;

    REQUIRE(write_folder(&s, m, NULL, NULL));
    p = plan_folder(&s, NULL);
    if (p && CHECK_OK(step_list_make(&l, p, &e), &e)) {
        check_rows(&l, "dec.1.self.qkv.w", d, q, first, d);
        check_rows(&l, "dec.0.cross.kv.b", 0, bias, first, d);
        check_rows(&l, "enc.0.ffn.norm.g", 0, norm, 0, d);
        check_rows(&l, "project.w", 0,
                   m->old ? "decoder.embed_out"
                          : "decoder.output_projection.weight", 0, 4);
    }
    step_list_release(&l);
    model_plan_free(p);
    scratch_remove(&s);
}

TEST(names_of_two_versions)
{
    struct made_fairseq m = usual;

    check_names(&m, "decoder.layers.1.self_attn.k_proj.weight",
                "decoder.layers.0.encoder_attn.k_proj.bias",
                "encoder.layers.0.final_layer_norm.weight");
    m.old = true;
    check_names(&m, "decoder.layers.1.self_attn.in_proj_weight",
                "decoder.layers.0.encoder_attn.in_proj_bias",
                "encoder.layers.0.layer_norms.1.weight");
}

/* ---- refusals ---- */

static void refuse(const struct made_fairseq *m, const struct flaw *flaw,
                   const char *more, const char *why)
{
    struct model_plan *p;
    struct scratch s;
    struct err e;

    REQUIRE(write_folder(&s, m, flaw, more));
    p = try_folder(&s, NULL, &e);
    CHECK(!p);
    if (!strstr(e.msg, why))
        test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", e.msg,
                  why);
    model_plan_free(p);
    scratch_remove(&s);
}

/* Without any one tensor, or with a longer one, there is no model. */
struct each_flaw { const struct made_fairseq *m; int n; };

static void refuse_without(void *user, const char *name, int rows, int cols)
{
    struct each_flaw *x = user;
    struct flaw without = { .without = name }, longer = { .longer = name };

    /* Buffers have one element. */
    if (!rows && cols == 1) return;
    refuse(x->m, &without, NULL, name);
    x->n++;
    /* A longer table of fc1 is another width, whose other tensors differ. */
    if (!strstr(name, "layers.0.fc1.weight"))
        refuse(x->m, &longer, NULL, name);
}

TEST(each_tensor_is_needed)
{
    struct made_fairseq m = usual;
    struct each_flaw x = { &m, 0 };

    made_fairseq_each(&m, refuse_without, &x);
    CHECK_INT(x.n, 2 + 16 + 2 * 26 + 1);
    refuse(&m, &(struct flaw){ .extra = "encoder.layers.1.fc1.weight" }, NULL,
           "encoder.layers.1.");
    refuse(&m, &(struct flaw){ .extra = "ctc.weight" }, NULL,
           "tensor \"ctc.weight\" is not part of the model");
}

TEST(settings_that_are_refused)
{
    refuse(&usual, NULL, ", 'layernorm_embedding': True",
           "\"layernorm_embedding\" is set");
    refuse(&usual, NULL, ", 'share_decoder_input_output_embed': True",
           "should be the same table");
    refuse(&usual, NULL, ", 'share_all_embeddings': True",
           "should be the same table");
    refuse(&usual, NULL, ", 'bpe': 'sentencepiece'", "there is no tokenizer");
    refuse(&usual, NULL, ", 'encoder_normalize_before': True,"
           " 'decoder_normalize_before': True",
           "tensor \"encoder.layer_norm.weight\" is missing");
}
