/* test_datastore_api.c - datastores through include/skmt_tools.h, with a tiny
 * model. */
#include "skmt_tools.h"
#include "tiny_net.h"
#include "use_tm.h"

struct desk {
    struct scratch dir;
    struct tiny_net net;
    skmt_model *model;
    skmt_tm *tm;
    skmt_datastore_maker *maker;
    char path[64];
};

static void desk_open(struct desk *d)
{
    struct tiny o = TINY_DEFAULT;
    skmt_error err;

    memset(d, 0, sizeof *d);
    REQUIRE(scratch_make(&d->dir));
    REQUIRE(tiny_net_write(&d->net, &o, DT_F32));
    OK(skmt_model_open(&d->model, tiny_net_file(&d->net, "m.skmt"), &err));
    d->tm = open_tm(&d->dir, SKMT_TM_CREATE);
    skmt_tm_set_relaxed(d->tm, 1);
    add(d->tm, NULL, "and of the", "in a");
    add(d->tm, NULL, "the and in", "the the");
    add(d->tm, NULL, "of a in", "and and of");
    OK(skmt_datastore_maker_new(&d->maker, d->model, &err));
    snprintf(d->path, sizeof d->path, "%s/a.knn", d->dir.dir);
}

static void desk_close(struct desk *d)
{
    skmt_datastore_maker_free(d->maker);
    skmt_tm_close(d->tm);
    skmt_model_close(d->model);
    tiny_net_close(&d->net);
    scratch_remove(&d->dir);
}

static void build(struct desk *d)
{
    skmt_error err;

    unlink(d->path);
    OK(skmt_datastore_maker_build(d->maker, d->path, d->tm, &err));
}

