/* test_hf_names.c - which tables a model of Hugging Face has, when writers
 * leave out those that are equal, and what they keep is not fixed. */
#include "convert/hf_names.h"
#include "made_tensors.h"

enum { V = 3, D = 2 };

/* Tables of a checkpoint: "shared source target lm_head", each '-' (it is not
 * there) or a digit. Equal digits are equal values. */
static struct made_file *tables(const char *which)
{
    static const char *const names[] = {
        "model.shared.weight", "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight", "lm_head.weight",
    };
    struct made_file *m = made_new();

    made_add(m, "model.encoder.layers.0.fc1.weight", D, D, 1);
    for (size_t i = 0; i < COUNT(names); i++)
        if (which[i] != '-') made_add(m, names[i], V, D, (float)which[i]);
    return m;
}

struct outcome {
    struct hf_names n;
    struct model_plan p;
    enum status st;
    struct err e;
};

static void init(struct outcome *o, const char *which, enum hf_tie sides,
                 enum hf_tie output)
{
    memset(o, 0, sizeof *o);
    o->p.tensors = made_checkpoint(tables(which));
    o->st = hf_names_init(&o->n, &o->p, &(struct hf_rules){
        sides, output, "final_logits_bias" }, &o->e);
}

/* The digits of the tables that are used for source, target and projection, and
 * whether the sides share a table and the projection is that of the target. */
static void check_tables(const char *which, enum hf_tie sides,
                         enum hf_tie output, const char *want, bool shared,
                         bool tied)
{
    struct outcome o;

    init(&o, which, sides, output);
    if (CHECK_OK(o.st, &o.e)) {
        const char *const used[] = { o.n.source, o.n.target, o.n.project };

        for (size_t i = 0; i < COUNT(used); i++) {
            struct tensor_file *f;
            struct file_tensor *t = checkpoint_find(o.p.tensors, used[i], &f);
            struct made_file *m = (struct made_file *)f;

            if (CHECK(t != NULL))
                CHECK_INT((int)m->values[t->index][0], want[i]);
        }
        if (o.p.shared_table != shared || o.p.tied != tied)
            test_fail(__FILE__, __LINE__, "%s: shared %d, tied %d", which,
                      o.p.shared_table, o.p.tied);
        CHECK_STR(o.n.prefix, "model.");
        CHECK(!o.p.output_bias);
    }
    checkpoint_close(o.p.tensors);
}

TEST(equal_tables_may_be_left_out)
{
    enum hf_tie no = HF_TIE_NO, yes = HF_TIE_YES, by = HF_TIE_BY_VALUE;

    check_tables("1---", yes, yes, "111", true, true);
    check_tables("-1--", yes, yes, "111", true, true);
    check_tables("--1-", yes, yes, "111", true, true);
    check_tables("---1", yes, yes, "111", true, true);
    check_tables("1111", yes, yes, "111", true, true);
    check_tables("1--2", yes, no, "112", true, false);
    check_tables("-12-", no, yes, "122", false, true);
    check_tables("-122", no, yes, "122", false, true);
    check_tables("-123", no, no, "123", false, false);
    check_tables("112-", no, yes, "122", false, true);
    check_tables("-112", by, by, "112", true, false);
    check_tables("-122", by, by, "122", false, true);
    check_tables("-11-", by, by, "111", true, true);
    check_tables("-123", by, by, "123", false, false);
}

static void refused(const char *which, enum hf_tie sides, enum hf_tie output,
                    const char *says)
{
    struct outcome o;

    init(&o, which, sides, output);
    CHECK_INT(o.st, ST_FORMAT);
    if (!strstr(o.e.msg, says))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", o.e.msg, says);
    checkpoint_close(o.p.tensors);
}

TEST(tables_must_be_as_the_settings_say)
{
    refused("----", HF_TIE_YES, HF_TIE_YES, "no table of the target");
    refused("-12-", HF_TIE_YES, HF_TIE_YES, "should be the same table");
    refused("1--2", HF_TIE_YES, HF_TIE_YES, "should be the same table");
    refused("1---", HF_TIE_YES, HF_TIE_NO, "no projection");
    refused("--1-", HF_TIE_NO, HF_TIE_YES, "no table of the source");
}

/* A copy is passed over; another table is left over, which is refused later. */
TEST(only_copies_are_passed_over)
{
    struct outcome o;
    struct file_tensor *t;

    init(&o, "112-", HF_TIE_NO, HF_TIE_YES);
    t = checkpoint_find(o.p.tensors, "model.shared.weight", NULL);
    CHECK(t && t->used);
    checkpoint_close(o.p.tensors);
    init(&o, "312-", HF_TIE_NO, HF_TIE_YES);
    t = checkpoint_find(o.p.tensors, "model.shared.weight", NULL);
    CHECK(t && !t->used);
    checkpoint_close(o.p.tensors);
}

TEST(rows_of_tables_are_checked)
{
    struct outcome o;

    init(&o, "1---", HF_TIE_YES, HF_TIE_YES);
    CHECK_OK(hf_names_check_rows(&o.n, &o.p, V, V, &o.e), &o.e);
    CHECK_INT(hf_names_check_rows(&o.n, &o.p, V, V + 1, &o.e), ST_FORMAT);
    CHECK(strstr(o.e.msg, "has 3 rows, but config.json says 4"));
    checkpoint_close(o.p.tensors);

    init(&o, "1--2", HF_TIE_YES, HF_TIE_NO);
    CHECK_OK(hf_names_check_rows(&o.n, &o.p, V, V, &o.e), &o.e);
    checkpoint_find(o.p.tensors, "lm_head.weight", NULL)->shape[0]++;
    CHECK_INT(hf_names_check_rows(&o.n, &o.p, V, V, &o.e), ST_FORMAT);
    CHECK(strstr(o.e.msg, "\"lm_head.weight\" has 4 rows"));
    checkpoint_close(o.p.tensors);
}

static void check_place(const struct hf_names *n, enum stack stack,
                        const char *name, int part, enum tensor_role role,
                        const char *want)
{
    struct tensor_place place;

    hf_names_place(n, &(struct tensor_query){ stack, 4, name, part, role },
                   &place);
    CHECK_STR(place.name, want);
    CHECK(!place.transposed && !place.first && !place.whole);
}

TEST(tensors_have_the_names_of_fairseq)
{
    struct outcome o;

    init(&o, "1---", HF_TIE_YES, HF_TIE_YES);
    check_place(&o.n, STACK_ENCODER, "self.qkv", 1, ROLE_WEIGHT,
                "model.encoder.layers.4.self_attn.k_proj.weight");
    check_place(&o.n, STACK_DECODER, "cross.kv", 1, ROLE_BIAS,
                "model.decoder.layers.4.encoder_attn.v_proj.bias");
    check_place(&o.n, STACK_DECODER, "ffn.norm", 0, ROLE_NORM_GAIN,
                "model.decoder.layers.4.final_layer_norm.weight");
    check_place(&o.n, STACK_ENCODER, "norm", 0, ROLE_NORM_BIAS,
                "model.encoder.layer_norm.bias");
    check_place(&o.n, STACK_NONE, "emb", 0, ROLE_WEIGHT,
                "model.shared.weight");
    check_place(&o.n, STACK_NONE, "pos.tgt", 0, ROLE_WEIGHT,
                "model.decoder.embed_positions.weight");
    check_place(&o.n, STACK_NONE, "project", 0, ROLE_BIAS, "");
    checkpoint_close(o.p.tensors);
}
