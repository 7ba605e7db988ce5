/* pagefile.h - an immutable file in which every byte is verified before use.
 *
 *     head (256 bytes), data, then a 64-bit checksum for each 64 KiB of data
 *
 * The head has the kind of file and values that its owner wants to compare,
 * and a checksum over itself and the table of checksums, which pagefile_open()
 * verifies. Data is verified page by page when it is first used, so opening a
 * large file costs nothing. When a file was truncated, overwritten or mixed
 * up, pagefile_has() returns false, and the data in question must not be used.
 *
 * Only derived files are stored this way: their owner can build them again.
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
    uint32_t user32[5];         /* these two belong to the owner */
    uint64_t user[24];
    uint64_t data_bytes;
    uint64_t n_pages;
    uint64_t sum;               /* of the head, with 0 here, and the table */
};

struct pagefile {
    struct mapping map;         /* of the file; not used when: */
    uint8_t *owned;             /* an image in memory, which is trusted */
    struct pagefile_head head;
    const uint8_t *data;        /* [head.data_bytes] */
    const uint8_t *table;       /* uint64_t [n_pages] */
    uint8_t *verified;          /* [n_pages] 1: the page matches its checksum;
                                   NULL: no page needs to be verified */
};

/* ST_FORMAT when the file is of another kind or damaged, ST_VERSION when it
 * has another version. */
enum status pagefile_open(struct pagefile *pf, const char *path,
                          const char magic[8], uint32_t version,
                          struct err *e);
void pagefile_close(struct pagefile *pf);       /* zeroed struct is fine */
uint64_t pagefile_bytes(const struct pagefile *pf);     /* on disk */

/* Whether bytes [at, at + n) of the data exist and match their checksums.
 * pagefile_check is the slow part of pagefile_has: the range must be inside
 * the data. */
bool pagefile_check(struct pagefile *pf, uint64_t at, uint64_t n);
static inline bool pagefile_has(struct pagefile *pf, uint64_t at, uint64_t n)
{
    uint64_t size = pf->head.data_bytes;

    if (at > size || n > size - at) return false;
    if (!pf->verified || !n) return true;
    if ((at ^ (at + n - 1)) / PAGEFILE_PAGE == 0 &&
        pf->verified[at / PAGEFILE_PAGE])
        return true;
    return pagefile_check(pf, at, n);
}

/* Writes a file in one step. The caller sets magic, version and the owner's
 * fields of the head; the other fields are filled in. */
enum status pagefile_write(const char *path, struct pagefile_head *head,
                           const void *data, uint64_t n, struct err *e);
/* Uses an image in memory instead of a file. Takes ownership of data, which
 * must come from malloc. */
void pagefile_adopt(struct pagefile *pf, const struct pagefile_head *head,
                    uint8_t *data, uint64_t n);

#endif
