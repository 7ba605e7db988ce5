/* test_stream.c - tests that a stream with several threads delivers its results
 * in order.
 *
 * A session first translates each text. The stream must deliver the same bytes,
 * one callback at a time, in the order in which the texts were pushed.
 * tests/long/memory_tsan.sh runs this test with ThreadSanitizer. */
#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "tiny_net.h"

enum { N_TEXTS = 60 };

struct corpus {
    struct tiny_net m;
    struct engine *en;
    char *text[N_TEXTS];        /* some are blank or invalid */
    char *want[N_TEXTS];        /* NULL if an error is expected */
    int tokens, sentences;      /* of all texts */
};

static struct options options(int threads)
{
    struct options o;

    options_defaults(&o);
    o.threads = threads;
    o.beam = 2;
    o.batch = 3;
    o.max_len_a = 0.3;
    o.max_len_b = 4;
    return o;
}

static char *make_text(int i, uint64_t *s)
{
    static const char *const words[] = { "the", "in", "and", "of", "is.",
        "three", "Sch\xc3\xb6n", "ing,", "x", "a! Then" };
    char *t = calloc(1, 400);
    int n = 1 + (int)(tiny_next(s) % 14);

    if (i % 7 == 3) return t;                           /* blank */
    if (i % 11 == 5) return strcpy(t, "in the \xff of");        /* invalid */
    if (i % 13 == 8) return strcpy(t, " \t \r");
    for (int k = 0; k < n; k++) {
        if (k) strcat(t, " ");
        strcat(t, words[tiny_next(s) % COUNT(words)]);
    }
    return t;
}

/* Translates text i with a session and stores the result in c->want. */
static void find_want(struct corpus *c, struct session *s, int i)
{
    struct session_text q = { .text = c->text[i], .len = strlen(c->text[i]) };
    struct err e;

    if (session_run(s, &q, 1, &e)) return;
    c->want[i] = strdup(q.result->hyps[0].text);
    c->tokens += q.result->tokens;
    c->sentences += q.result->n_sentences;
    result_free(q.result);
}

static bool corpus_open(struct corpus *c)
{
    struct tiny o = TINY_DEFAULT;
    struct options so = options(1);
    struct session *s;
    struct err e;
    uint64_t seed = 9;

    memset(c, 0, sizeof *c);
    o.enc_layers = o.dec_layers = 1;
    if (!tiny_net_write(&c->m, &o, DT_I8) ||
        !CHECK_OK(engine_open(&c->en, tiny_net_file(&c->m, "m.skmt"), &e),
                  &e) ||
        !CHECK_OK(session_new(&s, c->en, &so, &e), &e))
        return false;
    for (int i = 0; i < N_TEXTS; i++) {
        c->text[i] = make_text(i, &seed);
        find_want(c, s, i);
    }
    session_free(s);
    return true;
}

static void corpus_close(struct corpus *c)
{
    for (int i = 0; i < N_TEXTS; i++) {
        free(c->text[i]);
        free(c->want[i]);
    }
    engine_close(c->en);
    tiny_net_close(&c->m);
}

/* ---- delivery -------------------------------------------------------- */

struct taker {
    const struct corpus *c;
    atomic_int inside;          /* callbacks running now */
    atomic_int seen;
    int stop_after;             /* cancel after this many; 0 for never */
    int slow_us;
};

static int take(void *user, uint64_t number, struct result *r,
                const struct err *e)
{
    struct taker *t = user;
    int i = atomic_load(&t->seen) % N_TEXTS;
    const char *want = t->c->want[i];

    CHECK_INT(atomic_fetch_add(&t->inside, 1), 0);
    CHECK_INT(number, atomic_load(&t->seen));
    CHECK_INT(r != NULL, want != NULL);
    if (r && want) CHECK_STR(r->hyps[0].text, want);
    if (!r) {
        CHECK_INT(e->status, ST_TEXT);
        CHECK_STR(e->msg, "byte 8 is not valid UTF-8 (0xFF)");
    }
    if (t->slow_us) usleep((useconds_t)t->slow_us);
    atomic_fetch_add(&t->seen, 1);
    atomic_fetch_sub(&t->inside, 1);
    return t->stop_after && atomic_load(&t->seen) >= t->stop_after;
}

static enum status push_all(struct stream *s, const struct corpus *c,
                            struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < N_TEXTS && !st; i++)
        st = stream_push(s, c->text[i], strlen(c->text[i]), NULL, e);
    return st;
}

