/* tmfile.h - an open memory file: its store, the indexes of the memories in
 * use, and the source of pairs (source.h) that searches them.
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
 * Every change of the pairs goes through a function of this header, or of
 * tmfile_import.h, and each of them tells the merger about it.
 *
 * A struct tmfile belongs to one thread at a time. It holds the tokenizers of
 * its searches. */
#ifndef TM_TMFILE_H
#define TM_TMFILE_H

#include "tm/contradict.h"
#include "tm/index.h"
#include "tm/memory_fit.h"
#include "tm/progress.h"
#include "tm/source.h"

struct tmfile;                  /* opaque */

enum status tmfile_open(struct tmfile **out, const char *path,
                        enum store_mode mode, struct err *e);
void tmfile_close(struct tmfile *t);            /* NULL is fine */
/* The file as a source of pairs: the memories in use. It is a part of t. */
struct pair_source *tmfile_source(struct tmfile *t);
/* See store_relaxed. */
void tmfile_relaxed(struct tmfile *t, bool relaxed);

/* Calls fn during long operations; NULL: none. */
void tmfile_set_progress(struct tmfile *t, tm_progress_fn *fn, void *user);
bool tmfile_has_progress(const struct tmfile *t);
/* Calls that function, for operations on the file that are done elsewhere. A
 * non-zero result means to stop. */
int tmfile_report(const struct tmfile *t, const char *what, uint64_t done,
                  uint64_t total, uint64_t units);

/* ---- memories ------------------------------------------------------------ */

/* Finds a memory by its name. NULL finds the only memory of the file, or the
 * one named "main". */
enum status tmfile_find(struct tmfile *t, const char *name,
                        struct memory_info *out, struct err *e);
/* As tmfile_find. In a file without memories it creates one, named "main" when
 * name is NULL, and sets *made. */
enum status tmfile_find_or_make(struct tmfile *t, const char *name,
                                struct memory_info *out, bool *made,
                                struct err *e);
/* All memories in order of id. The caller frees *list. */
enum status tmfile_list(struct tmfile *t, struct memory_info **list, size_t *n,
                        struct err *e);
/* A number that changes whenever the file does. */
enum status tmfile_version(struct tmfile *t, uint32_t *version,
                           struct err *e);
enum status tmfile_counts(struct tmfile *t, int64_t memory,
                          struct memory_counts *out, struct err *e);
/* The number of the newest change of a memory; 0 when there is none yet. */
enum status tmfile_last_change(struct tmfile *t, int64_t memory, int64_t *seq,
                               struct err *e);
enum status tmfile_create(struct tmfile *t, const struct memory_info *settings,
                          struct err *e);
enum status tmfile_update(struct tmfile *t, const struct memory_info *m,
                          struct err *e);
enum status tmfile_drop(struct tmfile *t, const char *name, struct err *e);
/* Drops a memory if it has no pairs. Errors are ignored. */
void tmfile_drop_empty(struct tmfile *t, int64_t memory);

/* Chooses the memories to search; n = 0: all, with those created later. */
enum status tmfile_use(struct tmfile *t, const char *const *names, size_t n,
                       struct err *e);
/* The same for a model. n = 0: all that fit it. Fails with ST_ARGUMENT if one
 * of the named memories does not fit, or if the file has memories and none
 * does. The model is copied. */
enum status tmfile_use_fitting(struct tmfile *t, const char *const *names,
                               size_t n, const struct model_languages *model,
                               struct err *e);

/* ---- transactions -------------------------------------------------------- */

enum status tmfile_begin(struct tmfile *t, struct err *e);
enum status tmfile_commit(struct tmfile *t, struct err *e);
void tmfile_rollback(struct tmfile *t);
/* Whether a transaction of the caller is open. */
bool tmfile_inside(const struct tmfile *t);
/* ST_ARGUMENT inside a transaction of the caller. Imports and most maintenance
 * use several transactions, so they refuse to run inside one. `what` names the
 * operation in the message. */
enum status tmfile_alone(const struct tmfile *t, const char *what,
                         struct err *e);

/* ---- pairs --------------------------------------------------------------- */

/* Adds a pair to a memory (tmfile_find_or_make). A memory that is made and its
 * first pair are stored together. */
enum status tmfile_add(struct tmfile *t, const char *memory,
                       const struct unit *u, int64_t *id, struct err *e);
/* These are like store_replace, store_delete and so on. */
enum status tmfile_replace(struct tmfile *t, int64_t id, const struct unit *u,
                           struct err *e);
enum status tmfile_delete(struct tmfile *t, int64_t id, struct err *e);
enum status tmfile_delete_where(struct tmfile *t, const struct pair_filter *f,
                                int64_t *n, struct err *e);
enum status tmfile_get(struct tmfile *t, int64_t id, struct pair *out,
                       struct err *e);
/* See store_find_unit. The file gets an index of units if it can be written and
 * no transaction is open. */
enum status tmfile_find_unit(struct tmfile *t, int64_t memory,
                             struct str unit, int64_t after, int64_t *id,
                             struct err *e);
enum status tmfile_cursor_open(struct pair_cursor **out, struct tmfile *t,
                               const struct pair_filter *f, struct err *e);
/* The head of the newest file that was imported in a format; see
 * store_import_extra. */
enum status tmfile_extra(struct tmfile *t, int64_t memory, const char *format,
                         struct str *extra, struct err *e);

/* ---- maintenance of the memories in use ---------------------------------- */

/* See contradict_list. fn may read the file but must not change it. */
enum status tmfile_contradictions(struct tmfile *t, contradict_fn *fn,
                                  void *user, int64_t *n_sources,
                                  struct err *e);
enum status tmfile_check(struct tmfile *t, problem_fn *fn, void *user,
                         int *n_problems, struct err *e);
enum status tmfile_rebuild(struct tmfile *t, struct err *e);
enum status tmfile_compact(struct tmfile *t, struct err *e);
/* The statistics of all indexes, added up. */
enum status tmfile_stats(struct tmfile *t, struct index_stats *out,
                         struct err *e);
int64_t tmfile_disk_bytes(struct tmfile *t);    /* file and log */

#endif
