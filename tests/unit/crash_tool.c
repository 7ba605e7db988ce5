/* crash_tool.c - kills writers of a memory file again and again and checks that
 * nothing was lost.
 *
 *     crash_tool FOLDER [--kills N] [--writers 1|2] [--most-ms N] [--seed N]
 *
 * The whole run uses one memory file. In each round one or two processes
 * perform random operations on it: single additions, several additions in one
 * transaction, imports, edits, deletions of one pair and of a whole import,
 * searches, compacting and rebuilding. Each process reports through a pipe
 * what it is about to do, and reports it again after the call has returned.
 * After a random time one process is killed (SIGKILL); a second one goes on for
 * a while and ends by itself. Then
 *   - every pair whose addition was acknowledged and that was not removed since
 *     must be in the file, with its text and its id, and searches must find it;
 *   - nothing that was removed may be in the file;
 *   - an operation that was interrupted must be there completely or not at all;
 *   - the file must pass its own check.
 * The next round begins with what was found.
 *
 * A text is derived from a serial number, so only a few bytes have to be
 * remembered for each. When a check fails, the exit status is 1 and a sentence
 * on standard output says what was wrong. */
#include <skmt.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { WRITERS = 2, TEXT_SIZE = 200, PATH_SIZE = 500, LOOKED_FOR = 40,
       FULL = 40000 };          /* with more pairs, more are removed than
                                   added */

/* What is known about a text. */
enum state { NEVER, THERE, GONE, UNSURE };
struct item {
    int64_t id;                 /* of its pair; 0: not known yet */
    int64_t origin;             /* first serial of its import; 0: none */
    uint8_t state;              /* enum state */
    uint8_t seen;               /* how often the last scan found it */
};

/* The report of a writer. */
enum work { ADD = 'a', SEVERAL = 't', IMPORT = 'i', EDIT = 'r', DELETE = 'd',
            DELETE_IMPORT = 'w', OTHER = 'o' };
struct word {
    char work;
    bool done;
    int64_t serial, n;          /* n new texts: serial, serial + n_writers, and
                                   so on */
    int64_t old;                /* serial of the text that is removed */
    int64_t id;
};

static struct item *items;      /* [n_items], by serial */
static size_t n_items, cap_items;
static char path[PATH_SIZE], table[WRITERS][PATH_SIZE];
static uint64_t state;
static int n_writers = 1;
static int64_t n_there;
static long counts[128];        /* acknowledged, by kind of work */
static long undecided;          /* kills that interrupted an operation */
static long survived;           /* of these, operations that took effect */

__attribute__((format(printf, 1, 2)))
_Noreturn static void fail(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    _exit(1);
}

static void check(skmt_status st, const skmt_error *e, const char *what)
{
    if (st) fail("%s: %s", what, e->message);
}

static uint64_t draw(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
}

static int64_t below(int64_t n) { return (int64_t)(draw() >> 11) % n; }

static struct item *item(int64_t serial)
{
    size_t before = cap_items;

    if (!mem_grow(&items, &cap_items, (size_t)serial + 1, sizeof *items))
        fail("out of memory");
    memset(items + before, 0, (cap_items - before) * sizeof *items);
    if (n_items <= (size_t)serial) n_items = (size_t)serial + 1;
    return &items[serial];
}

static void source_text(int64_t serial, char *out)
{
    snprintf(out, TEXT_SIZE, "Satz %" PRId64 " nennt w%" PRId64 " und w%" PRId64
             " sowie x%" PRId64, serial, serial % 97, serial % 1009,
             serial / 3);
}

static void target_text(int64_t serial, char *out)
{
    snprintf(out, TEXT_SIZE, "sentence number %" PRId64, serial);
}

/* ---- a writer ------------------------------------------------------------ */

struct writer {
    int number, fd;
    int64_t next;               /* serial of its next text */
    skmt_tm *tm;
};

static volatile sig_atomic_t enough;

