/* states.c - see states.h. */
#include "search/states.h"

#include <stdlib.h>
#include <string.h>

/* Where search took another token than the guess supposes the rest of it is
 * right less often: a third as often where that was counted. */
#define OTHER 0.35f

enum status states_init(struct states *s, int cap, int width,
                        struct kvcache *cache, struct err *e)
{
    memset(s, 0, sizeof *s);
    s->at = calloc((size_t)cap, sizeof *s->at);
    s->room = malloc((size_t)cap * (size_t)width * sizeof *s->room);
    if (!s->at || !s->room) {
        states_release(s);
        return err_nomem(e, "hypotheses");
    }
    s->cap = cap;
    s->width = width;
    s->cache = cache;
    for (int i = 0; i < cap; i++)
        s->at[i].next = s->room + (size_t)i * (size_t)width;
    return ST_OK;
}

void states_release(struct states *s)
{
    free(s->at);
    free(s->room);
    memset(s, 0, sizeof *s);
}

static void forget(struct states *s, struct state *it)
{
    kvcache_drop(s->cache, it->slot);
    it->used = false;
}

void states_clear(struct states *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].used) forget(s, &s->at[i]);
    s->n = 0;
}

static int free_place(struct states *s)
{
    int i = 0;

    while (i < s->n && s->at[i].used) i++;
    if (i == s->cap) return -1;
    if (i == s->n) s->n++;
    return i;
}

int states_room(const struct states *s)
{
    int n = s->cap;

    for (int i = 0; i < s->n; i++) n -= s->at[i].used;
    return n;
}

/* What comes after the next token of a known state comes next after that
 * token; an unknown one's own guess begins with it. */
static void inherit(struct state *to, const struct state *from)
{
    int k = 0;

    if (!from->n_guesses) return;
    while (from->known && k < from->n_guesses &&
           from->guesses[k].token != to->token)
        k++;
    to->n_guesses = 1;
    to->guesses[0] = from->guesses[k < from->n_guesses ? k : 0];
    if (k == from->n_guesses) to->guesses[0].likely *= OTHER;
    if (from->known) return;
    to->guesses[0].ahead++;
    to->guesses[0].n--;
}

int states_new(struct states *s, int parent, int32_t token)
{
    const struct state *from = parent < 0 ? NULL : &s->at[parent];
    int32_t slot = kvcache_take(s->cache, from ? from->slot : -1);
    int i = slot < 0 ? -1 : free_place(s);
    struct next *next;

    if (i < 0) {
        kvcache_drop(s->cache, slot);
        return -1;
    }
    next = s->at[i].next;
    s->at[i] = (struct state){ .token = token, .slot = slot, .parent = parent,
                               .used = true, .next = next };
    if (from) inherit(&s->at[i], from);
    return i;
}

int states_child(const struct states *s, int parent, int32_t token)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].used && s->at[i].parent == parent &&
            s->at[i].token == token)
            return i;
    return -1;
}

static bool listed(const int *live, int n, int i)
{
    while (n-- > 0)
        if (live[n] == i) return true;
    return false;
}

void states_keep(struct states *s, const int *live, int n)
{
    for (int i = 0; i < s->n; i++) {
        int up = i;

        if (!s->at[i].used) continue;
        while (up >= 0 && !listed(live, n, up)) up = s->at[up].parent;
        s->at[i].gone = up < 0;
    }
    for (int i = 0; i < s->n; i++) {
        struct state *it = &s->at[i];

        if (it->used && it->parent >= 0 && s->at[it->parent].gone)
            it->parent = -1;
    }
    for (int i = 0; i < s->n; i++)
        if (s->at[i].used && s->at[i].gone) forget(s, &s->at[i]);
}
