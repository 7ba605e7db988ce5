/* fuzz_convert.c - reads any bytes as model.safetensors or config.json.
 *
 * The first byte of an input selects the format. The rest is the file, which
 * the readers open as a memory file. All tensors of a file that opens are
 * read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/safetensors.h"
#include "convert/source_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_tensors(const char *path)
{
    struct safetensors *s;
    struct err e = { 0 };

    if (safetensors_open(&s, path, &e) && !e.msg[0]) abort();
    for (int i = 0; s && i < safetensors_count(s); i++) {
        const struct sf_tensor *t = safetensors_at(s, i);
        size_t n = (size_t)t->shape[0] * (size_t)t->shape[1];
        float *v = malloc(n * sizeof *v);

        if (v) sf_tensor_read(t, v);
        free(v);
    }
    safetensors_close(s);
}

static void try_config(const char *path)
{
    struct source_config c;
    struct err e = { 0 };
    enum status st = source_config_read(&c, path, &e);

    if (st && !e.msg[0]) abort();
    if (!st && (c.cfg.heads < 1 || c.cfg.d_model % c.cfg.heads)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    int fd;

    if (!size) return 0;
    fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (data[0] & 1) try_config(path);
    else try_tensors(path);
    close(fd);
    return 0;
}
