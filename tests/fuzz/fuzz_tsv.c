/* fuzz_tsv.c - reads any bytes as TSV, CSV or parallel text (the first half and
 * the rest). The first byte selects the format and the options. */
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum format formats[] = {
        FORMAT_TSV, FORMAT_CSV, FORMAT_PARALLEL, FORMAT_CSV
    };
    struct reader_options o = { .max_text = 256 }, back;
    char *first, *second;
    size_t n, half;

    if (!size) return 0;
    o.format = formats[data[0] & 3];
    o.skip_bad = data[0] & 4;
    o.header = data[0] & 8;
    if (data[0] & 16) o.document_column = 3;
    if (data[0] & 32) o.source_column = 2, o.target_column = 1;
    back = (struct reader_options){ .format = o.format, .header = o.header,
                                    .document_column = o.document_column };
    n = size - 1;
    half = o.format == FORMAT_PARALLEL ? n / 2 : n;
    /* Copies of the exact size, so that ASan detects reads past the end. */
    first = malloc(half + !half);
    second = malloc(n - half + 1);
    memcpy(first, data + 1, half);
    memcpy(second, data + 1 + half, n - half);
    round_trip((struct str){ first, half },
               o.format == FORMAT_PARALLEL ? (struct str){ second, n - half }
                                           : (struct str){ NULL, 0 },
               &o, &back);
    free(first);
    free(second);
    return 0;
}
