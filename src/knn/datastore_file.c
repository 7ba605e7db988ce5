/* datastore_file.c - maps a datastore file and checks all of it but the keys.
 *
 * The checks go from the outside in. Is this a datastore of this version, and
 * complete? Does it belong to this model? Do the blocks follow each other from
 * the slots to the end, each with the right checksum of its arrays? Are all
 * numbers in these arrays in range? No number is used before that.
 *
 * A deleted pair keeps its place. Its entries get an infinite norm, so that no
 * search finds them, in a copy of the array: the mapping is never written. */
#include "knn/datastore_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "knn/datastore_file_internal.h"
#include "knn/ivfpq.h"
#include "tensor/tensor.h"
#include "text/utf8.h"

/* ---- errors -------------------------------------------------------------- */

static enum status damaged_block(const struct datastore_file *f, uint64_t at,
                                 const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s is damaged: the block at byte %" PRIu64
                   " %s; restore the file or build it again", f->name, at,
                   what);
}

static enum status damaged_header(const struct datastore_file *f,
                                  const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s is damaged: the header has another "
                   "number of %s than the blocks; restore the file or build "
                   "it again", f->name, what);
}

/* ---- arrays of a block --------------------------------------------------- */

static const void *part_of(const struct datastore_block *b,
                           const struct datastore_layout *l,
                           enum datastore_part part)
{
    return l->bytes[part] ? (const char *)b + l->at[part] : NULL;
}

static bool ids_below(const int32_t *id, size_t n, uint32_t limit)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++)
        if ((uint32_t)id[i] > most) most = (uint32_t)id[i];
    return most < limit;
}

/* Whether all numbers are at least 0 and not NaN; and finite, unless
 * `infinite`. */
static bool numbers_fit(const float *x, size_t n, bool infinite)
{
    bool fit = true;

    for (size_t i = 0; i < n; i++)
        fit &= x[i] >= 0 && (infinite || x[i] < INFINITY);
    return fit;
}

static bool padding_fits(const struct entry_block *b)
{
    for (int i = b->n; i < pad_to(b->n, ENTRY_PANEL); i++)
        if (b->token[i] || b->pair[i] || b->pos[i] || b->norm[i] < INFINITY)
            return false;
    return true;
}

/* Whether the entries of the pairs follow each other and fill the block. */
static bool spans_fit(const struct entry_block *b)
{
    uint32_t at = 0;

    for (int p = 0; p < b->n_pairs; p++) {
        struct entry_span span = b->span[p];

        if (span.first != at || span.n > (uint32_t)b->n - at) return false;
        at += span.n;
        for (uint32_t i = span.first; i < at; i++)
            if (b->pair[i] != p ||
                (i > span.first && b->pos[i] <= b->pos[i - 1]))
                return false;
    }
    return at == (uint32_t)b->n;
}

static bool texts_fit(const struct entry_block *b,
                      const struct datastore_part_block *more)
{
    uint64_t at = 0, end = more->head->text_bytes;

    if (!more->text) return false;
    for (int p = 0; p < b->n_pairs; p++) {
        const struct datastore_pair *it = &more->pairs[p];
        uint64_t s = it->source_bytes, t = it->target_bytes;
        const char *text = more->text + at;

        if (it->text != at || s + t + 2 > end - at) return false;
        if (text[s] || text[s + 1 + t] || utf8_check(text, s) != s ||
            utf8_check(text + s + 1, t) != t)
            return false;
        at += s + t + 2;
    }
    return at == end;
}

/* Whether the links of source tokens [from, to) lead to entries of the pair. */
static bool links_fit(const struct entry_block *b, uint32_t from, uint32_t to,
                      struct entry_span span)
{
    for (uint32_t i = from; i < to; i++) {
        if (b->link_begin[i] > b->link_begin[i + 1]) return false;
        for (uint32_t k = b->link_begin[i]; k < b->link_begin[i + 1]; k++)
            if (b->link[k] - span.first >= span.n) return false;
    }
    return true;
}

