/* test_align_file.c - tests that files of alignment parameters read back as
 * they were written, that damage is found, and that lines of links are parsed
 * and compared. */
#include "align/align_file.h"

#include "align/pharaoh.h"
#include "align_fix.h"
#include "base/mem.h"
#include "scratch_dir.h"

/* ---- files of parameters ------------------------------------------------- */

static struct scratch dir;

static const char *sample_path(void)
{
    if (!dir.dir[0] && !scratch_make_small(&dir)) abort();
    return scratch_path(&dir, "p.align");
}

static void remove_samples(void)
{
    if (dir.dir[0]) scratch_remove(&dir);
    dir.dir[0] = 0;
}

/* Train with n_pairs made-up pairs and save the result. */
static bool save_sample(int n_pairs, int n_threads)
{
    struct align_settings s = align_settings_defaults();
    struct bitext b = { 0 };
    struct align_model *m = NULL;
    struct err e;
    bool ok;

    s.iterations = 3;
    add_made_up(&b, n_pairs);
    ok = CHECK_OK(train_words(&m, &b, &s, n_threads, &e), &e) &&
         CHECK_OK(align_model_save(m, sample_path(), &e), &e);
    align_model_free(m);
    bitext_release(&b);
    return ok;
}

/* The bytes of the sample, aligned and with the exact size, so that ASan sees
 * reads outside them. The caller frees them. */
static uint8_t *sample_bytes(int n_pairs, int n_threads, size_t *size)
{
    char *text;
    void *bytes = NULL;

    if (!save_sample(n_pairs, n_threads) ||
        file_read(&text, size, sample_path(), 1 << 24, NULL) ||
        posix_memalign(&bytes, 8, *size))
        abort();
    memcpy(bytes, text, *size);
    free(text);
    return bytes;
}

static enum status open_bytes(const uint8_t *bytes, size_t n, struct err *e)
{
    struct align_model *m;
    enum status st = align_model_open_memory(&m, bytes, n, "p.align", e);

    CHECK(!st == (m != NULL));
    align_model_free(m);
    return st;
}

static void check_same_direction(const struct align_direction *a,
                                 const struct align_direction *b)
{
    CHECK(a->tension == b->tension && a->null_prob == b->null_prob);
    REQUIRE(a->lexicon.n == b->lexicon.n &&
            a->lexicon.n_rows == b->lexicon.n_rows);
    CHECK_MEM(a->lexicon.begin, b->lexicon.begin,
              (a->lexicon.n_rows + 1) * sizeof *a->lexicon.begin);
    CHECK_MEM(a->lexicon.word, b->lexicon.word,
              a->lexicon.n * sizeof *a->lexicon.word);
    CHECK_MEM(a->lexicon.prob, b->lexicon.prob,
              a->lexicon.n * sizeof *a->lexicon.prob);
}

TEST(parameters_are_read_as_they_were_written)
{
    struct align_settings s = align_settings_defaults();
    struct bitext b = { 0 };
    struct align_model *m = NULL, *back = NULL;
    struct err e;

    add_made_up(&b, 60);
    REQUIRE_OK(train_words(&m, &b, &s, 1, &e), &e);
    REQUIRE_OK(align_model_save(m, sample_path(), &e), &e);
    REQUIRE_OK(align_model_open(&back, sample_path(), &e), &e);
    CHECK(back->split == SPLIT_WORDS && !back->keep_case && !back->tokenizer);
    for (int side = 0; side < 2; side++) {
        REQUIRE(back->n_keys[side] == m->n_keys[side]);
        CHECK_MEM(back->keys[side], m->keys[side], 8 * m->n_keys[side]);
    }
    check_same_direction(&back->forward, &m->forward);
    check_same_direction(&back->reverse, &m->reverse);
    align_model_free(back);
    align_model_free(m);
    align_model_free(NULL);
    bitext_release(&b);
    remove_samples();
}

TEST(the_number_of_threads_does_not_change_the_file)
{
    size_t n, m;
    uint8_t *one = sample_bytes(300, 1, &n);

    for (int threads = 1; threads <= 5; threads += 2) {
        uint8_t *more = sample_bytes(300, threads, &m);

        CHECK_INT(m, n);
        if (m == n) CHECK_MEM(more, one, n);
        free(more);
    }
    free(one);
    remove_samples();
}

TEST(every_truncation_is_refused)
{
    struct err e;
    size_t n;
    uint8_t *all = sample_bytes(3, 1, &n);

    for (size_t cut = 0; cut < n; cut++) {
        void *part = NULL;

        REQUIRE(posix_memalign(&part, 8, cut) == 0);
        memcpy(part, all, cut);
        CHECK_INT(open_bytes(part, cut, &e), ST_FORMAT);
        CHECK(!strncmp(e.msg, "p.align: ", 9));
        free(part);
    }
    CHECK_INT(open_bytes(all, n, &e), ST_OK);
    free(all);
    remove_samples();
}

