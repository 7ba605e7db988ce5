/* test_translate_call.c - translates texts of calls without HTTP: lines and
 * white space, languages, options, limits, calls that are stopped, and calls
 * that share lines. The reference is a session with the same options. */
#include "server/translate_call.h"

#include <pthread.h>
#include <time.h>

#include "golden.h"
#include "scratch_dir.h"
#include "server/access.h"
#include "server/call_internal.h"
#include "server/languages.h"
#include "server/line_cut.h"
#include "server/models.h"
#include "server/server.h"
#include "server/settings.h"
#include "server/work.h"
#include "test.h"

/* ---- a server without HTTP ---------------------------------------------- */

struct bench_server {
    struct scratch dir;
    struct settings settings;
    struct server server;
    struct account *account;
    skmt_session *session;      /* the reference */
    skmt_tm *tm;
    bool open;
};

static bool bench_open_parts(struct bench_server *b)
{
    struct work_limits limits = work_limits_of(&b->settings);
    struct server *s = &b->server;
    const struct served_model *m;
    skmt_error err;
    int wait;

    if (!CHECK(!models_open(&s->models, &b->settings))
        || !CHECK(!accounts_open(&s->accounts, &b->settings, &err))
        || !CHECK(!work_new(&s->work, &limits, b->settings.threads, &err)))
        return false;
    m = models_get(s->models, 0);
    return CHECK(!access_enter(s->accounts, NULL,
                               (struct sockaddr *)(void *)&b->settings.address,
                               &b->account, &wait))
           && CHECK(!skmt_tm_open(&b->tm, b->settings.memory, SKMT_TM_CREATE,
                                  &err))
           && CHECK(!skmt_session_new(&b->session, m->model,
                                      b->settings.options, &err))
           && CHECK(!skmt_session_use(b->session, b->tm, NULL, &err));
}

static bool bench_open(struct bench_server *b)
{
    char memory[256];
    char *argv[] = { "serve", "-m", SHIPPED_MODEL, "-M", memory, "--threads",
                     "1", "--max-text", "20000", "--max-texts", "40", NULL };

    memset(b, 0, sizeof *b);
    if (access(SHIPPED_MODEL, R_OK) || !CHECK(scratch_make(&b->dir)))
        return false;
    snprintf(memory, sizeof memory, "%s", scratch_path(&b->dir, "my.tm"));
    if (!CHECK(!settings_read(&b->settings, (int)COUNT(argv) - 1, argv)))
        return false;
    b->server.settings = &b->settings;
    b->open = bench_open_parts(b);
    return b->open;
}

static void bench_close(struct bench_server *b)
{
    struct work_state st;

    if (!b->open) return;
    /* Nothing may be left behind. */
    st = work_get_state(b->server.work);
    CHECK_INT(st.texts, 0);
    CHECK_INT(st.bytes, 0);
    CHECK_INT(st.in_services, 0);
    CHECK_INT(flights_live(work_flights(b->server.work)), 0);
    CHECK_INT(models_service_stat(b->server.models, "live"), 0);
    skmt_session_free(b->session);
    skmt_tm_close(b->tm);
    models_close(b->server.models);
    work_free(b->server.work);
    access_release(b->account);
    accounts_close(b->server.accounts);
    settings_release(&b->settings);
    scratch_remove(&b->dir);
}

#define BENCH(b)                                                              \
    struct bench_server b;                                                    \
    if (!bench_open(&b)) SKIP("no " SHIPPED_MODEL)

static struct call *bench_call(struct bench_server *b)
{
    struct call *c = call_new(&b->server);

    c->account = b->account;
    c->routing.api = &api_own;
    return c;
}

/* The account belongs to the server. */
static void bench_end(struct call *c)
{
    c->account = NULL;
    call_release(c);
}

/* Translates one text; NULL after a failure. */
static char *bench_translate(struct bench_server *b, const struct wish *w,
                             const char *text, int *failed)
{
    struct call *c = bench_call(b);
    struct answer a;
    char *out = NULL;

    if (answer_texts(c, w, &text, 1, &a)) {
        out = strdup(a.texts[0].alternatives[0].text);
        answer_release(&a);
    }
    if (failed) *failed = c->failed;
    bench_end(c);
    return out;
}

