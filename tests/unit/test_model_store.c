/* test_model_store.c - the store of models: finding one by name and by
 * languages, changes, and what killed processes leave behind. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "model/card.h"
#include "model/model_store_change.h"
#include "model_store_fix.h"

/* ---- cards ---- */

static int fit_of(const struct fix_model *m, const char *from, const char *to)
{
    struct scratch s;
    struct card *c = NULL;
    struct err e;
    int fit = -1;

    if (scratch_make(&s) && fix_model_write(&s, "m.skmt", m) &&
        CHECK_OK(card_open(&c, scratch_path(&s, "m.skmt"), &e), &e))
        fit = card_fit(c, from, to);
    card_close(c);
    scratch_remove(&s);
    return fit;
}

static const struct fix_model bilingual = { "de", "en", NULL, 0 },
    regional = { "de", "pt-BR", NULL, 0 }, unknown = { NULL, "en", NULL, 0 },
    group = { "gem", "en", NULL, 0 },
    many = { NULL, NULL, "de\t4\nen\t5\nfr\t6\n", LANGUAGE_TOKENS_BOTH },
    nllb = { "deu_Latn", "eng_Latn", "deu_Latn\t4\neng_Latn\t5\nzho_Hans\t6\n",
             LANGUAGE_TOKENS_BOTH },
    from_one = { "en", NULL, "fra\t4\nspa\t5\n",
                 LANGUAGE_TOKENS_TARGET_FIRST },
    from_any = { NULL, NULL, "de\t4\nfr\t5\n", LANGUAGE_TOKENS_TARGET_FIRST };

TEST(card_fits_its_languages)
{
    CHECK(fit_of(&bilingual, "de", "en") > 0);
    CHECK(fit_of(&bilingual, "deu", "eng_Latn") > 0);
    CHECK(fit_of(&bilingual, "de-AT", NULL) > 0);
    CHECK(fit_of(&bilingual, NULL, "") > 0);
    CHECK_INT(fit_of(&bilingual, "en", "de"), 0);
    CHECK_INT(fit_of(&bilingual, "de", "fr"), 0);
    CHECK_INT(fit_of(&bilingual, "german", NULL), 0);
    CHECK(fit_of(&regional, "de", "pt") > 0);
    CHECK(fit_of(&regional, "de", "pt-PT") > 0);
    CHECK(fit_of(&regional, "de", "pt-BR") > fit_of(&regional, "de", "pt"));
    CHECK(fit_of(&regional, "de", "pt") > fit_of(&regional, "de", "pt-PT"));
}

/* A group of languages, and nothing, are not every language. */
TEST(card_does_not_guess_languages)
{
    CHECK_INT(fit_of(&unknown, "de", "en"), 0);
    CHECK(fit_of(&unknown, NULL, "en") > 0);
    CHECK_INT(fit_of(&group, "de", "en"), 0);
    CHECK(fit_of(&group, "gem", "en") > 0);
}

TEST(card_fits_languages_of_a_list)
{
    CHECK(fit_of(&many, "fr", "de") > 0);
    CHECK_INT(fit_of(&many, "fr", "es"), 0);
    CHECK_INT(fit_of(&many, "es", "fr"), 0);
    CHECK(fit_of(&nllb, "zh-CN", "de") > 0);
    CHECK_INT(fit_of(&nllb, "zh-TW", "de"), 0);
    CHECK(fit_of(&from_one, "en", "fr") > 0);
    CHECK_INT(fit_of(&from_one, "fr", "es"), 0);
    CHECK(fit_of(&from_any, "fr", "de") > 0);
    CHECK_INT(fit_of(&from_any, "it", "de"), 0);
    CHECK(fit_of(&bilingual, "de", "en") > fit_of(&many, "de", "en"));
    CHECK(fit_of(&many, "de", "en") > fit_of(&bilingual, "de-AT", "en"));
}

TEST(card_refuses_damaged_lists)
{
    static const char *const lists[] = { "de", "de\n", "\t4\n", "de\t4\nen",
                                         "de\t8\n" };

    for (size_t i = 0; i < COUNT(lists); i++) {
        struct fix_model m = { NULL, NULL, lists[i], LANGUAGE_TOKENS_BOTH };
        struct scratch s;
        struct card *c;
        struct err e;

        if (!scratch_make(&s)) return;
        if (fix_model_write(&s, "m.skmt", &m)) {
            CHECK_INT(card_open(&c, scratch_path(&s, "m.skmt"), &e),
                      ST_FORMAT);
            CHECK(c == NULL && strstr(e.msg, "languages"));
        }
        scratch_remove(&s);
    }
}

