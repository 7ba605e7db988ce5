/* language.h - compares the codes of languages.
 *
 * Files and models write the code of a language in many ways: de, DE, de-DE,
 * de_DE.UTF-8, deu, ger, deu_Latn and >>deu<< are all German. A code is read as
 * a language with an optional script and region. languages.def has the list of
 * languages; one that is not in the list is compared by its code.
 *
 * Some codes name no single language: "", "und", "mul", "zle" (East Slavic),
 * and texts that are no code at all. These are unknown. */
#ifndef TEXT_LANGUAGE_H
#define TEXT_LANGUAGE_H

#include <stdbool.h>

#include "base/str.h"

struct language {
    char code[4];               /* ISO 639-1, or else 639-3; "" if unknown */
    char script[5];             /* "Latn", or "" if none was written; but zh-CN
                                   has Hans, and zh-TW Hant */
    char region[4];             /* "DE", "419", or "" */
};

/* Returns false if the language is unknown; *out is then all zeros. */
bool language_parse(struct str written, struct language *out);

/* Whether two codes may mean the same language: "de" and "deu_Latn", "pt" and
 * "pt-BR", "no" and "nb", but not "zh-Hans" and "zh-TW". Regions do not count.
 * An unknown language fits every other. */
bool language_fits(struct str a, struct str b);

/* Whether a text in language `has` may be taken where `wanted` was asked for.
 * "de" accepts "de-AT", "deu" and "deu_Latn", but "de-AT" does not accept "de",
 * and no language accepts an unknown one. If `wanted` is unknown, it accepts
 * codes that begin with it; NULL and "" accept everything. */
bool language_accepts(const char *wanted, struct str has);
/* How well `has`, which is accepted, fits `wanted`: larger is better. For "de",
 * "de" and "deu" are better than "de-AT". */
int language_rank(const char *wanted, struct str has);

/* The code of a language in the list, in its usual form ("GER": "de"), and its
 * English name. NULL if it is unknown or not in the list. The strings are
 * static. */
const char *language_code(struct str written);
const char *language_name(struct str written);

/* Write a language as other programs expect it (BCP 47): "de" for deu_Latn,
 * "pt-BR" for pt_br, "zh-Hant" for zho_Hant. "" if it is unknown. */
#define LANGUAGE_TAG_SIZE 16
void language_tag(struct str written, char out[LANGUAGE_TAG_SIZE]);

#endif
