/* tmfile_internal.h - the state of a memory file, for the tmfile*.c files.
 *
 * Invariants:
 *   - infos and indexes have the same n entries, in the same order;
 *   - depth > 0 only while the store is inside a transaction. */
#ifndef TM_TMFILE_INTERNAL_H
#define TM_TMFILE_INTERNAL_H

#include "tm/merger.h"
#include "tm/tmfile.h"

enum { CHECK_EVERY = 256 };     /* changes between two checks of a tail */

struct touched {                /* a memory that was written to */
    int64_t memory;
    int64_t changes;            /* since the length of its tail was checked */
};

/* Which memories are in use: those that were named, or all that fit these
 * languages. */
struct memory_choice {
    int64_t *ids;               /* [n] */
    size_t n;
    bool all;
    char source[36], target[36];        /* of a model; "" if not known */
};
_Static_assert(sizeof (struct memory_info){ 0 }.source_lang == 36, "as long");

struct tmfile {
    struct pair_source source;  /* first: tmfile_source.c casts it */
    struct store *store;
    tm_progress_fn *progress;   /* may be NULL */
    void *user;
    int depth;                  /* of nested transactions */
    bool searched;              /* inside the present transaction */
    uint64_t rollbacks;

    /* The memories in use. */
    struct memory_info *infos;  /* [n] */
    struct index **indexes;     /* [n] NULL: not opened yet */
    size_t n;
    struct memory_choice choice;
    bool stale;                 /* infos must be read again */
    uint32_t version;           /* of the store, when infos were read */

    /* The last search. Its tokenizers are held. */
    struct analyzer analyzer;   /* of the indexes */
    const struct subword *sw;   /* of the symbols */
    uint64_t tokenizer;
    struct terms terms;         /* of the query */
    struct hit *hits;           /* of one memory */
    size_t hits_cap;

    struct merger *merger;      /* NULL: not needed yet */
    double merge_requested;     /* when a search last asked it to merge */
    struct touched *touched;
    size_t n_touched, touched_cap;
};

/* Whether the invariants above hold. For assertions. */
bool tmfile_sound(const struct tmfile *t);

/* ---- tmfile.c ---- */

/* Reads infos again if the store has changed. */
enum status tmfile_follow(struct tmfile *t, struct err *e);
/* The same, and opens the indexes of all memories in use. */
enum status tmfile_open_indexes(struct tmfile *t, struct err *e);
/* The next search opens the indexes again. */
void tmfile_close_indexes(struct tmfile *t);

/* ---- tmfile_changes.c ---- */

/* Every function that changes pairs calls this. memory 0: n pairs of any
 * memory. */
void tmfile_changed(struct tmfile *t, int64_t memory, int64_t n);
/* Checks the tails of the memories that have had at least `least` changes, and
 * asks the merger to make segments of those that are too long. */
void tmfile_check_tails(struct tmfile *t, int64_t least);
/* Asks the merger to merge indexes that need it. A search calls this. */
void tmfile_request_merges(struct tmfile *t);
void tmfile_stop_merger(struct tmfile *t);

/* ---- tmfile_source.c ---- */

extern const struct source_ops tmfile_source_ops;

#endif
