/* model_store.c - lists the models in some folders and finds one, by its name
 * or by its languages. It changes nothing.
 *
 * Invariants: `list` is sorted by folder, then by name; no name occurs twice.
 * folders[0] is that of the store, if has_store is set. An open store has at
 * least one folder then. */
#include "model/model_store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/card.h"

#define ENDING ".skmt"

struct stored_model { char *name, *path; size_t folder; };

struct model_store {
    bool has_store;
    char **folders;             /* [n_folders] */
    size_t n_folders, folders_cap;
    struct stored_model *list;  /* [n] */
    size_t n, cap;
    struct model_defaults defaults;
    struct err trouble;         /* why the store could not be read */
};

/* ---- listing ------------------------------------------------------------- */

/* The length of a name without its ending. */
static size_t bare_length(const char *name)
{
    size_t n = strlen(name), k = sizeof ENDING - 1;

    return n > k && !strcmp(name + n - k, ENDING) ? n - k : n;
}

int model_store_index(const struct model_store *s, const char *name)
{
    size_t n = bare_length(name);

    for (size_t i = 0; i < s->n; i++)
        if (!strncmp(s->list[i].name, name, n) && !s->list[i].name[n])
            return (int)i;
    return -1;
}

/* Whether a file of a folder is a model that no other one hides. */
static bool is_new_model(const struct model_store *s, const char *file)
{
    size_t n = strlen(file);

    return file[0] != '.' && bare_length(file) < n &&
           model_store_index(s, file) < 0;
}

static enum status add_model(struct model_store *s, const char *file,
                             struct err *e)
{
    size_t folder = s->n_folders - 1;
    struct stored_model m = { .folder = folder };

    m.name = strndup(file, bare_length(file));
    if (!m.name || asprintf(&m.path, "%s/%s", s->folders[folder], file) < 0 ||
        !mem_grow(&s->list, &s->cap, s->n + 1, sizeof *s->list)) {
        free(m.name);
        return err_nomem(e, "list of models");
    }
    s->list[s->n++] = m;
    return ST_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct stored_model *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Read the last of the folders. One that cannot be read is empty; if it is the
 * store, that is remembered. */
static enum status read_folder(struct model_store *s, struct err *e)
{
    const char *folder = s->folders[s->n_folders - 1];
    size_t first = s->n;
    DIR *d = opendir(folder);
    struct dirent *entry;
    enum status st = ST_OK;

    if (!d && errno != ENOENT && s->has_store && s->n_folders == 1)
        err_set(&s->trouble, ST_IO, "%s: %s", folder, strerror(errno));
    if (!d) return ST_OK;
    while (!st && (entry = readdir(d)))
        if (is_new_model(s, entry->d_name)) st = add_model(s, entry->d_name, e);
    closedir(d);
    if (s->n > first)
        qsort(s->list + first, s->n - first, sizeof *s->list, compare_names);
    return st;
}

/* Takes the string. NULL: out of memory. */
static enum status take_folder(struct model_store *s, char *folder,
                               struct err *e)
{
    if (!folder || !mem_grow(&s->folders, &s->folders_cap, s->n_folders + 1,
                             sizeof *s->folders)) {
        free(folder);
        return err_nomem(e, "list of models");
    }
    s->folders[s->n_folders++] = folder;
    return read_folder(s, e);
}

enum status model_store_add_folder(struct model_store *s, const char *folder,
                                   struct err *e)
{
    for (size_t i = 0; i < s->n_folders; i++)
        if (!strcmp(s->folders[i], folder)) return ST_OK;
    return take_folder(s, strdup(folder), e);
}

/* ---- the store of the user ----------------------------------------------- */

/* Write the folder, in malloc memory, to *out: NULL if there is none. Returns
 * false if out of memory. */
static bool user_folder(char **out)
{
    static const struct { const char *variable, *folder; } places[] = {
        { "SKMT_HOME", "models" }, { "XDG_DATA_HOME", "skmt/models" },
        { "HOME", ".local/share/skmt/models" },
    };

    *out = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);

        /* The specification of XDG_DATA_HOME says that other values are to be
         * ignored. */
        if (!value || !*value || (i == 1 && *value != '/')) continue;
        return asprintf(out, "%s/%s", value, places[i].folder) >= 0;
    }
    return true;
}

static enum status read_defaults(struct model_store *s, struct err *e)
{
    char *path;
    struct err why;
    enum status st;

    if (asprintf(&path, "%s/defaults", s->folders[0]) < 0)
        return err_nomem(e, "list of models");
    st = model_defaults_read(&s->defaults, path, &why);
    free(path);
    if (st == ST_NOMEM) return err_nomem(e, "list of models");
    if (st && !s->trouble.status) s->trouble = why;
    return ST_OK;
}

