/* systems.c - the list of all steering systems. */
#include <string.h>

#include "knn/adaptive.h"
#include "knn/chunk.h"
#include "knn/efficient.h"
#include "knn/fast.h"
#include "knn/kok.h"
#include "knn/learned.h"
#include "knn/nmt.h"
#include "knn/sk.h"
#include "knn/translation_pieces.h"
#include "knn/vanilla.h"

static const struct steering_system *const systems[] = {
    &nmt_system, &sk_system, &learned_system, &vanilla_system,
    &adaptive_system, &efficient_system, &chunk_system, &fast_system,
    &kok_system, &translation_pieces_system
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };
_Static_assert((int)N_SYSTEMS <= (int)MOST_SYSTEMS, "raise MOST_SYSTEMS");

const struct steering_system *system_at(int i)
{
    return i >= 0 && i < N_SYSTEMS ? systems[i] : NULL;
}

const struct steering_system *system_named(const char *name)
{
    for (int i = 0; i < N_SYSTEMS; i++)
        if (!strcmp(systems[i]->name, name)) return systems[i];
    return NULL;
}