static int64_t made(struct desk *d, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_datastore_maker_stat(d->maker, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    return -1;
}

static int64_t store_stat(skmt_datastore *ds, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_datastore_stat(ds, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    return -1;
}

static const char *fact_of(skmt_datastore *ds, const char *what)
{
    const char *name, *value;

    for (int i = 0; (name = skmt_datastore_fact(ds, i, &value)); i++)
        if (!strcmp(name, what)) return value;
    return "none";
}

/* A statistic of the file at the moment. */
static int64_t now(struct desk *d, const char *what)
{
    skmt_datastore *ds;
    skmt_error err;
    int64_t n;

    OK(skmt_datastore_open(&ds, d->path, d->model, &err));
    if (!ds) return -1;
    n = store_stat(ds, what);
    skmt_datastore_close(ds);
    return n;
}

TEST(a_datastore_is_built_and_described)
{
    skmt_datastore *ds;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    build(&d);
    CHECK_INT(made(&d, "added"), 3);
    CHECK_INT(made(&d, "pairs"), 3);
    OK(skmt_datastore_open(&ds, d.path, d.model, &err));
    REQUIRE(ds != NULL);
    CHECK_INT(store_stat(ds, "pairs"), 3);
    CHECK_INT(store_stat(ds, "deleted"), 0);
    CHECK_INT(store_stat(ds, "entries"), made(&d, "entries"));
    CHECK_INT(store_stat(ds, "stored"), made(&d, "stored"));
    CHECK_INT(store_stat(ds, "bytes"), made(&d, "bytes"));
    CHECK_INT(store_stat(ds, "d"), 32);
    CHECK_INT(store_stat(ds, "eos"), 1);
    CHECK_INT(store_stat(ds, "merged"), 0);
    CHECK_INT(store_stat(ds, "source_tokens"), 0);
    CHECK_INT(store_stat(ds, "unfinished"), 0);
    CHECK_STR(fact_of(ds, "type"), "int8");
    CHECK_STR(fact_of(ds, "key"), "final");
    CHECK_INT(strlen(fact_of(ds, "model")), 16);
    CHECK_INT(strlen(fact_of(ds, "memory")), 16);
    skmt_datastore_close(ds);
    desk_close(&d);
}

TEST(settings_of_a_build)
{
    static const struct { const char *key, *value, *says; } bad[] = {
        { "type", "f32", "is not int8 or f16" },
        { "key", "source", "is not final or ffn" },
        { "eos", "maybe", "is not no or yes" },
        { "threads", "0", "from 1 to 256" },
        { "block", "x", "is not a whole number" },
        { "limit", "-1", "from 0 to" },
        { "color", "red", "there is no setting" },
        { "alignment", "/nowhere", "No such file" },
    };
    skmt_datastore *ds;
    skmt_error err;
    struct desk d;

    desk_open(&d);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK(skmt_datastore_maker_set(d.maker, bad[i].key, bad[i].value,
                                       &err) != SKMT_OK);
        if (!strstr(err.message, bad[i].says))
            test_fail(__FILE__, __LINE__, "%s: %s", bad[i].key, err.message);
    }
    OK(skmt_datastore_maker_set(d.maker, "type", "f16", &err));
    OK(skmt_datastore_maker_set(d.maker, "key", "ffn", &err));
    OK(skmt_datastore_maker_set(d.maker, "eos", "no", &err));
    OK(skmt_datastore_maker_set(d.maker, "threads", "2", &err));
    OK(skmt_datastore_maker_set(d.maker, "limit", "2", &err));
    OK(skmt_datastore_maker_set(d.maker, "seed", "7", &err));
    build(&d);
    OK(skmt_datastore_open(&ds, d.path, d.model, &err));
    REQUIRE(ds != NULL);
    CHECK_INT(store_stat(ds, "pairs"), 2);
    CHECK_INT(store_stat(ds, "eos"), 0);
    CHECK_STR(fact_of(ds, "type"), "f16");
    CHECK_STR(fact_of(ds, "key"), "ffn");
    skmt_datastore_close(ds);
    desk_close(&d);
}

TEST(memories_are_chosen_by_name)
{
    skmt_tm_info other = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    struct desk d;

    desk_open(&d);
    other.name = "other";
    OK(skmt_tm_create(d.tm, &other, &err));
    add(d.tm, "other", "the a", "a of");
    OK(skmt_datastore_maker_set(d.maker, "name", "other", &err));
    build(&d);
    CHECK_INT(made(&d, "pairs"), 1);
    OK(skmt_datastore_maker_set(d.maker, "name", "main", &err));
    build(&d);
    CHECK_INT(made(&d, "pairs"), 4);
    OK(skmt_datastore_maker_set(d.maker, "name", "gone", &err));
    CHECK_INT(skmt_datastore_maker_build(d.maker, d.path, d.tm, &err),
              SKMT_ERR_ARGUMENT);
    desk_close(&d);
}

/* Each entry is a token of its pair, and its bytes are those of the token. */
TEST(entries_can_be_read)
{
    skmt_entry e = SKMT_INIT(skmt_entry), plain = SKMT_INIT(skmt_entry);
    skmt_datastore *ds, *blind;
    skmt_error err;
    struct desk d;
    int eos = 0, whole = 0;

    desk_open(&d);
    build(&d);
    OK(skmt_datastore_delete(d.path, NULL, 0, "the and in", NULL, NULL, &err));
    OK(skmt_datastore_open(&ds, d.path, d.model, &err));
    OK(skmt_datastore_open(&blind, d.path, NULL, &err));
    REQUIRE(ds && blind);
    for (int64_t i = 0; i < store_stat(ds, "stored"); i++) {
        char word[32];

        if (!skmt_datastore_entry(ds, i, &e)) {
            CHECK(!skmt_datastore_entry(blind, i, &plain));
            continue;
        }
        CHECK(e.pair != 1 && strcmp(e.source, "the and in"));
        CHECK(e.position < e.tokens && e.norm > 0 && e.weight == 1);
        CHECK_INT(e.id, e.pair + 1);
        if (e.position == e.tokens - 1) {
            eos++;
            CHECK_INT(e.begin, strlen(e.target));
            CHECK_INT(e.end, strlen(e.target));
        } else {
            snprintf(word, sizeof word, "%.*s", e.end - e.begin,
                     e.target + e.begin);
            whole += strstr(e.text, word + (word[0] == ' ')) != NULL;
            CHECK(e.end > e.begin);
        }
        CHECK(skmt_datastore_entry(blind, i, &plain));
        CHECK_INT(plain.token, e.token);
        CHECK_STR(plain.text, "");
        CHECK_INT(plain.end, 0);
    }
    CHECK_INT(eos, 2);
    CHECK_INT(whole, store_stat(ds, "entries") - 2);
    CHECK(!skmt_datastore_entry(ds, -1, &e));
    CHECK(!skmt_datastore_entry(ds, store_stat(ds, "stored"), &e));
    e.size = 1;
    CHECK(!skmt_datastore_entry(ds, 0, &e));
    skmt_datastore_close(ds);
    skmt_datastore_close(blind);
    desk_close(&d);
}

TEST(pairs_are_added_deleted_and_compacted)
{
    skmt_datastore *ds;
    skmt_error err;
    struct desk d;
    char copy[80];
    int64_t n, bytes;
    int problems = -1;

    desk_open(&d);
    build(&d);
    snprintf(copy, sizeof copy, "%s.copy", d.path);
    CHECK_INT(skmt_datastore_maker_add(d.maker, "a", 1, "b", 1, &err),
              SKMT_ERR_ARGUMENT);
    OK(skmt_datastore_maker_open(d.maker, d.path, &err));
    OK(skmt_datastore_maker_add(d.maker, "a of", 4, "the", 3, &err));
    OK(skmt_datastore_maker_add(d.maker, "a of", 4, "the", 3, &err));
    OK(skmt_datastore_maker_add(d.maker, "", 0, "", 0, &err));
    add(d.tm, NULL, "in in", "of");
    OK(skmt_datastore_maker_add_tm(d.maker, d.tm, &err));
    CHECK_INT(now(&d, "pairs"), 3);
    OK(skmt_datastore_maker_finish(d.maker, &err));
    CHECK_INT(made(&d, "added"), 2);
    CHECK_INT(made(&d, "known"), 4);
    CHECK_INT(made(&d, "empty"), 1);
    CHECK_INT(now(&d, "pairs"), 5);
    OK(skmt_datastore_delete(d.path, (int64_t[]){ 1, 99 }, 2, NULL, NULL, &n,
                             &err));
    CHECK_INT(n, 1);
    CHECK_INT(skmt_datastore_delete(d.path, NULL, 0, NULL, NULL, &n, &err),
              SKMT_ERR_ARGUMENT);
    OK(skmt_datastore_delete(d.path, NULL, 0, "the and in", "other", &n,
                             &err));
    CHECK_INT(n, 0);
    OK(skmt_datastore_delete(d.path, NULL, 0, NULL, "the the", &n, &err));
    CHECK_INT(n, 1);
    OK(skmt_datastore_delete_missing(d.path, d.tm, &n, &err));
    CHECK_INT(n, 1);            /* the one that was added by hand */
    CHECK_INT(now(&d, "pairs"), 2);
    CHECK_INT(now(&d, "deleted"), 3);
    bytes = now(&d, "bytes");
    OK(skmt_datastore_open(&ds, d.path, NULL, &err));
    REQUIRE(ds != NULL);
    OK(skmt_datastore_check(ds, NULL, NULL, NULL, NULL, &problems, &err));
    CHECK_INT(problems, 0);
    OK(skmt_datastore_compact(ds, copy, NULL, NULL, &err));
    skmt_datastore_close(ds);
    snprintf(d.path, sizeof d.path, "%s/a.knn.copy", d.dir.dir);
    CHECK_INT(now(&d, "pairs"), 2);
    CHECK_INT(now(&d, "deleted"), 0);
    CHECK(now(&d, "bytes") < bytes);
    desk_close(&d);
}

static int stop_at_once(void *user, const skmt_datastore_progress *p)
{
    int *calls = user;

    CHECK_INT(p->size, sizeof *p);
    CHECK(p->total >= p->seen && p->seen >= p->pairs);
    return ++*calls == 1;
}

TEST(a_stopped_build_is_continued)
{
    skmt_datastore *ds;
    skmt_error err;
    struct desk d;
    int calls = 0;
    char text[40];

    desk_open(&d);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "the %d", i);
        add(d.tm, NULL, text, text);
    }
    OK(skmt_datastore_maker_set(d.maker, "block", "100", &err));
    skmt_datastore_maker_on_progress(d.maker, stop_at_once, &calls);
    CHECK_INT(skmt_datastore_maker_build(d.maker, d.path, d.tm, &err),
              SKMT_ERR_CANCELED);
    CHECK(made(&d, "pairs") > 0 && made(&d, "pairs") < 403);
    CHECK_INT(skmt_datastore_open(&ds, d.path, d.model, &err),
              SKMT_ERR_ARGUMENT);
    CHECK(!ds && strstr(err.message, "is unfinished"));
    OK(skmt_datastore_open(&ds, d.path, NULL, &err));
    REQUIRE(ds != NULL);
    CHECK_INT(store_stat(ds, "unfinished"), 1);
    CHECK_INT(skmt_datastore_compact(ds, "x.knn", NULL, NULL, &err),
              SKMT_ERR_ARGUMENT);
    skmt_datastore_close(ds);
    OK(skmt_datastore_maker_build(d.maker, d.path, d.tm, &err));
    CHECK_INT(now(&d, "pairs"), 403);
    desk_close(&d);
}

