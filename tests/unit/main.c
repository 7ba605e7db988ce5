/* main.c - the main program of every unit test: it runs the tests that were
 * registered with TEST() (test.h) and prints how many passed. */
#include <stdarg.h>
#include <unistd.h>

#include "test.h"

static struct test *first, **last = &first;
static int failures_here;
static const char *skipped_here;

void test_register(struct test *t)
{
    *last = t;
    last = &t->next;
}

bool test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    /* Print only the first ten: a check may fail in a long loop. */
    if (failures_here++ < 10) {
        printf("%s:%d: ", file, line);
        va_start(ap, fmt);
        vprintf(fmt, ap);
        va_end(ap);
        putchar('\n');
    }
    return false;
}

void test_skip(const char *why)
{
    skipped_here = why;
}

static const char *join(const char *dir, const char *name)
{
    static char path[4][4096];
    static int turn;
    char *p = path[turn++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", dir, name);
    return p;
}

const char *test_data(const char *name)
{
    const char *dir = getenv("TEST_DATA");

    return join(dir ? dir : "tests/golden", name);
}

const char *test_shared(const char *name)
{
    const char *dir = getenv("SKMT_SHARED");
    const char *p = join(dir ? dir : "../shared", name);

    return access(p, R_OK) ? NULL : p;
}

static bool selected(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc <= 1;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct test *t = first; t; t = t->next) {
        if (!selected(t->name, argc, argv)) continue;
        failures_here = 0;
        skipped_here = NULL;
        t->fn();
        if (failures_here) {
            printf("FAIL %s (%d checks)\n", t->name, failures_here);
            failed++;
        } else if (skipped_here) {
            printf("skip %s: %s\n", t->name, skipped_here);
            skipped++;
        } else {
            passed++;
        }
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0 || passed + skipped == 0;
}
