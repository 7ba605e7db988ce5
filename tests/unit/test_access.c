/* test_access.c - tests the keys of the server: the key file, the accounts,
 * where the key of a request is found, and the limits. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch_dir.h"
#include "server/access.h"
#include "server/rate_limit.h"
#include "server/settings.h"

#define OK(call) CHECK(!(call) || (printf("%s\n", err.message), false))

static struct sockaddr *v4(const char *text)
{
    static struct sockaddr_in a[4];
    static int turn;
    struct sockaddr_in *one = &a[turn++ % 4];

    one->sin_family = AF_INET;
    CHECK(inet_pton(AF_INET, text, &one->sin_addr) == 1);
    return (struct sockaddr *)one;
}

static struct sockaddr *v6(const char *text)
{
    static struct sockaddr_in6 a[4];
    static int turn;
    struct sockaddr_in6 *one = &a[turn++ % 4];

    one->sin6_family = AF_INET6;
    CHECK(inet_pton(AF_INET6, text, &one->sin6_addr) == 1);
    return (struct sockaddr *)one;
}

/* ---- the key file -------------------------------------------------------- */

static char *new_key(const struct scratch *s, const char *name)
{
    static char key[4][KEY_TEXT_BYTES];
    static int turn;
    char *k = key[turn++ % 4];
    skmt_error err;

    OK(accounts_new_key(scratch_path(s, "keys"), name, k, KEY_TEXT_BYTES,
                        &err));
    return k;
}

