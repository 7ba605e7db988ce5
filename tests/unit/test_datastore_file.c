/* test_datastore_file.c - datastore files: what is written is read back, and
 * files that are damaged, truncated or foreign are refused. */
#include "datastore_fix.h"
#include "knn/datastore_format.h"

struct fix { struct scratch dir; char path[100]; struct err e; };

static bool setup(struct fix *x)
{
    memset(x, 0, sizeof *x);
    if (!scratch_make_small(&x->dir)) return false;
    snprintf(x->path, sizeof x->path, "%s/a.knn", x->dir.dir);
    return true;
}

static void teardown(struct fix *x) { scratch_remove(&x->dir); }

/* ---- round trips --------------------------------------------------------- */

static void round_trip(const struct datastore_kind *k, int n)
{
    struct entries *s;
    struct fix x;

    if (!setup(&x)) return;
    if (store_write(x.path, k, n) &&
        CHECK_OK(datastore_file_open(&s, x.path, &k->model, false, &x.e),
                 &x.e)) {
        CHECK_INT(s->type, k->type);
        CHECK_INT(s->kind, k->kind);
        CHECK_INT(s->d_model, k->model.d);
        CHECK_INT(s->d, k->map ? k->map->to : k->model.d);
        CHECK(s->has_sources == k->has_sources);
        CHECK(!s->map == !k->map);
        CHECK(store_has_range(s, k, 0, n));
        CHECK_INT(store_problems(s), 0);
        CHECK(datastore_file_info(s).with_eos == k->with_eos);
        CHECK(!datastore_file_info(s).building);
        CHECK_INT(datastore_file_info(s).pairs, n);
        entries_drop(s);
    }
    teardown(&x);
}

TEST(both_types_and_odd_sizes)
{
    static const int dims[] = { 1, 3, 4, 5, 31, 32, 33, 64, 130, 512 };

    for (size_t i = 0; i < COUNT(dims); i++)
        for (int type = 0; type < 2; type++) {
            struct datastore_kind k = store_kind((enum entry_type)type,
                                                 dims[i]);

            k.with_eos = i % 2;
            k.kind = i % 3 ? STATE_FINAL : STATE_FFN;
            round_trip(&k, 12);
        }
}

TEST(few_and_many_pairs)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);

    round_trip(&k, 0);
    round_trip(&k, 1);
    round_trip(&k, 900);
}

TEST(weights_and_missing_positions)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 24);

        k.has_weights = true;
        round_trip(&k, 40);
    }
}

TEST(source_tokens_and_links)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 70);

    k.has_sources = true;
    round_trip(&k, 60);
    k = store_kind(ENTRY_F16, 33);
    k.has_sources = k.has_weights = true;
    round_trip(&k, 60);
}

TEST(a_map_and_shorter_keys)
{
    float mean[40], matrix[9 * 40];
    struct entry_map map = { 40, 9, mean, matrix };
    struct datastore_kind k = store_kind(ENTRY_INT8, 40);
    struct entries *s;
    struct fix x;

    for (int i = 0; i < 40; i++) mean[i] = store_float(1, 1, i);
    for (int i = 0; i < 9 * 40; i++) matrix[i] = store_float(2, 2, i);
    k.map = &map;
    k.has_sources = true;
    round_trip(&k, 30);
    if (!setup(&x) || !store_write(x.path, &k, 3)) return;
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    CHECK_INT(s->map->from, 40);
    CHECK_INT(s->map->to, 9);
    CHECK_MEM(s->map->mean, mean, sizeof mean);
    CHECK_MEM(s->map->matrix, matrix, sizeof matrix);
    entries_drop(s);
    teardown(&x);
}

/* Kernels read the keys of a block like the weights of a linear layer. */
TEST(int8_keys_are_panels_of_a_linear_layer)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 37);
    float row[37], key[37];
    struct entries *s;
    struct fix x;

    if (!setup(&x) || !store_write(x.path, &k, 9)) return;
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    for (int i = 0; i < s->blocks[0].n; i++) {
        const struct entry_block *b = &s->blocks[0];
        struct linear l = { .type = DT_I8, .n = b->n, .k = 37, .w = b->keys,
                            .scale = b->scale, .comp = b->comp };
        double sum = 0;

        linear_row(&l, i, row);
        entries_key(s, b, i, key);
        CHECK_MEM(row, key, sizeof row);
        for (int c = 0; c < 37; c++) sum += rint((double)(row[c] / l.scale[i]));
        CHECK_INT(b->comp[i], (long long)(128 * sum));
    }
    CHECK((uintptr_t)s->blocks[0].keys % 64 == 0);
    entries_drop(s);
    teardown(&x);
}

