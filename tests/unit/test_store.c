/* test_store.c - tests the store with one or two connections: opening,
 * memories, pairs, transactions, the change log, maintenance. */
#include "store_fix.h"

/* ---- opening ------------------------------------------------------------- */

TEST(store_is_made_and_opened_again)
{
    struct fix f;
    struct store *again = NULL;
    uint64_t uuid;

    if (!setup(&f)) return;
    uuid = store_uuid(f.s);
    CHECK(uuid != 0);
    CHECK_STR(store_path(f.s), f.path);
    CHECK(store_writable(f.s));
    CHECK(store_disk_bytes(f.s) > 0);
    again = open_again(&f, STORE_CREATE);
    REQUIRE(again);
    CHECK(store_uuid(again) == uuid);
    store_close(again);
    again = open_again(&f, STORE_READ);
    REQUIRE(again);
    CHECK(!store_writable(again) && store_uuid(again) == uuid);
    CHECK_INT(store_begin(again, &f.e), ST_ARGUMENT);
    store_close(again);
    CHECK_INT(store_open(&again, "/tmp/no-such-file.tm", STORE_READ, &f.e),
              ST_IO);
    CHECK(strstr(f.e.msg, "/tmp/no-such-file.tm") && !again);
    CHECK_INT(store_open(&again, "/tmp/no-such-file.tm", STORE_WRITE, &f.e),
              ST_IO);
    CHECK(access("/tmp/no-such-file.tm", F_OK));
    CHECK_INT(store_open(&again, "/no/such/folder/x.tm", STORE_CREATE, &f.e),
              ST_IO);
    CHECK_INT(store_open(&again, f.dir.dir, STORE_CREATE, &f.e), ST_IO);
    store_close(NULL);
    teardown(&f);
}

/* A log that a crash left beside a file, which was then deleted, is not applied
 * to a new file of the same name. */
TEST(store_beside_the_log_of_another_is_not_made)
{
    struct store *s = NULL;
    char log[400];
    struct fix f;
    FILE *out;

    if (!setup(&f)) return;
    store_close(f.s);
    f.s = NULL;
    REQUIRE(!unlink(f.path));
    snprintf(log, sizeof log, "%s-wal", f.path);
    REQUIRE((out = fopen(log, "w")));
    fputs("what somebody may miss", out);
    fclose(out);
    CHECK_INT(store_open(&s, f.path, STORE_CREATE, &f.e), ST_IO);
    CHECK(strstr(f.e.msg, "-wal") && !s);
    CHECK(access(f.path, F_OK) && !access(log, F_OK));
    unlink(log);
    CHECK_OK(store_open(&f.s, f.path, STORE_CREATE, &f.e), &f.e);
    teardown(&f);
}

/* Unusual file names must not be parsed as a URI. */
TEST(store_name_with_odd_characters)
{
    static const char *const names[] = { "a?b=c#d%41", "file:x",
                                         "r\xC3\xA4um" };
    struct scratch dir;
    struct store *s;
    struct err e = { 0 };

    if (!scratch_make(&dir)) return;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = scratch_path(&dir, names[i]);
        REQUIRE_OK(store_open(&s, path, STORE_CREATE, &e), &e);
        memory_named(s, "x", false);
        store_close(s);
        CHECK(!access(path, F_OK));
    }
    scratch_remove(&dir);
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(1 << 20);

    *n = f && p ? fread(p, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return p;
}

/* Opening in every mode returns st, and no byte of the file and no file beside
 * it changes. */
static void refused(const char *path, enum status want, const char *word)
{
    struct store *s;
    struct err e = { 0 };
    size_t n, m;
    char *before = slurp(path, &n), *after;
    int64_t wal = file_size(path, "-wal"), shm = file_size(path, "-shm");

    for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
        CHECK_INT(store_open(&s, path, mode, &e), want);
        CHECK(!s);
        if (!strstr(e.msg, path) || !strstr(e.msg, word))
            test_fail(__FILE__, __LINE__, "no '%s' in: %s", word, e.msg);
        store_close(s);
    }
    after = slurp(path, &m);
    CHECK(n == m && !memcmp(before, after, n));
    CHECK(file_size(path, "-wal") == wal && file_size(path, "-shm") == shm);
    free(before);
    free(after);
}

TEST(store_of_somebody_else_is_not_touched)
{
    struct scratch dir;
    const char *path;

    if (!scratch_make(&dir)) return;
    path = scratch_path(&dir, "plain.db");
    REQUIRE(sql(path, "CREATE TABLE t(x); INSERT INTO t VALUES(1)"));
    refused(path, ST_FORMAT, "not a translation memory");
    path = scratch_path(&dir, "wal.db");
    REQUIRE(sql(path, "PRAGMA journal_mode = WAL; CREATE TABLE memory(x);"
                "PRAGMA application_id = 77"));
    refused(path, ST_FORMAT, "not a translation memory");
    REQUIRE(scratch_write(&dir, "text", "Haus\thouse\n"));
    refused(scratch_path(&dir, "text"), ST_FORMAT, "not a translation");
    REQUIRE(scratch_write(&dir, "empty", ""));
    refused(scratch_path(&dir, "empty"), ST_FORMAT, "empty");
    scratch_remove(&dir);
}

TEST(store_of_a_newer_version_is_not_touched)
{
    struct fix f;

    if (!setup(&f)) return;
    store_close(f.s);
    f.s = NULL;
    REQUIRE(sql(f.path, "PRAGMA user_version = 3"));
    refused(f.path, ST_VERSION, "newer version");
    REQUIRE(sql(f.path, "PRAGMA user_version = 0"));
    refused(f.path, ST_FORMAT, "damaged");
    teardown(&f);
}

