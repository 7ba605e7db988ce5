/* options.h - all options of translating, of steering by a memory, of searching
 * a memory and of opening a model, as one struct whose fields are set by name.
 *
 * options.def, steer.def, retrieval.def and open.def list them; the struct and
 * the parser are generated from these lists. A struct options is plain data and
 * may be copied. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/enumlist.h"
#include "base/err.h"
#include "knn/metak.h"
#include "knn/pair_keys.h"
#include "knn/trust.h"
#include "knn/weigh.h"
#include "search/penalty.h"
#include "tm/retrieve.h"

/* The enums of options. Those that a lower layer uses are defined there. */
#define SPLIT_MODES(X) X(SPLIT_AUTO, "auto") X(SPLIT_NONE, "none")
enum split_mode { SPLIT_MODES(ENUM_CONSTANT) };

#define INVALID_MODES(X) X(INVALID_ERROR, "error") X(INVALID_REPLACE, "replace")
enum invalid_mode { INVALID_MODES(ENUM_CONSTANT) };

#define ANALYZER_MODES(X)                                                   \
    X(ANALYZER_STANDARD, "standard")                                        \
    X(ANALYZER_SUBWORD, "subword")
enum analyzer_mode { ANALYZER_MODES(ENUM_CONSTANT) };

#define PRESETS(X)                                                          \
    X(PRESET_AUTO, "auto")                                                  \
    X(PRESET_LEARNED, "learned")                                            \
    X(PRESET_SK1, "sk1")                                                    \
    X(PRESET_SK2, "sk2")                                                    \
    X(PRESET_PAPER_SK1, "paper-sk1")                                        \
    X(PRESET_PAPER_SK2, "paper-sk2")
enum preset { PRESETS(ENUM_CONSTANT) };

/* The words are the names of the systems (knn/system.h). */
#define SYSTEM_CHOICES(X)                                                   \
    X(SYSTEM_AUTO, "auto")                                                  \
    X(SYSTEM_NMT, "nmt")                                                    \
    X(SYSTEM_SK, "sk")                                                      \
    X(SYSTEM_LEARNED, "learned")                                            \
    X(SYSTEM_VANILLA, "vanilla")                                            \
    X(SYSTEM_ADAPTIVE, "adaptive")                                          \
    X(SYSTEM_EFFICIENT, "efficient")                                        \
    X(SYSTEM_CHUNK, "chunk")                                                \
    X(SYSTEM_FAST, "fast")                                                  \
    X(SYSTEM_KOK, "kok")                                                    \
    X(SYSTEM_PIECES, "pieces")
enum system_choice { SYSTEM_CHOICES(ENUM_CONSTANT) };

/* A network (knn/trust.h) that was given as an option. */
struct trust_option {
    bool is_set;                /* false: the network of the model */
    uint64_t model;             /* the model it belongs to; 0: any */
    struct trust net;
};

/* A network (knn/metak.h) likewise. The model has none. */
struct metak_option {
    bool is_set;
    uint64_t model;
    struct metak net;
};

#define EOS_MODES(X)                                                        \
    X(EOS_AUTO, "auto")                                                     \
    X(EOS_ABSTAINS, "abstain")                                              \
    X(EOS_COUNTS, "count")
enum eos_mode { EOS_MODES(ENUM_CONSTANT) };

#define EXACT_MODES(X)                                                      \
    X(EXACT_AUTO, "auto")                                                   \
    X(EXACT_USE, "use")                                                     \
    X(EXACT_STEER, "steer")
enum exact_mode { EXACT_MODES(ENUM_CONSTANT) };

#define DEVICES(X) X(DEVICE_CPU, "cpu")
enum device { DEVICES(ENUM_CONSTANT) };

/* The values of option lenpen-type. */
#define LENPEN_CHOICES(X)                                                   \
    X(LENPEN_CHOICE_AUTO, "auto")                                           \
    X(LENPEN_CHOICE_GNMT, "gnmt")                                           \
    X(LENPEN_CHOICE_FAIRSEQ, "fairseq")
enum lenpen_choice { LENPEN_CHOICES(ENUM_CONSTANT) };

