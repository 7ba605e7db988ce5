/* spm_codec.c - encodes text as piece ids and decodes ids to text, with a model
 * of SentencePiece.
 *
 * Encoding takes three passes, each linear in the text: normalize (7 bytes of
 * scratch memory per byte, including the cuts), segment (unigram.c or bpe.c),
 * and emit, which looks up the ids and finds the span of each piece in
 * the original text.
 *
 * Invariant of struct emitter: the pieces that were appended cover the original
 * text up to covered_to, and their spans ascend. */
#include "text/tokenizer_kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/normalize.h"
#include "text/subword_model.h"
#include "text/utf8.h"

struct spm_codec {
    struct subword_model model;         /* points into the model's bytes */
    struct normalizer norm, denorm;     /* denorm applies if it has a map */
};

static void spm_close(void *t)
{
    struct spm_codec *c = t;

    if (!c) return;
    subword_model_release(&c->model);
    free(c);
}

static enum status spm_open(void **out, const void *model, size_t size,
                            struct err *e)
{
    struct spm_codec *c = calloc(1, sizeof *c);
    enum status st;

    *out = NULL;
    if (!c) return err_nomem(e, "the tokenizer");
    st = subword_model_init(&c->model, model, size, e);
    if (!st) st = normalizer_init(&c->norm, &c->model.norm, e);
    if (!st) st = normalizer_init(&c->denorm, &c->model.denorm, e);
    if (st) {
        spm_close(c);
        return st;
    }
    c->norm.space_is_suffix = c->model.space_is_suffix;
    if (c->model.user.n) c->norm.user = &c->model.user;
    *out = c;
    return ST_OK;
}

static int spm_size(const void *t)
{
    const struct spm_codec *c = t;

    return c->model.n;
}

static const char *spm_piece(const void *t, int32_t id, size_t *len)
{
    const struct spm_codec *c = t;

    *len = c->model.piece[id].len;
    return model_text(&c->model, id);
}

static int32_t spm_find(const void *t, const char *piece, size_t len)
{
    const struct spm_codec *c = t;

    return subword_model_find(&c->model, piece, len);
}

static int32_t spm_unk(const void *t)
{
    const struct spm_codec *c = t;

    return c->model.unk;
}

static bool spm_is_control(const void *t, int32_t id)
{
    const struct spm_codec *c = t;

    return c->model.piece[id].type == PIECE_CONTROL;
}

static bool begins_with_space(const struct spm_codec *c, int32_t id)
{
    const struct piece_entry *p = &c->model.piece[id];

    return p->len >= 3
           && !memcmp(model_text(&c->model, id), "\xE2\x96\x81", 3);
}

static bool spm_begins_word(const void *t, int32_t before, int32_t id)
{
    (void)before;
    return begins_with_space(t, id);
}

/* ---- encode -- */

struct emitter {
    const struct subword_model *m;
    const struct normalized *nz;
    size_t space;               /* length of the space symbol: 3 or 1 */
    struct pieces *out;
    size_t first;               /* index in out->at of the first piece */
    size_t unit_end;            /* where the unit that contains the last byte
                                   of the previous piece ends, in nz->text */
    uint32_t covered_to;        /* end of the previous span */
    bool after_unk;             /* the previous piece is unknown, */
    size_t unk_at;              /* and begins here in nz->text */
};

static bool space_at(const struct emitter *em, size_t at)
{
    const char *s = em->nz->text + at;

    return em->space == 3 ? !memcmp(s, "\xE2\x96\x81", 3) : *s == ' ';
}

/* Removes the spaces at both ends of a span, unless it consists of spaces. */
static void trim_spaces(const struct emitter *em, size_t *begin, size_t *end)
{
    size_t k = em->space, b = *begin, e = *end;

    while (e - b >= k && space_at(em, b)) b += k;
    while (e - b >= k && space_at(em, e - k)) e -= k;
    if (b == e) return;
    *begin = b;
    *end = e;
}

/* Returns the span of bytes [b, e) of the normalized text. A unit that several
 * pieces share (such as a ligature) belongs to the first of them. nz->from
 * tells units apart, but not the dummy prefix from the unit that follows it. */
static struct piece spm_locate(struct emitter *em, size_t b, size_t e)
{
    const struct normalized *nz = em->nz;
    struct piece p = { 0, em->covered_to, em->covered_to };

    assert(b < e && e <= nz->n);
    if (e <= nz->dummy) {
        p.begin = p.end = nz->from[0];
    } else {
        trim_spaces(em, &b, &e);
        if (em->unit_end < e) {
            em->unit_end = e;
            while (em->unit_end < nz->n &&
                   nz->from[em->unit_end] == nz->from[e - 1])
                em->unit_end++;
        }
        if (nz->from[b] > p.begin) p.begin = nz->from[b];
        if (nz->from[em->unit_end] > p.begin) p.end = nz->from[em->unit_end];
        else p.end = p.begin;
    }
    em->covered_to = p.end;
    return p;
}

