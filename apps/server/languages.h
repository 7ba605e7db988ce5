/* languages.h - the pairs of languages that are served, and the language of a
 * text. Languages are given by the codes of skmt_language_code. */
#ifndef SERVER_LANGUAGES_H
#define SERVER_LANGUAGES_H

#include <stdbool.h>

struct server;

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