static char *file_text(const struct scratch *s, const char *name)
{
    static char text[100000];
    FILE *f = fopen(scratch_path(s, name), "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f) fclose(f);
    text[n] = '\0';
    return text;
}

static struct accounts *open_keys(const struct scratch *s,
                                  struct settings *set)
{
    static char path[300];
    struct accounts *list;
    skmt_error err;

    snprintf(path, sizeof path, "%s", scratch_path(s, "keys"));
    set->keys = path;
    OK(accounts_open(&list, set, &err));
    return list;
}

static enum access_answer enter(struct accounts *list, const char *key,
                                struct account **a)
{
    int wait;

    return access_enter(list, key, v4("192.0.2.1"), a, &wait);
}

/* The number of the account of a key; -1 if there is none. */
static int who(struct accounts *list, const char *key)
{
    struct account *a;
    int n;

    if (enter(list, key, &a)) return -1;
    n = account_number(a);
    access_release(a);
    return n;
}

TEST(a_new_key_is_accepted_and_nowhere_stored)
{
    struct settings set = { 0 };
    struct accounts *list;
    struct scratch s;
    struct stat sb;
    char *one, *two, other[KEY_TEXT_BYTES];

    REQUIRE(scratch_make(&s));
    one = new_key(&s, "weblate");
    two = new_key(&s, "omegat");
    CHECK(!stat(scratch_path(&s, "keys"), &sb));
    CHECK_INT(sb.st_mode & 0777, 0600);
    CHECK(strcmp(one, two) && strlen(one) == 5 + 2 + 43);
    CHECK(!strstr(file_text(&s, "keys"), one + 7));
    CHECK(!strstr(file_text(&s, "keys"), two + 7));
    list = open_keys(&s, &set);
    REQUIRE(list);
    CHECK(accounts_need_key(list));
    CHECK_INT(accounts_count(list), 2);
    CHECK_INT(who(list, one), 1);
    CHECK_INT(who(list, two), 2);
    CHECK_INT(who(list, NULL), -1);
    CHECK_INT(who(list, ""), -1);
    CHECK_INT(who(list, "skmt-1-"), -1);
    CHECK_INT(who(list, "skmt-99999999999999999999-x"), -1);
    snprintf(other, sizeof other, "%s", one);   /* the number of another */
    other[5] = '2';
    CHECK_INT(who(list, other), -1);
    other[5] = '7';
    CHECK_INT(who(list, other), -1);
    other[5] = '1';
    other[20] ^= 1;
    CHECK_INT(who(list, other), -1);
    accounts_close(list);
    scratch_remove(&s);
}

/* A hash of zeros must not be that of a key that has no line. */
TEST(no_line_has_no_key)
{
    struct settings set = { 0 };
    struct accounts *list;
    struct scratch s;

    REQUIRE(scratch_make(&s));
    REQUIRE(scratch_write(&s, "keys", "# none\n\n"));
    list = open_keys(&s, &set);
    REQUIRE(list);
    CHECK_INT(who(list, "skmt-1-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
              -1);
    accounts_close(list);
    scratch_remove(&s);
}

#define HASH "\"hash\":\"sha256:000102030405060708090a0b0c0d0e0f:" \
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\""

TEST(a_bad_line_is_refused_with_its_number)
{
    static const char *const bad[] = {
        "x", "[]", "{}", "{\"key\":1}", "{\"key\":0,\"name\":\"a\"," HASH "}",
        "{\"key\":1,\"name\":\"a\",\"hash\":\"sha256:00:11\"}",
        "{\"key\":1,\"name\":\"a/b\"," HASH "}",
        "{\"key\":1,\"name\":\"../b\"," HASH "}",
        "{\"key\":1,\"name\":\"\"," HASH "}",
        "{\"key\":1,\"name\":\"a\"," HASH ",\"wirte\":false}",
        "{\"key\":1,\"name\":\"a\"," HASH ",\"write\":1}",
        "{\"key\":1,\"name\":\"a\"," HASH ",\"rate\":-1}",
        "{\"key\":1,\"name\":\"a\"," HASH ",\"memory\":3}",
        "{\"key\":1,\"key\":2,\"name\":\"a\"," HASH "}",
        "{\"key\":3,\"name\":\"a\"," HASH "}",          /* occurs twice */
        "{\"key\":1,\"name\":\"first\"," HASH "}",
        "{\"key\":1,\"name\":\"a\",\"memory\":\"first.tm\"," HASH "}",
        "{\"key\":1,\"name\":\"a\",\"memory\":\"link.tm\"," HASH "}",
        "{\"key\":1,\"name\":\"a\",\"memory\":\"./first.tm\"," HASH "}",
    };
    struct settings set = { 0 };
    struct accounts *list;
    struct scratch s;
    skmt_error err;
    char text[1000], path[300];

    REQUIRE(scratch_make(&s));
    REQUIRE(scratch_write(&s, "first.tm", ""));
    snprintf(path, sizeof path, "%s", scratch_path(&s, "link.tm"));
    CHECK(!symlink("first.tm", path));
    snprintf(path, sizeof path, "%s", scratch_path(&s, "keys"));
    set.keys = path;
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "# keys\n{\"key\":3,\"name\":\"first\","
                 HASH "}\n%s\n", bad[i]);
        if (strstr(bad[i], "./first"))  /* relative to this folder */
            snprintf(text, sizeof text, "# keys\n{\"key\":3,\"name\":\"first\","
                     HASH "}\n{\"key\":1,\"name\":\"a\",\"memory\":"
                     "\"%s/./first.tm\"," HASH "}\n", s.dir);
        REQUIRE(scratch_write(&s, "keys", text));
        CHECK_INT(accounts_open(&list, &set, &err), SKMT_ERR_FORMAT);
        if (!CHECK(strstr(err.message, "keys:3: ")))
            printf("%zu: %s\n", i, err.message);
        CHECK(!list);
    }
    set.keys = "/nonexistent/keys";
    CHECK_INT(accounts_open(&list, &set, &err), SKMT_ERR_IO);
    set.keys = s.dir;
    CHECK_INT(accounts_open(&list, &set, &err), SKMT_ERR_IO);
    scratch_remove(&s);
}

/* Also when the file does not exist yet. */
TEST(two_keys_never_have_the_same_new_memory)
{
    static const struct { const char *other; skmt_status st; } line[] = {
        { "new.tm", SKMT_ERR_FORMAT }, { "%s/new.tm", SKMT_ERR_FORMAT },
        { "%s/./new.tm", SKMT_ERR_FORMAT }, { "%s/d/../new.tm",
        SKMT_ERR_FORMAT }, { "%s/d/new.tm", SKMT_OK }, { "x.tm", SKMT_OK },
    };
    struct settings set = { 0 };
    struct accounts *list;
    struct scratch s;
    skmt_error err;
    char text[1500], path[300], other[300];

    REQUIRE(scratch_make(&s));
    CHECK(!mkdir(scratch_path(&s, "d"), 0700));
    snprintf(path, sizeof path, "%s", scratch_path(&s, "keys"));
    set.keys = path;
    for (size_t i = 0; i < COUNT(line); i++) {
        bool absolute = line[i].other[0] == '%';

        snprintf(other, sizeof other, "%s%s", absolute ? s.dir : "",
                 line[i].other + (absolute ? 2 : 0));
        snprintf(text, sizeof text, "{\"key\":1,\"name\":\"new\"," HASH "}\n"
                 "{\"key\":2,\"name\":\"b\",\"memory\":\"%s\"," HASH "}\n",
                 other);
        REQUIRE(scratch_write(&s, "keys", text));
        if (!CHECK(accounts_open(&list, &set, &err) == line[i].st))
            printf("%s\n", other);
        accounts_close(list);
    }
    scratch_remove(&s);
}

