/* account.h - who may do what, and the memories of each account.
 *
 * An account is a line of the key file, or the one account of a server without
 * keys. It has one memory file (skmt.h, "translation memory"), which holds any
 * number of named memories. Accounts do not share files, so no account can read
 * what another one stored.
 *
 * A skmt_tm serves one thread at a time. The account keeps a few open and lends
 * them. */
#ifndef SERVER_ACCOUNT_H
#define SERVER_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "skmt.h"

struct account;                 /* opaque */
struct accounts;                /* opaque; in struct server */

/* Its number in the key file, from 1; 0 for the account without a key. Logs and
 * metrics name an account by it. */
int account_number(const struct account *a);
const char *account_name(const struct account *a);
/* Whether it may change its memories. */
bool account_may_write(const struct account *a);
/* Whether it has a memory file. */
bool account_has_memory(const struct account *a);
/* Characters translated since the server began (DeepL's usage). */
int64_t account_characters(const struct account *a);
void account_add_characters(struct account *a, int64_t n);

/* ---- lending open files ------------------------------------------------- */

/* Borrows the memory file for searching and listing, restricted to n named
 * memories (0: all that the account may use). A file that does not exist yet is
 * created. *out is NULL, without an error, if the account has no memory file or
 * no memory that it may use; account_return accepts that. */
skmt_status account_borrow(struct account *a, const char *const *names, int n,
                           skmt_tm **out, skmt_error *err);
/* The same for what needs a memory, because one was just seen: with an error if
 * there is none any more. */
skmt_status account_borrow_some(struct account *a, skmt_tm **out,
                                skmt_error *err);
/* The same for translating between two languages: without the memories that are
 * known to have others. Their sources can be the same sentences, with
 * translations in another language. */
skmt_status account_borrow_for(struct account *a, const char *const *names,
                               int n, const char *source_lang,
                               const char *target_lang, skmt_tm **out,
                               skmt_error *err);
void account_return(struct account *a, skmt_tm *tm);
/* Borrows it for changes; one thread at a time, others wait. The file is
 * created when the account has a name for it and it does not exist yet. Only
 * account_edit_end may end it; until then, the thread must not call memories_*
 * or account_store, which would wait for it forever. */
skmt_status account_edit_begin(struct account *a, skmt_tm **out,
                               skmt_error *err);
void account_edit_end(struct account *a);

/* ---- memories ----------------------------------------------------------- */

/* A memory as the APIs show it. Its id and the texts below are kept in a file
 * beside the memory file (NAME.tm.names), which is replaced atomically. A
 * memory that was made by another program gets its id when it is first seen. */
struct memory_card {
    int64_t id;                 /* from 1, never used again */
    char *name;                 /* in the memory file */
    char *title;                /* as the client named it */
    char *description;
    char *external_id;          /* "" if none */
    char *source_lang, *target_lang;    /* "" if unknown */
    int64_t created;            /* seconds since 1970 */
    int64_t pairs;              /* of a large memory, from some seconds ago */
};
struct memory_cards { struct memory_card *list; int n; };
skmt_status memories_list(struct account *a, struct memory_cards *out,
                          skmt_error *err);
void memories_release(struct memory_cards *m);
/* Finds one by its number, external id, name or title, in this order. *found
 * is false if there is none. Release it with memory_card_release. */
skmt_status memories_find(struct account *a, const char *what,
                          struct memory_card *out, bool *found,
                          skmt_error *err);
void memory_card_release(struct memory_card *m);
/* Makes one. title may be that of another; the name in the file is then made
 * unique. NULL means "". */
skmt_status memories_create(struct account *a, const char *title,
                            const char *description, const char *external_id,
                            const char *source_lang, const char *target_lang,
                            struct memory_card *out, skmt_error *err);
/* NULL: leave it as it is. */
skmt_status memories_change(struct account *a, int64_t id, const char *title,
                            const char *description, skmt_error *err);
skmt_status memories_delete(struct account *a, int64_t id, skmt_error *err);

/* ---- corrections -------------------------------------------------------- */

/* Stores a pair durably. memory: its name in the file; NULL: the main one for
 * these languages, which is made if there is none. With `replace`, other
 * targets of the same source in that memory are removed in the same
 * transaction. unit: an id of the client (ModernMT's tuid), or NULL; a pair
 * with the same unit in that memory is replaced. `from` names the API, for the
 * metrics; it is a static string. */
struct correction {
    const char *memory, *source, *target, *unit, *document, *author;
    const char *source_lang, *target_lang;
    bool replace;
    const char *from;
};
skmt_status account_store(struct account *a, const struct correction *x,
                          int64_t *id, skmt_error *err);

/* The name of the main memory for two languages, which may be NULL. It is made
 * if there is none. Free it. For changes of several pairs with
 * account_edit_begin; call it before. */
skmt_status account_main_memory(struct account *a, const char *source_lang,
                                const char *target_lang, char **name,
                                skmt_error *err);

/* Imports a file (TMX, XLIFF, PO, TSV, CSV; compressed or not). `progress` may
 * be NULL; non-zero stops. *pairs gets the number of pairs. name: of the file
 * as the client called it, which becomes the origin. */
skmt_status account_import(struct account *a, const char *memory,
                           const char *path, const char *name,
                           const char *source_lang, const char *target_lang,
                           skmt_tm_progress_fn *progress, void *user,
                           int64_t *pairs, skmt_error *err);

/* Jobs that are finished, so that their ids can be asked for. */
struct import_job {
    char id[37];                /* a UUID */
    int64_t memory, size;       /* id of the memory; number of pairs */
    double progress;            /* 0 to 1 */
    bool failed;
    char message[200];
};
void account_add_job(struct account *a, struct import_job *job);  /* sets id */
void account_update_job(struct account *a, const struct import_job *job);
bool account_find_job(struct account *a, const char *id,
                      struct import_job *out);

#endif
