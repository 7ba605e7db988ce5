/* pagefile.h - a derived file whose every byte is checked before it is used.
 *
 *     head (256 bytes), data, then a 64-bit sum for each 64 KiB of data
 *
 * The head names the kind of file and whatever its owner wants to compare, and
 * has a sum over itself and the table of sums, which opening verifies. Data is
 * verified page by page when it is first asked for, so that opening a large
 * file costs nothing. A file that was cut, overwritten or mixed up is told by
 * pagefile_has() returning false; no byte of it is believed.
 *
 * Numbers are little-endian, and so are the machines that run this. A struct
 * pagefile belongs to one thread. */
#ifndef TM_PAGEFILE_H
#define TM_PAGEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"

#define PAGEFILE_HEAD 256
#define PAGEFILE_PAGE 65536

struct pagefile_head {
    char magic[8];
    uint32_t version;
    uint32_t user32[5];         /* the owner's */
    uint64_t user[24];
    uint64_t data_bytes;
    uint64_t n_pages;
    uint64_t sum;               /* of the head with this as 0, and the table */
};

struct pagefile {
    struct mapping map;         /* or, not mapped: */
    uint8_t *owned;             /* an image in memory, trusted */
    struct pagefile_head head;
    const uint8_t *data;        /* [head.data_bytes] */
    const uint8_t *table;       /* uint64_t [n_pages] */
    uint8_t *seen;              /* [n_pages] verified; NULL: all are */
};

/* ST_FORMAT: not such a file, or damaged. */
enum status pagefile_open(struct pagefile *pf, const char *path,
                          const char magic[8], uint32_t version,
                          struct err *e);
void pagefile_close(struct pagefile *pf);       /* zeroed struct is fine */
uint64_t pagefile_bytes(const struct pagefile *pf);     /* on disk */

/* Are bytes [at, at + n) of the data there and as they were written? */
bool pagefile_check(struct pagefile *pf, uint64_t at, uint64_t n);
static inline bool pagefile_has(struct pagefile *pf, uint64_t at, uint64_t n)
{
    uint64_t size = pf->head.data_bytes;

    if (at > size || n > size - at) return false;
    if (!pf->seen || !n) return true;
    if ((at ^ (at + n - 1)) / PAGEFILE_PAGE == 0 && pf->seen[at / PAGEFILE_PAGE])
        return true;
    return pagefile_check(pf, at, n);
}

/* Write a file in one step. head: magic, version and the owner's fields; the
 * rest is filled in. */
enum status pagefile_write(const char *path, struct pagefile_head *head,
                           const void *data, uint64_t n, struct err *e);
/* An image that is used without a file; takes data (malloc memory). */
void pagefile_adopt(struct pagefile *pf, const struct pagefile_head *head,
                    uint8_t *data, uint64_t n);

#endif
