/* test_spm_rewrite.c - rewrites SentencePiece models for vocabularies, and
 * checks that segmentation and text stay the same.
 *
 * spm_oracle.sh does the same with models that SentencePiece trains, and reads
 * the new models with SentencePiece itself. */
#include "test.h"

#include "base/file.h"
#include "made_spm.h"
#include "shuffled_spm.h"

#define N_LINES 4000

static struct vocabulary *vocabulary_of(const char *lines)
{
    struct vocabulary *v;
    struct err e;

    CHECK_OK(vocabulary_read(&v, VOCABULARY_LINES, lines, strlen(lines),
                             "vocabulary", &e), &e);
    return v;
}

/* ---- the same text in ten scripts ---- */

struct both { struct subword *old, *new; const struct spm_rewrite *r; };

static void check_same_piece(const struct both *b, int32_t old, int32_t new)
{
    size_t n_old, n_new;
    const char *s_old, *s_new;

    CHECK(new >= 0 && new < b->r->n);
    CHECK_INT(new == b->r->unk, old == subword_unk(b->old));
    if (new == b->r->unk) return;
    s_old = subword_piece(b->old, old, &n_old);
    s_new = subword_piece(b->new, new, &n_new);
    CHECK(n_old == n_new && !memcmp(s_old, s_new, n_old));
}

static void decode_pieces(const struct subword *sw, const struct pieces *p,
                          struct strbuf *out)
{
    int32_t *ids = malloc((p->n + 1) * sizeof *ids);
    struct err e;

    for (size_t i = 0; i < p->n; i++) ids[i] = p->at[i].id;
    strbuf_reset(out);
    CHECK_OK(subword_decode(sw, ids, p->n, out, &e), &e);
    free(ids);
}

static void check_same_line(const struct both *b, const struct strbuf *line)
{
    struct pieces old = { 0 }, new = { 0 };
    struct strbuf text[2];
    struct err e;

    strbuf_init(&text[0], 0);
    strbuf_init(&text[1], 0);
    CHECK_OK(subword_encode(b->old, line->data, line->len, &old, &e), &e);
    CHECK_OK(subword_encode(b->new, line->data, line->len, &new, &e), &e);
    CHECK_INT(new.n, old.n);
    for (size_t i = 0; i < old.n && i < new.n; i++) {
        check_same_piece(b, old.at[i].id, new.at[i].id);
        CHECK_INT(new.at[i].begin, old.at[i].begin);
        CHECK_INT(new.at[i].end, old.at[i].end);
    }
    decode_pieces(b->old, &old, &text[0]);
    decode_pieces(b->new, &new, &text[1]);
    CHECK_STR(text[1].data, text[0].data);
    strbuf_release(&text[0]);
    strbuf_release(&text[1]);
    pieces_release(&old);
    pieces_release(&new);
}

/* The pieces of the vocabulary have its ids. */
static void check_order(const struct both *b, const struct vocabulary *v)
{
    CHECK_INT(subword_size(b->new), b->r->n);
    CHECK_INT(b->r->n, vocabulary_size(v) + b->r->n_only_spm);
    CHECK_INT(subword_unk(b->new), b->r->unk);
    for (int32_t id = 0; id < vocabulary_size(v); id++) {
        size_t len;
        const char *s = subword_piece(b->new, id, &len);

        CHECK(strlen(vocabulary_piece(v, id)) == len &&
              !memcmp(s, vocabulary_piece(v, id), len));
    }
    for (int i = 0; i < N_SHUFFLED_CONTROL; i++)
        CHECK(subword_is_control(b->new,
                                 vocabulary_find(v, shuffled_control[i])));
}

