/* subword_model.h - the contents of a SentencePiece .model file, as tables.
 *
 * The file is one protocol-buffers message. The texts of the pieces and the
 * normalization maps stay in the borrowed bytes; the tables point to them.
 * Opening a model checks every length, so the rest of the tokenizer trusts the
 * tables. For use inside text/ only; the public interface is subword.h. */
#ifndef TEXT_SUBWORD_MODEL_H
#define TEXT_SUBWORD_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "text/piece_trie.h"

/* The maximum length of a piece in bytes. Longer pieces are refused, like in
 * newer versions of SentencePiece: they are never words, and the time of the
 * search is linear in the longest piece. */
#define SUBWORD_PIECE_MAX 8000

/* The field of a model that sets unknown_by_text. The format leaves the numbers
 * from 200 on to others, and SentencePiece ignores them. */
#define SUBWORD_FIELD_BY_TEXT 200

/* The numbers are those of the file format. */
enum subword_kind { KIND_UNIGRAM = 1, KIND_BPE = 2 };
enum piece_type {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,
    PIECE_USER,                 /* never split, never normalized */
    PIECE_UNUSED,               /* has an id but is never output */
    PIECE_BYTE                  /* "<0x00>" .. "<0xFF>" */
};

struct piece_entry {
    uint32_t at;                /* offset of its text in the model bytes */
    float score;
    uint16_t len;
    uint8_t type;               /* enum piece_type */
    uint8_t byte;               /* of a PIECE_BYTE */
};

struct normalizer_spec {
    const uint8_t *map;         /* compiled charsmap, see normalize.c */
    size_t map_len;             /* 0: no replacements */
    bool add_dummy_prefix;
    bool remove_extra_whitespaces;
    bool escape_whitespaces;    /* write U+2581 for a space */
};

struct subword_model {
    const uint8_t *bytes;       /* borrowed */
    size_t size;
    struct piece_entry *piece;  /* [n] */
    int32_t n;
    enum subword_kind kind;
    bool byte_fallback;
    bool space_is_suffix;       /* treat_whitespace_as_suffix */
    bool unknown_by_text;       /* an unknown piece whose text is that of an
                                   unused piece has the id of the latter; not
                                   in models of SentencePiece */
    const char *unk_text;       /* what an unknown piece decodes to */
    size_t unk_text_len;
    struct normalizer_spec norm, denorm;

    /* Derived from the pieces. */
    struct piece_trie text;     /* normal, user-defined and unused pieces */
    struct piece_trie user;     /* user-defined pieces alone */
    struct piece_trie reserved; /* unknown, control and byte pieces */
    int32_t unk;                /* id of the unknown piece */
    int32_t byte_id[256];       /* -1 without byte_fallback */
    uint16_t longest;           /* bytes of the longest piece in text */
    bool has_unused;
    bool space_inside;          /* a piece extends over a word border */
    float min_score, max_score; /* of the normal pieces */
};

/* Reads a model. Returns ST_FORMAT, with a message, if the bytes are not a
 * usable model. The caller must release *m in any case. */
enum status subword_model_init(struct subword_model *m, const void *bytes,
                               size_t size, struct err *e);
void subword_model_release(struct subword_model *m);

static inline const char *model_text(const struct subword_model *m, int32_t id)
{
    return (const char *)m->bytes + m->piece[id].at;
}

/* Returns the id of a piece, or -1. Reserved pieces take precedence, as in
 * SentencePiece. */
int32_t subword_model_find(const struct subword_model *m, const char *text,
                           size_t len);

/* One segmenter for each kind of model. The text has n >= 1 bytes. `cut` has
 * n + 1 elements and is zeroed on entry. On return cut[at] is the length of the
 * piece that starts at byte `at`, so the pieces start at 0, cut[0],
 * cut[0] + cut[cut[0]], and so on up to n. Other elements are unspecified. */
enum status unigram_segment(const struct subword_model *m, const char *text,
                            size_t n, uint16_t *cut, struct err *e);
enum status bpe_segment(const struct subword_model *m, const char *text,
                        size_t n, uint16_t *cut, struct err *e);

/* Returns the length of the character that starts with byte c, judging by c
 * alone. Both segmenters advance by it. The caller limits it to the text. */
static inline size_t lead_length(char c)
{
    return (size_t)"\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[(unsigned char)c >> 4];
}

#endif
