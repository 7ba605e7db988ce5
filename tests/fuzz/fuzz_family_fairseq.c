/* fuzz_family_fairseq.c - plans a model of fairseq in which one file consists
 * of any bytes: a dictionary, the BPE codes, the SentencePiece model, the
 * settings in the checkpoint, or the whole checkpoint.
 *
 * The first byte of an input says which. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/made_fairseq.h"
#include "../unit/made_spm.h"
#include "../unit/made_zip.h"
#include "convert/family.h"
#include "convert/tensor_step.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum part { PART_SOURCE, PART_TARGET, PART_CODES, PART_SPM, PART_SETTINGS,
            PART_CHECKPOINT, PARTS };

static const char *const names[PARTS] = {
    "dict.de.txt", "dict.en.txt", "bpecodes", "spm.model", NULL, "model.pt",
};
static const char *const texts[PARTS] = {
    "ab 9\na@@ 8\nmadeupword0000 0\n", "b 3\nx 1\na 1\n",
    "a b</w> 9\n",
};
static const struct made_fairseq tiny = {
    .d = 4, .ffn = 4, .dec_ffn = 4, .enc = 1, .dec = 1, .v_src = 7, .v_tgt = 7,
};
static const struct spec pieces[] = {
    { "<unk>", 0, UNK }, { SP, -2, NORMAL }, { "a", -3, NORMAL },
    { "q", -3, NORMAL },
};

static void zero_tensor(void *user, const char *name, int rows, int cols)
{
    static const float zeros[64];

    made_checkpoint_add(user, name, rows, cols, zeros);
}

/* `settings` are opcodes of a pickle; NULL: the usual ones. */
static void add_checkpoint(struct made_zip *z, const uint8_t *settings,
                           size_t size)
{
    const char *at = "argparse.Namespace{'arch': 'transformer',"
        " 'encoder_attention_heads': 2, 'decoder_attention_heads': 2,"
        " 'source_lang': 'de', 'target_lang': 'en'}";
    struct made_checkpoint c;
    struct strbuf args, out;

    strbuf_init(&args, 0);
    strbuf_init(&out, 0);
    put_value(&args, &at);
    made_checkpoint_init(&c, 2000);
    made_fairseq_each(&tiny, zero_tensor, &c);
    made_checkpoint_end(&c, &out, settings ? (const void *)settings : args.data,
                        settings ? size : args.len);
    made_zip_add(z, names[PART_CHECKPOINT], out.data, out.len);
    strbuf_release(&args);
    strbuf_release(&out);
}

static void add_spm(struct made_zip *z)
{
    struct strbuf spm;

    make_model(&spm, 1, pieces, sizeof pieces / sizeof *pieces);
    made_zip_add(z, names[PART_SPM], spm.data, spm.len);
    strbuf_release(&spm);
}

/* A model has codes or a SentencePiece model. */
static bool part_left_out(enum part p, enum part changed)
{
    return changed == PART_SPM ? p == PART_CODES : p == PART_SPM;
}

static void make_package(struct made_zip *z, enum part changed,
                         const uint8_t *data, size_t size)
{
    made_zip_init(z);
    for (enum part p = 0; p < PARTS; p++) {
        if (p == changed && names[p])
            made_zip_add(z, names[p], data, size);
        else if (p == PART_SETTINGS && changed != PART_CHECKPOINT)
            add_checkpoint(z, p == changed ? data : NULL, size);
        else if (texts[p] && !part_left_out(p, changed))
            made_zip_add(z, names[p], texts[p], strlen(texts[p]));
    }
    /* Beside codes, it is only used if the settings say so. */
    if (changed == PART_SETTINGS) add_spm(z);
    made_zip_end(z);
}

/* The steps of a plan must be found or refused. Returns whether there is a
 * plan. */
static bool try_plan(struct file_set *s)
{
    static const struct family_options o = { .family = "fairseq" };
    struct model_plan *p;
    struct step_list steps = { 0 };
    struct err e = { 0 };

    if (model_plan_make(&p, s, &o, &e)) {
        if (p || !e.msg[0]) abort();
        return false;
    }
    if (step_list_make(&steps, p, &e) && !e.msg[0]) abort();
    step_list_release(&steps);
    model_plan_free(p);
    return true;
}

/* With PARTS, nothing is changed. */
static bool try_package(enum part changed, const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct made_zip z;
    struct file_set *s;
    struct err e = { 0 };
    char path[40];
    bool planned;

    make_package(&z, changed, data, size);
    if (fd < 0 || write(fd, z.out.data, z.out.len) != (ssize_t)z.out.len)
        abort();
    made_zip_release(&z);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (file_set_open(&s, path, &e)) abort();
    planned = try_plan(s);
    file_set_close(s);
    close(fd);
    return planned;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (!try_package(PARTS, NULL, 0)) abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size) try_package((enum part)(data[0] % PARTS), data + 1, size - 1);
    return 0;
}
