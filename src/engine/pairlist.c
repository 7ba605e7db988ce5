/* pairlist.c - lists the ids of all pairs of a source, and strips the tags of
 * single pairs. */
#include "engine/pairlist.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "engine/pairset.h"

static int collect_want(void *user, const struct source_change *c)
{
    struct pairlist *l = user;

    assert(!c->removed);
    if (!mem_grow(&l->at, &l->cap, l->n + 1, sizeof *l->at)) return 1;
    l->at[l->n++] = (struct source_want){ c->id, l->parts };
    return 0;
}

enum status pairlist_read(struct pairlist *l, struct pair_source *source,
                          unsigned parts, struct err *e)
{
    struct source_mark beginning = { 0 };
    enum source_news news;
    enum status st;

    l->n = 0;
    l->parts = parts;
    st = source_changes(source, &beginning, collect_want, l, &news, e);
    return st == ST_CANCELED ? err_nomem(e, "the list of all pairs") : st;
}

static int compare_wants(const void *left, const void *right)
{
    const struct source_want *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

void pairlist_sort(struct pairlist *l)
{
    if (l->n) qsort(l->at, l->n, sizeof *l->at, compare_wants);
}

void pairlist_release(struct pairlist *l)
{
    free(l->at);
    *l = (struct pairlist){ 0 };
}

void plain_text_init(struct plain_text *p)
{
    strbuf_init(&p->buffers[0], 0);
    strbuf_init(&p->buffers[1], 0);
}

void plain_text_release(struct plain_text *p)
{
    strbuf_release(&p->buffers[0]);
    strbuf_release(&p->buffers[1]);
}

enum status plain_text_set(struct plain_text *p,
                           const struct source_pair *from, struct err *e)
{
    const struct unit *u = &from->pair.unit;

    p->source = u->source;
    p->target = u->target;
    if (!u->tagged) return ST_OK;
    return steering_pair_plain(p->buffers, &p->source, &p->target, e);
}
