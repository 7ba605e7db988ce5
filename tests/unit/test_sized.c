/* test_sized.c - tests of structs that can grow: the library respects the size
 * that the caller has set, in the helper and in every function of the API. */
#include "api/sized.h"
#include "scratch_dir.h"
#include "skmt.h"
#include "test.h"
#include "use_tm.h"

enum { ROOM = 1024, UNTOUCHED = 0xAA };

static void set_size(void *p, size_t size)
{
    memcpy(p, &size, sizeof size);
}

/* Whether bytes [from, to) all have this value. */
static bool all_bytes(const unsigned char *p, size_t from, size_t to, int value)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != value) return false;
    return true;
}

/* ---- the helper -------------------------------------------------------- */

/* Programs with an older or a newer skmt.h have smaller or larger structs. */
TEST(known_members_are_copied_and_others_are_zero)
{
    for (int type = 0; type < SIZED_TYPES; type++) {
        size_t now = sized_types[type].now, first = sized_types[type].first;
        unsigned char from[ROOM], to[ROOM];

        CHECK(first > sizeof(size_t) && first <= now && now < ROOM / 2);
        memset(from, 7, sizeof from);
        for (size_t size = first; size < now + 40; size++) {
            size_t n = size < now ? size : now;

            memset(to, UNTOUCHED, sizeof to);
            set_size(to, size);
            CHECK_INT(sized_put((enum sized_type)type, to, from, NULL), ST_OK);
            CHECK_INT(sized_size(to), size);
            CHECK(all_bytes(to, sizeof size, n, 7));
            CHECK(all_bytes(to, n, size, 0));
            CHECK(all_bytes(to, size, ROOM, UNTOUCHED));

            memset(to, UNTOUCHED, sizeof to);
            set_size(from, size);
            CHECK_INT(sized_get((enum sized_type)type, to, from, NULL), ST_OK);
            CHECK(all_bytes(to, sizeof size, n, 7));
            CHECK(all_bytes(to, n, now, 0));
            CHECK(all_bytes(to, now, ROOM, UNTOUCHED));
        }
    }
}

TEST(sizes_that_no_version_has_are_refused)
{
    for (int type = 0; type < SIZED_TYPES; type++) {
        const size_t bad[] = { 0, 1, sizeof(size_t),
                               sized_types[type].first - 1, 1 << 20,
                               (size_t)-1 };
        unsigned char from[ROOM] = { 0 }, to[ROOM];
        char want[100];
        struct err e;

        for (size_t i = 0; i < COUNT(bad); i++) {
            memset(to, UNTOUCHED, sizeof to);
            set_size(to, bad[i]);
            CHECK_INT(sized_put((enum sized_type)type, to, from, &e),
                      ST_ARGUMENT);
            CHECK(all_bytes(to, sizeof *bad, ROOM, UNTOUCHED));
            snprintf(want, sizeof want, "the size of a %s is %zu; set it to "
                     "sizeof(%s)", sized_types[type].name, bad[i],
                     sized_types[type].name);
            CHECK_STR(e.msg, want);
            set_size(from, bad[i]);
            CHECK_INT(sized_get((enum sized_type)type, to, from, &e),
                      ST_ARGUMENT);
            CHECK(all_bytes(to, sizeof *bad, ROOM, UNTOUCHED));
        }
    }
}

/* ---- memories ---------------------------------------------------------- */

/* Structs of a newer version. */
struct long_pair { skmt_pair p; int64_t more; };
struct long_info { skmt_tm_info i; int64_t more; };
struct long_state { skmt_tm_state s; int64_t more; };
struct long_match { skmt_match m; int64_t more; };
struct long_recovery { skmt_recovery r; int64_t more; };
struct long_option { skmt_option_info o; int64_t more; };

TEST(newer_programs_get_zeros)
{
    struct long_pair pair = { { .size = sizeof pair, .source = "ja",
                                .target = "yes", .author = "me" }, 5 };
    struct long_info info = { { .size = sizeof info, .name = "main",
                                .priority = 3 }, 5 };
    struct long_state state = { { .size = sizeof state }, 5 };
    struct long_match match = { { .size = sizeof match }, 5 };
    struct long_option option = { { .size = sizeof option }, 5 };
    struct long_recovery rec = { { .size = sizeof rec }, 5 };
    skmt_tm_cursor *c = NULL;
    skmt_matches *m;
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    int64_t id;
    int found;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_tm_create(tm, &info.i, &err));
    OK(skmt_tm_add_pair(tm, NULL, &pair.p, &id, &err));
    OK(skmt_tm_get(tm, id, &pair.p, &err));
    CHECK(pair.p.id == id && pair.more == 0);
    CHECK_STR(pair.p.author, "me");
    pair.more = 5;
    OK(skmt_tm_cursor_open(&c, tm, NULL, &err));
    OK(skmt_tm_cursor_next(c, &pair.p, &found, &err));
    CHECK(found && pair.p.id == id && pair.more == 0);
    skmt_tm_cursor_close(c);
    OK(skmt_tm_get_info(tm, 0, &info.i, &err));
    CHECK(info.i.priority == 3 && info.i.pairs == 1 && info.more == 0);
    OK(skmt_tm_get_state(tm, &state.s, &err));
    CHECK(state.s.pairs == 1 && state.more == 0);
    m = search(tm, "ja", NULL);
    skmt_matches_get(m, 0, &match.m);
    CHECK(match.m.similarity == 1 && match.more == 0);
    CHECK_INT(match.m.size, sizeof match);
    CHECK_INT(match.m.pair->size, sizeof(skmt_pair));
    CHECK_STR(match.m.pair->target, "yes");
    skmt_matches_get(m, 7, &match.m);
    CHECK(match.m.similarity == 0 && !strcmp(match.m.pair->target, ""));
    skmt_matches_free(m);
    skmt_tm_close(tm);
    OK(skmt_tm_recover(scratch_path(&s, "a.tm"), scratch_path(&s, "new.tm"),
                       NULL, NULL, &rec.r, &err));
    CHECK(rec.r.pairs == 1 && rec.more == 0);
    CHECK(skmt_option_describe(SKMT_OPTIONS_TRANSLATE, 0, &option.o));
    CHECK_STR(option.o.name, "beam");
    CHECK(option.more == 0);
    scratch_remove(&s);
}

