/* family_m2m.c - M2M-100, NLLB-200 and SMaLL-100 as Hugging Face stores them:
 * config.json, weights, sentencepiece.bpe.model and, except for NLLB-200,
 * vocab.json.
 *
 * Norms are before the blocks, positions start at 2. M2M-100 and NLLB-200 read
 * the token of the source language before the source and write that of the
 * target language first. SMaLL-100 reads the target language before the source.
 * Which of them a folder has is in tokenizer_config.json; without it, a folder
 * without vocab.json is NLLB-200. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/hf_config.h"
#include "convert/hf_files.h"
#include "convert/hf_names.h"
#include "convert/m2m_vocabulary.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary_spm.h"

#define MAX_IDS 4000000
#define MAX_PAD 1000            /* the first position is that of pad plus 1 */

enum m2m_kind { KIND_M2M, KIND_NLLB, KIND_SMALL };

static const enum language_marks kind_marks[] = {
    [KIND_M2M] = LANGUAGE_MARKS_M2M, [KIND_NLLB] = LANGUAGE_MARKS_NLLB,
    [KIND_SMALL] = LANGUAGE_MARKS_M2M,
};

/* ---- recognizing ---- */

static bool class_begins(struct json_config *j, const char *begin)
{
    const char *class = json_config_string(j, "tokenizer_class", "");

    return !strncmp(class, begin, strlen(begin));
}

static bool kind_is(struct file_set *s, enum m2m_kind kind)
{
    bool nllb = !file_set_has(s, "vocab.json", NULL), small = false;
    struct json_config *j;

    if (!family_model_type_is(s, "m2m_100")) return false;
    if (!hf_config_open_tokenizer(&j, s, NULL) && j) {
        nllb = class_begins(j, "Nllb") || (nllb && !class_begins(j, "M2M"));
        small = class_begins(j, "SMALL100");
        json_config_close(j);
    }
    return kind == (small ? KIND_SMALL : nllb ? KIND_NLLB : KIND_M2M);
}

static bool m2m_recognize(struct file_set *s) { return kind_is(s, KIND_M2M); }
static bool nllb_recognize(struct file_set *s)
{
    return kind_is(s, KIND_NLLB);
}
static bool small100_recognize(struct file_set *s)
{
    return kind_is(s, KIND_SMALL);
}

/* ---- where the tensors are ---- */

static void m2m_place(const struct model_plan *p, const struct tensor_query *q,
                      struct tensor_place *out)
{
    hf_names_place(p->own, q, out);
}

static const struct model_plan_ops m2m_ops = {
    .place = m2m_place, .free_own = free,
};

static enum status open_m2m_weights(struct model_plan *p, struct file_set *s,
                                    struct json_config *j, struct err *e)
{
    struct hf_rules rules = {
        .sides = HF_TIE_YES,
        .output = json_config_bool(j, "tie_word_embeddings", true)
                      ? HF_TIE_YES : HF_TIE_NO,
    };
    struct hf_names *names = p->own = calloc(1, sizeof *names);
    enum status st = json_config_check(j, e);
    bool learned = false;

    if (!names) return err_nomem(e, "weights");
    p->ops = &m2m_ops;
    if (!st) st = hf_files_open(&p->tensors, s, HF_SAFETENSORS, e);
    if (!st) st = hf_names_init(names, p, &rules, e);
    if (!st) st = hf_names_positions(&learned, names, p, POS_HALVES, e);
    if (!st && learned)
        st = err_set(e, ST_FORMAT, "%s: the stored table of positions is not "
                     "that of such a model", checkpoint_name(p->tensors));
    return st;
}

/* ---- settings ---- */

static enum status read_m2m_config(struct model_plan *p, struct json_config *j,
                                   struct err *e)
{
    struct config *c = &p->cfg;
    enum status st = hf_config_network(c, j, &(struct hf_defaults){
        .activation = ACT_RELU, .scale_embedding = true }, e);

    c->norm = NORM_PRE;
    c->final_norm = 1;
    c->positions = POS_HALVES;
    c->vocab_size = json_config_int(j, "vocab_size", 128112, 4, MAX_IDS);
    c->bos_id = json_config_int(j, "bos_token_id", 0, 0, c->vocab_size - 1);
    c->pad_id = json_config_int(j, "pad_token_id", 1, 0,
                                c->vocab_size < MAX_PAD ? c->vocab_size - 1
                                                        : MAX_PAD);
    c->eos_id = json_config_int(j, "eos_token_id", 2, 0, c->vocab_size - 1);
    c->start_id = json_config_int(j, "decoder_start_token_id", 2, 0,
                                  c->vocab_size - 1);
    c->suffix_id = c->eos_id;
    c->position_offset = c->pad_id + 1;
    c->max_positions += c->position_offset;
    return st ? st : json_config_check(j, e);
}

/* The order of the languages, of which there are two for M2M-100. */
static enum status find_language_list(enum language_list *out,
                                      enum m2m_kind kind,
                                      struct json_config *tokenizer,
                                      struct err *e)
{
    static const char *const words[] = { "m2m100", "wmt21", NULL };

