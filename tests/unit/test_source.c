/* test_source.c - sources of pairs. One set of checks runs against the memory
 * file and against a toy source, and what uses sources gives the same results
 * with both. */
#include "engine/session.h"
#include "scratch_dir.h"
#include "tiny_net.h"
#include "tm/retrieve.h"
#include "tm/tmfile.h"
#include "toy_source.h"

enum kind { FILE_SOURCE, TOY_SOURCE, KINDS };
static const char *const memory_names[] = { "main", "second" };

struct subject {                /* a source and what is behind it */
    enum kind kind;
    struct scratch dir;
    struct tmfile *file;
    struct toy_source *toy;
    struct pair_source *source;
};

static bool make_memories(struct subject *s)
{
    const struct memory_info first = { .name = "main" };
    const struct memory_info second = { .name = "second", .priority = 1 };
    struct err e;

    return CHECK_OK(tmfile_create(s->file, &first, &e), &e) &&
           CHECK_OK(tmfile_create(s->file, &second, &e), &e);
}

static bool subject_open(struct subject *s, enum kind kind)
{
    struct err e;

    memset(s, 0, sizeof *s);
    s->kind = kind;
    if (!scratch_make(&s->dir)) return false;
    if (kind == TOY_SOURCE) {
        s->toy = toy_source_new(42);
        if (!CHECK(s->toy)) return false;
        s->source = toy_source_of(s->toy);
        return true;
    }
    if (!CHECK_OK(tmfile_open(&s->file, scratch_path(&s->dir, "a.tm"),
                              STORE_CREATE, &e), &e))
        return false;
    tmfile_relaxed(s->file, true);
    s->source = tmfile_source(s->file);
    return make_memories(s);
}

static void subject_close(struct subject *s)
{
    tmfile_close(s->file);
    toy_source_free(s->toy);
    scratch_remove(&s->dir);
}

/* Returns the number by which subject_remove knows the pair. */
static int64_t subject_add(struct subject *s, int memory, const char *source,
                           const char *target, bool tagged)
{
    struct unit u = { .source = str_of(source), .target = str_of(target),
                      .tagged = tagged };
    int64_t id = 0;
    struct err e;

    if (s->toy) return toy_source_add(s->toy, memory, source, target, tagged);
    CHECK_OK(tmfile_add(s->file, memory_names[memory], &u, &id, &e), &e);
    return id;
}

static void subject_remove(struct subject *s, int64_t id)
{
    struct err e;

    if (s->toy) toy_source_remove(s->toy, id);
    else CHECK_OK(tmfile_delete(s->file, id, &e), &e);
}

/* ---- what a source does -------------------------------------------------- */

static struct candidates find(struct subject *s, const char *text, size_t top)
{
    struct source_query q = { .text = str_of(text), .top = top };
    struct candidates c = { 0 };
    struct err e;

    CHECK_OK(source_find(s->source, &q, &c, &e), &e);
    CHECK(candidates_sound(&c));
    return c;
}

/* The targets of pairs, each followed by "|"; "-" stands for one that was not
 * found. */
struct notes { char text[400]; size_t calls; };

static enum status note_pair(void *user, size_t i, const struct source_pair *p,
                             struct err *e)
{
    struct str t = p->pair.unit.target;
    struct notes *n = user;

    (void)e;
    CHECK_INT(i, n->calls++);
    if (!p->found) t = str_of("-");
    sprintf(n->text + strlen(n->text), "%.*s|", (int)t.n, t.p);
    return ST_OK;
}

static const char *targets_of(struct subject *s, const struct candidates *c,
                              const struct candidate_list *l)
{
    static struct notes n;
    struct source_want w[16];
    struct err e;

    n = (struct notes){ 0 };
    for (size_t i = 0; i < l->n && i < COUNT(w); i++)
        w[i] = (struct source_want){ c->at[l->begin + i].id, FETCH_TEXTS };
    CHECK_OK(source_fetch(s->source, w, l->n, note_pair, &n, &e), &e);
    return n.text;
}

