/* test_tm_api.c - tests translation memories through the public API: memories,
 * pairs, files and maintenance. Searches are in test_tm_search.c. */
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "use_tm.h"

/* ---- storing and finding ---------------------------------------------- */

TEST(what_was_added_is_found_by_the_next_search)
{
    struct scratch s;
    skmt_matches *m;
    skmt_match one = SKMT_INIT(skmt_match);
    skmt_tm *tm;
    int64_t id;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    CHECK_INT(found(tm, "Guten Tag"), 0);       /* an empty file */
    id = add(tm, NULL, "Guten Tag", "Good day");
    CHECK(id > 0);
    m = search(tm, "Guten Tag!", NULL);
    REQUIRE(m && skmt_matches_count(m) == 1);
    skmt_matches_get(m, 0, &one);
    CHECK_INT(one.pair->id, id);
    CHECK_STR(one.pair->memory, "main");
    CHECK_STR(one.pair->source, "Guten Tag");
    CHECK_STR(one.pair->target, "Good day");
    CHECK(one.pair->source_tagged == NULL && one.pair->target_tagged == NULL);
    CHECK_STR(one.pair->origin, "");
    CHECK_INT(one.pair->position, 0);
    CHECK(one.pair->created > 1600000000);
    CHECK_NEAR(one.similarity, 2.0 / 3, 1e-9);  /* three words, one edit */
    CHECK(one.score > 0);
    CHECK_INT(one.occurrences, 1);
    skmt_matches_get(m, 1, &one);
    CHECK(one.pair->id == 0 && !strcmp(one.pair->source, ""));
    skmt_matches_free(m);

    add(tm, NULL, "Guten Tag", "Good day");     /* a second occurrence */
    m = search(tm, "Guten Tag", NULL);
    REQUIRE(m && skmt_matches_count(m) == 1);
    skmt_matches_get(m, 0, &one);
    CHECK_INT(one.pair->id, id);                 /* the oldest pair */
    CHECK_INT(one.occurrences, 2);
    CHECK_NEAR(one.similarity, 1, 0);
    skmt_matches_free(m);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(other_handles_and_processes_find_it_at_once)
{
    struct scratch s;
    skmt_tm *a, *b;
    int status = -1;
    pid_t child;

    REQUIRE(scratch_make(&s));
    a = open_tm(&s, SKMT_TM_CREATE);
    b = open_tm(&s, SKMT_TM_READ);
    CHECK_INT(found(b, "Haus"), 0);
    add(a, NULL, "Das Haus ist groß", "The house is large");
    CHECK_INT(found(b, "Haus"), 1);
    child = fork();
    if (!child) {
        skmt_tm *c = NULL;
        skmt_error err;
        int64_t id;

        _exit(skmt_tm_open(&c, scratch_path(&s, "a.tm"), SKMT_TM_WRITE,
                           &err) ||
              skmt_tm_add(c, NULL, "Haus und Hof", "House and yard", &id,
                          &err));
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_INT(found(a, "Haus"), 2);
    CHECK_INT(found(b, "Haus"), 2);
    skmt_tm_close(a);
    CHECK_INT(found(b, "Haus"), 2);
    skmt_tm_close(b);
    scratch_remove(&s);
}

TEST(opening_says_what_is_wrong)
{
    struct scratch s;
    skmt_tm *tm = (skmt_tm *)&s;
    skmt_error err;
    int64_t id;

    REQUIRE(scratch_make(&s));
    CHECK_INT(skmt_tm_open(&tm, scratch_path(&s, "none.tm"), SKMT_TM_WRITE,
                           &err), SKMT_ERR_IO);
    CHECK(tm == NULL && strstr(err.message, "none.tm"));
    CHECK_INT(skmt_tm_open(&tm, NULL, SKMT_TM_READ, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_open(&tm, "x", (skmt_tm_mode)7, &err), SKMT_ERR_ARGUMENT);
    skmt_tm_close(open_tm(&s, SKMT_TM_CREATE));
    tm = open_tm(&s, SKMT_TM_READ);
    CHECK(skmt_tm_add(tm, NULL, "a", "b", &id, &err) != SKMT_OK);
    CHECK(err.message[0]);
    CHECK(skmt_tm_begin(tm, NULL) != SKMT_OK);
    skmt_tm_close(tm);
    skmt_tm_close(NULL);
    skmt_tm_cursor_close(NULL);
    skmt_matches_free(NULL);
    skmt_import_free(NULL);
    scratch_remove(&s);
}

/* ---- memories --------------------------------------------------------- */

TEST(the_state_tells_what_was_changed)
{
    skmt_tm_state first = SKMT_INIT(skmt_tm_state), added = first;
    skmt_tm_state again = first, other = first;
    struct scratch s;
    skmt_error err;
    uint64_t identity;
    skmt_tm *tm;
    int64_t id, change;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_tm_get_change(tm, &identity, &change, &err));
    CHECK(identity && !change);
    OK(skmt_tm_get_state(tm, &first, &err));
    CHECK(first.identity != 0);
    CHECK(!first.last_change && !first.pairs && !first.texts);
    id = add(tm, NULL, "Ja", "Yes");
    OK(skmt_tm_get_state(tm, &added, &err));
    CHECK(added.identity == first.identity);
    CHECK(added.last_change > 0 && added.pairs == 1 && added.texts == 1);
    add(tm, NULL, "Ja", "Yes");
    OK(skmt_tm_get_state(tm, &again, &err));
    CHECK(again.pairs == 2 && again.texts == 1);
    OK(skmt_tm_replace(tm, id, NULL, "Sure", &err));
    OK(skmt_tm_get_state(tm, &other, &err));
    CHECK(other.last_change > again.last_change && other.pairs == 2);
    skmt_tm_close(tm);
    tm = open_tm(&s, SKMT_TM_READ);
    OK(skmt_tm_get_state(tm, &again, &err));
    CHECK(again.identity == first.identity);
    CHECK(again.last_change == other.last_change && again.texts == 2);
    OK(skmt_tm_get_change(tm, &identity, &change, &err));
    CHECK(identity == first.identity && change == other.last_change);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(memories_are_made_renamed_and_dropped)
{
    skmt_tm_info set = { .size = sizeof set, .name = "law",
                         .source_lang = "de", .target_lang = "en",
                         .priority = 3, .keep_duplicates = 1 };
    skmt_tm_info got = SKMT_INIT(skmt_tm_info);
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    int n;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_tm_create(tm, &set, &err));
    CHECK(skmt_tm_create(tm, &set, &err) == SKMT_ERR_ARGUMENT);
    set = (skmt_tm_info){ .size = sizeof set, .name = "medical" };
    OK(skmt_tm_create(tm, &set, &err));
    OK(skmt_tm_count(tm, &n, &err));
    CHECK_INT(n, 2);
    add(tm, "law", "Das Gesetz", "The law");
    add(tm, "law", "Das Gesetz", "The law");    /* duplicates are kept */
    OK(skmt_tm_get_info(tm, 0, &got, &err));
    CHECK_STR(got.name, "law");
    CHECK_STR(got.source_lang, "de");
    CHECK_STR(got.target_lang, "en");
    CHECK(got.priority == 3 && got.keep_duplicates == 1 && got.created > 0);
    CHECK(got.pairs == 2 && got.texts == 2);
    CHECK_INT(got.source_bytes, 2 * 10);
    CHECK_INT(got.target_bytes, 2 * 7);
    CHECK_INT(found(tm, "Gesetz"), 2);
    CHECK_INT(skmt_tm_get_info(tm, 2, &got, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_get_info(tm, -1, &got, &err), SKMT_ERR_ARGUMENT);

    /* There are two memories, and none is called main: a name is needed. */
    CHECK_INT(skmt_tm_add(tm, NULL, "a", "b", NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "law") && strstr(err.message, "medical"));
    CHECK_INT(skmt_tm_add(tm, "new", "a", "b", NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "law"));

    OK(skmt_tm_set(tm, "medical", "name", "main", &err));
    OK(skmt_tm_set(tm, NULL, "priority", "-2", &err));
    OK(skmt_tm_set(tm, "main", "source-lang", "fr", &err));
    OK(skmt_tm_set(tm, "main", "target-lang", "it-CH", &err));
    CHECK_INT(skmt_tm_set(tm, "main", "priority", "much", &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_set(tm, "main", "color", "red", &err), SKMT_ERR_ARGUMENT);
    OK(skmt_tm_get_info(tm, 1, &got, &err));
    CHECK_STR(got.name, "main");
    CHECK_STR(got.source_lang, "fr");
    CHECK_STR(got.target_lang, "it-CH");
    CHECK_INT(got.priority, -2);
    add(tm, NULL, "Gesetz hier", "here");
    CHECK_INT(found(tm, "Gesetz"), 3);
    OK(skmt_tm_drop(tm, "law", &err));
    CHECK_INT(found(tm, "Gesetz"), 1);
    CHECK_INT(skmt_tm_drop(tm, "law", &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(a_first_memory_takes_the_name_it_is_given)
{
    struct scratch s;
    skmt_tm_info got = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    skmt_tm *tm;
    int n = 7;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    /* A pair that is rejected does not create a memory either. */
    CHECK_INT(skmt_tm_add(tm, "mine", "\xff", "b", NULL, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_tm_add(tm, "mine", "", "b", NULL, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_tm_add(tm, "mine", NULL, "b", NULL, &err), SKMT_ERR_TEXT);
    OK(skmt_tm_count(tm, &n, &err));
    CHECK_INT(n, 0);
    add(tm, "mine", "a", "b");
    OK(skmt_tm_get_info(tm, 0, &got, &err));
    CHECK_STR(got.name, "mine");
    add(tm, NULL, "c", "d");                    /* the only memory */
    OK(skmt_tm_get_info(tm, 0, &got, &err));
    CHECK_INT(got.pairs, 2);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* ---- pairs ------------------------------------------------------------ */

TEST(a_pair_keeps_all_it_was_given)
{
    const skmt_pair given = {
        .size = sizeof given,
        .source_tagged = "Ein <g id=\"1\">rotes</g> Haus &amp; Hof",
        .target = "A red house & yard", .source_lang = "de-AT",
        .target_lang = "en-GB", .document = "d.xlf", .unit = "u7",
        .author = "someone", .extra = "{\"x\": 1}", .created = 1000000000,
        .changed = 1100000000 };
    struct scratch s;
    skmt_error err;
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_tm *tm;
    int64_t id;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_tm_add_pair(tm, NULL, &given, &id, &err));
    OK(skmt_tm_get(tm, id, &p, &err));
    CHECK_STR(p.memory, "main");
    CHECK_STR(p.source, "Ein rotes Haus & Hof");
    CHECK_STR(p.target, "A red house & yard");
    CHECK_STR(p.source_tagged, given.source_tagged);
    CHECK_STR(p.target_tagged, "A red house &amp; yard");
    CHECK_STR(p.source_lang, "de-AT");
    CHECK_STR(p.target_lang, "en-GB");
    CHECK_STR(p.document, "d.xlf");
    CHECK_STR(p.unit, "u7");
    CHECK_STR(p.author, "someone");
    CHECK_STR(p.extra, "{\"x\": 1}");
    CHECK(p.created == 1000000000 && p.changed == 1100000000);
    CHECK_INT(found(tm, "rotes Haus"), 1);      /* text inside tags counts */
    CHECK_INT(found(tm, "g id 1 amp"), 0);      /* the tags do not */

    OK(skmt_tm_replace(tm, id, NULL, "Red & house", &err));
    OK(skmt_tm_get(tm, id, &p, &err));
    CHECK_STR(p.source_tagged, given.source_tagged);
    CHECK_STR(p.target, "Red & house");
    CHECK(p.changed > 1600000000);
    OK(skmt_tm_replace(tm, id, "Blau <", NULL, &err));
    OK(skmt_tm_get(tm, id, &p, &err));
    CHECK_STR(p.source, "Blau <");
    CHECK_STR(p.target, "Red & house");
    CHECK_INT(found(tm, "Haus"), 0);
    CHECK_INT(found(tm, "blau"), 1);
    OK(skmt_tm_replace(tm, id, "Grün", "Green", &err));
    OK(skmt_tm_get(tm, id, &p, &err));
    CHECK(p.source_tagged == NULL);
    CHECK_STR(p.source, "Grün");
    CHECK_STR(p.unit, "u7");

    OK(skmt_tm_delete(tm, id, &err));
    CHECK_INT(found(tm, "grün"), 0);
    CHECK_INT(skmt_tm_get(tm, id, &p, &err), SKMT_ERR_ARGUMENT);
    CHECK_STR(p.source, "");
    CHECK_INT(skmt_tm_delete(tm, id, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_replace(tm, id, "a", "b", &err), SKMT_ERR_ARGUMENT);
    CHECK(add(tm, NULL, "a", "b") > id);        /* ids are not used again */
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(a_text_has_the_limit_that_an_import_has)
{
    const size_t limit = (size_t)16 << 20;
    char *text = malloc(limit + 2);
    struct scratch s;
    skmt_error err;
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_tm *tm;
    int64_t id;

    REQUIRE(text && scratch_make(&s));
    memset(text, 'a', limit + 1);
    text[limit + 1] = 0;
    tm = open_tm(&s, SKMT_TM_CREATE);
    CHECK_INT(skmt_tm_add(tm, NULL, text, "b", &id, &err), SKMT_ERR_LIMIT);
    CHECK_STR(err.message, "the source text has 16777217 bytes; the limit is "
              "16777216 bytes (16 MiB)");
    CHECK_INT(skmt_tm_add(tm, NULL, "b", text, &id, &err), SKMT_ERR_LIMIT);
    p.source = "a";
    p.target = "b";
    p.document = text;
    CHECK_INT(skmt_tm_add_pair(tm, NULL, &p, &id, &err), SKMT_ERR_LIMIT);
    CHECK(strstr(err.message, "the document's name has 16777217 bytes"));
    id = add(tm, NULL, "a", "b");
    CHECK_INT(skmt_tm_replace(tm, id, NULL, text, &err), SKMT_ERR_LIMIT);
    CHECK(strstr(err.message, "the target text has"));
    text[limit] = 0;                            /* exactly the limit */
    OK(skmt_tm_replace(tm, id, NULL, text, &err));
    OK(skmt_tm_add(tm, NULL, text, "b", &id, &err));
    CHECK_INT(found(tm, "nothing like it"), 0);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
    free(text);
}

TEST(pairs_are_deleted_by_what_they_have)
{
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    int64_t n;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    for (int i = 0; i < 6; i++) {
        skmt_pair p = { .size = sizeof p,
                        .source = i < 4 ? "eins zwei" : "zwei drei",
                        .target = i % 2 ? "odd" : "even",
                        .document = i < 3 ? "d1" : "d2" };

        OK(skmt_tm_add_pair(tm, NULL, &p, NULL, &err));
    }
    CHECK_INT(skmt_tm_delete_where(tm, NULL, NULL, NULL, NULL, NULL, &n, &err),
              SKMT_ERR_ARGUMENT);
    OK(skmt_tm_delete_where(tm, NULL, NULL, "d1", "eins zwei", "even", &n,
                            &err));
    CHECK_INT(n, 2);
    CHECK_INT(found(tm, "zwei"), 3);
    OK(skmt_tm_delete_where(tm, NULL, NULL, NULL, "eins zwei", NULL, &n,
                            &err));
    CHECK_INT(n, 2);
    CHECK_STR(TARGETS(tm, "zwei", NULL), "odd even ");
    OK(skmt_tm_delete_where(tm, "main", NULL, "none", NULL, NULL, &n, &err));
    CHECK_INT(n, 0);
    CHECK_INT(skmt_tm_delete_where(tm, "x", NULL, "d2", NULL, NULL, &n, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* With `write`, the file gets an index of units; without it, pairs are read. */
static void check_units(const struct scratch *s, skmt_tm_mode mode)
{
    skmt_tm *tm = open_tm(s, mode);
    skmt_error err;
    int64_t id;

    OK(skmt_tm_find_unit(tm, "a", "u1", 0, &id, &err));
    CHECK_INT(id, 1);
    OK(skmt_tm_find_unit(tm, "a", "u1", 1, &id, &err));
    CHECK_INT(id, 3);
    OK(skmt_tm_find_unit(tm, "a", "u1", 3, &id, &err));
    CHECK_INT(id, 0);
    OK(skmt_tm_find_unit(tm, "b", "u1", 0, &id, &err));
    CHECK_INT(id, 4);
    OK(skmt_tm_find_unit(tm, "b", "u2", 0, &id, &err));
    CHECK_INT(id, 0);
    CHECK_INT(skmt_tm_find_unit(tm, "c", "u1", 0, &id, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_find_unit(tm, "a", "", 0, &id, &err),
              SKMT_ERR_ARGUMENT);
    skmt_tm_close(tm);
}

TEST(pairs_are_found_by_the_id_of_their_unit)
{
    static const char *const where[][2] = {
        { "a", "u1" }, { "a", "u2" }, { "a", "u1" }, { "b", "u1" } };
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    int64_t id;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    for (int i = 0; i < 2; i++) {
        info.name = i ? "b" : "a";
        OK(skmt_tm_create(tm, &info, &err));
    }
    for (int i = 0; i < 4; i++) {
        skmt_pair p = { .size = sizeof p, .source = "eins",
                        .target = i % 2 ? "odd" : "even",
                        .unit = where[i][1] };

        OK(skmt_tm_add_pair(tm, where[i][0], &p, NULL, &err));
    }
    check_units(&s, SKMT_TM_READ);
    check_units(&s, SKMT_TM_WRITE);
    check_units(&s, SKMT_TM_READ);
    OK(skmt_tm_begin(tm, &err));        /* changes that are not stored yet */
    OK(skmt_tm_delete(tm, 1, &err));
    OK(skmt_tm_find_unit(tm, "a", "u1", 0, &id, &err));
    CHECK_INT(id, 3);
    skmt_tm_rollback(tm);
    OK(skmt_tm_compact(tm, &err));
    CHECK_INT(problems(tm), 0);
    OK(skmt_tm_get_settings(tm, 1, &info, &err));
    CHECK_STR(info.name, "b");
    CHECK_INT(info.pairs, -1);
    OK(skmt_tm_get_info(tm, 1, &info, &err));
    CHECK_INT(info.pairs, 1);
    CHECK_INT(skmt_tm_get_settings(tm, 2, &info, &err), SKMT_ERR_ARGUMENT);
    skmt_tm_close(tm);
    check_units(&s, SKMT_TM_WRITE);
    scratch_remove(&s);
}

TEST(a_transaction_is_all_or_nothing)
{
    const char *path = "x.tsv";
    struct scratch s;
    skmt_tm *tm, *other;
    skmt_error err;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "alt", "old");
    other = open_tm(&s, SKMT_TM_READ);
    OK(skmt_tm_begin(tm, &err));
    OK(skmt_tm_begin(tm, &err));                /* they nest */
    add(tm, NULL, "neu eins", "new");
    OK(skmt_tm_commit(tm, &err));
    add(tm, NULL, "neu zwei", "new");
    CHECK_INT(found(tm, "neu"), 2);             /* we see our own adds */
    CHECK_INT(found(other, "neu"), 0);
    CHECK_INT(skmt_tm_import(tm, NULL, &path, 1, NULL, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_compact(tm, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_rebuild(tm, &err), SKMT_ERR_ARGUMENT);
    skmt_tm_rollback(tm);
    skmt_tm_rollback(tm);                       /* has no effect */
    CHECK_INT(found(tm, "neu"), 0);
    CHECK_INT(found(tm, "alt"), 1);
    CHECK_INT(skmt_tm_commit(tm, &err), SKMT_ERR_ARGUMENT);

    OK(skmt_tm_begin(tm, &err));
    add(tm, NULL, "neu drei", "new");
    add(tm, NULL, "neu vier", "new");
    /* A rejected pair does not undo the others. */
    CHECK_INT(skmt_tm_add(tm, NULL, "", "b", NULL, &err), SKMT_ERR_TEXT);
    OK(skmt_tm_commit(tm, &err));
    CHECK_INT(found(tm, "neu"), 2);
    CHECK_INT(found(other, "neu"), 2);
    OK(skmt_tm_begin(tm, &err));
    add(tm, NULL, "neu fünf", "new");
    skmt_tm_close(tm);                          /* without a commit */
    CHECK_INT(found(other, "neu"), 2);
    CHECK_INT(problems(other), 0);
    skmt_tm_close(other);
    scratch_remove(&s);
}

TEST(a_cursor_gives_every_pair_as_of_its_opening)
{
    struct scratch s;
    skmt_tm_cursor *c = NULL;
    int64_t last = 0;
    skmt_error err;
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_tm *tm;
    int n = 0, more = 1;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    CHECK_INT(skmt_tm_cursor_open(&c, tm, NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK(c == NULL);
    for (int i = 0; i < 5; i++) add(tm, NULL, i % 2 ? "a" : "b", "t");
    OK(skmt_tm_cursor_open(&c, tm, NULL, &err));
    REQUIRE(c != NULL);
    for (;; n++) {
        OK(skmt_tm_cursor_next(c, &p, &more, &err));
        if (!more) break;
        CHECK(p.id > last);
        CHECK_STR(p.source, n % 2 ? "a" : "b");
        last = p.id;
        add(tm, NULL, "new", "t");
    }
    CHECK_INT(n, 5);
    skmt_tm_cursor_close(c);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* A page of a list begins after the last pair of the page before it. Pairs of
 * other memories have ids between those of this one. */
TEST(a_cursor_may_begin_after_a_pair)
{
    int64_t ids[6], after[] = { 0, 0, -1, 1000000 };
    const int want[] = { 3, 2, 3, 0 };
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    for (int i = 0; i < 2; i++) {
        skmt_tm_info memory = SKMT_INIT(skmt_tm_info);

        memory.name = i ? "odd" : "even";
        OK(skmt_tm_create(tm, &memory, &err));
    }
    for (int i = 0; i < 6; i++)
        OK(skmt_tm_add(tm, i % 2 ? "odd" : "even", "a", "t", &ids[i], &err));
    after[1] = ids[1];
    for (int i = 0; i < 4; i++) {
        skmt_tm_cursor *c;
        skmt_pair p = SKMT_INIT(skmt_pair);
        int n = 0, more = 1;

        OK(skmt_tm_cursor_open_after(&c, tm, "odd", after[i], &err));
        REQUIRE(c != NULL);
        for (;; n++) {
            OK(skmt_tm_cursor_next(c, &p, &more, &err));
            if (!more) break;
            CHECK(p.id > after[i]);
            CHECK_STR(p.memory, "odd");
        }
        CHECK_INT(n, want[i]);
        skmt_tm_cursor_close(c);
    }
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* ---- files ------------------------------------------------------------ */

static char *whole_file(const char *path)
{
    static char text[4096];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (!CHECK(f != NULL)) return "";
    fclose(f);
    text[n] = 0;
    return text;
}

struct seen { int calls, stop_at; uint64_t done, total, units; };

static int on_progress(void *user, const char *what, uint64_t done,
                       uint64_t total, uint64_t units)
{
    struct seen *s = user;

    if (strcmp(what, "importing")) return 0;
    CHECK(done >= s->done && (!total || done <= total));
    s->done = done;
    s->total = total;
    s->units = units;
    return ++s->calls == s->stop_at;
}

TEST(files_come_in_and_go_out)
{
    const char *paths[2];
    skmt_import *how;
    struct seen seen = { 0 };
    struct scratch s;
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_tm *tm;
    int64_t n;

    OK(skmt_import_new(&how, &err));
    REQUIRE(scratch_make(&s));
    scratch_write(&s, "a.tsv", "eins\tone\nzwei\ttwo\n\tempty\neins\tone\n");
    scratch_write(&s, "b.tsv", "drei\tthree\neins\tone\n");
    tm = open_tm(&s, SKMT_TM_CREATE);
    skmt_tm_on_progress(tm, on_progress, &seen);
    paths[0] = scratch_path(&s, "a.tsv");
    paths[1] = scratch_path(&s, "b.tsv");
    OK(skmt_import_set(how, "source-lang", "de", &err));
    OK(skmt_import_set(how, "target-lang", "en", &err));
    OK(skmt_tm_import(tm, NULL, paths, 2, how, &err));
    CHECK_INT(import_count(how, "pairs"), 5);
    CHECK_INT(import_count(how, "texts"), 3);
    CHECK_INT(import_count(how, "empty"), 1);
    CHECK_INT(import_count(how, "bad"), 0);
    CHECK_INT(import_count(how, "color"), -1);
    CHECK(seen.calls >= 2 && seen.done == seen.total && seen.units == 5);
    CHECK_INT(seen.total, 34 + 20);
    OK(skmt_tm_get_info(tm, 0, &info, &err));
    CHECK_STR(info.name, "main");
    CHECK_STR(info.source_lang, "de");
    CHECK_STR(info.target_lang, "en");
    CHECK(info.pairs == 5 && info.texts == 3);
    CHECK_INT(found(tm, "eins"), 1);
    OK(skmt_tm_get(tm, 1, &p, &err));
    CHECK_STR(p.origin, "a.tsv");
    CHECK_INT(p.position, 1);
    CHECK_STR(p.source_lang, "de");
    OK(skmt_tm_get(tm, 5, &p, &err));
    CHECK_STR(p.origin, "b.tsv");
    CHECK_STR(p.source, "eins");
    CHECK_INT(p.position, 2);

    OK(skmt_tm_export(tm, NULL, scratch_path(&s, "out.tsv"), NULL, NULL, &n,
                      &err));
    CHECK_INT(n, 5);
    CHECK_STR(whole_file(scratch_path(&s, "out.tsv")),
              "eins\tone\nzwei\ttwo\neins\tone\ndrei\tthree\neins\tone\n");
    OK(skmt_tm_export(tm, "main", scratch_path(&s, "o.de"), "text",
                      scratch_path(&s, "o.en"), NULL, &err));
    CHECK_STR(whole_file(scratch_path(&s, "o.en")),
              "one\ntwo\none\nthree\none\n");
    CHECK_INT(skmt_tm_export(tm, NULL, scratch_path(&s, "out.what"), NULL,
                             NULL, &n, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_export(tm, NULL, scratch_path(&s, "o.tsv"), "doc", NULL,
                             &n, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_export(tm, "no", scratch_path(&s, "o.tsv"), NULL, NULL,
                             &n, &err), SKMT_ERR_ARGUMENT);

    OK(skmt_tm_delete_where(tm, NULL, "a.tsv", NULL, NULL, NULL, &n, &err));
    CHECK_INT(n, 3);
    CHECK_INT(found(tm, "zwei"), 0);
    CHECK_INT(found(tm, "eins"), 1);            /* also in b.tsv */
    CHECK_INT(problems(tm), 0);
    skmt_import_free(how);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

static int count_rejects(void *user, const char *file, uint64_t line,
                         uint64_t column, const char *why, const char *raw,
                         size_t raw_len)
{
    int *n = user;

    (void)column;
    CHECK(strstr(file, "bad.tsv") && why[0] && line == 2);
    CHECK(raw_len == 0 || memchr(raw, 'z', raw_len));
    return ++*n > 1;
}

TEST(an_import_that_fails_changes_nothing)
{
    skmt_import *how;
    struct seen seen = { .stop_at = 2 };
    struct scratch s;
    const char *bad, *good;
    skmt_error err;
    skmt_tm *tm;
    int n = 7, rejects = 0;

    OK(skmt_import_new(&how, &err));
    REQUIRE(scratch_make(&s));
    scratch_write(&s, "bad.tsv", "eins\tone\nzwei\ndrei\tthree\n");
    scratch_write(&s, "good.tsv", "eins\tone\n");
    bad = scratch_path(&s, "bad.tsv");
    good = scratch_path(&s, "good.tsv");
    tm = open_tm(&s, SKMT_TM_CREATE);
    CHECK_INT(skmt_tm_import(tm, NULL, &bad, 1, how, &err), SKMT_ERR_FORMAT);
    CHECK(strstr(err.message, "bad.tsv:2"));
    CHECK_INT(skmt_tm_import(tm, NULL, &bad, 0, how, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_import(tm, NULL, (const char *[]){ good, bad }, 2, NULL,
                             &err), SKMT_ERR_FORMAT);
    skmt_tm_on_progress(tm, on_progress, &seen);
    CHECK_INT(skmt_tm_import(tm, NULL, &good, 1, how, &err), SKMT_ERR_CANCELED);
    skmt_tm_on_progress(tm, NULL, NULL);
    OK(skmt_tm_count(tm, &n, &err));
    CHECK_INT(n, 0);
    CHECK_INT(found(tm, "eins"), 0);

    OK(skmt_import_set(how, "skip-bad", "yes", &err));
    skmt_import_on_reject(how, count_rejects, &rejects);
    OK(skmt_tm_import(tm, NULL, &bad, 1, how, &err));
    CHECK_INT(rejects, 1);
    CHECK_INT(import_count(how, "bad"), 1);
    CHECK_INT(import_count(how, "pairs"), 2);
    CHECK_INT(found(tm, "eins"), 1);
    OK(skmt_tm_set(tm, NULL, "source-lang", "de-CH", &err));
    OK(skmt_import_set(how, "source-lang", "fr", &err));
    CHECK_INT(skmt_tm_import(tm, NULL, &good, 1, how, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "de-CH"));
    OK(skmt_import_set(how, "source-lang", "de", &err));
    OK(skmt_tm_import(tm, NULL, &good, 1, how, &err));
    CHECK_INT(problems(tm), 0);
    skmt_import_free(how);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* The index of a failed import is written before the languages are stored. */
TEST(an_import_with_a_bad_language_leaves_no_index_files)
{
    skmt_import *how;
    struct scratch s;
    const char *path;
    skmt_error err;
    glob_t g;
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    OK(skmt_import_new(&how, &err));
    scratch_write(&s, "good.tsv", "eins\tone\n");
    path = scratch_path(&s, "good.tsv");
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_import_set(how, "source-lang", "d\x01", &err));
    CHECK_INT(skmt_tm_import(tm, NULL, &path, 1, how, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "a language must be"));
    CHECK_INT(found(tm, "eins"), 0);
    CHECK_INT(glob(scratch_path(&s, "a.tm.index/*.seg"), 0, NULL, &g),
              GLOB_NOMATCH);
    OK(skmt_import_set(how, "source-lang", "de", &err));
    OK(skmt_tm_import(tm, NULL, &path, 1, how, &err));
    CHECK_INT(found(tm, "eins"), 1);
    skmt_import_free(how);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

struct piped { const char *fifo; const struct scratch *s; int64_t pairs; };

static void *import_fifo(void *user)
{
    struct piped *p = user;
    skmt_tm *tm = open_tm(p->s, SKMT_TM_WRITE);
    skmt_import *how;
    skmt_error err;

    OK(skmt_import_new(&how, &err));
    skmt_import_set(how, "format", "tsv", &err);
    CHECK_INT(skmt_tm_import(tm, NULL, &p->fifo, 1, how, &err), SKMT_OK);
    p->pairs = import_count(how, "pairs");
    skmt_import_free(how);
    skmt_tm_close(tm);
    return NULL;
}

/* Waits until the reader of a pipe has read all that was written. */
static void wait_until_read(FILE *f)
{
    int left = 1;

    while (!ioctl(fileno(f), FIONREAD, &left) && left) sched_yield();
}

/* An import that reads from a slow program must not keep others from writing.
 * The pairs below are added while the import waits for input. */
TEST(an_import_that_waits_lets_others_write)
{
    struct piped p = { .pairs = -1 };
    struct scratch s;
    char fifo[256];
    pthread_t thread;
    skmt_tm *tm;
    FILE *f;

    REQUIRE(scratch_make(&s));
    snprintf(fifo, sizeof fifo, "%s/pipe", s.dir);
    REQUIRE(!mkfifo(fifo, 0600));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "eins", "one");
    p.fifo = fifo;
    p.s = &s;
    REQUIRE(!pthread_create(&thread, NULL, import_fifo, &p));
    REQUIRE((f = fopen(fifo, "w")));
    /* Repeated, so that the import is in each of its states at least once. */
    for (int i = 0; i < 8; i++) {
        fprintf(f, "zwei%d\ttwo\n", i);
        fflush(f);
        wait_until_read(f);
        CHECK(add(tm, NULL, "vier", "four") > 0);
        CHECK_INT(found(tm, "zwei0"), 0);       /* not yet visible */
    }
    fputs("zwei\ttwo\nsechs\tsix\n", f);
    fclose(f);
    pthread_join(thread, NULL);
    CHECK_INT(p.pairs, 10);
    CHECK_INT(found(tm, "zwei"), 1);
    CHECK_INT(found(tm, "vier"), 1);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(settings_of_an_import_are_checked)
{
    static const struct { const char *key, *value; int good; } set[] = {
        { "format", "tmx", 1 }, { "format", "doc", 0 },
        { "source-column", "2", 1 }, { "target-column", "0", 0 },
        { "document-column", "x", 0 }, { "header", "yes", 1 },
        { "header", "no", 1 }, { "header", "perhaps", 0 },
        { "fuzzy", "1", 1 }, { "origin", "where", 1 }, { "origin", "", 1 },
        { "color", "red", 0 }, { "format", NULL, 0 }, { NULL, "x", 0 },
    };
    skmt_import *how;
    skmt_error err;

    OK(skmt_import_new(&how, &err));
    for (size_t i = 0; i < COUNT(set); i++) {
        CHECK_INT(skmt_import_set(how, set[i].key, set[i].value, &err),
                  set[i].good ? SKMT_OK : SKMT_ERR_ARGUMENT);
        CHECK(set[i].good == !err.message[0]);
    }
    skmt_import_free(how);
}

/* ---- maintenance ------------------------------------------------------ */

/* Many single adds become a segment in the background, and nothing is lost when
 * the index is compacted or rebuilt. */
TEST(the_index_is_tidied_beside_the_work)
{
    char source[64];
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    skmt_tm_set_relaxed(tm, 1);
    for (int round = 0; round < 3; round++) {
        OK(skmt_tm_begin(tm, &err));
        for (int i = 0; i < 1500; i++) {
            snprintf(source, sizeof source, "wort%d runde%d nummer%d", i % 97,
                     round, i);
            add(tm, NULL, source, "t");
        }
        OK(skmt_tm_commit(tm, &err));
        CHECK_INT(found(tm, "nummer17"), round + 1);
    }
    skmt_tm_close(tm);                          /* waits for the merge */
    tm = open_tm(&s, SKMT_TM_WRITE);
    CHECK(stat_of(tm, "segments") >= 1);
    CHECK(stat_of(tm, "tail") <= 2048);
    CHECK(stat_of(tm, "store_bytes") > 100000);
    CHECK(stat_of(tm, "index_bytes") > 10000);
    CHECK_INT(stat_of(tm, "words"), 3 * 4500);
    CHECK_INT(stat_of(tm, "no-such"), -2);
    CHECK_INT(found(tm, "nummer17"), 3);
    CHECK_INT(problems(tm), 0);
    OK(skmt_tm_delete_where(tm, NULL, NULL, NULL,
                            "wort17 runde1 nummer17", NULL, NULL, &err));
    CHECK_INT(found(tm, "nummer17"), 2);
    OK(skmt_tm_compact(tm, &err));
    CHECK_INT(stat_of(tm, "dead"), 0);
    CHECK_INT(stat_of(tm, "tail"), 0);
    CHECK_INT(found(tm, "nummer17"), 2);
    OK(skmt_tm_rebuild(tm, &err));
    CHECK_INT(found(tm, "nummer17"), 2);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

struct reader { const struct scratch *s; int rounds; int wrong; };

/* The number of matches never decreases while pairs are added. */
static void *read_along(void *arg)
{
    struct reader *r = arg;
    skmt_tm *tm = open_tm(r->s, SKMT_TM_READ);
    int last = 0;

    for (int i = 0; i < r->rounds; i++) {
        int n = found(tm, "gleich");

        r->wrong += n < last || n > 16;
        last = n;
    }
    skmt_tm_close(tm);
    return NULL;
}

TEST(readers_go_on_while_one_writes)
{
    struct scratch s;
    struct reader r[3];
    pthread_t thread[3];
    char source[64];
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    skmt_tm_set_relaxed(tm, 1);
    add(tm, NULL, "anfang", "t");
    for (int i = 0; i < 3; i++) {
        r[i] = (struct reader){ &s, 300, 0 };
        REQUIRE(!pthread_create(&thread[i], NULL, read_along, &r[i]));
    }
    for (int i = 0; i < 600; i++) {
        snprintf(source, sizeof source, "gleich %d", i);
        add(tm, NULL, source, "t");
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        CHECK_INT(r[i].wrong, 0);
    }
    CHECK_INT(found(tm, "gleich"), 16);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}