TEST(store_that_is_cut_or_overwritten)
{
    struct fix f;
    struct store *s;
    struct err e = { 0 };
    int fd;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 2000);
    store_close(f.s);
    f.s = NULL;
    REQUIRE(!truncate(f.path, file_size(f.path, "") / 2));
    CHECK_INT(store_open(&s, f.path, STORE_READ, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "damaged") != NULL);
    CHECK_INT(store_open(&s, f.path, STORE_WRITE, &e), ST_FORMAT);
    REQUIRE(!truncate(f.path, 60));
    CHECK_INT(store_open(&s, f.path, STORE_WRITE, &e), ST_FORMAT);
    scratch_remove(&f.dir);

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 2000);
    store_close(f.s);
    f.s = NULL;
    /* Damage in the middle of the tables is reported with a message when it is
 * read. */
    fd = open(f.path, O_WRONLY);
    for (int page = 1; page < 20; page++)
        CHECK(pwrite(fd, "rubbish rubbish rubbish", 23, page * 8192L) == 23);
    close(fd);
    CHECK_INT(store_open(&s, f.path, STORE_WRITE, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "damaged") != NULL);
    teardown(&f);
}

/* Runs in a child process that may not write to the folder. */
static int read_as_nobody(const char *path, bool root)
{
    struct store *s;
    struct pair_cursor *c;
    struct pair p;
    struct err e = { 0 };
    struct pair_filter all = { 0 };
    bool found;

    if (root && (setgid(65534) || setuid(65534))) return 2;
    if (store_open(&s, path, STORE_READ, &e)) {
        printf("  %s\n", e.msg);
        return 3;
    }
    if (store_get(s, 1, &p, &e) || !is(p.unit.source, "Haus")) return 4;
    if (pair_cursor_open(&c, s, &all, &e)) return 5;
    if (pair_cursor_next(c, &p, &found, &e) || !found) return 6;
    pair_cursor_close(c);
    store_close(s);
    if (store_open(&s, path, STORE_WRITE, &e) != ST_IO) return 7;
    return strstr(e.msg, "written") ? 0 : 8;
}

TEST(store_is_read_where_nothing_can_be_written)
{
    struct fix f;
    int status;
    pid_t pid;

    if (!setup(&f)) return;
    add(f.s, f.m, "Haus", "house");
    store_close(f.s);
    f.s = NULL;
    CHECK_INT(file_size(f.path, "-wal"), -1);
    REQUIRE(!chmod(f.path, 0444) && !chmod(f.dir.dir, 0555));
    pid = fork();
    if (!pid) _exit(read_as_nobody(f.path, geteuid() == 0));
    waitpid(pid, &status, 0);
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(file_size(f.path, "-shm"), -1);
    chmod(f.dir.dir, 0755);
    teardown(&f);
}

/* A writer died and left its log. If the -shm file exists, the log can be
 * read. Without it the log cannot be read, and opening fails rather than return
 * old data. */
TEST(store_with_a_log_where_nothing_can_be_written)
{
    struct fix f;
    struct store *s;
    struct err e = { 0 };
    bool root = geteuid() == 0;
    int status;
    pid_t pid;

    if (!setup(&f)) return;
    store_close(f.s);
    f.s = NULL;
    pid = fork();
    if (!pid) {
        s = open_again(&f, STORE_WRITE);
        _exit(add(s, f.m, "Haus", "house") != 1);
    }
    waitpid(pid, &status, 0);
    REQUIRE(!status && file_size(f.path, "-wal") > 0);
    for (int shm = 1; shm >= 0; shm--) {
        char name[320];
        snprintf(name, sizeof name, "%s-shm", f.path);
        chmod(f.dir.dir, 0755);
        if (!shm) CHECK(!unlink(name));
        CHECK(!chmod(f.path, 0444) && (!shm || !chmod(name, 0444)));
        CHECK(!chmod(f.dir.dir, 0555));
        pid = fork();
        if (!pid) {
            if (shm) _exit(read_as_nobody(f.path, root));
            if (root && (setgid(65534) || setuid(65534))) _exit(1);
            _exit(store_open(&s, f.path, STORE_READ, &e) != ST_IO ||
                  !strstr(e.msg, "m.tm-wal"));
        }
        waitpid(pid, &status, 0);
        CHECK_INT(WEXITSTATUS(status), 0);
    }
    chmod(f.dir.dir, 0755);
    teardown(&f);
}

/* ---- memories ------------------------------------------------------------ */

TEST(memories_have_names)
{
    struct fix f;
    struct memory_info m = { 0 }, *list;
    int64_t id;
    size_t n;

    if (!setup(&f)) return;
    REQUIRE_OK(store_memory_find(f.s, "main", &m, &f.e), &f.e);
    CHECK_INT(m.id, f.m);
    CHECK_STR(m.source_lang, "de");
    CHECK(m.created > 1600000000 && !m.keep_duplicates && !m.priority);
    CHECK_INT(store_memory_create(f.s, &m, &id, &f.e), ST_ARGUMENT);
    CHECK(strstr(f.e.msg, "main") != NULL);
    memory_named(f.s, "zweite", true);
    CHECK_INT(store_memory_find(f.s, "other", &m, &f.e), ST_ARGUMENT);
    CHECK(strstr(f.e.msg, "main, zweite") != NULL);
    REQUIRE_OK(store_memory_find(f.s, "zweite", &m, &f.e), &f.e);
    CHECK(m.keep_duplicates);
    strcpy(m.name, "third");
    m.priority = -7;
    strcpy(m.target_lang, "");
    CHECK_OK(store_memory_update(f.s, &m, &f.e), &f.e);
    strcpy(m.name, "main");
    CHECK_INT(store_memory_update(f.s, &m, &f.e), ST_ARGUMENT);
    m.id = 99;
    CHECK_INT(store_memory_update(f.s, &m, &f.e), ST_ARGUMENT);
    REQUIRE_OK(store_memory_list(f.s, &list, &n, &f.e), &f.e);
    CHECK_INT(n, 2);
    CHECK_STR(list[1].name, "third");
    CHECK_STR(list[1].target_lang, "");
    CHECK_INT(list[1].priority, -7);
    CHECK(list[1].keep_duplicates);
    free(list);
    teardown(&f);
}

