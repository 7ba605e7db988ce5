/* flight.c - shares lines that are being translated.
 *
 * Invariants, under the lock of the flights:
 *   - A flight is in the table if it has a key. It loses its key when it is
 *     answered or canceled.
 *   - The holders of a flight are the parties that joined it, once for each
 *     time, and flight_stop while it cancels it. The last one frees it.
 * The lock is not held while the library is called, because the callback of a
 * request needs it. */
#include "flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 4096 };

struct wait_entry {
    struct flight_party *party;
    struct wait_entry *next;
};

struct flight {
    struct flights *all;
    struct flight *next;        /* in its bucket */
    char *key;                  /* [n_key], or NULL */
    size_t n_key;
    uint64_t hash;
    int class;
    int64_t bytes;
    int holders;
    bool answered, submitted;
    struct wait_entry *waiting;
    skmt_request *request;
    skmt_error err;
    pthread_mutex_t reading;
};

struct flights {
    pthread_mutex_t lock;
    struct flight *buckets[BUCKETS];
    struct flight_party *claimed;
    flight_left_fn *left;
    void *user;
    int64_t live, joined;
};

double flight_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

skmt_status flights_new(struct flights **out, flight_left_fn *left,
                        void *user, skmt_error *err)
{
    struct flights *fs = calloc(1, sizeof *fs);

    *out = fs;
    if (!fs) {
        *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                             .message = "out of memory" };
        return SKMT_ERR_NOMEM;
    }
    pthread_mutex_init(&fs->lock, NULL);
    fs->left = left;
    fs->user = user;
    return SKMT_OK;
}

void flights_free(struct flights *fs)
{
    if (!fs) return;
    pthread_mutex_destroy(&fs->lock);
    free(fs);
}

/* Removes a flight from the table, so that nobody joins it. */
static void flight_unlist(struct flight *f)
{
    struct flight **at = &f->all->buckets[f->hash % BUCKETS];

    if (!f->key) return;
    while (*at && *at != f) at = &(*at)->next;
    if (*at) *at = f->next;
    free(f->key);
    f->key = NULL;
}

/* ---- parties ----------------------------------------------------------- */

void flight_party_init(struct flight_party *p)
{
    pthread_condattr_t attr;

    memset(p, 0, sizeof *p);
    atomic_init(&p->stopped, false);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
}

void flight_party_release(struct flights *fs, struct flight_party *p)
{
    pthread_mutex_lock(&fs->lock);
    if (p->id) {
        if (p->prev) p->prev->next = p->next;
        else fs->claimed = p->next;
        if (p->next) p->next->prev = p->prev;
    }
    pthread_mutex_unlock(&fs->lock);
    pthread_cond_destroy(&p->changed);
}

void flight_party_claim(struct flights *fs, struct flight_party *p,
                        const void *owner, const char *id)
{
    pthread_mutex_lock(&fs->lock);
    for (struct flight_party *k = fs->claimed; k; k = k->next) {
        if (k->owner != owner || strcmp(k->id, id)) continue;
        k->replaced = true;
        atomic_store(&k->stopped, true);
        pthread_cond_broadcast(&k->changed);
    }
    p->owner = owner;
    p->id = id;
    p->next = fs->claimed;
    if (p->next) p->next->prev = p;
    fs->claimed = p;
    pthread_mutex_unlock(&fs->lock);
}

void flight_stop(struct flights *fs, struct flight_party *p)
{
    struct flight *f;

    pthread_mutex_lock(&fs->lock);
    atomic_store(&p->stopped, true);
    pthread_cond_broadcast(&p->changed);
    /* Its thread may wait for room in the queue of the service. */
    f = p->submitting;
    if (f && f->holders == 1) {
        f->holders++;
        flight_unlist(f);
    } else {
        f = NULL;
    }
    pthread_mutex_unlock(&fs->lock);
    if (!f) return;
    skmt_request_cancel(f->request);
    flight_leave(NULL, f);
}

/* ---- the table --------------------------------------------------------- */

static uint64_t flight_hash(const char *key, size_t n)
{
    uint64_t h = 14695981039346656037u;         /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    return h;
}

static struct flight *flight_find(struct flights *fs, uint64_t hash,
                                  const char *key, size_t n)
{
    struct flight *f = fs->buckets[hash % BUCKETS];

    while (f && (f->hash != hash || f->n_key != n
                 || memcmp(f->key, key, n)))
        f = f->next;
    return f;
}

bool flight_exists(struct flights *fs, const char *key, size_t n)
{
    uint64_t hash = flight_hash(key, n);
    bool exists;

    pthread_mutex_lock(&fs->lock);
    exists = flight_find(fs, hash, key, n) != NULL;
    pthread_mutex_unlock(&fs->lock);
    return exists;
}

static struct flight *flight_make(struct flights *fs,
                                  const struct flight_plan *plan)
{
    struct flight *f = calloc(1, sizeof *f);

    if (!f) return NULL;
    f->all = fs;
    f->class = plan->class;
    f->bytes = plan->bytes;
    if (plan->key) {
        f->key = malloc(plan->n_key + 1);
        if (!f->key) {
            free(f);
            return NULL;
        }
        memcpy(f->key, plan->key, plan->n_key);
        f->n_key = plan->n_key;
        f->hash = flight_hash(plan->key, plan->n_key);
    }
    pthread_mutex_init(&f->reading, NULL);
    return f;
}