static void on_term(int sig)
{
    (void)sig;
    enough = 1;
}

static void say(struct writer *w, struct word *word, bool done)
{
    word->done = done;
    if (write(w->fd, word, sizeof *word) != sizeof *word) _exit(3);
}

static int64_t take_serials(struct writer *w, int64_t n)
{
    int64_t first = w->next;

    w->next += n * n_writers;
    return first;
}

/* Picks a text that belongs to this writer. The texts of an import belong to
 * the writer that imported them. */
static int64_t pick(const struct writer *w)
{
    for (int turn = 0; turn < 50 && n_items > 1; turn++) {
        int64_t serial = 1 + below((int64_t)n_items - 1);
        const struct item *it = &items[serial];
        int64_t of = it->origin ? it->origin : serial;

        if (it->state == THERE && it->id && of % n_writers == w->number)
            return serial;
    }
    return 0;
}

static void add_one(struct writer *w, int64_t serial, int64_t *id)
{
    char source[TEXT_SIZE], target[TEXT_SIZE];
    skmt_error e;

    source_text(serial, source);
    target_text(serial, target);
    check(skmt_tm_add(w->tm, NULL, source, target, id, &e), &e, "add");
    *item(serial) = (struct item){ .id = *id, .state = THERE };
}

static void do_add(struct writer *w)
{
    struct word word = { .work = ADD, .serial = take_serials(w, 1), .n = 1 };

    say(w, &word, false);
    add_one(w, word.serial, &word.id);
    say(w, &word, true);
}

static void do_several(struct writer *w)
{
    struct word word = { .work = SEVERAL, .n = 2 + below(30) };
    skmt_error e;
    int64_t id;

    /* Sometimes so many that the index writes a new segment for them. */
    if (!below(8)) word.n = 2100;
    word.serial = take_serials(w, word.n);
    say(w, &word, false);
    check(skmt_tm_begin(w->tm, &e), &e, "begin");
    for (int64_t i = 0; i < word.n; i++)
        add_one(w, word.serial + i * n_writers, &id);
    check(skmt_tm_commit(w->tm, &e), &e, "commit");
    say(w, &word, true);
}

static void origin_name(int64_t serial, char *out)
{
    snprintf(out, TEXT_SIZE, "import-%" PRId64, serial);
}

static void write_table(const char *file, const struct word *word)
{
    char source[TEXT_SIZE], target[TEXT_SIZE];
    FILE *f = fopen(file, "w");

    if (!f) fail("%s: cannot be written", file);
    for (int64_t i = 0; i < word->n; i++) {
        source_text(word->serial + i * n_writers, source);
        target_text(word->serial + i * n_writers, target);
        fprintf(f, "%s\t%s\n", source, target);
    }
    if (fclose(f)) fail("%s: cannot be written", file);
}

static void do_import(struct writer *w)
{
    struct word word = { .work = IMPORT, .n = 100 + below(4901) };
    const char *file = table[w->number];
    skmt_import *how;
    char origin[TEXT_SIZE];
    skmt_error e;

    check(skmt_import_new(&how, &e), &e, "import");
    word.serial = take_serials(w, word.n);
    write_table(file, &word);
    origin_name(word.serial, origin);
    check(skmt_import_set(how, "origin", origin, &e), &e, "import");
    check(skmt_import_set(how, "format", "tsv", &e), &e, "import");
    say(w, &word, false);
    check(skmt_tm_import(w->tm, NULL, &file, 1, how, &e), &e, "import");
    say(w, &word, true);
    skmt_import_free(how);
}

static void do_edit(struct writer *w)
{
    struct word word = { .work = EDIT, .old = pick(w), .n = 1 };
    char source[TEXT_SIZE], target[TEXT_SIZE];
    struct item was;
    skmt_error e;

    if (!word.old) return;
    was = items[word.old];
    word.serial = take_serials(w, 1);
    word.id = was.id;
    source_text(word.serial, source);
    target_text(word.serial, target);
    say(w, &word, false);
    check(skmt_tm_replace(w->tm, word.id, source, target, &e), &e, "replace");
    *item(word.serial) = was;
    items[word.old].state = GONE;
    say(w, &word, true);
}

