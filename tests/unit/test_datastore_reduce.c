/* test_datastore_reduce.c - smaller copies of made-up datastore files: what
 * they have, and that a copy that fails is not there. */
#include "knn/datastore_reduce.h"

#include "datastore_fix.h"
#include "knn/pca.h"
#include "test.h"

enum { PAIRS = 60, DIMS = 40 };

struct desk {
    struct scratch dir;
    char path[96], copy[96];
    struct datastore_kind kind;
    struct entries *s;
    struct err e;
};

static bool desk_open(struct desk *d, enum entry_type type, bool sources)
{
    struct datastore_writer *w = NULL;
    int32_t gone = 5;

    memset(d, 0, sizeof *d);
    if (!CHECK(scratch_make_small(&d->dir))) return false;
    snprintf(d->path, sizeof d->path, "%s/a.knn", d->dir.dir);
    snprintf(d->copy, sizeof d->copy, "%s/b.knn", d->dir.dir);
    d->kind = store_kind(type, DIMS);
    d->kind.has_sources = sources;
    return CHECK_OK(datastore_writer_create(&w, d->path, &d->kind, NULL,
                                            &d->e), &d->e) &&
           store_add_range(w, &d->kind, 0, PAIRS) &&
           CHECK_OK(datastore_writer_finish(w, &d->e), &d->e) &&
           CHECK_OK(datastore_writer_delete(w, &gone, 1, &d->e), &d->e) &&
           CHECK_OK(datastore_writer_commit(w, 0, &d->e), &d->e) &&
           (datastore_writer_close(w), true) &&
           CHECK_OK(datastore_file_open(&d->s, d->path, NULL, false, &d->e),
                    &d->e);
}

static void desk_close(struct desk *d)
{
    entries_drop(d->s);
    scratch_remove(&d->dir);
}

static struct entries *open_copy(struct desk *d)
{
    struct entries *s = NULL;
    int problems = -1;

    if (!CHECK_OK(datastore_file_open(&s, d->copy, NULL, false, &d->e), &d->e))
        return NULL;
    CHECK_OK(datastore_file_check(s, NULL, NULL, NULL, NULL, &problems,
                                  &d->e), &d->e);
    CHECK_INT(problems, 0);
    return s;
}

/* Whether key `at` of a reduced block is the image of a key of the original, up
 * to rounding. */
static bool is_image(const struct entries *from, const struct entry_block *b,
                     int at, const struct entries *to,
                     const struct entry_block *c, int image_at)
{
    float key[DIMS], want[DIMS], got[DIMS], most = 0;

    entries_key(from, b, at, key);
    entries_key(to, c, image_at, got);
    pca_map(to->map, key, want);
    for (int i = 0; i < to->d; i++) most = fmaxf(most, fabsf(want[i]));
    for (int i = 0; i < to->d; i++)
        if (fabsf(want[i] - got[i]) > most / 250) return false;
    return true;
}

static void check_reduced(struct desk *d, const struct entries *r)
{
    int32_t at = 0;

    for (int32_t p = 0; p < d->s->n_pairs; p++) {
        const struct entry_block *b = entries_block_of(d->s, p), *c;
        struct entry_pair old = d->s->ops->pair(d->s, p), new;
        struct entry_span x = b->span[p - b->first_pair], y;

        if (old.deleted) continue;
        c = entries_block_of(r, at);
        y = c->span[at - c->first_pair];
        new = r->ops->pair(r, at);
        CHECK(str_eq(old.source, new.source) && str_eq(old.target, new.target));
        CHECK_INT(old.id, new.id);
        REQUIRE(x.n == y.n);
        for (uint32_t i = 0; i < x.n; i++) {
            CHECK_INT(b->token[x.first + i], c->token[y.first + i]);
            CHECK_INT(b->pos[x.first + i], c->pos[y.first + i]);
            CHECK(is_image(d->s, b, (int)(x.first + i), r, c,
                           (int)(y.first + i)));
        }
        at++;
    }
    CHECK_INT(at, r->n_pairs);
}

