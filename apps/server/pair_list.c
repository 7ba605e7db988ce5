/* pair_list.c - stores the pairs of a client in one transaction. */
#include "pair_list.h"

#include <string.h>

#include "account.h"
#include "metrics.h"
#include "server.h"

/* ---- reading ------------------------------------------------------------ */

static const char *pair_side(const json_t *pair, const char *name,
                             const char *other)
{
    const char *s = json_string_value(json_object_get(pair, name));

    return s ? s : json_string_value(json_object_get(pair, other));
}

/* Reads pair i of a list. An empty source or target cannot be stored. */
static bool pair_list_get(const json_t *list, size_t i, skmt_pair *out)
{
    const json_t *pair = json_array_get(list, i);

    out->source = pair_side(pair, "source", "Source");
    out->target = pair_side(pair, "target", "Target");
    return out->source && out->target && out->source[0] && out->target[0];
}

static bool pair_list_check(struct call *c, const json_t *list)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    size_t i;

    if (!json_is_array(list)) {
        call_fail(c, FAIL_JSON, "the body is not a list of pairs");
        return false;
    }
    for (i = 0; i < json_array_size(list); i++) {
        if (pair_list_get(list, i, &pair))
            continue;
        call_fail(c, FAIL_ARGUMENT, "pair %zu of %zu has no source or no "
                  "target", i + 1, json_array_size(list));
        return false;
    }
    return true;
}

/* ---- storing ------------------------------------------------------------ */

static skmt_status add_all(skmt_tm *tm, const char *memory, const json_t *list,
                           const char *source_lang, const char *target_lang,
                           skmt_error *err)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    skmt_status st = skmt_tm_begin(tm, err);
    size_t i;

    if (st)
        return st;
    pair.source_lang = source_lang;
    pair.target_lang = target_lang;
    for (i = 0; !st && i < json_array_size(list); i++) {
        pair_list_get(list, i, &pair);
        st = skmt_tm_add_pair(tm, memory, &pair, NULL, err);
    }
    if (!st)
        st = skmt_tm_commit(tm, err);
    else
        skmt_tm_rollback(tm);
    return st;
}

bool pair_list_store(struct call *c, const json_t *list, const char *source,
                     const char *target, const char *from, int64_t *n)
{
    struct account *a = call_account(c);
    char *memory = NULL;
    skmt_error err;
    skmt_tm *tm;
    skmt_status st;

    *n = (int64_t)json_array_size(list);
    if (!pair_list_check(c, list))
        return false;
    if (!account_has_memory(a) || !account_may_write(a)) {
        call_fail(c, FAIL_FORBIDDEN, "this server stores no pairs for you");
        return false;
    }
    st = account_main_memory(a, source, target, &memory, &err);
    if (!st)
        st = account_edit_begin(a, &tm, &err);
    if (!st) {
        st = add_all(tm, memory, list, source, target, &err);
        account_edit_end(a);
    }
    free(memory);
    if (st)
        call_fail_error(c, &err);
    else
        metrics_added(call_server(c)->metrics, from, *n);
    return !st;
}

/* ---- a text of several lines -------------------------------------------- */

static size_t count_lines(const char *s)
{
    size_t n = 1;

    for (; *s; s++)
        n += *s == '\n';
    return n;
}

/* The length of a line without the '\r' at its end. */
static size_t line_length(const char *s)
{
    size_t n = strcspn(s, "\n");

    return n > 0 && s[n - 1] == '\r' ? n - 1 : n;
}

static bool is_blank_text(const char *s, size_t n)
{
    while (n > 0 && strchr(" \t\r", s[n - 1]))
        n--;
    return n == 0;
}

static json_t *pairs_of_lines(const char *text, const char *translation)
{
    json_t *list = json_array();

    while (list) {
        size_t n = line_length(text), m = line_length(translation);

        if (!is_blank_text(text, n) && !is_blank_text(translation, m))
            json_array_append_new(list, json_pack("{s:s%, s:s%}",
                "source", text, n, "target", translation, m));
        text += strcspn(text, "\n");
        translation += strcspn(translation, "\n");
        if (!*text)
            break;
        text++, translation++;
    }
    return list;
}

bool pair_list_store_text(struct call *c, const char *text,
                          const char *translation, const char *source,
                          const char *target, const char *from)
{
    json_t *list;
    int64_t n;
    bool stored;

    if (count_lines(text) == count_lines(translation))
        list = pairs_of_lines(text, translation);
    else
        list = json_pack("[{s:s, s:s}]", "source", text, "target",
                         translation);
    if (!list) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return false;
    }
    if (json_array_size(list) == 0) {
        call_fail(c, FAIL_ARGUMENT, "the text or its translation is blank");
        stored = false;
    } else {
        stored = pair_list_store(c, list, source, target, from, &n);
    }
    json_decref(list);
    return stored;
}
