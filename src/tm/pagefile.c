/* pagefile.c - writes and reads files with a checksum for each page. It does
 * not interpret the data; segment.c and symfile.c do. */
#include "tm/pagefile.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"

_Static_assert(sizeof (struct pagefile_head) <= PAGEFILE_HEAD, "head fits");

static uint64_t head_sum(const struct pagefile_head *head,
                         const void *table, size_t table_bytes)
{
    struct pagefile_head copy = *head;

    copy.sum = 0;
    return XXH3_64bits_withSeed(table, table_bytes,
                                XXH3_64bits(&copy, sizeof copy));
}

static uint64_t count_pages(uint64_t bytes)
{
    return bytes / PAGEFILE_PAGE + (bytes % PAGEFILE_PAGE != 0);
}

static uint64_t page_sum(const uint8_t *data, uint64_t size, uint64_t page)
{
    uint64_t at = page * PAGEFILE_PAGE;
    uint64_t left = size - at;

    assert(at < size);

    return XXH3_64bits(data + at, left < PAGEFILE_PAGE ? left : PAGEFILE_PAGE);
}

static enum status pagefile_check_head(struct pagefile *pf, const char *path,
                                       const char magic[8], uint32_t version,
                                       struct err *e)
{
    const struct pagefile_head *h = &pf->head;
    uint64_t room;

    if (pf->map.size < PAGEFILE_HEAD)
        return err_set(e, ST_FORMAT, "%s is truncated", path);
    memcpy(&pf->head, pf->map.data, sizeof pf->head);
    if (memcmp(h->magic, magic, 8))
        return err_set(e, ST_FORMAT, "%s is another kind of file", path);
    if (h->version != version)
        return err_set(e, ST_VERSION, "%s has version %u, not %u", path,
                       h->version, version);
    room = pf->map.size - PAGEFILE_HEAD;
    if (h->data_bytes > room || h->n_pages != count_pages(h->data_bytes)
        || room - h->data_bytes != h->n_pages * 8)
        return err_set(e, ST_FORMAT, "%s is truncated", path);
    pf->data = pf->map.data + PAGEFILE_HEAD;
    pf->table = pf->data + h->data_bytes;
    if (head_sum(h, pf->table, h->n_pages * 8) != h->sum)
        return err_set(e, ST_FORMAT, "%s is damaged", path);
    return ST_OK;
}

enum status pagefile_open(struct pagefile *pf, const char *path,
                          const char magic[8], uint32_t version,
                          struct err *e)
{
    enum status st;

    memset(pf, 0, sizeof *pf);
    st = mapping_open(&pf->map, path, e);
    if (!st) st = pagefile_check_head(pf, path, magic, version, e);
    if (!st) {
        pf->verified = calloc(pf->head.n_pages + 1, 1);
        if (!pf->verified) st = err_nomem(e, path);
    }
    if (st) pagefile_close(pf);
    return st;
}

void pagefile_close(struct pagefile *pf)
{
    mapping_close(&pf->map);
    free(pf->owned);
    free(pf->verified);
    memset(pf, 0, sizeof *pf);
}

uint64_t pagefile_bytes(const struct pagefile *pf)
{
    return PAGEFILE_HEAD + pf->head.data_bytes + pf->head.n_pages * 8;
}

bool pagefile_check(struct pagefile *pf, uint64_t at, uint64_t n)
{
    uint64_t last = (at + n - 1) / PAGEFILE_PAGE;

    assert(pf->verified && !pf->owned && n > 0);
    assert(at + n <= pf->head.data_bytes && last < pf->head.n_pages);

    for (uint64_t p = at / PAGEFILE_PAGE; p <= last; p++) {
        uint64_t want;

        if (pf->verified[p]) continue;
        memcpy(&want, pf->table + p * 8, 8);
        if (page_sum(pf->data, pf->head.data_bytes, p) != want) return false;
        pf->verified[p] = 1;
    }
    return true;
}

static enum status write_parts(struct replacement *r,
                               const struct pagefile_head *head,
                               const void *data, const void *table,
                               struct err *e)
{
    uint8_t room[PAGEFILE_HEAD] = { 0 };
    enum status st;

    memcpy(room, head, sizeof *head);
    st = replacement_write(r, room, sizeof room, e);
    if (!st && head->data_bytes)
        st = replacement_write(r, data, head->data_bytes, e);
    if (!st && head->n_pages)
        st = replacement_write(r, table, head->n_pages * 8, e);
    return st ? st : replacement_commit(r, e);
}

enum status pagefile_write(const char *path, struct pagefile_head *head,
                           const void *data, uint64_t n, struct err *e)
{
    struct replacement r;
    uint64_t *table;
    enum status st;

    head->data_bytes = n;
    head->n_pages = count_pages(n);
    table = malloc(head->n_pages * 8 + 8);
    if (!table) return err_nomem(e, path);
    for (uint64_t p = 0; p < head->n_pages; p++)
        table[p] = page_sum(data, n, p);
    head->sum = head_sum(head, table, head->n_pages * 8);
    st = replacement_begin(&r, path, e);
    if (!st) {
        st = write_parts(&r, head, data, table, e);
        replacement_abort(&r);
    }
    free(table);
    return st;
}

void pagefile_adopt(struct pagefile *pf, const struct pagefile_head *head,
                    uint8_t *data, uint64_t n)
{
    assert(data || !n);
    memset(pf, 0, sizeof *pf);
    pf->head = *head;
    pf->head.data_bytes = n;
    pf->head.n_pages = 0;
    pf->owned = data;
    pf->data = data;
}