/* A norm is not below the true one, and above it by a rounding at most. */
TEST(norms_are_rounded_up)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 50);
        struct entries *s;
        struct fix x;
        int above = 0;

        if (!setup(&x) || !store_write(x.path, &k, 30)) return;
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        for (int i = 0; i < s->blocks[0].n; i++) {
            const struct entry_block *b = &s->blocks[0];
            double sum = 0, q;
            float key[50];

            entries_key(s, b, i, key);
            for (int c = 0; c < 50; c++) {
                q = type == ENTRY_INT8
                    ? (double)b->scale[i] * rint((double)(key[c] / b->scale[i]))
                    : (double)key[c];
                sum += q * q;
            }
            CHECK((double)b->norm[i] >= sum * (1 - 1e-15));
            CHECK((double)nextafterf(b->norm[i], 0) < sum * (1 + 1e-15));
            above += (double)b->norm[i] > (double)(float)sum;
        }
        CHECK(above > 10);
        entries_drop(s);
        teardown(&x);
    }
}

/* Keys that a broken model has computed. */
TEST(keys_that_are_not_finite_are_never_found)
{
    static const float odd[] = { NAN, INFINITY, -INFINITY, 1e30f };

    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 20);
        struct datastore_writer *w;
        struct entries *s;
        struct fix x;

        if (!setup(&x)) return;
        REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
        for (int i = 0; i < 4; i++) {
            struct store_pair p;

            store_pair_make(&p, &k, i);
            p.keys[(p.it.n - 1) * 20 + i] = odd[i];
            CHECK_OK(datastore_writer_add(w, &p.it, &x.e), &x.e);
            store_pair_release(&p);
        }
        CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
        datastore_writer_close(w);
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        CHECK_INT(s->n, (long long)datastore_file_info(s).entries - 4);
        CHECK_INT(store_problems(s), 0);
        entries_drop(s);
        teardown(&x);
    }
}

/* ---- changes ------------------------------------------------------------- */

static enum status delete_pairs(const char *path, const int32_t *list,
                                size_t n, struct err *e)
{
    struct datastore_writer *w;
    enum status st = datastore_writer_open(&w, path, e);

    if (!st) st = datastore_writer_delete(w, list, n, e);
    if (!st) st = datastore_writer_commit(w, 0, e);
    datastore_writer_close(w);
    return st;
}

static void add_pairs(struct fix *x, const struct datastore_kind *k, int from,
                      int to)
{
    struct datastore_writer *w;

    REQUIRE_OK(datastore_writer_open(&w, x->path, &x->e), &x->e);
    store_add_range(w, k, from, to);
    CHECK_OK(datastore_writer_commit(w, 0, &x->e), &x->e);
    datastore_writer_close(w);
}

TEST(pairs_are_added_and_deleted)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 19);
        struct fix x;

        k.has_sources = true;
        if (!setup(&x) || !store_write(x.path, &k, 5)) return;
        REQUIRE_OK(delete_pairs(x.path, (int32_t[]){ 3, 0 }, 2, &x.e), &x.e);
        store_check(x.path, &k, (int[]){ -1, 1, 2, -1, 4 }, 5);
        add_pairs(&x, &k, 5, 9);
        store_check(x.path, &k, (int[]){ -1, 1, 2, -1, 4, 5, 6, 7, 8 }, 9);
        REQUIRE_OK(delete_pairs(x.path, (int32_t[]){ 7, 4 }, 2, &x.e), &x.e);
        store_check(x.path, &k, (int[]){ -1, 1, 2, -1, -1, 5, 6, -1, 8 }, 9);
        REQUIRE_OK(delete_pairs(x.path, (int32_t[]){ 1, 2, 5, 6, 8 }, 5, &x.e),
                   &x.e);
        store_check(x.path, &k,
                    (int[]){ -1, -1, -1, -1, -1, -1, -1, -1, -1 }, 9);
        teardown(&x);
    }
}

