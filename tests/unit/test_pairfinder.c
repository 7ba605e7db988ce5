/* test_pairfinder.c - how a memory changes translations, tested through
 * include/skmt.h.
 *
 * A tiny random model produces nonsense, but always the same nonsense. So a
 * test can see what a memory changes and what it does not. */
#include <pthread.h>

#include "tiny_net.h"
#include "use_tm.h"

struct desk {
    struct scratch dir;
    struct tiny_net net;
    skmt_model *model;
    skmt_tm *tm;
};

static void desk_open(struct desk *d)
{
    struct tiny o = TINY_DEFAULT;
    skmt_error err;

    memset(d, 0, sizeof *d);
    o.seed = 18;                /* some translations end with EOS */
    REQUIRE(scratch_make(&d->dir));
    REQUIRE(tiny_net_write(&d->net, &o, DT_F32));
    OK(skmt_model_open(&d->model, tiny_net_file(&d->net, "m.skmt"), &err));
    d->tm = open_tm(&d->dir, SKMT_TM_CREATE);
    skmt_tm_set_relaxed(d->tm, 1);
}

static void desk_close(struct desk *d)
{
    skmt_tm_close(d->tm);
    skmt_model_close(d->model);
    tiny_net_close(&d->net);
    scratch_remove(&d->dir);
}

/* Options from a list such as "name=value name=value". */
static skmt_options *options(const char *list)
{
    skmt_options *o;
    char name[64], value[64];
    skmt_error err;
    int n;

    OK(skmt_options_new(&o, &err));
    OK(skmt_options_set(o, "max-len-b", "8", &err));
    /* The states of this model are far apart. So tau is larger than the
     * default. */
    OK(skmt_options_set(o, "tau", "200", &err));
    for (; sscanf(list, " %63[^=]=%63s%n", name, value, &n) == 2; list += n)
        OK(skmt_options_set(o, name, value, &err));
    return o;
}

static skmt_session *session(struct desk *d, const char *list, skmt_tm *tm,
                             skmt_keys *keys)
{
    skmt_options *o = options(list);
    skmt_session *s = NULL;
    skmt_error err;

    OK(skmt_session_new(&s, d->model, o, &err));
    if (tm || keys) OK(skmt_session_use(s, tm, keys, &err));
    skmt_options_free(o);
    return s;
}

static skmt_result *translate(skmt_session *s, const char *text)
{
    skmt_result *r = NULL;
    skmt_error err;

    OK(skmt_session_translate(s, text, NULL, &r, &err));
    return r;
}

/* Translate text into out, which has room for 500 bytes. Returns out. */
static const char *say(skmt_session *s, const char *text, char *out)
{
    skmt_result *r = translate(s, text);

    snprintf(out, 500, "%s", r ? skmt_result_text(r, 0) : "failed");
    skmt_result_free(r);
    return out;
}

