/* test_memory_fit.c - memories that do not have the languages of the model are
 * refused, wherever they meet. */
#include "skmt_tools.h"
#include "tiny_remake.h"
#include "tm/memory_fit.h"
#include "use_tm.h"

TEST(languages_of_memories_are_compared)
{
    static const struct { const char *source, *target; bool fits; } c[] = {
        { "de", "en", true }, { "deu_Latn", "en-GB", true }, { "", "", true },
        { "de", "", true }, { "", "fr", false }, { "en", "de", false },
        { "de", "fr", false }, { "mul", "eng", true },
    };
    const struct model_languages model = { "de", "en" }, any = { NULL, "" };

    for (size_t i = 0; i < COUNT(c); i++) {
        struct memory_info m = { .name = "main" };
        struct err e;

        strcpy(m.source_lang, c[i].source);
        strcpy(m.target_lang, c[i].target);
        CHECK_INT(memory_fits(&m, &model), c[i].fits);
        CHECK_INT(!memories_must_fit(&m, 1, &model, &e), c[i].fits);
        CHECK(memory_fits(&m, &any));
    }
    CHECK_INT(memories_must_fit(NULL, 0, &model, NULL), ST_OK);
}

/* ---- with a model from de to en ------------------------------------------ */

struct desk {
    struct scratch dir;
    struct tiny_net net;
    skmt_model *model;
    skmt_tm *tm;
};

static void set_languages(struct config *c)
{
    strcpy(c->source_lang, "de");
    strcpy(c->target_lang, "en");
}

static void make_memory(struct desk *d, const char *name, const char *source,
                        const char *target)
{
    skmt_tm_info info = { .size = sizeof info, .name = name,
                          .source_lang = source, .target_lang = target };
    skmt_error err;

    OK(skmt_tm_create(d->tm, &info, &err));
    add(d->tm, name, "and of the", name);
}

static void desk_open(struct desk *d)
{
    struct tiny o = TINY_DEFAULT;
    skmt_error err;

    memset(d, 0, sizeof *d);
    REQUIRE(scratch_make(&d->dir));
    REQUIRE(tiny_net_write(&d->net, &o, DT_F32));
    REQUIRE(tiny_remake(&d->net, NULL, 0, set_languages));
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

static skmt_options *any_language(const char *preset)
{
    skmt_options *o;
    skmt_error err;

    OK(skmt_options_new(&o, &err));
    OK(skmt_options_set(o, "any-language", "1", &err));
    OK(skmt_options_set(o, "preset", preset, &err));
    return o;
}

/* Whether a call failed, and said which languages do not fit. */
#define REFUSED(call) do {                                                \
    skmt_error why;                                                       \
    CHECK_INT((call), SKMT_ERR_ARGUMENT);                                 \
    CHECK(strstr(why.message, "\"french\" is from fr to en") &&           \
          strstr(why.message, "from de to en")); } while (0)

static int no_result(void *user, uint64_t number, skmt_result *result,
                     const skmt_error *err)
{
    (void)user;
    (void)number;
    CHECK(!result && err->status == SKMT_ERR_ARGUMENT);
    return 0;
}

static void refused_by_a_session(struct desk *d)
{
    skmt_options *o = any_language("sk1");
    skmt_result *r;
    skmt_session *s;
    skmt_error e;

    if (CHECK(!skmt_session_new(&s, d->model, NULL, &e)))
        REFUSED(skmt_session_use(s, d->tm, NULL, &why));
    skmt_session_free(s);
    if (CHECK(!skmt_session_new(&s, d->model, o, &e)) &&
        CHECK(!skmt_session_use(s, d->tm, NULL, &e)) &&
        CHECK(!skmt_session_translate(s, "and of the", NULL, &r, &e))) {
        CHECK_STR(skmt_result_text(r, 0), "french");
        skmt_result_free(r);
    }
    skmt_session_free(s);
    skmt_options_free(o);
}

static void refused_by_a_stream(struct desk *d)
{
    skmt_stream *s;
    skmt_error e;

    if (CHECK(!skmt_stream_new(&s, d->model, NULL, no_result, NULL, &e)))
        REFUSED(skmt_stream_use(s, d->tm, NULL, &why));
    skmt_stream_free(s);
}

static void refused_by_a_service(struct desk *d)
{
    skmt_service *s;
    skmt_request *q;
    skmt_error e;

    if (!CHECK(!skmt_service_new(&s, d->model, NULL, &e))) return;
    if (CHECK(!skmt_request_new(&q, "and of the", &e))) {
        skmt_request_use(q, d->tm, NULL);
        CHECK(!skmt_service_submit(s, q, 0, &e));
        REFUSED(skmt_request_wait(q, &why));
    }
    skmt_request_free(q);
    skmt_service_free(s);
}