static bool sources_fit(const struct datastore_file *f,
                        const struct entry_block *b,
                        const struct datastore_part_block *more)
{
    uint32_t at = 0, n = (uint32_t)b->n_src;

    if (!more->first_src) return true;
    if (!ids_below(b->src_token, n, f->head.vocab) ||
        !numbers_fit(b->src_scale, n, false))
        return false;
    for (uint32_t i = 0; i <= n; i++)
        if (b->link_begin[i] > more->head->n_links) return false;
    if (b->link_begin[0] || b->link_begin[n] != more->head->n_links)
        return false;
    for (int p = 0; p < b->n_pairs; p++) {
        uint32_t some = more->pairs[p].n_src;

        if (some > n - at || !links_fit(b, at, at + some, b->span[p]))
            return false;
        more->first_src[p] = at;
        at += some;
    }
    return at == n;
}

/* Returns what is wrong with a block of entries, or NULL. */
static const char *entries_fit(const struct datastore_file *f,
                               const struct entry_block *b,
                               const struct datastore_part_block *more)
{
    size_t np = (size_t)pad_to(b->n, ENTRY_PANEL);

    if (!ids_below(b->token, np, f->head.vocab)) return "has a wrong token";
    if (!numbers_fit(b->norm, np, true) ||
        (b->scale && !numbers_fit(b->scale, np, false)) ||
        (b->log_weight && !numbers_fit(b->log_weight, np, false)))
        return "has a wrong norm, scale or weight";
    if (!padding_fits(b) || !spans_fit(b)) return "has entries out of order";
    if (!texts_fit(b, more)) return "has wrong texts";
    if (!sources_fit(f, b, more)) return "has wrong source tokens or links";
    return NULL;
}

/* Set the pointers of a block. */
static void block_set(const struct datastore_file *f,
                      const struct datastore_block *h,
                      const struct datastore_layout *l, struct entry_block *b)
{
    *b = (struct entry_block){
        .n = (int)h->n,
        .keys = part_of(h, l, PART_KEYS),
        .scale = part_of(h, l, PART_SCALE),
        .comp = part_of(h, l, PART_COMP),
        .norm = part_of(h, l, PART_NORM),
        .token = part_of(h, l, PART_TOKEN),
        .pair = part_of(h, l, PART_PAIR),
        .pos = part_of(h, l, PART_POS),
        .log_weight = part_of(h, l, PART_LOG_WEIGHT),
        .first_pair = (int32_t)h->first_pair,
        .n_pairs = (int)h->n_pairs,
        .span = part_of(h, l, PART_SPAN),
        .n_src = (int)h->n_src,
        .src_keys = part_of(h, l, PART_SRC_KEYS),
        .src_scale = part_of(h, l, PART_SRC_SCALE),
        .src_token = part_of(h, l, PART_SRC_TOKEN),
        .link_begin = part_of(h, l, PART_LINK_BEGIN),
        .link = part_of(h, l, PART_LINK),
    };
    assert(!h->n_src || f->head.flags & DATASTORE_SOURCES);
}

/* ---- kinds of blocks ----------------------------------------------------- */

static enum status take_entries(struct datastore_file *f,
                                const struct datastore_block *h,
                                const struct datastore_layout *l,
                                struct err *e)
{
    struct entry_block *b = &f->s.blocks[f->s.n_blocks];
    struct datastore_part_block *more = &f->parts[f->s.n_blocks];
    const char *wrong;

    if (h->first_pair != (uint32_t)f->s.n_pairs ||
        h->n_pairs > f->head.pairs - (uint32_t)f->s.n_pairs || !h->n_pairs)
        return damaged_block(f, h->at, "has pairs out of order", e);
    block_set(f, h, l, b);
    *more = (struct datastore_part_block){
        .head = h, .layout = *l, .pairs = part_of(h, l, PART_PAIRS),
        .text = part_of(h, l, PART_TEXT) };
    f->s.n_blocks++;
    if (f->s.has_sources) {
        more->first_src = calloc((size_t)b->n_pairs, sizeof *more->first_src);
        if (!more->first_src) return err_nomem(e, f->name);
    }
    wrong = entries_fit(f, b, more);
    if (wrong) return damaged_block(f, h->at, wrong, e);
    for (int i = 0; i < b->n; i++) f->s.n += b->norm[i] < INFINITY;
    f->s.n_pairs += b->n_pairs;
    return ST_OK;
}

