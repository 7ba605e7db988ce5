/* align_file.c - reads and writes files of alignment parameters.
 *
 * A file is mapped and used in place. Opening it checks every number once, so
 * that nothing after that has to: sizes, the order of keys, the rows, the words
 * and the probabilities. The checksum finds damage; the other checks find files
 * of other programs and mistakes of our own. */
#include "align/align_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "align/align_model.h"
#include "align/diagonal.h"
#include "base/invariant.h"

/* The arrays of a file, in order. */
struct file_part {
    const void *data;
    uint64_t n;                 /* numbers */
    uint64_t bytes;             /* of a number */
};
enum { N_PARTS = 8 };

static void direction_parts(struct file_part *part, const struct lexicon *l)
{
    part[0] = (struct file_part){ l->begin, l->n_rows + 1, 8 };
    part[1] = (struct file_part){ l->word, l->n, 4 };
    part[2] = (struct file_part){ l->prob, l->n, 4 };
}

static void file_parts(const struct align_model *m,
                       struct file_part part[N_PARTS])
{
    for (int i = 0; i < 2; i++)
        part[i] = (struct file_part){ m->keys[i], m->n_keys[i], 8 };
    direction_parts(part + 2, &m->forward.lexicon);
    direction_parts(part + 5, &m->reverse.lexicon);
}

static size_t zeros_after(uint64_t bytes) { return (8 - bytes % 8) % 8; }

/* ---- the checksum -------------------------------------------------------- */

/* The sum of a header and of what follows it. */
static void sum_begin(XXH3_state_t *x, const struct align_file_header *h)
{
    struct align_file_header zero = *h;

    zero.sum = 0;
    XXH3_64bits_reset(x);
    XXH3_64bits_update(x, &zero, sizeof zero);
}

uint64_t align_file_sum(const uint8_t *bytes, size_t size)
{
    struct align_file_header h;
    XXH3_state_t x;

    assert(size >= sizeof h);
    memcpy(&h, bytes, sizeof h);
    sum_begin(&x, &h);
    XXH3_64bits_update(&x, bytes + sizeof h, size - sizeof h);
    return XXH3_64bits_digest(&x);
}

/* ---- writing ------------------------------------------------------------- */

static struct align_file_header header_of(const struct align_model *m)
{
    struct align_file_header h = {
        .endian = ALIGN_FILE_ENDIAN, .version = ALIGN_FILE_VERSION,
        .file_size = sizeof h, .split = m->split, .keep_case = m->keep_case,
        .tokenizer = m->tokenizer, .n_source = m->n_keys[BITEXT_SOURCE],
        .n_target = m->n_keys[BITEXT_TARGET],
        .forward = { m->forward.tension, m->forward.null_prob,
                     m->forward.lexicon.n },
        .reverse = { m->reverse.tension, m->reverse.null_prob,
                     m->reverse.lexicon.n } };

    memcpy(h.magic, ALIGN_FILE_MAGIC, sizeof h.magic);
    return h;
}

/* Write bytes and add them to the sum. */
static enum status write_summed(struct replacement *r, XXH3_state_t *x,
                                const void *bytes, size_t n, struct err *e)
{
    if (!n) return ST_OK;
    XXH3_64bits_update(x, bytes, n);
    return replacement_write(r, bytes, n, e);
}

static enum status write_file_parts(struct replacement *r,
                                    const struct align_model *m,
                                    struct align_file_header *h, struct err *e)
{
    static const char zeros[8];
    struct file_part part[N_PARTS];
    XXH3_state_t x;
    enum status st = replacement_write(r, h, sizeof *h, e);

    file_parts(m, part);
    for (int i = 0; i < N_PARTS; i++)
        h->file_size += part[i].n * part[i].bytes +
                        zeros_after(part[i].n * part[i].bytes);
    sum_begin(&x, h);
    for (int i = 0; !st && i < N_PARTS; i++) {
        uint64_t bytes = part[i].n * part[i].bytes;

        st = write_summed(r, &x, part[i].data, bytes, e);
        if (!st) st = write_summed(r, &x, zeros, zeros_after(bytes), e);
    }
    h->sum = XXH3_64bits_digest(&x);
    assert(st || r->size == h->file_size);
    return st ? st : replacement_patch(r, 0, h, sizeof *h, e);
}

