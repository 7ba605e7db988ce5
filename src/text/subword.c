/* subword.c - encode and decode; see subword.h.
 *
 * Encoding is three passes, each linear in the text: normalize (7 bytes of
 * scratch per byte, with the cuts), segment (unigram.c or bpe.c), and this
 * file's emit, which looks up ids and says where in the original each piece
 * lies. */
#include "text/subword.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/normalize.h"
#include "text/subword_model.h"
#include "text/utf8.h"

struct subword {
    struct subword_model model;
    struct normalizer norm, denorm;     /* denorm is used if it has a map */
};

void pieces_release(struct pieces *p)
{
    free(p->at);
    memset(p, 0, sizeof *p);
}

enum status subword_open(struct subword **out, const void *model, size_t size,
                         struct err *e)
{
    struct subword *sw = calloc(1, sizeof *sw);
    enum status st;

    *out = NULL;
    if (!sw) return err_nomem(e, "the tokenizer");
    st = subword_model_init(&sw->model, model, size, e);
    if (!st) st = normalizer_init(&sw->norm, &sw->model.norm, e);
    if (!st) st = normalizer_init(&sw->denorm, &sw->model.denorm, e);
    if (st) {
        subword_close(sw);
        return st;
    }
    sw->norm.space_is_suffix = sw->model.space_is_suffix;
    if (sw->model.user.n) sw->norm.user = &sw->model.user;
    *out = sw;
    return ST_OK;
}

void subword_close(struct subword *sw)
{
    if (!sw) return;
    subword_model_release(&sw->model);
    free(sw);
}

int subword_size(const struct subword *sw)
{
    return sw->model.n;
}

const char *subword_piece(const struct subword *sw, int32_t id, size_t *len)
{
    if (id < 0 || id >= sw->model.n) {
        *len = 0;
        return "";
    }
    *len = sw->model.piece[id].len;
    return model_text(&sw->model, id);
}

int32_t subword_find(const struct subword *sw, const char *piece, size_t len)
{
    return subword_model_find(&sw->model, piece, len);
}

int32_t subword_unk(const struct subword *sw)
{
    return sw->model.unk;
}

/* ---- encode ---- */

struct emitter {
    const struct subword_model *m;
    const struct normalized *nz;
    size_t space;               /* bytes of the space symbol: 3 or 1 */
    struct pieces *out;
    size_t scan;                /* the unit that holds the last byte written
                                   ends here, in nz->text */
    uint32_t done;              /* the original is covered up to here */
    bool after_unk;
};

static bool space_at(const struct emitter *em, size_t at)
{
    const char *s = em->nz->text + at;

    return em->space == 3 ? !memcmp(s, "\xE2\x96\x81", 3) : *s == ' ';
}

/* Leave the spaces at either end of a piece out of its span, unless there is
 * nothing else. */
static void trim_spaces(const struct emitter *em, size_t *begin, size_t *end)
{
    size_t k = em->space, b = *begin, e = *end;

    while (e - b >= k && space_at(em, b)) b += k;
    while (e - b >= k && space_at(em, e - k)) e -= k;
    if (b == e) return;
    *begin = b;
    *end = e;
}

/* The span of bytes [b, e) of the normalized text. A unit that several pieces
 * share (a ligature taken apart) belongs to the first of them; nz->from tells
 * units apart, but not the dummy prefix from what follows it. */
static struct piece subword_locate(struct emitter *em, size_t b, size_t e)
{
    const struct normalized *nz = em->nz;
    struct piece p = { 0, em->done, em->done };

    if (e <= nz->dummy) {
        p.begin = p.end = nz->from[0];
    } else {
        trim_spaces(em, &b, &e);
        if (em->scan < e) {
            em->scan = e;
            while (em->scan < nz->n && nz->from[em->scan] == nz->from[e - 1])
                em->scan++;
        }
        if (nz->from[b] > p.begin) p.begin = nz->from[b];
        if (nz->from[em->scan] > p.begin) p.end = nz->from[em->scan];
        else p.end = p.begin;
    }
    em->done = p.end;
    return p;
}

static bool subword_push(struct emitter *em, int32_t id, uint32_t begin,
                         uint32_t end)
{
    struct pieces *out = em->out;

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

        if (!subword_push(em, id, span.begin, span.end)) return false;
        span.begin = span.end;
    }
    return true;
}

/* BPE leaves an unused character as it is; unigram never takes one. */
static int32_t id_of(const struct subword_model *m, const char *s, size_t len)
{
    int32_t id = piece_trie_find(&m->text, s, len);

    if (id < 0) return m->unk;
    if (m->kind == KIND_UNIGRAM && m->piece[id].type == PIECE_UNUSED)
        return m->unk;
    return id;
}

static bool subword_emit(struct emitter *em, size_t at, size_t len)
{
    int32_t id = id_of(em->m, em->nz->text + at, len);
    struct piece p = subword_locate(em, at, at + len);
    bool unk = id == em->m->unk, joins = unk && em->after_unk;

    em->after_unk = unk;
    if (unk && em->m->byte_fallback) return push_bytes(em, at, len, p);
    if (!joins) return subword_push(em, id, p.begin, p.end);
    em->out->at[em->out->n - 1].end = p.end;
    return true;
}

static enum status emit_all(const struct subword *sw,
                            const struct normalized *nz, const uint16_t *cut,
                            struct pieces *out, struct err *e)
{
    struct emitter em = {
        .m = &sw->model, .nz = nz, .out = out, .done = nz->from[0],
        .space = sw->norm.spec.escape_whitespaces ? 3 : 1
    };
    size_t before = out->n;