TEST(memory_names_are_checked)
{
    static const char *const bad[] = { "", "a\nb", "a\x7f", "\xff",
                                       "\xC2\x85" };
    struct fix f;
    struct memory_info m = { 0 };
    int64_t id;

    if (!setup(&f)) return;
    for (size_t i = 0; i < COUNT(bad); i++) {
        strcpy(m.name, bad[i]);
        CHECK_INT(store_memory_create(f.s, &m, &id, &f.e), ST_ARGUMENT);
    }
    memset(m.name, 'x', sizeof m.name);         /* no final NUL */
    CHECK_INT(store_memory_create(f.s, &m, &id, &f.e), ST_ARGUMENT);
    m.name[127] = '\0';
    memset(m.source_lang, 'x', sizeof m.source_lang);
    CHECK_INT(store_memory_create(f.s, &m, &id, &f.e), ST_ARGUMENT);
    m.source_lang[35] = '\0';
    CHECK_OK(store_memory_create(f.s, &m, &id, &f.e), &f.e);
    teardown(&f);
}

TEST(memory_is_dropped_with_all_it_has)
{
    struct fix f;
    struct manifest mf = { .seq = 1, .clean = 1 };
    struct memory_info info;
    int64_t other, id, kept;
    struct pair p;

    if (!setup(&f)) return;
    f.s->wipe_rows = 7;
    other = memory_named(f.s, "other", false);
    kept = add(f.s, other, "Haus", "house");
    fill(f.s, f.m, 0, 100);
    id = add(f.s, f.m, "Haus", "house");
    CHECK_OK(manifest_write(f.s, f.m, 0, 0, &mf, &f.e), &f.e);
    CHECK_OK(store_memory_drop(f.s, f.m, &f.e), &f.e);
    CHECK_INT(store_memory_drop(f.s, f.m, &f.e), ST_ARGUMENT);
    CHECK_INT(store_get(f.s, id, &p, &f.e), ST_ARGUMENT);
    CHECK_INT(counts(f.s, f.m).texts, 0);
    CHECK_INT(rows_left(f.path, "text"), 1);
    CHECK_INT(rows_left(f.path, "pair"), 1);
    CHECK_INT(rows_left(f.path, "memory"), 1);
    CHECK_INT(rows_left(f.path, "change"), 1);
    CHECK_INT(rows_left(f.path, "manifest"), 0);
    CHECK_OK(store_get(f.s, kept, &p, &f.e), &f.e);
    CHECK(memory_named(f.s, "main", false) > other);
    CHECK_OK(store_memory_find(f.s, "main", &info, &f.e), &f.e);
    CHECK(sound(f.s));
    teardown(&f);
}

/* The process that dropped a memory in a transaction ends before the rows are
 * deleted. */
TEST(memory_drop_is_finished_by_the_next_writer)
{
    struct fix f;
    struct pair p;
    int64_t id;

    if (!setup(&f)) return;
    id = add(f.s, f.m, "Haus", "house");
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_OK(store_memory_drop(f.s, f.m, &f.e), &f.e);
    CHECK_INT(store_get(f.s, id, &p, &f.e), ST_ARGUMENT);
    CHECK(memory_named(f.s, "main", false) != 0);
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    store_close(f.s);
    CHECK_INT(rows_left(f.path, "pair"), 1);
    f.s = open_again(&f, STORE_WRITE);
    CHECK_INT(rows_left(f.path, "pair"), 0);
    CHECK_INT(rows_left(f.path, "memory"), 1);
    CHECK(sound(f.s));
    teardown(&f);
}

/* ---- pairs --------------------------------------------------------------- */

TEST(pair_keeps_what_it_was_given)
{
    struct fix f;
    struct unit u = unit_of("Das <g id=\"1\">Haus</g>", "The house");
    struct pair p;
    int64_t id, now = (int64_t)time(NULL);

    if (!setup(&f)) return;
    u.tagged = true;
    u.source_lang = str_of("de-AT");
    u.target_lang = str_of("en");
    u.id = str_of("tu7");
    u.document = str_of("doc.docx");
    u.author = str_of("someone");
    u.created = 1000;
    u.changed = 2000;
    u.extra = str_of("{\"a\":1}");
    REQUIRE_OK(store_add(f.s, f.m, &u, &id, &f.e), &f.e);
    CHECK_INT(id, 1);
    REQUIRE_OK(store_get(f.s, id, &p, &f.e), &f.e);
    CHECK(p.id == id && p.memory == f.m && p.text);
    CHECK(str_eq(p.unit.source, u.source) && p.unit.tagged);
    CHECK(is(p.unit.target, "The house"));
    CHECK(is(p.unit.source_lang, "de-AT") && is(p.unit.target_lang, "en"));
    CHECK(is(p.unit.id, "tu7") && is(p.unit.document, "doc.docx"));
    CHECK(is(p.unit.author, "someone") && is(p.unit.extra, "{\"a\":1}"));
    CHECK(p.unit.created == 1000 && p.unit.changed == 2000);
    CHECK(!p.origin.n && !p.position);

    id = add(f.s, f.m, "Katze", "cat");
    REQUIRE_OK(store_get(f.s, id, &p, &f.e), &f.e);
    CHECK(is(p.unit.source_lang, "de") && is(p.unit.target_lang, "en"));
    CHECK(p.unit.created >= now && p.unit.created < now + 100);
    CHECK_INT(p.unit.changed, p.unit.created);
    CHECK(!p.unit.id.n && !p.unit.extra.n && !p.unit.tagged);
    CHECK_INT(store_get(f.s, 77, &p, &f.e), ST_ARGUMENT);
    CHECK(strstr(f.e.msg, "77") != NULL);
    teardown(&f);
}

