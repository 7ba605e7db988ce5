/* fuzz_text.c - splits and tokenizes any bytes as text, reads them as the code
 * of a language, and opens them as a tokenizer model.
 *
 *     SKMT_SPM=spm.model fuzz_text CORPUS
 *
 * SKMT_SPM names a real model to tokenize with; without it, only the other
 * checks run. Seeds are text files and small .model files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "text/language.h"
#include "text/split.h"
#include "text/subword.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct subword *real_model(void)
{
    static struct subword *sw;
    static struct mapping map;
    static int tried;
    const char *path = getenv("SKMT_SPM");

    if (!tried++ && path) {
        if (mapping_open(&map, path, NULL) ||
            subword_open(&sw, map.data, map.size, NULL))
            abort();            /* a wrong path would fuzz nothing */
    }
    return sw;
}

static void must(int ok)
{
    if (!ok) abort();
}

static void check_spans(const struct pieces *p, size_t size)
{
    uint32_t done = 0;

    for (size_t i = 0; i < p->n; i++) {
        must(p->at[i].begin >= done && p->at[i].end >= p->at[i].begin);
        done = p->at[i].end;
    }
    must(done <= size);
}

static void decode_back(const struct subword *sw, const struct pieces *p)
{
    int32_t *ids = malloc((p->n + 1) * sizeof *ids);
    struct strbuf out;

    for (size_t i = 0; i < p->n; i++) ids[i] = p->at[i].id;
    strbuf_init(&out, 0);
    must(subword_decode(sw, ids, p->n, &out, NULL) == ST_OK);
    strbuf_release(&out);
    free(ids);
}

static void use(const struct subword *sw, const char *text, size_t size)
{
    struct pieces p = { 0 };

    must(subword_encode(sw, text, size, &p, NULL) == ST_OK);
    check_spans(&p, size);
    decode_back(sw, &p);
    for (size_t limit = 1; limit < p.n && limit < 20; limit++) {
        const char *lang = limit % 3 ? limit % 3 > 1 ? "zh" : "ru" : NULL;
        size_t n = split_clause(text, p.at, p.n, limit, lang);

        must(n >= 1 && n <= limit);
    }
    pieces_release(&p);
}

static void split(const char *text, size_t size)
{
    static const char *const lang[] = { "de", "en", NULL, "ru", "fr", "nl",
        "hu", "ko", "zh", "hi", "ur", "am", "hy", "bo", "km", "el", "th" };

    for (size_t i = 0; i < sizeof lang / sizeof *lang; i++) {
        struct spans s = { 0 };
        size_t done = 0;

        must(split_sentences(text, size, lang[i], &s, NULL) == ST_OK);
        for (size_t k = 0; k < s.n; k++) {
            must(s.at[k].begin >= done && s.at[k].end > s.at[k].begin);
            done = s.at[k].end;
        }
        must(done <= size);
        spans_release(&s);
    }
}

/* Reads the text as the code of a language. What is written must mean the
 * same. */
static void read_code(const char *text, size_t size)
{
    struct str s = { text, size };
    struct language l, again;
    char tag[LANGUAGE_TAG_SIZE];

    must(language_fits(s, s));
    language_tag(s, tag);
    if (!language_parse(s, &l)) {
        must(!tag[0]);
        return;
    }
    must(language_parse(str_of(tag), &again));
    must(!strcmp(l.code, again.code) && !strcmp(l.region, again.region));
    must(language_fits(s, str_of(tag)) && language_accepts(l.code, s));
    must(language_rank(l.code, s) >= 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sentence[] =
        "Ein Satz, \xE2\x96\x81 mit \xEF\xAC\x81 und \xFF.";
    /* A copy of the exact size, so that ASan detects reads past the end. */
    char *text = malloc(size ? size : 1);
    struct subword *sw;
    struct strbuf fixed;

    if (size) memcpy(text, data, size);
    split(text, size);
    read_code(text, size);
    if (real_model()) use(real_model(), text, size);
    if (!subword_open(&sw, text, size, NULL)) {
        use(sw, text, size);
        use(sw, sentence, sizeof sentence - 1);
        subword_close(sw);
    }
    strbuf_init(&fixed, 0);
    must(utf8_repair(&fixed, text, size));
    must(utf8_check(fixed.data, fixed.len) == fixed.len);
    strbuf_release(&fixed);
    free(text);
    return 0;
}
