/* common_words.h - which languages a text may have, by its frequent words.
 *
 * The list (common_words.def) has a row for each language. Each word of a text
 * that is in a row, and each letter that is typical for its language, gives the
 * row a vote. A struct common_words has the rows of some languages; it never
 * changes, so threads may share it. */
#ifndef SERVER_COMMON_WORDS_H
#define SERVER_COMMON_WORDS_H

#include <stdbool.h>

enum {
    COMMON_ROWS = 0
#define WORDS(codes, letters, words) + 1
#include "server/common_words.def"
#undef WORDS
};

/* The row of a code of ISO 639; -1: there is none. */
int common_words_row(const char *code);

struct common_words;            /* opaque */

/* For these languages. NULL if out of memory. */
struct common_words *common_words_new(const char *const *codes, int n);
void common_words_free(struct common_words *c);         /* NULL is fine */

/* The votes of the rows; begin with zeros. Give it the letters of each word, in
 * lower case, and then its end. */
struct common_votes {
    double votes[COMMON_ROWS];
    char word[64];              /* UTF-8 */
    int len;
};
void common_words_letter(const struct common_words *c, struct common_votes *v,
                         unsigned letter);
void common_words_end(const struct common_words *c, struct common_votes *v);

#endif
