/* fuzz_detector.c - finds the language of any bytes.
 *
 *     fuzz_detector CORPUS
 *
 * The answer must be one of the languages, with a confidence from 0 to 100, and
 * the same for the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/detector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fuzz_codes[] = { "de", "en", "fr", "ja", "zh", "ru",
                                          "vi", "sw" };
enum { N_CODES = sizeof fuzz_codes / sizeof *fuzz_codes };

static void detect_with(const struct detector *d, int n, const char *text)
{
    double confidence, again;
    const char *code = detector_find(d, text, &confidence);
    int known = 0;

    if (!(confidence >= 0 && confidence <= 100)) abort();
    if (!code && confidence != 0) abort();
    for (int i = 0; i < n; i++) known |= code == fuzz_codes[i];
    if (code && !known) abort();
    if (detector_find(d, text, &again) != code || again != confidence) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct detector *two, *all;
    char *text = malloc(size + 1);

    if (!text) return 0;
    if (!two && (detector_new(&two, fuzz_codes, 2, NULL) ||
                 detector_new(&all, fuzz_codes, N_CODES, NULL)))
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    detect_with(two, 2, text);
    detect_with(all, N_CODES, text);
    free(text);
    return 0;
}
