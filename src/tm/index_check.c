/* index_check.c - verifies the files of the index byte by byte, and compares
 * the index with the store posting by posting. It repairs nothing.
 *
 * For the comparison, a hash is summed over all (term, text, frequency) of the
 * index and over those of the store. The sum does not depend on the order, and
 * it differs when a posting is missing, superfluous or wrong. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tm/index_internal.h"

/* ---- files --------------------------------------------------------------- */

struct file_check {
    const char *dir;
    struct problems found;
};

static void file_problem(struct file_check *c, const char *path)
{
    problems_add(&c->found, "%s is damaged; run 'skmt tm rebuild' to write it "
                 "again", path);
}

static enum status check_symbol_file(struct file_check *c,
                                     const struct segment *seg,
                                     uint64_t tokenizer, struct err *e)
{
    char *path = symbol_path(c->dir, seg->number, tokenizer);
    struct symfile *f = NULL;
    enum status st = path ? symfile_open(&f, path, seg, tokenizer, e)
                          : err_nomem(e, "index");

    if (st == ST_FORMAT && access(path, F_OK)) st = ST_OK; /* removed since */
    else if (st == ST_FORMAT || (!st && !symfile_sound(f))) {
        file_problem(c, path);
        st = ST_OK;
    }
    symfile_close(f);
    free(path);
    return st;
}

static enum status check_segment_file(struct file_check *c,
                                      const struct indexed_segment *is,
                                      uint64_t uuid, struct err *e)
{
    struct seg_key key = { uuid, is->analyzer, is->memory };
    uint64_t tokenizers[TOKENIZERS_MAX];
    char *path = segment_path(c->dir, is->row.number);
    struct segment *seg = NULL;
    size_t n;
    enum status st = path ? segment_open(&seg, path, &key, is->row.number,
                                         is->row.checksum, e)
                          : err_nomem(e, "index");

    if (st == ST_FORMAT && access(path, F_OK)) {
        free(path);
        return ST_OK;
    }
    if (st == ST_FORMAT || (!st && !segment_sound(seg))) {
        file_problem(c, path);
        st = ST_OK;
    }
    free(path);
    n = !st && seg ? segment_tokenizers(c->dir, seg->number, tokenizers) : 0;
    for (size_t i = 0; !st && i < n; i++)
        st = check_symbol_file(c, seg, tokenizers[i], e);
    segment_close(seg);
    return st;
}

enum status index_check_files(struct store *s, problem_fn *fn, void *user,
                              int *n_problems, struct err *e)
{
    struct file_check c = { .dir = index_dir(store_path(s)),
                            .found = { .fn = fn, .user = user } };
    struct indexed_segment *list = NULL;
    size_t n = 0;
    enum status st = c.dir ? store_index_segments(s, &list, &n, e)
                           : err_nomem(e, "index");

    for (size_t i = 0; !st && i < n; i++)
        st = check_segment_file(&c, &list[i], store_uuid(s), e);
    if (!st) err_clear(e);
    *n_problems += c.found.n;
    free(list);
    free((char *)(uintptr_t)c.dir);
    return st;
}

/* ---- the index against the store ----------------------------------------- */

struct index_tally { uint64_t docs, words, sum; };   /* sum: of hashes */

struct index_check_context {
    struct index *ix;
    struct problems found;
    struct index_tally tally;
    enum status st;
    struct err *e;
};

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 31) * 0x9FB21C651E98DF25u;
    v = (v ^ v >> 29) * 0xD6E8FEB86659FD93u;
    return v ^ v >> 32;
}

static void index_check_count(struct index_tally *t, uint64_t term,
                              int64_t text, uint32_t tf)
{
    t->sum += mix(mix(term) + mix((uint64_t)text) * 3 + tf);
    t->words += tf;
}

static void count_run(struct index_tally *t, const struct segment *s,
                      uint64_t hash, struct seg_run run, const uint8_t *p)
{
    uint32_t n = run_count(run), base = (run.block & ~RUN_WIDE) * BLOCK_DOCS;
    const uint8_t *cls = p + 2 * (size_t)n;

    for (uint32_t k = 0; k < n; k++) {
        uint16_t low, class = cls[k];

        memcpy(&low, p + 2 * (size_t)k, 2);
        if (run.block & RUN_WIDE) memcpy(&class, cls + 2 * (size_t)k, 2);
        /* A posting out of range makes the sums differ. */
        if (base + low >= s->n_docs || class >= s->n_classes) t->sum++;
        else if (!segment_is_dead(s, base + low))
            index_check_count(t, hash, segment_text(s, base + low),
                              s->classes[class].tf);
    }
}

