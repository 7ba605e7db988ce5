/* job.c - allocates a job and its results as one block of memory. */
#include "search/job.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int search_max_len(const struct search_options *o, int max_pos, int n_src)
{
    double n = floor(o->max_len_a * n_src) + o->max_len_b;

    return n > max_pos ? max_pos : (int)n;
}

/* Take n * size bytes from the block; with block NULL only count them. */
static void *carve(char *block, size_t *at, size_t n, size_t size)
{
    char *p = block ? block + *at : NULL;

    *at += (n * size + 15) / 16 * 16;
    return p;
}

/* Lay the job out in block. Returns the size; with block NULL this is all it
 * does. */
static size_t lay_out(char *block, const struct search_options *o, int n_src,
                      int n_prefix, int cap)
{
    size_t at = 0, n = (size_t)cap;
    struct job *j = carve(block, &at, 1, sizeof *j);
    int32_t *src = carve(block, &at, (size_t)n_src, sizeof *src);
    int32_t *prefix = carve(block, &at, (size_t)n_prefix, sizeof *prefix);
    struct hypothesis *hyps = carve(block, &at, (size_t)o->nbest, sizeof *hyps);

    for (int i = 0; i < o->nbest; i++) {
        int32_t *tokens = carve(block, &at, n, sizeof *tokens);
        float *logprobs = carve(block, &at, n, sizeof *logprobs);
        float *attention = o->attention
            ? carve(block, &at, n * (size_t)n_src, sizeof *attention) : NULL;

        if (block)
            hyps[i] = (struct hypothesis){ tokens, logprobs, attention, 0,
                                           false,  0,        0 };
    }
    if (block)
        *j = (struct job){ .o = *o, .src = src, .n_src = n_src,
                           .prefix = prefix, .n_prefix = n_prefix,
                           .max_len = cap, .hyps = hyps };
    return at;
}

enum status job_new(struct job **out, const struct search_options *o,
                    int max_pos, const int32_t *src, int n_src,
                    const int32_t *prefix, int n_prefix, struct err *e)
{
    int cap = search_max_len(o, max_pos, n_src);
    char *block;

    assert(n_src > 0 && n_prefix >= 0 && o->nbest > 0);
    *out = NULL;
    if (n_prefix > cap - 1) n_prefix = cap - 1;
    block = calloc(1, lay_out(NULL, o, n_src, n_prefix, cap));
    if (!block) return err_nomem(e, "a sentence's results");
    lay_out(block, o, n_src, n_prefix, cap);
    *out = (struct job *)(void *)block;
    memcpy((*out)->src, src, (size_t)n_src * sizeof *src);
    if (n_prefix)
        memcpy((*out)->prefix, prefix, (size_t)n_prefix * sizeof *prefix);
    (*out)->block = block;
    return ST_OK;
}

void job_free(struct job *j)
{
    if (j) free(j->block);
}