/* ---- smaller copies and training ----------------------------------------- */

TEST(smaller_copies_are_written)
{
    skmt_reduction how = SKMT_INIT(skmt_reduction), bad = { .size = 3 };
    skmt_datastore *ds;
    char copy[80];
    struct desk d;
    skmt_error err;
    double kept = -1;
    int64_t removed = -1;

    desk_open(&d);
    build(&d);
    snprintf(copy, sizeof copy, "%s/b.knn", d.dir.dir);
    OK(skmt_datastore_open(&ds, d.path, d.model, &err));
    REQUIRE(ds != NULL);
    how.dims = 4;
    OK(skmt_datastore_reduce(ds, copy, &how, NULL, NULL, &kept, &err));
    CHECK(kept > 0 && kept <= 1);
    CHECK_INT(skmt_datastore_reduce(ds, copy, &bad, NULL, NULL, NULL, &err),
              SKMT_ERR_ARGUMENT);
    how.threads = -1;
    CHECK_INT(skmt_datastore_merge(ds, copy, &how, NULL, NULL, NULL, &err),
              SKMT_ERR_ARGUMENT);
    skmt_datastore_close(ds);
    OK(skmt_datastore_open(&ds, copy, d.model, &err));
    CHECK_INT(store_stat(ds, "d"), 4);
    CHECK_INT(skmt_datastore_reduce(ds, d.path, &how, NULL, NULL, NULL, &err),
              SKMT_ERR_ARGUMENT);
    how.threads = 2;
    OK(skmt_datastore_merge(ds, d.path, &how, NULL, NULL, &removed, &err));
    CHECK(removed >= 0);
    CHECK_INT(now(&d, "merged"), 1);
    CHECK_INT(now(&d, "entries"), store_stat(ds, "entries") - removed);
    skmt_datastore_close(ds);
    desk_close(&d);
}

