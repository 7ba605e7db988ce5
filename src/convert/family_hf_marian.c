/* family_hf_marian.c - OPUS-MT models as Hugging Face stores them: config.json,
 * weights, source.spm, target.spm and vocab.json.
 *
 * They compute other positions than Marian does (POS_HALVES_HF). The decoder
 * starts from the token <pad>, whose row is zeros. Models with several target
 * languages have tokens >>xxx<< in the vocabulary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/hf_config.h"
#include "convert/hf_files.h"
#include "convert/hf_names.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary_spm.h"
#include "text/language.h"

#define MAX_IDS 4000000

struct hf_marian {
    struct json_config *config, *tokenizer;     /* the latter may be NULL */
    struct vocabulary *source, *target;         /* the latter may be the same */
    const char *eos, *unk, *pad;                /* pieces */
};

static bool hf_marian_recognize(struct file_set *s)
{
    return family_model_type_is(s, "marian");
}

/* ---- where the tensors are ---- */

static void hf_marian_place(const struct model_plan *p,
                            const struct tensor_query *q,
                            struct tensor_place *out)
{
    hf_names_place(p->own, q, out);
}

static const struct model_plan_ops hf_marian_ops = {
    .place = hf_marian_place, .free_own = free,
};

static enum status open_marian_weights(struct model_plan *p,
                                       struct file_set *s,
                                       struct json_config *j, struct err *e)
{
    struct hf_rules rules = {
        .sides = json_config_bool(j, "share_encoder_decoder_embeddings", true)
                     ? HF_TIE_YES : HF_TIE_NO,
        .output = json_config_bool(j, "tie_word_embeddings", true)
                      ? HF_TIE_YES : HF_TIE_NO,
        .bias = "final_logits_bias",
    };
    struct hf_names *names = p->own = calloc(1, sizeof *names);
    enum status st = json_config_check(j, e);
    bool learned = false;

    if (!names) return err_nomem(e, "weights");
    p->ops = &hf_marian_ops;
    if (!st) st = hf_files_open(&p->tensors, s, HF_SAFETENSORS, e);
    if (!st) st = hf_names_init(names, p, &rules, e);
    if (!st) st = hf_names_positions(&learned, names, p, POS_HALVES_HF, e);
    if (!st) p->cfg.positions = learned ? POS_LEARNED : POS_HALVES_HF;
    if (!st && !p->output_bias &&
        !family_warn(p, "the weights have no final_logits_bias, which models "
                     "of this family should have; it is taken for zeros"))
        st = err_nomem(e, "report");
    return st;
}

/* ---- settings ---- */

static enum status read_marian_config(struct model_plan *p,
                                      struct json_config *j, struct err *e)
{
    struct config *c = &p->cfg;
    enum status st = hf_config_network(c, j, &(struct hf_defaults){
        .activation = ACT_GELU, .scale_embedding = false }, e);

    c->norm = NORM_POST;
    c->final_norm = 0;
    c->eos_id = json_config_int(j, "eos_token_id", 0, 0, MAX_IDS);
    c->pad_id = json_config_int(j, "pad_token_id", 58100, 0, MAX_IDS);
    c->start_id = json_config_int(j, "decoder_start_token_id", 58100, 0,
                                  MAX_IDS);
    /* A token that every translation must begin with. */
    json_config_refuse(j, "forced_bos_token_id");
    return st ? st : json_config_check(j, e);
}

/* ---- vocabularies ---- */

/* Give rows that have no piece one that no text contains, so that the tables
 * and the vocabulary have the same size. */
static enum status fill_vocabulary(struct vocabulary **v, int rows,
                                   struct file_set *s, const char *file,
                                   struct err *e)
{
    const char **piece;
    struct vocabulary *more;
    int n = vocabulary_size(*v);
    enum status st;

    if (n > rows)
        return err_set(e, ST_FORMAT, "%s/%s: has %d pieces, but config.json "
                       "says that the table has %d rows", file_set_path(s),
                       file, n, rows);
    if (n == rows) return ST_OK;
    piece = calloc((size_t)rows, sizeof *piece);
    if (!piece) return err_nomem(e, file);
    for (int i = 0; i < n; i++) piece[i] = vocabulary_piece(*v, i);
    st = vocabulary_make(&more, piece, (size_t)rows, file, e);
    free(piece);
    if (st) return st;
    vocabulary_free(*v);
    *v = more;
    return ST_OK;
}

static enum status read_marian_vocabulary(struct vocabulary **out,
                                          const struct hf_marian *m,
                                          struct file_set *s, const char *file,
                                          int rows, struct err *e)
{
    enum status st = vocabulary_of_file(out, VOCABULARY_JSON_OBJECT, s, file,
                                        e);

    if (st) return st;
    if (vocabulary_find(*out, m->eos) < 0 || vocabulary_find(*out, m->unk) < 0)
        return err_set(e, ST_FORMAT, "%s/%s: there is no piece \"%.40s\"",
                       file_set_path(s), file,
                       vocabulary_find(*out, m->eos) < 0 ? m->eos : m->unk);
    return fill_vocabulary(out, rows, s, file, e);
}

static enum status read_vocabularies(struct hf_marian *m,
                                     const struct model_plan *p,
                                     struct file_set *s, struct err *e)
{
    struct json_config *j = m->config;
    int rows = json_config_int(j, "vocab_size", 58101, 4, MAX_IDS);
    int target_rows = json_config_int(j, "decoder_vocab_size", rows, 4,
                                      MAX_IDS);
    bool separate = m->tokenizer &&
                    json_config_bool(m->tokenizer, "separate_vocabs", false);
    enum status st = json_config_check(j, e);