TEST(candidates_come_by_memory_best_first)
{
    for (enum kind k = 0; k < KINDS; k++) {
        struct candidates c;
        struct subject s;

        REQUIRE(subject_open(&s, k));
        subject_add(&s, 0, "rot und", "one", false);
        subject_add(&s, 0, "rot gelb", "two", false);
        subject_add(&s, 0, "rot gelb blau", "three", false);
        subject_add(&s, 0, "schwarz", "none", false);
        subject_add(&s, 1, "blau gelb", "other", false);
        c = find(&s, "rot gelb blau", 2);
        REQUIRE(c.n_lists == 2);
        CHECK_STR(targets_of(&s, &c, &c.lists[0]), "three|two|");
        CHECK_STR(targets_of(&s, &c, &c.lists[1]), "other|");
        CHECK_STR(c.lists[0].memory->name, "main");
        CHECK_STR(c.lists[1].memory->name, "second");
        CHECK_INT(c.lists[1].memory->priority, 1);
        CHECK(c.lists[0].rank == 0 && c.at[0].score > c.at[1].score);
        candidates_release(&c);
        c = find(&s, "weiß", 2);
        CHECK(c.n_lists == 2 && c.n == 0);
        candidates_release(&c);
        subject_close(&s);
    }
}

struct record_check { int64_t pair; enum status answer; int calls; };

static enum status check_record(void *user, size_t i,
                                const struct source_pair *p, struct err *e)
{
    struct record_check *c = user;

    CHECK(i == 0 && p->found && !p->pair.unit.tagged);
    CHECK(str_eq(p->pair.unit.source, str_of("rot gelb")));
    CHECK(p->memory && !strcmp(p->memory->name, "second"));
    CHECK_INT(p->pair.id, c->pair);
    CHECK_INT(p->occurrences, 1);
    CHECK_INT(p->confirmed.pair, c->pair);
    CHECK(p->confirmed.time > 0);
    c->calls++;
    return c->answer ? err_set(e, c->answer, "enough") : ST_OK;
}

TEST(a_fetch_has_the_parts_that_were_asked_for)
{
    for (enum kind k = 0; k < KINDS; k++) {
        struct record_check check = { 0 };
        struct source_want w[3];
        struct notes n = { 0 };
        struct candidates c;
        struct subject s;
        int64_t gone;
        struct err e;

        REQUIRE(subject_open(&s, k));
        check.pair = subject_add(&s, 1, "rot gelb", "two", false);
        gone = subject_add(&s, 1, "rot", "gone", false);
        c = find(&s, "rot gelb", 5);
        REQUIRE(c.n == 2);
        w[0] = (struct source_want){ c.at[0].id,
                                     FETCH_RECORD | FETCH_CONFIRMED };
        w[1] = (struct source_want){ c.at[1].id, FETCH_TEXTS };
        w[2] = w[0];
        subject_remove(&s, gone);
        CHECK_OK(source_fetch(s.source, w, 3, note_pair, &n, &e), &e);
        CHECK_STR(n.text, "two|-|two|");
        CHECK_OK(source_fetch(s.source, w, 1, check_record, &check, &e), &e);
        check.answer = ST_LIMIT;
        CHECK_INT(source_fetch(s.source, w, 3, check_record, &check, &e),
                  ST_LIMIT);
        CHECK_INT(check.calls, 2);
        CHECK_STR(e.msg, "enough");
        for (unsigned i = 0; i < 8; i++) {      /* a removed pair */
            w[1].parts = i ? i : FETCH_TEXTS;
            n = (struct notes){ 0 };
            CHECK_OK(source_fetch(s.source, &w[1], 1, note_pair, &n, &e), &e);
            CHECK_STR(n.text, "-|");
        }
        candidates_release(&c);
        subject_close(&s);
    }
}

struct heard { int n_added, n_removed; int64_t last; };

static int hear(void *user, const struct source_change *c)
{
    struct heard *h = user;

    *(c->removed ? &h->n_removed : &h->n_added) += 1;
    h->last = c->id;
    return 0;
}

static int refuse(void *user, const struct source_change *c)
{
    (void)user;
    (void)c;
    return 1;
}

static struct heard changes(struct subject *s, struct source_mark *mark,
                            enum source_news want)
{
    enum source_news news = SOURCE_RESET;
    struct heard h = { 0 };
    struct err e;

    CHECK_OK(source_changes(s->source, mark, hear, &h, &news, &e), &e);
    CHECK_INT(news, want);
    return h;
}

