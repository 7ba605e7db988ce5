/* test_tensor_step.c - the tensors of a model file from those of other files:
 * transposed, mapped, in parts, with bars, read in blocks of any size.
 *
 * The model has one layer in each stack, d_model 4 and 2 heads. */
#include "convert/tensor_step.h"
#include "made_tensors.h"

enum { D = 4, F = 6, DEC_F = 8, V = 5, PADDED = 64 };

/* ---- a plan ---- */

struct layout {
    bool transposed;            /* of matrices of layers */
    bool fused;                 /* q, k and v are rows of one tensor */
    bool no_key_bias;
    bool table_transposed;
};

static const char *short_name(const struct tensor_query *q)
{
    static char name[80];
    const char *stack = q->stack == STACK_ENCODER ? "e" :
                        q->stack == STACK_DECODER ? "d" : "";
    static const char *const roles[] = { "w", "b", "g", "nb" };

    snprintf(name, sizeof name, "%s.%s.%d.%s", stack, q->name, q->part,
             roles[q->role]);
    return name;
}

static void place(const struct model_plan *p, const struct tensor_query *q,
                  struct tensor_place *out)
{
    const struct layout *l = p->own;
    struct tensor_query whole = *q;
    bool fused = l->fused && !strcmp(q->name, "self.qkv");

    *out = (struct tensor_place){ 0 };
    if (fused) whole.part = 0;
    snprintf(out->name, sizeof out->name, "%s", short_name(&whole));
    if (fused) {
        out->first = q->part * D;
        out->whole = 3 * D;
    }
    if (q->role == ROLE_WEIGHT && strncmp(q->name, "pos", 3))
        out->transposed = q->stack == STACK_NONE ? l->table_transposed
                                                 : l->transposed;
    if (l->no_key_bias && q->role == ROLE_BIAS && q->part == 1)
        out->name[0] = 0;
    if (q->stack == STACK_NONE && q->role == ROLE_BIAS && !p->output_bias)
        out->name[0] = 0;
}

static const struct model_plan_ops ops = { .place = place };

static struct layout layout;

static void plan_init(struct model_plan *p)
{
    memset(p, 0, sizeof *p);
    memset(&layout, 0, sizeof layout);
    p->cfg = (struct config){
        .vocab_size = V, .d_model = D, .heads = 2, .ffn = F,
        .ffn_decoder = DEC_F, .encoder_layers = 1, .decoder_layers = 1,
        .positions = POS_HALVES, .max_positions = 8 };
    p->shared_table = p->tied = true;
    p->ops = &ops;
    p->own = &layout;
}

static void add_linear(struct made_file *m, const char *name, int n, int k)
{
    char full[80];

    snprintf(full, sizeof full, "%s.w", name);
    if (layout.transposed) made_add(m, full, k, n, 1);
    else made_add(m, full, n, k, 1);
    snprintf(full, sizeof full, "%s.b", name);
    made_add(m, full, 0, n, 100);
}

static void add_norm(struct made_file *m, const char *name)
{
    char full[80];

    snprintf(full, sizeof full, "%s.g", name);
    made_add(m, full, 1, D, 1);         /* [1, d] is a vector too */
    snprintf(full, sizeof full, "%s.nb", name);
    made_add(m, full, 0, D, 1);
}

static void add_attention(struct made_file *m, const char *stack)
{
    char name[40];

    if (layout.fused) {
        snprintf(name, sizeof name, "%s.self.qkv.0", stack);
        add_linear(m, name, 3 * D, D);
    }
    for (int i = 0; i < 3 && !layout.fused; i++) {
        snprintf(name, sizeof name, "%s.self.qkv.%d", stack, i);
        add_linear(m, name, D, D);
        if (i == 1 && layout.no_key_bias) free(m->values[--m->base.n]);
    }
    snprintf(name, sizeof name, "%s.self.out.0", stack);
    add_linear(m, name, D, D);
}

static void add_layer(struct made_file *m, const char *stack, int f)
{
    char name[40];

    add_attention(m, stack);
    snprintf(name, sizeof name, "%s.ffn.up.0", stack);
    add_linear(m, name, f, D);
    snprintf(name, sizeof name, "%s.ffn.down.0", stack);
    add_linear(m, name, D, f);
    snprintf(name, sizeof name, "%s.self.norm.0", stack);
    add_norm(m, name);
    snprintf(name, sizeof name, "%s.ffn.norm.0", stack);
    add_norm(m, name);
}

/* All tensors but the tables. */
static struct made_file *layers(void)
{
    struct made_file *m = made_new();

