/* subword.h - converts text to piece ids and back, exactly like the program
 * that a tokenizer was made for.
 *
 * It reads two kinds of models. One is the .model file that SentencePiece
 * writes (unigram or BPE, byte fallback, with its own normalization map); the
 * ids are those of spm_encode. The other is a list of merges with the rules of
 * Moses (moses_bpe.h). In addition it tells which bytes of the caller's text
 * each piece comes from. A struct subword is immutable and may be shared by
 * threads. It counts its holders, so that a memory can keep the tokenizer of a
 * model that was closed. */
#ifndef TEXT_SUBWORD_H
#define TEXT_SUBWORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct subword;

/* A piece and the span [begin, end) of the original text that it stands for.
 * Spans ascend and never overlap. A piece that stands for no text of its own (a
 * dummy prefix, the later bytes of a byte-fallback character) is empty. The
 * space before a word is not part of the span of "(U+2581)word", so between two
 * spans there is white space or nothing. The span of a lone U+2581 is the
 * spaces that it stands for. If normalization replaces several characters as a
 * whole (a ligature, a letter and its accents), their bytes belong to the first
 * piece that contains a part of the replacement: of "f" and "i" from U+FB01,
 * "f" has all three bytes and "i" has none. A character that normalization
 * removes belongs to the piece before it, or after it if there is none. With
 * merges, "@-@" and entities ("&apos;") are replacements, too. */
struct piece {
    int32_t id;
    uint32_t begin, end;
};

struct pieces {                 /* a growing array */
    struct piece *at;
    size_t n, cap;
};
void pieces_release(struct pieces *p);

/* Read a model of either kind, whose bytes are copied. There is one holder
 * then. */
enum status subword_open(struct subword **out, const void *model, size_t size,
                         struct err *e);
/* Add a holder. Returns sw, which may be NULL. */
const struct subword *subword_hold(const struct subword *sw);
/* Remove a holder; the last one frees the subword. NULL is allowed. */
void subword_close(const struct subword *sw);
/* Hold sw instead of *at. Both may be NULL. */
void subword_replace(const struct subword **at, const struct subword *sw);

int subword_size(const struct subword *sw);     /* ids are 0 .. size-1 */
/* Returns the text of a piece as stored, with U+2581 for a space, or with the
 * marks of a list of merges ("hou@@"). It is not NUL-terminated; it is empty if
 * there is no such id. */
const char *subword_piece(const struct subword *sw, int32_t id, size_t *len);
/* Returns the id of a piece, or -1 if there is no such piece. */
int32_t subword_find(const struct subword *sw, const char *piece, size_t len);
int32_t subword_unk(const struct subword *sw);
/* Whether an id is a special token, such as EOS, that no text contains. True
 * for ids out of range. */
bool subword_is_control(const struct subword *sw, int32_t id);
/* Whether a piece begins a word if it follows the piece `before`, or nothing if
 * that is -1. (With SentencePiece, a piece that begins with a space; with
 * merges, one after a piece that ends a word.) */
bool subword_begins_word(const struct subword *sw, int32_t before, int32_t id);

/* Appends the pieces of a text to *out. Invalid UTF-8 becomes U+FFFD, as in
 * SentencePiece; a caller that wants an error validates the text first
 * (utf8.h). */
enum status subword_encode(const struct subword *sw, const char *text,
                           size_t len, struct pieces *out, struct err *e);

/* Appends the text of the ids. Control pieces give no text. */
enum status subword_decode(const struct subword *sw, const int32_t *ids,
                           size_t n, struct strbuf *out, struct err *e);
/* Like subword_decode, but for the output of a model whose vocabulary may be
 * larger: ids beyond the tokenizer's give no text. Sets ends[i] to where the
 * text of piece i ends, relative to the start of the appended text. A run of
 * byte pieces is decoded as a whole; its text belongs to the first of them and
 * the others are empty. ends is [n] and ascends. */
enum status subword_decode_ends(const struct subword *sw, const int32_t *ids,
                                size_t n, struct strbuf *out, uint32_t *ends,
                                struct err *e);

#endif
