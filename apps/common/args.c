/* args.c - parses options and operands. It does not know what any option means.
 *
 * Invariant: between calls, a->at is the index of the last argument that was
 * consumed, so 0 <= a->at <= a->argc. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/nearest.h"
#include "common/program.h"
#include "common/record.h"

#define NAME_MAX_BYTES 64

/* ---- options ---------------------------------------------------------- */

static bool is_flag(const skmt_option_info *info)
{
    return !strcmp(info->kind, "bool");
}

static bool find_engine_option(describe_fn *describe, const char *name,
                               skmt_option_info *out)
{
    for (int i = 0; describe(i, out); i++)
        if (!strcmp(out->name, name)) return true;
    return false;
}

struct args_text { char text[120]; };  /* a part of a message */

/* Return "COMMAND: ", or "" if the program has no commands. */
static const char *args_where(const struct args *a, struct args_text *t)
{
    snprintf(t->text, sizeof t->text, "%s%s", a->command ? a->command : "",
             a->command ? ": " : "");
    return t->text;
}

/* Return "see 'PROGRAM help COMMAND'" or "see 'PROGRAM --help'". */
static const char *args_advice(const struct args *a, struct args_text *t)
{
    if (a->command)
        snprintf(t->text, sizeof t->text, "see '%s help %s'", program_name(),
                 a->command);
    else
        snprintf(t->text, sizeof t->text, "see '%s --help'", program_name());
    return t->text;
}

static enum arg args_unknown(const struct args *a, const char *name)
{
    struct args_text where, advice;
    struct nearest near;
    skmt_option_info info = SKMT_INIT(skmt_option_info);
    const char *best;

    nearest_begin(&near, name);
    for (const struct opt *o = a->own; o->name; o++)
        nearest_offer(&near, o->name);
    nearest_offer(&near, record_option.name);
    for (int i = 0; a->describe && a->describe(i, &info); i++)
        nearest_offer(&near, info.name);
    best = nearest_end(&near);
    if (best)
        complain(0, "%sunknown option '--%s'; did you mean '--%s'?",
                 args_where(a, &where), name, best);
    else
        complain(0, "%sunknown option '--%s'; %s", args_where(a, &where), name,
                 args_advice(a, &advice));
    return ARG_BAD;
}

/* Set a->value to the value of an option: the text after '=', which is
 * `attached`, or the next argument. */
static bool args_take_value(struct args *a, const char *attached)
{
    struct args_text advice;

    if (attached) {
        a->value = attached;
        return true;
    }
    if (a->at + 1 < a->argc) {
        a->value = a->argv[++a->at];
        return true;
    }
    complain(0, "option '%s%s' needs a value; %s", a->name[1] ? "--" : "-",
             a->name, args_advice(a, &advice));
    return false;
}

static enum arg args_own_option(struct args *a, const struct opt *o,
                                const char *attached)
{
    a->name = o->name;
    a->value = NULL;
    if (o->value) return args_take_value(a, attached) ? ARG_OWN : ARG_BAD;
    if (!attached) return ARG_OWN;
    complain(0, "option '--%s' takes no value", o->name);
    return ARG_BAD;
}

static enum arg engine_option(struct args *a, const char *name,
                              const char *attached)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    if (find_engine_option(a->describe, name, &info)) {
        a->name = info.name;
        if (is_flag(&info)) {
            a->value = attached ? attached : "1";
            return ARG_ENGINE;
        }
        return args_take_value(a, attached) ? ARG_ENGINE : ARG_BAD;
    }
    if (!strncmp(name, "no-", 3) && !attached
        && find_engine_option(a->describe, name + 3, &info)
        && is_flag(&info)) {
        a->name = info.name;
        a->value = "0";
        return ARG_ENGINE;
    }
    return args_unknown(a, name);
}

static enum arg long_option(struct args *a, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    char name[NAME_MAX_BYTES + 1];

    if (len > NAME_MAX_BYTES) len = NAME_MAX_BYTES;
    memcpy(name, word, len);
    name[len] = 0;
    for (const struct opt *o = a->own; o->name; o++)
        if (!strcmp(o->name, name))
            return args_own_option(a, o, equals ? equals + 1 : NULL);
    if (!strcmp(name, record_option.name))
        return args_own_option(a, &record_option, equals ? equals + 1 : NULL);
    if (a->describe)
        return engine_option(a, name, equals ? equals + 1 : NULL);
    return args_unknown(a, name);
}

static enum arg short_option(struct args *a, const char *word)
{
    struct args_text where, advice;

    for (const struct opt *o = a->own; o->name; o++) {
        if (o->letter != word[0]) continue;
        if (o->value || !word[1])
            return args_own_option(a, o, word[1] ? word + 1 : NULL);
    }
    complain(0, "%sunknown option '-%s'; %s", args_where(a, &where), word,
             args_advice(a, &advice));
    return ARG_BAD;
}

static enum arg next_argument(struct args *a)
{
    const char *word;

    assert(a->at >= 0 && a->at <= a->argc);
    if (a->at + 1 >= a->argc) {
        a->at = a->argc;
        return ARG_END;
    }
    a->at++;
    word = a->argv[a->at];
    if (!a->only_operands && !strcmp(word, "--")) {
        a->only_operands = true;
        return next_argument(a);
    }
    if (a->only_operands || word[0] != '-' || !word[1]) {
        a->value = word;
        return ARG_OPERAND;
    }
    return word[1] == '-' ? long_option(a, word + 2)
                          : short_option(a, word + 1);
}

/* --record is handled here; all other arguments are reported to record.c. */
enum arg args_next(struct args *a)
{
    enum arg what;

    if (a->at == 0) record_parse_begin(a);
    while ((what = next_argument(a)) == ARG_OWN
           && args_is(a, record_option.name))
        record_set_path(a->value);
    if (what == ARG_END) return record_parse_end() ? ARG_END : ARG_BAD;
    record_argument(what, a);
    return what;
}

bool args_is(const struct args *a, const char *name)
{
    return !strcmp(a->name, name);
}

/* ---- the whole command line --------------------------------------------- */

int args_parse_own(struct args a, args_fn *fn, void *user)
{
    int status = EXIT_DONE;
    enum arg what;

    assert(a.at == 0);
    while (!status && (what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what != ARG_ENGINE) status = fn(user, what, &a);
    }
    return status;
}

int args_set_engine(struct args a, skmt_options *o)
{
    skmt_error err;
    enum arg what;

    assert(a.at == 0);
    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_ENGINE && skmt_options_set(o, a.name, a.value, &err))
            return complain(EXIT_USAGE, "--%s", err.message);
    }
    record_options(a.describe, o);
    return EXIT_DONE;
}
