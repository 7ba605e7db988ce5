/* page_files.h - the files of the web page (apps/server/page/), as parts of the
 * program. The list is written by tools/embed.c. */
#ifndef SERVER_PAGE_FILES_H
#define SERVER_PAGE_FILES_H

#include <stddef.h>

struct page_file {
    const char *name;           /* "index.html"; NULL ends the list */
    const char *type;           /* such as "text/html; charset=utf-8" */
    const unsigned char *bytes;
    size_t n;
    const char *hash;           /* 16 hex digits of the contents */
};
extern const struct page_file page_files[];

#endif
