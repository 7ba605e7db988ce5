/* plan_rows.c - fills in the rows of a plan. Maps that would keep all rows in
 * order are left out, because reading rows in order is faster. */
#include "convert/plan_rows.h"

#include <stdlib.h>

#include "base/invariant.h"

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* The rows of n ids, in malloc memory. NULL: out of memory. */
static int32_t *map_side(const struct plan_side *s, int32_t n)
{
    int32_t *row = malloc((size_t)n * sizeof *row);

    for (int32_t i = 0; i < n && row; i++)
        row[i] = i < s->rows ? i : i < s->pieces ? s->unk : -1;
    return row;
}

static bool make_maps(struct model_plan *p, const struct plan_side *source,
                      const struct plan_side *target, int32_t n)
{
    struct plan_side both = *source;

    if (n == source->rows && n == target->rows) return true;
    /* A shared table has all ids of both sides. */
    both.pieces = larger(source->pieces, target->pieces);
    p->source_row = map_side(p->shared_table ? &both : source, n);
    if (!p->shared_table) p->target_row = map_side(target, n);
    return p->source_row && (p->shared_table || p->target_row);
}

static bool make_barred(struct model_plan *p, const struct plan_side *target,
                        int32_t n)
{
    p->barred = calloc((size_t)n, sizeof *p->barred);
    for (int32_t i = target->rows; i < n && p->barred; i++) p->barred[i] = 1;
    return p->barred != NULL;
}

enum status plan_rows(struct model_plan *p, const struct plan_side *source,
                      const struct plan_side *target, bool zero_row,
                      struct err *e)
{
    int32_t n = source->pieces;

    if (!target) target = source;
    n = larger(n, target->pieces) + zero_row;
    assert(!p->source_row && !p->target_row && !p->barred);
    assert(source->rows <= source->pieces && source->unk < source->rows);
    assert(target->rows <= target->pieces && target->unk < target->rows);
    assert(!p->shared_table || (source->rows == target->rows &&
                                source->unk == target->unk));
    p->cfg.vocab_size = n;
    p->cfg.unk_id = target->unk;
    if (zero_row) p->cfg.start_id = p->cfg.pad_id = n - 1;
    if (make_maps(p, source, target, n) && make_barred(p, target, n))
        return ST_OK;
    return err_nomem(e, "the rows of the tables");
}

void plan_bar(struct model_plan *p, int32_t id)
{
    assert(p->barred && id >= 0 && id < p->cfg.vocab_size);
    p->barred[id] = 1;
}