    add_layer(m, "e", F);
    add_layer(m, "d", DEC_F);
    add_linear(m, "d.cross.q.0", D, D);
    add_linear(m, "d.cross.kv.0", D, D);
    add_linear(m, "d.cross.kv.1", D, D);
    if (layout.no_key_bias) free(m->values[--m->base.n]);
    add_linear(m, "d.cross.out.0", D, D);
    add_norm(m, "d.cross.norm.0");
    return m;
}

static const struct tensor_step *find_step(const struct step_list *l,
                                           const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->at[i].name, name)) return &l->at[i];
    test_fail(__FILE__, __LINE__, "there is no step %s", name);
    return NULL;
}

/* Read a step in blocks of every size; all must give the same. */
static void check_values(const struct step_list *l, const char *name,
                         const float *want)
{
    const struct tensor_step *s = find_step(l, name);
    float got[PADDED * 8];
    struct err e;

    for (int block = 1; s && block <= s->rows; block++) {
        memset(got, 0xff, sizeof got);
        for (int row = 0; row < s->rows; row += block) {
            int n = s->rows - row < block ? s->rows - row : block;

            CHECK_OK(tensor_step_read(s, row, n, got + row * s->cols, &e),
                     &e);
        }
        CHECK_MEM(got, want, (size_t)s->rows * (size_t)s->cols *
                                 sizeof *got);
    }
}

/* Make the steps of a plan whose tensors are in m. */
static void make_list(struct step_list *l, struct model_plan *p,
                      struct made_file *m)
{
    struct err e;

    memset(l, 0, sizeof *l);
    p->tensors = made_checkpoint(m);
    CHECK_OK(step_list_make(l, p, &e), &e);
}

static void list_release(struct step_list *l, struct model_plan *p)
{
    step_list_release(l);
    checkpoint_close(p->tensors);
}

/* Fill rows [n][k] with first + i, as made_add() does. */
static void ascending(float *out, int n, float first)
{
    for (int i = 0; i < n; i++) out[i] = first + (float)i;
}

/* ---- the tests ---- */

/* The parts of a fused tensor are below one another, from three tensors or from
 * one. */
TEST(parts_are_rows_below_one_another)
{
    struct model_plan p;
    struct step_list l;
    float want[3 * D * D], bias[PADDED] = { 0 };
    struct made_file *m;

    plan_init(&p);
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    make_list(&l, &p, m);
    for (int i = 0; i < 3; i++) ascending(want + i * D * D, D * D, 1);
    check_values(&l, "enc.0.self.qkv.w", want);
    for (int i = 0; i < 3; i++) ascending(bias + i * D, D, 100);
    check_values(&l, "enc.0.self.qkv.b", bias);
    list_release(&l, &p);
    plan_init(&p);
    layout.fused = true;
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    make_list(&l, &p, m);
    ascending(want, 3 * D * D, 1);
    check_values(&l, "dec.0.self.qkv.w", want);
    ascending(bias, 3 * D, 100);
    check_values(&l, "dec.0.self.qkv.b", bias);
    list_release(&l, &p);
}

TEST(transposed_tensors_are_turned)
{
    struct model_plan p;
    struct step_list l;
    float want[DEC_F * D];
    struct made_file *m;

    plan_init(&p);
    layout.transposed = layout.fused = true;
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    make_list(&l, &p, m);
    for (int o = 0; o < DEC_F; o++)
        for (int i = 0; i < D; i++)
            want[o * D + i] = (float)(1 + i * DEC_F + o);
    check_values(&l, "dec.0.ffn.up.w", want);
    for (int o = 0; o < D; o++)
        for (int i = 0; i < F; i++) want[o * F + i] = (float)(1 + i * D + o);
    check_values(&l, "enc.0.ffn.down.w", want);
    list_release(&l, &p);
}

TEST(missing_parts_of_a_bias_are_zeros)
{
    struct model_plan p;
    struct step_list l;
    float bias[PADDED] = { 0 };
    struct made_file *m;

    plan_init(&p);
    layout.no_key_bias = true;
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    make_list(&l, &p, m);
    ascending(bias, D, 100);
    ascending(bias + 2 * D, D, 100);
    check_values(&l, "enc.0.self.qkv.b", bias);
    memset(bias + 2 * D, 0, D * sizeof *bias);
    check_values(&l, "dec.0.cross.kv.b", bias);
    list_release(&l, &p);
}

/* Ids have rows in any order; -1 is a row of zeros. A table may have rows that
 * no id has. */