static enum status open_store(struct model_store *s, const char *folder,
                              struct err *e)
{
    char *copy = folder ? strdup(folder) : NULL;
    enum status st;

    if (folder ? !copy : !user_folder(&copy))
        return err_nomem(e, "list of models");
    if (!copy) return ST_OK;
    s->has_store = true;
    st = take_folder(s, copy, e);
    return st ? st : read_defaults(s, e);
}

enum status model_store_open(struct model_store **out, const char *folder,
                             struct err *e)
{
    struct model_store *s = calloc(1, sizeof *s);
    enum status st = s ? open_store(s, folder, e)
                       : err_nomem(e, "list of models");

    *out = NULL;
    if (st) model_store_close(s);
    else *out = s;
    return st;
}

void model_store_close(struct model_store *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->list[i].name);
        free(s->list[i].path);
    }
    for (size_t i = 0; i < s->n_folders; i++) free(s->folders[i]);
    free(s->list);
    free(s->folders);
    model_defaults_release(&s->defaults);
    free(s);
}

enum status model_store_check(const struct model_store *s, struct err *e)
{
    if (s->trouble.status && e) *e = s->trouble;
    return s->trouble.status;
}

const char *model_store_folder(const struct model_store *s)
{
    return s->has_store ? s->folders[0] : NULL;
}

const struct model_defaults *model_store_defaults(const struct model_store *s)
{
    return &s->defaults;
}

const char *model_store_name(const struct model_store *s, int i)
{
    return i >= 0 && (size_t)i < s->n ? s->list[i].name : NULL;
}

const char *model_store_path(const struct model_store *s, int i)
{
    return i >= 0 && (size_t)i < s->n ? s->list[i].path : NULL;
}

bool model_store_owns(const struct model_store *s, int i)
{
    return s->has_store && i >= 0 && (size_t)i < s->n &&
           s->list[i].folder == 0;
}

/* ---- finding by name ----------------------------------------------------- */

static enum status give_path(char **out, const char *path, struct err *e)
{
    *out = strdup(path);
    return *out ? ST_OK : err_nomem(e, "file name");
}

/* A folder that was downloaded may have the name of a model: it is none. */
static bool is_file(const char *path)
{
    struct stat sb;

    return !stat(path, &sb) && !S_ISDIR(sb.st_mode);
}

/* The folders with commas between, for messages. */
static void list_folders(const struct model_store *s, char *out, size_t size)
{
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < s->n_folders && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 i ? ", " : "", s->folders[i]);
}

/* `why` begins the message: how the name was chosen. */
static enum status not_found(const struct model_store *s, const char *why,
                             const char *name, struct err *e)
{
    char folders[400];

    list_folders(s, folders, sizeof folders);
    return err_set(e, ST_IO, "%smodel '%.100s' not found; 'skmt model list' "
                   "lists the models, and --model FILE takes any file; there "
                   "is no %.*s%s in %s", why, name, (int)bare_length(name),
                   name, ENDING, folders);
}

static enum status find_by_name(const struct model_store *s, const char *why,
                                const char *name, char **path, struct err *e)
{
    int i = model_store_index(s, name);

    if (i < 0 && model_store_check(s, e)) return s->trouble.status;
    if (i < 0) return not_found(s, why, name, e);
    return give_path(path, s->list[i].path, e);
}

/* A path, a file in the current folder, or a name. */
static enum status find_named(const struct model_store *s, const char *why,
                              const char *name, char **path, struct err *e)
{
    if (strchr(name, '/') || is_file(name)) return give_path(path, name, e);
    return find_by_name(s, why, name, path, e);
}

/* ---- finding by languages ------------------------------------------------ */

/* The models that fit best so far. */
struct best_models {
    int fit;
    size_t folder;
    size_t at;                  /* the first of them */
    int n;
    char names[200];            /* with commas between, maybe cut */
    struct err damage;          /* of the first file that cannot be read */
};

/* fit: even. The default for everything is the best of equal ones. */
static void offer_model(struct best_models *b, const struct model_store *s,
                        size_t i, int fit)
{
    const struct stored_model *m = &s->list[i];
    const char *usual = model_defaults_find(&s->defaults, NULL, NULL);
    size_t used;

    if (fit && usual && !strcmp(usual, m->name)) fit++;
    if (!fit || fit < b->fit || (fit == b->fit && m->folder > b->folder))
        return;
    if (fit > b->fit) {
        b->n = 0;
        b->names[0] = 0;
        b->at = i;
    }
    b->fit = fit;
    b->folder = m->folder;
    used = strlen(b->names);
    snprintf(b->names + used, sizeof b->names - used, "%s%s",
             b->n++ ? ", " : "", m->name);
}

