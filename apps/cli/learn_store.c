/* learn_store.c - stores a correction as a pair of the memory, and undoes it.
 *
 * A correction replaces the other translations of the same source in the same
 * memory: a translation that was corrected must not come back, not even as an
 * alternative. A pair that is already stored stays unchanged with its
 * properties; but if a translation of another memory is preferred to it, it is
 * added once more, which confirms it (see skmt_tm_search). All this is one
 * transaction, which is on disk when learn_store() returns.
 *
 * Invariant: c->last has a source and a target, or is zeroed. c->n_stored is
 * the number of stored corrections that were not undone. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "learn_call.h"

/* Free the translation of the last source. It must be translated again, because
 * the memory has changed. */
static void drop_result(struct learn_call *c)
{
    skmt_result_free(c->result);
    c->result = NULL;
}

/* ---- copies of deleted pairs --------------------------------------------- */

/* The strings of a pair that skmt_tm_add_pair() uses. */
static const size_t pair_strings[] = {
    offsetof(skmt_pair, source), offsetof(skmt_pair, target),
    offsetof(skmt_pair, source_tagged), offsetof(skmt_pair, target_tagged),
    offsetof(skmt_pair, source_lang), offsetof(skmt_pair, target_lang),
    offsetof(skmt_pair, document), offsetof(skmt_pair, unit),
    offsetof(skmt_pair, author), offsetof(skmt_pair, extra)
};
enum { N_PAIR_STRINGS = sizeof pair_strings / sizeof *pair_strings };

static const char **pair_string(skmt_pair *p, int i)
{
    return (const char **)(void *)((char *)p + pair_strings[i]);
}

static void pair_copy_release(skmt_pair *p)
{
    for (int i = 0; i < N_PAIR_STRINGS; i++)
        free((void *)(uintptr_t)*pair_string(p, i));
}

/* Replace the strings of *p by copies. Returns false if out of memory. */
static bool pair_copy_strings(skmt_pair *p)
{
    bool ok = true;

    p->memory = p->origin = NULL;
    for (int i = 0; i < N_PAIR_STRINGS; i++) {
        const char **string = pair_string(p, i);

        if (!*string) continue;
        *string = strdup(*string);
        ok &= *string != NULL;
    }
    return ok;
}

/* Save a copy of a pair that will be deleted, for undo. */
static skmt_status save_deleted(struct stored_pair *s, const skmt_pair *p,
                                skmt_error *err)
{
    skmt_pair *list = realloc(s->deleted, (s->n_deleted + 1) * sizeof *list);

    if (list) {
        s->deleted = list;
        list[s->n_deleted] = *p;
        if (pair_copy_strings(&list[s->n_deleted++])) return SKMT_OK;
    }
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

void stored_release(struct stored_pair *s)
{
    for (size_t i = 0; i < s->n_deleted; i++)
        pair_copy_release(&s->deleted[i]);
    free(s->deleted);
    skmt_matches_free(s->before);
    free(s->source);
    free(s->target);
    memset(s, 0, sizeof *s);
}

/* These return the texts as they are stored, with tags. */
static const char *stored_source(const skmt_pair *p)
{
    return p->source_tagged ? p->source_tagged : p->source;
}

static const char *stored_target(const skmt_pair *p)
{
    return p->target_tagged ? p->target_tagged : p->target;
}

/* ---- storing ------------------------------------------------------------- */

/* Whether match i is a translation of the source in the memory for corrections.
 * *same: its target is the correction itself. */
static bool is_stored_translation(const struct learn_call *c,
                                  const struct stored_pair *s, int i,
                                  skmt_match *m, bool *same)
{
    skmt_matches_get(s->before, i, m);
    *same = !strcmp(m->pair->target, s->target);
    return !strcmp(m->pair->source, s->source)
           && !strcmp(m->pair->memory, c->memory);
}

/* Save every pair of the memory with the texts of p. */
static skmt_status save_occurrences(struct learn_call *c,
                                    struct stored_pair *s, const skmt_pair *p,
                                    skmt_error *err)
{
    skmt_tm_cursor *cursor;
    skmt_pair other = SKMT_INIT(skmt_pair);
    int found = 1;
    skmt_status st = skmt_tm_cursor_open(&cursor, c->steering.tm, c->memory,
                                         err);

    while (!st && !(st = skmt_tm_cursor_next(cursor, &other, &found, err))
           && found)
        if (!strcmp(stored_source(&other), stored_source(p))
            && !strcmp(stored_target(&other), stored_target(p)))
            st = save_deleted(s, &other, err);
    skmt_tm_cursor_close(cursor);
    return st;
}

/* Delete a translation wherever the memory has it: it may be stored several
 * times, for several documents. Only then are all pairs of the memory read. */
static skmt_status delete_alternative(struct learn_call *c,
                                      struct stored_pair *s,
                                      const skmt_match *m, skmt_error *err)
{
    const skmt_pair *p = m->pair;
    skmt_status st = m->occurrences > 1 ? save_occurrences(c, s, p, err)
                                        : save_deleted(s, p, err);

    s->outcome.n_replaced++;
    if (st) return st;
    return skmt_tm_delete_where(c->steering.tm, c->memory, NULL, NULL,
                                stored_source(p), stored_target(p), NULL, err);
}

/* Delete the other translations. *confirm is set if the pair is already stored,
 * but a translation of another memory comes before it. */
static skmt_status delete_alternatives(struct learn_call *c,
                                       struct stored_pair *s, bool *confirm,
                                       skmt_error *err)
{
    int n = skmt_matches_count(s->before);
    bool others = false;
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && i < n; i++) {
        skmt_match m = SKMT_INIT(skmt_match);
        bool same;

        if (!is_stored_translation(c, s, i, &m, &same)) {
            others |= !same && !strcmp(m.pair->source, s->source);
            continue;
        }
        if (same) {
            s->outcome.id = m.pair->id;
            *confirm = others;
            continue;
        }
        st = delete_alternative(c, s, &m, err);
    }
    return st;
}