TEST(pair_texts_are_checked)
{
    static const struct { const char *p; size_t n; } bad[] = {
        { "", 0 }, { "a\xffz", 3 }, { "a\0b", 3 }, { "abcdefghijk\xC3", 12 },
        { "12345678\xED\xA0\x80", 11 },
    };
    struct fix f;
    int64_t id;

    if (!setup(&f)) return;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct unit u = unit_of("Haus", "house");
        u.source = (struct str){ bad[i].p, bad[i].n };
        CHECK_INT(store_add(f.s, f.m, &u, &id, &f.e), ST_TEXT);
        CHECK(strstr(f.e.msg, "source") != NULL);
        u = unit_of("Haus", "house");
        u.target = (struct str){ bad[i].p, bad[i].n };
        CHECK_INT(store_add(f.s, f.m, &u, &id, &f.e), ST_TEXT);
        CHECK(strstr(f.e.msg, "target") != NULL);
        u = unit_of("Haus", "house");
        u.author = (struct str){ bad[i].p, bad[i].n };
        CHECK_INT(store_add(f.s, f.m, &u, &id, &f.e), i ? ST_TEXT : ST_OK);
    }
    CHECK_INT(counts(f.s, f.m).pairs, 1);
    CHECK_INT(store_add(f.s, 99, &(struct unit){ .source = str_of("a"),
              .target = str_of("b") }, &id, &f.e), ST_ARGUMENT);
    teardown(&f);
}

TEST(equal_pairs_share_a_text)
{
    struct fix f;
    int64_t a, b, c, keep, n;
    struct unit u = unit_of("Haus", "house");
    struct pair p;

    if (!setup(&f)) return;
    a = add(f.s, f.m, "Haus", "house");
    b = add(f.s, f.m, "Haus", "house");
    c = add(f.s, f.m, "Haus", "home");
    CHECK(a < b && b < c);
    CHECK_INT(text_of(f.s, a), text_of(f.s, b));
    CHECK(text_of(f.s, a) < text_of(f.s, c));
    u.tagged = true;
    CHECK_OK(store_add(f.s, f.m, &u, &c, &f.e), &f.e);
    CHECK(text_of(f.s, a) != text_of(f.s, c));
    CHECK_INT(counts(f.s, f.m).pairs, 4);
    CHECK_INT(counts(f.s, f.m).texts, 3);
    CHECK_INT(counts(f.s, f.m).source_bytes, 12);
    CHECK_INT(counts(f.s, f.m).target_bytes, 14);
    REQUIRE_OK(store_text_pair(f.s, text_of(f.s, b), &p, &n, &f.e), &f.e);
    CHECK(p.id == a && n == 2);
    keep = memory_named(f.s, "all", true);
    a = add(f.s, keep, "Haus", "house");
    b = add(f.s, keep, "Haus", "house");
    CHECK(text_of(f.s, a) != text_of(f.s, b));
    CHECK(sound(f.s));
    teardown(&f);
}

/* Two different texts with the same hash are not treated as equal. */
TEST(equal_hashes_are_not_equal_texts)
{
    struct fix f;
    struct unit u = unit_of("Haus", "house");
    int64_t a, b;
    char text[200];

    if (!setup(&f)) return;
    a = add(f.s, f.m, "Katze", "cat");
    snprintf(text, sizeof text, "UPDATE text SET hash = %lld",
             (long long)text_hash(f.m, &u));
    REQUIRE(sql(f.path, text));
    b = add(f.s, f.m, "Haus", "house");
    CHECK(text_of(f.s, a) != text_of(f.s, b));
    CHECK_INT(text_of(f.s, add(f.s, f.m, "Haus", "house")), text_of(f.s, b));
    teardown(&f);
}

TEST(store_text_gives_what_is_visible)
{
    struct fix f;
    struct str source, target;
    bool tagged, found;
    int64_t id, text, n;
    struct pair p;

    if (!setup(&f)) return;
    id = add(f.s, f.m, "Haus", "house");
    text = text_of(f.s, id);
    CHECK_OK(store_text(f.s, text, &source, &target, &tagged, &found, &f.e),
             &f.e);
    CHECK(found && is(source, "Haus") && is(target, "house") && !tagged);
    CHECK_OK(store_delete(f.s, id, &f.e), &f.e);
    CHECK_OK(store_text(f.s, text, &source, &target, &tagged, &found, &f.e),
             &f.e);
    CHECK(!found);
    CHECK_OK(store_text_pair(f.s, text, &p, &n, &f.e), &f.e);
    CHECK_INT(n, 0);
    CHECK_INT(store_delete(f.s, id, &f.e), ST_ARGUMENT);
    /* Numbers are not used again, not even the last one. */
    CHECK_INT(add(f.s, f.m, "Haus", "house"), id + 1);
    CHECK(text_of(f.s, id + 1) > text);
    teardown(&f);
}

TEST(pair_is_replaced)
{
    struct fix f;
    struct unit u = unit_of("Haus", "building");
    struct pair p;
    int64_t a, b, text;

    if (!setup(&f)) return;
    a = add(f.s, f.m, "Haus", "house");
    b = add(f.s, f.m, "Haus", "house");
    text = text_of(f.s, a);
    u.author = str_of("me");
    CHECK_OK(store_replace(f.s, a, &u, &f.e), &f.e);
    REQUIRE_OK(store_get(f.s, a, &p, &f.e), &f.e);
    CHECK(is(p.unit.target, "building") && is(p.unit.author, "me"));
    CHECK(is(p.unit.source_lang, "de") && p.text != text);
    CHECK_INT(text_of(f.s, b), text);
    u = unit_of("Haus", "building");            /* no metadata */
    u.target_lang = str_of("en-GB");
    CHECK_OK(store_replace(f.s, b, &u, &f.e), &f.e);
    CHECK_INT(text_of(f.s, b), text_of(f.s, a));
    CHECK_OK(store_replace(f.s, a, &u, &f.e), &f.e);
    REQUIRE_OK(store_get(f.s, a, &p, &f.e), &f.e);
    CHECK(is(p.unit.author, "me") && is(p.unit.target_lang, "en-GB"));
    CHECK_INT(counts(f.s, f.m).texts, 1);
    u.source.n = 0;
    CHECK_INT(store_replace(f.s, a, &u, &f.e), ST_TEXT);
    u = unit_of("a", "b");
    CHECK_INT(store_replace(f.s, 99, &u, &f.e), ST_ARGUMENT);
    CHECK(sound(f.s));
    teardown(&f);
}

