/* tm_warm.c - skmt tm warm: what the model makes of the stored pairs, made
 * before anyone waits for it.
 *
 * Every few pairs are safe in the file as soon as they are made: Ctrl-C loses
 * next to nothing, and the next call goes on from there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findmodel.h"
#include "interrupt.h"
#include "steering.h"
#include "tm_call.h"
#include "tm_print.h"

struct tm_warm_context {
    const char *file;
    int64_t made, there, removed;       /* pairs */
    int64_t kept;               /* of the file, others' pairs included */
    double seconds;
};

/* A file that can only be read would be looked into and never filled. */
static int tm_warm_check_file(const char *file)
{
    if (!file || !file[0])
        return complain(EXIT_USAGE, "tm warm needs --key-file FILE, where the "
                        "keys are kept");
    if (access(file, W_OK) && errno != ENOENT)
        return complain(EXIT_TROUBLE, "%s: %s", file, strerror(errno));
    return EXIT_DONE;
}

static int64_t tm_warm_bytes_of(const char *file)
{
    struct stat st;

    return stat(file, &st) ? 0 : (int64_t)st.st_size;
}

static int answer(struct tm_call *c, const struct tm_warm_context *w)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        textbuf_adds(t, "{");
        jput_field(t, "file", c->path);
        jput_field(t, "key_file", w->file);
        jput_int(t, "made", w->made);
        jput_int(t, "there", w->there);
        jput_int(t, "removed", w->removed);
        jput_int(t, "pairs", w->kept);
        jput_int(t, "bytes", tm_warm_bytes_of(w->file));
        jput_key(t, "seconds");
        jput_number(t, w->seconds);
        textbuf_adds(t, "}\n");
        return tm_print(c);
    }
    put_noun(t, w->made, "pair", "pairs");
    textbuf_adds(t, " made, ");
    put_count(t, w->there);
    textbuf_adds(t, " there already, ");
    if (w->removed) {
        put_count(t, w->removed);
        textbuf_adds(t, " removed, ");
    }
    textbuf_addf(t, "%.2f s\n", w->seconds);
    textbuf_adds(t, w->file);
    textbuf_adds(t, ": ");
    put_noun(t, w->kept, "pair", "pairs");
    textbuf_adds(t, ", ");
    put_noun(t, tm_warm_bytes_of(w->file), "byte", "bytes");
    textbuf_adds(t, "\n");
    return tm_print(c);
}

static int tm_warm_stopped(struct tm_call *c, const struct tm_warm_context *w,
                           const skmt_error *err)
{
    int status = tm_failed(c, err);

    if (err->status == SKMT_CANCELED)
        complain(0, "stopped; the %lld pairs made so far are kept in %s",
                 (long long)w->made, w->file);
    return status;
}

/* The limit counts for all pairs of the file, those of other memories, too. */
static void note_what_did_not_fit(const struct tm_call *c,
                                  const struct tm_warm_context *w)
{
    if (tm_given(c, "quiet") || w->kept >= w->made + w->there) return;
    complain(0, "%s has reached its limit and keeps %lld of these %lld pairs; "
             "--key-file-limit raises it", w->file, (long long)w->kept,
             (long long)(w->made + w->there));
}

/* *keys is the caller's to free. */
static int warm(struct tm_call *c, struct tm_warm_context *w, skmt_keys **keys)
{
    double begin = wall_seconds();
    skmt_error err;

    if (skmt_keys_new(keys, c->model, c->options, w->file, &err))
        return tm_failed(c, &err);
    note_remade_keys(*keys, w->file);
    if (skmt_keys_warm(*keys, c->tm, c->options, &w->made, &err))
        return tm_warm_stopped(c, w, &err);
    if (tm_given(c, "drop-others") &&
        skmt_keys_drop_others(*keys, c->tm, &w->removed, &err))
        return tm_failed(c, &err);
    w->seconds = wall_seconds() - begin;
    w->there = keys_stat(*keys, "hits") + keys_stat(*keys, "file_hits");
    w->kept = keys_stat(*keys, "file_pairs");
    note_what_did_not_fit(c, w);
    return EXIT_DONE;
}

int cmd_tm_warm(struct tm_call *c)
{
    struct tm_warm_context w = { .file = tm_value(c, "key-file") };
    skmt_keys *keys = NULL;
    int status = tm_warm_check_file(w.file);

    if (!status) status = tm_open_search(c, false);
    if (!status) status = model_find(&c->model, tm_value(c, "model"), NULL);
    if (status) return status;
    check_isa();
    status = warm(c, &w, &keys);
    skmt_keys_free(keys);       /* then the file has its final size */
    return status ? status : answer(c, &w);
}
