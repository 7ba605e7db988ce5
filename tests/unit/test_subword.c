/* test_subword.c - compares our tokenizer with the output of SentencePiece.
 *
 * tests/golden/tokens.jsonl is a sample of the full golden set (all its unusual
 * lines and, by length, every fourteenth of the others), made with
 * SentencePiece 0.1.97 and the de-en model. Models of other kinds are built
 * here, with a few pieces each. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "made_spm.h"
#include "open_subword.h"
#include "text/subword.h"

/* ---- the golden set ---- */

static void check_line(const struct subword *sw, json_t *line)
{
    json_t *text = json_object_get(line, "text");
    json_t *ids = json_object_get(line, "ids");
    json_t *names = json_object_get(line, "pieces");
    struct pieces p = { 0 };
    struct strbuf sb;
    struct err e;
    int32_t *back;

    REQUIRE_OK(subword_encode(sw, json_string_value(text),
                              json_string_length(text), &p, &e), &e);
    CHECK_INT(p.n, json_array_size(ids));
    back = malloc((p.n + 1) * sizeof *back);
    for (size_t i = 0; i < p.n && i < json_array_size(ids); i++) {
        size_t len;
        const char *s = subword_piece(sw, p.at[i].id, &len);
        const char *want = json_string_value(json_array_get(names, i));

        CHECK_INT(p.at[i].id, json_integer_value(json_array_get(ids, i)));
        CHECK(len == strlen(want) && !memcmp(s, want, len));
        CHECK_INT(subword_find(sw, want, strlen(want)), p.at[i].id);
        back[i] = p.at[i].id;
    }
    strbuf_init(&sb, 0);
    CHECK_OK(subword_decode(sw, back, p.n, &sb, &e), &e);
    CHECK_STR(sb.data, json_string_value(json_object_get(line, "back")));
    strbuf_release(&sb);
    pieces_release(&p);
    free(back);
}

static void check_golden(const char *path)
{
    struct test_subword t;
    struct subword *sw = open_test_subword(&t);
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0, n = 0;

    if (!sw || !f) {
        test_skip("no tokenizer or no golden lines");
    } else {
        while (getline(&line, &cap, f) > 0) {
            json_t *j = json_loads(line, 0, NULL);

            if (CHECK(j != NULL)) check_line(sw, j);
            json_decref(j);
            n++;
        }
        CHECK(n >= 60);
    }
    free(line);
    if (f) fclose(f);
    close_test_subword(&t);
}

TEST(subword_golden_sample) { check_golden(test_data("tokens.jsonl")); }

TEST(subword_golden_full)
{
    const char *path = test_shared("golden/tokens.jsonl");

    if (!path) SKIP("the full golden set is not here");
    check_golden(path);
}

/* ---- spans ---- */

static bool ascii_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void check_spans(const struct pieces *p, const char *text, size_t len)
{
    uint32_t done = 0;

    for (size_t i = 0; i < p->n; i++) {
        CHECK(p->at[i].begin >= done);
        CHECK(p->at[i].end >= p->at[i].begin);
        CHECK(p->at[i].end <= len);
        done = p->at[i].end;
    }
    /* Every letter is in a span, and only the span of a space piece contains
     * spaces. */
    for (size_t i = 0, k = 0; i < len; i++) {
        while (k < p->n && p->at[k].end <= i) k++;
        if (!ascii_word_char(text[i])) continue;
        CHECK(k < p->n && p->at[k].begin <= i);
    }
}

TEST(subword_spans_cover_the_words)
{
    static const char *const texts[] = {
        "The quick  brown fox", "  lead and trail  ", "don't stop.",
        "Ein Übermaß an ﬁnen Ⅷ Zeichen", "a\tb\u00A0c",
        "e\u0301te\u0301 \u00B4x \uFDFA y", "bad \xFF\xFE bytes",
        "👍🏽 👨‍👩‍👧 🇩🇪 flags", "数据 翻訳 テスト", "\x01\x02 x \x03",
    };
    struct test_subword t;
    struct subword *sw = open_test_subword(&t);
    struct pieces p = { 0 };
    struct err e;

    for (size_t i = 0; sw && i < COUNT(texts); i++) {
        p.n = 0;
        CHECK_OK(subword_encode(sw, texts[i], strlen(texts[i]), &p, &e), &e);
        check_spans(&p, texts[i], strlen(texts[i]));
    }
    pieces_release(&p);
    close_test_subword(&t);
    if (!sw) SKIP("no tokenizer");
}

