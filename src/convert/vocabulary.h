/* vocabulary.h - the list of pieces of a model of another project, by id.
 *
 * Readers of the forms in which it is stored: a YAML or JSON object piece -> id
 * (Marian, Hugging Face), a JSON array or lines of pieces (CTranslate2, newer
 * OPUS-MT), and lines "piece count" (fairseq). Ids are 0 .. n-1, once each; a
 * hole or a repeated id is refused. The same piece may not occur twice, except
 * in a fairseq file that says "#fairseq:overwrite": then vocabulary_find()
 * gives the last one. A piece is UTF-8 without NUL; it may be empty. */
#ifndef CONVERT_VOCABULARY_H
#define CONVERT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define VOCABULARY_MAX 4000000          /* pieces */

struct vocabulary;

enum vocabulary_form {
    VOCABULARY_YAML,            /* piece: id. JSON objects too */
    VOCABULARY_JSON_OBJECT,     /* {"piece": id, ..} */
    VOCABULARY_JSON_ARRAY,      /* ["piece", ..] */
    VOCABULARY_LINES,           /* a piece per line; a final CR belongs to the
                                   piece unless every line has one */
    VOCABULARY_FAIRSEQ          /* "piece count" per line; <s>, <pad>, </s>,
                                   <unk> come before them */
};

/* Read the bytes of a file. `name` is used in messages, which say the line. */
enum status vocabulary_read(struct vocabulary **out, enum vocabulary_form form,
                            const char *text, size_t size, const char *name,
                            struct err *e);
/* The same from a list of n pieces, which need not be valid. One that is NULL
 * stands for a row of the tables that no token has, and gets a piece of its
 * own. */
enum status vocabulary_make(struct vocabulary **out, const char *const *piece,
                            size_t n, const char *name, struct err *e);
/* Whether a piece is one of those. */
bool vocabulary_piece_unused(const char *piece);
void vocabulary_free(struct vocabulary *v);             /* NULL is fine */

/* Add a piece with the next id. It is not in the vocabulary. */
enum status vocabulary_append(struct vocabulary *v, const char *piece,
                              struct err *e);

int vocabulary_size(const struct vocabulary *v);
/* The piece of an id as a string, never NULL for 0 <= id < size. A piece may
 * not contain NUL. */
const char *vocabulary_piece(const struct vocabulary *v, int32_t id);
/* The id of a piece, or -1. */
int32_t vocabulary_find(const struct vocabulary *v, const char *piece);

#endif
