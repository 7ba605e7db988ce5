/* wish_options.c - the engine options that a client may set. */
#include <string.h>

#include "translate_call.h"

/* Options that are not listed belong to the server: its threads, caches, files
 * and devices; or the API has an argument for them. */
static const char *const wish_options[] = {
    "beam", "lenpen-type", "lenpen", "max-len-a", "max-len-b", "early-stop",
    "prune", "split", "max-source", "preset", "system", "k", "tau", "adapter",
    "lambda", "eos-votes", "repeat-votes", "cache", "exact", "draft",
    "pieces-weight", "pieces-normalize", "matches", "candidates", "rerank",
    "length-filter", "min-similarity",
};

bool wish_option_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof wish_options / sizeof *wish_options; i++)
        if (!strcmp(name, wish_options[i])) return true;
    return false;
}