TEST(rows_are_mapped)
{
    static int32_t source[V] = { 2, 3, -1, 0, 6 };
    static int32_t target[V] = { 0, 1, 2, 3, -1 };
    static uint8_t barred[V] = { 0, 1, 0, 0, 0 };
    float want[V * D], bias[PADDED] = { 50, -1e9f, 52, 53, 0 };
    struct model_plan p;
    struct step_list l;

    for (int transposed = 0; transposed < 2; transposed++) {
        struct made_file *m;

        plan_init(&p);
        layout.table_transposed = transposed;
        p.shared_table = false;
        p.output_bias = true;
        p.source_row = source;
        p.target_row = target;
        p.barred = barred;
        m = layers();
        made_add(m, ".emb.src.0.w", transposed ? D : 7, transposed ? 7 : D, 1);
        made_add(m, ".emb.tgt.0.w", transposed ? D : 4, transposed ? 4 : D, 1);
        made_add(m, ".project.0.b", 1, 4, 50);
        make_list(&l, &p, m);
        for (int i = 0; i < V * D; i++) {
            int row = source[i / D], col = i % D;

            want[i] = row < 0 ? 0 : (float)(1 + (transposed ? col * 7 + row
                                                            : row * D + col));
        }
        check_values(&l, "emb.src.w", want);
        check_values(&l, "project.b", bias);
        list_release(&l, &p);
    }
}

/* Rows that lie one after another are read at once. */
TEST(runs_of_rows_are_read_at_once)
{
    static int32_t rows[V] = { 0, 1, 2, -1, 3 };
    struct made_file *m;
    struct model_plan p;
    struct step_list l;
    float out[V * D];
    struct err e;

    plan_init(&p);
    p.source_row = rows;
    m = layers();
    made_add(m, ".emb.0.w", 4, D, 1);
    make_list(&l, &p, m);
    m->reads = 0;
    CHECK_OK(tensor_step_read(find_step(&l, "emb.w"), 0, V, out, &e), &e);
    CHECK_INT(m->reads, 2);
    list_release(&l, &p);
}

/* A bias is made if an id is barred. A projection of its own has the rows of
 * the target or, without them, of the shared table. */
TEST(bars_make_a_bias)
{
    static int32_t rows[V] = { 4, 3, 2, 1, 0 };
    static uint8_t barred[V] = { 1, 0, 0, 0, 1 };
    float bias[PADDED] = { -1e9f, 0, 0, 0, -1e9f }, want[V * D];
    struct made_file *m;
    struct model_plan p;
    struct step_list l;

    plan_init(&p);
    p.tied = false;
    p.barred = barred;
    p.source_row = rows;
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    made_add(m, ".project.0.w", V, D, 11);
    make_list(&l, &p, m);
    check_values(&l, "project.b", bias);
    for (int i = 0; i < V * D; i++)
        want[i] = (float)(11 + (V - 1 - i / D) * D + i % D);
    check_values(&l, "project.w", want);
    list_release(&l, &p);
}

/* ---- what is refused ---- */

static void refused(struct model_plan *p, struct made_file *m,
                    const char *says)
{
    struct step_list l = { 0 };
    struct err e;

    p->tensors = made_checkpoint(m);
    CHECK_INT(step_list_make(&l, p, &e), ST_FORMAT);
    if (!strstr(e.msg, says) || !strstr(e.msg, "made.bin"))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", e.msg, says);
    CHECK(!l.at);
    checkpoint_close(p->tensors);
}

TEST(tensors_that_do_not_fit_are_refused)
{
    struct model_plan p;
    struct made_file *m;

    plan_init(&p);
    refused(&p, layers(), "tensor \".emb.0.w\" is missing");
    m = layers();
    made_add(m, ".emb.0.w", V + 1, D, 1);
    refused(&p, m, "tensor \".emb.0.w\" has the shape [6, 4], but according to "
            "config.json it should have [5, 4]");
    m = layers();
    made_add(m, ".emb.0.w", V, D, 1);
    made_add(m, "odd", 0, 1, 1);
    refused(&p, m, "tensor \"odd\" is not part of the model that config.json "
            "describes");
    p.described_by = "decoder.yml";
    m = layers();
    made_add(m, ".emb.0.w", 0, D, 1);
    refused(&p, m, "has the shape [4], but according to decoder.yml it should "
            "have [5, 4]");
}

TEST(maps_need_their_rows)
{
    static int32_t rows[V] = { 0, 1, 2, 3, 9 };
    struct model_plan p;
    struct made_file *m;

    plan_init(&p);
    p.source_row = rows;
    m = layers();
    made_add(m, ".emb.0.w", 9, D, 1);
    refused(&p, m, "has the shape [9, 4], but according to config.json it "
            "should have [10, 4] or more rows");
    p.output_bias = true;
    m = layers();
    made_add(m, ".emb.0.w", 10, D, 1);
    made_add(m, ".project.0.b", 1, 9, 1);
    refused(&p, m, "has the shape [1, 9], but according to config.json it "
            "should have [10] or more elements");
}
