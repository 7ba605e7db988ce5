/* fuzz_trust.c - reads any bytes as a network of learned trust.
 *
 * A random change makes the checksum wrong, so the fuzzer also tries the text
 * with a right one. A network that is accepted is written as the same text
 * again, and it gives weights and shares that are in range. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "knn/trust.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void trust_must(int ok)
{
    if (!ok) abort();
}

/* Run the network on features of usual size; which ones depends on `seed`. */
static void run_network(const struct trust *t, unsigned seed)
{
    struct trust_features f = { .n = 1 + (int)(seed % TRUST_NEIGHBORS) };
    struct trust_reason why[TRUST_REASONS];
    struct trust_result r;
    float sum = 0;

    for (int i = 0; i < TRUST_FEATURES; i++)
        f.x[i] = (float)((seed >> i % 16) % 7) - 3;
    for (int j = 0; j < f.n; j++)
        for (int i = 0; i < TRUST_VOTES; i++)
            f.votes[j][i] = (float)((seed >> (i + j)) % 5) - 3;
    trust_run(t, &f, &r);
    trust_must(r.lambda == 0 || (r.lambda >= TRUST_LEAST && r.lambda <= 1));
    for (int j = 0; j < f.n; j++) {
        trust_must(r.share[j] >= 0 && r.share[j] <= 1);
        sum += r.share[j];
    }
    trust_must(fabsf(sum - 1) < 1e-4f);
    trust_explain(t, &f, why);
    for (int i = 0; i < TRUST_REASONS; i++) {
        trust_must((int)why[i].feature >= 0 &&
                   (int)why[i].feature < TRUST_FEATURES);
        trust_must(*trust_phrase(t, &f, why[i].feature));
    }
}

static void try_network(const char *text)
{
    struct trust t;
    struct err e = { 0 };
    char back[TRUST_TEXT];
    uint64_t model;
    enum status st = trust_read(&t, &model, text, &e);

    if (st) {
        trust_must((st == ST_FORMAT || st == ST_VERSION) && e.msg[0]);
        return;
    }
    trust_write(&t, model, back);
    trust_must(!strcmp(text, back));
    for (unsigned seed = 0; seed < 65536; seed += 4099) run_network(&t, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size, so that ASan detects reads past the end. */
    char *text = malloc(size + 1);
    size_t n = TRUST_TEXT - 18;

    trust_must(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    try_network(text);
    if (size == TRUST_TEXT - 1) {
        snprintf(text + n, 18, " %016llx",
                 (unsigned long long)XXH3_64bits(text, n));
        try_network(text);
    }
    free(text);
    return 0;
}
