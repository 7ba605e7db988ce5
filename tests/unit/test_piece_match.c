/* test_piece_match.c - which pieces of a stored source a sentence has, too, and
 * how far they belong to the same words. */
#include "engine/piece_match.h"

#include "tiny_net.h"

enum { MOST = 40 };

/* The tokenizer of a tiny model. A text of a test names its pieces, divided by
 * blanks; "_" stands for the space symbol. */
struct desk { struct tiny_net t; const struct subword *sw; };

static bool desk_open(struct desk *d)
{
    struct tiny o = TINY_DEFAULT;

    if (!tiny_net_open(&d->t, &o, DT_F32, NULL)) return false;
    d->sw = d->t.w->src_subword;
    return true;
}

static void desk_close(struct desk *d) { tiny_net_close(&d->t); }

static int32_t piece_id(const struct desk *d, const char *name, size_t n)
{
    char text[32] = "";
    int32_t id;

    if (*name == '_')
        snprintf(text, sizeof text, "\xe2\x96\x81%.*s", (int)n - 1, name + 1);
    else
        snprintf(text, sizeof text, "%.*s", (int)n, name);
    id = subword_find(d->sw, text, strlen(text));
    CHECK(id >= 0 && (id != subword_unk(d->sw) || !strcmp(text, "<unk>")));
    return id;
}

static int ids_of(const struct desk *d, const char *names, int32_t *ids)
{
    int n = 0;

    for (const char *at = names; *at;) {
        size_t len = strcspn(at, " ");

        CHECK(n < MOST);
        ids[n++] = piece_id(d, at, len);
        at += len;
        at += strspn(at, " ");
    }
    return n;
}

/* Compare and check. `want` is the token of each piece, -1 for none, and
 * `words` its same_word. */
static void check_match(const struct desk *d, const char *stored,
                        const char *sentence, const int *want,
                        const double *words)
{
    int32_t a[MOST], b[MOST];
    int n = ids_of(d, stored, a), m = ids_of(d, sentence, b);
    struct piece_match pm = { 0 };
    struct err e;

    REQUIRE_OK(piece_match_init(&pm, d->sw, a, n, b, m, &e), &e);
    CHECK_INT(pm.n, n);
    for (int i = 0; i < n; i++) {
        if (pm.token[i] != want[i] ||
            fabs((double)pm.same_word[i] - words[i]) > 1e-6)
            test_fail(__FILE__, __LINE__, "%s | %s: piece %d: %d %g", stored,
                      sentence, i, (int)pm.token[i], (double)pm.same_word[i]);
    }
    piece_match_release(&pm);
    CHECK(!pm.token && !pm.same_word && !pm.n);
}

#define CHECK_MATCH(d, stored, sentence, tokens, words)                 \
    check_match(d, stored, sentence, (const int[])tokens,               \
                (const double[])words)
#define L(...) { __VA_ARGS__ }

TEST(equal_sources_match_piece_by_piece)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    CHECK_MATCH(&d, "_the ch ei _of .", "_the ch ei _of .",
                L(0, 1, 2, 3, 4), L(1, 1, 1, 1, 1));
    desk_close(&d);
}

TEST(the_longest_common_subsequence_is_matched)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    /* A word is replaced, one is inserted, and one is left out. */
    CHECK_MATCH(&d, "_the _of _in", "_the _to _in", L(0, -1, 2), L(1, 0, 1));
    CHECK_MATCH(&d, "_the _in", "_the _of _to _in", L(0, 3), L(1, 1));
    CHECK_MATCH(&d, "_the _of _to _in", "_the _in", L(0, -1, -1, 1),
                L(1, 0, 0, 1));
    /* Matches ascend: of two that cross, only one counts. */
    CHECK_MATCH(&d, "_a _of _to", "_of _to _a", L(-1, 0, 1), L(0, 1, 1));
    /* The greedy choice would be the first "_in". */
    CHECK_MATCH(&d, "_in _the _of _in", "_the _of _in", L(-1, 0, 1, 2),
                L(0, 1, 1, 1));
    CHECK_MATCH(&d, "_the _of", "_to _in", L(-1, -1), L(0, 0));
    desk_close(&d);
}

/* In place of "aus geschaltet" and "ein geschaltet": the common part is half a
 * match, on both sides. */
/* Any two unknown words have the same id, so they do not match. */
TEST(unknown_pieces_do_not_match)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    CHECK_MATCH(&d, "_the <unk> _in", "_the <unk> _in", L(0, -1, 2),
                L(1, 0, 1));
    desk_close(&d);
}

TEST(a_part_of_another_word_is_half_a_match)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    CHECK_MATCH(&d, "_a sch _is", "_of sch _is", L(-1, 1, 2), L(0, 0.5, 1));
    /* The smaller share counts: of the stored word all pieces are matched, but
     * not of the word of the sentence. */
    CHECK_MATCH(&d, "_a sch", "_a sch ei en", L(0, 1), L(0.5, 0.5));
    CHECK_MATCH(&d, "_a sch ei en", "_a sch", L(0, 1, -1, -1),
                L(0.5, 0.5, 0, 0));
    CHECK_MATCH(&d, "_a sch ed", "_a ei ed", L(0, -1, 2),
                L(2 / 3.0, 0, 2 / 3.0));
    desk_close(&d);
}

TEST(punctuation_is_a_word_of_its_own)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    CHECK_MATCH(&d, "_a sch .", "_of ei .", L(-1, -1, 2), L(0, 0, 1));
    CHECK_MATCH(&d, "_a sch , ei", "_a sch , en", L(0, 1, 2, -1),
                L(1, 1, 1, 0));
    /* Several marks are one word. */
    CHECK_MATCH(&d, "_a ! .", "_a , .", L(0, -1, 2), L(1, 0, 0.5));
    desk_close(&d);
}

/* Only the sentence has special tokens. They match nothing, and belong to no
 * word, not even to the period before EOS, although "</s>" begins like
 * punctuation. */
TEST(special_tokens_belong_to_no_word)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    CHECK_MATCH(&d, "_a sch .", "_a sch . </s>", L(0, 1, 2), L(1, 1, 1));
    CHECK_MATCH(&d, "_a sch", "_a sch </s>", L(0, 1), L(1, 1));
    CHECK_MATCH(&d, "_a sch .", "<s> _a sch . </s>", L(1, 2, 3), L(1, 1, 1));
    CHECK_MATCH(&d, ". sch", "<s> . sch </s>", L(1, 2), L(1, 1));
    CHECK(subword_is_control(d.sw, 3) && subword_is_control(d.sw, -1));
    CHECK(subword_is_control(d.sw, subword_size(d.sw)));
    CHECK(!subword_is_control(d.sw, subword_size(d.sw) - 1));
    CHECK(!subword_is_control(d.sw, subword_unk(d.sw)));
    desk_close(&d);
}

TEST(lists_may_be_empty)
{
    struct piece_match m = { 0 };
    int32_t one = 300;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d));
    CHECK_OK(piece_match_init(&m, d.sw, NULL, 0, NULL, 0, &e), &e);
    CHECK_INT(m.n, 0);
    piece_match_release(&m);
    CHECK_OK(piece_match_init(&m, d.sw, NULL, 0, &one, 1, &e), &e);
    CHECK_INT(m.n, 0);
    piece_match_release(&m);
    CHECK_OK(piece_match_init(&m, d.sw, &one, 1, NULL, 0, &e), &e);
    CHECK(m.n == 1 && m.token[0] == -1 && m.same_word[0] == 0);
    piece_match_release(&m);
    piece_match_release(&m);            /* twice is fine */
    desk_close(&d);
}
