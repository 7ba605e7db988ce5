/* test_plan_rows.c - tests of the rows of ids. */
#include "convert/plan_rows.h"
#include "test.h"

static struct model_plan plan_for(bool shared_table, struct plan_side source,
                                  const struct plan_side *target, bool zero)
{
    struct model_plan p = { .shared_table = shared_table };
    struct err e;

    p.cfg.start_id = p.cfg.pad_id = -1;
    CHECK_OK(plan_rows(&p, &source, target, zero, &e), &e);
    return p;
}

/* want: a character for each id: a digit, or '-'. NULL: no map. */
static void check_map(const int32_t *row, const char *want)
{
    CHECK(!row == !want);
    for (size_t i = 0; want && row && want[i]; i++)
        CHECK_INT(row[i], want[i] == '-' ? -1 : want[i] - '0');
}

static void check_plan(struct model_plan *p, int ids, const char *source,
                       const char *target, const char *barred)
{
    CHECK_INT(p->cfg.vocab_size, ids);
    check_map(p->source_row, source);
    check_map(p->target_row, target);
    for (int i = 0; i < ids; i++) CHECK_INT(p->barred[i], barred[i] - '0');
    free(p->source_row);
    free(p->target_row);
    free(p->barred);
}

TEST(ids_in_order_need_no_map)
{
    struct model_plan p = plan_for(true, (struct plan_side){ 5, 5, 1 }, NULL,
                                   false);

    CHECK_INT(p.cfg.unk_id, 1);
    CHECK_INT(p.cfg.start_id, -1);
    plan_bar(&p, 1);
    check_plan(&p, 5, NULL, NULL, "01000");
}

TEST(pieces_without_a_row_have_that_of_unk)
{
    struct plan_side two = { 4, 5, 3 };
    struct model_plan p = plan_for(true, (struct plan_side){ 4, 6, 3 }, NULL,
                                   false);

    check_plan(&p, 6, "012333", NULL, "000011");
    /* Two tokenizers of one vocabulary. */
    p = plan_for(true, (struct plan_side){ 4, 6, 3 }, &two, true);
    CHECK_INT(p.cfg.start_id, 6);
    CHECK_INT(p.cfg.pad_id, 6);
    check_plan(&p, 7, "012333-", NULL, "0000111");
    p = plan_for(false, (struct plan_side){ 4, 6, 3 }, &two, false);
    check_plan(&p, 6, "012333", "01233-", "000011");
}

TEST(vocabularies_may_have_different_sizes)
{
    struct plan_side target = { 3, 4, 2 };
    struct model_plan p = plan_for(false, (struct plan_side){ 5, 5, 1 },
                                   &target, false);

    CHECK_INT(p.cfg.unk_id, 2);
    check_plan(&p, 5, "01234", "0122-", "00011");
    p = plan_for(false, (struct plan_side){ 2, 2, 1 }, &target, true);
    check_plan(&p, 5, "01---", "0122-", "00011");
}
