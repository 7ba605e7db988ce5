/* learn_store.c - a correction becomes a pair of the memory.
 *
 * It takes the place of what the same memory had for the same source: a
 * translation that was corrected must not come back, not even as an
 * alternative. A pair that is there already stays as it is, with all that is
 * known of it. Only where another memory's translation comes before it, it is
 * added once more, which confirms it (see skmt_tm_search). One transaction, on
 * the disk before anybody is told. */
#include <stdlib.h>
#include <string.h>

#include "learn_call.h"

static void forget_result(struct learn_call *c)
{
    skmt_result_free(c->result);
    c->result = NULL;
}

void stored_release(struct stored_pair *s)
{
    skmt_matches_free(s->before);
    free(s->source);
    free(s->target);
    memset(s, 0, sizeof *s);
}

/* The texts as they are stored. */
static const char *stored_source(const skmt_pair *p)
{
    return p->source_tagged ? p->source_tagged : p->source;
}

static const char *stored_target(const skmt_pair *p)
{
    return p->target_tagged ? p->target_tagged : p->target;
}

/* Is match i another translation of the source, in the memory learned to? Or
 * the very pair? */
static bool is_rival(const struct learn_call *c, const struct stored_pair *s,
                     int i, skmt_match *m, bool *same)
{
    skmt_matches_get(s->before, i, m);
    *same = !strcmp(m->pair.target, s->target);
    return !strcmp(m->pair.source, s->source)
           && !strcmp(m->pair.memory, c->memory);
}

/* *confirm: the pair is there already, behind one of another memory. */
static skmt_status remove_rivals(struct learn_call *c, struct stored_pair *s,
                                 bool *confirm, skmt_error *err)
{
    int n = skmt_matches_count(s->before);
    bool others = false;
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && i < n; i++) {
        skmt_match m;
        bool same;
        int64_t gone;

        if (!is_rival(c, s, i, &m, &same)) {
            others |= !same && !strcmp(m.pair.source, s->source);
            continue;
        }
        if (same) {
            s->is.id = m.pair.id;
            *confirm = others;
            continue;
        }
        st = skmt_tm_delete_where(c->steering.tm, c->memory, NULL, NULL,
                                  stored_source(&m.pair),
                                  stored_target(&m.pair), &gone, err);
        s->is.replaced++;
    }
    return st;
}

static skmt_status learn_store_add(struct learn_call *c, struct stored_pair *s,
                                   bool confirm, skmt_error *err)
{
    skmt_pair pair = { .source = s->source, .target = s->target,
                       .document = c->document, .author = c->author };

    if (s->is.id && !confirm) return SKMT_OK;   /* it was there already */
    s->is.added = true;
    return skmt_tm_add_pair(c->steering.tm, c->memory, &pair, &s->is.id, err);
}

/* Undo has to know what there was. */
static skmt_status learn_store_look_up(struct learn_call *c,
                                       struct stored_pair *s,
                                       const char *source, const char *target,
                                       skmt_error *err)
{
    s->source = strdup(source);
    s->target = strdup(target);
    if (!s->source || !s->target) {
        *err = (skmt_error){ SKMT_NOMEM, "out of memory" };
        return SKMT_NOMEM;
    }
    if (c->keep) return SKMT_OK;
    return skmt_tm_search(c->steering.tm, source, strlen(source), c->finding,
                          c->model, &s->before, err);
}

/* What changed nothing is nothing to undo. */
static void learn_store_remember(struct learn_call *c, struct stored_pair *s)
{
    c->outcome = s->is;
    if (!s->is.added && !s->is.replaced) {
        stored_release(s);
        return;
    }
    stored_release(&c->last);
    c->last = *s;
    c->stored++;
    forget_result(c);
}

skmt_status learn_store(struct learn_call *c, const char *source,
                        const char *target, skmt_error *err)
{
    struct stored_pair s = { 0 };
    bool confirm = false;
    skmt_tm *tm = c->steering.tm;
    skmt_status st = learn_store_look_up(c, &s, source, target, err);

    if (!st && !(st = skmt_tm_begin(tm, err))) {
        if (s.before) st = remove_rivals(c, &s, &confirm, err);
        if (!st) st = learn_store_add(c, &s, confirm, err);
        if (!st) st = skmt_tm_commit(tm, err);
        if (st) skmt_tm_rollback(tm);
    }
    if (st) stored_release(&s);
    else learn_store_remember(c, &s);
    return st;
}

/* ---- taking it back ----------------------------------------------------- */

static skmt_status restore(struct learn_call *c, struct stored_pair *s,
                           skmt_error *err)
{
    int n = s->before ? skmt_matches_count(s->before) : 0;
    skmt_status st = SKMT_OK;

    for (int i = 0; !st && i < n; i++) {
        skmt_match m;
        int64_t id;
        bool same;

        if (is_rival(c, s, i, &m, &same) && !same)
            st = skmt_tm_add_pair(c->steering.tm, c->memory, &m.pair, &id,
                                  err);
    }
    return st;
}

skmt_status learn_undo(struct learn_call *c, skmt_error *err)
{
    skmt_tm *tm = c->steering.tm;
    skmt_status st = skmt_tm_begin(tm, err);

    if (st) return st;
    if (c->last.is.added) st = skmt_tm_delete(tm, c->last.is.id, err);
    if (!st) st = restore(c, &c->last, err);
    if (!st) st = skmt_tm_commit(tm, err);
    if (st) {
        skmt_tm_rollback(tm);
        return st;
    }
    stored_release(&c->last);
    c->stored--;
    forget_result(c);
    return SKMT_OK;
}
