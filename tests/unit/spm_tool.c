/* spm_tool.c - runs our tokenizer as a filter, for spm_oracle.sh.
 *
 *     spm_tool encode MODEL < lines > ids
 *     spm_tool decode MODEL < ids > lines
 *     spm_tool pieces MODEL < lines       the texts of the pieces, a tab, and
 *                                         the text that they decode to
 *     spm_tool rewrite MODEL SEED > NEW   for a made-up vocabulary
 *     spm_tool scripts LINES SEED > lines text in ten scripts
 *     spm_tool gen LINES SEED > lines     random text, the same every time
 *     spm_tool ids LINES SEED SIZE > ids  random ids below SIZE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "shuffled_spm.h"
#include "text/subword.h"
#include "text/utf8.h"

#define COUNT(a) (sizeof (a) / sizeof *(a))

static void die(const char *why)
{
    fprintf(stderr, "spm_tool: %s\n", why);
    exit(2);
}

/* ---- random text ---- */

static uint64_t state;

static uint32_t rnd(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static void put_cp(uint32_t cp)
{
    char s[4];

    /* Lines are separated by \n, and some of the tools use C strings. */
    if (cp == 0 || cp == '\n' || (cp >= 0xD800 && cp <= 0xDFFF)) cp = 'x';
    fwrite(s, 1, (size_t)utf8_put(s, cp), stdout);
}

static void put_word(void)
{
    static const char *const word[] = {
        "der", "die", "Haus", "translation", "Übersetzung", "don't", "ﬁnden",
        "Straße", "3.14", "1.000,50", "https://example.org/?q=1&x=2", "e.g.",
        "z.B.", "naïve", "Ångström", "e\u0301te\u0301", "２０２３", "①②", "ﷺ",
        "…", "„Zitat“", "«non»", "<unk>", "<s>", "</s>", "<pad>", "<0x41>",
        "▁", "▁▁", "a▁b", "㌔", "Ⅷ", "½", "²", "ｶﾞ", "が", "가나다", "각",
        "日本語", "中文字符", "नमस्ते", "สวัสดี", "שלום", "مرحبا", "Привет",
        "γειά", "👍🏽", "👨‍👩‍👧", "🇩🇪", "Donaudampfschifffahrtsgesellschaft",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "....", "!!!", "--", "—", "İ", "ǆ"
    };

    fputs(word[rnd(COUNT(word))], stdout);
}

static void put_space(void)
{
    static const uint32_t space[] = {
        ' ', ' ', ' ', ' ', ' ', '\t', 0xA0, 0x2003, 0x3000, 0x200B, 0x200D,
        0x2028, 0xFEFF, 0xAD, '\r', 0x0B, 0x85, 0x1680, 0x2060
    };

    for (uint32_t n = rnd(8) ? 1 : rnd(4); n--;)
        put_cp(space[rnd(rnd(3) ? 5 : COUNT(space))]);
}

/* Returns a character from an unusual part of Unicode. */
static void put_random_char(void)
{
    static const uint32_t range[][2] = {
        { 1, 0x7F }, { 0x20, 0x7F }, { 0x61, 0x7B }, { 0x80, 0x250 },
        { 0x250, 0x1000 }, { 0x300, 0x370 }, { 0x1100, 0x1200 },
        { 0x1E00, 0x2000 }, { 0x2000, 0x2070 }, { 0x2070, 0x2C00 },
        { 0x2E80, 0x3400 }, { 0x3400, 0xA000 }, { 0xAC00, 0xD7B0 },
        { 0xE000, 0xF900 }, { 0xF900, 0x10000 }, { 0x10000, 0x20000 },
        { 0x1D400, 0x1D800 }, { 0x1F300, 0x1FB00 }, { 0x20000, 0x110000 }
    };
    const uint32_t *r = range[rnd(COUNT(range))];

    put_cp(r[0] + rnd(r[1] - r[0]));
}

static void put_bad_byte(void)
{
    putchar((int)(0x80 + rnd(0x80)));
}

static void gen_line(void)
{
    uint32_t kind = rnd(6), n = rnd(50) ? 1 + rnd(40) : 1 + rnd(4000);

    while (n--) {
        uint32_t what = kind == 5 ? rnd(4) : kind;

        if (what <= 1) {
            put_word();
            if (rnd(5)) put_space();
        } else if (what == 2) {
            put_random_char();
        } else if (what == 3) {
            put_cp(rnd(6) ? 'a' + rnd(26) : ' ');
        } else {
            if (rnd(4)) put_random_char();
            else put_bad_byte();
        }
    }
    putchar('\n');
}

static void gen_ids(uint32_t size)
{
    uint32_t n = rnd(20);

    while (n--) {
        /* Low ids are control and byte pieces; their runs are the hardest. */
        printf("%u", rnd(2) ? rnd(size) : rnd(size < 300 ? size : 300));
        if (n) putchar(' ');
    }
    putchar('\n');
}

/* ---- filters ---- */

static void encode_line(struct subword *sw, const char *s, size_t n)
{
    struct pieces p = { 0 };
    struct err e;

    if (subword_encode(sw, s, n, &p, &e)) die(e.msg);
    for (size_t i = 0; i < p.n; i++) printf(i ? " %d" : "%d", (int)p.at[i].id);
    putchar('\n');
    pieces_release(&p);
}

static void decode_line(struct subword *sw, char *s)
{
    int32_t *ids = malloc((strlen(s) + 1) * sizeof *ids);
    struct strbuf sb;
    struct err e;
    size_t n = 0;

    strbuf_init(&sb, 0);
    for (char *t = strtok(s, " "); t; t = strtok(NULL, " "))
        ids[n++] = (int32_t)strtol(t, NULL, 10);
    if (subword_decode(sw, ids, n, &sb, &e)) die(e.msg);
    fwrite(sb.data, 1, sb.len, stdout);
    putchar('\n');
    strbuf_release(&sb);
    free(ids);
}

/* An unknown piece is printed as the text that it stands for. */
static void print_pieces(struct subword *sw, const char *s, size_t n)
{
    struct pieces p = { 0 };
    struct strbuf text;
    struct err e;
    int32_t *ids;

    strbuf_init(&text, 0);
    if (subword_encode(sw, s, n, &p, &e)) die(e.msg);
    ids = malloc((p.n + 1) * sizeof *ids);
    for (size_t i = 0; i < p.n; i++) {
        size_t len = p.at[i].end - p.at[i].begin;
        const char *piece = s + p.at[i].begin;

        ids[i] = p.at[i].id;
        if (ids[i] != subword_unk(sw)) piece = subword_piece(sw, ids[i], &len);
        if (i) putchar(' ');
        fwrite(piece, 1, len, stdout);
    }
    if (subword_decode(sw, ids, p.n, &text, &e)) die(e.msg);
    putchar('\t');
    fwrite(text.data, 1, text.len, stdout);
    putchar('\n');
    strbuf_release(&text);
    pieces_release(&p);
    free(ids);
}

static void rewrite(const char *path, const char *seed)
{
    struct mapping map;
    struct vocabulary *v;
    struct spm_rewrite r;
    struct err e;

    strbuf_init(&r.model, 0);
    if (mapping_open(&map, path, &e)) die(e.msg);
    if (shuffle_spm(&r, &v, map.data, map.size, (uint64_t)atol(seed), &e))
        die(e.msg);
    fwrite(r.model.data, 1, r.model.len, stdout);
    fprintf(stderr, "%d pieces, %d only in the model\n", r.n, r.n_only_spm);
    strbuf_release(&r.model);
    vocabulary_free(v);
    mapping_close(&map);
}

static void print_script_lines(long n, long seed)
{
    struct line_maker m = { (uint64_t)seed };
    struct strbuf line;

    strbuf_init(&line, 0);
    for (int i = 0; i < n; i++) {
        make_script_line(&m, i, &line);
        fwrite(line.data, 1, line.len, stdout);
        putchar('\n');
    }
    strbuf_release(&line);
}

static void filter(const char *what, const char *path)
{
    struct mapping map;
    struct subword *sw;
    struct err e;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (mapping_open(&map, path, &e)) die(e.msg);
    if (subword_open(&sw, map.data, map.size, &e)) die(e.msg);
    while ((n = getline(&line, &cap, stdin)) >= 0) {
        if (n && line[n - 1] == '\n') line[--n] = '\0';
        if (!strcmp(what, "encode")) encode_line(sw, line, (size_t)n);
        else if (!strcmp(what, "pieces")) print_pieces(sw, line, (size_t)n);
        else decode_line(sw, line);
    }
    free(line);
    subword_close(sw);
    mapping_close(&map);
}

int main(int argc, char **argv)
{
    if (argc == 3 && (!strcmp(argv[1], "encode") ||
                      !strcmp(argv[1], "decode") || !strcmp(argv[1], "pieces")))
        filter(argv[1], argv[2]);
    else if (argc == 4 && !strcmp(argv[1], "rewrite"))
        rewrite(argv[2], argv[3]);
    else if (argc == 4 && !strcmp(argv[1], "scripts"))
        print_script_lines(atol(argv[2]), atol(argv[3]));
    else if (argc == 4 && !strcmp(argv[1], "gen")) {
        state = (uint64_t)atol(argv[3]);
        for (long n = atol(argv[2]); n-- > 0;) gen_line();
    } else if (argc == 5 && !strcmp(argv[1], "ids")) {
        state = (uint64_t)atol(argv[3]);
        for (long n = atol(argv[2]); n-- > 0;)
            gen_ids((uint32_t)atol(argv[4]));
    } else {
        die("usage: encode|decode|pieces MODEL, rewrite MODEL SEED, "
            "gen|scripts LINES SEED, ids LINES SEED SIZE");
    }
    return 0;
}
