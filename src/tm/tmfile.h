/* tmfile.h - an open memory file: its store, the indexes of the memories in
 * use, and the retriever that searches them.
 *
 * Indexes are opened by the first search, so adding a pair costs only what the
 * store costs. Every search sees what others have done to the file: new pairs,
 * new memories, dropped memories. When more texts were added than an index
 * should keep in memory, a merger (merger.h) writes segments in a thread of its
 * own. tmfile_close waits for that thread.
 *
 * Between tmfile_begin and tmfile_commit a search sees the changes made so far,
 * which nobody else sees.
 *
 * Invariants:
 *   - infos and indexes have the same n entries, in the same order;
 *   - while `retriever` exists, all n indexes are open: it borrows both arrays,
 *     so it is freed before either is replaced;
 *   - depth > 0 only while the store is inside a transaction.
 *
 * A struct tmfile belongs to one thread at a time. The tokenizers of its
 * searches must stay valid until it is closed. */
#ifndef TM_TMFILE_H
#define TM_TMFILE_H

#include "tm/retrieve.h"

struct merger;

/* Called during long operations. `what` names the operation, done and total
 * are its progress (total 0: not known), units is the number of pairs so far.
 * A non-zero result stops the operation, which then returns ST_CANCELED. */
typedef int tm_progress_fn(void *user, const char *what, uint64_t done,
                           uint64_t total, uint64_t units);

struct touched {                /* a memory that was written to */
    int64_t memory;
    int64_t changes;            /* since the length of its tail was checked */
};

struct tmfile {
    struct store *store;
    tm_progress_fn *progress;   /* may be NULL */
    void *user;
    int depth;                  /* of nested transactions */
    bool searched;              /* inside the present transaction */

    /* The memories in use. */
    struct memory_info *infos;  /* [n] */
    struct index **indexes;     /* [n] NULL: not opened yet */
    size_t n;
    int64_t *chosen;            /* memories given to tmfile_use */
    size_t n_chosen;
    bool all;                   /* use all memories of the file */
    bool stale;                 /* infos must be read again */
    uint32_t version;           /* of the store, when infos were read */

    struct retriever *retriever;        /* NULL: the next search creates it */
    struct analyzer analyzer;   /* of the indexes */
    const struct subword *sw;   /* of the retriever */
    uint64_t tokenizer;

    struct merger *merger;      /* NULL: not needed yet */
    double merge_requested;     /* when a search last asked it to merge */
    struct touched *touched;
    size_t n_touched, touched_cap;
};

enum status tmfile_open(struct tmfile **out, const char *path,
                        enum store_mode mode, struct err *e);
void tmfile_close(struct tmfile *t);            /* NULL is fine */
/* Whether the invariants above hold. For assertions. */
bool tmfile_sound(const struct tmfile *t);

/* Finds a memory by its name. NULL finds the only memory of the file, or the
 * one named "main". */
enum status tmfile_find(struct tmfile *t, const char *name,
                        struct memory_info *out, struct err *e);
/* As tmfile_find. In a file without memories it creates one, named "main" when
 * name is NULL, and sets *made. */
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

/* Call this after a pair was added, replaced or removed. */
void tmfile_changed(struct tmfile *t, int64_t memory);

/* Chooses the memories to search; n = 0: all, with those created later. */
enum status tmfile_use(struct tmfile *t, const char *const *names, size_t n,
                       struct err *e);

struct tm_query {
    struct retrieve_options o;
    struct analyzer analyzer;   /* defines the terms of BM25 */
    const struct subword *sw;   /* similarity counts its pieces; NULL: words */
    uint64_t tokenizer;         /* the hash that identifies sw */
};
/* text must be plain text in valid UTF-8. */
enum status tmfile_search(struct tmfile *t, struct str text,
                          const struct tm_query *q, struct matches *out,
                          struct err *e);
/* Reads t->infos again: which memories exist and their settings. A search does
 * this by itself. */
enum status tmfile_refresh(struct tmfile *t, struct err *e);
/* The memory in use with this id; NULL when there is none. */
const struct memory_info *tmfile_info(const struct tmfile *t, int64_t memory);

/* ---- maintenance of the memories in use ---------------------------------- */

/* ST_ARGUMENT inside a transaction of the caller. Imports and most functions
 * below use several transactions, so they refuse to run inside one. `what`
 * names the operation in the message. */
enum status tmfile_alone(const struct tmfile *t, const char *what,
                         struct err *e);

enum status tmfile_check(struct tmfile *t, problem_fn *fn, void *user,
                         int *n_problems, struct err *e);
enum status tmfile_rebuild(struct tmfile *t, struct err *e);
enum status tmfile_compact(struct tmfile *t, struct err *e);
/* The statistics of all indexes, added up. */
enum status tmfile_stats(struct tmfile *t, struct index_stats *out,
                         struct err *e);

#endif
