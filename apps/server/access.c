/* access.c - the accounts of a server: finds the account of a key, limits wrong
 * keys and the rate of requests, and reads the key file again. One lock guards
 * the list and the buckets; it is held for microseconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "server/access.h"
#include "server/account_internal.h"
#include "server/settings.h"

enum {
    GUESSES = 20,               /* wrong keys a minute of one address */
    IDLE_HANDLES = 64,          /* memory files that stay open */
    COUNT_SECONDS = 5,          /* between two counts of an account's pairs */
    COUNT_SHARE = 100           /* counting takes at most 1/100 of the time */
};

struct accounts {
    const struct settings *settings;
    pthread_mutex_t lock;
    struct account **list;      /* with keys, sorted by number */
    int n;
    struct account_home *homes;
    struct tm_pools *pools;
    struct metrics *metrics;
    struct rate_table *guesses, *addresses;
};

static double access_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void account_lock(const struct account *a)
{
    pthread_mutex_lock(&a->owner->lock);
}

void account_unlock(const struct account *a)
{
    pthread_mutex_unlock(&a->owner->lock);
}

/* ---- homes: call these with the lock ------------------------------------- */

static void home_free(struct account_home *h)
{
    tm_pool_free(h->pool);
    card_file_free(h->cards);
    job_list_free(h->jobs);
    free(h->memory);
    free(h);
}

static struct account_home *home_new(struct accounts *list,
                                     const char *memory)
{
    struct account_home *h = calloc(1, sizeof *h);

    if (!h) return NULL;
    h->metrics = &list->metrics;
    h->pairs = -1;
    h->jobs = job_list_new();
    if (memory) {
        h->memory = strdup(memory);
        h->pool = tm_pool_new(list->pools, memory);
        h->cards = card_file_new(memory);
    }
    if (h->jobs && (!memory || (h->memory && h->pool && h->cards))) return h;
    home_free(h);
    return NULL;
}

/* The home of a memory file, or a new one. Accounts without a memory file have
 * homes of their own. */
static struct account_home *home_take(struct accounts *list,
                                      const char *memory)
{
    struct account_home *h = list->homes;

    while (memory && h && (!h->memory || strcmp(h->memory, memory)))
        h = h->next;
    if (!memory || !h) {
        h = home_new(list, memory);
        if (!h) return NULL;
        h->next = list->homes;
        list->homes = h;
    }
    h->refs++;
    return h;
}

/* Returns the home if nobody needs it any more; the caller frees it without the
 * lock. */
static struct account_home *home_drop(struct accounts *list,
                                      struct account_home *h)
{
    struct account_home **at = &list->homes;

    if (--h->refs > 0) return NULL;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    return h;
}

/* ---- accounts ------------------------------------------------------------ */

/* Makes an account of a line, which it takes over. Call it with the lock. */
static struct account *account_new(struct accounts *list,
                                   struct key_line *line)
{
    struct account *a = calloc(1, sizeof *a);

    if (!a) return NULL;
    a->home = home_take(list, line->memory);
    if (!a->home) {
        free(a);
        return NULL;
    }
    a->owner = list;
    a->refs = 1;
    a->line = *line;
    *line = (struct key_line){ 0 };
    return a;
}

void access_release(struct account *a)
{
    struct account_home *home = NULL;
    bool last;

    if (!a) return;
    account_lock(a);
    last = !--a->refs;
    if (last) home = home_drop(a->owner, a->home);
    account_unlock(a);
    if (home) home_free(home);
    if (!last) return;
    key_line_release(&a->line);
    free(a);
}

static bool same_line(const struct key_line *a, const struct key_line *b)
{
    return a->number == b->number && a->write == b->write
           && a->rate == b->rate && !strcmp(a->name, b->name)
           && !memcmp(a->salt, b->salt, sizeof a->salt)
           && !memcmp(a->hash, b->hash, sizeof a->hash)
           && !a->memory == !b->memory
           && (!a->memory || !strcmp(a->memory, b->memory));
}

/* Call this with the lock. */
static struct account *find_number(const struct accounts *list, int number)
{
    int low = 0, high = list->n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (list->list[middle]->line.number < number) low = middle + 1;
        else high = middle;
    }
    return low < list->n && list->list[low]->line.number == number
               ? list->list[low] : NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct account *const *x = a, *const *y = b;

    return ((*x)->line.number > (*y)->line.number)
           - ((*x)->line.number < (*y)->line.number);
}

