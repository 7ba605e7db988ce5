/* test_two_tokenizers.c - a model with a tokenizer for each side splits sources
 * with the first and targets with the second, everywhere.
 *
 * The two tokenizers have the same pieces under different ids, so a text that
 * is split or joined with the wrong one shows. */
#include "engine/engine.h"
#include "engine/pairset.h"
#include "skmt_tools.h"
#include "test.h"
#include "tiny_remake.h"

static const char source_text[] = "the man is in the house and";
static const char target_text[] = "he is on the sea of ice";

/* The bytes of both tokenizers, and a model that has them. */
struct desk {
    struct tiny_net t;
    struct tiny_part parts[2];
    struct subword *sw[2];
};

static bool desk_open(struct desk *d)
{
    static const char *const names[] = { "tokenizer.src", "tokenizer.tgt" };
    struct tiny o = TINY_DEFAULT;
    struct err e;

    memset(d, 0, sizeof *d);
    if (!tiny_net_write(&d->t, &o, DT_F32)) return false;
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        char *text = tiny_tokenizer(i == 1, &size);

        d->parts[i] = (struct tiny_part){ names[i], text, size };
        if (!text || !CHECK_OK(subword_open(&d->sw[i], text, size, &e), &e))
            return false;
    }
    return tiny_remake(&d->t, d->parts, 2, NULL);
}

static void desk_close(struct desk *d)
{
    for (int i = 0; i < 2; i++) {
        subword_close(d->sw[i]);
        free((void *)(uintptr_t)d->parts[i].data);
    }
    tiny_net_close(&d->t);
}

static const char *model_path(const struct desk *d)
{
    return tiny_net_file(&d->t, "m.skmt");
}

static struct pieces pieces_of(const struct desk *d, int side, const char *text)
{
    struct pieces p = { 0 };
    struct err e;

    CHECK_OK(subword_encode(d->sw[side], text, strlen(text), &p, &e), &e);
    return p;
}

static void check_ids(const struct desk *d, int side, const char *text,
                      const int32_t *ids, int n)
{
    struct pieces p = pieces_of(d, side, text), other;

    REQUIRE(p.n == (size_t)n);
    for (int i = 0; i < n; i++) CHECK_INT(ids[i], p.at[i].id);
    other = pieces_of(d, !side, text);
    CHECK(other.n != p.n || other.at[0].id != p.at[0].id ||
          other.at[1].id != p.at[1].id);
    pieces_release(&p);
    pieces_release(&other);
}

/* ---- the file ------------------------------------------------------------ */

TEST(weights_have_a_tokenizer_for_each_side)
{
    struct weights *w, *one;
    struct tiny o = TINY_DEFAULT;
    struct tiny_net plain;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d));
    REQUIRE(tiny_net_write(&plain, &o, DT_F32));
    REQUIRE_OK(weights_open(&w, model_path(&d), &e), &e);
    REQUIRE_OK(weights_open(&one, tiny_net_file(&plain, "m.skmt"), &e), &e);
    CHECK(w->src_subword != w->tgt_subword);
    CHECK(subword_find(w->src_subword, "sch", 3) !=
          subword_find(w->tgt_subword, "sch", 3));
    CHECK(one->src_subword == one->tgt_subword);
    CHECK(one->src_tokenizer == one->tokenizer);
    /* The source side is the same, but not both sides. */
    CHECK(w->src_tokenizer == one->src_tokenizer);
    CHECK(w->tokenizer && w->tokenizer != one->tokenizer);
    weights_close(w);
    weights_close(one);
    tiny_net_close(&plain);
    desk_close(&d);
}

static void refused(struct desk *d, const struct tiny_part *parts, int n,
                    const char *why)
{
    struct tiny o = d->t.o;
    struct weights *w;
    struct err e;

    REQUIRE(tiny_net_write(&d->t, &o, DT_F32));
    REQUIRE(tiny_remake(&d->t, parts, n, NULL));
    CHECK_INT(weights_open(&w, model_path(d), &e), ST_FORMAT);
    CHECK(strstr(e.msg, why) != NULL);
    CHECK(!w);
    tiny_net_close(&d->t);
}

/* A copy of a tokenizer with one more piece. */
static struct tiny_part add_piece(struct tiny_part from)
{
    struct tiny_part to = { .name = from.name };
    char *text = NULL;
    FILE *f = open_memstream(&text, &to.bytes);

    if (!CHECK(f != NULL)) return to;
    fwrite(from.data, 1, from.bytes, f);
    tiny_piece(f, "extra", -9, 1);
    fclose(f);
    to.data = text;
    return to;
}

TEST(a_missing_or_damaged_tokenizer_is_refused)
{
    struct tiny_part bad;
    struct desk d;

    REQUIRE(desk_open(&d));
    tiny_net_close(&d.t);
    refused(&d, d.parts, 1, "no tokenizer (\"tokenizer.tgt\")");
    refused(&d, d.parts + 1, 1, "no tokenizer (\"tokenizer.spm\")");
    bad = d.parts[1];
    d.parts[1].bytes -= 3;
    refused(&d, d.parts, 2, "m.skmt: ");
    d.parts[1] = bad;
    bad = add_piece(d.parts[0]);
    refused(&d, &bad, 1, "\"tokenizer.src\" has 311 pieces");
    free((void *)(uintptr_t)bad.data);
    for (int i = 0; i < 2; i++) {
        subword_close(d.sw[i]);
        free((void *)(uintptr_t)d.parts[i].data);
    }
}

