/* subword_model.h - what a SentencePiece .model file says, as tables.
 *
 * The file is one protocol-buffers message; pieces and the normalization maps
 * stay where they are in the borrowed bytes and are viewed from here. Opening
 * checks every length, so the rest of the tokenizer trusts the tables. For
 * use inside text/ only; the interface is subword.h. */
#ifndef TEXT_SUBWORD_MODEL_H
#define TEXT_SUBWORD_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "text/piece_trie.h"

/* Longer pieces are refused, as newer versions of SentencePiece do: a piece
 * that long is never a word, and the search is linear in it. */
#define SUBWORD_PIECE_MAX 8000

/* The numbers are the file's. */
enum subword_kind { KIND_UNIGRAM = 1, KIND_BPE = 2 };
enum piece_type {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,
    PIECE_USER,                 /* always one piece, never normalized */
    PIECE_UNUSED,               /* has an id but is not produced */
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
    size_t map_len;             /* 0: text stays as it is */
    bool add_dummy_prefix;
    bool remove_extra_whitespaces;
    bool escape_whitespaces;    /* U+2581 for a space */
};

struct subword_model {
    const uint8_t *bytes;       /* borrowed */
    size_t size;
    struct piece_entry *piece;  /* [n] */
    int32_t n;
    enum subword_kind kind;
    bool byte_fallback;
    bool space_is_suffix;       /* treat_whitespace_as_suffix */
    const char *unk_text;       /* what an unknown piece decodes to */
    size_t unk_text_len;
    struct normalizer_spec norm, denorm;

    /* Derived. */
    struct piece_trie text;     /* normal, user-defined and unused pieces */
    struct piece_trie user;     /* user-defined pieces alone */
    struct piece_trie reserved; /* unknown, control and byte pieces */
    int32_t unk;                /* id */
    int32_t byte_id[256];       /* with byte_fallback */
    uint16_t longest;           /* bytes of the longest piece in text */
    bool has_unused;
    bool space_inside;          /* some piece has a space after a character */
    float min_score, max_score; /* of the normal pieces */
};

/* ST_FORMAT with a sentence when the bytes are not a usable model. What was
 * filled must be released either way. */
enum status subword_model_init(struct subword_model *m, const void *bytes,
                               size_t size, struct err *e);
void subword_model_release(struct subword_model *m);

static inline const char *model_text(const struct subword_model *m, int32_t id)
{
    return (const char *)m->bytes + m->piece[id].at;
}

/* Reserved pieces first, as in SentencePiece; -1 when there is none. */
int32_t subword_model_find(const struct subword_model *m, const char *text,
                           size_t len);

/* One segmenter per kind of model. cut[at] becomes the length of the piece
 * that starts at byte `at` of text (n bytes, n >= 1), walking from 0 to n;
 * elsewhere cut holds nothing of use. It comes zeroed and has n + 1 places. */
enum status unigram_segment(const struct subword_model *m, const char *text,
                            size_t n, uint16_t *cut, struct err *e);
enum status bpe_segment(const struct subword_model *m, const char *text,
                        size_t n, uint16_t *cut, struct err *e);

/* Bytes of the character that starts with c, judged by c alone: what both
 * segmenters advance by. The caller clips it to the text. */
static inline size_t lead_length(char c)
{
    return (size_t)"\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[(unsigned char)c >> 4];
}

#endif
