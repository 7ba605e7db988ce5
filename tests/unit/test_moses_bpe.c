/* test_moses_bpe.c - a BPE tokenizer with Moses rules: its file, its ids, its
 * spans and its text. moses_oracle.sh compares many more texts. */
#include "made_moses.h"
#include "script_lines.h"
#include "test.h"
#include "text/subword.h"
#include "text/truecaser.h"

#define OPEN_OR_RETURN(sw, ...) \
    struct subword *sw = open_made((struct moses_bpe_spec){ __VA_ARGS__ }); \
    REQUIRE(sw != NULL)

static struct subword *open_made(struct moses_bpe_spec s)
{
    struct subword *sw = NULL;
    struct strbuf model;
    struct err e;

    strbuf_init(&model, 0);
    if (!s.language) s.language = "de";
    if (!s.codes) s.codes = MADE_CODES;
    if (CHECK_OK(made_moses_write(&model, s, &e), &e))
        CHECK_OK(subword_open(&sw, model.data, model.len, &e), &e);
    strbuf_release(&model);
    return sw;
}

/* The pieces of a text, divided by spaces. Valid until the next call. */
static const char *split(const struct subword *sw, const char *text)
{
    static struct strbuf sb;
    struct pieces p = { 0 };
    struct err e;

    if (!sb.data) strbuf_init(&sb, 0);
    strbuf_reset(&sb);
    CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    for (size_t i = 0; i < p.n; i++) {
        size_t len;
        const char *piece = subword_piece(sw, p.at[i].id, &len);

        strbuf_addf(&sb, "%s%.*s", i ? " " : "", (int)len, piece);
    }
    pieces_release(&p);
    return sb.data;
}

/* The parts of the text that the pieces stand for, divided by |. */
static const char *spans(const struct subword *sw, const char *text)
{
    static struct strbuf sb;
    struct pieces p = { 0 };
    struct err e;

    if (!sb.data) strbuf_init(&sb, 0);
    strbuf_reset(&sb);
    CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    for (size_t i = 0; i < p.n; i++)
        strbuf_addf(&sb, "%s%.*s", i ? "|" : "",
                    (int)(p.at[i].end - p.at[i].begin), text + p.at[i].begin);
    pieces_release(&p);
    return sb.data;
}

/* The text that the pieces of a text decode to. */
static const char *there_and_back(const struct subword *sw, const char *text)
{
    static struct strbuf sb;
    struct pieces p = { 0 };
    int32_t ids[500];
    struct err e;

    if (!sb.data) strbuf_init(&sb, 0);
    strbuf_reset(&sb);
    CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    for (size_t i = 0; i < p.n && i < COUNT(ids); i++) ids[i] = p.at[i].id;
    CHECK_OK(subword_decode(sw, ids, p.n, &sb, &e), &e);
    pieces_release(&p);
    return sb.data;
}

/* ---- pieces ------------------------------------------------------------- */

TEST(pieces_can_be_looked_up)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ);
    size_t len;

    CHECK_INT(subword_unk(sw), 3);
    CHECK_INT(subword_find(sw, "</s>", 4), 2);
    CHECK(subword_is_control(sw, 2) && !subword_is_control(sw, 3));
    CHECK(subword_is_control(sw, -1));
    CHECK(subword_is_control(sw, subword_size(sw)));
    CHECK_INT(subword_find(sw, "no such", 7), -1);
    CHECK(!memcmp(subword_piece(sw, subword_find(sw, "hous@@", 6), &len),
                  "hous@@", 6));
    CHECK_INT(len, 6);
    CHECK_STR(subword_piece(sw, -1, &len), "");
    CHECK_INT(len, 0);
    subword_close(sw);
}

TEST(words_are_split_by_the_merges)
{
    OPEN_OR_RETURN(at, .steps = MOSES_FAIRSEQ);
    OPEN_OR_RETURN(end, .steps = MOSES_FAIRSEQ, .marks = BPE_MARKS_WORD_END);

    CHECK_STR(split(at, "the house in-the"),
              "the house in @-@ the");
    CHECK_STR(split(at, "housed thee"), "hous@@ e@@ d th@@ e@@ e");
    CHECK_STR(split(end, "housed the"), "hous e d</w> the</w>");
    subword_close(at);
    subword_close(end);
}

