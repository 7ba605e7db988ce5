/* memory_cards.c - the memories of an account as the APIs show them: with a
 * number, a title, a description and an external id.
 *
 * The memory file has the names, languages and pairs. The rest is in a JSON
 * file beside it, NAME.tm.names:
 *
 *     {"next":3,"memories":[{"id":1,"name":"main","title":"..",..},..]}
 *
 * It is read again when it has changed, and replaced atomically. Memories that
 * it does not know get their numbers when they are first seen; what it says
 * about a memory that no longer exists is dropped. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/jput.h"
#include "common/wholefile.h"
#include "server/account_internal.h"

enum {
    MAX_TITLE = 1000,           /* bytes */
    MAX_DESCRIPTION = 10000,
    MAX_EXTERNAL = 250,
    MAX_MEMORIES = 1000,        /* of an account */
    COUNT_AGAIN = 50,           /* counting takes at most 1/50 of the time */
    CARD_NAME = 100             /* bytes of a title that become the name */
};

/* Counting the pairs of a memory reads all of them. If that took noticeable
 * time, the number is used for a while. */
struct card_count { int64_t id, pairs; double until; };

struct card_file {
    pthread_mutex_t lock;       /* also held while the memory file is listed
                                   or a memory is made */
    char *path;
    json_t *root;               /* NULL: not read yet */
    struct stat seen;           /* when it was read; st_ino 0: no file */
    struct card_count count[MAX_MEMORIES];      /* of large memories */
    int n_counts;
};

struct card_file *card_file_new(const char *memory)
{
    struct card_file *f = calloc(1, sizeof *f);
    size_t size = strlen(memory) + sizeof ".names";

    if (!f) return NULL;
    f->path = malloc(size);
    if (!f->path) {
        free(f);
        return NULL;
    }
    snprintf(f->path, size, "%s.names", memory);
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void card_file_free(struct card_file *f)
{
    if (!f) return;
    json_decref(f->root);
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f);
}

static skmt_status cards_nomem(skmt_error *err)
{
    return account_error(err, SKMT_ERR_NOMEM, "out of memory");
}

/* ---- the file: call these with the lock ---------------------------------- */

static json_t *cards_of(const struct card_file *f)
{
    return json_object_get(f->root, "memories");
}

static const char *card_text(const json_t *card, const char *key)
{
    const char *s = json_string_value(json_object_get(card, key));

    return s ? s : "";
}

static int64_t card_id(const json_t *card)
{
    return json_integer_value(json_object_get(card, "id"));
}

