/* fuzz_moses_text.c - splits any bytes with any steps, any merges and any
 * truecasing model.
 *
 * The first line of an input is the language. Then come two bytes, steps and
 * forms; the file of merges, ended by a zero; the truecasing model, also ended
 * by a zero, or nothing; and the text. Files are refused with their name. A
 * model that is written can be read, its spans cover the text but for white
 * space, and its pieces decode. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/moses_bpe.h"
#include "text/subword.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const pieces[] = {
    "<s>", "</s>", "<unk>", "a", "a@@", "b", "b@@", "ab", "ab@@", "a</w>",
    "&apos;", "&apos;s", "@-@", ".", ",", "\"", "&quot;", "'", "th@@", "the",
    "\u00E9", "\u4E2D", "(", ")", "1", "-", "@@", "", "s", ":", "l", "n"
};

static void must(int ok)
{
    if (!ok) abort();
}

static void only_space(const char *text, size_t begin, size_t end)
{
    int len;

    for (; begin < end; begin += (size_t)len)
        must(utf8_is_space(utf8_next(text + begin, end - begin, &len)));
}

static void check_split(const struct subword *sw, const char *text, size_t n)
{
    struct pieces p = { 0 };
    struct strbuf out;
    uint32_t done = 0, *ends;
    int32_t *ids;

    strbuf_init(&out, 0);
    must(!subword_encode(sw, text, n, &p, NULL));
    ids = malloc((p.n + n + 1) * sizeof *ids);
    ends = malloc((p.n + n + 1) * sizeof *ends);
    for (size_t i = 0; i < p.n; i++) {
        must(p.at[i].begin >= done && p.at[i].end >= p.at[i].begin);
        only_space(text, done, p.at[i].begin);
        done = p.at[i].end;
        ids[i] = p.at[i].id;
    }
    must(done <= n);
    if (p.n) only_space(text, done, n);
    must(!subword_decode_ends(sw, ids, p.n, &out, ends, NULL));
    must(!p.n || ends[p.n - 1] == out.len);
    /* And any ids. */
    for (size_t i = 0; i < n; i++) ids[i] = (uint8_t)text[i] % 40;
    must(!subword_decode_ends(sw, ids, n, &out, ends, NULL));
    for (size_t i = 1; i < n; i++) must(ends[i] >= ends[i - 1]);
    must(utf8_check(out.data, out.len) == out.len);
    strbuf_release(&out);
    pieces_release(&p);
    free(ids);
    free(ends);
}

/* What comes before the next byte c, which is cut off, or all. */
static struct str take(struct str *rest, char c)
{
    const char *hit = rest->n ? memchr(rest->p, c, rest->n) : NULL;
    struct str part = { rest->p, hit ? (size_t)(hit - rest->p) : rest->n };

    rest->p += part.n + (hit != NULL);
    rest->n -= part.n + (hit != NULL);
    return part;
}

static void check_input(struct str rest)
{
    static const int32_t control[] = { 0, 1 };
    struct str code = take(&rest, '\n'), codes, cases;
    char language[20] = "";
    struct moses_bpe_spec s;
    struct err e = { 0 };
    struct strbuf model;
    struct subword *sw;

    if (rest.n < 3 || code.n >= sizeof language) return;
    memcpy(language, code.p, code.n);
    s = (struct moses_bpe_spec){
        .language = language,
        .steps = ((uint8_t)rest.p[0] | (unsigned)(rest.p[1] & 7) << 8),
        .codes_form = (uint8_t)rest.p[1] / 8 % 3,
        .marks = (uint8_t)rest.p[1] >> 7, .codes_name = "codes",
        .pieces = pieces, .n_pieces = sizeof pieces / sizeof *pieces, .unk = 2,
        .control = control, .n_control = 2, .truecaser_name = "cases"
    };
    rest.p += 2;
    rest.n -= 2;
    codes = take(&rest, '\0');
    cases = take(&rest, '\0');
    s.codes = codes.p;
    s.codes_size = codes.n;
    s.truecaser = cases.n ? cases.p : NULL;
    s.truecaser_size = cases.n;
    strbuf_init(&model, 0);
    if (moses_bpe_write(&model, &s, &e)) {
        must(!strncmp(e.msg, "codes:", 6) || !strncmp(e.msg, "cases:", 6)
             || strstr(e.msg, "language") || e.status == ST_NOMEM);
        must(!model.len);
    } else {
        must(!subword_open(&sw, model.data, model.len, NULL));
        check_split(sw, rest.p, rest.n);
        subword_close(sw);
    }
    strbuf_release(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size, so that ASan detects reads past the end. */
    char *copy = malloc(size ? size : 1);

    if (size) memcpy(copy, data, size);
    check_input((struct str){ copy, size });
    free(copy);
    return 0;
}
