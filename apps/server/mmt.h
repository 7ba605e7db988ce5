/* mmt.h - what the files of ModernMT's API share.
 *
 * Every answer of this API is an envelope: {"status":200,"data":..} or
 * {"status":400,"error":{"type":..,"message":..}}. The status in the body is
 * that of HTTP, because clients read only the body. */
#ifndef SERVER_MMT_H
#define SERVER_MMT_H

#include <jansson.h>
#include <stdbool.h>

#include "account.h"
#include "call.h"

/* Answers {"status":200,"data":data}. Takes `data`; NULL is out of memory. */
void mmt_reply(struct call *c, json_t *data);
/* The field of a failure whose type is EmptyCorpusException. */
extern const char mmt_empty_corpus[];

/* A list of ids: a JSON list, or a string with commas. Ids may be numbers.
 * Returns a new list of strings, which is empty if the argument is absent. NULL
 * after it has failed the call. */
json_t *mmt_ids(struct call *c, const char *argument);
/* The code of the language in an argument. Fails the call if it is absent and
 * required, or no language; returns false then. *code is NULL if absent. */
bool mmt_language(struct call *c, const char *argument, bool required,
                  const char **code);
/* The same for a pair that must be served. */
bool mmt_pair(struct call *c, const char **source, const char **target);

/* mmt_translate.c */
void mmt_translate(struct call *c);
void mmt_detect(struct call *c);

/* mmt_context.c */
void mmt_context_vector(struct call *c);

/* mmt_memories.c */
void mmt_memories_list(struct call *c);
void mmt_memories_create(struct call *c);
void mmt_memories_connect(struct call *c);
void mmt_memory_get(struct call *c);
void mmt_memory_change(struct call *c);
void mmt_memory_delete(struct call *c);

/* Whether the account has a memory file that it may change; else fails the
 * call. */
bool mmt_may_store(struct call *c);
/* Finds the memory that a client names by its number or its external id; fails
 * the call and returns false if there is none. If `make`, a memory with the
 * external id of a key of MateCat ("x_mm-..") is made: MateCat stores under
 * keys that it never created. Release the card. */
bool mmt_memory_find(struct call *c, const char *what, bool make,
                     struct memory_card *card);

/* The memories that a client names by their ids. */
struct mmt_names {
    char **names;               /* [n] names in the memory file */
    int n;
    bool given;                 /* the client named some, also unknown ones */
};
/* Adds those of an argument such as "12,x_mm-abc" or "12:0.7,15:0.3". Ids
 * without a memory are ignored: MateCat sends keys under which nothing is
 * stored yet. Returns false after it has failed the call. */
bool mmt_names_read(struct call *c, const char *argument,
                    struct mmt_names *m);
void mmt_names_release(struct mmt_names *m);

/* mmt_content.c */
void mmt_content_add(struct call *c);           /* POST /memories/:id/content */
void mmt_content_replace(struct call *c);       /* PUT /memories/:id/content */
void mmt_content_share(struct call *c);         /* POST /memories/content */
void mmt_import_job(struct call *c);

#endif