static void do_delete(struct writer *w)
{
    struct word word = { .work = DELETE, .old = pick(w) };
    skmt_error e;

    if (!word.old) return;
    word.id = items[word.old].id;
    say(w, &word, false);
    check(skmt_tm_delete(w->tm, word.id, &e), &e, "delete");
    items[word.old].state = GONE;
    say(w, &word, true);
}

/* Includes texts that replaced those of the import by an edit: their pairs keep
 * their origin. */
static void forget_import(int64_t origin, uint8_t to)
{
    for (size_t i = 1; i < n_items; i++)
        if (items[i].origin == origin && items[i].state == THERE)
            items[i].state = to;
}

static void do_delete_import(struct writer *w)
{
    struct word word = { .work = DELETE_IMPORT };
    int64_t serial = pick(w), n;
    char origin[TEXT_SIZE];
    skmt_error e;

    if (!serial || !items[serial].origin) return;
    word.old = items[serial].origin;
    origin_name(word.old, origin);
    say(w, &word, false);
    check(skmt_tm_delete_where(w->tm, NULL, origin, NULL, NULL, NULL, &n, &e),
          &e, "delete_where");
    forget_import(word.old, GONE);
    say(w, &word, true);
}

/* Whether a search for the text with this serial finds it first. */
static bool finds(skmt_tm *tm, int64_t serial)
{
    char source[TEXT_SIZE];
    skmt_matches *found;
    skmt_match m = SKMT_INIT(skmt_match);
    skmt_error e;
    bool same = false;

    source_text(serial, source);
    check(skmt_tm_search(tm, source, NULL, NULL, &found, &e), &e, "search");
    if (skmt_matches_count(found)) {
        skmt_matches_get(found, 0, &m);
        same = !strcmp(m.pair->source, source);
    }
    skmt_matches_free(found);
    return same;
}

static void do_search(struct writer *w)
{
    for (int i = 0; i < 5; i++) {
        int64_t serial = pick(w);

        if (serial && !finds(w->tm, serial))
            fail("a writer did not find text %" PRId64, serial);
    }
}

static void do_care(struct writer *w, bool compact)
{
    struct word word = { .work = OTHER };
    skmt_error e;

    say(w, &word, false);
    if (compact) check(skmt_tm_compact(w->tm, &e), &e, "compact");
    else check(skmt_tm_rebuild(w->tm, &e), &e, "rebuild");
    say(w, &word, true);
}

static void do_something(struct writer *w)
{
    int64_t dice = below(200);

    if (dice < 110) do_add(w);
    else if (dice < 122) do_several(w);
    else if (dice < 140) do_edit(w);
    else if (dice < 155) do_delete(w);
    else if (dice < 180) do_search(w);
    else if (dice < 184) do_care(w, true);
    else if (dice < 185) do_care(w, false);
    else if (dice < 195 && n_there < FULL) do_import(w);
    else do_delete_import(w);
}

_Noreturn static void writer(int number, int fd, int64_t next)
{
    struct writer w = { .number = number, .fd = fd };
    skmt_error e;

    signal(SIGTERM, on_term);
    w.next = next + (number - next % n_writers + n_writers) % n_writers;
    state += (uint64_t)number * 7919;
    check(skmt_tm_open(&w.tm, path, SKMT_TM_CREATE, &e), &e, "open");
    /* Without waiting for the disk a killed process loses nothing, and more
     * operations are done before the kill. */
    skmt_tm_set_relaxed(w.tm, (int)below(2));
    while (!enough) do_something(&w);
    skmt_tm_close(w.tm);
    _exit(0);
}

/* ---- reports of the writers ---------------------------------------------- */