static int64_t key_stat(skmt_keys *k, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_keys_stat(k, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    return -1;
}

/* ---- exact matches ------------------------------------------------------- */

TEST(a_stored_sentence_is_taken_as_it_stands)
{
    skmt_found_pair p = SKMT_INIT(skmt_found_pair);
    skmt_session *s;
    skmt_result *r;
    struct desk d;
    char out[500];
    int64_t id;

    desk_open(&d);
    add(d.tm, NULL, "and of the", "wrong");
    id = add(d.tm, NULL, "the and in", "Zugegeben & gut");
    s = session(&d, "", d.tm, NULL);
    r = translate(s, "  the and in ");
    REQUIRE(r != NULL);
    CHECK_STR(skmt_result_text(r, 0), "Zugegeben & gut");
    CHECK_INT(skmt_result_pairs(r, 0), 1);
    skmt_result_pair(r, 0, 0, &p);
    CHECK(p.exact && p.similarity == 1 && p.id == id);
    CHECK_STR(p.source, "the and in");
    CHECK_STR(p.target, "Zugegeben & gut");
    CHECK_STR(p.memory, "main");
    CHECK_INT(skmt_result_passes(r, 0), 0);
    CHECK_INT(skmt_result_target_pieces(r, 0, 0), 0);
    skmt_result_free(r);
    /* A text that differs in one letter is not an exact match. */
    CHECK(strcmp(say(s, "The and in", out), "Zugegeben & gut") != 0);
    skmt_session_free(s);
    s = session(&d, "exact=steer", d.tm, NULL);
    r = translate(s, "the and in");
    CHECK(r && skmt_result_passes(r, 0) > 0);
    skmt_result_pair(r, 0, 0, &p);
    CHECK(!p.exact && p.similarity == 1);
    skmt_result_free(r);
    skmt_session_free(s);
    desk_close(&d);
}

TEST(a_line_may_be_stored_whole_or_by_sentence)
{
    static const char line[] = "the in. Then and of the.";
    skmt_session *s;
    skmt_result *r;
    skmt_piece p = SKMT_INIT(skmt_piece);
    struct desk d;
    size_t begin, end;

    desk_open(&d);
    add(d.tm, NULL, "the in.", "first");
    s = session(&d, "", d.tm, NULL);
    r = translate(s, line);
    CHECK_INT(skmt_result_sentences(r), 2);
    CHECK(!strncmp(skmt_result_text(r, 0), "first ", 6));
    skmt_result_free(r);
    add(d.tm, NULL, line, "all of it");         /* the whole line */
    r = translate(s, line);
    CHECK_INT(skmt_result_sentences(r), 1);
    CHECK_STR(skmt_result_text(r, 0), "all of it");
    skmt_result_sentence_span(r, 0, &begin, &end);
    CHECK(begin == 0 && end == strlen(line));
    /* The source of the sentence is the whole line, too. */
    skmt_result_source_piece(r, 0, skmt_result_source_pieces(r, 0) - 1, &p);
    CHECK(p.end == strlen(line) && p.id >= 0);
    skmt_result_free(r);
    skmt_session_free(s);
    desk_close(&d);
}

/* A sentence with more than max-source pieces is cut. The exact match must
 * still be found for the whole sentence, also if other sentences are on the
 * same line. */
TEST(a_sentence_that_was_cut_may_be_stored)
{
    static const char *const sentence = "The and in of the and in of the.";
    char text[200], out[500], before[500], after[500], want[1200];
    skmt_session *s, *alone;
    struct desk d;
    skmt_result *r;

    desk_open(&d);
    add(d.tm, NULL, sentence, "Zugegeben");
    s = session(&d, "max-source=5 adapter=none", d.tm, NULL);
    alone = session(&d, "max-source=5", NULL, NULL);
    CHECK_STR(say(s, sentence, out), "Zugegeben");
    snprintf(text, sizeof text, "Of in! %s The of!", sentence);
    snprintf(want, sizeof want, "%s Zugegeben %s",
             say(alone, "Of in!", before), say(alone, "The of!", after));
    r = translate(alone, sentence);
    CHECK(skmt_result_sentences(r) > 1);
    skmt_result_free(r);
    CHECK_STR(say(s, text, out), want);
    skmt_session_free(alone);
    skmt_session_free(s);
    desk_close(&d);
}

/* Many texts have the word of the query, and one of them is equal to it. White
 * space at both ends of its translation is removed. */
TEST(a_short_text_is_found_among_many)
{
    skmt_session *s;
    char out[500];
    struct desk d;

    desk_open(&d);
    for (int i = 0; i < 150; i++) {
        char source[40];

        snprintf(source, sizeof source, "the%.*s", 1 + i % 30,
                 "!?!?!?!?!?!?!?!?!?!?!?!?!?!?!?!");
        strcat(source, i % 2 ? "!" : "?");
        add(d.tm, NULL, source, "wrong");
    }
    add(d.tm, NULL, "the.", " \n right \n");
    s = session(&d, "", d.tm, NULL);
    CHECK_STR(say(s, "the.", out), "right");
    skmt_session_free(s);
    desk_close(&d);
}

TEST(a_prefix_is_kept_whatever_is_stored)
{
    skmt_result *r = NULL;
    skmt_session *s;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "the and in", "something else");
    s = session(&d, "", d.tm, NULL);
    OK(skmt_session_translate(s, "the and in", "and", &r, &err));
    CHECK(r && !strncmp(skmt_result_text(r, 0), "and", 3));
    skmt_result_free(r);
    skmt_session_free(s);
    desk_close(&d);
}

/* ---- steering ------------------------------------------------------------ */