static bool spm_push(struct emitter *em, int32_t id, uint32_t begin,
                     uint32_t end)
{
    struct pieces *out = em->out;

    assert(id >= 0 && id < em->m->n && begin <= end);
    assert(out->n == em->first || out->at[out->n - 1].end <= begin);
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return false;
    out->at[out->n++] = (struct piece){ id, begin, end };
    return true;
}

static bool push_bytes(struct emitter *em, size_t at, size_t len,
                       struct piece span)
{
    for (size_t i = 0; i < len; i++) {
        int32_t id = em->m->byte_id[(uint8_t)em->nz->text[at + i]];

        if (!spm_push(em, id, span.begin, span.end)) return false;
        span.begin = span.end;
    }
    return true;
}

/* Returns the id of a piece. BPE may leave an unused piece; unigram never uses
 * one. */
static int32_t id_of(const struct subword_model *m, const char *s, size_t len)
{
    int32_t id = piece_trie_find(&m->text, s, len);

    if (id < 0) return m->unk;
    if (m->kind == KIND_UNIGRAM && m->piece[id].type == PIECE_UNUSED)
        return m->unk;
    return id;
}

/* The id of a run of unknown characters. */
static int32_t id_of_unknown(const struct subword_model *m, const char *s,
                             size_t len)
{
    int32_t id = m->unknown_by_text ? piece_trie_find(&m->text, s, len) : -1;

    return id >= 0 && m->piece[id].type == PIECE_UNUSED ? id : m->unk;
}

/* Unknown characters that follow each other are one piece. */
static bool emit_unknown(struct emitter *em, size_t at, size_t len,
                         struct piece p)
{
    struct piece *last;
    int32_t id;

    if (!em->after_unk) em->unk_at = at;
    id = id_of_unknown(em->m, em->nz->text + em->unk_at, at + len - em->unk_at);
    if (!em->after_unk) return spm_push(em, id, p.begin, p.end);
    assert(em->out->n > em->first);
    last = &em->out->at[em->out->n - 1];
    last->id = id;
    last->end = p.end;
    return true;
}

static bool spm_emit(struct emitter *em, size_t at, size_t len)
{
    int32_t id = id_of(em->m, em->nz->text + at, len);
    struct piece p = spm_locate(em, at, at + len);
    bool unk = id == em->m->unk, ok;

    if (!unk) ok = spm_push(em, id, p.begin, p.end);
    else if (em->m->byte_fallback) ok = push_bytes(em, at, len, p);
    else ok = emit_unknown(em, at, len, p);
    em->after_unk = unk;
    return ok;
}

static enum status spm_emit_all(const struct spm_codec *c,
                                const struct normalized *nz,
                                const uint16_t *cut, struct pieces *out,
                                struct err *e)
{
    struct emitter em = {
        .m = &c->model, .nz = nz, .out = out, .first = out->n,
        .covered_to = nz->from[0],
        .space = c->norm.spec.escape_whitespaces ? 3 : 1
    };

    for (size_t at = 0; at < nz->n; at += cut[at]) {
        assert(cut[at] >= 1 && cut[at] <= nz->n - at);
        if (spm_emit(&em, at, cut[at])) continue;
        out->n = em.first;
        return err_nomem(e, "the pieces of a text");
    }
    return ST_OK;
}

static enum status spm_encode(const void *t, const char *text, size_t len,
                              struct pieces *out, struct err *e)
{
    const struct spm_codec *c = t;
    const struct subword_model *m = &c->model;
    struct normalized nz = { 0 };
    uint16_t *cut = NULL;
    enum status st = normalize(&c->norm, text, len, &nz, e);

    if (st || nz.n == 0) goto out;
    cut = calloc(nz.n + 1, sizeof *cut);
    if (!cut) st = err_nomem(e, "splitting text into pieces");
    else if (m->kind == KIND_BPE) st = bpe_segment(m, nz.text, nz.n, cut, e);
    else st = unigram_segment(m, nz.text, nz.n, cut, e);
    if (!st) st = spm_emit_all(c, &nz, cut, out, e);
out:
    free(cut);
    normalized_release(&nz);
    return st;
}

/* ---- decode -- */

struct piece_decoder {
    const struct subword_model *m;
    struct strbuf *out;
    size_t start;               /* out->len at the beginning */
    struct strbuf bytes;        /* of byte pieces, not written yet */
    bool at_start;              /* a leading space must be dropped */
    uint32_t *ends;             /* [n] or NULL: where each piece's text ends */
    size_t marked;              /* number of pieces whose end is set */
};

/* Sets the end of all pieces before `upto` that have none yet. */
static void mark_ends(struct piece_decoder *d, size_t upto)
{
    assert(d->marked <= upto && d->out->len >= d->start);
    for (; d->ends && d->marked < upto; d->marked++)
        d->ends[d->marked] = (uint32_t)(d->out->len - d->start);
}

