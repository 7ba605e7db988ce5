/* recover.h - saves what is readable of a damaged memory file to a new file.
 *
 * The old file is only read. Pairs keep their numbers, memories their names.
 * A text is saved only when it matches its hash. */
#ifndef TM_RECOVER_H
#define TM_RECOVER_H

#include <sqlite3.h>

#include "base/err.h"
#include "pair/unit.h"
#include "tm/progress.h"

struct recovery {
    int64_t pairs;              /* saved */
    int64_t doubtful;           /* of these, pairs whose texts are right but
                                   whose document, author, times and other
                                   metadata may be wrong or missing */
    int64_t lost;               /* numbers of pairs that could not be read,
                                   some of which may have been deleted before;
                                   -1: not known how many */
};

/* new_path must not exist; the file is created in one step at the end. It is
 * an error when pairs were lost and none could be saved. progress may be
 * NULL. */
enum status tm_recover(const char *old_path, const char *new_path,
                       tm_progress_fn *progress, void *user,
                       struct recovery *out, struct err *e);

/* ---- recover_scan.c ------------------------------------------------------ */

/* A row of the table `text` that matches its hash. The strings are valid
 * during the call of scan_fn. A non-zero result stops the scan. */
struct scanned_text {
    int64_t id, memory, hash;
    struct unit unit;           /* source, target, tagged */
};
typedef int scan_fn(void *user, const struct scanned_text *t);

/* Calls fn for every row of the table `text` that is found in the bytes of the
 * file, whether or not a B-tree still leads to it. Rows that were deleted can
 * be among them. Returns ST_CANCELED when fn stopped it. */
enum status recover_scan(sqlite3_file *file, scan_fn *fn, void *user,
                         struct err *e);

#endif
