/* fuzz_ct2_model.c - plans an Argos package in which one file has any bytes.
 *
 * The first byte of an input selects the file, the rest are its bytes. The
 * tensors of a plan are found and their shapes checked, as for writing a model
 * file. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/made_ct2.h"
#include "../unit/made_spm.h"
#include "convert/family.h"
#include "convert/tensor_step.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MODEL, CONFIG_JSON, VOCABULARY, METADATA, TOKENIZER, FILES };
static const char *const names[FILES] = {
    "model/model.bin", "model/config.json", "model/shared_vocabulary.json",
    "metadata.json", "sentencepiece.model",
};

static char fuzz_dir[] = "/dev/shm/skmt-fuzz-XXXXXX";
static struct strbuf good[FILES];

static void write_bytes(int file, const void *bytes, size_t n)
{
    char path[100];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", fuzz_dir, names[file]);
    out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, n, out) != n || fclose(out)) abort();
}

static void remove_files(void)
{
    char path[100];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_dir, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/model", fuzz_dir);
    rmdir(path);
    rmdir(fuzz_dir);
}

static void make_files(void)
{
    static const struct spec pieces[] = {
        { "<unk>", 0, UNK }, { "<s>", 0, CONTROL }, { "</s>", 0, CONTROL },
        { "a", -1, NORMAL }, { SP, -2, NORMAL }, { SP "a", -3, NORMAL },
    };
    struct made_ct2 m;

    ct2_begin_model(&m, 6, NULL);
    ct2_end_model(&m);
    good[MODEL] = m.b;
    for (int i = CONFIG_JSON; i <= METADATA; i++) strbuf_init(&good[i], 0);
    strbuf_adds(&good[CONFIG_JSON], "{\"add_source_eos\": true}");
    strbuf_adds(&good[VOCABULARY], "[\"<unk>\", \"<s>\", \"</s>\", \"a\", "
                "\"\xE2\x96\x81\", \"__de__\", \"__en__\", \"\", \"b\"]");
    strbuf_adds(&good[METADATA], "{\"from_code\": \"de\", \"to_code\": "
                "\"en\", \"target_prefix\": \"b\"}");
    make_model(&good[TOKENIZER], 1, pieces, sizeof pieces / sizeof *pieces);
    for (int i = 0; i < FILES; i++)
        write_bytes(i, good[i].data, good[i].len);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[100];

    (void)argc;
    (void)argv;
    if (!mkdtemp(fuzz_dir)) abort();
    snprintf(path, sizeof path, "%s/model", fuzz_dir);
    if (mkdir(path, 0700)) abort();
    atexit(remove_files);
    make_files();
    return 0;
}

static void must(bool ok)
{
    if (!ok) abort();
}

static void check_ids(const struct model_plan *p)
{
    const struct config *c = &p->cfg;

    must(c->eos_id >= 0 && c->eos_id < c->vocab_size);
    must(c->start_id >= 0 && c->start_id < c->vocab_size);
    must(c->suffix_id < c->vocab_size && c->prefix_id < c->vocab_size);
    must(!p->barred[c->eos_id]);
    for (int i = 0; i < c->vocab_size; i++) {
        must(!p->source_row || p->source_row[i] < c->vocab_size);
        must(!p->target_row || p->target_row[i] < c->vocab_size);
    }
}

static void try_plan(void)
{
    static const struct family_options none;
    struct step_list steps = { 0 };
    struct model_plan *p;
    struct file_set *s;
    struct err e = { 0 };

    must(!file_set_open(&s, fuzz_dir, &e));
    if (model_plan_make(&p, s, &none, &e)) {
        must(!p && e.msg[0]);
    } else {
        check_ids(p);
        if (step_list_make(&steps, p, &e)) must(e.msg[0] != 0);
        step_list_release(&steps);
    }
    model_plan_free(p);
    file_set_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file;

    if (!size) return 0;
    file = data[0] % FILES;
    write_bytes(file, data + 1, size - 1);
    try_plan();
    write_bytes(file, good[file].data, good[file].len);
    return 0;
}
