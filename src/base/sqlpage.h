/* sqlpage.h - a VFS that gives every page of an SQLite file a checksum.
 *
 * SQLite does not use the last SQLPAGE_RESERVED bytes of each page when byte 20
 * of the file header reserves them. The VFS of this module writes a checksum
 * of the page and its position there, and verifies it when the page is read. A
 * page that does not match gives SQLPAGE_DAMAGED, and so does a page that is
 * missing because the file was truncated.
 *
 * In memory, and so in the write-ahead log, the checksum is zero. Another
 * program that copies pages from the log into the file, or into a backup,
 * therefore leaves pages without a checksum. A page without a checksum is
 * accepted only when the first page has none either; so every commit must
 * write the first page. Once the first page has no checksum, it stays that way.
 * A file without reserved bytes is read and written as SQLite does it.
 */
#ifndef BASE_SQLPAGE_H
#define BASE_SQLPAGE_H

#include <sqlite3.h>

#define SQLPAGE_RESERVED 8
/* An extended result code of our own. SQLite has SQLITE_IOERR_DATA for this
 * purpose, but rolls the transaction back after it. */
#define SQLPAGE_DAMAGED (SQLITE_CORRUPT | 0x5a << 8)

/* The name of the VFS, for sqlite3_open_v2. The first call registers it;
 * returns NULL when that fails. Any thread may call it. */
const char *sqlpage_vfs(void);

#endif