static void flight_free(struct flight *f)
{
    struct wait_entry *w = f->waiting, *next;

    skmt_request_free(f->request);
    /* Parties that are gone: their results were kept. */
    for (; w; w = next) {
        next = w->next;
        free(w);
    }
    pthread_mutex_destroy(&f->reading);
    free(f->key);
    free(f);
}

/* Adds a party to a flight. The lock is held. */
static void flight_hold(struct flight *f, struct flight_party *p,
                        struct wait_entry *entry)
{
    *entry = (struct wait_entry){ p, f->waiting };
    f->waiting = entry;
    f->holders++;
}

skmt_status flight_join(struct flights *fs, struct flight_party *p,
                        const struct flight_plan *plan, struct flight **out,
                        bool *is_new, skmt_error *err)
{
    struct wait_entry *entry = malloc(sizeof *entry);
    struct flight *made = flight_make(fs, plan), *f = NULL;

    *out = NULL;
    *is_new = false;
    if (!entry || !made) {
        free(entry);
        if (made) flight_free(made);
        *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                             .message = "out of memory" };
        return SKMT_ERR_NOMEM;
    }
    pthread_mutex_lock(&fs->lock);
    if (made->key) f = flight_find(fs, made->hash, made->key, made->n_key);
    *is_new = !f;
    if (f) {
        fs->joined++;
    } else {
        f = made;
        fs->live++;
        if (f->key) {
            f->next = fs->buckets[f->hash % BUCKETS];
            fs->buckets[f->hash % BUCKETS] = f;
        }
    }
    flight_hold(f, p, entry);
    pthread_mutex_unlock(&fs->lock);
    if (!*is_new) flight_free(made);
    *out = f;
    return SKMT_OK;
}

/* ---- answering --------------------------------------------------------- */

/* Gives a flight its answer. Callbacks of requests come here, too. */
static void flight_finish(struct flight *f, const skmt_error *err)
{
    struct flights *fs = f->all;
    flight_left_fn *left = f->submitted ? fs->left : NULL;
    int class = f->class;
    int64_t bytes = f->bytes;

    pthread_mutex_lock(&fs->lock);
    flight_unlist(f);
    f->answered = true;
    f->err = *err;
    fs->live--;
    for (struct wait_entry *w = f->waiting; w; w = w->next)
        pthread_cond_broadcast(&w->party->changed);
    pthread_mutex_unlock(&fs->lock);
    if (left) left(fs->user, class, bytes, !err->status);
}

static void flight_on_answer(void *user, skmt_request *q)
{
    skmt_error err = { 0 };

    skmt_request_error(q, &err);
    flight_finish(user, &err);
}

static void flight_set_submitting(struct flight_party *p, struct flight *f,
                                  struct flight *value)
{
    pthread_mutex_lock(&f->all->lock);
    p->submitting = value;
    pthread_mutex_unlock(&f->all->lock);
}

void flight_submit(struct flight_party *p, struct flight *f, skmt_service *s,
                   skmt_request *q)
{
    skmt_error err = { 0 };

    f->request = q;
    f->submitted = true;
    if (skmt_request_on_answer(q, flight_on_answer, f, &err)) {
        flight_finish(f, &err);
        return;
    }
    flight_set_submitting(p, f, f);
    if (skmt_service_submit(s, q, 0, &err)) flight_finish(f, &err);
    flight_set_submitting(p, f, NULL);
}

void flight_fail(struct flight *f, const skmt_error *err)
{
    flight_finish(f, err);
}

bool flight_wait(struct flight_party *p, struct flight *f, double until)
{
    struct timespec t = { .tv_sec = (time_t)until };
    bool answered, late = false;

    t.tv_nsec = (long)(1e9 * (until - (double)t.tv_sec));
    pthread_mutex_lock(&f->all->lock);
    while (!f->answered && !atomic_load(&p->stopped) && !late)
        late = pthread_cond_timedwait(&p->changed, &f->all->lock, &t)
               == ETIMEDOUT;
    answered = f->answered;
    pthread_mutex_unlock(&f->all->lock);
    return answered;
}

static struct wait_entry *flight_take_entry(struct flight *f,
                                            struct flight_party *p)
{
    struct wait_entry **at = &f->waiting, *entry;

    while (*at && (*at)->party != p) at = &(*at)->next;
    entry = *at;
    if (entry) *at = entry->next;
    return entry;
}

void flight_leave(struct flight_party *p, struct flight *f)
{
    struct flights *fs = f->all;
    bool last;

    pthread_mutex_lock(&fs->lock);
    if (p) free(flight_take_entry(f, p));
    last = --f->holders == 0;
    /* Nobody may join a flight that is about to be canceled. */
    if (last) flight_unlist(f);
    pthread_mutex_unlock(&fs->lock);
    /* Freeing the request cancels it and waits for its callback. */
    if (last) flight_free(f);
}

skmt_request *flight_request(struct flight *f) { return f->request; }

skmt_status flight_error(const struct flight *f, skmt_error *err)
{
    *err = f->err;
    return (skmt_status)f->err.status;
}

void flight_lock(struct flight *f) { pthread_mutex_lock(&f->reading); }
void flight_unlock(struct flight *f) { pthread_mutex_unlock(&f->reading); }

int64_t flights_live(struct flights *fs)
{
    int64_t n;

    pthread_mutex_lock(&fs->lock);
    n = fs->live;
    pthread_mutex_unlock(&fs->lock);
    return n;
}

int64_t flights_joined(struct flights *fs)
{
    int64_t n;

    pthread_mutex_lock(&fs->lock);
    n = fs->joined;
    pthread_mutex_unlock(&fs->lock);
    return n;
}
