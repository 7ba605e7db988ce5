/* options.c - the table of all options, the parser of their values, and the
 * defaults that depend on the preset. The options are listed in options.def,
 * steer.def, retrieval.def and open.def. */
#include "engine/options.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum option_kind {
    KIND_INT, KIND_REAL, KIND_FLAG, KIND_AUTO_FLAG, KIND_ENUM, KIND_SIZE,
    KIND_TRUST, KIND_METAK, KIND_TEXT
};

struct option {
    struct option_info info;    /* KIND_ENUM: without fallback */
    enum option_kind kind;
    size_t offset;
    double low, high;           /* KIND_INT, KIND_REAL */
    size_t bytes;               /* KIND_TEXT: of the field */
    const char *const *words;   /* KIND_ENUM: the values, then NULL */
    int usual;                  /* KIND_ENUM: the default */
};

#define AT(field) offsetof(struct options, field)
static const struct option all_options[] = {
#define INT(field, name, def, min, max, help)                               \
    { { name, "int", #def, help }, KIND_INT, AT(field),                     \
      .low = min, .high = max },
#define REAL(field, name, def, min, max, help)                              \
    { { name, "float", #def, help }, KIND_REAL, AT(field),                  \
      .low = min, .high = max },
#define FLAG(field, name, def, help)                                        \
    { { name, "bool", #def, help }, KIND_FLAG, .offset = AT(field) },
#define AUTO_FLAG(field, name, help)                                        \
    { { name, "bool", "auto", help }, KIND_AUTO_FLAG, .offset = AT(field) },
#define ENUM(field, name, type, list, def, help)                            \
    { { name, ENUM_CHOICES(list), NULL, help }, KIND_ENUM, AT(field),       \
      .words = ENUM_WORDS(list), .usual = def },
#define SIZE(field, name, def, text, help)                                  \
    { { name, "size", text, help }, KIND_SIZE, .offset = AT(field) },
#define TRUST(field, name, help)                                            \
    { { name, "NETWORK", "default", help }, KIND_TRUST, .offset = AT(field) },
#define METAK(field, name, help)                                            \
    { { name, "NETWORK", "none", help }, KIND_METAK, .offset = AT(field) },
#define TEXT(field, name, size, help)                                       \
    { { name, "CODE", "", help }, KIND_TEXT, AT(field), .bytes = size },
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
enum { N_OPTIONS = sizeof all_options / sizeof *all_options };

/* The table has N_TRANSLATION options of translating first, then N_STEERING of
 * steering, N_SEARCH of searching, and those of opening a model. */
enum {
#define INT(field, name, def, low, high, help) + 1
#define REAL(field, name, def, low, high, help) + 1
#define FLAG(field, name, def, help) + 1
#define AUTO_FLAG(field, name, help) + 1
#define ENUM(field, name, type, list, def, help) + 1
#define SIZE(field, name, def, text, help) + 1
#define TRUST(field, name, help) + 1
#define METAK(field, name, help) + 1
#define TEXT(field, name, bytes, help) + 1
    N_TRANSLATION = 0
#include "engine/options.def"
    , N_STEERING = 0
#include "engine/steer.def"
    , N_SEARCH = 0
#include "engine/retrieval.def"
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

void options_defaults(struct options *o)
{
    *o = (struct options){
#define INT(field, name, def, low, high, help) .field = def,
#define REAL(field, name, def, low, high, help) .field = def,
#define FLAG(field, name, def, help) .field = def,
#define AUTO_FLAG(field, name, help) .field = -1,
#define ENUM(field, name, type, list, def, help) .field = def,
#define SIZE(field, name, def, text, help) .field = def,
#define TRUST(field, name, help) .field = { .is_set = false },
#define METAK(field, name, help) .field = { .is_set = false },
#define TEXT(field, name, bytes, help) .field = "",
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
}

static const struct option *options_find(const char *name)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (!strcmp(all_options[i].info.name, name)) return &all_options[i];
    return NULL;
}

/* The index of the value in a list of words; -1 when it is not in the list. */
static int choice(const char *const *words, const char *value)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], value)) return i;
    return -1;
}

static enum status bad_value(const struct option *op, const char *value,
                             struct err *e)
{
    if (op->kind == KIND_ENUM)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not one of %s",
                       op->info.name, value, op->info.kind);
    if (op->kind == KIND_FLAG)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not 1 or 0",
                       op->info.name, value);
    if (op->kind == KIND_AUTO_FLAG)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not 1, 0 or auto",
                       op->info.name, value);
    if (op->kind == KIND_SIZE)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not a number of "
                       "bytes such as 64M or 4G", op->info.name, value);
    return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not %s from %g to %g",
                   op->info.name, value,
                   op->kind == KIND_INT ? "a whole number" : "a number",
                   op->low, op->high);
}

