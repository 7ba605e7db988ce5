/* store.h - the pairs, for good: SQLite in WAL mode.
 *
 * One file holds any number of named memories. A `pair` is one occurrence: it
 * has an id people see (small, never used again), where it came from, and a
 * `text`: the source and target. Equal pairs of one memory share a text unless
 * the memory keeps duplicates; texts are what the index knows.
 *
 * Whoever changes the set of visible texts also writes the `change` log, in
 * the same transaction: numbers ascend, and an index that knows all changes up
 * to a number knows the memory as it was then.
 *
 * An import is one step for everybody else although it is many transactions
 * (so that the write-ahead log stays small and others can write meanwhile):
 * its pairs belong to a batch whose rows nobody sees until the batch is marked
 * as done. Batches whose importer died are swept by the next writers.
 *
 * Text ids are batch << 32 | count, so an import's texts are a range of their
 * own, and age is order. Single adds share batches of their own.
 *
 * A struct store is one connection and belongs to one thread at a time; any
 * number of threads and processes may each have one. Writers wait for each
 * other (up to 60 s), readers for nobody. What fails leaves the file as it was
 * before the call. */
#ifndef TM_STORE_H
#define TM_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "formats/unit.h"
#include "tm/problems.h"

struct store;

enum store_mode {
    STORE_READ,                 /* must exist; a read-only file or folder will do */
    STORE_WRITE,                /* must exist */
    STORE_CREATE                /* made when it does not exist */
};

enum status store_open(struct store **out, const char *path,
                       enum store_mode mode, struct err *e);
void store_close(struct store *s);              /* NULL is fine */
const char *store_path(const struct store *s);
bool store_writable(const struct store *s);
/* A number drawn when the file was made: index files carry it. */
uint64_t store_uuid(const struct store *s);
/* Do not wait for the disk at each commit: a power cut may lose the last
 * seconds (never the file), a killed process loses nothing. */
void store_relaxed(struct store *s, bool relaxed);

/* ---- transactions -------------------------------------------------------
 * Every call below is atomic by itself; begin and commit make several so.
 * They nest: only the outermost pair counts, a rollback ends all. Durable
 * when the outermost commit returns. */
enum status store_begin(struct store *s, struct err *e);        /* to write */
enum status store_begin_read(struct store *s, struct err *e);   /* one view */
enum status store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
/* Is there a transaction of either kind? What is seen then may never be. */
bool store_inside(const struct store *s);

/* ---- memories ----------------------------------------------------------- */

struct memory_info {
    int64_t id;
    char name[128];             /* printable UTF-8, unique in the file */
    char source_lang[36], target_lang[36];  /* "" when not known */
    int priority;               /* higher wins among equal matches; 0 */
    bool keep_duplicates;
    int64_t created;            /* seconds since 1970 */
};

/* settings: name, languages, priority and keep_duplicates are used. */
enum status store_memory_create(struct store *s,
                                const struct memory_info *settings,
                                int64_t *id, struct err *e);
/* ST_ARGUMENT with the list of names when there is no such memory. */
enum status store_memory_find(struct store *s, const char *name,
                              struct memory_info *out, struct err *e);
/* All of them in order of id; *list is malloc memory. */
enum status store_memory_list(struct store *s, struct memory_info **list,
                              size_t *n, struct err *e);
/* Name, languages and priority may change. */
enum status store_memory_update(struct store *s, const struct memory_info *m,
                                struct err *e);
/* Gone at once for everybody; its rows are removed in small steps. */
enum status store_memory_drop(struct store *s, int64_t memory, struct err *e);

struct memory_counts {
    int64_t pairs, texts;       /* visible ones */
    int64_t source_bytes, target_bytes;     /* of the texts */
};
enum status store_memory_counts(struct store *s, int64_t memory,
                                struct memory_counts *out, struct err *e);

/* ---- pairs -------------------------------------------------------------- */

struct pair {                   /* one row; strings live until the next call
                                   on the same store or cursor */
    int64_t id, memory, text;
    struct unit unit;           /* line is 0 */
    struct str origin;          /* file it was imported from, "" when added */
    int64_t position;           /* in that file, from 1; 0 when added */
};

/* A text is refused (ST_TEXT) when it is empty, not UTF-8 or has a NUL. The
 * unit's created and changed default to now. */
enum status store_add(struct store *s, int64_t memory, const struct unit *u,
                      int64_t *id, struct err *e);
