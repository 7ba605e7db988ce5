/* family_marian.c - models that Marian has trained, above all those of OPUS-MT
 * as they are published: a folder or zip archive with decoder.yml, the weights
 * (.npz), vocabularies, and source.spm and target.spm.
 *
 * decoder.yml names the other files. The settings of the network are in the
 * file of the weights. The first input of the decoder is a vector of zeros, for
 * which the tables get one more row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/marian_config.h"
#include "convert/marian_names.h"
#include "convert/marian_side.h"
#include "convert/npz_file.h"
#include "convert/opus_cleaning.h"
#include "convert/opus_readme.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/yaml_config.h"

#define SETTINGS "special:model.yml"
#define SETTINGS_MOST 1048576   /* bytes */
#define TEXT_MOST 1048576       /* of README.md and preprocess.sh */
#define BEAM_MOST 64

struct marian_model {
    bool cleans;                /* preprocess.sh cleans texts */
    struct marian_config config;
    struct json_config *decoder_yml;
    struct marian_decoder decoder;
    struct marian_side source, target;
    struct opus_readme readme;
};

/* ---- files ---- */

static bool ends_in_yml(const char *name)
{
    static const char end[] = ".decoder.yml";
    size_t n = strlen(name), k = sizeof end - 1;

    return n > k && !strcmp(name + n - k, end);
}

/* decoder.yml or, as Marian names it in training, NAME.decoder.yml. NULL: there
 * is none, or there are several of the latter. */
static const char *decoder_file(const struct file_set *s)
{
    const char *found = NULL;

    if (file_set_has(s, "decoder.yml", NULL)) return "decoder.yml";
    for (int i = 0; i < file_set_count(s); i++) {
        const char *name = file_set_name(s, i);

        if (!ends_in_yml(name)) continue;
        if (found) return NULL;
        found = name;
    }
    return found;
}

static bool marian_recognize(struct file_set *s)
{
    return decoder_file(s) || file_set_has(s, SETTINGS ".npy", NULL);
}

static enum status no_decoder_file(const struct file_set *s, struct err *e)
{
    if (file_set_has(s, SETTINGS ".npy", NULL))
        return err_set(e, ST_FORMAT, "%s: these are only the weights of a "
                       "Marian model; its folder or zip archive is needed, "
                       "with decoder.yml and the vocabularies",
                       file_set_path(s));
    return err_set(e, ST_FORMAT, "%s: there is no decoder.yml, or there are "
                   "several", file_set_path(s));
}

/* Make *name the name of a file of the set that decoder.yml gives as a path.
 * Packages may contain the path that a file had where it was trained; then the
 * last part of it counts. */
static enum status find_named(const char **name, const struct file_set *s,
                              const struct json_config *decoder, struct err *e)
{
    const char *path = *name, *slash = strrchr(path, '/');

    while (!strncmp(path, "./", 2)) path += 2;
    if (!file_set_has(s, path, NULL) && slash) path = slash + 1;
    if (!file_set_has(s, path, NULL))
        return err_set(e, ST_FORMAT, "%s: names the file \"%.200s\", which is "
                       "not there", json_config_name(decoder), *name);
    *name = path;
    return ST_OK;
}

static enum status read_decoder_file(struct marian_model *m,
                                     struct file_set *s, struct err *e)
{
    const char *name = decoder_file(s);
    struct marian_decoder *d = &m->decoder;
    enum status st;

    if (!name) return no_decoder_file(s, e);
    st = yaml_config_open(&m->decoder_yml, s, name, e);
    if (!st) st = marian_decoder_read(d, m->decoder_yml, e);
    if (!st) st = find_named(&d->model, s, m->decoder_yml, e);
    if (!st) st = find_named(&d->source_vocab, s, m->decoder_yml, e);
    if (!st) st = find_named(&d->target_vocab, s, m->decoder_yml, e);
    return st;
}

static enum status open_marian_weights(struct model_plan *p,
                                       struct file_set *s, const char *name,
                                       struct err *e)
{
    struct file_stream *in;
    struct tensor_file *f;
    enum status st = checkpoint_new(&p->tensors, e);

    if (!st) st = file_stream_open(&in, s, name, e);
    if (!st) st = npz_file_open(&f, in, e);
    return st ? st : checkpoint_add(p->tensors, f, e);
}

