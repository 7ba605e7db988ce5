/* cpu.h - which vector instructions this processor and system can run. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Ascending: a CPU that runs one runs all before it. */
enum isa { ISA_REF, ISA_AVX2, ISA_AVX512, ISA_AMX, ISA_COUNT };

const char *isa_name(enum isa isa);             /* "ref", "avx2", "avx512".. */
bool isa_parse(const char *name, enum isa *out);

/* Looked up once. ISA_AVX2 means AVX2 + FMA + F16C; ISA_AVX512 means F, BW,
 * VL, DQ, VNNI, BMI and POPCNT, with the system saving the registers. ISA_AMX
 * means int8 tiles too. Linux lets a process use these when it asks, which the
 * first question after ISA_AMX does; it then needs larger signal stacks. */
bool cpu_runs(enum isa isa);
enum isa cpu_best_isa(void);

/* The model name as the processor gives it, for tables of figures. */
const char *cpu_name(void);

#endif
