/* fuzz_align.c - any bytes as a file of alignment parameters must be refused or
 * used safely.
 *
 * The first byte of an input says what the rest is:
 *
 *     0       a file, used as it is
 *     1       a file whose checksum is corrected
 *     others  changes to a small good file, whose checksum is corrected
 *             afterwards: records of 8 bytes { number of bytes, unused,
 *             position (2 bytes), value (4 bytes) }
 *
 * The third kind needs no seeds. If the file opens, the fuzzer aligns texts of
 * all its words and of unknown words with every method. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align/align_file.h"
#include "align/aligner.h"

static uint8_t *good;           /* a file */
static size_t good_size;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void align_must(int ok)
{
    if (!ok) abort();
}

/* Adds a pair of texts whose words are the numbers from `first` on. */
static void add_numbers(struct bitext *b, uint64_t first, size_t n, size_t m)
{
    struct word_key at[2][8] = { { { 0 } } };
    struct word_keys s = { .at = at[0], .n = n }, t = { .at = at[1], .n = m };

    for (size_t i = 0; i < 8; i++) {
        at[0][i].key = (first + i * 7) % 11;
        at[1][i].key = (first + i * 7) % 11 + 100;
    }
    align_must(!bitext_add(b, &s, &t, NULL));
}

static void make_good_file(const char *path)
{
    struct align_settings o = align_settings_defaults();
    struct word_splitter w = { .split = SPLIT_WORDS };
    struct bitext b = { 0 };
    struct align_model *m;
    char *text;

    for (uint64_t i = 0; i < 12; i++)
        add_numbers(&b, i * i, 1 + i % 7, 1 + i % 5);
    align_must(!align_model_train(&m, &b, &w, &o, 1, NULL));
    align_must(!align_model_save(m, path, NULL));
    align_must(!file_read(&text, &good_size, path, 1 << 20, NULL));
    good = (uint8_t *)text;
    align_model_free(m);
    bitext_release(&b);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[] = "/tmp/skmt-fuzz-XXXXXX";
    int fd = mkstemp(path);

    (void)argc;
    (void)argv;
    align_must(fd >= 0);
    close(fd);
    make_good_file(path);
    unlink(path);
    return 0;
}

/* Links ascend and are inside the texts. */
static void check_links(struct word_links l, size_t n, size_t m)
{
    align_must(l.n <= n + m);
    for (size_t i = 0; i < l.n; i++) {
        align_must(l.at[i].source < n && l.at[i].target < m);
        align_must(!i || l.at[i - 1].source < l.at[i].source ||
                   (l.at[i - 1].source == l.at[i].source &&
                    l.at[i - 1].target < l.at[i].target));
    }
}

static void align_texts(const struct align_model *m)
{
    uint32_t source[40], target[40];
    struct aligner *a;

    align_must(!aligner_new(&a, m, NULL));
    for (uint32_t i = 0; i < 40; i++) {
        source[i] = i % 5 == 4 ? ALIGN_UNKNOWN
                               : (uint32_t)(i * 3 % m->n_keys[BITEXT_SOURCE]);
        target[i] = i % 7 == 6 ? ALIGN_UNKNOWN
                               : (uint32_t)(i * 3 % m->n_keys[BITEXT_TARGET]);
    }
    for (int k = 0; k < ALIGN_METHOD_COUNT; k++)
        for (size_t n = 0; n <= 40; n += 20)
            check_links(aligner_run(a, (enum align_method)k, source, n, target,
                                    40 - n / 2), n, 40 - n / 2);
    aligner_free(a);
}

static void try_file(const uint8_t *bytes, size_t size)
{
    struct align_model *m;
    struct err e = { 0 };
    enum status st = align_model_open_memory(&m, bytes, size, "fuzz", &e);

    if (st) {
        align_must((st == ST_FORMAT || st == ST_VERSION) && e.msg[0] && !m);
        return;
    }
    align_must(align_model_number(m, BITEXT_SOURCE, m->keys[0][0]) == 0);
    align_texts(m);
    align_model_free(m);
}

static void change_file(uint8_t *file, size_t size, const uint8_t r[8])
{
    size_t n = (size_t)1 << r[0] % 3;
    size_t at = ((size_t)r[2] | (size_t)r[3] << 8) % (size - 4);

    memcpy(file + at, r + 4, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct align_file_header *h;
    size_t n;
    void *file;

    if (!size) return 0;
    n = data[0] < 2 ? size - 1 : good_size;
    if (posix_memalign(&file, 8, n ? n : 1)) return 0;
    memcpy(file, data[0] < 2 ? data + 1 : good, n);
    for (size_t i = 1; data[0] >= 2 && i + 8 <= size; i += 8)
        change_file(file, n, data + i);
    h = file;
    if (data[0] && n >= sizeof *h) h->sum = align_file_sum(file, n);
    try_file(file, n);
    free(file);
    return 0;
}