enum status align_model_save(const struct align_model *m, const char *path,
                             struct err *e)
{
    struct align_file_header h = header_of(m);
    struct replacement r;
    enum status st = replacement_begin(&r, path, e);

    if (st) return st;
    st = write_file_parts(&r, m, &h, e);
    if (!st) st = replacement_commit(&r, e);
    replacement_abort(&r);
    return st;
}

/* ---- reading: the header ------------------------------------------------- */

static enum status file_damaged(const char *name, const char *what,
                                struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the alignment parameters are damaged "
                   "(%s)", name, what);
}

static enum status check_file_kind(const struct align_file_header *h,
                                   size_t size, const char *name,
                                   struct err *e)
{
    if (size < sizeof *h ||
        memcmp(h->magic, ALIGN_FILE_MAGIC, sizeof h->magic))
        return err_set(e, ST_FORMAT, "%s: this is not a file of alignment "
                       "parameters (skmt align --save)", name);
    if (h->endian != ALIGN_FILE_ENDIAN)
        return file_damaged(name, "or written on a computer with another byte "
                            "order", e);
    if (h->version != ALIGN_FILE_VERSION)
        return err_set(e, ST_VERSION, "%s: these alignment parameters have "
                       "version %u, but this program reads version %d; train "
                       "them again", name, h->version, ALIGN_FILE_VERSION);
    if (h->file_size != size)
        return err_set(e, ST_FORMAT, "%s: the alignment parameters are "
                       "damaged (the file has %zu bytes and should have %llu)",
                       name, size, (unsigned long long)h->file_size);
    return ST_OK;
}

static bool direction_ok(const struct align_file_direction *d)
{
    return d->tension >= DIAGONAL_TENSION_MIN &&
           d->tension <= DIAGONAL_TENSION_MAX && d->null_prob > 0 &&
           d->null_prob < 1;
}

/* Whether the number of words fits 32 bits, and the parts fit in the file. The
 * counts are checked one by one first, so that the sum cannot overflow. */
static bool counts_ok(const struct align_file_header *h)
{
    uint64_t most = h->file_size / 8, n = h->n_source, m = h->n_target;
    uint64_t f = h->forward.n_entries, r = h->reverse.n_entries;

    if (!n || !m || n >= UINT32_MAX || m >= UINT32_MAX || n > most ||
        m > most || f > most || r > most)
        return false;
    return sizeof *h + 8 * (n + m) + 8 * (n + 2) + 8 * (m + 2) +
               2 * (4 * f + zeros_after(4 * f)) +
               2 * (4 * r + zeros_after(4 * r)) == h->file_size;
}

static enum status check_file_header(const struct align_file_header *h,
                                     const char *name, struct err *e)
{
    if (h->split >= SPLIT_COUNT || h->keep_case > 1 ||
        (h->tokenizer != 0) != (h->split == SPLIT_PIECES))
        return file_damaged(name, "how texts are split", e);
    if (!direction_ok(&h->forward) || !direction_ok(&h->reverse))
        return file_damaged(name, "tension or null probability", e);
    if (!counts_ok(h)) return file_damaged(name, "numbers of words", e);
    return ST_OK;
}

/* ---- reading: the arrays ------------------------------------------------- */

/* Return the next part of a file. *ok becomes false if the zeros after it are
 * not zero. */
static const void *take_part_of_file(const uint8_t **at, uint64_t bytes,
                                     bool *ok)
{
    const uint8_t *part = *at;

    for (size_t i = 0; i < zeros_after(bytes); i++)
        if (part[bytes + i]) *ok = false;
    *at += bytes + zeros_after(bytes);
    return part;
}

static bool take_direction(struct align_direction *d, const uint8_t **at,
                           const struct align_file_direction *h, size_t n_given)
{
    uint64_t n = h->n_entries;
    bool ok = true;

    d->tension = h->tension;
    d->null_prob = h->null_prob;
    d->lexicon.n_rows = n_given + 1;
    d->lexicon.n = n;
    d->lexicon.begin = take_part_of_file(at, 8 * (n_given + 2), &ok);
    d->lexicon.word = take_part_of_file(at, 4 * n, &ok);
    d->lexicon.prob = take_part_of_file(at, 4 * n, &ok);
    return ok;
}

static bool keys_ascend(const uint64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (keys[i - 1] >= keys[i]) return false;
    return true;
}

