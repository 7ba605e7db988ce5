/* fuzz_po.c - reads any bytes as a PO file. The first byte selects the
 * options. */
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader_options o = { .format = FORMAT_PO, .max_text = 4096 };
    struct reader_options back;
    char *text;

    if (!size) return 0;
    o.skip_bad = data[0] & 1;
    o.fuzzy = data[0] & 2;
    if (data[0] & 4) o.source_lang = "de";
    if (data[0] & 8) o.target_lang = "en";
    back = o;
    back.skip_bad = false;
    back.fuzzy = true;          /* comments were written, with their flags */
    back.max_text = 0;          /* a context may be longer than it was */
    /* A copy of the exact size, so that ASan detects reads past the end. */
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    round_trip((struct str){ text, size - 1 }, (struct str){ NULL, 0 }, &o,
               &back);
    free(text);
    return 0;
}
