/* own_pairs.c - the pairs of a memory: listing, adding, changing, deleting. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "languages.h"
#include "own.h"

/* The memory of the path. */
static bool own_pairs_memory(struct call *c, struct memory_card *out)
{
    return own_find_memory(c, call_path_part(c, "name"), "", out);
}

/* ---- a page of the list ----------------------------------------------- */

struct own_page { int64_t after, limit, last; json_t *list; bool more; };

/* Reads one pair more than the page has, to know whether there is a next
 * page. */
static skmt_status own_read_page(skmt_tm *tm, const char *memory,
                                 struct own_page *page, skmt_error *err)
{
    skmt_tm_cursor *cursor;
    skmt_status st = skmt_tm_cursor_open_after(&cursor, tm, memory,
                                               page->after, err);

    for (int64_t n = 0; !st; n++) {
        skmt_pair p = SKMT_INIT(skmt_pair);
        int found;

        st = skmt_tm_cursor_next(cursor, &p, &found, err);
        if (st || !found) break;
        page->more = n == page->limit;
        if (page->more) break;
        page->last = p.id;
        json_array_append_new(page->list, own_pair_json(&p));
    }
    skmt_tm_cursor_close(cursor);
    return st;
}

static void own_reply_page(struct call *c, const char *memory,
                           struct own_page *page)
{
    struct account *a = call_account(c);
    skmt_error err;
    skmt_tm *tm;
    skmt_status st = account_borrow_some(a, &tm, &err);

    if (!st) {
        st = own_read_page(tm, memory, page, &err);
        account_return(a, tm);
    }
    if (st) {
        json_decref(page->list);
        call_fail_error(c, &err);
        return;
    }
    call_reply_json(c, 200, json_pack(
        "{s:o, s:o}", "pairs", page->list, "next",
        page->more ? json_integer(page->last) : json_null()));
}

void own_pairs_list(struct call *c)
{
    struct own_page page = { .limit = 50 };
    struct memory_card card;

    if (!own_read_int(c, "limit", 1, OWN_MAX_PAGE, &page.limit)
        || !own_read_int(c, "after", 0, INT64_MAX, &page.after)
        || !own_pairs_memory(c, &card)) return;
    page.list = json_array();
    own_reply_page(c, card.name, &page);
    memory_card_release(&card);
}

/* ---- one pair --------------------------------------------------------- */

static void own_no_pair(struct call *c)
{
    call_fail(c, FAIL_NOT_FOUND, "there is no such pair in this memory");
}

/* Reads pair `id` if it is in the memory. Returns NULL after it has failed the
 * call. */
static json_t *own_get_pair(struct call *c, skmt_tm *tm, int64_t id,
                            const char *memory)
{
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_error err;
    json_t *j;

    if (skmt_tm_get(tm, id, &p, &err)) {
        if (err.status == SKMT_ERR_ARGUMENT) own_no_pair(c);
        else call_fail_error(c, &err);
        return NULL;
    }
    if (strcmp(p.memory, memory)) {
        own_no_pair(c);
        return NULL;
    }
    j = own_pair_json(&p);
    if (!j) call_fail(c, FAIL_INTERNAL, "out of memory");
    return j;
}

/* Borrows the memory file and reads a pair. */
static json_t *own_borrow_pair(struct call *c, int64_t id, const char *memory)
{
    skmt_error err;
    skmt_tm *tm;
    json_t *j;

    if (account_borrow_some(call_account(c), &tm, &err)) {
        call_fail_error(c, &err);
        return NULL;
    }
    j = own_get_pair(c, tm, id, memory);
    account_return(call_account(c), tm);
    return j;
}

/* The id of the path. Returns false after it has failed the call. */
static bool own_path_id(struct call *c, int64_t *id)
{
    const char *s = call_path_part(c, "id");

    *id = 0;
    /* 18 digits fit. */
    if (*s && strlen(s) <= 18 && !s[strspn(s, "0123456789")]) {
        sscanf(s, "%" SCNd64, id);
        return true;
    }
    own_no_pair(c);
    return false;
}

