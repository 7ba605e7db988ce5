/* test_account.c - tests the memories of accounts: lending, corrections,
 * memories and their numbers, imports, jobs, and that accounts are kept
 * apart. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch_dir.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/tm_pool.h"

#define OK(call) CHECK(!(call) || (printf("%s\n", err.message), false))

/* A server with one account, number 0. */
struct one_account {
    struct scratch s;
    struct settings set;
    struct accounts *list;
    struct account *a;
    char path[300];
};

static bool one_open(struct one_account *o)
{
    skmt_error err;
    int wait;

    snprintf(o->path, sizeof o->path, "%s", scratch_path(&o->s, "m.tm"));
    o->set.memory = o->path;
    return OK(accounts_open(&o->list, &o->set, &err))
           && CHECK(!access_enter(o->list, NULL, NULL, &o->a, &wait));
}

static bool one_make(struct one_account *o)
{
    *o = (struct one_account){ 0 };
    return scratch_make(&o->s) && one_open(o);
}

static void one_close(struct one_account *o)
{
    access_release(o->a);
    accounts_close(o->list);
}

static void one_remove(struct one_account *o)
{
    one_close(o);
    scratch_remove(&o->s);
}

static int64_t store(struct account *a, const char *memory,
                     const char *source, const char *target,
                     const char *unit, bool replace)
{
    struct correction x = { .memory = memory, .source = source,
                            .target = target, .unit = unit,
                            .replace = replace, .from = "test" };
    int64_t id = 0;
    skmt_error err;

    OK(account_store(a, &x, &id, &err));
    return id;
}

/* The targets of all pairs found, each followed by a blank. */
static const char *targets(struct account *a, const char *text)
{
    static char out[4][2000];
    static int turn;
    char *to = out[turn++ % 4];
    skmt_match m = SKMT_INIT(skmt_match);
    skmt_matches *found;
    skmt_error err;
    skmt_tm *tm;

    to[0] = '\0';
    if (!OK(account_borrow(a, NULL, 0, &tm, &err))) return to;
    if (OK(skmt_tm_search(tm, text, NULL, NULL, &found, &err))) {
        for (int i = 0; i < skmt_matches_count(found); i++) {
            skmt_matches_get(found, i, &m);
            snprintf(to + strlen(to), 2000 - strlen(to), "%s ",
                     m.pair->target);
        }
        skmt_matches_free(found);
    }
    account_return(a, tm);
    return to;
}

static int64_t count(struct account *a)
{
    skmt_tm_state state = SKMT_INIT(skmt_tm_state);
    skmt_error err;
    skmt_tm *tm;

    if (!OK(account_borrow(a, NULL, 0, &tm, &err))) return -1;
    OK(skmt_tm_get_state(tm, &state, &err));
    account_return(a, tm);
    return state.pairs;
}

/* ---- corrections --------------------------------------------------------- */

TEST(a_correction_is_found_at_once)
{
    struct one_account o;

    REQUIRE(one_make(&o));
    CHECK_STR(targets(o.a, "Guten Tag"), "");
    CHECK(store(o.a, NULL, "Guten Tag", "Good day", NULL, false) > 0);
    CHECK_STR(targets(o.a, "Guten Tag"), "Good day ");
    store(o.a, NULL, "Guten Tag", "Hello", NULL, false);
    CHECK_STR(targets(o.a, "Guten Tag"), "Hello Good day ");
    one_close(&o);
    REQUIRE(one_open(&o));
    CHECK_STR(targets(o.a, "Guten Tag"), "Hello Good day ");
    one_remove(&o);
}

TEST(replacing_removes_other_targets_of_the_source)
{
    struct one_account o;

    REQUIRE(one_make(&o));
    store(o.a, NULL, "Guten Tag", "Good day", NULL, false);
    store(o.a, NULL, " Guten Tag", "Hello", NULL, false);
    store(o.a, NULL, "Guten Tag!", "Good day!", NULL, false);
    store(o.a, NULL, "Guten Tag", "G'day", NULL, true);
    CHECK_STR(targets(o.a, "Guten Tag"), "G'day Good day! ");
    store(o.a, NULL, "Guten Tag", "G'day", NULL, true);
    CHECK_STR(targets(o.a, "Guten Tag"), "G'day Good day! ");
    CHECK_INT(count(o.a), 2);
    /* More than a search returns. */
    for (int i = 0; i < 1010; i++) {
        char target[20];

        snprintf(target, sizeof target, "t%d", i);
        store(o.a, NULL, "eins", target, NULL, false);
    }
    CHECK_INT(count(o.a), 1012);
    store(o.a, NULL, "eins", "one", NULL, true);
    CHECK_INT(count(o.a), 3);
    CHECK_STR(targets(o.a, "eins"), "one ");
    one_remove(&o);
}