/* New source, target, tagged, and what else of u is not empty (languages, id,
 * document, author, extra); `changed` is now. The id stays. */
enum status store_replace(struct store *s, int64_t id, const struct unit *u,
                          struct err *e);
/* ST_ARGUMENT when there is no such pair. */
enum status store_delete(struct store *s, int64_t id, struct err *e);
/* Delete what matches all that is given; *n counts. */
struct pair_filter {
    int64_t memory;
    const char *origin, *document;      /* NULL: any */
    const char *source, *target;        /* exact texts; NULL: any */
};
enum status store_delete_where(struct store *s, const struct pair_filter *f,
                               int64_t *n, struct err *e);

enum status store_get(struct store *s, int64_t id, struct pair *out,
                      struct err *e);
/* The oldest visible pair of a text, and how many it has; *n = 0: none. */
enum status store_text_pair(struct store *s, int64_t text, struct pair *out,
                            int64_t *n, struct err *e);
/* The occurrence of a text that was confirmed last. Adding, importing and
 * replacing a pair confirms its text, and so does adding it once more. */
struct confirmation {
    double time;                /* the pair's `changed`, seconds since 1970 */
    int64_t pair, batch;        /* of equal times: the later batch, in it the
                                   lower pair id */
    int64_t occurrences;        /* visible pairs of the text; 0: none */
};
enum status store_text_confirmed(struct store *s, int64_t text,
                                 struct confirmation *out, struct err *e);
/* Source and target only, as fast as can be: for ranking. *found says whether
 * the text is there. */
enum status store_text(struct store *s, int64_t text, struct str *source,
                       struct str *target, bool *tagged, bool *found,
                       struct err *e);

/* The visible pairs of a memory (0: all) by ascending id, as of when the
 * cursor was opened (it holds a read transaction of its own connection). A
 * pair whose text is not what its hash says ends it with ST_FORMAT, and so do
 * pairs that are missing, as far as the file can tell. */
struct pair_cursor;
enum status pair_cursor_open(struct pair_cursor **out, struct store *s,
                             const struct pair_filter *f, struct err *e);
/* *found is false at the end. */
enum status pair_cursor_next(struct pair_cursor *c, struct pair *out,
                             bool *found, struct err *e);
void pair_cursor_close(struct pair_cursor *c);  /* NULL is fine */

/* ---- imports ------------------------------------------------------------ */

struct store_import;

/* extra: reader_extra, kept with the batch (last one wins: set at commit). */
enum status store_import_begin(struct store_import **out, struct store *s,
                               int64_t memory, const char *origin,
                               struct err *e);
/* What kind of file it comes from (format_name), for store_import_extra. */
enum status store_import_format(struct store_import *im, const char *format,
                                struct err *e);
/* The next file of the same import: pairs put from here on come from it, and
 * their positions count from one again. */
enum status store_import_origin(struct store_import *im, const char *origin,
                                struct err *e);
/* *text is its text; *is_new whether the text was made by this call (and so
 * is not in any index yet). */
enum status store_import_put(struct store_import *im, const struct unit *u,
                             int64_t *text, bool *is_new, struct err *e);
/* Let other writers in until the next put: before waiting for more pairs. */
enum status store_import_pause(struct store_import *im, struct err *e);
/* Several steps, for what must be published with it (index segments):
 * prepare starts the last transaction, writes the change and says its number;
 * the caller adds its own rows through the same store; then commit, durable.
 * Texts of the batch that another writer added meanwhile are joined with
 * theirs in prepare: their ids are listed for the index to leave out (valid
 * until commit). */
enum status store_import_prepare(struct store_import *im, int64_t *seq,
                                 const int64_t **gone, size_t *n_gone,
                                 struct err *e);
enum status store_import_commit(struct store_import *im, struct str extra,
                                struct err *e);
/* Ends it; what was not committed is removed. NULL is fine. */
void store_import_close(struct store_import *im);
int64_t store_import_batch(const struct store_import *im);
/* The head of the newest import of this memory that has one, for an export in
 * the same format (format: format_name). Empty when none. */
enum status store_import_extra(struct store *s, int64_t memory,
                               const char *format, struct str *extra,
                               struct err *e);

/* ---- for the index ------------------------------------------------------ */

/* Changes whenever another connection has committed; cheap (no disk). */
enum status store_version(struct store *s, uint32_t *version, struct err *e);

