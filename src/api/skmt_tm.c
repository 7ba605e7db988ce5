/* skmt_tm.c - the part of include/skmt.h for memory files: opening them, their
 * memories and pairs, and maintenance. The work is done in tm/. Searching is in
 * skmt_search.c, importing and exporting in skmt_files.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/public_pair.h"
#include "api/sized.h"
#include "api/tm_handle.h"
#include "engine/memory_check.h"
#include "pair/tags.h"
#include "tm/recover.h"

_Static_assert((int)SKMT_TM_READ == (int)STORE_READ &&
               (int)SKMT_TM_WRITE == (int)STORE_WRITE &&
               (int)SKMT_TM_CREATE == (int)STORE_CREATE, "same list");

/* ---- open and close ------------------------------------------------------ */

skmt_status skmt_tm_open(skmt_tm **out, const char *path, skmt_tm_mode mode,
                         skmt_error *err)
{
    skmt_tm *tm;
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!path || (int)mode < SKMT_TM_READ || (int)mode > SKMT_TM_CREATE)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, path ?
                                    "the mode of opening is invalid" :
                                    "the name of the memory file is missing");
    tm = calloc(1, sizeof *tm);
    if (!tm) return (skmt_status)err_nomem(err_of(err), "a memory file");
    pthread_mutex_init(&tm->lock, NULL);
    strbuf_init(&tm->text, 0);
    for (int i = 0; i < 2; i++) strbuf_init(&tm->scratch[i], 0);
    st = tmfile_open(&tm->f, path, (enum store_mode)mode, err_of(err));
    if (st) skmt_tm_close(tm);
    else *out = tm;
    return (skmt_status)st;
}

void skmt_tm_close(skmt_tm *tm)
{
    if (!tm) return;
    tmfile_close(tm->f);
    retriever_free(tm->retriever);
    pthread_mutex_destroy(&tm->lock);
    free(tm->list);
    strbuf_release(&tm->text);
    for (int i = 0; i < 2; i++) strbuf_release(&tm->scratch[i]);
    free(tm);
}

void skmt_tm_set_relaxed(skmt_tm *tm, int relaxed)
{
    tmfile_relaxed(tm->f, relaxed != 0);
}

void skmt_tm_on_progress(skmt_tm *tm, skmt_tm_progress_fn *fn, void *user)
{
    tmfile_set_progress(tm->f, fn, user);
}

/* ---- memories ------------------------------------------------------------ */

/* Reads the list again if the file has changed. So a caller that asks for all
 * memories, one by one, does not read it each time. */
static enum status list_memories(skmt_tm *tm, struct err *e)
{
    uint32_t version;
    enum status st = tmfile_version(tm->f, &version, e);

    if (!st && tm->list && version == tm->list_version) return ST_OK;
    free(tm->list);
    tm->list = NULL;
    tm->n_list = 0;
    tm->list_version = version;
    return st ? st : tmfile_list(tm->f, &tm->list, &tm->n_list, e);
}

skmt_status skmt_tm_count(skmt_tm *tm, int *n, skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    st = list_memories(tm, err_of(err));
    *n = (int)tm->n_list;
    return (skmt_status)st;
}

static enum status put_info(skmt_tm *tm, int i, bool count, skmt_tm_info *out,
                            struct err *e)
{
    static const skmt_tm_info none = { .name = "", .source_lang = "",
                                       .target_lang = "" };
    struct memory_counts c = { -1, -1, -1, -1 };
    const struct memory_info *m;
    enum status st = sized_put(SIZED_skmt_tm_info, out, &none, e);

    if (!st) st = list_memories(tm, e);
    if (!st && (i < 0 || (size_t)i >= tm->n_list))
        st = err_set(e, ST_ARGUMENT, "there is no memory number %d; "
                     "the file has %zu", i, tm->n_list);
    if (!st && count) st = tmfile_counts(tm->f, tm->list[i].id, &c, e);
    if (st) return st;
    m = &tm->list[i];
    return sized_put(SIZED_skmt_tm_info, out, &(skmt_tm_info){
        .name = m->name, .source_lang = m->source_lang,
        .target_lang = m->target_lang, .priority = m->priority,
        .keep_duplicates = m->keep_duplicates, .created = m->created,
        .pairs = c.pairs, .texts = c.texts, .source_bytes = c.source_bytes,
        .target_bytes = c.target_bytes }, e);
}

