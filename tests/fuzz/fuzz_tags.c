/* fuzz_tags.c - reads any bytes as a tagged text. Stripping never fails,
 * conversion always gives well-formed XML, and stripping an escaped text gives
 * the original text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/tags_convert.h"
#include "formats/xml_write.h"
#include "pair/tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_convert(struct str s, enum tags_dialect to)
{
    struct strbuf out;
    struct str got;

    strbuf_init(&out, 0);
    if (!tags_convert(s, to, &out)) abort();
    got = (struct str){ out.data, out.len };
    if (xml_check(s.p, s.n) == s.n && !xml_is_content(got)) {
        fprintf(stderr, "%.*s\n", (int)got.n, got.p);
        abort();
    }
    strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = { (const char *)data, size };
    struct strbuf plain, back;

    strbuf_init(&plain, 0);
    strbuf_init(&back, 0);
    if (!tags_strip(s, &plain)) abort();
    strbuf_reset(&plain);
    if (!tags_escape(s, &plain) ||
        !tags_strip((struct str){ plain.data, plain.len }, &back)) abort();
    if (!str_eq(s, (struct str){ back.data, back.len })) abort();
    for (enum tags_dialect d = TAGS_TMX; d <= TAGS_XLIFF2; d++)
        check_convert(s, d);
    strbuf_release(&plain);
    strbuf_release(&back);
    return 0;
}