static void refused_for_keys(struct desk *d)
{
    skmt_options *o = any_language("sk1");
    skmt_keys *k;
    skmt_error e;
    int64_t n;

    if (CHECK(!skmt_keys_new(&k, d->model, o, NULL, &e))) {
        REFUSED(skmt_keys_warm(k, d->tm, NULL, &n, &why));
        CHECK(!skmt_keys_warm(k, d->tm, o, &n, &e) && n == 1);
    }
    skmt_keys_free(k);
    skmt_options_free(o);
}

static void refused_by_a_datastore(struct desk *d)
{
    skmt_datastore_maker *m;
    char path[64];
    skmt_error e;

    snprintf(path, sizeof path, "%s/a.knn", d->dir.dir);
    if (!CHECK(!skmt_datastore_maker_new(&m, d->model, &e))) return;
    REFUSED(skmt_datastore_maker_build(m, path, d->tm, &why));
    CHECK(access(path, F_OK));
    CHECK(!skmt_datastore_maker_set(m, "any-language", "yes", &e));
    CHECK(!skmt_datastore_maker_build(m, path, d->tm, &e));
    skmt_datastore_maker_free(m);
}

TEST(a_memory_of_other_languages_is_refused)
{
    struct desk d;

    desk_open(&d);
    make_memory(&d, "french", "fr", "en");
    refused_by_a_session(&d);
    refused_by_a_stream(&d);
    refused_by_a_service(&d);
    refused_for_keys(&d);
    refused_by_a_datastore(&d);
    REFUSED(skmt_tm_use_with(d.tm, d.model, NULL, 0, NULL, &why));
    desk_close(&d);
}

/* ---- files with several memories ----------------------------------------- */

/* What a session that uses d->tm says to "and of the". */
static const char *translated(struct desk *d)
{
    static char text[100];
    skmt_result *r = NULL;
    skmt_session *s;
    skmt_error err;

    strcpy(text, "error");
    OK(skmt_session_new(&s, d->model, NULL, &err));
    if (!skmt_session_use(s, d->tm, NULL, &err) &&
        !skmt_session_translate(s, "and of the", NULL, &r, &err))
        snprintf(text, sizeof text, "%s", skmt_result_text(r, 0));
    skmt_result_free(r);
    skmt_session_free(s);
    return text;
}

TEST(memories_that_fit_are_chosen)
{
    static const char *const french = "french", *const german = "german";
    struct desk d;
    skmt_error err;

    desk_open(&d);
    OK(skmt_tm_use_with(d.tm, d.model, NULL, 0, NULL, &err));   /* none yet */
    make_memory(&d, "french", "fr", "en");
    make_memory(&d, "back", "en", "de");
    CHECK_INT(skmt_tm_use_with(d.tm, d.model, NULL, 0, NULL, &err),
              SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "no memory is from de to en"));

    make_memory(&d, "german", "deu_Latn", "eng");
    OK(skmt_tm_use_with(d.tm, d.model, NULL, 0, NULL, &err));
    CHECK_STR(translated(&d), "german");
    REFUSED(skmt_tm_use_with(d.tm, d.model, &french, 1, NULL, &why));
    CHECK_STR(translated(&d), "german");                /* nothing changed */
    OK(skmt_tm_use_with(d.tm, d.model, &german, 1, NULL, &err));
    CHECK_STR(translated(&d), "german");

    /* The languages of a memory may change while it is used. */
    OK(skmt_tm_set(d.tm, "german", "source-lang", "fr", &err));
    CHECK_STR(translated(&d), "error");
    OK(skmt_tm_set(d.tm, "german", "source-lang", "", &err));
    CHECK_STR(translated(&d), "german");
    OK(skmt_tm_use(d.tm, NULL, 0, &err));
    CHECK_STR(translated(&d), "error");
    desk_close(&d);
}

/* Memories that are made later are used if they fit. */
TEST(later_memories_are_used_if_they_fit)
{
    struct desk d;
    skmt_error err;

    desk_open(&d);
    OK(skmt_tm_use_with(d.tm, d.model, NULL, 0, NULL, &err));
    make_memory(&d, "french", "fr", "en");
    make_memory(&d, "german", "de", "en");
    CHECK_STR(translated(&d), "german");
    desk_close(&d);
}
