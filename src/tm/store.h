/* store.h - permanent storage of pairs: an SQLite database in WAL mode.
 *
 * One file holds any number of named memories. A `pair` is one occurrence: it
 * has an id that users see (small, never used again), a record of where it
 * came from, and a `text`, which is the source and target. Equal pairs of one
 * memory share a text unless the memory keeps duplicates. The index knows only
 * texts.
 *
 * A transaction that changes the set of visible texts also writes to the
 * `change` log. Change numbers ascend, and an index that has applied all
 * changes up to a number knows the memory as it was then.
 *
 * An import becomes visible in one step although it takes many transactions
 * (so that the write-ahead log stays small and others can write meanwhile).
 * Its pairs belong to a batch, and the rows of a batch are invisible until it
 * is marked as done. The next writers delete batches whose importer died.
 *
 * Text ids are batch << 32 | count. So the texts of an import are a range of
 * ids, and the order of ids is the order of age. Pairs that are added one by
 * one share batches of their own.
 *
 * A struct store is one connection and belongs to one thread at a time; any
 * number of threads and processes may each have one. Writers wait for each
 * other (up to 60 s); readers never wait. A call that fails leaves the file as
 * it was before the call. */
#ifndef TM_STORE_H
#define TM_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "pair/pair.h"
#include "tm/problems.h"

struct store;                   /* opaque */

enum store_mode {
    STORE_READ,                 /* must exist; the file and its folder may be
                                   read-only */
    STORE_WRITE,                /* must exist */
    STORE_CREATE                /* created when it does not exist */
};

enum status store_open(struct store **out, const char *path,
                       enum store_mode mode, struct err *e);
void store_close(struct store *s);              /* NULL is fine */
const char *store_path(const struct store *s);
bool store_writable(const struct store *s);
/* A random number that was drawn when the file was created. The files of its
 * index carry the same number. */
uint64_t store_uuid(const struct store *s);
/* Whether commits return without waiting for the disk. A power cut may then
 * lose the last seconds of changes, but never damages the file; a killed
 * process loses nothing. */
void store_relaxed(struct store *s, bool relaxed);

/* ---- transactions -------------------------------------------------------
 * Every call below is atomic by itself; begin and commit make several calls
 * atomic together. Transactions nest: only the outermost commit takes effect,
 * and a rollback ends all of them. Changes are durable when the outermost
 * commit returns. */
enum status store_begin(struct store *s, struct err *e);        /* to write */
/* All reads up to the commit see the same version of the file. */
enum status store_begin_read(struct store *s, struct err *e);
enum status store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
/* Whether a transaction of either kind is open. Changes that are seen inside
 * one may still be rolled back. */
bool store_inside(const struct store *s);

/* ---- memories ----------------------------------------------------------- */

/* Uses name, languages, priority and keep_duplicates of the settings. */
enum status store_memory_create(struct store *s,
                                const struct memory_info *settings,
                                int64_t *id, struct err *e);
/* ST_ARGUMENT when there is no such memory; the message lists the names that
 * exist. */
enum status store_memory_find(struct store *s, const char *name,
                              struct memory_info *out, struct err *e);
/* All memories in order of id. The caller frees *list. */
enum status store_memory_list(struct store *s, struct memory_info **list,
                              size_t *n, struct err *e);
/* Changes name, languages and priority of the memory m->id. */
enum status store_memory_update(struct store *s, const struct memory_info *m,
                                struct err *e);
/* The memory becomes invisible at once; its rows are deleted in small steps. */
enum status store_memory_drop(struct store *s, int64_t memory, struct err *e);

struct memory_counts {
    int64_t pairs, texts;       /* visible ones */
    int64_t source_bytes, target_bytes;     /* of the texts */
};
enum status store_memory_counts(struct store *s, int64_t memory,
                                struct memory_counts *out, struct err *e);

/* ---- pairs -------------------------------------------------------------- */

/* ST_TEXT when a text is empty, is not UTF-8 or contains a NUL. The unit's
 * created and changed default to now. */
enum status store_add(struct store *s, int64_t memory, const struct unit *u,
                      int64_t *id, struct err *e);
/* Replaces source, target and tagged, and those of languages, id, document,
 * author and extra that are not empty in u. Sets `changed` to now. The pair
 * keeps its id. */
enum status store_replace(struct store *s, int64_t id, const struct unit *u,
                          struct err *e);
/* ST_ARGUMENT when there is no such pair. */
enum status store_delete(struct store *s, int64_t id, struct err *e);
/* Deletes the pairs that meet all conditions of the filter; *n is their
 * number. */
