/* datastore_file_check.c - verifies what opening a datastore file does not: the
 * keys, whether norms belong to them, and whether ids belong to texts. It
 * reports at most one problem of each sort for a block. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "knn/datastore_file_internal.h"
#include "tensor/tensor.h"

struct check_context {
    const struct datastore_file *f;
    struct problems problems;
    int8_t *row;                /* [d padded to 4] */
};

/* ---- keys ---------------------------------------------------------------- */

static bool int8_key_sound(struct check_context *c,
                           const struct entry_block *b, int i, float norm)
{
    int d = c->f->s.d, padded = pad_to(d, 4);
    int32_t sum = 0;

    datastore_key_unpack(b->keys, i, padded, c->row);
    for (int k = 0; k < padded; k++) {
        if (c->row[k] == INT8_MIN || (k >= d && c->row[k])) return false;
        sum += c->row[k];
    }
    if (b->comp[i] != 128 * sum) return false;
    return norm == INFINITY ? !sum
                            : norm == datastore_norm_int8(c->row, d,
                                                          b->scale[i]);
}

static bool f16_key_sound(const struct check_context *c,
                          const struct entry_block *b, int i, float norm)
{
    int d = c->f->s.d, ld = pad_to(d, 32);
    const uint16_t *row = (const uint16_t *)b->keys + (size_t)i * (size_t)ld;

    for (int k = d; k < ld; k++)
        if (row[k]) return false;
    return norm == INFINITY ? datastore_norm_f16(row, d) == 0
                            : norm == datastore_norm_f16(row, d);
}

/* Compare the norms with the keys. The norms are those of the file, also for
 * deleted pairs. Padding is a key of zeros. */
static void check_norms(struct check_context *c, const struct entry_block *b,
                        const struct datastore_part_block *more)
{
    const float *norm = (const void *)((const char *)more->head +
                                       more->layout.at[PART_NORM]);

    for (int i = 0; i < pad_to(b->n, ENTRY_PANEL); i++) {
        bool sound = c->f->s.type == ENTRY_INT8
            ? int8_key_sound(c, b, i, norm[i])
            : f16_key_sound(c, b, i, norm[i]);

        if (sound) continue;
        problems_add(&c->problems, "the block at byte %" PRIu64 ": the norm "
                     "of entry %d does not belong to its key", more->head->at,
                     i);
        return;
    }
}

static void check_keys(struct check_context *c, const struct entry_block *b,
                       const struct datastore_part_block *more)
{
    const struct datastore_block *h = more->head;
    uint64_t at = more->layout.at[PART_KEYS];

    if (datastore_sum((const char *)h + at, h->bytes - at) == h->key_sum)
        check_norms(c, b, more);
    else
        problems_add(&c->problems, "the block at byte %" PRIu64 ": its keys "
                     "have changed since they were written (their checksum "
                     "is wrong)", h->at);
}

/* ---- pairs --------------------------------------------------------------- */

static void check_ids(struct check_context *c, const struct entry_block *b)
{
    const struct entries *s = &c->f->s;

    for (int32_t p = b->first_pair; p < b->first_pair + b->n_pairs; p++) {
        struct entry_pair texts = s->ops->pair(s, p);
        struct key_id want = key_id_of_pair(texts.source, texts.target),
                      got = datastore_file_pair_id(s, p);

        if (!key_id_compare(&want, &got)) continue;
        problems_add(&c->problems, "pair %" PRId32 ": its id does not belong "
                     "to its texts", p);
        return;
    }
}

/* Look for pairs that are stored twice. */
static enum status check_distinct(struct check_context *c, struct err *e)
{
    const struct entries *s = &c->f->s;
    struct key_id *ids = malloc(((size_t)s->n_pairs + 1) * sizeof *ids);
    size_t n = 0, twice = 0;

    if (!ids) return err_nomem(e, c->f->name);
    for (int32_t p = 0; p < s->n_pairs; p++)
        if (!c->f->deleted[p]) ids[n++] = datastore_file_pair_id(s, p);
    qsort(ids, n, sizeof *ids, key_id_compare);
    for (size_t i = 1; i < n; i++) twice += !key_id_compare(&ids[i - 1],
                                                            &ids[i]);
    free(ids);
    if (twice)
        problems_add(&c->problems, "%zu pairs are stored more than once",
                     twice);
    return ST_OK;
}

/* ---- the file ------------------------------------------------------------ */

static void check_slots(struct check_context *c)
{
    for (int i = 0; i < 2; i++)
        if (!c->f->slot_valid[i])
            problems_add(&c->problems, "copy %d of the header is damaged; the "
                         "next change of the datastore repairs it", i + 1);
}

static enum status check_blocks(struct check_context *c,
                                tm_progress_fn *progress, void *user,
                                struct err *e)
{
    const struct entries *s = &c->f->s;

    for (int i = 0; i < s->n_blocks; i++) {
        const struct datastore_part_block *more = &c->f->parts[i];

        check_keys(c, &s->blocks[i], more);
        check_ids(c, &s->blocks[i]);
        if (progress &&
            progress(user, "checking", more->head->at + more->head->bytes,
                     c->f->head.size,
                     (uint64_t)(s->blocks[i].first_pair +
                                s->blocks[i].n_pairs)))
            return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    }
    return ST_OK;
}

enum status datastore_file_check(const struct entries *s, problem_fn *fn,
                                 void *user, tm_progress_fn *progress,
                                 void *progress_user, int *n, struct err *e)
{
    struct check_context c = { .f = datastore_file_of(s),
                               .problems = { fn, user, 0 } };
    enum status st;

    if (n) *n = 0;
    c.row = malloc((size_t)s->d + 4);
    if (!c.row) return err_nomem(e, c.f->name);
    check_slots(&c);
    st = check_blocks(&c, progress, progress_user, e);
    if (!st) st = check_distinct(&c, e);
    free(c.row);
    if (n) *n = c.problems.n;
    return st;
}
