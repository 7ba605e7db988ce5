/* fuzz_vocabulary.c - reads any bytes as a vocabulary.
 *
 * The first byte of an input selects the form. A vocabulary that is read must
 * have the promised properties. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/vocabulary.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vocabulary *v;
    struct err e = { 0 };
    char *text;

    if (!size) return 0;
    /* A copy of the exact size, so that ASan detects reads past the end. */
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    if (vocabulary_read(&v, (enum vocabulary_form)(data[0] % 5), text, size - 1,
                        "f", &e)) {
        must(!v && e.msg[0]);
    } else {
        must(vocabulary_size(v) > 0);
        for (int32_t id = 0; id < vocabulary_size(v); id++) {
            const char *piece = vocabulary_piece(v, id);
            int32_t found = vocabulary_find(v, piece);

            must(utf8_check(piece, strlen(piece)) == strlen(piece));
            must(found == id || (data[0] % 5 == VOCABULARY_FAIRSEQ &&
                                 found > id));
        }
        vocabulary_free(v);
    }
    free(text);
    return 0;
}