static void check_order(const struct corpus *c, int threads, int slow_us)
{
    struct options o = options(threads);
    struct taker t = { .c = c, .slow_us = slow_us };
    struct stream *s;
    struct err e;
    uint64_t texts, sentences, tokens;

    REQUIRE_OK(stream_new(&s, c->en, &o, take, &t, &e), &e);
    for (int turn = 1; turn <= 2; turn++) {
        CHECK_OK(push_all(s, c, &e), &e);
        CHECK_OK(stream_flush(s, &e), &e);
        CHECK_INT(atomic_load(&t.seen), turn * N_TEXTS);
        stream_counts(s, &texts, &sentences, &tokens);
        CHECK_INT(texts, turn * N_TEXTS);
        CHECK_INT(sentences, turn * c->sentences);
        CHECK_INT(tokens, turn * c->tokens);
    }
    stream_counts(s, NULL, NULL, NULL);
    CHECK_OK(stream_flush(s, &e), &e);          /* nothing left to do */
    stream_free(s);
}

TEST(texts_come_back_in_order)
{
    struct corpus c;

    REQUIRE(corpus_open(&c));
    for (int threads = 1; threads <= 3; threads++)
        check_order(&c, threads, threads == 2 ? 200 : 0);
    corpus_close(&c);
}

/* With one long text at a time, idle threads help to compute its products. */
TEST(a_lone_text_with_many_threads)
{
    struct corpus c;
    struct options o = options(2);
    struct taker t = { .c = &c };
    struct stream *s;
    struct err e;

    REQUIRE(corpus_open(&c));
    REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(stream_push(s, c.text[i], strlen(c.text[i]), NULL, &e), &e);
        CHECK_OK(stream_flush(s, &e), &e);
        CHECK_INT(atomic_load(&t.seen), i + 1);
    }
    stream_free(s);
    corpus_close(&c);
}

/* Blank texts need no work, but they must be delivered. */
TEST(blank_texts_are_delivered)
{
    struct corpus c;
    struct options o = options(2);
    struct taker t = { .c = &c };
    struct stream *s;
    struct err e;

    REQUIRE(corpus_open(&c));
    for (int i = 0; i < N_TEXTS; i++) {
        free(c.want[i]);
        c.want[i] = strdup("");
    }
    REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
    for (int i = 0; i < 5000; i++)
        CHECK_OK(stream_push(s, "", 0, NULL, &e), &e);
    CHECK_OK(stream_flush(s, &e), &e);
    CHECK_INT(atomic_load(&t.seen), 5000);
    stream_free(s);
    corpus_close(&c);
}

TEST(a_prefix_applies_to_its_own_text_only)
{
    struct corpus c;
    struct options o = options(2);
    struct taker t = { .c = &c };
    struct stream *s;
    struct err e;
    uint64_t n;

    REQUIRE(corpus_open(&c));
    for (int i = 0; i < 2; i++) {
        struct session_text q = { .text = "the and in", .len = 10,
                             .prefix = i ? "the" : NULL };
        struct session *one;

        REQUIRE_OK(session_new(&one, c.en, &o, &e), &e);
        REQUIRE_OK(session_run(one, &q, 1, &e), &e);
        free(c.want[i]);
        c.want[i] = strdup(q.result->hyps[0].text);
        result_free(q.result);
        session_free(one);
    }
    CHECK(!strncmp(c.want[1], "the", 3));
    REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
    CHECK_OK(stream_push(s, "the and in", 10, NULL, &e), &e);
    CHECK_OK(stream_push(s, "the and in", 10, "the", &e), &e);
    CHECK_OK(stream_flush(s, &e), &e);
    stream_counts(s, &n, NULL, NULL);
    CHECK_INT(n, 2);
    stream_free(s);
    corpus_close(&c);
}

/* ---- cancellation ---------------------------------------------------- */

TEST(the_callback_can_cancel)
{
    struct corpus c;
    struct err e;

    REQUIRE(corpus_open(&c));
    for (int threads = 1; threads <= 3; threads++) {
        struct options o = options(threads);
        struct taker t = { .c = &c, .stop_after = 10 };
        struct stream *s;
        enum status st = ST_OK;

        REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
        for (int i = 0; i < 5 && !st; i++) st = push_all(s, &c, &e);
        if (!st) st = stream_flush(s, &e);
        CHECK_INT(st, ST_CANCELED);
        CHECK_INT(e.status, ST_CANCELED);
        CHECK_INT(atomic_load(&t.seen), 10);
        CHECK_INT(stream_push(s, "x", 1, NULL, &e), ST_CANCELED);
        CHECK_INT(stream_flush(s, &e), ST_CANCELED);
        stream_free(s);
        CHECK_INT(atomic_load(&t.seen), 10);
    }
    corpus_close(&c);
}

static void *cancel_soon(void *arg)
{
    usleep(3000);
    stream_cancel(arg);
    return NULL;
}