/* Parse a number with a decimal point, independent of the program's locale. */
static double options_read_real(const char *value, char **end)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;
    double x = strtod(value, end);

    if (c) {
        uselocale(old);
        freelocale(c);
    }
    return x;
}

/* Write a number with the fewest digits that give the same number again. */
static void write_real(double x, char *out, int size)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;
    int digits = 6;

    do snprintf(out, (size_t)size, "%.*g", digits, x);
    while (digits++ < 17 && strtod(out, NULL) != x);
    if (c) {
        uselocale(old);
        freelocale(c);
    }
}

static bool options_parse_number(const struct option *op, const char *value,
                                 double *out)
{
    char *end;

    errno = 0;
    *out = options_read_real(value, &end);
    if (end == value || *end || errno == ERANGE) return false;
    if (!(*out >= op->low && *out <= op->high)) return false;
    return op->kind == KIND_REAL || *out == (double)(long)*out;
}

static bool parse_flag(const char *value, bool *out)
{
    bool on = !strcmp(value, "1") || !strcmp(value, "true") ||
              !strcmp(value, "yes") || !strcmp(value, "on");

    if (!on && strcmp(value, "0") && strcmp(value, "false") &&
        strcmp(value, "no") && strcmp(value, "off"))
        return false;
    *out = on;
    return true;
}

/* Parse a flag, or "auto", which is -1. */
static bool parse_auto_flag(const char *value, int *out)
{
    bool on = false, is_auto = !strcmp(value, "auto");

    if (!is_auto && !parse_flag(value, &on)) return false;
    *out = is_auto ? -1 : on;
    return true;
}

/* Parse a size such as 1000, 64k, 256M or 4G; the units are powers of 1024. */
static bool parse_size(const char *value, int64_t *out)
{
    static const char units[] = "kMGT";
    const char *unit;
    char *end;
    double x = options_read_real(value, &end);

    if (end == value || !(x >= 0)) return false;
    if (*end && (unit = strchr(units, *end))) {
        x *= (double)(1LL << 10 * (unit - units + 1));
        end++;
    }
    if (*end || x > 9e15) return false;
    *out = (int64_t)x;
    return true;
}

static void write_size(int64_t x, char *out, int size)
{
    static const char units[] = "kMGT";
    int unit = -1;

    while (x && x % 1024 == 0 && unit < 3) {
        x /= 1024;
        unit++;
    }
    snprintf(out, (size_t)size, "%lld%.*s", (long long)x, unit >= 0,
             units + (unit > 0 ? unit : 0));
}

static enum status options_set_trust(struct trust_option *t,
                                     const char *value, struct err *e)
{
    struct trust_option now = { .is_set = strcmp(value, "default") != 0 };
    enum status st = ST_OK;

    if (now.is_set) st = trust_read(&now.net, &now.model, value, e);
    if (!st) *t = now;
    return st;
}

/* Write as much as fits. */
static void options_write_trust(const struct trust_option *t, char *out,
                                int size)
{
    char text[TRUST_TEXT] = "default";

    if (t->is_set) trust_write(&t->net, t->model, text);
    snprintf(out, (size_t)size, "%s", text);
}

static enum status options_set_metak(struct metak_option *m,
                                     const char *value, struct err *e)
{
    struct metak_option now = { .is_set = strcmp(value, "none") != 0 };
    enum status st = ST_OK;

    if (now.is_set) st = metak_read(&now.net, &now.model, value, e);
    if (!st) *m = now;
    return st;
}

/* Write as much as fits. */
static void options_write_metak(const struct metak_option *m, char *out,
                                int size)
{
    char text[METAK_TEXT] = "none";

    if (m->is_set) metak_write(&m->net, m->model, text);
    snprintf(out, (size_t)size, "%s", text);
}

/* "" is the default. */
static enum status options_set_text(char *field, const struct option *op,
                                    const char *value, struct err *e)
{
    for (const char *p = value; *p; p++)
        if (*p <= ' ' || *p > '~')
            return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not a code",
                           op->info.name, value);
    if (strlen(value) >= op->bytes)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is longer than %zu "
                       "letters", op->info.name, value, op->bytes - 1);
    strcpy(field, value);
    return ST_OK;
}