TEST(keys_of_a_reduced_copy_are_images)
{
    for (int type = ENTRY_INT8; type <= ENTRY_F16; type++) {
        struct datastore_reduction o = datastore_reduction_defaults();
        struct entries *r;
        struct desk d;
        double kept = 0;

        if (!desk_open(&d, (enum entry_type)type, type == ENTRY_F16)) return;
        o.dims = 12;
        CHECK_OK(datastore_reduce(d.s, d.copy, &o, &kept, &d.e), &d.e);
        CHECK(kept > 0.2 && kept < 0.9);
        r = open_copy(&d);
        REQUIRE(r != NULL);
        CHECK_INT(r->d, 12);
        CHECK_INT(r->d_model, DIMS);
        CHECK_INT(r->type, type);
        CHECK_INT(r->n, d.s->n);
        CHECK(r->has_sources == d.s->has_sources);
        check_reduced(&d, r);
        entries_drop(r);
        desk_close(&d);
    }
}

/* The weights of all entries. */
static double weight_sum(const struct entries *s)
{
    double sum = 0;

    for (int b = 0; b < s->n_blocks; b++)
        for (int i = 0; i < s->blocks[b].n; i++)
            if (isfinite(s->blocks[b].norm[i]))
                sum += exp((double)s->blocks[b].log_weight[i]);
    return sum;
}

/* Add pairs with other sources and the same entries. */
static bool add_copies(struct datastore_writer *w,
                       const struct datastore_kind *k, int n)
{
    bool right = true;

    for (int i = 0; i < n; i++) {
        struct store_pair p;
        struct err e;

        store_pair_make(&p, k, i);
        p.source[0] = 'q';
        right = CHECK_OK(datastore_writer_add(w, &p.it, &e), &e) && right;
        store_pair_release(&p);
    }
    return right;
}

/* A datastore that has all entries twice: half of them must go, and the rest
 * has weight 2. */
static bool twice_open(struct desk *d)
{
    struct datastore_writer *w = NULL;

    memset(d, 0, sizeof *d);
    if (!CHECK(scratch_make_small(&d->dir))) return false;
    snprintf(d->path, sizeof d->path, "%s/a.knn", d->dir.dir);
    snprintf(d->copy, sizeof d->copy, "%s/b.knn", d->dir.dir);
    d->kind = store_kind(ENTRY_INT8, DIMS);
    d->kind.has_sources = true;
    return CHECK_OK(datastore_writer_create(&w, d->path, &d->kind, NULL,
                                            &d->e), &d->e) &&
           store_add_range(w, &d->kind, 0, 20) &&
           add_copies(w, &d->kind, 20) &&
           CHECK_OK(datastore_writer_finish(w, &d->e), &d->e) &&
           (datastore_writer_close(w), true) &&
           CHECK_OK(datastore_file_open(&d->s, d->path, NULL, false, &d->e),
                    &d->e);
}

TEST(equal_entries_are_merged_in_the_copy)
{
    struct datastore_reduction o = datastore_reduction_defaults();
    struct entries *m;
    struct desk d;
    int64_t removed = 0;

    if (!twice_open(&d)) return;
    CHECK_OK(datastore_merge(d.s, d.copy, &o, &removed, &d.e), &d.e);
    CHECK_INT(removed, d.s->n / 2);
    m = open_copy(&d);
    REQUIRE(m != NULL);
    CHECK_INT(m->n, d.s->n / 2);
    CHECK_INT(m->n_pairs, 40);
    CHECK(datastore_file_info(m).has_weights);
    CHECK_NEAR(weight_sum(m), (double)d.s->n, 1e-3);
    for (int b = 0; b < m->n_blocks; b++)
        for (int i = 0; i < m->blocks[b].n; i++)
            CHECK_NEAR(m->blocks[b].log_weight[i], log(2), 1e-6);
    entries_drop(m);
    desk_close(&d);
}