/* What a session gives for a line. */
static char *bench_expect(struct bench_server *b, const char *line)
{
    skmt_result *r;
    skmt_error err;
    char *out;

    if (!CHECK(!skmt_session_translate(b->session, line, NULL, &r, &err)))
        return strdup("");
    out = strdup(skmt_result_text(r, 0));
    skmt_result_free(r);
    return out;
}

static void bench_check(struct bench_server *b, const char *text,
                        const char *want)
{
    struct wish w = { .source = "de", .target = "en" };
    char *got = bench_translate(b, &w, text, NULL);

    CHECK_STR(got ? got : "(failed)", want);
    free(got);
}

/* ---- lines -------------------------------------------------------------- */

TEST(call_cuts_lines)
{
    static const struct { const char *text, *lines; } cases[] = {
        { "", "" }, { " \n\t\r\n\xC2\xA0\xE3\x80\x80", "" }, { "a", "a|" },
        { " a b \r\n\n c\n", "a b|c|" }, { "\xEF\xBB\xBFx\xE2\x80\xA8", "x|" },
        { "\n\na", "a|" }, { "\xFF a", "\xFF a|" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char got[64] = "";
        size_t at = 0, len = strlen(cases[i].text);
        struct cut_line l;

        while (line_cut(cases[i].text, len, &at, &l))
            snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s|",
                     (int)(l.end - l.begin), cases[i].text + l.begin);
        CHECK_STR(got, cases[i].lines);
    }
    CHECK(has_letters("1 a", 3) && has_letters("\xE4\xB8\xAD", 3));
    CHECK(!has_letters("12:30 - 5 %", 11));
    CHECK(!has_letters("\xF0\x9F\x98\x80", 4));
    CHECK(has_letters("\xC3\x84", 2) && !has_letters("", 0));
}

TEST(call_keeps_white_space)
{
    BENCH(b);
    char *one = bench_expect(&b, "Guten Morgen!");
    char *two = bench_expect(&b, "Das Haus ist rot. Der Hund bellt.");
    char want[512];

    bench_check(&b, "Guten Morgen!", one);
    snprintf(want, sizeof want, "\n  %s \r\n\n\t\n12:30 - 14:00\n%s\n\n", one,
             two);
    bench_check(&b, "\n  Guten Morgen! \r\n\n\t\n12:30 - 14:00\n"
                "Das Haus ist rot. Der Hund bellt.\n\n", want);
    bench_check(&b, "", "");
    bench_check(&b, " \n ", " \n ");
    bench_check(&b, "[X12X]", "[X12X]");
    free(one);
    free(two);
    bench_close(&b);
}

TEST(call_uses_the_memory)
{
    BENCH(b);
    static const char *const texts[] = { "Der Motor ist kaputt.",
                                         "Der Motor ist heute kaputt." };
    struct call *c = bench_call(&b);
    struct wish w = { .target = "en", .explain = true };
    struct answer a;
    skmt_error err;

    CHECK(!skmt_tm_add(b.tm, NULL, texts[0], "The drive unit is defective.",
                       NULL, &err));
    if (CHECK(answer_texts(c, &w, texts, 2, &a))) {
        char *want = bench_expect(&b, texts[1]);

        CHECK_STR(a.texts[0].alternatives[0].text,
                  "The drive unit is defective.");
        CHECK_NEAR(a.texts[0].exact, 1, 0);
        CHECK_NEAR(a.texts[0].similarity, 1, 0);
        CHECK_STR(a.texts[1].alternatives[0].text, want);
        CHECK_NEAR(a.texts[1].exact, 0, 0);
        CHECK(a.texts[1].similarity > 0.5 && a.texts[1].similarity < 1);
        CHECK(a.texts[0].detected);
        CHECK_STR(a.texts[0].source, "de");
        CHECK(a.texts[1].lines[0].result != NULL);
        free(want);
        answer_release(&a);
    }
    bench_end(c);
    bench_close(&b);
}

/* ---- alternatives ------------------------------------------------------- */

