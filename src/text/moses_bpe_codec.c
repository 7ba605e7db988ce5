/* moses_bpe_codec.c - encodes text as piece ids and decodes ids to text, with
 * Moses rules and a list of merges.
 *
 * Encoding: the text goes through the steps of the model, which keep for each
 * byte the offset in the user's text that it comes from; then each word is
 * split by its merges, and the spans of the pieces follow from the origins.
 * Decoding uses the same means the other way round: the pieces are joined to
 * words whose bytes know the piece that they come from, and after the
 * detokenizer the origins tell where the text of each piece ends.
 *
 * Invariant of struct bpe_emitter: the pieces that were appended cover the
 * original text up to covered_to, but for white space. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/moses_bpe_model.h"
#include "text/moses_detokenize.h"
#include "text/moses_normalize.h"
#include "text/moses_tokenize.h"
#include "text/tokenizer_kind.h"
#include "text/utf8.h"

/* ---- the model ---------------------------------------------------------- */

static void moses_bpe_close(void *t)
{
    if (t) moses_bpe_model_release(t);
    free(t);
}

static enum status moses_bpe_open(void **out, const void *model, size_t size,
                                  struct err *e)
{
    struct moses_bpe_model *m = malloc(sizeof *m);
    enum status st;

    *out = NULL;
    if (!m) return err_nomem(e, "the tokenizer");
    st = moses_bpe_model_init(m, model, size, e);
    if (st) moses_bpe_close(m);
    else *out = m;
    return st;
}

static int moses_bpe_size(const void *t)
{
    const struct moses_bpe_model *m = t;

    return m->head.n_pieces;
}

static const char *moses_bpe_piece(const void *t, int32_t id, size_t *len)
{
    const struct moses_bpe_model *m = t;

    *len = m->piece[id].len;
    return m->piece[id].text;
}

static int32_t moses_bpe_find(const void *t, const char *piece, size_t len)
{
    const struct moses_bpe_model *m = t;
    int32_t name = string_ids_find(&m->names, (struct str){ piece, len });

    return name < 0 ? -1 : m->named[name];
}

static int32_t moses_bpe_unk(const void *t)
{
    const struct moses_bpe_model *m = t;

    return m->head.unk;
}

static bool moses_bpe_is_control(const void *t, int32_t id)
{
    const struct moses_bpe_model *m = t;

    return m->piece[id].control;
}

/* Whether another word follows the piece. If so, *len becomes the length of the
 * piece without its mark. */
static bool piece_ends_word(const struct moses_bpe_model *m, int32_t id,
                            size_t *len)
{
    const struct bpe_piece *p = &m->piece[id];
    size_t mark = sizeof BPE_WORD_END - 1;

    *len = p->len;
    if (m->head.marks == BPE_MARKS_AT) {
        if (p->len < 2 || memcmp(p->text + p->len - 2, "@@", 2)) return true;
        *len -= 2;
        return false;
    }
    if (id == m->head.unk) return true;
    if (p->len < mark || memcmp(p->text + p->len - mark, BPE_WORD_END, mark))
        return false;
    *len -= mark;
    return true;
}

static bool moses_bpe_begins_word(const void *t, int32_t before, int32_t id)
{
    const struct moses_bpe_model *m = t;
    size_t len;

    (void)id;
    return before < 0 || m->piece[before].control
           || piece_ends_word(m, before, &len);
}

/* ---- encode ------------------------------------------------------------- */

static void run_steps(const struct moses_bpe_model *m, struct aligned_work *w)
{
    const struct moses_language *l = &m->language;
    unsigned steps = m->head.steps;

    if (steps & MOSES_WIDE) moses_narrow(w, l, steps & MOSES_WIDE_ONE_QUOTE);
    if (steps & MOSES_BLANK_CONTROLS) moses_blank_controls(w);
    if (steps & MOSES_NORMALIZE) moses_punctuation(w, l);
    if (steps & MOSES_DROP_CONTROLS) moses_drop_controls(w);
    if (steps & MOSES_TOKENIZE) moses_tokenize(w, l, steps & MOSES_DASHES);
    else moses_tokenize_spaces(w);
    if (steps & MOSES_ESCAPE) moses_escape(w);
    truecaser_apply(&m->truecaser, w);
}

struct bpe_emitter {
    const struct aligned_text *t;
    struct str original;
    struct pieces *out;
    size_t unit_end;            /* where the unit that contains the last byte of
                                   the previous piece ends, in t->text */
    uint32_t covered_to;        /* end of the previous span */
};

/* Cut white space off both ends of a span, unless it has nothing else. */
static void trim_span(struct str text, struct piece *p)
{
    uint32_t begin = p->begin, end = p->end, at;
    int len;

    while (begin < end && utf8_is_space(utf8_next(text.p + begin, end - begin,
                                                  &len)))
        begin += (uint32_t)len;
    if (begin == end) return;
    for (;; end = at) {
        at = end;
        do at--;
        while (at > begin && ((unsigned char)text.p[at] & 0xC0) == 0x80);
        if (!utf8_is_space(utf8_next(text.p + at, end - at, &len))
            || (uint32_t)len != end - at) break;
    }
    p->begin = begin;
    p->end = end;
}

/* The span of bytes [begin, end) of the changed text. It begins where the one
 * before has ended, so what a step has removed belongs to some piece. A unit
 * that several pieces share belongs to the first of them. */