static void add_in(struct store *s, int64_t m, const char *a, const char *b,
                   const char *document)
{
    struct unit u = unit_of(a, b);
    struct err e = { 0 };
    int64_t id;

    u.document = str_of(document);
    CHECK_OK(store_add(s, m, &u, &id, &e), &e);
}

static int64_t import_lines(struct store *s, int64_t m, const char *origin,
                            const char *const *lines, size_t n)
{
    struct store_import *im;
    struct err e = { 0 };
    int64_t text, batch;
    bool is_new;

    if (!CHECK_OK(store_import_begin(&im, s, m, origin, &e), &e)) return 0;
    batch = store_import_batch(im);
    for (size_t i = 0; i < n; i++) {
        struct unit u = unit_of(lines[i], lines[i]);
        CHECK_OK(store_import_put(im, &u, &text, &is_new, &e), &e);
    }
    CHECK_OK(store_import_commit(im, (struct str){ 0 }, &e), &e);
    store_import_close(im);
    return batch;
}

TEST(pairs_are_deleted_by_what_they_have)
{
    static const char *const lines[] = { "eins", "zwei", "drei" };
    struct fix f;
    struct pair_filter none = { 0 };
    struct pair_filter by;
    int64_t n, other;

    if (!setup(&f)) return;
    other = memory_named(f.s, "other", false);
    add_in(f.s, f.m, "Haus", "house", "a");
    add_in(f.s, f.m, "Haus", "house", "b");
    add_in(f.s, f.m, "Haus", "home", "b");
    add_in(f.s, other, "Haus", "house", "b");
    import_lines(f.s, f.m, "f.tsv", lines, COUNT(lines));
    CHECK_INT(store_delete_where(f.s, &none, &n, &f.e), ST_ARGUMENT);
    by = (struct pair_filter){ .memory = f.m, .document = "b",
                               .source = "Haus", .target = "house" };
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 1);
    by = (struct pair_filter){ .memory = f.m, .origin = "f.tsv",
                               .source = "zwei" };
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 1);
    by = (struct pair_filter){ .memory = f.m, .origin = "f.tsv" };
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 2);
    by = (struct pair_filter){ .memory = f.m, .target = "home" };
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 1);
    by = (struct pair_filter){ .memory = f.m, .document = "x" };
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 0);
    CHECK_INT(counts(f.s, f.m).pairs, 1);
    CHECK_INT(counts(f.s, other).pairs, 1);
    by = (struct pair_filter){ .memory = f.m, .origin = "" };   /* added */
    CHECK_OK(store_delete_where(f.s, &by, &n, &f.e), &f.e);
    CHECK_INT(n, 1);
    CHECK(sound(f.s));
    teardown(&f);
}

TEST(cursor_sees_the_moment_it_was_opened)
{
    struct fix f;
    struct pair_filter all = { 0 }, both = { .source = "Satz 3" };
    struct pair_cursor *c;
    struct pair p;
    bool found;
    int64_t n = 0, last = 0, other;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 10);
    other = memory_named(f.s, "other", false);
    add(f.s, other, "Satz 3", "sentence 3");
    REQUIRE_OK(pair_cursor_open(&c, f.s, &all, &f.e), &f.e);
    fill(f.s, f.m, 10, 5);
    CHECK_OK(store_delete(f.s, 1, &f.e), &f.e);
    while (!pair_cursor_next(c, &p, &found, &f.e) && found) {
        CHECK(p.id > last && p.unit.source.n);
        last = p.id;
        if (n++ == 4) add(f.s, f.m, "zwischendurch", "meanwhile");
    }
    CHECK_INT(n, 11);
    CHECK(!pair_cursor_next(c, &p, &found, &f.e) && !found);
    pair_cursor_close(c);
    pair_cursor_close(NULL);
    both.memory = f.m;
    REQUIRE_OK(pair_cursor_open(&c, f.s, &both, &f.e), &f.e);
    CHECK(!pair_cursor_next(c, &p, &found, &f.e) && found && p.id == 4);
    CHECK(!pair_cursor_next(c, &p, &found, &f.e) && !found);
    pair_cursor_close(c);
    both.target = "sentence 3";
    REQUIRE_OK(pair_cursor_open(&c, f.s, &both, &f.e), &f.e);
    CHECK(!pair_cursor_next(c, &p, &found, &f.e) && found && p.id == 4);
    CHECK(!pair_cursor_next(c, &p, &found, &f.e) && !found);
    pair_cursor_close(c);
    teardown(&f);
}

/* ---- transactions -------------------------------------------------------- */

TEST(transactions_nest)
{
    struct fix f;
    struct store *r;

    if (!setup(&f)) return;
    r = open_again(&f, STORE_READ);
    CHECK_INT(store_commit(f.s, &f.e), ST_ARGUMENT);
    store_rollback(f.s);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    add(f.s, f.m, "a", "b");
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    CHECK_INT(counts(f.s, f.m).pairs, 1);
    CHECK_INT(counts(r, f.m).pairs, 0);
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    CHECK_INT(counts(r, f.m).pairs, 1);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    add(f.s, f.m, "c", "d");
    store_rollback(f.s);
    CHECK_INT(counts(f.s, f.m).pairs, 1);
    CHECK_INT(store_commit(f.s, &f.e), ST_ARGUMENT);
    store_close(r);
    teardown(&f);
}

TEST(a_view_does_not_change)
{
    struct fix f;
    struct store *r;
    struct unit u = unit_of("x", "y");
    int64_t id;

    if (!setup(&f)) return;
    r = open_again(&f, STORE_WRITE);
    CHECK_OK(store_begin_read(r, &f.e), &f.e);
    add(f.s, f.m, "a", "b");
    CHECK_INT(counts(r, f.m).pairs, 0);
    CHECK_INT(store_add(r, f.m, &u, &id, &f.e), ST_ARGUMENT);
    CHECK(strstr(f.e.msg, "read transaction") != NULL);
    CHECK_OK(store_commit(r, &f.e), &f.e);
    CHECK_INT(counts(r, f.m).pairs, 1);
    CHECK_OK(store_add(r, f.m, &u, &id, &f.e), &f.e);
    store_close(r);
    teardown(&f);
}

