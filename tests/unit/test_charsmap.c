/* test_charsmap.c - lists and builds double arrays, and adds rules to the maps
 * of SentencePiece models. */
#include "test.h"

#include "convert/opus_cleaning.h"
#include "made_spm.h"
#include "open_subword.h"
#include "script_lines.h"
#include "text/charsmap.h"
#include "text/double_array.h"

/* ---- double arrays ---- */

struct key_list {
    struct double_array_key *at;
    size_t n, seen;
};

static int compare_words(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static enum status expect_key(void *user, const struct double_array_key *k,
                              struct err *e)
{
    struct key_list *l = user;
    const struct double_array_key *want = &l->at[l->seen];

    (void)e;
    if (l->seen == l->n || k->len != want->len || k->value != want->value ||
        memcmp(k->key, want->key, k->len))
        test_fail(__FILE__, __LINE__, "key %zu: %.*s", l->seen, (int)k->len,
                  k->key);
    l->seen++;
    return ST_OK;
}

/* Build an array of words and list it again. */
static void check_words(char **words, size_t n)
{
    struct key_list l = { calloc(n + 1, sizeof *l.at), 0, 0 };
    struct double_array a;
    struct strbuf out;
    struct err e;

    qsort(words, n, sizeof *words, compare_words);
    for (size_t i = 0; i < n; i++)
        if (!i || strcmp(words[i], words[i - 1])) {
            l.at[l.n] = (struct double_array_key){
                words[i], strlen(words[i]), (uint32_t)(7 * l.n) };
            l.n++;
        }
    strbuf_init(&out, 0);
    CHECK_OK(double_array_build(&out, l.at, l.n, &e), &e);
    a = (struct double_array){ (uint8_t *)out.data, out.len / 4 };
    CHECK_OK(double_array_walk(&a, expect_key, &l, &e), &e);
    CHECK_INT(l.seen, l.n);
    strbuf_release(&out);
    free(l.at);
}

TEST(keys_come_back_in_order)
{
    enum { N = 30000 };
    static char text[N][12], *words[N];
    struct line_maker m = { 7 };
    size_t sizes[] = { 0, 1, 2, 300, N };

    for (int i = 0; i < N; i++) {
        int len = 1 + (int)line_random(&m, 9);

        for (int k = 0; k < len; k++)
            text[i][k] = (char)(1 + line_random(&m, k ? 255 : 40));
        words[i] = text[i];
    }
    for (size_t i = 0; i < COUNT(sizes); i++) check_words(words, sizes[i]);
}

TEST(long_keys_that_share_their_beginning)
{
    static char text[256][256], *words[256];

    for (int i = 0; i < 255; i++) {
        memset(text[i], 'x', (size_t)i + 1);
        words[i] = text[i];
    }
    check_words(words, 255);
}

static enum status ignore_key(void *user, const struct double_array_key *k,
                              struct err *e)
{
    (void)user, (void)k, (void)e;
    return ST_OK;
}

TEST(damaged_arrays_end)
{
    uint8_t units[1024];
    struct line_maker m = { 3 };
    struct err e = { 0 };

    /* Every unit is a child of every unit: the keys have no end. */
    for (int i = 0; i < 256; i++) {
        uint32_t unit = (uint32_t)i | (uint32_t)i << 10;

        for (int k = 0; k < 4; k++) units[4 * i + k] = (uint8_t)(unit >> 8 * k);
    }
    CHECK_INT(double_array_walk(&(struct double_array){ units, 256 },
                                ignore_key, NULL, &e), ST_FORMAT);
    for (int n = 0; n < 300; n++) {
        for (size_t i = 0; i < sizeof units; i++)
            units[i] = (uint8_t)line_random(&m, 256);
        double_array_walk(&(struct double_array){ units, 256 }, ignore_key,
                          NULL, &e);
    }
}

/* ---- maps ---- */

/* The text with the rules applied, each from left to right. */
static void apply_rules(const struct charsmap_rule *rules, size_t n,
                        const struct strbuf *text, struct strbuf *out)
{
    strbuf_reset(out);
    for (const char *p = text->data; *p;) {
        size_t i = 0;

        while (i < n && strncmp(p, rules[i].from, strlen(rules[i].from))) i++;
        if (i < n) strbuf_adds(out, rules[i].into);
        else strbuf_addc(out, *p);
        p += i < n ? strlen(rules[i].from) : 1;
    }
}

/* Whether the spans ascend and lie in the text. */
static bool spans_sound(const struct pieces *p, size_t len)
{
    uint32_t at = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (p->at[i].begin < at || p->at[i].end < p->at[i].begin) return false;
        at = p->at[i].end;
    }
    return at <= len;
}