TEST(unknown_characters_are_unknown_pieces)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ);

    CHECK_STR(split(sw, "a\u0416b \u0416\u0416"),
              "a@@ <unk> b <unk> <unk>");
    /* No text gives a control piece. */
    CHECK_STR(split(sw, "<s>"), "&@@ l@@ t@@ ; s &@@ g@@ t@@ ;");
    subword_close(sw);
}

TEST(text_never_becomes_a_control_piece)
{
    OPEN_OR_RETURN(sw, .steps = 0, .codes = "< s 1\n<s ></w> 1\n");

    CHECK_STR(split(sw, "<s> <pad>"), "<unk> <@@ p@@ a@@ d@@ >");
    subword_close(sw);
}

/* A pair is merged everywhere before a better one, which this has made
 * possible, is looked at. */
TEST(a_pair_is_merged_everywhere_at_once)
{
    OPEN_OR_RETURN(sw, .steps = 0,
                   .codes = "ab a 1\na b 1\na b</w> 1\nb b 1\n");

    CHECK_STR(split(sw, "ababab"), "ab@@ aba@@ b");
    CHECK_STR(split(sw, "abac"), "aba@@ c");
    CHECK_STR(split(sw, "bbbbb"), "bb@@ bb@@ b");
    subword_close(sw);
}

TEST(the_end_of_a_word_is_glued_or_apart)
{
    static const char old[] = "h o\nho u\nr</w> x\nr </w>\n";
    static const char new[] = "#version: 0.2\nh o\nho u\nu r</w>\nr x\n";
    OPEN_OR_RETURN(apart, .steps = 0, .codes = old,
                   .codes_form = BPE_CODES_SUBWORD_NMT);
    OPEN_OR_RETURN(glued, .steps = 0, .codes = new,
                   .codes_form = BPE_CODES_SUBWORD_NMT);

    CHECK_STR(split(apart, "hour r o"), "hou@@ r r o");
    CHECK_STR(split(glued, "hour ur o"), "hou@@ r ur o");
    subword_close(apart);
    subword_close(glued);
}

/* ---- languages ---------------------------------------------------------- */

static void check_words(const char *language, unsigned steps, const char *text,
                        const char *want)
{
    struct subword *sw = open_made((struct moses_bpe_spec){
        .language = language, .steps = steps });
    struct strbuf words;
    const char *got;

    REQUIRE(sw != NULL);
    strbuf_init(&words, 0);
    got = split(sw, text);
    for (const char *at = got; *at; at++)       /* "@@ " joins */
        if (!strncmp(at, "@@ ", 3)) at += 2;
        else strbuf_addc(&words, *at);
    CHECK_STR(words.data, want);
    strbuf_release(&words);
    subword_close(sw);
}

TEST(each_language_has_its_apostrophes)
{
    enum { STEPS = MOSES_TOKENIZE, PERL = MOSES_TOKENIZE | MOSES_PERL };

    check_words("de", STEPS, "a b", "a b");
    check_words("en", MOSES_ARGOS, "can't", "can &apos;t");
    check_words("fr", MOSES_ARGOS, "l'eau", "l&apos; eau");
    check_words("de", MOSES_ARGOS, "geht's", "geht &apos; s");
    /* Only the Perl script knows about Irish. */
    check_words("ga", MOSES_ARGOS, "d'eau", "d &apos; eau");
    check_words("ga", MOSES_ARGOS | MOSES_PERL, "d'eau", "d&apos; eau");
    check_words("so", MOSES_ARGOS | MOSES_PERL, "lo'da 'a",
                "lo&apos;da &apos; a");
    check_words("fi", PERL, "EU:n EU:N", "EU:n EU : N");
    check_words("fi", STEPS, "EU:n", "EU : n");
}

TEST(full_stops_belong_to_abbreviations)
{
    enum { PORT = MOSES_TOKENIZE, PERL = MOSES_TOKENIZE | MOSES_PERL };

    check_words("de", PORT, "bzw. Dr. Haus. 3. Mai z.B. und. so Dr.",
                "bzw. Dr. Haus . 3. Mai z.B. und. so Dr.");
    check_words("de", PERL, "z.B. Haus Dr.", "z.B. Haus Dr .");
    check_words("en", PORT, "No. 5 No. Five", "No. 5 No . Five");
    /* Between two spaces, the Perl script sees a word without letters. */
    check_words("en", PORT, "it. (so", "it . ( so");
    check_words("xx", PORT, "Mr. Haus", "Mr. Haus");
}

