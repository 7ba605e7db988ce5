/* test_tm_threads.c - one thread writes while others search and merge, each
 * with its own handle. A search must find every pair that was added before it
 * began, none that was removed before, and all or nothing of an import.
 *
 * The threads only count errors; the test checks the counts. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "use_tm.h"

enum { READERS = 3, ADDS = 1500, BUNDLE = 60, FIRST = 1900, TEXT = 120 };

struct stage {
    char path[64], table[64];
    atomic_int added;           /* texts 0 .. added - 1 are stored */
    atomic_int removed;         /* doomed texts 0 .. removed - 1 are removed */
    atomic_int imported;        /* bundles 0 .. imported - 1 are stored */
    atomic_int ready;           /* threads that have opened the file */
    atomic_bool done;
};

struct actor {
    struct stage *stage;
    pthread_t thread;
    uint64_t state;             /* of the random numbers */
    int searches, failed, missing, undead, halves, merges;
};

static int below(struct actor *a, int n)
{
    a->state = a->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((a->state >> 33) % (uint64_t)n);
}

static void text_of(char *out, const char *kind, int i)
{
    snprintf(out, TEXT, "%s%d steht in w%d und w%d", kind, i, i % 37, i % 101);
}

/* ---- searching ----------------------------------------------------------- */

/* The number of matches that begin with the word and a space; -1 on error. */
static int hits(skmt_tm *tm, const char *text, const char *word,
                const skmt_options *o)
{
    skmt_matches *m = NULL;
    skmt_match one = SKMT_INIT(skmt_match);
    skmt_error err;
    int n = 0;

    if (skmt_tm_search(tm, text, o, NULL, &m, &err)) return -1;
    for (int i = 0; i < skmt_matches_count(m); i++) {
        size_t len = strlen(word);

        skmt_matches_get(m, i, &one);
        n += !strncmp(one.pair->source, word, len)
             && one.pair->source[len] == ' ';
    }
    skmt_matches_free(m);
    return n;
}

static int hits_of(skmt_tm *tm, const char *kind, int i)
{
    char text[TEXT], word[TEXT];

    text_of(text, kind, i);
    snprintf(word, sizeof word, "%s%d", kind, i);
    return hits(tm, text, word, NULL);
}

static void look_for_bundle(struct actor *a, skmt_tm *tm,
                            const skmt_options *o)
{
    int before = atomic_load(&a->stage->imported);
    int i = below(a, before + 1), n;
    char word[TEXT];

    snprintf(word, sizeof word, "Bund%d", i);
    n = hits(tm, word, word, o);
    a->failed += n < 0;
    a->missing += i < before && n == 0;
    a->halves += n > 0 && n != BUNDLE;
}

static void look_once(struct actor *a, skmt_tm *tm, const skmt_options *wide)
{
    int added = atomic_load(&a->stage->added);
    int removed = atomic_load(&a->stage->removed), n;

    if (added) {
        n = hits_of(tm, "Neu", below(a, 2) ? added - 1 : below(a, added));
        a->failed += n < 0;
        a->missing += n == 0;
    }
    if (removed) {
        n = hits_of(tm, "Alt", below(a, 2) ? removed - 1 : below(a, removed));
        a->failed += n < 0;
        a->undead += n > 0;
    }
    look_for_bundle(a, tm, wide);
    a->searches++;
}

static void *reader(void *arg)
{
    struct actor *a = arg;
    skmt_options *wide = NULL;
    skmt_tm *tm = NULL;
    skmt_error err;

    /* Some handles may write and merge, others may not. */
    if (skmt_tm_open(&tm, a->stage->path,
                     a->state % 2 ? SKMT_TM_READ : SKMT_TM_WRITE, &err) ||
        skmt_options_new(&wide, &err) ||
        skmt_options_set(wide, "matches", "200", &err))
        a->failed++;
    atomic_fetch_add(&a->stage->ready, 1);
    do {
        if (!a->failed) look_once(a, tm, wide);
    } while (!a->failed && !atomic_load(&a->stage->done));
    skmt_tm_close(tm);
    skmt_options_free(wide);
    return NULL;
}