enum status options_set(struct options *o, const char *name,
                        const char *value, struct err *e)
{
    const struct option *op = options_find(name);
    char *field;
    double x;
    int c;

    if (!op)
        return err_set(e, ST_ARGUMENT, "there is no option \"%.60s\"", name);
    assert(op->offset < sizeof *o);
    field = (char *)o + op->offset;
    switch (op->kind) {
    case KIND_INT:
        if (!options_parse_number(op, value, &x))
            return bad_value(op, value, e);
        *(int *)(void *)field = (int)x;
        break;
    case KIND_REAL:
        if (!options_parse_number(op, value, &x))
            return bad_value(op, value, e);
        *(double *)(void *)field = x;
        break;
    case KIND_FLAG:
        if (!parse_flag(value, (bool *)field)) return bad_value(op, value, e);
        break;
    case KIND_AUTO_FLAG:
        if (!parse_auto_flag(value, (int *)(void *)field))
            return bad_value(op, value, e);
        break;
    case KIND_ENUM:
        c = choice(op->words, value);
        if (c < 0) return bad_value(op, value, e);
        *(int *)(void *)field = c;
        break;
    case KIND_SIZE:
        if (!parse_size(value, (int64_t *)(void *)field))
            return bad_value(op, value, e);
        break;
    case KIND_TRUST:
        return options_set_trust((struct trust_option *)(void *)field, value,
                                 e);
    case KIND_METAK:
        return options_set_metak((struct metak_option *)(void *)field, value,
                                 e);
    case KIND_TEXT: return options_set_text(field, op, value, e);
    }
    return ST_OK;
}

bool options_get(const struct options *o, const char *name, char *out,
                 int size)
{
    const struct option *op = options_find(name);
    const char *field;
    int c;

    if (!op) return false;
    field = (const char *)o + op->offset;
    switch (op->kind) {
    case KIND_INT:
        snprintf(out, (size_t)size, "%d", *(const int *)(const void *)field);
        break;
    case KIND_REAL:
        write_real(*(const double *)(const void *)field, out, size);
        break;
    case KIND_FLAG:
        snprintf(out, (size_t)size, "%d", *(const bool *)field);
        break;
    case KIND_AUTO_FLAG:
        c = *(const int *)(const void *)field;
        snprintf(out, (size_t)size, "%s", c < 0 ? "auto" : c ? "1" : "0");
        break;
    case KIND_ENUM:
        c = *(const int *)(const void *)field;
        snprintf(out, (size_t)size, "%s", op->words[c]);
        break;
    case KIND_SIZE:
        write_size(*(const int64_t *)(const void *)field, out, size);
        break;
    case KIND_TRUST:
        options_write_trust((const struct trust_option *)(const void *)field,
                            out, size);
        break;
    case KIND_METAK:
        options_write_metak((const struct metak_option *)(const void *)field,
                            out, size);
        break;
    case KIND_TEXT: snprintf(out, (size_t)size, "%s", field); break;
    }
    return true;
}

static bool describe(int i, int from, int n, struct option_info *out)
{
    const struct option *op;

    assert(from >= 0 && n >= 0 && from + n <= N_OPTIONS);
    if (i < 0 || i >= n) return false;
    op = &all_options[from + i];
    *out = op->info;
    if (op->kind == KIND_ENUM) out->fallback = op->words[op->usual];
    return true;
}

bool option_describe(enum option_group group, int i, struct option_info *out)
{
    enum { BEFORE_SEARCH = N_TRANSLATION + N_STEERING };
    static const struct { int from, n; } groups[] = {
        [OPTIONS_TRANSLATE] = { 0, N_TRANSLATION },
        [OPTIONS_STEER] = { N_TRANSLATION, N_STEERING },
        [OPTIONS_SEARCH] = { BEFORE_SEARCH, N_SEARCH },
        [OPTIONS_MODEL] = { BEFORE_SEARCH + N_SEARCH,
                            N_OPTIONS - BEFORE_SEARCH - N_SEARCH },
    };

    if ((unsigned)group >= sizeof groups / sizeof *groups) return false;
    return describe(i, groups[group].from, groups[group].n, out);
}

/* ---- presets ------------------------------------------------------------- */

/* When a memory steers, hypotheses whose log-probability is this much below the
 * best are dropped. With learned trust, fewer are needed for the same quality
 * (bench/STEERING.md). */
#define PRUNE_STEERED 2.5
#define PRUNE_LEARNED 1.75

