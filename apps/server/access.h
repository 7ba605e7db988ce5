/* access.h - who may use the server: keys, and how often each may ask.
 *
 * With --keys, a request must carry a key that the key file knows
 * (docs/formats/api-keys.md). Each key is an account with its own memory file
 * (account.h). Without --keys there is one account, number 0, and every key
 * that a client sends is ignored.
 *
 * All functions may be called by any thread. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "account.h"

struct settings;                /* settings.h */
struct metrics;                 /* metrics.h */

/* ---- the accounts of a server ------------------------------------------- */

/* Reads the key file, if there is one. No memory file is opened yet. The
 * settings must stay valid. */
skmt_status accounts_open(struct accounts **out, const struct settings *s,
                          skmt_error *err);
/* Closes all memory files. No call may hold an account any more. */
void accounts_close(struct accounts *list);
/* Counts what the accounts do from now on; NULL: not. */
void accounts_set_metrics(struct accounts *list, struct metrics *m);
/* Reads the key file again (SIGHUP). After an error the old keys stay valid.
 * An account whose key was removed lives until its calls end. */
skmt_status accounts_reload(struct accounts *list, skmt_error *err);
/* Whether a request needs a key. */
bool accounts_need_key(const struct accounts *list);
/* The number of keys. */
int accounts_count(struct accounts *list);
/* Opens the memory file of each account once, so that what is wrong with a
 * file is known when the server starts. Returns the first error. */
skmt_status accounts_check(struct accounts *list, skmt_error *err);
/* Calls fn for each account: its number and the number of its stored pairs,
 * -1 if its file cannot be read. Counting is not done more often than every
 * few seconds. */
void accounts_each_size(struct accounts *list,
                        void (*fn)(void *user, int number, int64_t pairs),
                        void *user);

/* Adds a key with this name to a key file, which is created if it does not
 * exist, and writes the new key to key[size]. It is stored nowhere; the file
 * gets its hash. */
enum { KEY_TEXT_BYTES = 80 };
skmt_status accounts_new_key(const char *path, const char *name, char *key,
                             size_t size, skmt_error *err);

/* ---- the key of a request ----------------------------------------------- */

/* Where to look: a header by its name, an argument of the body, an argument of
 * the query. Each returns NULL if there is none. body and query may be NULL:
 * when only the headers have arrived. */
struct key_source {
    const char *(*header)(void *user, const char *name);
    const char *(*body)(void *user, const char *name);
    const char *(*query)(void *user, const char *name);
    void *user;
};
/* The key of a request: the first that is there, in this order: Authorization
 * (DeepL-Auth-Key, Bearer), MMT-ApiKey, X-Api-Key, then the arguments api_key,
 * apiKey and auth_key of the body, then auth_key, api_key and key of the query.
 * NULL if there is none; an empty one is none. It points into what a function
 * returned. */
const char *access_find_key(const struct key_source *from);

enum access_answer {
    ACCESS_GRANTED,
    ACCESS_NO_KEY,              /* FAIL_NO_KEY */
    ACCESS_WRONG_KEY,           /* FAIL_WRONG_KEY */
    ACCESS_GUESSING             /* FAIL_RATE: too many wrong keys from this
                                   address; *retry_after says how long */
};
/* Finds the account of a key. key: NULL if the request has none; ignored if the
 * server has no keys. peer: the address of the client (that of X-Forwarded-For
 * if the proxy is trusted). If granted, *out must be released. It takes the
 * same time whether the key exists or not. */
enum access_answer access_enter(struct accounts *list, const char *key,
                                const struct sockaddr *peer,
                                struct account **out, int *retry_after);
void access_release(struct account *a);

/* ---- rate limits -------------------------------------------------------- */

/* What a request costs: 1, and 1 more for 1000 characters of the string
 * arguments. args may be NULL. */
double access_cost(const json_t *args);

/* A bucket of tokens for the account, or for the address if the server has no
 * keys. `policy` and `state` are the values of the headers RateLimit-Policy and
 * RateLimit; "" if there is no limit. */
struct rate_answer {
    bool allowed;
    int retry_after;            /* seconds, at least 1; 0 if allowed */
    char policy[64], state[64];
};
/* Takes the cost of a request of a limited route. A request that costs more
 * than is in a full bucket is allowed when the bucket is full, and the next
 * ones wait longer. */
void access_charge(struct accounts *list, struct account *a,
                   const struct sockaddr *peer, double cost,
                   struct rate_answer *out);

#endif
