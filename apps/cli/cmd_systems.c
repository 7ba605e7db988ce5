/* cmd_systems.c - skmt systems: lists the systems, the papers they come from,
 * and their options with the defaults. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/args.h"
#include "common/jput.h"
#include "common/nearest.h"
#include "common/option_help.h"
#include "common/textbuf.h"
#include "help.h"
#include "skmt.h"

/* The system that is described. describe_fn has no parameter for it. */
static struct {
    skmt_system_info info;
    skmt_options *options;      /* with this system */
} shown = { .info = { .size = sizeof(skmt_system_info) } };

/* The default of an option with the system. */
static const char *shown_default(const char *option)
{
    const char *value = skmt_options_in_force(shown.options, NULL, 1, option);

    return value ? value : "";
}

static bool describe_steering(const char *name, skmt_option_info *out)
{
    for (int i = 0; skmt_option_describe(SKMT_OPTIONS_STEER, i, out); i++)
        if (!strcmp(out->name, name)) return true;
    return false;
}

/* Option i of the system, with its default. */
static int describe_shown(int i, skmt_option_info *out)
{
    const char *const *name = shown.info.options;

    while (*name && i > 0) name++, i--;
    if (!*name || !describe_steering(*name, out)) return 0;
    if (strcmp(out->kind, "bool")) out->fallback = shown_default(*name);
    return 1;
}

static int print_system_json(void)
{
    const skmt_system_info *s = &shown.info;
    struct textbuf t = { 0 };
    int status = EXIT_DONE;

    jput_object(&t);
    jput_text_field(&t, "name", s->name);
    jput_text_field(&t, "title", s->title);
    jput_text_field(&t, "paper", s->paper);
    jput_text_field(&t, "needs", s->needs);
    jput_key(&t, "options");
    jput_object(&t);
    for (const char *const *o = s->options; *o; o++)
        jput_text_field(&t, *o, shown_default(*o));
    jput_object_end(&t);
    jput_line_end(&t);
    if (t.failed) status = complain(EXIT_TROUBLE, "%s", textbuf_why(&t));
    else fwrite(t.data, 1, t.len, stdout);
    textbuf_release(&t);
    return status;
}

static void print_system_page(void)
{
    const skmt_system_info *s = &shown.info;

    printf("%s: %s\npaper: %s\nneeds: %s\n", s->name, s->title, s->paper,
           s->needs);
    if (!s->options[0]) return;
    puts("options:");
    option_help_library(describe_shown);
}

/* Print the system in shown.info. page: with its options. */
static int print_system(bool json, bool page)
{
    skmt_error err;

    if (skmt_options_set(shown.options, "system", shown.info.name, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    if (json) return print_system_json();
    if (page) print_system_page();
    else printf("%-10s %s\n", shown.info.name, shown.info.title);
    return EXIT_DONE;
}

static bool find_system(const char *name)
{
    for (int i = 0; skmt_system_describe(i, &shown.info); i++)
        if (!strcmp(shown.info.name, name)) return true;
    return false;
}

static int unknown_system(const char *name)
{
    struct nearest near;
    const char *best;

    nearest_begin(&near, name);
    for (int i = 0; skmt_system_describe(i, &shown.info); i++)
        nearest_offer(&near, shown.info.name);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "there is no system '%s'; did you mean "
                        "'%s'?", name, best);
    return complain(EXIT_USAGE, "there is no system '%s'; 'skmt systems' lists "
                    "them", name);
}

static int print_systems(const char *const *names, int n, bool json)
{
    int status = EXIT_DONE;

    for (int i = 0; i < n; i++)
        if (!find_system(names[i])) return unknown_system(names[i]);
    for (int i = 0; !status && i < n; i++) {
        find_system(names[i]);
        if (i && !json) puts("");
        status = print_system(json, true);
    }
    for (int i = 0; !status && !n && skmt_system_describe(i, &shown.info); i++)
        status = print_system(json, false);
    return status;
}

int cmd_systems(int argc, char **argv)
{
    enum { MOST_NAMES = 32 };
    struct args a = { .command = "systems", .own = systems_options,
                      .argc = argc, .argv = argv };
    const char *names[MOST_NAMES];
    bool json = false;
    skmt_error err;
    enum arg what;
    int n = 0, status;

    while ((what = args_next(&a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND && n == MOST_NAMES)
            return complain(EXIT_USAGE, "systems takes at most %d names",
                            MOST_NAMES);
        if (what == ARG_OPERAND) names[n++] = a.value;
        else if (args_is(&a, "json")) json = true;
        else if (args_is(&a, "help")) return help_command("systems");
    }
    if (skmt_options_new(&shown.options, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    status = print_systems(names, n, json);
    skmt_options_free(shown.options);
    return status;
}
