/* marian_side.c - reads the vocabulary of one side of a Marian model, and makes
 * a tokenizer whose ids are those of the vocabulary. */
#include "convert/marian_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/plan_bpe.h"
#include "convert/plan_languages.h"
#include "convert/vocabulary_spm.h"
#include "text/subword.h"

#define VOCAB_MOST (1 << 28)    /* bytes */

void marian_side_init(struct marian_side *m)
{
    *m = (struct marian_side){ .eos = -1, .unk = -1 };
}

void marian_side_release(struct marian_side *m)
{
    vocabulary_free(m->v);
    marian_side_init(m);
}

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

/* ---- the vocabulary ---- */

/* The pieces of a SentencePiece model, as a vocabulary. */
static enum status list_spm_pieces(struct vocabulary **out,
                                   const struct subword *sw, const char *name,
                                   struct err *e)
{
    size_t n = (size_t)subword_size(sw), len;
    const char **list = calloc(n, sizeof *list);
    struct strbuf text;
    bool ok = list != NULL;
    enum status st;

    strbuf_init(&text, 0);
    for (size_t id = 0; id < n && ok; id++) {
        const char *piece = subword_piece(sw, (int32_t)id, &len);

        ok = strbuf_add(&text, piece, len) && strbuf_addc(&text, 0);
    }
    /* The text does not move any more. */
    for (size_t id = 0, at = 0; id < n && ok; id++) {
        list[id] = text.data + at;
        at += strlen(list[id]) + 1;
    }
    st = ok ? vocabulary_make(out, list, n, name, e) : err_nomem(e, name);
    strbuf_release(&text);
    free(list);
    return st;
}

static enum status pieces_of_spm(struct vocabulary **out, const char *spm,
                                 size_t size, const char *name, struct err *e)
{
    struct subword *sw;
    struct err why;
    enum status st = subword_open(&sw, spm, size, &why);

    if (st) return err_set(e, st, "%s: %s", name, why.msg);
    st = list_spm_pieces(out, sw, name, e);
    subword_close(sw);
    return st;
}

static enum status read_vocab(struct vocabulary **out, const char *text,
                              size_t size, const char *name, struct err *e)
{
    if (ends_in(name, ".spm")) return pieces_of_spm(out, text, size, name, e);
    if (ends_in(name, ".fsv"))
        return err_set(e, ST_FORMAT, "%s: models whose words have factors "
                       "cannot be converted", name);
    return vocabulary_read(out, ends_in(name, ".yml") ||
                                        ends_in(name, ".yaml") ||
                                        ends_in(name, ".json")
                                    ? VOCABULARY_YAML : VOCABULARY_LINES,
                           text, size, name, e);
}

/* Older lists that Nematus made have names of their own for the first ids. */
static enum status find_special(struct marian_side *m, const char *name,
                                struct err *e)
{
    m->eos = vocabulary_find(m->v, "</s>");
    m->unk = vocabulary_find(m->v, "<unk>");
    if (m->eos < 0 && !vocabulary_find(m->v, "eos")) m->eos = 0;
    if (m->unk < 0 && vocabulary_find(m->v, "UNK") == 1) m->unk = 1;
    if (m->eos >= 0 && m->unk >= 0) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the vocabulary does not have the piece "
                   "\"%s\"", name, m->eos < 0 ? "</s>" : "<unk>");
}

enum status marian_side_read(struct marian_side *m, struct file_set *s,
                             const char *vocab, struct err *e)
{
    struct file_stream *f;
    char *text = NULL, *name;
    size_t size;
    enum status st = file_stream_open(&f, s, vocab, e);

    assert(!m->v);
    if (st) return st;
    name = strdup(file_stream_name(f));
    file_stream_close(f);
    if (!name) return err_nomem(e, vocab);
    st = file_set_read(s, vocab, VOCAB_MOST, &text, &size, e);
    if (!st) st = read_vocab(&m->v, text, size, name, e);
    if (!st) st = find_special(m, name, e);
    free(text);
    free(name);
    return st;
}

