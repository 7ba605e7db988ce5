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
#include "tm_call.h"
#include "tm_print.h"

struct warming {
    const char *file;
    int64_t made, there;        /* pairs */
    int64_t kept;               /* of the file, others' pairs included */
    double seconds;
};

static int64_t stat_of(skmt_keys *keys, const char *wanted)
{
    int64_t value, found = 0;
    const char *name;

    for (int i = 0; (name = skmt_keys_stat(keys, i, &value)); i++)
        if (!strcmp(name, wanted)) found = value;
    return found;
}

/* A file that can only be read would be looked into and never filled. */
static int check_file(const char *file)
{
    if (!file || !file[0])
        return complain(EXIT_USAGE, "tm warm needs --key-file FILE, where the "
                        "keys are kept");
    if (access(file, W_OK) && errno != ENOENT)
        return complain(EXIT_TROUBLE, "%s: %s", file, strerror(errno));
    return EXIT_DONE;
}

static int64_t bytes_of(const char *file)
{
    struct stat st;

    return stat(file, &st) ? 0 : (int64_t)st.st_size;
}

static int answer(struct tm_call *c, const struct warming *w)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        textbuf_adds(t, "{");
        jput_field(t, "file", c->path);
        jput_field(t, "key_file", w->file);
        jput_int(t, "made", w->made);
        jput_int(t, "there", w->there);
        jput_int(t, "pairs", w->kept);
        jput_int(t, "bytes", bytes_of(w->file));
        jput_key(t, "seconds");
        jput_number(t, w->seconds);
        textbuf_adds(t, "}\n");
        return tm_print(c);
    }
    put_noun(t, w->made, "pair", "pairs");
    textbuf_adds(t, " made, ");
    put_count(t, w->there);
    textbuf_addf(t, " there already, %.2f s\n", w->seconds);
    textbuf_adds(t, w->file);
    textbuf_adds(t, ": ");
    put_noun(t, w->kept, "pair", "pairs");
    textbuf_adds(t, ", ");
    put_noun(t, bytes_of(w->file), "byte", "bytes");
    textbuf_adds(t, "\n");
    return tm_print(c);
}

static int stopped(struct tm_call *c, const struct warming *w,
                   const skmt_error *err)
{
    int status = tm_failed(c, err);

    if (err->status == SKMT_CANCELED)
        complain(0, "stopped; the %lld pairs made so far are kept in %s",
                 (long long)w->made, w->file);
    return status;
}

/* *keys is the caller's to free. */
static int warm(struct tm_call *c, struct warming *w, skmt_keys **keys)
{
    double begin = wall_seconds();
    skmt_error err;

    if (skmt_keys_new(keys, c->model, c->options, w->file, &err))
        return tm_failed(c, &err);
    if (skmt_keys_warm(*keys, c->tm, c->options, &w->made, &err))
        return stopped(c, w, &err);
    w->seconds = wall_seconds() - begin;
    w->there = stat_of(*keys, "hits") + stat_of(*keys, "file_hits");
    w->kept = stat_of(*keys, "file_pairs");
    return EXIT_DONE;
}

int cmd_tm_warm(struct tm_call *c)
{
    struct warming w = { .file = tm_value(c, "key-file") };
    skmt_keys *keys = NULL;
    int status = check_file(w.file);

    if (!status) status = tm_open_search(c, false);
    if (!status) status = model_find(&c->model, tm_value(c, "model"), NULL);
    if (status) return status;
    check_isa();
    status = warm(c, &w, &keys);
    skmt_keys_free(keys);       /* then the file has its final size */
    return status ? status : answer(c, &w);
}
