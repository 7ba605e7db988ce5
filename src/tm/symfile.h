/* symfile.h - the subword ids of a segment's sources, one file a tokenizer.
 *
 * A page file: where each document's ids begin, then the ids, of 16 bits where
 * the vocabulary allows. It names its segment by number and checksum and its
 * tokenizer; one that does not fit is not used. */
#ifndef TM_SYMFILE_H
#define TM_SYMFILE_H

#include "tm/segment.h"
#include "tm/store.h"
#include "text/subword.h"

struct symfile;

/* ST_FORMAT: not there, damaged, or of another segment. */
enum status symfile_open(struct symfile **out, const char *path,
                         const struct segment *seg, uint64_t tokenizer,
                         struct err *e);
void symfile_close(struct symfile *f);          /* NULL is fine */
uint64_t symfile_bytes(const struct symfile *f);
/* Does every page match its checksum, and is every document's range within
 * the file? */
bool symfile_sound(struct symfile *f);

/* The ids of a document, in `to` when they are not stored as 32 bits already;
 * `to` grows (*cap). false: damaged, or no memory. */
bool symfile_get(struct symfile *f, uint32_t doc, uint32_t **to, size_t *cap,
                 size_t *n);

/* Called every thousand documents; non-zero stops. */
typedef int symfile_progress_fn(void *user, uint64_t done, uint64_t total);
/* Encode every source of the segment, read from the store. */
enum status symfile_make(const char *path, const struct segment *seg,
                         struct store *s, const struct subword *sw,
                         uint64_t tokenizer, symfile_progress_fn *fn,
                         void *user, struct err *e);
/* Of a merged segment, from those of its parts. */
enum status symfile_join(const char *path, const struct segment *seg,
                         struct segment *const *parts,
                         struct symfile *const *files, size_t n,
                         uint64_t tokenizer, struct err *e);

#endif
