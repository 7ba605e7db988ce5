/* hf_files.c - opens the weights of a folder of Hugging Face.
 *
 * A single file counts more than an index. The names of files in an index must
 * be files of the set, so that an index cannot lead out of it. */
#include "convert/hf_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/json_config.h"
#include "convert/safetensors_file.h"
#include "convert/torch_file.h"

static const struct hf_form_files { const char *single, *index; } forms[] = {
    [HF_SAFETENSORS] = { "model.safetensors", "model.safetensors.index.json" },
    [HF_TORCH] = { "pytorch_model.bin", "pytorch_model.bin.index.json" },
};

static bool has_form(struct file_set *s, enum hf_form form)
{
    return file_set_has(s, forms[form].single, NULL) ||
           file_set_has(s, forms[form].index, NULL);
}

bool hf_files_exist(struct file_set *s)
{
    return has_form(s, HF_SAFETENSORS) || has_form(s, HF_TORCH);
}

static enum status add_file(struct checkpoint *c, struct file_set *s,
                            const char *name, enum hf_form form, struct err *e)
{
    struct file_stream *in;
    struct tensor_file *f;
    enum status st;

    st = file_stream_open(&in, s, name, e);
    if (st) return st;
    st = form == HF_TORCH ? torch_file_open(&f, in, NULL, e)
                          : safetensors_file_open(&f, in, e);
    return st ? st : checkpoint_add(c, f, e);
}

/* ---- several files ---- */

struct hf_index {
    struct json_config *json;
    const char **files;         /* [n], each once */
    size_t n, cap;
    struct checkpoint *tensors;
    const char *missing;        /* a tensor that does not exist */
    bool bad, no_memory;
};

static bool note_file(void *user, const char *tensor, const char *file)
{
    struct hf_index *x = user;

    (void)tensor;
    x->bad = !file;
    if (!file) return false;
    for (size_t i = x->n; i-- > 0;)
        if (!strcmp(x->files[i], file)) return true;
    x->no_memory = !mem_grow(&x->files, &x->cap, x->n + 1, sizeof *x->files);
    if (x->no_memory) return false;
    x->files[x->n++] = file;
    return true;
}

static bool find_listed(void *user, const char *tensor, const char *file)
{
    struct hf_index *x = user;

    (void)file;
    if (checkpoint_find(x->tensors, tensor, NULL)) return true;
    x->missing = tensor;
    return false;
}

static enum status read_index(struct hf_index *x, struct file_set *s,
                              enum hf_form form, struct err *e)
{
    const char *index = forms[form].index;
    enum status st;

    json_config_each(x->json, "weight_map", note_file, x);
    st = json_config_check(x->json, e);
    if (st) return st;
    if (x->no_memory) return err_nomem(e, index);
    if (x->bad || !x->n)
        return err_set(e, ST_FORMAT, "%s: %s: \"weight_map\" should name a "
                       "file for each tensor", file_set_path(s), index);
    for (size_t i = 0; i < x->n && !st; i++)
        st = add_file(x->tensors, s, x->files[i], form, e);
    if (st) return st;
    json_config_each(x->json, "weight_map", find_listed, x);
    if (!x->missing) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: %s: no file has the tensor \"%.100s\"",
                   file_set_path(s), index, x->missing);
}

static enum status add_indexed(struct checkpoint *c, struct file_set *s,
                               enum hf_form form, struct err *e)
{
    struct hf_index x = { .tensors = c };
    enum status st = json_config_open(&x.json, s, forms[form].index, e);

    if (!st) st = read_index(&x, s, form, e);
    json_config_close(x.json);
    free(x.files);
    return st;
}

enum status hf_files_open(struct checkpoint **out, struct file_set *s,
                          enum hf_form first, struct err *e)
{
    enum hf_form other = first == HF_TORCH ? HF_SAFETENSORS : HF_TORCH;
    enum hf_form form = has_form(s, first) ? first : other;
    enum status st;

    *out = NULL;
    if (!has_form(s, form))
        return err_set(e, ST_FORMAT, "%s: there is neither %s nor %s",
                       file_set_path(s), forms[HF_SAFETENSORS].single,
                       forms[HF_TORCH].single);
    st = checkpoint_new(out, e);
    if (st) return st;
    st = file_set_has(s, forms[form].single, NULL)
             ? add_file(*out, s, forms[form].single, form, e)
             : add_indexed(*out, s, form, e);
    if (!st) return ST_OK;
    checkpoint_close(*out);
    *out = NULL;
    return st;
}
