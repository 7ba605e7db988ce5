/* own.h - the functions of the routes of skmt's own API (api_own.c). */
#ifndef SERVER_OWN_H
#define SERVER_OWN_H

#include <jansson.h>

#include "account.h"
#include "route.h"

/* {"error":{..}}, as the API answers. NULL if out of memory. */
json_t *own_failure_json(const struct call *c, const struct failure *f);

/* own_translate.c, own_complete.c */
route_fn own_translate, own_complete, own_alternatives;
/* own_memories.c, own_transfer.c */
route_fn own_memories_list, own_memories_create, own_memory_get,
    own_memory_change, own_memory_delete, own_import, own_export;
/* own_pairs.c, own_search.c */
route_fn own_pairs_list, own_pairs_add, own_pair_get, own_pair_put,
    own_pair_delete, own_search, own_feedback;
/* own_info.c */
route_fn own_info, own_health, own_ready, own_metrics, own_openapi;

#endif