/* The defaults of each preset for options that are not set. */
struct preset_values {
    enum system_choice system;
    int pairs, k;
    double tau;                 /* 0: the value in the model file */
    double lambda;              /* where it is fixed */
    double cache;
    bool knn_eos;
    bool eos_abstains;
    int repeat_votes;
    enum exact_mode exact;
    double prune;               /* for steered sentences */
    bool leave_out_costly;      /* see options_leave_out_costly() */
};

#define SK2_VALUES                                                          \
    { .system = SYSTEM_SK, .pairs = 16, .k = 2, .lambda = 0.5,              \
      .knn_eos = true, .eos_abstains = true, .repeat_votes = 1,             \
      .exact = EXACT_USE, .prune = PRUNE_STEERED }

static const struct preset_values presets[] = {
    [PRESET_AUTO] = SK2_VALUES,
    [PRESET_LEARNED] = { .system = SYSTEM_LEARNED, .pairs = 4,
                         .k = TRUST_NEIGHBORS, .knn_eos = true,
                         .eos_abstains = true, .repeat_votes = 1,
                         .exact = EXACT_USE, .prune = PRUNE_LEARNED,
                         .leave_out_costly = true },
    [PRESET_SK1] = { .system = SYSTEM_SK, .pairs = 2, .k = 1, .lambda = 0.5,
                     .knn_eos = true, .eos_abstains = true, .repeat_votes = 1,
                     .exact = EXACT_USE, .prune = PRUNE_STEERED },
    [PRESET_SK2] = SK2_VALUES,
    [PRESET_PAPER_SK1] = { .system = SYSTEM_SK, .pairs = 2, .k = 1,
                           .tau = PAPER_TAU, .lambda = 0.5,
                           .eos_abstains = true, .exact = EXACT_STEER },
    [PRESET_PAPER_SK2] = { .system = SYSTEM_SK, .pairs = 16, .k = 2,
                           .tau = PAPER_TAU, .lambda = 0.5,
                           .eos_abstains = true, .exact = EXACT_STEER },
};

/* The defaults of systems that have no preset of their own. A row without a
 * system means that presets decide. Like the papers, they translate stored
 * sentences like any other, and EOS votes like any other token. */
static const struct preset_values system_defaults[] = {
    [SYSTEM_NMT] = { .system = SYSTEM_NMT, .k = 1, .tau = 1,
                     .exact = EXACT_STEER },
    [SYSTEM_VANILLA] = { .system = SYSTEM_VANILLA, .k = 8, .tau = 10,
                         .lambda = 0.5, .knn_eos = true,
                         .exact = EXACT_STEER },
    [SYSTEM_ADAPTIVE] = { .system = SYSTEM_ADAPTIVE, .k = 8, .tau = 10,
                          .knn_eos = true, .exact = EXACT_STEER },
    [SYSTEM_EFFICIENT] = { .system = SYSTEM_EFFICIENT, .k = 8, .tau = 10,
                           .lambda = 0.5, .cache = 6, .knn_eos = true,
                           .exact = EXACT_STEER },
    [SYSTEM_CHUNK] = { .system = SYSTEM_CHUNK, .k = 8, .tau = 10,
                       .lambda = 0.5, .knn_eos = true, .exact = EXACT_STEER },
    [SYSTEM_FAST] = { .system = SYSTEM_FAST, .k = 64, .tau = 0.02,
                      .lambda = 0.6, .knn_eos = true, .exact = EXACT_STEER },
    [SYSTEM_KOK] = { .system = SYSTEM_KOK, .k = 8, .tau = 10,
                     .knn_eos = true, .exact = EXACT_STEER },
    [SYSTEM_PIECES] = { .system = SYSTEM_PIECES, .pairs = 16, .k = 1,
                        .tau = 1, .exact = EXACT_STEER },
};

_Static_assert(sizeof presets / sizeof *presets ==
               sizeof ENUM_WORDS(PRESETS) / sizeof(char *) - 1,
               "each preset has its values");

_Static_assert(sizeof system_defaults / sizeof *system_defaults ==
               sizeof ENUM_WORDS(SYSTEM_CHOICES) / sizeof(char *) - 1,
               "each system has a row");

/* Whether the options name a system that has defaults of its own. */
static bool has_system_defaults(const struct options *o)
{
    assert((size_t)o->system <
           sizeof system_defaults / sizeof *system_defaults);
    return system_defaults[o->system].system != SYSTEM_AUTO;
}

