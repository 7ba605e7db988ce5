/* sqlpage.c - a VFS that writes and verifies page checksums.
 *
 * It passes all calls to SQLite's own VFS and changes only reads and writes of
 * whole pages of the main file. It leaves the log alone, which has checksums of
 * its own. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/sqlpage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/invariant.h"

enum { HEADER_BYTES = 100, AT_PAGE_SIZE = 16, AT_RESERVED = 20 };

struct checked_file {
    sqlite3_file base;
    bool is_main;               /* not a log, a journal or a temporary file */
    bool has_sums;
    int page_bytes;
    sqlite3_file real[];        /* the file object of SQLite's VFS,
                                   which is larger than sqlite3_file */
};

static sqlite3_vfs checked_vfs, *real_vfs;

static sqlite3_file *real_file(sqlite3_file *f)
{
    return ((struct checked_file *)f)->real;
}

/* ---- checksums ----------------------------------------------------------- */

/* Never returns zero, which means that a page has no checksum. */
static uint64_t sqlpage_sum(const uint8_t *page, int n, sqlite3_int64 at)
{
    uint64_t sum;

    assert(n > SQLPAGE_RESERVED && at % n == 0);
    sum = XXH3_64bits_withSeed(page, (size_t)n - SQLPAGE_RESERVED,
                               (uint64_t)at);

    return sum ? sum : 1;
}

/* Whether another program has put pages without checksums into the file. The
 * first page has none in that case. */
static bool sqlpage_lacks_sums(struct checked_file *c)
{
    uint64_t sum = 1;
    int rc = c->real->pMethods->xRead(c->real, &sum, sizeof sum,
                                      c->page_bytes - SQLPAGE_RESERVED);

    return !rc && !sum;
}

/* Verifies the checksum and sets it to zero in memory. */
static int sqlpage_verify(struct checked_file *c, uint8_t *page, int n,
                          sqlite3_int64 at)
{
    uint8_t *place = page + n - SQLPAGE_RESERVED;
    uint64_t sum;

    memcpy(&sum, place, sizeof sum);
    if (!sum) return sqlpage_lacks_sums(c) ? SQLITE_OK : SQLPAGE_DAMAGED;
    if (sum != sqlpage_sum(page, n, at)) return SQLPAGE_DAMAGED;
    memset(place, 0, SQLPAGE_RESERVED);
    return SQLITE_OK;
}

/* Reads the page size and the reserved bytes from the file header. */
static void sqlpage_note_header(struct checked_file *c, const uint8_t *head)
{
    int size = head[AT_PAGE_SIZE] << 8 | head[AT_PAGE_SIZE + 1];

    if (memcmp(head, "SQLite format 3", 16) ||
        head[AT_RESERVED] != SQLPAGE_RESERVED)
        return;
    c->page_bytes = size == 1 ? 65536 : size;
    c->has_sums = c->page_bytes >= 512;
}

static bool sqlpage_is_page(const struct checked_file *c, int n,
                            sqlite3_int64 at)
{
    return c->has_sums && n == c->page_bytes && at % n == 0;
}

/* ---- the file ------------------------------------------------------------ */

static int checked_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    struct checked_file *c = (struct checked_file *)f;
    int rc = c->real->pMethods->xRead(c->real, to, n, at);

    if (!c->is_main) return rc;
    if (!rc && !at && n >= HEADER_BYTES) sqlpage_note_header(c, to);
    if (!sqlpage_is_page(c, n, at)) return rc;
    /* SQLite would treat a page behind the end of the file as zeros. */
    if (rc == SQLITE_IOERR_SHORT_READ) return SQLPAGE_DAMAGED;
    return rc ? rc : sqlpage_verify(c, to, n, at);
}

/* Writes the checksum into the reserved bytes of SQLite's own buffer, because
 * SQLite does not use them, and clears them afterwards. */
