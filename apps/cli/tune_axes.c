/* tune_axes.c - the options that skmt tune tries, for each system: which ones,
 * and the values to try by default.
 *
 * A system lists the options that it uses (skmt_system_describe). An axis is
 * used if its option is among them, and if it has values: those of the command
 * line, or the defaults for the system in the table below. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "tune_call.h"

#define PAPER_LAMBDAS { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 }, 9
#define PAPER_TAUS { 5, 10, 20, 50, 100, 150, 200 }, 7

static const struct tune_axis known_axes[N_AXES] = {
    [AXIS_M] = { .name = "m", .setting = "matches", .example = "1,2,4",
                 .whole = true, .low = 1, .high = 1000 },
    [AXIS_K] = { .name = "k", .setting = "k", .example = "1,2", .whole = true,
                 .low = 1, .high = 64 },
    [AXIS_LAMBDA] = { .name = "lambda", .setting = "lambda",
                      .example = "0.3,0.5", .low = 0, .high = 1 },
    [AXIS_TAU] = { .name = "tau", .setting = "tau", .example = "50,100",
                   .low = 0.001, .high = 1000000 },
    [AXIS_CACHE] = { .name = "cache", .setting = "cache", .example = "4,6",
                     .low = 0, .high = 1000000 },
    [AXIS_CHUNK_LAMBDA] = { .name = "chunk-lambda", .setting = "chunk-lambda",
                            .example = "0.3,0.5", .low = 0, .high = 1 },
    [AXIS_CHUNK_TAU] = { .name = "chunk-tau", .setting = "chunk-tau",
                         .example = "2,5", .low = 0.001, .high = 1000000 },
    [AXIS_OCCURRENCES] = { .name = "occurrences", .setting = "occurrences",
                           .example = "128,512", .whole = true, .low = 1,
                           .high = 1000000 },
    [AXIS_PIECES] = { .name = "pieces-weight", .setting = "pieces-weight",
                      .example = "0.5,1", .low = 0, .high = 20 },
};

/* What is tried if the command line does not say it. system NULL: with all
 * systems that are not listed before. */
static const struct axis_default {
    int axis;
    const char *system;
    double values[AXIS_MAX];
    int n;
} axis_defaults[] = {
    { AXIS_M, NULL, { 1, 2, 4, 8, 16 }, 5 },
    { AXIS_K, "sk", { 1, 2, 3, 4 }, 4 },
    { AXIS_K, "learned", { 1, 2, 4, 8 }, 4 },
    { AXIS_K, NULL, { 2, 4, 8, 16 }, 4 },
    { AXIS_LAMBDA, NULL, PAPER_LAMBDAS },
    { AXIS_TAU, "fast", { 0.01, 0.02, 0.05, 0.1, 0.2, 0.5 }, 6 },
    { AXIS_TAU, NULL, PAPER_TAUS },
    { AXIS_CACHE, "efficient", { 2, 4, 6, 8 }, 4 },
    { AXIS_CHUNK_LAMBDA, "chunk", PAPER_LAMBDAS },
    { AXIS_CHUNK_TAU, "chunk", { 1, 2, 5, 10, 20 }, 5 },
    { AXIS_PIECES, "pieces", { 0.25, 0.5, 1, 1.5, 2, 3, 4 }, 7 },
};

void tune_axes_init(struct tune_axis axes[N_AXES])
{
    memcpy(axes, known_axes, sizeof known_axes);
}

/* ---- lists on the command line ---------------------------------------- */

/* Parse one value of a list. *end gets the position after it. */
static bool parse_axis_value(const struct tune_axis *x, const char *at,
                             const char **end, double *out)
{
    size_t n = strspn(at, "0123456789.");
    char *stop;

    errno = 0;
    *out = strtod(at, &stop);
    *end = at + n;
    return n > 0 && stop == *end && !errno && *out >= x->low
        && *out <= x->high && (!x->whole || *out == (double)(long)*out);
}