/* The number of the newest change of a memory; 0: none yet. */
enum status store_last_change(struct store *s, int64_t memory, int64_t *seq,
                              struct err *e);

/* Changes of a memory with numbers after `after`, in order. An ADD is called
 * once per text that is visible and was added by it; a REMOVE carries the
 * source the text had. Texts are given as stored (see tagged). */
enum change_kind { CHANGE_ADD, CHANGE_REMOVE };
struct change {
    enum change_kind kind;
    int64_t seq, text;
    struct str source;
    bool tagged;
};
/* Return non-zero to stop early: store_changes then returns ST_CANCELED, and
 * what is in its struct err is what fn may have put there. */
typedef int change_fn(void *user, const struct change *c);
/* Adds after `adds_after`, removals after `removes_after`; either may be the
 * larger. A removal of a text added and removed after both comes too. */
enum status store_changes(struct store *s, int64_t memory, int64_t adds_after,
                          int64_t removes_after, change_fn *fn, void *user,
                          struct err *e);
/* Changes up to this number may be gone from the log. An index that has its
 * own manifest finds all it needs there; one that has none must begin again
 * when it knows no more than this. */
enum status store_log_start(struct store *s, int64_t memory, int64_t *seq,
                            struct err *e);
/* How many texts store_changes would give as adds (an upper bound will do). */
enum status store_count_adds(struct store *s, int64_t memory,
                             int64_t adds_after, int64_t *n, struct err *e);
/* All visible texts of a memory in order of id, as adds with seq 0. Call
 * inside store_begin_read with store_last_change for a consistent view. */
enum status store_scan(struct store *s, int64_t memory, change_fn *fn,
                       void *user, struct err *e);

/* The index' own table of contents, kept here so that it changes in one step
 * with the store. Which files make up the index of (memory, analyzer). */
struct segment_row {
    int64_t number;             /* names the file; drawn by the index from so
                                   many that none comes twice */
    int64_t docs;               /* all in the file, removed ones too */
    uint64_t checksum;          /* the sum in the file's head, over the head
                                   and the sums of all pages */
};
struct manifest {
    int64_t generation;         /* 0: there is none */
    int64_t seq;                /* adds up to here are in the segments */
    int64_t clean;              /* removals up to here are not in them */
    struct segment_row *segments;
    size_t n_segments;
};
void manifest_release(struct manifest *m);
enum status manifest_read(struct store *s, int64_t memory, uint64_t analyzer,
                          struct manifest *out, struct err *e);
/* Just the generation: asked before every search that follows a change. */
enum status manifest_generation(struct store *s, int64_t memory,
                                uint64_t analyzer, int64_t *generation,
                                struct err *e);
/* Replace it. Fails with ST_CANCELED, changing nothing, when the generation is
 * not `expected` any more. m->generation is set to the new one. Change rows
 * that no manifest of this memory needs are dropped. Use store_begin around it
 * when it belongs to a larger step. */
enum status manifest_write(struct store *s, int64_t memory, uint64_t analyzer,
                           int64_t expected, struct manifest *m,
                           struct err *e);
/* Every segment of every manifest, with the index it belongs to. malloc
 * memory. */
struct indexed_segment {
    struct segment_row row;
    int64_t memory;
    uint64_t analyzer;
};
enum status store_index_segments(struct store *s,
                                 struct indexed_segment **list, size_t *n,
                                 struct err *e);
/* Every segment number any manifest mentions: to sweep files that belong to
 * nothing. malloc memory. */
enum status store_live_segments(struct store *s, int64_t **numbers, size_t *n,
                                struct err *e);

/* ---- care --------------------------------------------------------------- */

/* Is the file sound: SQLite's own check, and ours (every pair has a text,
 * every text a pair, hashes agree). fn is called per problem. The rest of an
 * import that died is none: nobody sees it, and writers remove it. */
enum status store_check(struct store *s, problem_fn *fn, void *user,
                        int *n_problems, struct err *e);
/* The same as a condition: an error (ST_FORMAT) with the first problem. what
 * is refused: "compacting". */
enum status store_require_sound(struct store *s, const char *what,
                                struct err *e);
/* Remove what died, give free pages back, shorten the log. */
enum status store_compact(struct store *s, struct err *e);
/* Copy to another path while others work on (SQLite's backup). */
enum status store_backup(struct store *s, const char *path, struct err *e);
int64_t store_disk_bytes(struct store *s);      /* file and log */

#endif