/* The largest value of option beam. */
enum { MAX_BEAM = 64 };

/* The temperature of the SK-MT paper. */
#define PAPER_TAU 100

struct options {
#define INT(field, name, def, low, high, help) int field;
#define REAL(field, name, def, low, high, help) double field;
#define FLAG(field, name, def, help) bool field;
#define AUTO_FLAG(field, name, help) int field;     /* -1: automatic */
#define ENUM(field, name, type, list, def, help) enum type field;           \
    _Static_assert(sizeof(enum type) == sizeof(int), "set and read as int");
#define SIZE(field, name, def, text, help) int64_t field;
#define TRUST(field, name, help) struct trust_option field;
#define METAK(field, name, help) struct metak_option field;
#define TEXT(field, name, bytes, help) char field[bytes];
#include "engine/options.def"
#include "engine/steer.def"
#include "engine/retrieval.def"
#include "engine/open.def"
#undef INT
#undef REAL
#undef FLAG
#undef AUTO_FLAG
#undef ENUM
#undef SIZE
#undef TRUST
#undef METAK
#undef TEXT
};

struct option_info {
    const char *name;
    const char *kind;           /* "int", "float", "bool", "size", "NETWORK",
                                   "CODE" (of a language), or the values of an
                                   enum: "a|b|c" */
    const char *fallback;       /* the default, as text */
    const char *help;
};

void options_defaults(struct options *o);
/* Set an option by name. The error names the option and its valid values. */
enum status options_set(struct options *o, const char *name,
                        const char *value, struct err *e);
/* The most bytes of a value as text, with the NUL. */
enum { OPTION_TEXT = METAK_TEXT };
_Static_assert((int)METAK_TEXT > (int)TRUST_TEXT, "the longest value");
/* Write the value as text that options_set accepts. Returns false when there is
 * no such option. */
bool options_get(const struct options *o, const char *name, char *out,
                 int size);
/* The lists that the options come from: options.def, steer.def, retrieval.def
 * and open.def. */
enum option_group {
    OPTIONS_TRANSLATE, OPTIONS_STEER, OPTIONS_SEARCH, OPTIONS_MODEL
};
/* Describe option i of a group. Returns false after the last one. */
bool option_describe(enum option_group group, int i, struct option_info *out);

/* Replace preset "auto": by "learned" if the model or the options have a
 * network, and no option asks for SK-MT; else by "sk2". Without this, "auto"
 * means "sk2". It stays if the options name a system other than "sk" and
 * "learned": then it means the defaults of the system. */
void options_choose_preset(struct options *o, bool model_has_network);

/* The values that are used: the value that was set, or the default of the
 * preset. Other code must call these functions and not read the fields. */
int options_matches(const struct options *o);   /* pairs of a search */
/* model_beam and model_penalty are the values in the model file; 0 and -1 if it
 * has none. */
int options_beam(const struct options *o, int model_beam);
enum lenpen options_lenpen_type(const struct options *o, double model_penalty);
double options_lenpen(const struct options *o, double model_penalty);
int options_pairs(const struct options *o);     /* pairs that steer */
/* Whether pairs are left out whose keys cost much and are worth little. Not if
 * the number of pairs was set. */
bool options_leave_out_costly(const struct options *o);
int options_k(const struct options *o);
/* model_tau is the value in the model file, 0 if it has none. */
double options_tau(const struct options *o, double model_tau);
/* The tau of the preset or the system; 0: that of the model. */
double options_preset_tau(const struct options *o);
double options_chunk_tau(const struct options *o, double model_tau);
double options_lambda(const struct options *o);
double options_cache(const struct options *o);  /* 0: none */
bool options_knn_eos(const struct options *o);
double options_pieces_weight(const struct options *o);
bool options_eos_abstains(const struct options *o);
int options_repeat_votes(const struct options *o);      /* 0: no limit */
enum exact_mode options_exact(const struct options *o); /* never EXACT_AUTO */
double options_prune_steered(const struct options *o);  /* 0: no pruning */
const char *options_system(const struct options *o);    /* its name */

#endif
