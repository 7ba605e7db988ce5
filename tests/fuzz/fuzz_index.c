/* fuzz_index.c - any bytes as an index file must be refused or be sound.
 *
 * The first byte of an input says what the rest is:
 *
 *     0       a file, used as it is
 *     1       a file whose checksums are corrected
 *     others  changes to a good file, whose checksums are corrected afterwards:
 *             records of 8 bytes { number of bytes, unused, place (2 bytes),
 *             value (4 bytes) }; half of the places are in the header
 *
 * If the file opens, all its arrays are read, and every number in them must be
 * in range: this is what Faiss relies on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "knn/ivfpq_file.h"

enum { D = 8, LISTS = 3, PARTS = 4, N = 20, STORED = 25 };

static uint8_t *good;
static size_t good_size;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void index_must(int ok)
{
    if (!ok) abort();
}

static void seal_index(uint8_t *bytes, size_t size)
{
    struct ivfpq_header h;

    if (size < IVFPQ_PAGE) return;
    memcpy(&h, bytes, sizeof h);
    h.payload_sum = XXH3_64bits(bytes + IVFPQ_PAGE, size - IVFPQ_PAGE);
    memcpy(bytes, &h, sizeof h);
    h.sum = ivfpq_header_sum(bytes);
    memcpy(bytes, &h, sizeof h);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint64_t begin[LISTS + 1] = { 0, 7, 7, N };
    struct ivfpq_header h = {
        .magic = IVFPQ_MAGIC, .endian = IVFPQ_ENDIAN,
        .version = IVFPQ_VERSION, .store = 1, .stored = STORED, .n = N,
        .blocks = 1, .d = D, .lists = LISTS, .subvectors = PARTS,
        .probes = 2 };
    struct ivfpq_layout l = ivfpq_layout_of(&h);

    (void)argc;
    (void)argv;
    h.size = good_size = l.size;
    good = calloc(1, good_size);
    index_must(good != NULL);
    memcpy(good, &h, sizeof h);
    memcpy(good + l.begin, begin, sizeof begin);
    for (int64_t i = 0; i < N; i++)
        memcpy(good + l.ids + 8 * i, &i, sizeof i);
    seal_index(good, good_size);
    return 0;
}

static void read_index(const struct ivfpq_file *f)
{
    const struct ivfpq_header *h = &f->head;
    static volatile unsigned sum;       /* what is read must be read */

    for (uint64_t i = 0; i < (uint64_t)h->lists * h->d; i++)
        index_must(isfinite(f->centroids[i]));
    for (uint64_t i = 0; i < (uint64_t)IVFPQ_CODES * h->d; i++)
        index_must(isfinite(f->codebooks[i]));
    index_must(!f->begin[0] && f->begin[h->lists] == h->n);
    for (uint32_t i = 0; i < h->lists; i++)
        index_must(f->begin[i] <= f->begin[i + 1]);
    for (uint64_t i = 0; i < h->n; i++)
        index_must(f->ids[i] >= 0 && f->ids[i] < (int64_t)h->stored);
    for (uint64_t i = 0; i < h->n * h->subvectors; i++)
        sum = sum + f->codes[i];
    (void)sum;
}

static void use_index_file(const uint8_t *bytes, size_t size)
{
    struct ivfpq_file f;
    struct err e = { 0 };
    enum status st = ivfpq_file_open_memory(&f, bytes, size, "fuzz", &e);

    if (st) index_must((st == ST_FORMAT || st == ST_VERSION) && e.msg[0]);
    else read_index(&f);
    ivfpq_file_close(&f);
}

static void change_index(uint8_t *file, const uint8_t r[8])
{
    size_t n = (size_t)1 << r[0] % 3, at = (size_t)r[2] | (size_t)r[3] << 8;
    size_t area = at % 2 ? sizeof(struct ivfpq_header) : good_size - 8;

    memcpy(file + at / 2 % area, r + 4, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    void *file;

    if (!size) return 0;
    n = data[0] < 2 ? size - 1 : good_size;
    if (posix_memalign(&file, 64, n ? n : 1)) return 0;
    memcpy(file, data[0] < 2 ? data + 1 : good, n);
    for (size_t i = 1; data[0] >= 2 && i + 8 <= size; i += 8)
        change_index(file, data + i);
    if (data[0]) seal_index(file, n);
    use_index_file(file, n);
    free(file);
    return 0;
}
