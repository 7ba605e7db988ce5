/* m2m_vocabulary.c - makes the whole list of tokens of a multilingual model, in
 * the order that the code of transformers has.
 *
 * The list is first an array of strings, because added_tokens.json names ids.
 * The pieces of the base and the languages have their places by rules; a token
 * of added_tokens.json may only be where the rules have none, or the same
 * one. */
#include "convert/m2m_vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "convert/family.h"
#include "convert/json_config.h"
#include "convert/vocabulary_spm.h"
#include "text/subword.h"

#define SPM_MOST (1 << 28)      /* bytes */

struct m2m_list {
    char **piece;               /* [rows] NULL: a row without a token */
    int rows, n;                /* n: with a place so far */
    struct file_set *s;
    struct err *e;
};

static enum status too_many(const struct m2m_list *l)
{
    return err_set(l->e, ST_FORMAT, "%s/config.json: \"vocab_size\" is %d, but "
                   "the files and the list of languages have more tokens",
                   file_set_path(l->s), l->rows);
}

static enum status add_piece(struct m2m_list *l, const char *piece, size_t len)
{
    if (l->n >= l->rows) return too_many(l);
    l->piece[l->n] = strndup(piece, len);
    if (!l->piece[l->n]) return err_nomem(l->e, "vocabulary");
    l->n++;
    return ST_OK;
}

/* ---- the base ---- */

static enum status add_vocab_json(struct m2m_list *l)
{
    struct vocabulary *v;
    enum status st = vocabulary_of_file(&v, VOCABULARY_JSON_OBJECT, l->s,
                                        "vocab.json", l->e);

    for (int32_t id = 0; !st && id < vocabulary_size(v); id++) {
        const char *piece = vocabulary_piece(v, id);

        st = add_piece(l, piece, strlen(piece));
    }
    vocabulary_free(v);
    return st;
}

static bool piece_is(const struct subword *sw, int32_t id, const char *text)
{
    size_t n;
    const char *piece = subword_piece(sw, id, &n);

    return n == strlen(text) && !memcmp(piece, text, n);
}

/* The SentencePiece model begins with <unk>, <s>, </s>; in the vocabulary these
 * are <s>, <pad>, </s>, <unk>, and its other pieces follow. */
static enum status add_spm_pieces(struct m2m_list *l, const struct subword *sw)
{
    static const char *const special[] = { "<s>", "<pad>", "</s>", "<unk>" };
    enum status st = ST_OK;

    if (!piece_is(sw, 0, "<unk>") || !piece_is(sw, 1, "<s>") ||
        !piece_is(sw, 2, "</s>"))
        return err_set(l->e, ST_FORMAT, "%s/" M2M_SPM ": the first pieces "
                       "should be <unk>, <s> and </s>", file_set_path(l->s));
    for (size_t i = 0; i < sizeof special / sizeof *special && !st; i++)
        st = add_piece(l, special[i], strlen(special[i]));
    for (int32_t id = 3; id < subword_size(sw) && !st; id++) {
        size_t n;
        const char *piece = subword_piece(sw, id, &n);

        st = add_piece(l, piece, n);
    }
    return st;
}

static enum status add_spm(struct m2m_list *l)
{
    struct subword *sw = NULL;
    struct err why;
    size_t size;
    char *text;
    enum status st = file_set_read(l->s, M2M_SPM, SPM_MOST, &text, &size,
                                   l->e);

    if (st) return st;
    st = subword_open(&sw, text, size, &why);
    if (st)
        err_set(l->e, st, "%s/" M2M_SPM ": %s", file_set_path(l->s), why.msg);
    else
        st = add_spm_pieces(l, sw);
    subword_close(sw);
    free(text);
    return st;
}

static enum status add_languages(struct m2m_list *l, enum language_list which)
{
    enum status st = ST_OK;
    char token[32];

    for (int i = 0; i < language_list_count(which) && !st; i++) {
        bool fits = language_list_token(which, language_list_code(which, i),
                                        token, sizeof token);

        assert(fits);
        (void)fits;
        st = add_piece(l, token, strlen(token));
    }
    return st || which != LANGUAGES_NLLB ? st
                                         : add_piece(l, "<mask>", 6);
}

/* ---- added_tokens.json ---- */

struct added {
    struct m2m_list *list;
    struct json_config *json;
    enum status st;
};

static bool add_token(void *user, const char *name, const char *value)
{
    struct added *a = user;
    struct m2m_list *l = a->list;
    int id = json_config_int(a->json, name, JSON_REQUIRED, 0, INT_MAX);

    (void)value;
    a->st = json_config_check(a->json, l->e);
    if (a->st) return false;
    if (id >= l->rows) {
        a->st = too_many(l);
    } else if (!l->piece[id]) {
        l->piece[id] = strdup(name);
        if (!l->piece[id]) a->st = err_nomem(l->e, name);
    } else if (strcmp(l->piece[id], name)) {
        a->st = err_set(l->e, ST_FORMAT, "%s: \"%.60s\" has the id %d, which "
                        "should be that of \"%.60s\"",
                        json_config_name(a->json), name, id, l->piece[id]);
    }
    return !a->st;
}

static enum status add_added_tokens(struct m2m_list *l)
{
    struct added a = { .list = l };
    enum status st;

    if (!file_set_has(l->s, "added_tokens.json", NULL)) return ST_OK;
    st = json_config_open(&a.json, l->s, "added_tokens.json", l->e);
    if (st) return st;
    json_config_each(a.json, NULL, add_token, &a);
    json_config_close(a.json);
    return a.st;
}

/* ---- the vocabulary ---- */

enum status m2m_vocabulary_read(struct vocabulary **out, struct file_set *s,
                                enum language_list languages, int rows,
                                struct err *e)
{
    struct m2m_list l = { .rows = rows, .s = s, .e = e };
    enum status st;

    *out = NULL;
    l.piece = calloc((size_t)rows, sizeof *l.piece);
    if (!l.piece) return err_nomem(e, "vocabulary");
    st = file_set_has(s, "vocab.json", NULL) ? add_vocab_json(&l)
                                             : add_spm(&l);
    if (!st) st = add_languages(&l, languages);
    if (!st) st = add_added_tokens(&l);
    if (!st)
        st = vocabulary_make(out, (const char *const *)l.piece, (size_t)rows,
                             file_set_path(s), e);
    for (int i = 0; i < rows; i++) free(l.piece[i]);
    free(l.piece);
    return st;
}