/* This thread pushes texts until another thread cancels the stream. */
TEST(another_thread_can_cancel)
{
    struct corpus c;
    struct err e;

    REQUIRE(corpus_open(&c));
    for (int threads = 1; threads <= 3; threads++) {
        struct options o = options(threads);
        struct taker t = { .c = &c };
        struct stream *s;
        pthread_t other;

        REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
        REQUIRE(!pthread_create(&other, NULL, cancel_soon, s));
        while (!push_all(s, &c, &e)) ;
        CHECK_INT(e.status, ST_CANCELED);
        pthread_join(other, NULL);
        stream_free(s);
    }
    corpus_close(&c);
}

/* This thread frees the stream as soon as it sees that another one cancels it,
 * which may not have returned yet. */
TEST(a_stream_can_be_freed_while_another_thread_cancels)
{
    struct corpus c;
    struct err e;

    REQUIRE(corpus_open(&c));
    for (int i = 0; i < 30; i++) {
        struct options o = options(1 + i % 2);
        struct taker t = { .c = &c };
        struct stream *s;
        pthread_t other;

        REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
        REQUIRE(!pthread_create(&other, NULL, cancel_soon, s));
        while (!push_all(s, &c, &e)) ;
        stream_free(s);
        pthread_join(other, NULL);
    }
    corpus_close(&c);
}

/* A stream is freed while texts are in it: they are dropped, and nothing hangs
 * or leaks. */
TEST(a_stream_can_be_freed_at_any_time)
{
    struct corpus c;
    struct err e;

    REQUIRE(corpus_open(&c));
    for (int i = 0; i < 12; i++) {
        struct options o = options(1 + i % 3);
        struct taker t = { .c = &c };
        struct stream *s;

        REQUIRE_OK(stream_new(&s, c.en, &o, take, &t, &e), &e);
        for (int k = 0; k < i * 3; k++)
            CHECK_OK(stream_push(s, c.text[k], strlen(c.text[k]), NULL, &e),
                     &e);
        if (i % 2) usleep(500);
        stream_free(s);
        CHECK(atomic_load(&t.seen) <= i * 3);
    }
    stream_free(NULL);
    corpus_close(&c);
}

/* ---- back-pressure --------------------------------------------------- */

struct held { pthread_mutex_t door; atomic_int seen; };

/* A callback that waits until the test unlocks the door. */
static int hold(void *user, uint64_t number, struct result *r,
                const struct err *e)
{
    struct held *h = user;

    (void)number;
    (void)r;
    (void)e;
    pthread_mutex_lock(&h->door);
    pthread_mutex_unlock(&h->door);
    atomic_fetch_add(&h->seen, 1);
    return 0;
}

struct pusher { struct stream *s; atomic_int pushed; int n; };

static void *push_many(void *arg)
{
    struct pusher *p = arg;
    struct err e;

    for (int i = 0; i < p->n; i++) {
        if (stream_push(p->s, "the and", 7, NULL, &e)) break;
        atomic_fetch_add(&p->pushed, 1);
    }
    return NULL;
}

/* While the callback waits, stream_push() must block after some texts; it
 * continues when the callback returns. */
TEST(push_blocks_while_many_texts_are_in_the_stream)
{
    struct corpus c;
    struct options o = options(1);
    struct held h = { PTHREAD_MUTEX_INITIALIZER, 0 };
    struct pusher p = { NULL, 0, 3000 };
    pthread_t thread;
    struct err e;
    int before, now = 0;

    o.batch = 1;
    REQUIRE(corpus_open(&c));
    REQUIRE_OK(stream_new(&p.s, c.en, &o, hold, &h, &e), &e);
    pthread_mutex_lock(&h.door);
    REQUIRE(!pthread_create(&thread, NULL, push_many, &p));
    do {
        before = now;
        usleep(30000);
        now = atomic_load(&p.pushed);
    } while (now != before || now == 0);
    CHECK(now < 200);
    pthread_mutex_unlock(&h.door);
    pthread_join(thread, NULL);
    CHECK_OK(stream_flush(p.s, &e), &e);
    CHECK_INT(atomic_load(&h.seen), 3000);
    stream_free(p.s);
    corpus_close(&c);
}

TEST(options_that_do_not_fit_are_refused)
{
    struct corpus c;
    struct options o = options(2);
    struct stream *s;
    struct err e;

    REQUIRE(corpus_open(&c));
    o.nbest = 5;
    CHECK_INT(stream_new(&s, c.en, &o, take, NULL, &e), ST_ARGUMENT);
    CHECK(s == NULL && strstr(e.msg, "nbest"));
    o.nbest = 1;
    o.max_source = 100000;
    CHECK_INT(stream_new(&s, c.en, &o, take, NULL, &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "max-source"));
    corpus_close(&c);
}