void own_pair_get(struct call *c)
{
    struct memory_card card;
    int64_t id;
    json_t *j;

    if (!own_path_id(c, &id) || !own_pairs_memory(c, &card)) return;
    j = own_borrow_pair(c, id, card.name);
    if (j) call_reply_json(c, 200, j);
    memory_card_release(&card);
}

/* What a request does to a pair. source and target are NULL when it deletes. */
struct own_change { int64_t id; const char *source, *target; };

/* Changes or deletes a pair of the memory. Between the check and the change no
 * other thread of the server can change the file. Returns false after it has
 * failed the call. */
static bool own_change_pair(struct call *c, const char *memory,
                            const struct own_change *x)
{
    struct account *a = call_account(c);
    bool remove = !x->source && !x->target;
    skmt_error err;
    skmt_status st;
    skmt_tm *tm;
    json_t *old;

    if (account_edit_begin(a, &tm, &err)) {
        call_fail_error(c, &err);
        return false;
    }
    old = own_get_pair(c, tm, x->id, memory);
    st = SKMT_OK;
    if (old)
        st = remove ? skmt_tm_delete(tm, x->id, &err)
                    : skmt_tm_replace(tm, x->id, x->source, x->target, &err);
    account_edit_end(a);
    if (st) call_fail_error(c, &err);
    json_decref(old);
    return old && !st;
}

void own_pair_put(struct call *c)
{
    struct own_change x;
    struct memory_card card;
    json_t *j;

    if (!own_path_id(c, &x.id) || !own_read_optional(c, "source", &x.source)
        || !own_read_optional(c, "target", &x.target)) return;
    if (!x.source && !x.target) {
        call_fail_field(c, "target", "source and target are missing");
        return;
    }
    if ((x.source && !own_has_text(x.source))
        || (x.target && !own_has_text(x.target))) {
        call_fail_field(c, x.source && !own_has_text(x.source) ? "source"
                        : "target", "a text is empty");
        return;
    }
    if (!own_pairs_memory(c, &card)) return;
    if (own_change_pair(c, card.name, &x)) {
        j = own_borrow_pair(c, x.id, card.name);
        if (j) call_reply_json(c, 200, j);
    }
    memory_card_release(&card);
}

void own_pair_delete(struct call *c)
{
    struct own_change x = { .source = NULL };
    struct memory_card card;

    if (!own_path_id(c, &x.id) || !own_pairs_memory(c, &card)) return;
    if (own_change_pair(c, card.name, &x)) call_reply_empty(c, 204);
    memory_card_release(&card);
}

/* ---- languages -------------------------------------------------------- */

static void own_complete_language(const char **lang, const char *known)
{
    if (!*lang || !**lang) *lang = known;
}

static bool own_fits(struct call *c, const struct memory_card *m,
                     const struct correction *x)
{
    bool fits = skmt_language_fits(m->source_lang, x->source_lang)
                && skmt_language_fits(m->target_lang, x->target_lang);

    if (!fits)
        call_fail(c, FAIL_LANGUAGE, "the memory is from %s to %s",
                  m->source_lang, m->target_lang);
    return fits;
}

/* With several pairs of languages, a pair of texts without them would be used
 * for translations into every language. */
bool own_pair_languages(struct call *c, const struct memory_card *m,
                        struct correction *x)
{
    const struct server *s = call_server(c);
    const char *source = "", *target = "", *missing;

    if (language_pairs(s) == 1) language_pair(s, 0, &source, &target);
    if (m && *m->source_lang) source = m->source_lang;
    if (m && *m->target_lang) target = m->target_lang;
    own_complete_language(&x->source_lang, source);
    own_complete_language(&x->target_lang, target);
    missing = !*x->source_lang ? "source_lang"
              : !*x->target_lang ? "target_lang" : NULL;
    if (missing)
        call_fail_field(c, missing, "%s is missing; this server translates "
                        "several pairs of languages", missing);
    return !missing && (!m || own_fits(c, m, x));
}

