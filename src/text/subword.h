/* subword.h - text to piece ids and back, exactly as SentencePiece does.
 *
 * Reads the .model file SentencePiece writes (unigram and BPE, byte fallback,
 * its own normalization map) and gives the same ids as spm_encode, plus what
 * spm_encode does not print: the bytes of the caller's text each piece came
 * from. A struct subword is immutable and may be shared by threads. */
#ifndef TEXT_SUBWORD_H
#define TEXT_SUBWORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct subword;

/* A piece and the span [begin, end) of the original text it stands for.
 * Spans ascend and never overlap; a piece that stands for nothing of its own
 * (a dummy prefix, the later bytes of a byte-fallback character) is empty.
 * The space before a word is not in the span of "(U+2581)word", so between two
 * spans lies white space or nothing; a lone U+2581 has the spaces it stands
 * for. What normalization replaces as one (a ligature, a letter and its
 * accents) belongs to the first piece that holds a part of it: "f" and "i" out
 * of U+FB01 have its three bytes and none. A character that normalization
 * drops belongs to what comes before it. */
struct piece {
    int32_t id;
    uint32_t begin, end;
};

struct pieces {                 /* grows; freed by pieces_release */
    struct piece *at;
    size_t n, cap;
};
void pieces_release(struct pieces *p);

/* The bytes are borrowed and must outlive the subword (a mapped model). */
enum status subword_open(struct subword **out, const void *model, size_t size,
                         struct err *e);
void subword_close(struct subword *sw);         /* NULL is fine */

int subword_size(const struct subword *sw);     /* ids are 0 .. size-1 */
/* The piece's text as stored (U+2581 for a space); not NUL-terminated. */
const char *subword_piece(const struct subword *sw, int32_t id, size_t *len);
/* -1 when there is none. */
int32_t subword_find(const struct subword *sw, const char *piece, size_t len);
int32_t subword_unk(const struct subword *sw);

/* Append the pieces of text to out. Invalid UTF-8 becomes U+FFFD as in
 * SentencePiece; a caller that wants an error checks first (utf8.h). */
enum status subword_encode(const struct subword *sw, const char *text,
                           size_t len, struct pieces *out, struct err *e);

/* Append the text of ids. Control pieces give nothing. */
enum status subword_decode(const struct subword *sw, const int32_t *ids,
                           size_t n, struct strbuf *out, struct err *e);
/* The same for what a model wrote, whose vocabulary may be larger: ids past
 * the tokenizer's give nothing. Also says where each piece's text ends, counted
 * from where the text began. A run of byte pieces is written as a whole: it belongs to the first
 * of them, the others are empty. ends is [n]; it ascends. */
enum status subword_decode_ends(const struct subword *sw, const int32_t *ids,
                                size_t n, struct strbuf *out, uint32_t *ends,
                                struct err *e);

#endif
