/* segment.c - opens a segment, finds terms and documents in it, and marks
 * documents dead. Contents of the file are checked before they are used;
 * asserts are for arguments only. Scoring is in bm25.c. */
#include "tm/segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* The table that begins at head.user[which]; false: it is not within the
 * data. */
static bool find_table(struct segment *s, int which, uint64_t n, size_t size,
                       const void **out)
{
    uint64_t at = s->file.head.user[which];
    uint64_t bytes = s->file.head.data_bytes;

    if (at % 8 || at > bytes || n > (bytes - at) / size) return false;
    *out = s->file.data + at;
    return true;
}

static bool locate_tables(struct segment *s)
{
    const struct pagefile_head *h = &s->file.head;
    const void *p[5];

    s->number = (int64_t)h->user[SEG_NUMBER];
    s->n_docs = h->user32[SEG32_DOCS];
    s->n_terms = h->user32[SEG32_TERMS];
    s->n_classes = h->user32[SEG32_CLASSES];
    s->n_ids = h->user32[SEG32_IDS];
    s->n_runs = h->user32[SEG32_RUNS];
    s->words = h->user[SEG_WORDS];
    if (s->n_docs > SEGMENT_MAX_DOCS || s->n_classes > SEGMENT_MAX_CLASSES
        || !s->n_ids != !s->n_docs
        || !find_table(s, SEG_AT_IDS, s->n_ids, sizeof *s->ids, &p[0])
        || !find_table(s, SEG_AT_CLASSES, s->n_classes, sizeof *s->classes,
                       &p[1])
        || !find_table(s, SEG_AT_TERMS, (uint64_t)s->n_terms + 1,
                       sizeof *s->terms, &p[2])
        || !find_table(s, SEG_AT_RUNS, s->n_runs, sizeof *s->runs, &p[3])
        || !find_table(s, SEG_AT_POSTS, h->user[SEG_POST_BYTES], 1, &p[4]))
        return false;
    s->ids = p[0];
    s->classes = p[1];
    s->terms = p[2];
    s->runs = p[3];
    s->posts = p[4];
    return true;
}

/* Check the tables that are used without further checks: ids begin at document
 * 0, are not empty and ascend; no class has frequency 0. */
static bool check_small_tables(struct segment *s)
{
    const struct pagefile_head *h = &s->file.head;

    if (!pagefile_has(&s->file, h->user[SEG_AT_IDS],
                      s->n_ids * sizeof *s->ids)
        || !pagefile_has(&s->file, h->user[SEG_AT_CLASSES],
                         s->n_classes * sizeof *s->classes))
        return false;
    if (s->n_ids && s->ids[0].doc) return false;
    for (uint32_t i = 0; i < s->n_ids; i++) {
        uint32_t end = i + 1 < s->n_ids ? s->ids[i + 1].doc : s->n_docs;

        if (end <= s->ids[i].doc || s->ids[i].text < 0
            || s->ids[i].text > INT64_MAX - SEGMENT_MAX_DOCS)
            return false;
        if (i + 1 < s->n_ids
            && s->ids[i + 1].text < s->ids[i].text + (end - s->ids[i].doc))
            return false;
    }
    for (uint32_t i = 0; i < s->n_classes; i++)
        if (!s->classes[i].tf) return false;
    return true;
}

static enum status segment_finish(struct segment **out, struct segment *s,
                                  const char *path, struct err *e)
{
    if (!locate_tables(s) || !check_small_tables(s)) {
        segment_close(s);
        return err_set(e, ST_FORMAT, "%s is damaged", path);
    }
    s->impact = malloc((s->n_classes + 1) * sizeof *s->impact);
    if (!s->impact) {
        segment_close(s);
        return err_nomem(e, "index segment");
    }
    s->impact_for = -1;
    *out = s;
    return ST_OK;
}

enum status segment_open(struct segment **out, const char *path,
                         const struct seg_key *key, int64_t number,
                         uint64_t checksum, struct err *e)
{
    struct segment *s = calloc(1, sizeof *s);
    const struct pagefile_head *h;
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "index segment");
    st = pagefile_open(&s->file, path, SEGMENT_MAGIC, SEGMENT_VERSION, e);
    if (st) {
        free(s);
        return st == ST_NOMEM ? st : ST_FORMAT;
    }
    h = &s->file.head;
    if (h->sum != checksum || h->user[SEG_UUID] != key->uuid
        || h->user[SEG_ANALYZER] != key->analyzer
        || h->user[SEG_NUMBER] != (uint64_t)number
        || h->user[SEG_MEMORY] != (uint64_t)key->memory) {
        segment_close(s);
        return err_set(e, ST_FORMAT, "%s belongs to another index", path);
    }
    return segment_finish(out, s, path, e);
}

enum status segment_adopt(struct segment **out,
                          const struct pagefile_head *head, uint8_t *data,
                          uint64_t n, struct err *e)
{
    struct segment *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s) {
        free(data);
        return err_nomem(e, "index segment");
    }
    pagefile_adopt(&s->file, head, data, n);
    return segment_finish(out, s, "the index in memory", e);
}

void segment_close(struct segment *s)
{
    if (!s) return;
    pagefile_close(&s->file);
    free(s->dead);
    free(s->impact);
    free(s);
}

/* ---- lookup -------------------------------------------------------------- */

static bool term_at(struct segment *s, uint32_t i, const struct seg_term **t)
{
    uint64_t at = s->file.head.user[SEG_AT_TERMS] + i * sizeof **t;

    assert(i <= s->n_terms);
    *t = &s->terms[i];
    return pagefile_has(&s->file, at, sizeof **t);
}

