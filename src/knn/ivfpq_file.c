/* ivfpq_file.c - maps an index file and checks all of it.
 *
 * The checks go from the outside in: is this an index of this version? Are the
 * sizes in range, and is the file as long as they say? Are the bytes those that
 * were written? Are the lists and numbers sound? No number is used before
 * that. */
#include "knn/ivfpq_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "knn/datastore_file.h"
#include "knn/datastore_format.h"

/* ---- layout -------------------------------------------------------------- */

static uint64_t pad64(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* The numbers are at most 2^20 lists, 2^16 dimensions and 2^40 entries of 2^16
 * subvectors, so nothing overflows. */
struct ivfpq_layout ivfpq_layout_of(const struct ivfpq_header *h)
{
    struct ivfpq_layout l = { .centroids = IVFPQ_PAGE };

    l.codebooks = l.centroids + pad64((uint64_t)h->lists * h->d * 4);
    l.begin = l.codebooks + pad64((uint64_t)IVFPQ_CODES * h->d * 4);
    l.ids = l.begin + pad64(((uint64_t)h->lists + 1) * 8);
    l.codes = l.ids + pad64(h->n * 8);
    l.size = l.codes + pad64(h->n * h->subvectors);
    return l;
}

uint64_t ivfpq_header_sum(const uint8_t page[IVFPQ_PAGE])
{
    uint8_t copy[IVFPQ_PAGE];

    memcpy(copy, page, sizeof copy);
    memset(copy + offsetof(struct ivfpq_header, sum), 0, sizeof(uint64_t));
    return XXH3_64bits(copy, sizeof copy);
}

/* ---- checks -------------------------------------------------------------- */

static enum status index_damaged(const char *name, const char *what,
                                 struct err *e)
{
    return err_set(e, ST_FORMAT, "%s is damaged: %s; build it again ('skmt "
                   "knn index')", name, what);
}

static bool is_sound(const struct ivfpq_header *h)
{
    return h->d >= 1 && h->d <= DATASTORE_DIM_MAX && h->lists >= 1 &&
           h->lists <= IVFPQ_LISTS_MAX && h->subvectors >= 1 &&
           h->subvectors <= h->d && h->d % h->subvectors == 0 &&
           h->probes >= 1 && h->stored <= (uint64_t)1 << 40 &&
           h->n <= h->stored && !h->reserved && h->store;
}

static enum status check_index_header(struct ivfpq_file *f, const char *name,
                                      struct err *e)
{
    struct ivfpq_header *h = &f->head;

    if (f->map.size < sizeof *h ||
        memcmp(f->map.data, IVFPQ_MAGIC, sizeof h->magic))
        return err_set(e, ST_FORMAT, "%s is not an index of a datastore; "
                       "'skmt knn index' makes one", name);
    memcpy(h, f->map.data, sizeof *h);
    if (h->endian != IVFPQ_ENDIAN || h->version != IVFPQ_VERSION)
        return err_set(e, ST_VERSION, "%s has version %" PRIu32 " of the "
                       "format or another byte order; build it again ('skmt "
                       "knn index')", name, h->version);
    if (f->map.size < IVFPQ_PAGE || ivfpq_header_sum(f->map.data) != h->sum ||
        !is_sound(h))
        return index_damaged(name, "its header is not what was written", e);
    if (f->map.size < h->size)
        return err_set(e, ST_FORMAT, "%s is truncated: it has %zu bytes "
                       "instead of %" PRIu64 "; copy it again or build it "
                       "again", name, f->map.size, h->size);
    if (f->map.size > h->size || ivfpq_layout_of(h).size != h->size)
        return index_damaged(name, "its size is wrong", e);
    return ST_OK;
}

static bool floats_are_finite(const float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool lists_are_sound(const struct ivfpq_file *f)
{
    const struct ivfpq_header *h = &f->head;

    if (f->begin[0] || f->begin[h->lists] != h->n) return false;
    for (uint32_t i = 0; i < h->lists; i++)
        if (f->begin[i] > f->begin[i + 1] || f->begin[i + 1] > h->n)
            return false;
    for (uint32_t i = 0; i < h->lists; i++) {
        int64_t last = -1;

        for (uint64_t at = f->begin[i]; at < f->begin[i + 1]; at++) {
            if (f->ids[at] <= last || f->ids[at] >= (int64_t)h->stored)
                return false;
            last = f->ids[at];
        }
    }
    return true;
}

static enum status check_arrays(struct ivfpq_file *f, const char *name,
                                struct err *e)
{
    const struct ivfpq_header *h = &f->head;
    struct ivfpq_layout l = ivfpq_layout_of(h);
    const uint8_t *data = f->map.data;

    if (XXH3_64bits(data + IVFPQ_PAGE, h->size - IVFPQ_PAGE) !=
        h->payload_sum)
        return index_damaged(name, "its checksum is wrong", e);
    f->centroids = (const float *)(const void *)(data + l.centroids);
    f->codebooks = (const float *)(const void *)(data + l.codebooks);
    f->begin = (const uint64_t *)(const void *)(data + l.begin);
    f->ids = (const int64_t *)(const void *)(data + l.ids);
    f->codes = data + l.codes;
    if (!floats_are_finite(f->centroids, (uint64_t)h->lists * h->d) ||
        !floats_are_finite(f->codebooks, (uint64_t)IVFPQ_CODES * h->d))
        return index_damaged(name, "a number is not finite", e);
    if (!lists_are_sound(f))
        return index_damaged(name, "its lists are wrong", e);
    return ST_OK;
}

/* ---- opening ------------------------------------------------------------- */

static enum status ivfpq_file_check(struct ivfpq_file *f, const char *name,
                                    struct err *e)
{
    enum status st = check_index_header(f, name, e);

    if (!st) st = check_arrays(f, name, e);
    if (st) ivfpq_file_close(f);
    return st;
}

enum status ivfpq_file_open(struct ivfpq_file *f, const char *path,
                            struct err *e)
{
    enum status st;

    memset(f, 0, sizeof *f);
    st = mapping_open(&f->map, path, e);
    f->mapped = !st;
    return st ? st : ivfpq_file_check(f, path, e);
}

enum status ivfpq_file_open_memory(struct ivfpq_file *f, const void *bytes,
                                   size_t size, const char *name,
                                   struct err *e)
{
    memset(f, 0, sizeof *f);
    f->map = (struct mapping){ bytes, size };
    return ivfpq_file_check(f, name, e);
}

void ivfpq_file_close(struct ivfpq_file *f)
{
    if (f->mapped) mapping_close(&f->map);
    memset(f, 0, sizeof *f);
}

bool ivfpq_file_is(const char *path)
{
    char magic[sizeof IVFPQ_MAGIC - 1];
    FILE *in = fopen(path, "rb");
    bool is = in && fread(magic, sizeof magic, 1, in) == 1 &&
              !memcmp(magic, IVFPQ_MAGIC, sizeof magic);

    if (in) fclose(in);
    return is;
}

/* ---- the datastore ------------------------------------------------------- */

enum status ivfpq_file_fits(const struct ivfpq_file *f, const char *path,
                            const struct entries *s, struct err *e)
{
    const struct ivfpq_header *h = &f->head;
    struct datastore_info info = datastore_file_info(s);
    uint64_t stored = 0;

    if (h->store != info.store || h->model != info.model ||
        h->d != (uint32_t)s->d)
        return err_set(e, ST_VERSION, "%s is the index of another datastore; "
                       "build one for this datastore ('skmt knn index')",
                       path);
    for (uint32_t i = 0; i < h->blocks && i < (uint32_t)s->n_blocks; i++)
        stored += (uint64_t)s->blocks[i].n;
    if (h->blocks > (uint32_t)s->n_blocks || stored != h->stored ||
        datastore_file_keys_sum(s, (int)h->blocks) != h->keys)
        return err_set(e, ST_VERSION, "%s was built from other contents of "
                       "the datastore; build it again ('skmt knn index')",
                       path);
    return ST_OK;
}
