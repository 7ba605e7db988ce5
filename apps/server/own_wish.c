/* own_wish.c - reads the arguments of skmt's own API. */
#include <stdlib.h>
#include <string.h>

#include "own.h"

/* ---- single arguments ------------------------------------------------- */

bool own_read_int(struct call *c, const char *name, int64_t low, int64_t high,
                  int64_t *out)
{
    if (call_arg_int(c, name, low, high, out) >= 0) return true;
    call_fail_field(c, name, "%s must be an integer from %lld to %lld", name,
                    (long long)low, (long long)high);
    return false;
}

bool own_read_optional(struct call *c, const char *name, const char **out)
{
    const json_t *given = json_object_get(call_args(c), name);

    *out = call_arg(c, name);
    if (*out || !given || json_is_null(given)) return true;
    call_fail_field(c, name, "%s must be a string", name);
    return false;
}

bool own_has_text(const char *s)
{
    return s[strspn(s, " \t\r\n\v\f")] != 0;
}

const char *own_read_text(struct call *c, const char *name)
{
    const char *s;

    if (!own_read_optional(c, name, &s)) return NULL;
    if (s && own_has_text(s)) return s;
    call_fail_field(c, name, s ? "%s is empty" : "%s is missing", name);
    return NULL;
}

bool own_read_unit(struct call *c, enum offset_unit *out)
{
    const char *name;

    if (!own_read_optional(c, "offsets", &name)) return false;
    if (offset_unit_of(name, out)) return true;
    call_fail_field(c, "offsets",
                    "offsets must be utf16, utf8 or codepoints");
    return false;
}

/* ---- memories --------------------------------------------------------- */

bool own_need_memory(struct call *c)
{
    if (account_has_memory(call_account(c))) return true;
    call_fail(c, FAIL_UNSUPPORTED, "the server was started without a memory "
              "(--memory)");
    return false;
}

bool own_find_memory(struct call *c, const char *what, const char *field,
                     struct memory_card *out)
{
    struct failure f = { .kind = FAIL_NOT_FOUND };
    skmt_error err;
    bool found = false;

    if (!own_need_memory(c)) return false;
    if (memories_find(call_account(c), what, out, &found, &err)) {
        call_fail_error(c, &err);
        return false;
    }
    if (found) return true;
    snprintf(f.field, sizeof f.field, "%s", field);
    snprintf(f.message, sizeof f.message, "there is no memory \"%.100s\"",
             what);
    call_fail_with(c, &f);
    return false;
}

static bool own_add_memory(struct call *c, const char *what, const char *field,
                           struct memory_cards *cards, const char **names)
{
    struct memory_card *card = &cards->list[cards->n];

    if (!own_find_memory(c, what, field, card)) return false;
    names[cards->n++] = card->name;
    return true;
}

void own_release_memories(struct memory_cards *cards, const char ***names)
{
    memories_release(cards);
    free(*names);
    *names = NULL;
    *cards = (struct memory_cards){ .list = NULL };
}

bool own_read_memories(struct call *c, const char *name,
                       struct memory_cards *cards, const char ***names)
{
    json_t *list = call_arg_list(c, name, true);
    size_t n = json_array_size(list);
    bool ok = list != NULL;

    *cards = (struct memory_cards){ .list = NULL };
    *names = NULL;
    if (!list)
        call_fail_field(c, name, "%s must be a list of strings", name);
    if (ok && n > 0) {
        cards->list = calloc(n, sizeof *cards->list);
        *names = calloc(n, sizeof **names);
        ok = cards->list && *names;
        if (!ok) call_fail(c, FAIL_INTERNAL, "out of memory");
    }
    for (size_t i = 0; ok && i < n; i++)
        ok = own_add_memory(c, json_string_value(json_array_get(list, i)),
                            name, cards, *names);
    json_decref(list);
    if (!ok) own_release_memories(cards, names);
    return ok;
}

/* ---- wishes ----------------------------------------------------------- */

/* An empty list of memories means that none is to be used. */
static bool own_use_none(struct call *c, struct own_wish *w)
{
    const json_t *list = json_object_get(call_args(c), "memories");

    if (!json_is_array(list) || json_array_size(list) > 0) return true;
    if (json_object_set_new(w->options, "system", json_string("nmt")) == 0)
        return true;
    call_fail(c, FAIL_INTERNAL, "out of memory");
    return false;
}

static bool own_read_options(struct call *c, struct own_wish *w)
{
    json_t *given = json_object_get(call_args(c), "options");

    if (given && !json_is_null(given) && !json_is_object(given)) {
        call_fail_field(c, "options", "options must be an object");
        return false;
    }
    w->options = json_is_object(given) ? json_copy(given) : json_object();
    if (!w->options) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return false;
    }
    return own_use_none(c, w);
}

bool own_wish_read(struct call *c, struct own_wish *out)
{
    struct wish *w = &out->wish;

    *out = (struct own_wish){ .wish = { .nbest = 1 } };
    if (!own_read_optional(c, "source", &w->source)
        || !own_read_optional(c, "target", &w->target)
        || !own_read_optional(c, "replaces", &w->replaces)
        || !own_read_int(c, "deadline_ms", 1, 3600000, &w->deadline_ms)
        || !own_read_unit(c, &out->unit)
        || !own_read_options(c, out)
        || !own_read_memories(c, "memories", &out->cards, &out->names))
        return false;
    w->options = json_object_size(out->options) ? out->options : NULL;
    w->memories = out->names;
    w->n_memories = out->cards.n;
    /* Somebody waits for a request that replaces another. */
    if (w->replaces) w->priority = 1;
    return true;
}

void own_wish_release(struct own_wish *w)
{
    json_decref(w->options);
    own_release_memories(&w->cards, &w->names);
}
