/* ct2_texts.c - reads the vocabularies of a CTranslate2 model, and makes
 * tokenizers, rows and ids of a plan from them. */
#include "convert/ct2_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "convert/spm_rewrite.h"

#define VOCABULARY_BYTES (1 << 28)
#define NAME_SIZE 300

/* ---- vocabularies ---- */

static enum status read_vocabulary(struct vocabulary **out,
                                   struct file_set *s, const char *name,
                                   enum vocabulary_form form, const char *unk,
                                   struct err *e)
{
    struct strbuf whole;
    size_t size;
    char *text;
    enum status st = file_set_read(s, name, VOCABULARY_BYTES, &text, &size, e);

    if (st) return st;
    strbuf_init(&whole, 0);
    if (!family_file_name(&whole, s, name)) st = err_nomem(e, name);
    if (!st) st = vocabulary_read(out, form, text, size, whole.data, e);
    if (!st && vocabulary_find(*out, unk) < 0)
        st = vocabulary_append(*out, unk, e);
    strbuf_release(&whole);
    free(text);
    return st;
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

/* Whether a piece is a token that no text contains. */
static bool is_special(const struct ct2_texts *t, enum language_marks marks,
                       const char *piece)
{
    const struct ct2_settings *c = t->settings;
    char code[sizeof ((struct config *)0)->source_lang];

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(piece, specials[i])) return true;
    return !strcmp(piece, c->bos.data) || !strcmp(piece, c->eos.data) ||
           !strcmp(piece, c->start.data) ||
           (t->target_prefix[0] && !strcmp(piece, t->target_prefix)) ||
           is_filler(piece) ||
           plan_language_code(marks, piece, code, sizeof code);
}

/* The special pieces of a vocabulary but for `unk`. */
struct special_list {
    const char **piece;         /* [n] */
    int32_t *id;                /* [n] */
    size_t n, cap_pieces, cap_ids;
};

static bool list_specials(struct special_list *l, const struct ct2_texts *t,
                          enum language_marks marks, const struct vocabulary *v)
{
    for (int32_t id = 0; id < vocabulary_size(v); id++) {
        const char *piece = vocabulary_piece(v, id);

        if (!is_special(t, marks, piece) ||
            !strcmp(piece, t->settings->unk.data))
            continue;
        if (!mem_grow(&l->piece, &l->cap_pieces, l->n + 1,
                      sizeof *l->piece) ||
            !mem_grow(&l->id, &l->cap_ids, l->n + 1, sizeof *l->id))
            return false;
        l->piece[l->n] = piece;
        l->id[l->n++] = id;
    }
    return true;
}

static void release_specials(struct special_list *l)
{
    free(l->piece);
    free(l->id);
}

/* ---- tokenizers ---- */

/* One side of the model. */
struct ct2_side {
    const struct vocabulary *v;
    const struct tokenizer_file *file;
    struct strbuf *out;         /* of the plan */
    struct plan_side rows;      /* result */
};

static enum status make_spm(struct ct2_side *side, const struct ct2_texts *t,
                            const struct special_list *l, struct err *e)
{
    struct spm_rewrite r = { .n = 0 };
    enum status st;

    strbuf_init(&r.model, 0);
    st = spm_rewrite(&r, side->file->bytes, side->file->size, side->v,
                     t->settings->unk.data, l->piece, l->n, side->file->name,
                     e);
    if (!st && !strbuf_add(side->out, r.model.data, r.model.len))
        st = err_nomem(e, "tokenizer");
    strbuf_release(&r.model);
    side->rows = (struct plan_side){ vocabulary_size(side->v), r.n, r.unk };
    return st;
}

static enum status make_tokenizer(struct ct2_side *side,
                                  const struct ct2_texts *t,
                                  enum language_marks marks, struct err *e)
{
    struct special_list l = { 0 };
    enum status st;

    if (!list_specials(&l, t, marks, side->v))
        st = err_nomem(e, "tokenizer");
    else
        st = make_spm(side, t, &l, e);
    release_specials(&l);
    return st;
}

/* The two sides have one tokenizer if all that it is made of is the same. */
static enum status make_tokenizers(struct model_plan *p,
                                   const struct ct2_texts *t,
                                   enum language_marks marks, struct err *e)
{
    const struct ct2_vocabularies *v = t->vocabularies;
    const struct tokenizer_files *files = t->tokenizers;
    struct ct2_side source = {
        .v = v->source, .file = &files->source, .out = &p->source_tokenizer,
    };
    struct ct2_side target = {
        .v = v->target,
        .file = files->target.bytes ? &files->target : &files->source,
        .out = &p->target_tokenizer,
    };
    bool one = v->source == v->target && source.file == target.file;
    enum status st = make_tokenizer(&source, t, marks, e);

    if (!st && !one) st = make_tokenizer(&target, t, marks, e);
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
static void bar_specials(struct model_plan *p, const struct ct2_texts *t,
                         enum language_marks marks)
{
    const struct vocabulary *v = t->vocabularies->target;

    for (int32_t id = 0; id < vocabulary_size(v); id++) {
        const char *piece = vocabulary_piece(v, id);

        if (id != p->cfg.eos_id && (is_special(t, marks, piece) ||
                                    !strcmp(piece, t->settings->unk.data)))
            plan_bar(p, id);
    }
}

enum status ct2_texts_plan(struct model_plan *p, const struct ct2_texts *t,
                           struct err *e)
{
    const struct vocabulary *source = t->vocabularies->source;
    enum language_marks marks = t->settings->zero_start
                                    ? LANGUAGE_MARKS_OPUS
                                    : plan_language_marks(source);
    bool both = marks != LANGUAGE_MARKS_OPUS && !t->small100;
    bool with_eos = marks != LANGUAGE_MARKS_NONE || t->settings->source_eos;
    enum status st = make_tokenizers(p, t, marks, e);

    if (!st)
        st = plan_languages(p, source, t->vocabularies->target, marks,
                            both ? LANGUAGE_TOKENS_BOTH
                                 : LANGUAGE_TOKENS_TARGET_FIRST,
                            t->options, e);
    if (!st) st = set_source_tokens(p, t, with_eos, e);
    if (!st) st = set_target_tokens(p, t, e);
    if (!st) bar_specials(p, t, marks);
    return st;
}