static skmt_status learn_store_add(struct learn_call *c, struct stored_pair *s,
                                   bool confirm, skmt_error *err)
{
    skmt_pair pair = { .size = sizeof pair,
                       .source = s->source, .target = s->target,
                       .document = c->document, .author = c->author };

    if (s->outcome.id && !confirm) return SKMT_OK;      /* already stored */
    s->outcome.added = true;
    return skmt_tm_add_pair(c->steering.tm, c->memory, &pair, &s->outcome.id,
                            err);
}

/* Copy the texts and search for the other translations, which undo needs. */
static skmt_status learn_store_look_up(struct learn_call *c,
                                       struct stored_pair *s,
                                       const char *source, const char *target,
                                       skmt_error *err)
{
    s->source = strdup(source);
    s->target = strdup(target);
    if (!s->source || !s->target) {
        *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                             .message = "out of memory" };
        return SKMT_ERR_NOMEM;
    }
    if (c->keep_alternatives) return SKMT_OK;
    return skmt_tm_search(c->steering.tm, source, c->alternative_options,
                          c->model, &s->before, err);
}

/* Keep the correction for undo, unless it changed nothing. */
static void keep_for_undo(struct learn_call *c, struct stored_pair *s)
{
    assert(s->source && s->target && s->outcome.id);
    c->outcome = s->outcome;
    if (!s->outcome.added && !s->outcome.n_replaced) {
        stored_release(s);
        return;
    }
    stored_release(&c->last);
    c->last = *s;
    c->n_stored++;
    drop_result(c);
}

skmt_status learn_store(struct learn_call *c, const char *source,
                        const char *target, skmt_error *err)
{
    struct stored_pair s = { 0 };
    bool confirm = false;
    skmt_tm *tm = c->steering.tm;
    skmt_status st = learn_store_look_up(c, &s, source, target, err);

    if (!st && !(st = skmt_tm_begin(tm, err))) {
        if (s.before) st = delete_alternatives(c, &s, &confirm, err);
        if (!st) st = learn_store_add(c, &s, confirm, err);
        if (!st) st = skmt_tm_commit(tm, err);
        if (st) skmt_tm_rollback(tm);
    }
    if (st) stored_release(&s);
    else keep_for_undo(c, &s);
    if (st) return st;
    learn_adapt_stored(c);
    if (!c->online) return SKMT_OK;
    drop_result(c);
    return learn_corrections_add(c, source, target, err);
}

/* ---- undo --------------------------------------------------------------- */

static skmt_status restore_deleted(struct learn_call *c, struct stored_pair *s,
                                   skmt_error *err)
{
    skmt_status st = SKMT_OK;

    for (size_t i = 0; !st && i < s->n_deleted; i++)
        st = skmt_tm_add_pair(c->steering.tm, c->memory, &s->deleted[i], NULL,
                              err);
    return st;
}

skmt_status learn_undo(struct learn_call *c, skmt_error *err)
{
    skmt_tm *tm = c->steering.tm;
    skmt_status st = skmt_tm_begin(tm, err);

    assert(c->last.source && c->last.target && c->n_stored > 0);
    if (st) return st;
    if (c->last.outcome.added)
        st = skmt_tm_delete(tm, c->last.outcome.id, err);
    if (!st) st = restore_deleted(c, &c->last, err);
    if (!st) st = skmt_tm_commit(tm, err);
    if (st) {
        skmt_tm_rollback(tm);
        return st;
    }
    st = learn_corrections_remove(c, c->last.source, c->last.target, err);
    stored_release(&c->last);
    c->n_stored--;
    drop_result(c);
    return st;
}
