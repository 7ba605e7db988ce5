/* account.c - what an account may do with its memories: borrowing open files,
 * storing corrections and importing files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/access.h"
#include "server/account_internal.h"
#include "server/metrics.h"

enum {
    SAME_SOURCE = 1000          /* pairs with one source that a search finds */
};

/* ---- facts --------------------------------------------------------------- */

int account_number(const struct account *a) { return a->line.number; }
const char *account_name(const struct account *a) { return a->line.name; }
bool account_may_write(const struct account *a) { return a->line.write; }
bool account_has_memory(const struct account *a) { return a->home->pool; }

int64_t account_characters(const struct account *a)
{
    return __atomic_load_n(&a->home->characters, __ATOMIC_RELAXED);
}

void account_add_characters(struct account *a, int64_t n)
{
    __atomic_add_fetch(&a->home->characters, n, __ATOMIC_RELAXED);
}

skmt_status account_error(skmt_error *err, skmt_status st, const char *fmt,
                          ...)
{
    va_list args;

    if (!err) return st;
    *err = (skmt_error){ .status = (int32_t)st };
    va_start(args, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    return st;
}

skmt_status account_check_write(const struct account *a, skmt_error *err)
{
    if (!a->home->pool)
        return account_error(err, SKMT_ERR_ARGUMENT, a->line.number
                             ? "this key has no translation memory"
                             : "the server has no translation memory");
    if (!a->line.write)
        return account_error(err, SKMT_ERR_ARGUMENT,
                             "this key may not change a translation memory");
    return SKMT_OK;
}

/* What every function does with an error of the memory file. */
skmt_status account_failed(struct account *a, skmt_error *err, skmt_status st)
{
    if (!a->home->pool) return st;
    if (st == SKMT_ERR_IO || st == SKMT_ERR_FORMAT)
        tm_pool_forget(a->home->pool);
    return tm_pool_hide_path(a->home->pool, err, st);
}

/* ---- lending ------------------------------------------------------------- */

/* Whether the account may use this memory. */
static bool may_use(const struct account *a, const char *name)
{
    for (int i = 0; i < a->n_names; i++)
        if (!strcmp(a->names[i], name)) return true;
    return !a->n_names;
}

static skmt_status account_check_name(const struct account *a,
                                      const char *name, skmt_error *err)
{
    if (may_use(a, name)) return SKMT_OK;
    return account_error(err, SKMT_ERR_ARGUMENT,
                         "there is no memory \"%.120s\"", name);
}

/* The names of the memories that a list of the file has, chosen by `fits`. The
 * strings belong to the list. */
struct memory_names { char **list; int n, cap; bool left_out, failed; };

static void names_release(struct memory_names *m)
{
    for (int i = 0; i < m->n; i++) free(m->list[i]);
    free(m->list);
    *m = (struct memory_names){ 0 };
}

static void names_add(struct memory_names *m, const char *name)
{
    if (m->n == m->cap) {
        int cap = m->cap ? 2 * m->cap : 16;
        char **list = realloc(m->list, (size_t)cap * sizeof *list);

        m->failed = m->failed || !list;
        if (!list) return;
        m->list = list;
        m->cap = cap;
    }
    m->list[m->n] = strdup(name);
    if (m->list[m->n]) m->n++;
    else m->failed = true;
}

/* Collects the memories of the file that the account may use and whose
 * languages may be these. left_out: there are others. */
static skmt_status usable_names(struct account *a, skmt_tm *tm,
                                const char *source, const char *target,
                                struct memory_names *out, skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    int n = 0;
    skmt_status st = skmt_tm_count(tm, &n, err);

    for (int i = 0; !st && i < n; i++) {
        st = skmt_tm_get_settings(tm, i, &info, err);
        if (st == SKMT_ERR_ARGUMENT) return SKMT_OK;    /* dropped just now */
        if (st) break;
        if (may_use(a, info.name)
            && skmt_language_fits(source, info.source_lang)
            && skmt_language_fits(target, info.target_lang))
            names_add(out, info.name);
        else out->left_out = true;
    }
    if (!st && out->failed)
        st = account_error(err, SKMT_ERR_NOMEM, "out of memory");
    return account_failed(a, err, st);
}

/* Borrows the usable memories for two languages, which may be NULL. */
static skmt_status borrow_usable(struct account *a, const char *source,
                                 const char *target, skmt_tm **out,
                                 skmt_error *err)
{
    struct tm_pool *pool = a->home->pool;
    struct memory_names names = { 0 };
    skmt_tm *tm;
    skmt_status st = tm_pool_borrow(pool, NULL, 0, &tm, err);

    if (st) return st;
    st = usable_names(a, tm, source, target, &names, err);
    if (!st && !names.left_out) *out = tm;
    else tm_pool_return(pool, tm);
    if (!st && names.left_out && names.n)
        st = tm_pool_borrow(pool, (const char *const *)names.list, names.n,
                            out, err);
    names_release(&names);
    return st;
}

skmt_status account_borrow_for(struct account *a, const char *const *names,
                               int n, const char *source_lang,
                               const char *target_lang, skmt_tm **out,
                               skmt_error *err)
{
    skmt_status st = SKMT_OK;

    *out = NULL;
    for (int i = 0; !st && i < n; i++)
        st = account_check_name(a, names[i], err);
    if (st || !a->home->pool) return st;
    if (n > 0 || (!a->n_names && !source_lang && !target_lang))
        return tm_pool_borrow(a->home->pool, names, n, out, err);
    return borrow_usable(a, source_lang, target_lang, out, err);
}

skmt_status account_borrow(struct account *a, const char *const *names, int n,
                           skmt_tm **out, skmt_error *err)
{
    return account_borrow_for(a, names, n, NULL, NULL, out, err);
}

skmt_status account_borrow_some(struct account *a, skmt_tm **out,
                                skmt_error *err)
{
    skmt_status st = account_borrow(a, NULL, 0, out, err);

    if (st || *out) return st;
    return account_error(err, SKMT_ERR_ARGUMENT, "there is no memory");
}

void account_return(struct account *a, skmt_tm *tm)
{
    if (tm) tm_pool_return(a->home->pool, tm);
}

skmt_status account_edit_begin(struct account *a, skmt_tm **out,
                               skmt_error *err)
{
    skmt_status st = account_check_write(a, err);

    *out = NULL;
    return st ? st : tm_pool_edit(a->home->pool, out, err);
}

void account_edit_end(struct account *a) { tm_pool_edit_end(a->home->pool); }

/* ---- the memory of a correction ------------------------------------------ */

enum { NAME_SIZE = 128 };

/* Chooses the main memory for two languages: the only one that fits, or "main",
 * or the oldest that fits. *make says that there is none; `name` is then that
 * of a new one. */
static skmt_status main_memory(struct account *a, const char *source,
                               const char *target, char name[NAME_SIZE],
                               bool *make, skmt_error *err)
{
    struct memory_names fit = { 0 };
    const char *best = a->n_names ? a->names[0] : "main";
    skmt_tm *tm;
    skmt_status st = tm_pool_borrow(a->home->pool, NULL, 0, &tm, err);

    if (st) return st;
    st = usable_names(a, tm, source, target, &fit, err);
    tm_pool_return(a->home->pool, tm);
    *make = !fit.n;
    if (fit.n) best = fit.list[0];
    for (int i = 0; i < fit.n; i++)
        if (!strcmp(fit.list[i], "main")) best = "main";
    if (!fit.n && fit.left_out && !a->n_names)
        snprintf(name, NAME_SIZE, "main %.30s%s%.30s", source ? source : "",
                 source && *source && target && *target ? "-" : "",
                 target ? target : "");
    else snprintf(name, NAME_SIZE, "%s", best);
    names_release(&fit);
    return st;
}

/* Whether the file has this memory, and its settings, which are borrowed. */
static skmt_status find_memory(skmt_tm *tm, const char *name,
                               skmt_tm_info *info, bool *there,
                               skmt_error *err)
{
    int n = 0;
    skmt_status st = skmt_tm_count(tm, &n, err);

    *there = false;
    for (int i = 0; !st && !*there && i < n; i++)
        *there = !skmt_tm_get_settings(tm, i, info, NULL)
                 && !strcmp(info->name, name);
    return st;
}

/* Makes a memory, unless somebody else just did. */
static skmt_status make_memory(skmt_tm *tm, const char *name,
                               const char *source, const char *target,
                               skmt_error *err)
{
    skmt_tm_info new = SKMT_INIT(skmt_tm_info), old = SKMT_INIT(skmt_tm_info);
    bool there;
    skmt_status st = find_memory(tm, name, &old, &there, err);

    new.name = name;
    new.source_lang = source;
    new.target_lang = target;
    return st || there ? st : skmt_tm_create(tm, &new, err);
}

static skmt_status memory_is_empty(skmt_tm *tm, const char *name, bool *empty,
                                   skmt_error *err)
{
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_tm_cursor *cursor;
    int found = 0;
    skmt_status st = skmt_tm_cursor_open(&cursor, tm, name, err);

    if (!st) st = skmt_tm_cursor_next(cursor, &p, &found, err);
    skmt_tm_cursor_close(cursor);
    *empty = !found;
    return st;
}

/* Whether a memory has no language. */
static skmt_status memory_is_open(skmt_tm *tm, const char *name, bool *open,
                                  skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    bool there;
    skmt_status st = find_memory(tm, name, &info, &there, err);

    *open = there && !*info.source_lang && !*info.target_lang;
    return st;
}

/* A memory without languages gets those of its first pair, so that it is not
 * used for others. Before the pair is added. */
static skmt_status memory_take_languages(skmt_tm *tm, const char *name,
                                         const char *source,
                                         const char *target, skmt_error *err)
{
    bool wanted = source && *source && target && *target;
    skmt_status st = SKMT_OK;

    if (wanted) st = memory_is_open(tm, name, &wanted, err);
    if (!st && wanted) st = memory_is_empty(tm, name, &wanted, err);
    if (st || !wanted) return st;
    st = skmt_tm_set(tm, name, "source-lang", source, err);
    return st ? st : skmt_tm_set(tm, name, "target-lang", target, err);
}

/* ---- storing ------------------------------------------------------------- */

/* The texts to be removed, because they have the same source. */
struct same_pairs {
    struct { char *source, *target; } *list;    /* as they are stored */
    int n;
    bool many;                  /* there may be more */
};

static void same_release(struct same_pairs *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->list[i].source);
        free(s->list[i].target);
    }
    free(s->list);
}