TEST(nothing_similar_is_the_model_alone)
{
    skmt_session *plain, *steered;
    char a[500], b[500];
    skmt_result *r;
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "xylophone", "something");
    plain = session(&d, "", NULL, NULL);
    steered = session(&d, "", d.tm, NULL);
    r = translate(steered, "the and in of");
    CHECK_INT(skmt_result_pairs(r, 0), 0);
    skmt_result_free(r);
    CHECK_STR(say(steered, "the and in of", a), say(plain, "the and in of", b));
    skmt_session_free(plain);
    skmt_session_free(steered);
    desk_close(&d);
}

TEST(trust_can_be_taken_away)
{
    static const char *const off[] = { "adapter=none prune=0",
                                       "adapter=fixed lambda=0 prune=0" };
    skmt_session *plain, *s;
    char a[500], b[500];
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "the and in of", "in the of and");
    plain = session(&d, "", NULL, NULL);
    say(plain, "the and in", a);
    for (size_t i = 0; i < COUNT(off); i++) {
        s = session(&d, off[i], d.tm, NULL);
        CHECK_STR(say(s, "the and in", b), a);
        skmt_session_free(s);
    }
    /* With lambda 1 the memory alone decides. */
    s = session(&d, "adapter=fixed lambda=1", d.tm, NULL);
    CHECK(strcmp(say(s, "the and in", b), a) != 0);
    CHECK(strstr(b, "the") || strstr(b, "in") || strstr(b, "of"));
    skmt_session_free(s);
    skmt_session_free(plain);
    desk_close(&d);
}

/* The length of the longest run of equal tokens that all had votes. */
static int longest_run(const skmt_result *r)
{
    int most = 0, run = 0;
    skmt_piece before = { .id = -1 }, now = SKMT_INIT(skmt_piece);

    for (int i = 0; i < skmt_result_target_pieces(r, 0, 0); i++) {
        int votes;

        skmt_result_target_piece(r, 0, 0, i, &now);
        skmt_result_weight(r, 0, 0, i, &votes);
        run = !votes ? 0 : now.id == before.id ? run + 1 : 1;
        if (run > most) most = run;
        before = now;
    }
    return most;
}

/* Lambda is 1, and the target of the only pair has a single token, once or
 * several times. */
TEST(a_memory_does_not_repeat_itself)
{
    static const struct { const char *target, *limit; int least, most; }
        want[] = {
        { "in", "0", 8, 100 },          /* up to the length limit */
        { "in", "1", 1, 1 },
        { "in", "3", 3, 3 },
        { "in in in in", "1", 2, 4 },   /* the pair repeats it, too */
    };

    for (size_t i = 0; i < COUNT(want); i++) {
        char list[100], a[500], b[500];
        skmt_session *s;
        skmt_result *r;
        struct desk d;

        desk_open(&d);
        add(d.tm, NULL, "the and of", want[i].target);
        snprintf(list, sizeof list, "adapter=fixed lambda=1 knn-eos=0 "
                 "explain=1 repeat-votes=%s", want[i].limit);
        s = session(&d, list, d.tm, NULL);
        r = translate(s, "the and");
        CHECK(longest_run(r) >= want[i].least);
        CHECK(longest_run(r) <= want[i].most);
        skmt_result_free(r);
        say(s, "the and", a);
        skmt_session_free(s);
        snprintf(list + strlen(list), sizeof list - strlen(list), " draft=0");
        s = session(&d, list, d.tm, NULL);
        CHECK_STR(say(s, "the and", b), a);
        skmt_session_free(s);
        desk_close(&d);
    }
}

TEST(what_is_added_steers_the_next_sentence)
{
    skmt_session *s;
    char before[500], after[500];
    struct desk d;

    desk_open(&d);
    s = session(&d, "adapter=fixed lambda=0.9", d.tm, NULL);
    say(s, "the and in of", before);
    add(d.tm, NULL, "the and in of this", "re re re re re");
    say(s, "the and in of", after);
    CHECK(strcmp(before, after) != 0);
    CHECK(strstr(after, "re") != NULL);
    skmt_session_free(s);
    desk_close(&d);
}

