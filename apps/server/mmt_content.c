/* mmt_content.c - ModernMT's calls that store: pairs, replacements and imports.
 *
 * Each answers with an import job. What it stored is on disk by then, so its
 * progress is 1; the job can still be asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "languages.h"
#include "mmt.h"
#include "server.h"

/* ---- jobs ------------------------------------------------------------- */

static json_t *job_json(const struct import_job *j)
{
    json_t *o = json_pack("{s:s,s:I,s:I,s:f}", "id", j->id,
                          "memory", (json_int_t)j->memory,
                          "size", (json_int_t)j->size,
                          "progress", j->progress);

    /* A whole number is written as one, as ModernMT does. */
    if (j->progress >= 1)
        json_object_set_new(o, "progress", json_integer(1));
    return o;
}

static void reply_job(struct call *c, int64_t memory, int64_t size)
{
    struct import_job job = { .memory = memory, .size = size, .progress = 1 };

    account_add_job(call_account(c), &job);
    mmt_reply(c, job_json(&job));
}

void mmt_import_job(struct call *c)
{
    struct import_job job;

    if (account_find_job(call_account(c), call_path_part(c, "id"), &job))
        mmt_reply(c, job_json(&job));
    else
        call_fail(c, FAIL_NOT_FOUND, "there is no import job with this id");
}

/* ---- one pair --------------------------------------------------------- */

static bool required(struct call *c, const char *argument, const char **out)
{
    *out = call_arg(c, argument);
    if (*out && **out) return true;
    call_fail_field(c, argument, "Missing parameter %s", argument);
    return false;
}

/* Reads the pair of a call. Its languages must be served. */
static bool read_correction(struct call *c, struct correction *x)
{
    memset(x, 0, sizeof *x);
    if (!required(c, "sentence", &x->source) ||
        !required(c, "translation", &x->target) ||
        !mmt_pair(c, &x->source_lang, &x->target_lang))
        return false;
    x->unit = call_arg(c, "tuid");
    if (x->unit && !*x->unit) x->unit = NULL;
    x->from = "modernmt";
    return true;
}

/* Fails the call if a memory is of another language pair. */
static bool same_pair(struct call *c, const struct correction *x,
                      const struct memory_card *m)
{
    bool same = skmt_language_fits(m->source_lang, x->source_lang)
                && skmt_language_fits(m->target_lang, x->target_lang);

    if (!same)
        call_fail(c, FAIL_LANGUAGE, "the memory is from %s to %s",
                  m->source_lang, m->target_lang);
    return same;
}

static bool store(struct call *c, struct correction *x,
                  const struct memory_card *m)
{
    skmt_error err;

    if (!same_pair(c, x, m)) return false;
    x->memory = m->name;
    if (!account_store(call_account(c), x, NULL, &err)) return true;
    call_fail_error(c, &err);
    return false;
}

/* Stores in the memory that corrections go to if nobody names one. */
static void share_main(struct call *c, struct correction *x)
{
    struct account *a = call_account(c);
    struct memory_card m;
    char *name = NULL;
    bool found = false;
    skmt_error err;

    if (account_main_memory(a, x->source_lang, x->target_lang, &name, &err) ||
        memories_find(a, name, &m, &found, &err)) {
        call_fail_error(c, &err);
    } else if (!found) {                /* deleted just now */
        call_fail(c, FAIL_CONFLICT, "the memory was deleted");
    } else {
        if (store(c, x, &m)) reply_job(c, m.id, 1);
        memory_card_release(&m);
    }
    free(name);
}

/* Finds all memories before it stores anything. */
static bool share_with(struct call *c, struct correction *x,
                       const json_t *ids, int64_t *first)
{
    size_t n = json_array_size(ids), found = 0;
    struct memory_card *cards = calloc(n + 1, sizeof *cards);
    bool ok = cards != NULL;

    if (!ok) call_fail(c, FAIL_INTERNAL, "out of memory");
    for (; ok && found < n; found += ok)
        ok = mmt_memory_find(c, json_string_value(json_array_get(ids, found)),
                             true, &cards[found]);
    for (size_t i = 0; ok && i < n; i++) ok = same_pair(c, x, &cards[i]);
    for (size_t i = 0; ok && i < n; i++) ok = store(c, x, &cards[i]);
    if (ok) *first = cards[0].id;
    for (size_t i = 0; i < found; i++) memory_card_release(&cards[i]);
    free(cards);
    return ok;
}

void mmt_content_share(struct call *c)
{
    struct correction x;
    int64_t first = 0;
    json_t *ids;

    if (!mmt_may_store(c) || !read_correction(c, &x)) return;
    ids = mmt_ids(c, "memories");
    if (!ids) return;
    if (json_array_size(ids) == 0) share_main(c, &x);
    else if (share_with(c, &x, ids, &first)) reply_job(c, first, 1);
    json_decref(ids);
}

/* ---- replacing -------------------------------------------------------- */