TEST(punctuation_is_normalized)
{
    enum { STEPS = MOSES_NORMALIZE };

    check_words("de", STEPS, "\u201Eab\u201C \u2013 \u00ABc\u00BB\u2026",
                "\"ab\" - \"c\"...");
    check_words("en", STEPS, "\"ab\", \"c.\"", "\"ab,\" \"c.\"");
    check_words("de", STEPS, "\"ab,\" c 1\u00A05 2 %", "\"ab\", c 1,5 2%");
    check_words("pl", STEPS, "1\u00A05", "1.5");
    check_words("en", STEPS, "a\u2019b \u2019", "a'b '");
    check_words("en", STEPS | MOSES_PERL, "a\u2019b \u2019", "a'b \"");
    check_words("zh", MOSES_WIDE, "\uFF11\uFF0C\u3002 \uFF12", "1,. 2");
    check_words("zh", MOSES_WIDE | MOSES_WIDE_ONE_QUOTE, "\uFF11", "\"");
    check_words("de", MOSES_BLANK_CONTROLS, "a\u00ADb\u200Bc", "a b c");
    check_words("de", MOSES_DROP_CONTROLS, "a\u00ADb\u200Bc", "abc");
}

/* ---- case --------------------------------------------------------------- */

TEST(words_get_their_usual_case)
{
    static const char cases[] =
        "the (9/10) The (1)\nHague (3/3)\nNATO (2/3) Nato (1)\nThe (1/1)\n"
        "the (5/6) THE (1)\n";
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ | MOSES_DETRUECASE,
                   .truecaser = cases, .codes = "t h 1\n");

    CHECK_STR(split(sw, "The nato. The \" The The hague THE xY"),
              "th@@ e N@@ A@@ T@@ O . th@@ e &@@ q@@ u@@ o@@ t@@ ; T@@ h@@ e "
              "T@@ h@@ e H@@ a@@ g@@ u@@ e T@@ H@@ E x@@ Y");
    CHECK_STR(there_and_back(sw, "The nato! the the"), "The NATO! The the");
    CHECK_STR(there_and_back(sw, "(the the"), "(The the");
    subword_close(sw);
}

/* ---- spans -------------------------------------------------------------- */

TEST(spans_are_those_of_the_users_text)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FSMT | MOSES_BLANK_CONTROLS,
                   .language = "en");

    CHECK_STR(spans(sw, "  the  house. "), "the|house|.");
    CHECK_STR(split(sw, "in-the"), "in @-@ the");
    CHECK_STR(spans(sw, "in-the"), "in|-|the");
    /* "&apos;s" is one character and a letter. */
    CHECK_STR(split(sw, "house's"), "house &apos;s");
    CHECK_STR(spans(sw, "house's"), "house|'s");
    CHECK_STR(split(sw, "a\u2026"), "a ...");
    CHECK_STR(spans(sw, "a\u2026"), "a|\u2026");
    /* The first piece of an entity has its character. */
    CHECK_STR(split(sw, "<a"), "&@@ l@@ t@@ ; a");
    CHECK_STR(spans(sw, "<a"), "<||||a");
    /* Marks that change places are one unit. */
    CHECK_STR(split(sw, "a\", b"), "a , &@@ q@@ u@@ o@@ t@@ ; b");
    CHECK_STR(spans(sw, "a\", b"), "a|\",|||||||b");
    /* What is removed belongs to the piece before it. */
    CHECK_STR(spans(sw, "\uFEFFa\u00ADb c\u200B"), "\uFEFFa|\u00ADb|c\u200B");
    CHECK_STR(split(sw, "\u00E9\u0301"), "\u00E9 \u0301");
    subword_close(sw);
}

TEST(a_change_of_case_keeps_the_spans)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ, .truecaser = "house (1/1)\n"
                   "i\u0307x (1/1)\n", .codes = "h o 1\n");

    CHECK_STR(split(sw, "HOUSE"), "ho@@ u@@ s@@ e");
    CHECK_STR(spans(sw, "HOUSE"), "HO|U|S|E");
    CHECK_STR(spans(sw, "\u0130x"), "\u0130x||");
    subword_close(sw);
}