static void check_votes(const skmt_result *r, int i, int n_pairs)
{
    double sum = 0, last = -1;
    int n;
    double trust = skmt_result_weight(r, 0, 0, i, &n);
    skmt_vote v = SKMT_INIT(skmt_vote);

    CHECK(trust >= 0 && trust <= 1 && n <= 2);
    for (int k = 0; k < n; k++) {
        skmt_result_vote(r, 0, 0, i, k, &v);
        CHECK(v.pair >= 0 && v.pair < n_pairs && v.position >= 0);
        CHECK(v.distance >= last && v.id >= 0 && v.text[0]);
        last = v.distance;
        sum += v.share;
    }
    if (n) CHECK_NEAR(sum, 1, 1e-6);
    skmt_result_vote(r, 0, 0, i, n, &v);
    CHECK(v.pair == -1);
}

TEST(explanations_name_pairs_and_places)
{
    skmt_session *s;
    skmt_result *r;
    skmt_found_pair p = SKMT_INIT(skmt_found_pair);
    struct desk d;
    int n;

    desk_open(&d);
    add(d.tm, NULL, "the and in of", "in the of and");
    add(d.tm, NULL, "the and on", "on the and");
    s = session(&d, "adapter=fixed explain=1 knn-eos=0 "
                "repeat-votes=0", d.tm, NULL);
    r = translate(s, "the and in");
    CHECK_INT(skmt_result_pairs(r, 0), 2);
    for (int i = 0; i < 2; i++) {
        skmt_result_pair(r, 0, i, &p);
        CHECK(p.source[0] && p.target[0] && p.id > 0 && !p.exact);
    }
    CHECK(skmt_result_target_pieces(r, 0, 0) > 0);
    for (int i = 0; i < skmt_result_target_pieces(r, 0, 0); i++) {
        CHECK_NEAR(skmt_result_weight(r, 0, 0, i, &n), 0.5, 1e-6);
        CHECK_INT(n, 2);
        check_votes(r, i, 2);
    }
    /* Indexes that are out of range give zeros. */
    CHECK(skmt_result_weight(r, 0, 0, 99, &n) == 0 && n == 0);
    CHECK(skmt_result_weight(r, 5, 0, 0, NULL) == 0);
    CHECK(skmt_result_pairs(r, 7) == 0 && skmt_result_passes(r, -1) == 0);
    skmt_result_free(r);
    skmt_session_free(s);
    desk_close(&d);
}

TEST(given_pairs_are_used_in_their_order)
{
    static const skmt_similar pairs[] = {
        { sizeof *pairs, "the and in of", "in the of and", 0.25 },
        { sizeof *pairs, "an empty one", "", 0.2 },
        { sizeof *pairs, "the and on", "on the and", 0.125 } };
    skmt_similar bad = { sizeof bad, "\xff", "x", 0 };
    skmt_session *s, *plain;
    skmt_result *r = NULL;
    char a[500];
    skmt_error err;
    skmt_found_pair p = SKMT_INIT(skmt_found_pair);
    struct desk d;

    desk_open(&d);
    s = session(&d, "explain=1 adapter=fixed lambda=0.9", NULL, NULL);
    plain = session(&d, "", NULL, NULL);
    OK(skmt_session_translate_with(s, "the and in", NULL, pairs, 3, &r, &err));
    CHECK_INT(skmt_result_pairs(r, 0), 2);
    skmt_result_pair(r, 0, 1, &p);
    CHECK(p.similarity == 0.125 && p.id == 0);
    CHECK_STR(p.target, "on the and");
    CHECK(strcmp(skmt_result_text(r, 0), say(plain, "the and in", a)));
    skmt_result_free(r);
    OK(skmt_session_translate_with(s, "the and in", NULL, pairs, 0, &r, &err));
    CHECK_STR(skmt_result_text(r, 0), a);
    skmt_result_free(r);
    skmt_session_free(s);
    s = session(&d, "matches=1", NULL, NULL);
    OK(skmt_session_translate_with(s, "the and in", NULL, pairs, 3, &r, &err));
    CHECK_INT(skmt_result_pairs(r, 0), 1);
    skmt_result_free(r);
    CHECK_INT(skmt_session_translate_with(s, "the", NULL, &bad, 1, &r,
                                          &err), SKMT_ERR_TEXT);
    CHECK(r == NULL);
    CHECK_INT(skmt_session_translate_with(s, "the", NULL, pairs, -1, &r,
                                          &err), SKMT_ERR_ARGUMENT);
    skmt_session_free(s);
    skmt_session_free(plain);
    desk_close(&d);
}

