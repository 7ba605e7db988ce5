/* sqlpage.h - SQLite files whose every page carries a checksum.
 *
 * SQLite leaves SQLPAGE_RESERVED bytes at the end of each page alone when the
 * file says so (byte 20 of its header). The VFS of this module writes a
 * checksum of the page and of its place there, and compares it when the page
 * is read: a page that does not match gives SQLPAGE_DAMAGED, and so does a page
 * that is missing because the file was cut.
 *
 * In memory, and so in the write-ahead log, the checksum is zero. Another
 * program that copies pages from the log into the file, or into a backup,
 * therefore leaves pages without a checksum. A page without one is accepted
 * only when the first page has none either, so whoever commits must write the
 * first page each time. From then on the first page stays without. A file
 * without reserved bytes is read and written as SQLite does it.
 */
#ifndef BASE_SQLPAGE_H
#define BASE_SQLPAGE_H

#include <sqlite3.h>

#define SQLPAGE_RESERVED 8
/* An extended code of our own. (After SQLITE_IOERR_DATA, which SQLite has for
 * this, SQLite ends the transaction.) */
#define SQLPAGE_DAMAGED (SQLITE_CORRUPT | 0x5a << 8)

/* The name of the VFS for sqlite3_open_v2, registered by the first call. NULL:
 * that failed. Any thread may call it. */
const char *sqlpage_vfs(void);

#endif