/* `changed` gives for a text the pieces that `original` gives for the cleaned
 * text. */
static void check_cleaned(const struct subword *original,
                          const struct subword *changed,
                          const struct strbuf *text,
                          const struct strbuf *cleaned)
{
    struct pieces want = { 0 }, got = { 0 };
    bool same;
    struct err e;

    CHECK_OK(subword_encode(original, cleaned->data, cleaned->len, &want, &e),
             &e);
    CHECK_OK(subword_encode(changed, text->data, text->len, &got, &e), &e);
    same = want.n == got.n;
    for (size_t i = 0; same && i < got.n; i++)
        same = want.at[i].id == got.at[i].id;
    if (!same) test_fail(__FILE__, __LINE__, "%s", text->data);
    CHECK(spans_sound(&got, text->len));
    pieces_release(&want);
    pieces_release(&got);
}

static void add_random_from(const struct charsmap_rule *rules, size_t n,
                            struct line_maker *m, struct strbuf *text)
{
    for (int i = 0; i < 3; i++) {
        strbuf_adds(text, rules[line_random(m, (uint32_t)n)].from);
        strbuf_adds(text, i == 1 ? " word " : "a");
    }
}

/* Compare a changed model with the original one on random lines. */
static void check_lines(const struct subword *original,
                        const struct strbuf *model,
                        const struct charsmap_rule *rules, size_t n)
{
    struct subword *sw;
    struct strbuf text, cleaned;
    struct line_maker m = { 11 };
    struct err e;

    if (!CHECK_OK(subword_open(&sw, model->data, model->len, &e), &e)) return;
    strbuf_init(&text, 0);
    strbuf_init(&cleaned, 0);
    for (int i = 0; i < 1000; i++) {
        make_script_line(&m, i, &text);
        add_random_from(rules, n, &m, &text);
        apply_rules(rules, n, &text, &cleaned);
        check_cleaned(original, sw, &text, &cleaned);
    }
    subword_close(sw);
    strbuf_release(&text);
    strbuf_release(&cleaned);
}

TEST(rules_work_before_the_map)
{
    static const struct charsmap_rule rules[] = {
        { "“", "\"" }, { "’", "'" }, { "１", "\"" }, { "…", "..." },
        { "。", ". " }, { "\x01", " " }, { "\u00AD", " " }, { "№", "Nr" },
        { "&amp;", "" }, { "Q", "ﬁ" },           /* which the map makes "fi" */
    };
    struct test_subword t;
    struct strbuf model;
    struct err e;

    if (!open_test_subword(&t)) SKIP("no tokenizer");
    strbuf_init(&model, 0);
    if (CHECK_OK(charsmap_extend_model(&model, t.bytes, t.size, rules,
                                       COUNT(rules), &e), &e))
        check_lines(t.sw, &model, rules, COUNT(rules));
    strbuf_release(&model);
    close_test_subword(&t);
}