bool marian_side_same(const struct marian_side *a, const struct marian_side *b)
{
    int n = vocabulary_size(a->v);

    if (n != vocabulary_size(b->v)) return false;
    for (int32_t id = 0; id < n; id++)
        if (strcmp(vocabulary_piece(a->v, id), vocabulary_piece(b->v, id)))
            return false;
    return true;
}

/* ---- the tokenizer ---- */

/* Pieces that no text contains and that print nothing: those of sentences and
 * of languages. */
static bool marian_side_control(void *user, const char *piece)
{
    const struct marian_side *m = user;
    char code[16];

    return !strcmp(piece, vocabulary_piece(m->v, m->eos)) ||
           !strcmp(piece, "<s>") || !strcmp(piece, "<pad>") ||
           plan_language_code(LANGUAGE_MARKS_OPUS, piece, code, sizeof code);
}

static enum status spm_tokenizer(struct marian_side *m, struct strbuf *out,
                                 struct plan_side *side, struct file_set *s,
                                 const char *file, bool clean, struct err *e)
{
    const char *unknown = vocabulary_piece(m->v, m->unk);

    return (clean ? vocabulary_spm_clean : vocabulary_spm)(
        out, side, s, file, m->v, unknown, marian_side_control, m, e);
}

/* List the control pieces, in malloc memory. NULL: out of memory. */
static const char **side_controls(struct marian_side *m, size_t *n)
{
    int32_t all = vocabulary_size(m->v);
    const char **list = malloc((size_t)all * sizeof *list);

    *n = 0;
    for (int32_t id = 0; list && id < all; id++)
        if (marian_side_control(m, vocabulary_piece(m->v, id)))
            list[(*n)++] = vocabulary_piece(m->v, id);
    return list;
}

/* If there is a truecasing model, output is put into upper case too. */
static enum status bpe_tokenizer(struct marian_side *m, struct strbuf *out,
                                 struct plan_side *side, struct file_set *s,
                                 const struct marian_texts *t, struct err *e)
{
    char file[20], truecaser[20];
    bool truecases;
    size_t n;
    const char **control = side_controls(m, &n);
    enum status st = control ? ST_OK : err_nomem(e, "control pieces");

    snprintf(file, sizeof file, "%s.bpe", t->stem);
    snprintf(truecaser, sizeof truecaser, "%s.tcmodel", t->stem);
    truecases = file_set_has(s, truecaser, NULL);
    if (!st)
        st = plan_bpe_write(out, &(struct plan_bpe){
            .file = file, .form = BPE_CODES_SUBWORD_NMT,
            .marks = BPE_MARKS_AT,
            .steps = MOSES_OPUS | (truecases ? MOSES_DETRUECASE : 0),
            .language = t->language, .unk = m->unk,
            .control = control, .n_control = n,
            .truecaser = truecases ? truecaser : NULL,
        }, m->v, s, e);
    *side = (struct plan_side){ .rows = vocabulary_size(m->v),
                                .pieces = vocabulary_size(m->v),
                                .unk = m->unk };
    free(control);
    return st;
}

enum status marian_side_tokenizer(struct marian_side *m, struct strbuf *out,
                                  struct plan_side *side, struct file_set *s,
                                  const struct marian_texts *t, struct err *e)
{
    char spm[20];

    snprintf(spm, sizeof spm, "%s.spm", t->stem);
    if (file_set_has(s, spm, NULL))
        return spm_tokenizer(m, out, side, s, spm, t->clean, e);
    if (ends_in(t->vocab, ".spm"))
        return spm_tokenizer(m, out, side, s, t->vocab, t->clean, e);
    if (marian_side_has_bpe(s)) return bpe_tokenizer(m, out, side, s, t, e);
    return err_set(e, ST_FORMAT, "%s: there is neither \"%s\" nor \"%s.bpe\", "
                   "which say how texts are split", file_set_path(s), spm,
                   t->stem);
}

bool marian_side_has_bpe(const struct file_set *s)
{
    return file_set_has(s, "source.bpe", NULL) &&
           !file_set_has(s, "source.spm", NULL);
}
