/* family_fsmt.c - translation models of fairseq as Hugging Face stores them
 * (FSMT): config.json, weights, vocab-src.json, vocab-tgt.json and merges.txt.
 *
 * Norms come after the blocks, positions start at 2. Texts are cleaned and
 * split by the rules of Moses before BPE. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/fairseq_pieces.h"
#include "convert/family.h"
#include "convert/hf_config.h"
#include "convert/hf_files.h"
#include "convert/hf_names.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary_spm.h"

#define MAX_IDS 4000000
#define MAX_PAD 1000            /* the first position is that of pad plus 1 */
#define BEAM 5

static const char source_file[] = "vocab-src.json";
static const char target_file[] = "vocab-tgt.json";
static const char merges_file[] = "merges.txt";

struct fsmt_model {
    struct json_config *config, *tokenizer;     /* the latter may be NULL */
    struct vocabulary *source, *target;
    int source_rows, target_rows;
};

static bool fsmt_recognize(struct file_set *s)
{
    return family_model_type_is(s, "fsmt");
}

/* ---- where the tensors are ---- */

static void fsmt_place(const struct model_plan *p,
                       const struct tensor_query *q, struct tensor_place *out)
{
    hf_names_place(p->own, q, out);
}

static const struct model_plan_ops fsmt_ops = {
    .place = fsmt_place, .free_own = free,
};

/* Of some published models, the copies as safetensors had errors, so the files
 * of PyTorch come first. */
static enum status open_fsmt_weights(struct model_plan *p, struct file_set *s,
                                     struct fsmt_model *m, struct err *e)
{
    bool one = json_config_bool(m->config, "tie_word_embeddings", false);
    struct hf_rules rules = {
        .sides = one ? HF_TIE_YES : HF_TIE_NO,
        .output = one ? HF_TIE_YES : HF_TIE_BY_VALUE,
    };
    struct hf_names *names = p->own = calloc(1, sizeof *names);
    enum status st = json_config_check(m->config, e);
    bool learned = false;

    if (!names) return err_nomem(e, "weights");
    p->ops = &fsmt_ops;
    if (!st) st = hf_files_open(&p->tensors, s, HF_TORCH, e);
    if (!st) st = hf_names_init(names, p, &rules, e);
    if (!st) st = hf_names_positions(&learned, names, p, POS_HALVES, e);
    if (!st && learned)
        return err_set(e, ST_FORMAT, "%s: the stored table of positions is not "
                       "that of such a model", checkpoint_name(p->tensors));
    return st ? st : hf_names_check_rows(names, p, m->source_rows,
                                         m->target_rows, e);
}

/* ---- settings ---- */

static int read_id(struct json_config *j, const char *key, int def, int most)
{
    return json_config_int(j, key, def, 0, most);
}

static enum status read_fsmt_config(struct model_plan *p, struct fsmt_model *m,
                                    struct err *e)
{
    struct config *c = &p->cfg;
    struct json_config *j = m->config;
    enum status st = hf_config_network(c, j, &(struct hf_defaults){
        .activation = ACT_RELU, .scale_embedding = true }, e);
    int last, pad_most;

    c->norm = NORM_POST;
    c->final_norm = 0;
    c->positions = POS_HALVES;
    c->beam = BEAM;
    m->source_rows = json_config_int(j, "src_vocab_size", 42024, 4, MAX_IDS);
    m->target_rows = json_config_int(j, "tgt_vocab_size", 42024, 4, MAX_IDS);
    last = m->target_rows - 1;
    pad_most = last < MAX_PAD ? last : MAX_PAD;
    c->bos_id = read_id(j, "bos_token_id", 0, last);
    c->pad_id = read_id(j, "pad_token_id", 1, pad_most);
    c->eos_id = read_id(j, "eos_token_id", 2, last);
    c->start_id = read_id(j, "decoder_start_token_id", 2, last);
    c->position_offset = c->pad_id + 1;
    c->max_positions += c->position_offset;
    json_config_refuse(j, "forced_bos_token_id");
    return st ? st : json_config_check(j, e);
}

/* The tokenizer's language i: 0 source, 1 target. NULL: not said. */
static const char *fsmt_language(const struct fsmt_model *m, int i)
{
    struct json_config *const files[] = { m->tokenizer, m->config };

    for (size_t k = 0; k < 2; k++)
        if (files[k] && json_config_length(files[k], "langs") == 2)
            return json_config_string_at(files[k], "langs", i);
    return NULL;
}

