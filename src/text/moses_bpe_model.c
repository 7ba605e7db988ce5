/* moses_bpe_model.c - reads a BPE tokenizer with Moses rules.
 *
 * The head is lines of text in a fixed order. After it come the pieces, the
 * control ids, the merges, and the two lists of the truecaser. A string is its
 * length in two bytes, low byte first, and its bytes. */
#include "text/moses_bpe_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

/* What was not read yet. */
struct bpe_reader { const char *at, *end, *begin; };

static const char *const step_names[] = {
#define STEP(constant, name) name,
    MOSES_STEPS(STEP)
#undef STEP
    NULL
};

const char *moses_bpe_step_name(int bit)
{
    assert(bit >= 0 && bit <= MOSES_STEP_COUNT);
    return step_names[bit];
}

__attribute__((format(printf, 3, 4)))
static enum status bpe_damaged(const struct bpe_reader *r, struct err *e,
                               const char *fmt, ...)
{
    char what[100];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return err_set(e, ST_FORMAT, "tokenizer: the BPE model is damaged at byte "
                   "%zu: %s", (size_t)(r->at - r->begin), what);
}

static enum status bpe_nomem(struct err *e)
{
    return err_nomem(e, "the tokenizer");
}

/* ---- the head ----------------------------------------------------------- */

bool moses_bpe_language_fits(const char *code)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = strlen(code);

    return n <= MOSES_LANGUAGE_MAX && strspn(code, allowed) == n;
}

/* The value of the next line, which has this key. */
static enum status head_line(struct bpe_reader *r, const char *key,
                             struct str *value, struct err *e)
{
    size_t n = strlen(key), left = (size_t)(r->end - r->at);
    const char *end = left ? memchr(r->at, '\n', left) : NULL;

    if (!end || (size_t)(end - r->at) < n + 1 || memcmp(r->at, key, n)
        || r->at[n] != ' ') return bpe_damaged(r, e, "no line \"%s\"", key);
    *value = (struct str){ r->at + n + 1, (size_t)(end - r->at) - n - 1 };
    r->at = end + 1;
    return ST_OK;
}

static enum status head_number(struct bpe_reader *r, const char *key,
                               int32_t least, int32_t most, int32_t *out,
                               struct err *e)
{
    struct bpe_reader before = *r;
    struct str value;
    enum status st = head_line(r, key, &value, e);
    int64_t number = 0;

    if (st) return st;
    for (size_t i = 0; i < value.n && number >= 0; i++)
        number = i < 9 && value.p[i] >= '0' && value.p[i] <= '9'
            ? number * 10 + (value.p[i] - '0') : -1;
    if (!value.n || number < least || number > most)
        return bpe_damaged(&before, e, "\"%s\" is not %d to %d", key, least,
                           most);
    *out = (int32_t)number;
    return ST_OK;
}

/* One of two words. */
static enum status head_choice(struct bpe_reader *r, const char *key,
                               const char *const words[2], bool *second,
                               struct err *e)
{
    struct bpe_reader before = *r;
    struct str value;
    enum status st = head_line(r, key, &value, e);

    if (st) return st;
    *second = str_eq(value, str_of(words[1]));
    if (*second || str_eq(value, str_of(words[0]))) return ST_OK;
    return bpe_damaged(&before, e, "\"%s\" is not %s or %s", key, words[0],
                       words[1]);
}

static enum status head_language(struct bpe_reader *r,
                                 struct moses_bpe_head *h, struct err *e)
{
    struct bpe_reader before = *r;
    struct str value;
    enum status st = head_line(r, "language", &value, e);

    if (st) return st;
    if (value.n > MOSES_LANGUAGE_MAX)
        return bpe_damaged(&before, e, "the language is too long");
    memcpy(h->language, value.p, value.n);
    h->language[value.n] = '\0';
    if (strlen(h->language) == value.n && moses_bpe_language_fits(h->language))
        return ST_OK;
    return bpe_damaged(&before, e, "the language is not a code");
}

static unsigned step_of(struct str name)
{
    for (int bit = 0; bit < MOSES_STEP_COUNT; bit++)
        if (str_eq(name, str_of(step_names[bit]))) return 1u << bit;
    return 0;
}

static enum status head_steps(struct bpe_reader *r, struct moses_bpe_head *h,
                              struct err *e)
{
    struct bpe_reader before = *r;
    struct str value;
    enum status st = head_line(r, "steps", &value, e);

    while (!st && value.n) {
        const char *space = memchr(value.p, ' ', value.n);
        size_t n = space ? (size_t)(space - value.p) : value.n;
        unsigned step = step_of((struct str){ value.p, n });

        if (!step || h->steps & step)
            return bpe_damaged(&before, e, "a step is not known");
        h->steps |= step;
        value.p += n + (space != NULL);
        value.n -= n + (space != NULL);
    }
    return st;
}

static enum status read_head(struct bpe_reader *r, struct moses_bpe_head *h,
                             struct err *e)
{
    static const char *const marks[] = { "at", "word-end" };
    static const char *const ends[] = { "glued", "apart" };
    bool word_end = false;
    enum status st = head_language(r, h, e);

