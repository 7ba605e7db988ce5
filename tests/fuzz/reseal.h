/* reseal.h - corrects the checksums of a changed .skmt file.
 *
 * Without that, no test and no fuzzer would get past the checksums. It follows
 * the header and the directory as far as they lie inside the file. */
#ifndef RESEAL_H
#define RESEAL_H

#include <string.h>

#include "model/mfile_format.h"

static void reseal(uint8_t *file, size_t size)
{
    struct mfile_header h;
    struct mfile_entry t;
    size_t entry_at;

    if (size < sizeof h) return;
    memcpy(&h, file, sizeof h);
    if (h.config_offset > size || h.config_size > size - h.config_offset ||
        h.directory_offset > size || h.directory_offset % 8 ||
        h.count > (size - h.directory_offset) / sizeof t)
        return;
    for (uint32_t i = 0; i < h.count; i++) {
        entry_at = h.directory_offset + i * sizeof t;
        memcpy(&t, file + entry_at, sizeof t);
        if (t.offset > size || t.bytes > size - t.offset) continue;
        t.sum = mfile_sum(file + t.offset, t.bytes);
        memcpy(file + entry_at, &t, sizeof t);
    }
    h.sum = mfile_head_sum(&h, (const char *)file + h.config_offset,
                           (const void *)(file + h.directory_offset));
    memcpy(file, &h, sizeof h);
}

#endif
