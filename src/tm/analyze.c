/* analyze.c - turns a text into terms for BM25 and units for edit distance.
 *
 * Terms are stored in index files. A change of the hash function, or of the
 * bytes that are hashed, therefore needs a new SEGMENT_VERSION. XXH3 returns
 * the same number for the same bytes on every processor. */
#include "tm/analyze.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "text/utf8.h"
#include "text/words.h"

void terms_release(struct terms *t)
{
    free(t->at);
    pieces_release(&t->pieces);
    *t = (struct terms){ 0 };
}

static bool analyze_add_term(struct terms *t, uint64_t term)
{
    if (t->n == t->cap && !mem_grow(&t->at, &t->cap, t->n + 1, sizeof *t->at))
        return false;
    t->at[t->n++] = term;
    return true;
}

static enum status word_terms(struct str text, struct terms *t, struct err *e)
{
    char lower[WORD_LOWER_MAX];
    struct words w;

    words_begin(&w, text);
    while (words_next(&w)) {
        struct str word = { text.p + w.begin, w.end - w.begin };

        if (w.kind != WORD_TERM) continue;
        if (!analyze_add_term(t, XXH3_64bits(lower, words_lower(word, lower))))
            return err_nomem(e, "the words of a text");
    }
    return ST_OK;
}

static uint64_t piece_term(int32_t id)
{
    uint32_t u = (uint32_t)id;
    uint8_t le[4] = { (uint8_t)u, (uint8_t)(u >> 8), (uint8_t)(u >> 16),
                      (uint8_t)(u >> 24) };

    return XXH3_64bits(le, sizeof le);
}

static enum status piece_terms(const struct subword *sw, struct str text,
                               struct terms *t, struct err *e)
{
    enum status st;

    t->pieces.n = 0;
    st = subword_encode(sw, text.p, text.n, &t->pieces, e);
    if (st) return st;
    for (size_t i = 0; i < t->pieces.n; i++)
        if (!analyze_add_term(t, piece_term(t->pieces.at[i].id)))
            return err_nomem(e, "the pieces of a text");
    return ST_OK;
}

enum status analyze(const struct analyzer *a, struct str text,
                    struct terms *t, struct err *e)
{
    t->n = 0;
    if (a->subword) return piece_terms(a->subword, text, t, e);
    return word_terms(text, t, e);
}

/* ---- units for edit distance --------------------------------------------- */

void symbols_release(struct symbols *s)
{
    free(s->at);
    pieces_release(&s->pieces);
    *s = (struct symbols){ 0 };
}

static bool add_symbol(struct symbols *s, uint32_t symbol)
{
    if (s->n == s->cap && !mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at))
        return false;
    s->at[s->n++] = symbol;
    return true;
}

/* Add a word or punctuation mark of a text without a tokenizer. */
static bool analyze_add_word(struct symbols *s, const char *p, size_t n)
{
    s->chars += (uint32_t)utf8_count(p, n) + (s->n > 0);
    return add_symbol(s, (uint32_t)XXH3_64bits(p, n));
}

/* Add each code point of a text between words: "..." is three units. */
static bool add_marks(struct symbols *s, const char *p, size_t n)
{
    int len;

    for (size_t i = 0; i < n; i += (size_t)len) {
        (void)utf8_next(p + i, n - i, &len);
        if (!analyze_add_word(s, p + i, (size_t)len)) return false;
    }
    return true;
}

static enum status word_symbols(struct str text, struct symbols *s,
                                struct err *e)
{
    struct words w;
    bool ok = true;

    words_begin(&w, text);
    while (ok && words_next(&w)) {
        const char *p = text.p + w.begin;
        size_t n = w.end - w.begin;

        if (w.kind == WORD_TERM) ok = analyze_add_word(s, p, n);
        else if (w.kind == WORD_OTHER) ok = add_marks(s, p, n);
    }
    return ok ? ST_OK : err_nomem(e, "the words of a text");
}

static enum status piece_symbols(const struct subword *sw, struct str text,
                                 struct symbols *s, struct err *e)
{
    enum status st;

    s->pieces.n = 0;
    st = subword_encode(sw, text.p, text.n, &s->pieces, e);
    if (st) return st;
    for (size_t i = 0; i < s->pieces.n; i++)
        if (!add_symbol(s, (uint32_t)s->pieces.at[i].id))
            return err_nomem(e, "the pieces of a text");
    s->chars = symbols_chars(sw, s->at, s->n);
    return ST_OK;
}

enum status symbols_of(const struct subword *sw, struct str text,
                       struct symbols *s, struct err *e)
{
    s->n = 0;
    s->chars = 0;
    if (sw) return piece_symbols(sw, text, s, e);
    return word_symbols(text, s, e);
}

uint32_t symbols_chars(const struct subword *sw, const uint32_t *at, size_t n)
{
    uint32_t n_pieces = (uint32_t)subword_size(sw);
    uint32_t chars = n ? (uint32_t)(n - 1) : 0;

    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *p;

        if (at[i] >= n_pieces) continue;
        p = subword_piece(sw, (int32_t)at[i], &len);
        chars += (uint32_t)utf8_count(p, len);
    }
    return chars;
}
