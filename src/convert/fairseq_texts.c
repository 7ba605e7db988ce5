/* fairseq_texts.c - reads the dictionaries of a model of fairseq and makes its
 * tokenizers. What the user says counts more than the settings, and these more
 * than the files that are there.
 *
 * A dictionary dict.LANGUAGE.txt is needed for each side. The settings name it
 * first, because the user may write the language in another way. Its ids are
 * those of the tables, whose sizes must be the same. */
#include "convert/fairseq_texts.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/fairseq_files.h"
#include "convert/fairseq_pieces.h"
#include "convert/plan_languages.h"
#include "convert/tokenizer_files.h"
#include "convert/vocabulary_spm.h"

#define NAME_SIZE 300

enum { ID_BOS, ID_PAD, ID_EOS, ID_UNK };        /* of every dictionary */

struct text_side {
    const char *name;           /* "source" */
    const char *said, *option;  /* languages; may be NULL */
    const char *language;       /* the one of them that a dictionary has */
    struct vocabulary *v;
    struct plan_side rows;
};

struct text_maker {
    struct model_plan *plan;
    struct file_set *files;
    const struct hf_names *names;
    const struct fairseq_config *config;
    const struct family_options *options;
    struct text_side source, target;
};

/* ---- dictionaries ---- */

static bool has_dictionary(struct file_set *s, const char *language,
                           char *file)
{
    return language && snprintf(file, NAME_SIZE, "dict.%s.txt", language) <
                           NAME_SIZE &&
           file_set_has(s, file, NULL);
}

static enum status no_dictionary(const struct text_maker *m,
                                 const struct text_side *side, struct err *e)
{
    if (!side->said && !side->option)
        return err_set(e, ST_FORMAT, "%s: the settings do not say which "
                       "dictionary is that of the %s; say the languages with "
                       "--source-lang and --target-lang",
                       file_set_path(m->files), side->name);
    return err_set(e, ST_FORMAT, "%s: there is no dictionary \"dict.%.60s.txt\""
                   " of the %s beside the checkpoint",
                   file_set_path(m->files),
                   side->said ? side->said : side->option, side->name);
}

static enum status check_dictionary(const struct text_maker *m,
                                    const struct text_side *side,
                                    const char *table, const char *file,
                                    struct err *e)
{
    const struct file_tensor *t = checkpoint_find(m->plan->tensors, table,
                                                  NULL);
    int n = vocabulary_size(side->v);

    assert(t);
    if (t->n_dims == 2 && t->shape[0] == n) return ST_OK;
    return err_set(e, ST_FORMAT, "%s/%s: has %d pieces with the special ones, "
                   "but the table \"%s\" has %lld rows",
                   file_set_path(m->files), file, n, table,
                   (long long)t->shape[0]);
}

static enum status read_dictionary(const struct text_maker *m,
                                   struct text_side *side, struct err *e)
{
    char file[NAME_SIZE];
    enum status st;

    if (has_dictionary(m->files, side->said, file)) side->language = side->said;
    else if (has_dictionary(m->files, side->option, file))
        side->language = side->option;
    else return no_dictionary(m, side, e);
    st = vocabulary_of_file(&side->v, VOCABULARY_FAIRSEQ, m->files, file, e);
    if (st) return st;
    if (side == &m->source)
        return check_dictionary(m, side, m->names->source, file, e);
    st = check_dictionary(m, side, m->names->target, file, e);
    return st ? st : check_dictionary(m, side, m->names->project, file, e);
}

/* ---- BPE codes ---- */

static enum status make_bpe_side(struct text_maker *m, struct text_side *side,
                                 const char *language, struct strbuf *out,
                                 struct err *e)
{
    const struct fairseq_config *c = m->config;
    struct plan_bpe b = {
        .marks = BPE_MARKS_AT, .unk = ID_UNK,
        .language = fairseq_pieces_language(language),
        .steps = c->tokenizer == FAIRSEQ_SPACE ? 0
                                               : MOSES_FAIRSEQ & ~c->moses_off,
    };
    enum status st = fairseq_files_codes(&b.file, m->files, side->language, e);

    if (!st) st = plan_bpe_form(&b.form, m->files, b.file, e);
    return st ? st : fairseq_pieces_bpe(out, &side->rows, &b, side->v,
                                        m->files, e);
}

static enum status make_bpe(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    enum status st = make_bpe_side(m, &m->source, p->cfg.source_lang,
                                   &p->source_tokenizer, e);

    if (!st)
        st = make_bpe_side(m, &m->target, p->cfg.target_lang,
                           &p->target_tokenizer, e);
    if (st || m->config->tokenizer == FAIRSEQ_SPACE) return st;
    return fairseq_pieces_note(p, e);
}

/* ---- SentencePiece ---- */

static enum status make_spm_side(const struct tokenizer_file *f,
                                 struct text_side *side, struct strbuf *out,
                                 struct err *e)
{
    return vocabulary_spm_bytes(out, &side->rows,
                                (struct str){ f->bytes, f->size }, f->name,
                                side->v, "<unk>", fairseq_pieces_control,
                                NULL, e);
}