static const struct preset_values *preset_of(const struct options *o)
{
    assert((size_t)o->preset < sizeof presets / sizeof *presets);
    if (o->preset == PRESET_AUTO && has_system_defaults(o))
        return &system_defaults[o->system];
    return &presets[o->preset];
}

#define USUAL_BEAM 4
#define USUAL_LENPEN 0.6

int options_beam(const struct options *o, int model_beam)
{
    return o->beam ? o->beam : model_beam ? model_beam : USUAL_BEAM;
}

/* A model file can only recommend an exponent for fairseq's penalty. */
enum lenpen options_lenpen_type(const struct options *o, double model_penalty)
{
    switch (o->lenpen_type) {
    case LENPEN_CHOICE_AUTO: break;
    case LENPEN_CHOICE_GNMT: return LENPEN_GNMT;
    case LENPEN_CHOICE_FAIRSEQ: return LENPEN_FAIRSEQ;
    }
    return model_penalty >= 0 ? LENPEN_FAIRSEQ : LENPEN_GNMT;
}

double options_lenpen(const struct options *o, double model_penalty)
{
    if (o->lenpen >= 0) return o->lenpen;
    if (model_penalty >= 0 &&
        options_lenpen_type(o, model_penalty) == LENPEN_FAIRSEQ)
        return model_penalty;
    return USUAL_LENPEN;
}

int options_matches(const struct options *o)
{
    return o->matches ? o->matches : 16;
}

int options_pairs(const struct options *o)
{
    return o->matches ? o->matches : preset_of(o)->pairs;
}

bool options_leave_out_costly(const struct options *o)
{
    return !o->matches && preset_of(o)->leave_out_costly;
}

int options_k(const struct options *o)
{
    return o->k ? o->k : preset_of(o)->k;
}

double options_tau(const struct options *o, double model_tau)
{
    if (o->tau > 0) return o->tau;
    if (preset_of(o)->tau > 0) return preset_of(o)->tau;
    return model_tau > 0 ? model_tau : PAPER_TAU;
}

double options_preset_tau(const struct options *o)
{
    return preset_of(o)->tau;
}

/* Distances are not squared between two searches. tau grows with the square of
 * the length of states, and this with its root. The factor was chosen on dev
 * lines (docs/systems.md). */
double options_chunk_tau(const struct options *o, double model_tau)
{
    return o->chunk_tau > 0 ? o->chunk_tau
                            : sqrt(options_tau(o, model_tau)) / 4;
}

double options_lambda(const struct options *o)
{
    return o->lambda < 0 ? preset_of(o)->lambda : o->lambda;
}

double options_cache(const struct options *o)
{
    return o->cache < 0 ? preset_of(o)->cache : o->cache;
}

/* Chosen on dev lines (docs/systems.md). */
double options_pieces_weight(const struct options *o)
{
    if (o->pieces_weight >= 0) return o->pieces_weight;
    return o->pieces_normalize ? 3 : 1;
}

bool options_eos_abstains(const struct options *o)
{
    return o->eos_votes == EOS_AUTO ? preset_of(o)->eos_abstains
                                    : o->eos_votes == EOS_ABSTAINS;
}

bool options_knn_eos(const struct options *o)
{
    return o->knn_eos < 0 ? preset_of(o)->knn_eos : o->knn_eos;
}

int options_repeat_votes(const struct options *o)
{
    return o->repeat_votes < 0 ? preset_of(o)->repeat_votes : o->repeat_votes;
}

enum exact_mode options_exact(const struct options *o)
{
    return o->exact == EXACT_AUTO ? preset_of(o)->exact : o->exact;
}

double options_prune_steered(const struct options *o)
{
    if (o->prune >= 0) return o->prune;
    return o->nbest == 1 ? preset_of(o)->prune : 0;
}

void options_choose_preset(struct options *o, bool model_has_network)
{
    bool usable = model_has_network || o->trust.is_set;
    /* Learned trust would ignore these. */
    bool for_sk = o->system == SYSTEM_SK || o->tau > 0 ||
                  o->adapter != ADAPTER_DISTANCE;

    if (o->preset == PRESET_AUTO && !has_system_defaults(o))
        o->preset = usable && !for_sk ? PRESET_LEARNED : PRESET_SK2;
}

const char *options_system(const struct options *o)
{
    return ENUM_WORDS(SYSTEM_CHOICES)[o->system == SYSTEM_AUTO
                                      ? preset_of(o)->system : o->system];
}
