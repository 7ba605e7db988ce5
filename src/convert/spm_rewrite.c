/* spm_rewrite.c - writes a SentencePiece model whose ids are those of a
 * vocabulary.
 *
 * docs/foreign.md has the rules. They rest on what the segmentation depends on:
 * the texts, scores and types of the normal, user-defined, unused and byte
 * pieces, and the specifications of the model, which are copied byte for byte.
 * It does not depend on ids. A piece that is added must therefore take no part
 * in the search: an unused piece of a unigram model and a control piece of any
 * model do not. (An unused piece of a BPE model does: it is a step of merging.)
 *
 * The fields of the trainer's specification that name ids (40 to 43) are copied
 * too, although they are wrong now: a reader goes by the types of the pieces.
 * Test data of the model (field 4) and unknown fields are left out. The result
 * is opened once before it is returned. Refused is a vocabulary without the
 * unknown piece, one with pieces that no SentencePiece model can have, and a
 * model with two pieces of one text. */
#include "convert/spm_rewrite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "text/proto.h"
#include "text/subword.h"
#include "text/subword_model.h"

struct rewriter {
    struct subword_model m;     /* the original */
    const struct vocabulary *v;
    struct strbuf *out;
    const char *name;           /* of the original */
    int32_t unk;                /* an id of the vocabulary */
    uint8_t *control;           /* [size of v] 1: must be a control piece */
    uint8_t *written;           /* [m.n] 1: has an id of the vocabulary */
    int n_only_spm;
};

struct new_piece {
    const char *text;
    size_t len;
    float score;
    enum piece_type type;
};

/* ---- protocol buffers ---- */

/* Writes a varint to out and returns its length, at most 10. */
static size_t put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7) out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

/* Appends field 1 of a model: { 1: text, 2: score, 3: type }. */
static bool put_piece(struct strbuf *out, const struct new_piece *p)
{
    uint8_t outer[16], inner[16], tail[8] = { 2 << 3 | 5 };
    size_t n_inner, n_outer;
    uint32_t bits;

    inner[0] = 1 << 3 | 2;
    n_inner = 1 + put_varint(inner + 1, p->len);
    memcpy(&bits, &p->score, sizeof bits);
    for (int i = 0; i < 4; i++) tail[1 + i] = (uint8_t)(bits >> 8 * i);
    tail[5] = 3 << 3;
    tail[6] = (uint8_t)p->type;
    outer[0] = 1 << 3 | 2;
    n_outer = 1 + put_varint(outer + 1, n_inner + p->len + 7);
    return strbuf_add(out, outer, n_outer) && strbuf_add(out, inner, n_inner) &&
           strbuf_add(out, p->text, p->len) && strbuf_add(out, tail, 7);
}

/* Appends the specifications of the trainer and of the two normalizers. The
 * original finds unknown pieces by their text too, in the vocabulary. */
static bool copy_specs(struct rewriter *w)
{
    uint8_t by_text[12];
    size_t n = put_varint(by_text, SUBWORD_FIELD_BY_TEXT << 3);

    struct proto_cursor c = { w->m.bytes, w->m.bytes + w->m.size };
    const uint8_t *begin = c.p;
    struct proto_field f;
    bool bad = false, ok = true;

    for (; ok && proto_next(&c, &f, &bad); begin = c.p)
        if (f.wire == 2 && (f.number == 2 || f.number == 3 || f.number == 5))
            ok = strbuf_add(w->out, begin, (size_t)(c.p - begin));
    assert(!bad);               /* the model was opened */
    by_text[n++] = 1;
    return ok && strbuf_add(w->out, by_text, n);
}

/* ---- pieces ---- */

/* Returns what the unknown piece becomes. If its text is that of a piece that
 * texts contain, it has the text that it has in the original. */
static struct new_piece unknown_piece(const struct rewriter *w,
                                      const char *text)
{
    size_t len = strlen(text);
    struct new_piece p = { text, len, 0, PIECE_UNKNOWN };

    if (piece_trie_find(&w->m.text, text, len) >= 0) {
        p.text = model_text(&w->m, w->m.unk);
        p.len = w->m.piece[w->m.unk].len;
    }
    return p;
}

/* Returns what the piece of an id becomes. Sets *from to the piece of the
 * original that it is, or to -1. */
static struct new_piece piece_of_id(const struct rewriter *w, int32_t id,
                                    int32_t *from)
{
    const char *text = vocabulary_piece(w->v, id);
    struct new_piece p = { text, strlen(text), 0, PIECE_CONTROL };
    int32_t s = subword_model_find(&w->m, text, p.len);

    *from = -1;
    if (id == w->unk) return unknown_piece(w, text);
    if (w->control[id]) return p;
    if (s < 0) {
        if (w->m.kind == KIND_UNIGRAM) p.type = PIECE_UNUSED;
    } else if (w->m.piece[s].type != PIECE_UNKNOWN) {
        p.score = w->m.piece[s].score;
        p.type = (enum piece_type)w->m.piece[s].type;
        *from = s;
    }
    return p;
}

static enum status rewrite_nomem(struct err *e)
{
    return err_nomem(e, "rewriting a SentencePiece model");
}

/* Writes a text to out that no other piece has. */
static void make_placeholder(const struct rewriter *w, int32_t id, char *out,
                             size_t cap)
{
    int k = 0;

    do snprintf(out, cap, "<piece %d.%d>", (int)id, k++);
    while (vocabulary_find(w->v, out) >= 0 ||
           subword_model_find(&w->m, out, strlen(out)) >= 0);
}

