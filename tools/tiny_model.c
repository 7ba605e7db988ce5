/* tiny_model.c - writes a small random model folder for tests.
 *
 *     tiny_model OUTDIR [options]
 *
 * writes OUTDIR/{model.safetensors,config.json,spm.model} in the form that
 * `skmt convert` reads (docs/formats/model.md). The weights are random, so the
 * model translates into nonsense, but always into the same nonsense: every
 * kernel and every batch size must give the same translations.
 *
 *     --spm PATH     copy this tokenizer (default: a generated one)
 *     --d N --heads N --ffn N --dec-ffn N --enc N --dec N
 *                    sizes (32, 4, 64, 64, 2, 2)
 *     --vocab N      rows of the embeddings (default: pieces of the tokenizer)
 *     --positions N  number of positions (64)    --offset N  the first one (0)
 *     --post         norms after each block      --no-final-norm
 *     --act A        relu, gelu, silu            --pos P  halves, interleaved
 *                                                         or learned
 *     --separate     own tables for source, target and projection
 *     --bias         projection with a bias      --no-bias  no other biases
 *     --prefix ID    a token before the source
 *     --type T       F32, F16, BF16              --seed N
 *     --skip NAME --nan NAME --extra NAME
 *                    omit a tensor, put a NaN in it, or add one, to test
 *                    that the converter rejects the model
 *
 * Prints errors to stderr. The exit status is 2 for a usage error and 1 for any
 * other error. */
#include "tiny_model.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "text/subword.h"

/* Whether argument *i is the option `name`. If so, *i is advanced to its
 * value. */
static bool is(const char *name, int argc, char **argv, int *i)
{
    if (strcmp(argv[*i], name) || *i + 1 >= argc) return false;
    ++*i;
    return true;
}

static bool number_option(struct tiny *o, int argc, char **argv, int *i)
{
    const struct { const char *name; int *at; } list[] = {
        { "--d", &o->d },             { "--heads", &o->heads },
        { "--ffn", &o->ffn },         { "--dec-ffn", &o->dec_ffn },
        { "--enc", &o->enc_layers },  { "--dec", &o->dec_layers },
        { "--vocab", &o->vocab },     { "--positions", &o->max_positions },
        { "--offset", &o->offset },   { "--prefix", &o->prefix_id },
    };

    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (is(list[k].name, argc, argv, i)) {
            *list[k].at = atoi(argv[*i]);
            return true;
        }
    if (!is("--seed", argc, argv, i)) return false;
    o->seed = strtoull(argv[*i], NULL, 10);
    return true;
}

static bool text_option(struct tiny *o, int argc, char **argv, int *i)
{
    const struct { const char *name; const char **at; } list[] = {
        { "--act", &o->act },   { "--pos", &o->pos },   { "--type", &o->type },
        { "--spm", &o->spm },   { "--skip", &o->skip }, { "--nan", &o->nan },
        { "--extra", &o->extra },
    };

    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (is(list[k].name, argc, argv, i)) {
            *list[k].at = argv[*i];
            return true;
        }
    return false;
}

static bool flag(struct tiny *o, const char *arg)
{
    if (!strcmp(arg, "--post")) o->post = true;
    else if (!strcmp(arg, "--no-final-norm")) o->final_norm = false;
    else if (!strcmp(arg, "--separate")) o->separate = true;
    else if (!strcmp(arg, "--bias")) o->out_bias = true;
    else if (!strcmp(arg, "--no-bias")) o->no_bias = true;
    else return false;
    return true;
}

static bool parse(struct tiny *o, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (!flag(o, argv[i]) && !number_option(o, argc, argv, &i) &&
            !text_option(o, argc, argv, &i)) {
            fprintf(stderr, "tiny_model: what is %s?\n", argv[i]);
            return false;
        }
    if (!strcmp(o->pos, "halves")) o->pos = "sinusoidal-halves";
    if (!strcmp(o->pos, "interleaved")) o->pos = "sinusoidal-interleaved";
    return true;
}

static bool count_pieces(struct tiny *o)
{
    struct subword *sw = NULL;
    struct mapping m = { 0 };
    struct err e;
    enum status st = mapping_open(&m, o->spm, &e);

    if (!st) st = subword_open(&sw, m.data, m.size, &e);
    if (st) fprintf(stderr, "tiny_model: %s\n", e.msg);
    else o->spm_pieces = subword_size(sw);
    subword_close(sw);
    mapping_close(&m);
    return !st;
}

int main(int argc, char **argv)
{
    struct tiny o = TINY_DEFAULT;

    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: tiny_model OUTDIR [options]; the options are "
                "in its source\n");
        return 2;
    }
    if (!parse(&o, argc, argv)) return 2;
    if (o.spm && !count_pieces(&o)) return 1;
    if (mkdir(argv[1], 0777) && errno != EEXIST) {
        perror(argv[1]);
        return 1;
    }
    if (!tiny_write(argv[1], &o)) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