/* Sets the state of all new texts of a report. */
static void set_new(const struct word *w, uint8_t to)
{
    for (int64_t i = 0; i < w->n; i++) {
        struct item *it = item(w->serial + i * n_writers);

        it->state = to;
        if (w->work == ADD) it->id = w->id;
        if (w->work == IMPORT) it->origin = w->serial;
    }
    if (w->work == EDIT) {
        int64_t origin = items[w->old].origin;

        item(w->serial)->id = w->id;
        item(w->serial)->origin = origin;
    }
}

static void set_old(const struct word *w, uint8_t to)
{
    if (w->work == EDIT || w->work == DELETE) items[w->old].state = to;
    if (w->work == DELETE_IMPORT) forget_import(w->old, to);
}

static void believe(const struct word *w)
{
    set_new(w, THERE);
    set_old(w, GONE);
    counts[(int)w->work]++;
}

/* ---- checking ------------------------------------------------------------ */

static void scan(skmt_tm *tm)
{
    char source[TEXT_SIZE], target[TEXT_SIZE];
    skmt_tm_cursor *c;
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_error e;
    int64_t serial;
    int found;

    for (size_t i = 0; i < n_items; i++) items[i].seen = 0;
    check(skmt_tm_cursor_open(&c, tm, NULL, &e), &e, "cursor");
    for (;;) {
        check(skmt_tm_cursor_next(c, &p, &found, &e), &e, "cursor");
        if (!found) break;
        if (sscanf(p.source, "Satz %" SCNd64, &serial) != 1 || serial < 1)
            fail("pair %" PRId64 " has an unknown text", p.id);
        source_text(serial, source);
        target_text(serial, target);
        if (strcmp(source, p.source) || strcmp(target, p.target))
            fail("pair %" PRId64 " has another text than %" PRId64, p.id,
                 serial);
        if (item(serial)->seen++)
            fail("text %" PRId64 " is stored twice", serial);
        if (items[serial].id && items[serial].id != p.id)
            fail("text %" PRId64 " is pair %" PRId64 ", not %" PRId64, serial,
                 p.id, items[serial].id);
        items[serial].id = p.id;
    }
    skmt_tm_cursor_close(c);
}

/* Checks that an interrupted operation took effect completely or not at
 * all. */
static void judge(const struct word *w)
{
    int64_t news = 0, olds = 0, old_seen = 0;

    for (int64_t i = 0; i < w->n; i++)
        news += items[w->serial + i * n_writers].seen;
    if (news && news != w->n)
        fail("%" PRId64 " of %" PRId64 " texts of one step ('%c') are stored",
             news, w->n, w->work);
    for (size_t i = 1; i < n_items; i++)
        if (items[i].state == UNSURE && (w->work == DELETE_IMPORT
            ? items[i].origin == w->old : (int64_t)i == w->old)) {
            olds++;
            old_seen += items[i].seen;
        }
    if (old_seen && old_seen != olds)
        fail("%" PRId64 " of %" PRId64 " texts removed in one step are left",
             old_seen, olds);
    if (w->work == EDIT && news == old_seen)
        fail("pair %" PRId64 " has %s text after an edit", w->id,
             news ? "both" : "no");
    undecided++;
    survived += w->n ? news > 0 : olds && !old_seen;
}

static void settle(void)
{
    n_there = 0;
    for (size_t i = 1; i < n_items; i++) {
        struct item *it = &items[i];

        if (it->state == THERE && !it->seen)
            fail("text %zu (pair %" PRId64 ") was acknowledged and is lost",
                 i, it->id);
        if (it->seen && it->state != THERE && it->state != UNSURE)
            fail("text %zu (pair %" PRId64 ") is stored but was %s", i, it->id,
                 it->state == GONE ? "removed" : "never added");
        if (it->state == UNSURE) it->state = it->seen ? THERE : GONE;
        n_there += it->state == THERE;
    }
}

