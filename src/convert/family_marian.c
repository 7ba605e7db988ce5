/* family_marian.c - models that Marian has trained, above all those of OPUS-MT
 * as they are published.
 *
 * marian_package.c reads the files. Here they become a plan. The first input of
 * the decoder is a vector of zeros, for which the tables get one more row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/marian_names.h"
#include "convert/marian_package.h"
#include "convert/marian_side.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "text/language.h"

#define BEAM_MOST 64

struct marian_model {
    struct marian_package files;
    struct marian_side source, target;
};

static void set_network(struct model_plan *p, const struct marian_config *m)
{
    struct config *c = &p->cfg;

    c->d_model = m->d_model;
    c->heads = m->heads;
    c->ffn = m->ffn;
    c->ffn_decoder = m->decoder_ffn;
    c->encoder_layers = m->encoder_layers;
    c->decoder_layers = m->decoder_layers;
    c->norm = m->pre_norm ? NORM_PRE : NORM_POST;
    c->final_norm = m->pre_norm;
    c->activation = m->activation;
    c->layer_norm_eps = 1e-6;
    c->embedding_scale = sqrt(m->d_model);
    c->positions = POS_HALVES;
}

/* A table must have a row for each piece. */
static enum status check_table(const struct model_plan *p,
                               enum marian_table which,
                               const struct marian_side *side,
                               const char *vocab, struct err *e)
{
    const char *name = marian_names_table(p, which);
    const struct file_tensor *t = checkpoint_find(p->tensors, name, NULL);
    int64_t rows = t ? file_tensor_rows(t) : 0;
    int pieces = vocabulary_size(side->v);

    /* convert.c reports a missing tensor, or another shape. */
    if (!t || t->n_dims != 2 || rows == pieces) return ST_OK;
    if (rows < pieces)
        return err_set(e, ST_FORMAT, "%s: has %d pieces, but the table \"%s\" "
                       "has only %lld rows", vocab, pieces, name,
                       (long long)rows);
    return ST_OK;
}

/* Read the vocabularies. Both sides may have one. */
static enum status read_sides(struct marian_model *m,
                              const struct model_plan *p, struct file_set *s,
                              struct err *e)
{
    const struct marian_decoder *d = &m->files.decoder;
    enum status st = marian_side_read(&m->source, s, d->source_vocab, e);

    if (!st) st = marian_side_read(&m->target, s, d->target_vocab, e);
    if (st) return st;
    if (p->shared_table && !marian_side_same(&m->source, &m->target))
        return err_set(e, ST_FORMAT, "%s: %s and %s differ, but source and "
                       "target have one table of embeddings",
                       file_set_path(s), d->source_vocab, d->target_vocab);
    st = check_table(p, MARIAN_SOURCE, &m->source, d->source_vocab, e);
    if (!st) st = check_table(p, MARIAN_TARGET, &m->target, d->target_vocab, e);
    return st;
}

/* The code of a language: what the user says, or what the package says. */
static const char *side_language(const char *given, const char *found)
{
    const char *code = given ? given : found, *known;

    known = language_code(str_of(code));
    return known ? known : code;
}

static enum status note_bpe(struct model_plan *p,
                            const struct marian_texts *source,
                            const struct marian_texts *target, struct err *e)
{
    bool ok = *source->language && *target->language
        ? family_note(p, "texts are split by the rules of Moses for %s and %s, "
                      "and by BPE codes", source->language, target->language)
        : family_warn(p, "texts are split by the rules of Moses, which differ "
                      "between languages, and the languages are not known; say "
                      "them with --source-lang and --target-lang");

    return ok ? ST_OK : err_nomem(e, "report");
}

/* One tokenizer serves both sides if they are the same. */
static enum status make_tokenizers(struct marian_model *m,
                                   struct model_plan *p, struct file_set *s,
                                   const struct family_options *o,
                                   struct err *e)
{
    const struct marian_decoder *d = &m->files.decoder;
    const struct opus_readme *r = &m->files.readme;
    struct strbuf *a = &p->source_tokenizer, *b = &p->target_tokenizer;
    struct marian_texts from = {
        "source", d->source_vocab, side_language(o->source_lang, r->source),
        m->files.cleans };
    struct marian_texts to = {
        "target", d->target_vocab, side_language(o->target_lang, r->target),
        m->files.cleans };
    struct plan_side source, target;
    bool one;
    enum status st = marian_side_tokenizer(&m->source, a, &source, s, &from, e);

    if (!st) st = marian_side_tokenizer(&m->target, b, &target, s, &to, e);
    if (!st && marian_side_has_bpe(s)) st = note_bpe(p, &from, &to, e);
    if (st) return st;
    one = str_eq(strbuf_view(a), strbuf_view(b));
    if (one) strbuf_reset(b);
    return plan_rows(p, &source, one ? NULL : &target, true, e);
}

/* Marian never lets these come out. */
static void bar_pieces(struct model_plan *p, const struct marian_model *m)
{
    const struct vocabulary *v = m->target.v;
    char piece[8];

    if (!m->files.decoder.allow_unk) plan_bar(p, m->target.unk);
    for (int i = 0; i < 32 && !m->files.decoder.allow_special; i++) {
        int32_t id;

        snprintf(piece, sizeof piece, "<0x%02X>", (unsigned)i);
        id = vocabulary_find(v, piece);
        if (id >= 0) plan_bar(p, id);
    }
}