TEST(subword_spans_by_example)
{
    static const char text[] = "  doppelt  ﬂ 数";
    static const uint32_t want[][2] = {
        { 2, 9 },               /* "▁doppelt": no dummy prefix, no spaces */
        { 9, 11 },              /* "▁": both spaces */
        { 11, 14 },             /* "fl": the ligature */
        { 14, 15 },             /* "▁" */
        { 15, 18 }, { 18, 18 }, { 18, 18 }, /* byte pieces: first has all */
    };
    struct test_subword t;
    struct subword *sw = open_test_subword(&t);
    struct pieces p = { 0 };
    struct err e;

    if (sw) {
        CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
        CHECK_INT(p.n, COUNT(want));
        for (size_t i = 0; i < p.n && i < COUNT(want); i++) {
            CHECK_INT(p.at[i].begin, want[i][0]);
            CHECK_INT(p.at[i].end, want[i][1]);
        }
    }
    pieces_release(&p);
    close_test_subword(&t);
    if (!sw) SKIP("no tokenizer");
}

/* ---- small models ---- */

/* Returns the ids of a text as "3 4 5". */
static const char *ids_of(const struct subword *sw, const char *text)
{
    static char line[400];
    struct pieces p = { 0 };
    struct err e;
    int at = 0;

    line[0] = '\0';
    CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    check_spans(&p, text, strlen(text));
    for (size_t i = 0; i < p.n && at < 380; i++)
        at += snprintf(line + at, 400 - (size_t)at, i ? " %d" : "%d",
                       (int)p.at[i].id);
    pieces_release(&p);
    return line;
}

static const char *text_of(const struct subword *sw, const int32_t *ids,
                           size_t n)
{
    static char text[400];
    struct strbuf sb;
    struct err e;

    strbuf_init(&sb, sizeof text - 1);
    CHECK_OK(subword_decode(sw, ids, n, &sb, &e), &e);
    memcpy(text, sb.data, sb.len + 1);
    strbuf_release(&sb);
    return text;
}

static const struct spec plain[] = {
    { "<unk>", 0, UNK }, { "<s>", 0, CONTROL }, { SP, -2, NORMAL },
    { "a", -3, NORMAL }, { "b", -3, NORMAL }, { "ab", -4, NORMAL },
    { SP "a", -4, NORMAL }, { "<x y>", 0, USER }, { "bb", -1, UNUSED },
};

TEST(unigram_small_model)
{
    static const int32_t ids[] = { 1, 6, 0, 2, 5 };
    struct strbuf sb;
    struct subword *sw;
    struct err e;

    make_model(&sb, 1, plain, COUNT(plain));
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    CHECK_INT(subword_size(sw), COUNT(plain));
    CHECK_INT(subword_unk(sw), 0);
    CHECK_STR(ids_of(sw, "ab"), "2 5");
    CHECK_STR(ids_of(sw, "a"), "6");
    CHECK_STR(ids_of(sw, "bb"), "2 4 4");   /* an unused piece is not output */
    CHECK_STR(ids_of(sw, "aéèb"), "6 0 4");   /* adjacent unknowns are joined */
    /* Spaces are escaped before the search, so this piece never matches. */
    CHECK_STR(ids_of(sw, "a<x y>a"), "6 0 2 0 3");
    CHECK_STR(ids_of(sw, ""), "");
    CHECK_STR(ids_of(sw, "   "), "");
    CHECK_STR(text_of(sw, ids, COUNT(ids)), "a \u2047  ab");
    subword_close(sw);
    strbuf_release(&sb);
}

TEST(user_defined_pieces_win)
{
    static const struct spec s[] = {
        { "<unk>", 0, UNK }, { SP "aab", -1, NORMAL }, { "aa", 0, USER },
        { "ﬁ", 0, USER }, { "b", -5, NORMAL }, { SP, -5, NORMAL },
        { "a", -5, NORMAL },
    };
    for (int kind = 1; kind <= 2; kind++) {
        struct strbuf sb;
        struct subword *sw;
        struct err e;

        make_model(&sb, kind, s, COUNT(s));
        REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
        CHECK_STR(ids_of(sw, "baab"), "5 4 2 4");
        CHECK_STR(ids_of(sw, "aﬁ"), "5 6 3");
        subword_close(sw);
        strbuf_release(&sb);
    }
}

