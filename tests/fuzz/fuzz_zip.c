/* fuzz_zip.c - opens any bytes as a zip archive and reads its files, forward
 * and from their middle. Both must give the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../memory_stream.h"
#include "convert/file_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define READ_MAX ((size_t)1 << 20)

static void read_again(struct file_set *s, const char *name, const char *text,
                       size_t n)
{
    struct file_stream *f;
    struct err e = { 0 };
    char part[64];

    if (file_stream_open(&f, s, name, &e)) abort();
    for (size_t at = n / 2, k; at < n; at += k) {
        k = n - at < sizeof part ? n - at : sizeof part;
        if (file_stream_read(f, at, part, k, &e)) abort();
        if (memcmp(part, text + at, k)) abort();
    }
    file_stream_close(f);
}

static void read_file(struct file_set *s, const char *name)
{
    struct err e = { 0 };
    uint64_t listed;
    size_t n;
    char *text;

    if (!*name || *name == '/' || !file_set_has(s, name, &listed)) abort();
    if (file_set_read(s, name, READ_MAX, &text, &n, &e)) {
        if (!e.msg[0]) abort();
        return;
    }
    if (n != listed) abort();
    if (n <= 65536) read_again(s, name, text, n);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file_set *s;
    struct err e = { 0 };

    if (file_set_open_stream(&s, memory_stream_new(data, size), &e)) {
        if (s || !e.msg[0]) abort();
        return 0;
    }
    for (int i = 0; i < file_set_count(s) && i < 20; i++)
        read_file(s, file_set_name(s, i));
    file_set_close(s);
    return 0;
}
