/* account_internal.h - the structs of an account.
 *
 * Also for: memory_cards, import_jobs, access.
 *
 * A line of the key file makes an account, which never changes. When the file
 * is read again, a changed line makes a new account. What must outlive that is
 * in its *home*: the memory file, the numbers and names of its memories, the
 * jobs and what was used. A home lives as long as an account has it, and an
 * account as long as it is in the list or a call has it. */
#ifndef SERVER_ACCOUNT_INTERNAL_H
#define SERVER_ACCOUNT_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "server/account.h"
#include "server/rate_limit.h"
#include "server/tm_pool.h"

enum { KEY_SALT_BYTES = 16, KEY_HASH_BYTES = 32 };

/* What a line of the key file says (access_file.c). */
struct key_line {
    int number;                 /* 0: the account of a server without keys */
    char *name;
    unsigned char salt[KEY_SALT_BYTES], hash[KEY_HASH_BYTES];
    bool write;
    char *memory;               /* path; NULL: none */
    dev_t device;               /* of the memory file when the line was read */
    ino_t inode;                /* 0: there is no file yet */
    int rate;                   /* requests a minute; 0: no limit */
};

struct card_file;               /* memory_cards.c */
struct job_list;                /* import_jobs.c */

struct account_home {
    struct account_home *next;  /* of the server */
    int refs;                   /* under the lock of the server */
    char *memory;               /* path; NULL: none */
    struct tm_pool *pool;       /* NULL: no memory file */
    struct card_file *cards;
    struct job_list *jobs;
    struct metrics *const *metrics;     /* of the server; *metrics may be
                                           NULL */
    struct rate_bucket bucket;  /* under the lock of the server */
    int64_t characters;         /* atomic */
    int64_t pairs;              /* of accounts_each_size; atomic */
    double count_next;          /* when; under the lock of the server */
};

struct account {
    struct accounts *owner;
    int refs;                   /* under the lock of the server */
    struct key_line line;
    struct account_home *home;
    const char *const *names;   /* the only memories that may be used; none:
                                   all */
    int n_names;
};

/* access.c */
void account_lock(const struct account *a);
void account_unlock(const struct account *a);

/* memory_cards.c */
struct card_file *card_file_new(const char *memory);
void card_file_free(struct card_file *f);

/* import_jobs.c */
struct job_list *job_list_new(void);
void job_list_free(struct job_list *l);

/* account.c: sets an error and returns its status. err may be NULL. */
__attribute__((format(printf, 3, 4)))
skmt_status account_error(skmt_error *err, skmt_status st, const char *fmt,
                          ...);
/* Takes the path out of the message of an error. After an error of the memory
 * file, it is opened again. Returns st. */
skmt_status account_failed(struct account *a, skmt_error *err,
                           skmt_status st);
/* Fails if the account may not change memories or has none. */
skmt_status account_check_write(const struct account *a, skmt_error *err);

/* access_file.c */
struct key_lines { struct key_line *list; int n; };
/* Reads the whole key file. `data` is the folder of memories that are named
 * without one. */
skmt_status key_lines_read(struct key_lines *out, const char *path,
                           const char *data, int default_rate,
                           skmt_error *err);
void key_lines_release(struct key_lines *k);
void key_line_release(struct key_line *k);
/* The hash of a key with this salt. */
void key_hash(const unsigned char *salt, const char *key,
              unsigned char hash[KEY_HASH_BYTES]);
/* The number in a key; 0 if it cannot be a key. */
int key_number(const char *key);

#endif