skmt_status skmt_tm_get_info(skmt_tm *tm, int i, skmt_tm_info *out,
                             skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)put_info(tm, i, true, out, err_of(err));
}

skmt_status skmt_tm_get_settings(skmt_tm *tm, int i, skmt_tm_info *out,
                                 skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)put_info(tm, i, false, out, err_of(err));
}

skmt_status skmt_tm_get_state(skmt_tm *tm, skmt_tm_state *out,
                              skmt_error *err)
{
    skmt_tm_state state = {
        .identity = source_identity(tmfile_source(tm->f)) };
    enum status st;

    err_clear(err_of(err));
    st = sized_put(SIZED_skmt_tm_state, out, &state, err_of(err));
    if (!st) st = list_memories(tm, err_of(err));
    for (size_t i = 0; !st && i < tm->n_list; i++) {
        struct memory_counts c = { 0 };
        int64_t change = 0;

        st = tmfile_counts(tm->f, tm->list[i].id, &c, err_of(err));
        if (!st)
            st = tmfile_last_change(tm->f, tm->list[i].id, &change,
                                    err_of(err));
        state.pairs += c.pairs;
        state.texts += c.texts;
        if (change > state.last_change) state.last_change = change;
    }
    sized_put(SIZED_skmt_tm_state, out, &state, NULL);
    return (skmt_status)st;
}

skmt_status skmt_tm_get_change(skmt_tm *tm, uint64_t *identity,
                               int64_t *last_change, skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    *identity = source_identity(tmfile_source(tm->f));
    *last_change = 0;
    st = list_memories(tm, err_of(err));
    for (size_t i = 0; !st && i < tm->n_list; i++) {
        int64_t change = 0;

        st = tmfile_last_change(tm->f, tm->list[i].id, &change, err_of(err));
        if (change > *last_change) *last_change = change;
    }
    return (skmt_status)st;
}

static enum status copy_text(char *out, size_t size, const char *what,
                             const char *value, struct err *e)
{
    if (snprintf(out, size, "%s", value ? value : "") < (int)size)
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s has at most %zu bytes", what, size - 1);
}

skmt_status skmt_tm_create(skmt_tm *tm, const skmt_tm_info *settings,
                           skmt_error *err)
{
    struct err *e = err_of(err);
    struct memory_info m = { 0 };
    skmt_tm_info s;
    enum status st;

    err_clear(e);
    st = sized_get(SIZED_skmt_tm_info, &s, settings, e);
    if (st) return (skmt_status)st;
    m.priority = s.priority;
    m.keep_duplicates = s.keep_duplicates != 0;
    st = copy_text(m.name, sizeof m.name, "a memory's name", s.name, e);
    if (!st) st = copy_text(m.source_lang, sizeof m.source_lang,
                            "the source language", s.source_lang, e);
    if (!st) st = copy_text(m.target_lang, sizeof m.target_lang,
                            "the target language", s.target_lang, e);
    if (!st) st = tmfile_create(tm->f, &m, e);
    return (skmt_status)st;
}

static enum status set_priority(struct memory_info *m, const char *value,
                                struct err *e)
{
    char *end;
    long x;

    errno = 0;
    x = strtol(value, &end, 10);
    if (end == value || *end || errno || x < -1000000 || x > 1000000)
        return err_set(e, ST_ARGUMENT, "priority: \"%.60s\" is not a whole "
                       "number from -1000000 to 1000000", value);
    m->priority = (int)x;
    return ST_OK;
}

static enum status set_memory(struct memory_info *m, const char *setting,
                              const char *value, struct err *e)
{
    if (!strcmp(setting, "name"))
        return copy_text(m->name, sizeof m->name, "a memory's name", value, e);
    if (!strcmp(setting, "source-lang"))
        return copy_text(m->source_lang, sizeof m->source_lang,
                         "the source language", value, e);
    if (!strcmp(setting, "target-lang"))
        return copy_text(m->target_lang, sizeof m->target_lang,
                         "the target language", value, e);
    if (!strcmp(setting, "priority")) return set_priority(m, value, e);
    return err_set(e, ST_ARGUMENT, "a memory has no \"%.60s\", only name, "
                   "priority, source-lang and target-lang", setting);
}