/* An open file does not change. */
TEST(a_reader_keeps_what_it_has_opened)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 19);
    struct entries *before, *after;
    struct fix x;

    if (!setup(&x) || !store_write(x.path, &k, 5)) return;
    REQUIRE_OK(datastore_file_open(&before, x.path, NULL, false, &x.e), &x.e);
    CHECK_OK(delete_pairs(x.path, (int32_t[]){ 2 }, 1, &x.e), &x.e);
    add_pairs(&x, &k, 5, 20);
    REQUIRE_OK(datastore_file_open(&after, x.path, NULL, false, &x.e), &x.e);
    CHECK(store_has_range(before, &k, 0, 5));
    CHECK_INT(after->n_pairs, 20);
    CHECK(after->ops->pair(after, 2).deleted);
    entries_drop(before);
    CHECK(store_pair_right(after, 19, &k, 19));
    entries_drop(after);
    teardown(&x);
}

/* Blocks end between pairs, and pairs are found in any of them. */
TEST(small_blocks)
{
    struct datastore_kind k = store_kind(ENTRY_F16, 6);
    struct datastore_writer *w;
    struct entries *s;
    struct fix x;

    if (!setup(&x)) return;
    REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
    datastore_writer_set_block(w, 64);
    store_add_range(w, &k, 0, 100);
    CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
    CHECK_INT(datastore_writer_bytes(w), datastore_writer_info(w).bytes);
    datastore_writer_close(w);
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    CHECK(s->n_blocks > 20);
    for (int i = 0; i < s->n_blocks; i++)
        CHECK(s->blocks[i].n < 64 + STORE_MOST);
    CHECK(store_has_range(s, &k, 0, 100));
    entries_drop(s);
    teardown(&x);
}

TEST(copying_drops_deleted_pairs)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 23);
        struct entries *s;
        struct fix x;
        char copy[120];

        k.has_sources = k.has_weights = true;
        if (!setup(&x) || !store_write(x.path, &k, 6)) return;
        snprintf(copy, sizeof copy, "%s.copy", x.path);
        add_pairs(&x, &k, 6, 9);
        CHECK_OK(delete_pairs(x.path, (int32_t[]){ 0, 5, 7 }, 3, &x.e), &x.e);
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        CHECK_OK(datastore_copy(s, copy, NULL, NULL, &x.e), &x.e);
        entries_drop(s);
        store_check(copy, &k, (int[]){ 1, 2, 3, 4, 6, 8 }, 6);
        REQUIRE_OK(datastore_file_open(&s, copy, NULL, false, &x.e), &x.e);
        CHECK_INT(s->n_blocks, 1);
        CHECK_OK(datastore_copy(s, x.path, NULL, NULL, &x.e), &x.e);
        entries_drop(s);
        store_check(x.path, &k, (int[]){ 1, 2, 3, 4, 6, 8 }, 6);
        teardown(&x);
    }
}

/* A key that is never found is not found in a copy, either. */
TEST(copying_keeps_hidden_keys)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k = store_kind((enum entry_type)type, 11);
        struct datastore_writer *w;
        struct store_pair p;
        struct entries *s;
        struct fix x;
        char copy[120];

        if (!setup(&x)) return;
        snprintf(copy, sizeof copy, "%s.copy", x.path);
        REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
        store_pair_make(&p, &k, 3);
        p.keys[5] = NAN;
        CHECK_OK(datastore_writer_add(w, &p.it, &x.e), &x.e);
        CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
        datastore_writer_close(w);
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        CHECK_INT(s->n, p.it.n - 1);
        CHECK_OK(datastore_copy(s, copy, NULL, NULL, &x.e), &x.e);
        entries_drop(s);
        REQUIRE_OK(datastore_file_open(&s, copy, NULL, false, &x.e), &x.e);
        CHECK_INT(s->n, p.it.n - 1);
        CHECK_INT(store_problems(s), 0);
        entries_drop(s);
        store_pair_release(&p);
        teardown(&x);
    }
}

/* ---- what is refused ----------------------------------------------------- */

static void check_message(struct fix *x, const struct datastore_model *m,
                          enum status want, const char *text)
{
    struct entries *s;

    CHECK_INT(datastore_file_open(&s, x->path, m, false, &x->e), want);
    CHECK(!s);
    if (!strstr(x->e.msg, text))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", x->e.msg, text);
}