TEST(changes_since_a_mark)
{
    for (enum kind k = 0; k < KINDS; k++) {
        struct source_mark mark = { 0 }, before;
        enum source_news news;
        struct candidates c;
        struct subject s;
        struct heard h;
        int64_t first;
        struct err e;

        REQUIRE(subject_open(&s, k));
        first = subject_add(&s, 0, "rot", "one", false);
        subject_add(&s, 1, "gelb", "two", false);
        h = changes(&s, &mark, SOURCE_RESET);   /* all that exists */
        CHECK(h.n_added == 2 && h.n_removed == 0);
        h = changes(&s, &mark, SOURCE_SAME);
        CHECK(h.n_added == 0 && h.n_removed == 0);
        subject_add(&s, 0, "grün", "three", false);
        before = mark;
        CHECK_INT(source_changes(s.source, &mark, refuse, NULL, &news, &e),
                  ST_CANCELED);
        CHECK_MEM(&mark, &before, sizeof mark);
        h = changes(&s, &mark, SOURCE_CHANGED);
        CHECK(h.n_added == 1 && h.n_removed == 0);
        c = find(&s, "grün", 1);
        CHECK(c.n == 1 && c.at[0].id == h.last);
        candidates_release(&c);
        subject_remove(&s, first);
        h = changes(&s, &mark, SOURCE_CHANGED);
        CHECK(h.n_added == 0 && h.n_removed == 1);
        CHECK_OK(source_changes(s.source, &mark, NULL, NULL, &news, &e), &e);
        CHECK_INT(news, SOURCE_SAME);
        mark = (struct source_mark){ 0 };
        h = changes(&s, &mark, SOURCE_RESET);
        CHECK(h.n_added == 2 && h.n_removed == 0);
        subject_close(&s);
    }
}

TEST(sources_are_told_apart)
{
    uint64_t seen[KINDS];
    struct subject s;

    for (enum kind k = 0; k < KINDS; k++) {
        REQUIRE(subject_open(&s, k));
        seen[k] = source_identity(s.source);
        subject_add(&s, 0, "rot", "one", false);
        CHECK(seen[k] != 0 && source_identity(s.source) == seen[k]);
        subject_close(&s);
    }
    CHECK(seen[0] != seen[1]);
    REQUIRE(subject_open(&s, FILE_SOURCE));     /* another file */
    CHECK(source_identity(s.source) != seen[FILE_SOURCE]);
    subject_close(&s);
}

/* ---- marks of a memory file ---------------------------------------------- */

TEST(a_mark_sees_other_connections_and_memories)
{
    const char *const one[] = { "second" };
    struct source_mark mark = { 0 };
    struct unit u = { .source = str_of("rot"), .target = str_of("red") };
    struct tmfile *other = NULL;
    struct subject s;
    struct heard h;
    struct err e;
    int64_t id;

    REQUIRE(subject_open(&s, FILE_SOURCE));
    changes(&s, &mark, SOURCE_RESET);
    REQUIRE_OK(tmfile_open(&other, scratch_path(&s.dir, "a.tm"), STORE_WRITE,
                           &e), &e);
    CHECK_OK(tmfile_add(other, "main", &u, &id, &e), &e);
    h = changes(&s, &mark, SOURCE_CHANGED);
    CHECK_INT(h.n_added, 1);
    /* Adding the pair again adds no text, but confirms it. */
    CHECK_OK(tmfile_add(other, "main", &u, &id, &e), &e);
    h = changes(&s, &mark, SOURCE_CHANGED);
    CHECK_INT(h.n_added + h.n_removed, 0);
    changes(&s, &mark, SOURCE_SAME);
    CHECK_OK(tmfile_use(s.file, one, 1, &e), &e);
    h = changes(&s, &mark, SOURCE_RESET);
    CHECK_INT(h.n_added, 0);
    tmfile_close(other);
    subject_close(&s);
}

/* The number of a change that was rolled back is used again. */
TEST(a_mark_of_an_undone_change_is_worth_nothing)
{
    struct source_mark mark = { 0 };
    struct subject s;
    struct heard h;
    struct err e;

    REQUIRE(subject_open(&s, FILE_SOURCE));
    REQUIRE_OK(tmfile_begin(s.file, &e), &e);
    subject_add(&s, 0, "rot", "red", false);
    h = changes(&s, &mark, SOURCE_RESET);
    CHECK_INT(h.n_added, 1);
    tmfile_rollback(s.file);
    subject_add(&s, 0, "gelb", "yellow", false);
    h = changes(&s, &mark, SOURCE_RESET);
    CHECK_INT(h.n_added, 1);
    subject_close(&s);
}