static void check_spans(const struct subword *sw, const char *text, size_t n)
{
    struct pieces p = { 0 };
    uint32_t done = 0;
    struct err e;

    REQUIRE_OK(subword_encode(sw, text, n, &p, &e), &e);
    for (size_t i = 0; i < p.n; i++) {
        CHECK(p.at[i].begin >= done && p.at[i].begin <= p.at[i].end);
        for (uint32_t k = done; k < p.at[i].begin;) {
            int len;

            CHECK(utf8_is_space(utf8_next(text + k, p.at[i].begin - k, &len)));
            k += (uint32_t)len;
        }
        done = p.at[i].end;
        CHECK(done <= n);
    }
    for (uint32_t k = done; k < n && p.n;) {
        int len;

        CHECK(utf8_is_space(utf8_next(text + k, n - k, &len)));
        k += (uint32_t)len;
    }
    pieces_release(&p);
}

/* Every byte but white space belongs to a piece. */
TEST(spans_cover_any_text)
{
    static const char bad[] = "\xFF" "a\0b \xE2\x96 \u00AD\x01 c\xF0";
    static const unsigned steps[] = {
        0, MOSES_FAIRSEQ, MOSES_FSMT, MOSES_OPUS, MOSES_ARGOS
    };
    struct line_maker m = { 7 };
    struct strbuf line;

    strbuf_init(&line, 0);
    for (size_t i = 0; i < COUNT(steps); i++) {
        OPEN_OR_RETURN(sw, .steps = steps[i]);
        check_spans(sw, bad, sizeof bad - 1);
        for (int k = 0; k < 100; k++) {
            make_script_line(&m, k, &line);
            check_spans(sw, line.data, line.len);
        }
        subword_close(sw);
    }
    strbuf_release(&line);
}

/* ---- text --------------------------------------------------------------- */

TEST(pieces_become_text_again)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FSMT, .language = "en");
    static const char *const same[] = {
        "", "the house", "in-the house's, well-known (so it is)!",
        "He said \"the house\" and left.", "5,300 & 1.5 % of $ 3", "a / b",
        "the dogs' house", "wait... so", "[x] <b> a|b", "中文字 and 中文",
    };

    for (size_t i = 0; i < COUNT(same); i++) {
        const char *once = there_and_back(sw, same[i]);

        if (i != 4 && i != 8) CHECK_STR(once, same[i]);
    }
    CHECK_STR(there_and_back(sw, "5 % of $ 3"), "5% of $3");
    CHECK_STR(there_and_back(sw, "a  b\u00A0c \u201Ed\u201C"), "a b c \"d\"");
    subword_close(sw);
}

TEST(the_text_of_each_piece_is_known)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FSMT, .language = "en");
    static const char text[] = "well-known \"house\", the house's.";
    static const char *const want[] = {
        "w", "e", "l", "l", "-", "k", "n", "o", "w", "n", " \"", "", "", "",
        "", "", "house"
    };
    struct pieces p = { 0 };
    int32_t ids[100];
    uint32_t ends[100];
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 0);
    strbuf_adds(&out, "before ");
    REQUIRE_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    REQUIRE(p.n <= COUNT(ids));
    for (size_t i = 0; i < p.n; i++) ids[i] = p.at[i].id;
    REQUIRE_OK(subword_decode_ends(sw, ids, p.n, &out, ends, &e), &e);
    CHECK_STR(out.data, "before well-known \"house,\" the house's.");
    for (size_t i = 0; i < COUNT(want); i++) {
        uint32_t begin = i ? ends[i - 1] : 0;
        char got[40];

        snprintf(got, sizeof got, "%.*s", (int)(ends[i] - begin),
                 out.data + 7 + begin);
        CHECK_STR(got, want[i]);
    }
    CHECK_INT(ends[p.n - 1] + 7, out.len);
    pieces_release(&p);
    strbuf_release(&out);
    subword_close(sw);
}