/* ---- keys ---------------------------------------------------------------- */

/* Keys belong to texts, not to ids of pairs. The cache keeps the keys of a
 * deleted pair until it needs the room, and uses them when a pair with the same
 * texts is added. */
TEST(keys_are_computed_once_for_the_same_texts)
{
    skmt_options *o = options("");
    char a[500], b[500];
    skmt_keys *keys = NULL;
    skmt_session *s;
    skmt_error err;
    struct desk d;
    int64_t first, second;

    desk_open(&d);
    first = add(d.tm, NULL, "the and in of", "in the of and");
    second = add(d.tm, NULL, "the and on", "on the and");
    OK(skmt_keys_new(&keys, d.model, o, NULL, &err));
    s = session(&d, "", d.tm, keys);
    say(s, "the and in", a);
    CHECK_INT(key_stat(keys, "pairs"), 2);
    CHECK_INT(key_stat(keys, "hits"), 0);
    CHECK(key_stat(keys, "bytes") > 0);
    CHECK_STR(say(s, "the and in", b), a);
    CHECK_INT(key_stat(keys, "hits"), 2);
    OK(skmt_tm_delete(d.tm, first, &err));
    say(s, "the and in", b);
    CHECK_INT(key_stat(keys, "hits"), 3);
    OK(skmt_tm_replace(d.tm, second, NULL, "re re", &err));
    say(s, "the and in", b);
    CHECK_INT(key_stat(keys, "misses"), 3);
    OK(skmt_tm_replace(d.tm, second, NULL, "on the and", &err));
    add(d.tm, NULL, "the and in of", "in the of and");
    CHECK_STR(say(s, "the and in", b), a);
    CHECK_INT(key_stat(keys, "misses"), 3);
    CHECK_INT(key_stat(keys, "hits"), 5);
    CHECK_INT(key_stat(keys, "pairs"), 3);
    skmt_session_free(s);
    skmt_keys_free(keys);
    skmt_options_free(o);
    desk_close(&d);
}

static int64_t lookups(skmt_keys *keys)
{
    return key_stat(keys, "hits") + key_stat(keys, "file_hits") +
           key_stat(keys, "misses");
}

/* If keys are missing, they are looked up again before they are computed. Each
 * use of a pair must still count as one hit or one miss. */
TEST(a_use_of_a_pair_is_counted_once)
{
    static const char *const texts[] = { "the and in", "the and on",
                                         "the and in", "on of" };
    skmt_options *o = options("");
    skmt_keys *keys = NULL;
    int64_t used = 0;
    skmt_session *s;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "the and in of", "in the of and");
    add(d.tm, NULL, "the and on this", "on the and");
    add(d.tm, NULL, "on on of", "of the on");
    OK(skmt_keys_new(&keys, d.model, o, scratch_path(&d.dir, "keys"), &err));
    s = session(&d, "exact=steer", d.tm, keys);
    for (size_t i = 0; i < COUNT(texts); i++) {
        skmt_result *r = translate(s, texts[i]);

        used += skmt_result_pairs(r, 0);
        CHECK_INT(lookups(keys), used);
        skmt_result_free(r);
    }
    CHECK(used > key_stat(keys, "pairs"));
    CHECK_INT(key_stat(keys, "pairs"), 3);
    CHECK_INT(key_stat(keys, "misses"), 3);
    skmt_session_free(s);
    skmt_keys_free(keys);
    skmt_options_free(o);
    desk_close(&d);
}

/* After a rollback, the next text gets the number of the text that was rolled
 * back. It must not get the keys of that text. */
TEST(keys_of_an_undone_text_are_not_those_of_the_next)
{
    char first[500], again[500], fresh[500];
    skmt_session *s;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "xylophone", "something");
    s = session(&d, "adapter=fixed lambda=0.9", d.tm, NULL);
    OK(skmt_tm_begin(d.tm, &err));
    add(d.tm, NULL, "the and in of this", "re re re re re");
    say(s, "the and in of", first);
    skmt_tm_rollback(d.tm);
    add(d.tm, NULL, "the and in of this", "on on on on on");
    say(s, "the and in of", again);
    skmt_session_free(s);
    s = session(&d, "adapter=fixed lambda=0.9", d.tm, NULL);
    say(s, "the and in of", fresh);
    CHECK_STR(again, fresh);
    CHECK(strcmp(first, again) != 0);
    skmt_session_free(s);
    desk_close(&d);
}

