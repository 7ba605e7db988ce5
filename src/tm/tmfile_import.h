/* tmfile_import.h - adds many pairs to a memory and its index in one step.
 *
 * The pairs become visible together, with their index, when the import is
 * committed, or not at all. Until then they take a bounded amount of main
 * memory, and other writers can write. */
#ifndef TM_TMFILE_IMPORT_H
#define TM_TMFILE_IMPORT_H

#include "tm/tmfile.h"

struct tmfile_import;           /* opaque */

/* Not inside a transaction of the caller (tmfile_alone). origin names the first
 * file. t is borrowed. */
enum status tmfile_import_begin(struct tmfile_import **out, struct tmfile *t,
                                int64_t memory, const char *origin,
                                struct err *e);
/* See store_import_format, store_import_origin and store_import_pause. */
enum status tmfile_import_format(struct tmfile_import *im, const char *format,
                                 struct err *e);
enum status tmfile_import_origin(struct tmfile_import *im, const char *origin,
                                 struct err *e);
enum status tmfile_import_pause(struct tmfile_import *im, struct err *e);
/* *is_new says whether the memory did not have this text yet. */
enum status tmfile_import_put(struct tmfile_import *im, const struct unit *u,
                              bool *is_new, struct err *e);
/* Publishes pairs, index and languages together. extra: the head of the
 * imported file. languages: those to set where the memory has none; NULL: do
 * not set any. *n_joined is the number of new texts that others have added
 * meanwhile, too. */
enum status tmfile_import_commit(struct tmfile_import *im, struct str extra,
                                 const struct memory_info *languages,
                                 int64_t *n_joined, struct err *e);
/* Frees the import. If it was not committed, all that it wrote is removed. NULL
 * is fine. */
void tmfile_import_close(struct tmfile_import *im);

#endif