/* ---- finding ---- */

/* A store "mine" and a folder "shipped" of other models. */
struct store_test {
    struct scratch s;
    struct model_store *store;
};

static bool store_test_open(struct store_test *t)
{
    struct err e;

    model_store_close(t->store);
    return CHECK_OK(model_store_open(&t->store, scratch_path(&t->s, "mine"),
                                     &e), &e) &&
           CHECK_OK(model_store_add_folder(t->store,
                                           scratch_path(&t->s, "shipped"), &e),
                    &e);
}

static bool store_test_begin(struct store_test *t)
{
    memset(t, 0, sizeof *t);
    unsetenv("SKMT_MODEL");
    return scratch_make(&t->s) && !mkdir(scratch_path(&t->s, "mine"), 0777) &&
           !mkdir(scratch_path(&t->s, "shipped"), 0777) &&
           fix_pair(&t->s, "shipped/de-en.skmt", "de", "en");
}

static void store_test_end(struct store_test *t)
{
    model_store_close(t->store);
    scratch_remove(&t->s);
}

/* The path of what is found, below the folder of the test, or the error. */
static const char *found(const struct store_test *t, const char *name,
                         const char *from, const char *to)
{
    static char out[600];
    char *path;
    struct err e = { 0 };
    size_t n = strlen(t->s.dir);

    if (model_store_find(t->store, name, from, to, &path, &e)) {
        CHECK(path == NULL && e.msg[0]);
        return e.msg[0] ? snprintf(out, sizeof out, "%s", e.msg), out : "";
    }
    snprintf(out, sizeof out, "%s",
             strncmp(path, t->s.dir, n) ? path : path + n + 1);
    free(path);
    return out;
}

static void check_not_found(const struct store_test *t, const char *name,
                            const char *from, const char *to, const char *part)
{
    const char *got = found(t, name, from, to);

    if (!strstr(got, part))
        test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, got);
}

TEST(model_store_finds_names)
{
    struct store_test t;

    if (!store_test_begin(&t) || !store_test_open(&t)) return;
    CHECK_STR(found(&t, NULL, NULL, NULL), "shipped/de-en.skmt");
    CHECK_STR(found(&t, "de-en", NULL, NULL), "shipped/de-en.skmt");
    CHECK_STR(found(&t, "de-en.skmt", NULL, NULL), "shipped/de-en.skmt");
    CHECK_STR(found(&t, "./x", NULL, NULL), "./x");
    check_not_found(&t, "de-e", NULL, NULL, "no de-e.skmt in ");
    if (fix_pair(&t.s, "mine/de-en.skmt", "de", "en") &&
        fix_pair(&t.s, "mine/a.skmt", "en", "fr") && store_test_open(&t)) {
        CHECK_STR(found(&t, "de-en", NULL, NULL), "mine/de-en.skmt");
        CHECK_STR(model_store_name(t.store, 0), "a");
        CHECK_STR(model_store_name(t.store, 1), "de-en");
        CHECK(model_store_name(t.store, 2) == NULL);
        CHECK(model_store_owns(t.store, 1));
    }
    store_test_end(&t);
}

/* What a download leaves in the current folder does not hide a model. */
TEST(model_store_takes_files_of_the_current_folder)
{
    struct store_test t;
    char before[4096];

    if (!store_test_begin(&t) || !store_test_open(&t)) return;
    REQUIRE(getcwd(before, sizeof before) && !chdir(t.s.dir));
    CHECK(!mkdir("de-en", 0777));
    CHECK_STR(found(&t, "de-en", NULL, NULL), "shipped/de-en.skmt");
    CHECK(!rmdir("de-en") && scratch_write(&t.s, "de-en", "a file"));
    CHECK_STR(found(&t, "de-en", NULL, NULL), "de-en");
    CHECK(!chdir(before));
    store_test_end(&t);
}

TEST(model_store_finds_languages)
{
    struct store_test t;

    if (!store_test_begin(&t)) return;
    if (fix_pair(&t.s, "mine/fr.skmt", "en", "fr") &&
        fix_model_write(&t.s, "mine/many.skmt", &many) &&
        store_test_open(&t)) {
        CHECK_STR(found(&t, NULL, "en", "fr"), "mine/fr.skmt");
        CHECK_STR(found(&t, NULL, "fr", "en"), "mine/many.skmt");
        CHECK_STR(found(&t, NULL, "deu", "eng"), "shipped/de-en.skmt");
        check_not_found(&t, NULL, "es", "fr", "no model translates es to fr;");
        check_not_found(&t, NULL, "es", NULL, "no model translates from es;");
        check_not_found(&t, NULL, NULL, "es", "no model translates to es;");
    }
    store_test_end(&t);
}

