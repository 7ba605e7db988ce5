/* pick.c - chooses the table of kernels, once per process: the best one for
 * this CPU, or the one that SKMT_ISA names. */
#include <pthread.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "tensor/cpu/tables.h"

static const struct kernels *const tables[ISA_COUNT] = {
    [ISA_REF] = &kernels_ref,
#ifdef __x86_64__
    [ISA_AVX2] = &kernels_avx2,
    [ISA_AVX512] = &kernels_avx512,
    [ISA_AMX] = &kernels_amx,
#endif
};

static struct {
    pthread_once_t once;
    const struct kernels *kernels;
    const char *unusable;
} picked = { PTHREAD_ONCE_INIT, NULL, NULL };

const struct kernels *kernels_for(enum isa isa)
{
    return isa < ISA_COUNT && cpu_runs(isa) ? tables[isa] : NULL;
}

static void kernels_pick_once(void)
{
    const char *want = getenv("SKMT_ISA");
    enum isa isa;

    if (want && *want) {
        if (isa_parse(want, &isa)) picked.kernels = kernels_for(isa);
        if (picked.kernels) return;
        picked.unusable = want;
    }
    picked.kernels = kernels_for(cpu_best_isa());
    assert(picked.kernels && picked.kernels->isa == cpu_best_isa());
}

const struct kernels *kernels_pick(const char **unusable)
{
    pthread_once(&picked.once, kernels_pick_once);
    if (unusable) *unusable = picked.unusable;
    return picked.kernels;
}
