/* tokenizer_files.c - looks for tokenizers and reads them. Whether they are
 * SentencePiece models is found out by those who use them. */
#include "convert/tokenizer_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define TOKENIZER_MOST (1 << 28)        /* bytes */
#define NAME_SIZE 300
#define COUNT_OF(a) (sizeof (a) / sizeof *(a))

/* Usual names, in the order in which they are looked for: pairs first, because
 * a folder with a pair may have their common origin too. */
static const char *const pairs[][2] = {
    { "source.spm", "target.spm" }, { "src.spm", "tgt.spm" },
    { "source.model", "target.model" }, { "src.model", "tgt.model" },
};
static const char *const singles[] = {
    "sentencepiece.model", "sentencepiece.bpe.model", "spm.model",
    "spm.128k.model", "tokenizer.model", "sp.model",
    "flores200_sacrebleu_tokenizer_spm.model",
};

/* ---- reading ---- */

static enum status read_tokenizer(struct tokenizer_file *t, struct file_set *s,
                                  const char *name, struct err *e)
{
    struct file_stream *in;
    enum status st = file_stream_open(&in, s, name, e);

    if (st) return st;
    t->name = strdup(file_stream_name(in));
    file_stream_close(in);
    if (!t->name) return err_nomem(e, name);
    return file_set_read(s, name, TOKENIZER_MOST, &t->bytes, &t->size, e);
}

/* Read a file outside of the set. */
static enum status read_tokenizer_path(struct tokenizer_file *t,
                                       const char *path, struct err *e)
{
    struct file_stream *in;
    enum status st = file_stream_open_path(&in, path, e);

    if (st) return st;
    t->name = strdup(path);
    t->size = (size_t)file_stream_size(in);
    if (file_stream_size(in) > TOKENIZER_MOST)
        st = err_set(e, ST_FORMAT, "%s: too large to be a tokenizer", path);
    else if (!t->name || !(t->bytes = malloc(t->size + 1)))
        st = err_nomem(e, path);
    if (!st) st = file_stream_read(in, 0, t->bytes, t->size, e);
    if (!st) t->bytes[t->size] = 0;
    file_stream_close(in);
    return st;
}

static enum status read_given(struct tokenizer_files *t,
                              const struct family_options *o, struct err *e)
{
    enum status st;

    if (!o->tokenizer)
        return err_set(e, ST_ARGUMENT, "target-tokenizer: name the tokenizer "
                       "of the source too, with tokenizer");
    st = read_tokenizer_path(&t->source, o->tokenizer, e);
    if (st || !o->target_tokenizer) return st;
    return read_tokenizer_path(&t->target, o->target_tokenizer, e);
}

/* ---- looking ---- */

static bool in_folder(char *out, struct file_set *s, const char *folder,
                      const char *name)
{
    return snprintf(out, NAME_SIZE, "%s%s", folder, name) < NAME_SIZE &&
           file_set_has(s, out, NULL);
}

static bool find_tokenizer_pair(char names[2][NAME_SIZE], struct file_set *s,
                                const char *folder)
{
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (in_folder(names[0], s, folder, pairs[i][0]) &&
            in_folder(names[1], s, folder, pairs[i][1]))
            return true;
    return false;
}

static bool has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);

    return n > k && !strcmp(s + n - k, suffix);
}

/* The only file of the folder that ends in .spm or .model. */
static bool find_only_model(char *out, struct file_set *s, const char *folder)
{
    size_t skip = strlen(folder);
    int found = 0;

    for (int i = 0; i < file_set_count(s); i++) {
        const char *name = file_set_name(s, i);

        if (strncmp(name, folder, skip) || strchr(name + skip, '/') ||
            (!has_suffix(name, ".spm") && !has_suffix(name, ".model")))
            continue;
        found++;
        if (snprintf(out, NAME_SIZE, "%s", name) >= NAME_SIZE) return false;
    }
    return found == 1;
}

static bool find_single(char *out, struct file_set *s, const char *folder)
{
    for (size_t i = 0; i < COUNT_OF(singles); i++)
        if (in_folder(out, s, folder, singles[i])) return true;
    return find_only_model(out, s, folder);
}

/* Two equal files are one. */
static void drop_copy(struct tokenizer_files *t)
{
    if (!t->target.bytes || t->source.size != t->target.size ||
        memcmp(t->source.bytes, t->target.bytes, t->source.size))
        return;
    free(t->target.name);
    free(t->target.bytes);
    t->target = (struct tokenizer_file){ 0 };
}

static enum status no_tokenizer(struct file_set *s, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: there is no tokenizer, such as "
                   "sentencepiece.model, or source.spm and target.spm. Name "
                   "the SentencePiece model that the model was trained with: "
                   "--tokenizer FILE and, if the target has its own, "
                   "--target-tokenizer FILE", file_set_path(s));
}

enum status tokenizer_files_find(struct tokenizer_files *t, struct file_set *s,
                                 const char *folder,
                                 const struct family_options *o,
                                 struct err *e)
{
    char names[2][NAME_SIZE];
    enum status st;

    *t = (struct tokenizer_files){ 0 };
    if (o->tokenizer || o->target_tokenizer) {
        st = read_given(t, o, e);
    } else if (find_tokenizer_pair(names, s, folder)) {
        st = read_tokenizer(&t->source, s, names[0], e);
        if (!st) st = read_tokenizer(&t->target, s, names[1], e);
    } else if (find_single(names[0], s, folder)) {
        st = read_tokenizer(&t->source, s, names[0], e);
    } else {
        st = no_tokenizer(s, e);
    }
    if (st) tokenizer_files_release(t);
    else drop_copy(t);
    return st;
}

void tokenizer_files_release(struct tokenizer_files *t)
{
    free(t->source.name);
    free(t->source.bytes);
    free(t->target.name);
    free(t->target.bytes);
    *t = (struct tokenizer_files){ 0 };
}