TEST(foreign_files_are_refused)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);
    struct datastore_model other = { 98, 8, STORE_VOCAB },
                           wide = { 99, 9, STORE_VOCAB };
    uint8_t *bytes;
    struct fix x;
    size_t n = 0;

    if (!setup(&x)) return;
    check_message(&x, NULL, ST_IO, "No such file");
    store_spill(x.path, "", 0);
    check_message(&x, NULL, ST_FORMAT, "is empty");
    store_spill(x.path, "SKMTMODL and more", 17);
    check_message(&x, NULL, ST_FORMAT, "is not a datastore");
    unlink(x.path);
    if (!store_write(x.path, &k, 3)) return;
    check_message(&x, &other, ST_VERSION, "another model");
    check_message(&x, &wide, ST_FORMAT, "not those of the model");
    bytes = store_slurp(x.path, &n);
    if (!CHECK(bytes && n >= 2 * DATASTORE_PAGE)) return;
    for (int i = 0; i < 2; i++) bytes[i * DATASTORE_PAGE + 12] = 2;
    store_spill(x.path, bytes, n);
    check_message(&x, NULL, ST_VERSION, "version 2");
    for (int i = 0; i < 2; i++)
        memcpy(bytes + i * DATASTORE_PAGE + 8, "\1\2\3\4", 4);
    store_spill(x.path, bytes, n);
    check_message(&x, NULL, ST_VERSION, "byte order");
    free(bytes);
    teardown(&x);
}

TEST(unfinished_files_are_refused)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);
    struct datastore_build b = { 5, 6 };
    struct datastore_writer *w;
    struct entries *s;
    struct fix x;

    if (!setup(&x)) return;
    REQUIRE_OK(datastore_writer_create(&w, x.path, &k, &b, &x.e), &x.e);
    store_add_range(w, &k, 0, 3);
    CHECK_OK(datastore_writer_commit(w, 77, &x.e), &x.e);
    store_add_range(w, &k, 3, 5);
    datastore_writer_close(w);
    check_message(&x, NULL, ST_ARGUMENT, "is unfinished");
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, true, &x.e), &x.e);
    CHECK(store_has_range(s, &k, 0, 3));
    CHECK(datastore_file_info(s).building);
    CHECK_INT(datastore_file_info(s).memory, 5);
    CHECK_INT(datastore_file_info(s).request, 6);
    CHECK_INT(datastore_file_info(s).last, 77);
    entries_drop(s);
    REQUIRE_OK(datastore_writer_open(&w, x.path, &x.e), &x.e);
    CHECK_INT(datastore_writer_info(w).last, 77);
    store_add_range(w, &k, 3, 5);
    CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
    datastore_writer_close(w);
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    CHECK(store_has_range(s, &k, 0, 5));
    CHECK_INT(datastore_file_info(s).memory, 5);
    CHECK_INT(datastore_file_info(s).request, 0);
    entries_drop(s);
    teardown(&x);
}

TEST(one_writer_at_a_time)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);
    struct datastore_writer *w, *v;
    struct fix x;

    if (!setup(&x) || !store_write(x.path, &k, 3)) return;
    CHECK_INT(datastore_writer_create(&w, x.path, &k, NULL, &x.e),
              ST_ARGUMENT);
    CHECK(strstr(x.e.msg, "exists already") != NULL);
    REQUIRE_OK(datastore_writer_open(&w, x.path, &x.e), &x.e);
    CHECK_INT(datastore_writer_open(&v, x.path, &x.e), ST_IO);
    CHECK(!v && strstr(x.e.msg, "another program is changing"));
    datastore_writer_close(w);
    CHECK_OK(datastore_writer_open(&v, x.path, &x.e), &x.e);
    datastore_writer_close(v);
    store_check(x.path, &k, (int[]){ 0, 1, 2 }, 3);
    teardown(&x);
}

TEST(a_text_must_be_utf8)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);
    struct datastore_writer *w;
    struct store_pair p;
    struct fix x;

    if (!setup(&x)) return;
    REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
    store_pair_make(&p, &k, 1);
    p.it.source = str_of("\xff");
    CHECK_INT(datastore_writer_add(w, &p.it, &x.e), ST_TEXT);
    store_pair_release(&p);
    store_add_range(w, &k, 0, 2);
    CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
    datastore_writer_close(w);
    store_check(x.path, &k, (int[]){ 0, 1 }, 2);
    teardown(&x);
}