/* When a merge has removed changes from the log, everything is listed. */
TEST(a_mark_may_be_older_than_the_log)
{
    struct source_mark mark = { 0 };
    char text[40];
    struct subject s;
    struct heard h;
    struct err e;

    REQUIRE(subject_open(&s, FILE_SOURCE));
    changes(&s, &mark, SOURCE_RESET);
    CHECK_OK(tmfile_begin(s.file, &e), &e);
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "Satz %d", i);
        subject_add(&s, 0, text, "sentence", false);
    }
    CHECK_OK(tmfile_commit(s.file, &e), &e);
    CHECK_OK(tmfile_rebuild(s.file, &e), &e);
    h = changes(&s, &mark, SOURCE_RESET);
    CHECK_INT(h.n_added, 20);
    subject_close(&s);
}

/* ---- ranking ------------------------------------------------------------- */

/* The targets and similarities of the matches. */
static const char *ranked(struct subject *s, struct retriever *rt,
                          const char *text, const struct retrieve_query *q)
{
    static char out[1000];
    struct matches m = { 0 };
    struct err e;
    char *at = out;

    out[0] = 0;
    CHECK_OK(retrieve(rt, s->source, str_of(text), q, &m, &e), &e);
    for (size_t i = 0; i < m.n + m.n_more; i++) {
        struct source_want w = { m.at[i].id, FETCH_TEXTS };
        struct notes n = { 0 };

        CHECK_OK(source_fetch(s->source, &w, 1, note_pair, &n, &e), &e);
        at += sprintf(at, "%s%s %.3f ", i == m.n ? "+ " : "", n.text,
                      m.at[i].similarity);
    }
    matches_release(&m);
    return out;
}

static void add_pairs(struct subject *s)
{
    subject_add(s, 0, "das Haus brennt heute hier", "ein Wort", false);
    subject_add(s, 0, "das <g id=\"1\">Dach</g> brennt", "tagged one", true);
    subject_add(s, 1, "das Dach brennt heute lichterloh", "burns", false);
    subject_add(s, 0, "das Dach brennt heute nicht mehr", "no", false);
    subject_add(s, 0, "das Dach brennt heute", "older", false);
    subject_add(s, 0, "das Dach brennt heute", "newer and longer", false);
    subject_add(s, 1, "das Dach brennt heute", "priority", false);
}

/* The toy source gives texts, the memory file symbols. */
TEST(ranking_does_not_depend_on_the_source)
{
    static const char want[] =
        "priority| 1.000 newer and longer| 1.000 older| 1.000 "
        "burns| 0.800 tagged one| 0.750 no| 0.667 ein Wort| 0.600 ";
    struct retriever *rt = NULL;
    struct err e;

    REQUIRE_OK(retriever_new(&rt, &e), &e);
    for (enum kind k = 0; k < KINDS; k++) {
        struct retrieve_query q = { .o.top = 16, .candidates = 64 };
        struct subject s;

        REQUIRE(subject_open(&s, k));
        add_pairs(&s);
        CHECK_STR(ranked(&s, rt, "das Dach brennt heute", &q), want);
        q.o.top = 1;
        CHECK_STR(ranked(&s, rt, "das Dach brennt heute", &q),
                  "priority| 1.000 + newer and longer| 1.000 older| 1.000 ");
        q.o.top = 16;
        q.o.min_similarity = 0.8;
        q.o.length_filter = true;
        CHECK_STR(ranked(&s, rt, "das Dach brennt heute", &q),
                  "newer and longer| 1.000 ");
        subject_close(&s);
    }
    retriever_free(rt);
}

/* ---- translation --------------------------------------------------------- */

struct desk {
    struct tiny_net net;
    struct engine *en;
    struct options o;
};

