/* learn_corrections.c - the corrections of one call of "skmt learn" for systems
 * kok and vanilla, which search the states of all of them (skmt_corrections).
 *
 * The library cannot remove a single correction. Therefore the texts are kept
 * here, and undoing one adds all others again.
 *
 * Invariant: c->given has the texts that c->online has, in the same order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "learn_call.h"

struct given_pair { char *source, *target; };

bool learn_uses_corrections(const struct learn_call *c)
{
    const char *system = skmt_options_get(c->options, "system");

    return !strcmp(system, "kok")
           || (!strcmp(system, "vanilla") && !c->steering.datastore);
}

skmt_status learn_corrections_begin(struct learn_call *c, skmt_error *err)
{
    assert(!c->online);
    if (!learn_uses_corrections(c)) return SKMT_OK;
    return skmt_corrections_new(&c->online, c->model, c->options, err);
}

static void given_pair_release(struct given_pair *p)
{
    free(p->source);
    free(p->target);
}

void learn_corrections_end(struct learn_call *c)
{
    for (size_t i = 0; i < c->n_given; i++) given_pair_release(&c->given[i]);
    free(c->given);
    c->given = NULL;
    c->n_given = 0;
    skmt_corrections_free(c->online);
    c->online = NULL;
}

static skmt_status given_no_memory(skmt_error *err)
{
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

skmt_status learn_corrections_add(struct learn_call *c, const char *source,
                                  const char *target, skmt_error *err)
{
    struct given_pair *list, p = { NULL, NULL };
    skmt_status st;

    if (!c->online) return SKMT_OK;
    list = realloc(c->given, (c->n_given + 1) * sizeof *list);
    if (!list) return given_no_memory(err);
    c->given = list;
    p.source = strdup(source);
    p.target = strdup(target);
    st = p.source && p.target
             ? skmt_corrections_add(c->online, source, target, err)
             : given_no_memory(err);
    if (st) given_pair_release(&p);
    else list[c->n_given++] = p;
    return st;
}

/* The last pair with these texts; n_given if there is none. */
static size_t find_given(const struct learn_call *c, const char *source,
                         const char *target)
{
    for (size_t i = c->n_given; i-- > 0;)
        if (!strcmp(c->given[i].source, source)
            && !strcmp(c->given[i].target, target)) return i;
    return c->n_given;
}

skmt_status learn_corrections_remove(struct learn_call *c, const char *source,
                                     const char *target, skmt_error *err)
{
    size_t at = find_given(c, source, target);
    skmt_status st;

    if (at == c->n_given) return SKMT_OK;
    given_pair_release(&c->given[at]);
    memmove(c->given + at, c->given + at + 1,
            (--c->n_given - at) * sizeof *c->given);
    st = skmt_corrections_reset(c->online, err);
    for (size_t i = 0; !st && i < c->n_given; i++)
        st = skmt_corrections_add(c->online, c->given[i].source,
                                  c->given[i].target, err);
    return st;
}
