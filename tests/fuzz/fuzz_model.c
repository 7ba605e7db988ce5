/* fuzz_model.c - any bytes as a model file must be refused or used safely.
 *
 * Wrong checksums would keep a fuzzer from reaching our own code. Therefore the
 * first byte of an input says what the rest is:
 *
 *     0       a file, used as it is
 *     1       a file whose checksums are corrected
 *     others  changes to a small good model, whose checksums are corrected
 *             afterwards: records of 12 bytes
 *             { region, number of bytes, position, value }
 *
 * The third kind needs no seeds. If the file opens, the fuzzer reads the first
 * and last bytes of every tensor and a row of every table, encodes a text with
 * the tokenizer, and runs a few steps of the search with whatever numbers the
 * weights are. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/tiny_model.h"
#include "base/file.h"
#include "convert/convert.h"
#include "model/weights.h"
#include "nn/cpu_backend.h"
#include "reseal.h"
#include "search/batch.h"

static uint8_t *good;           /* a model file */
static size_t good_size;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes a model folder, converts it, reads the result and removes the
 * files. */
static void make_good(const char *dir)
{
    struct tiny o = TINY_DEFAULT;
    char path[4][64];
    char *text;
    struct err e;
    static const char *const names[] = { "m.skmt", "model.safetensors",
                                         "config.json", "spm.model" };

    o.d = o.ffn = o.dec_ffn = 8;
    o.heads = 2;
    o.enc_layers = o.dec_layers = 1;
    o.pos = "learned";
    o.out_bias = true;
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
    if (!tiny_write(dir, &o) ||
        convert_model(dir, DT_I8, path[0], NULL, NULL, &e) ||
        file_read(&text, &good_size, path[0], 1 << 28, &e))
        abort();
    good = (uint8_t *)text;
    for (int i = 0; i < 4; i++) unlink(path[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char dir[] = "/tmp/skmt-fuzz-XXXXXX";

    (void)argc;
    (void)argv;
    if (!mkdtemp(dir)) abort();
    make_good(dir);
    rmdir(dir);
    return 0;
}

/* ---- reading a model ---- */

static volatile unsigned sink;

static void read_ends(const void *p, uint64_t bytes)
{
    const uint8_t *b = p;

    sink += b[0] + b[bytes - 1];
}

static void read_linear(const struct linear *l)
{
    float *row = calloc((size_t)l->k, sizeof *row);
    int padded = pad_to(l->n, PANEL);

    if (!row) return;
    linear_row(l, 0, row);
    linear_row(l, l->n - 1, row);
    if (l->scale) read_ends(l->scale, (uint64_t)padded * 4);
    if (l->comp) read_ends(l->comp, (uint64_t)padded * 4);
    if (l->bias) read_ends(l->bias, (uint64_t)padded * 4);
    free(row);
}

static void read_layers(const struct weights *w)
{
    uint64_t norm = (uint64_t)w->cfg.d_model * 4;

#define L(field, name, n, k) read_linear(&layer->field);
#define N(field, name) \
    read_ends(layer->field.gain, norm); read_ends(layer->field.bias, norm);
    for (int i = 0; i < w->cfg.encoder_layers; i++) {
        const struct encoder_layer *layer = &w->enc[i];
        ENCODER_LAYER_WEIGHTS(L, N)
    }
    for (int i = 0; i < w->cfg.decoder_layers; i++) {
        const struct decoder_layer *layer = &w->dec[i];
        DECODER_LAYER_WEIGHTS(L, N)
    }
}

static void read_text(const struct weights *w)
{
    struct pieces p = { 0 };
    struct err e;

    subword_encode(w->src_subword, "the cat in A\xc3\xa9", 14, &p, &e);
    for (size_t i = 0; i < p.n; i++)
        if (p.at[i].id < 0 || p.at[i].id >= w->cfg.vocab_size) abort();
    pieces_release(&p);
}

static void read_all(const struct weights *w)
{
    uint64_t table = (uint64_t)w->cfg.max_positions *
                     (uint64_t)w->cfg.d_model * 4;

    read_linear(&w->src_emb);
    read_linear(&w->tgt_emb);
    read_linear(&w->project);
    if (w->src_pos) read_ends(w->src_pos, table);
    if (w->tgt_pos) read_ends(w->tgt_pos, table);
    read_layers(w);
    read_text(w);
}

/* Decodes one job in a batch of one lane. */
static void decode_job(const struct backend *backend, struct job *j)
{
    struct batch_limits l = { .lanes = 1, .rows = j->o.beam,
        .max_beam = j->o.beam, .max_source = j->n_src, .max_len = j->max_len };
    struct batch *b = NULL;
    struct job *done = NULL;
    struct err e;

    if (!batch_new(&b, backend, &l, NULL, &e) && !batch_add(b, &j, 1, &e)) {
        while (!done)
            if (batch_step(b, &done, &e)) abort();
        for (int i = 0; i < j->n_hyps; i++) sink += (unsigned)j->hyps[i].n;
    }
    batch_free(b);
}

/* Translates a sentence of three ids. */
static void translate(const struct weights *w, const struct kernels *k)
{
    struct search_options o = { .beam = 2, .nbest = 2, .lenpen = 0.6,
                                .max_len_b = 3, .attention = true };
    int32_t src[] = { w->cfg.eos_id, 0, w->cfg.vocab_size - 1 };
    struct net *net = NULL;
    struct backend *backend = NULL;
    struct job *j = NULL;
    struct err e;

    if (!net_open(&net, w, k, &e) && net->max_pos >= 4 &&
        !cpu_backend_new(&backend, net, &e) &&
        !job_new(&j, &o, backend->max_pos, src, 3, NULL, 0, &e))
        decode_job(backend, j);
    job_free(j);
    backend_close(backend);
    net_close(net);
}

/* Translates only if the network is small. */
static void translate_small(const struct weights *w)
{
    const struct config *c = &w->cfg;

    if (c->d_model > 64 || c->ffn > 64 || c->ffn_decoder > 64 ||
        c->encoder_layers > 2 || c->decoder_layers > 2 ||
        c->max_positions > 1024 || c->vocab_size > 1000)
        return;
    translate(w, kernels_for(ISA_REF));
    translate(w, NULL);
}

/* ---- inputs ---- */

static void try_file(const uint8_t *file, size_t size)
{
    struct mfile *f;
    struct weights *w;
    struct err e = { 0 };

    if (!mfile_open_memory(&f, file, size, "fuzz", &e)) {
        if (!weights_from(&w, f, &e)) {
            read_all(w);
            translate_small(w);
        }
        weights_close(w);
    }
    if (e.status && !e.msg[0]) abort();         /* no message */
}

/* Applies one record: changes bytes of the header, the config, the directory or
 * the whole file. */
static void change(uint8_t *file, const uint8_t r[12])
{
    const struct mfile_header *h = (const void *)good;
    uint64_t at = (uint64_t)r[2] | (uint64_t)r[3] << 8;
    uint64_t begin[] = { 0, h->config_offset, h->directory_offset, at * 61 };
    uint64_t size[] = { sizeof *h, h->config_size,
                        h->count * sizeof(struct mfile_entry), good_size };
    size_t which = r[0] % 4, n = (size_t)1 << r[1] % 4;
    uint64_t pos = (begin[which] + at % size[which]) % (good_size - 8);

    memcpy(file + pos, r + 4, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    void *block;
    uint8_t *file;

    if (!size) return 0;
    n = data[0] < 2 ? size - 1 : good_size;
    /* Not mem_alloc(), which rounds up and would hide reads past the end. */
    if (posix_memalign(&block, MFILE_ALIGN, n)) return 0;
    file = block;
    memcpy(file, data[0] < 2 ? data + 1 : good, n);
    for (size_t i = 1; data[0] >= 2 && i + 12 <= size; i += 12)
        change(file, data + i);
    if (data[0]) reseal(file, n);
    try_file(file, n);
    free(block);
    return 0;
}
