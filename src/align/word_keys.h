/* word_keys.h - splits a text into the words that alignment counts. Each word
 * has a key, and two words are the same if their keys are equal.
 *
 *     words     the words of Unicode (text/words.h), and each punctuation mark
 *     pieces    the pieces of a tokenizer, whose keys are their ids; each side
 *               may have a tokenizer of its own
 *     spaces    what is between spaces, for a text that is tokenized already
 *
 * The key of a word is the XXH3-64 of its bytes in lower case, or of its bytes
 * as they are if the case is kept. Keys are stored in files, so they must not
 * change (docs/formats/alignment.md). */
#ifndef ALIGN_WORD_KEYS_H
#define ALIGN_WORD_KEYS_H

#include "base/enumlist.h"
#include "base/err.h"
#include "base/str.h"
#include "text/subword.h"

#define WORD_SPLITS(X)            \
    X(SPLIT_WORDS, "words")       \
    X(SPLIT_PIECES, "pieces")     \
    X(SPLIT_SPACES, "spaces")
enum word_split { WORD_SPLITS(ENUM_CONSTANT) SPLIT_COUNT };

/* The side that a text belongs to. */
enum bitext_which { BITEXT_SOURCE, BITEXT_TARGET };

struct word_splitter {
    enum word_split split;
    bool keep_case;             /* words and spaces: do not use lower case */
    const struct subword *subword[2];   /* pieces: the tokenizer of each side
                                           (enum bitext_which), borrowed */
    uint64_t tokenizer;         /* pieces: the hash of both; otherwise 0 */
};

struct word_key {
    uint64_t key;
    uint32_t begin, end;        /* the bytes of the text */
};

struct word_keys {              /* initialize with zeros */
    struct word_key *at;        /* [n] in the order of the text */
    size_t n, cap;
    struct pieces pieces;       /* scratch */
    char *lower;                /* scratch [cap_lower] */
    size_t cap_lower;
};
void word_keys_release(struct word_keys *k);

/* Splits a text, which has less than 4 GiB. Replaces the contents of k. */
enum status word_keys_of(const struct word_splitter *s,
                         enum bitext_which which, struct str text,
                         struct word_keys *k, struct err *e);

#endif