static int checked_write(sqlite3_file *f, const void *from, int n,
                         sqlite3_int64 at)
{
    struct checked_file *c = (struct checked_file *)f;
    uint8_t *page = (uint8_t *)(uintptr_t)from;
    uint64_t sum;
    int rc;

    if (c->is_main && !at && n >= HEADER_BYTES) sqlpage_note_header(c, from);
    if (!c->is_main || !sqlpage_is_page(c, n, at))
        return c->real->pMethods->xWrite(c->real, from, n, at);
    sum = !at && sqlpage_lacks_sums(c) ? 0 : sqlpage_sum(page, n, at);
    memcpy(page + n - SQLPAGE_RESERVED, &sum, sizeof sum);
    rc = c->real->pMethods->xWrite(c->real, page, n, at);
    memset(page + n - SQLPAGE_RESERVED, 0, SQLPAGE_RESERVED);
    return rc;
}

static int checked_close(sqlite3_file *f)
{
    return real_file(f)->pMethods->xClose(real_file(f));
}

static int checked_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return real_file(f)->pMethods->xTruncate(real_file(f), size);
}

static int checked_sync(sqlite3_file *f, int flags)
{
    return real_file(f)->pMethods->xSync(real_file(f), flags);
}

static int checked_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_file(f)->pMethods->xFileSize(real_file(f), size);
}

static int checked_lock(sqlite3_file *f, int level)
{
    return real_file(f)->pMethods->xLock(real_file(f), level);
}

static int checked_unlock(sqlite3_file *f, int level)
{
    return real_file(f)->pMethods->xUnlock(real_file(f), level);
}

static int checked_reserved(sqlite3_file *f, int *out)
{
    return real_file(f)->pMethods->xCheckReservedLock(real_file(f), out);
}

static int checked_control(sqlite3_file *f, int op, void *arg)
{
    return real_file(f)->pMethods->xFileControl(real_file(f), op, arg);
}

static int checked_sector(sqlite3_file *f)
{
    return real_file(f)->pMethods->xSectorSize(real_file(f));
}

static int checked_device(sqlite3_file *f)
{
    return real_file(f)->pMethods->xDeviceCharacteristics(real_file(f));
}

static int checked_shm_map(sqlite3_file *f, int page, int size, int extend,
                           void volatile **out)
{
    return real_file(f)->pMethods->xShmMap(real_file(f), page, size, extend,
                                           out);
}

static int checked_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real_file(f)->pMethods->xShmLock(real_file(f), at, n, flags);
}

static void checked_shm_barrier(sqlite3_file *f)
{
    real_file(f)->pMethods->xShmBarrier(real_file(f));
}

static int checked_shm_unmap(sqlite3_file *f, int delete)
{
    return real_file(f)->pMethods->xShmUnmap(real_file(f), delete);
}

/* Version 2 has no xFetch, so SQLite never maps pages but always reads them. */
static const sqlite3_io_methods checked_methods = {
    .iVersion = 2, .xClose = checked_close, .xRead = checked_read,
    .xWrite = checked_write, .xTruncate = checked_truncate,
    .xSync = checked_sync, .xFileSize = checked_size, .xLock = checked_lock,
    .xUnlock = checked_unlock, .xCheckReservedLock = checked_reserved,
    .xFileControl = checked_control, .xSectorSize = checked_sector,
    .xDeviceCharacteristics = checked_device, .xShmMap = checked_shm_map,
    .xShmLock = checked_shm_lock, .xShmBarrier = checked_shm_barrier,
    .xShmUnmap = checked_shm_unmap
};

/* ---- the VFS ------------------------------------------------------------- */

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
                        int flags, int *out_flags)
{
    struct checked_file *c = (struct checked_file *)f;
    int rc;

    (void)vfs;
    assert(real_vfs);           /* or the VFS would not be registered */
    memset(c, 0, sizeof *c);
    c->is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    rc = real_vfs->xOpen(real_vfs, name, c->real, flags, out_flags);
    if (c->real->pMethods) c->base.pMethods = &checked_methods;
    return rc;
}

/* Copies the default VFS and replaces xOpen. */
static void sqlpage_register(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    if (!real_vfs) return;
    checked_vfs = *real_vfs;
    checked_vfs.pNext = NULL;
    checked_vfs.zName = "skmt-page-checksums";
    checked_vfs.szOsFile += (int)sizeof (struct checked_file);
    checked_vfs.xOpen = checked_open;
    if (sqlite3_vfs_register(&checked_vfs, 0)) real_vfs = NULL;
}

const char *sqlpage_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, sqlpage_register);
    return real_vfs ? checked_vfs.zName : NULL;
}
