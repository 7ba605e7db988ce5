/* rate_limit.h - token buckets: for an account, and for the addresses of
 * clients.
 *
 * A bucket holds at most `limit` tokens and gets as many in a minute. A request
 * takes its cost. If the bucket has fewer tokens, but is full, the request is
 * allowed and the bucket owes the rest. */
#ifndef SERVER_RATE_LIMIT_H
#define SERVER_RATE_LIMIT_H

#include <stdbool.h>
#include <sys/socket.h>

struct rate_bucket {
    double used;                /* tokens that are missing; 0: full */
    double when;                /* seconds of the monotonic clock */
};

/* All three need a lock of the caller. */
/* The tokens in a bucket now. */
double rate_left(struct rate_bucket *b, double limit, double now);
/* Takes the cost and returns true, or returns false and takes nothing. */
bool rate_take(struct rate_bucket *b, double limit, double cost, double now);
/* Seconds until the cost can be taken, at least 1. */
int rate_wait(struct rate_bucket *b, double limit, double cost, double now);

/* Buckets of addresses. An IPv6 address counts as its network of 64 bits. The
 * number of buckets is fixed; the one with the most tokens is given up for a
 * new address. All functions lock by themselves. */
struct rate_table;              /* opaque */
struct rate_table *rate_table_new(void);
void rate_table_free(struct rate_table *t);
/* As rate_take. *left gets the tokens that are left, *wait the seconds until
 * the cost can be taken; both may be NULL. peer NULL: an address of its own. */
bool rate_table_take(struct rate_table *t, const struct sockaddr *peer,
                     double limit, double cost, double now, double *left,
                     int *wait);

#endif