/* Interpolation search: hashes are evenly spread. Every third step halves the
 * range, which bounds the number of steps for uneven hashes too. */
static bool search_term(struct segment *s, uint64_t hash, uint32_t *out,
                        bool *found)
{
    uint32_t lo = 0, hi = s->n_terms;   /* the term is in [lo, hi) or absent */
    uint64_t lo_hash = 0, hi_hash = UINT64_MAX;

    *found = false;
    for (int step = 0; lo < hi; step++) {
        const struct seg_term *t;
        uint32_t mid = lo + (hi - lo) / 2;

        if (step % 3 != 2 && hi_hash > lo_hash)
            mid = lo + (uint32_t)((double)(hi - lo)
                                  * ((double)(hash - lo_hash)
                                     / (double)(hi_hash - lo_hash)));
        if (mid >= hi) mid = hi - 1;
        if (!term_at(s, mid, &t)) return false;
        if (t->hash == hash) {
            *out = mid;
            *found = true;
            return true;
        }
        if (t->hash < hash) {
            lo = mid + 1;
            lo_hash = t->hash;
        } else {
            hi = mid;
            hi_hash = t->hash;
        }
    }
    return true;
}

/* Term i's posting list, after checking that its runs ascend and that its
 * postings lie within the table. False: damaged. */
static bool segment_read_list(struct segment *s, uint32_t i,
                              struct seg_list *out)
{
    const struct pagefile_head *h = &s->file.head;
    const struct seg_term *t, *next;
    uint64_t bytes = 0, df = 0;
    uint32_t n_blocks = (s->n_docs + BLOCK_DOCS - 1) / BLOCK_DOCS;
    int last = -1;

    assert(i < s->n_terms);
    if (!term_at(s, i, &t) || !term_at(s, i + 1, &next)) return false;
    if (t->run >= next->run || next->run > s->n_runs
        || !pagefile_has(&s->file, h->user[SEG_AT_RUNS]
                         + (uint64_t)t->run * sizeof *s->runs,
                         (uint64_t)(next->run - t->run) * sizeof *s->runs))
        return false;
    out->runs = s->runs + t->run;
    out->n_runs = next->run - t->run;
    for (uint32_t r = 0; r < out->n_runs; r++) {
        int block = out->runs[r].block & ~RUN_WIDE;

        if (block <= last || (uint32_t)block >= n_blocks) return false;
        last = block;
        bytes += run_bytes(out->runs[r]);
        df += run_count(out->runs[r]);
    }
    if (t->post > next->post || (next->post - (uint64_t)t->post) * 2 != bytes
        || next->post * (uint64_t)2 > h->user[SEG_POST_BYTES]
        || !pagefile_has(&s->file, h->user[SEG_AT_POSTS]
                         + (uint64_t)t->post * 2, bytes))
        return false;
    out->posts = s->posts + (uint64_t)t->post * 2;
    out->df = (uint32_t)df;
    return true;
}

bool segment_find(struct segment *s, uint64_t hash, struct seg_list *out)
{
    uint32_t i;
    bool found;

    memset(out, 0, sizeof *out);
    if (!search_term(s, hash, &i, &found)) return false;
    return !found || segment_read_list(s, i, out);
}

bool segment_sound(struct segment *s)
{
    uint64_t before = 0;

    if (!pagefile_has(&s->file, 0, s->file.head.data_bytes)) return false;
    for (uint32_t i = 0; i < s->n_terms; i++) {
        struct seg_list list;

        if (i && s->terms[i].hash <= before) return false;
        before = s->terms[i].hash;
        if (!segment_read_list(s, i, &list)) return false;
    }
    return true;
}

int64_t segment_text(const struct segment *s, uint32_t doc)
{
    uint32_t lo = 0, hi = s->n_ids;

    assert(doc < s->n_docs);
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (s->ids[mid].doc <= doc) lo = mid;
        else hi = mid;
    }
    return s->ids[lo].text + (doc - s->ids[lo].doc);
}

bool segment_doc(const struct segment *s, int64_t text, uint32_t *doc)
{
    uint32_t lo = 0, hi = s->n_ids, end;

    if (!hi || text < s->ids[0].text) return false;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (s->ids[mid].text <= text) lo = mid;
        else hi = mid;
    }
    end = lo + 1 < s->n_ids ? s->ids[lo + 1].doc : s->n_docs;
    if (text - s->ids[lo].text >= (int64_t)(end - s->ids[lo].doc))
        return false;
    *doc = s->ids[lo].doc + (uint32_t)(text - s->ids[lo].text);
    assert(*doc < s->n_docs);
    return true;
}

bool segment_dead_sound(const struct segment *s)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < s->n_docs; d++) n += segment_is_dead(s, d);
    return n == s->n_dead && (n || !s->first_dead);
}

bool segment_mark_deleted(struct segment *s, uint32_t doc)
{
    assert(doc < s->n_docs && !segment_is_dead(s, doc));
    if (!s->dead) s->dead = calloc(s->n_docs / 64 + 1, sizeof *s->dead);
    if (!s->dead) return false;
    s->dead[doc / 64] |= (uint64_t)1 << doc % 64;
    s->n_dead++;
    assert(s->n_dead <= s->n_docs);
    return true;
}

void segment_clear_deleted(struct segment *s)
{
    free(s->dead);
    s->dead = NULL;
    s->n_dead = 0;
    s->first_dead = 0;
}
