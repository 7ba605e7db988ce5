/* word_keys.c - splits a text into words, pieces or tokens and computes their
 * keys. XXH3 returns the same number for the same bytes on every processor. */
#include "align/word_keys.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"
#include "text/words.h"

void word_keys_release(struct word_keys *k)
{
    free(k->at);
    free(k->lower);
    pieces_release(&k->pieces);
    *k = (struct word_keys){ 0 };
}

static bool word_keys_push(struct word_keys *k, uint64_t key, size_t begin,
                           size_t end)
{
    assert(begin <= end && end <= UINT32_MAX);
    if (k->n == k->cap && !mem_grow(&k->at, &k->cap, k->n + 1, sizeof *k->at))
        return false;
    k->at[k->n++] = (struct word_key){ key, (uint32_t)begin, (uint32_t)end };
    return true;
}

/* Add text[begin, end) as one word. */
static bool word_keys_add(struct word_keys *k, const struct word_splitter *s,
                          struct str text, size_t begin, size_t end)
{
    struct str word = { text.p + begin, end - begin };

    if (s->keep_case)
        return word_keys_push(k, XXH3_64bits(word.p, word.n), begin, end);
    /* words_lower writes at most 3 bytes for each byte of the word. */
    if (!mem_grow(&k->lower, &k->cap_lower, 3 * word.n, 1)) return false;
    word.n = words_lower(word, k->lower);
    return word_keys_push(k, XXH3_64bits(k->lower, word.n), begin, end);
}

/* Add each code point between two words: "..." is three words. */
static bool word_keys_add_marks(struct word_keys *k,
                                const struct word_splitter *s,
                                struct str text, size_t begin, size_t end)
{
    int len;

    for (size_t i = begin; i < end; i += (size_t)len) {
        (void)utf8_next(text.p + i, end - i, &len);
        if (!word_keys_add(k, s, text, i, i + (size_t)len)) return false;
    }
    return true;
}

static bool split_words(const struct word_splitter *s, struct str text,
                        struct word_keys *k)
{
    struct words w;
    bool ok = true;

    words_begin(&w, text);
    while (ok && words_next(&w)) {
        if (w.kind == WORD_TERM)
            ok = word_keys_add(k, s, text, w.begin, w.end);
        else if (w.kind == WORD_OTHER)
            ok = word_keys_add_marks(k, s, text, w.begin, w.end);
    }
    return ok;
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool split_spaces(const struct word_splitter *s, struct str text,
                         struct word_keys *k)
{
    size_t at = 0;

    for (;;) {
        size_t begin;

        while (at < text.n && is_separator(text.p[at])) at++;
        if (at == text.n) return true;
        begin = at;
        while (at < text.n && !is_separator(text.p[at])) at++;
        if (!word_keys_add(k, s, text, begin, at)) return false;
    }
}

static enum status split_pieces(const struct subword *sw, struct str text,
                                struct word_keys *k, struct err *e)
{
    struct pieces *p = &k->pieces;
    enum status st;

    p->n = 0;
    st = subword_encode(sw, text.p, text.n, p, e);
    if (st) return st;
    for (size_t i = 0; i < p->n; i++)
        if (!word_keys_push(k, (uint32_t)p->at[i].id, p->at[i].begin,
                            p->at[i].end))
            return err_nomem(e, "the pieces of a text");
    return ST_OK;
}

enum status word_keys_of(const struct word_splitter *s,
                         enum bitext_which which, struct str text,
                         struct word_keys *k, struct err *e)
{
    bool ok;

    assert(text.n <= UINT32_MAX);
    k->n = 0;
    if (s->split == SPLIT_PIECES)
        return split_pieces(s->subword[which], text, k, e);
    ok = s->split == SPLIT_SPACES ? split_spaces(s, text, k)
                                  : split_words(s, text, k);
    return ok ? ST_OK : err_nomem(e, "the words of a text");
}