/* Makes the accounts of all lines; those of unchanged lines stay. Call it with
 * the lock. NULL if out of memory. */
static struct account **make_list(struct accounts *list, struct key_lines *k,
                                  int *made)
{
    struct account **new = calloc((size_t)k->n + 1, sizeof *new);
    int i = 0;

    for (; new && i < k->n; i++) {
        struct account *old = find_number(list, k->list[i].number);

        if (old && same_line(&old->line, &k->list[i])) {
            old->refs++;
            new[i] = old;
        } else {
            new[i] = account_new(list, &k->list[i]);
            if (!new[i]) break;
        }
    }
    *made = i;
    if (new) qsort(new, (size_t)i, sizeof *new, compare_numbers);
    return new;
}

static skmt_status replace_list(struct accounts *list, struct key_lines *k,
                                skmt_error *err)
{
    struct account **old, **new;
    int n_old, made = 0;
    bool ok;

    pthread_mutex_lock(&list->lock);
    new = make_list(list, k, &made);
    ok = new && made == k->n;
    old = ok ? list->list : new;
    n_old = ok ? list->n : made;
    if (ok) {
        list->list = new;
        list->n = made;
    }
    pthread_mutex_unlock(&list->lock);
    for (int i = 0; old && i < n_old; i++) access_release(old[i]);
    free(old);
    if (ok) return SKMT_OK;
    return account_error(err, SKMT_ERR_NOMEM, "out of memory");
}

/* The one account of a server without keys. */
static skmt_status make_only_account(struct accounts *list, skmt_error *err)
{
    const struct settings *s = list->settings;
    struct key_line line = { .name = strdup(""), .write = true };
    struct key_lines one = { &line, 1 };
    skmt_status st;

    if (s->memory) line.memory = strdup(s->memory);
    if (!line.name || (s->memory && !line.memory))
        st = account_error(err, SKMT_ERR_NOMEM, "out of memory");
    else st = replace_list(list, &one, err);
    key_line_release(&line);
    if (st) return st;
    list->list[0]->names = (const char *const *)s->names.list;
    list->list[0]->n_names = s->names.n;
    return SKMT_OK;
}

skmt_status accounts_reload(struct accounts *list, skmt_error *err)
{
    const struct settings *s = list->settings;
    struct key_lines k;
    skmt_status st;

    if (!s->keys) return SKMT_OK;
    st = key_lines_read(&k, s->keys, s->data, s->rate, err);
    if (st) return st;
    st = replace_list(list, &k, err);
    key_lines_release(&k);
    return st;
}

skmt_status accounts_open(struct accounts **out, const struct settings *s,
                          skmt_error *err)
{
    struct accounts *list = calloc(1, sizeof *list);
    skmt_status st;

    *out = NULL;
    if (!list) return account_error(err, SKMT_ERR_NOMEM, "out of memory");
    pthread_mutex_init(&list->lock, NULL);
    list->settings = s;
    list->pools = tm_pools_new(IDLE_HANDLES);
    list->guesses = rate_table_new();
    list->addresses = rate_table_new();
    if (!list->pools || !list->guesses || !list->addresses)
        st = account_error(err, SKMT_ERR_NOMEM, "out of memory");
    else st = s->keys ? accounts_reload(list, err)
                      : make_only_account(list, err);
    if (st) accounts_close(list);
    else *out = list;
    return st;
}

void accounts_close(struct accounts *list)
{
    if (!list) return;
    for (int i = 0; i < list->n; i++) access_release(list->list[i]);
    free(list->list);
    tm_pools_free(list->pools);
    rate_table_free(list->guesses);
    rate_table_free(list->addresses);
    pthread_mutex_destroy(&list->lock);
    free(list);
}

void accounts_set_metrics(struct accounts *list, struct metrics *m)
{
    list->metrics = m;
}

bool accounts_need_key(const struct accounts *list)
{
    return list->settings->keys != NULL;
}