TEST(a_failed_call_leaves_the_transaction_as_it_was)
{
    struct fix f;
    struct unit bad = unit_of("x", "y");
    struct manifest mf = { .seq = 1 };

    if (!setup(&f)) return;
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    add(f.s, f.m, "a", "b");
    CHECK_INT(store_delete(f.s, 99, &f.e), ST_ARGUMENT);
    CHECK_INT(store_replace(f.s, 99, &bad, &f.e), ST_ARGUMENT);
    CHECK_INT(manifest_write(f.s, f.m, 0, 5, &mf, &f.e), ST_CANCELED);
    add(f.s, f.m, "c", "d");
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    CHECK_INT(counts(f.s, f.m).pairs, 2);
    CHECK(sound(f.s));
    teardown(&f);
}

/* The same when an add fails half way: the text was inserted, but the pair is
 * rejected. */
TEST(a_call_that_fails_half_way_is_undone)
{
    struct fix f;
    struct unit u = unit_of("c", "d");
    int64_t id, last;

    if (!setup(&f)) return;
    REQUIRE(sql(f.path, "CREATE UNIQUE INDEX odd ON pair(document)"));
    add_in(f.s, f.m, "a", "b", "x");
    u.document = str_of("x");
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    add(f.s, f.m, "e", "f");
    CHECK(store_add(f.s, f.m, &u, &id, &f.e) != ST_OK);
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    CHECK(store_add(f.s, f.m, &u, &id, &f.e) != ST_OK);
    CHECK_OK(store_last_change(f.s, f.m, &last, &f.e), &f.e);
    CHECK_INT(last, 2);
    CHECK_INT(rows_left(f.path, "text"), 2);
    CHECK(sound(f.s));
    teardown(&f);
}

TEST(version_changes_with_every_commit)
{
    struct fix f;
    struct store *r;
    uint32_t before, after;
    int64_t id;

    if (!setup(&f)) return;
    r = open_again(&f, STORE_WRITE);
    CHECK_OK(store_version(f.s, &before, &f.e), &f.e);
    CHECK_OK(store_version(f.s, &after, &f.e), &f.e);
    CHECK(before == after);
    add(r, f.m, "a", "b");              /* by another connection */
    CHECK_OK(store_version(f.s, &after, &f.e), &f.e);
    CHECK(before != after);
    before = after;
    id = add(f.s, f.m, "c", "d");       /* by this connection */
    CHECK_OK(store_version(f.s, &after, &f.e), &f.e);
    CHECK(before != after);
    before = after;
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_OK(store_delete(f.s, id, &f.e), &f.e);
    CHECK_OK(store_version(f.s, &after, &f.e), &f.e);
    CHECK(before != after);
    before = after;
    store_rollback(f.s);                /* the deletion did not happen */
    CHECK_OK(store_version(f.s, &after, &f.e), &f.e);
    CHECK(before != after);
    store_close(r);
    teardown(&f);
}

TEST(a_writer_that_waits_too_long_says_so)
{
    struct fix f;
    struct store *w;
    struct unit u = unit_of("x", "y");
    int64_t id;

    if (!setup(&f)) return;
    w = open_again(&f, STORE_WRITE);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    sqlite3_busy_timeout(w->db, 20);
    CHECK_INT(store_add(w, f.m, &u, &id, &f.e), ST_IO);
    CHECK(strstr(f.e.msg, "kept the file locked") && strstr(f.e.msg, f.path));
    CHECK_INT(counts(w, f.m).pairs, 0);
    store_rollback(f.s);
    CHECK_OK(store_add(w, f.m, &u, &id, &f.e), &f.e);
    store_close(w);
    teardown(&f);
}

/* ---- the log and the manifest -------------------------------------------- */

TEST(changes_tell_what_is_visible)
{
    struct fix f;
    struct heard v;
    int64_t a, b, ta, tb, last, n;
    struct unit u = unit_of("b2", "b2");

    if (!setup(&f)) return;
    CHECK_OK(store_last_change(f.s, f.m, &last, &f.e), &f.e);
    CHECK_INT(last, 0);
    a = add(f.s, f.m, "a", "a");
    ta = text_of(f.s, a);
    add(f.s, f.m, "a", "a");            /* an equal text: no change */
    b = add(f.s, f.m, "b", "b");
    tb = text_of(f.s, b);
    CHECK_OK(store_last_change(f.s, f.m, &last, &f.e), &f.e);
    CHECK_INT(last, 2);
    CHECK_OK(store_count_adds(f.s, f.m, 1, &n, &f.e), &f.e);
    CHECK_INT(n, 1);
    v = changes(f.s, f.m, 0, 0);
    CHECK(v.n_adds == 2 && v.adds[0] == ta && v.adds[1] == tb);
    CHECK_OK(store_delete(f.s, a, &f.e), &f.e);         /* one pair is left */
    CHECK_INT(changes(f.s, f.m, 2, 2).n_removes, 0);
    CHECK_OK(store_replace(f.s, b, &u, &f.e), &f.e);
    v = changes(f.s, f.m, 2, 2);
    CHECK(v.n_adds == 1 && v.adds[0] == text_of(f.s, b));
    CHECK(v.n_removes == 1 && v.removes[0] == tb);
    v = changes(f.s, f.m, 0, 0);        /* removed texts are not adds */
    CHECK(v.n_adds == 2 && v.adds[0] == ta && v.n_removes == 1);
    v = changes(f.s, f.m, 99, 0);
    CHECK(v.n_adds == 0 && v.n_removes == 1);
    v = changes(f.s, f.m + 1, 0, 0);
    CHECK(!v.n_adds && !v.n_removes);
    teardown(&f);
}

static int stop_at_second(void *user, const struct change *c)
{
    (void)c;
    return ++*(int *)user == 2;
}