TEST(a_new_key_needs_a_new_name_and_keeps_the_file)
{
    struct scratch s;
    skmt_error err;
    char key[KEY_TEXT_BYTES], before[2000];

    REQUIRE(scratch_make(&s));
    REQUIRE(scratch_write(&s, "keys", "# my keys"));
    new_key(&s, "a");
    CHECK(!strncmp(file_text(&s, "keys"), "# my keys\n{\"key\":1,", 19));
    snprintf(before, sizeof before, "%s", file_text(&s, "keys"));
    CHECK_INT(accounts_new_key(scratch_path(&s, "keys"), "a", key, sizeof key,
                               &err), SKMT_ERR_ARGUMENT);
    CHECK_STR(key, "");
    CHECK_INT(accounts_new_key(scratch_path(&s, "keys"), "a b", key,
                               sizeof key, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(accounts_new_key(scratch_path(&s, "keys"), "b", key, 10, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(accounts_new_key(scratch_path(&s, "no/keys"), "b", key,
                               sizeof key, &err), SKMT_ERR_IO);
    CHECK_STR(file_text(&s, "keys"), before);
    scratch_remove(&s);
}

/* Processes that add keys at the same time lose none. */
TEST(keys_can_be_added_at_the_same_time)
{
    struct settings set = { 0 };
    struct accounts *list;
    struct scratch s;

    REQUIRE(scratch_make(&s));
    for (int i = 0; i < 4; i++) {
        if (fork()) continue;
        for (int k = 0; k < 10; k++) {
            char name[20], key[KEY_TEXT_BYTES];

            snprintf(name, sizeof name, "k%d-%d", i, k);
            if (accounts_new_key(scratch_path(&s, "keys"), name, key,
                                 sizeof key, NULL)) _exit(1);
        }
        _exit(0);
    }
    for (int i = 0, status; i < 4; i++) CHECK(wait(&status) > 0 && !status);
    list = open_keys(&s, &set);
    REQUIRE(list);
    CHECK_INT(accounts_count(list), 40);
    accounts_close(list);
    scratch_remove(&s);
}

TEST(the_file_can_be_read_again)
{
    struct settings set = { .rate = 5 };
    struct account *kept, *gone, *a;
    struct accounts *list;
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;
    char *one, *two, text[2000], *line;

    REQUIRE(scratch_make(&s));
    one = new_key(&s, "a");
    two = new_key(&s, "b");
    list = open_keys(&s, &set);
    REQUIRE(list && !enter(list, one, &gone) && !enter(list, two, &kept));
    account_add_characters(kept, 7);
    snprintf(text, sizeof text, "%s", file_text(&s, "keys"));
    line = strchr(text, '\n') + 1;              /* without the first key */
    REQUIRE(scratch_write(&s, "keys", line));
    OK(accounts_reload(list, &err));
    CHECK_INT(who(list, one), -1);
    REQUIRE(!enter(list, two, &a));
    CHECK(a == kept);                           /* nothing has changed */
    access_release(a);
    OK(account_borrow(gone, NULL, 0, &tm, &err));       /* still works */
    account_return(gone, tm);
    access_release(gone);

    line[strcspn(line, "}")] = '\0';            /* another line, same memory */
    snprintf(line + strlen(line), 100, ",\"write\":false,\"rate\":0}");
    REQUIRE(scratch_write(&s, "keys", line));
    OK(accounts_reload(list, &err));
    REQUIRE(!enter(list, two, &a));
    CHECK(a != kept && !account_may_write(a) && account_may_write(kept));
    CHECK_INT(account_characters(a), 7);
    access_release(a);

    REQUIRE(scratch_write(&s, "keys", "broken\n"));
    CHECK_INT(accounts_reload(list, &err), SKMT_ERR_FORMAT);
    CHECK_INT(who(list, two), 2);               /* the old keys stay */
    access_release(kept);
    accounts_close(list);
    scratch_remove(&s);
}

/* ---- the key of a request ------------------------------------------------ */

struct fake_request { const char *header[8], *body[8], *query[8]; };

static const char *look_up(const char *const *list, const char *name)
{
    for (; *list; list += 2)
        if (!strcmp(*list, name)) return list[1];
    return NULL;
}

static const char *fake_header(void *user, const char *name)
{
    return look_up(((struct fake_request *)user)->header, name);
}

static const char *fake_body(void *user, const char *name)
{
    return look_up(((struct fake_request *)user)->body, name);
}

static const char *fake_query(void *user, const char *name)
{
    return look_up(((struct fake_request *)user)->query, name);
}

static const char *key_of(struct fake_request r)
{
    static char key[100];
    struct key_source from = { fake_header, fake_body, fake_query, &r };
    const char *k = access_find_key(&from);

    snprintf(key, sizeof key, "%s", k ? k : "(none)");
    return key;
}

TEST(the_first_key_of_a_request_counts)
{
    struct fake_request only_body = { .body = { "api_key", "K" } };
    struct key_source from = { fake_header, NULL, NULL, &only_body };

    CHECK_STR(key_of((struct fake_request){ 0 }), "(none)");
    CHECK_STR(key_of((struct fake_request){
        .header = { "Authorization", "DeepL-Auth-Key K1", "MMT-ApiKey", "K2" }
        }), "K1");
    CHECK_STR(key_of((struct fake_request){
        .header = { "Authorization", "bearer  K1", "X-Api-Key", "K2" } }),
        "K1");
    CHECK_STR(key_of((struct fake_request){
        .header = { "Authorization", "Basic dTpw", "MMT-ApiKey", "K2" } }),
        "K2");
    CHECK_STR(key_of((struct fake_request){
        .header = { "Authorization", "Bearer", "X-Api-Key", "K3" } }), "K3");
    CHECK_STR(key_of((struct fake_request){
        .header = { "X-Api-Key", "K3" }, .body = { "api_key", "K4" } }), "K3");
    CHECK_STR(key_of((struct fake_request){
        .body = { "apiKey", "K5", "api_key", "K4" } }), "K4");
    CHECK_STR(key_of((struct fake_request){
        .body = { "apiKey", "K5", "api_key", "" } }), "K5");
    CHECK_STR(key_of((struct fake_request){
        .body = { "auth_key", "K6" }, .query = { "api_key", "K7" } }), "K6");
    CHECK_STR(key_of((struct fake_request){
        .query = { "key", "K8", "api_key", "K7" } }), "K7");
    CHECK_STR(key_of((struct fake_request){ .query = { "key", "K8" } }), "K8");
    CHECK_STR(key_of((struct fake_request){ .body = { "key", "K8" } }),
              "(none)");
    CHECK(!access_find_key(&from));
}

TEST(without_keys_everybody_is_account_0)
{
    struct settings set = { 0 };
    struct accounts *list;
    struct account *a;
    skmt_error err;
    skmt_tm *tm = NULL;
    int wait;

    OK(accounts_open(&list, &set, &err));
    CHECK(!accounts_need_key(list));
    CHECK_INT(accounts_count(list), 0);
    CHECK_INT(access_enter(list, "anything:fx", v4("192.0.2.1"), &a, &wait),
              ACCESS_GRANTED);
    CHECK_INT(account_number(a), 0);
    CHECK(!account_has_memory(a));
    OK(account_borrow(a, NULL, 0, &tm, &err));
    CHECK(!tm);
    account_return(a, tm);
    CHECK_INT(account_edit_begin(a, &tm, &err), SKMT_ERR_ARGUMENT);
    access_release(a);
    accounts_close(list);
}

/* ---- limits -------------------------------------------------------------- */

TEST(wrong_keys_are_limited_by_address)
{
    struct settings set = { 0 };
    struct account *a;
    struct accounts *list;
    struct scratch s;
    int wait, wrong = 0;
    char *key;

    REQUIRE(scratch_make(&s));
    key = new_key(&s, "a");
    list = open_keys(&s, &set);
    REQUIRE(list);
    for (int i = 0; i < 100; i++) {
        enum access_answer got = access_enter(list, "guess", v4("192.0.2.9"),
                                              &a, &wait);
        wrong += got == ACCESS_WRONG_KEY;
        if (got == ACCESS_GUESSING) CHECK(wait >= 1 && wait <= 60);
        else CHECK_INT(wait, 0);
    }
    CHECK(wrong >= 20 && wrong <= 22);          /* and what time gives back */
    CHECK_INT(access_enter(list, key, v4("192.0.2.9"), &a, &wait),
              ACCESS_GRANTED);
    access_release(a);
    CHECK_INT(access_enter(list, "guess", v4("192.0.2.10"), &a, &wait),
              ACCESS_WRONG_KEY);
    accounts_close(list);
    scratch_remove(&s);
}

TEST(a_bucket_gives_what_it_gets)
{
    struct rate_bucket b = { 0 };
    int allowed = 0;

    for (int i = 0; i < 100; i++) allowed += rate_take(&b, 60, 1, 1000);
    CHECK_INT(allowed, 60);
    CHECK_INT(rate_wait(&b, 60, 1, 1000), 1);
    CHECK_INT(rate_wait(&b, 60, 10, 1000), 10);
    CHECK(!rate_take(&b, 60, 2, 1001));
    CHECK(rate_take(&b, 60, 1, 1001));
    CHECK_NEAR(rate_left(&b, 60, 1031), 30, 1e-6);
    CHECK(!rate_take(&b, 60, 600, 1031));       /* more than it can hold */
    CHECK_INT(rate_wait(&b, 60, 600, 1031), 30);
    CHECK(rate_take(&b, 60, 600, 1061));        /* but it was full */
    CHECK(!rate_take(&b, 60, 1, 1061));
    CHECK_INT(rate_wait(&b, 60, 1, 1061), 541);
    CHECK(!rate_take(&b, 60, 1, 1061 + 540));
    CHECK(rate_take(&b, 60, 1, 1061 + 541));
    CHECK_NEAR(rate_left(&b, 60, 1e9), 60, 0);
}

TEST(addresses_have_buckets_of_their_own)
{
    struct rate_table *t = rate_table_new();
    double left;
    int wait;

    REQUIRE(t);
    for (int i = 0; i < 5; i++)
        CHECK(rate_table_take(t, v4("192.0.2.1"), 5, 1, 10, NULL, NULL));
    CHECK(!rate_table_take(t, v4("192.0.2.1"), 5, 1, 10, &left, &wait));
    CHECK_NEAR(left, 0, 1e-9);
    CHECK_INT(wait, 12);
    CHECK(rate_table_take(t, v4("192.0.2.2"), 5, 1, 10, NULL, NULL));
    CHECK(!rate_table_take(t, v6("::ffff:192.0.2.1"), 5, 1, 10, NULL, NULL));
    for (int i = 0; i < 5; i++)
        CHECK(rate_table_take(t, v6(i % 2 ? "2001:db8::1" : "2001:db8::2:1"),
                              5, 1, 10, NULL, NULL));
    CHECK(!rate_table_take(t, v6("2001:db8::77"), 5, 1, 10, NULL, NULL));
    CHECK(rate_table_take(t, v6("2001:db8:0:1::1"), 5, 1, 10, NULL, NULL));
    CHECK(rate_table_take(t, NULL, 5, 1, 10, NULL, NULL));
    for (uint32_t i = 0; i < 100000; i++) {     /* more than the table holds */
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(0x0a000000 + i) };

        CHECK(rate_table_take(t, (struct sockaddr *)&a, 5, 1, 11, NULL, NULL));
    }
    CHECK(!rate_table_take(t, v4("192.0.2.1"), 5, 1, 11, NULL, NULL));
    rate_table_free(t);
}

TEST(a_request_costs_by_its_characters)
{
    json_t *args = json_pack("{s:s,s:[s,s],s:i,s:{s:s}}", "q", "äöü", "texts",
                             "1234567", "", "n", 5, "deep", "x", "y");

    CHECK_NEAR(access_cost(NULL), 1, 0);
    CHECK_NEAR(access_cost(args), 1.011, 1e-9);
    json_decref(args);
}

TEST(the_headers_tell_the_limit)
{
    struct settings set = { .rate = 3 };
    struct rate_answer got;
    struct account *a, *b;
    struct accounts *list;
    struct scratch s;
    char *one, *two;

    REQUIRE(scratch_make(&s));
    one = new_key(&s, "a");
    two = new_key(&s, "b");
    list = open_keys(&s, &set);
    REQUIRE(list && !enter(list, one, &a) && !enter(list, two, &b));
    access_charge(list, a, v4("192.0.2.1"), 1, &got);
    CHECK(got.allowed && !got.retry_after);
    CHECK_STR(got.policy, "\"default\";q=3;w=60");
    CHECK_STR(got.state, "\"default\";r=2;t=20");
    access_charge(list, a, v4("192.0.2.1"), 1, &got);
    access_charge(list, a, v4("192.0.2.2"), 1, &got);
    CHECK(got.allowed);
    access_charge(list, a, v4("192.0.2.3"), 1, &got);
    CHECK(!got.allowed);
    CHECK(got.retry_after >= 19 && got.retry_after <= 20);
    access_charge(list, b, v4("192.0.2.1"), 1, &got);   /* another key */
    CHECK(got.allowed);
    access_release(a);
    access_release(b);
    accounts_close(list);
    set = (struct settings){ .rate = 1 };               /* by address */
    REQUIRE(!accounts_open(&list, &set, NULL) && !enter(list, NULL, &a));
    access_charge(list, a, v4("192.0.2.1"), 1, &got);
    CHECK(got.allowed);
    access_charge(list, a, v4("192.0.2.1"), 1, &got);
    CHECK(!got.allowed);
    access_charge(list, a, v4("192.0.2.2"), 1, &got);
    CHECK(got.allowed);
    access_release(a);
    accounts_close(list);
    set.rate = 0;                                       /* no limit */
    REQUIRE(!accounts_open(&list, &set, NULL) && !enter(list, NULL, &a));
    access_charge(list, a, v4("192.0.2.1"), 1e6, &got);
    CHECK(got.allowed);
    CHECK_STR(got.policy, "");
    access_release(a);
    accounts_close(list);
    scratch_remove(&s);
}

/* ---- threads ------------------------------------------------------------- */

struct crowd {
    struct accounts *list;
    const struct sockaddr *peer;
    const char *key;
    bool stop;
    long n;
};

static void *ask_often(void *user)
{
    struct crowd *c = user;

    while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
        struct rate_answer got;
        struct account *a;
        int wait;

        access_enter(c->list, "wrong", c->peer, &a, &wait);
        if (access_enter(c->list, c->key, NULL, &a, &wait)) break;
        access_charge(c->list, a, NULL, 1, &got);
        account_add_characters(a, 1);
        access_release(a);
        __atomic_add_fetch(&c->n, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

TEST(the_file_is_read_again_while_threads_ask)
{
    struct settings set = { .rate = 1000 };
    struct crowd c = { 0 };
    struct account *a;
    struct scratch s;
    pthread_t t[4];
    skmt_error err;
    char key[KEY_TEXT_BYTES];

    REQUIRE(scratch_make(&s));
    snprintf(key, sizeof key, "%s", new_key(&s, "a"));
    c.key = key;
    c.peer = v4("192.0.2.1");
    c.list = open_keys(&s, &set);
    REQUIRE(c.list);
    for (int i = 0; i < 4; i++)
        REQUIRE(!pthread_create(&t[i], NULL, ask_often, &c));
    for (int i = 0; i < 30; i++) {
        char name[20];

        snprintf(name, sizeof name, "n%d", i);
        new_key(&s, name);
        OK(accounts_reload(c.list, &err));
    }
    __atomic_store_n(&c.stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    CHECK(c.n > 0);
    CHECK_INT(accounts_count(c.list), 31);
    REQUIRE(!enter(c.list, c.key, &a));
    CHECK_INT(account_characters(a), c.n);
    access_release(a);
    accounts_close(c.list);
    scratch_remove(&s);
}