TEST(a_model_without_a_map_gets_one)
{
    static const struct charsmap_rule rules[] = { { "“", "\"" } };
    struct strbuf spm, changed, text, cleaned;
    struct subword *a = NULL, *b = NULL;
    struct err e;

    strbuf_init(&spm, 0);
    strbuf_init(&changed, 0);
    put_piece(&spm, (struct spec){ "<unk>", 0, UNK });
    put_piece(&spm, (struct spec){ SP "a", -1, NORMAL });
    put_piece(&spm, (struct spec){ "\"", -2, NORMAL });
    put_spec(&spm, 3, 3, 1);
    put_spec(&spm, 3, 4, 0);
    CHECK_OK(charsmap_extend_model(&changed, spm.data, spm.len, rules, 1, &e),
             &e);
    CHECK_OK(subword_open(&a, spm.data, spm.len, &e), &e);
    CHECK_OK(subword_open(&b, changed.data, changed.len, &e), &e);
    strbuf_init(&text, 0);
    strbuf_init(&cleaned, 0);
    strbuf_adds(&text, "a“  “a");
    strbuf_adds(&cleaned, "a\"  \"a");
    if (a && b) check_cleaned(a, b, &text, &cleaned);
    subword_close(a);
    subword_close(b);
    strbuf_release(&spm);
    strbuf_release(&changed);
    strbuf_release(&text);
    strbuf_release(&cleaned);
}

TEST(no_rules_change_nothing)
{
    struct test_subword t;
    struct strbuf model;
    struct err e;

    if (!open_test_subword(&t)) SKIP("no tokenizer");
    strbuf_init(&model, 0);
    if (CHECK_OK(charsmap_extend_model(&model, t.bytes, t.size, NULL, 0, &e),
                 &e)) {
        static const struct charsmap_rule none = { "a", "a" };

        check_lines(t.sw, &model, &none, 1);
    }
    strbuf_release(&model);
    close_test_subword(&t);
}

/* ---- OPUS-MT ---- */

TEST(cleaning_of_opus_mt)
{
    /* sed and perl in preprocess.sh */
    static const struct charsmap_rule rules[] = {
        { "，", "," }, { "。", ". " }, { "、", "," }, { "”", "\"" },
        { "“", "\"" }, { "∶", ":" }, { "：", ":" }, { "？", "?" },
        { "《", "\"" }, { "》", "\"" }, { "）", ")" }, { "！", "!" },
        { "（", "(" }, { "；", ";" }, { "１", "\"" }, { "」", "\"" },
        { "「", "\"" }, { "０", "0" }, { "３", "3" }, { "２", "2" },
        { "５", "5" }, { "６", "6" }, { "９", "9" }, { "７", "7" },
        { "８", "8" }, { "４", "4" }, { "．", ". " }, { "～", "~" },
        { "’", "'" }, { "…", "..." }, { "━", "-" }, { "〈", "<" },
        { "〉", ">" }, { "【", "[" }, { "】", "]" }, { "％", "%" },
        { "\u200B", " " }, { "\u200C", " " }, { "\u200D", " " },
        { "\uFEFF", " " }, { "\u00AD", " " }, { "\x07", " " },
        { "\xC2\x85", " " }, { "\uF0B7", " " }, { "\U000E0041", " " },
        { "\u0600", " " }, { "\u0601", " " }, { "\u0602", " " },
        { "\u0603", " " }, { "\u0604", " " }, { "\u0605", " " },
        { "\u061C", " " }, { "\u06DD", " " },
    };
    struct test_subword t;
    struct strbuf model;
    struct err e;

    if (!open_test_subword(&t)) SKIP("no tokenizer");
    strbuf_init(&model, 0);
    if (CHECK_OK(opus_cleaning_add(&model, t.bytes, t.size, &e), &e))
        check_lines(t.sw, &model, rules, COUNT(rules));
    strbuf_release(&model);
    close_test_subword(&t);
}

TEST(scripts_that_clean)
{
    static const char script[] = "sed -e 's/，/,/g' \\\n -e 's/“/\"/g' |\n";

    CHECK(opus_cleaning_is_in(script, sizeof script - 1));
    CHECK(!opus_cleaning_is_in(script, 20));
    CHECK(!opus_cleaning_is_in("", 0));
}