    *out = kind == KIND_NLLB ? LANGUAGES_NLLB : LANGUAGES_M2M;
    if (!tokenizer) return ST_OK;
    if (kind == KIND_NLLB)
        json_config_must_be(tokenizer, "legacy_behaviour", false);
    else if (json_config_word(tokenizer, "language_codes", words, 0) == 1)
        *out = LANGUAGES_WMT21;
    return json_config_check(tokenizer, e);
}

/* ---- texts ---- */

static bool m2m_control(void *user, const char *piece)
{
    const enum m2m_kind *kind = user;
    char code[16];

    return !strcmp(piece, "<s>") || !strcmp(piece, "<pad>") ||
           !strcmp(piece, "</s>") || !strcmp(piece, "<mask>") ||
           vocabulary_piece_unused(piece) ||
           plan_language_code(kind_marks[*kind], piece, code, sizeof code);
}

static void bar_controls(struct model_plan *p, const struct vocabulary *v,
                         enum m2m_kind *kind)
{
    for (int32_t id = 0; id < vocabulary_size(v); id++)
        if (id != p->cfg.eos_id && m2m_control(kind, vocabulary_piece(v, id)))
            plan_bar(p, id);
    plan_bar(p, p->cfg.unk_id);
    plan_bar(p, p->cfg.bos_id);
    plan_bar(p, p->cfg.pad_id);
}

static enum status plan_m2m_texts(struct model_plan *p, struct file_set *s,
                                  const struct vocabulary *v,
                                  enum m2m_kind kind,
                                  const struct family_options *o,
                                  struct err *e)
{
    struct plan_side side;
    enum status st;

    if (vocabulary_find(v, "</s>") != p->cfg.eos_id)
        return err_set(e, ST_FORMAT, "%s/config.json: \"eos_token_id\" is %d, "
                       "which is not the token </s>", file_set_path(s),
                       p->cfg.eos_id);
    st = vocabulary_spm(&p->source_tokenizer, &side, s, M2M_SPM, v, "<unk>",
                        m2m_control, &kind, e);
    if (!st) st = plan_rows(p, &side, NULL, false, e);
    if (st) return st;
    bar_controls(p, v, &kind);
    return plan_languages(p, v, v, kind_marks[kind],
                          kind == KIND_SMALL ? LANGUAGE_TOKENS_TARGET_FIRST
                                             : LANGUAGE_TOKENS_BOTH, o, e);
}

/* ---- the plan ---- */

static bool warn_m2m(struct model_plan *p, enum m2m_kind kind)
{
    if (kind == KIND_M2M && p->cfg.encoder_layers == 12 &&
        p->cfg.decoder_layers == 3)
        return family_warn(p, "with 12 and 3 layers this may be SMaLL-100, "
                           "which expects another language token; if so, say "
                           "--family small100");
    return plan_languages_warn(p, kind_marks[kind]);
}

static enum status plan_with(struct model_plan *p, struct file_set *s,
                             struct json_config *tokenizer,
                             enum m2m_kind kind,
                             const struct family_options *o, struct err *e)
{
    enum language_list languages;
    struct vocabulary *v = NULL;
    struct json_config *j;
    enum status st = json_config_open(&j, s, "config.json", e);

    if (!st) st = find_language_list(&languages, kind, tokenizer, e);
    if (!st) st = read_m2m_config(p, j, e);
    if (!st) st = open_m2m_weights(p, s, j, e);
    if (!st)
        st = hf_names_check_rows(p->own, p, p->cfg.vocab_size,
                                 p->cfg.vocab_size, e);
    if (!st)
        st = m2m_vocabulary_read(&v, s, languages, p->cfg.vocab_size, e);
    if (!st) st = plan_m2m_texts(p, s, v, kind, o, e);
    if (!st) st = hf_config_search(p, s, j, e);
    if (!st && !warn_m2m(p, kind)) st = err_nomem(e, "report");
    vocabulary_free(v);
    json_config_close(j);
    return st;
}

static enum status plan_kind(struct model_plan *p, struct file_set *s,
                             enum m2m_kind kind,
                             const struct family_options *o, struct err *e)
{
    struct json_config *tokenizer;
    enum status st = hf_config_open_tokenizer(&tokenizer, s, e);

    if (!st) st = plan_with(p, s, tokenizer, kind, o, e);
    json_config_close(tokenizer);
    return st;
}

static enum status m2m_plan(struct model_plan *p, struct file_set *s,
                            const struct family_options *o, struct err *e)
{
    return plan_kind(p, s, KIND_M2M, o, e);
}

static enum status nllb_plan(struct model_plan *p, struct file_set *s,
                             const struct family_options *o, struct err *e)
{
    return plan_kind(p, s, KIND_NLLB, o, e);
}

static enum status small100_plan(struct model_plan *p, struct file_set *s,
                                 const struct family_options *o,
                                 struct err *e)
{
    return plan_kind(p, s, KIND_SMALL, o, e);
}

const struct family family_m2m = {
    .name = "m2m", .title = "M2M-100", .recognize = m2m_recognize,
    .plan = m2m_plan,
};
const struct family family_nllb = {
    .name = "nllb", .title = "NLLB-200", .recognize = nllb_recognize,
    .plan = nllb_plan,
};
const struct family family_small100 = {
    .name = "small100", .title = "SMaLL-100", .recognize = small100_recognize,
    .plan = small100_plan,
};
