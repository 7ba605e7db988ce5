/* fuzz_metak.c - reads any bytes as a network of system adaptive.
 *
 * A random change makes the checksum wrong, so the fuzzer also tries the text
 * with a right one. A network that is accepted is written as the same text
 * again, and it gives mixtures that keep their invariants. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knn/metak.h"
#include "knn/net_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void metak_must(int ok)
{
    if (!ok) abort();
}

/* Run the network on some neighbors; which ones depends on `seed`. */
static void run_metak(const struct metak *m, unsigned seed)
{
    static const float far[] = { 1, 40, 1e10f, 3e38f };
    struct neighbor nb[METAK_MOST];
    struct knn_mixture v;
    int n = (int)(seed % (unsigned)(m->k + 1));
    float add = 0, share = 0;

    for (int i = 0; i < n; i++)
        nb[i] = (struct neighbor){
            .d2 = far[seed % 4] * (float)(i + 1) / (float)(n + 1),
            .token = (int32_t)((seed >> i % 8) % 5),
            .log_weight = (float)(seed >> i % 5 & 1) };
    if (n > 2 && seed % 3 == 0) nb[n - 1].d2 = INFINITY;
    metak_decide(m, nb, n, &v);
    metak_must(v.lambda >= 0 && v.lambda <= 1 && v.n <= n);
    metak_must((v.lambda == 0) == (v.n == 0));
    for (int i = 0; i < v.n; i++) {
        metak_must(v.add[i] >= 0 && v.add[i] <= 1);
        add += v.add[i];
    }
    metak_must(fabsf(add - v.lambda) < 1e-4f);
    for (int i = 0; v.n && i < n; i++) share += v.share[i];
    metak_must(!v.n || fabsf(share - 1) < 1e-4f);
}

static void try_metak(const char *text)
{
    struct metak m;
    struct err e = { 0 };
    char back[METAK_TEXT];
    uint64_t model;
    enum status st = metak_read(&m, &model, text, &e);

    if (st) {
        metak_must((st == ST_FORMAT || st == ST_VERSION) && e.msg[0]);
        return;
    }
    metak_write(&m, model, back);
    metak_must(!strcmp(text, back));
    for (unsigned seed = 0; seed < 65536; seed += 2049) run_metak(&m, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size, so that ASan detects reads past the end. */
    char *text = malloc(size + 1);

    metak_must(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    try_metak(text);
    if (size > NET_TEXT_SEAL && size < METAK_TEXT) {
        net_text_put_seal(text, text + size - NET_TEXT_SEAL);
        try_metak(text);
    }
    free(text);
    return 0;
}