static bool same_trimmed(const char *a, const char *b)
{
    size_t n, m;

    a += strspn(a, " \t\r\n");
    b += strspn(b, " \t\r\n");
    for (n = strlen(a); n && strchr(" \t\r\n", a[n - 1]);) n--;
    for (m = strlen(b); m && strchr(" \t\r\n", b[m - 1]);) m--;
    return n == m && !memcmp(a, b, n);
}

static skmt_status same_collect(const skmt_matches *found, const char *source,
                                struct same_pairs *out, skmt_error *err)
{
    int n = skmt_matches_count(found);
    skmt_match m = SKMT_INIT(skmt_match);

    out->list = calloc((size_t)n + 1, sizeof *out->list);
    if (!out->list) return account_error(err, SKMT_ERR_NOMEM, "out of memory");
    out->many = n >= SAME_SOURCE;
    for (int i = 0; i < n; i++) {
        const skmt_pair *p;
        char *s, *t;

        skmt_matches_get(found, i, &m);
        p = m.pair;
        if (!same_trimmed(p->source, source)) continue;
        s = strdup(p->source_tagged ? p->source_tagged : p->source);
        t = strdup(p->target_tagged ? p->target_tagged : p->target);
        out->list[out->n].source = s;
        out->list[out->n++].target = t;
        if (!s || !t)
            return account_error(err, SKMT_ERR_NOMEM, "out of memory");
    }
    return SKMT_OK;
}