/* ---- translating --------------------------------------------------------- */

static void check_source(const struct desk *d, const skmt_result *r)
{
    struct pieces p = pieces_of(d, 0, source_text);

    REQUIRE(skmt_result_source_pieces(r, 0) == (int)p.n);
    for (size_t i = 0; i < p.n; i++) {
        skmt_piece got = SKMT_INIT(skmt_piece);
        size_t len;
        const char *text = subword_piece(d->sw[0], p.at[i].id, &len);

        skmt_result_source_piece(r, 0, (int)i, &got);
        CHECK_INT(got.id, p.at[i].id);
        CHECK(strlen(got.text) == len && !memcmp(got.text, text, len));
    }
    pieces_release(&p);
}

static void check_target(const struct desk *d, const skmt_result *r)
{
    int n = skmt_result_target_pieces(r, 0, 0);
    int32_t ids[200];
    struct strbuf text;
    struct err e;

    REQUIRE(n > 0 && n <= 200);
    for (int i = 0; i < n; i++) {
        skmt_piece got = SKMT_INIT(skmt_piece);
        size_t len;
        const char *piece;

        skmt_result_target_piece(r, 0, 0, i, &got);
        ids[i] = got.id;
        piece = subword_piece(d->sw[1], got.id, &len);
        CHECK(strlen(got.text) == len && !memcmp(got.text, piece, len));
    }
    strbuf_init(&text, 0);
    CHECK_OK(subword_decode(d->sw[1], ids, (size_t)n, &text, &e), &e);
    CHECK(strbuf_add(&text, "", 1));
    for (size_t i = 0; i + 1 < text.len; i++)
        if (!text.data[i]) text.data[i] = ' ';
    CHECK_STR(skmt_result_text(r, 0), text.data);
    strbuf_release(&text);
}

TEST(a_translation_is_written_with_the_target_tokenizer)
{
    skmt_options *o;
    skmt_session *s;
    skmt_result *r;
    skmt_model *model;
    skmt_error err;
    struct desk d;

    REQUIRE(desk_open(&d));
    REQUIRE(!skmt_model_open(&model, model_path(&d), &err));
    REQUIRE(!skmt_options_new(&o, &err));
    REQUIRE(!skmt_options_set(o, "invalid", "replace", &err));
    REQUIRE(!skmt_session_new(&s, model, o, &err));
    for (int prefix = 0; prefix < 2; prefix++) {
        const char *begin = prefix ? target_text : NULL;

        REQUIRE(!skmt_session_translate(s, source_text, begin, &r, &err));
        check_source(&d, r);
        check_target(&d, r);
        if (begin)
            CHECK(!strncmp(skmt_result_text(r, 0), begin, strlen(begin)));
        skmt_result_free(r);
    }
    skmt_session_free(s);
    skmt_options_free(o);
    skmt_model_close(model);
    desk_close(&d);
}

/* ---- memories and alignments --------------------------------------------- */

TEST(each_side_of_a_pair_is_split_with_its_tokenizer)
{
    struct steering_pair p = { 0 };
    struct engine *en;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d));
    REQUIRE_OK(engine_open(&en, model_path(&d), &e), &e);
    REQUIRE_OK(steering_pair_encode(en, str_of(source_text),
                                    str_of(target_text), &p, &e), &e);
    CHECK_INT(p.ids[p.n_src - 1], en->w->cfg.suffix_id);
    check_ids(&d, 0, source_text, p.ids, p.n_src - 1);
    check_ids(&d, 1, target_text, p.ids + p.n_src, p.n_tgt);
    steering_pair_release(&p);
    engine_close(en);
    desk_close(&d);
}

static void check_split(const struct desk *d, const skmt_aligner *a, int side,
                        const char *text)
{
    struct pieces p = pieces_of(d, side, text);

    for (size_t i = 0; i < p.n; i++) {
        size_t len, n;
        const char *want = subword_piece(d->sw[side], p.at[i].id, &len);
        const char *got = skmt_aligner_word(a, side, i, &n);

        REQUIRE(got != NULL);
        CHECK(n == len && !memcmp(got, want, n));
    }
    pieces_release(&p);
}

TEST(an_alignment_splits_each_side_with_its_tokenizer)
{
    skmt_aligner *a;
    skmt_model *model;
    skmt_error err;
    struct desk d;

    REQUIRE(desk_open(&d));
    REQUIRE(!skmt_model_open(&model, model_path(&d), &err));
    REQUIRE(!skmt_aligner_new(&a, model, &err));
    REQUIRE(!skmt_aligner_split(a, source_text, strlen(source_text),
                                target_text, strlen(target_text), &err));
    check_split(&d, a, 0, source_text);
    check_split(&d, a, 1, target_text);
    skmt_aligner_free(a);
    skmt_model_close(model);
    desk_close(&d);
}
