/* text_list.h - the texts of a call: plain, or with &, < and > as entities.
 *
 * ModernMT and DeepL let clients send markup. A text with entities but without
 * tags is decoded, translated and encoded again. Tags are for the API to
 * refuse. */
#ifndef SERVER_TEXT_LIST_H
#define SERVER_TEXT_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "call.h"

struct text_list {
    const char **texts;         /* [n], as they are to be translated */
    char **decoded;             /* [n]; NULL where texts[i] is as written */
    json_t *json;               /* [n] the texts as written */
    int n;
    bool single;                /* one string, not a list */
};
enum text_form {
    TEXT_PLAIN,
    TEXT_XML,                   /* entities are decoded */
    TEXT_GUESS                  /* XML if it has an entity or a tag */
};

/* Reads argument `name`, a string or a list of strings. Returns 1; 0 if it is
 * absent or null; -1 after it has failed the call. Release it in any case. */
int text_list_read(struct call *c, const char *name, struct text_list *out);
void text_list_release(struct text_list *t);
/* Decodes the texts that are XML. Returns false if out of memory. */
bool text_list_decode(struct text_list *t, enum text_form form);
/* The index of the first text with a tag; -1 if none has. With TEXT_PLAIN none
 * has. */
int text_list_tag(const struct text_list *t, enum text_form form);
/* A translation of text i, as the client wants it: encoded if the text was
 * decoded. NULL: out of memory. */
json_t *text_list_answer(const struct text_list *t, int i,
                         const char *translation);
/* The number of characters of text i as written. */
size_t text_list_characters(const struct text_list *t, int i);

/* The number of code points of valid UTF-8. */
size_t text_characters(const char *s);

#endif