TEST(model_store_does_not_choose_between_equal_models)
{
    struct store_test t;
    struct err e;

    if (!store_test_begin(&t)) return;
    if (fix_pair(&t.s, "mine/a.skmt", "en", "fr") &&
        fix_pair(&t.s, "mine/b.skmt", "en", "fr") &&
        fix_pair(&t.s, "mine/c.skmt", "de", "en") && store_test_open(&t)) {
        check_not_found(&t, NULL, "en", "fr", "equally well: a, b; choose");
        check_not_found(&t, NULL, "en", "fr",
                        "model default NAME --from en --to fr'");
        check_not_found(&t, NULL, "en", NULL, "equally well: a, b; choose");
        /* The store comes before other folders. */
        CHECK_STR(found(&t, NULL, "de", "en"), "mine/c.skmt");
        CHECK_OK(model_store_set_default(t.store, "b", NULL, NULL, &e), &e);
        if (!store_test_open(&t)) return;
        CHECK_STR(found(&t, NULL, "en", "fr"), "mine/b.skmt");
        CHECK_STR(found(&t, NULL, NULL, NULL), "mine/b.skmt");
        CHECK_OK(model_store_set_default(t.store, "a", "eng", "fra", &e), &e);
        CHECK_OK(model_store_set_default(t.store, "de-en", "ja", "fi", &e),
                 &e);
        if (!store_test_open(&t)) return;
        CHECK_STR(found(&t, NULL, "en", "fr"), "mine/a.skmt");
        CHECK_STR(found(&t, NULL, "ja", "fi"), "shipped/de-en.skmt");
        CHECK_STR(found(&t, NULL, NULL, NULL), "mine/b.skmt");
    }
    store_test_end(&t);
}

TEST(model_store_heeds_the_environment)
{
    struct store_test t;

    if (!store_test_begin(&t)) return;
    if (fix_pair(&t.s, "mine/fr.skmt", "en", "fr") &&
        fix_model_write(&t.s, "mine/u.skmt", &unknown) &&
        store_test_open(&t)) {
        setenv("SKMT_MODEL", "fr", 1);
        CHECK_STR(found(&t, NULL, NULL, NULL), "mine/fr.skmt");
        CHECK_STR(found(&t, NULL, "en", NULL), "mine/fr.skmt");
        CHECK_STR(found(&t, NULL, "de", "en"), "shipped/de-en.skmt");
        CHECK_STR(found(&t, "de-en", "en", "fr"), "shipped/de-en.skmt");
        setenv("SKMT_MODEL", "u", 1);
        CHECK_STR(found(&t, NULL, "de", "en"), "mine/u.skmt");
        setenv("SKMT_MODEL", "none", 1);
        check_not_found(&t, NULL, "de", "en", "$SKMT_MODEL: model 'none'");
        unsetenv("SKMT_MODEL");
    }
    store_test_end(&t);
}

TEST(model_store_names_damaged_files)
{
    struct store_test t;

    if (!store_test_begin(&t)) return;
    if (scratch_write(&t.s, "mine/bad.skmt", "nothing") &&
        scratch_write(&t.s, "mine/.hidden.skmt", "nothing") &&
        scratch_write(&t.s, "mine/text", "nothing") && store_test_open(&t)) {
        CHECK_STR(model_store_name(t.store, 0), "bad");
        CHECK_STR(model_store_name(t.store, 1), "de-en");
        check_not_found(&t, NULL, "en", "fr", "mine/bad.skmt: ");
        CHECK_STR(found(&t, NULL, "de", "en"), "shipped/de-en.skmt");
    }
    if (scratch_write(&t.s, "mine/defaults", "a b\n") && store_test_open(&t)) {
        check_not_found(&t, NULL, NULL, NULL, "mine/defaults:1: expected");
        check_not_found(&t, NULL, "de", "en", "mine/defaults:1: expected");
        CHECK_STR(found(&t, "de-en", NULL, NULL), "shipped/de-en.skmt");
        CHECK_STR(found(&t, "a/b", NULL, NULL), "a/b");
    }
    store_test_end(&t);
}

/* ---- the folder of the user ---- */

