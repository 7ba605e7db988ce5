/* knn_copy.c - skmt knn compact, reduce and merge: write a smaller copy of a
 * datastore. The copy appears under its name when it is complete. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/jput.h"
#include "common/record.h"
#include "common/wholefile.h"
#include "knn_call.h"
#include "tm_print.h"

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static int64_t file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) ? 0 : (int64_t)st.st_size;
}

/* Prepare a command that writes a copy, and open the original. */
static int start_copy(struct knn_call *c, const char *path)
{
    int status;

    if (!path || !path[0])
        return complain(EXIT_USAGE, "%s needs -o NEW; see 'skmt help %s'",
                        c->command, c->command);
    if (same_file(path, c->operands[0]))
        return complain(EXIT_USAGE, "%s needs another file for its output; "
                        "rename it afterwards", c->command);
    status = knn_start(c);
    if (!status) status = knn_open_store(c, false);
    return status ? status : whole_file_check(path);
}

/* Print the sizes of both files. The caller has begun the line, or the object
 * with --json. */
static int print_sizes(struct knn_call *c, const char *path)
{
    struct textbuf *t = &c->out;
    int64_t before = file_size(c->operands[0]), after = file_size(path);

    if (c->json) {
        jput_int_field(t, "bytes_before", before);
        jput_int_field(t, "bytes", after);
        jput_line_end(t);
    } else {
        put_bytes(t, after);
        textbuf_adds(t, ", before ");
        put_bytes(t, before);
        textbuf_adds(t, "\n");
    }
    return knn_print(c);
}

/* Begin the line, or the object. */
static void put_copy(struct knn_call *c, const char *path)
{
    if (c->json) {
        jput_object(&c->out);
        jput_text_field(&c->out, "file", path);
    } else {
        textbuf_adds(&c->out, path);
        textbuf_adds(&c->out, ": ");
    }
}

/* ---- compact ------------------------------------------------------------ */

int cmd_knn_compact(struct knn_call *c)
{
    const char *path = knn_value(c, "output");
    skmt_error err;
    int status = start_copy(c, path);

    if (status) return status;
    if (skmt_datastore_compact(c->ds, path, knn_show_progress, c, &err))
        return knn_failed(c, &err);
    put_copy(c, path);
    return print_sizes(c, path);
}

/* ---- reduce and merge --------------------------------------------------- */

/* Set a number of a reduction from an option. */
static int reduction_number(const struct knn_call *c, const char *option,
                            int64_t most, const char *by_default, int64_t *n)
{
    int status = knn_number(c, option, 1, n);

    if (!knn_has_option(c, option)) record_value(option, by_default);
    if (status || *n <= most) return status;
    return complain(EXIT_USAGE, "--%s: the largest number is %lld", option,
                    (long long)most);
}

static int reduction_options(const struct knn_call *c, skmt_reduction *how)
{
    int64_t seed = 0, threads = 0;
    int status = reduction_number(c, "seed", INT64_MAX, "1", &seed);

    if (!status)
        status = reduction_number(c, "threads", 256, "1", &threads);
    how->seed = (uint64_t)seed;
    how->threads = (int)threads;
    return status;
}

int cmd_knn_reduce(struct knn_call *c)
{
    const char *path = knn_value(c, "output");
    skmt_reduction how = SKMT_INIT(skmt_reduction);
    int64_t dims = 0;
    double kept = 0;
    skmt_error err;
    int status = reduction_number(c, "dims", 65536, "256", &dims);

    if (!status)
        status = reduction_number(c, "sample", INT64_MAX, "100000",
                                  &how.sample);
    if (!status) status = reduction_options(c, &how);
    if (!status) status = start_copy(c, path);
    if (status) return status;
    how.dims = (int)dims;
    if (skmt_datastore_reduce(c->ds, path, &how, knn_show_progress, c, &kept,
                              &err))
        return knn_failed(c, &err);
    put_copy(c, path);
    if (c->json) jput_number_field(&c->out, "variance", kept);
    else textbuf_addf(&c->out, "%.1f%% of the variance, ", 100 * kept);
    return print_sizes(c, path);
}

/* Candidates of an index whose exact distances are computed, for each
 * neighbor: more than to translate, so that entries with equal keys are
 * found. */
#define MERGE_RERANK 16

static int use_merge_index(struct knn_call *c)
{
    const char *index = knn_value(c, "index");
    int64_t probes = 0;
    skmt_error err;
    int status = knn_number_up_to(c, "probes", 1, 1 << 20, &probes);

    if (status) return status;
    if (probes && !index)
        return complain(EXIT_USAGE, "--probes needs --index");
    if (!index) return EXIT_DONE;
    if (skmt_datastore_use_index(c->ds, index, (int)probes, MERGE_RERANK,
                                 &err))
        return knn_failed(c, &err);
    record_index(index, (int)probes, MERGE_RERANK);
    return EXIT_DONE;
}

int cmd_knn_merge(struct knn_call *c)
{
    const char *path = knn_value(c, "output");
    skmt_reduction how = SKMT_INIT(skmt_reduction);
    int64_t k = 0, removed = 0;
    skmt_error err;
    int status = reduction_number(c, "k", 64, "2", &k);

    if (!status) status = reduction_options(c, &how);
    if (!status) status = start_copy(c, path);
    if (!status) status = use_merge_index(c);
    if (status) return status;
    how.k = (int)k;
    if (skmt_datastore_merge(c->ds, path, &how, knn_show_progress, c, &removed,
                             &err))
        return knn_failed(c, &err);
    put_copy(c, path);
    if (c->json) {
        jput_int_field(&c->out, "removed", removed);
    } else {
        put_noun(&c->out, removed, "entry", "entries");
        textbuf_adds(&c->out, " merged into others, ");
    }
    return print_sizes(c, path);
}
