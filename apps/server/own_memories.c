/* own_memories.c - the memories of an account: listing, making, changing,
 * deleting. */
#include <stdio.h>
#include <string.h>

#include "own.h"

static void own_reply_card(struct call *c, int status,
                           const struct memory_card *card)
{
    call_reply_json(c, status, own_card_json(card));
}

/* The memory of the path. */
static bool own_path_memory(struct call *c, struct memory_card *out)
{
    return own_find_memory(c, call_path_part(c, "name"), "", out);
}

void own_memories_list(struct call *c)
{
    struct memory_cards cards = { .list = NULL };
    json_t *list = json_array();
    skmt_error err;

    /* A server without a memory has none, which is no error. */
    if (account_has_memory(call_account(c))
        && memories_list(call_account(c), &cards, &err)) {
        json_decref(list);
        call_fail_error(c, &err);
        return;
    }
    for (int i = 0; i < cards.n; i++)
        json_array_append_new(list, own_card_json(&cards.list[i]));
    memories_release(&cards);
    call_reply_json(c, 200, json_pack("{s:o}", "memories", list));
}

/* Whether no other memory than `id` answers to this name. Fails the call if one
 * does. */
static bool own_name_is_free(struct call *c, const char *name, int64_t id)
{
    struct failure f = { .kind = FAIL_CONFLICT, .field = "title",
                         .message = "there is a memory with this name" };
    struct memory_card card;
    skmt_error err;
    bool found = false, same;

    if (memories_find(call_account(c), name, &card, &found, &err)) {
        call_fail_error(c, &err);
        return false;
    }
    if (!found) return true;
    same = card.id == id;
    memory_card_release(&card);
    if (!same) call_fail_with(c, &f);
    return same;
}

/* A name of digits would be taken for an id. */
static bool own_title_is_good(struct call *c, const char *title)
{
    if (!title[strspn(title, " \t\r\n")])
        call_fail_field(c, "title", "title is empty");
    else if (!title[strspn(title, "0123456789")])
        call_fail_field(c, "title", "a title must not be a number");
    else return true;
    return false;
}

/* The argument "title", or "name". NULL after it has failed the call. */
static const char *own_read_title(struct call *c)
{
    const char *title;

    if (!own_read_optional(c, "title", &title)) return NULL;
    if (!title && !own_read_optional(c, "name", &title)) return NULL;
    if (!title) call_fail_field(c, "title", "title is missing");
    return title && own_title_is_good(c, title) ? title : NULL;
}

void own_memories_create(struct call *c)
{
    const char *title, *description, *external, *source, *target;
    struct memory_card card;
    skmt_error err;

    if (!own_need_memory(c)) return;
    title = own_read_title(c);
    if (!title || !own_read_optional(c, "description", &description)
        || !own_read_optional(c, "external_id", &external)
        || !own_read_optional(c, "source", &source)
        || !own_read_optional(c, "target", &target)
        || !own_name_is_free(c, title, 0)) return;
    if (memories_create(call_account(c), title, description, external, source,
                        target, &card, &err)) {
        call_fail_error(c, &err);
        return;
    }
    own_reply_card(c, 201, &card);
    memory_card_release(&card);
}

void own_memory_get(struct call *c)
{
    struct memory_card card;

    if (!own_path_memory(c, &card)) return;
    own_reply_card(c, 200, &card);
    memory_card_release(&card);
}

/* Changes the memory with this id and answers with it. */
static void own_change_card(struct call *c, int64_t id)
{
    const char *title, *description;
    struct memory_card card;
    char number[24];
    skmt_error err;

    if (!own_read_optional(c, "title", &title)
        || !own_read_optional(c, "description", &description)) return;
    if (title && (!own_title_is_good(c, title)
                  || !own_name_is_free(c, title, id))) return;
    if (memories_change(call_account(c), id, title, description, &err)) {
        call_fail_error(c, &err);
        return;
    }
    snprintf(number, sizeof number, "%lld", (long long)id);
    if (!own_find_memory(c, number, "", &card)) return;
    own_reply_card(c, 200, &card);
    memory_card_release(&card);
}

void own_memory_change(struct call *c)
{
    struct memory_card card;

    if (!own_path_memory(c, &card)) return;
    own_change_card(c, card.id);
    memory_card_release(&card);
}

void own_memory_delete(struct call *c)
{
    struct memory_card card;
    skmt_error err;

    if (!own_path_memory(c, &card)) return;
    if (memories_delete(call_account(c), card.id, &err))
        call_fail_error(c, &err);
    else call_reply_empty(c, 204);
    memory_card_release(&card);
}