skmt_status skmt_tm_set(skmt_tm *tm, const char *memory, const char *setting,
                        const char *value, skmt_error *err)
{
    struct memory_info m;
    enum status st;

    err_clear(err_of(err));
    st = tmfile_find(tm->f, memory, &m, err_of(err));
    if (!st)
        st = set_memory(&m, setting ? setting : "", value ? value : "",
                        err_of(err));
    if (!st) st = tmfile_update(tm->f, &m, err_of(err));
    return (skmt_status)st;
}

skmt_status skmt_tm_drop(skmt_tm *tm, const char *memory, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_drop(tm->f, memory, err_of(err));
}

skmt_status skmt_tm_use(skmt_tm *tm, const char *const *memories, int n,
                        skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_use(tm->f, memories, n > 0 ? (size_t)n : 0,
                                   err_of(err));
}

skmt_status skmt_tm_use_with(skmt_tm *tm, const skmt_model *model,
                             const char *const *memories, int n,
                             const skmt_options *options, skmt_error *err)
{
    struct model_languages languages = engine_languages(engine_of(model));
    struct options o = options_or_defaults(options);

    if (o.any_language) return skmt_tm_use(tm, memories, n, err);
    err_clear(err_of(err));
    return (skmt_status)tmfile_use_fitting(tm->f, memories,
                                           n > 0 ? (size_t)n : 0, &languages,
                                           err_of(err));
}

/* ---- pairs --------------------------------------------------------------- */

/* Convert one text of a pair to the form in which it is stored. Either both
 * texts are stored with tags or none: if want_tagged is set, a plain text is
 * escaped. */
static enum status stored_form(struct strbuf *scratch, const char *plain,
                               const char *tagged, bool want_tagged,
                               struct str *out, struct err *e)
{
    *out = str_of(tagged ? tagged : plain);
    if (tagged || !want_tagged) return ST_OK;
    strbuf_reset(scratch);
    if (!tags_escape(*out, scratch)) return err_nomem(e, "a pair");
    *out = (struct str){ scratch->data, scratch->len };
    return ST_OK;
}

/* Fill *u with the texts and properties of a pair. */
static enum status fill_unit(skmt_tm *tm, const skmt_pair *p, struct unit *u,
                             struct err *e)
{
    enum status st;

    *u = (struct unit){
        .tagged = p->source_tagged || p->target_tagged,
        .source_lang = str_of(p->source_lang),
        .target_lang = str_of(p->target_lang), .id = str_of(p->unit),
        .document = str_of(p->document), .author = str_of(p->author),
        .created = p->created, .changed = p->changed,
        .extra = str_of(p->extra) };
    st = stored_form(&tm->scratch[0], p->source, p->source_tagged, u->tagged,
                     &u->source, e);
    if (!st)
        st = stored_form(&tm->scratch[1], p->target, p->target_tagged,
                         u->tagged, &u->target, e);
    return st;
}

skmt_status skmt_tm_add_pair(skmt_tm *tm, const char *memory,
                             const skmt_pair *pair, int64_t *id,
                             skmt_error *err)
{
    struct err *e = err_of(err);
    int64_t new_id = 0;
    struct unit u;
    skmt_pair p;
    enum status st;

    err_clear(e);
    st = sized_get(SIZED_skmt_pair, &p, pair, e);
    if (!st) st = fill_unit(tm, &p, &u, e);
    if (!st) st = tmfile_add(tm->f, memory, &u, &new_id, e);
    if (!st && id) *id = new_id;
    return (skmt_status)st;
}

skmt_status skmt_tm_add(skmt_tm *tm, const char *memory, const char *source,
                        const char *target, int64_t *id, skmt_error *err)
{
    skmt_pair pair = { .size = sizeof pair, .source = source,
                       .target = target };

    return skmt_tm_add_pair(tm, memory, &pair, id, err);
}

/* Make the unit that replaces `old`. A text that is NULL is kept; a new plain
 * text beside a kept tagged one is escaped. */
static enum status replacement_unit(skmt_tm *tm, const struct pair *old,
                                    const char *source, const char *target,
                                    struct unit *u, struct err *e)
{
    struct strbuf *s = &tm->scratch[0], *t = &tm->scratch[1];
    enum status st = ST_OK;

