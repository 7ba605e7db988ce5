/* own_info.c - what the server is and whether it works. */
#include "own.h"

#define NOT_BUILT(f) \
    void f(struct call *c) { call_fail(c, FAIL_INTERNAL, "not built yet"); }
NOT_BUILT(own_translate)
NOT_BUILT(own_complete)
NOT_BUILT(own_alternatives)
NOT_BUILT(own_memories_list)
NOT_BUILT(own_memories_create)
NOT_BUILT(own_memory_get)
NOT_BUILT(own_memory_change)
NOT_BUILT(own_memory_delete)
NOT_BUILT(own_import)
NOT_BUILT(own_export)
NOT_BUILT(own_pairs_list)
NOT_BUILT(own_pairs_add)
NOT_BUILT(own_pair_get)
NOT_BUILT(own_pair_put)
NOT_BUILT(own_pair_delete)
NOT_BUILT(own_search)
NOT_BUILT(own_feedback)
NOT_BUILT(own_info)
NOT_BUILT(own_health)
NOT_BUILT(own_ready)
NOT_BUILT(own_metrics)
NOT_BUILT(own_openapi)
