/* test_metak_trainer.c - the steps that are recorded of known translations,
 * with a tiny model and its datastore, and the grid of fixed settings. */
#include "engine/metak_trainer.h"

#include "engine/datastore_maker.h"
#include "engine/pairset.h"
#include "knn/metak_grid.h"
#include "scratch_dir.h"
#include "tiny_net.h"
#include "toy_source.h"

enum { STORED = 30, TOLD = 12 };

struct desk {
    struct scratch dir;
    struct tiny_net net;
    struct engine *en;
    struct entries *s;
    struct err e;
};

static void pair_texts(int i, char *source, char *target)
{
    static const char *const words[] = { "in", "the", "and", "of", "a" };

    *source = *target = 0;
    for (int k = 0; k < 2 + i % 9; k++) {
        sprintf(source + strlen(source), "%s ", words[(i + k * k) % 5]);
        sprintf(target + strlen(target), "%s ", words[(i * k + k) % 5]);
    }
    sprintf(source + strlen(source), "%d", i);
}

static bool desk_open(struct desk *d, enum state_kind kind)
{
    struct datastore_maker_options o = { .threads = 1, .with_eos = true,
                                         .kind = kind };
    struct toy_source *toy = toy_source_new(7);
    struct datastore_maker *m = NULL;
    struct tiny t = TINY_DEFAULT;
    char path[100], source[500], target[500];
    struct datastore_model model;

    memset(d, 0, sizeof *d);
    t.max_positions = 256;
    if (!CHECK(scratch_make_small(&d->dir)) ||
        !tiny_net_write(&d->net, &t, DT_F32))
        return false;
    snprintf(path, sizeof path, "%s/a.knn", d->dir.dir);
    for (int i = 0; i < STORED; i++) {
        pair_texts(i, source, target);
        toy_source_add(toy, 0, source, target, false);
    }
    CHECK_OK(engine_open(&d->en, tiny_net_file(&d->net, "m.skmt"), &d->e),
             &d->e);
    CHECK_OK(datastore_maker_create(&m, d->en, path, &o, toy_source_of(toy),
                                    &d->e), &d->e);
    CHECK_OK(datastore_maker_add_all(m, toy_source_of(toy), &d->e), &d->e);
    CHECK_OK(datastore_maker_finish(m, &d->e), &d->e);
    datastore_maker_close(m);
    toy_source_free(toy);
    model = datastore_model_of(d->en);
    return CHECK_OK(datastore_file_open(&d->s, path, &model, false, &d->e),
                    &d->e);
}

static void desk_close(struct desk *d)
{
    entries_drop(d->s);
    engine_close(d->en);
    tiny_net_close(&d->net);
    scratch_remove(&d->dir);
}

static void tell(struct desk *d, struct metak_trainer *t, int i)
{
    char source[500], target[500];

    pair_texts(i, source, target);
    CHECK_OK(metak_trainer_add(t, str_of(source), str_of(target), &d->e),
             &d->e);
}

static bool same_sample(const struct metak_sample *a,
                        const struct metak_sample *b)
{
    bool same = a->target == b->target && a->n == b->n &&
                fabsf(a->model - b->model) <= 1e-6f;

    for (int j = 0; same && j < a->n; j++)
        same = a->nb[j].token == b->nb[j].token &&
               fabsf(a->nb[j].d2 - b->nb[j].d2) <= 1e-3f &&
               fabsf(a->prob[j] - b->prob[j]) <= 1e-6f;
    return same;
}

/* The steps of a pair do not depend on the pairs that are computed with it, nor
 * on threads. */
TEST(steps_are_those_of_each_pair_alone)
{
    for (int kind = STATE_FINAL; kind <= STATE_FFN; kind++) {
        struct metak_trainer *all, *one;
        struct metak_samples *many;
        struct desk d;
        size_t at = 0;

        if (!desk_open(&d, (enum state_kind)kind)) return;
        CHECK_OK(metak_trainer_new(&all, d.en, d.s, 2, &d.e), &d.e);
        for (int i = 0; i < TOLD; i++) tell(&d, all, 40 + i);
        CHECK_OK(metak_trainer_flush(all, &d.e), &d.e);
        many = metak_trainer_samples(all);
        for (int i = 0; i < TOLD; i++) {
            struct metak_samples *few;

            CHECK_OK(metak_trainer_new(&one, d.en, d.s, 1, &d.e), &d.e);
            tell(&d, one, 40 + i);
            CHECK_OK(metak_trainer_flush(one, &d.e), &d.e);
            few = metak_trainer_samples(one);
            REQUIRE(at + few->n <= many->n);
            for (size_t k = 0; k < few->n; k++, at++) {
                CHECK(same_sample(&few->at[k], &many->at[at]));
                CHECK_INT(many->at[at].sentence, i);
            }
            metak_trainer_free(one);
        }
        CHECK_INT(at, many->n);
        CHECK_INT(metak_trainer_counts(all).pairs, TOLD);
        CHECK_INT(metak_trainer_counts(all).known, 0);
        metak_trainer_free(all);
        desk_close(&d);
    }
}