TEST(a_unit_is_replaced_by_its_id)
{
    struct one_account o;
    struct memory_card b;
    skmt_error err;

    REQUIRE(one_make(&o));
    OK(memories_create(o.a, "a", NULL, NULL, NULL, NULL, &b, &err));
    memory_card_release(&b);
    OK(memories_create(o.a, "b", NULL, NULL, NULL, NULL, &b, &err));
    memory_card_release(&b);
    store(o.a, "a", "eins", "one", "u1", false);
    store(o.a, "a", "zwei", "two", "u2", false);
    store(o.a, "b", "drei", "three", "u1", false);
    store(o.a, "a", "eins neu", "one new", "u1", false);
    CHECK_STR(targets(o.a, "eins"), "one new ");
    CHECK_STR(targets(o.a, "zwei"), "two ");
    CHECK_STR(targets(o.a, "drei"), "three ");
    CHECK_INT(count(o.a), 3);
    one_remove(&o);
}

TEST(the_languages_choose_the_memory)
{
    struct correction x = { .source = "Gift", .target = "poison",
                            .source_lang = "de", .target_lang = "en" };
    struct one_account o;
    struct memory_cards m;
    skmt_error err;
    skmt_tm *tm;
    skmt_matches *found;

    REQUIRE(one_make(&o));
    OK(account_store(o.a, &x, NULL, &err));
    x.target = "poison-fr";
    x.target_lang = "fr";
    OK(account_store(o.a, &x, NULL, &err));
    x.target = "toxin";
    x.target_lang = "en-US";
    OK(account_store(o.a, &x, NULL, &err));
    OK(memories_list(o.a, &m, &err));
    REQUIRE(m.n == 2);
    CHECK_STR(m.list[0].name, "main");
    CHECK_STR(m.list[0].target_lang, "en");
    CHECK_INT(m.list[0].pairs, 2);
    CHECK_STR(m.list[1].name, "main de-fr");
    CHECK_INT(m.list[1].pairs, 1);
    memories_release(&m);
    OK(account_borrow_for(o.a, NULL, 0, "de", "fr", &tm, &err));
    REQUIRE(tm && !skmt_tm_search(tm, "Gift", NULL, NULL, &found, &err));
    CHECK_INT(skmt_matches_count(found), 1);
    skmt_matches_free(found);
    account_return(o.a, tm);
    OK(account_borrow_for(o.a, NULL, 0, "it", "en", &tm, &err));
    CHECK(!tm);
    one_remove(&o);
}

