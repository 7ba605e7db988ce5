/* made_moses.h - makes small BPE tokenizers with Moses rules for tests. */
#ifndef MADE_MOSES_H
#define MADE_MOSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/moses_bpe.h"
#include "text/utf8.h"

/* Merges for a few words of the tests. */
#define MADE_CODES                                                            \
    "t h 9\nth e</w> 8\ni n</w> 7\nh o 6\nho u 5\nhou s 4\nhous e</w> 3\n"    \
    "& a 2\n&a p 2\n&ap o 2\n&apo s 2\n&apos ;</w> 2\n&apos ; 1\n"             \
    "&apos; s</w> 1\n@ - 1\n@- @</w> 1\n. . 1\n.. .</w> 1\nd e 1\nde r</w> 1\n"

struct made_moses {
    char **piece;               /* [n] */
    int32_t n, unk, control[3];
};

static inline void made_moses_add(struct made_moses *m, const char *text,
                                  size_t n, const char *mark)
{
    char *piece = malloc(n + strlen(mark) + 1);

    memcpy(piece, text, n);
    strcpy(piece + n, mark);
    for (int32_t i = 0; i < m->n; i++)
        if (!strcmp(m->piece[i], piece)) {
            free(piece);
            return;
        }
    m->piece = realloc(m->piece, (size_t)(m->n + 1) * sizeof *m->piece);
    m->piece[m->n++] = piece;
}

/* Adds the pieces of a symbol. */
static inline void made_moses_symbol(struct made_moses *m, const char *text,
                                     size_t n, enum bpe_marks marks)
{
    bool last = n > 4 && !memcmp(text + n - 4, "</w>", 4);

    if (marks == BPE_MARKS_WORD_END) {
        made_moses_add(m, text, n, "");
        if (!last) made_moses_add(m, text, n, "</w>");
        return;
    }
    made_moses_add(m, text, last ? n - 4 : n, "");
    if (!last) made_moses_add(m, text, n, "@@");
}

/* A vocabulary: <s>, <pad>, </s>, <unk>, the characters of `alphabet` and the
 * unions of all merges, each inside and at the end of words. */
static inline struct made_moses made_moses_pieces(const char *codes,
                                                  const char *alphabet,
                                                  enum bpe_marks marks)
{
    struct made_moses m = { .unk = 3, .control = { 0, 1, 2 } };
    static const char *const special[] = { "<s>", "<pad>", "</s>", "<unk>" };
    int len;

    for (int i = 0; i < 4; i++)
        made_moses_add(&m, special[i], strlen(special[i]), "");
    for (; *alphabet; alphabet += len) {
        (void)utf8_next(alphabet, strlen(alphabet), &len);
        made_moses_symbol(&m, alphabet, (size_t)len, marks);
    }
    for (const char *line = codes; *line; line += line[0] == '\n') {
        size_t left = strcspn(line, " \n"), right;
        char both[200];

        right = line[left] ? strcspn(line + left + 1, " \n") : 0;
        snprintf(both, sizeof both, "%.*s%.*s", (int)left, line, (int)right,
                 line + left + 1);
        if (*line != '#') made_moses_symbol(&m, both, strlen(both), marks);
        line += strcspn(line, "\n");
    }
    return m;
}

static inline void made_moses_free(struct made_moses *m)
{
    for (int32_t i = 0; i < m->n; i++) free(m->piece[i]);
    free(m->piece);
}

/* ASCII and a few more. */
#define MADE_ALPHABET                                                         \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"          \
    "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~äöüÄÖÜßéŁ„“”«»…–—\u00A0€中文字👍\u0301"

/* Writes a model. The spec's vocabulary is made here; `s` has the rest. */
static inline enum status made_moses_write(struct strbuf *out,
                                           struct moses_bpe_spec s,
                                           struct err *e)
{
    struct made_moses m = made_moses_pieces(s.codes, MADE_ALPHABET, s.marks);
    enum status st;

    s.codes_size = strlen(s.codes);
    s.codes_name = "codes";
    s.pieces = (const char *const *)m.piece;
    s.n_pieces = m.n;
    s.unk = m.unk;
    s.control = m.control;
    s.n_control = 3;
    if (s.truecaser) {
        s.truecaser_size = strlen(s.truecaser);
        s.truecaser_name = "cases";
    }
    st = moses_bpe_write(out, &s, e);
    made_moses_free(&m);
    return st;
}

#endif