/* A program that forgot to set the size gets an error, or nothing. */
TEST(functions_refuse_structs_without_a_size)
{
    skmt_tm_info info = { .name = "main" };
    skmt_pair pair = { .source = "ja", .target = "yes" };
    skmt_option_info option = { 0 };
    skmt_match match = { .score = 5 };
    skmt_tm_state state = { 0 };
    skmt_recovery rec = { 0 };
    skmt_tm_cursor *c = NULL;
    skmt_matches *m;
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    int64_t id;
    int found = 7;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    CHECK_INT(skmt_tm_create(tm, &info, &err), SKMT_ERR_ARGUMENT);
    CHECK_STR(err.message, "the size of a skmt_tm_info is 0; set it to "
              "sizeof(skmt_tm_info)");
    CHECK_INT(skmt_tm_add_pair(tm, NULL, &pair, &id, &err),
              SKMT_ERR_ARGUMENT);
    id = add(tm, NULL, "ja", "yes");
    CHECK_INT(skmt_tm_get(tm, id, &pair, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_get_info(tm, 0, &info, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_tm_get_state(tm, &state, &err), SKMT_ERR_ARGUMENT);
    OK(skmt_tm_cursor_open(&c, tm, NULL, &err));
    CHECK_INT(skmt_tm_cursor_next(c, &pair, &found, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(found, 0);
    skmt_tm_cursor_close(c);
    CHECK(pair.id == 0 && info.pairs == 0 && state.pairs == 0);
    m = search(tm, "ja", NULL);
    skmt_matches_get(m, 0, &match);
    CHECK(match.score == 5 && match.pair == NULL);
    skmt_matches_free(m);
    skmt_tm_close(tm);
    CHECK_INT(skmt_tm_recover(scratch_path(&s, "a.tm"),
                              scratch_path(&s, "new.tm"), NULL, NULL, &rec,
                              &err), SKMT_ERR_ARGUMENT);
    OK(skmt_tm_recover(scratch_path(&s, "a.tm"), scratch_path(&s, "new.tm"),
                       NULL, NULL, NULL, &err));
    CHECK(!skmt_option_describe(SKMT_OPTIONS_TRANSLATE, 0, &option));
    CHECK(option.name == NULL);
    scratch_remove(&s);
}

/* ---- pairs of the caller ------------------------------------------------ */

TEST(arrays_step_by_the_size_of_their_elements)
{
    struct { skmt_similar p; char more[24]; } wide[3] = {
        { { sizeof *wide, "the", "a", 0.5 }, "" },
        { { sizeof *wide, "of", "b", 0.25 }, "" },
        { { sizeof *wide, "\xff", "c", 0.125 }, "" } };
    skmt_similar two[2] = { { sizeof *two, "the", "a", 0.5 },
                            { 0, "of", "b", 0.25 } };
    skmt_request *q;
    skmt_error err;

    OK(skmt_request_new(&q, "the and", &err));
    OK(skmt_request_set_pairs(q, &wide[0].p, 2, &err));
    CHECK_INT(skmt_request_set_pairs(q, &wide[0].p, 3, &err), SKMT_ERR_TEXT);
    CHECK_STR(err.message, "pair 3 is not valid UTF-8");
    OK(skmt_request_set_pairs(q, NULL, 0, &err));
    CHECK_INT(skmt_request_set_pairs(q, two, 2, &err), SKMT_ERR_ARGUMENT);
    two[1].size = sizeof *two + 8;
    CHECK_INT(skmt_request_set_pairs(q, two, 2, &err), SKMT_ERR_ARGUMENT);
    CHECK_STR(err.message, "the size of pair 2 is 40, and that of the first "
              "one is 32");
    skmt_request_free(q);
}

/* A skmt_error needs no initialization, and its size never changes. */
TEST(errors_are_filled_in_completely)
{
    skmt_options *o;
    skmt_error err;

    memset(&err, UNTOUCHED, sizeof err);
    OK(skmt_options_new(&o, &err));
    CHECK(err.status == SKMT_OK && !err.message[0]);
    CHECK(!err.reserved[0] && !err.reserved[1]);
    memset(&err, UNTOUCHED, sizeof err);
    CHECK_INT(skmt_options_set(o, "x", "y", &err), SKMT_ERR_ARGUMENT);
    CHECK(!err.reserved[0] && !err.reserved[1]);
    skmt_options_free(o);
}