TEST(call_gives_alternatives)
{
    BENCH(b);
    static const char *const text = "Das Haus ist rot.\nDer Hund ist heute "
                                    "sehr laut.";
    struct call *c = bench_call(&b);
    struct wish w = { .target = "en", .nbest = 4, .explain = true };
    struct answer a;

    if (CHECK(answer_texts(c, &w, &text, 1, &a))) {
        const struct text_answer *t = &a.texts[0];

        CHECK_INT(t->n, 4);
        CHECK_INT(t->n_lines, 2);
        for (int i = 0; i < t->n; i++)
            for (int k = 0; k < i; k++) {
                CHECK(strcmp(t->alternatives[i].text,
                             t->alternatives[k].text) != 0);
                CHECK(t->alternatives[i].score <= t->alternatives[k].score);
            }
        for (int i = 0; i < t->n_lines; i++) {
            const struct line_result *l = &t->lines[i];
            const char *want = skmt_result_text(l->result, 0);

            CHECK_INT(l->out_end - l->out_begin, strlen(want));
            CHECK_MEM(t->alternatives[0].text + l->out_begin, want,
                      strlen(want));
        }
        answer_release(&a);
    }
    bench_end(c);
    bench_close(&b);
}

TEST(call_keeps_prefixes)
{
    BENCH(b);
    static const char *const texts[] = { "Das Haus ist rot.", "Guten Tag!",
                                         "Guten Tag!" };
    static const char *const prefixes[] = { "The building", NULL, "Welc" };
    struct call *c = bench_call(&b);
    struct wish w = { .target = "en" };
    struct answer a;

    if (CHECK(answer_prefixes(c, &w, texts, prefixes, 3, &a))) {
        CHECK(!strncmp(a.texts[0].alternatives[0].text, "The building", 12));
        CHECK(strncmp(a.texts[1].alternatives[0].text, "Welc", 4) != 0);
        CHECK(!strncmp(a.texts[2].alternatives[0].text, "Welc", 4));
        answer_release(&a);
    }
    bench_end(c);
    bench_close(&b);
}

/* ---- what is refused ---------------------------------------------------- */

static void check_refused(struct bench_server *b, struct wish w,
                          const char *text, enum fail_kind kind)
{
    int failed;
    char *got = bench_translate(b, &w, text, &failed);

    if (got || failed != (int)kind)
        test_fail(__FILE__, __LINE__, "%s to %s: failure %d, want %d",
                  w.source ? w.source : "auto", w.target, failed, (int)kind);
    free(got);
}

TEST(call_refuses)
{
    BENCH(b);
    static const struct { const char *source, *target; } wrong[] = {
        { "zz", "en" }, { "de", "zz" }, { "en", "de" }, { "de", "de" },
        { "fr", "en" }, { "de", "fr" }, { "deutsch", "en" },
    };
    static const char *const options[] = { "{\"beam\":-1}", "{\"threads\":4}",
        "{\"trust\":\"x\"}", "{\"x\":1}", "{\"beam\":[]}",
        "{\"key-cache\":\"1G\"}" };
    char *longer = malloc(20002);

    for (size_t i = 0; i < COUNT(wrong); i++)
        check_refused(&b, (struct wish){ .source = wrong[i].source,
                                         .target = wrong[i].target },
                      "Haus", FAIL_LANGUAGE);
    for (size_t i = 0; i < COUNT(options); i++) {
        json_t *o = json_loads(options[i], 0, NULL);

        check_refused(&b, (struct wish){ .target = "en", .options = o },
                      "Haus", FAIL_ARGUMENT);
        json_decref(o);
    }
    memset(longer, 'a', 20001);
    longer[20001] = 0;
    check_refused(&b, (struct wish){ .target = "en" }, longer,
                  FAIL_TEXT_LIMIT);
    check_refused(&b, (struct wish){ .target = "en", .nbest = 1000 }, "Haus",
                  FAIL_ARGUMENT);
    check_refused(&b, (struct wish){ .target = "en", .prefix = "a" }, "a\nb",
                  FAIL_ARGUMENT);
    check_refused(&b, (struct wish){ .target = "en" }, "a\xFFz",
                  FAIL_ARGUMENT);
    free(longer);
    bench_close(&b);
}