/* A pair that is stored finds itself: the nearest entries have its tokens. */
TEST(a_stored_pair_is_its_own_neighbor)
{
    struct metak_trainer *t;
    struct metak_samples *s;
    struct steering_pair p = { 0 };
    char source[500], target[500];
    struct desk d;

    if (!desk_open(&d, STATE_FINAL)) return;
    CHECK_OK(metak_trainer_new(&t, d.en, d.s, 1, &d.e), &d.e);
    tell(&d, t, 8);
    CHECK_OK(metak_trainer_flush(t, &d.e), &d.e);
    CHECK_INT(metak_trainer_counts(t).known, 1);
    s = metak_trainer_samples(t);
    pair_texts(8, source, target);
    CHECK_OK(steering_pair_encode(d.en, str_of(source), str_of(target), &p,
                                  &d.e), &d.e);
    REQUIRE(s->n == (size_t)p.n_tgt + 1);
    for (int i = 0; i < (int)s->n; i++) {
        const struct metak_sample *it = &s->at[i];

        CHECK_INT(it->target, i < p.n_tgt ? p.ids[p.n_src + i]
                                          : d.en->backend->cfg->eos_id);
        CHECK_INT(it->n, METAK_MOST);
        CHECK(it->nb[0].d2 < 0.1f);
        CHECK_INT(it->nb[0].token, it->target);
        CHECK_NEAR(it->prob[0], it->model, 1e-6);
        CHECK(it->model > 0 && it->model <= 1);
        for (int j = 1; j < it->n; j++)
            CHECK(it->nb[j].d2 >= it->nb[j - 1].d2);
    }
    steering_pair_release(&p);
    metak_trainer_free(t);
    desk_close(&d);
}

TEST(pairs_that_cannot_be_used_are_counted)
{
    struct metak_trainer *t;
    struct metak_trainer_counts c;
    char many[2000] = "";
    struct desk d;

    if (!desk_open(&d, STATE_FINAL)) return;
    for (int i = 0; i < 300; i++) strcat(many, "the ");
    CHECK_OK(metak_trainer_new(&t, d.en, d.s, 1, &d.e), &d.e);
    CHECK_OK(metak_trainer_add(t, str_of(""), str_of("a"), &d.e), &d.e);
    CHECK_OK(metak_trainer_add(t, str_of("a"), str_of(""), &d.e), &d.e);
    CHECK_OK(metak_trainer_add(t, str_of("\xff"), str_of("a"), &d.e), &d.e);
    CHECK_OK(metak_trainer_add(t, str_of(many), str_of(many), &d.e), &d.e);
    CHECK_OK(metak_trainer_flush(t, &d.e), &d.e);
    c = metak_trainer_counts(t);
    CHECK_INT(c.pairs, 1);
    CHECK_INT(c.empty, 2);
    CHECK_INT(c.invalid, 1);
    CHECK_INT(c.cut, 1);
    /* There is no EOS after a text that was cut. */
    CHECK_INT(metak_trainer_samples(t)->n, PAIR_PIECES);
    metak_trainer_free(t);
    desk_close(&d);
}

/* ---- the grid ------------------------------------------------------------ */

static uint64_t state = 5;

static double uniform(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 40) / (1 << 24);
}

static struct metak_samples made_up(int n)
{
    struct metak_samples s = { 0 };

    for (int i = 0; i < n; i++) {
        struct metak_sample it = { .sentence = i / 5, .target = i % 3,
                                   .model = (float)uniform(0.01, 0.9),
                                   .n = i % 17 ? METAK_MOST : i % 4 };
        double d2 = uniform(5, 60);

        for (int j = 0; j < it.n; j++) {
            it.nb[j] = (struct neighbor){ .d2 = (float)(d2 += uniform(0, 9)) };
            it.nb[j].token = (int32_t)uniform(0, 4);
        }
        CHECK(metak_samples_add(&s, &it));
    }
    return s;
}

/* Bisection finds the lambda that trying all of them finds. */
TEST(each_cell_has_its_best_lambda)
{
    struct metak_samples s = made_up(400);
    struct fixed_setting cells[GRID_CELLS];
    struct err e;
    int best = -1;

    CHECK_OK(metak_grid(&s, cells, &best, NULL, NULL, &e), &e);
    for (int i = 0; i < GRID_CELLS; i++) {
        double lambda, loss = metak_loss_fixed(&s, cells[i].k, cells[i].tau,
                                               &lambda);

        CHECK_INT(cells[i].k, grid_ks[i / GRID_TAUS]);
        CHECK_NEAR(cells[i].tau, grid_taus[i % GRID_TAUS], 0);
        CHECK_NEAR(cells[i].lambda, lambda, 1e-12);
        CHECK_NEAR(cells[i].loss, loss, 1e-12);
        CHECK_NEAR(fixed_setting_loss(&cells[i], &s), loss, 1e-12);
        CHECK(cells[best].loss <= cells[i].loss);
    }
    metak_samples_release(&s);
}

static int stop(void *user, int done, int total)
{
    (void)total;
    return done == *(int *)user;
}

TEST(the_grid_can_be_stopped)
{
    struct metak_samples s = made_up(20);
    struct fixed_setting cells[GRID_CELLS];
    struct err e;
    int best, at = 3;

    CHECK_INT(metak_grid(&s, cells, &best, stop, &at, &e), ST_CANCELED);
    metak_samples_release(&s);
}