int accounts_count(struct accounts *list)
{
    int n;

    pthread_mutex_lock(&list->lock);
    n = list->settings->keys ? list->n : 0;
    pthread_mutex_unlock(&list->lock);
    return n;
}

/* All accounts, held, so that they can be used without the lock. NULL if out of
 * memory. */
static struct account **hold_all(struct accounts *list, int *n)
{
    struct account **all;

    pthread_mutex_lock(&list->lock);
    *n = list->n;
    all = calloc((size_t)list->n + 1, sizeof *all);
    for (int i = 0; all && i < *n; i++) {
        all[i] = list->list[i];
        all[i]->refs++;
    }
    pthread_mutex_unlock(&list->lock);
    return all;
}

skmt_status accounts_check(struct accounts *list, skmt_error *err)
{
    skmt_status st = SKMT_OK;
    int n;
    struct account **all = hold_all(list, &n);

    if (!all) return account_error(err, SKMT_ERR_NOMEM, "out of memory");
    for (int i = 0; i < n; i++) {
        const char *path = all[i]->home->memory;
        skmt_tm *tm = NULL;

        /* Not through the pool: its messages have no paths. */
        if (!st && path) st = skmt_tm_open(&tm, path, SKMT_TM_CREATE, err);
        if (st && path && !skmt_tm_open(&tm, path, SKMT_TM_READ, NULL))
            st = SKMT_OK;       /* the disk is read-only */
        skmt_tm_close(tm);
        access_release(all[i]);
    }
    free(all);
    return st;
}

/* ---- sizes --------------------------------------------------------------- */

static int64_t count_pairs(struct account *a)
{
    skmt_tm_state state = SKMT_INIT(skmt_tm_state);
    skmt_tm *tm;
    skmt_status st = account_borrow(a, NULL, 0, &tm, NULL);

    if (st || !tm) return -1;
    st = skmt_tm_get_state(tm, &state, NULL);
    account_return(a, tm);
    return st ? -1 : state.pairs;
}

static void count_again(struct account *a, double begin)
{
    struct account_home *h = a->home;
    int64_t pairs = count_pairs(a);
    double end = access_clock();

    __atomic_store_n(&h->pairs, pairs, __ATOMIC_RELAXED);
    account_lock(a);
    if (end + COUNT_SHARE * (end - begin) > h->count_next)
        h->count_next = end + COUNT_SHARE * (end - begin);
    account_unlock(a);
}

void accounts_each_size(struct accounts *list,
                        void (*fn)(void *user, int number, int64_t pairs),
                        void *user)
{
    int n;
    struct account **all = hold_all(list, &n);

    for (int i = 0; all && i < n; i++) {
        struct account_home *h = all[i]->home;
        double now = access_clock();
        bool old;

        pthread_mutex_lock(&list->lock);
        old = h->pool && now >= h->count_next;
        if (old) h->count_next = now + COUNT_SECONDS;
        pthread_mutex_unlock(&list->lock);
        if (old) count_again(all[i], now);
        if (h->pool)
            fn(user, all[i]->line.number,
               __atomic_load_n(&h->pairs, __ATOMIC_RELAXED));
        access_release(all[i]);
    }
    free(all);
}

/* ---- the key of a request ------------------------------------------------ */

/* The key after "SCHEME ", or NULL. */
static const char *after_scheme(const char *value, const char *scheme)
{
    size_t n = strlen(scheme);

    if (strncasecmp(value, scheme, n) || (value[n] != ' ' && value[n] != '\t'))
        return NULL;
    value += n;
    return value + strspn(value, " \t");
}

static const char *not_empty(const char *s) { return s && s[0] ? s : NULL; }

static const char *header_key(const struct key_source *from)
{
    const char *value = from->header(from->user, "Authorization");
    const char *key = value ? after_scheme(value, "DeepL-Auth-Key") : NULL;

    if (!key && value) key = after_scheme(value, "Bearer");
    if (!not_empty(key)) key = from->header(from->user, "MMT-ApiKey");
    if (!not_empty(key)) key = from->header(from->user, "X-Api-Key");
    return not_empty(key);
}

