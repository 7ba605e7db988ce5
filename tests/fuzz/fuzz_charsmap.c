/* fuzz_charsmap.c - adds rules to any bytes as a normalization map, or as a
 * SentencePiece model with one. The result must be a sound map that has the
 * rules.
 *
 * The first byte of an input says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/charsmap.h"
#include "text/normalize.h"
#include "text/subword.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct charsmap_rule rules[] = {
    { "a", "b" }, { "\u201C", "\"" }, { "abc", "" },
};
enum { N_RULES = sizeof rules / sizeof *rules };

static void must(int ok)
{
    if (!ok) abort();
}

/* "abc" becomes nothing, since it is the longest of the rules for it. */
static void check_map(const struct strbuf *map)
{
    struct normalizer_spec spec = { .map = (const uint8_t *)map->data,
                                    .map_len = map->len };
    struct normalizer nz;
    struct normalized out = { 0 };
    struct err e = { 0 };

    must(!normalizer_init(&nz, &spec, &e));
    must(!normalize(&nz, "abc\n", 4, &out, &e));
    must(out.n <= 4 + map->len);
    normalized_release(&out);
}

static void try_map(const uint8_t *data, size_t size)
{
    struct strbuf first, second;
    struct err e = { 0 };

    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    if (charsmap_extend(&first, data, size, rules, N_RULES, &e)) {
        must(e.msg[0] != 0);
    } else {
        check_map(&first);
        must(!charsmap_extend(&second, first.data, first.len, NULL, 0, &e));
        must(second.len == first.len &&
             !memcmp(first.data, second.data, first.len));
    }
    strbuf_release(&first);
    strbuf_release(&second);
}

static void try_model(const uint8_t *data, size_t size)
{
    struct strbuf model;
    struct subword *sw;
    struct err e = { 0 };

    strbuf_init(&model, 0);
    if (charsmap_extend_model(&model, data, size, rules, N_RULES, &e)) {
        must(e.msg[0] != 0);
    } else if (!subword_open(&sw, data, size, &e)) {
        subword_close(sw);
        must(!subword_open(&sw, model.data, model.len, &e));
        subword_close(sw);
    }
    strbuf_release(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    if (data[0] & 1) try_model(data + 1, size - 1);
    else try_map(data + 1, size - 1);
    return 0;
}
