/* test_hf_files.c - opens the weights of folders of Hugging Face: one file or
 * several, in both forms, and wrong indexes. The files of tensors are those of
 * tests/data/torch. */
#include "test.h"

#include "base/file.h"
#include "convert/hf_files.h"
#include "scratch_dir.h"

static void copy_sample(const struct scratch *s, const char *sample,
                        const char *name)
{
    char path[100], *bytes = NULL;
    size_t size = 0;
    struct err e;
    FILE *f;

    snprintf(path, sizeof path, "../data/torch/%s", sample);
    CHECK_OK(file_read(&bytes, &size, test_data(path), 1 << 20, &e), &e);
    f = fopen(scratch_path(s, name), "wb");
    CHECK(f && fwrite(bytes, 1, size, f) == size);
    CHECK(!fclose(f));
    free(bytes);
}

/* A safetensors file with one tensor of one zero. */
static void write_safetensors(const struct scratch *s, const char *name,
                              const char *tensor)
{
    char head[200];
    int n = snprintf(head, sizeof head, "{\"%s\":{\"dtype\":\"F32\",\"shape\":"
                     "[1],\"data_offsets\":[0,4]}}", tensor);
    FILE *f = fopen(scratch_path(s, name), "wb");

    REQUIRE(f != NULL);
    fprintf(f, "%c%c%c%c%c%c%c%c%s%c%c%c%c", n, 0, 0, 0, 0, 0, 0, 0, head, 0,
            0, 0, 0);
    CHECK(!fclose(f));
}

static enum status open_folder(struct checkpoint **c, const struct scratch *s,
                               enum hf_form first, struct err *e)
{
    struct file_set *set;
    enum status st = file_set_open(&set, s->dir, e);

    *c = NULL;
    if (st) return st;
    CHECK(hf_files_exist(set));
    st = hf_files_open(c, set, first, e);
    file_set_close(set);
    return st;
}

/* The number of tensors in a folder; -1 if it cannot be opened. */
static int count_in(const struct scratch *s, enum hf_form first)
{
    struct checkpoint *c;
    struct err e;
    int n = 0;

    if (!CHECK_OK(open_folder(&c, s, first, &e), &e)) return -1;
    while (checkpoint_at(c, n, NULL)) n++;
    checkpoint_close(c);
    return n;
}

static void fails(const struct scratch *s, const char *why)
{
    struct checkpoint *c;
    struct err e = { 0 };

    CHECK_INT(open_folder(&c, s, HF_TORCH, &e), ST_FORMAT);
    CHECK(!c);
    if (!strstr(e.msg, why))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, why);
    checkpoint_close(c);
}

TEST(opens_the_form_that_is_preferred)
{
    struct scratch s;

    REQUIRE(scratch_make(&s));
    copy_sample(&s, "real_zip.pt", "pytorch_model.bin");
    CHECK_INT(count_in(&s, HF_TORCH), 19);
    CHECK_INT(count_in(&s, HF_SAFETENSORS), 19);
    write_safetensors(&s, "model.safetensors", "a");
    CHECK_INT(count_in(&s, HF_TORCH), 19);
    CHECK_INT(count_in(&s, HF_SAFETENSORS), 1);
    scratch_remove(&s);
}

TEST(opens_files_that_an_index_lists)
{
    struct scratch s;

    REQUIRE(scratch_make(&s));
    copy_sample(&s, "real_legacy.pt", "pytorch_model-00001-of-00002.bin");
    copy_sample(&s, "checkpoint.pt", "other.bin");
    scratch_write(&s, "pytorch_model.bin.index.json",
        "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {"
        "\"whole\": \"pytorch_model-00001-of-00002.bin\","
        "\"tied\": \"pytorch_model-00001-of-00002.bin\"}}");
    CHECK_INT(count_in(&s, HF_TORCH), 19);
    scratch_write(&s, "pytorch_model.bin.index.json",
        "{\"weight_map\": {\"gone\": \"pytorch_model-00001-of-00002.bin\"}}");
    fails(&s, "no file has the tensor \"gone\"");
    scratch_write(&s, "pytorch_model.bin.index.json",
                  "{\"weight_map\": {\"whole\": \"none.bin\"}}");
    fails(&s, "there is no file \"none.bin\"");
    scratch_write(&s, "pytorch_model.bin.index.json",
                  "{\"weight_map\": {\"whole\": \"../whole.bin\"}}");
    fails(&s, "there is no file \"../whole.bin\"");
    scratch_write(&s, "pytorch_model.bin.index.json",
                  "{\"weight_map\": {\"whole\": 5}}");
    fails(&s, "\"weight_map\" should name a file for each tensor");
    /* Its tensors are in a dict in the dict. */
    scratch_write(&s, "pytorch_model.bin.index.json",
                  "{\"weight_map\": {\"old\": \"other.bin\"}}");
    fails(&s, "other.bin: it contains no tensors");
    scratch_remove(&s);
}

TEST(refuses_equal_names_in_two_files)
{
    struct scratch s;

    REQUIRE(scratch_make(&s));
    copy_sample(&s, "real_legacy.pt", "1.bin");
    copy_sample(&s, "real_zip.pt", "2.bin");
    scratch_write(&s, "pytorch_model.bin.index.json",
                  "{\"weight_map\": {\"whole\": \"1.bin\","
                  "\"tied\": \"2.bin\"}}");
    fails(&s, "occurs twice");
    scratch_remove(&s);
}
