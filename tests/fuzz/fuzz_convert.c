/* fuzz_convert.c - reads any bytes as model.safetensors or config.json of a
 * model that was trained for skmt.
 *
 * The first byte of an input selects the format. The rest is the file. All
 * tensors of a file that opens are read. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/own_config.h"
#include "convert/safetensors_file.h"

static char fuzz_dir[] = "/tmp/skmt-fuzz-XXXXXX";
static char config_path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_dir(void)
{
    unlink(config_path);
    rmdir(fuzz_dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (!mkdtemp(fuzz_dir)) abort();
    snprintf(config_path, sizeof config_path, "%s/config.json", fuzz_dir);
    atexit(remove_dir);
    return 0;
}

static void read_tensor(struct tensor_file *f, const struct file_tensor *t)
{
    int64_t rows = file_tensor_rows(t), cols = file_tensor_cols(t);
    struct err e = { 0 };
    float *v;

    if (t->n_dims > 2) return;
    /* Tensors have as many bytes as the file, but may have more values. */
    v = malloc((size_t)rows * (size_t)cols * sizeof *v + 1);
    if (v && tensor_file_read(f, t, 0, rows, v, &e) && !e.msg[0]) abort();
    free(v);
}

static void try_tensors(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct file_stream *in;
    struct tensor_file *f;
    struct err e = { 0 };
    char path[40];

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (file_stream_open_path(&in, path, &e)) abort();
    if (safetensors_file_open(&f, in, &e) && !e.msg[0]) abort();
    for (int i = 0; f && i < f->n; i++) read_tensor(f, &f->at[i]);
    tensor_file_close(f);
    close(fd);
}

static void try_config(const uint8_t *data, size_t size)
{
    int fd = open(config_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct own_config c;
    struct config cfg;
    struct file_set *s;
    struct err e = { 0 };

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
    config_defaults(&cfg);
    if (file_set_open(&s, fuzz_dir, &e)) abort();
    if (own_config_read(&c, &cfg, s, &e) && !e.msg[0]) abort();
    file_set_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    if (data[0] & 1) try_config(data + 1, size - 1);
    else try_tensors(data + 1, size - 1);
    return 0;
}
