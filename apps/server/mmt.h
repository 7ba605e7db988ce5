/* mmt.h - what the files of ModernMT's API share.
 *
 * Every answer of this API is an envelope: {"status":200,"data":..} or
 * {"status":400,"error":{"type":..,"message":..}}. The status in the body is
 * that of HTTP, because clients read only the body. */
#ifndef SERVER_MMT_H
#define SERVER_MMT_H

#include <jansson.h>

#include "account.h"
#include "call.h"

/* Answers {"status":200,"data":data}. Takes `data`; NULL is out of memory. */
void mmt_reply(struct call *c, json_t *data);

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

/* Finds the memory that a client names by its number or its external id, else
 * fails the call and returns false. Release the card. */
bool mmt_memory_find(struct call *c, const char *what,
                     struct memory_card *card);

/* mmt_content.c */
void mmt_content_add(struct call *c);           /* POST /memories/:id/content */
void mmt_content_replace(struct call *c);       /* PUT /memories/:id/content */
void mmt_content_share(struct call *c);         /* POST /memories/content */
void mmt_import_job(struct call *c);

#endif