static bool rows_ok(const struct lexicon *l)
{
    if (l->begin[0] != 0 || l->begin[l->n_rows] != l->n) return false;
    for (size_t row = 0; row < l->n_rows; row++)
        if (l->begin[row] > l->begin[row + 1]) return false;
    return true;
}

/* Whether the words of each row ascend and are below n_made, and all
 * probabilities are in range. The rows have been checked. */
static bool entries_ok(const struct lexicon *l, size_t n_made)
{
    for (size_t row = 0; row < l->n_rows; row++)
        for (uint64_t k = l->begin[row]; k < l->begin[row + 1]; k++) {
            if (l->word[k] >= n_made) return false;
            if (k > l->begin[row] && l->word[k - 1] >= l->word[k])
                return false;
            if (!(l->prob[k] >= LEXICON_LEAST && l->prob[k] <= 1))
                return false;
        }
    return true;
}

static enum status check_arrays(const struct align_model *m, const char *name,
                                struct err *e)
{
    size_t n = m->n_keys[BITEXT_SOURCE], n_target = m->n_keys[BITEXT_TARGET];

    if (!keys_ascend(m->keys[BITEXT_SOURCE], n) ||
        !keys_ascend(m->keys[BITEXT_TARGET], n_target))
        return file_damaged(name, "keys of words", e);
    if (!rows_ok(&m->forward.lexicon) || !rows_ok(&m->reverse.lexicon))
        return file_damaged(name, "rows", e);
    if (!entries_ok(&m->forward.lexicon, n_target) ||
        !entries_ok(&m->reverse.lexicon, n))
        return file_damaged(name, "words or probabilities", e);
    return ST_OK;
}

/* Set the fields of a model from the bytes of a file. */
static enum status read_model(struct align_model *m, const uint8_t *bytes,
                              size_t size, const char *name, struct err *e)
{
    struct align_file_header h = { 0 };
    const uint8_t *at = bytes + sizeof h;
    bool ok = true;
    enum status st;

    if (size >= sizeof h) memcpy(&h, bytes, sizeof h);
    st = check_file_kind(&h, size, name, e);
    if (!st && h.sum != align_file_sum(bytes, size))
        st = file_damaged(name, "wrong checksum", e);
    if (!st) st = check_file_header(&h, name, e);
    if (st) return st;
    m->split = (enum word_split)h.split;
    m->keep_case = h.keep_case;
    m->tokenizer = h.tokenizer;
    m->n_keys[BITEXT_SOURCE] = h.n_source;
    m->n_keys[BITEXT_TARGET] = h.n_target;
    m->keys[BITEXT_SOURCE] = take_part_of_file(&at, 8 * h.n_source, &ok);
    m->keys[BITEXT_TARGET] = take_part_of_file(&at, 8 * h.n_target, &ok);
    ok &= take_direction(&m->forward, &at, &h.forward, h.n_source);
    ok &= take_direction(&m->reverse, &at, &h.reverse, h.n_target);
    assert(at == bytes + size);
    if (!ok) return file_damaged(name, "bytes that should be zero", e);
    return check_arrays(m, name, e);
}

/* ---- opening ------------------------------------------------------------- */

/* Takes over the mapping, also on failure. */
static enum status open_mapped(struct align_model **out, struct mapping map,
                               bool owned, const char *name, struct err *e)
{
    struct align_model *m = calloc(1, sizeof *m);
    enum status st;

    *out = NULL;
    assert((uintptr_t)map.data % 8 == 0);
    st = m ? read_model(m, map.data, map.size, name, e) : err_nomem(e, name);
    if (!st) {
        m->map = map;
        m->map_borrowed = !owned;
        *out = m;
        return ST_OK;
    }
    free(m);
    if (owned) mapping_close(&map);
    return st;
}

enum status align_model_open(struct align_model **out, const char *path,
                             struct err *e)
{
    struct mapping map;
    enum status st = mapping_open(&map, path, e);

    *out = NULL;
    return st ? st : open_mapped(out, map, true, path, e);
}

enum status align_model_open_memory(struct align_model **out,
                                    const uint8_t *bytes, size_t size,
                                    const char *name, struct err *e)
{
    return open_mapped(out, (struct mapping){ bytes, size }, false, name, e);
}