TEST(bpe_merges_best_then_leftmost)
{
    static const struct spec s[] = {
        { "<unk>", 0, UNK }, { SP, -9, NORMAL }, { "a", -9, NORMAL },
        { "b", -9, NORMAL }, { "aa", -1, NORMAL }, { "ab", -2, NORMAL },
        { SP "a", -3, NORMAL }, { "aab", -4, UNUSED }, { "aabb", -5, NORMAL },
    };
    struct strbuf sb;
    struct subword *sw;
    struct err e;

    make_model(&sb, 2, s, COUNT(s));
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    CHECK_STR(ids_of(sw, "aaa"), "1 4 2");          /* leftmost of equals */
    CHECK_STR(ids_of(sw, "ba"), "1 3 2");
    CHECK_STR(ids_of(sw, "aab"), "1 4 3");  /* unused pieces are split again */
    CHECK_STR(ids_of(sw, "aabb aab"), "1 8 1 4 3");
    CHECK_STR(ids_of(sw, "a c"), "6 1 0");
    subword_close(sw);
    strbuf_release(&sb);
}

/* ids 0 <unk>, 1 "▁", 2 "a", then the 256 bytes. */
static void make_byte_model(struct strbuf *sb)
{
    char name[8];

    strbuf_init(sb, 0);
    put_piece(sb, (struct spec){ "<unk>", 0, UNK });
    put_piece(sb, (struct spec){ SP, -1, NORMAL });
    put_piece(sb, (struct spec){ "a", -1, NORMAL });
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        put_piece(sb, (struct spec){ name, 0, BYTE });
    }
    put_spec(sb, 2, 35, 1);
}

TEST(byte_fallback_both_ways)
{
    static const int32_t good[] = { 1, 3 + 0xC3, 3 + 0xA4, 2 };
    static const int32_t bad[] = { 3 + 0xC3, 2, 3 + 0xA4, 3 + 0x41, 1, 2 };
    struct strbuf sb;
    struct subword *sw;
    struct err e;

    make_byte_model(&sb);
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    CHECK_STR(ids_of(sw, "äa"), "1 198 167 2");
    CHECK_STR(ids_of(sw, "\xFF"), "1 242 194 192");
    CHECK_STR(text_of(sw, good, COUNT(good)), "äa");
    CHECK_STR(text_of(sw, bad, COUNT(bad)), "\uFFFDa\uFFFDA a");
    subword_close(sw);
    strbuf_release(&sb);
}

TEST(normalizer_options_are_kept)
{
    struct strbuf sb;
    struct subword *sw;
    struct err e;

    make_model(&sb, 1, plain, COUNT(plain));
    put_spec(&sb, 3, 3, 0);             /* no dummy prefix */
    put_spec(&sb, 3, 4, 0);             /* keep extra spaces */
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    CHECK_STR(ids_of(sw, "a  a "), "3 2 6 2");
    CHECK_STR(text_of(sw, (int32_t[]){ 2, 6 }, 2), "  a");
    subword_close(sw);
    put_spec(&sb, 3, 3, 1);
    put_spec(&sb, 2, 24, 1);            /* the space as a suffix */
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    CHECK_STR(ids_of(sw, "b"), "4 2");
    subword_close(sw);
    strbuf_release(&sb);
}

/* ---- damaged models ---- */

static void expect_format(const struct strbuf *sb, const char *part)
{
    struct subword *sw;
    struct err e;

    CHECK_INT(subword_open(&sw, sb->data, sb->len, &e), ST_FORMAT);
    CHECK(sw == NULL);
    CHECK(strstr(e.msg, part) != NULL);
    subword_close(sw);
}