static void check_shuffled(const void *spm, size_t size, uint64_t seed)
{
    struct line_maker m = { seed };
    struct spm_rewrite r;
    struct both b = { NULL, NULL, &r };
    struct vocabulary *v;
    struct strbuf line;
    struct err e;

    strbuf_init(&r.model, 0);
    strbuf_init(&line, 0);
    REQUIRE_OK(shuffle_spm(&r, &v, spm, size, seed, &e), &e);
    CHECK(r.n_only_spm > 0);
    REQUIRE_OK(subword_open(&b.old, spm, size, &e), &e);
    REQUIRE_OK(subword_open(&b.new, r.model.data, r.model.len, &e), &e);
    check_order(&b, v);
    for (int i = 0; i < N_LINES; i++) {
        make_script_line(&m, i, &line);
        check_same_line(&b, &line);
    }
    subword_close(b.old);
    subword_close(b.new);
    vocabulary_free(v);
    strbuf_release(&line);
    strbuf_release(&r.model);
}

TEST(rewritten_unigram_model_gives_the_same_pieces)
{
    const char *path = test_shared("model/spm.model");
    struct mapping map;
    struct err e;

    if (!path) SKIP("there is no unigram model in the full sets");
    REQUIRE_OK(mapping_open(&map, path, &e), &e);
    check_shuffled(map.data, map.size, 1);
    mapping_close(&map);
}

TEST(rewritten_bpe_model_gives_the_same_pieces)
{
    struct strbuf text, spm;

    strbuf_init(&text, 0);
    for (int i = 0; i < N_SCRIPTS; i++) strbuf_adds(&text, scripts[i].text);
    make_bpe_model(&spm, text.data, 300);
    check_shuffled(spm.data, spm.len, 2);
    strbuf_release(&text);
    strbuf_release(&spm);
}

/* ---- the kinds of pieces ---- */

static const struct spec small[] = {
    { "<unk>", 0, UNK }, { "<s>", 0, CONTROL }, { "</s>", 0, CONTROL },
    { SP, -2, NORMAL }, { "a", -3, NORMAL }, { "b", -3, NORMAL },
    { "ab", -4, NORMAL }, { "__en__", -1, NORMAL }, { "abb", -1, UNUSED },
};

static enum status rewrite_small(struct spm_rewrite *r, int kind,
                                 const char *lines, struct err *e)
{
    static const char *const control[] = { "__en__", "<pad>", "missing" };
    struct vocabulary *v = vocabulary_of(lines);
    struct strbuf spm;
    enum status st;

    make_model(&spm, kind, small, COUNT(small));
    strbuf_init(&r->model, 0);
    st = spm_rewrite(r, spm.data, spm.len, v, "UNK", control, COUNT(control),
                     "small.spm", e);
    strbuf_release(&spm);
    vocabulary_free(v);
    return st;
}

static const char *const small_lines =
    "</s>\nUNK\nab\na\n" SP "\n<pad>\n__en__\n<unk>\n\nbaa\n<s>\n";

/* Returns the text of one id. */
static const char *print_id(const struct subword *sw, int32_t id)
{
    static char text[100];
    struct strbuf sb;
    struct err e;

    strbuf_init(&sb, sizeof text - 1);
    CHECK_OK(subword_decode(sw, &id, 1, &sb, &e), &e);
    memcpy(text, sb.data, sb.len + 1);
    strbuf_release(&sb);
    return text;
}

/* Returns the ids of a text as "3 4 5". */
static const char *list_ids(const struct subword *sw, const char *text)
{
    static char line[100];
    struct pieces p = { 0 };
    struct err e;
    int at = 0;

    line[0] = '\0';
    CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    for (size_t i = 0; i < p.n && at < 80; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, i ? " %d" : "%d",
                       (int)p.at[i].id);
    pieces_release(&p);
    return line;
}