TEST(every_changed_byte_is_found)
{
    struct err e;
    size_t n;
    uint8_t *p = sample_bytes(3, 1, &n);

    for (size_t i = 0; i < n; i++)
        for (int bit = 1; bit < 256; bit <<= 1) {
            p[i] ^= (uint8_t)bit;
            if (open_bytes(p, n, &e) == ST_OK)
                test_fail(__FILE__, __LINE__, "byte %zu changed unseen", i);
            CHECK(e.msg[0] != 0);
            p[i] ^= (uint8_t)bit;
        }
    free(p);
    remove_samples();
}

static void reseal_sample(uint8_t *p, size_t n)
{
    uint64_t sum = align_file_sum(p, n);

    memcpy(p + offsetof(struct align_file_header, sum), &sum, sizeof sum);
}

/* With a right checksum, a file is refused or can be used. */
TEST(every_changed_byte_with_a_right_checksum_is_harmless)
{
    size_t n;
    uint8_t *p = sample_bytes(3, 1, &n);
    struct err e;

    for (size_t i = sizeof(struct align_file_header); i < n; i++)
        for (int bit = 1; bit < 256; bit = bit == 1 ? 0x80 : bit << 1) {
            p[i] ^= (uint8_t)bit;
            reseal_sample(p, n);
            if (open_bytes(p, n, &e)) CHECK(e.status == ST_FORMAT && e.msg[0]);
            p[i] ^= (uint8_t)bit;
        }
    free(p);
    remove_samples();
}

/* The sample must be refused, with a right checksum, and the message must
 * contain `says`. */
static void check_refused(uint8_t *p, size_t n, enum status want,
                          const char *says)
{
    struct err e = { 0 };

    reseal_sample(p, n);
    CHECK_INT(open_bytes(p, n, &e), want);
    if (!strstr(e.msg, says))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", e.msg, says);
    free(p);
}

#define REFUSED(change, status, says) do {                              \
    size_t n;                                                           \
    uint8_t *p = sample_bytes(3, 1, &n);                                \
    struct align_file_header *h = (void *)p;                            \
    uint64_t *keys = (void *)(p + sizeof *h);                           \
    uint64_t *rows = keys + h->n_source + h->n_target;                  \
    uint32_t *words = (void *)(rows + h->n_source + 2);                 \
    float *probs = (void *)(words + h->forward.n_entries);              \
    (void)rows; (void)words; (void)probs;                               \
    if (h->forward.n_entries % 2) probs++;                              \
    change;                                                             \
    check_refused(p, n, status, says); } while (0)

TEST(a_file_that_cannot_be_used_says_why)
{
    REFUSED(h->magic[0] = 'X', ST_FORMAT, "not a file of alignment parameters");
    REFUSED(h->version = 2, ST_VERSION, "version 2");
    REFUSED(h->endian = 0x04030201, ST_FORMAT, "byte order");
    REFUSED(h->file_size += 8, ST_FORMAT, "bytes and should have");
    REFUSED(h->split = 7, ST_FORMAT, "split");
    REFUSED(h->split = SPLIT_PIECES, ST_FORMAT, "split");
    REFUSED(h->tokenizer = 1, ST_FORMAT, "split");
    REFUSED(h->keep_case = 2, ST_FORMAT, "split");
    REFUSED(h->forward.tension = NAN, ST_FORMAT, "tension");
    REFUSED(h->reverse.tension = 15, ST_FORMAT, "tension");
    REFUSED(h->forward.null_prob = 0, ST_FORMAT, "null probability");
    REFUSED(h->n_source++, ST_FORMAT, "numbers of words");
    REFUSED(h->n_source = UINT64_MAX, ST_FORMAT, "numbers of words");
    REFUSED(h->forward.n_entries = (uint64_t)1 << 61, ST_FORMAT,
            "numbers of words");
    REFUSED(keys[1] = keys[0], ST_FORMAT, "keys");
    REFUSED(rows[0] = 1, ST_FORMAT, "rows");
    REFUSED(rows[1] = UINT64_MAX, ST_FORMAT, "rows");
    REFUSED(words[0] = (uint32_t)h->n_target, ST_FORMAT, "words");
    REFUSED(probs[0] = NAN, ST_FORMAT, "probabilities");
    REFUSED(probs[0] = 1.5f, ST_FORMAT, "probabilities");
    REFUSED(probs[0] = 0, ST_FORMAT, "probabilities");
    remove_samples();
}

TEST(parameters_must_fit_how_texts_are_split)
{
    struct word_splitter keep = { .split = SPLIT_WORDS, .keep_case = true };
    struct word_splitter spaces = { .split = SPLIT_SPACES };
    struct word_splitter pieces = { .split = SPLIT_PIECES, .tokenizer = 5 };
    struct align_model m = { .split = SPLIT_PIECES, .tokenizer = 6 };
    struct err e;

    CHECK_INT(align_model_fits(&m, &pieces, "p", &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "another tokenizer"));
    m.tokenizer = 5;
    CHECK_INT(align_model_fits(&m, &pieces, "p", &e), ST_OK);
    CHECK_INT(align_model_fits(&m, &fix_words, "p", &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "split into pieces, not words"));
    m = (struct align_model){ .split = SPLIT_WORDS };
    CHECK_INT(align_model_fits(&m, &spaces, "p", &e), ST_ARGUMENT);
    CHECK_INT(align_model_fits(&m, &keep, "p", &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "lower case"));
    CHECK_INT(align_model_fits(&m, &fix_words, "p", &e), ST_OK);
}