TEST(control_pieces_and_unknown_ids_print_nothing)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ);
    int32_t house = subword_find(sw, "house", 5);
    int32_t hous = subword_find(sw, "hous@@", 6);
    int32_t ids[] = { 0, hous, 2, house, subword_size(sw) + 5, 3, hous };
    uint32_t ends[COUNT(ids)];
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 0);
    CHECK_OK(subword_decode_ends(sw, ids, COUNT(ids), &out, ends, &e), &e);
    CHECK_STR(out.data, "houshouse <unk> hous");
    CHECK_INT(ends[0], 0);
    CHECK_INT(ends[3], 9);
    CHECK_INT(ends[4], 9);
    CHECK_INT(ends[6], out.len);
    CHECK_INT(subword_decode(sw, ids, COUNT(ids), &out, &e), ST_ARGUMENT);
    strbuf_release(&out);
    subword_close(sw);
}

TEST(a_piece_knows_whether_it_begins_a_word)
{
    OPEN_OR_RETURN(at, .steps = 0);
    OPEN_OR_RETURN(end, .steps = 0, .marks = BPE_MARKS_WORD_END);
    int32_t in = subword_find(at, "in", 2), ho = subword_find(at, "ho@@", 4);

    CHECK(subword_begins_word(at, -1, ho));
    CHECK(subword_begins_word(at, in, ho));
    CHECK(!subword_begins_word(at, ho, in));
    CHECK(subword_begins_word(at, 2, in));      /* after </s> */
    CHECK(!subword_begins_word(at, in, subword_size(at)));
    in = subword_find(end, "in</w>", 6);
    ho = subword_find(end, "ho", 2);
    CHECK(subword_begins_word(end, in, ho));
    CHECK(!subword_begins_word(end, ho, in));
    subword_close(at);
    subword_close(end);
}

/* ---- files -------------------------------------------------------------- */

static void refused_codes(enum bpe_codes form, const char *codes,
                          enum status st, const char *why)
{
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 0);
    strbuf_adds(&out, "kept");
    CHECK_INT(made_moses_write(&out, (struct moses_bpe_spec){
        .language = "de", .codes = codes, .codes_form = form }, &e), st);
    CHECK_STR(e.msg, why);
    CHECK_STR(out.data, "kept");
    strbuf_release(&out);
}

TEST(damaged_files_of_merges_are_refused)
{
    refused_codes(BPE_CODES_FASTBPE, "a b 1\na b\n", ST_FORMAT,
                  "codes:2: expected \"SYMBOL SYMBOL COUNT\"");
    refused_codes(BPE_CODES_FASTBPE, "a b c\n", ST_FORMAT,
                  "codes:1: expected \"SYMBOL SYMBOL COUNT\"");
    refused_codes(BPE_CODES_SUBWORD_NMT, "a b\n\nc d\n", ST_FORMAT,
                  "codes:2: expected \"SYMBOL SYMBOL\"");
    refused_codes(BPE_CODES_SUBWORD_NMT, "a  b\n", ST_FORMAT,
                  "codes:1: expected \"SYMBOL SYMBOL\"");
    refused_codes(BPE_CODES_MERGES, "a\n", ST_FORMAT,
                  "codes:1: expected \"SYMBOL SYMBOL\"");
    refused_codes(BPE_CODES_MERGES, "#version: 0.2\na \xFF\n", ST_FORMAT,
                  "codes:2: not valid UTF-8");
    refused_codes(BPE_CODES_SUBWORD_NMT, "#version: 0.3\na b\n", ST_VERSION,
                  "codes:1: version \"0.3\" of subword-nmt is not known; 0.1 "
                  "and 0.2 are");
    refused_codes(BPE_CODES_FASTBPE, "\n", ST_FORMAT, "codes: no merges");
}

TEST(a_truecasing_model_is_checked)
{
    struct moses_bpe_spec s = { .language = "de", .codes = MADE_CODES,
                                .truecaser = "the (1/1)\nThe the\n" };
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 0);
    CHECK_INT(made_moses_write(&out, s, &e), ST_FORMAT);
    CHECK_STR(e.msg, "cases:2: expected \"WORD (COUNT/ALL) WORD (COUNT) ..\"");
    s.truecaser = "\n\n";
    CHECK_INT(made_moses_write(&out, s, &e), ST_FORMAT);
    CHECK_STR(e.msg, "cases: no words");
    strbuf_release(&out);
}

