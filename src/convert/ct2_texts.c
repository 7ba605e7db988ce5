/* ct2_texts.c - reads the vocabularies of a CTranslate2 model, and makes
 * tokenizers, rows and ids of a plan from them. */
#include "convert/ct2_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/plan_bpe.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary_spm.h"

#define NAME_SIZE 300

/* ---- vocabularies ---- */

static enum status read_vocabulary(struct vocabulary **out,
                                   struct file_set *s, const char *name,
                                   enum vocabulary_form form, const char *unk,
                                   struct err *e)
{
    enum status st = vocabulary_of_file(out, form, s, name, e);

    if (st || vocabulary_find(*out, unk) >= 0) return st;
    return vocabulary_append(*out, unk, e);
}

/* *out stays NULL if there is no such vocabulary. */
static enum status find_vocabulary(struct vocabulary **out,
                                   struct file_set *s, const char *folder,
                                   const char *stem, const char *unk,
                                   struct err *e)
{
    static const struct { const char *ending; enum vocabulary_form form; }
    forms[] = {
        { "json", VOCABULARY_JSON_ARRAY }, { "txt", VOCABULARY_LINES },
    };
    char name[NAME_SIZE];

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(name, sizeof name, "%s%s_vocabulary.%s", folder, stem,
                 forms[i].ending);
        if (file_set_has(s, name, NULL))
            return read_vocabulary(out, s, name, forms[i].form, unk, e);
    }
    return ST_OK;
}

enum status ct2_vocabularies_read(struct ct2_vocabularies *v,
                                  struct file_set *s, const char *folder,
                                  const char *unk, struct err *e)
{
    enum status st;

    *v = (struct ct2_vocabularies){ 0 };
    st = find_vocabulary(&v->source, s, folder, "shared", unk, e);
    v->target = v->source;
    if (st || v->source) return st;
    st = find_vocabulary(&v->source, s, folder, "source", unk, e);
    if (!st) st = find_vocabulary(&v->target, s, folder, "target", unk, e);
    if (st || (v->source && v->target)) return st;
    return err_set(e, ST_FORMAT, "%s: there is no vocabulary: neither "
                   "%sshared_vocabulary.json (or .txt), nor "
                   "source_vocabulary and target_vocabulary",
                   file_set_path(s), folder);
}

void ct2_vocabularies_release(struct ct2_vocabularies *v)
{
    if (v->target != v->source) vocabulary_free(v->target);
    vocabulary_free(v->source);
    *v = (struct ct2_vocabularies){ 0 };
}

/* ---- special pieces ---- */

/* Besides the tokens of the settings. <blank> is what OpenNMT calls padding. */
static const char *const specials[] = {
    "<s>", "</s>", "<pad>", "<blank>", "<mask>",
};

/* "madeupword0007": a row that no piece uses. */
static bool is_filler(const char *piece)
{
    static const char word[] = "madeupword";
    size_t n = sizeof word - 1;

    return !strncmp(piece, word, n) && piece[n] &&
           strspn(piece + n, "0123456789") == strlen(piece + n);
}

/* What tells the tokens of a model from pieces of text. */
struct special_test {
    const struct ct2_texts *t;
    enum language_marks marks;
};

static bool is_special(void *user, const char *piece)
{
    const struct special_test *test = user;
    const struct ct2_settings *c = test->t->settings;
    const char *prefix = test->t->target_prefix;
    char code[sizeof ((struct config *)0)->source_lang];

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(piece, specials[i])) return true;
    return !strcmp(piece, c->bos.data) || !strcmp(piece, c->eos.data) ||
           !strcmp(piece, c->start.data) ||
           (prefix[0] && !strcmp(piece, prefix)) || is_filler(piece) ||
           plan_language_code(test->marks, piece, code, sizeof code);
}

/* ---- tokenizers ---- */

/* One side of the model. */
struct ct2_side {
    const struct vocabulary *v;
    const struct tokenizer_file *file;
    const char *language;
    struct strbuf *out;         /* of the plan */
    struct plan_side rows;      /* result */
};

static enum status make_bpe(struct ct2_side *side, struct special_test *test,
                            struct err *e)
{
    const struct ct2_texts *t = test->t;
    int32_t n = vocabulary_size(side->v);
    const char **control = malloc((size_t)n * sizeof *control);
    struct plan_bpe b = {
        .file = t->codes, .form = BPE_CODES_SUBWORD_NMT,
        .marks = BPE_MARKS_AT, .steps = MOSES_ARGOS,
        .language = side->language, .control = control,
        .unk = vocabulary_find(side->v, t->settings->unk.data),
    };
    enum status st;

    if (!control) return err_nomem(e, "tokenizer");
    for (int32_t id = 0; id < n; id++) {
        const char *piece = vocabulary_piece(side->v, id);

        if (id != b.unk && is_special(test, piece))
            control[b.n_control++] = piece;
    }
    st = plan_bpe_write(side->out, &b, side->v, t->files, e);
    free(control);
    side->rows = (struct plan_side){ n, n, b.unk };
    return st;
}

static enum status make_tokenizer(struct ct2_side *side,
                                  struct special_test *test, struct err *e)
{
    const struct tokenizer_file *f = side->file;