struct pair_filter {
    int64_t memory;
    const char *origin, *document;      /* NULL: any */
    const char *source, *target;        /* exact texts; NULL: any */
    int64_t after;              /* only pairs with a larger id; 0: any; has no
                                   effect if memory, source and target are
                                   given */
};
enum status store_delete_where(struct store *s, const struct pair_filter *f,
                               int64_t *n, struct err *e);

/* The memory of a pair. ST_ARGUMENT when there is no such pair. */
enum status store_pair_memory(struct store *s, int64_t id, int64_t *memory,
                              struct err *e);
/* The pair of a memory with this id of its unit, and the smallest id above
 * `after`; *id is 0 when there is none. */
enum status store_find_unit(struct store *s, int64_t memory, struct str unit,
                            int64_t after, int64_t *id, struct err *e);
/* Makes the SQL index that finds units, if it does not exist. Most files need
 * none, and it would make imports slower. */
enum status store_index_units(struct store *s, struct err *e);
/* The strings of a pair are valid until the next call on the same store or
 * cursor. */
enum status store_get(struct store *s, int64_t id, struct pair *out,
                      struct err *e);
/* The oldest visible pair of a text; *n is the number of its visible pairs,
 * and 0 when it has none. */
enum status store_text_pair(struct store *s, int64_t text, struct pair *out,
                            int64_t *n, struct err *e);
/* *out has 0 occurrences when the text does not exist. */
enum status store_text_confirmed(struct store *s, int64_t text,
                                 struct confirmation *out, struct err *e);
/* Only source and target, for ranking. This is the fastest way to read a text.
 * *found says whether the text exists. */
enum status store_text(struct store *s, int64_t text, struct str *source,
                       struct str *target, bool *tagged, bool *found,
                       struct err *e);

/* Iterates over the visible pairs of a memory (0: all) by ascending id, as
 * they were when the cursor was opened: the cursor has its own connection with
 * a read transaction. A pair whose text does not match its hash ends the
 * iteration with ST_FORMAT, and so do missing pairs where the file shows that
 * they are missing. */
struct pair_cursor;             /* opaque */
enum status pair_cursor_open(struct pair_cursor **out, struct store *s,
                             const struct pair_filter *f, struct err *e);
/* *found is false at the end. */
enum status pair_cursor_next(struct pair_cursor *c, struct pair *out,
                             bool *found, struct err *e);
void pair_cursor_close(struct pair_cursor *c);  /* NULL is fine */

/* ---- imports ------------------------------------------------------------ */

struct store_import;            /* opaque */

/* Starts an import. origin names the first file. */
enum status store_import_begin(struct store_import **out, struct store *s,
                               int64_t memory, const char *origin,
                               struct err *e);
/* Sets the format of the file (format_name), for store_import_extra. */
enum status store_import_format(struct store_import *im, const char *format,
                                struct err *e);
/* Begins the next file of the same import: the pairs that follow come from
 * that file, and their positions count from one again. */
enum status store_import_origin(struct store_import *im, const char *origin,
                                struct err *e);
/* Stores a pair. *text is the id of its text; *is_new says whether this call
 * created the text, which then is not in any index yet. */
enum status store_import_put(struct store_import *im, const struct unit *u,
                             int64_t *text, bool *is_new, struct err *e);
/* Lets other writers write until the next put. Call it before waiting for more
 * pairs. */
enum status store_import_pause(struct store_import *im, struct err *e);
/* Ending an import takes two calls, so that the caller can publish something
 * (index segments) in the same transaction. prepare begins the last
 * transaction, writes the change and returns its number in *seq. The caller
 * then writes its own rows through the same store. commit makes all of it
 * durable. A text of the batch that another writer has added meanwhile is
 * joined with the other one during prepare; *gone lists the ids of such texts,
 * which the index must leave out. The list is valid until
 * store_import_close. */
enum status store_import_prepare(struct store_import *im, int64_t *seq,
                                 const int64_t **gone, size_t *n_gone,
                                 struct err *e);
/* extra: the head of the imported file (reader_extra), stored with the
 * batch. */
enum status store_import_commit(struct store_import *im, struct str extra,
                                struct err *e);
/* Frees the import. If it was not committed, its rows are deleted. NULL is
 * fine. */
void store_import_close(struct store_import *im);
int64_t store_import_batch(const struct store_import *im);
/* The file head that the newest import in this format (format_name) stored,
 * for an export in the same format. Empty when there is none. */
enum status store_import_extra(struct store *s, int64_t memory,
                               const char *format, struct str *extra,
                               struct err *e);

/* ---- for the index ------------------------------------------------------ */

/* A number that changes with every commit, of this connection or another one.
 * Asking for it is cheap: it does not read the disk. */
enum status store_version(struct store *s, uint32_t *version, struct err *e);

/* The number of the newest change of a memory; 0 when there is none yet. */
enum status store_last_change(struct store *s, int64_t memory, int64_t *seq,
                              struct err *e);

