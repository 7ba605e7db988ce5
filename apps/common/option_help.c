/* option_help.c - prints lists of options. The descriptions come from where the
 * options are defined: the tables of the program, and the library. */
#include <stdio.h>
#include <string.h>

#include "common/option_help.h"
#include "common/record.h"

#define WIDTH 78
#define INDENT 26

/* Print text with a hanging indent, wrapped at WIDTH. at: the column where the
 * cursor is. */
static void print_wrapped(const char *text, int at)
{
    if (at >= INDENT - 1) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", INDENT - at, "");
    at = INDENT;
    while (*text) {
        int len = (int)strcspn(text, " ");

        if (at > INDENT && at + 1 + len > WIDTH) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        }
        if (at > INDENT) at += printf(" ");
        at += printf("%.*s", len, text);
        text += len + (text[len] == ' ');
    }
    putchar('\n');
}

static void print_option(const struct opt *o)
{
    int at = o->letter ? printf("  -%c, --%s", o->letter, o->name)
                       : printf("      --%s", o->name);

    if (o->value) at += printf(" %s", o->value);
    print_wrapped(o->help, at);
}

void option_help_own(const struct opt *list)
{
    for (const struct opt *o = list; o->name; o++) {
        if (!o[1].name) print_option(&record_option);
        print_option(o);
    }
}

/* Return the placeholder for the value of a library option: N, X, or the list
 * of its possible values. A list that does not fit a line is left out; the help
 * text explains the values. */
static const char *placeholder(const skmt_option_info *info)
{
    if (!strcmp(info->kind, "int")) return "N";
    if (!strcmp(info->kind, "float")) return "X";
    if (!strcmp(info->kind, "bool")) return "";
    return strlen(info->kind) > 60 ? "NAME" : info->kind;
}

static bool is_on_by_default(const char *fallback)
{
    return strcmp(fallback, "0") && strcmp(fallback, "false")
           && strcmp(fallback, "no") && strcmp(fallback, "off");
}

/* Whether an option is a flag whose default depends on another option. */
static bool is_auto_flag(const skmt_option_info *info)
{
    return !strcmp(info->kind, "bool") && !strcmp(info->fallback, "auto");
}

void option_help_library(describe_fn *describe)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    for (int i = 0; describe(i, &info); i++) {
        bool flag = !strcmp(info.kind, "bool");
        const char *value = placeholder(&info);
        char help[1000];
        int at = printf("      --%s%s%s%s",
                        is_auto_flag(&info) ? "[no-]"
                        : flag && is_on_by_default(info.fallback) ? "no-" : "",
                        info.name, *value ? " " : "", value);

        if (flag)
            snprintf(help, sizeof help, "%s%s",
                     is_on_by_default(info.fallback) && !is_auto_flag(&info)
                     ? "do not " : "", info.help);
        else if (!*info.fallback || !strcmp(info.fallback, "default"))
            snprintf(help, sizeof help, "%s", info.help);
        else
            snprintf(help, sizeof help, "%s (default %s)", info.help,
                     info.fallback);
        print_wrapped(help, at);
    }
}

static void print_option_line(const char *before, const struct opt *o)
{
    printf("%s\t%s\t%.1s\t%s\t\t%s\n", before, o->name, &o->letter,
           o->value ? o->value : "", o->help);
}

void option_help_table(const char *before, const struct opt *list,
                       describe_fn *describe)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    for (const struct opt *o = list; o && o->name; o++) {
        if (!o[1].name) print_option_line(before, &record_option);
        print_option_line(before, o);
    }
    for (int i = 0; describe && describe(i, &info); i++)
        printf("%s\t%s\t\t%s\t%s\t%s\n", before, info.name,
               placeholder(&info),
               strcmp(info.kind, "bool") || is_auto_flag(&info)
               ? info.fallback
               : is_on_by_default(info.fallback) ? "on" : "off", info.help);
}
