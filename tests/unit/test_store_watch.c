/* test_store_watch.c - tests that a reader that could not lock the file notices
 * when somebody writes to it nevertheless. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_fix.h"

static int64_t pairs_of(struct store *s, int64_t memory)
{
    struct memory_counts c = { 0 };
    struct err e;

    return store_memory_counts(s, memory, &c, &e) ? -1 : c.pairs;
}

/* Runs in a process without write permission. It answers each byte that it
 * receives with the number of pairs that it sees, if the version has
 * changed. */
static int watch(const char *path, int64_t memory, int in, int out)
{
    uint32_t version = 0, seen;
    struct store *s;
    struct err e;
    int64_t n = -2;
    char c;

    if (geteuid() == 0 && (setgid(65534) || setuid(65534))) return 1;
    if (store_open(&s, path, STORE_READ, &e)) return 2;
    if (store_version(s, &version, &e)) return 3;
    n = s->immutable ? pairs_of(s, memory) : -3;
    if (write(out, &n, sizeof n) != sizeof n) return 4;
    while (read(in, &c, 1) == 1) {
        if (store_version(s, &seen, &e)) return 5;
        n = seen != version ? pairs_of(s, memory) : -4;
        version = seen;
        if (write(out, &n, sizeof n) != sizeof n) return 6;
    }
    store_close(s);
    return 0;
}

static int64_t ask(int to, int from)
{
    int64_t n = -9;

    CHECK(write(to, "?", 1) == 1);
    CHECK(read(from, &n, sizeof n) == sizeof n);
    return n;
}

TEST(a_reader_without_locks_notices_writers)
{
    int to[2], from[2], status;
    struct fix f;
    int64_t n = -9;
    pid_t pid;

    if (!setup(&f)) return;
    add(f.s, f.m, "Haus", "house");
    store_close(f.s);
    f.s = NULL;
    REQUIRE(!pipe(to) && !pipe(from));
    REQUIRE(!chmod(f.path, 0444) && !chmod(f.dir.dir, 0555));
    pid = fork();
    if (!pid) {
        close(to[1]);
        close(from[0]);
        _exit(watch(f.path, f.m, to[0], from[1]));
    }
    close(to[0]);
    close(from[1]);
    CHECK(read(from[0], &n, sizeof n) == sizeof n);
    CHECK_INT(n, 1);
    CHECK_INT(ask(to[1], from[0]), -4);         /* no change */
    CHECK(!chmod(f.dir.dir, 0755) && !chmod(f.path, 0644));
    f.s = open_again(&f, STORE_WRITE);
    REQUIRE(f.s);
    add(f.s, f.m, "Hof", "yard");
    CHECK_INT(ask(to[1], from[0]), 2);
    add(f.s, f.m, "Garten", "garden");
    CHECK_INT(ask(to[1], from[0]), 3);
    CHECK_INT(ask(to[1], from[0]), -4);
    close(to[1]);
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    close(from[0]);
    teardown(&f);
}