static skmt_status search_same(skmt_tm *tm, const char *source,
                               struct same_pairs *out, skmt_error *err)
{
    skmt_options *o;
    skmt_matches *found = NULL;
    char count[20];
    skmt_status st = skmt_options_new(&o, err);

    snprintf(count, sizeof count, "%d", SAME_SOURCE);
    if (!st) st = skmt_options_set(o, "matches", count, err);
    if (!st) st = skmt_tm_search(tm, source, o, NULL, &found, err);
    if (!st) st = same_collect(found, source, out, err);
    skmt_matches_free(found);
    skmt_options_free(o);
    return st;
}

/* Finds the pairs with this source by a search, which is faster than reading
 * all pairs. It takes place before the transaction, because a search inside of
 * one may have to build an index in memory, but while nobody else may change
 * the file: of two corrections at the same time, one replaces the other. */
static skmt_status find_same(struct account *a, const char *memory,
                             const char *source, struct same_pairs *out,
                             skmt_error *err)
{
    skmt_tm *tm;
    skmt_status st = tm_pool_borrow(a->home->pool, &memory, 1, &tm, err);

    if (st) return st;
    st = search_same(tm, source, out, err);
    tm_pool_return(a->home->pool, tm);
    return st;
}

/* These functions run inside a transaction. */

static skmt_status remove_same(skmt_tm *tm, const char *memory,
                               const char *source,
                               const struct same_pairs *same, skmt_error *err)
{
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && i < same->n; i++)
        st = skmt_tm_delete_where(tm, memory, NULL, NULL, same->list[i].source,
                                  same->list[i].target, NULL, err);
    if (!st && same->many)      /* this reads all pairs */
        st = skmt_tm_delete_where(tm, memory, NULL, NULL, source, NULL, NULL,
                                  err);
    return st;
}