TEST(missing_and_foreign_files_are_refused)
{
    struct align_model *m;
    struct err e;

    CHECK_INT(align_model_open(&m, "/nonexistent/p", &e), ST_IO);
    CHECK_INT(align_model_open(&m, "/dev/null", &e), ST_IO);
    (void)sample_path();
    REQUIRE(scratch_write(&dir, "empty", ""));
    CHECK_INT(align_model_open(&m, scratch_path(&dir, "empty"), &e), ST_FORMAT);
    REQUIRE(scratch_write(&dir, "text", "This is a text, not parameters.\n"));
    CHECK_INT(align_model_open(&m, scratch_path(&dir, "text"), &e), ST_FORMAT);
    CHECK(m == NULL);
    remove_samples();
}

/* ---- links as text ------------------------------------------------------- */

static void check_gold(const char *line, const char *want)
{
    struct gold_links g = { 0 };
    struct err e;
    size_t column;
    char got[200] = "";

    REQUIRE_OK(pharaoh_read(str_of(line), &g, &column, &e), &e);
    for (size_t i = 0; i < g.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u%c%u",
                 i ? " " : "", g.at[i].source, g.at[i].sure ? '-' : '?',
                 g.at[i].target);
    CHECK_STR(got, want);
    gold_links_release(&g);
}

TEST(links_are_read_sorted_and_once)
{
    check_gold("", "");
    check_gold(" \t \r", "");
    check_gold("0-0 1-2", "0-0 1-2");
    check_gold("10-2  2-10\t2-9 0-0\r", "0-0 2-9 2-10 10-2");
    check_gold("1?2 1-2 3p4 3?4 5-6 5p6 7-8 7-8", "1-2 3?4 5-6 7-8");
    check_gold("999999-0", "999999-0");
}

TEST(bad_links_are_reported_with_their_column)
{
    static const struct { const char *line; size_t column; } bad[] = {
        { "a", 1 }, { "1-", 1 }, { "-1", 1 }, { "0-0 1", 5 },
        { "0-0  1-2x", 6 }, { "1--2", 1 }, { "1-2-3", 1 }, { "1:2", 1 },
        { "1000000-0", 1 }, { "0-4294967296", 1 }, { "0-0 \xff", 5 },
        { "+1-2", 1 } };
    struct gold_links g = { 0 };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err e = { 0 };
        size_t column = 0;

        CHECK_INT(pharaoh_read(str_of(bad[i].line), &g, &column, &e),
                  ST_FORMAT);
        CHECK_INT(column, bad[i].column);
        CHECK(strstr(e.msg, "expected a link such as 3-4"));
    }
    gold_links_release(&g);
}

TEST(links_that_are_written_can_be_read)
{
    static const struct word_link links[] = { { 0, 3 }, { 0, 12 }, { 7, 0 },
                                              { 999, 999 } };
    struct strbuf text;

    strbuf_init(&text, 0);
    CHECK(pharaoh_write((struct word_links){ links, COUNT(links) }, &text));
    CHECK_STR(text.data, "0-3 0-12 7-0 999-999");
    check_gold(text.data, text.data);
    strbuf_reset(&text);
    CHECK(pharaoh_write((struct word_links){ NULL, 0 }, &text));
    CHECK_STR(text.data, "");
    strbuf_release(&text);
}

/* A = 0-0 1-1 2-3, S = 0-0 2-2, P = S and 1-1: |A and S| = 1, |A and P| = 2. */
TEST(scores_are_those_of_the_worked_example)
{
    static const struct word_link links[] = { { 0, 0 }, { 1, 1 }, { 2, 3 } };
    struct link_counts c = { 0 };
    struct gold_links g = { 0 };
    struct err e;
    size_t column;

    CHECK(isnan(link_counts_precision(&c)) && isnan(link_counts_recall(&c)));
    CHECK(isnan(link_counts_aer(&c)));
    REQUIRE_OK(pharaoh_read(str_of("0-0 1?1 2-2"), &g, &column, &e), &e);
    link_counts_add(&c, (struct word_links){ links, COUNT(links) }, &g);
    CHECK_INT(c.links, 3);
    CHECK_INT(c.sure, 2);
    CHECK_INT(c.possible, 3);
    CHECK_NEAR(link_counts_precision(&c), 2.0 / 3, 1e-15);
    CHECK_NEAR(link_counts_recall(&c), 1.0 / 2, 1e-15);
    CHECK_NEAR(link_counts_aer(&c), 1 - 3.0 / 5, 1e-15);
    gold_links_release(&g);
}