static enum status make_found_spm(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    struct tokenizer_files t;
    enum status st = tokenizer_files_find(&t, m->files, "", m->options, e);

    if (st) return st;
    st = make_spm_side(&t.source, &m->source, &p->source_tokenizer, e);
    if (!st)
        st = make_spm_side(t.target.bytes ? &t.target : &t.source, &m->target,
                           &p->target_tokenizer, e);
    tokenizer_files_release(&t);
    return st;
}

static enum status make_named_spm(struct text_maker *m, const char *source,
                                  const char *target, struct err *e)
{
    struct model_plan *p = m->plan;
    enum status st = vocabulary_spm(&p->source_tokenizer, &m->source.rows,
                                    m->files, source, m->source.v, "<unk>",
                                    fairseq_pieces_control, NULL, e);

    if (st) return st;
    return vocabulary_spm(&p->target_tokenizer, &m->target.rows, m->files,
                          target, m->target.v, "<unk>", fairseq_pieces_control,
                          NULL, e);
}

/* The files that the user names, those with the languages in their names, or
 * files with usual names. */
static enum status make_spm(struct text_maker *m, struct err *e)
{
    const char *source = fairseq_files_spm(m->files, m->source.language);
    const char *target = fairseq_files_spm(m->files, m->target.language);

    if (m->config->tokenizer == FAIRSEQ_MOSES)
        return err_set(e, ST_FORMAT, "%s: \"tokenizer\" is \"moses\", but the "
                       "pieces are those of SentencePiece; a model with both "
                       "cannot be converted",
                       checkpoint_name(m->plan->tensors));
    if (!m->options->tokenizer && !m->options->target_tokenizer && source &&
        target)
        return make_named_spm(m, source, target, e);
    return make_found_spm(m, e);
}

/* ---- both kinds ---- */

/* Whether the pieces are those of SentencePiece, and not of BPE codes. */
static enum status uses_spm(bool *spm, const struct text_maker *m,
                            struct err *e)
{
    enum fairseq_bpe bpe = m->config->bpe;

    *spm = m->options->tokenizer || m->options->target_tokenizer ||
           bpe == FAIRSEQ_SENTENCEPIECE;
    if (*spm || bpe != FAIRSEQ_BPE_UNKNOWN ||
        fairseq_files_have_codes(m->files))
        return ST_OK;
    *spm = fairseq_files_have_spm(m->files);
    if (*spm) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: there are neither BPE codes, such as "
                   "\"bpecodes\", nor a SentencePiece model, such as "
                   "\"sentencepiece.bpe.model\"", file_set_path(m->files));
}

/* A dictionary may give the name of the unknown piece to another one. */
static enum status check_shared(const struct text_maker *m, struct err *e)
{
    const struct plan_side *a = &m->source.rows, *b = &m->target.rows;

    if (!m->plan->shared_table || (a->rows == b->rows && a->unk == b->unk))
        return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the dictionaries of %s and %s have "
                   "different sizes or unknown pieces, but source and target "
                   "have one table", file_set_path(m->files),
                   m->source.language, m->target.language);
}

/* One tokenizer serves both sides if they are the same. */
static enum status make_texts(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    struct strbuf *a = &p->source_tokenizer, *b = &p->target_tokenizer;
    bool spm, one;
    enum status st = plan_pair(p, m->options, m->source.language,
                               m->target.language, e);

    if (!st) st = uses_spm(&spm, m, e);
    if (!st) st = spm ? make_spm(m, e) : make_bpe(m, e);
    if (!st) st = check_shared(m, e);
    if (st) return st;
    one = str_eq(strbuf_view(a), strbuf_view(b));
    if (one) strbuf_reset(b);
    return plan_rows(p, &m->source.rows, one ? NULL : &m->target.rows, false,
                     e);
}

static enum status plan_texts(struct text_maker *m, struct err *e)
{
    struct config *c = &m->plan->cfg;
    enum status st = read_dictionary(m, &m->source, e);

    if (!st) st = read_dictionary(m, &m->target, e);
    if (!st) st = make_texts(m, e);
    if (st) return st;
    c->bos_id = ID_BOS;
    c->pad_id = ID_PAD;
    c->eos_id = c->start_id = c->suffix_id = ID_EOS;
    fairseq_pieces_bar(m->plan, m->target.v);
    return ST_OK;
}

enum status fairseq_texts_plan(struct model_plan *p, struct file_set *s,
                               const struct hf_names *n,
                               const struct fairseq_config *c,
                               const struct family_options *o, struct err *e)
{
    struct text_maker m = {
        .plan = p, .files = s, .names = n, .config = c, .options = o,
        .source = { .name = "source", .said = c->source_lang,
                    .option = o->source_lang },
        .target = { .name = "target", .said = c->target_lang,
                    .option = o->target_lang },
    };
    enum status st = plan_texts(&m, e);

    vocabulary_free(m.source.v);
    vocabulary_free(m.target.v);
    return st;
}
