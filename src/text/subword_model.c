/* subword_model.c - reads the .model file of SentencePiece.
 *
 * The parts of sentencepiece_model.proto that encoding and decoding need:
 *
 *     ModelProto       1 pieces (repeated)  2 trainer_spec  3 normalizer_spec
 *                      5 denormalizer_spec
 *     SentencePiece    1 piece  2 score  3 type
 *     TrainerSpec      3 model_type  24 treat_whitespace_as_suffix
 *                      35 byte_fallback  44 unk_surface
 *     NormalizerSpec   2 precompiled_charsmap  3 add_dummy_prefix
 *                      4 remove_extra_whitespaces  5 escape_whitespaces
 *
 * Unknown fields are skipped. If a scalar occurs twice, the last value counts;
 * if a message occurs twice, the two are merged. */
#include "text/subword_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/proto.h"

static float as_float(uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

static bool read_trainer(struct subword_model *m, struct proto_cursor c)
{
    struct proto_field f;
    bool bad = false;

    while (proto_next(&c, &f, &bad)) {
        if (f.number == 3 && f.wire == 0)
            m->kind = f.value <= 4 ? (enum subword_kind)f.value : m->kind;
        else if (f.number == 24 && f.wire == 0)
            m->space_is_suffix = f.value != 0;
        else if (f.number == 35 && f.wire == 0)
            m->byte_fallback = f.value != 0;
        else if (f.number == 44 && f.wire == 2) {
            m->unk_text = (const char *)f.bytes.p;
            /* SentencePiece treats this as a C string. */
            m->unk_text_len = strnlen(m->unk_text,
                                      (size_t)(f.bytes.end - f.bytes.p));
        }
    }
    return !bad;
}

static bool read_normalizer(struct normalizer_spec *s, struct proto_cursor c)
{
    struct proto_field f;
    bool bad = false;

    while (proto_next(&c, &f, &bad)) {
        if (f.number == 2 && f.wire == 2) {
            s->map = f.bytes.p;
            s->map_len = (size_t)(f.bytes.end - f.bytes.p);
        } else if (f.number == 3 && f.wire == 0)
            s->add_dummy_prefix = f.value != 0;
        else if (f.number == 4 && f.wire == 0)
            s->remove_extra_whitespaces = f.value != 0;
        else if (f.number == 5 && f.wire == 0)
            s->escape_whitespaces = f.value != 0;
    }
    return !bad;
}

/* Returns the byte that a piece such as "<0x0A>" stands for; -1 if it is not
 * written like that, with upper-case digits. */
static int parse_byte_piece(const uint8_t *s, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *hi, *lo;

    if (len != 6 || memcmp(s, "<0x", 3) || s[5] != '>') return -1;
    hi = s[3] ? strchr(digits, s[3]) : NULL;
    lo = s[4] ? strchr(digits, s[4]) : NULL;
    return hi && lo ? (int)((hi - digits) * 16 + (lo - digits)) : -1;
}

static enum status check_piece(const struct subword_model *m, int32_t id,
                               struct proto_cursor text, struct err *e)
{
    const struct piece_entry *p = &m->piece[id];
    size_t len = (size_t)(text.end - text.p);

    if (len == 0)
        return err_set(e, ST_FORMAT, "tokenizer: piece %d is empty", id);
    if (len > SUBWORD_PIECE_MAX)
        return err_set(e, ST_FORMAT, "tokenizer: piece %d has %zu bytes, more "
                       "than %d", id, len, SUBWORD_PIECE_MAX);
    if (memchr(text.p, 0, len))
        return err_set(e, ST_FORMAT, "tokenizer: piece %d contains a NUL byte",
                       id);
    if (isnan(p->score))
        return err_set(e, ST_FORMAT, "tokenizer: the score of piece %d is not "
                       "a number", id);
    if (p->type == PIECE_BYTE && parse_byte_piece(text.p, len) < 0)
        return err_set(e, ST_FORMAT, "tokenizer: byte piece %d is not written "
                       "as <0x00>", id);
    return ST_OK;
}

static enum status read_piece(struct subword_model *m, int32_t id,
                              struct proto_cursor c, struct err *e)
{
    struct piece_entry *p = &m->piece[id];
    struct proto_cursor text = { c.p, c.p };
    struct proto_field f;
    enum status st;
    bool bad = false;

    assert(id >= 0 && id < m->n);
    *p = (struct piece_entry){ .type = PIECE_NORMAL };
    while (proto_next(&c, &f, &bad)) {
        if (f.number == 1 && f.wire == 2)
            text = f.bytes;
        else if (f.number == 2 && f.wire == 5)
            p->score = as_float(f.value);
        else if (f.number == 3 && f.wire == 0 && f.value - 1 < PIECE_BYTE)
            p->type = (uint8_t)f.value;
    }
    if (bad) return err_set(e, ST_FORMAT, "tokenizer: piece %d is damaged", id);
    st = check_piece(m, id, text, e);
    if (st) return st;
    p->at = (uint32_t)(text.p - m->bytes);
    p->len = (uint16_t)(text.end - text.p);
    if (p->type == PIECE_BYTE)
        p->byte = (uint8_t)parse_byte_piece(text.p, p->len);
    return ST_OK;
}

/* Reads the outer message. The pieces are only counted. */
static enum status read_specs(struct subword_model *m, struct err *e)
{
    struct proto_cursor c = { m->bytes, m->bytes + m->size };
    struct proto_field f;
    bool bad = false, ok = true;

    while (ok && proto_next(&c, &f, &bad)) {
        if (f.wire == 0 && f.number == SUBWORD_FIELD_BY_TEXT)
            m->unknown_by_text = f.value != 0;
        if (f.wire != 2) continue;
        switch (f.number) {
        case 1: m->n++; break;
        case 2: ok = read_trainer(m, f.bytes); break;
        case 3: ok = read_normalizer(&m->norm, f.bytes); break;
        case 5: ok = read_normalizer(&m->denorm, f.bytes); break;
        }
    }
    if (bad || !ok)
        return err_set(e, ST_FORMAT, "tokenizer: not a SentencePiece model, "
                       "or damaged before byte %zu", (size_t)(c.p - m->bytes));
    if (m->n == 0)
        return err_set(e, ST_FORMAT, "tokenizer: the model has no pieces");
    if (m->kind != KIND_UNIGRAM && m->kind != KIND_BPE)
        return err_set(e, ST_FORMAT, "tokenizer: the model is of kind %d; only "
                       "unigram and BPE are supported", (int)m->kind);
    return ST_OK;
}

static enum status read_pieces(struct subword_model *m, struct err *e)
{
    struct proto_cursor c = { m->bytes, m->bytes + m->size };
    struct proto_field f;
    enum status st = ST_OK;
    bool bad = false;
    int32_t id = 0;

    m->piece = calloc((size_t)m->n, sizeof *m->piece);
    if (!m->piece) return err_nomem(e, "the tokenizer's pieces");
    while (!st && proto_next(&c, &f, &bad))
        if (f.number == 1 && f.wire == 2)
            st = read_piece(m, id++, f.bytes, e);
    assert(id <= m->n && (st || id == m->n));
    return st;
}

static bool is_text_piece(int type)
{
    return type == PIECE_NORMAL || type == PIECE_USER || type == PIECE_UNUSED;
}

static bool is_user_piece(int type) { return type == PIECE_USER; }

static bool is_reserved_piece(int type) { return !is_text_piece(type); }

static enum status build_trie(const struct subword_model *m,
                              struct piece_trie *t, bool (*wanted)(int),
                              struct err *e)
{
    struct trie_key *keys = malloc((size_t)m->n * sizeof *keys);
    enum status st;
    size_t n = 0;

    if (!keys) return err_nomem(e, "the tokenizer's pieces");
    for (int32_t id = 0; id < m->n; id++) {
        const struct piece_entry *p = &m->piece[id];

        if (!wanted(p->type)) continue;
        keys[n++] = (struct trie_key){ model_text(m, id), p->len, id };
    }
    st = piece_trie_build(t, keys, n, e);
    free(keys);
    return st;
}

/* Returns whether a space symbol follows another character in the piece. Such a
 * piece extends over a word border. */
static bool has_space_inside(const char *s, size_t len)
{
    for (size_t i = 1; i + 3 <= len; i++) {
        if (memcmp(s + i, "\xE2\x96\x81", 3)) continue;
        if (i < 3 || memcmp(s + i - 3, "\xE2\x96\x81", 3)) return true;
    }
    return false;
}

static enum status note_piece(struct subword_model *m, int32_t id,
                              struct err *e)
{
    const struct piece_entry *p = &m->piece[id];

    if (p->type == PIECE_UNKNOWN) {
        if (m->unk >= 0)
            return err_set(e, ST_FORMAT, "tokenizer: pieces %d and %d are both "
                           "the unknown piece", m->unk, id);
        m->unk = id;
    } else if (p->type == PIECE_BYTE) {
        m->byte_id[p->byte] = id;
    } else if (p->type == PIECE_NORMAL) {
        if (p->score < m->min_score) m->min_score = p->score;
        if (p->score > m->max_score) m->max_score = p->score;
    } else if (p->type == PIECE_UNUSED) {
        m->has_unused = true;
    }
    if (is_text_piece(p->type)) {
        if (p->len > m->longest) m->longest = p->len;
        if (has_space_inside(model_text(m, id), p->len))
            m->space_inside = true;
    }
    return ST_OK;
}

static enum status check_bytes(const struct subword_model *m, struct err *e)
{
    for (int b = 0; b < 256; b++) {
        if (m->byte_fallback && m->byte_id[b] < 0)
            return err_set(e, ST_FORMAT, "tokenizer: byte fallback is on but "
                           "piece <0x%02X> is missing", b);
        if (!m->byte_fallback && m->byte_id[b] >= 0)
            return err_set(e, ST_FORMAT, "tokenizer: byte fallback is off but "
                           "there is a piece <0x%02X>", b);
    }
    return ST_OK;
}

static enum status derive_tables(struct subword_model *m, struct err *e)
{
    enum status st = ST_OK;

    m->unk = -1;
    m->min_score = FLT_MAX;
    m->max_score = FLT_MIN;     /* the smallest positive normal number, as in
                                   SentencePiece */
    for (int b = 0; b < 256; b++) m->byte_id[b] = -1;
    for (int32_t id = 0; id < m->n && !st; id++) st = note_piece(m, id, e);
    if (!st && m->unk < 0)
        st = err_set(e, ST_FORMAT, "tokenizer: there is no unknown piece");
    if (!st) st = check_bytes(m, e);
    if (!st) st = build_trie(m, &m->text, is_text_piece, e);
    if (!st) st = build_trie(m, &m->user, is_user_piece, e);
    if (!st) st = build_trie(m, &m->reserved, is_reserved_piece, e);
    if (!st && m->text.n == 0)
        st = err_set(e, ST_FORMAT, "tokenizer: there is no piece for text");
    return st;
}

enum status subword_model_init(struct subword_model *m, const void *bytes,
                               size_t size, struct err *e)
{
    static const char unk_text[] = " \xE2\x81\x87 ";     /* U+2047 */
    enum status st;

    memset(m, 0, sizeof *m);
    m->bytes = bytes;
    m->size = size;
    m->kind = KIND_UNIGRAM;
    m->unk_text = unk_text;
    m->unk_text_len = sizeof unk_text - 1;
    m->norm = m->denorm = (struct normalizer_spec){ NULL, 0, true, true, true };
    if (size > INT32_MAX)
        return err_set(e, ST_FORMAT, "tokenizer: the model is over 2 GiB");
    st = read_specs(m, e);
    if (!st) st = read_pieces(m, e);
    if (!st) st = derive_tables(m, e);
    return st;
}

void subword_model_release(struct subword_model *m)
{
    free(m->piece);
    piece_trie_release(&m->text);
    piece_trie_release(&m->user);
    piece_trie_release(&m->reserved);
    memset(m, 0, sizeof *m);
}

int32_t subword_model_find(const struct subword_model *m, const char *text,
                           size_t len)
{
    int32_t id = piece_trie_find(&m->reserved, text, len);

    return id >= 0 ? id : piece_trie_find(&m->text, text, len);
}
