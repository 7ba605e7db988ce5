/* fuzz_family_marian.c - plans a Marian model in which one file consists of any
 * bytes: decoder.yml, the vocabulary in one of its forms, the settings, the
 * SentencePiece model, README.md or preprocess.sh.
 *
 * The first byte of an input says which. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/made_marian.h"
#include "../unit/made_spm.h"
#include "convert/family.h"
#include "convert/tensor_step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum part { PART_DECODER, PART_YML, PART_LINES, PART_SPM_VOCAB, PART_SETTINGS,
            PART_SPM, PART_README, PART_SCRIPT, PARTS };

static const char *const names[PARTS] = {
    "decoder.yml", "v.yml", "v.vocab", "v.spm", NULL, "source.spm",
    "README.md", "preprocess.sh",
};
static const char *const vocab_names[PARTS] = {
    [PART_LINES] = "v.vocab", [PART_SPM_VOCAB] = "v.spm",
};
static const char *const texts[PARTS] = {
    [PART_YML] = "\"a\": 0\n</s>: 1\n<unk>: 2\nb: 3\n'>>deu<<': 4\n",
    [PART_README] = "* source language(s): deu\n",
};
static const struct made_marian tiny = {
    .d = 8, .heads = 2, .ffn = 8, .dec_ffn = 8, .enc = 1, .dec = 1,
    .v_src = 5, .v_tgt = 5, .one_table = true, .tied = true, .bias = true,
};
static const struct spec pieces[] = {
    { "<unk>", 0, UNK }, { SP, -2, NORMAL }, { "a", -3, NORMAL },
    { "q", -3, NORMAL },
};

static void zero_tensor(void *user, const char *name, int rows, int cols)
{
    static const float zeros[64];

    made_npz_add(user, name, "<f4", rows, cols, zeros,
                 (size_t)(rows * cols) * sizeof *zeros);
}

static void add_weights(struct made_zip *package, const uint8_t *settings,
                        size_t size)
{
    struct made_zip npz;

    made_zip_init(&npz);
    made_marian_each(&tiny, zero_tensor, &npz);
    if (settings) made_marian_yml(&npz, (const char *)settings, size);
    else made_marian_settings(&tiny, &npz);
    made_zip_end(&npz);
    made_zip_add(package, "opus.npz", npz.out.data, npz.out.len);
    made_zip_release(&npz);
}

static void add_usual(struct made_zip *z, enum part part,
                      const char *vocab)
{
    struct strbuf text;

    strbuf_init(&text, 0);
    if (part == PART_DECODER)
        strbuf_addf(&text, "models: [opus.npz]\nvocabs: [%s, %s]\n", vocab,
                    vocab);
    else if (part == PART_SPM)
        make_model(&text, 1, pieces, sizeof pieces / sizeof *pieces);
    else if (texts[part])
        strbuf_adds(&text, texts[part]);
    if (text.len) made_zip_add(z, names[part], text.data, text.len);
    strbuf_release(&text);
}

static void make_package(struct made_zip *z, enum part changed,
                         const uint8_t *data, size_t size)
{
    const char *vocab = vocab_names[changed] ? vocab_names[changed] : "v.yml";
    struct strbuf spm;

    made_zip_init(z);
    for (enum part p = 0; p < PARTS; p++) {
        if (p == PART_SETTINGS)
            add_weights(z, p == changed ? data : NULL, size);
        else if (p == changed)
            made_zip_add(z, names[p], data, size);
        else
            add_usual(z, p, vocab);
    }
    make_model(&spm, 1, pieces, sizeof pieces / sizeof *pieces);
    made_zip_add(z, "target.spm", spm.data, spm.len);
    strbuf_release(&spm);
    made_zip_end(z);
}

/* The steps of a plan must be found or refused. */
static void try_plan(struct file_set *s)
{
    static const struct family_options none;
    struct model_plan *p;
    struct step_list steps = { 0 };
    struct err e = { 0 };

    if (model_plan_make(&p, s, &none, &e)) {
        if (p || !e.msg[0]) abort();
        return;
    }
    if (step_list_make(&steps, p, &e) && !e.msg[0]) abort();
    step_list_release(&steps);
    model_plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct made_zip z;
    struct file_set *s;
    struct err e = { 0 };
    char path[40];

    if (!size || fd < 0) return 0;
    make_package(&z, (enum part)(data[0] % PARTS), data + 1, size - 1);
    if (write(fd, z.out.data, z.out.len) != (ssize_t)z.out.len) abort();
    made_zip_release(&z);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (file_set_open(&s, path, &e)) abort();
    try_plan(s);
    file_set_close(s);
    close(fd);
    return 0;
}
