/* text_list.h - the texts of a call: plain, or XML.
 *
 * ModernMT and DeepL let clients send markup. An element without content, such
 * as <x id="1"></x>, stands for something that must come back as it was. It is
 * translated as a mark (marks.h). Entities are decoded, and the translation is
 * encoded again. Other tags are for the API to refuse. */
#ifndef SERVER_TEXT_LIST_H
#define SERVER_TEXT_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "call.h"

struct text_markup;             /* opaque; what one text had */
struct text_list {
    const char **texts;         /* [n], as they are to be translated */
    struct text_markup *markup; /* [n] */
    json_t *json;               /* [n] the texts as written */
    int n;
    bool single;                /* one string, not a list */
};
enum text_form {
    TEXT_PLAIN,
    TEXT_XML,
    TEXT_GUESS                  /* XML if it has an entity or a tag */
};

/* Reads argument `name`, a string or a list of strings. Returns 1; 0 if it is
 * absent or null; -1 after it has failed the call. Release it in any case. */
int text_list_read(struct call *c, const char *name, struct text_list *out);
/* The same with a value that is there. Returns 1; 0 if out of memory; -1 if it
 * is no string or list; -2 - i if element i of a list is no string. */
int text_list_take(struct text_list *out, json_t *value);
void text_list_release(struct text_list *t);
/* Makes plain texts of those that are XML. Returns false if out of memory. *tag
 * is the index of the first text with a tag that is not translated, -1 if there
 * is none; the texts are not complete then. */
bool text_list_decode(struct text_list *t, enum text_form form, int *tag);
/* A translation of text i, as the client wants it. NULL: out of memory. */
json_t *text_list_answer(const struct text_list *t, int i,
                         const char *translation);
/* The number of characters of text i as written. */
size_t text_list_characters(const struct text_list *t, int i);

/* The number of code points of valid UTF-8. */
size_t text_characters(const char *s);

/* Whether these are the text and the languages that Weblate tries when its
 * settings are saved: "test", from English to German. A server without this
 * pair gives the text back, or Weblate refuses the settings. */
bool text_list_is_probe(struct call *c, const struct text_list *t,
                        const char *source, const char *target);

#endif