/* The result describes a pair in the same way whether its keys were computed or
 * were in the cache. */
TEST(pairs_are_told_alike_with_keys_and_without)
{
    skmt_found_pair p = SKMT_INIT(skmt_found_pair);
    skmt_session *s;
    skmt_result *r;
    struct desk d;

    desk_open(&d);
    add(d.tm, NULL, "the and in of", "in the of and");
    s = session(&d, "", d.tm, NULL);
    for (int i = 0; i < 2; i++) {
        r = translate(s, "the and in");
        skmt_result_pair(r, 0, 0, &p);
        CHECK(!p.source[0] && !p.target[0] && p.id == 0 && p.similarity > 0.3);
        skmt_result_free(r);
    }
    skmt_session_free(s);
    desk_close(&d);
}

TEST(keys_of_other_options_are_refused)
{
    skmt_options *o = options("key-type=f32"), *eos = options("knn-eos=0");
    skmt_keys *keys = NULL;
    skmt_session *s;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    OK(skmt_keys_new(&keys, d.model, o, NULL, &err));
    s = session(&d, "", NULL, NULL);
    CHECK_INT(skmt_session_use(s, d.tm, keys, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "key-type") != NULL);
    skmt_session_free(s);
    skmt_keys_free(keys);
    OK(skmt_keys_new(&keys, d.model, eos, NULL, &err));
    s = session(&d, "", NULL, NULL);
    CHECK_INT(skmt_session_use(s, d.tm, keys, &err), SKMT_ERR_ARGUMENT);
    skmt_session_free(s);
    skmt_keys_free(keys);
    skmt_options_free(o);
    skmt_options_free(eos);
    desk_close(&d);
}

TEST(keys_in_a_file_serve_the_next_program)
{
    skmt_options *o = options("");
    const char *path;
    char a[500], b[500];
    skmt_keys *keys = NULL;
    skmt_session *s;
    skmt_error err;
    struct desk d;
    int64_t id, made = -1, removed = -1;

    desk_open(&d);
    path = scratch_path(&d.dir, "keys");
    id = add(d.tm, NULL, "the and in of", "in the of and");
    add(d.tm, NULL, "xylophone", "the on");
    OK(skmt_keys_new(&keys, d.model, o, path, &err));
    OK(skmt_keys_warm(keys, d.tm, o, &made, &err));
    CHECK_INT(made, 2);
    CHECK_INT(key_stat(keys, "misses"), 2);
    OK(skmt_keys_warm(keys, d.tm, o, &made, &err));
    CHECK_INT(made, 0);
    CHECK_INT(lookups(keys), 4);
    skmt_keys_free(keys);
    s = session(&d, "", d.tm, NULL);
    say(s, "the and in", a);
    skmt_session_free(s);
    OK(skmt_keys_new(&keys, d.model, o, path, &err));
    CHECK_INT(key_stat(keys, "file_pairs"), 2);
    s = session(&d, "", d.tm, keys);
    CHECK_STR(say(s, "the and in", b), a);
    CHECK_INT(key_stat(keys, "file_hits"), 1);
    CHECK_INT(key_stat(keys, "misses"), 0);
    skmt_session_free(s);
    skmt_keys_free(keys);
    /* A deleted pair is no longer found. skmt_keys_drop_others removes its
     * keys. */
    OK(skmt_tm_delete(d.tm, id, &err));
    OK(skmt_keys_new(&keys, d.model, o, path, &err));
    s = session(&d, "", d.tm, keys);
    say(s, "the and in", b);
    CHECK(strcmp(a, b) != 0);
    CHECK_INT(key_stat(keys, "file_pairs"), 2);
    skmt_session_free(s);
    OK(skmt_keys_drop_others(keys, d.tm, &removed, &err));
    CHECK_INT(removed, 1);
    CHECK_INT(key_stat(keys, "file_pairs"), 1);
    OK(skmt_keys_drop_others(keys, d.tm, NULL, &err));
    CHECK_INT(key_stat(keys, "file_pairs"), 1);
    skmt_keys_free(keys);
    skmt_options_free(o);
    desk_close(&d);
}

/* The same texts have the same keys: in another memory, with tags, or given by
 * the caller. */
