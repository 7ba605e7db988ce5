/* model_add.c - skmt model add: copies model files to the store, and converts
 * the models of other projects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/interrupt.h"
#include "common/progress.h"
#include "common/record.h"
#include "conversion.h"
#include "model_call.h"

struct model_adding {
    struct model_call *call;
    const char *path;           /* what to add */
    const char *name;           /* of the model */
    bool quiet, replace;
    struct progress progress;
};

/* ---- names ------------------------------------------------------------- */

/* Cut the ending off that tells what kind of file it is. */
static void cut_ending(char *name)
{
    static const char *const endings[] = { ".skmt", ".zip", ".argosmodel",
                                           ".pt", ".npz" };
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t k = strlen(endings[i]);

        if (n <= k || strcmp(name + n - k, endings[i])) continue;
        name[n - k] = 0;
        return;
    }
}

/* The name of a file or folder, as that of a model, without the characters that
 * no model's name may begin with. Returns NULL if out of memory. */
static char *name_of_path(const char *path)
{
    char *real = realpath(path, NULL), *name;
    const char *slash = real ? strrchr(real, '/') : NULL, *begin;

    begin = slash ? slash + 1 : path;
    if (begin[strspn(begin, ".-#")]) begin += strspn(begin, ".-#");
    name = strdup(begin);
    free(real);
    if (!name) return NULL;
    cut_ending(name);
    for (char *p = name; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 127 || *p == '/') *p = '-';
    return name;
}

/* ---- adding ------------------------------------------------------------ */

static bool is_model_file(const char *path)
{
    size_t n = strlen(path);
    skmt_card *card;
    struct stat sb;

    if (stat(path, &sb) || !S_ISREG(sb.st_mode)) return false;
    if (n > 5 && !strcmp(path + n - 5, ".skmt")) return true;
    if (skmt_card_open(&card, path, NULL)) return false;
    skmt_card_close(card);
    return true;
}

static bool is_conversion_option(const char *name)
{
    static const struct opt options[] = { CONVERSION_OPTIONS,
                                          NO_MORE_OPTIONS };

    for (const struct opt *o = options; o->name; o++)
        if (!strcmp(o->name, name)) return true;
    return false;
}

static int copy_model(struct model_adding *a, skmt_error *err)
{
    const struct model_call *c = a->call;
    skmt_status st;

    for (int i = 0; i < c->n_typed; i++)
        if (is_conversion_option(c->typed[i].name))
            return complain(EXIT_USAGE, "--%s has no effect: %s is converted "
                            "already", c->typed[i].name, a->path);
    progress_begin(&a->progress, "MB", 0, !a->quiet);
    st = skmt_store_add(c->store, a->name, a->path, a->replace,
                        conversion_show_progress, &a->progress, err);
    progress_end(&a->progress);
    return st ? -1 : EXIT_DONE;
}

static skmt_status convert_to_store(struct model_adding *a,
                                    skmt_conversion *conversion,
                                    skmt_error *err)
{
    const struct model_call *c = a->call;
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && i < c->n_typed; i++)
        if (is_conversion_option(c->typed[i].name))
            st = skmt_conversion_set(conversion, c->typed[i].name,
                                     c->typed[i].value, err);
    if (!st) st = skmt_conversion_open(conversion, a->path, err);
    if (st) return st;
    conversion_print_report(skmt_conversion_report(conversion), a->quiet);
    progress_begin(&a->progress, "MB", 0, !a->quiet);
    st = skmt_store_convert(c->store, a->name, conversion, a->replace,
                            conversion_show_progress, &a->progress, err);
    progress_end(&a->progress);
    return st;
}

static int convert_model_to_store(struct model_adding *a, skmt_error *err)
{
    skmt_conversion *conversion;
    skmt_status st = skmt_conversion_new(&conversion, err);

    if (!st) st = convert_to_store(a, conversion, err);
    skmt_conversion_free(conversion);
    return st ? -1 : EXIT_DONE;
}

static void print_added(const struct model_adding *a)
{
    const char *folder = skmt_store_folder(a->call->store);
    size_t n = strlen(folder) + strlen(a->name) + 16;
    char *path = malloc(n);

    if (!path || a->quiet) {
        free(path);
        return;
    }
    snprintf(path, n, "%s/%s.skmt", folder, a->name);
    conversion_print_result("added", path);
    free(path);
}

static int add_model(struct model_adding *a)
{
    skmt_error err = { 0 };
    int status = is_model_file(a->path) ? copy_model(a, &err)
                                        : convert_model_to_store(a, &err);
    int sig = interrupt_pending();

    if (status < 0)
        status = err.status == SKMT_ERR_CANCELED ? EXIT_TROUBLE
                                                 : model_failed(&err);
    else if (!status)
        print_added(a);
    return sig ? EXIT_SIGNAL + sig : status;
}

static int add_path(struct model_call *c, const char *path)
{
    char *usual = name_of_path(path), *given = NULL;
    const char *name = model_value(c, "name");
    struct model_adding a = {
        .call = c, .path = path, .quiet = model_has_option(c, "quiet"),
        .replace = model_has_option(c, "force"),
    };
    int status;

    if (name) given = strdup(name);
    if (!usual || (name && !given)) {
        free(usual);
        return complain(EXIT_TROUBLE, "out of memory");
    }
    if (given) cut_ending(given);
    a.name = given ? given : usual;
    status = add_model(&a);
    free(given);
    free(usual);
    return status;
}

int cmd_model_add(struct model_call *c)
{
    const char *type = model_value(c, "type");
    int status = EXIT_DONE;

    if (c->n_operands > 1 && model_value(c, "name"))
        return complain(EXIT_USAGE, "--name is for one model, but there are "
                        "%d", c->n_operands);
    record_value("type", type ? type : "int8");
    interrupt_block();
    for (int i = 0; !status && i < c->n_operands; i++)
        status = add_path(c, c->operands[i]);
    return status;
}