TEST(pieces_of_a_unigram_vocabulary)
{
    struct spm_rewrite r;
    struct subword *sw;
    struct err e;

    REQUIRE_OK(rewrite_small(&r, 1, small_lines, &e), &e);
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK_INT(r.n, 13);                 /* b and a second __en__ are added */
    CHECK_INT(r.n_only_spm, 2);
    CHECK_INT(r.unk, 1);
    CHECK_STR(list_ids(sw, "ab b"), "4 2 4 11");
    CHECK_STR(list_ids(sw, "baa"), "4 11 3 3");
    CHECK_STR(list_ids(sw, "a?a"), "4 3 1 3");
    CHECK_STR(list_ids(sw, "__en__"), "4 12");  /* never the language token */
    for (int32_t id = 0; id < 11; id++)
        CHECK_INT(subword_is_control(sw, id),
                  id == 0 || (id >= 5 && id <= 8) || id == 10);
    CHECK_STR(print_id(sw, 9), "baa");
    CHECK_STR(print_id(sw, 6), "");
    CHECK_STR(print_id(sw, 8), "");
    subword_close(sw);
    strbuf_release(&r.model);
}

TEST(pieces_of_a_bpe_vocabulary)
{
    struct spm_rewrite r;
    struct subword *sw;
    struct err e;

    REQUIRE_OK(rewrite_small(&r, 2, small_lines, &e), &e);
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK_INT(r.n, 14);                 /* and abb, an unused piece */
    CHECK_INT(r.n_only_spm, 3);
    CHECK_STR(list_ids(sw, "ab b"), "4 2 4 11");
    CHECK_STR(list_ids(sw, "abb"), "4 2 11");
    CHECK_STR(list_ids(sw, "baa"), "4 11 3 3");
    CHECK(subword_is_control(sw, 9));
    subword_close(sw);
    strbuf_release(&r.model);
}

/* The original prints unknown characters as they are, and a project looks them
 * up in its vocabulary. */
TEST(unknown_characters_may_be_in_the_vocabulary)
{
    struct spm_rewrite r;
    struct subword *sw;
    struct err e;

    /* 0 UNK, 1 space, 2 a, 3 x, 4 xyz, 5 abb, 6 <pad> */
    CHECK_OK(rewrite_small(&r, 1, "UNK\n" SP "\na\nx\nxyz\nabb\n<pad>\n",
                           &e), &e);
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK_STR(list_ids(sw, "x"), "1 3");
    CHECK_STR(list_ids(sw, "axa"), "1 2 3 2");
    CHECK_STR(list_ids(sw, "axya"), "1 2 0 2");
    CHECK_STR(list_ids(sw, "axyz"), "1 2 4");
    CHECK_STR(list_ids(sw, "xyzx"), "1 0");
    CHECK_STR(list_ids(sw, "x x"), "1 3 1 3");
    CHECK_STR(list_ids(sw, "<pad>"), "1 0 2 0");
    CHECK_STR(print_id(sw, 4), "xyz");
    subword_close(sw);
    /* A model of SentencePiece does not say that; the field is the last one. */
    r.model.data[r.model.len - 1] = 0;
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK_STR(list_ids(sw, "axyz"), "1 2 0");
    subword_close(sw);
    strbuf_release(&r.model);
}

TEST(the_unknown_piece_may_have_the_text_of_a_word)
{
    struct spm_rewrite r;
    struct subword *sw;
    struct vocabulary *v = vocabulary_of("a\nb\nab\n");
    struct strbuf spm;
    struct err e;

    make_model(&spm, 1, small, COUNT(small));
    strbuf_init(&r.model, 0);
    REQUIRE_OK(spm_rewrite(&r, spm.data, spm.len, v, "ab", NULL, 0, "x", &e),
               &e);
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK_INT(r.unk, 2);
    CHECK_STR(list_ids(sw, "ab?"), "3 4 2");
    subword_close(sw);
    strbuf_release(&r.model);
    strbuf_release(&spm);
    vocabulary_free(v);
}

TEST(a_piece_without_text_gets_one)
{
    struct spm_rewrite r;
    struct subword *sw;
    struct err e;

    REQUIRE_OK(rewrite_small(&r, 1, "UNK\n\n<piece 1.0>\na\n", &e), &e);
    REQUIRE_OK(subword_open(&sw, r.model.data, r.model.len, &e), &e);
    CHECK(subword_is_control(sw, 1));
    CHECK_STR(print_id(sw, 2), "<piece 1.0>");
    CHECK_STR(print_id(sw, 3), "a");
    subword_close(sw);
    strbuf_release(&r.model);
}