static bool desk_open(struct desk *d)
{
    struct tiny o = TINY_DEFAULT;
    struct err e;

    memset(d, 0, sizeof *d);
    o.seed = 18;
    options_defaults(&d->o);
    return CHECK(tiny_net_write(&d->net, &o, DT_F32)) &&
           CHECK_OK(engine_open(&d->en, tiny_net_file(&d->net, "m.skmt"), &e),
                    &e) &&
           CHECK_OK(options_set(&d->o, "max-len-b", "8", &e), &e) &&
           CHECK_OK(options_set(&d->o, "adapter", "fixed", &e), &e) &&
           CHECK_OK(options_set(&d->o, "lambda", "0.9", &e), &e);
}

static void desk_close(struct desk *d)
{
    engine_close(d->en);
    tiny_net_close(&d->net);
}

/* Translate a text into out, which has room for 500 bytes. source may be
 * NULL. Returns the number of pairs of the first sentence. */
static int translate(struct desk *d, struct pair_source *source,
                     const char *text, char *out)
{
    struct session_text q = { .text = text, .len = strlen(text) };
    struct request_memory m = { .source = source };
    struct session *s = NULL;
    struct err e;
    int n = 0;

    out[0] = 0;
    if (!CHECK_OK(session_new(&s, d->en, &d->o, &e), &e)) return 0;
    if (source) CHECK_OK(session_set_memory(s, &m, &e), &e);
    if (CHECK_OK(session_run(s, &q, 1, &e), &e)) {
        snprintf(out, 500, "%s", q.result->hyps[0].text);
        if (q.result->sentences[0].pairset)
            n = q.result->sentences[0].pairset->n;
    }
    result_free(q.result);
    session_free(s);
    return n;
}

TEST(any_source_steers)
{
    char plain[500], steered[KINDS][500], out[500];
    struct desk d;

    REQUIRE(desk_open(&d));
    translate(&d, NULL, "the and in of", plain);
    for (enum kind k = 0; k < KINDS; k++) {
        struct subject s;

        REQUIRE(subject_open(&s, k));
        CHECK_INT(translate(&d, s.source, "the and in of", out), 0);
        CHECK_STR(out, plain);                  /* nothing is stored */
        subject_add(&s, 0, "the and in of this", "re re re re", false);
        subject_add(&s, 1, "the <g id=\"1\">and</g> on", "on the", true);
        CHECK_INT(translate(&d, s.source, "the and in of", steered[k]), 2);
        CHECK(strcmp(steered[k], plain) != 0);
        subject_close(&s);
    }
    CHECK_STR(steered[TOY_SOURCE], steered[FILE_SOURCE]);
    desk_close(&d);
}

TEST(an_exact_match_of_any_source_is_reused)
{
    struct desk d;

    REQUIRE(desk_open(&d));
    for (enum kind k = 0; k < KINDS; k++) {
        struct subject s;
        char out[500];
        int64_t id;

        REQUIRE(subject_open(&s, k));
        subject_add(&s, 0, "the and in", "stored", false);
        id = subject_add(&s, 1, "the and in", "preferred", false);
        CHECK_INT(translate(&d, s.source, " the and in", out), 2);
        CHECK_STR(out, "preferred");
        subject_remove(&s, id);
        CHECK_INT(translate(&d, s.source, "the and in", out), 1);
        CHECK_STR(out, "stored");
        subject_close(&s);
    }
    desk_close(&d);
}

TEST(keys_of_a_whole_source_are_computed)
{
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d));
    for (enum kind k = 0; k < KINDS; k++) {
        struct shared_keys *keys = NULL;
        int64_t made = -1, gone;
        struct subject s;

        REQUIRE(subject_open(&s, k));
        subject_add(&s, 0, "the and in", "in the of", false);
        subject_add(&s, 1, "the and in", "in the of", false);   /* the same */
        subject_add(&s, 1, "the on", "on", false);
        gone = subject_add(&s, 1, "of", "re", false);
        subject_remove(&s, gone);
        REQUIRE_OK(shared_keys_new(&keys, d.en, &d.o, NULL, &e), &e);
        CHECK_OK(shared_keys_warm(keys, d.en, &d.o, s.source, NULL, NULL,
                                  &made, &e), &e);
        CHECK_INT(made, 2);
        CHECK_OK(shared_keys_warm(keys, d.en, &d.o, s.source, NULL, NULL,
                                  &made, &e), &e);
        CHECK_INT(made, 0);
        shared_keys_free(keys);
        subject_close(&s);
    }
    desk_close(&d);
}