TEST(model_store_is_in_the_folder_of_the_user)
{
    static const char *const names[] = { "SKMT_HOME", "XDG_DATA_HOME",
                                         "HOME" };
    static const struct { const char *value[3], *want; } c[] = {
        { { "/a", "/b", "/c" }, "/a/models" },
        { { "", "/b", "/c" }, "/b/skmt/models" },
        { { NULL, "b", "/c" }, "/c/.local/share/skmt/models" },
        { { NULL, NULL, "/c" }, "/c/.local/share/skmt/models" },
        { { NULL, NULL, NULL }, NULL },
    };
    char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL;

    for (size_t i = 0; i < COUNT(c); i++) {
        struct model_store *s;
        struct err e;

        for (int k = 0; k < 3; k++)
            if (!c[i].value[k]) unsetenv(names[k]);
            else setenv(names[k], c[i].value[k], 1);
        if (!CHECK_OK(model_store_open(&s, NULL, &e), &e)) continue;
        if (c[i].want) CHECK_STR(model_store_folder(s), c[i].want);
        else CHECK(model_store_folder(s) == NULL);
        if (!c[i].want) CHECK_INT(model_store_remove(s, "a", &e), ST_IO);
        model_store_close(s);
    }
    if (before) setenv("HOME", before, 1);
    free(before);
}

/* ---- changes ---- */

/* Every file of the store. */
static int count_files(const struct store_test *t)
{
    char command[200];
    FILE *f;
    int n = -1;

    snprintf(command, sizeof command, "find '%s/mine' -mindepth 1 ! -name "
             ".lock | wc -l", t->s.dir);
    f = popen(command, "r");
    if (!CHECK(f && fscanf(f, "%d", &n) == 1)) n = -1;
    if (f) pclose(f);
    return n;
}

static bool add_copy(const struct store_test *t, const char *name,
                     const char *file, bool replace, struct err *e)
{
    struct new_model *m = NULL;
    enum status st = new_model_begin(&m, t->store, name, replace, e);

    if (!st) st = new_model_copy(m, scratch_path(&t->s, file), NULL, NULL, e);
    if (!st) st = new_model_commit(m, e);
    new_model_free(m);
    return !st;
}

TEST(model_store_adds_and_removes)
{
    struct store_test t;
    struct err e;

    if (!store_test_begin(&t)) return;
    CHECK(!rmdir(scratch_path(&t.s, "mine")));
    if (!store_test_open(&t)) return;
    CHECK(add_copy(&t, "a.skmt", "shipped/de-en.skmt", false, &e));
    CHECK_INT(count_files(&t), 1);
    CHECK(!add_copy(&t, "a", "shipped/de-en.skmt", false, &e));
    CHECK(strstr(e.msg, "there is a model 'a' already"));
    CHECK(add_copy(&t, "a", "shipped/de-en.skmt", true, &e));
    CHECK(!add_copy(&t, "b", "shipped/no.skmt", false, &e));
    CHECK(scratch_write(&t.s, "bad", "bad"));
    CHECK(!add_copy(&t, "b", "bad", false, &e));
    CHECK_INT(count_files(&t), 1);
    if (!store_test_open(&t)) return;
    CHECK_OK(model_store_set_default(t.store, "a", "de", "en", &e), &e);
    CHECK_OK(model_store_set_default(t.store, "a", NULL, NULL, &e), &e);
    CHECK_INT(count_files(&t), 2);
    if (!store_test_open(&t)) return;
    CHECK_INT(model_store_defaults(t.store)->n, 2);
    CHECK_OK(model_store_remove(t.store, "a", &e), &e);
    CHECK_INT(model_store_remove(t.store, "a", &e), ST_ARGUMENT);
    CHECK_INT(model_store_remove(t.store, "de-en", &e), ST_ARGUMENT);
    if (!store_test_open(&t)) return;
    CHECK_INT(model_store_defaults(t.store)->n, 0);
    CHECK_STR(model_store_name(t.store, 0), "de-en");
    store_test_end(&t);
}

TEST(model_store_refuses_bad_names)
{
    static const char *const bad[] = { "", ".", "..", ".a", "-a", "a/b", "a b",
                                       "a\n", "#a", ".skmt", "../x" };
    struct store_test t;
    struct err e;
    char longest[MODEL_STORE_NAME_MAX + 2];

    if (!store_test_begin(&t) || !store_test_open(&t)) return;
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK(!add_copy(&t, bad[i], "shipped/de-en.skmt", true, &e));
        CHECK_INT(model_store_remove(t.store, bad[i], &e), ST_ARGUMENT);
        CHECK_INT(model_store_set_default(t.store, bad[i], NULL, NULL, &e),
                  ST_ARGUMENT);
    }
    memset(longest, 'a', sizeof longest);
    longest[MODEL_STORE_NAME_MAX + 1] = 0;
    CHECK(!add_copy(&t, longest, "shipped/de-en.skmt", true, &e));
    longest[MODEL_STORE_NAME_MAX] = 0;
    CHECK(add_copy(&t, longest, "shipped/de-en.skmt", true, &e));
    CHECK(add_copy(&t, "\xc3\xa4-2+3_4.5", "shipped/de-en.skmt", false, &e));
    CHECK_INT(model_store_set_default(t.store, "no", NULL, NULL, &e),
              ST_ARGUMENT);
    CHECK_INT(model_store_set_default(t.store, "de-en", "de", NULL, &e),
              ST_ARGUMENT);
    CHECK_INT(model_store_set_default(t.store, "de-en", "d e", "fr", &e),
              ST_ARGUMENT);
    store_test_end(&t);
}