/* A client may write languages and options in other ways. */
TEST(call_understands)
{
    BENCH(b);
    json_t *options = json_loads("{\"beam\":1,\"lenpen\":0.5,\"early-stop\":"
                                 "true,\"preset\":\"paper-sk1\"}", 0, NULL);
    static const char *const pairs[][2] = { { "de_DE", "EN" }, { "DEU", "eng" },
        { "ger", "en-GB" }, { "auto", "en_US" }, { "", "en" }, { NULL, NULL } };

    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct wish w = { .source = pairs[i][0], .target = pairs[i][1],
                          .options = i ? NULL : options };
        char *got = bench_translate(&b, &w, "Das Haus ist rot.", NULL);

        CHECK_STR(got ? got : "(failed)", "The house is red.");
        free(got);
    }
    json_decref(options);
    bench_close(&b);
}

/* ---- calls that are stopped --------------------------------------------- */

/* A text that takes seconds. `number` makes it different from others. */
static char *slow_text(int number)
{
    char *text = malloc(20000);
    size_t n = 0;

    for (int i = 0; i < 150; i++)
        n += (size_t)snprintf(text + n, 20000 - n, "Der Hund %d hat gestern "
                              "%d rote Häuser am Fluss gesehen, weil es so "
                              "schön war.\n", number, i);
    return text;
}

/* Longer than a test takes with sanitizers. */
enum { NO_DEADLINE = 3600000 };

struct runner {
    pthread_t thread;
    struct bench_server *b;
    struct call *call;
    struct wish wish;
    const char *text;
    char *got;
};

