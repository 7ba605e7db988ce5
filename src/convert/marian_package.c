/* marian_package.c - finds and reads the files of a Marian model.
 *
 * decoder.yml names the other files. The settings of the network are a text
 * among the weights. */
#include "convert/marian_package.h"

#include <stdlib.h>
#include <string.h>

#include "convert/marian_bin.h"
#include "convert/npz_file.h"
#include "convert/opus_cleaning.h"
#include "convert/yaml_config.h"
#include "convert/zip_archive.h"

#define TEXT_MOST 1048576       /* bytes of a text among the files */

/* ---- decoder.yml ---- */

/* The only file whose name ends so. NULL: there is none, or there are
 * several. */
static const char *only_file(const struct file_set *s, const char *end)
{
    const char *found = NULL;
    size_t k = strlen(end);

    for (int i = 0; i < file_set_count(s); i++) {
        const char *name = file_set_name(s, i);
        size_t n = strlen(name);

        if (n <= k || strcmp(name + n - k, end)) continue;
        if (found) return NULL;
        found = name;
    }
    return found;
}

/* decoder.yml or, as Marian names it in training, NAME.decoder.yml. */
static const char *decoder_file(const struct file_set *s)
{
    if (file_set_has(s, "decoder.yml", NULL)) return "decoder.yml";
    return only_file(s, ".decoder.yml");
}

/* The weights of a small model of Firefox or Bergamot. Such models have no
 * decoder.yml. */
static const char *small_model_file(const struct file_set *s)
{
    const char *name = only_file(s, ".intgemm.alphas.bin");

    return name ? name : only_file(s, ".intgemm8.bin");
}

bool marian_package_recognize(struct file_set *s)
{
    return decoder_file(s) || small_model_file(s) ||
           file_set_has(s, MARIAN_SETTINGS ".npy", NULL);
}

static enum status no_decoder_file(const struct file_set *s, struct err *e)
{
    if (file_set_has(s, MARIAN_SETTINGS ".npy", NULL))
        return err_set(e, ST_FORMAT, "%s: these are only the weights of a "
                       "Marian model; its folder or zip archive is needed, "
                       "with decoder.yml and the vocabularies",
                       file_set_path(s));
    return err_set(e, ST_FORMAT, "%s: there is no decoder.yml, or there are "
                   "several", file_set_path(s));
}

/* Make *name the name of a file of the set that decoder.yml gives as a path.
 * Packages may contain the path that a file had where it was trained; then the
 * last part of it counts. */
static enum status find_named(const char **name, const struct file_set *s,
                              const struct json_config *decoder, struct err *e)
{
    const char *path = *name, *slash = strrchr(path, '/');

    while (!strncmp(path, "./", 2)) path += 2;
    if (!file_set_has(s, path, NULL) && slash) path = slash + 1;
    if (!file_set_has(s, path, NULL))
        return err_set(e, ST_FORMAT, "%s: names the file \"%.200s\", which is "
                       "not there", json_config_name(decoder), *name);
    *name = path;
    return ST_OK;
}

static enum status read_decoder_file(struct marian_package *m,
                                     struct file_set *s, struct err *e)
{
    const char *name = decoder_file(s);
    struct marian_decoder *d = &m->decoder;
    enum status st;

    if (!name) return no_decoder_file(s, e);
    st = yaml_config_open(&m->decoder_yml, s, name, e);
    if (!st) st = marian_decoder_read(d, m->decoder_yml, e);
    if (!st) st = find_named(&d->model, s, m->decoder_yml, e);
    if (!st) st = find_named(&d->source_vocab, s, m->decoder_yml, e);
    if (!st) st = find_named(&d->target_vocab, s, m->decoder_yml, e);
    return st;
}

/* ---- the weights ---- */

/* Open them in either form: a zip archive, or what begins with a version. */
static enum status open_npz_or_bin(struct tensor_file **f,
                                   struct file_stream *in, struct err *e)
{
    bool is_zip;
    enum status st = zip_archive_recognize(&is_zip, in, e);

    if (!st) return (is_zip ? npz_file_open : marian_bin_open)(f, in, e);
    file_stream_close(in);
    return st;
}