/* ---- refusals ---- */

static void expect_refused(const char *lines, const char *part)
{
    struct spm_rewrite r;
    struct err e;

    CHECK_INT(rewrite_small(&r, 1, lines, &e), ST_FORMAT);
    if (!strstr(e.msg, part)) test_fail(__FILE__, __LINE__, "%s", e.msg);
    CHECK_INT(r.model.len, 0);
    strbuf_release(&r.model);
}

TEST(impossible_vocabularies_are_refused)
{
    struct strbuf lines;

    expect_refused("a\nb\n", "does not have the unknown piece \"UNK\"");
    strbuf_init(&lines, 0);
    strbuf_adds(&lines, "UNK\n");
    for (int i = 0; i < 8001; i++) strbuf_addc(&lines, 'x');
    expect_refused(lines.data, "piece 1 has more than 8000 bytes");
    strbuf_release(&lines);
}

TEST(damaged_sentencepiece_models_are_refused)
{
    struct vocabulary *v = vocabulary_of("<unk>\na\n");
    struct spm_rewrite r;
    struct strbuf spm;
    struct err e;

    make_model(&spm, 1, small, COUNT(small));
    strbuf_init(&r.model, 0);
    for (size_t n = 0; n < spm.len; n++) {      /* truncated */
        enum status st = spm_rewrite(&r, spm.data, n, v, "<unk>", NULL, 0,
                                     "cut.spm", &e);

        if (st) CHECK(!strncmp(e.msg, "cut.spm: ", 9));
        CHECK_INT(st == ST_OK, r.model.len > 0);
    }
    for (size_t bit = 0; bit < 8 * spm.len; bit++) {
        spm.data[bit / 8] ^= (char)(1 << bit % 8);
        CHECK_INT(spm_rewrite(&r, spm.data, spm.len, v, "<unk>", NULL, 0,
                              "flipped.spm", &e) == ST_OK, r.model.len > 0);
        spm.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    strbuf_release(&r.model);
    strbuf_release(&spm);
    vocabulary_free(v);
}

/* SentencePiece takes the control piece where BPE has merged "ab". */
TEST(two_pieces_of_one_text_are_refused)
{
    static const struct spec twice[] = {
        { "<unk>", 0, UNK }, { "ab", 0, CONTROL }, { "a", -1, NORMAL },
        { "b", -1, NORMAL }, { "ab", -2, UNUSED }
    };
    struct vocabulary *v = vocabulary_of("<unk>\na\nb\n");
    struct spm_rewrite r;
    struct strbuf spm;
    struct err e;

    make_model(&spm, 2, twice, COUNT(twice));
    strbuf_init(&r.model, 0);
    CHECK_INT(spm_rewrite(&r, spm.data, spm.len, v, "<unk>", NULL, 0, "x", &e),
              ST_FORMAT);
    CHECK_STR(e.msg, "x: piece 4 has the text of another piece, \"ab\"");
    strbuf_release(&r.model);
    strbuf_release(&spm);
    vocabulary_free(v);
}

/* Texts cannot be normalized with it, so the new model could not be opened. */
TEST(a_damaged_normalization_map_is_refused)
{
    struct vocabulary *v = vocabulary_of("<unk>\na\n");
    struct spm_rewrite r;
    struct strbuf spm;
    struct err e;

    make_model(&spm, 1, small, COUNT(small));
    strbuf_add(&spm, "\x1a\x06\x12\x04" "HHHH", 8);
    strbuf_init(&r.model, 0);
    CHECK_INT(spm_rewrite(&r, spm.data, spm.len, v, "<unk>", NULL, 0, "map.spm",
                          &e), ST_FORMAT);
    CHECK(!strncmp(e.msg, "map.spm: ", 9));
    CHECK_INT(r.model.len, 0);
    strbuf_release(&r.model);
    strbuf_release(&spm);
    vocabulary_free(v);
}