/* ---- damage -------------------------------------------------------------- */

/* A small file with everything: two blocks of entries, a map, deletions. */
static uint8_t *make_full(struct fix *x, struct datastore_kind *k,
                          enum entry_type type, size_t *size)
{
    static float mean[12], matrix[6 * 12];
    static struct entry_map map = { 12, 6, mean, matrix };

    *k = store_kind(type, 12);
    k->has_sources = k->has_weights = true;
    k->map = &map;
    if (!store_write(x->path, k, 3)) return NULL;
    add_pairs(x, k, 3, 5);
    CHECK_OK(delete_pairs(x->path, (int32_t[]){ 1 }, 1, &x->e), &x->e);
    return store_slurp(x->path, size);
}

static const int full_pairs[] = { 0, -1, 2, 3, 4 };

static enum status open_bytes(struct entries **s, const uint8_t *bytes,
                              size_t n, struct err *e)
{
    struct datastore_model m = { 99, 12, STORE_VOCAB };

    return datastore_file_open_memory(s, bytes, n, "x.knn", &m, false, e);
}

/* Where the keys of the block of entries are that begins at `at`. */
static bool in_keys(const uint8_t *bytes, size_t size, size_t at)
{
    struct datastore_header h;
    struct datastore_block b;
    struct datastore_layout l;

    memcpy(&h, bytes, sizeof h);
    for (size_t p = DATASTORE_SLOTS; p < size; p += b.bytes) {
        memcpy(&b, bytes + p, sizeof b);
        if (!datastore_layout_of(&h, &b, &l)) return false;
        if (at >= p && at < p + b.bytes) return at - p >= l.at[PART_KEYS];
    }
    return false;
}

/* Whatever byte changes, the file is refused or has the same contents. A key
 * may change; the check finds that. */
TEST(a_changed_byte_is_found)
{
    for (int type = 0; type < 2; type++) {
        struct datastore_kind k;
        struct fix x;
        uint8_t *bytes;
        size_t size;
        int opened = 0, refused = 0, keys = 0;

        if (!setup(&x)) return;
        bytes = make_full(&x, &k, (enum entry_type)type, &size);
        REQUIRE(bytes != NULL);
        for (size_t i = 0; i < size; i++) {
            bool key = in_keys(bytes, size, i);
            struct entries *s;

            bytes[i] ^= (uint8_t)(1u << i % 8);
            if (open_bytes(&s, bytes, size, &x.e)) {
                refused++;
                if (key) test_fail(__FILE__, __LINE__, "byte %zu", i);
            } else {
                int n = -1;

                if (key || i < DATASTORE_SLOTS) {
                    datastore_file_check(s, NULL, NULL, NULL, NULL, &n, NULL);
                    if (n < 1) test_fail(__FILE__, __LINE__, "byte %zu", i);
                }
                if (!key && !store_has(s, &k, full_pairs, 5))
                    test_fail(__FILE__, __LINE__, "byte %zu", i);
                opened++;
                keys += key;
                entries_drop(s);
            }
            bytes[i] ^= (uint8_t)(1u << i % 8);
        }
        CHECK_INT(opened - keys, DATASTORE_SLOTS);
        CHECK(refused > 4000 && keys > 4000);
        free(bytes);
        teardown(&x);
    }
}

TEST(a_truncated_file_is_refused)
{
    struct datastore_kind k;
    struct fix x;
    uint8_t *bytes;
    size_t size, now;

    if (!setup(&x)) return;
    bytes = make_full(&x, &k, ENTRY_INT8, &size);
    REQUIRE(bytes != NULL);
    now = 0;
    for (size_t n = 0; n < size; n++) {
        struct entries *s;
        enum status st = open_bytes(&s, bytes, n, &x.e);

        if (st != ST_FORMAT || s || !x.e.msg[0])
            test_fail(__FILE__, __LINE__, "%zu bytes: %d", n, (int)st);
    }
    store_spill(x.path, bytes, size - 1);
    check_message(&x, NULL, ST_FORMAT, "is truncated");
    CHECK_INT(delete_pairs(x.path, (int32_t[]){ 0 }, 1, &x.e), ST_FORMAT);
    CHECK(strstr(x.e.msg, "is truncated") != NULL);
    free(bytes);
    bytes = store_slurp(x.path, &now);          /* it was not changed */
    CHECK_INT(now, size - 1);
    free(bytes);
    teardown(&x);
}