/* Removes one pair by its texts and adds the new one, in one transaction. */
static skmt_status replace_texts(struct account *a, const struct correction *x,
                                 const char *old_source,
                                 const char *old_target, skmt_error *err)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    skmt_status status;
    skmt_tm *tm;

    status = account_edit_begin(a, &tm, err);
    if (status) return status;
    pair.source = x->source;
    pair.target = x->target;
    pair.source_lang = x->source_lang;
    pair.target_lang = x->target_lang;
    status = skmt_tm_begin(tm, err);
    if (!status) {
        status = skmt_tm_delete_where(tm, x->memory, NULL, NULL, old_source,
                                      old_target, NULL, err);
        if (!status)
            status = skmt_tm_add_pair(tm, x->memory, &pair, NULL, err);
        if (status) skmt_tm_rollback(tm);
        else status = skmt_tm_commit(tm, err);
    }
    account_edit_end(a);
    return status;
}

/* With tuid, the unit with this id is replaced; with old_sentence and
 * old_translation, the pair with these texts; else all translations of the
 * sentence. */
static bool replace_in(struct call *c, struct correction *x,
                       const struct memory_card *m)
{
    const char *old_source = call_arg(c, "old_sentence");
    const char *old_target = call_arg(c, "old_translation");
    skmt_error err;

    if (x->unit || (!old_source && !old_target)) {
        x->replace = !x->unit;
        return store(c, x, m);
    }
    if (!required(c, "old_sentence", &old_source) ||
        !required(c, "old_translation", &old_target) || !same_pair(c, x, m))
        return false;
    x->memory = m->name;
    if (!replace_texts(call_account(c), x, old_source, old_target, &err))
        return true;
    call_fail_error(c, &err);
    return false;
}

void mmt_content_replace(struct call *c)
{
    struct memory_card m;
    struct correction x;

    if (!mmt_may_store(c) || !read_correction(c, &x) ||
        !mmt_memory_find(c, call_path_part(c, "id"), true, &m))
        return;
    if (replace_in(c, &x, &m)) reply_job(c, m.id, 1);
    memory_card_release(&m);
}

/* ---- importing -------------------------------------------------------- */

/* ModernMT imports after the call, so a client may go away before the end. The
 * import goes on then, unless the server ends. */
static int import_progress(void *user, const char *what, uint64_t done,
                           uint64_t total, uint64_t units)
{
    struct call *c = user;

    (void)what, (void)done, (void)total, (void)units;
    return server_state(call_server(c)) == SERVER_STOPPING &&
           call_canceled(c);
}

/* The languages to import: those of the call, else those of the memory, else
 * the only ones that are served. NULL: those of the file. */
static bool import_pair(struct call *c, const struct memory_card *m,
                        const char **source, const char **target)
{
    const struct server *s = call_server(c);

    if (!mmt_language(c, "source", false, source) ||
        !mmt_language(c, "target", false, target))
        return false;
    if (*source && *target) return true;
    if (*m->source_lang && *m->target_lang) {
        *source = m->source_lang;
        *target = m->target_lang;
    } else if (language_pairs(s) == 1) {
        language_pair(s, 0, source, target);
    }
    return true;
}

static void import_into(struct call *c, const struct memory_card *m,
                        const struct upload *file)
{
    const char *source, *target;
    struct failure empty = { .kind = FAIL_ARGUMENT };
    int64_t pairs = 0;
    skmt_error err;

    if (!import_pair(c, m, &source, &target)) return;
    if (account_import(call_account(c), m->name, file->path, file->name,
                       source, target, import_progress, c, &pairs, &err)) {
        call_fail_error(c, &err);
    } else if (pairs == 0) {
        snprintf(empty.field, sizeof empty.field, "%s", mmt_empty_corpus);
        snprintf(empty.message, sizeof empty.message,
                 "the file has no pair%s%s%s%s", source ? " from " : "",
                 source ? source : "", target ? " to " : "",
                 target ? target : "");
        call_fail_with(c, &empty);
    } else {
        reply_job(c, m->id, pairs);
    }
}

/* The file of an import; NULL if the call has a pair. */
static const struct upload *import_file(struct call *c)
{
    const struct upload *file = call_upload(c, "tmx");

    if (!file) file = call_upload(c, "content");
    return file ? file : call_upload(c, NULL);
}

void mmt_content_add(struct call *c)
{
    const struct upload *file = import_file(c);
    const char *type = call_arg(c, "content_type");
    struct memory_card m;
    struct correction x;

    if (!mmt_may_store(c) || (!file && !read_correction(c, &x))) return;
    if (file && type && strcasecmp(type, "tmx")) {
        call_fail(c, FAIL_UNSUPPORTED, "only files of type tmx are imported");
        return;
    }
    if (!mmt_memory_find(c, call_path_part(c, "id"), true, &m)) return;
    if (file) import_into(c, &m, file);
    else if (store(c, &x, &m)) reply_job(c, m.id, 1);
    memory_card_release(&m);
}