static void tell_pairs(skmt_knn_trainer *t, int n)
{
    static const char *const words[] = { "in ", "the ", "and ", "of ", "a " };
    skmt_error err;

    for (int i = 0; i < n; i++) {
        char text[200] = "";

        for (int k = 0; k < 12; k++) strcat(text, words[(i * k + k + i) % 5]);
        OK(skmt_knn_trainer_add(t, text, strlen(text), text, strlen(text),
                                &err));
    }
}

static double trainer_stat(const skmt_knn_trainer *t, const char *what)
{
    const char *name;
    double x;

    for (int i = 0; (name = skmt_knn_trainer_stat(t, i, &x)); i++)
        if (!strcmp(name, what)) return x;
    return -1;
}

static int stop_training(void *user, int done, int total)
{
    (void)user;
    return done > 0 || done > total;
}

TEST(a_network_is_trained_for_a_datastore)
{
    skmt_knn_setting s = SKMT_INIT(skmt_knn_setting);
    skmt_knn_trainer *t;
    skmt_datastore *ds;
    skmt_options *o;
    struct desk d;
    skmt_error err;

    desk_open(&d);
    build(&d);
    OK(skmt_datastore_open(&ds, d.path, d.model, &err));
    OK(skmt_knn_trainer_new(&t, ds, &err));
    REQUIRE(t != NULL);
    OK(skmt_knn_trainer_set(t, "updates", "200", &err));
    OK(skmt_knn_trainer_set(t, "k", "4", &err));
    CHECK_INT(skmt_knn_trainer_set(t, "k", "5", &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_knn_trainer_set(t, "threads", "0", &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_knn_trainer_set(t, "none", "1", &err), SKMT_ERR_ARGUMENT);
    tell_pairs(t, 2);
    CHECK_INT(skmt_knn_trainer_try(t, NULL, NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_knn_trainer_train(t, NULL, NULL, &err), SKMT_ERR_ARGUMENT);
    CHECK(!skmt_knn_trainer_network(t) && !skmt_knn_trainer_setting(t, 0, &s));
    tell_pairs(t, 40);
    CHECK_INT(skmt_knn_trainer_try(t, stop_training, NULL, &err),
              SKMT_ERR_CANCELED);
    OK(skmt_knn_trainer_try(t, NULL, NULL, &err));
    CHECK(skmt_knn_trainer_setting(t, (int)trainer_stat(t, "best"), &s));
    CHECK_NEAR(s.loss, trainer_stat(t, "fixed"), 0);
    CHECK_INT(skmt_knn_trainer_add(t, "a", 1, "a", 1, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_knn_trainer_train(t, stop_training, NULL, &err),
              SKMT_ERR_CANCELED);
    OK(skmt_knn_trainer_train(t, NULL, NULL, &err));
    CHECK(trainer_stat(t, "network") <= trainer_stat(t, "plain") + 0.01);
    CHECK_INT(trainer_stat(t, "pairs"), 42);
    OK(skmt_options_new(&o, &err));
    OK(skmt_options_set(o, "metak", skmt_knn_trainer_network(t), &err));
    skmt_options_free(o);
    skmt_knn_trainer_free(t);
    skmt_datastore_close(ds);
    OK(skmt_datastore_open(&ds, d.path, NULL, &err));
    CHECK_INT(skmt_knn_trainer_new(&t, ds, &err), SKMT_ERR_ARGUMENT);
    skmt_datastore_close(ds);
    desk_close(&d);
}
