/* checkpoint.c - the tensors of several files in one table that is sorted by
 * name, so that a name is found and a repeated name is noticed quickly. */
#include "convert/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

struct checkpoint_entry {
    struct tensor_file *file;
    struct file_tensor *tensor;
};

struct checkpoint {
    struct tensor_file **files;         /* [n_files] */
    size_t n_files, cap_files;
    struct checkpoint_entry *entries;   /* [n], sorted by name */
    size_t n, cap;
};

enum status checkpoint_new(struct checkpoint **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? ST_OK : err_nomem(e, "checkpoint");
}

void checkpoint_close(struct checkpoint *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->n_files; i++) tensor_file_close(c->files[i]);
    free(c->files);
    free(c->entries);
    free(c);
}

static int compare_tensor_names(const void *x, const void *y)
{
    const struct checkpoint_entry *a = x, *b = y;

    return strcmp(a->tensor->name, b->tensor->name);
}

/* There is room for the tensors of f. */
static enum status add_tensors(struct checkpoint *c, struct tensor_file *f,
                               struct err *e)
{
    for (int i = 0; i < f->n; i++)
        c->entries[c->n++] = (struct checkpoint_entry){ f, &f->at[i] };
    if (c->n)
        qsort(c->entries, c->n, sizeof *c->entries, compare_tensor_names);
    for (size_t i = 1; i < c->n; i++) {
        const struct checkpoint_entry *a = &c->entries[i - 1], *b = a + 1;

        if (!compare_tensor_names(a, b))
            return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" occurs twice, "
                           "also in %s", f->name, a->tensor->name,
                           a->file == f ? b->file->name : a->file->name);
    }
    return ST_OK;
}

/* Take out what add_tensors() has put in. */
static void drop_tensors(struct checkpoint *c, const struct tensor_file *f)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].file != f) c->entries[n++] = c->entries[i];
    c->n = n;
}

enum status checkpoint_add(struct checkpoint *c, struct tensor_file *f,
                           struct err *e)
{
    enum status st;

    assert(f->n >= 0);
    if (!mem_grow(&c->files, &c->cap_files, c->n_files + 1,
                  sizeof *c->files) ||
        !mem_grow(&c->entries, &c->cap, c->n + (size_t)f->n,
                  sizeof *c->entries))
        st = err_nomem(e, f->name);
    else if ((st = add_tensors(c, f, e)))
        drop_tensors(c, f);
    if (st) tensor_file_close(f);
    else c->files[c->n_files++] = f;
    return st;
}

struct file_tensor *checkpoint_find(const struct checkpoint *c,
                                    const char *name,
                                    struct tensor_file **file)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct checkpoint_entry *x = &c->entries[mid];
        int order = strcmp(name, x->tensor->name);

        if (!order) {
            if (file) *file = x->file;
            return x->tensor;
        }
        if (order < 0) high = mid;
        else low = mid + 1;
    }
    return NULL;
}

struct file_tensor *checkpoint_at(const struct checkpoint *c, int i,
                                  struct tensor_file **file)
{
    assert(i >= 0);
    for (size_t k = 0; k < c->n_files; i -= c->files[k++]->n) {
        if (i >= c->files[k]->n) continue;
        if (file) *file = c->files[k];
        return &c->files[k]->at[i];
    }
    return NULL;
}

const char *checkpoint_name(const struct checkpoint *c)
{
    return c->n_files ? c->files[0]->name : "the weights";
}

bool checkpoint_pass_over(struct checkpoint *c, const char *name)
{
    struct file_tensor *t = checkpoint_find(c, name, NULL);

    if (t) t->used = true;
    return t != NULL;
}
