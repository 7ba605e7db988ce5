/* tm_warm.c - skmt tm warm: computes the keys of all pairs of a memory and
 * stores them in a key file.
 *
 * Keys are written to the file after every few pairs. Little is lost after
 * Ctrl-C, and the next call continues from there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "common/steering.h"
#include "tm_call.h"
#include "tm_print.h"

struct tm_warm_context {
    const char *file;
    /* Numbers of pairs: computed now, found in the file, removed from it. */
    int64_t n_computed, n_found, n_removed;
    int64_t n_in_file;          /* at the end, with those of other memories */
    double seconds;
};

/* The library would accept a read-only key file, but not store anything. */
static int tm_warm_check_file(const char *file)
{
    if (!file || !file[0])
        return complain(EXIT_USAGE, "tm warm needs --key-file FILE to store "
                        "the keys");
    if (access(file, W_OK) && errno != ENOENT)
        return complain(EXIT_TROUBLE, "%s: %s", file, strerror(errno));
    return EXIT_DONE;
}

static int64_t key_file_bytes(const char *file)
{
    struct stat st;

    return stat(file, &st) ? 0 : (int64_t)st.st_size;
}

static int print_warmed(struct tm_call *c, const struct tm_warm_context *w)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->path);
        jput_text_field(t, "key_file", w->file);
        jput_int_field(t, "made", w->n_computed);
        jput_int_field(t, "there", w->n_found);
        jput_int_field(t, "removed", w->n_removed);
        jput_int_field(t, "pairs", w->n_in_file);
        jput_int_field(t, "bytes", key_file_bytes(w->file));
        jput_number_field(t, "seconds", w->seconds);
        jput_line_end(t);
        return tm_print(c);
    }
    put_noun(t, w->n_computed, "pair", "pairs");
    textbuf_adds(t, " computed, ");
    put_count(t, w->n_found);
    textbuf_adds(t, " already in the file, ");
    if (w->n_removed) {
        put_count(t, w->n_removed);
        textbuf_adds(t, " removed, ");
    }
    textbuf_addf(t, "%.2f s\n", w->seconds);
    textbuf_adds(t, w->file);
    textbuf_adds(t, ": ");
    put_noun(t, w->n_in_file, "pair", "pairs");
    textbuf_adds(t, ", ");
    put_noun(t, key_file_bytes(w->file), "byte", "bytes");
    textbuf_adds(t, "\n");
    return tm_print(c);
}

static int tm_warm_stopped(struct tm_call *c, const struct tm_warm_context *w,
                           const skmt_error *err)
{
    int status = tm_failed(c, err);

    if (err->status == SKMT_ERR_CANCELED)
        complain(0, "stopped; the keys of the %lld pairs computed so far are "
                 "kept in %s", (long long)w->n_computed, w->file);
    return status;
}

/* The size limit applies to the whole file, so keys of other memories may be
 * the reason why not all pairs fit. */
static void note_size_limit(const struct tm_call *c,
                            const struct tm_warm_context *w)
{
    int64_t wanted = w->n_computed + w->n_found;

    if (tm_has_option(c, "quiet") || w->n_in_file >= wanted) return;
    complain(0, "%s has reached its size limit and holds only %lld of these "
             "%lld pairs; raise the limit with --key-file-limit", w->file,
             (long long)w->n_in_file, (long long)wanted);
}

/* The caller frees *keys. */
static int warm_keys(struct tm_call *c, struct tm_warm_context *w,
                     skmt_keys **keys)
{
    double begin = wall_seconds();
    skmt_error err;

    if (skmt_keys_new(keys, c->model, c->options, w->file, &err))
        return tm_failed(c, &err);
    note_remade_keys(*keys, w->file);
    if (skmt_keys_warm(*keys, c->tm, c->options, &w->n_computed, &err))
        return tm_warm_stopped(c, w, &err);
    if (tm_has_option(c, "drop-others") &&
        skmt_keys_drop_others(*keys, c->tm, &w->n_removed, &err))
        return tm_failed(c, &err);
    w->seconds = wall_seconds() - begin;
    w->n_found = keys_stat(*keys, "hits") + keys_stat(*keys, "file_hits");
    w->n_in_file = keys_stat(*keys, "file_pairs");
    note_size_limit(c, w);
    return EXIT_DONE;
}

int cmd_tm_warm(struct tm_call *c)
{
    struct tm_warm_context w = { .file = tm_value(c, "key-file") };
    skmt_keys *keys = NULL;
    int status = tm_warm_check_file(w.file);

    if (!status) status = tm_open_read(c);
    if (!status)
        status = model_find(&c->model, tm_value(c, "model"), c->options, NULL);
    if (!status) status = tm_select_memories(c, c->model);
    if (status) return status;
    check_isa();
    status = warm_keys(c, &w, &keys);
    skmt_keys_free(keys);       /* gives the file its final size */
    return status ? status : print_warmed(c, &w);
}