    for (size_t at = 0; at < nz->n; at += cut[at]) {
        if (subword_emit(&em, at, cut[at])) continue;
        out->n = before;
        return err_nomem(e, "the pieces of a text");
    }
    return ST_OK;
}

enum status subword_encode(const struct subword *sw, const char *text,
                           size_t len, struct pieces *out, struct err *e)
{
    const struct subword_model *m = &sw->model;
    struct normalized nz = { 0 };
    uint16_t *cut = NULL;
    enum status st = normalize(&sw->norm, text, len, &nz, e);

    if (st || nz.n == 0) goto out;
    cut = calloc(nz.n + 1, sizeof *cut);
    if (!cut) st = err_nomem(e, "splitting text into pieces");
    else if (m->kind == KIND_BPE) st = bpe_segment(m, nz.text, nz.n, cut, e);
    else st = unigram_segment(m, nz.text, nz.n, cut, e);
    if (!st) st = emit_all(sw, &nz, cut, out, e);
out:
    free(cut);
    normalized_release(&nz);
    return st;
}

/* ---- decode ---- */

struct decoder {
    const struct subword_model *m;
    struct strbuf *out;
    size_t start;               /* out->len when we began */
    struct strbuf bytes;        /* byte pieces not yet written */
    bool at_start;              /* a leading space is still to be dropped */
    uint32_t *ends;             /* [n] or NULL: where each piece's text ends */
    size_t marked;              /* pieces whose end is known */
};

/* All pieces before `upto` end here, but for those that ended before. */
static void mark_ends(struct decoder *d, size_t upto)
{
    for (; d->ends && d->marked < upto; d->marked++)
        d->ends[d->marked] = (uint32_t)(d->out->len - d->start);
}

static bool flush_bytes(struct decoder *d)
{
    bool ok = utf8_repair(d->out, d->bytes.data, d->bytes.len);

    strbuf_reset(&d->bytes);
    return ok;
}

/* The piece's text with spaces for U+2581. */
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

static bool decode_text(struct decoder *d, int32_t id)
{
    const struct normalizer_spec *spec = &d->m->norm;
    const char *s = model_text(d->m, id);
    size_t n = d->m->piece[id].len;

    if (d->at_start && n >= 3 && !memcmp(s, "\xE2\x96\x81", 3) &&
        (spec->add_dummy_prefix || spec->remove_extra_whitespaces)) {
        s += 3;
        n -= 3;
        /* Only one space is the dummy prefix; but where the encoder drops
         * all leading spaces, so do we. */
        if (!spec->remove_extra_whitespaces) d->at_start = false;
    }
    return add_spaced(d->out, s, n);
}

static bool decode_one(struct decoder *d, int32_t id, size_t i)
{
    const struct subword_model *m = d->m;

    /* By its text, as SentencePiece does: of a reserved and a plain piece
     * written the same, the reserved one counts. */
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
    return err_set(e, ST_LIMIT, "the text is over its limit of %zu bytes, or "
                   "memory is short", out->limit);
}

static enum status denormalize(const struct subword *sw, struct strbuf *out,
                               size_t start, struct err *e)
{
    struct normalized nz = { 0 };
    enum status st = normalize(&sw->denorm, out->data + start,
                               out->len - start, &nz, e);

    if (!st) {
        cut_back(out, start);
        if (nz.n && !strbuf_add(out, nz.text, nz.n))
            st = no_room(out, e);
    }
    normalized_release(&nz);
    return st;
}

static enum status decode_all(struct decoder *d, const int32_t *ids, size_t n,
                              struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= d->m->n && d->ends) {     /* a model's own: no text */
            if (!flush_bytes(d)) return no_room(d->out, e);
            mark_ends(d, i + 1);
            continue;
        }
        if (ids[i] < 0 || ids[i] >= d->m->n)
            return err_set(e, ST_ARGUMENT, "there is no piece %d (ids are 0 to "
                           "%d)", (int)ids[i], (int)d->m->n - 1);
        if (!decode_one(d, ids[i], i)) return no_room(d->out, e);
        if (!d->bytes.len) mark_ends(d, i + 1);
    }
    if (!flush_bytes(d)) return no_room(d->out, e);
    mark_ends(d, n);
    return ST_OK;
}

enum status subword_decode(const struct subword *sw, const int32_t *ids,
                           size_t n, struct strbuf *out, struct err *e)
{
    return subword_decode_ends(sw, ids, n, out, NULL, e);
}

enum status subword_decode_ends(const struct subword *sw, const int32_t *ids,
                                size_t n, struct strbuf *out, uint32_t *ends,
                                struct err *e)
{
    struct decoder d = {
        .m = &sw->model, .out = out, .start = out->len, .at_start = true,
        .ends = ends,
    };
    enum status st;

    strbuf_init(&d.bytes, 0);
    st = decode_all(&d, ids, n, e);
    strbuf_release(&d.bytes);
    if (!st && sw->denorm.n_units) st = denormalize(sw, out, d.start, e);
    if (st) cut_back(out, d.start);
    /* Denormalizing may have shortened the text. */
    for (size_t i = 0; !st && ends && i < n; i++)
        if (ends[i] > out->len - d.start)
            ends[i] = (uint32_t)(out->len - d.start);
    return st;
}