static void on_problem(void *user, const char *sentence)
{
    (void)user;
    printf("check: %s\n", sentence);
}

static void look_for_some(skmt_tm *tm)
{
    for (int i = 0; n_items > 1 && i < LOOKED_FOR; i++) {
        size_t serial = (size_t)(1 + below((int64_t)n_items - 1));

        /* Half of the searches are for the newest texts. */
        if (i % 2 && n_items > 200) serial = n_items - 1 - serial % 200;
        if (items[serial].state == NEVER) continue;
        if (finds(tm, (int64_t)serial) != (items[serial].state == THERE))
            fail("text %zu is %s", serial, items[serial].state == THERE
                 ? "not found" : "found although it was removed");
    }
}

static void look(const struct word *under_way, const bool *pending)
{
    skmt_tm *tm;
    skmt_error e;
    int problems = 0;

    check(skmt_tm_open(&tm, path, SKMT_TM_WRITE, &e), &e, "open");
    scan(tm);
    for (int i = 0; i < n_writers; i++)
        if (pending[i] && under_way[i].work != OTHER) judge(&under_way[i]);
    settle();
    look_for_some(tm);
    check(skmt_tm_check(tm, on_problem, NULL, &problems, &e), &e, "check");
    if (problems) fail("the check has found %d problems", problems);
    skmt_tm_close(tm);
}

/* ---- rounds -------------------------------------------------------------- */

struct child {
    pid_t pid;
    int fd;
    struct word last;
    bool pending;               /* it has announced an operation but not yet
                                   reported it as done */
};

static void start(struct child *c, int number, int64_t next)
{
    int fd[2];

    if (pipe(fd)) fail("no pipe: %s", strerror(errno));
    fflush(stdout);
    c->pending = false;
    c->pid = fork();
    if (c->pid < 0) fail("no process: %s", strerror(errno));
    if (!c->pid) {
        close(fd[0]);
        writer(number, fd[1], next);
    }
    close(fd[1]);
    c->fd = fd[0];
}

static void hear(struct child *c)
{
    ssize_t n = read(c->fd, &c->last, sizeof c->last);

    if (n <= 0) {
        close(c->fd);
        c->fd = -1;
        return;
    }
    if (n != sizeof c->last) fail("a report of a writer is incomplete");
    if (c->last.done) believe(&c->last);
    c->pending = !c->last.done;
}

static void listen_until(struct child *c, double until)
{
    double left;

    do {
        struct pollfd p[WRITERS];
        bool any = false;

        left = until - clock_seconds();
        for (int i = 0; i < n_writers; i++) {
            p[i] = (struct pollfd){ .fd = c[i].fd, .events = POLLIN };
            any = any || c[i].fd >= 0;
        }
        if (!any) return;
        poll(p, (nfds_t)n_writers, left > 0 ? (int)(1000 * left) : 0);
        for (int i = 0; i < n_writers; i++)
            if (c[i].fd >= 0 && p[i].revents) hear(&c[i]);
    } while (left > 0);
}

static void end(struct child *c, bool killed)
{
    int status;

    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR) fail("waiting for a writer failed");
    if (killed ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status)
        fail("a writer ended with status %d", status);
}

static void one_round(int most_ms)
{
    struct child c[WRITERS];
    struct word under_way[WRITERS];
    bool pending[WRITERS];
    int64_t next = n_items ? (int64_t)n_items : 1;
    int victim = (int)below(n_writers);
    double now = clock_seconds();

    for (int i = 0; i < n_writers; i++) start(&c[i], i, next);
    listen_until(c, now + 1e-3 * (double)(1 + below(most_ms)));
    kill(c[victim].pid, SIGKILL);
    if (n_writers > 1) {
        listen_until(c, clock_seconds() + 0.05);
        kill(c[!victim].pid, SIGTERM);
    }
    listen_until(c, clock_seconds() + 600);
    for (int i = 0; i < n_writers; i++) {
        end(&c[i], i == victim);
        under_way[i] = c[i].last;
        pending[i] = c[i].pending;
        if (!pending[i] || c[i].last.work == OTHER) continue;
        set_old(&c[i].last, UNSURE);
        set_new(&c[i].last, UNSURE);
    }
    look(under_way, pending);
    draw();
}

