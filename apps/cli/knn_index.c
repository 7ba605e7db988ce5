/* knn_index.c - skmt knn index: build the IVF-PQ index of a datastore. The
 * index appears under its name when it is complete; an old one stays until
 * then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/interrupt.h"
#include "common/jput.h"
#include "common/wholefile.h"
#include "knn_call.h"
#include "tm_print.h"

/* Show a stage. A skmt_tm_progress_fn; user is the struct knn_call. */
static int knn_show_indexing(void *user, const char *stage, uint64_t done,
                             uint64_t total, uint64_t units)
{
    struct knn_call *c = user;

    (void)units;
    if (strcmp(c->stage, stage)) {
        progress_end(&c->progress);
        progress_begin(&c->progress, "keys", total, !c->quiet);
        snprintf(c->stage, sizeof c->stage, "%s", stage);
        c->progress.stage = c->stage;
    }
    progress_update(&c->progress, done, done);
    return interrupt_signal() != 0;
}

static int read_index_settings(const struct knn_call *c,
                               skmt_index_settings *set)
{
    const struct { const char *name; int32_t *to; int64_t most; } list[] = {
        { "lists", &set->lists, 1 << 20 },
        { "subvectors", &set->subvectors, 1 << 16 },
        { "probes", &set->probes, 1 << 20 },
        { "threads", &set->threads, 256 } };
    int64_t seed = 1;
    int status = knn_number(c, "train-sample", 256, &set->sample);

    if (!status) status = knn_number(c, "seed", 1, &seed);
    set->seed = (uint64_t)seed;
    for (size_t i = 0; !status && i < sizeof list / sizeof *list; i++) {
        int64_t n = 0;

        status = knn_number_up_to(c, list[i].name, 1, list[i].most, &n);
        *list[i].to = (int32_t)n;
    }
    return status;
}

static int print_index(struct knn_call *c, const char *path, double seconds)
{
    struct textbuf *t = &c->out;
    skmt_error err;
    skmt_index *ix;
    const char *name;
    int64_t n[16] = { 0 };

    if (skmt_index_open(&ix, path, &err)) return knn_failed(c, &err);
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", path);
    }
    for (int i = 0; i < 16 && (name = skmt_index_stat(ix, i, &n[i])); i++)
        if (c->json) jput_int_field(t, name, n[i]);
    skmt_index_close(ix);
    if (c->json) {
        jput_fixed_field(t, "seconds", seconds, 3);
        jput_line_end(t);
        return knn_print(c);
    }
    textbuf_addf(t, "%s: ", path);
    put_noun(t, n[0], "entry", "entries");
    textbuf_adds(t, " in ");
    put_noun(t, n[4], "list", "lists");
    textbuf_adds(t, ", ");
    put_bytes(t, n[2]);
    textbuf_addf(t, ", %.1f s\n", seconds);
    return knn_print(c);
}

/* The file that is written: -o, or the name of the datastore and ".index". */
static char *index_path(const struct knn_call *c)
{
    const char *output = knn_value(c, "output");
    size_t n = strlen(c->operands[0]) + sizeof ".index";
    char *path = output ? strdup(output) : malloc(n);

    if (path && !output) snprintf(path, n, "%s.index", c->operands[0]);
    return path;
}

static int make_index(struct knn_call *c, const char *path)
{
    skmt_index_settings set = SKMT_INIT(skmt_index_settings);
    double begin = wall_seconds();
    skmt_error err;
    struct stat a, b;
    int status = read_index_settings(c, &set);

    if (!status) status = knn_start(c);
    if (!status) status = knn_open_store(c, false);
    if (status) return status;
    if (!stat(c->operands[0], &a) && !stat(path, &b) &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return complain(EXIT_USAGE, "knn index: the output is the datastore");
    if ((status = whole_file_check(path))) return status;
    if (skmt_index_build(c->ds, path, &set, knn_show_indexing, c, &err)) {
        progress_end(&c->progress);
        return knn_failed(c, &err);
    }
    progress_end(&c->progress);
    return print_index(c, path, wall_seconds() - begin);
}

int cmd_knn_index(struct knn_call *c)
{
    char *path;
    int status;

    c->operands[0] = knn_value(c, "datastore");
    if (!c->operands[0] || !c->operands[0][0])
        return complain(EXIT_USAGE, "knn index needs --datastore STORE; see "
                        "'skmt help knn index'");
    path = index_path(c);
    status = path ? make_index(c, path)
                  : complain(EXIT_TROUBLE, "out of memory");
    free(path);
    return status;
}