static enum status read_marian_settings(struct marian_model *m,
                                        struct model_plan *p, struct err *e)
{
    struct tensor_file *f;
    struct file_tensor *t = checkpoint_find(p->tensors, SETTINGS, &f);
    struct json_config *j = NULL;
    struct strbuf text, name;
    enum status st;

    if (!t)
        return err_set(e, ST_FORMAT, "%s: there is no \"" SETTINGS "\"; very "
                       "old models of Marian cannot be converted",
                       checkpoint_name(p->tensors));
    t->used = true;
    strbuf_init(&text, 0);
    strbuf_init(&name, 0);
    st = tensor_file_text(f, t, SETTINGS_MOST, &text, e);
    if (!st && !strbuf_addf(&name, "%s: " SETTINGS, f->name))
        st = err_nomem(e, f->name);
    if (!st) st = yaml_config_parse(&j, text.data, text.len, name.data, e);
    if (!st) st = marian_config_read(&m->config, j, e);
    json_config_close(j);
    strbuf_release(&text);
    strbuf_release(&name);
    return st;
}

/* Read a file that may be missing: then, and if it is very long, the text is
 * empty. The caller frees it. */
static enum status read_optional(char **text, size_t *n, struct file_set *s,
                                 const char *name, struct err *e)
{
    uint64_t size;

    *text = NULL;
    *n = 0;
    if (!file_set_has(s, name, &size) || size > TEXT_MOST) return ST_OK;
    return file_set_read(s, name, TEXT_MOST, text, n, e);
}

/* Read what the package says besides its settings. */
static enum status read_package(struct marian_model *m, struct file_set *s,
                                struct err *e)
{
    char *text;
    size_t n;
    enum status st = read_optional(&text, &n, s, "README.md", e);

    if (st) return st;
    opus_readme_read(&m->readme, text, n);
    free(text);
    st = read_optional(&text, &n, s, "preprocess.sh", e);
    if (!st) m->cleans = opus_cleaning_is_in(text, n);
    free(text);
    return st;
}

/* ---- the plan ---- */

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
    const struct marian_decoder *d = &m->decoder;
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

/* One tokenizer serves both sides if they are the same. */
static enum status make_tokenizers(struct marian_model *m,
                                   struct model_plan *p, struct file_set *s,
                                   struct err *e)
{
    const struct marian_decoder *d = &m->decoder;
    struct strbuf *a = &p->source_tokenizer, *b = &p->target_tokenizer;
    struct plan_side source, target;
    bool one;
    enum status st = marian_side_tokenizer(&m->source, a, &source, s, "source",
                                           d->source_vocab, m->cleans, e);

    if (!st)
        st = marian_side_tokenizer(&m->target, b, &target, s, "target",
                                   d->target_vocab, m->cleans, e);
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

    if (!m->decoder.allow_unk) plan_bar(p, m->target.unk);
    for (int i = 0; i < 32 && !m->decoder.allow_special; i++) {
        int32_t id;

        snprintf(piece, sizeof piece, "<0x%02X>", (unsigned)i);
        id = vocabulary_find(v, piece);
        if (id >= 0) plan_bar(p, id);
    }
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
    if (p->languages.len)
        return plan_pair(p, &only_source, m->readme.source, NULL, e);
    st = plan_pair(p, o, m->readme.source, m->readme.target, e);
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
    enum status st = read_decoder_file(m, s, e);

    if (!st) st = open_marian_weights(p, s, m->decoder.model, e);
    if (!st) st = read_marian_settings(m, p, e);
    if (!st) st = read_package(m, s, e);
    if (st) return st;
    set_network(p, &m->config);
    marian_names_tables(p, &m->config);
    st = read_sides(m, p, s, e);
    if (!st) st = make_tokenizers(m, p, s, e);
    if (st) return st;
    p->cfg.eos_id = m->target.eos;
    p->cfg.suffix_id = m->source.eos;
    strcpy(p->cfg.origin, m->readme.origin);
    bar_pieces(p, m);
    st = set_languages(p, m, o, e);
    if (!st) st = set_search(p, &m->decoder, e);
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

    marian_names_place(p, &m->config, q, out);
}

static void marian_free(void *own)
{
    struct marian_model *m = own;

    json_config_close(m->decoder_yml);
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
    p->described_by = SETTINGS;
    return fill_marian_plan(p, m, s, o, e);
}

const struct family family_marian = {
    .name = "marian", .title = "OPUS-MT (Marian)",
    .recognize = marian_recognize, .plan = marian_plan,
};
