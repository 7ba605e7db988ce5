/* symfile.h - the subword ids of the sources of a segment, one file per
 * tokenizer.
 *
 * It is a page file (pagefile.h). Its data is a table of n_docs + 1 positions,
 * where the ids of each document begin, and then all ids, of 16 bits if the
 * vocabulary is small enough, else of 32 bits. The head has the number and the
 * checksum of the segment and the id of the tokenizer. A file that does not
 * match is not used. */
#ifndef TM_SYMFILE_H
#define TM_SYMFILE_H

#include "tm/segment.h"
#include "tm/store.h"
#include "text/subword.h"

struct symfile;                 /* opaque */

/* ST_FORMAT: the file is missing, damaged, or belongs to another segment. */
enum status symfile_open(struct symfile **out, const char *path,
                         const struct segment *seg, uint64_t tokenizer,
                         struct err *e);
void symfile_close(struct symfile *f);          /* NULL is fine */
uint64_t symfile_bytes(const struct symfile *f);
/* Whether every page matches its checksum, and the positions ascend and lie
 * within the file. */
bool symfile_sound(struct symfile *f);

/* Copy the ids of a document to *to, which grows to *cap when necessary.
 * False: the file is damaged, or out of memory. */
bool symfile_get(struct symfile *f, uint32_t doc, uint32_t **to, size_t *cap,
                 size_t *n);

/* Called every 1024 documents; return non-zero to stop. */
typedef int symfile_progress_fn(void *user, uint64_t done, uint64_t total);
/* Encode every source of the segment, read from the store, and write the
 * file. */
enum status symfile_make(const char *path, const struct segment *seg,
                         struct store *s, const struct subword *sw,
                         uint64_t tokenizer, symfile_progress_fn *fn,
                         void *user, struct err *e);
/* Write the file of a merged segment by copying the ids from the files of the
 * segments that were merged: files[i] belongs to parts[i]. */
enum status symfile_join(const char *path, const struct segment *seg,
                         struct segment *const *parts,
                         struct symfile *const *files, size_t n,
                         uint64_t tokenizer, struct err *e);

#endif