static bool flush_bytes(struct piece_decoder *d)
{
    bool ok = utf8_repair(d->out, d->bytes.data, d->bytes.len);

    strbuf_reset(&d->bytes);
    return ok;
}

/* Appends text with U+2581 replaced by spaces. */
static bool add_spaced(struct strbuf *out, const char *s, size_t n)
{
    while (n) {
        const char *hit = memmem(s, n, "\xE2\x96\x81", 3);
        size_t k = hit ? (size_t)(hit - s) : n;

        if (!strbuf_add(out, s, k)) return false;
        if (!hit) break;
        if (!strbuf_addc(out, ' ')) return false;
        s += k + 3;
        n -= k + 3;
    }
    return true;
}

static bool decode_text(struct piece_decoder *d, int32_t id)
{
    const struct normalizer_spec *spec = &d->m->norm;
    const char *s = model_text(d->m, id);
    size_t n = d->m->piece[id].len;

    if (d->at_start && n >= 3 && !memcmp(s, "\xE2\x96\x81", 3) &&
        (spec->add_dummy_prefix || spec->remove_extra_whitespaces)) {
        s += 3;
        n -= 3;
        /* The dummy prefix is one space. But if the encoder drops all leading
         * spaces, the decoder does, too. */
        if (!spec->remove_extra_whitespaces) d->at_start = false;
    }
    return add_spaced(d->out, s, n);
}

static bool decode_one(struct piece_decoder *d, int32_t id, size_t i)
{
    const struct subword_model *m = d->m;

    /* Look the piece up by its text, as SentencePiece does: if a reserved and
     * a plain piece have the same text, the reserved one counts. */
    id = subword_model_find(m, model_text(m, id), m->piece[id].len);
    if (m->piece[id].type == PIECE_BYTE)
        return strbuf_addc(&d->bytes, (char)m->piece[id].byte);
    if (!flush_bytes(d)) return false;
    mark_ends(d, i);
    if (d->out->len != d->start) d->at_start = false;
    switch (m->piece[id].type) {
    case PIECE_CONTROL: return true;
    case PIECE_UNKNOWN:
        return strbuf_add(d->out, m->unk_text, m->unk_text_len);
    default: return decode_text(d, id);
    }
}

static void cut_back(struct strbuf *sb, size_t len)
{
    sb->len = len;
    if (sb->cap) sb->data[len] = '\0';
}

static enum status no_room(const struct strbuf *out, struct err *e)
{
    if (!out->limit) return err_nomem(e, "decoding pieces");
    return err_set(e, ST_LIMIT, "the text exceeds its limit of %zu bytes, or "
                   "memory ran out", out->limit);
}

static enum status denormalize(const struct spm_codec *c, struct strbuf *out,
                               size_t start, struct err *e)
{
    struct normalized nz = { 0 };
    enum status st = normalize(&c->denorm, out->data + start,
                               out->len - start, &nz, e);

    if (!st) {
        cut_back(out, start);
        if (nz.n && !strbuf_add(out, nz.text, nz.n))
            st = no_room(out, e);
    }
    normalized_release(&nz);
    return st;
}

static enum status decode_all(struct piece_decoder *d, const int32_t *ids,
                              size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= d->m->n && d->ends) {     /* known to the model only */
            if (!flush_bytes(d)) return no_room(d->out, e);
            mark_ends(d, i + 1);
            continue;
        }
        assert(ids[i] >= 0 && ids[i] < d->m->n);
        if (!decode_one(d, ids[i], i)) return no_room(d->out, e);
        if (!d->bytes.len) mark_ends(d, i + 1);
    }
    if (!flush_bytes(d)) return no_room(d->out, e);
    mark_ends(d, n);
    return ST_OK;
}

static enum status spm_decode(const void *t, const int32_t *ids, size_t n,
                              struct strbuf *out, uint32_t *ends,
                              struct err *e)
{
    const struct spm_codec *c = t;
    struct piece_decoder d = {
        .m = &c->model, .out = out, .start = out->len, .at_start = true,
        .ends = ends,
    };
    enum status st;

    strbuf_init(&d.bytes, 0);
    st = decode_all(&d, ids, n, e);
    strbuf_release(&d.bytes);
    if (!st && c->denorm.rules.n) st = denormalize(c, out, d.start, e);
    if (st) cut_back(out, d.start);
    /* Denormalization may have shortened the text. */
    for (size_t i = 0; !st && ends && i < n; i++)
        if (ends[i] > out->len - d.start)
            ends[i] = (uint32_t)(out->len - d.start);
    return st;
}

const struct tokenizer_kind tokenizer_spm = {
    spm_open, spm_close, spm_size, spm_piece, spm_find, spm_unk,
    spm_is_control, spm_begins_word, spm_encode, spm_decode
};
