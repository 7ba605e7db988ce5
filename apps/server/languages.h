/* languages.h - codes and names of languages, the pairs that are served, and
 * the language of a text. */
#ifndef SERVER_LANGUAGES_H
#define SERVER_LANGUAGES_H

#include <stdbool.h>

struct server;

/* The code of ISO 639-1, or 639-3 if there is none, in lower case, of a code
 * that a client wrote: any case, "_" or "-", region and script ignored, codes
 * of ISO 639-2 and 639-3 too ("de_DE", "DE", "deu", "ger": "de"). NULL if it
 * is no code of a language. The string is static. */
const char *language_code(const char *written);
/* The English name, such as "German". The code itself if it has none. */
const char *language_name(const char *code);

/* The languages that are served. A pair is (source, target); the strings are
 * static. */
int language_pairs(const struct server *s);
void language_pair(const struct server *s, int i, const char **source,
                   const char **target);
bool language_is_served(const struct server *s, const char *source,
                        const char *target);
bool language_is_source(const struct server *s, const char *code);
bool language_is_target(const struct server *s, const char *code);

/* The language of a text among the languages that the server knows. *confidence
 * is 0 to 100. NULL, with confidence 0, if the text has no letters. */
const char *language_detect(const struct server *s, const char *text,
                            double *confidence);

#endif
