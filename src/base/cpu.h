/* cpu.h - which vector instructions this processor and system can run. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* In ascending order: a CPU that runs one of these runs all before it. */
enum isa { ISA_REF, ISA_AVX2, ISA_AVX512, ISA_AMX, ISA_COUNT };

const char *isa_name(enum isa isa);     /* "ref", "avx2", "avx512" or "amx" */
bool isa_parse(const char *name, enum isa *out);

/* Whether this processor and system can run the instructions of an ISA. The
 * answer is computed once per process. ISA_AVX2 means AVX2, FMA and F16C.
 * ISA_AVX512 means AVX-512 F, BW, VL, DQ and VNNI, with BMI and POPCNT. ISA_AMX
 * adds int8 tiles. The first call with ISA_AMX asks Linux for permission to use
 * tiles; from then on, signal stacks must have room for them. */
bool cpu_runs(enum isa isa);
enum isa cpu_best_isa(void);

/* The model name that the processor reports, for benchmark tables. */
const char *cpu_name(void);

#endif