/* Copy the arrays of a block that a deletion changes. */
static bool own_block(struct datastore_file *f, int at)
{
    struct datastore_part_block *more = &f->parts[at];
    struct entry_block *b = &f->s.blocks[at];
    size_t norm = more->layout.bytes[PART_NORM],
           span = more->layout.bytes[PART_SPAN];

    if (more->span) return true;
    free(more->norm);           /* of an attempt that ran out of memory */
    more->norm = malloc(norm ? norm : 1);
    if (!more->norm) return false;
    more->span = malloc(span);
    if (!more->span) return false;
    if (norm) memcpy(more->norm, b->norm, norm);
    memcpy(more->span, b->span, span);
    b->norm = more->norm;
    b->span = more->span;
    return true;
}

static enum status delete_pair(struct datastore_file *f, int32_t pair,
                               struct err *e)
{
    int at = (int)(entries_block_of(&f->s, pair) - f->s.blocks);
    struct datastore_part_block *more = &f->parts[at];
    struct entry_span *span;

    if (!own_block(f, at)) return err_nomem(e, f->name);
    span = &more->span[pair - f->s.blocks[at].first_pair];
    for (uint32_t i = 0; i < span->n; i++) {
        f->s.n -= more->norm[span->first + i] < INFINITY;
        more->norm[span->first + i] = INFINITY;
    }
    span->n = 0;
    f->deleted[pair] = true;
    return ST_OK;
}

static enum status take_deleted(struct datastore_file *f,
                                const struct datastore_block *h,
                                const struct datastore_layout *l,
                                struct err *e)
{
    const uint32_t *list = part_of(h, l, PART_LIST);
    enum status st = ST_OK;

    for (uint32_t i = 0; !st && i < h->n; i++) {
        if (list[i] >= (uint32_t)f->s.n_pairs || f->deleted[list[i]])
            return damaged_block(f, h->at, "deletes a pair that does not "
                                 "exist", e);
        st = delete_pair(f, (int32_t)list[i], e);
    }
    return st;
}

static enum status take_map(struct datastore_file *f,
                            const struct datastore_block *h,
                            const struct datastore_layout *l, struct err *e)
{
    const float *mean = part_of(h, l, PART_MEAN),
                *matrix = part_of(h, l, PART_MATRIX);
    size_t from = f->head.d_model, n = from * f->head.d;
    bool finite = true;

    if (f->s.map || f->s.n_blocks || !(f->head.flags & DATASTORE_MAP))
        return damaged_block(f, h->at, "is a map in the wrong place", e);
    for (size_t i = 0; i < from; i++) finite &= isfinite(mean[i]);
    for (size_t i = 0; i < n; i++) finite &= isfinite(matrix[i]);
    if (!finite)
        return damaged_block(f, h->at, "is a map with a number that is not "
                             "finite", e);
    f->pca = (struct entry_map){ (int)from, (int)f->head.d, mean, matrix };
    f->s.map = &f->pca;
    return ST_OK;
}

static enum status take_block(struct datastore_file *f,
                              const struct datastore_block *h, uint64_t at,
                              struct err *e)
{
    struct datastore_layout l;

    if (memcmp(h->magic, DATASTORE_BLOCK_MAGIC, sizeof h->magic) ||
        datastore_block_sum(h) != h->sum || h->at != at ||
        h->store != f->head.store)
        return damaged_block(f, at, "does not begin like a block", e);
    if (!datastore_layout_of(&f->head, h, &l) || l.total != h->bytes ||
        h->bytes > f->head.size - at)
        return damaged_block(f, at, "has a wrong size", e);
    if (datastore_sum((const char *)h + sizeof *h,
                      l.at[PART_KEYS] - sizeof *h) != h->table_sum)
        return damaged_block(f, at, "has changed since it was written (its "
                             "checksum is wrong)", e);
    switch (h->kind) {
    case DATASTORE_ENTRIES: return take_entries(f, h, &l, e);
    case DATASTORE_DELETED: return take_deleted(f, h, &l, e);
    default: return take_map(f, h, &l, e);
    }
}

/* ---- the file ------------------------------------------------------------ */

/* Allocate the arrays that the header determines, if the file is large enough
 * for what the header claims. */
static enum status datastore_file_room(struct datastore_file *f, struct err *e)
{
    const struct datastore_header *h = &f->head;
    uint64_t room = h->size - DATASTORE_SLOTS;