/* Checks that no file is left over: the folder of the index must have only
 * files that are in use, and there must be no lock file. */
static void look_at_files(void)
{
    char folder[PATH_SIZE + 10];
    const char *name;
    int64_t value, segments = 0, files = 0;
    struct dirent *entry;
    skmt_tm *tm;
    skmt_error e;
    DIR *d;

    check(skmt_tm_open(&tm, path, SKMT_TM_WRITE, &e), &e, "open");
    check(skmt_tm_compact(tm, &e), &e, "compact");
    for (int i = 0; (name = skmt_tm_stat(tm, i, &value)); i++)
        if (!strcmp(name, "segments")) segments = value;
    skmt_tm_close(tm);
    snprintf(folder, sizeof folder, "%s.index", path);
    d = opendir(folder);
    while (d && (entry = readdir(d))) files += strstr(entry->d_name, ".seg")
                                               != NULL;
    if (d) closedir(d);
    if (files != segments)
        fail("%" PRId64 " segment files, and %" PRId64 " in use", files,
             segments);
    snprintf(folder, sizeof folder, "%s-lock", path);
    if (!access(folder, F_OK)) fail("%s was left behind", folder);
}

static long number(const char *s)
{
    long n = s ? atol(s) : 0;

    if (n < 1) fail("a number is not positive");
    return n;
}

int main(int argc, char **argv)
{
    long kills = 10, most_ms = 300;
    double begin = clock_seconds();

    if (argc < 2 || strlen(argv[1]) > 400) fail("usage: crash_tool FOLDER "
        "[--kills N] [--writers 1|2] [--most-ms N] [--seed N]");
    state = 88172645463325252u;
    for (int i = 2; i < argc; i += 2) {
        long n = number(argv[i + 1]);

        if (!strcmp(argv[i], "--kills")) kills = n;
        else if (!strcmp(argv[i], "--most-ms")) most_ms = n;
        else if (!strcmp(argv[i], "--seed")) state ^= (uint64_t)n << 20;
        else if (!strcmp(argv[i], "--writers") && n <= WRITERS)
            n_writers = (int)n;
        else fail("no such option: %s", argv[i]);
    }
    snprintf(path, sizeof path, "%s/crash.tm", argv[1]);
    for (int i = 0; i < WRITERS; i++)
        snprintf(table[i], sizeof table[i], "%s/table-%d.tsv", argv[1], i);
    item(0);
    /* The file is created before the first kill, so that it always exists. */
    {
        skmt_tm *tm;
        skmt_error e;
        int64_t id;

        check(skmt_tm_open(&tm, path, SKMT_TM_CREATE, &e), &e, "create");
        check(skmt_tm_add(tm, NULL, "Satz 1 nennt w1 und w1 sowie x0",
                          "sentence number 1", &id, &e), &e, "add");
        *item(1) = (struct item){ .id = id, .state = THERE };
        skmt_tm_close(tm);
    }
    for (long i = 0; i < kills; i++) one_round((int)most_ms);
    look_at_files();
    printf("%ld kills of %d writer%s in %.0f s: %ld additions, %ld "
           "transactions, %ld imports, %ld edits, %ld deletions, %ld of "
           "whole imports, %ld maintenance runs; %" PRId64 " pairs at the end; "
           "%ld kills interrupted a step, %ld of those took effect\n", kills,
           n_writers,
           n_writers > 1 ? "s" : "", clock_seconds() - begin, counts[ADD],
           counts[SEVERAL], counts[IMPORT], counts[EDIT], counts[DELETE],
           counts[DELETE_IMPORT], counts[OTHER], n_there, undecided, survived);
    free(items);
    return 0;
}