/* The tokenizer that is made of it could not be read. */
TEST(a_truecasing_model_with_nul_is_refused)
{
    static const struct str texts[] = {
        { "the (1/1)\nT\0he (1/1)\n", 21 }, { "the (1/1) T\0he (1)\n", 19 },
    };
    struct truecaser t;
    struct strbuf lower;
    struct err e;

    for (int i = 0; i < 2; i++) {
        strbuf_init(&lower, 0);
        CHECK_INT(truecaser_read(&t, &lower, texts[i], "cases", &e), ST_FORMAT);
        CHECK_STR(e.msg, i ? "cases:1: contains NUL" : "cases:2: contains NUL");
        truecaser_release(&t);
        strbuf_release(&lower);
    }
}

TEST(a_specification_is_checked)
{
    static const char *const pieces[] = { "<unk>", "a", "bad\xFF" };
    static const int32_t twice[] = { 1, 1 }, unknown[] = { 0 };
    struct moses_bpe_spec s = {
        .language = "de", .codes = "a b 1\n", .codes_size = 6,
        .codes_name = "codes", .pieces = pieces, .n_pieces = 2
    };
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 0);
    s.control = twice;
    s.n_control = 2;
    CHECK_OK(moses_bpe_write(&out, &s, &e), &e);
    s.control = unknown;
    s.n_control = 1;
    CHECK_INT(moses_bpe_write(&out, &s, &e), ST_FORMAT);
    s.n_control = 0;
    s.unk = 2;
    CHECK_INT(moses_bpe_write(&out, &s, &e), ST_FORMAT);
    s.unk = 0;
    s.n_pieces = 3;
    CHECK_INT(moses_bpe_write(&out, &s, &e), ST_FORMAT);
    CHECK_STR(e.msg, "piece 2 of the vocabulary is not valid UTF-8");
    s.n_pieces = 2;
    s.language = "a language";
    CHECK_INT(moses_bpe_write(&out, &s, &e), ST_ARGUMENT);
    strbuf_release(&out);
}

/* A model that is cut or changed anywhere is refused, or is another model. */
TEST(damaged_models_do_no_harm)
{
    struct moses_bpe_spec s = {
        .language = "de", .codes = "a b 1\nab c</w> 1\n", .steps = MOSES_OPUS,
        .truecaser = "the (1/2) The (1)\nHaus (1/1)\n"
    };
    struct strbuf model;
    struct subword *sw;
    struct err e;
    int opened = 0;

    strbuf_init(&model, 0);
    REQUIRE_OK(made_moses_write(&model, s, &e), &e);
    for (size_t n = sizeof MOSES_BPE_MAGIC - 1; n < model.len; n += 7) {
        char *cut = malloc(n);

        memcpy(cut, model.data, n);
        CHECK_INT(subword_open(&sw, cut, n, &e), ST_FORMAT);
        CHECK(!strncmp(e.msg, "tokenizer: the BPE model is damaged", 35));
        free(cut);
    }
    for (size_t i = sizeof MOSES_BPE_MAGIC - 1; i < model.len; i++) {
        model.data[i] ^= 1 << i % 8;
        if (!subword_open(&sw, model.data, model.len, &e)) {
            split(sw, "Das Haus, the \"abc\".");
            subword_close(sw);
            opened++;
        }
        model.data[i] ^= 1 << i % 8;
    }
    CHECK(opened > 0);
    strbuf_addc(&model, ' ');
    CHECK_INT(subword_open(&sw, model.data, model.len, &e), ST_FORMAT);
    strbuf_release(&model);
}

/* ---- long texts --------------------------------------------------------- */

static void split_long(const struct subword *sw, size_t n, size_t want)
{
    char *text = malloc(n);
    struct pieces p = { 0 };
    struct err e;

    memset(text, 'a', n);
    CHECK_OK(subword_encode(sw, text, n, &p, &e), &e);
    CHECK_INT(p.n, want);
    pieces_release(&p);
    free(text);
}

/* With quadratic time this would take hours. */
TEST(long_words_take_little_time)
{
    OPEN_OR_RETURN(sw, .steps = MOSES_FAIRSEQ,
                   .codes = "a a 1\naa aa 1\naaaa aaaa 1\n");

    split_long(sw, 2000000, 249999 + 4);
    subword_close(sw);
}