static skmt_status remove_unit(skmt_tm *tm, const char *memory,
                               const char *unit, skmt_error *err)
{
    skmt_status st;
    int64_t id = 0;

    do {
        st = skmt_tm_find_unit(tm, memory, unit, 0, &id, err);
        if (!st && id) st = skmt_tm_delete(tm, id, err);
    } while (!st && id);
    return st;
}

static skmt_status add_correction(skmt_tm *tm, const char *memory,
                                  const struct correction *x, int64_t *id,
                                  skmt_error *err)
{
    skmt_pair p = SKMT_INIT(skmt_pair);

    p.source = x->source;
    p.target = x->target;
    p.source_lang = x->source_lang;
    p.target_lang = x->target_lang;
    p.document = x->document;
    p.author = x->author;
    p.unit = x->unit;
    return skmt_tm_add_pair(tm, memory, &p, id, err);
}

static skmt_status change_memory(skmt_tm *tm, const char *memory, bool make,
                                 const struct correction *x,
                                 const struct same_pairs *same, int64_t *id,
                                 skmt_error *err)
{
    bool has_unit = x->unit && x->unit[0];
    skmt_status st = SKMT_OK;

    if (make)
        st = make_memory(tm, memory, x->source_lang, x->target_lang, err);
    if (!st)
        st = memory_take_languages(tm, memory, x->source_lang, x->target_lang,
                                   err);
    if (!st && has_unit) st = remove_unit(tm, memory, x->unit, err);
    if (!st) st = remove_same(tm, memory, x->source, same, err);
    if (!st) st = add_correction(tm, memory, x, id, err);
    return st;
}

/* What must be done before the transaction: finds the pairs with the same
 * source, and makes the index of units. Nothing, if the memory is new. */
static skmt_status prepare_store(struct account *a, skmt_tm *tm,
                                 const char *memory, bool make,
                                 const struct correction *x,
                                 struct same_pairs *same, skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    bool there = true;
    int64_t found;
    skmt_status st = SKMT_OK;

    if (make) st = find_memory(tm, memory, &info, &there, err);
    if (st || !there) return st;
    if (x->replace) st = find_same(a, memory, x->source, same, err);
    if (!st && x->unit && x->unit[0])
        st = skmt_tm_find_unit(tm, memory, x->unit, 0, &found, err);
    return st;
}

static skmt_status store_in(struct account *a, const char *memory, bool make,
                            const struct correction *x, int64_t *id,
                            skmt_error *err)
{
    struct same_pairs same = { 0 };
    skmt_tm *tm;
    skmt_status st = account_edit_begin(a, &tm, err);

    if (st) return st;
    st = prepare_store(a, tm, memory, make, x, &same, err);
    if (!st) st = skmt_tm_begin(tm, err);
    if (!st) {
        st = change_memory(tm, memory, make, x, &same, id, err);
        if (!st) st = skmt_tm_commit(tm, err);
        else skmt_tm_rollback(tm);
    }
    account_edit_end(a);
    same_release(&same);
    return st;
}

static skmt_status check_correction(const struct account *a,
                                    const struct correction *x,
                                    skmt_error *err)
{
    skmt_status st = account_check_write(a, err);

    if (!st && (!x->source || !x->source[0]))
        st = account_error(err, SKMT_ERR_TEXT, "the source text is empty");
    if (!st && (!x->target || !x->target[0]))
        st = account_error(err, SKMT_ERR_TEXT, "the target text is empty");
    if (!st && x->memory) st = account_check_name(a, x->memory, err);
    return st;
}

skmt_status account_store(struct account *a, const struct correction *x,
                          int64_t *id, skmt_error *err)
{
    char name[NAME_SIZE];
    const char *memory = x->memory;
    bool make = false;
    skmt_status st = check_correction(a, x, err);
    int64_t made = 0;

    if (!st && !memory) {
        st = main_memory(a, x->source_lang, x->target_lang, name, &make, err);
        memory = name;
    }
    if (!st) st = store_in(a, memory, make, x, &made, err);
    if (st) return account_failed(a, err, st);
    if (id) *id = made;
    metrics_added(*a->home->metrics, x->from ? x->from : "", 1);
    return SKMT_OK;
}

/* ---- importing ----------------------------------------------------------- */

/* Stops an import of a small compressed file that unpacks to very many
 * pairs. */
struct import_watch {
    skmt_tm_progress_fn *progress;
    void *user;
    uint64_t most_units;
    bool too_many;
};