static enum status write_id(struct rewriter *w, int32_t id, struct err *e)
{
    const char *text = vocabulary_piece(w->v, id);
    char placeholder[40];
    struct new_piece p;
    int32_t from;

    if (strlen(text) > SUBWORD_PIECE_MAX)
        return err_set(e, ST_FORMAT, "%s: the vocabulary's piece %d has more "
                       "than %d bytes", w->name, (int)id, SUBWORD_PIECE_MAX);
    p = piece_of_id(w, id, &from);
    if (from >= 0) w->written[from] = 1;
    /* A piece without text, or one that a later id replaces, is never found in
     * a text. It needs a text of its own. */
    if (!*text || vocabulary_find(w->v, text) != id) {
        make_placeholder(w, id, placeholder, sizeof placeholder);
        p = (struct new_piece){ placeholder, strlen(placeholder), 0,
                                PIECE_CONTROL };
    }
    return put_piece(w->out, &p) ? ST_OK : rewrite_nomem(e);
}

/* Returns whether a piece of the original takes part in the segmentation. */
static bool is_searched(const struct rewriter *w, int32_t s)
{
    switch (w->m.piece[s].type) {
    case PIECE_CONTROL: case PIECE_UNKNOWN: return false;
    case PIECE_UNUSED: return w->m.kind == KIND_BPE;
    default: return true;
    }
}

static enum status write_all(struct rewriter *w, struct err *e)
{
    enum status st = ST_OK;

    for (int32_t id = 0; id < vocabulary_size(w->v) && !st; id++)
        st = write_id(w, id, e);
    for (int32_t s = 0; s < w->m.n && !st; s++) {
        const struct piece_entry *x = &w->m.piece[s];
        struct new_piece p = { model_text(&w->m, s), x->len, x->score,
                               (enum piece_type)x->type };

        if (w->written[s] || !is_searched(w, s)) continue;
        if (!put_piece(w->out, &p)) st = rewrite_nomem(e);
        w->n_only_spm++;
    }
    if (!st && !copy_specs(w)) st = rewrite_nomem(e);
    return st;
}

/* ---- the model ---- */

/* Opens a model. The message of a failure begins with `name`. */
static enum status open_model(struct subword_model *m, const void *bytes,
                              size_t size, const char *name, struct err *e)
{
    struct err inner;
    enum status st = subword_model_init(m, bytes, size, &inner);

    return st ? err_set(e, st, "%s: %s", name, inner.msg) : ST_OK;
}

/* Refuses a model in which a control piece has the text of another piece, which
 * SentencePiece allows. The control piece may have no id in the vocabulary, but
 * it changes what BPE makes of the text. */
static enum status check_texts(const struct rewriter *w, struct err *e)
{
    for (int32_t s = 0; s < w->m.n; s++) {
        const char *text = model_text(&w->m, s);
        size_t len = w->m.piece[s].len;

        if (subword_model_find(&w->m, text, len) != s)
            return err_set(e, ST_FORMAT, "%s: piece %d has the text of another "
                           "piece, \"%.*s\"", w->name, (int)s,
                           (int)(len < 40 ? len : 40), text);
    }
    return ST_OK;
}

static enum status rewriter_init(struct rewriter *w, const void *spm,
                                 size_t size, const char *unknown,
                                 const char *const *control, size_t n_control,
                                 struct err *e)
{
    enum status st = open_model(&w->m, spm, size, w->name, e);

    if (!st) st = check_texts(w, e);
    if (st) return st;
    w->unk = vocabulary_find(w->v, unknown);
    if (w->unk < 0)
        return err_set(e, ST_FORMAT, "%s: the vocabulary does not have the "
                       "unknown piece \"%s\"", w->name, unknown);
    w->control = calloc((size_t)vocabulary_size(w->v), 1);
    w->written = calloc((size_t)w->m.n, 1);
    if (!w->control || !w->written) return rewrite_nomem(e);
    for (size_t i = 0; i < n_control; i++) {
        int32_t id = vocabulary_find(w->v, control[i]);

        if (id >= 0) w->control[id] = 1;
    }
    return ST_OK;
}

/* The maps of the normalizers, which were copied, are checked here. */
static enum status check_result(const struct strbuf *model, const char *name,
                                struct err *e)
{
    struct subword *sw;
    struct err inner;
    enum status st = subword_open(&sw, model->data, model->len, &inner);

    subword_close(sw);
    return st ? err_set(e, st, "%s: %s", name, inner.msg) : ST_OK;
}

enum status spm_rewrite(struct spm_rewrite *r, const void *spm, size_t size,
                        const struct vocabulary *v, const char *unknown,
                        const char *const *control, size_t n_control,
                        const char *name, struct err *e)
{
    struct rewriter w = { .v = v, .out = &r->model, .name = name };
    enum status st;

    strbuf_reset(&r->model);
    st = rewriter_init(&w, spm, size, unknown, control, n_control, e);
    if (!st) st = write_all(&w, e);
    if (!st) st = check_result(&r->model, name, e);
    if (st) {
        strbuf_reset(&r->model);
    } else {
        r->n = vocabulary_size(v) + w.n_only_spm;
        r->n_only_spm = w.n_only_spm;
        r->unk = w.unk;
    }
    subword_model_release(&w.m);
    free(w.control);
    free(w.written);
    return st;
}