    if (h->blocks > room / DATASTORE_PAGE ||
        h->pairs > room / sizeof(struct datastore_pair))
        return damaged_header(f, "blocks or pairs", e);
    f->s.blocks = calloc((size_t)h->blocks + 1, sizeof *f->s.blocks);
    f->parts = calloc((size_t)h->blocks + 1, sizeof *f->parts);
    f->deleted = calloc((size_t)h->pairs + 1, sizeof *f->deleted);
    return f->s.blocks && f->parts && f->deleted ? ST_OK
                                                 : err_nomem(e, f->name);
}

static enum status take_blocks(struct datastore_file *f, struct err *e)
{
    const struct datastore_header *h = &f->head;
    uint64_t at = DATASTORE_SLOTS, entries = 0;
    uint32_t n = 0, deleted = 0;
    enum status st = ST_OK;

    while (!st && at < h->size && n < h->blocks) {
        const struct datastore_block *b = (const void *)(f->map.data + at);

        st = take_block(f, b, at, e);
        if (st) return st;
        if (b->kind == DATASTORE_ENTRIES) entries += b->n;
        if (b->kind == DATASTORE_DELETED) deleted += b->n;
        at += b->bytes;
        n++;
    }
    if (at != h->size || n != h->blocks) return damaged_header(f, "blocks", e);
    if ((uint32_t)f->s.n_pairs != h->pairs || deleted != h->deleted)
        return damaged_header(f, "pairs", e);
    if (entries != h->entries) return damaged_header(f, "entries", e);
    if (h->flags & DATASTORE_MAP && !f->s.map &&
        (n || !(h->flags & DATASTORE_BUILDING)))
        return damaged_header(f, "maps", e);
    return ST_OK;
}

static enum status check_fits(const struct datastore_file *f,
                              const struct datastore_model *m, bool unfinished,
                              struct err *e)
{
    const struct datastore_header *h = &f->head;

    if (m && h->model != m->id)
        return err_set(e, ST_VERSION, "%s was made with another model; build "
                       "a datastore with this one ('skmt knn build')",
                       f->name);
    if (m && (h->d_model != (uint32_t)m->d || h->vocab != (uint32_t)m->vocab))
        return err_set(e, ST_FORMAT, "%s is damaged: its sizes are not those "
                       "of the model; build it again", f->name);
    if (h->flags & DATASTORE_BUILDING && !unfinished)
        return err_set(e, ST_ARGUMENT, "%s is unfinished: building it was "
                       "interrupted; run the same 'skmt knn build' again to "
                       "continue", f->name);
    return ST_OK;
}

static struct entry_pair datastore_file_pair(const struct entries *s,
                                             int32_t pair)
{
    const struct datastore_file *f = datastore_file_of(s);
    const struct entry_block *b = entries_block_of(s, pair);
    const struct datastore_part_block *more = &f->parts[b - s->blocks];
    const struct datastore_pair *p = &more->pairs[pair - b->first_pair];
    const char *text = more->text + p->text;

    return (struct entry_pair){
        .source = { text, p->source_bytes },
        .target = { text + p->source_bytes + 1, p->target_bytes },
        .id = p->id, .deleted = f->deleted[pair] };
}

static void datastore_file_close(struct entries *s)
{
    struct datastore_file *f = datastore_file_of(s);

    for (int i = 0; i < s->n_blocks; i++) {
        free(f->parts[i].first_src);
        free(f->parts[i].norm);
        free(f->parts[i].span);
    }
    ivfpq_close(s->index);
    if (f->mapped) mapping_close(&f->map);
    free(s->blocks);
    free(f->parts);
    free(f->deleted);
    free(f->name);
    free(f);
}

static const struct entries_ops datastore_file_ops = {
    datastore_file_pair, datastore_file_close
};

static enum status datastore_file_new(struct datastore_file **out,
                                      const char *name, struct err *e)
{
    struct datastore_file *f = calloc(1, sizeof *f);

    *out = NULL;
    if (f) f->name = strdup(name);
    if (!f || !f->name) {
        free(f);
        return err_nomem(e, name);
    }
    f->s.ops = &datastore_file_ops;
    atomic_init(&f->s.holders, 1);
    *out = f;
    return ST_OK;
}

static void entries_set(struct datastore_file *f)
{
    f->s.type = (enum entry_type)f->head.type;
    f->s.kind = (enum state_kind)f->head.kind;
    f->s.d_model = (int)f->head.d_model;
    f->s.d = (int)f->head.d;
    f->s.has_sources = f->head.flags & DATASTORE_SOURCES;
}