static int watch_import(void *user, const char *what, uint64_t done,
                        uint64_t total, uint64_t units)
{
    struct import_watch *w = user;

    if (units > w->most_units) w->too_many = true;
    if (w->too_many) return 1;
    return w->progress ? w->progress(w->user, what, done, total, units) : 0;
}

static skmt_status set_import(skmt_import *im, const char *key,
                              const char *value, skmt_error *err)
{
    if (!value || !value[0]) return SKMT_OK;
    return skmt_import_set(im, key, value, err);
}

static int64_t pairs_imported(const skmt_import *im)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_import_stat(im, i, &n)); i++)
        if (!strcmp(name, "pairs")) return n;
    return 0;
}

/* What is wrong with an uploaded file is told to the client, without the name
 * of the temporary file: it is not an error of the server. */
static skmt_status import_failed(skmt_error *err, skmt_status st,
                                 const char *path,
                                 const struct import_watch *w)
{
    if (w->too_many)
        return account_error(err, SKMT_ERR_LIMIT,
                             "the file unpacks to too many pairs");
    if (st && err && strstr(err->message, path)) {
        hide_path(err, path, "the file");
        if (st == SKMT_ERR_FORMAT) st = SKMT_ERR_TEXT;
        err->status = (int32_t)st;
    }
    return st;
}

/* Imports with a handle of its own, so that corrections need not wait. */
static skmt_status import_with(const char *tm_path, const char *memory,
                               const char *path, skmt_import *im,
                               struct import_watch *w, skmt_error *err)
{
    skmt_tm *tm;
    skmt_status st = skmt_tm_open(&tm, tm_path, SKMT_TM_WRITE, err);

    if (st) return st;
    skmt_tm_on_progress(tm, watch_import, w);
    st = skmt_tm_import(tm, memory, &path, 1, im, err);
    skmt_tm_close(tm);
    return st;
}

/* The memory must exist before the import, with its languages. */
static skmt_status import_memory(struct account *a, const char *memory,
                                 const char *source_lang,
                                 const char *target_lang,
                                 char name[NAME_SIZE], skmt_error *err)
{
    bool make = false;
    skmt_tm *tm;
    skmt_status st;

    if (memory) {
        snprintf(name, NAME_SIZE, "%s", memory);
        return account_check_name(a, memory, err);
    }
    st = main_memory(a, source_lang, target_lang, name, &make, err);
    if (!st) st = account_edit_begin(a, &tm, err);
    if (st) return st;
    st = make ? make_memory(tm, name, source_lang, target_lang, err)
              : memory_take_languages(tm, name, source_lang, target_lang, err);
    account_edit_end(a);
    return st;
}

skmt_status account_main_memory(struct account *a, const char *source_lang,
                                const char *target_lang, char **name,
                                skmt_error *err)
{
    char found[NAME_SIZE];
    skmt_status st = account_check_write(a, err);

    *name = NULL;
    if (!st)
        st = import_memory(a, NULL, source_lang, target_lang, found, err);
    if (st) return st;
    *name = strdup(found);
    return *name ? SKMT_OK
                 : account_error(err, SKMT_ERR_NOMEM, "out of memory");
}

static skmt_status import_settings(skmt_import *im, const char *name,
                                   const char *source_lang,
                                   const char *target_lang, skmt_error *err)
{
    skmt_status st = set_import(im, "origin", name, err);

    if (!st) st = set_import(im, "source-lang", source_lang, err);
    return st ? st : set_import(im, "target-lang", target_lang, err);
}

skmt_status account_import(struct account *a, const char *memory,
                           const char *path, const char *name,
                           const char *source_lang, const char *target_lang,
                           skmt_tm_progress_fn *progress, void *user,
                           int64_t *pairs, skmt_error *err)
{
    struct import_watch w = { .progress = progress, .user = user };
    char in[NAME_SIZE];
    skmt_import *im = NULL;
    struct stat sb;
    skmt_status st = account_check_write(a, err);

    *pairs = 0;
    if (!st) st = import_memory(a, memory, source_lang, target_lang, in, err);
    if (!st && stat(path, &sb))
        st = account_error(err, SKMT_ERR_IO, "the uploaded file is missing");
    if (!st) st = skmt_import_new(&im, err);
    if (!st) st = import_settings(im, name, source_lang, target_lang, err);
    if (!st) {
        w.most_units = 100000 + (uint64_t)sb.st_size / 2;
        st = import_with(a->home->memory, in, path, im, &w, err);
    }
    if (!st) *pairs = pairs_imported(im);
    skmt_import_free(im);
    st = import_failed(err, st, path, &w);
    if (!st) metrics_added(*a->home->metrics, "import", *pairs);
    return account_failed(a, err, st);
}
