/* zip_archive.c - opens a zip archive and lists its entries. The directory is
 * tested as a whole (zip_archive_directory.c), so that nothing that is returned
 * has a size that the archive cannot contain. */
#include "convert/zip_archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/zip_archive_internal.h"

enum status zip_archive_open(struct zip_archive **out, struct file_stream *in,
                             struct err *e)
{
    struct zip_archive *a = calloc(1, sizeof *a);
    enum status st;

    *out = NULL;
    if (!a) {
        st = err_nomem(e, in->name);
        file_stream_close(in);
        return st;
    }
    a->in = in;
    st = zip_directory_read(a, e);
    if (st) zip_archive_close(a);
    else *out = a;
    return st;
}

void zip_archive_close(struct zip_archive *a)
{
    if (!a) return;
    file_stream_close(a->in);
    for (int i = 0; i < a->n; i++) free(a->entries[i].name);
    free(a->entries);
    free(a);
}

const char *zip_archive_name(const struct zip_archive *a)
{
    return a->in->name;
}

int zip_archive_count(const struct zip_archive *a) { return a->n; }

const char *zip_archive_entry_name(const struct zip_archive *a, int i)
{
    assert(i >= 0 && i < a->n);
    return a->entries[i].name;
}

uint64_t zip_archive_entry_size(const struct zip_archive *a, int i)
{
    assert(i >= 0 && i < a->n);
    return a->entries[i].size;
}

enum status zip_archive_recognize(bool *is_zip, struct file_stream *in,
                                  struct err *e)
{
    uint8_t b[4];
    enum status st;

    *is_zip = false;
    if (in->size < sizeof b) return ST_OK;
    st = file_stream_read(in, 0, b, sizeof b, e);
    if (st) return st;
    *is_zip = !memcmp(b, "PK\3\4", 4) || !memcmp(b, "PK\5\6", 4);
    return ST_OK;
}
