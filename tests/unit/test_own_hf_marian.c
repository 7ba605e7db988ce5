/* test_own_hf_marian.c - writes the model of the full golden sets as Hugging
 * Face stores Marian models, converts it back, and compares its outputs with
 * the references.
 *
 * Models of this family have their norms after the blocks, and ours has them
 * before: that, and the positions, which are Marian's, are put into the plan.
 * The family always bars <unk>; the plan allows it again. Everything else goes
 * through the form: names, the tied table, the bias, settings, the vocabulary
 * and the tokenizers.
 *
 * The weights are the bytes of the original. Only the header is
 * written anew: each tensor gets its name of Hugging Face, and a bias of
 * zeros is added at the end. */
#include <inttypes.h>

#include "convert/family.h"
#include "own_form.h"

enum { V = 16000 };

static const struct { const char *own, *hf; } parts[] = {
    { "att.q", "self_attn.q_proj" }, { "att.k", "self_attn.k_proj" },
    { "att.v", "self_attn.v_proj" }, { "att.o", "self_attn.out_proj" },
    { "xatt.q", "encoder_attn.q_proj" }, { "xatt.k", "encoder_attn.k_proj" },
    { "xatt.v", "encoder_attn.v_proj" },
    { "xatt.o", "encoder_attn.out_proj" },
    { "f1", "fc1" }, { "f2", "fc2" }, { "ln1", "self_attn_layer_norm" },
    { "ln2", "encoder_attn_layer_norm" }, { "ln3", "final_layer_norm" },
};

/* Write the name of Hugging Face for one of ours: "enc.0.att.q.weight". */
static void hf_name_of(const char *own, char *out, size_t size)
{
    char side[4], part[20], kind[8];
    int layer;

    out[0] = 0;
    if (!strcmp(own, "emb.weight")) {
        snprintf(out, size, "model.shared.weight");
    } else if (sscanf(own, "%c%2[ln].%7s", side, part, kind) == 3 &&
               !strcmp(part, "ln")) {
        snprintf(out, size, "model.%s.layer_norm.%s",
                 *side == 'e' ? "encoder" : "decoder", kind);
    } else if (sscanf(own, "%3[a-z].%d.%19s", side, &layer, part) == 3) {
        char *dot = strrchr(part, '.');

        if (!dot) return;
        *dot = 0;
        for (size_t i = 0; i < COUNT(parts); i++)
            if (!strcmp(parts[i].own, part))
                snprintf(out, size, "model.%soder.layers.%d.%s.%s", side,
                         layer, parts[i].hf, dot + 1);
    }
}

/* ---- the weights ---- */

/* The header with other names, and the bias after all other tensors. */
static json_t *renamed_header(json_t *header, int64_t size)
{
    json_t *out = json_object(), *value;
    const char *name;

    json_object_foreach(header, name, value) {
        char hf[100];

        if (!strcmp(name, "__metadata__")) continue;
        hf_name_of(name, hf, sizeof hf);
        if (!*hf) test_fail(__FILE__, __LINE__, "no name for %s", name);
        json_object_set(out, hf, value);
    }
    json_object_set_new(out, "final_logits_bias", json_pack(
        "{s:s, s:[i,i], s:[I,I]}", "dtype", "F16", "shape", 1, V,
        "data_offsets", (json_int_t)size, (json_int_t)size + 2 * V));
    return out;
}

static bool write_renamed(const struct scratch *s, const char *data,
                          size_t size)
{
    static const char zeros[2 * V];
    FILE *f = fopen(scratch_path(s, "model.safetensors"), "wb");
    json_t *header, *renamed;
    uint64_t n;
    char *text;
    bool ok;

    memcpy(&n, data, sizeof n);
    header = json_loadb(data + 8, n, 0, NULL);
    if (!CHECK(f && header)) return false;
    data += 8 + n, size -= 8 + n;
    renamed = renamed_header(header, (int64_t)size);
    text = json_dumps(renamed, JSON_COMPACT);
    n = strlen(text);
    ok = CHECK(fwrite(&n, sizeof n, 1, f) == 1 && fwrite(text, n, 1, f) == 1 &&
               fwrite(data, size, 1, f) == 1 &&
               fwrite(zeros, sizeof zeros, 1, f) == 1);
    json_decref(header);
    json_decref(renamed);
    free(text);
    return CHECK(!fclose(f)) && ok;
}

static bool write_hf_weights(const struct scratch *s)
{
    char *data;
    size_t size;
    struct err e;
    bool ok;

    if (!CHECK_OK(file_read(&data, &size, test_shared(
            "model/model.safetensors"), (size_t)1 << 30, &e), &e))
        return false;
    ok = write_renamed(s, data, size);
    free(data);
    return ok;
}

/* ---- the other files ---- */

static bool write_hf_settings(const struct scratch *s)
{
    return scratch_write(s, "config.json",
        "{\"model_type\": \"marian\", \"activation_function\": \"relu\","
        " \"d_model\": 512, \"encoder_layers\": 6, \"decoder_layers\": 6,"
        " \"encoder_ffn_dim\": 2048, \"decoder_ffn_dim\": 2048,"
        " \"encoder_attention_heads\": 8, \"decoder_attention_heads\": 8,"
        " \"scale_embedding\": true, \"max_position_embeddings\": 1024,"
        " \"vocab_size\": 16000, \"eos_token_id\": 3, \"pad_token_id\": 0,"
        " \"decoder_start_token_id\": 2}") &&
        scratch_write(s, "tokenizer_config.json",
        "{\"source_lang\": \"de\", \"target_lang\": \"en\"}");
}

static void compare_own_hf_marian(const struct scratch *s)
{
    static const struct family_options none;
    struct model_plan *p = model_plan_new();
    struct file_set *set;
    struct err e;

    if (CHECK_OK(file_set_open(&set, s->dir, &e), &e) &&
        CHECK(family_hf_marian.recognize(set)) &&
        CHECK_OK(family_hf_marian.plan(p, set, &none, &e), &e)) {
        CHECK(p->output_bias && p->tied && p->shared_table);
        CHECK_INT(p->cfg.vocab_size, V);
        CHECK_INT(p->cfg.suffix_id, 3);
        CHECK_STR(p->cfg.source_lang, "de");
        CHECK_INT(p->cfg.positions, POS_HALVES_HF);
        p->cfg.positions = POS_HALVES;
        p->cfg.norm = NORM_PRE;
        p->cfg.final_norm = 1;
        CHECK(p->barred && p->barred[0] && p->barred[1]);
        p->barred[1] = 0;
        own_form_compare(s, p, "written as Marian of Hugging Face");
    }
    file_set_close(set);
    model_plan_free(p);
}

TEST(our_model_in_the_form_of_marian_on_hugging_face)
{
    struct scratch s;

    if (!own_form_possible()) SKIP("needs the full golden set");
    REQUIRE(scratch_make(&s));
    if (write_hf_weights(&s) && write_hf_settings(&s) &&
        own_form_text(&s, "vocab.json"))
        compare_own_hf_marian(&s);
    scratch_remove(&s);
}
