/* source.c - calls the functions of a source, and keeps lists of candidates.
 * What a source does is in its own file; for memory files that is
 * tmfile_source.c. */
#include "tm/source.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"

/* ---- candidates ---------------------------------------------------------- */

void candidates_release(struct candidates *c)
{
    free(c->at);
    free(c->lists);
    free(c->symbols);
    *c = (struct candidates){ 0 };
}

void candidates_reset(struct candidates *c)
{
    c->n = c->n_lists = c->n_symbols = 0;
}

bool candidates_begin_list(struct candidates *c, const struct memory_info *m,
                           size_t rank)
{
    if (!mem_grow(&c->lists, &c->lists_cap, c->n_lists + 1, sizeof *c->lists))
        return false;
    c->lists[c->n_lists++] = (struct candidate_list){ .memory = m,
                                                      .begin = c->n,
                                                      .rank = rank };
    return true;
}

bool candidates_add(struct candidates *c, int64_t id, double score,
                    const struct candidate_texts *texts)
{
    assert(c->n_lists > 0 && id > 0);
    if (!mem_grow(&c->at, &c->cap, c->n + 1, sizeof *c->at)) return false;
    c->at[c->n++] = (struct candidate){ .id = id, .score = score,
                                        .texts = texts };
    c->lists[c->n_lists - 1].n++;
    return true;
}

bool candidates_set_symbols(struct candidates *c, const uint32_t *at, size_t n,
                            uint32_t chars)
{
    struct candidate *it;

    assert(c->n > 0 && n <= UINT32_MAX);
    if (!mem_grow(&c->symbols, &c->symbols_cap, c->n_symbols + n + 1,
                  sizeof *c->symbols))
        return false;
    it = &c->at[c->n - 1];
    it->has_symbols = true;
    it->symbols_at = c->n_symbols;
    it->n_symbols = (uint32_t)n;
    it->chars = chars;
    if (n) memcpy(c->symbols + c->n_symbols, at, n * sizeof *at);
    c->n_symbols += n;
    return true;
}

bool candidates_sound(const struct candidates *c)
{
    size_t next = 0;

    for (size_t i = 0; i < c->n_lists; i++) {
        const struct candidate_list *l = &c->lists[i];

        if (l->begin != next || !l->memory) return false;
        next += l->n;
        for (size_t k = l->begin + 1; k < next; k++)
            if (c->at[k].score > c->at[k - 1].score) return false;
    }
    for (size_t i = 0; i < c->n; i++)
        if (!c->at[i].has_symbols && !c->at[i].texts) return false;
    return next == c->n;
}

/* ---- the interface ------------------------------------------------------- */

enum status source_find(struct pair_source *s, const struct source_query *q,
                        struct candidates *out, struct err *e)
{
    enum status st;

    candidates_reset(out);
    st = s->ops->find(s, q, out, e);
    PARANOID_CHECK(st || candidates_sound(out));
    return st;
}

enum status source_find_ties(struct pair_source *s,
                             const struct source_query *q, int64_t memory,
                             struct candidates *out, struct err *e)
{
    enum status st;

    candidates_reset(out);
    if (!s->ops->find_ties) return ST_OK;
    st = s->ops->find_ties(s, q, memory, out, e);
    PARANOID_CHECK(st || candidates_sound(out));
    return st;
}

enum status source_fetch(struct pair_source *s, const struct source_want *w,
                         size_t n, source_fetch_fn *fn, void *user,
                         struct err *e)
{
    return n ? s->ops->fetch(s, w, n, fn, user, e) : ST_OK;
}

enum status source_changes(struct pair_source *s, struct source_mark *mark,
                           source_change_fn *fn, void *user,
                           enum source_news *news, struct err *e)
{
    return s->ops->changes(s, mark, fn, user, news, e);
}

enum status source_memories(struct pair_source *s,
                            const struct memory_info **list, size_t *n,
                            struct err *e)
{
    return s->ops->memories(s, list, n, e);
}

uint64_t source_identity(struct pair_source *s)
{
    return s->ops->identity(s);
}