/* Bytes after the last commit do not count, and the next writer removes
 * them. */
TEST(a_tail_is_ignored)
{
    struct datastore_kind k;
    struct fix x;
    uint8_t *bytes, *more;
    size_t size, now = 0;

    if (!setup(&x)) return;
    bytes = make_full(&x, &k, ENTRY_F16, &size);
    REQUIRE(bytes != NULL);
    more = malloc(size + 5000);
    memcpy(more, bytes, size);
    memset(more + size, 'x', 5000);
    store_spill(x.path, more, size + 5000);
    store_check(x.path, &k, full_pairs, 5);
    add_pairs(&x, &k, 5, 6);
    store_check(x.path, &k, (int[]){ 0, -1, 2, 3, 4, 5 }, 6);
    free(more);
    more = store_slurp(x.path, &now);
    CHECK(now > size && !memcmp(more + DATASTORE_SLOTS,
                                bytes + DATASTORE_SLOTS,
                                size - DATASTORE_SLOTS));
    free(more);
    free(bytes);
    teardown(&x);
}

/* A header with one damaged copy is repaired by the next writer. */
TEST(a_damaged_copy_of_the_header_is_repaired)
{
    for (int slot = 0; slot < 2; slot++) {
        struct datastore_kind k;
        struct entries *s;
        struct fix x;
        uint8_t *bytes;
        size_t size;

        if (!setup(&x)) return;
        bytes = make_full(&x, &k, ENTRY_INT8, &size);
        REQUIRE(bytes != NULL);
        memset(bytes + slot * DATASTORE_PAGE, 0, 100);
        store_spill(x.path, bytes, size);
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        CHECK(store_has(s, &k, full_pairs, 5));
        CHECK_INT(store_problems(s), 1);
        entries_drop(s);
        CHECK_OK(delete_pairs(x.path, (int32_t[]){ 3 }, 1, &x.e), &x.e);
        store_check(x.path, &k, (int[]){ 0, -1, 2, -1, 4 }, 5);
        free(bytes);
        teardown(&x);
    }
}

/* ---- lies with the right checksums --------------------------------------- */

/* Correct the checksums of all blocks and both slots. */
static void seal_all(uint8_t *bytes, size_t size)
{
    struct datastore_header h;
    struct datastore_block b;
    struct datastore_layout l;

    memcpy(&h, bytes, sizeof h);
    h.sum = 0;
    memcpy(bytes, &h, sizeof h);
    h.sum = datastore_slot_sum(bytes);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + DATASTORE_PAGE, bytes, DATASTORE_PAGE);
    for (size_t p = DATASTORE_SLOTS; p < size; p += b.bytes) {
        memcpy(&b, bytes + p, sizeof b);
        if (!datastore_layout_of(&h, &b, &l) || l.total > size - p) {
            b.sum = datastore_block_sum(&b);
            memcpy(bytes + p, &b, sizeof b);
            return;
        }
        b.table_sum = datastore_sum(bytes + p + sizeof b,
                                    l.at[PART_KEYS] - sizeof b);
        b.sum = datastore_block_sum(&b);
        memcpy(bytes + p, &b, sizeof b);
        if (b.bytes != l.total) return;
    }
}

/* The place of a part of block `at` of the full file. */
static uint8_t *part_in(uint8_t *bytes, int at, enum datastore_part part,
                        size_t offset)
{
    struct datastore_header h;
    struct datastore_block b;
    struct datastore_layout l;
    uint8_t *p = bytes + DATASTORE_SLOTS;

    memcpy(&h, bytes, sizeof h);
    for (;; at--, p += b.bytes) {
        memcpy(&b, p, sizeof b);
        CHECK(datastore_layout_of(&h, &b, &l));
        if (at == 0) return p + l.at[part] + offset;
    }
}

struct lie {
    const char *name, *says;
    int block;                  /* -1: the header */
    enum datastore_part part;   /* PART_COUNT: the head of the block */
    size_t at;
    uint64_t value;
    int bytes;
};

