/* recover.h - save what is readable of a damaged memory file in a new one.
 *
 * The old file is only read. Pairs keep their numbers, memories their names.
 * A text is saved only when it matches its hash. */
#ifndef TM_RECOVER_H
#define TM_RECOVER_H

#include <sqlite3.h>

#include "base/err.h"
#include "formats/unit.h"
#include "tm/tmfile.h"

struct recovery {
    int64_t pairs;              /* saved */
    int64_t doubtful;           /* of these: the texts are right; document,
                                   author, times and the like may be wrong or
                                   missing */
    int64_t lost;               /* numbers of pairs that could not be read,
                                   some of which may have been deleted before;
                                   -1: not known how many */
};

/* new_path must not exist. It is made in one step at the end. An error when
 * something was lost and nothing could be saved. progress may be NULL. */
enum status tm_recover(const char *old_path, const char *new_path,
                       tm_progress_fn *progress, void *user,
                       struct recovery *out, struct err *e);

/* ---- recover_scan.c ------------------------------------------------------ */

/* A text whose row was found and matches its hash. The strings live until fn
 * returns. Non-zero stops. */
struct scanned_text {
    int64_t id, memory, hash;
    struct unit unit;           /* source, target, tagged */
};
typedef int scan_fn(void *user, const struct scanned_text *t);

/* Every row of the table of texts in the bytes of the file, whether or not a
 * tree still leads to it. Rows that were deleted are among them. ST_CANCELED:
 * fn stopped it. */
enum status recover_scan(sqlite3_file *file, scan_fn *fn, void *user,
                         struct err *e);

#endif