/* "de to en", "from de", "to en" */
static const char *pair_text(const char *from, const char *to, char out[120])
{
    snprintf(out, 120, "%s%.50s%s%.50s", from && !to ? "from " : "",
             from ? from : "", from && to ? " to " : to ? "to " : "",
             to ? to : "");
    return out;
}

/* An option for each language that is given. */
static const char *pair_options(const char *from, const char *to,
                                char out[120])
{
    snprintf(out, 120, "%s%.40s%s%.40s", from ? " --from " : "",
             from ? from : "", to ? " --to " : "", to ? to : "");
    return out;
}

static enum status none_fits(const struct model_store *s,
                             const struct best_models *b, const char *from,
                             const char *to, struct err *e)
{
    char pair[120], folders[200];

    list_folders(s, folders, sizeof folders);
    return err_set(e, ST_IO, "no model translates %s; 'skmt model list' lists "
                   "the models, and 'skmt model add' adds one; the folders "
                   "are %s%s%s", pair_text(from, to, pair), folders,
                   b->damage.status ? "; " : "",
                   b->damage.status ? b->damage.msg : "");
}

static enum status several_fit(const struct best_models *b, const char *from,
                               const char *to, struct err *e)
{
    char pair[120], options[120] = "";

    if (from && to) pair_options(from, to, options);
    return err_set(e, ST_ARGUMENT, "%d models translate %s equally well: %s; "
                   "choose one with --model NAME%s%s%s", b->n,
                   pair_text(from, to, pair), b->names,
                   *options ? " or, for good, with 'skmt model default NAME"
                            : "", options, *options ? "'" : "");
}

static enum status find_by_languages(const struct model_store *s,
                                     const char *from, const char *to,
                                     char **path, struct err *e)
{
    struct best_models b = { .fit = 0 };

    for (size_t i = 0; i < s->n; i++) {
        struct card *c;
        struct err why;

        if (!card_open(&c, s->list[i].path, &why))
            offer_model(&b, s, i, 2 * card_fit(c, from, to));
        else if (!b.damage.status)
            b.damage = why;
        card_close(c);
    }
    if (!b.n) return none_fits(s, &b, from, to, e);
    if (b.n > 1) return several_fit(&b, from, to, e);
    return give_path(path, s->list[b.at].path, e);
}

/* Whether a file is for these languages, as far as it says. A file that cannot
 * be read is not refused here, so that opening it says why. */
static bool is_for_languages(const char *path, const char *from,
                             const char *to)
{
    struct card *c;
    struct err ignored;
    bool fits = card_open(&c, path, &ignored) || card_may_fit(c, from, to);

    card_close(c);
    return fits;
}

/* ---- finding ------------------------------------------------------------- */

static enum status find_default(const struct model_store *s, char **path,
                                struct err *e)
{
    const char *name = model_defaults_find(&s->defaults, NULL, NULL);

    if (model_store_check(s, e)) return s->trouble.status;
    if (name)
        return find_by_name(s, "the default (skmt model default): ", name,
                            path, e);
    return find_by_name(s, "there is no default model (skmt model default), "
                        "and none is named: ", MODEL_STORE_USUAL, path, e);
}

static enum status find_for_pair(const struct model_store *s,
                                 const char *from, const char *to,
                                 char **path, struct err *e)
{
    const char *name = from && to ? model_defaults_find(&s->defaults, from, to)
                                  : NULL;

    if (model_store_check(s, e)) return s->trouble.status;
    if (name)
        return find_by_name(s, "the default for this pair (skmt model "
                            "default): ", name, path, e);
    return find_by_languages(s, from, to, path, e);
}

static const char *null_if_empty(const char *text)
{
    return text && *text ? text : NULL;
}

enum status model_store_find(const struct model_store *s, const char *name,
                             const char *from, const char *to, char **path,
                             struct err *e)
{
    const char *usual = null_if_empty(getenv("SKMT_MODEL"));
    enum status st;

    *path = NULL;
    name = null_if_empty(name);
    from = null_if_empty(from);
    to = null_if_empty(to);
    if (name) return find_named(s, "", name, path, e);
    if (usual) {
        st = find_named(s, "$SKMT_MODEL: ", usual, path, e);
        if (st || (!from && !to) || is_for_languages(*path, from, to))
            return st;
        free(*path);
        *path = NULL;
    }
    return from || to ? find_for_pair(s, from, to, path, e)
                      : find_default(s, path, e);
}
