/* cpu.c - detects the vector instructions and the name of the processor, each
 * once per process. */
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
    enum isa vectors;           /* the best ISA below ISA_AMX */
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

/* Bits of EDX in CPUID leaf 7. The headers of gcc and clang use different
 * names for them. */
#define CPUID_AMX_TILE (1u << 24)
#define CPUID_AMX_INT8 (1u << 25)
#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_TILE_DATA 18

/* Tiles are 8 KB of registers. Linux saves them only for a process that has
 * requested it. The request fails if the kernel does not support tiles, or if a
 * thread has an alternate signal stack that is too small for them. */
static bool request_tiles(void)
{
    const unsigned need = CPUID_AMX_TILE | CPUID_AMX_INT8;
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & need) == need &&
           !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_TILE_DATA);
}

/* __builtin_cpu_supports() also checks with XGETBV that the system saves the
 * registers, so the instructions it reports can be executed. */
static enum isa detect_isa(void)
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

/* Copy the brand string to out [49]. The processor returns it as 48 bytes in
 * three leaves, padded with spaces or NULs. Without one, out is unchanged. */
static void detect_name(char *out)
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

static enum isa detect_isa(void) { return ISA_REF; }

static bool request_tiles(void) { return false; }

static void detect_name(char *out)
{
#if defined __aarch64__
    strcpy(out, "aarch64");
#else
    (void)out;
#endif
}

#endif

static void cpu_detect(void)
{
    cpu.vectors = detect_isa();
    detect_name(cpu.name);
}

static void cpu_detect_tiles(void)
{
    cpu.tiles = cpu.vectors == ISA_AVX512 && request_tiles();
}

bool cpu_runs(enum isa isa)
{
    pthread_once(&cpu.once, cpu_detect);
    if (isa != ISA_AMX) return isa <= cpu.vectors;
    pthread_once(&cpu.once_tiles, cpu_detect_tiles);
    return cpu.tiles;
}

enum isa cpu_best_isa(void)
{
    return cpu_runs(ISA_AMX) ? ISA_AMX : cpu.vectors;
}

const char *cpu_name(void)
{
    pthread_once(&cpu.once, cpu_detect);
    return cpu.name;
}
