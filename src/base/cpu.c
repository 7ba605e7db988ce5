/* cpu.c - what the processor can run, asked once. */
#include "base/cpu.h"

#include <pthread.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const char *const names[ISA_COUNT] = { "ref", "avx2", "avx512",
                                              "amx" };

static struct {
    pthread_once_t once, once_tiles;
    enum isa vectors;           /* the best without tiles */
    bool tiles;
    char name[64];
} cpu = { PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, ISA_REF, false,
          "unknown CPU" };

const char *isa_name(enum isa isa)
{
    return isa < ISA_COUNT ? names[isa] : "unknown";
}

bool isa_parse(const char *name, enum isa *out)
{
    for (int i = 0; i < ISA_COUNT; i++) {
        if (!strcmp(name, names[i])) {
            *out = (enum isa)i;
            return true;
        }
    }
    return false;
}

#ifdef __x86_64__

#define CPUID_AMX_TILE (1u << 24)       /* leaf 7, edx; compilers' headers */
#define CPUID_AMX_INT8 (1u << 25)       /* name them differently */
#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_TILE_DATA 18

/* Tiles are 8 KB of registers, which Linux saves only for processes that have
 * asked for it. It refuses when it does not know them, or when a thread has
 * set a stack for signals that is too small for them. */
static bool ask_for_tiles(void)
{
    const unsigned need = CPUID_AMX_TILE | CPUID_AMX_INT8;
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & need) == need &&
           !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_TILE_DATA);
}

/* __builtin_cpu_supports() also asks XGETBV whether the system saves the
 * registers, so a yes means the instructions can be executed. */
static enum isa look_up_isa(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return ISA_REF;

    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C)) return ISA_REF;

    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") &&
        __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vnni"))
        return ISA_AVX512;
    return ISA_AVX2;
}

/* The brand string: 48 bytes in three leaves, padded with spaces or NULs. */
static void look_up_name(char *out)
{
    unsigned id[12];

    for (unsigned i = 0; i < 3; i++) {
        unsigned *r = id + 4 * i;
        if (!__get_cpuid(0x80000002 + i, r, r + 1, r + 2, r + 3)) return;
    }
    char text[sizeof id + 1];
    memcpy(text, id, sizeof id);
    text[sizeof id] = 0;

    size_t from = strspn(text, " "), len = strlen(text + from);
    while (len && text[from + len - 1] == ' ') len--;
    if (!len) return;
    memcpy(out, text + from, len);
    out[len] = 0;
}

#else

static enum isa look_up_isa(void) { return ISA_REF; }

static bool ask_for_tiles(void) { return false; }

static void look_up_name(char *out)
{
#if defined __aarch64__
    strcpy(out, "aarch64");
#else
    (void)out;
#endif
}

#endif

static void cpu_look_up(void)
{
    cpu.vectors = look_up_isa();
    look_up_name(cpu.name);
}

static void look_up_tiles(void)
{
    cpu.tiles = cpu.vectors == ISA_AVX512 && ask_for_tiles();
}

bool cpu_runs(enum isa isa)
{
    pthread_once(&cpu.once, cpu_look_up);
    if (isa != ISA_AMX) return isa <= cpu.vectors;
    pthread_once(&cpu.once_tiles, look_up_tiles);
    return cpu.tiles;
}

enum isa cpu_best_isa(void)
{
    return cpu_runs(ISA_AMX) ? ISA_AMX : cpu.vectors;
}

const char *cpu_name(void)
{
    pthread_once(&cpu.once, cpu_look_up);
    return cpu.name;
}
