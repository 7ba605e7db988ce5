/* index_internal.h - what the files of the index share.
 *
 * Two locks in FILE.index/ keep processes out of each other's way: `files` is
 * held shared by whoever has written files no manifest names yet, exclusive by
 * whoever removes files that belong to nothing; `merge` is held by the one who
 * builds or merges. Searching needs neither. */
#ifndef TM_INDEX_INNER_H
#define TM_INDEX_INNER_H

#include "base/strbuf.h"
#include "tm/bm25.h"
#include "tm/index.h"
#include "tm/segment_write.h"
#include "tm/symfile.h"

#define TAIL_LIMIT 2048
#define LONG_TAIL 16            /* so many tails are too much for memory, or
                                   removals too many to read at each start */

struct index {
    struct store *s;
    struct analyzer a;
    struct index_options o;
    struct seg_key key;
    char *dir;                  /* FILE.index */

    struct segment **segs;      /* [n_segs] those of the manifest */
    size_t n_segs, cap_segs;
    int64_t generation, seq, clean;     /* the manifest's */
    int64_t applied;            /* changes up to here are in memory */
    struct tail tail;
    struct map64 dead_df;
    uint64_t dead_words;
    uint64_t removals;          /* read from the log, after clean */

    bool loaded;
    bool merging;               /* we have the locks */
    uint32_t version;           /* of the store, when last looked at */
    struct bm25 *bm25;
    struct terms terms;
    struct strbuf plain;

    const struct subword *sw;   /* of the symbols */
    uint64_t tokenizer;
    bool with_symbols;
    struct symfile **syms;      /* [n_segs], NULLs where there is none */
    size_t cap_syms;
    bool no_symfiles;           /* they cannot be written */
    struct symbols symbols;     /* scratch */
};

/* ---- index_files.c ---- */

char *index_dir(const char *store_path);        /* malloc memory */
char *segment_path(const char *dir, int64_t number);
char *symbol_path(const char *dir, int64_t number, uint64_t tokenizer);

struct lock { int fd; };
enum lock_kind { LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_TRY };   /* exclusive */
/* name: "files" or "merge". The folder is made when it is not there. *got says
 * whether LOCK_TRY got it. */
enum status lock_take(struct lock *l, const char *dir, const char *name,
                      enum lock_kind kind, bool *got, struct err *e);
void lock_drop(struct lock *l);

/* Both locks, `merge` as kind says; at once when we have them already. */
struct locks { struct lock merge, files; bool ours; };
enum status locks_take(struct locks *l, struct index *ix, enum lock_kind kind,
                       bool *got, struct err *e);
void locks_drop(struct locks *l, struct index *ix);
/* Files are not written for a reader, nor out of a transaction: what is seen
 * inside may never come to be, and others may wait for it with the lock. */
bool index_may_write(const struct index *ix);

int64_t new_segment_number(void);
/* Write an image as a segment file. */
enum status segment_emit(const char *dir, struct image *im,
                         struct segment_row *row, struct err *e);
void segment_remove(const char *dir, int64_t number);   /* and side files */
/* The tokenizers a segment has a side file of; how many. */
#define TOKENIZERS_MAX 8
size_t segment_tokenizers(const char *dir, int64_t number,
                          uint64_t out[TOKENIZERS_MAX]);

/* Segment files that were written and are in no manifest yet. */
struct emit_result { struct segment_row *rows; size_t n, cap; };
bool emitted_add(struct emit_result *em, const struct segment_row *row);
void emitted_discard(struct emit_result *em, const char *dir);  /* the files too */
void emitted_release(struct emit_result *em);
/* A segment without texts is none. */
void emitted_drop_empty(struct emit_result *em, const char *dir);

/* ---- index.c ---- */

/* The plain source of a change; valid until the next call. */
enum status plain_source(struct strbuf *sb, struct str source, bool tagged,
                         struct str *out, struct err *e);
/* Make the builder's texts a segment: a file, or (read-only) in memory. */
enum status index_emit(struct index *ix, struct builder *b,
                       struct emit_result *em, struct err *e);
enum status index_damaged(struct index *ix, struct err *e);
int index_progress(const struct index *ix, const char *what, uint64_t done,
                   uint64_t total);
/* The texts added after `after` as segments; *seq is what they are up to. */
enum status index_collect(struct index *ix, int64_t after,
                          struct emit_result *em, int64_t *seq, struct err *e);
bool index_in_memory(const struct index *ix);   /* segments without files */

/* ---- index_merge.c ---- */

/* What the manifest does not have yet, as segments; nothing when the manifest
 * is not the one we know any more. */
enum status index_flush(struct index *ix, struct err *e);

#endif