#define HEAD(field) PART_COUNT, offsetof(struct datastore_block, field)
#define HEADER(field) PART_COUNT, offsetof(struct datastore_header, field)
#define PAIR(field) PART_PAIRS, offsetof(struct datastore_pair, field)

static const struct lie lies[] = {
    { "kind", "wrong size", 1, HEAD(kind), 9, 4 },
    { "place", "begin like", 1, HEAD(at), 4096, 8 },
    { "store", "begin like", 1, HEAD(store), 1, 8 },
    { "bytes", "wrong size", 1, HEAD(bytes), 4096, 8 },
    { "entries", "wrong size", 1, HEAD(n), 5000, 4 },
    { "many entries", "wrong size", 1, HEAD(n), 0xffffffff, 4 },
    { "many pairs", "wrong size", 1, HEAD(n_pairs), 0x30000000, 4 },
    { "first pair", "pairs out of order", 1, HEAD(first_pair), 1, 4 },
    { "text size", "wrong texts", 1, HEAD(text_bytes), 40, 8 },
    { "token", "wrong token", 1, PART_TOKEN, 4, STORE_VOCAB, 4 },
    { "negative token", "wrong token", 1, PART_TOKEN, 0, 0xffffffff, 4 },
    { "pair", "entries out of order", 1, PART_PAIR, 0, 1, 4 },
    { "negative pair", "entries out of order", 1, PART_PAIR, 0, 0xffffffff, 4 },
    { "position", "entries out of order", 1, PART_POS, 2, 0, 2 },
    { "norm", "wrong norm", 1, PART_NORM, 0, 0x7fc00000, 4 },
    { "negative norm", "wrong norm", 1, PART_NORM, 8, 0xbf800000, 4 },
    { "scale", "wrong norm", 1, PART_SCALE, 0, 0x7fc00000, 4 },
    { "infinite scale", "wrong norm", 1, PART_SCALE, 0, 0x7f800000, 4 },
    { "weight", "wrong norm", 1, PART_LOG_WEIGHT, 0, 0xff800000, 4 },
    { "span", "entries out of order", 1, PART_SPAN, 0, 1, 4 },
    { "span size", "entries out of order", 1, PART_SPAN, 4, 3, 4 },
    { "large span", "entries out of order", 1, PART_SPAN, 4, 0xfffffff0, 4 },
    { "text", "wrong texts", 1, PAIR(text), 5, 4 },
    { "source size", "wrong texts", 1, PAIR(source_bytes), 4, 4 },
    { "large source", "wrong texts", 1, PAIR(source_bytes), 0xfffffff0, 4 },
    { "target size", "wrong texts", 1, PAIR(target_bytes), 0xffffffff, 4 },
    { "bad UTF-8", "wrong texts", 1, PART_TEXT, 0, 0xff, 1 },
    { "source tokens", "wrong source", 1, PAIR(n_src), 3, 4 },
    { "many source tokens", "wrong source", 1, PAIR(n_src), 0xfffffff0, 4 },
    { "source token", "wrong source", 1, PART_SRC_TOKEN, 0, 0xffffffff, 4 },
    { "source scale", "wrong source", 1, PART_SRC_SCALE, 0, 0x7f800000, 4 },
    { "first link", "wrong source", 1, PART_LINK_BEGIN, 0, 1, 4 },
    { "links", "wrong source", 1, PART_LINK_BEGIN, 4, 0xfffffff0, 4 },
    { "link", "wrong source", 1, PART_LINK, 0, 0xffffffff, 4 },
    { "foreign link", "wrong source", 2, PART_LINK, 0, 0x40, 4 },
    { "mean", "not finite", 0, PART_MEAN, 0, 0x7fc00000, 4 },
    { "matrix", "not finite", 0, PART_MATRIX, 40, 0x7f800000, 4 },
    { "deleted pair", "does not exist", 3, PART_LIST, 0, 5, 4 },
    { "no map", "neither copy", -1, HEADER(flags), 7, 4 },
    { "pairs", "out of order", -1, HEADER(pairs), 4, 4 },
    { "more pairs", "number of pairs", -1, HEADER(pairs), 6, 4 },
    { "all pairs", "number of blocks or pairs", -1, HEADER(pairs), 0x7fffffff,
      4 },
    { "deletions", "number of pairs", -1, HEADER(deleted), 2, 4 },
    { "more entries", "number of entries", -1, HEADER(entries), 1, 8 },
    { "blocks", "number of blocks", -1, HEADER(blocks), 3, 4 },
    { "more blocks", "number of blocks", -1, HEADER(blocks), 5, 4 },
    { "size", "number of blocks", -1, HEADER(size), 8192, 8 },
    { "long", "truncated", -1, HEADER(size), 1 << 20, 8 },
    { "odd size", "neither copy", -1, HEADER(size), 8193, 8 },
    { "type", "neither copy", -1, HEADER(type), 2, 4 },
    { "state", "neither copy", -1, HEADER(kind), STATE_SOURCE, 4 },
    { "dimension", "neither copy", -1, HEADER(d), 13, 4 },
    { "no dimension", "neither copy", -1, HEADER(d_model), 0, 4 },
    { "flags", "neither copy", -1, HEADER(flags), 64, 4 },
};

