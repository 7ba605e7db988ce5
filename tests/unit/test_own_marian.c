/* test_own_marian.c - writes the model of the full golden sets as Marian would,
 * converts it back, and compares its outputs with the references.
 *
 * Marian's form cannot say two things of it: that the epsilon of the norms is
 * 1e-5 (1e-6 in Marian), and that decoding begins with <s> (with zeros in
 * Marian). Both are put into the plan before it is written. Everything else
 * goes through the form: names, transposed matrices, settings, the vocabulary,
 * the tokenizers, and the tables, which get a row of zeros. */
#include "convert/family.h"
#include "made_marian.h"
#include "own_form.h"
#include "read_tensors.h"

static const struct made_marian own = {
    .d = 512, .heads = 8, .ffn = 2048, .dec_ffn = 2048, .enc = 6, .dec = 6,
    .v_src = 16000, .v_tgt = 16000, .one_table = true, .tied = true,
    .pre = true,
};

struct own_writer {
    struct tensor_file *from;
    struct made_zip zip;
    FILE *out;
};

/* ---- the weights ---- */

/* The ends of Marian's names, and ours. */
static const struct { const char *marian, *own; } ends[] = {
    { "self_Wq", "att.q.weight" }, { "self_bq", "att.q.bias" },
    { "self_Wk", "att.k.weight" }, { "self_bk", "att.k.bias" },
    { "self_Wv", "att.v.weight" }, { "self_bv", "att.v.bias" },
    { "self_Wo", "att.o.weight" }, { "self_bo", "att.o.bias" },
    { "context_Wq", "xatt.q.weight" }, { "context_bq", "xatt.q.bias" },
    { "context_Wk", "xatt.k.weight" }, { "context_bk", "xatt.k.bias" },
    { "context_Wv", "xatt.v.weight" }, { "context_bv", "xatt.v.bias" },
    { "context_Wo", "xatt.o.weight" }, { "context_bo", "xatt.o.bias" },
    { "ffn_W1", "f1.weight" }, { "ffn_b1", "f1.bias" },
    { "ffn_W2", "f2.weight" }, { "ffn_b2", "f2.bias" },
    { "self_Wo_ln_scale_pre", "ln1.weight" },
    { "self_Wo_ln_bias_pre", "ln1.bias" },
    { "context_Wo_ln_scale_pre", "ln2.weight" },
    { "context_Wo_ln_bias_pre", "ln2.bias" },
    { "ffn_ffn_ln_scale_pre", "ln3.weight" },
    { "ffn_ffn_ln_bias_pre", "ln3.bias" },
};

/* Write our name for one of Marian's. */
static void own_name_of(const char *marian, char *out, size_t size)
{
    char side[8], rest[60];
    int layer;

    if (!strcmp(marian, "Wemb")) {
        snprintf(out, size, "emb.weight");
    } else if (sscanf(marian, "%7[a-z]_l%d_%59s", side, &layer, rest) == 3) {
        for (size_t i = 0; i < COUNT(ends); i++)
            if (!strcmp(ends[i].marian, rest))
                snprintf(out, size, "%.3s.%d.%s", side, layer - 1, ends[i].own);
    } else {
        snprintf(out, size, "%cln.%s", marian[0],
                 strstr(marian, "scale") ? "weight" : "bias");
    }
}

/* [rows, cols] of *v becomes [cols, rows]. */
static void transpose(float **v, int rows, int cols)
{
    float *t = malloc((size_t)rows * (size_t)cols * sizeof *t);

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            t[(size_t)c * (size_t)rows + (size_t)r] =
                (*v)[(size_t)r * (size_t)cols + (size_t)c];
    free(*v);
    *v = t;
}

static void write_own_tensor(void *user, const char *name, int rows, int cols)
{
    struct own_writer *w = user;
    struct file_tensor *t;
    char ours[80] = "";
    float *v;
    int n;

    own_name_of(name, ours, sizeof ours);
    t = tensor_file_find(w->from, ours);
    if (!t) {
        test_fail(__FILE__, __LINE__, "no tensor %s for %s", ours, name);
        return;
    }
    v = tensors_values(w->from, t, &n);
    CHECK_INT(n, rows * cols);
    if (rows > 1 && strcmp(name, "Wemb")) transpose(&v, cols, rows);
    made_npz_add(&w->zip, name, "<f4", rows, cols, v, (size_t)n * sizeof *v);
    made_zip_flush(&w->zip, w->out);
    free(v);
}

static bool write_own_weights(const struct scratch *s)
{
    struct own_writer w = { .out = fopen(scratch_path(s, "own.npz"), "wb") };
    struct err e;

    if (!CHECK(w.out != NULL) ||
        !CHECK_OK(tensors_open(&w.from, test_shared("model/model.safetensors"),
                               &e), &e))
        return false;
    made_zip_init(&w.zip);
    made_marian_each(&own, write_own_tensor, &w);
    made_marian_settings(&own, &w.zip);
    made_zip_end(&w.zip);
    made_zip_flush(&w.zip, w.out);
    made_zip_release(&w.zip);
    tensor_file_close(w.from);
    return CHECK(!fclose(w.out));
}

/* ---- the other files ---- */

static bool write_own_text(const struct scratch *s)
{
    return own_form_text(s, "own.vocab.yml") &&
           scratch_write(s, "decoder.yml", "models: [own.npz]\n"
                         "vocabs: [own.vocab.yml, own.vocab.yml]\n"
                         "allow-unk: true\nallow-special: true\n");
}

/* Convert with the two settings that Marian does not have. */
static void compare_own_marian(const struct scratch *s)
{
    static const struct family_options none;
    struct model_plan *p = NULL;
    struct file_set *set;
    struct err e;

    if (!CHECK_OK(file_set_open(&set, s->dir, &e), &e)) return;
    if (CHECK_OK(model_plan_make(&p, set, &none, &e), &e)) {
        CHECK_STR(p->family, "OPUS-MT (Marian)");
        CHECK_INT(p->cfg.vocab_size, 16001);
        CHECK_INT(p->cfg.eos_id, 3);
        CHECK_INT(p->cfg.unk_id, 1);
        p->cfg.layer_norm_eps = 1e-5;
        p->cfg.start_id = 2;
        own_form_compare(s, p, "written as Marian");
    }
    model_plan_free(p);
    file_set_close(set);
}

TEST(our_model_in_the_form_of_marian)
{
    struct scratch s;

    if (!own_form_possible()) SKIP("needs the full golden set");
    REQUIRE(scratch_make(&s));
    if (write_own_weights(&s) && write_own_text(&s)) compare_own_marian(&s);
    scratch_remove(&s);
}