static struct piece moses_locate(struct bpe_emitter *em, int32_t id,
                                 size_t begin, size_t end)
{
    const struct aligned_text *t = em->t;
    struct piece p = { id, em->covered_to, em->covered_to };

    assert(begin < end && end <= t->n);
    if (em->unit_end < end) {
        em->unit_end = end;
        while (em->unit_end < t->n
               && t->from[em->unit_end] == t->from[end - 1]) em->unit_end++;
    }
    if (t->from[em->unit_end] > p.begin) p.end = t->from[em->unit_end];
    em->covered_to = p.end;
    trim_span(em->original, &p);
    return p;
}

static bool moses_push(struct bpe_emitter *em, struct piece p)
{
    struct pieces *out = em->out;

    assert(p.begin <= p.end && p.end <= em->original.n);
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return false;
    out->at[out->n++] = p;
    return true;
}

/* Split the word [begin, end) and append its pieces. */
static bool emit_word(const struct moses_bpe_model *m, struct bpe_emitter *em,
                      struct bpe_word *word, size_t begin, size_t end)
{
    if (!bpe_split(&m->merges, word, em->t->text, (uint32_t)begin,
                   (uint32_t)end)) return false;
    for (size_t i = 0; i < word->n; i++) {
        const struct bpe_part *p = &word->part[i];
        bool last = i + 1 == word->n;
        int32_t id = m->head.unk;

        if (p->symbol >= 0)
            id = last ? m->forms[p->symbol].last : m->forms[p->symbol].inner;
        if (!moses_push(em, moses_locate(em, id, p->begin,
                                         last ? end : p[1].begin)))
            return false;
    }
    return true;
}

static bool emit_words(const struct moses_bpe_model *m, struct bpe_emitter *em)
{
    const struct aligned_text *t = em->t;
    struct bpe_word word = { 0 };
    bool ok = true;
    size_t end;

    for (size_t at = 0; ok && at < t->n; at = end + 1) {
        const char *space = memchr(t->text + at, ' ', t->n - at);

        end = space ? (size_t)(space - t->text) : t->n;
        if (end > at) ok = emit_word(m, em, &word, at, end);
    }
    bpe_word_release(&word);
    return ok;
}

static enum status moses_bpe_encode(const void *t, const char *text,
                                    size_t len, struct pieces *out,
                                    struct err *e)
{
    const struct moses_bpe_model *m = t;
    struct aligned_work w = { 0 };
    struct bpe_emitter em = { .t = &w.now, .original = { text, len },
                              .out = out };
    size_t first = out->n;
    enum status st = ST_OK;

    if (!len) return ST_OK;
    aligned_set(&w, em.original);
    run_steps(m, &w);
    if (w.too_long) st = err_set(e, ST_LIMIT, "the text is too long to be "
                                 "split into words");
    else if (w.failed || !emit_words(m, &em))
        st = err_nomem(e, "the pieces of a text");
    if (st) out->n = first;
    aligned_release(&w);
    return st;
}

/* ---- decode ------------------------------------------------------------- */

/* Join the pieces to words, with one space between two. The origin of a byte is
 * the index of its piece; that of a space, of the piece after it. */
static void join_pieces(const struct moses_bpe_model *m, const int32_t *ids,
                        size_t n, struct aligned_work *w)
{
    bool ended = false;

    aligned_set(w, (struct str){ "", 0 });
    for (size_t i = 0; i < n; i++) {
        size_t len;
        bool ends;

        if (ids[i] >= m->head.n_pieces || m->piece[ids[i]].control) continue;
        if (ended) aligned_append(w, " ", 1, (uint32_t)i);
        ends = piece_ends_word(m, ids[i], &len);
        aligned_append(w, m->piece[ids[i]].text, len, (uint32_t)i);
        ended = ends;
    }
    aligned_finish(w, (uint32_t)n);
}

/* Where the text of each piece ends. */
static void find_ends(const struct aligned_text *t, uint32_t *ends, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        while (at < t->n && t->from[at] <= i) at++;
        ends[i] = (uint32_t)at;
    }
}

static enum status moses_bpe_decode(const void *t, const int32_t *ids,
                                    size_t n, struct strbuf *out,
                                    uint32_t *ends, struct err *e)
{
    const struct moses_bpe_model *m = t;
    struct aligned_work w = { 0 };
    enum status st = ST_OK;

    join_pieces(m, ids, n, &w);
    if (m->head.steps & MOSES_DETRUECASE) moses_detruecase(&w);
    if (m->head.steps & MOSES_DETOKENIZE) moses_detokenize(&w, &m->language);
    if (w.failed || !strbuf_add(out, w.now.text, w.now.n)) {
        st = out->limit || w.too_long
            ? err_set(e, ST_LIMIT, "the text exceeds its limit, or memory ran "
                      "out")
            : err_nomem(e, "decoding pieces");
    } else if (ends) {
        find_ends(&w.now, ends, n);
    }
    aligned_release(&w);
    return st;
}

const struct tokenizer_kind tokenizer_moses_bpe = {
    moses_bpe_open, moses_bpe_close, moses_bpe_size, moses_bpe_piece,
    moses_bpe_find, moses_bpe_unk, moses_bpe_is_control,
    moses_bpe_begins_word, moses_bpe_encode, moses_bpe_decode
};