TEST(changes_and_scan_can_be_stopped)
{
    struct fix f;
    int n = 0;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 5);
    CHECK_INT(store_changes(f.s, f.m, 0, 0, stop_at_second, &n, &f.e),
              ST_CANCELED);
    CHECK_INT(n, 2);
    n = 0;
    CHECK_INT(store_scan(f.s, f.m, stop_at_second, &n, &f.e), ST_CANCELED);
    CHECK_INT(n, 2);
    add(f.s, f.m, "x", "y");            /* no transaction is left open */
    CHECK_INT(counts(f.s, f.m).texts, 6);
    teardown(&f);
}

TEST(manifest_is_replaced_by_who_knows_it)
{
    struct fix f;
    struct segment_row rows[2] = { { 5, 100, UINT64_MAX }, { 9, 7, 3 } };
    struct manifest m = { .seq = 0, .clean = 0, .segments = rows,
                          .n_segments = 2 }, got;
    uint64_t analyzer = UINT64_MAX - 1;
    int64_t g;

    if (!setup(&f)) return;
    CHECK_OK(manifest_read(f.s, f.m, analyzer, &got, &f.e), &f.e);
    CHECK(!got.generation && !got.n_segments);
    CHECK_OK(manifest_write(f.s, f.m, analyzer, 0, &m, &f.e), &f.e);
    CHECK(m.generation > 0);
    CHECK_INT(manifest_write(f.s, f.m, analyzer, 0, &m, &f.e), ST_CANCELED);
    CHECK_OK(manifest_generation(f.s, f.m, analyzer, &g, &f.e), &f.e);
    CHECK_INT(g, m.generation);
    CHECK_OK(manifest_generation(f.s, f.m, 0, &g, &f.e), &f.e);
    CHECK_INT(g, 0);
    CHECK_OK(manifest_read(f.s, f.m, analyzer, &got, &f.e), &f.e);
    CHECK(got.n_segments == 2 && got.segments[0].number == 5);
    CHECK(got.segments[0].checksum == UINT64_MAX && got.segments[1].docs == 7);
    manifest_release(&got);
    m.n_segments = 1;
    g = m.generation;
    CHECK_OK(manifest_write(f.s, f.m, analyzer, g, &m, &f.e), &f.e);
    CHECK(m.generation > g);
    CHECK_OK(manifest_read(f.s, f.m, analyzer, &got, &f.e), &f.e);
    CHECK_INT(got.n_segments, 1);
    manifest_release(&got);
    teardown(&f);
}

