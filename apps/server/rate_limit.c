/* rate_limit.c - token buckets, and a table of them by address. The table has
 * sets of WAYS buckets; the hash of an address chooses the set. The hash has a
 * random seed, so that nobody can choose addresses of one set. */
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/rate_limit.h"

enum { SETS = 1024, WAYS = 8, MINUTE = 60 };

struct rate_entry {
    unsigned char address[16];  /* as IPv6; with /64 for real ones */
    bool used;
    struct rate_bucket bucket;
};

struct rate_table {
    pthread_mutex_t lock;
    uint64_t seed;
    struct rate_entry entry[SETS][WAYS];
};

/* ---- buckets ------------------------------------------------------------- */

static void refill(struct rate_bucket *b, double limit, double now)
{
    if (now > b->when) b->used -= (now - b->when) * limit / MINUTE;
    if (b->used < 0) b->used = 0;
    b->when = now;
}

double rate_left(struct rate_bucket *b, double limit, double now)
{
    refill(b, limit, now);
    return limit - b->used;
}

bool rate_take(struct rate_bucket *b, double limit, double cost, double now)
{
    refill(b, limit, now);
    if (b->used > 0 && limit - b->used < cost) return false;
    b->used += cost;
    return true;
}

int rate_wait(struct rate_bucket *b, double limit, double cost, double now)
{
    double missing, seconds;

    refill(b, limit, now);
    /* A cost above the limit waits for a full bucket. */
    missing = cost < limit ? b->used + cost - limit : b->used;
    seconds = ceil(missing * MINUTE / limit);
    return seconds < 1 ? 1 : seconds > 86400 ? 86400 : (int)seconds;
}

/* ---- addresses ----------------------------------------------------------- */

struct rate_table *rate_table_new(void)
{
    struct rate_table *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    pthread_mutex_init(&t->lock, NULL);
    if (getrandom(&t->seed, sizeof t->seed, 0) != sizeof t->seed)
        t->seed = (uint64_t)(uintptr_t)t;
    return t;
}

void rate_table_free(struct rate_table *t)
{
    if (!t) return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static bool is_mapped_v4(const unsigned char a[16])
{
    static const unsigned char prefix[12] = { [10] = 0xff, [11] = 0xff };

    return !memcmp(a, prefix, sizeof prefix);
}

static void rate_address(const struct sockaddr *peer, unsigned char out[16])
{
    memset(out, 0, 16);
    if (peer && peer->sa_family == AF_INET) {
        struct sockaddr_in v4;

        memcpy(&v4, peer, sizeof v4);
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &v4.sin_addr, 4);
    } else if (peer && peer->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;

        memcpy(&v6, peer, sizeof v6);
        memcpy(out, &v6.sin6_addr, 16);
        if (!is_mapped_v4(out)) memset(out + 8, 0, 8);
    }
}

static unsigned rate_set(const struct rate_table *t,
                         const unsigned char address[16])
{
    uint64_t half[2], h;

    memcpy(half, address, sizeof half);
    h = (half[0] ^ t->seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ half[1]) * 0xd6e8feb86659fd93u;
    return (unsigned)((h ^ h >> 29) % SETS);
}

/* The bucket of an address; a new one replaces the fullest of the set. */
static struct rate_bucket *rate_find(struct rate_table *t,
                                     const unsigned char address[16],
                                     double limit, double now)
{
    struct rate_entry *set = t->entry[rate_set(t, address)], *best = set;

    for (int i = 0; i < WAYS; i++) {
        if (!set[i].used) {
            best = &set[i];
            break;
        }
        if (!memcmp(set[i].address, address, 16)) return &set[i].bucket;
        if (rate_left(&set[i].bucket, limit, now)
            > rate_left(&best->bucket, limit, now)) best = &set[i];
    }
    *best = (struct rate_entry){ .used = true, .bucket = { 0, now } };
    memcpy(best->address, address, 16);
    return &best->bucket;
}

bool rate_table_take(struct rate_table *t, const struct sockaddr *peer,
                     double limit, double cost, double now, double *left,
                     int *wait)
{
    unsigned char address[16];
    struct rate_bucket *b;
    bool taken;

    rate_address(peer, address);
    pthread_mutex_lock(&t->lock);
    b = rate_find(t, address, limit, now);
    taken = rate_take(b, limit, cost, now);
    if (left) *left = rate_left(b, limit, now);
    if (wait) *wait = rate_wait(b, limit, cost, now);
    pthread_mutex_unlock(&t->lock);
    return taken;
}
