/* test_keyrace.c - keys that are forgotten while somebody reads them.
 *
 * The cache is compiled into this program with a hole between its look into
 * the file and what it makes of it. */
#define keyfile_get get_with_a_hole
#include "knn/keycache.c"
#undef keyfile_get

#include "key_fix.h"

enum status keyfile_get(struct keyfile *f, struct key_id id,
                        struct keyblock **out, struct err *e);

static struct keycache *cache;
static int in_the_hole = -1;    /* the number to be forgotten there */

enum status get_with_a_hole(struct keyfile *f, struct key_id id,
                            struct keyblock **out, struct err *e)
{
    enum status st = keyfile_get(f, id, out, e);
    struct key_id gone = key_of(in_the_hole);

    if (in_the_hole >= 0)
        CHECK_INT(keycache_forget(cache, &gone, 1, NULL), ST_OK);
    in_the_hole = -1;
    return st;
}

static void put(int number)
{
    struct keyblock *b = key_block(KEY_INT8, number, 3);
    struct key_id id = key_of(number);

    CHECK_INT(keycache_put(cache, &id, &b, 1, NULL), ST_OK);
    keyblock_drop(b);
}

static bool has(int number)
{
    struct keyblock *b = NULL;

    CHECK_INT(keycache_get(cache, key_of(number), &b, NULL), ST_OK);
    return b && CHECK(key_is(b, number));
}

/* Whoever asked before gets it, nobody after. */
TEST(what_is_on_its_way_is_forgotten_too)
{
    struct keyfile *f;
    struct scratch dir;
    struct err e;

    if (!scratch_make_small(&dir)) return;
    for (int forgotten = 1; forgotten < 3; forgotten++) {
        unlink(scratch_path(&dir, "keys"));
        REQUIRE_OK(keyfile_open(&f, scratch_path(&dir, "keys"), 1, KEY_INT8,
                                KEY_D, 1 << 20, &e), &e);
        REQUIRE_OK(keycache_new(&cache, 1 << 20, f, &e), &e);
        put(1);
        put(2);
        keycache_free(cache);
        REQUIRE_OK(keyfile_open(&f, scratch_path(&dir, "keys"), 1, KEY_INT8,
                                KEY_D, 1 << 20, &e), &e);
        REQUIRE_OK(keycache_new(&cache, 1 << 20, f, &e), &e);
        in_the_hole = forgotten;
        CHECK(has(1));
        CHECK(has(1) == (forgotten != 1));
        CHECK(has(2) == (forgotten != 2));
        keycache_free(cache);
    }
    scratch_remove(&dir);
}