/* Check f and pass it to the caller. On failure, or if st is an error already,
 * close it. */
static enum status datastore_file_take(struct entries **out,
                                       struct datastore_file *f,
                                       enum status st,
                                       const struct datastore_model *m,
                                       bool unfinished, struct err *e)
{
    if (!st) st = check_fits(f, m, unfinished, e);
    if (!st) st = datastore_file_room(f, e);
    if (!st) {
        entries_set(f);
        st = take_blocks(f, e);
    }
    if (st) entries_drop(&f->s);
    *out = st ? NULL : &f->s;
    return st;
}

static enum status read_header(struct datastore_file *f, struct err *e)
{
    return datastore_header_read(f->map.data, f->map.size, f->name, &f->head,
                                 f->slot_valid, e);
}

static enum status check_length(const struct datastore_file *f, struct err *e)
{
    if (f->head.size <= f->map.size) return ST_OK;
    return err_set(e, ST_FORMAT, "%s is truncated: it has %zu bytes instead "
                   "of %" PRIu64 "; copy it again or build it again", f->name,
                   f->map.size, f->head.size);
}

/* A writer may commit between the mapping of the file and the reading of its
 * header, which then tells of more bytes than were mapped; or twice while the
 * header is read. So an error counts only if it stays. */
static enum status map_datastore(struct datastore_file *f, struct err *e)
{
    enum status st = ST_OK;

    for (int turn = 0; turn < 4; turn++) {
        mapping_close(&f->map);
        st = mapping_open(&f->map, f->name, e);
        f->mapped = !st;
        if (st) return st;
        st = read_header(f, e);
        if (!st) st = check_length(f, e);
        if (!st) break;
    }
    return st;
}

enum status datastore_file_open(struct entries **out, const char *path,
                                const struct datastore_model *m,
                                bool unfinished, struct err *e)
{
    struct datastore_file *f;
    enum status st = datastore_file_new(&f, path, e);

    *out = NULL;
    if (st) return st;
    st = map_datastore(f, e);
    return datastore_file_take(out, f, st, m, unfinished, e);
}

enum status datastore_file_open_memory(struct entries **out,
                                       const void *bytes, size_t size,
                                       const char *name,
                                       const struct datastore_model *m,
                                       bool unfinished, struct err *e)
{
    struct datastore_file *f;
    enum status st = datastore_file_new(&f, name, e);

    *out = NULL;
    if (st) return st;
    f->map = (struct mapping){ bytes, size };
    st = read_header(f, e);
    if (!st) st = check_length(f, e);
    return datastore_file_take(out, f, st, m, unfinished, e);
}

struct datastore_info datastore_file_info(const struct entries *s)
{
    assert(s->ops == &datastore_file_ops);
    return datastore_info_of(&datastore_file_of(s)->head);
}

struct key_id datastore_file_pair_id(const struct entries *s, int32_t pair)
{
    const struct entry_block *b = entries_block_of(s, pair);
    const struct datastore_part_block *more =
        &datastore_file_of(s)->parts[b - s->blocks];
    const struct datastore_pair *p = &more->pairs[pair - b->first_pair];

    assert(s->ops == &datastore_file_ops);
    return (struct key_id){ p->hi, p->lo };
}

uint64_t datastore_file_keys_sum(const struct entries *s, int n)
{
    const struct datastore_file *f = datastore_file_of(s);
    uint64_t sum = 0;

    assert(s->ops == &datastore_file_ops && n <= s->n_blocks);
    for (int i = 0; i < n; i++) {
        uint64_t both[] = { sum, f->parts[i].head->key_sum };

        sum = datastore_sum(both, sizeof both);
    }
    return sum;
}

int datastore_file_sources(const struct entries *s, int32_t pair, int *first)
{
    const struct entry_block *b = entries_block_of(s, pair);
    const struct datastore_part_block *more =
        &datastore_file_of(s)->parts[b - s->blocks];

    assert(s->ops == &datastore_file_ops);
    *first = 0;
    if (!more->first_src) return 0;
    *first = (int)more->first_src[pair - b->first_pair];
    return (int)more->pairs[pair - b->first_pair].n_src;
}
