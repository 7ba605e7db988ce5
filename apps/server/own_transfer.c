/* own_transfer.c - importing files into memories, with progress, and exporting
 * memories to files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "own.h"

/* ---- server-sent events ----------------------------------------------- */

enum { EVENT_MS = 200 };        /* at least this long between two events */

struct own_import {
    struct call *c;
    bool stream;
    double last;                /* when the last event was sent, in seconds */
};

/* Whether the client asked for events. */
static bool wants_events(const struct call *c)
{
    const char *accept = call_header(c, "Accept");

    return accept && strstr(accept, "text/event-stream");
}

/* Sends an event. Frees the data. Returns false if the client is gone. */
static bool send_event(struct call *c, const char *name, json_t *data)
{
    char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
    char *event = NULL;
    int n = text ? asprintf(&event, "event: %s\ndata: %s\n\n", name, text) : -1;
    bool ok = n >= 0 && call_stream_write(c, event, (size_t)n);

    if (n >= 0) free(event);
    free(text);
    json_decref(data);
    return ok;
}

static double own_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Called by the import. Returns non-zero to stop it. */
static int on_import(void *user, const char *what, uint64_t done,
                     uint64_t total, uint64_t units)
{
    struct own_import *im = user;
    double now = own_seconds();

    if (call_canceled(im->c)) return 1;
    if (!im->stream || now - im->last < EVENT_MS / 1000.0) return 0;
    im->last = now;
    return !send_event(im->c, "progress", json_pack(
        "{s:o, s:I, s:I, s:I}", "what", own_string(what), "done",
        (json_int_t)done, "total", (json_int_t)total, "pairs",
        (json_int_t)units));
}

/* ---- import ----------------------------------------------------------- */

/* The library's message names an option of the command line; clients choose the
 * format by the name of the file. */
static void describe_import(struct own_import *im, const skmt_error *err,
                            struct failure *f)
{
    char *hint;

    call_describe_error(im->c, err, f);
    if (f->kind != FAIL_ARGUMENT) return;
    snprintf(f->field, sizeof f->field, "file");
    hint = strstr(f->message, "; name it with --format");
    if (hint)
        snprintf(hint, sizeof f->message - (size_t)(hint - f->message),
                 "; give the file a name that ends in .tmx, .xlf, .po, .tsv "
                 "or .csv");
}

static void own_import_failed(struct own_import *im, const skmt_error *err)
{
    struct failure f;

    if (call_canceled(im->c)) return;   /* nobody waits for the answer */
    describe_import(im, err, &f);
    if (im->stream) send_event(im->c, "error", own_failure_json(im->c, &f));
    else call_fail_with(im->c, &f);
}

/* Answers with the number of pairs and the memory as it is now. */
static void own_import_done(struct own_import *im, int64_t id, int64_t pairs)
{
    struct memory_card card;
    char number[24];
    skmt_error err;
    bool found = false;
    json_t *j;

    snprintf(number, sizeof number, "%lld", (long long)id);
    if (memories_find(call_account(im->c), number, &card, &found, &err)) {
        own_import_failed(im, &err);
        return;
    }
    /* Another client may have deleted the memory meanwhile. */
    j = json_pack("{s:I, s:o}", "imported", (json_int_t)pairs, "memory",
                  found ? own_card_json(&card) : json_null());
    if (found) memory_card_release(&card);
    if (im->stream) send_event(im->c, "done", j);
    else call_reply_json(im->c, 200, j);
}

struct import_args { const char *source, *target, *name; };

/* The name of the file: as the client gave it, else that of the upload. */
static bool read_import_args(struct call *c, const struct upload *file,
                             struct import_args *out)
{
    if (!own_read_optional(c, "source", &out->source)
        || !own_read_optional(c, "target", &out->target)
        || !own_read_optional(c, "name", &out->name)) return false;
    if (!out->name) out->name = file->name;
    if (strrchr(out->name, '/')) out->name = strrchr(out->name, '/') + 1;
    return true;
}

static void import_file(struct call *c, const struct upload *file,
                        const struct import_args *args,
                        const struct memory_card *card)
{
    struct own_import im = { .c = c, .stream = wants_events(c) };
    int64_t pairs = 0;
    skmt_error err;

    if (im.stream) {
        call_set_header(c, "X-Accel-Buffering", "no");  /* for nginx */
        if (!call_stream_begin(c, "text/event-stream; charset=utf-8")) return;
    }
    if (account_import(call_account(c), card->name, file->path, args->name,
                       args->source, args->target, on_import, &im, &pairs,
                       &err))
        own_import_failed(&im, &err);
    else own_import_done(&im, card->id, pairs);
}