static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    return CHECK(done <= total);
}

/* A process that is killed leaves its folder. The next change removes it, but
 * not those of processes that are alive. */
TEST(model_store_cleans_up)
{
    struct store_test t;
    struct new_model *alive = NULL, *stopped = NULL;
    struct err e;
    int status;
    pid_t child;

    if (!store_test_begin(&t) || !store_test_open(&t)) return;
    child = fork();
    if (child == 0) {
        struct new_model *m;
        enum status st = new_model_begin(&m, t.store, "dead", false, &e);

        if (!st)
            st = new_model_copy(m, scratch_path(&t.s, "shipped/de-en.skmt"),
                                NULL, NULL, &e);
        _exit(st ? 1 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_INT(count_files(&t), 3);      /* the folder, the lock, the model */
    CHECK(scratch_write(&t.s, "mine/defaults.12-3.tmp", ""));
    CHECK_OK(new_model_begin(&alive, t.store, "alive", false, &e), &e);
    CHECK_INT(count_files(&t), 2);
    CHECK_OK(new_model_begin(&stopped, t.store, "stopped", false, &e), &e);
    CHECK_INT(new_model_copy(stopped,
                             scratch_path(&t.s, "shipped/de-en.skmt"),
                             stop_at_once, NULL, &e), ST_CANCELED);
    new_model_free(stopped);
    CHECK_INT(count_files(&t), 2);
    CHECK(add_copy(&t, "alive", "shipped/de-en.skmt", false, &e));
    CHECK_OK(new_model_copy(alive, scratch_path(&t.s, "shipped/de-en.skmt"),
                            NULL, NULL, &e), &e);
    /* The other one was faster. */
    CHECK_INT(new_model_commit(alive, &e), ST_ARGUMENT);
    new_model_free(alive);
    CHECK_INT(count_files(&t), 1);
    store_test_end(&t);
}

/* ---- the list of defaults ---- */

TEST(model_defaults_read_what_they_write)
{
    static const char text[] = "# comment\r\n\n  all  \nde en a\n\tdeu eng b\n";
    struct model_defaults d, again;
    struct scratch s;
    struct err e;

    if (!scratch_make(&s)) return;
    REQUIRE_OK(model_defaults_parse(&d, text, strlen(text), "x", &e), &e);
    CHECK_INT(d.n, 2);
    CHECK_STR(model_defaults_find(&d, "de-Latn", "en"), "b");
    CHECK(model_defaults_find(&d, "de-AT", "en") == NULL);
    CHECK_STR(model_defaults_find(&d, NULL, NULL), "all");
    CHECK_OK(model_defaults_set(&d, "gem", "mul", "c", &e), &e);
    CHECK_OK(model_defaults_write(&d, scratch_path(&s, "d"), &e), &e);
    CHECK_OK(model_defaults_read(&again, scratch_path(&s, "d"), &e), &e);
    CHECK_INT(again.n, 3);
    CHECK_STR(model_defaults_find(&again, "gem", "mul"), "c");
    CHECK_OK(model_defaults_set(&again, "de", "en", NULL, &e), &e);
    CHECK_OK(model_defaults_set(&again, "xx", "yy", NULL, &e), &e);
    CHECK_INT(again.n, 2);
    CHECK_INT(model_defaults_drop(&again, "c"), 1);
    CHECK_INT(model_defaults_drop(&again, "c"), 0);
    model_defaults_release(&again);
    model_defaults_release(&d);
    CHECK_INT(model_defaults_parse(&d, "a b c d\n", 8, "x", &e), ST_FORMAT);
    CHECK_INT(model_defaults_parse(&d, "a\0b", 3, "x", &e), ST_FORMAT);
    CHECK_STR(e.msg, "x: there is a NUL byte");
    scratch_remove(&s);
}