TEST(the_same_pair_has_the_same_keys_everywhere)
{
    static const skmt_similar given = { sizeof given, "the and in of",
                                        "in the of and", 1 };
    static const skmt_tm_info second = { .size = sizeof second,
                                         .name = "second" };
    static const skmt_pair tagged = {
        .size = sizeof tagged, .source = "", .target = "",
        .source_tagged = "the <hi>and</hi> in of",
        .target_tagged = "in <hi>the</hi> of and" };
    skmt_options *o = options("");
    skmt_keys *keys = NULL;
    skmt_result *r = NULL;
    skmt_session *s;
    skmt_error err;
    struct desk d;
    int64_t made;

    desk_open(&d);
    add(d.tm, NULL, given.source, given.target);
    OK(skmt_tm_create(d.tm, &second, &err));
    add(d.tm, "second", given.source, given.target);
    OK(skmt_keys_new(&keys, d.model, o, scratch_path(&d.dir, "keys"), &err));
    OK(skmt_keys_warm(keys, d.tm, o, &made, &err));
    CHECK_INT(made, 1);
    CHECK_INT(key_stat(keys, "file_pairs"), 1);
    OK(skmt_tm_add_pair(d.tm, NULL, &tagged, NULL, &err));
    OK(skmt_keys_warm(keys, d.tm, o, &made, &err));
    CHECK_INT(made, 0);
    s = session(&d, "", NULL, keys);
    OK(skmt_session_translate_with(s, "the and", NULL, &given, 1, &r, &err));
    CHECK_INT(key_stat(keys, "misses"), 1);
    skmt_result_free(r);
    skmt_session_free(s);
    skmt_keys_free(keys);
    skmt_options_free(o);
    desk_close(&d);
}

/* ---- streams ------------------------------------------------------------- */

enum { N_TEXTS = 40 };
struct heard { char text[N_TEXTS][500]; int n; };

static int hear(void *user, uint64_t number, skmt_result *r,
                const skmt_error *e)
{
    struct heard *h = user;

    CHECK_INT(number, h->n);
    snprintf(h->text[h->n++], 500, "%s",
             r ? skmt_result_text(r, 0) : e->message);
    return 0;
}

TEST(streams_say_what_sessions_say)
{
    static const char *const words[] = { "the", "and", "in", "of", "on",
                                         "this" };
    static struct heard h;
    struct desk d;
    char text[N_TEXTS][100];
    uint64_t seed = 5;
    skmt_session *s;

    desk_open(&d);
    for (int i = 0; i < 30; i++) {
        char source[100] = "", target[100] = "";

        for (int k = 0; k < 4 + i % 4; k++) {
            strcat(strcat(source, k ? " " : ""),
                   words[tiny_next(&seed) % COUNT(words)]);
            strcat(strcat(target, k ? " " : ""),
                   words[tiny_next(&seed) % COUNT(words)]);
        }
        add(d.tm, NULL, source, target);
    }
    for (int i = 0; i < N_TEXTS; i++) {
        text[i][0] = 0;
        for (int k = 0; k < 3 + i % 5; k++)
            strcat(strcat(text[i], k ? " " : ""),
                   words[tiny_next(&seed) % COUNT(words)]);
    }
    s = session(&d, "batch=1 draft=0", d.tm, NULL);
    for (int threads = 1; threads <= 3; threads += 2)
        for (int batch = 1; batch <= 5; batch += 4) {
            char list[64];
            skmt_options *o;
            skmt_stream *st = NULL;
            skmt_error err;

            snprintf(list, sizeof list, "threads=%d batch=%d", threads, batch);
            o = options(list);
            h.n = 0;
            OK(skmt_stream_new(&st, d.model, o, hear, &h, &err));
            OK(skmt_stream_use(st, d.tm, NULL, &err));
            for (int i = 0; i < N_TEXTS; i++)
                OK(skmt_stream_push(st, text[i], NULL, &err));
            OK(skmt_stream_flush(st, &err));
            CHECK_INT(h.n, N_TEXTS);
            for (int i = 0; i < N_TEXTS; i++) {
                char want[500];

                CHECK_STR(h.text[i], say(s, text[i], want));
            }
            skmt_stream_free(st);
            skmt_options_free(o);
        }
    skmt_session_free(s);
    desk_close(&d);
}
