/* libre.h - what the files of LibreTranslate's API share.
 *
 * Clients compare the sentences of its errors with those of LibreTranslate, so
 * they are kept word for word. */
#ifndef SERVER_LIBRE_H
#define SERVER_LIBRE_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"

/* An argument that must not be empty. Fails the call and returns NULL if it
 * is. */
const char *libre_needed(struct call *c, const char *argument);
/* Whether what a client wrote is a short word, so that it may stand in an error
 * message. */
bool libre_is_word(const char *s);
/* The code of a language as LibreTranslate's clients write it: "pb" and "zt"
 * are Portuguese and Chinese there. Fails the call and returns NULL if the
 * server has no pair with this language. */
const char *libre_language(struct call *c, const char *written);
/* Whether a pair (codes) is served; else fails the call. */
bool libre_pair(struct call *c, const char *source, const char *target);

/* Whether a size is within a limit; else fails the call. LibreTranslate says
 * the same for a text and for a list of texts. */
bool libre_within(struct call *c, int64_t size, int64_t limit);

/* libre_translate.c, libre_spec.c */
void libre_translate(struct call *c);
void libre_spec(struct call *c);
void libre_docs(struct call *c);

#endif