TEST(log_is_trimmed_to_what_indexes_need)
{
    struct fix f;
    struct manifest a = { 0 }, b = { 0 };
    int64_t last;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 10);              /* changes 1 .. 10 */
    for (int i = 1; i <= 5; i++)        /* removals 11 .. 15 */
        CHECK_OK(store_delete(f.s, i, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 15);
    b.seq = b.clean = 3;                /* it is behind */
    CHECK_OK(manifest_write(f.s, f.m, 2, 0, &b, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 12);
    a.seq = 15;
    a.clean = 12;
    CHECK_OK(manifest_write(f.s, f.m, 1, 0, &a, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 12);
    b.seq = 15;
    b.clean = 11;
    CHECK_OK(manifest_write(f.s, f.m, 2, b.generation, &b, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 4);  /* removals 12 .. 15 */
    CHECK_INT(changes(f.s, f.m, 15, 12).n_removes, 3);
    a.clean = 15;
    CHECK_OK(manifest_write(f.s, f.m, 1, a.generation, &a, &f.e), &f.e);
    b.clean = 15;
    CHECK_OK(manifest_write(f.s, f.m, 2, b.generation, &b, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 0);
    CHECK_OK(store_last_change(f.s, f.m, &last, &f.e), &f.e);
    CHECK_INT(last, 15);
    add(f.s, f.m, "x", "y");
    CHECK_OK(store_last_change(f.s, f.m, &last, &f.e), &f.e);
    CHECK_INT(last, 16);
    teardown(&f);
}

/* An index that nobody uses any more does not keep the log forever. */
TEST(log_is_not_kept_for_an_index_that_lags_too_far)
{
    struct fix f;
    struct segment_row row = { 1, 1, 1 };
    struct manifest a = { 0 }, b = { .segments = &row, .n_segments = 1 };
    int64_t g;

    if (!setup(&f)) return;
    f.s->max_log = 8;
    CHECK_OK(manifest_write(f.s, f.m, 2, 0, &b, &f.e), &f.e);
    fill(f.s, f.m, 0, 8);
    a.seq = a.clean = 8;
    CHECK_OK(manifest_write(f.s, f.m, 1, 0, &a, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 8);
    fill(f.s, f.m, 8, 1);
    a.seq = a.clean = 9;
    CHECK_OK(manifest_write(f.s, f.m, 1, a.generation, &a, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "change"), 0);
    CHECK_INT(rows_left(f.path, "segment"), 0);
    CHECK_OK(manifest_generation(f.s, f.m, 2, &g, &f.e), &f.e);
    CHECK_INT(g, 0);
    g = b.generation;
    CHECK_OK(manifest_write(f.s, f.m, 2, 0, &b, &f.e), &f.e);
    CHECK(b.generation > g);            /* unlike the old manifest */
    teardown(&f);
}

static bool has(const int64_t *v, size_t n, int64_t x)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == x) return true;
    return false;
}

TEST(segment_numbers_in_use)
{
    struct fix f;
    struct segment_row row[2] = { { .number = 7 }, { .number = INT64_MAX } };
    struct manifest m = { .segments = row, .n_segments = 2 };
    int64_t *live;
    size_t n;

    if (!setup(&f)) return;
    REQUIRE_OK(store_live_segments(f.s, &live, &n, &f.e), &f.e);
    CHECK(n == 0);
    free(live);
    CHECK_OK(manifest_write(f.s, f.m, 0, 0, &m, &f.e), &f.e);
    m.n_segments = 1;
    row[0].number = 8;
    CHECK_OK(manifest_write(f.s, f.m, 5, 0, &m, &f.e), &f.e);
    REQUIRE_OK(store_live_segments(f.s, &live, &n, &f.e), &f.e);
    CHECK(n == 3);
    CHECK(has(live, n, 7) && has(live, n, INT64_MAX) && has(live, n, 8));
    free(live);
    teardown(&f);
}

/* Nothing is missing from the log while there is no manifest. After that, only
 * changes are missing that the manifest that is furthest behind does not
 * need. */
TEST(where_the_log_starts)
{
    struct fix f;
    struct manifest m = { .seq = 3, .clean = 2 };
    int64_t seq = -1;

    if (!setup(&f)) return;
    for (int i = 0; i < 4; i++)
        CHECK(add(f.s, f.m, "s", i % 2 ? "x" : "y") > 0);
    CHECK(!store_inside(f.s));
    CHECK_OK(store_log_start(f.s, f.m, &seq, &f.e), &f.e);
    CHECK(seq == 0);
    CHECK_OK(manifest_write(f.s, f.m, 0, 0, &m, &f.e), &f.e);
    CHECK_OK(store_log_start(f.s, f.m, &seq, &f.e), &f.e);
    CHECK(seq == 3);
    m.seq = m.clean = 1;
    CHECK_OK(manifest_write(f.s, f.m, 5, 0, &m, &f.e), &f.e);
    CHECK_OK(store_log_start(f.s, f.m, &seq, &f.e), &f.e);
    CHECK(seq == 1);
    CHECK_OK(store_log_start(f.s, f.m + 1, &seq, &f.e), &f.e);
    CHECK(seq == 0);
    CHECK_OK(store_begin_read(f.s, &f.e), &f.e);
    CHECK(store_inside(f.s));
    CHECK_OK(store_commit(f.s, &f.e), &f.e);
    CHECK(!store_inside(f.s));
    teardown(&f);
}

/* ---- maintenance --------------------------------------------------------- */

TEST(check_finds_what_is_wrong)
{
    static const char *const damage[] = {
        "DELETE FROM text WHERE id = (SELECT max(id) FROM text)",
        "DELETE FROM pair WHERE id = 3",
        "UPDATE text SET target = 'z' WHERE id = (SELECT min(id) FROM text)",
        "UPDATE text SET hash = hash + 1 WHERE id = (SELECT min(id) FROM text)",
        "UPDATE text SET hidden = 1 WHERE id = (SELECT min(id) FROM text)",
        "INSERT INTO hidden SELECT min(id) FROM text",
        "UPDATE batch SET state = 0", "DELETE FROM batch",
        "DELETE FROM memory", "UPDATE head SET pairs = 2",
        "UPDATE batch SET texts = 1",
        "INSERT INTO text SELECT id + 1000, memory, hash, tagged, hidden,"
        " source, target FROM text; INSERT INTO pair(id, text, batch)"
        " SELECT id + 1000, text + 1000, batch FROM pair;"
        "UPDATE head SET pairs = 9999; UPDATE batch SET texts = 9999",
    };

    for (size_t i = 0; i < COUNT(damage); i++) {
        struct fix f;
        struct store *r;
        int n = 0;

        if (!setup(&f)) return;
        fill(f.s, f.m, 0, 5);
        CHECK(sound(f.s));
        REQUIRE(sql(f.path, damage[i]));
        r = open_again(&f, STORE_READ);
        CHECK_OK(store_check(r, NULL, NULL, &n, &f.e), &f.e);
        if (!n) test_fail(__FILE__, __LINE__, "not seen: %s", damage[i]);
        store_close(r);
        teardown(&f);
    }
}

TEST(compact_gives_pages_back)
{
    struct fix f;
    struct pair_filter all = { 0 };
    struct manifest m = { 0 };
    int64_t n, full;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 5000);
    store_checkpoint(f.s);
    full = store_disk_bytes(f.s);
    all.memory = f.m;
    CHECK_OK(store_delete_where(f.s, &all, &n, &f.e), &f.e);
    CHECK_INT(n, 5000);
    CHECK_OK(store_last_change(f.s, f.m, &m.seq, &f.e), &f.e);
    m.clean = m.seq;                    /* the log is not needed */
    CHECK_OK(manifest_write(f.s, f.m, 0, 0, &m, &f.e), &f.e);
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_INT(store_compact(f.s, &f.e), ST_ARGUMENT);
    store_rollback(f.s);
    CHECK_OK(store_compact(f.s, &f.e), &f.e);
    CHECK_INT(file_size(f.path, "-wal"), 0);
    CHECK(store_disk_bytes(f.s) < full / 2);
    CHECK(sound(f.s));
    CHECK_INT(add(f.s, f.m, "x", "y"), 5001);
    teardown(&f);
}

TEST(backup_is_a_store_of_its_own)
{
    struct fix f;
    struct store *b = NULL;
    struct manifest m = { .seq = 1 };
    struct store_import *im;
    char copy[320];
    int64_t text, g;
    bool is_new;

    if (!setup(&f)) return;
    snprintf(copy, sizeof copy, "%s/copy.tm", f.dir.dir);
    fill(f.s, f.m, 0, 50);
    CHECK_OK(manifest_write(f.s, f.m, 0, 0, &m, &f.e), &f.e);
    f.s->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "b", &text, &is_new, &f.e), &f.e);
    REQUIRE_OK(store_backup(f.s, copy, &f.e), &f.e);
    CHECK_INT(store_backup(f.s, copy, &f.e), ST_ARGUMENT);
    CHECK_INT(store_backup(f.s, "/no/such/folder/x", &f.e), ST_IO);
    store_import_close(im);
    fill(f.s, f.m, 50, 5);
    REQUIRE_OK(store_open(&b, copy, STORE_WRITE, &f.e), &f.e);
    CHECK_INT(counts(b, f.m).pairs, 50);
    CHECK(store_uuid(b) != store_uuid(f.s));
    CHECK_OK(manifest_generation(b, f.m, 0, &g, &f.e), &f.e);
    CHECK_INT(g, 0);
    CHECK_INT(rows_left(copy, "pair"), 50);     /* no rows of the import */
    CHECK(sound(b));
    store_close(b);
    teardown(&f);
}
