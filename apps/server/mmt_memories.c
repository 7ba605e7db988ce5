/* mmt_memories.c - ModernMT's /memories, and how its clients name a memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "languages.h"
#include "mmt.h"
#include "server.h"

/* ---- arguments -------------------------------------------------------- */

/* An id of a JSON list is a string or a number. */
static json_t *id_string(const json_t *id)
{
    char text[32];

    if (json_is_string(id)) return json_string(json_string_value(id));
    if (!json_is_integer(id)) return NULL;
    snprintf(text, sizeof text, "%" PRId64, (int64_t)json_integer_value(id));
    return json_string(text);
}

/* Adds the ids of a string, which are separated by commas. */
static void add_ids(json_t *list, const char *s)
{
    while (*s) {
        size_t n = strcspn(s, ","), end = n, begin = 0;

        while (begin < n && s[begin] == ' ') begin++;
        while (end > begin && s[end - 1] == ' ') end--;
        if (end > begin)
            json_array_append_new(list,
                                  json_stringn(s + begin, end - begin));
        s += n + (s[n] == ',');
    }
}

json_t *mmt_ids(struct call *c, const char *argument)
{
    const json_t *v = json_object_get(call_args(c), argument), *each;
    json_t *list = json_array(), *id;
    size_t i;

    if (json_is_string(v)) {
        add_ids(list, json_string_value(v));
        return list;
    }
    if (json_is_integer(v)) {
        json_array_append_new(list, id_string(v));
        return list;
    }
    if (!v || json_is_null(v)) return list;
    json_array_foreach(v, i, each) {
        id = id_string(each);
        if (!id) break;
        if (json_is_string(id)) add_ids(list, json_string_value(id));
        json_decref(id);
    }
    if (json_is_array(v) && i == json_array_size(v)) return list;
    json_decref(list);
    call_fail_field(c, argument, "parameter %s must be a list of ids",
                    argument);
    return NULL;
}

bool mmt_language(struct call *c, const char *argument, bool required,
                  const char **code)
{
    const char *written = call_arg(c, argument);
    struct failure f = { .kind = FAIL_LANGUAGE };

    *code = NULL;
    if (!written || !*written || !strcmp(written, "auto")) {
        if (!required) return true;
        call_fail_field(c, argument, "Missing parameter %s", argument);
        return false;
    }
    *code = skmt_language_code(written);
    if (*code) return true;
    snprintf(f.field, sizeof f.field, "%s", argument);
    snprintf(f.message, sizeof f.message, "%.40s is not a language",
             written);
    call_fail_with(c, &f);
    return false;
}

bool mmt_pair(struct call *c, const char **source, const char **target)
{
    if (!mmt_language(c, "source", true, source) ||
        !mmt_language(c, "target", true, target))
        return false;
    if (language_is_served(call_server(c), *source, *target)) return true;
    call_fail(c, FAIL_LANGUAGE, "this server does not translate from %s to %s",
              *source, *target);
    return false;
}

/* ---- finding memories ------------------------------------------------- */

bool mmt_may_store(struct call *c)
{
    struct account *a = call_account(c);

    if (!account_has_memory(a)) {
        call_fail(c, FAIL_FORBIDDEN, "this server has no translation memory");
        return false;
    }
    if (account_may_write(a)) return true;
    call_fail(c, FAIL_FORBIDDEN, "this key may not change memories");
    return false;
}

/* Sets *found. Returns false after it has failed the call. */
static bool mmt_find(struct call *c, const char *what,
                     struct memory_card *card, bool *found)
{
    skmt_error err;

    *found = false;
    if (!account_has_memory(call_account(c))) return true;
    if (!memories_find(call_account(c), what, card, found, &err)) return true;
    call_fail_error(c, &err);
    return false;
}

static bool is_matecat_key(const char *what)
{
    return !strncmp(what, "x_mm-", 5) && what[5];
}

static bool mmt_make(struct call *c, const char *title,
                     const char *description, const char *external_id,
                     struct memory_card *card)
{
    skmt_error err;

    if (!mmt_may_store(c)) return false;
    if (!memories_create(call_account(c), title, description, external_id,
                         NULL, NULL, card, &err))
        return true;
    call_fail_error(c, &err);
    return false;
}

bool mmt_memory_find(struct call *c, const char *what, bool make,
                     struct memory_card *card)
{
    bool found;

    if (!mmt_find(c, what, card, &found)) return false;
    if (found) return true;
    if (make && is_matecat_key(what))
        return mmt_make(c, what, NULL, what, card);
    call_fail(c, FAIL_NOT_FOUND, "there is no memory %.100s", what);
    return false;
}

/* ---- names for a search ----------------------------------------------- */

void mmt_names_release(struct mmt_names *m)
{
    for (int i = 0; i < m->n; i++) free(m->names[i]);
    free(m->names);
    memset(m, 0, sizeof *m);
}

static bool names_add(struct mmt_names *m, const char *name)
{
    char **names;

    for (int i = 0; i < m->n; i++)
        if (!strcmp(m->names[i], name)) return true;
    names = realloc(m->names, ((size_t)m->n + 1) * sizeof *names);
    if (!names) return false;
    m->names = names;
    names[m->n] = strdup(name);
    if (!names[m->n]) return false;
    m->n++;
    return true;
}

