/* symmetrize.c - intersection, union and growing of two alignments.
 *
 * A link of the union belongs to the forward alignment (and is found by its
 * target) or to the reverse alignment (and is found by its source), or to both.
 * So the links that were chosen are marked in two arrays, and no table of all
 * source and target words is needed. The order in which links are visited
 * decides between links that compete for a word: by target and then by source,
 * as Koehn, Och and Marcu (2003) and Koehn et al. (2005) describe it. */
#include "align/symmetrize.h"

#include <stdbool.h>
#include <string.h>

#include "base/invariant.h"

struct chosen_links {
    const struct two_alignments *a;
    uint8_t *forward;           /* [n_target] the forward link is chosen */
    uint8_t *reverse;           /* [n_source] the reverse link is chosen */
    uint8_t *source, *target;   /* the word has a chosen link */
};

static bool in_union(const struct two_alignments *a, uint32_t s, uint32_t t)
{
    return a->forward[t] == s || a->reverse[s] == t;
}

static bool is_chosen_link(const struct chosen_links *c, uint32_t s, uint32_t t)
{
    return (c->a->forward[t] == s && c->forward[t]) ||
           (c->a->reverse[s] == t && c->reverse[s]);
}

static void choose_link(struct chosen_links *c, uint32_t s, uint32_t t)
{
    assert(in_union(c->a, s, t));
    if (c->a->forward[t] == s) c->forward[t] = 1;
    if (c->a->reverse[s] == t) c->reverse[s] = 1;
    c->source[s] = c->target[t] = 1;
}

/* Choose all forward links; or those that are in both alignments. */
static void choose_forward(struct chosen_links *c, bool both)
{
    for (uint32_t t = 0; t < c->a->n_target; t++) {
        uint32_t s = c->a->forward[t];

        if (s != NO_WORD && (!both || c->a->reverse[s] == t))
            choose_link(c, s, t);
    }
}

static void choose_reverse(struct chosen_links *c)
{
    for (uint32_t s = 0; s < c->a->n_source; s++)
        if (c->a->reverse[s] != NO_WORD)
            choose_link(c, s, c->a->reverse[s]);
}

/* Choose the links of the union that are next to a chosen link, if one of their
 * words has no link yet. Returns whether there were any. */
static bool grow_from(struct chosen_links *c, struct word_link at)
{
    static const int step[8][2] = { { -1, 0 }, { 0, -1 }, { 1, 0 }, { 0, 1 },
                                    { -1, -1 }, { -1, 1 }, { 1, -1 },
                                    { 1, 1 } };
    bool grown = false;

    for (int k = 0; k < 8; k++) {
        int64_t t = (int64_t)at.target + step[k][0];
        int64_t s = (int64_t)at.source + step[k][1];

        if (t < 0 || s < 0 || t >= c->a->n_target || s >= c->a->n_source ||
            (c->target[t] && c->source[s]) ||
            !in_union(c->a, (uint32_t)s, (uint32_t)t))
            continue;
        choose_link(c, (uint32_t)s, (uint32_t)t);
        grown = true;
    }
    return grown;
}

/* List the links of the union by target and then by source. */
static size_t list_union(const struct two_alignments *a, struct word_link *list)
{
    size_t n = 0;

    for (uint32_t t = 0; t < a->n_target; t++)
        for (uint32_t s = 0; s < a->n_source; s++)
            if (in_union(a, s, t)) list[n++] = (struct word_link){ s, t };
    return n;
}

/* `list` is scratch. */
static void grow_diag(struct chosen_links *c, struct word_link *list)
{
    size_t n = list_union(c->a, list);
    bool grown = true;

    while (grown) {
        grown = false;
        for (size_t k = 0; k < n; k++)
            if (is_chosen_link(c, list[k].source, list[k].target))
                grown |= grow_from(c, list[k]);
    }
}

/* Choose links between two words that both have none. */
static void final_and(struct chosen_links *c)
{
    const struct two_alignments *a = c->a;

    for (uint32_t t = 0; t < a->n_target; t++) {
        uint32_t s = a->forward[t];

        if (s != NO_WORD && !c->target[t] && !c->source[s])
            choose_link(c, s, t);
    }
    for (uint32_t s = 0; s < a->n_source; s++) {
        uint32_t t = a->reverse[s];

        if (t != NO_WORD && !c->target[t] && !c->source[s])
            choose_link(c, s, t);
    }
}

static void choose_links(struct chosen_links *c, enum align_method method,
                         struct word_link *list)
{
    bool grow = method == ALIGN_GROW_DIAG ||
                method == ALIGN_GROW_DIAG_FINAL_AND;

    if (method != ALIGN_REVERSE)
        choose_forward(c, grow || method == ALIGN_INTERSECT);
    if (method == ALIGN_REVERSE || method == ALIGN_UNION) choose_reverse(c);
    if (grow) grow_diag(c, list);
    if (method == ALIGN_GROW_DIAG_FINAL_AND) final_and(c);
}

size_t symmetrize(enum align_method method, const struct two_alignments *a,
                  struct word_link *links, uint8_t *scratch)
{
    struct chosen_links c = {
        a, scratch, scratch + a->n_target,
        scratch + a->n_target + a->n_source,
        scratch + a->n_target + 2 * (size_t)a->n_source };
    size_t n = 0;

    assert((unsigned)method < ALIGN_METHOD_COUNT);
    memset(scratch, 0, SYMMETRIZE_BYTES(a->n_source, a->n_target));
    choose_links(&c, method, links);
    for (uint32_t s = 0; s < a->n_source; s++)
        for (uint32_t t = 0; t < a->n_target; t++)
            if (is_chosen_link(&c, s, t))
                links[n++] = (struct word_link){ s, t };
    assert(n <= (size_t)a->n_source + a->n_target);
    return n;
}