/* Factors that were measured for the activations of int8 models, and are not
 * needed, because ours are measured while translating. */
static void pass_over_factors(struct checkpoint *c)
{
    static const char end[] = "_QuantMultA";
    struct file_tensor *t;

    for (int i = 0; (t = checkpoint_at(c, i, NULL)); i++) {
        size_t n = strlen(t->name), k = sizeof end - 1;

        if (n > k && !strcmp(t->name + n - k, end)) t->used = true;
    }
}

static enum status open_weights(struct checkpoint **out, struct file_set *s,
                                const char *name, struct err *e)
{
    struct file_stream *in;
    struct tensor_file *f;
    enum status st = checkpoint_new(out, e);

    if (!st) st = file_stream_open(&in, s, name, e);
    if (!st) st = open_npz_or_bin(&f, in, e);
    if (!st) st = checkpoint_add(*out, f, e);
    if (!st) pass_over_factors(*out);
    return st;
}

/* Parse the settings in a tensor of a file. */
static enum status parse_settings(struct marian_package *m,
                                  struct tensor_file *f,
                                  const struct file_tensor *t, struct err *e)
{
    struct json_config *j = NULL;
    struct strbuf text, name;
    enum status st;

    strbuf_init(&text, 0);
    strbuf_init(&name, 0);
    st = tensor_file_text(f, t, TEXT_MOST, &text, e);
    if (!st && !strbuf_addf(&name, "%s: %s", f->name, t->name))
        st = err_nomem(e, f->name);
    if (!st) st = yaml_config_parse(&j, text.data, text.len, name.data, e);
    if (!st) st = marian_config_read(&m->config, j, e);
    json_config_close(j);
    strbuf_release(&text);
    strbuf_release(&name);
    return st;
}

static enum status read_weights(struct marian_package *m,
                                struct checkpoint **weights,
                                struct file_set *s, const char *name,
                                struct err *e)
{
    struct tensor_file *f;
    struct file_tensor *t;
    enum status st = open_weights(weights, s, name, e);

    if (st) return st;
    t = checkpoint_find(*weights, MARIAN_SETTINGS, &f);
    if (!t)
        return err_set(e, ST_FORMAT, "%s: there is no \"" MARIAN_SETTINGS
                       "\"; very old models of Marian cannot be converted",
                       checkpoint_name(*weights));
    t->used = true;
    return parse_settings(m, f, t, e);
}

/* ---- the package ---- */

/* Read a file that may be missing: then, and if it is very long, the text is
 * empty. The caller frees it. */
static enum status read_optional(char **text, size_t *n, struct file_set *s,
                                 const char *name, struct err *e)
{
    uint64_t size;

    *text = NULL;
    *n = 0;
    if (!file_set_has(s, name, &size) || size > TEXT_MOST) return ST_OK;
    return file_set_read(s, name, TEXT_MOST, text, n, e);
}

/* Read what the package says besides its settings. */
static enum status read_notes(struct marian_package *m, struct file_set *s,
                                struct err *e)
{
    char *text;
    size_t n;
    enum status st = read_optional(&text, &n, s, "README.md", e);

    if (st) return st;
    opus_readme_read(&m->readme, text, n);
    free(text);
    st = read_optional(&text, &n, s, "preprocess.sh", e);
    if (!st) m->cleans = opus_cleaning_is_in(text, n);
    free(text);
    return st;
}


enum status marian_package_read(struct marian_package *m,
                                struct checkpoint **weights,
                                struct file_set *s, struct err *e)
{
    const char *name = decoder_file(s) ? NULL : small_model_file(s);
    enum status st;

    /* The settings of a small model say why it cannot be converted. */
    if (name && (st = read_weights(m, weights, s, name, e))) return st;
    st = read_decoder_file(m, s, e);
    if (!st) st = read_weights(m, weights, s, m->decoder.model, e);
    return st ? st : read_notes(m, s, e);
}

void marian_package_release(struct marian_package *m)
{
    json_config_close(m->decoder_yml);
    *m = (struct marian_package){ 0 };
}