/* The memory of the path. It is made if it does not exist and the client wants
 * that. */
static bool own_import_memory(struct call *c, const struct import_args *args,
                              struct memory_card *card)
{
    const char *name = call_path_part(c, "name");
    skmt_error err;
    bool found = false;

    if (!own_need_memory(c)) return false;
    if (memories_find(call_account(c), name, card, &found, &err)) {
        call_fail_error(c, &err);
    } else if (!found && !call_arg_bool(c, "create", false)) {
        call_fail(c, FAIL_NOT_FOUND, "there is no memory \"%.100s\"; send "
                  "create=true to make it", name);
    } else if (!found && memories_create(call_account(c), name, NULL, NULL,
                                         args->source, args->target, card,
                                         &err)) {
        call_fail_error(c, &err);
    } else return true;
    return false;
}

void own_import(struct call *c)
{
    const struct upload *file = call_upload(c, NULL);
    struct import_args args;
    struct memory_card card;

    if (!file || !file->bytes) {
        call_fail_field(c, "file", file ? "the file is empty"
                        : "there is no file in the request");
        return;
    }
    if (!read_import_args(c, file, &args)
        || !own_import_memory(c, &args, &card)) return;
    import_file(c, file, &args, &card);
    memory_card_release(&card);
}

/* ---- export ----------------------------------------------------------- */

static const struct export_format { const char *name, *ending, *type; }
    export_formats[] = {
    { "tmx", "tmx", "application/x-tmx+xml" },
    { "xliff", "xlf", "application/xliff+xml" },
    { "po", "po", "text/x-gettext-translation; charset=utf-8" },
    { "tsv", "tsv", "text/tab-separated-values; charset=utf-8" },
    { "csv", "csv", "text/csv; charset=utf-8" },
};

static const struct export_format *own_read_format(struct call *c)
{
    size_t n = sizeof export_formats / sizeof *export_formats;
    const char *name;

    if (!own_read_optional(c, "format", &name)) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!name || !strcmp(name, export_formats[i].name))
            return &export_formats[i];
    call_fail_field(c, "format", "format must be tmx, xliff, po, tsv or csv");
    return NULL;
}

/* Returns non-zero to stop the export. */
static int on_export(void *user, const char *what, uint64_t done,
                     uint64_t total, uint64_t units)
{
    (void)what;
    (void)done;
    (void)total;
    (void)units;
    return call_canceled(user);
}

/* Makes an empty temporary file with a name that ends in ".ending". Returns its
 * name, which the caller frees; NULL after it has failed the call. */
static char *make_export_file(struct call *c, const char *ending)
{
    char *path = NULL;
    int fd;

    if (asprintf(&path, "%s/skmt-export-XXXXXX.%s", call_temp_folder(c),
                 ending) < 0) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return NULL;
    }
    fd = mkstemps(path, (int)strlen(ending) + 1);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    call_fail(c, FAIL_STORAGE, "a temporary file cannot be made: %s",
              strerror(errno));
    free(path);
    return NULL;
}

static skmt_status own_write_export(struct call *c, const char *memory,
                                    const char *path,
                                    const struct export_format *format,
                                    skmt_error *err)
{
    struct account *a = call_account(c);
    skmt_tm *tm;
    skmt_status st = account_borrow_some(a, &tm, err);

    if (st) return st;
    skmt_tm_on_progress(tm, on_export, c);
    st = skmt_tm_export(tm, memory, path, format->name, NULL, NULL, err);
    skmt_tm_on_progress(tm, NULL, NULL);
    account_return(a, tm);
    return st;
}

static void own_reply_export(struct call *c, const struct memory_card *card,
                             const struct export_format *format)
{
    char *path = make_export_file(c, format->ending), *name = NULL;
    skmt_error err;

    if (!path) return;
    if (own_write_export(c, card->name, path, format, &err)) {
        unlink(path);
        if (!call_canceled(c)) call_fail_error(c, &err);
    } else if (asprintf(&name, "%s.%s", card->name, format->ending) < 0) {
        unlink(path);
        call_fail(c, FAIL_INTERNAL, "out of memory");
    } else {
        call_reply_file(c, format->type, path, name);
        free(name);
    }
    free(path);
}

void own_export(struct call *c)
{
    const struct export_format *format = own_read_format(c);
    struct memory_card card;

    if (!format
        || !own_find_memory(c, call_path_part(c, "name"), "", &card)) return;
    own_reply_export(c, &card, format);
    memory_card_release(&card);
}