static void *merger(void *arg)
{
    struct actor *a = arg;
    skmt_tm *tm = NULL;
    skmt_error err;

    a->failed += skmt_tm_open(&tm, a->stage->path, SKMT_TM_WRITE, &err) != 0;
    atomic_fetch_add(&a->stage->ready, 1);
    do {
        if (a->failed) break;
        if (skmt_tm_compact(tm, &err)) {
            fprintf(stderr, "compact: %s\n", err.message);
            a->failed++;
        }
        a->merges++;
        usleep(20000);
    } while (!a->failed && !atomic_load(&a->stage->done));
    skmt_tm_close(tm);
    return NULL;
}

/* ---- writing ------------------------------------------------------------- */

static bool import_bundle(struct stage *st, skmt_tm *tm, int i)
{
    const char *file = st->table;
    skmt_import *how = NULL;
    FILE *f = fopen(file, "w");
    skmt_error err;
    bool good;

    for (int k = 0; f && k < BUNDLE; k++)
        fprintf(f, "Bund%d mit Zeile%d\tline %d\n", i, k, k);
    good = f && !fclose(f) &&
           !skmt_import_new(&how, &err) &&
           !skmt_import_set(how, "format", "tsv", &err) &&
           !skmt_tm_import(tm, NULL, &file, 1, how, &err);
    skmt_import_free(how);
    return good;
}

static bool write_once(struct stage *st, skmt_tm *tm, const int64_t *doomed,
                       int i)
{
    char text[TEXT];
    skmt_error err;
    int64_t id;

    text_of(text, "Neu", i);
    if (skmt_tm_add(tm, NULL, text, "new", &id, &err)) return false;
    atomic_store(&st->added, i + 1);
    if (i % 3 == 0) {
        if (skmt_tm_delete(tm, doomed[i / 3], &err)) return false;
        atomic_store(&st->removed, i / 3 + 1);
    }
    if (i % 100 == 50) {
        if (!import_bundle(st, tm, i / 100)) return false;
        atomic_store(&st->imported, i / 100 + 1);
    }
    return true;
}

/* Begin with so many texts that the tail of the index is soon full. */
static skmt_tm *begin(struct stage *st, int64_t *doomed)
{
    skmt_tm *tm = NULL;
    skmt_error err;
    char text[TEXT];
    int64_t id;

    OK(skmt_tm_open(&tm, st->path, SKMT_TM_CREATE, &err));
    if (!tm) return NULL;
    skmt_tm_set_relaxed(tm, 1);
    OK(skmt_tm_begin(tm, &err));
    for (int i = 0; i < FIRST; i++) {
        text_of(text, i < ADDS / 3 + 1 ? "Alt" : "Mehr", i);
        OK(skmt_tm_add(tm, NULL, text, "old", &id, &err));
        if (i < ADDS / 3 + 1) doomed[i] = id;
    }
    OK(skmt_tm_commit(tm, &err));
    return tm;
}

TEST(readers_see_what_was_acknowledged)
{
    struct actor actors[READERS + 1] = { 0 };
    static int64_t doomed[ADDS / 3 + 1];
    struct stage st = { 0 };
    struct scratch s;
    bool good = true;
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    snprintf(st.path, sizeof st.path, "%s/a.tm", s.dir);
    snprintf(st.table, sizeof st.table, "%s/a.tsv", s.dir);
    tm = begin(&st, doomed);
    REQUIRE(tm);
    for (int i = 0; i <= READERS; i++) {
        actors[i].stage = &st;
        actors[i].state = (uint64_t)i + 1;
        CHECK(!pthread_create(&actors[i].thread, NULL,
                              i < READERS ? reader : merger, &actors[i]));
    }
    /* On a busy machine the threads may start late. Without them the writer
     * would be alone. */
    while (atomic_load(&st.ready) <= READERS) usleep(1000);
    for (int i = 0; good && i < ADDS; i++) good = write_once(&st, tm, doomed,
                                                             i);
    atomic_store(&st.done, true);
    for (int i = 0; i <= READERS; i++) {
        pthread_join(actors[i].thread, NULL);
        CHECK_INT(actors[i].failed, 0);
        CHECK_INT(actors[i].missing, 0);
        CHECK_INT(actors[i].undead, 0);
        CHECK_INT(actors[i].halves, 0);
        CHECK(i == READERS ? actors[i].merges : actors[i].searches);
    }
    CHECK(good);
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    scratch_remove(&s);
}