static void *runner_run(void *arg)
{
    struct runner *r = arg;
    struct answer a;

    if (answer_texts(r->call, &r->wish, &r->text, 1, &a)) {
        r->got = strdup(a.texts[0].alternatives[0].text);
        answer_release(&a);
    }
    return NULL;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void runner_start(struct runner *r, struct bench_server *b,
                         struct wish w, const char *text)
{
    *r = (struct runner){ .b = b, .call = bench_call(b), .wish = w,
                          .text = text };
    CHECK(!pthread_create(&r->thread, NULL, runner_run, r));
}

/* Waits until a call has lines in the services. */
static void wait_until_busy(struct bench_server *b)
{
    while (work_get_state(b->server.work).in_services == 0) pause_ms(1);
}

static void runner_join(struct runner *r)
{
    pthread_join(r->thread, NULL);
}

static void runner_end(struct runner *r)
{
    free(r->got);
    bench_end(r->call);
}

TEST(call_ends_with_its_client)
{
    BENCH(b);
    char *text = slow_text(1);
    struct runner r;

    runner_start(&r, &b, (struct wish){ .target = "en",
                                        .deadline_ms = NO_DEADLINE }, text);
    wait_until_busy(&b);
    call_cancel(r.call, true);
    runner_join(&r);
    CHECK(!r.got);
    CHECK_INT(work_get_state(b.server.work).texts, 0);
    runner_end(&r);
    free(text);
    bench_close(&b);
}

TEST(call_ends_at_its_deadline)
{
    BENCH(b);
    char *text = slow_text(1);
    int failed;
    struct wish w = { .target = "en", .deadline_ms = 100 };
    char *got = bench_translate(&b, &w, text, &failed);

    CHECK(!got);
    CHECK_INT(failed, FAIL_BUSY);
    free(text);
    bench_close(&b);
}

TEST(call_is_replaced)
{
    BENCH(b);
    char *text = slow_text(1);
    struct wish w = { .target = "en", .replaces = "segment 7",
                      .deadline_ms = NO_DEADLINE, .wait_ms = NO_DEADLINE };
    struct wish other = { .target = "en", .replaces = "segment 8",
                          .deadline_ms = NO_DEADLINE, .wait_ms = NO_DEADLINE };
    struct runner r;
    char *got[2];

    runner_start(&r, &b, w, text);
    wait_until_busy(&b);
    got[0] = bench_translate(&b, &other, "Das Haus ist rot.", NULL);
    CHECK_INT(r.call->failed, -1);
    got[1] = bench_translate(&b, &w, "Das Haus ist rot.", NULL);
    runner_join(&r);
    CHECK_INT(r.call->failed, FAIL_CONFLICT);
    CHECK_STR(got[0] ? got[0] : "", "The house is red.");
    CHECK_STR(got[1] ? got[1] : "", "The house is red.");
    free(got[0]);
    free(got[1]);
    runner_end(&r);
    free(text);
    bench_close(&b);
}

/* The second call shares the lines of the first. Its client goes away, but the
 * second one gets its answer. */
TEST(call_shares_lines)
{
    BENCH(b);
    char *text = slow_text(1);
    struct runner r[2];
    struct flights *all = work_flights(b.server.work);
    struct wish w = { .target = "en", .deadline_ms = NO_DEADLINE,
                      .wait_ms = NO_DEADLINE };
    char *again;

    runner_start(&r[0], &b, w, text);
    wait_until_busy(&b);
    runner_start(&r[1], &b, w, text);
    while (flights_joined(all) == 0) pause_ms(1);
    call_cancel(r[0].call, true);
    runner_join(&r[0]);
    CHECK(!r[0].got);
    runner_join(&r[1]);
    again = bench_translate(&b, &w, text, NULL);
    CHECK_STR(r[1].got ? r[1].got : "(failed)", again ? again : "");
    free(again);
    for (int i = 0; i < 2; i++) runner_end(&r[i]);
    free(text);
    bench_close(&b);
}

/* A small call is answered while a large one is translated. */
TEST(call_overtakes)
{
    BENCH(b);
    char *text = slow_text(1);
    struct runner r;
    struct wish w = { .target = "en" };
    char *got;

    w.wait_ms = NO_DEADLINE;
    runner_start(&r, &b, (struct wish){ .target = "en", .priority = -1,
                                        .deadline_ms = NO_DEADLINE }, text);
    wait_until_busy(&b);
    got = bench_translate(&b, &w, "Das Haus ist rot.", NULL);
    CHECK_STR(got ? got : "", "The house is red.");
    CHECK(work_get_state(b.server.work).texts > 0);
    call_cancel(r.call, true);
    runner_join(&r);
    runner_end(&r);
    free(got);
    free(text);
    bench_close(&b);
}

/* ---- many at once ------------------------------------------------------- */

enum { CROWD = 6, CROWD_TEXTS = 8 };

struct crowd {
    struct bench_server *b;
    char *texts[CROWD_TEXTS], *want[CROWD_TEXTS];
    atomic_int wrong, got, next;
};

/* Translates texts; some of the clients go away. */
static void *crowd_run(void *arg)
{
    struct crowd *d = arg;
    int number = atomic_fetch_add(&d->next, 1);

    for (int i = 0; i < 20; i++) {
        int k = (i * 5 + number) % CROWD_TEXTS;
        struct runner r;

        runner_start(&r, d->b, (struct wish){ .target = "en",
                                              .wait_ms = NO_DEADLINE,
                                              .deadline_ms = NO_DEADLINE },
                     d->texts[k]);
        if (i % 4 == 3) {
            pause_ms(number);
            call_cancel(r.call, true);
        }
        runner_join(&r);
        if (r.got && strcmp(r.got, d->want[k])) d->wrong++;
        if (r.got) d->got++;
        else if (i % 4 != 3) d->wrong++;
        runner_end(&r);
    }
    return NULL;
}

TEST(call_crowd)
{
    BENCH(b);
    struct crowd d = { .b = &b };
    pthread_t threads[CROWD];

    for (int i = 0; i < CROWD_TEXTS; i++) {
        d.texts[i] = malloc(128);
        snprintf(d.texts[i], 128, "Der Hund hat %d Häuser gesehen, aber nicht "
                 "das rote Haus am Fluss %d.", i, i);
        d.want[i] = bench_expect(&b, d.texts[i]);
    }
    for (int i = 0; i < CROWD; i++)
        CHECK(!pthread_create(&threads[i], NULL, crowd_run, &d));
    for (int i = 0; i < CROWD; i++) pthread_join(threads[i], NULL);
    CHECK_INT(d.wrong, 0);
    CHECK(d.got >= CROWD * 15);
    for (int i = 0; i < CROWD_TEXTS; i++) {
        free(d.texts[i]);
        free(d.want[i]);
    }
    bench_close(&b);
}

/* ---- the queue ---------------------------------------------------------- */

static struct work *small_queue(void)
{
    struct work_limits l = { .max_texts = 10, .max_text = 100,
                             .queue_bytes = 1000, .queue_lines = 10,
                             .large_bytes = 500, .lanes = 2 };
    struct work *w;
    skmt_error err;

    return CHECK(!work_new(&w, &l, 1, &err)) ? w : NULL;
}

TEST(queue_is_bounded)
{
    struct work *w = small_queue();
    struct work_ticket a, b, c;
    struct failure f;

    REQUIRE(w != NULL);
    CHECK(work_admit(w, WORK_INTERACTIVE, 1, 2000, 1000, &a, &f));
    CHECK(!work_admit(w, WORK_INTERACTIVE, 1, 1, 1000, &b, &f));
    CHECK_INT(f.kind, FAIL_BUSY);
    CHECK(f.retry_after >= 1);
    CHECK(work_admit(w, WORK_BACKGROUND, 10, 10, 1000, &b, &f));
    CHECK(!work_admit(w, WORK_BACKGROUND, 1, 1, 1000, &c, &f));
    CHECK_INT(work_get_state(w).texts, 11);
    CHECK_INT(work_get_state(w).refused, 2);
    work_end(w, &a);
    CHECK(work_admit(w, WORK_INTERACTIVE, 1, 1, 1000, &a, &f));
    work_end(w, &a);
    work_end(w, &b);
    CHECK_INT(work_get_state(w).bytes, 0);
    work_free(w);
}

/* Two lines a lane; the background has half a batch while others wait. */
TEST(queue_has_classes)
{
    struct work *w = small_queue();
    struct work_ticket a, b;
    struct failure f;
    atomic_bool stop = true;

    REQUIRE(w != NULL);
    CHECK(work_admit(w, WORK_INTERACTIVE, 10, 100, 1000, &a, &f));
    CHECK(work_admit(w, WORK_BACKGROUND, 10, 100, 1000, &b, &f));
    for (int i = 0; i < 4; i++) CHECK(work_try_enter(w, &b, 10));
    CHECK(!work_try_enter(w, &b, 10));
    CHECK(!work_enter(w, &b, 10, &stop, flight_clock() + 1));
    CHECK(work_try_enter(w, &a, 10));
    for (int i = 0; i < 3; i++) work_leave(w, WORK_BACKGROUND, 10, true);
    CHECK(!work_try_enter(w, &b, 10));  /* one inside: half of two lanes */
    work_leave(w, WORK_INTERACTIVE, 10, true);
    CHECK(work_try_enter(w, &b, 10));
    for (int i = 0; i < 2; i++) work_leave(w, WORK_BACKGROUND, 10, true);
    work_end(w, &a);
    work_end(w, &b);
    CHECK_INT(work_get_state(w).texts, 0);
    CHECK_INT(work_get_state(w).bytes, 0);
    work_free(w);
}

/* 100 bytes a line, and a line every 100 ms: at most 1000 bytes a second. */
TEST(queue_measures_its_speed)
{
    struct work *w = small_queue();
    struct work_ticket a, b, c;
    struct failure f;
    double speed;

    REQUIRE(w != NULL);
    CHECK(work_admit(w, WORK_INTERACTIVE, 13, 1300, 1000, &a, &f));
    CHECK_NEAR(work_expected_wait(w, WORK_INTERACTIVE, 100), 0, 0);
    for (int i = 0; i < 3; i++) CHECK(work_try_enter(w, &a, 100));
    for (int i = 0; i < 10; i++) {
        pause_ms(110);
        work_leave(w, WORK_INTERACTIVE, 100, true);
        CHECK(work_try_enter(w, &a, 100));
    }
    speed = work_get_state(w).bytes_per_second;
    CHECK(speed > 0 && speed <= 1000);
    CHECK_NEAR(work_expected_wait(w, WORK_INTERACTIVE, 100), 300 / speed,
               1e-9);
    CHECK(work_admit(w, WORK_INTERACTIVE, 1, 600, 100000, &c, &f));
    CHECK_NEAR(work_expected_wait(w, WORK_INTERACTIVE, 100), 400 / speed,
               1e-9);
    CHECK_NEAR(work_expected_wait(w, WORK_BACKGROUND, 100), 900 / speed,
               1e-9);
    work_end(w, &c);
    CHECK(!work_admit(w, WORK_INTERACTIVE, 1, 100, 1, &b, &f));
    CHECK_INT(f.kind, FAIL_BUSY);
    CHECK(work_admit(w, WORK_INTERACTIVE, 1, 100,
                     (int64_t)(1000 * 300 / speed) + 1, &b, &f));
    for (int i = 0; i < 3; i++) work_leave(w, WORK_INTERACTIVE, 100, true);
    work_end(w, &a);
    work_end(w, &b);
    work_free(w);
}
