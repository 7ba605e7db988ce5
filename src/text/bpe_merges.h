/* bpe_merges.h - splits words into symbols by a list of merges, as fastBPE,
 * subword-nmt and FSMT do.
 *
 * A word begins as its characters; its end is marked with "</w>", either glued
 * to the last character or as a symbol of its own. Repeatedly, the pair of
 * neighbors that comes first in the list is merged, everywhere in the word from
 * left to right, until no pair is in the list. Unlike the BPE of SentencePiece,
 * only the pairs of the list merge, whatever their union. The time is
 * proportional to n log n for a word of n characters.
 *
 * A struct bpe_merges is immutable once it is filled. For use inside text/
 * only. */
#ifndef TEXT_BPE_MERGES_H
#define TEXT_BPE_MERGES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/map64.h"
#include "text/string_ids.h"

#define BPE_WORD_END "</w>"

struct bpe_merges {             /* initialize with zeros */
    bool apart;                 /* "</w>" is a symbol of its own */
    struct string_ids symbols;
    struct map64 ranks;         /* left << 32 | right: number of the merge */
    struct bpe_merge { int32_t left, right, both; } *merge;     /* [n] */
    size_t n, cap;
    int32_t ascii[2][128];      /* symbols of characters; [1]: last ones */
};
void bpe_merges_release(struct bpe_merges *b);

/* Add the next merge. *known: the pair was in the list already, and nothing is
 * added. Returns false when out of memory. */
bool bpe_merges_add(struct bpe_merges *b, struct str left, struct str right,
                    bool *known);
/* Add a symbol, so that it has a number. */
bool bpe_merges_add_symbol(struct bpe_merges *b, struct str symbol);
/* Call this after everything was added. */
void bpe_merges_finish(struct bpe_merges *b);

/* A symbol of a word. It ends where the next one begins. */
struct bpe_part {
    int32_t symbol;             /* -1: a character that no merge knows */
    uint32_t begin;
    uint32_t prev, next;        /* while merging */
};

struct bpe_candidate { uint32_t rank, left; };

struct bpe_candidates { struct bpe_candidate *at; size_t n, cap; };

struct bpe_word {               /* initialize with zeros; can be reused */
    struct bpe_part *part;      /* [n] */
    size_t n, cap;
    struct bpe_candidates heap, fresh;
};
void bpe_word_release(struct bpe_word *w);

/* Split bytes [begin, end) of a text, a word that is not empty. The end mark is
 * no part, unless it is glued or merged to one. Returns false when out of
 * memory. */
bool bpe_split(const struct bpe_merges *b, struct bpe_word *w,
               const char *text, uint32_t begin, uint32_t end);

#endif