/* One change of a memory. A CHANGE_ADD is reported once for each visible text
 * that it added; a CHANGE_REMOVE has the source that the text had. Sources are
 * given as they are stored, with inline tags when `tagged` is set. */
enum change_kind { CHANGE_ADD, CHANGE_REMOVE };
struct change {
    enum change_kind kind;
    int64_t seq, text;
    struct str source;
    bool tagged;
};
/* A non-zero result stops early: store_changes then returns ST_CANCELED and
 * does not touch its struct err, which fn may have filled. */
typedef int change_fn(void *user, const struct change *c);
/* Calls fn, in order of change number, for the adds after `adds_after` and the
 * removals after `removes_after`; either may be the larger one. The removal of
 * a text that was both added and removed after these numbers is reported
 * too. */
enum status store_changes(struct store *s, int64_t memory, int64_t adds_after,
                          int64_t removes_after, change_fn *fn, void *user,
                          struct err *e);
/* Changes up to number *seq may have been deleted from the log. An index with
 * a manifest always finds the changes that it needs. An index without one must
 * be built again when it has applied only changes before *seq. */
enum status store_log_start(struct store *s, int64_t memory, int64_t *seq,
                            struct err *e);
/* An upper bound of the texts that store_changes would report as adds. */
enum status store_count_adds(struct store *s, int64_t memory,
                             int64_t adds_after, int64_t *n, struct err *e);
/* Calls fn for all visible texts of a memory in order of id, as adds with seq
 * 0. To know which change they are up to, call this and store_last_change
 * inside one store_begin_read. */
enum status store_scan(struct store *s, int64_t memory, change_fn *fn,
                       void *user, struct err *e);

/* The manifest lists the files that make up the index of one memory and
 * analyzer. It is stored here so that it changes in the same transaction as
 * the texts. */
struct segment_row {
    int64_t number;             /* names the file: a random number of 62 bits,
                                   so that none is used twice */
    int64_t docs;               /* texts in the file, with removed ones */
    uint64_t checksum;          /* from the head of the file; it covers the
                                   head and the checksums of all pages */
};
struct manifest {
    int64_t generation;         /* 0: no manifest exists */
    int64_t seq;                /* adds up to this change are in the segments */
    int64_t clean;              /* texts removed up to this change are not in
                                   the segments */
    struct segment_row *segments;
    size_t n_segments;
};
void manifest_release(struct manifest *m);
enum status manifest_read(struct store *s, int64_t memory, uint64_t analyzer,
                          struct manifest *out, struct err *e);
/* Only the generation. Every search that follows a change asks for it. */
enum status manifest_generation(struct store *s, int64_t memory,
                                uint64_t analyzer, int64_t *generation,
                                struct err *e);
/* Replaces the manifest and sets m->generation to the new generation. Returns
 * ST_CANCELED and changes nothing when the generation in the store is not
 * `expected`. Rows of the change log that no manifest of this memory needs any
 * more are deleted. May be called inside a transaction. */
enum status manifest_write(struct store *s, int64_t memory, uint64_t analyzer,
                           int64_t expected, struct manifest *m,
                           struct err *e);
/* Every segment of every manifest, with the index it belongs to. The caller
 * frees *list. */
struct indexed_segment {
    struct segment_row row;
    int64_t memory;
    uint64_t analyzer;
};
enum status store_index_segments(struct store *s,
                                 struct indexed_segment **list, size_t *n,
                                 struct err *e);
/* The numbers of all segments of all manifests, to find files that belong to
 * none. The caller frees *numbers. */
enum status store_live_segments(struct store *s, int64_t **numbers, size_t *n,
                                struct err *e);

/* ---- maintenance -------------------------------------------------------- */

/* Checks the whole file: SQLite's own integrity check, and our rules (every
 * pair has a text, every text has a pair, hashes match). fn is called for each
 * problem. Rows that a dead import left are not a problem: they are invisible,
 * and writers delete them. */
enum status store_check(struct store *s, problem_fn *fn, void *user,
                        int *n_problems, struct err *e);
/* Runs store_check and returns ST_FORMAT with the first problem if there is
 * one. `what` names the operation that is refused, such as "compacting". */
enum status store_require_sound(struct store *s, const char *what,
                                struct err *e);
/* Deletes the rows of dead imports and dropped memories, returns free pages to
 * the file system and truncates the log. */
enum status store_compact(struct store *s, struct err *e);
/* Copies the store to another path while others use it. The copy must not
 * exist yet; it gets its own uuid and has no index. */
enum status store_backup(struct store *s, const char *path, struct err *e);
int64_t store_disk_bytes(struct store *s);      /* file and log */

#endif