TEST(damaged_models_are_refused)
{
    static const struct spec two_unk[] = { { "a", 0, UNK }, { "b", 0, UNK } };
    static const struct spec twice[] = {
        { "u", 0, UNK }, { "a", 0, NORMAL }, { "a", 0, NORMAL }
    };
    static const struct spec byte[] = {
        { "u", 0, UNK }, { "a", 0, NORMAL }, { "<0x41>", 0, BYTE }
    };
    static const struct spec score[] = {
        { "u", 0, UNK }, { "a", NAN, NORMAL }
    };
    const struct { const struct spec *s; size_t n; const char *part; } c[] = {
        { NULL, 0, "no pieces" }, { two_unk, 2, "unknown" },
        { twice, 3, "twice" }, { byte, 3, "fallback" },
        { score, 2, "not a number" }, { plain, 1, "no piece for text" },
        { plain + 1, 4, "no unknown" },
    };
    struct strbuf sb;

    for (size_t i = 0; i < COUNT(c); i++) {
        make_model(&sb, 1, c[i].s, c[i].n);
        expect_format(&sb, c[i].part);
        strbuf_release(&sb);
    }
    make_model(&sb, 3, plain, COUNT(plain));
    expect_format(&sb, "kind 3");
    strbuf_release(&sb);
    make_model(&sb, 1, plain, COUNT(plain));
    put_bytes(&sb, 3, "\x12\x04\xFF\xFF\xFF\xFF", 6);
    expect_format(&sb, "normalization map");
    strbuf_release(&sb);
}

/* Opens a damaged model. It must be refused with a reason, or give a tokenizer
 * whose ids are all in its vocabulary and decode to text. */
static bool damaged_model_opens(const char *bytes, size_t n)
{
    struct subword *sw;
    struct err e = { 0 };
    struct pieces p = { 0 };
    struct strbuf out;
    int32_t id;
    bool opened = !subword_open(&sw, bytes, n, &e);

    CHECK(opened == (sw != NULL));
    if (!opened) {
        CHECK_INT(e.status, ST_FORMAT);
        CHECK(e.msg[0] != '\0');
        return false;
    }
    strbuf_init(&out, 0);
    CHECK_OK(subword_encode(sw, "ab <x y> bb", 11, &p, &e), &e);
    for (size_t i = 0; i < p.n; i++) {
        id = p.at[i].id;
        CHECK(id >= 0 && id < subword_size(sw));
        CHECK(p.at[i].begin <= p.at[i].end && p.at[i].end <= 11);
        CHECK_OK(subword_decode(sw, &id, 1, &out, &e), &e);
    }
    strbuf_release(&out);
    pieces_release(&p);
    subword_close(sw);
    return true;
}

TEST(a_damaged_model_is_refused_or_works)
{
    struct strbuf sb;
    int cut_opened = 0, flipped_opened = 0, flipped = 0;

    make_model(&sb, 2, plain, COUNT(plain));
    for (size_t n = 0; n < sb.len; n++) {
        char *copy = malloc(n ? n : 1);

        memcpy(copy, sb.data, n);
        cut_opened += damaged_model_opens(copy, n);
        free(copy);
    }
    for (size_t i = 0; i < sb.len * 8; i++, flipped++) {
        sb.data[i / 8] ^= (char)(1 << i % 8);
        flipped_opened += damaged_model_opens(sb.data, sb.len);
        sb.data[i / 8] ^= (char)(1 << i % 8);
    }
    /* The test is meaningful only if both happen. */
    CHECK(cut_opened < (int)sb.len);
    CHECK(flipped_opened > 0 && flipped_opened < flipped);
    strbuf_release(&sb);
}

TEST(decode_refuses_what_is_not_an_id)
{
    struct strbuf sb, out;
    struct subword *sw;
    struct err e;

    make_model(&sb, 1, plain, COUNT(plain));
    REQUIRE_OK(subword_open(&sw, sb.data, sb.len, &e), &e);
    strbuf_init(&out, 8);
    CHECK(strbuf_adds(&out, "kept"));
    CHECK_INT(subword_decode(sw, (int32_t[]){ 3, 9 }, 2, &out, &e),
              ST_ARGUMENT);
    CHECK_INT(subword_decode(sw, (int32_t[]){ -1 }, 1, &out, &e), ST_ARGUMENT);
    CHECK_STR(out.data, "kept");
    CHECK_INT(subword_decode(sw, (int32_t[]){ 5, 5, 5 }, 3, &out, &e),
              ST_LIMIT);
    CHECK_STR(out.data, "kept");
    CHECK_OK(subword_decode(sw, (int32_t[]){ 6, 5 }, 2, &out, &e), &e);
    CHECK_STR(out.data, "keptaab");
    strbuf_release(&out);
    subword_close(sw);
    strbuf_release(&sb);
}