/* id: "12", or "12:0.7", which is memory 12 with its weight. A memory with the
 * weight 0 is not wanted. */
static bool names_find(struct call *c, const char *id, struct mmt_names *m)
{
    struct memory_card card;
    char what[256];
    size_t n = strcspn(id, ":");
    bool found, ok = true;

    if (n == 0 || n >= sizeof what) return true;
    if (id[n] == ':' && strtod(id + n + 1, NULL) <= 0) return true;
    memcpy(what, id, n);
    what[n] = '\0';
    if (!mmt_find(c, what, &card, &found)) return false;
    if (!found) return true;
    ok = names_add(m, card.name);
    memory_card_release(&card);
    if (!ok) call_fail(c, FAIL_INTERNAL, "out of memory");
    return ok;
}

bool mmt_names_read(struct call *c, const char *argument,
                    struct mmt_names *m)
{
    json_t *list = mmt_ids(c, argument), *id;
    bool ok = true;
    size_t i;

    if (!list) return false;
    if (json_array_size(list) > 0) m->given = true;
    json_array_foreach(list, i, id)
        if (ok) ok = names_find(c, json_string_value(id), m);
    json_decref(list);
    return ok;
}

/* ---- the routes ------------------------------------------------------- */

static json_t *memory_json(const struct memory_card *m)
{
    time_t created = (time_t)m->created;
    char date[40];
    struct tm tm;
    json_t *o;

    gmtime_r(&created, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
    o = json_pack("{s:I,s:s,s:s,s:s}", "id", (json_int_t)m->id,
                  "name", m->title && *m->title ? m->title : m->name,
                  "description", m->description ? m->description : "",
                  "creationDate", date);
    if (m->external_id && *m->external_id)
        json_object_set_new(o, "externalId", json_string(m->external_id));
    return o;
}

void mmt_memories_list(struct call *c)
{
    struct memory_cards all = { 0 };
    json_t *list = json_array();
    skmt_error err;

    if (account_has_memory(call_account(c)) &&
        memories_list(call_account(c), &all, &err)) {
        json_decref(list);
        call_fail_error(c, &err);
        return;
    }
    for (int i = 0; i < all.n; i++)
        json_array_append_new(list, memory_json(&all.list[i]));
    memories_release(&all);
    mmt_reply(c, list);
}

void mmt_memories_create(struct call *c)
{
    const char *name = call_arg(c, "name");
    const char *external_id = call_arg(c, "external_id");
    struct memory_card card;
    bool found = false;

    if (!name || !*name) {
        call_fail_field(c, "name", "Missing parameter name");
        return;
    }
    if (external_id && *external_id) {
        if (!mmt_find(c, external_id, &card, &found)) return;
        if (found) {
            memory_card_release(&card);
            call_fail(c, FAIL_CONFLICT, "there is a memory with this "
                      "external id already");
            return;
        }
    }
    if (!mmt_make(c, name, call_arg(c, "description"), external_id, &card))
        return;
    mmt_reply(c, memory_json(&card));
    memory_card_release(&card);
}

/* MateCat connects the keys of a user when the engine is set up. A key without
 * a memory gets one. */
void mmt_memories_connect(struct call *c)
{
    json_t *ids = mmt_ids(c, "external_ids"), *id, *list;
    struct memory_card card;
    size_t i;

    if (!ids) return;
    list = json_array();
    json_array_foreach(ids, i, id) {
        if (!mmt_memory_find(c, json_string_value(id), true, &card)) {
            json_decref(list);
            json_decref(ids);
            return;
        }
        json_array_append_new(list, memory_json(&card));
        memory_card_release(&card);
    }
    json_decref(ids);
    mmt_reply(c, list);
}

static void reply_memory(struct call *c, const char *what)
{
    struct memory_card card;

    if (!mmt_memory_find(c, what, false, &card)) return;
    mmt_reply(c, memory_json(&card));
    memory_card_release(&card);
}

void mmt_memory_get(struct call *c)
{
    reply_memory(c, call_path_part(c, "id"));
}

void mmt_memory_change(struct call *c)
{
    struct memory_card card;
    skmt_error err;
    char number[32];
    bool ok;

    if (!mmt_memory_find(c, call_path_part(c, "id"), false, &card)) return;
    ok = mmt_may_store(c);
    if (ok && memories_change(call_account(c), card.id, call_arg(c, "name"),
                              call_arg(c, "description"), &err)) {
        call_fail_error(c, &err);
        ok = false;
    }
    /* The path may have had the old name. */
    snprintf(number, sizeof number, "%" PRId64, card.id);
    memory_card_release(&card);
    if (ok) reply_memory(c, number);
}

/* Answers with the memory as it was. */
void mmt_memory_delete(struct call *c)
{
    struct memory_card card;
    skmt_error err;

    if (!mmt_memory_find(c, call_path_part(c, "id"), false, &card)) return;
    if (mmt_may_store(c)) {
        if (memories_delete(call_account(c), card.id, &err))
            call_fail_error(c, &err);
        else
            mmt_reply(c, memory_json(&card));
    }
    memory_card_release(&card);
}