static void count_segment(struct index_check_context *c, struct segment *s)
{
    if (!segment_sound(s)) {
        problems_add(&c->found, "index segment %016" PRIx64 " is damaged",
                     (uint64_t)s->number);
        return;
    }
    c->tally.docs += s->n_docs - s->n_dead;
    for (uint32_t i = 0; i < s->n_terms; i++) {
        const struct seg_term *t = &s->terms[i];
        const uint8_t *p = s->posts + (uint64_t)t->post * 2;

        for (uint32_t r = t->run; r < t[1].run; r++) {
            count_run(&c->tally, s, t->hash, s->runs[r], p);
            p += run_bytes(s->runs[r]);
        }
    }
}

static void count_tail(struct index_tally *tally, const struct tail *t)
{
    for (size_t i = 0; t->heads.slots && i <= t->heads.mask; i++) {
        const struct map64_slot *slot = &t->heads.slots[i];
        uint32_t at = slot->used ? slot->value : 0;

        for (; at; at = t->posts[at - 1].next) {
            const struct tail_post *p = &t->posts[at - 1];

            if (!t->docs[p->doc].dead)
                index_check_count(tally, slot->key, t->docs[p->doc].text,
                                  p->tf);
        }
    }
    tally->docs += t->n_live;
}

static int index_check_by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

static int count_text(void *user, const struct change *ch)
{
    struct index_check_context *c = user;
    struct index *ix = c->ix;
    struct terms *t = &ix->terms;
    struct str plain;

    c->st = plain_source(&ix->plain, ch->source, ch->tagged, &plain, c->e);
    if (!c->st) c->st = analyze(&ix->a, plain, t, c->e);
    if (c->st) return 1;
    qsort(t->at, t->n, sizeof *t->at, index_check_by_value);
    for (size_t i = 0, k; i < t->n; i = k) {
        for (k = i + 1; k < t->n && t->at[k] == t->at[i]; k++) ;
        index_check_count(&c->tally, t->at[i], ch->text, (uint32_t)(k - i));
    }
    if (++c->tally.docs % 4096 == 0
        && index_progress(ix, "checking", c->tally.docs, 0)) {
        c->st = err_set(c->e, ST_CANCELED, "stopped while checking");
        return 1;
    }
    return 0;
}

/* The caller's transaction makes both sides of the same moment. */
static enum status index_check_compare(struct index_check_context *c,
                                       struct err *e)
{
    struct index *ix = c->ix;
    struct index_tally of_index;
    enum status st = index_refresh(ix, e);

    if (st) return st;
    for (size_t i = 0; i < ix->n_segs; i++) count_segment(c, ix->segs[i]);
    count_tail(&c->tally, &ix->tail);
    of_index = c->tally;
    c->tally = (struct index_tally){ 0 };
    st = store_scan(ix->s, ix->key.memory, count_text, c, e);
    if (c->st) st = c->st;
    if (st || c->found.n) return st;
    if (of_index.docs != c->tally.docs)
        problems_add(&c->found, "the index has %" PRIu64 " texts, the store "
                     "has %" PRIu64, of_index.docs, c->tally.docs);
    else if (of_index.words != c->tally.words
             || of_index.sum != c->tally.sum)
        problems_add(&c->found, "the words in the index differ from the words "
                     "of the texts in the store");
    return ST_OK;
}

enum status index_check(struct index *ix, problem_fn *fn, void *user,
                        int *n_problems, struct err *e)
{
    struct index_check_context c = { .ix = ix, .e = e,
                          .found = { .fn = fn, .user = user } };
    struct err ignored;
    /* A build is not possible inside the transaction: refresh before it. */
    enum status st = index_refresh(ix, e);

    if (!st) st = store_begin_read(ix->s, e);
    if (st) return st;
    st = index_check_compare(&c, e);
    store_commit(ix->s, &ignored);
    *n_problems += c.found.n;
    return st;
}