TEST(false_numbers_are_refused)
{
    struct datastore_kind k;
    struct fix x;
    uint8_t *bytes, *copy;
    size_t size;

    if (!setup(&x)) return;
    bytes = make_full(&x, &k, ENTRY_INT8, &size);
    REQUIRE(bytes != NULL);
    copy = aligned_alloc(64, size);
    for (size_t i = 0; i < COUNT(lies); i++) {
        const struct lie *l = &lies[i];
        struct entries *s;

        memcpy(copy, bytes, size);
        memcpy(l->block < 0 ? copy + l->at
               : l->part == PART_COUNT
                   ? part_in(copy, l->block, PART_MEAN, 0) - 128 + l->at
                   : part_in(copy, l->block, l->part, l->at),
               &l->value, (size_t)l->bytes);
        seal_all(copy, size);
        if (!open_bytes(&s, copy, size, &x.e)) {
            test_fail(__FILE__, __LINE__, "%s was not noticed", l->name);
            entries_drop(s);
        } else if (!strstr(x.e.msg, l->says)) {
            test_fail(__FILE__, __LINE__, "%s: %s", l->name, x.e.msg);
        }
    }
    seal_all(bytes, size);      /* sealing alone changes nothing */
    store_spill(x.path, bytes, size);
    store_check(x.path, &k, full_pairs, 5);
    free(copy);
    free(bytes);
    teardown(&x);
}

/* What only the check finds. */
TEST(the_check_finds_wrong_norms_and_ids)
{
    static const struct lie found[] = {
        { "norm", "", 1, PART_NORM, 4, 0x3f800000, 4 },
        { "comp", "", 1, PART_COMP, 4, 12, 4 },
        { "id", "", 1, PAIR(hi), 12, 8 },
        { "text", "", 1, PART_TEXT, 1, 'x', 1 },
    };
    struct datastore_kind k;
    struct fix x;
    uint8_t *bytes, *copy;
    size_t size;

    if (!setup(&x)) return;
    bytes = make_full(&x, &k, ENTRY_INT8, &size);
    REQUIRE(bytes != NULL);
    copy = aligned_alloc(64, size);
    for (size_t i = 0; i < COUNT(found); i++) {
        struct entries *s;

        memcpy(copy, bytes, size);
        memcpy(part_in(copy, found[i].block, found[i].part, found[i].at),
               &found[i].value, (size_t)found[i].bytes);
        seal_all(copy, size);
        if (!CHECK_OK(open_bytes(&s, copy, size, &x.e), &x.e)) continue;
        if (store_problems(s) < 1)
            test_fail(__FILE__, __LINE__, "%s was not found", found[i].name);
        entries_drop(s);
    }
    free(copy);
    free(bytes);
    teardown(&x);
}

TEST(the_check_finds_pairs_stored_twice)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 8);
    struct entries *s;
    struct fix x;

    if (!setup(&x) || !store_write(x.path, &k, 3)) return;
    add_pairs(&x, &k, 1, 3);
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    CHECK_INT(store_problems(s), 1);
    entries_drop(s);
    CHECK_OK(delete_pairs(x.path, (int32_t[]){ 1, 4 }, 2, &x.e), &x.e);
    REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
    CHECK_INT(store_problems(s), 0);
    entries_drop(s);
    teardown(&x);
}