TEST(what_is_wrong_with_a_correction_is_said)
{
    struct correction x = { .source = "", .target = "b" };
    struct one_account o;
    skmt_error err;

    REQUIRE(one_make(&o));
    CHECK_INT(account_store(o.a, &x, NULL, &err), SKMT_ERR_TEXT);
    x.source = "a\xff";
    CHECK_INT(account_store(o.a, &x, NULL, &err), SKMT_ERR_TEXT);
    x.source = "a";
    x.target = NULL;
    CHECK_INT(account_store(o.a, &x, NULL, &err), SKMT_ERR_TEXT);
    x.target = "b";
    OK(account_store(o.a, &x, NULL, &err));
    x.memory = "none";
    CHECK_INT(account_store(o.a, &x, NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK(!strstr(err.message, o.s.dir));       /* no path */
    CHECK(strstr(err.message, "none"));
    CHECK_INT(count(o.a), 1);
    one_remove(&o);
}

/* ---- files --------------------------------------------------------------- */

TEST(other_processes_may_change_the_file)
{
    struct one_account o;
    skmt_error err;
    skmt_tm *tm;

    REQUIRE(one_make(&o));
    store(o.a, NULL, "eins", "one", NULL, false);
    CHECK_STR(targets(o.a, "zwei"), "");
    OK(skmt_tm_open(&tm, o.path, SKMT_TM_WRITE, &err));
    OK(skmt_tm_add(tm, NULL, "zwei", "two", NULL, &err));
    CHECK_STR(targets(o.a, "zwei"), "two ");
    OK(skmt_tm_drop(tm, "main", &err));
    CHECK_STR(targets(o.a, "zwei"), "");
    OK(skmt_tm_add(tm, NULL, "drei", "three", NULL, &err));
    CHECK_STR(targets(o.a, "drei"), "three ");
    store(o.a, NULL, "vier", "four", NULL, false);
    CHECK_INT(count(o.a), 2);
    skmt_tm_close(tm);
    one_remove(&o);
}

TEST(a_file_that_was_removed_is_made_again)
{
    struct one_account o;
    char wal[310];

    REQUIRE(one_make(&o));
    store(o.a, NULL, "eins", "one", NULL, false);
    CHECK_STR(targets(o.a, "eins"), "one ");
    snprintf(wal, sizeof wal, "%s-wal", o.path);
    CHECK(!unlink(o.path));
    unlink(wal);
    snprintf(wal, sizeof wal, "%s-shm", o.path);
    unlink(wal);
    CHECK_STR(targets(o.a, "eins"), "");
    store(o.a, NULL, "zwei", "two", NULL, false);
    one_close(&o);
    REQUIRE(one_open(&o));
    CHECK_STR(targets(o.a, "zwei"), "two ");
    one_remove(&o);
}

TEST(a_damaged_file_is_reported)
{
    struct correction x = { .source = "a", .target = "b" };
    struct one_account o;
    struct memory_cards m;
    skmt_error err;
    skmt_tm *tm;

    REQUIRE(one_make(&o));
    REQUIRE(scratch_write(&o.s, "m.tm", "this is no memory file at all"));
    CHECK_INT(account_borrow(o.a, NULL, 0, &tm, &err), SKMT_ERR_FORMAT);
    CHECK(!strstr(err.message, o.s.dir) && strstr(err.message, "memory file"));
    CHECK_INT(account_store(o.a, &x, NULL, &err), SKMT_ERR_FORMAT);
    CHECK_INT(memories_list(o.a, &m, &err), SKMT_ERR_FORMAT);
    CHECK_INT(accounts_check(o.list, &err), SKMT_ERR_FORMAT);
    CHECK(strstr(err.message, o.path));         /* for the operator */
    unlink(o.path);
    OK(accounts_check(o.list, &err));
    OK(account_store(o.a, &x, NULL, &err));     /* no restart is needed */
    one_remove(&o);
}

TEST(an_error_does_not_last)
{
    struct correction x = { .source = "b", .target = "c" };
    struct one_account o;
    skmt_error err;
    char log[310], away[310];

    REQUIRE(one_make(&o));
    store(o.a, NULL, "a", "b", NULL, false);
    snprintf(log, sizeof log, "%s-wal", o.path);
    snprintf(away, sizeof away, "%s.away", o.path);
    CHECK(!rename(log, away) && !mkdir(log, 0700));
    account_store(o.a, &x, NULL, &err);         /* may work or not */
    CHECK(!rmdir(log) && !rename(away, log));
    OK(account_store(o.a, &x, NULL, &err));
    CHECK_STR(targets(o.a, "b"), "c ");
    one_remove(&o);
}

TEST(a_full_disk_loses_nothing)
{
    struct correction x = { .source = "a", .target = "b", .replace = true };
    struct one_account o;
    struct rlimit old, small;
    struct stat sb;
    char *text = malloc(300001);
    int64_t stored = 0;
    skmt_error err;

    REQUIRE(text && one_make(&o));
    memset(text, 'x', 300000);
    text[300000] = '\0';
    signal(SIGXFSZ, SIG_IGN);
    store(o.a, NULL, "first", "1", NULL, false);
    REQUIRE(!stat(o.path, &sb) && !getrlimit(RLIMIT_FSIZE, &old));
    small = old;
    small.rlim_cur = 1 << 20;                   /* like a disk that is full */
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
    x.target = text;
    for (int i = 0; i < 20; i++) {
        char source[20];
        skmt_status st;

        snprintf(source, sizeof source, "source %d", i);
        x.source = source;
        st = account_store(o.a, &x, NULL, &err);
        if (!st) stored++;
        else CHECK_INT(st, SKMT_ERR_IO);
    }
    CHECK(stored < 20);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_INT(count(o.a), stored + 1);
    x.source = "last";
    OK(account_store(o.a, &x, NULL, &err));
    CHECK_INT(count(o.a), stored + 2);
    free(text);
    one_remove(&o);
}

TEST(handles_are_used_again_and_their_number_is_limited)
{
    struct tm_pools *all = tm_pools_new(5);
    struct tm_pool *p[3];
    struct scratch s;
    skmt_error err;
    skmt_tm *tm[12], *again;
    const char *main_only = "main";

    REQUIRE(all && scratch_make(&s));
    for (int i = 0; i < 3; i++) {
        char name[10];

        snprintf(name, sizeof name, "%d.tm", i);
        p[i] = tm_pool_new(all, scratch_path(&s, name));
        REQUIRE(p[i]);
    }
    for (int i = 0; i < 12; i++)
        OK(tm_pool_borrow(p[i % 3], NULL, 0, &tm[i], &err));
    CHECK_INT(tm_pools_open(all), 12);
    for (int i = 0; i < 12; i++) tm_pool_return(p[i % 3], tm[i]);
    CHECK_INT(tm_pools_open(all), 5);
    OK(tm_pool_borrow(p[2], NULL, 0, &again, &err));
    CHECK(again == tm[11]);
    OK(skmt_tm_add(again, NULL, "a", "b", NULL, &err));
    tm_pool_return(p[2], again);
    OK(tm_pool_borrow(p[2], &main_only, 1, &tm[0], &err));
    CHECK(tm[0] != again);
    tm_pool_return(p[2], tm[0]);
    OK(tm_pool_borrow(p[2], &main_only, 1, &again, &err));
    CHECK(tm[0] == again);
    tm_pool_return(p[2], again);
    main_only = "none";
    CHECK_INT(tm_pool_borrow(p[2], &main_only, 1, &again, &err),
              SKMT_ERR_ARGUMENT);
    CHECK(!again);
    CHECK_INT(tm_pools_open(all), 5);
    OK(tm_pool_edit(p[2], &again, &err));       /* forgets its transaction */
    OK(skmt_tm_begin(again, &err));
    OK(skmt_tm_add(again, NULL, "c", "d", NULL, &err));
    tm_pool_edit_end(p[2]);
    OK(tm_pool_edit(p[2], &tm[1], &err));
    CHECK(tm[1] == again);
    tm_pools_set_edit_wait(all, 30);            /* nobody waits forever */
    CHECK_INT(tm_pool_edit(p[2], &tm[2], &err), SKMT_ERR_DEADLINE);
    CHECK(!tm[2]);
    OK(skmt_tm_begin(again, &err));
    OK(skmt_tm_commit(again, &err));
    tm_pool_edit_end(p[2]);
    for (int i = 0; i < 3; i++) tm_pool_free(p[i]);
    CHECK_INT(tm_pools_open(all), 0);
    tm_pools_free(all);
    scratch_remove(&s);
}

/* ---- memories ------------------------------------------------------------ */

static int64_t make(struct account *a, const char *title,
                    const char *external_id, const char *name)
{
    struct memory_card m;
    skmt_error err;
    int64_t id;

    OK(memories_create(a, title, "d", external_id, "de", "en", &m, &err));
    CHECK_STR(m.name, name);
    id = m.id;
    memory_card_release(&m);
    return id;
}

static int64_t find(struct account *a, const char *what)
{
    struct memory_card m;
    skmt_error err;
    bool found;
    int64_t id;

    OK(memories_find(a, what, &m, &found, &err));
    id = found ? m.id : 0;
    memory_card_release(&m);
    return id;
}

TEST(memories_have_numbers_that_are_never_used_again)
{
    struct one_account o;
    struct memory_cards m;
    skmt_error err;
    skmt_tm *tm;

    REQUIRE(one_make(&o));
    OK(memories_list(o.a, &m, &err));
    CHECK_INT(m.n, 0);
    memories_release(&m);
    CHECK_INT(make(o.a, "Legal", "x_mm-1", "Legal"), 1);
    CHECK_INT(make(o.a, "Legal", NULL, "Legal (2)"), 2);
    CHECK_INT(make(o.a, NULL, "3", "memory"), 3);
    CHECK_INT(find(o.a, "2"), 2);
    CHECK_INT(find(o.a, "x_mm-1"), 1);
    CHECK_INT(find(o.a, "3"), 3);               /* the number comes first */
    CHECK_INT(find(o.a, "Legal (2)"), 2);
    CHECK_INT(find(o.a, "Legal"), 1);
    CHECK_INT(find(o.a, ""), 0);
    CHECK_INT(find(o.a, "x"), 0);
    OK(memories_change(o.a, 2, "Medical", NULL, &err));
    CHECK_INT(find(o.a, "Medical"), 2);
    CHECK_INT(memories_change(o.a, 9, "x", NULL, &err), SKMT_ERR_ARGUMENT);
    OK(memories_delete(o.a, 3, &err));
    CHECK_INT(memories_delete(o.a, 3, &err), SKMT_ERR_ARGUMENT);
    one_close(&o);
    REQUIRE(one_open(&o));
    CHECK_INT(make(o.a, "new", NULL, "new"), 4);
    OK(skmt_tm_open(&tm, o.path, SKMT_TM_WRITE, &err)); /* the CLI */
    OK(skmt_tm_drop(tm, "Legal", &err));
    OK(skmt_tm_create(tm, &(skmt_tm_info){ .size = sizeof(skmt_tm_info),
                                           .name = "by hand" }, &err));
    skmt_tm_close(tm);
    CHECK_INT(find(o.a, "Legal"), 0);
    CHECK_INT(find(o.a, "by hand"), 5);
    store(o.a, "by hand", "eins", "one", NULL, false);
    OK(memories_list(o.a, &m, &err));
    REQUIRE(m.n == 3);
    CHECK_STR(m.list[0].title, "Medical");
    CHECK_STR(m.list[0].description, "d");
    CHECK_STR(m.list[0].source_lang, "de");
    CHECK(m.list[0].created > 1600000000);
    CHECK_INT(m.list[2].pairs, 1);
    memories_release(&m);
    one_remove(&o);
}

TEST(a_title_can_be_anything)
{
    static const char *const title[][2] = {
        { "a\x01\x02" "b\n", "ab" }, { "\xc2\x85x", "x" }, { "  y  ", "y" },
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
        { "../../etc", "../../etc" },
        { "\"q\"\\", "\"q\"\\" } };
    struct memory_card m;
    struct one_account o;
    skmt_error err;
    char longer[1002];

    REQUIRE(one_make(&o));
    for (size_t i = 0; i < COUNT(title); i++) {
        OK(memories_create(o.a, title[i][0], NULL, NULL, NULL, NULL, &m,
                           &err));
        CHECK_STR(m.title, title[i][0]);
        CHECK_STR(m.name, title[i][1]);
        memory_card_release(&m);
    }
    for (int i = 0; i < 999; i += 3) memcpy(longer + i, "€", 3);
    longer[999] = '\0';
    OK(memories_create(o.a, longer, NULL, NULL, NULL, NULL, &m, &err));
    CHECK_INT(strlen(m.name), 99);
    memory_card_release(&m);
    OK(memories_create(o.a, longer, NULL, NULL, NULL, NULL, &m, &err));
    CHECK_INT(strlen(m.name), 103);
    memory_card_release(&m);
    memset(longer, 'x', 1001);
    longer[1001] = '\0';
    CHECK_INT(memories_create(o.a, longer, NULL, NULL, NULL, NULL, &m, &err),
              SKMT_ERR_ARGUMENT);
    make(o.a, "e", "ext", "e");
    CHECK_INT(memories_create(o.a, "f", NULL, "ext", NULL, NULL, &m, &err),
              SKMT_ERR_ARGUMENT);
    CHECK(!m.name);
    one_remove(&o);
}

TEST(a_damaged_list_of_memories_is_not_replaced)
{
    struct one_account o;
    struct memory_cards m;
    struct stat before, after;
    skmt_error err;

    REQUIRE(one_make(&o));
    make(o.a, "a", NULL, "a");
    REQUIRE(scratch_write(&o.s, "m.tm.names", "{\"next\":1,\"memories\":["));
    REQUIRE(!stat(scratch_path(&o.s, "m.tm.names"), &before));
    CHECK_INT(memories_list(o.a, &m, &err), SKMT_ERR_FORMAT);
    CHECK(!strstr(err.message, o.s.dir));
    REQUIRE(!stat(scratch_path(&o.s, "m.tm.names"), &after));
    CHECK_INT(after.st_size, before.st_size);
    store(o.a, "a", "eins", "one", NULL, false);        /* still works */
    REQUIRE(scratch_write(&o.s, "m.tm.names", "{\"next\":7,\"memories\":[]}"));
    OK(memories_list(o.a, &m, &err));
    CHECK_INT(m.n == 1 ? m.list[0].id : 0, 7);
    memories_release(&m);
    one_remove(&o);
}

TEST(only_named_memories_are_used)
{
    char *names[] = { "b" };
    struct one_account o;
    struct memory_card card;
    struct memory_cards m;
    skmt_error err;
    skmt_tm *tm;
    const char *a = "a";

    REQUIRE(one_make(&o));
    make(o.a, "a", NULL, "a");
    make(o.a, "b", NULL, "b");
    store(o.a, "a", "eins", "one of a", NULL, false);
    store(o.a, "b", "eins", "one of b", NULL, false);
    one_close(&o);
    o.set.names = (struct setting_list){ names, 1 };
    REQUIRE(one_open(&o));
    CHECK_STR(targets(o.a, "eins"), "one of b ");
    CHECK_INT(account_borrow(o.a, &a, 1, &tm, &err), SKMT_ERR_ARGUMENT);
    store(o.a, NULL, "zwei", "two", NULL, false);
    CHECK_STR(targets(o.a, "zwei"), "two ");
    OK(memories_list(o.a, &m, &err));
    CHECK_INT(m.n, 1);
    memories_release(&m);
    CHECK_INT(find(o.a, "a"), 0);
    CHECK_INT(memories_create(o.a, "c", NULL, NULL, NULL, NULL, &card, &err),
              SKMT_ERR_ARGUMENT);
    one_remove(&o);
}

/* ---- imports and jobs ---------------------------------------------------- */

static int stop_at_once(void *user, const char *what, uint64_t done,
                        uint64_t total, uint64_t units)
{
    (void)what, (void)done, (void)total, (void)units;
    ++*(int *)user;
    return 1;
}

TEST(files_are_imported_or_refused)
{
    struct one_account o;
    const char *path;
    int64_t n;
    int calls = 0;
    skmt_error err;

    REQUIRE(one_make(&o));
    REQUIRE(scratch_write(&o.s, "up1", "eins\tone\nzwei\ttwo\n"));
    path = scratch_path(&o.s, "up1");
    OK(account_import(o.a, NULL, path, "words.tsv", "de", "en", NULL, NULL,
                      &n, &err));
    CHECK_INT(n, 2);
    CHECK_STR(targets(o.a, "eins"), "one ");
    REQUIRE(scratch_write(&o.s, "up2", "<?xml version='1.0'?><tmx><bad"));
    CHECK_INT(account_import(o.a, NULL, scratch_path(&o.s, "up2"), "x.tmx",
                             "de", "en", NULL, NULL, &n, &err),
              SKMT_ERR_TEXT);
    CHECK(!strstr(err.message, o.s.dir) && !strstr(err.message, "up2"));
    CHECK(strstr(err.message, "the file:"));
    CHECK_INT(account_import(o.a, "none", path, "x", "de", "en", NULL, NULL,
                             &n, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(account_import(o.a, NULL, path, "x", "de", "en", stop_at_once,
                             &calls, &n, &err), SKMT_ERR_CANCELED);
    CHECK(calls > 0);
    CHECK_INT(count(o.a), 2);
    OK(account_import(o.a, NULL, path, "x", "de", "fr", NULL, NULL, &n,
                      &err));                   /* a memory of its own */
    CHECK_INT(find(o.a, "main de-fr"), 2);
    one_remove(&o);

    REQUIRE(one_make(&o));                      /* wrong languages */
    store(o.a, NULL, "eins", "one", NULL, false);
    REQUIRE(scratch_write(&o.s, "up", "<tmx version='1.4'><header/><body>"
                          "<tu><tuv xml:lang='de'><seg>zwei</seg></tuv>"
                          "<tuv xml:lang='en'><seg>two</seg></tuv></tu>"
                          "</body></tmx>"));
    path = scratch_path(&o.s, "up");
    OK(account_import(o.a, NULL, path, "x", "xx", "yy", NULL, NULL, &n,
                      &err));
    CHECK_INT(n, 0);
    OK(account_import(o.a, NULL, path, "x", "de", "en", NULL, NULL, &n,
                      &err));
    CHECK_INT(n, 1);
    CHECK_STR(targets(o.a, "zwei"), "two ");
    one_remove(&o);
}

TEST(jobs_can_be_asked_for)
{
    struct one_account o;
    struct import_job j = { .memory = 3, .size = 1 }, got;
    char first[37];

    REQUIRE(one_make(&o));
    account_add_job(o.a, &j);
    CHECK_INT(strlen(j.id), 36);
    CHECK(j.id[14] == '4' && j.id[8] == '-');
    strcpy(first, j.id);
    j.progress = 1;
    account_update_job(o.a, &j);
    REQUIRE(account_find_job(o.a, first, &got));
    CHECK_INT(got.memory, 3);
    CHECK_NEAR(got.progress, 1, 0);
    CHECK(!account_find_job(o.a, "", &got));
    for (int i = 0; i < 1000; i++) account_add_job(o.a, &j);
    CHECK(!account_find_job(o.a, first, &got));
    CHECK(account_find_job(o.a, j.id, &got));
    one_remove(&o);
}

/* ---- several accounts and threads ---------------------------------------- */

struct two_accounts {
    struct scratch s;
    struct settings set;
    struct accounts *list;
    struct account *a[2];
    char path[300];
};

static bool two_make(struct two_accounts *o)
{
    char key[2][KEY_TEXT_BYTES];
    skmt_error err;
    int wait;

    *o = (struct two_accounts){ 0 };
    if (!scratch_make(&o->s)) return false;
    snprintf(o->path, sizeof o->path, "%s", scratch_path(&o->s, "keys"));
    o->set.keys = o->path;
    for (int i = 0; i < 2; i++)
        OK(accounts_new_key(o->path, i ? "b" : "a", key[i], KEY_TEXT_BYTES,
                            &err));
    if (!OK(accounts_open(&o->list, &o->set, &err))) return false;
    for (int i = 0; i < 2; i++)
        CHECK(!access_enter(o->list, key[i], NULL, &o->a[i], &wait));
    return o->a[0] && o->a[1];
}

static void two_remove(struct two_accounts *o)
{
    access_release(o->a[0]);
    access_release(o->a[1]);
    accounts_close(o->list);
    scratch_remove(&o->s);
}

struct seen { int number[4]; int64_t pairs[4]; int n; };

static void see(void *user, int number, int64_t pairs)
{
    struct seen *s = user;

    s->number[s->n] = number;
    s->pairs[s->n++] = pairs;
}

TEST(an_account_sees_nothing_of_another)
{
    struct two_accounts o;
    struct seen seen = { 0 };
    struct import_job j = { 0 };
    struct memory_card m;
    skmt_error err;

    REQUIRE(two_make(&o));
    make(o.a[0], "secret", "ext", "secret");
    store(o.a[0], "secret", "geheim", "planted", "u1", false);
    account_add_job(o.a[0], &j);
    CHECK_STR(targets(o.a[0], "geheim"), "planted ");
    CHECK_STR(targets(o.a[1], "geheim"), "");
    CHECK_INT(find(o.a[1], "secret"), 0);
    CHECK_INT(find(o.a[1], "1"), 0);
    CHECK_INT(find(o.a[1], "ext"), 0);
    CHECK_INT(memories_change(o.a[1], 1, "x", NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(memories_delete(o.a[1], 1, &err), SKMT_ERR_ARGUMENT);
    CHECK(!account_find_job(o.a[1], j.id, &j));
    OK(memories_create(o.a[1], "secret", NULL, "ext", NULL, NULL, &m, &err));
    CHECK_INT(m.id, 1);                         /* nothing is known of it */
    CHECK_STR(m.name, "secret");
    memory_card_release(&m);
    CHECK_INT(count(o.a[0]), 1);
    CHECK_INT(count(o.a[1]), 0);
    accounts_each_size(o.list, see, &seen);
    CHECK_INT(seen.n, 2);
    CHECK(seen.number[0] == 1 && seen.pairs[0] == 1);
    CHECK(seen.number[1] == 2 && seen.pairs[1] == 0);
    two_remove(&o);
}

struct reader { struct account *a; int stored, stop; bool failed; long n; };

/* Every pair whose storing has returned must be found. */
static void *read_often(void *user)
{
    struct reader *r = user;

    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        int last = __atomic_load_n(&r->stored, __ATOMIC_ACQUIRE);
        skmt_matches *found;
        skmt_match m = SKMT_INIT(skmt_match);
        char source[60];
        skmt_tm *tm;

        if (!last) continue;
        snprintf(source, sizeof source, "Satz w%d und x%d", last, last * 7);
        if (account_borrow(r->a, NULL, 0, &tm, NULL)) {
            r->failed = true;
            break;
        }
        if (skmt_tm_search(tm, source, NULL, NULL, &found, NULL))
            r->failed = true;
        else {
            if (skmt_matches_count(found)) skmt_matches_get(found, 0, &m);
            if (!m.pair || strcmp(m.pair->source, source)) r->failed = true;
            skmt_matches_free(found);
        }
        account_return(r->a, tm);
        __atomic_add_fetch(&r->n, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

TEST(eight_readers_find_what_a_writer_has_stored)
{
    struct one_account o;
    struct reader r = { 0 };
    pthread_t t[8];

    REQUIRE(one_make(&o));
    r.a = o.a;
    for (int i = 0; i < 8; i++)
        REQUIRE(!pthread_create(&t[i], NULL, read_often, &r));
    for (int i = 1; i <= 300; i++) {
        char source[60], target[60];

        snprintf(source, sizeof source, "Satz w%d und x%d", i, i * 7);
        snprintf(target, sizeof target, "sentence %d", i);
        store(o.a, NULL, source, target, NULL, i % 2);
        __atomic_store_n(&r.stored, i, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    CHECK(!r.failed);
    CHECK(r.n > 8);
    CHECK_INT(count(o.a), 300);
    one_remove(&o);
}

static void *write_often(void *user)
{
    struct account *a = user;
    struct memory_card m;
    skmt_error err;

    for (int i = 0; i < 50; i++) {
        char text[60];

        snprintf(text, sizeof text, "%p %d", (void *)&m, i);
        store(a, NULL, text, text, NULL, false);
        if (i % 10 == 0 && OK(memories_create(a, text, NULL, NULL, "xx", "yy",
                                              &m, &err)))
            memory_card_release(&m);
        if (i % 10 == 5) find(a, text);
    }
    return NULL;
}

TEST(four_writers_wait_for_each_other)
{
    struct one_account o;
    struct memory_cards m;
    skmt_error err;
    pthread_t t[4];

    REQUIRE(one_make(&o));
    store(o.a, NULL, "first", "first", NULL, false);
    for (int i = 0; i < 4; i++)
        REQUIRE(!pthread_create(&t[i], NULL, write_often, o.a));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    CHECK_INT(count(o.a), 201);
    OK(memories_list(o.a, &m, &err));
    CHECK_INT(m.n, 21);
    for (int i = 0; i < m.n; i++) CHECK_INT(m.list[i].id, i + 1);
    memories_release(&m);
    one_remove(&o);
}

enum { ROUNDS = 30 };
struct corrector { struct account *a; pthread_barrier_t *begin; int number; };

/* Corrects sentence after sentence, each at the same time as others. */
static void *correct_often(void *user)
{
    const struct corrector *k = user;

    for (int i = 0; i < ROUNDS; i++) {
        char source[40], target[40];

        snprintf(source, sizeof source, "der Satz %d", i);
        snprintf(target, sizeof target, "sentence %d of %d", i, k->number);
        pthread_barrier_wait(k->begin);
        store(k->a, NULL, source, target, NULL, true);
    }
    return NULL;
}

TEST(corrections_at_the_same_time_replace_each_other)
{
    struct one_account o;
    struct corrector k[4];
    pthread_barrier_t begin;
    pthread_t t[4];

    REQUIRE(one_make(&o));
    pthread_barrier_init(&begin, NULL, 4);
    for (int i = 0; i < 4; i++) {
        k[i] = (struct corrector){ o.a, &begin, i };
        REQUIRE(!pthread_create(&t[i], NULL, correct_often, &k[i]));
    }
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    pthread_barrier_destroy(&begin);
    CHECK_INT(count(o.a), ROUNDS);
    one_remove(&o);
}

/* ---- kill -9 ------------------------------------------------------------- */

/* Stores corrections and acknowledges each on a pipe, until it is killed. */
static _Noreturn void store_until_killed(const char *dir, int from, int fd)
{
    struct one_account o = { 0 };

    snprintf(o.s.dir, sizeof o.s.dir, "%s", dir);
    if (!one_open(&o)) _exit(1);
    for (int i = from;; i++) {
        char source[60], unit[20];

        snprintf(source, sizeof source, "Satz %d", i);
        snprintf(unit, sizeof unit, "u%d", i);
        if (!store(o.a, NULL, source, source, unit, true)) _exit(1);
        if (write(fd, &i, sizeof i) != sizeof i) _exit(1);
    }
}

TEST(kill_9_loses_no_acknowledged_correction)
{
    struct one_account o = { 0 };
    int last = 0, rounds = 20, got;
    skmt_error err;

    REQUIRE(scratch_make(&o.s));
    for (int i = 0; i < rounds; i++) {
        int fd[2], status, begin = last;
        pid_t child;

        REQUIRE(!pipe(fd));
        child = fork();
        if (!child) store_until_killed(o.s.dir, last + 1, fd[1]);
        close(fd[1]);
        while (last < begin + 5 + 3 * i
               && read(fd[0], &got, sizeof got) == sizeof got) last = got;
        CHECK(!kill(child, SIGKILL));
        while (read(fd[0], &got, sizeof got) == sizeof got) last = got;
        close(fd[0]);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK(last > begin);
    }
    REQUIRE(one_open(&o));
    for (int i = 1; i <= last; i++) {
        char unit[20];
        int64_t id = 0;
        skmt_tm *tm;

        snprintf(unit, sizeof unit, "u%d", i);
        REQUIRE(!account_borrow(o.a, NULL, 0, &tm, &err));
        OK(skmt_tm_find_unit(tm, NULL, unit, 0, &id, &err));
        if (!CHECK(id > 0)) printf("correction %d is lost\n", i);
        account_return(o.a, tm);
    }
    CHECK(count(o.a) - last >= 0 && count(o.a) - last <= 1);
    one_remove(&o);
}