static int parse_axis(struct tune_axis *x, const char *value)
{
    const char *at = value;

    x->given = true;
    for (x->n = 0; x->n < AXIS_MAX; at++) {
        double *v = &x->values[x->n];

        if (!parse_axis_value(x, at, &at, v) || (*at && *at != ',')
            || (x->n && *v <= v[-1])) break;
        x->n++;
        if (!*at) return EXIT_DONE;
    }
    return complain(EXIT_USAGE, "--%s: '%s' is not a list of at most %d "
                    "ascending %snumbers from %.10g to %.10g, such as %s",
                    x->name, value, AXIS_MAX, x->whole ? "whole " : "",
                    x->low, x->high, x->example);
}

bool tune_axes_option(struct tune_axis axes[N_AXES], const struct args *a,
                      int *status)
{
    for (int i = 0; i < N_AXES; i++) {
        if (!args_is(a, axes[i].name)) continue;
        *status = parse_axis(&axes[i], a->value);
        return true;
    }
    return false;
}

/* ---- the axes of a system --------------------------------------------- */

static bool find_system(const char *name, skmt_system_info *out)
{
    for (int i = 0; skmt_system_describe(i, out); i++)
        if (!strcmp(out->name, name)) return true;
    return false;
}

static bool system_has(const struct tune_call *c, int axis)
{
    const char *const *o = c->system.options;

    if (axis == AXIS_M) return c->uses_pairs;
    while (*o && strcmp(*o, c->axes[axis].setting)) o++;
    return *o;
}

static void default_values(struct tune_axis *x, int axis, const char *system)
{
    size_t n = sizeof axis_defaults / sizeof *axis_defaults;

    for (size_t i = 0; i < n; i++) {
        const struct axis_default *d = &axis_defaults[i];

        if (d->axis != axis || (d->system && strcmp(d->system, system)))
            continue;
        memcpy(x->values, d->values, sizeof x->values);
        x->n = d->n;
        return;
    }
}

/* Choose the values of an axis. One that is not used has one value, which does
 * not matter. */
static int choose_axis(struct tune_call *c, int axis)
{
    struct tune_axis *x = &c->axes[axis];

    if (!system_has(c, axis)) {
        if (x->given)
            return complain(EXIT_USAGE, "--%s: system %s does not have this "
                            "option", x->name, c->system.name);
    } else if (!x->given) {
        default_values(x, axis, c->system.name);
    }
    if (axis == AXIS_LAMBDA && c->uses_adapter && !c->fixed) x->n = 0;
    x->used = x->n > 0;
    if (!x->used) x->n = 1;
    return EXIT_DONE;
}

static int nothing_to_tune(const struct tune_call *c)
{
    const char *name = c->system.name;

    if (!strcmp(name, "kok"))
        return complain(EXIT_USAGE, "system kok learns from corrections; try "
                        "its options with 'skmt learn --simulate'");
    if (!strcmp(name, "adaptive"))
        return complain(EXIT_USAGE, "system adaptive has a network instead of "
                        "settings; train it with 'skmt knn train'");
    return complain(EXIT_USAGE, "system %s has nothing to tune", name);
}

int tune_axes_choose(struct tune_call *c)
{
    const char *name = skmt_options_get(c->options, "system");
    int status = EXIT_DONE, used = 0;

    if (!strcmp(name, "auto")) name = "sk";
    if (!find_system(name, &c->system))
        return complain(EXIT_TROUBLE, "no system '%s'", name);
    c->uses_adapter = !strcmp(name, "sk");
    c->uses_pairs = !strncmp(c->system.needs, "a memory", 8);
    for (int i = 0; !status && i < N_AXES; i++) {
        status = choose_axis(c, i);
        used += c->axes[i].used;
    }
    if (!status && (!used || !strcmp(name, "kok"))) return nothing_to_tune(c);
    return status;
}

int tune_axes_used(const struct tune_call *c, int at)
{
    for (int i = 0; i < N_AXES; i++)
        if (c->axes[i].used && at-- == 0) return i;
    return -1;
}