    *u = (struct unit){ .tagged = old->unit.tagged && !(source && target) };
    if (source) st = stored_form(s, source, NULL, u->tagged, &u->source, e);
    if (!st && target)
        st = stored_form(t, target, NULL, u->tagged, &u->target, e);
    if (st) return st;
    if (!source) {
        strbuf_reset(s);
        if (!strbuf_add(s, old->unit.source.p, old->unit.source.n))
            return err_nomem(e, "a pair");
        u->source = (struct str){ s->data, s->len };
    }
    if (!target) {
        strbuf_reset(t);
        if (!strbuf_add(t, old->unit.target.p, old->unit.target.n))
            return err_nomem(e, "a pair");
        u->target = (struct str){ t->data, t->len };
    }
    return ST_OK;
}

skmt_status skmt_tm_replace(skmt_tm *tm, int64_t id, const char *source,
                            const char *target, skmt_error *err)
{
    struct err *e = err_of(err);
    bool own_transaction = !tmfile_inside(tm->f);
    struct pair old = { 0 };
    struct unit u;
    enum status st = ST_OK;

    err_clear(e);
    if (own_transaction) st = tmfile_begin(tm->f, e);
    if (st) return (skmt_status)st;
    st = tmfile_get(tm->f, id, &old, e);
    if (!st) st = replacement_unit(tm, &old, source, target, &u, e);
    if (!st) st = tmfile_replace(tm->f, id, &u, e);
    if (own_transaction && !st) st = tmfile_commit(tm->f, e);
    else if (own_transaction) tmfile_rollback(tm->f);
    return (skmt_status)st;
}

skmt_status skmt_tm_delete(skmt_tm *tm, int64_t id, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_delete(tm->f, id, err_of(err));
}

skmt_status skmt_tm_delete_where(skmt_tm *tm, const char *memory,
                                 const char *origin, const char *document,
                                 const char *source, const char *target,
                                 int64_t *n, skmt_error *err)
{
    struct pair_filter f = { .origin = origin, .document = document,
                             .source = source, .target = target };
    struct memory_info m;
    enum status st = ST_OK;
    int64_t n_deleted = 0;

    err_clear(err_of(err));
    if (n) *n = 0;
    if (!origin && !document && !source && !target)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "say which pairs "
                                    "to delete: give an origin, a document, a "
                                    "source or a target");
    if (memory) st = tmfile_find(tm->f, memory, &m, err_of(err));
    if (!st && memory) f.memory = m.id;
    if (!st) st = tmfile_delete_where(tm->f, &f, &n_deleted, err_of(err));
    if (!st && n) *n = n_deleted;
    return (skmt_status)st;
}

skmt_status skmt_tm_begin(skmt_tm *tm, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_begin(tm->f, err_of(err));
}

skmt_status skmt_tm_commit(skmt_tm *tm, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_commit(tm->f, err_of(err));
}

void skmt_tm_rollback(skmt_tm *tm) { tmfile_rollback(tm->f); }

skmt_status skmt_tm_get(skmt_tm *tm, int64_t id, skmt_pair *out,
                        skmt_error *err)
{
    static const struct memory_info none;
    const struct memory_info *m = &none;
    skmt_pair pair;
    struct pair p;
    enum status st;

    err_clear(err_of(err));
    st = sized_put(SIZED_skmt_pair, out, public_pair_none(), err_of(err));
    if (!st) st = list_memories(tm, err_of(err));
    if (!st) st = tmfile_get(tm->f, id, &p, err_of(err));
    if (st) return (skmt_status)st;
    for (size_t i = 0; i < tm->n_list; i++)
        if (tm->list[i].id == p.memory) m = &tm->list[i];
    st = public_pair(&tm->text, &p, m, &pair, err_of(err));
    if (!st) sized_put(SIZED_skmt_pair, out, &pair, NULL);
    return (skmt_status)st;
}

skmt_status skmt_tm_find_unit(skmt_tm *tm, const char *memory,
                              const char *unit, int64_t after, int64_t *id,
                              skmt_error *err)
{
    struct memory_info m;
    enum status st = ST_OK;

    *id = 0;
    err_clear(err_of(err));
    if (!unit || !unit[0])
        st = err_set(err_of(err), ST_ARGUMENT, "the id of the unit is missing");
    if (!st) st = tmfile_find(tm->f, memory, &m, err_of(err));
    if (!st)
        st = tmfile_find_unit(tm->f, m.id, str_of(unit), after, id,
                              err_of(err));
    return (skmt_status)st;
}

/* ---- all pairs ----------------------------------------------------------- */

struct skmt_tm_cursor {
    struct pair_cursor *c;
    struct memory_info memory;
    struct strbuf text;
};