    if (!st && m->tokenizer) st = json_config_check(m->tokenizer, e);
    if (!st) st = hf_names_check_rows(p->own, p, rows, target_rows, e);
    m->eos = hf_config_token(m->tokenizer, "eos_token", "</s>");
    m->unk = hf_config_token(m->tokenizer, "unk_token", "<unk>");
    m->pad = hf_config_token(m->tokenizer, "pad_token", "<pad>");
    if (!st)
        st = read_marian_vocabulary(&m->source, m, s, "vocab.json", rows, e);
    m->target = m->source;
    if (!st && separate)
        st = read_marian_vocabulary(&m->target, m, s, "target_vocab.json",
                                    target_rows, e);
    if (st || vocabulary_size(m->target) == target_rows) return st;
    return err_set(e, ST_FORMAT, "%s: \"decoder_vocab_size\" is %d, but both "
                   "sides have one vocabulary of %d", json_config_name(j),
                   target_rows, rows);
}

static void hf_marian_release(struct hf_marian *m)
{
    if (m->target != m->source) vocabulary_free(m->target);
    vocabulary_free(m->source);
    json_config_close(m->tokenizer);
    json_config_close(m->config);
}

/* ---- texts ---- */

static bool marian_control(void *user, const char *piece)
{
    const struct hf_marian *m = user;
    char code[16];

    return !strcmp(piece, m->eos) || !strcmp(piece, m->pad) ||
           !strcmp(piece, "<s>") || vocabulary_piece_unused(piece) ||
           plan_language_code(LANGUAGE_MARKS_OPUS, piece, code, sizeof code);
}

/* The vocabulary of a table must have all rows; both sides of a common table
 * have one vocabulary. */
static enum status check_tables(const struct model_plan *p,
                                const struct hf_marian *m, struct err *e)
{
    const struct config *c = &p->cfg;
    int most = vocabulary_size(m->target);

    if (p->shared_table && m->target != m->source)
        return err_set(e, ST_FORMAT, "%s: \"share_encoder_decoder_embeddings\" "
                       "is true, but each side has a vocabulary of its own",
                       json_config_name(m->config));
    if (c->eos_id < most && c->start_id < most && c->pad_id < most)
        return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the ids of the special tokens (%d, %d, "
                   "%d) should be below the size of the vocabulary, %d",
                   json_config_name(m->config), c->eos_id, c->start_id,
                   c->pad_id, most);
}

static enum status plan_marian_rows(struct model_plan *p, struct hf_marian *m,
                                    struct file_set *s, struct err *e)
{
    struct plan_side source, target;
    enum status st = check_tables(p, m, e);

    if (!st)
        st = vocabulary_spm(&p->source_tokenizer, &source, s, "source.spm",
                            m->source, m->unk, marian_control, m, e);
    if (!st)
        st = vocabulary_spm(&p->target_tokenizer, &target, s, "target.spm",
                            m->target, m->unk, marian_control, m, e);
    if (!st) st = plan_rows(p, &source, &target, false, e);
    if (st) return st;
    p->cfg.suffix_id = vocabulary_find(m->source, m->eos);
    plan_bar(p, target.unk);
    plan_bar(p, p->cfg.pad_id);
    for (int32_t id = 0; id < vocabulary_size(m->target); id++)
        if (vocabulary_piece_unused(vocabulary_piece(m->target, id)))
            plan_bar(p, id);
    return ST_OK;
}

/* The language of a key, if it names a single language: some models have
 * groups of languages ("ROMANCE", "gmw", "mul"). */
static const char *one_language(struct json_config *j, const char *key)
{
    const char *code = j ? json_config_string(j, key, NULL) : NULL;

    return code && language_code(str_of(code)) ? code : NULL;
}

static enum status plan_marian_languages(struct model_plan *p,
                                         struct hf_marian *m,
                                         const struct family_options *o,
                                         struct err *e)
{
    const char *source = one_language(m->tokenizer, "source_lang");
    const char *target = one_language(m->tokenizer, "target_lang");
    struct family_options only_source = { .source_lang = o->source_lang };
    enum status st = plan_languages(p, m->source, m->target,
                                    LANGUAGE_MARKS_OPUS,
                                    LANGUAGE_TOKENS_TARGET_FIRST, o, e);

    if (st) return st;
    if (p->languages.len) return plan_pair(p, &only_source, source, NULL, e);
    return plan_pair(p, o, source, target, e);
}

/* ---- the plan ---- */

static enum status hf_marian_plan(struct model_plan *p, struct file_set *s,
                                  const struct family_options *o,
                                  struct err *e)
{
    struct hf_marian m = { 0 };
    enum status st = json_config_open(&m.config, s, "config.json", e);

    if (!st) st = hf_config_open_tokenizer(&m.tokenizer, s, e);
    if (!st) st = read_marian_config(p, m.config, e);
    if (!st) st = open_marian_weights(p, s, m.config, e);
    if (!st) st = read_vocabularies(&m, p, s, e);
    if (!st) st = plan_marian_rows(p, &m, s, e);
    if (!st) st = plan_marian_languages(p, &m, o, e);
    if (!st) st = hf_config_search(p, s, m.config, e);
    hf_marian_release(&m);
    return st;
}

const struct family family_hf_marian = {
    .name = "hf-marian", .title = "OPUS-MT (Marian) on Hugging Face",
    .recognize = hf_marian_recognize, .plan = hf_marian_plan,
};
