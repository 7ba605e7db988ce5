/* index_internal.h - what the files of the index share, and the invariants
 * that they keep.
 *
 * The store holds one manifest for each (memory, analyzer). A manifest lists
 * the segment files of the index and has three numbers: its generation, which
 * grows with every new manifest; `seq`, the last change of the store's log
 * whose additions are in the segments; and `clean`, the last change whose
 * removals are no longer in them. A manifest is replaced as a whole, in one
 * transaction, and only if its generation is still the expected one. A segment
 * file is never changed after it was written.
 *
 * While `loaded` is true, the following holds:
 *
 *   - `segs` are the segments of the manifest with number `generation`, in its
 *     order, or segments that exist in memory only. A segment in memory has
 *     the number 0, and the two kinds are never mixed. generation is 0 when
 *     the store has no manifest for us.
 *   - Every change up to `applied` is visible, and seq <= applied. Additions
 *     after seq are in the tail. The document of a text that was removed
 *     after clean is marked deleted in its segment or in the tail. (The fields
 *     and statistics call such a document dead, and any other one live.)
 *     Deleted documents of segments are counted in dead_df and dead_words,
 *     because the term tables and word counts of the segments still include
 *     them.
 *   - A text has at most one live document in all segments and the tail.
 *   - syms[i] belongs to segs[i], or it is NULL.
 *
 * A reader may use exactly the segments of one manifest, with the changes of
 * the log applied, all read in one read transaction. It needs no lock: an open
 * segment stays mapped when another process unlinks its file, and a file that
 * disappeared before it could be opened means that there is a newer manifest.
 * After an error in the middle of applying changes, loaded is false and
 * everything is read again.
 *
 * Two lock files in FILE.index/ coordinate the processes that write. `files`
 * is held shared by a process that has written segment files that no manifest
 * lists yet, and exclusively by the process that removes unlisted files.
 * `merge` is held exclusively by the process that builds or merges. `merge` is
 * always taken before `files`. */
#ifndef TM_INDEX_INNER_H
#define TM_INDEX_INNER_H

#include "base/strbuf.h"
#include "tm/bm25.h"
#include "tm/index.h"
#include "tm/segment_write.h"
#include "tm/symfile.h"

#define TAIL_LIMIT 2048
/* When the tail has this many times its limit, it is written to a segment even
 * in the middle of a refresh. When the log has this many times the tail's
 * limit in removals, the segments that need them are written again. */
#define TAIL_LIMIT_FACTOR 16

struct index {
    struct store *s;
    struct analyzer a;
    struct index_options o;
    struct seg_key key;
    char *dir;                  /* FILE.index */

    struct segment **segs;      /* [n_segs] */
    size_t n_segs, cap_segs;
    int64_t generation, seq, clean;     /* of the manifest */
    int64_t applied;            /* last change that is applied in memory */
    struct tail tail;
    struct map64 dead_df;       /* term hash to dead documents in segments */
    uint64_t dead_words;        /* terms of the dead documents in segments */
    uint64_t removals_read;     /* from the log, after clean */

    bool loaded;
    bool has_locks;             /* we hold both locks */
    uint32_t version;           /* of the store at the last refresh */
    struct bm25 *bm25;
    struct terms terms;         /* scratch */
    struct strbuf plain;        /* scratch */

    const struct subword *sw;   /* tokenizer of the symbols; NULL: words */
    uint64_t tokenizer;
    bool with_symbols;          /* index_use_symbols was called */
    struct symfile **syms;      /* [n_segs], NULL where no file is open */
    size_t cap_syms;
    bool no_symfiles;           /* writing one failed: do not try again */
    struct symbols symbols;     /* scratch */
};

/* Tests the invariants above, for PARANOID_CHECK. Reads no segment data. */
bool index_sound(const struct index *ix);

/* ---- index_files.c ---- */

/* These three return malloc memory, or NULL when out of memory. */
char *index_dir(const char *store_path);
char *segment_path(const char *dir, int64_t number);
char *symbol_path(const char *dir, int64_t number, uint64_t tokenizer);

struct lock { int fd; };        /* -1: not held */
/* LOCK_TRY is exclusive and does not wait. */
enum lock_kind { LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_TRY };
/* name: "files" or "merge". Creates the folder if necessary. *got is false
 * when LOCK_TRY found the lock taken. */
enum status lock_take(struct lock *l, const char *dir, const char *name,
                      enum lock_kind kind, bool *got, struct err *e);
void lock_drop(struct lock *l);

/* Take both locks, `merge` in the given way. When the index holds them
 * already, *got is true and the matching locks_drop does nothing. */
struct locks { struct lock merge, files; bool owned; };
enum status locks_take(struct locks *l, struct index *ix, enum lock_kind kind,
                       bool *got, struct err *e);
void locks_drop(struct locks *l, struct index *ix);
/* False for a store that is open for reading, and inside a transaction: what
 * we see there may be rolled back, and another process may hold the merge lock
 * while it waits for our transaction to end. */
bool index_may_write(const struct index *ix);

int64_t new_segment_number(void);       /* greater than 0 */
/* Write an image as a segment file; *row is its line for the manifest. */
enum status segment_emit(const char *dir, struct image *im,
                         struct segment_row *row, struct err *e);
/* Remove a segment file and its files of subword ids. */
void segment_remove(const char *dir, int64_t number);
/* The tokenizers for which a segment has a file of subword ids. Returns how
 * many there are, up to TOKENIZERS_MAX. */
#define TOKENIZERS_MAX 8
size_t segment_tokenizers(const char *dir, int64_t number,
                          uint64_t out[TOKENIZERS_MAX]);

/* Segment files that were written and that no manifest lists yet. */
struct emit_result { struct segment_row *rows; size_t n, cap; };
bool emitted_add(struct emit_result *em, const struct segment_row *row);
/* Remove the files and empty the list. */
void emitted_discard(struct emit_result *em, const char *dir);
/* Free the list; the files stay. */
void emitted_release(struct emit_result *em);
/* Remove the segments that have no documents. */
void emitted_drop_empty(struct emit_result *em, const char *dir);

/* ---- index.c ---- */

/* The source without inline tags. *out points into `source` or into sb and is
 * valid until sb is used again. */
enum status plain_source(struct strbuf *sb, struct str source, bool tagged,
                         struct str *out, struct err *e);
/* Turn the builder's documents into a segment. em collects the files; when it
 * is NULL the segment is kept in memory and added to the index. */
enum status index_write_segment(struct index *ix, struct builder *b,
                                struct emit_result *em, struct err *e);
/* Call this after finding a damaged segment: builds the index again and loads
 * it. */
enum status index_rebuild_after_damage(struct index *ix, struct err *e);
int index_progress(const struct index *ix, const char *what, uint64_t done,
                   uint64_t total);
/* Turn the texts that were added after change `after` into segments; after < 0
 * means all texts. *seq is the last change that they include. em: see
 * index_write_segment. */
enum status index_build_segments(struct index *ix, int64_t after,
                                 struct emit_result *em, int64_t *seq,
                                 struct err *e);
/* Whether the segments exist in memory only. */
bool index_in_memory(const struct index *ix);

/* ---- index_merge.c ---- */

/* Write the texts that the manifest does not cover yet as segments. Does
 * nothing when there is a newer manifest than the one that we know. */
enum status index_flush(struct index *ix, struct err *e);

#endif