    if (test->t->codes) return make_bpe(side, test, e);
    return vocabulary_spm_bytes(side->out, &side->rows,
                                (struct str){ f->bytes, f->size }, f->name,
                                side->v, test->t->settings->unk.data,
                                is_special, test, e);
}

/* The two sides have one tokenizer if all that it is made of is the same. */
static enum status make_tokenizers(struct model_plan *p,
                                   struct special_test *test, struct err *e)
{
    const struct ct2_texts *t = test->t;
    const struct ct2_vocabularies *v = t->vocabularies;
    const struct tokenizer_files *files = t->tokenizers;
    struct ct2_side source = {
        .v = v->source, .file = &files->source,
        .language = p->cfg.source_lang, .out = &p->source_tokenizer,
    };
    struct ct2_side target = {
        .v = v->target, .language = p->cfg.target_lang,
        .file = files->target.bytes ? &files->target : &files->source,
        .out = &p->target_tokenizer,
    };
    /* The rules of Moses depend on the language. */
    bool one = v->source == v->target && source.file == target.file &&
               !t->codes;
    enum status st = make_tokenizer(&source, test, e);

    if (!st && !one) st = make_tokenizer(&target, test, e);
    if (st) return st;
    return plan_rows(p, &source.rows, one ? NULL : &target.rows,
                     t->settings->zero_start, e);
}

/* ---- ids ---- */

static enum status find_token(int *id, const struct vocabulary *v,
                              const char *token, const char *what,
                              struct err *e)
{
    *id = vocabulary_find(v, token);
    if (*id >= 0) return ST_OK;
    return err_set(e, ST_FORMAT, "the vocabulary does not have the %s "
                   "\"%.60s\"", what, token);
}

static enum status set_source_tokens(struct model_plan *p,
                                     const struct ct2_texts *t,
                                     bool with_eos, struct err *e)
{
    const struct ct2_settings *c = t->settings;
    const struct vocabulary *v = t->vocabularies->source;
    enum status st = ST_OK;

    if (with_eos)
        st = find_token(&p->cfg.suffix_id, v, c->eos.data, "end token", e);
    if (!st && c->source_bos)
        st = find_token(&p->cfg.prefix_id, v, c->bos.data, "begin token", e);
    if (!st && c->source_bos && p->cfg.language_tokens)
        st = err_set(e, ST_FORMAT, "the settings put \"%.60s\" before the "
                     "source, where the language of this model stands",
                     c->bos.data);
    return st;
}

static enum status set_target_tokens(struct model_plan *p,
                                     const struct ct2_texts *t, struct err *e)
{
    const struct ct2_settings *c = t->settings;
    const struct vocabulary *v = t->vocabularies->target;
    enum status st = find_token(&p->cfg.eos_id, v, c->eos.data, "end token",
                                e);

    if (!st && !c->zero_start)
        st = find_token(&p->cfg.start_id, v, c->start.data, "start token", e);
    if (!st && t->target_prefix[0])
        st = find_token(&p->cfg.target_prefix_id, v, t->target_prefix,
                        "first token of translations", e);
    return st;
}

/* Only what a translation can contain may come out. */
static void bar_specials(struct model_plan *p, struct special_test *test)
{
    const struct vocabulary *v = test->t->vocabularies->target;
    const char *unk = test->t->settings->unk.data;

    for (int32_t id = 0; id < vocabulary_size(v); id++) {
        const char *piece = vocabulary_piece(v, id);

        if (id != p->cfg.eos_id &&
            (is_special(test, piece) || !strcmp(piece, unk)))
            plan_bar(p, id);
    }
}

/* Say what was concluded from the tokens of languages. */
static bool report_languages(struct model_plan *p, const struct ct2_texts *t,
                             enum language_marks marks)
{
    if (marks == LANGUAGE_MARKS_M2M && t->small100 &&
        !family_note(p, "the model is taken for SMaLL-100, which needs only "
                     "the token of the target language, and not for M2M-100"))
        return false;
    return plan_languages_warn(p, marks);
}

enum status ct2_texts_plan(struct model_plan *p, const struct ct2_texts *t,
                           struct err *e)
{
    const struct ct2_vocabularies *v = t->vocabularies;
    struct special_test test = {
        t, t->settings->zero_start ? LANGUAGE_MARKS_OPUS
                                   : plan_language_marks(v->source),
    };
    bool both = test.marks != LANGUAGE_MARKS_OPUS && !t->small100;
    bool with_eos = test.marks != LANGUAGE_MARKS_NONE ||
                    t->settings->source_eos;
    enum status st = make_tokenizers(p, &test, e);

    if (!st)
        st = plan_languages(p, v->source, v->target, test.marks,
                            both ? LANGUAGE_TOKENS_BOTH
                                 : LANGUAGE_TOKENS_TARGET_FIRST,
                            t->options, e);
    if (!st) st = set_source_tokens(p, t, with_eos, e);
    if (!st) st = set_target_tokens(p, t, e);
    if (!st) bar_specials(p, &test);
    if (!st && !report_languages(p, t, test.marks))
        st = err_nomem(e, "report");
    return st;
}