    if (!st) st = head_steps(r, h, e);
    if (!st) st = head_choice(r, "marks", marks, &word_end, e);
    h->marks = word_end ? BPE_MARKS_WORD_END : BPE_MARKS_AT;
    if (!st) st = head_choice(r, "end", ends, &h->apart, e);
#define NUMBER(field, key, least, most)                                       \
    if (!st) st = head_number(r, key, least, most, &h->field, e);
    MOSES_BPE_NUMBERS(NUMBER)
#undef NUMBER
    if (st) return st;
    if (h->unk >= h->n_pieces || h->n_control >= h->n_pieces)
        return bpe_damaged(r, e, "an id is not one of a piece");
    if (r->at == r->end || *r->at++ != '\n')
        return bpe_damaged(r, e, "no empty line after the head");
    return ST_OK;
}

/* ---- strings ------------------------------------------------------------ */

static enum status read_length(struct bpe_reader *r, size_t *n, struct err *e)
{
    if (r->end - r->at < 2) return bpe_damaged(r, e, "it is incomplete");
    *n = (size_t)(uint8_t)r->at[0] | (size_t)(uint8_t)r->at[1] << 8;
    if (*n > MOSES_BPE_TEXT_MAX) return bpe_damaged(r, e, "a text is too long");
    r->at += 2;
    return ST_OK;
}

static enum status read_text(struct bpe_reader *r, size_t n, struct str *s,
                             struct err *e)
{
    if ((size_t)(r->end - r->at) < n)
        return bpe_damaged(r, e, "it is incomplete");
    if (utf8_check(r->at, n) < n || memchr(r->at, 0, n))
        return bpe_damaged(r, e, "a text is not UTF-8");
    *s = (struct str){ r->at, n };
    r->at += n;
    return ST_OK;
}

static enum status read_string(struct bpe_reader *r, struct str *s,
                               struct err *e)
{
    size_t n;
    enum status st = read_length(r, &n, e);

    return st ? st : read_text(r, n, s, e);
}

/* Two lengths, and then both texts. */
static enum status read_pair(struct bpe_reader *r, struct str *a,
                             struct str *b, struct err *e)
{
    struct bpe_reader before = *r;
    size_t n = 0, m = 0;
    enum status st = read_length(r, &n, e);

    if (!st) st = read_length(r, &m, e);
    if (!st && (!n || !m)) st = bpe_damaged(&before, e, "a text is empty");
    if (!st) st = read_text(r, n, a, e);
    return st ? st : read_text(r, m, b, e);
}

/* ---- the parts ---------------------------------------------------------- */

static enum status read_bpe_pieces(struct bpe_reader *r,
                                   struct moses_bpe_model *m, struct err *e)
{
    size_t n = (size_t)m->head.n_pieces;
    struct str s;
    enum status st = ST_OK;

    /* Every piece takes two bytes at least. */
    if ((size_t)(r->end - r->at) / 2 < n)
        return bpe_damaged(r, e, "it is incomplete");
    m->piece = calloc(n, sizeof *m->piece);
    m->named = calloc(n, sizeof *m->named);
    if (!m->piece || !m->named) return bpe_nomem(e);
    for (size_t id = 0; id < n; id++) {
        int32_t name;

        if ((st = read_string(r, &s, e))) return st;
        m->piece[id] = (struct bpe_piece){ s.p, (uint16_t)s.n, false };
        name = string_ids_add(&m->names, s);
        if (name < 0) return bpe_nomem(e);
        m->named[name] = (int32_t)id;
    }
    return st;
}

static enum status read_control(struct bpe_reader *r,
                                struct moses_bpe_model *m, struct err *e)
{
    int64_t before = -1;

    for (int32_t i = 0; i < m->head.n_control; i++) {
        const uint8_t *b = (const uint8_t *)r->at;
        int64_t id;

        if (r->end - r->at < 4) return bpe_damaged(r, e, "it is incomplete");
        id = b[0] | b[1] << 8 | b[2] << 16 | (int64_t)b[3] << 24;
        if (id <= before || id >= m->head.n_pieces || id == m->head.unk)
            return bpe_damaged(r, e, "the control ids are wrong");
        m->piece[id].control = true;
        before = id;
        r->at += 4;
    }
    return ST_OK;
}

static enum status read_merges(struct bpe_reader *r, struct moses_bpe_model *m,
                               struct err *e)
{
    struct str left, right;
    enum status st = ST_OK;
    bool known;

    m->merges.apart = m->head.apart;
    for (int32_t i = 0; i < m->head.n_merges && !st; i++) {
        struct bpe_reader before = *r;

        st = read_pair(r, &left, &right, e);
        if (st) break;
        if (left.n + right.n > MOSES_BPE_TEXT_MAX)
            st = bpe_damaged(&before, e, "the symbols are too long");
        else if (!bpe_merges_add(&m->merges, left, right, &known))
            st = bpe_nomem(e);
        else if (known) st = bpe_damaged(&before, e, "a merge is repeated");
    }
    return st;
}

