/* tmfile.h - one open memory file: its store, the indexes of the memories in
 * use, and what finds matches in them.
 *
 * Indexes are opened by the first search and not before, so that adding a pair
 * costs what the store costs. Searches follow what others do to the file: new
 * pairs, new memories, memories that are gone. When more was added lately than
 * an index likes to keep in memory a merger (merger.h) tidies up beside us; a
 * program that only adds leaves that to the end, where tmfile_close waits for
 * it.
 *
 * Inside tmfile_begin .. tmfile_commit a search sees the changes made so far,
 * which nobody else does.
 *
 * A struct tmfile belongs to one thread at a time. The tokenizers of its
 * searches must live until it is closed. */
#ifndef TM_TMFILE_H
#define TM_TMFILE_H

#include "tm/retrieve.h"

struct merger;

/* What is being done, how much of how much (0: not known), pairs so far.
 * Non-zero: stop, the call then gives ST_CANCELED. */
typedef int tm_progress_fn(void *user, const char *what, uint64_t done,
                           uint64_t total, uint64_t units);

struct touched {                /* a memory that was written to */
    int64_t memory;
    int64_t changes;            /* since its tail was last looked at */
};

struct tmfile {
    struct store *store;
    tm_progress_fn *progress;   /* may be NULL */
    void *user;
    int depth;                  /* of begins without their commit */
    bool searched;              /* since the first of them */

    /* The memories in use; the first n of both arrays. */
    struct memory_info *infos;
    struct index **indexes;     /* NULL: not opened yet */
    size_t n;
    int64_t *chosen;            /* use these, where tmfile_use said so */
    size_t n_chosen;
    bool all;                   /* no choice was made */
    bool stale;                 /* infos are not those of the store */
    uint32_t version;           /* of the store, when infos were read */

    struct retriever *retriever;        /* NULL: made by the next search */
    struct analyzer analyzer;   /* of the indexes */
    const struct subword *sw;   /* of the retriever */
    uint64_t tokenizer;

    struct merger *merger;      /* NULL: never needed */
    double poked;               /* when a search last poked it */
    struct touched *touched;
    size_t n_touched, touched_cap;
};

enum status tmfile_open(struct tmfile **out, const char *path,
                        enum store_mode mode, struct err *e);
void tmfile_close(struct tmfile *t);            /* NULL is fine */

/* The memory of that name; NULL: the only one, or "main". */
enum status tmfile_find(struct tmfile *t, const char *name,
                        struct memory_info *out, struct err *e);
/* The same to write to: in a file without any it is made (*made), NULL as
 * "main". */
enum status tmfile_find_or_make(struct tmfile *t, const char *name,
                                struct memory_info *out, bool *made,
                                struct err *e);
enum status tmfile_create(struct tmfile *t, const struct memory_info *settings,
                          struct err *e);
enum status tmfile_update(struct tmfile *t, const struct memory_info *m,
                          struct err *e);
enum status tmfile_drop(struct tmfile *t, const char *name, struct err *e);

enum status tmfile_begin(struct tmfile *t, struct err *e);
enum status tmfile_commit(struct tmfile *t, struct err *e);
void tmfile_rollback(struct tmfile *t);

/* To be called after a pair was added, replaced or removed. */
void tmfile_changed(struct tmfile *t, int64_t memory);

/* Search these memories; n = 0: all, also those made later. */
enum status tmfile_use(struct tmfile *t, const char *const *names, size_t n,
                       struct err *e);

struct tm_query {
    struct retrieve_options o;
    struct analyzer analyzer;   /* what BM25 counts */
    const struct subword *sw;   /* what similarity counts; NULL: words */
    uint64_t tokenizer;         /* its number */
};
/* Plain text, valid UTF-8. */
enum status tmfile_search(struct tmfile *t, struct str text,
                          const struct tm_query *q, struct matches *out,
                          struct err *e);
/* Read again which memories there are and what their settings are: t->infos.
 * A search does so by itself. */
enum status tmfile_refresh(struct tmfile *t, struct err *e);
/* Among the memories in use; NULL: none of that id. */
const struct memory_info *tmfile_info(const struct tmfile *t, int64_t memory);

/* ---- care; of the memories in use ---------------------------------------- */

/* Imports and most of what follows are several transactions: an error inside
 * one of the caller's. `what` names it. */
enum status tmfile_alone(const struct tmfile *t, const char *what,
                         struct err *e);

enum status tmfile_check(struct tmfile *t, problem_fn *fn, void *user,
                         int *n_problems, struct err *e);
enum status tmfile_rebuild(struct tmfile *t, struct err *e);
enum status tmfile_compact(struct tmfile *t, struct err *e);
/* Summed. */
enum status tmfile_stats(struct tmfile *t, struct index_stats *out,
                         struct err *e);

#endif
