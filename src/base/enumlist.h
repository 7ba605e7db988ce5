/* enumlist.h - enums whose constants have names for users, such as the values
 * of an option.
 *
 * A list macro has an entry for each constant, in order. The enum, its names
 * and the text that lists them are made from it:
 *
 *     #define RERANKS(X) X(RERANK_TOKEN, "token") X(RERANK_NONE, "none")
 *     enum rerank { RERANKS(ENUM_CONSTANT) };
 *     ENUM_WORDS(RERANKS)          { "token", "none", NULL }
 *     ENUM_CHOICES(RERANKS)        "token|none"
 *
 * The first constant is 0, so the constants are indices of ENUM_WORDS. Both
 * texts may be used to initialize static data. */
#ifndef BASE_ENUMLIST_H
#define BASE_ENUMLIST_H

#include <stddef.h>

#define ENUM_CONSTANT(constant, word) constant,
#define ENUM_WORD(constant, word) word,
#define ENUM_CHOICE(constant, word) "|" word

#define ENUM_WORDS(LIST) ((const char *const[]){ LIST(ENUM_WORD) NULL })
#define ENUM_CHOICES(LIST) (&(LIST(ENUM_CHOICE))[1])

#endif