skmt_status skmt_tm_cursor_open(skmt_tm_cursor **out, skmt_tm *tm,
                                const char *memory, skmt_error *err)
{
    return skmt_tm_cursor_open_after(out, tm, memory, 0, err);
}

skmt_status skmt_tm_cursor_open_after(skmt_tm_cursor **out, skmt_tm *tm,
                                      const char *memory, int64_t after,
                                      skmt_error *err)
{
    skmt_tm_cursor *c = calloc(1, sizeof *c);
    struct pair_filter f = { .after = after };
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!c) return (skmt_status)err_nomem(err_of(err), "a list of pairs");
    strbuf_init(&c->text, 0);
    st = tmfile_find(tm->f, memory, &c->memory, err_of(err));
    f.memory = c->memory.id;
    if (!st) st = tmfile_cursor_open(&c->c, tm->f, &f, err_of(err));
    if (st) skmt_tm_cursor_close(c);
    else *out = c;
    return (skmt_status)st;
}

skmt_status skmt_tm_cursor_next(skmt_tm_cursor *c, skmt_pair *out, int *found,
                                skmt_error *err)
{
    bool exists = false;
    skmt_pair pair;
    struct pair p;
    enum status st;

    err_clear(err_of(err));
    st = sized_put(SIZED_skmt_pair, out, public_pair_none(), err_of(err));
    if (!st) st = pair_cursor_next(c->c, &p, &exists, err_of(err));
    if (!st && exists)
        st = public_pair(&c->text, &p, &c->memory, &pair, err_of(err));
    *found = !st && exists;
    if (*found) sized_put(SIZED_skmt_pair, out, &pair, NULL);
    return (skmt_status)st;
}

void skmt_tm_cursor_close(skmt_tm_cursor *c)
{
    if (!c) return;
    pair_cursor_close(c->c);
    strbuf_release(&c->text);
    free(c);
}

/* ---- maintenance --------------------------------------------------------- */

skmt_status skmt_tm_check(skmt_tm *tm, skmt_problem_fn *fn, void *user,
                          int *n_problems, skmt_error *err)
{
    enum status st;
    int n = 0;

    err_clear(err_of(err));
    st = tmfile_check(tm->f, fn, user, &n, err_of(err));
    if (n_problems) *n_problems = n;
    return (skmt_status)st;
}

skmt_status skmt_tm_rebuild(skmt_tm *tm, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_rebuild(tm->f, err_of(err));
}

skmt_status skmt_tm_compact(skmt_tm *tm, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)tmfile_compact(tm->f, err_of(err));
}

skmt_status skmt_tm_recover(const char *old_path, const char *new_path,
                            skmt_tm_progress_fn *fn, void *user,
                            skmt_recovery *out, skmt_error *err)
{
    static const skmt_recovery none = { 0 };
    struct recovery found = { 0 };
    enum status st;

    err_clear(err_of(err));
    if (!old_path || !new_path)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT,
                                    "the name of the memory file is missing");
    if (out && (st = sized_put(SIZED_skmt_recovery, out, &none, err_of(err))))
        return (skmt_status)st;
    st = tm_recover(old_path, new_path, fn, user, &found, err_of(err));
    if (out)
        sized_put(SIZED_skmt_recovery, out, &(skmt_recovery){
            .pairs = found.pairs, .doubtful = found.doubtful,
            .lost = found.lost }, NULL);
    return (skmt_status)st;
}

const char *skmt_tm_stat(skmt_tm *tm, int i, int64_t *value)
{
    static const char *const names[] = { "store_bytes", "index_bytes",
        "symbol_bytes", "segments", "tail", "dead", "terms", "words" };
    enum { N = sizeof names / sizeof *names };
    struct index_stats s;

    _Static_assert(N == sizeof tm->stats / sizeof *tm->stats, "one for each");
    *value = 0;
    if (i < 0 || i >= N) return NULL;
    if (i == 0) {
        bool known = !tmfile_stats(tm->f, &s, NULL);
        const int64_t all[N] = { tmfile_disk_bytes(tm->f), s.bytes,
            s.symbol_bytes, s.segments, s.tail_docs, s.dead_docs, s.terms,
            s.total_terms };

        for (int k = 0; k < N; k++)
            tm->stats[k] = !k || known ? all[k] : -1;
    }
    *value = tm->stats[i];
    return names[i];
}