/* A model with the token of one language only translates to that. */
static void choose_only_language(struct model_plan *p)
{
    const char *list = p->languages.data;
    size_t n = strcspn(list, "\t");

    assert(n < sizeof p->cfg.target_lang);
    if (!*p->cfg.target_lang && strchr(list, '\n')[1] == 0)
        snprintf(p->cfg.target_lang, sizeof p->cfg.target_lang, "%.*s", (int)n,
                 list);
}

static enum status set_languages(struct model_plan *p,
                                 const struct marian_model *m,
                                 const struct family_options *o, struct err *e)
{
    struct family_options only_source = { .source_lang = o->source_lang };
    enum status st = plan_languages(p, m->source.v, m->target.v,
                                    LANGUAGE_MARKS_OPUS,
                                    LANGUAGE_TOKENS_TARGET_FIRST, o, e);

    if (st) return st;
    if (p->languages.len) {
        choose_only_language(p);
        return plan_pair(p, &only_source, m->files.readme.source, NULL, e);
    }
    st = plan_pair(p, o, m->files.readme.source, m->files.readme.target, e);
    if (!st && (!*p->cfg.source_lang || !*p->cfg.target_lang) &&
        !family_note(p, "the files do not say which languages these are; "
                     "--source-lang and --target-lang do"))
        st = err_nomem(e, "languages");
    return st;
}

/* The search of decoder.yml becomes that of the model. */
static enum status set_search(struct model_plan *p,
                              const struct marian_decoder *d, struct err *e)
{
    p->cfg.beam = d->beam < BEAM_MOST ? d->beam : BEAM_MOST;
    p->cfg.length_penalty = d->normalize;
    if ((d->beam > BEAM_MOST &&
         !family_note(p, "decoder.yml says \"beam-size: %d\"; %d is used",
                      d->beam, BEAM_MOST)) ||
        (d->word_penalty != 0 &&
         !family_warn(p, "decoder.yml says \"word-penalty: %g\", which skmt "
                      "does not have; translations may have other lengths "
                      "than those of Marian", d->word_penalty)))
        return err_nomem(e, "report");
    return ST_OK;
}

static enum status warn_pre_norm(struct model_plan *p, struct err *e)
{
    if (p->cfg.norm == NORM_POST ||
        family_warn(p, "the norms are before the blocks; older versions of "
                    "Marian computed something else for such models, so "
                    "compare some translations with those of Marian"))
        return ST_OK;
    return err_nomem(e, "report");
}

static enum status note_rows(struct model_plan *p,
                             const struct marian_model *m, struct err *e)
{
    const char *name = marian_names_table(p, MARIAN_OUTPUT);
    const struct file_tensor *t = checkpoint_find(p->tensors, name, NULL);
    int64_t pieces = vocabulary_size(m->target.v);
    int64_t rows = t ? t->shape[strcmp(name, "decoder_ff_logit_out_W") == 0]
                     : pieces;

    if (rows <= pieces ||
        family_note(p, "the table \"%s\" has %lld rows without a piece, which "
                    "are left out", name, (long long)(rows - pieces)))
        return ST_OK;
    return err_nomem(e, "report");
}

static enum status fill_marian_plan(struct model_plan *p,
                                    struct marian_model *m, struct file_set *s,
                                    const struct family_options *o,
                                    struct err *e)
{
    enum status st = marian_package_read(&m->files, &p->tensors, s, e);

    if (st) return st;
    set_network(p, &m->files.config);
    marian_names_tables(p, &m->files.config);
    st = read_sides(m, p, s, e);
    if (!st) st = make_tokenizers(m, p, s, o, e);
    if (st) return st;
    p->cfg.eos_id = m->target.eos;
    p->cfg.suffix_id = m->source.eos;
    strcpy(p->cfg.origin, m->files.readme.origin);
    bar_pieces(p, m);
    st = set_languages(p, m, o, e);
    if (!st) st = set_search(p, &m->files.decoder, e);
    if (!st) st = warn_pre_norm(p, e);
    if (!st) st = note_rows(p, m, e);
    return st;
}

/* ---- the family ---- */

static void marian_place(const struct model_plan *p,
                         const struct tensor_query *q,
                         struct tensor_place *out)
{
    const struct marian_model *m = p->own;

    marian_names_place(p, &m->files.config, q, out);
}

static void marian_free(void *own)
{
    struct marian_model *m = own;

    marian_package_release(&m->files);
    marian_side_release(&m->source);
    marian_side_release(&m->target);
    free(m);
}

static const struct model_plan_ops marian_ops = {
    .place = marian_place, .free_own = marian_free,
};

static enum status marian_plan(struct model_plan *p, struct file_set *s,
                               const struct family_options *o, struct err *e)
{
    struct marian_model *m = calloc(1, sizeof *m);

    if (!m) return err_nomem(e, "Marian model");
    marian_side_init(&m->source);
    marian_side_init(&m->target);
    p->own = m;
    p->ops = &marian_ops;
    p->described_by = MARIAN_SETTINGS;
    return fill_marian_plan(p, m, s, o, e);
}

const struct family family_marian = {
    .name = "marian", .title = "OPUS-MT (Marian)",
    .recognize = marian_package_recognize, .plan = marian_plan,
};