/* Merging keeps links to entries that are left, and no others. */
TEST(links_of_merged_entries_stay_in_their_pair)
{
    struct datastore_reduction o = datastore_reduction_defaults();
    struct entries *m;
    struct desk d;
    uint32_t before = 0, after = 0;

    if (!twice_open(&d)) return;
    CHECK_OK(datastore_merge(d.s, d.copy, &o, NULL, &d.e), &d.e);
    m = open_copy(&d);          /* it checks each link */
    REQUIRE(m != NULL);
    for (int b = 0; b < d.s->n_blocks; b++)
        before += d.s->blocks[b].link_begin[d.s->blocks[b].n_src];
    for (int b = 0; b < m->n_blocks; b++)
        after += m->blocks[b].link_begin[m->blocks[b].n_src];
    CHECK(after > 0);
    CHECK_INT(after, before / 2);
    entries_drop(m);
    desk_close(&d);
}

TEST(a_copy_cannot_be_reduced_the_same_way_again)
{
    struct datastore_reduction o = datastore_reduction_defaults();
    struct entries *r;
    struct desk d;
    char other[96];

    if (!desk_open(&d, ENTRY_INT8, false)) return;
    snprintf(other, sizeof other, "%s/c.knn", d.dir.dir);
    o.dims = 10;
    CHECK_OK(datastore_reduce(d.s, d.copy, &o, NULL, &d.e), &d.e);
    r = open_copy(&d);
    REQUIRE(r != NULL);
    CHECK_INT(datastore_reduce(r, other, &o, NULL, &d.e), ST_ARGUMENT);
    CHECK_OK(datastore_merge(r, other, &o, NULL, &d.e), &d.e);
    entries_drop(r);
    CHECK_INT(unlink(d.copy), 0);
    CHECK_OK(datastore_file_open(&r, other, NULL, false, &d.e), &d.e);
    CHECK_INT(datastore_merge(r, d.copy, &o, NULL, &d.e), ST_ARGUMENT);
    CHECK_INT(datastore_reduce(r, d.copy, &o, NULL, &d.e), ST_ARGUMENT);
    CHECK(access(d.copy, F_OK) != 0);
    entries_drop(r);
    desk_close(&d);
}

/* Stops at the call number *user. */
static int stop_at(void *user, const char *stage, uint64_t done,
                   uint64_t total, uint64_t units)
{
    (void)stage;
    (void)units;
    CHECK(done <= total);
    return --*(int *)user == 0;
}

TEST(a_copy_that_was_stopped_is_not_there)
{
    for (int at = 1; at <= 2; at++) {
        struct datastore_reduction o = datastore_reduction_defaults();
        int left = at;
        struct desk d;

        if (!desk_open(&d, ENTRY_INT8, false)) return;
        o.dims = 10;
        o.progress = stop_at;
        o.user = &left;
        CHECK_INT(datastore_reduce(d.s, d.copy, &o, NULL, &d.e), ST_CANCELED);
        CHECK(access(d.copy, F_OK) != 0);
        left = at;
        CHECK_INT(datastore_merge(d.s, d.copy, &o, NULL, &d.e), ST_CANCELED);
        CHECK(access(d.copy, F_OK) != 0);
        desk_close(&d);
    }
}

TEST(settings_that_do_not_fit_are_refused)
{
    struct datastore_reduction o = datastore_reduction_defaults();
    struct desk d;

    if (!desk_open(&d, ENTRY_INT8, false)) return;
    o.dims = DIMS + 1;
    o.k = 0;
    CHECK_INT(datastore_reduce(d.s, d.copy, &o, NULL, &d.e), ST_ARGUMENT);
    CHECK_INT(datastore_merge(d.s, d.copy, &o, NULL, &d.e), ST_ARGUMENT);
    CHECK(access(d.copy, F_OK) != 0);
    desk_close(&d);
}
