/* states.c - the table of decoder states of one sentence, and the guesses that
 * they inherit. states.h states the invariants. This file runs no decoder pass
 * and chooses no hypotheses. */
#include "search/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* A guess assumes a next token. When search takes a different one, the rest of
 * the guess is right about a third as often (counted on law and IT). */
#define OTHER_TOKEN 0.35f

enum status states_init(struct states *s, int cap, int width,
                        struct executor *x, struct err *e)
{
    assert(cap > 0 && width > 0);
    memset(s, 0, sizeof *s);
    s->at = calloc((size_t)cap, sizeof *s->at);
    s->room = malloc((size_t)cap * (size_t)width * sizeof *s->room);
    if (!s->at || !s->room) {
        states_release(s);
        return err_nomem(e, "hypotheses");
    }
    s->cap = cap;
    s->width = width;
    s->x = x;
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

static void states_drop(struct states *s, struct state *it)
{
    assert(it->in_use);
    s->x->ops->slot_drop(s->x, it->slot);
    it->in_use = false;
}

void states_clear(struct states *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].in_use) states_drop(s, &s->at[i]);
    s->n = 0;
}

static int states_free_index(struct states *s)
{
    int i = 0;

    while (i < s->n && s->at[i].in_use) i++;
    if (i == s->cap) return -1;
    if (i == s->n) s->n++;
    return i;
}

int states_room(const struct states *s)
{
    int n = s->cap;

    for (int i = 0; i < s->n; i++) n -= s->at[i].in_use;
    return n;
}

/* Pass a guess on from a state to its child. A known parent has guesses for
 * what follows each voted token; the child takes the one for its own token. A
 * parent that is not known has one guess, which begins with the child's token;
 * the child takes the rest of it. */
static void states_inherit_guess(struct state *to, const struct state *from)
{
    int k = 0;

    if (!from->n_guesses) return;
    while (from->known && k < from->n_guesses &&
           from->guesses[k].token != to->token)
        k++;
    to->n_guesses = 1;
    to->guesses[0] = from->guesses[k < from->n_guesses ? k : 0];
    if (k == from->n_guesses) to->guesses[0].likely *= OTHER_TOKEN;
    if (from->known) return;
    to->guesses[0].ahead++;
    to->guesses[0].n--;
}

int states_new(struct states *s, int parent, int32_t token)
{
    const struct state *from = parent < 0 ? NULL : &s->at[parent];
    int32_t slot = s->x->ops->slot_new(s->x, from ? from->slot : -1);
    int i = slot < 0 ? -1 : states_free_index(s);
    struct continuation *next;

    assert(!from || from->in_use);
    assert(states_child(s, parent, token) < 0 || !from);
    if (i < 0) {
        s->x->ops->slot_drop(s->x, slot);
        return -1;
    }
    next = s->at[i].next;
    s->at[i] = (struct state){ .token = token, .slot = slot, .parent = parent,
                               .in_use = true, .next = next };
    if (from) states_inherit_guess(&s->at[i], from);
    return i;
}

int states_child(const struct states *s, int parent, int32_t token)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].in_use && s->at[i].parent == parent &&
            s->at[i].token == token)
            return i;
    return -1;
}

static bool states_is_live(const int *live, int n, int i)
{
    while (n-- > 0)
        if (live[n] == i) return true;
    return false;
}

void states_keep(struct states *s, const int *live, int n)
{
    for (int i = 0; i < n; i++)
        assert(live[i] >= 0 && live[i] < s->n && s->at[live[i]].in_use);
    for (int i = 0; i < s->n; i++) {
        int up = i;

        if (!s->at[i].in_use) continue;
        while (up >= 0 && !states_is_live(live, n, up)) up = s->at[up].parent;
        s->at[i].unreachable = up < 0;
    }
    for (int i = 0; i < s->n; i++) {
        struct state *it = &s->at[i];

        if (it->in_use && it->parent >= 0 && s->at[it->parent].unreachable)
            it->parent = -1;
    }
    for (int i = 0; i < s->n; i++)
        if (s->at[i].in_use && s->at[i].unreachable) states_drop(s, &s->at[i]);
    PARANOID_CHECK(states_sound(s));
}

bool states_sound(const struct states *s)
{
    for (int i = 0; i < s->cap; i++) {
        const struct state *it = &s->at[i];

        if (!it->in_use) continue;
        if (i >= s->n || it->slot < 0 || it->slot >= s->x->limits.slots ||
            it->n > s->width)
            return false;
        if (it->parent < 0) continue;
        if (it->parent >= s->n || !s->at[it->parent].in_use) return false;
        if (states_child(s, it->parent, it->token) != i) return false;
    }
    return true;
}