static enum status read_words(struct bpe_reader *r, struct sorted_words *s,
                              int32_t n, bool pairs, struct err *e)
{
    size_t room = (size_t)n + 1;
    enum status st = ST_OK;

    if ((r->end - r->at) / (pairs ? 4 : 2) < n)
        return bpe_damaged(r, e, "it is incomplete");
    s->key = calloc(room, sizeof *s->key);
    s->value = pairs ? calloc(room, sizeof *s->value) : NULL;
    if (!s->key || (pairs && !s->value)) return bpe_nomem(e);
    for (; s->n < (size_t)n && !st; s->n += !st)
        st = pairs ? read_pair(r, &s->key[s->n], &s->value[s->n], e)
                   : read_string(r, &s->key[s->n], e);
    if (!st && !sorted_words_sound(s))
        st = bpe_damaged(r, e, "its words are not sorted");
    return st;
}

/* ---- what follows from them --------------------------------------------- */

/* The piece of this name that a text may contain. */
static int32_t text_piece(const struct moses_bpe_model *m, struct str name)
{
    int32_t i = string_ids_find(&m->names, name);

    return i < 0 || m->piece[m->named[i]].control ? m->head.unk : m->named[i];
}

static bool ends_word(struct str s)
{
    size_t n = sizeof BPE_WORD_END - 1;

    return s.n >= n && !memcmp(s.p + s.n - n, BPE_WORD_END, n);
}

/* Pieces that are one character become symbols, so that a character that no
 * merge has finds its piece. */
static bool add_characters(struct moses_bpe_model *m)
{
    size_t mark = sizeof BPE_WORD_END - 1;
    char text[4 + sizeof BPE_WORD_END];

    for (int32_t id = 0; id < m->head.n_pieces; id++) {
        struct str s = { m->piece[id].text, m->piece[id].len };
        int len;

        if (!s.n) continue;
        (void)utf8_next(s.p, s.n, &len);
        s.n = (size_t)len;
        memcpy(text, s.p, s.n);
        memcpy(text + s.n, BPE_WORD_END, mark);
        if (!bpe_merges_add_symbol(&m->merges, s)
            || !bpe_merges_add_symbol(&m->merges, (struct str){
                    text, s.n + mark })) return false;
    }
    return true;
}

static struct bpe_forms forms_of(const struct moses_bpe_model *m,
                                 struct str symbol)
{
    char text[MOSES_BPE_TEXT_MAX + 8];
    struct str stem = symbol;

    if (m->head.marks == BPE_MARKS_WORD_END) {
        int32_t piece = text_piece(m, symbol);

        return (struct bpe_forms){ piece, piece };
    }
    assert(symbol.n + 2 <= sizeof text);
    memcpy(text, symbol.p, symbol.n);
    memcpy(text + symbol.n, "@@", 2);
    if (ends_word(stem)) stem.n -= sizeof BPE_WORD_END - 1;
    return (struct bpe_forms){
        text_piece(m, (struct str){ text, symbol.n + 2 }), text_piece(m, stem)
    };
}

static enum status derive_forms(struct moses_bpe_model *m, struct err *e)
{
    if (!add_characters(m)) return bpe_nomem(e);
    bpe_merges_finish(&m->merges);
    m->forms = calloc(m->merges.symbols.n, sizeof *m->forms);
    if (!m->forms) return bpe_nomem(e);
    for (size_t i = 0; i < m->merges.symbols.n; i++)
        m->forms[i] = forms_of(m, string_ids_text(&m->merges.symbols,
                                                  (int32_t)i));
    return ST_OK;
}

enum status moses_bpe_model_init(struct moses_bpe_model *m, const void *bytes,
                                 size_t size, struct err *e)
{
    struct bpe_reader r = { bytes, (const char *)bytes + size, bytes };
    enum status st;

    memset(m, 0, sizeof *m);
    if (size > INT32_MAX)
        return err_set(e, ST_FORMAT, "tokenizer: the model is over 2 GiB");
    assert(size >= sizeof MOSES_BPE_MAGIC - 1);
    r.at += sizeof MOSES_BPE_MAGIC - 1;
    st = read_head(&r, &m->head, e);
    if (!st) st = read_bpe_pieces(&r, m, e);
    if (!st) st = read_control(&r, m, e);
    if (!st) st = read_merges(&r, m, e);
    if (!st) st = read_words(&r, &m->truecaser.best, m->head.n_best, true, e);
    if (!st) st = read_words(&r, &m->truecaser.known, m->head.n_known, false,
                             e);
    if (!st && r.at < r.end) st = bpe_damaged(&r, e, "more follows");
    if (!st) st = derive_forms(m, e);
    moses_language_init(&m->language, m->head.language,
                        m->head.steps & MOSES_PERL);
    return st;
}

void moses_bpe_model_release(struct moses_bpe_model *m)
{
    free(m->piece);
    free(m->named);
    free(m->forms);
    string_ids_release(&m->names);
    bpe_merges_release(&m->merges);
    truecaser_release(&m->truecaser);
    memset(m, 0, sizeof *m);
}