/* Whether the file has what we need. */
static bool root_sound(const json_t *root)
{
    const json_t *list = json_object_get(root, "memories"), *card;
    json_int_t next = json_integer_value(json_object_get(root, "next"));
    size_t i;

    if (!json_is_array(list) || next < 1) return false;
    json_array_foreach((json_t *)list, i, card)
        if (!json_is_object(card) || !card_text(card, "name")[0]
            || card_id(card) < 1 || card_id(card) >= next) return false;
    return true;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev
           && a->st_size == b->st_size
           && a->st_mtim.tv_sec == b->st_mtim.tv_sec
           && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the file if it has changed. */
static skmt_status cards_read(struct card_file *f, skmt_error *err)
{
    struct stat now = { 0 };
    json_t *root;
    FILE *in;

    if (stat(f->path, &now) && errno != ENOENT)
        return account_error(err, SKMT_ERR_IO, "the list of memories: %s",
                             strerror(errno));
    if (f->root && same_file(&now, &f->seen)) return SKMT_OK;
    in = now.st_ino ? fopen(f->path, "rbe") : NULL;
    if (now.st_ino && !in)
        return account_error(err, SKMT_ERR_IO, "the list of memories: %s",
                             strerror(errno));
    root = in ? json_loadf(in, JSON_REJECT_DUPLICATES, NULL)
              : json_pack("{s:i,s:[]}", "next", 1, "memories");
    if (in) fclose(in);
    if (!root_sound(root)) {
        json_decref(root);
        return account_error(err, SKMT_ERR_FORMAT, "the list of memories is "
                             "damaged (the file beside the memory file that "
                             "ends in .names)");
    }
    json_decref(f->root);
    f->root = root;
    f->seen = now;
    return SKMT_OK;
}

/* The new name in the folder must survive a power failure, or numbers could be
 * used twice. */
static void sync_folder(const char *path)
{
    char copy[PATH_MAX];
    int fd;

    snprintf(copy, sizeof copy, "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static skmt_status cards_write(struct card_file *f, skmt_error *err)
{
    struct textbuf text = { 0 };
    char *json = json_dumps(f->root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    char why[PATH_MAX + 200];
    bool ok;

    if (!json) return cards_nomem(err);
    textbuf_adds(&text, json);
    textbuf_adds(&text, "\n");
    free(json);
    ok = whole_file_replace(f->path, &text, why, sizeof why);
    textbuf_release(&text);
    if (ok) {
        sync_folder(f->path);
        if (stat(f->path, &f->seen)) f->seen = (struct stat){ 0 };
        return SKMT_OK;
    }
    account_error(err, SKMT_ERR_IO, "%.490s", why);
    if (err) hide_path(err, f->path, "the list of memories");
    return SKMT_ERR_IO;
}

/* Forgets what was changed in memory and not written. */
static void cards_forget(struct card_file *f)
{
    json_decref(f->root);
    f->root = NULL;
}

/* Adds a card with the next number. Borrowed; NULL if out of memory. */
static json_t *card_add(struct card_file *f, const char *name,
                        const char *title, const char *description,
                        const char *external_id, int64_t created)
{
    json_int_t id = json_integer_value(json_object_get(f->root, "next"));
    json_t *card = json_pack("{s:I,s:s,s:s,s:s,s:s,s:I}", "id", id, "name",
                             name, "title", title, "description", description,
                             "external_id", external_id, "created",
                             (json_int_t)created);

    if (!card || json_array_append_new(cards_of(f), card)
        || json_object_set_new(f->root, "next", json_integer(id + 1)))
        return NULL;
    return card;
}

static json_t *card_named(const struct card_file *f, const char *name,
                          size_t *at)
{
    json_t *card;
    size_t i;

    json_array_foreach(cards_of(f), i, card)
        if (!strcmp(card_text(card, "name"), name)) {
            if (at) *at = i;
            return card;
        }
    return NULL;
}

/* ---- comparing with the memory file -------------------------------------- */

/* Makes the cards those of the memories in the file. *changed: some were added
 * or removed. */
static skmt_status cards_match(struct card_file *f, skmt_tm *tm, bool *changed,
                               skmt_error *err)
{
    json_t *there = json_object(), *card;
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    int n = 0;
    skmt_status st = there ? skmt_tm_count(tm, &n, err) : cards_nomem(err);

    for (int i = 0; !st && i < n; i++) {
        st = skmt_tm_get_settings(tm, i, &info, err);
        if (!st && json_object_set_new(there, info.name, json_true()))
            st = cards_nomem(err);
        if (st || card_named(f, info.name, NULL)) continue;
        *changed = true;
        if (!card_add(f, info.name, info.name, "", "", info.created))
            st = cards_nomem(err);
    }
    for (size_t i = json_array_size(cards_of(f)); !st && i-- > 0;) {
        card = json_array_get(cards_of(f), i);
        if (json_object_get(there, card_text(card, "name"))) continue;
        *changed = true;
        json_array_remove(cards_of(f), i);
    }
    json_decref(there);
    return st;
}

/* Reads the cards and compares them with the memories of the file, which is
 * borrowed. Without the right to write, numbers of new memories are not
 * kept. */
static skmt_status cards_begin(struct account *a, skmt_tm **tm,
                               skmt_error *err)
{
    struct card_file *f = a->home->cards;
    bool changed = false;
    skmt_status st = tm_pool_borrow(a->home->pool, NULL, 0, tm, err);

    if (st) return st;
    pthread_mutex_lock(&f->lock);
    st = cards_read(f, err);
    if (!st) st = cards_match(f, *tm, &changed, err);
    if (!st && changed && cards_write(f, NULL)) f->seen = (struct stat){ 0 };
    if (!st) return SKMT_OK;
    cards_forget(f);
    pthread_mutex_unlock(&f->lock);
    tm_pool_return(a->home->pool, *tm);
    return account_failed(a, err, st);
}

static void cards_end(struct account *a, skmt_tm *tm)
{
    pthread_mutex_unlock(&a->home->cards->lock);
    tm_pool_return(a->home->pool, tm);
}

/* ---- cards for the caller ------------------------------------------------ */

void memory_card_release(struct memory_card *m)
{
    free(m->name);
    free(m->title);
    free(m->description);
    free(m->external_id);
    free(m->source_lang);
    free(m->target_lang);
    *m = (struct memory_card){ 0 };
}

void memories_release(struct memory_cards *m)
{
    for (int i = 0; i < m->n; i++) memory_card_release(&m->list[i]);
    free(m->list);
    *m = (struct memory_cards){ 0 };
}

static bool card_allowed(const struct account *a, const json_t *card)
{
    for (int i = 0; i < a->n_names; i++)
        if (!strcmp(a->names[i], card_text(card, "name"))) return true;
    return !a->n_names;
}

static double cards_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sets the number of pairs of memory i of the file. */
static skmt_status count_card(struct card_file *f, int64_t id, skmt_tm *tm,
                              int i, skmt_tm_info *info, skmt_error *err)
{
    double begin = cards_clock(), end;
    struct card_count *known = f->count;
    skmt_status st;

    while (known < f->count + f->n_counts && known->id != id) known++;
    if (known < f->count + f->n_counts && begin < known->until) {
        info->pairs = known->pairs;
        return SKMT_OK;
    }
    st = skmt_tm_get_info(tm, i, info, err);
    end = cards_clock();
    if (st || (end - begin < 0.002 && known == f->count + f->n_counts))
        return st;
    if (known == f->count + MAX_MEMORIES) known = f->count + id % MAX_MEMORIES;
    else if (known == f->count + f->n_counts) f->n_counts++;
    *known = (struct card_count){ id, info->pairs,
                                  end + COUNT_AGAIN * (end - begin) };
    return SKMT_OK;
}

/* Copies a card, with languages and number of pairs from the file. */
static skmt_status card_copy(struct card_file *f, const json_t *card,
                             skmt_tm *tm, struct memory_card *out,
                             skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    const char *name = card_text(card, "name");
    int n = 0, i = 0;
    skmt_status st = skmt_tm_count(tm, &n, err);

    for (; !st && i < n; i++) {
        st = skmt_tm_get_settings(tm, i, &info, err);
        if (!st && !strcmp(info.name, name)) break;
    }
    if (!st && i < n) st = count_card(f, card_id(card), tm, i, &info, err);
    if (st) return st;
    *out = (struct memory_card){
        .id = card_id(card), .name = strdup(name),
        .title = strdup(card_text(card, "title")),
        .description = strdup(card_text(card, "description")),
        .external_id = strdup(card_text(card, "external_id")),
        .source_lang = strdup(i < n ? info.source_lang : ""),
        .target_lang = strdup(i < n ? info.target_lang : ""),
        .created = json_integer_value(json_object_get(card, "created")),
        .pairs = i < n ? info.pairs : 0 };
    if (out->name && out->title && out->description && out->external_id
        && out->source_lang && out->target_lang) return SKMT_OK;
    memory_card_release(out);
    return cards_nomem(err);
}

skmt_status memories_list(struct account *a, struct memory_cards *out,
                          skmt_error *err)
{
    struct card_file *f = a->home->cards;
    skmt_tm *tm;
    json_t *card;
    size_t i;
    skmt_status st;

    *out = (struct memory_cards){ 0 };
    if (!a->home->pool) return SKMT_OK;
    st = cards_begin(a, &tm, err);
    if (st) return st;
    out->list = calloc(json_array_size(cards_of(f)) + 1, sizeof *out->list);
    if (!out->list) st = cards_nomem(err);
    json_array_foreach(cards_of(f), i, card) {
        if (st || !card_allowed(a, card)) continue;
        st = card_copy(f, card, tm, &out->list[out->n], err);
        out->n += !st;
    }
    cards_end(a, tm);
    if (st) memories_release(out);
    return account_failed(a, err, st);
}

/* Whether a card is meant by a number (way 0), an external id, a name or a
 * title (3). */
static bool card_is(const json_t *card, const char *what, int way)
{
    static const char *const key[] = { "", "external_id", "name", "title" };
    char number[24];

    if (way) return !strcmp(card_text(card, key[way]), what);
    snprintf(number, sizeof number, "%lld", (long long)card_id(card));
    return !strcmp(number, what);
}

static json_t *card_find(const struct account *a, const char *what)
{
    json_t *card;
    size_t i;

    for (int way = 0; what[0] && way < 4; way++)
        json_array_foreach(cards_of(a->home->cards), i, card)
            if (card_allowed(a, card) && card_is(card, what, way))
                return card;
    return NULL;
}

skmt_status memories_find(struct account *a, const char *what,
                          struct memory_card *out, bool *found,
                          skmt_error *err)
{
    const json_t *card;
    skmt_tm *tm;
    skmt_status st;

    *found = false;
    *out = (struct memory_card){ 0 };
    if (!a->home->pool) return SKMT_OK;
    st = cards_begin(a, &tm, err);
    if (st) return st;
    card = card_find(a, what);
    if (card) st = card_copy(a->home->cards, card, tm, out, err);
    *found = card && !st;
    cards_end(a, tm);
    return account_failed(a, err, st);
}

/* ---- making -------------------------------------------------------------- */

static skmt_status check_length(const char *s, int most, const char *what,
                                skmt_error *err)
{
    if (!s || strnlen(s, (size_t)most + 1) <= (size_t)most) return SKMT_OK;
    return account_error(err, SKMT_ERR_ARGUMENT,
                         "%s of a memory has at most %d bytes", what, most);
}

/* The title as a name of a memory: without control characters, cut at a
 * character. */
static void name_of_title(const char *title, char *out)
{
    const unsigned char *at = (const unsigned char *)title;
    int n = 0;

    for (; *at && n < CARD_NAME; at++) {
        bool c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;

        if (*at < 0x20 || *at == 0x7f || c1) at += c1;
        else if (n || *at != ' ') out[n++] = (char)*at;
    }
    if (*at)                    /* cut: no part of a character is left over */
        while (n && (out[n - 1] & 0xc0) == 0x80) n--;
    if (*at && n && (out[n - 1] & 0x80)) n--;
    while (n && out[n - 1] == ' ') n--;
    out[n] = '\0';
    if (!n) strcpy(out, "memory");
}

/* Makes the name different from those of all other memories. */
static void make_unique(const struct card_file *f, char *name, size_t size)
{
    char base[CARD_NAME + 1];

    snprintf(base, sizeof base, "%.*s", CARD_NAME, name);
    for (int i = 2; card_named(f, name, NULL) && i < MAX_MEMORIES + 3; i++)
        snprintf(name, size, "%s (%d)", base, i);
}

static skmt_status check_new(const struct account *a, const char *title,
                             const char *description, const char *external_id,
                             skmt_error *err)
{
    skmt_status st = account_check_write(a, err);

    if (!st && a->n_names)
        st = account_error(err, SKMT_ERR_ARGUMENT, "this server uses fixed "
                           "memories (--name); no others can be made");
    if (!st) st = check_length(title, MAX_TITLE, "the name", err);
    if (!st)
        st = check_length(description, MAX_DESCRIPTION, "the description",
                          err);
    if (!st)
        st = check_length(external_id, MAX_EXTERNAL, "the external id", err);
    return st;
}

/* Makes the memory first and its card second: without a card it gets one
 * later, while a card without a memory would be dropped. */
static skmt_status create_memory(struct account *a, skmt_tm_info *new,
                                 const char *title, const char *description,
                                 const char *external_id, json_t **card,
                                 skmt_error *err)
{
    struct card_file *f = a->home->cards;
    skmt_tm *tm;
    skmt_status st = account_edit_begin(a, &tm, err);

    if (st) return st;
    st = skmt_tm_create(tm, new, err);
    if (!st) {
        *card = card_add(f, new->name, title, description, external_id,
                         (int64_t)time(NULL));
        st = *card ? cards_write(f, err) : cards_nomem(err);
        if (st) {
            skmt_tm_drop(tm, new->name, NULL);
            cards_forget(f);
        }
    }
    account_edit_end(a);
    return st;
}

static skmt_status check_room(const struct account *a, const char *external_id,
                              skmt_error *err)
{
    const json_t *list = cards_of(a->home->cards), *card;
    size_t i;

    if (json_array_size(list) >= MAX_MEMORIES)
        return account_error(err, SKMT_ERR_LIMIT, "there are %d memories "
                             "already", MAX_MEMORIES);
    json_array_foreach((json_t *)list, i, card)
        if (external_id[0]
            && !strcmp(card_text(card, "external_id"), external_id))
            return account_error(err, SKMT_ERR_ARGUMENT, "a memory with this "
                                 "external id exists already");
    return SKMT_OK;
}

skmt_status memories_create(struct account *a, const char *title,
                            const char *description, const char *external_id,
                            const char *source_lang, const char *target_lang,
                            struct memory_card *out, skmt_error *err)
{
    char name[CARD_NAME + 20];
    skmt_tm_info new = SKMT_INIT(skmt_tm_info);
    json_t *card = NULL;
    skmt_tm *tm;
    skmt_status st = check_new(a, title, description, external_id, err);

    *out = (struct memory_card){ 0 };
    if (!st) st = cards_begin(a, &tm, err);
    if (st) return st;
    if (!title) title = "";
    if (!external_id) external_id = "";
    name_of_title(title, name);
    make_unique(a->home->cards, name, sizeof name);
    new.name = name;
    new.source_lang = source_lang;
    new.target_lang = target_lang;
    st = check_room(a, external_id, err);
    if (!st)
        st = create_memory(a, &new, title[0] ? title : name,
                           description ? description : "", external_id, &card,
                           err);
    if (!st) st = card_copy(a->home->cards, card, tm, out, err);
    cards_end(a, tm);
    return account_failed(a, err, st);
}

/* ---- changing ------------------------------------------------------------ */

/* The card with this number, or an error. */
static skmt_status card_by_id(const struct account *a, int64_t id,
                              json_t **card, skmt_error *err)
{
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)id);
    *card = card_find(a, number);
    if (*card && card_id(*card) == id) return SKMT_OK;
    return account_error(err, SKMT_ERR_ARGUMENT, "there is no memory with the "
                         "number %lld", (long long)id);
}

static skmt_status card_set(json_t *card, const char *key, const char *value,
                            skmt_error *err)
{
    if (!value || !json_object_set_new(card, key, json_string(value)))
        return SKMT_OK;
    return cards_nomem(err);
}

skmt_status memories_change(struct account *a, int64_t id, const char *title,
                            const char *description, skmt_error *err)
{
    struct card_file *f = a->home->cards;
    json_t *card = NULL;
    skmt_tm *tm;
    skmt_status st = account_check_write(a, err);

    if (!st) st = check_length(title, MAX_TITLE, "the name", err);
    if (!st)
        st = check_length(description, MAX_DESCRIPTION, "the description",
                          err);
    if (!st) st = cards_begin(a, &tm, err);
    if (st) return st;
    st = card_by_id(a, id, &card, err);
    if (!st) {
        st = card_set(card, "title", title, err);
        if (!st) st = card_set(card, "description", description, err);
        if (!st) st = cards_write(f, err);
        if (st) cards_forget(f);
    }
    cards_end(a, tm);
    return account_failed(a, err, st);
}

/* Drops the memory first: without it, the card is dropped too. */
static skmt_status drop_memory(struct account *a, const json_t *card,
                               skmt_error *err)
{
    struct card_file *f = a->home->cards;
    const char *name = card_text(card, "name");
    skmt_tm *edit;
    size_t at;
    skmt_status st = account_edit_begin(a, &edit, err);

    if (st) return st;
    st = skmt_tm_drop(edit, name, err);
    account_edit_end(a);
    if (st || !card_named(f, name, &at)) return st;
    json_array_remove(cards_of(f), at);
    if (cards_write(f, NULL)) cards_forget(f);
    return SKMT_OK;
}

skmt_status memories_delete(struct account *a, int64_t id, skmt_error *err)
{
    json_t *card = NULL;
    skmt_tm *tm;
    skmt_status st = account_check_write(a, err);

    if (!st && a->n_names)
        st = account_error(err, SKMT_ERR_ARGUMENT, "this server uses fixed "
                           "memories (--name); they cannot be deleted");
    if (!st) st = cards_begin(a, &tm, err);
    if (st) return st;
    st = card_by_id(a, id, &card, err);
    if (!st) st = drop_memory(a, card, err);
    cards_end(a, tm);
    return account_failed(a, err, st);
}