static enum status set_languages(struct model_plan *p, struct fsmt_model *m,
                                 const struct family_options *o, struct err *e)
{
    const char *source = fsmt_language(m, 0), *target = fsmt_language(m, 1);
    enum status st;

    if (m->tokenizer) {
        json_config_refuse(m->tokenizer, "do_lower_case");
        st = json_config_check(m->tokenizer, e);
        if (st) return st;
    }
    st = json_config_check(m->config, e);
    return st ? st : plan_pair(p, o, source, target, e);
}

/* ---- texts ---- */

static enum status read_side(struct vocabulary **v, struct file_set *s,
                             const char *file, int rows, struct err *e)
{
    static const char *const needed[] = { "</s>", "<unk>" };
    enum status st = vocabulary_of_file(v, VOCABULARY_JSON_OBJECT, s, file, e);

    if (st) return st;
    if (vocabulary_size(*v) != rows)
        return err_set(e, ST_FORMAT, "%s/%s: has %d pieces, but config.json "
                       "says that the table has %d rows", file_set_path(s),
                       file, vocabulary_size(*v), rows);
    for (size_t i = 0; i < 2; i++)
        if (vocabulary_find(*v, needed[i]) < 0)
            return err_set(e, ST_FORMAT, "%s/%s: there is no piece \"%s\"",
                           file_set_path(s), file, needed[i]);
    return ST_OK;
}

static enum status read_vocabularies(struct model_plan *p, struct fsmt_model *m,
                                     struct file_set *s, struct err *e)
{
    enum status st = read_side(&m->source, s, source_file, m->source_rows, e);

    if (!st) st = read_side(&m->target, s, target_file, m->target_rows, e);
    if (st) return st;
    p->cfg.suffix_id = vocabulary_find(m->source, "</s>");
    if (vocabulary_find(m->target, "</s>") == p->cfg.eos_id) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: \"eos_token_id\" is %d, which is not the "
                   "token </s>", json_config_name(m->config), p->cfg.eos_id);
}

static enum status make_side(struct strbuf *out, struct plan_side *side,
                             const struct vocabulary *v, const char *language,
                             struct file_set *s, struct err *e)
{
    struct plan_bpe b = {
        .file = merges_file, .form = BPE_CODES_MERGES,
        .marks = BPE_MARKS_WORD_END, .steps = MOSES_FSMT,
        .language = fairseq_pieces_language(language),
        .unk = vocabulary_find(v, "<unk>"),
    };

    return fairseq_pieces_bpe(out, side, &b, v, s, e);
}

static enum status plan_fsmt_texts(struct model_plan *p, struct fsmt_model *m,
                                   struct file_set *s, struct err *e)
{
    struct plan_side source, target;
    enum status st = make_side(&p->source_tokenizer, &source, m->source,
                               p->cfg.source_lang, s, e);

    if (!st)
        st = make_side(&p->target_tokenizer, &target, m->target,
                       p->cfg.target_lang, s, e);
    if (st) return st;
    if (p->shared_table &&
        (source.rows != target.rows || source.unk != target.unk))
        return err_set(e, ST_FORMAT, "%s: \"tie_word_embeddings\" is true, but "
                       "the two vocabularies have different sizes or unknown "
                       "pieces", json_config_name(m->config));
    st = plan_rows(p, &source, &target, false, e);
    if (st) return st;
    fairseq_pieces_bar(p, m->target);
    return fairseq_pieces_note(p, e);
}

/* ---- the plan ---- */

static void fsmt_release(struct fsmt_model *m)
{
    vocabulary_free(m->source);
    vocabulary_free(m->target);
    json_config_close(m->config);
    json_config_close(m->tokenizer);
}

static enum status fsmt_plan(struct model_plan *p, struct file_set *s,
                             const struct family_options *o, struct err *e)
{
    struct fsmt_model m = { 0 };
    enum status st = json_config_open(&m.config, s, "config.json", e);

    if (!st) st = hf_config_open_tokenizer(&m.tokenizer, s, e);
    if (!st) st = read_fsmt_config(p, &m, e);
    if (!st) st = open_fsmt_weights(p, s, &m, e);
    if (!st) st = read_vocabularies(p, &m, s, e);
    if (!st) st = set_languages(p, &m, o, e);
    if (!st) st = plan_fsmt_texts(p, &m, s, e);
    if (!st) st = hf_config_search(p, s, m.config, e);
    fsmt_release(&m);
    return st;
}

const struct family family_fsmt = {
    .name = "fsmt", .title = "FSMT (fairseq on Hugging Face)",
    .recognize = fsmt_recognize, .plan = fsmt_plan,
};
