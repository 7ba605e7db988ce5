/* language_list.h - the languages of multilingual models, in the order of the
 * ids of their tokens. The files of these models do not always list them. */
#ifndef CONVERT_LANGUAGE_LIST_H
#define CONVERT_LANGUAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum language_list {
    LANGUAGES_M2M,              /* M2M-100 and SMaLL-100: "de", "__de__" */
    LANGUAGES_NLLB,             /* NLLB-200: "deu_Latn", "deu_Latn" */
    LANGUAGES_WMT21             /* the models of WMT 2021 in the form of
                                   M2M-100 */
};

int language_list_count(enum language_list l);
/* Code i: "de" or "deu_Latn". */
const char *language_list_code(enum language_list l, int i);
/* The index of a code, or -1. */
int language_list_find(enum language_list l, const char *code);

/* Write the token of a code: "__de__" or "deu_Latn". Returns false if it does
 * not fit. */
bool language_list_token(enum language_list l, const char *code, char *out,
                         size_t size);

/* Whether a piece looks like the token of a language, of one of the lists or
 * not: "__xx__" with 2 or 3 small letters, "xxx_Xxxx". *code [size], which may
 * be NULL, gets the code. */
bool language_list_is_token(enum language_list l, const char *piece, char *code,
                            size_t size);

#endif