/* ---- adding ----------------------------------------------------------- */

/* A member of a pair that must be a string, or NULL if it is absent. Returns
 * false after it has failed the call. */
static bool own_member(struct call *c, const json_t *pair, const char *name,
                       const char **out)
{
    const json_t *v = json_object_get(pair, name);

    *out = json_string_value(v);
    if (*out || !v || json_is_null(v)) return true;
    call_fail_field(c, name, "%s must be a string", name);
    return false;
}

static bool own_read_pair(struct call *c, const json_t *pair,
                          struct correction *x)
{
    const char *empty;

    if (!json_is_object(pair)) {
        call_fail_field(c, "pairs", "pairs must be a list of objects");
        return false;
    }
    if (!own_member(c, pair, "source", &x->source)
        || !own_member(c, pair, "target", &x->target)
        || !own_member(c, pair, "source_lang", &x->source_lang)
        || !own_member(c, pair, "target_lang", &x->target_lang)
        || !own_member(c, pair, "document", &x->document)
        || !own_member(c, pair, "author", &x->author)
        || !own_member(c, pair, "unit", &x->unit)) return false;
    x->replace = json_is_true(json_object_get(pair, "replace"));
    empty = !x->source || !own_has_text(x->source) ? "source"
            : !x->target || !own_has_text(x->target) ? "target" : NULL;
    if (empty) call_fail_field(c, empty, "%s is missing or empty", empty);
    return !empty;
}

/* Stores a pair and returns it. NULL after it has failed the call. */
static json_t *own_add_pair(struct call *c, const struct correction *x)
{
    skmt_error err;
    int64_t id;

    if (account_store(call_account(c), x, &id, &err)) {
        call_fail_error(c, &err);
        return NULL;
    }
    return own_borrow_pair(c, id, x->memory);
}

static void own_add_one(struct call *c, const struct memory_card *m)
{
    struct correction x = { .memory = m->name, .from = "own" };
    json_t *j;

    if (!own_read_pair(c, call_args(c), &x) || !own_pair_languages(c, m, &x))
        return;
    x.replace = call_arg_bool(c, "replace", false);
    j = own_add_pair(c, &x);
    if (j) call_reply_json(c, 201, j);
}

/* Adds a list of pairs. All are checked before the first is stored. */
static void own_add_list(struct call *c, const struct memory_card *m,
                         const json_t *list)
{
    json_t *done = json_array();
    size_t n = json_array_size(list);

    for (size_t i = 0; i < 2 * n; i++) {
        struct correction x = { .memory = m->name, .from = "own" };
        json_t *j;

        if (!own_read_pair(c, json_array_get(list, i % n), &x)
            || !own_pair_languages(c, m, &x)) {
            json_decref(done);
            return;
        }
        if (i < n) continue;
        j = own_add_pair(c, &x);
        if (!j) {
            json_decref(done);
            return;
        }
        json_array_append_new(done, j);
    }
    call_reply_json(c, 201, json_pack("{s:o}", "pairs", done));
}

void own_pairs_add(struct call *c)
{
    const json_t *list = json_object_get(call_args(c), "pairs");
    struct memory_card card;

    if (list && (!json_is_array(list) || json_array_size(list) == 0
                 || json_array_size(list) > OWN_MAX_ADDED)) {
        call_fail_field(c, "pairs", "pairs must be a list of 1 to %d objects",
                        OWN_MAX_ADDED);
        return;
    }
    if (!own_pairs_memory(c, &card)) return;
    if (list) own_add_list(c, &card, list);
    else own_add_one(c, &card);
    memory_card_release(&card);
}