const char *access_find_key(const struct key_source *from)
{
    static const char *const in_body[] = { "api_key", "apiKey", "auth_key" };
    static const char *const in_query[] = { "auth_key", "api_key", "key" };
    const char *key = header_key(from);

    for (int i = 0; !key && from->body && i < 3; i++)
        key = not_empty(from->body(from->user, in_body[i]));
    for (int i = 0; !key && from->query && i < 3; i++)
        key = not_empty(from->query(from->user, in_query[i]));
    return key;
}

/* Compares all bytes, whatever differs. */
static bool same_hash(const unsigned char *a, const unsigned char *b)
{
    unsigned different = 0;

    for (int i = 0; i < KEY_HASH_BYTES; i++)
        different |= (unsigned)(a[i] ^ b[i]);
    return !different;
}

/* The account of a key, held, or NULL. A key that cannot exist is hashed and
 * compared as well, so that the time does not tell which numbers exist. */
static struct account *account_of_key(struct accounts *list, const char *key)
{
    unsigned char salt[KEY_SALT_BYTES] = { 0 }, want[KEY_HASH_BYTES] = { 0 };
    unsigned char got[KEY_HASH_BYTES];
    struct account *a;
    bool same;

    pthread_mutex_lock(&list->lock);
    a = find_number(list, key_number(key));
    if (a) {
        a->refs++;
        memcpy(salt, a->line.salt, sizeof salt);
        memcpy(want, a->line.hash, sizeof want);
    }
    pthread_mutex_unlock(&list->lock);
    key_hash(salt, key, got);
    same = same_hash(got, want);
    if (same && a) return a;
    access_release(a);
    return NULL;
}

/* A right key is accepted even from an address that has sent many wrong ones:
 * 256 random bits cannot be guessed, and other clients may share the
 * address. */
enum access_answer access_enter(struct accounts *list, const char *key,
                                const struct sockaddr *peer,
                                struct account **out, int *retry_after)
{
    *out = NULL;
    *retry_after = 0;
    if (!list->settings->keys) {
        pthread_mutex_lock(&list->lock);
        *out = list->list[0];
        (*out)->refs++;
        pthread_mutex_unlock(&list->lock);
        return ACCESS_GRANTED;
    }
    if (!key) return ACCESS_NO_KEY;
    *out = account_of_key(list, key);
    if (*out) return ACCESS_GRANTED;
    if (rate_table_take(list->guesses, peer, GUESSES, 1, access_clock(), NULL,
                        retry_after)) {
        *retry_after = 0;
        return ACCESS_WRONG_KEY;
    }
    return ACCESS_GUESSING;
}

/* ---- rate limits --------------------------------------------------------- */

static int64_t count_characters(const json_t *v)
{
    const char *s = json_string_value(v), *name;
    int64_t n = 0;
    size_t i;
    const json_t *part;

    for (size_t k = 0; s && k < json_string_length(v); k++)
        n += (s[k] & 0xc0) != 0x80;
    if (json_is_array(v))
        json_array_foreach((json_t *)v, i, part) n += count_characters(part);
    else if (json_is_object(v))
        json_object_foreach((json_t *)v, name, part)
            n += count_characters(part);
    return n;
}

double access_cost(const json_t *args)
{
    return 1 + (double)count_characters(args) / 1000;
}

void access_charge(struct accounts *list, struct account *a,
                   const struct sockaddr *peer, double cost,
                   struct rate_answer *out)
{
    bool keys = list->settings->keys != NULL;
    int limit = keys ? a->line.rate : list->settings->rate;
    double now = access_clock(), left;

    *out = (struct rate_answer){ .allowed = true };
    if (limit <= 0) return;
    if (keys) {
        account_lock(a);
        out->allowed = rate_take(&a->home->bucket, limit, cost, now);
        left = rate_left(&a->home->bucket, limit, now);
        out->retry_after = rate_wait(&a->home->bucket, limit, cost, now);
        account_unlock(a);
    } else {
        out->allowed = rate_table_take(list->addresses, peer, limit, cost, now,
                                       &left, &out->retry_after);
    }
    if (out->allowed) out->retry_after = 0;
    snprintf(out->policy, sizeof out->policy, "\"default\";q=%d;w=60", limit);
    snprintf(out->state, sizeof out->state, "\"default\";r=%lld;t=%lld",
             left > 0 ? (long long)left : 0,
             (long long)ceil((limit - left) * 60 / limit));
}
